"""Files that are written and read a part at a time, against those of whole tables."""

import io

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from agreement_pipeline import Ratings, Scale
from agreement_pipeline.errors import RatingsError
from agreement_pipeline.ratings import (
    TEXT,
    Footer,
    ParquetRows,
    RatingsRows,
    parquet,
    parquet_bytes,
    ratings_of,
    stored_cells,
)

SCALE = Scale(("no", "yes"))


def ratings(n_items):
    rows = [
        (f"i{i:06}", f"r{r}", SCALE.names[(i * r) % 2], f"text {i}")
        for i in range(n_items)
        for r in range(3)
    ]
    unrated = [(f"z{i}", None, None, "nobody") for i in range(5)]
    frame = pd.DataFrame([*rows, *unrated], columns=["item", "rater", "label", "text"])
    return Ratings.from_frame(frame.astype({"text": TEXT}), SCALE, classifiers=("r2",))


def whole(rows):
    sink = io.BytesIO()
    options = {"version": "2.6", "data_page_version": "1.0", "compression": "zstd"}
    options["write_statistics"] = False
    table = pa.Table.from_batches(rows.to_batches(), rows.schema).combine_chunks()
    pq.write_table(table, sink, row_group_size=100_000, **options)
    return sink.getvalue()


@pytest.mark.parametrize("n_items", [3, 70_000])
def test_parts_give_the_bytes_of_the_whole_table(n_items):
    rows = RatingsRows(ratings(n_items))
    assert parquet_bytes(rows) == whole(rows)


def test_ratings_of_many_row_groups_are_read_back():
    given = ratings(70_000)
    stored = ParquetRows(parquet_bytes(RatingsRows(given)))
    found = ratings_of(stored_cells(stored, "here"), SCALE)
    assert found.digest == given.digest
    assert found.items(["text"]).equals(given.items(["text"]))
    assert found.classifiers == ("r2",)


def test_a_table_without_rows_is_a_file_of_one_empty_table():
    empty = pa.table({"item": pa.array([], pa.string())})
    assert parquet_bytes(empty) == whole(empty)


def test_equal_rows_in_other_chunks_give_equal_bytes():
    times = pa.array([f"2026-09-01T08:00:00.{n:06}Z" for n in range(60_000)], pa.large_string())
    parts = pa.chunked_array([times.slice(at, 7000) for at in range(0, len(times), 7000)])
    one, other = (pa.table({"timestamp": each}) for each in (times, parts))
    assert parquet_bytes(one) == parquet_bytes(other)


def test_long_texts_make_row_groups_short(monkeypatch):
    monkeypatch.setattr(parquet, "PART_BYTES", 30_000)
    monkeypatch.setattr(parquet, "GROUP_BYTES", 100_000)
    rows = pa.table({"text": [f"{n} " + "word " * 200 for n in range(500)], "n": range(500)})
    stored = ParquetRows(parquet_bytes(rows))
    parts = list(stored.parts())
    assert [len(part) for part in parts[:-1]] == [128] * 3
    assert pa.concat_tables(parts).equals(rows)


def test_other_bytes_are_refused():
    with pytest.raises(RatingsError, match="found one that cannot be read"):
        ParquetRows(b"PAR1 nothing PAR1")


@pytest.mark.parametrize("version", ["1.0", "2.0"])
def test_statistics_in_the_headers_of_pages_are_seen_too(version):
    table, sink = pa.table({"item": ["b", "a", "b"]}), pa.BufferOutputStream()
    pq.write_table(table, sink, data_page_version=version, use_dictionary=False)
    assert not Footer.of(pa.BufferReader(sink.getvalue())).is_plain
    assert Footer.of(pa.BufferReader(parquet_bytes(table))).is_plain
