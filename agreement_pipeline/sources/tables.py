"""Tables of other libraries, as Parquet files. Equal tables give equal bytes."""

import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pyarrow as pa

from agreement_pipeline.errors import RatingsError

ROWS_PER_GROUP = 100_000
STORED_TYPE_BY_VIEW = {pa.string_view(): pa.string(), pa.binary_view(): pa.binary()}
"""Polars gives texts as views, which Arrow writes to Parquet from version 21 on alone."""


def write_table(table: Any, path: Path, name: str) -> int:
    """Write a DataFrame of pandas or Polars, or what gives Arrow's batches. How many rows it has.

    Errors call the table by its `name`.
    """
    reader = _open_batches(table, name)
    try:
        n_rows = write_batches(reader.schema, reader, path)
    except pa.ArrowException as error:
        raise _not_a_table_error(
            name, f"a {_name_of_type(table)} that Arrow cannot write ({error})"
        ) from None
    if not n_rows:
        raise RatingsError(
            f"{name}: found a table without rows; expected a row for each rating. "
            "Look at how the table is made."
        )
    return n_rows


def write_batches(schema: pa.Schema, batches: Iterable[pa.RecordBatch], path: Path) -> int:
    """Write batches in groups of one size, whatever theirs is. So the bytes depend on the rows."""
    from pyarrow import parquet

    waiting: list[pa.RecordBatch] = []
    n_waiting = n_rows = 0
    # What a library notes on its own types says nothing of the rows.
    plain = pa.schema(
        [
            field.remove_metadata().with_type(STORED_TYPE_BY_VIEW.get(field.type, field.type))
            for field in schema
        ]
    )
    with parquet.ParquetWriter(path, plain, store_schema=False, compression="zstd") as writer:
        for batch in batches:
            waiting.append(batch.cast(plain))
            n_waiting += len(batch)
            n_rows += len(batch)
            while n_waiting >= ROWS_PER_GROUP:
                rows = pa.Table.from_batches(waiting, plain)
                writer.write_table(rows.slice(0, ROWS_PER_GROUP), ROWS_PER_GROUP)
                waiting = rows.slice(ROWS_PER_GROUP).to_batches()
                n_waiting -= ROWS_PER_GROUP
        if n_waiting:
            writer.write_table(pa.Table.from_batches(waiting, plain), ROWS_PER_GROUP)
    return n_rows


def _open_batches(table: Any, name: str) -> pa.RecordBatchReader:
    pandas = sys.modules.get("pandas")  # it is not imported to find out
    try:
        if pandas is not None and isinstance(table, pandas.DataFrame):
            in_index = [level for level in table.index.names if level is not None]
            frame = table.reset_index() if in_index else table
            return pa.Table.from_pandas(frame, preserve_index=False).to_reader()
        polars = sys.modules.get("polars")
        if polars is not None and isinstance(table, polars.LazyFrame):
            table = table.collect()
        if polars is not None and isinstance(table, polars.DataFrame):
            # Arrow writes no categories whose texts are views, as those of Polars are.
            categorical = polars.col(polars.Categorical, polars.Enum)
            table = table.with_columns(categorical.cast(polars.String))
        if hasattr(table, "__arrow_c_stream__"):
            return pa.RecordBatchReader.from_stream(table)
    except (pa.ArrowException, TypeError, ValueError) as error:
        raise _not_a_table_error(
            name, f"a {_name_of_type(table)} that Arrow cannot read ({error})"
        ) from None
    raise _not_a_table_error(
        name, "None" if table is None else f"a value of type {_name_of_type(table)}"
    )


def _name_of_type(table: object) -> str:
    return type(table).__name__


def _not_a_table_error(name: str, problem: str) -> RatingsError:
    return RatingsError(
        f"{name}: found {problem}; expected a table: a DataFrame of pandas or Polars, or a table "
        "of Arrow. Return one of these, or correct rounds_from."
    )
