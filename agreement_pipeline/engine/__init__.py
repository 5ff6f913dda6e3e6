"""A session of an SQL engine: DuckDB in this process, or Spark. It knows tables, not ratings."""

from agreement_pipeline.engine.duckdb import (
    DuckDB,
    duckdb_session as duckdb_session,
)
from agreement_pipeline.engine.session import (
    BATCH as BATCH,
    ZONE as ZONE,
    Relation as Relation,
    Unreadable as Unreadable,
)
from agreement_pipeline.engine.spark import (
    Spark,
    is_spark_frame as is_spark_frame,
    spark_session as spark_session,
)

Session = DuckDB | Spark
