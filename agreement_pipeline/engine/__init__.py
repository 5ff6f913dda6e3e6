"""A session of an SQL engine: DuckDB in this process, or Spark. It knows tables, not ratings."""

from agreement_pipeline.engine.duckdb import duckdb_session
from agreement_pipeline.engine.session import BATCH, ZONE, Relation, Session, Unreadable
from agreement_pipeline.engine.spark import is_spark_frame, spark_session

__all__ = [
    "BATCH",
    "ZONE",
    "Relation",
    "Session",
    "Unreadable",
    "duckdb_session",
    "is_spark_frame",
    "spark_session",
]
