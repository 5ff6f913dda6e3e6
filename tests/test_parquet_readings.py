"""No Parquet file that the gate takes is read differently by another program.

A genuine file has each whole number of its footer and of the headers of its pages changed. The
gate refuses it, or PyArrow, pandas, DuckDB, Polars and Spark read the same values or nothing.
`python -m tests.fuzzing` looks for longer.
"""

import io
import random

import duckdb
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from agreement_pipeline.ratings import Footer
from tests.footers import forged, number, whole_numbers
from tests.parquet_readings import (
    admitted,
    genuine,
    lies,
    other_readings,
    pairs_of_lies,
    readings,
    spark_readings,
)

FILES = genuine()
FEW, PAIRS, MANY = 250, 150, 200
NUMBERS = list(range(300))
TABLE = pa.table(
    {
        "item": [f"i{at // 3}" for at in NUMBERS],
        "label": [("no", "yes", None)[at * at % 3] for at in NUMBERS],
        "number": [at / 2 if at % 7 else None for at in NUMBERS],
        "whole": NUMBERS,
        "time": pa.array(NUMBERS, pa.timestamp("us", "UTC")),
        "exact": pa.array(NUMBERS, pa.int32()).cast(pa.decimal128(12, 2)),
        "flag": [at % 2 == 0 for at in NUMBERS],
        "list": [[f"a{at}"] * (at % 3) if at % 5 else None for at in NUMBERS],
        "struct": [{"a": at, "b": [str(at)]} for at in NUMBERS],
        "none": pa.nulls(len(NUMBERS), pa.string()),
    }
)
DELTAS = {"item": "DELTA_BYTE_ARRAY", "label": "DELTA_LENGTH_BYTE_ARRAY"} | {
    **{"whole": "DELTA_BINARY_PACKED", "number": "BYTE_STREAM_SPLIT", "flag": "RLE"}
}
HOW = [
    {},
    {"use_dictionary": False},
    {"use_dictionary": False, "column_encoding": DELTAS},
    {"write_page_index": True, "row_group_size": 100},
    {"data_page_size": 100, "write_batch_size": 10},
    {"dictionary_pagesize_limit": 50},
    {"write_statistics": False, "store_schema": False},
    {"write_page_checksum": True},
    *({"compression": each} for each in ("none", "snappy", "gzip", "brotli", "lz4", "zstd")),
]


@pytest.mark.parametrize("name", FILES)
def test_what_is_admitted_is_read_alike(name, tmp_path):
    chance = random.Random(name)
    data = FILES[name]
    changed = [*lies(data, chance, FEW), *pairs_of_lies(data, chance, PAIRS)]
    taken = {what for what, data in changed if admitted(data)}
    assert 0 < len(taken) < len(changed)
    for what, data in changed:
        assert not other_readings(data, tmp_path / "r.parquet"), what


@pytest.mark.slow
@pytest.mark.parametrize("name", FILES)
def test_spark_reads_alike_what_is_admitted(name, tmp_path, spark):
    changed = lies(FILES[name], random.Random(name), MANY)
    told = [("nothing", FILES[name]), *(each for each in changed if admitted(each[1]))][:40]
    paths = [tmp_path / f"{at}.parquet" for at in range(len(told))]
    for path, (_, data) in zip(paths, told, strict=True):
        path.write_bytes(data)
    for path, (what, _), found in zip(paths, told, spark_readings(paths, spark), strict=True):
        first = readings(path)["pyarrow"]
        assert first is None or found in (None, first), what
        assert what != "nothing" or found == first


@pytest.mark.parametrize("version", ["1.0", "2.0"])
@pytest.mark.parametrize("how", HOW, ids=str)
def test_whatever_pyarrow_writes_is_admitted(version, how):
    pq.write_table(TABLE, sink := io.BytesIO(), data_page_version=version, **how)
    assert Footer.of(pa.BufferReader(sink.getvalue())).rows == len(TABLE)


@pytest.mark.parametrize("rows", [TABLE, TABLE.slice(0, 0)], ids=["rows", "no rows"])
def test_whatever_other_programs_write_is_admitted(rows, tmp_path):
    import polars as pl

    flat = rows.select(["item", "label", "number", "whole"])
    written = [tmp_path / f"{at}.parquet" for at in range(9)]
    flat.to_pandas().to_parquet(written[0])
    duckdb.from_arrow(rows).to_parquet(str(written[1]))
    for path, codec in zip(written[2:5], ("gzip", "zstd", "uncompressed"), strict=True):
        duckdb.from_arrow(rows).to_parquet(str(path), compression=codec, row_group_size=100)
    frame = pl.from_arrow(rows)
    assert isinstance(frame, pl.DataFrame)
    frame.write_parquet(written[5])
    frame.write_parquet(written[6], compression="snappy", row_group_size=100, data_page_size=200)
    frame.write_parquet(written[7], compression="uncompressed", statistics="full")
    frame.lazy().sink_parquet(written[8])
    for path in written:
        assert Footer.of(path).rows == len(rows), path


def test_an_encrypted_file_is_refused():
    assert not admitted(b"PAR1" + bytes(20) + (4).to_bytes(4, "little") + b"PARE")


def test_zeros_between_chunks_are_no_second_reading():
    """Hadoop fills up its blocks with zeros."""
    data = FILES["codes"]
    size = int.from_bytes(data[-8:-4], "little")
    footer = data[-8 - size :]
    assert admitted(data[: -8 - size] + bytes(100) + footer)
    assert not admitted(data[: -8 - size] + b"what nobody names" + footer)


def test_bloom_filters_have_a_place_of_their_own(tmp_path):
    path = tmp_path / "r.parquet"
    rows = pd.DataFrame({"item": ["a", "b"] * 5000, "label": ["x"] * 10_000})
    duckdb.from_df(rows).to_parquet(str(path))
    (group,) = Footer.of(path).fields["row_groups"]
    assert all("bloom_filter_offset" in each["meta_data"] for each in group["columns"])
    place = {where: number(4) for where in whole_numbers(path.read_bytes()) if where[-1] == 14}
    assert not admitted(forged(path.read_bytes(), place))
