"""Spark: tables that lie on a cluster, or files larger than one machine."""

import sys
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from agreement_pipeline.engines.protocol import ENGINES
from agreement_pipeline.engines.queried import Queried
from agreement_pipeline.engines.session import (
    ODD_LIST,
    SEPARATORS,
    Files,
    Unreadable,
    is_list_of_labels,
    refuse_numbered_labels,
)
from agreement_pipeline.errors import MissingExtraError, RatingsError
from agreement_pipeline.readers import footer_of

ENGINE = "spark"


def is_spark_frame(source: Any) -> bool:
    """True for a Spark DataFrame. Spark is not imported to find out."""
    return "pyspark" in sys.modules and type(source).__module__.startswith("pyspark.sql")


def spark_session(source: Any = None) -> "Spark":
    """The session of a Spark DataFrame, or the one that is active, or a local one.

    Raises
    ------
    MissingExtraError
        PySpark is not installed.
    """
    try:
        from pyspark.sql import SparkSession
    except ImportError:
        raise MissingExtraError.of("engine spark", "pyspark", "spark") from None
    if is_spark_frame(source):
        return _of(source.sparkSession)
    return _of(SparkSession.getActiveSession() or SparkSession.builder.getOrCreate())


def _refuse_numbered_labels(source: Any, columns: Mapping[str, str]) -> None:
    """Spark hides what Parquet files say of their columns. Those of this machine are asked.

    They must have one reading.
    """
    import pyarrow.parquet as pq

    here = isinstance(source, Files) and source.form == "parquet"
    for path in filter(Path.is_file, map(Path, source.paths if here else ())):
        footer_of(path)
        refuse_numbered_labels(pq.read_schema(path).metadata, columns.values(), source.name)


@cache
def _of(session: Any) -> "Spark":
    return Spark(session)


class Spark:
    """A Spark session."""

    engine = ENGINE

    def __init__(self, session: Any) -> None:
        self.session = session

    def header(self, source: Any) -> list[str]:
        """The names of the columns."""
        return [str(name) for name in self._frame(source).columns]

    def open(self, view: str, source: Any, columns: Mapping[str, str]) -> None:
        """Make a view of some columns of a source, under other names."""
        _refuse_numbered_labels(source, columns)
        frame = self._frame(source)
        chosen = [frame[f"`{column.replace('`', '``')}`"].alias(n) for n, column in columns.items()]
        selected = frame.select(*chosen)
        if "label" in columns and is_list_of_labels(_arrow_type(selected, "label")):
            others = [name for name in columns if name != "label"]
            selected = selected.selectExpr(*others, f"{_JOINED} AS label")
        selected.createOrReplaceTempView(view)

    def forget(self, view: str, source: Any) -> None:
        """Nothing is kept."""

    def numbered(
        self, view: str, opened: str, source: Any, columns: Mapping[str, str]
    ) -> Sequence[str]:
        """Make one view, in which the name of its item stands for the number of a row."""
        self.open(f"{view}_cells", source, columns)
        row = "CONCAT('of item ', COALESCE(CAST(item AS STRING), 'null')) AS row"
        self.view(view, f"SELECT *, {row} FROM {view}_cells")
        return [view]

    def _frame(self, source: Any) -> Any:
        if not isinstance(source, Files):
            return source
        read, paths = self.session.read, list(source.paths)
        if source.form == "parquet":
            return read.parquet(*paths)
        if source.form == "json":
            raise RatingsError(
                f"{source.name}: found JSON Lines; expected Parquet, CSV or a DataFrame for Spark. "
                "Save it as Parquet, or choose another engine."
            )
        return read.csv(
            paths,
            sep=SEPARATORS[source.form],
            header=True,
            inferSchema=False,
            enforceSchema=False,
            quote='"',
            escape='"',
            multiLine=True,
            mode="FAILFAST",
            nullValue="",
            emptyValue="",
            ignoreLeadingWhiteSpace=False,
            ignoreTrailingWhiteSpace=False,
            maxCharsPerColumn=-1,
        )

    def view(self, name: str, sql: str) -> None:
        """Keep a query under a name."""
        self._run(f"CREATE OR REPLACE TEMP VIEW {name} AS {sql}")

    def table(self, name: str, data: Any) -> None:
        """Keep an Arrow table under a name."""
        self.session.createDataFrame(data).createOrReplaceTempView(name)

    def ask(self, sql: str) -> Any:
        """The answer to a query as an Arrow table."""
        frame = self._run(sql)
        try:
            return frame.toArrow()
        except Exception as error:
            raise Unreadable.of(ENGINE, error) from None

    def batches(self, sql: str) -> Iterator[Any]:
        """The answer to a query in Arrow batches."""
        yield from self.ask(sql).to_batches()

    def literal(self, text: str) -> str:
        """A text as it stands in a query."""
        escaped = text.replace("\\", "\\\\").replace("'", "\\'")
        return f"'{escaped}'"

    def matches(self, text: str, pattern: str) -> str:
        """A test of a text by a regular expression."""
        return f"({text} RLIKE {self.literal(pattern)})"

    def _run(self, sql: str) -> Any:
        try:
            return self.session.sql(sql)
        except Exception as error:
            raise Unreadable.of(ENGINE, error) from None


_TEXTS = "TRANSFORM(label, x -> CAST(x AS STRING))"
_ODD = f"EXISTS({_TEXTS}, x -> x IS NULL OR x = '' OR CONTAINS(x, '|'))"
_JOINED = (
    f"CASE WHEN label IS NULL THEN NULL WHEN {_ODD} THEN RAISE_ERROR('{ODD_LIST}') "
    f"WHEN SIZE(label) = 0 THEN '|' ELSE ARRAY_JOIN({_TEXTS}, '|') END"
)
"""A list of labels as one text with `|` between them."""


def _arrow_type(frame: Any, column: str) -> Any:
    return frame.select(column).limit(0).toArrow().schema.field(0).type


ENGINES[ENGINE] = Queried()

__all__ = ["Spark", "is_spark_frame", "spark_session"]
