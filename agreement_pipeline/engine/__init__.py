"""A session of an SQL engine: DuckDB in this process, or Spark. It knows tables, not ratings."""

from agreement_pipeline.engine.duckdb import DuckDB, duckdb_session
from agreement_pipeline.engine.session import (
    BATCH_ROWS,
    PATTERN_MARKS,
    ROW_NUMBER,
    ZONE,
    Relation,
    Session,
    Unreadable,
)
from agreement_pipeline.engine.spark import Spark, is_spark_frame, spark_session

__all__ = [
    "BATCH_ROWS",
    "PATTERN_MARKS",
    "ROW_NUMBER",
    "ZONE",
    "DuckDB",
    "Relation",
    "Session",
    "Spark",
    "Unreadable",
    "duckdb_session",
    "is_spark_frame",
    "spark_session",
]
