"""Spark: tables that lie on a cluster."""

import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

from agreement_pipeline.engine.session import (
    BATCH_ROWS,
    ZONE,
    Relation,
    new_relation_name,
    quote,
    translating_errors,
)
from agreement_pipeline.errors import MissingExtraError

if TYPE_CHECKING:
    import pyarrow as pa

ENGINE = "spark"
MAX_ROWS_IN_ONE_PART = 10_000
"""So many rows that are loaded, or fewer, stay together, so that Spark need not shuffle them."""


def is_spark_frame(source: Any) -> bool:
    """Spark is not imported to find out."""
    return "pyspark" in sys.modules and type(source).__module__.startswith("pyspark.sql")


def spark_session(source: Any = None) -> "Spark":
    """The session of a Spark DataFrame, or the active one, or a new one."""
    try:
        from pyspark.sql import SparkSession
    except ImportError:
        raise MissingExtraError.for_feature("engine spark", "pyspark", "spark") from None
    if is_spark_frame(source):
        return _wrap_session(source.sparkSession)
    return _wrap_session(SparkSession.getActiveSession() or SparkSession.builder.getOrCreate())


@cache
def _wrap_session(session: Any) -> "Spark":
    return Spark(session)


class Spark:
    engine = ENGINE
    numbers_rows = False

    def __init__(self, session: Any) -> None:
        self.session = session

    def load_batches(self, schema: "pa.Schema", batches: Iterable["pa.RecordBatch"]) -> Relation:
        import pyarrow as pa
        from pyspark.sql.pandas.types import from_arrow_schema

        table = pa.Table.from_batches(batches, schema)
        table = table.append_column("nth", pa.array(range(len(table)), pa.int64()))
        kinds = from_arrow_schema(table.schema, prefer_timestamp_ntz=True)
        frame = self.session.createDataFrame(table, kinds)
        return self._register_view(
            frame.coalesce(1) if len(table) <= MAX_ROWS_IN_ONE_PART else frame
        )

    def scan_parquet(self, path: str, columns: Mapping[str, str]) -> Relation:
        """The columns of a Parquet file under other names."""
        return self.load_frame(self._read_parquet(path), columns)

    def schema_of(self, path: str) -> "pa.Schema":
        with translating_errors(ENGINE, Exception):
            return self._read_parquet(path).limit(0).toArrow().schema

    def _read_parquet(self, path: str) -> Any:
        """Spark refuses some types, such as times in nanoseconds, in columns that nobody reads."""
        with translating_errors(ENGINE, Exception):
            return self.session.read.parquet(path)

    def load_frame(self, frame: Any, columns: Mapping[str, str]) -> Relation:
        """The rows of a DataFrame have no order: `nth` is 0.

        Columns are taken by their place, since Spark takes names that differ in capital letters
        only for one.
        """
        places = {name: f"c{index}" for index, name in enumerate(frame.columns)}
        numbered = frame.toDF(*places.values())
        selected = [numbered[places[column]].alias(name) for name, column in columns.items()]
        view = self._register_view(numbered.select(*selected))
        return view.create_view(f"SELECT *, CAST(0 AS BIGINT) AS nth FROM {view}")

    def create_view(self, sql: str, *dependencies: Relation) -> Relation:
        """Keep a query that asks some relations. Spark analyses it once, and not in each use."""
        return self._register_view(self._run_sql(sql), *dependencies)

    def materialize(self, sql: str) -> Relation:
        """The answer to a query, which Spark caches."""
        return self._register_view(self._run_sql(sql).cache())

    def sort_table(
        self, table: Relation, rows: int, columns: Sequence[str], order: str
    ) -> Relation:
        """A view of some columns in an order."""
        selected = ", ".join(map(self.column_sql, columns))
        return self.create_view(f"SELECT {selected} FROM {table} ORDER BY {order}", table)

    def query(self, sql: str) -> "pa.Table":
        """Times with a zone are told in one."""
        import pyarrow as pa

        frame = self._run_sql(sql)
        with translating_errors(ENGINE, Exception):
            table = frame.toArrow()
            kinds = [
                pa.timestamp(field.type.unit, ZONE)
                if pa.types.is_timestamp(field.type) and field.type.tz
                else field.type
                for field in table.schema
            ]
            return table.cast(pa.schema(zip(table.schema.names, kinds, strict=True)))

    def query_batches(self, sql: str, rows: int = BATCH_ROWS) -> Iterator["pa.RecordBatch"]:
        yield from self.query(sql).to_batches(rows)

    def literal_sql(self, text: str) -> str:
        """Spark's settings say what marks in a text mean, and it puts values of variables in."""
        if not set("'\\$").isdisjoint(text):
            return f"CAST(X'{text.encode().hex()}' AS STRING)"
        return f"'{text}'"

    def column_sql(self, name: str) -> str:
        return quote(name, "`")

    def hash_sql(self, *columns: str) -> str:
        return f"xxhash64({', '.join(columns)})"

    def shift_left_sql(self, number: str, bits: str) -> str:
        return f"SHIFTLEFT(CAST({number} AS BIGINT), CAST({bits} AS INT))"

    def matches_sql(self, text: str, pattern: str) -> str:
        return f"({text} RLIKE {self.literal_sql(pattern)})"

    def captured_groups_sql(self, text: str, pattern: str, n_groups: int, separator: str) -> str:
        groups = separator.join(f"${number}" for number in range(1, n_groups + 1))
        return f"REGEXP_REPLACE({text}, {self.literal_sql(pattern)}, {self.literal_sql(groups)})"

    def drop_later(self, name: str) -> None:
        """Nothing is kept but the query."""

    def _register_view(self, frame: Any, *dependencies: Relation) -> Relation:
        name = new_relation_name("v")
        with translating_errors(ENGINE, Exception):
            frame.createOrReplaceTempView(name)
        return Relation(self, name, dependencies)

    def _run_sql(self, sql: str) -> Any:
        with translating_errors(ENGINE, Exception):
            return self.session.sql(sql)
