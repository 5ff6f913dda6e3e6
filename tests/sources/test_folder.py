"""Deliveries of a source as files, and the tables in them."""

import os
import time

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from pyarrow import parquet

from agreement_pipeline.errors import RatingsError, StoreError
from agreement_pipeline.sources import DeliveryFolder, write_table
from agreement_pipeline.sources.tables import ROWS_PER_GROUP, write_batches


def write(folder, name, content, ending=".json"):
    with folder.writing(name, ending) as path:
        path.write_text("[1")
        path.write_text(str(content))


def test_delivery_takes_its_place_when_it_is_complete(tmp_path):
    folder = DeliveryFolder(tmp_path / "deliveries")
    write(folder, "w1", "[1]")

    class Broken:
        def __str__(self):
            raise OSError("broken off")

    with pytest.raises(OSError, match="broken off"):
        write(folder, "w1", Broken())
    assert [path.name for path in folder.place.iterdir()] == ["w1.json"]
    assert (folder.place / "w1.json").read_text() == "[1]"


def test_equal_bytes_leave_the_file_that_is_there(tmp_path):
    folder = DeliveryFolder(tmp_path)
    write(folder, "w1", "[1]")
    before = (tmp_path / "w1.json").stat()
    write(folder, "w1", "[1]")
    assert (tmp_path / "w1.json").stat() == before
    write(folder, "w1", "[2]")
    assert (tmp_path / "w1.json").stat().st_ino != before.st_ino


def test_another_source_replaces_the_file_of_the_one_before(tmp_path):
    folder = DeliveryFolder(tmp_path)
    write(folder, "w1", "[1]", ".json")
    write(folder, "w1", "rows", ".parquet")
    assert [path.name for path in tmp_path.iterdir()] == ["w1.parquet"]


@pytest.mark.parametrize("name", ["../w1", "a/b", "", ".w1", "w1\n", "'; drop table x; --"])
def test_name_that_is_no_round_is_no_path(tmp_path, name):
    with pytest.raises(StoreError, match="not allowed"):
        write(DeliveryFolder(tmp_path / "deliveries"), name, "[1]")
    assert list(tmp_path.iterdir()) == []


def test_what_a_killed_process_left_is_removed_after_a_day(tmp_path):
    old, young = tmp_path / ".w1-a.part", tmp_path / ".w1-b.part"
    for path, age in ((old, 90_000), (young, 60)):
        path.touch()
        os.utime(path, (time.time() - age,) * 2)
    write(DeliveryFolder(tmp_path), "w2", "[1]")
    assert sorted(path.name for path in tmp_path.iterdir()) == [".w1-b.part", "w2.json"]


def test_bytes_depend_on_the_rows_and_not_on_their_batches(tmp_path):
    table = pa.table({"item": range(250_000), "label": ["yes", "no"] * 125_000})
    written = []
    for size in (1_000, 99_999, 250_000):
        path = tmp_path / f"{size}.parquet"
        assert write_batches(table.schema, table.to_batches(size), path) == 250_000
        written.append(path.read_bytes())
    assert written[0] == written[1] == written[2]
    metadata = parquet.read_metadata(path)
    groups = [metadata.row_group(n).num_rows for n in range(metadata.num_row_groups)]
    assert groups == [ROWS_PER_GROUP, ROWS_PER_GROUP, 50_000]
    assert parquet.read_table(path).equals(table)


def test_index_of_a_frame_is_a_column_if_it_has_a_name(tmp_path):
    frame = pd.DataFrame({"item": ["i1"], "label": ["yes"]})
    for indexed, names in (
        (frame, ["item", "label"]),
        (frame.set_index("item"), ["item", "label"]),
    ):
        path = tmp_path / "table.parquet"
        write_table(indexed, path, "asset a")
        assert parquet.read_schema(path).names == names


@pytest.mark.parametrize("kind", [pl.Categorical, pl.Enum(["no", "yes"]), pl.String])
def test_categories_of_polars_are_texts(tmp_path, kind):
    frame = pl.DataFrame({"item": ["i1", "i2", "i3"], "label": ["yes", "no", None]})
    texts, cast = tmp_path / "texts.parquet", tmp_path / "cast.parquet"
    write_table(frame, texts, "asset a")
    write_table(frame.with_columns(pl.col("label").cast(kind)).lazy(), cast, "asset a")
    assert cast.read_bytes() == texts.read_bytes()
    assert parquet.read_table(cast)["label"].to_pylist() == ["yes", "no", None]


def test_column_that_arrow_cannot_write_names_the_source(tmp_path):
    mixed = pd.DataFrame({"item": ["i1", 2, b"x"]})
    with pytest.raises(RatingsError, match=r"^asset a, round w1: found a DataFrame that Arrow"):
        write_table(mixed, tmp_path / "x.parquet", "asset a, round w1")
