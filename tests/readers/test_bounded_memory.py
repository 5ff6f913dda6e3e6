"""Small files that would fill the memory are refused with the name of a limit."""

import gc
import io
import json
import resource
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import duckdb
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from agreement_pipeline import Limits, Ratings, Scale
from agreement_pipeline.errors import RatingsError
from agreement_pipeline.ratings import ParquetRows, expanded_bytes
from agreement_pipeline.ratings import parquet as release_parquet
from agreement_pipeline.readers import read
from agreement_pipeline.store import Store

RATED = pd.DataFrame(
    [(f"i{n}", rater, ("no", "yes")[n % 2]) for n in range(500) for rater in "ab"],
    columns=["item", "rater", "label"],
)

in_arrow = pytest.mark.skipif(
    pd.__version__ < "3", reason="pandas 2 makes a Python object of each category"
)

row_by_row = pytest.mark.skipif(
    duckdb.__version__ < "2", reason="DuckDB 1 gathers 2,048 rows that meet a filter"
)


def used() -> int:
    """The most memory that this process has had, in bytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def most_of(work: Callable[[], object]) -> int:
    """How many bytes of memory a piece of work needs at most, beyond what is there before."""
    Path("/proc/self/clear_refs").write_text("5")  # The most is counted from now on.
    before = _most()
    work()
    return _most() - before


def _most() -> int:
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) * 1024


def repetitive(tmp_path, column: str, longest: int) -> tuple:
    """A Parquet file in which a column has one long text in every row but one."""
    values = ["x" * longest] * (len(RATED) - 1) + ["y"]
    table = pa.table({**RATED.to_dict("list"), column: values})
    pq.write_table(table, tmp_path / "r.parquet", compression="zstd")
    return tmp_path / "r.parquet", longest * (len(RATED) - 1) + 1


@pytest.mark.parametrize("column", ["text", "item"])
def test_i1_a_text_that_is_kept_once_counts_in_every_row(tmp_path, column):
    path, expanded = repetitive(tmp_path, column, 200_000)
    assert path.stat().st_size < 20_000
    before = used()
    limits = Limits(file_bytes=100_000_000)
    with pytest.raises(RatingsError, match=r"column '.*': found .* raise the limit file_bytes"):
        read(path, limits=limits)
    assert used() - before < 150_000_000
    assert expanded_bytes(path, [column], 1000) == {column: expanded}


def test_i1_a_column_that_nothing_reads_costs_nothing(tmp_path):
    path, _ = repetitive(tmp_path, "remarks", 200_000)
    assert len(read(path, limits=Limits(file_bytes=100_000_000))) == len(RATED)


def test_i1_texts_of_usual_length_are_read_whatever_their_number(tmp_path):
    texts = [f"text {n // 2 % 7} of {n // 2 % 13}" for n in range(len(RATED))]
    table = pa.table({**RATED.to_dict("list"), "text": texts})
    path = tmp_path / "r.parquet"
    pq.write_table(table, path, row_group_size=100)
    most = sum(map(len, texts))
    assert expanded_bytes(path, ["text"], 1000) == {"text": most}
    assert isinstance(read(path, limits=Limits(file_bytes=60_000)), Ratings)


def test_a_text_that_repeats_the_one_before_counts_in_every_row(tmp_path):
    texts, path = ["x" * 200_000] * len(RATED), tmp_path / "r.parquet"
    table = pa.table({**RATED.to_dict("list"), "text": texts})
    encoding = {"text": "DELTA_BYTE_ARRAY"}
    pq.write_table(table, path, use_dictionary=["item"], column_encoding=encoding)
    assert path.stat().st_size < 220_000
    before = used()
    with pytest.raises(RatingsError, match=r"column 'text': found .* raise the limit file_bytes"):
        read(path, limits=Limits(file_bytes=50_000_000))
    assert used() - before < 150_000_000


def test_texts_that_repeat_each_other_are_read_within_the_limit(tmp_path):
    texts, path = [f"text {n // 2}" for n in range(len(RATED))], tmp_path / "r.parquet"
    table = pa.table({**RATED.to_dict("list"), "text": texts})
    encoding = {"text": "DELTA_BYTE_ARRAY"}
    pq.write_table(table, path, use_dictionary=["item"], column_encoding=encoding)
    assert expanded_bytes(path, ["text"], 10**9)["text"] < 10**9
    assert sorted(set(read(path).items(["text"])["text"].to_pylist())) == sorted(set(texts))


def test_i2_a_column_of_json_lines_is_made_when_it_is_read(tmp_path):
    rows = [{**row, f"c{n % 900}": 1} for n, row in enumerate(RATED.to_dict("records") * 40)]
    for n, row in enumerate(rows):
        row["item"] = f"i{n // 2}"
    (tmp_path / "r.jsonl").write_text("\n".join(map(json.dumps, rows)))
    before = used()
    assert len(read(tmp_path / "r.jsonl")) == len(rows)
    assert used() - before < 150_000_000


def test_r7_annotations_of_a_release_are_bounded_before_they_are_expanded(monkeypatch):
    table = pa.table({"text": ["x" * 200_000] * 999 + ["y"]})
    sink = io.BytesIO()
    pq.write_table(table, sink, compression="zstd")
    monkeypatch.setattr(release_parquet, "MAX_EXPANDED_BYTES", 10_000_000)
    with pytest.raises(RatingsError, match="found more than 10000000 bytes in column 'text'"):
        next(ParquetRows(sink.getvalue()).iterate_row_groups())


@pytest.mark.parametrize("column", ["item", "rater", "label"])
def test_i4_bytes_are_no_text(tmp_path, column):
    """As Python prints them, `b'i1'`, they would be another item than `i1`."""
    binary = RATED.assign(**{column: RATED[column].str.encode("ascii")})
    binary.to_parquet(tmp_path / "r.parquet")
    for source in (tmp_path / "r.parquet", binary):
        with pytest.raises(RatingsError, match=rf"column '{column}': found b'.*'; expected text"):
            read(source)


@pytest.mark.parametrize("kind", [bytes, bytearray, memoryview])
def test_i4_bytes_of_any_kind_in_a_frame_are_no_text(kind):
    binary = RATED.assign(item=[kind(each.encode()) for each in RATED["item"]])
    with pytest.raises(RatingsError, match=r"column 'item'"):
        read(binary)


def test_an_array_without_a_dimension_is_a_label_like_any_other():
    frame = RATED.astype(object)
    frame.at[0, "label"] = np.array("no")
    assert read(frame).to_pandas()["label"].tolist() == read(RATED).to_pandas()["label"].tolist()


@pytest.fixture(scope="module")
def long_texts(tmp_path_factory):
    """An export of 120 MB of long texts, its ratings, and the memory that reading it needs."""
    path = tmp_path_factory.mktemp("long") / "export.json"
    write_export(path, 600, "word " * 40_000)
    assert path.stat().st_size > 120_000_000
    found = []
    needed = most_of(lambda: found.append(read(path, scale=Scale(("no", "yes")))))
    return path, found[0], needed


def write_export(path, n_tasks: int, text: str) -> None:
    """Write tasks with two annotations each."""
    answer = [{"from_name": "q", "type": "choices", "value": {"choices": ["yes"]}}]
    at = {"created_at": "2026-09-01T08:00:00.000000Z", "was_cancelled": False}
    at |= {"ground_truth": False}
    with path.open("w") as file:
        file.write("[")
        for n in range(n_tasks):
            said = [
                {"id": 2 * n + rater, "completed_by": rater, "result": answer, **at}
                for rater in (0, 1)
            ]
            task = {"id": n, "annotations": said, "data": {"text": f"{n} {text}"}}
            file.write(("," if n else "") + json.dumps(task))
        file.write("]")


@row_by_row
@in_arrow
def test_the_texts_of_an_export_are_on_disk(long_texts):
    _, ratings, needed = long_texts
    assert needed < 60_000_000
    assert len(ratings) == 1200
    assert ratings.items(["text"], names=["599"])["text"][0].as_py() == "599 " + "word " * 40_000


@row_by_row
def test_the_texts_of_an_export_are_on_disk_while_it_is_kept(long_texts, tmp_path, monkeypatch):
    """Each text is in two rows of the stored table. So the rows are 240 MB."""
    monkeypatch.setattr(release_parquet, "ROW_GROUP_BYTES", 2**22)
    path, ratings, _ = long_texts
    store = Store(tmp_path / "store")
    assert most_of(lambda: store.ingest("2026-09", ratings, path)) < 120_000_000
    assert store.present("2026-09").ratings_digest == ratings.digest


def held(path) -> tuple[int, int]:
    """How many ratings an export has, and the memory in bytes that they hold."""
    before = pa.total_allocated_bytes()
    tracemalloc.start()
    try:
        ratings = read(path, scale=Scale(("no", "yes")))
        gc.collect()
        made, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    return len(ratings), made + pa.total_allocated_bytes() - before


@in_arrow
def test_a_rating_of_an_export_holds_few_bytes(tmp_path):
    """Its codes, occurrence and flags are 16 bytes. The name of an item is there twice.

    A time is 27 letters, and a text here 32. They are on disk.
    """
    for n_tasks in (10, 300, 900):
        write_export(
            tmp_path / f"{n_tasks}.json", n_tasks, "a text of about fifty letters, as tweets"
        )
    held(tmp_path / "10.json")
    few, at_first = held(tmp_path / "300.json")
    many, at_last = held(tmp_path / "900.json")
    assert (at_last - at_first) / (many - few) < 40
