"""Checked ratings from whatever holds them, for projects and the command line alike."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal, get_args

from agreement_pipeline.engine import (
    Relation,
    Session,
    duckdb_session,
    is_spark_frame,
    spark_session,
)
from agreement_pipeline.errors import RatingsError
from agreement_pipeline.ratings import (
    LIMITS,
    Cells,
    Classifiers,
    Level,
    Limits,
    NoRatingError,
    Ratings,
    Scale,
)
from agreement_pipeline.readers.columns import COLUMNS, Columns, Layout
from agreement_pipeline.readers.files import refuse_unfinished
from agreement_pipeline.readers.meeting import refuse_unusable
from agreement_pipeline.readers.packed import unpacked
from agreement_pipeline.readers.registry import MarkedRows, Reader, Rows, Source, reader_of
from agreement_pipeline.readers.rules import RULES, Rules, names_of, text_of
from agreement_pipeline.readers.sources import of_round, refuse_incapable, rows_of, with_origin
from agreement_pipeline.text import listed

if TYPE_CHECKING:
    import pandas as pd

    from agreement_pipeline.units import Marked, UnitSettings

EngineName = Literal["auto", "duckdb", "spark"]
CHOICES: tuple[str, ...] = get_args(EngineName)
OF_RATERS = "the columns of raters"


def read(
    source: str | Source,
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
) -> Ratings:
    """Read ratings and check them.

    Parameters
    ----------
    source
        The path of an export that a registered reader recognises. Or a folder, or a pattern such
        as `round/*.parquet`. Or a DataFrame of pandas, Polars or Spark, a table of Arrow, a
        relation of DuckDB, or anything else that gives Arrow batches. Spark also reads the URL of
        a Parquet file.
    columns
        What the columns of the source are called. In a tool's export `label` is the question.
    layout
        long: one row a rating. wide: one row an item, one column a rater.
    scale
        What the labels may be. None: the scale is read off the labels, on `level`.
    classifiers
        Names of raters that are models, each with at least one rating. Or a function that returns
        these names. Its arguments are all raters as they are written and the source's name.
    usable
        Refuse ratings in which no two raters meet.
    round_name
        The round to read, if the source names more than one.
    limits
        How large the source may be.
    rules
        Which rows count, which items are one, and what the units of label objects are.
    engine
        Where the ratings are put and counted: duckdb, in this process, or spark. auto means Spark
        for a Spark DataFrame and DuckDB for all else. The numbers are the same.
    memory_limit
        The most memory that DuckDB takes, such as 500MB. The rest goes to disk. None: 80% of the
        memory, and 300MB once a large table is put in.

    Raises
    ------
    RatingsError
        A check of the source or of its ratings fails.
    ProjectError
        The columns belong to the other layout.
    MissingExtraError
        Spark is not installed.

    Examples
    --------
    >>> import pandas as pd
    >>> rows = [("i1", "ana", "yes"), ("i1", "ben", "no"), ("i2", "ana", "no")]
    >>> read(pd.DataFrame(rows, columns=["item", "rater", "label"])).raters
    ('ana', 'ben')
    """
    if rules.units is not None:
        ratings, where = _units_in(
            source, rules.units, columns, scale, classifiers, round_name, limits, rules
        )
        if usable:
            refuse_unusable(ratings, where)
        return ratings
    session = _session(source, engine, memory_limit)
    rows = rows_of(source, columns, layout, limits, rules, session)
    if not rules.all_rounds or round_name is not None:
        rows = of_round(rows, round_name)
    ratings = checked_rows(rows, scale=scale, level=level, classifiers=classifiers, limits=limits)
    if usable:
        refuse_unusable(ratings, rows.source)
    return ratings


def _session(source: Source, engine: str, memory_limit: str | None) -> Session:
    if engine not in CHOICES:
        raise RatingsError(
            f"engine: found {engine!r}; expected one of {listed(CHOICES)}. Correct the name."
        )
    if engine == "spark" or is_spark_frame(source):
        return spark_session(source)
    return duckdb_session(memory_limit)


def _units_in(
    source: str | Source,
    units: "UnitSettings",
    columns: Columns,
    scale: Scale | None,
    classifiers: Classifiers,
    round_name: str | None,
    limits: Limits,
    rules: Rules,
) -> tuple[Ratings, str]:
    """The units of the label objects in an export, and its name."""
    from agreement_pipeline.units import units_of

    rows, marked = _marked_in(source, units.kind, columns, round_name, limits, rules)
    found = replace(
        units_of(marked, units, scale, source=rows.source),
        classifiers=_classifiers(classifiers, rows),
    )
    whole = replace(found, rows=_with_contents(found.rows, rows.cells))
    part = "" if units.part == "all" else units.part
    origin = None if rows.origin is None else replace(rows.origin, part=part)
    return replace(whole.ratings, origin=origin), rows.source


def read_marked(
    source: str | Path,
    kind: str,
    columns: Columns = COLUMNS,
    *,
    round_name: str | None = None,
    limits: Limits = LIMITS,
    rules: Rules = RULES,
) -> "list[Marked]":
    r"""What each rater marked in each item, from the export of a tool.

    Parameters
    ----------
    source
        The path of the export.
    kind
        The kind of the objects: `spans`, `boxes` or another of `agreement_pipeline.units.KINDS`.
    columns
        What the fields of the export are called. `label` is the question.
    round_name, limits, rules
        As in `read`. Some formats do not tell an empty item from one that nobody opened. They need
        `Rules(requires=())`.

    Raises
    ------
    RatingsError
        The export is broken, or an object cannot be.

    Examples
    --------
    >>> import json
    >>> from tempfile import TemporaryDirectory
    >>> from agreement_pipeline.units import UnitSettings, units_of
    >>> said = {"text": "Ana left.", "spans": [{"start": 0, "end": 3, "label": "PER"}]}
    >>> both = [{**said, "_session_id": f"news-{name}", "_task_hash": 1} for name in ("a", "b")]
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "export.jsonl")
    ...     lines = [json.dumps({**each, "answer": "accept"}) for each in both]
    ...     _ = path.write_text("\n".join(lines))
    ...     marked = read_marked(path, "spans")
    >>> marked[0].objects
    (Span(start=0, end=3, category='PER'),)
    >>> units_of(marked, UnitSettings("spans")).ratings.raters
    ('a', 'b')
    """
    return _marked_in(source, kind, columns, round_name, limits, rules)[1]


def _marked_in(
    source: str | Source,
    kind: str,
    columns: Columns,
    round_name: str | None,
    limits: Limits,
    rules: Rules,
) -> "tuple[Rows, list[Marked]]":
    """The rows of an export, and what is marked in each of them."""
    reader, marked = _marked_rows(source, kind, columns, limits, rules)
    rows = with_origin(reader, marked.rows)
    needed = rules.requires if rules.requires is not None else ("none", *reader.needs)
    refuse_incapable(reader, needed, rows)
    if not rules.all_rounds or round_name is not None:
        rows = of_round(rows, round_name)
    return rows, marked.marked_in(rows)


def _marked_rows(
    source: str | Source, kind: str, columns: Columns, limits: Limits, rules: Rules
) -> tuple[Reader, MarkedRows]:
    """The label objects of one kind in an export, and its reader."""
    if not isinstance(source, str | Path):
        raise RatingsError(
            f"a DataFrame: found a table for units of {kind}; expected the export of a tool. Make "
            "units of it with agreement_pipeline.units."
        )
    refuse_unfinished(Path(source))
    with unpacked(Path(source), limits) as path:
        reader = reader_of(path, rules.reader)
        if reader.marked is None:
            raise RatingsError(
                f"{path.name}: found {reader.title} for units of {kind}; expected the export of a "
                "tool. Leave `units` out, or export the objects."
            )
        return reader, reader.marked(path, kind, columns, limits, rules)


def _with_contents(units: "pd.DataFrame", cells: Relation) -> "pd.DataFrame":
    """The units with what is known of their items: whether they are gold, and their cluster."""
    names = [name for name in ("gold", "cluster") if name in names_of(cells)]
    if not names:
        return units
    known = cells.ask(
        f"SELECT item, {', '.join(names)} FROM (SELECT *, ROW_NUMBER() OVER "
        f"(PARTITION BY item ORDER BY nth) AS place FROM {cells}) AS said WHERE place = 1"
    )
    items, of_item = known["item"].to_pylist(), units["cluster"].astype(object)
    each = {name: dict(zip(items, known[name].to_pylist(), strict=True)) for name in names}
    return units.assign(**{name: of_item.map(said) for name, said in each.items()})


def checked_rows(
    rows: Rows,
    *,
    scale: Scale | None = None,
    level: Level = "nominal",
    classifiers: Classifiers = (),
    limits: Limits = LIMITS,
) -> Ratings:
    """Check rows under canonical names, and find their scale if none is given.

    Raises
    ------
    RatingsError
        A check of the ratings fails.
    """
    try:
        return Ratings.from_cells(
            Cells(rows.cells, rows.source, rows.columns),
            scale,
            level=level,
            classifiers=classifiers,
            models=rows.classifiers,
            limits=limits,
            origin=rows.origin,
        )
    except NoRatingError:
        raise _no_label(rows) from None


def read_rounds(
    path: Path, columns: Columns = COLUMNS, limits: Limits = LIMITS, reader: str | None = None
) -> tuple[str, ...]:
    """The rounds that a file with a column of rounds names, sorted.

    Raises
    ------
    RatingsError
        The file is broken. Or it has no such column, or a row without a round.
    """
    refuse_unfinished(path)
    with unpacked(path, limits) as place:
        return reader_of(place, reader).rounds(place, columns, limits)


def _classifiers(asked: Classifiers, rows: Rows) -> tuple[str, ...]:
    """The classifiers that are asked for, and the models among the raters."""
    raters = _raters(rows)
    named = asked(raters, rows.source) if callable(asked) else asked
    return tuple(sorted({*named, *({*rows.classifiers} & {*raters})}))


def _raters(rows: Rows) -> list[str]:
    rater = text_of(rows.cells, "rater")
    found = rows.cells.ask(f"SELECT DISTINCT {rater} AS rater FROM {rows.cells}")
    return sorted(each for each in found["rater"].to_pylist() if each is not None)


def _no_label(rows: Rows) -> RatingsError:
    left_out = rows.origin.words if rows.origin else ""
    found, step = "no label in any row", "Check that the export is complete"
    if left_out:
        found, step = f"{found} (left out: {left_out})", f"{step}, and what is left out"
    of = f"column {rows.columns['label']!r}" if "label" in rows.columns else OF_RATERS
    return RatingsError(
        f"{rows.source}: {of}: found {found}; expected at least one rating. {step}."
    )
