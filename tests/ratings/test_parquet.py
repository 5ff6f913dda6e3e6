"""Files that are written and read a part at a time, against those of whole tables."""

import io
from inspect import signature

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from agreement_pipeline import Ratings, Scale
from agreement_pipeline.errors import RatingsError
from agreement_pipeline.large_files import LargeFile
from agreement_pipeline.ratings import (
    EXTRAS,
    TEXT,
    ParquetRows,
    RatingsRows,
    open_stored_cells,
    parquet,
    parquet_bytes,
    ratings_from_stored_cells,
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
    found = ratings_from_stored_cells(open_stored_cells(stored, "here"), SCALE)
    assert found.digest == given.digest
    assert found.items(["text"]).equals(given.items(["text"]))
    assert found.classifiers == ("r2",)


@pytest.mark.parametrize(
    "more",
    [
        {},
        {"gold": [True] * 3 + [None] * 6, "weight": [2] * 3 + [1] * 6},
        {"confidence": [0.1, 1.0, None] * 3, "drawn": ["Ω", None, ""] * 3},
        {"timestamp": pd.to_datetime(["2026-11-01T10:00"] * 9)},
        {"assisted": [True, False, None] * 3, "occurrence": [1, 2, 3] * 3},
    ],
)
def test_a_stored_table_gives_the_same_ratings_from_a_file_as_from_memory(more, monkeypatch):
    frame = pd.DataFrame({"item": list("iiijjjkkk"), "text": "text", "label": "no", **more})
    frame["rater"] = "ana" if "occurrence" in more else ["ana", "ben", "cleo"] * 3
    given = Ratings.from_frame(frame.astype({"text": TEXT}), SCALE)
    data = parquet_bytes(RatingsRows(given))
    again = ratings_from_stored_cells(open_stored_cells(ParquetRows(data), "here"), SCALE)
    monkeypatch.setattr(parquet, "MIN_BYTES_TO_READ_IN_PLACE", 0)
    file = LargeFile.from_parts([data])
    path, found = (
        file.path,
        ratings_from_stored_cells(open_stored_cells(ParquetRows(file), "here"), SCALE),
    )
    del file
    assert found.digest == again.digest == given.digest
    columns = ["item", "rater", "label", *given.extra_columns]
    assert found.first_ratings(columns).equals(again.first_ratings(columns))
    assert found.items([*(more.keys() & found.has - {*EXTRAS}), "text"]).equals(
        again.items([*(more.keys() & found.has - {*EXTRAS}), "text"])
    )
    assert path.exists() == ("timestamp" not in more)
    del found
    assert not path.exists()


@pytest.mark.parametrize("n_bytes", [2, 40])
def test_a_stored_file_that_is_broken_is_refused_before_anybody_asks(n_bytes, monkeypatch):
    monkeypatch.setattr(parquet, "MIN_BYTES_TO_READ_IN_PLACE", 0)
    data = bytearray(parquet_bytes(RatingsRows(ratings(3))))
    data[n_bytes : n_bytes + 40] = bytes(40)
    with pytest.raises(RatingsError, match="Parquet file: found one that cannot be read"):
        open_stored_cells(ParquetRows(LargeFile.from_parts([bytes(data)])), "here")


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
    monkeypatch.setattr(parquet, "ROW_GROUP_BYTES", 100_000)
    rows = pa.table({"text": [f"{n} " + "word " * 200 for n in range(500)], "n": range(500)})
    stored = ParquetRows(parquet_bytes(rows))
    parts = list(stored.iterate_row_groups())
    assert [len(part) for part in parts[:-1]] == [128] * 3
    assert pa.concat_tables(parts).equals(rows)


def test_other_bytes_are_refused():
    with pytest.raises(RatingsError, match="found one that cannot be read"):
        ParquetRows(b"PAR1 nothing PAR1")


def in_another_file(data, tmp_path):
    """The footer says that the columns lie elsewhere, as that of a data set of many files does."""
    size = int.from_bytes(data[-8:-4], "little")
    footer = pq.read_metadata(io.BytesIO(data))
    footer.set_file_path("elsewhere.parquet")
    footer.write_metadata_file(tmp_path / "footer")
    return data[: -8 - size] + (tmp_path / "footer").read_bytes()[4:]


WITH_BLOOM_FILTERS = pytest.mark.skipif(
    "bloom_filter_options" not in signature(pq.ParquetWriter).parameters,
    reason="this version of pyarrow writes none",
)


@pytest.mark.parametrize(
    ("how", "is_plain"),
    [
        ({}, True),
        ({"compression": "gzip", "row_group_size": 2}, True),
        ({"write_statistics": True}, False),
        ({"write_page_index": True}, False),
        pytest.param({"bloom_filter_options": {"label": True}}, False, marks=WITH_BLOOM_FILTERS),
        ({"sorting_columns": [pq.SortingColumn(0)]}, False),
    ],
    ids=["rows", "rows in groups", "statistics", "index of pages", "bloom filter", "order"],
)
def test_a_file_that_says_more_than_its_rows_is_told(how, is_plain, tmp_path):
    """By a Bloom filter of zeros, DuckDB passes over all rows of a filtered query."""
    table = pa.table({"id": ["i1", "i2", "i3"], "label": ["no", "yes", "no"]})
    sink = io.BytesIO()
    pq.write_table(table, sink, **{"write_statistics": False, **how})
    data = sink.getvalue()
    assert ParquetRows(data).describes_only_rows(table.schema.metadata or {}) is is_plain
    if is_plain:
        size = int.from_bytes(data[-8:-4], "little")
        hidden = data[: -8 - size] + b"hidden" + data[-8 - size :]
        for forged in (hidden, in_another_file(data, tmp_path)):
            assert ParquetRows(forged)._file.read().equals(table)
            assert not ParquetRows(forged).describes_only_rows({})
