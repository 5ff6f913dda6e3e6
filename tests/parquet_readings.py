"""What other programs read in a Parquet file, and files with a lie in a footer or a page."""

import io
import random
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

from agreement_pipeline.ratings import Footer, FooterError
from tests.footers import forged, headers, number, whole_numbers

HUGE = (2**31 - 1, 2**40)
N_ROWS = 40

Reading = dict[str, list] | None
"""The values of each column; None if a program reads nothing."""


def genuine() -> dict[str, bytes]:
    """Small files of all kinds: several row groups, codes, lists, numbers, both kinds of pages."""
    table = pa.table(
        {
            "item": [f"i{at // 2}" for at in range(N_ROWS)],
            "label": ["no", "yes", None, "yes"] * (N_ROWS // 4),
            "other": ["yes", "no", None, "no"] * (N_ROWS // 4),
            "number": [at / 4 if at % 3 else None for at in range(N_ROWS)],
            "whole": list(range(N_ROWS)),
            "small": pa.array([at % 5 for at in range(N_ROWS)], pa.int8()),
            "list": [["a", "b"][: at % 3] for at in range(N_ROWS)],
        }
    )
    ways = {
        "codes": {"compression": "none"},
        "pages": {"data_page_version": "2.0", "row_group_size": 24, "write_page_index": True},
        "plain": {"use_dictionary": False, "compression": "none", "write_batch_size": 8}
        | {"data_page_size": 8},
    }
    files = {}
    for name, how in ways.items():
        pq.write_table(table, sink := io.BytesIO(), **how)
        files[name] = sink.getvalue()
    return files


def lies(data: bytes, chance: random.Random, many: int) -> Iterator[tuple[str, bytes]]:
    """A file with one whole number of its footer or of the header of a page changed."""
    said, pages = whole_numbers(data), headers(data)
    places = {value for at, value in said.items() if at[-2:] in ((3, 5), (3, 9), (3, 11))}
    changes = [(where, put) for where, value in said.items() for put in _others(value, places)]
    changes += [
        ((begin, end), put)
        for (begin, end), value in pages.values()
        for put in _others(value, places)
        if len(number(put)) == end - begin
    ]
    for where, put in chance.sample(changes, many):
        if where in said:
            yield f"footer {where}: {put}", forged(data, {where: number(put)})
        else:
            begin, end = where
            yield f"page {where}: {put}", data[:begin] + number(put) + data[end:]


def pairs_of_lies(data: bytes, chance: random.Random, many: int) -> Iterator[tuple[str, bytes]]:
    """A file with two whole numbers of its footer changed."""
    said = whole_numbers(data)
    where, values = sorted(said), sorted(set(said.values()))
    for _ in range(many):
        put = {at: chance.choice(_others(said[at], set(values))) for at in chance.sample(where, 2)}
        yield f"footer {put}", forged(data, {at: number(value) for at, value in put.items()})


def _others(value: int, places: set[int]) -> list[int]:
    near = {value + step for step in (-8, -1, 1, 8)}
    return sorted((near | places | {0, *HUGE}) - {value})


def admitted(data: bytes) -> bool:
    """True if the gate takes the file to have one reading."""
    try:
        Footer.of(pa.BufferReader(data))
    except FooterError:
        return False
    return True


def readings(path: Path) -> dict[str, Reading]:
    """What each program reads, the one first that the gate itself reads with."""
    ways: dict[str, Callable[[], pa.Table]] = {
        "pyarrow": lambda: pq.ParquetFile(path).read(),
        "pandas": lambda: pa.Table.from_pandas(pd.read_parquet(path, dtype_backend="pyarrow")),
        "duckdb": lambda: _read_by_duckdb(path),
        "polars": lambda: pl.read_parquet(path).to_arrow(),
    }
    return {name: _reading(way) for name, way in ways.items()}


@cache
def _database() -> duckdb.DuckDBPyConnection:
    """To begin one takes longer than all readings of a small file."""
    return duckdb.connect(config={"enable_external_file_cache": False})


def _read_by_duckdb(path: Path) -> pa.Table:
    try:
        return _database().sql(f"FROM read_parquet('{path}')").to_arrow_table()
    except (duckdb.FatalException, duckdb.InternalException):
        _database.cache_clear()  # it answers nothing after such an error
        raise


def _reading(way: Callable[[], pa.Table]) -> Reading:
    try:
        table = way()
        table.validate(full=True)
        return table.to_pydict()
    except KeyboardInterrupt:
        raise
    except BaseException:  # Polars panics with no Exception
        return None


def spark_readings(paths: Sequence[Path], spark: Any) -> Iterator[Reading]:
    """What Spark reads in each file."""
    session = spark.newSession()
    session.conf.set("spark.sql.session.timeZone", "UTC")
    for path in paths:
        yield _reading(lambda path=path: session.read.parquet(str(path)).toArrow())


def other_readings(data: bytes, path: Path) -> dict[str, Reading]:
    """The readings of a file that is admitted and read, where they differ from that of the gate."""
    if not admitted(data):
        return {}
    path.write_bytes(data)
    first, *_ = found = readings(path)
    return {
        name: reading
        for name, reading in found.items()
        if found[first] is not None and reading not in (None, found[first])
    }
