"""Small files that would fill the memory are refused with the name of a limit."""

import io
import json
import resource

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from agreement_pipeline import Limits, Ratings, Scale
from agreement_pipeline.errors import RatingsError
from agreement_pipeline.ratings import Footer, ParquetRows, expanded_bytes
from agreement_pipeline.ratings import parquet as release_parquet
from agreement_pipeline.readers import read

RATED = pd.DataFrame(
    [(f"i{n}", rater, ("no", "yes")[n % 2]) for n in range(500) for rater in "ab"],
    columns=["item", "rater", "label"],
)


def used() -> int:
    """The most memory that this process has had, in bytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


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
    assert expanded_bytes(path, Footer.of(path), column, 1000) == expanded


def test_i1_a_column_that_nothing_reads_costs_nothing(tmp_path):
    path, _ = repetitive(tmp_path, "remarks", 200_000)
    assert len(read(path, limits=Limits(file_bytes=100_000_000)).table) == len(RATED)


def test_i1_texts_of_usual_length_are_read_whatever_their_number(tmp_path):
    texts = [f"text {n // 2 % 7} of {n // 2 % 13}" for n in range(len(RATED))]
    table = pa.table({**RATED.to_dict("list"), "text": texts})
    path = tmp_path / "r.parquet"
    pq.write_table(table, path, row_group_size=100)
    most = sum(map(len, texts))
    assert expanded_bytes(path, Footer.of(path), "text", 1000) == most
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
    assert expanded_bytes(path, Footer.of(path), "text", 10**9) < 10**9
    assert sorted(set(read(path).contents["text"])) == sorted(set(texts))


def test_i2_a_column_of_json_lines_is_made_when_it_is_read(tmp_path):
    rows = [{**row, f"c{n % 900}": 1} for n, row in enumerate(RATED.to_dict("records") * 40)]
    for n, row in enumerate(rows):
        row["item"] = f"i{n // 2}"
    (tmp_path / "r.jsonl").write_text("\n".join(map(json.dumps, rows)))
    before = used()
    assert len(read(tmp_path / "r.jsonl").table) == len(rows)
    assert used() - before < 150_000_000


def test_r7_annotations_of_a_release_are_bounded_before_they_are_expanded(monkeypatch):
    table = pa.table({"text": ["x" * 200_000] * 999 + ["y"]})
    sink = io.BytesIO()
    pq.write_table(table, sink, compression="zstd")
    monkeypatch.setattr(release_parquet, "MOST_BYTES", 10_000_000)
    with pytest.raises(RatingsError, match="found more than 10000000 bytes in column 'text'"):
        next(ParquetRows(sink.getvalue()).parts())


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
    assert read(frame).table["label"].tolist() == read(RATED).table["label"].tolist()


def test_the_texts_of_an_export_are_on_disk(tmp_path):
    answer = [{"from_name": "q", "type": "choices", "value": {"choices": ["yes"]}}]
    with (tmp_path / "export.json").open("w") as file:
        file.write("[")
        for n in range(600):
            said = [
                {"id": 2 * n + rater, "completed_by": rater, "result": answer} for rater in (0, 1)
            ]
            task = {"id": n, "annotations": said, "data": {"text": f"{n} " + "word " * 40_000}}
            file.write(("," if n else "") + json.dumps(task))
        file.write("]")
    assert (tmp_path / "export.json").stat().st_size > 120_000_000
    before = used()
    ratings = read(tmp_path / "export.json", scale=Scale(("no", "yes")))
    assert len(ratings.table) == 1200
    assert used() - before < 60_000_000
    assert ratings.contents["text"].loc["599"] == "599 " + "word " * 40_000
