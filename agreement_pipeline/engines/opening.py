"""Ratings of a file, of many files or of a table, for the engine that suits them."""

from pathlib import Path
from typing import Any, Literal, get_args

from agreement_pipeline.engines.birth import Asked, born_in
from agreement_pipeline.engines.duckdb import duckdb_session
from agreement_pipeline.engines.session import ENDINGS, Files, Session, Unreadable
from agreement_pipeline.engines.spark import is_spark_frame, spark_session
from agreement_pipeline.errors import RatingsError
from agreement_pipeline.ratings import Level, QueriedRatings, Ratings, Scale
from agreement_pipeline.readers import (
    COLUMNS,
    LIMITS,
    RULES,
    Classifiers,
    Columns,
    Layout,
    Limits,
    Rules,
    is_of_a_tool,
    is_packed,
)
from agreement_pipeline.readers import read as read_in_memory
from agreement_pipeline.text import listed

EngineName = Literal["auto", "memory", "duckdb", "spark"]
CHOICES: tuple[str, ...] = get_args(EngineName)
COUNTED_HERE = ("strata", "right labels of gold items", "assisted labels")
"""What only the memory's engine counts."""
LARGE = 30_000_000
"""Bytes from which a file is queried where it lies, and not read into memory."""


def read(
    source: Any,
    columns: Columns = COLUMNS,
    *,
    layout: Layout = "long",
    scale: Scale | None = None,
    level: Level = "nominal",
    classifiers: Classifiers = (),
    usable: bool = True,
    round_name: str | None = None,
    limits: Limits = LIMITS,
    rules: Rules = RULES,
    engine: str = "auto",
    memory_limit: str | None = None,
) -> Ratings | QueriedRatings:
    """Read ratings into memory, or check them where they lie.

    Parameters
    ----------
    source
        A path, a pandas DataFrame or a Spark DataFrame. DuckDB and Spark also take a folder, a
        pattern such as `round/*.parquet`, or a URL.
    columns, layout, scale, level, classifiers, usable, round_name, limits, rules
        As `readers.read` takes them. The limits `file_bytes` and `rows` are those of the memory.
    engine
        memory, duckdb, spark or auto. auto means DuckDB for folders, patterns and files from 30 MB.
        It means Spark for a Spark DataFrame. Anything else is read into memory, and so are the
        exports of tools and tables with rules.
    memory_limit
        The most memory that DuckDB takes, such as 500MB. The rest goes to disk.

    Raises
    ------
    RatingsError
        A check of the source or of its ratings fails, or the engine cannot read the source.
    ProjectError
        The columns belong to the other layout.
    MissingExtraError
        The engine is not installed.
    """
    asked = Asked(columns, layout, scale, level, classifiers, usable, round_name, limits)
    only = _only_in_memory(source, columns, rules)
    chosen = engine_of(source, layout) if engine == "auto" else _known(engine)
    if only and engine not in ("auto", "memory"):
        raise RatingsError(
            f"{source}: found {only} for the engine {engine}; expected a plain table, since only "
            "its ratings are counted where they lie. Leave the engine out, or say memory."
        )
    if only in COUNTED_HERE and chosen != "memory" and not _is_small(source, limits):
        raise RatingsError(
            f"{source}: found {only} for a source that is counted where it lies; expected one file "
            f"within the limits, since {only} are counted in memory. "
            "Give one file, or raise the limit file_bytes."
        )
    if only or chosen == "memory":
        return _in_memory(source, asked, rules)
    if not (isinstance(source, str | Path) or is_spark_frame(source)):
        raise RatingsError(
            f"engine {chosen}: found {type(source).__name__}; expected a file, a folder or a "
            "pattern, or a Spark DataFrame for Spark. Leave the engine out, or save the table."
        )
    session: Session = spark_session(source) if chosen == "spark" else duckdb_session(memory_limit)
    where = source if is_spark_frame(source) else Files.of(source)
    try:
        return born_in(session, where, asked, all_rounds=rules.all_rounds)
    except Unreadable:
        if engine == "auto" and _is_small(source, limits):
            return _in_memory(source, asked, rules)
        raise


def engine_of(source: Any, layout: Layout = "long") -> str:
    """The engine that `auto` chooses.

    >>> engine_of("no such file.csv")
    'memory'
    """
    if is_spark_frame(source):
        return "spark"
    if not isinstance(source, str | Path) or layout == "wide":
        return "memory"
    text, path = str(source), Path(source)
    if "://" in text or path.is_dir() or (not path.exists() and any(m in text for m in "*?[")):
        return "duckdb"
    large = path.is_file() and path.stat().st_size >= LARGE
    return "duckdb" if large and path.suffix.lower() in ENDINGS else "memory"


def _known(engine: str) -> str:
    if engine not in CHOICES:
        raise RatingsError(
            f"engine: found {engine!r}; expected one of {listed(CHOICES)}. Correct the name."
        )
    return engine


def _is_small(source: Any, limits: Limits) -> bool:
    if not isinstance(source, str | Path):
        return False
    path = Path(source)
    return path.is_file() and path.stat().st_size <= limits.file_bytes


def only_in_memory(columns: Columns, rules: Rules) -> str | None:
    """What of columns and rules no engine but the memory's can read; None if there is nothing."""
    asked = (rules.strata, columns.gold_label, columns.assisted)
    here = [what for what, said in zip(COUNTED_HERE, asked, strict=True) if said]
    if here:
        return here[0]
    return "rules or models" if not rules.plain or columns.models else None


def _only_in_memory(source: Any, columns: Columns, rules: Rules) -> str | None:
    """What of a source no engine but the memory's can read; None if there is nothing."""
    if settled := only_in_memory(columns, rules):
        return settled
    named = isinstance(source, str | Path) and "://" not in str(source)
    path = Path(source) if named else None
    if path is None or not path.exists():
        return None
    if is_packed(path):
        return "a packed file"
    return "the export of a tool" if is_of_a_tool(path) else None


def _in_memory(source: Any, asked: Asked, rules: Rules) -> Ratings:
    return read_in_memory(source, **vars(asked), rules=rules)


__all__ = ["CHOICES", "EngineName", "engine_of", "only_in_memory", "read"]
