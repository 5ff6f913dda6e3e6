"""Spark: tables that lie on a cluster."""

import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

from agreement_pipeline.engine.session import (
    BATCH,
    ZONE,
    Relation,
    answering,
    new_name,
    quoted,
)
from agreement_pipeline.errors import MissingExtraError

if TYPE_CHECKING:
    import pyarrow as pa

ENGINE = "spark"
IN_ONE_PART = 10_000
"""So many rows that are loaded, or fewer, stay together, so that Spark need not shuffle them."""


def is_spark_frame(source: Any) -> bool:
    """Spark is not imported to find out."""
    return "pyspark" in sys.modules and type(source).__module__.startswith("pyspark.sql")


def spark_session(source: Any = None) -> "Spark":
    try:
        from pyspark.sql import SparkSession
    except ImportError:
        raise MissingExtraError.of("engine spark", "pyspark", "spark") from None
    if is_spark_frame(source):
        return _of(source.sparkSession)
    return _of(SparkSession.getActiveSession() or SparkSession.builder.getOrCreate())


@cache
def _of(session: Any) -> "Spark":
    return Spark(session)


class Spark:
    engine = ENGINE
    numbers_rows = False

    def __init__(self, session: Any) -> None:
        self.session = session

    def load(self, schema: "pa.Schema", batches: Iterable["pa.RecordBatch"]) -> Relation:
        import pyarrow as pa
        from pyspark.sql.pandas.types import from_arrow_schema

        table = pa.Table.from_batches(batches, schema)
        table = table.append_column("nth", pa.array(range(len(table)), pa.int64()))
        kinds = from_arrow_schema(table.schema, prefer_timestamp_ntz=True)
        frame = self.session.createDataFrame(table, kinds)
        return self._seen(frame.coalesce(1) if len(table) <= IN_ONE_PART else frame)

    def parquet(self, path: str, columns: Mapping[str, str]) -> Relation:
        return self.frame(self._read_parquet(path), columns)

    def schema_of(self, path: str) -> "pa.Schema":
        with answering(ENGINE, Exception):
            return self._read_parquet(path).limit(0).toArrow().schema

    def _read_parquet(self, path: str) -> Any:
        """Spark refuses some types, such as times in nanoseconds, in columns that nobody reads."""
        with answering(ENGINE, Exception):
            return self.session.read.parquet(path)

    def frame(self, frame: Any, columns: Mapping[str, str]) -> Relation:
        """The rows of a DataFrame have no order: `nth` is 0.

        Columns are taken by their place, since Spark takes names that differ in capital letters
        only for one.
        """
        places = {name: f"c{at}" for at, name in enumerate(frame.columns)}
        placed = frame.toDF(*places.values())
        chosen = [placed[places[of]].alias(name) for name, of in columns.items()]
        seen = self._seen(placed.select(*chosen))
        return seen.view(f"SELECT *, CAST(0 AS BIGINT) AS nth FROM {seen}")

    def view(self, sql: str, *of: Relation) -> Relation:
        """Keep a query that asks some relations. Spark analyses it once, and not in each use."""
        return self._seen(self._run(sql), *of)

    def keep(self, sql: str) -> Relation:
        return self._seen(self._run(sql).cache())

    def ordered(self, table: Relation, rows: int, columns: Sequence[str], order: str) -> Relation:
        chosen = ", ".join(map(self.column, columns))
        return self.view(f"SELECT {chosen} FROM {table} ORDER BY {order}", table)

    def ask(self, sql: str) -> "pa.Table":
        """Times with a zone are told in one."""
        import pyarrow as pa

        frame = self._run(sql)
        with answering(ENGINE, Exception):
            table = frame.toArrow()
            kinds = [
                pa.timestamp(each.type.unit, ZONE)
                if pa.types.is_timestamp(each.type) and each.type.tz
                else each.type
                for each in table.schema
            ]
            return table.cast(pa.schema(zip(table.schema.names, kinds, strict=True)))

    def batches(self, sql: str, rows: int = BATCH) -> Iterator["pa.RecordBatch"]:
        yield from self.ask(sql).to_batches(rows)

    def literal(self, text: str) -> str:
        """Spark's settings say what marks in a text mean, and it puts values of variables in."""
        if not set("'\\$").isdisjoint(text):
            return f"CAST(X'{text.encode().hex()}' AS STRING)"
        return f"'{text}'"

    def column(self, name: str) -> str:
        return quoted(name, "`")

    def hashed(self, *columns: str) -> str:
        return f"xxhash64({', '.join(columns)})"

    def shifted(self, number: str, bits: str) -> str:
        return f"SHIFTLEFT(CAST({number} AS BIGINT), CAST({bits} AS INT))"

    def matches(self, text: str, pattern: str) -> str:
        return f"({text} RLIKE {self.literal(pattern)})"

    def captured(self, text: str, pattern: str, n_groups: int, separator: str) -> str:
        groups = separator.join(f"${number}" for number in range(1, n_groups + 1))
        return f"REGEXP_REPLACE({text}, {self.literal(pattern)}, {self.literal(groups)})"

    def forget(self, name: str) -> None:
        """Nothing is kept but the query."""

    def _seen(self, frame: Any, *of: Relation) -> Relation:
        name = new_name("v")
        with answering(ENGINE, Exception):
            frame.createOrReplaceTempView(name)
        return Relation(self, name, of)

    def _run(self, sql: str) -> Any:
        with answering(ENGINE, Exception):
            return self.session.sql(sql)
