"""Checked ratings from whatever holds them, for projects and the command line alike."""

import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np
import pyarrow as pa

from agreement_pipeline.engine import (
    Session,
    duckdb_session,
    is_spark_frame,
    spark_session,
)
from agreement_pipeline.errors import RatingsError
from agreement_pipeline.mistakes import Value, is_instance_of, refuse_unfit_values
from agreement_pipeline.ratings import (
    CAPABILITIES,
    CONTENT_PREFIX,
    LEVELS,
    LIMITS,
    NO_ANSWER,
    STRATUM,
    Classifiers,
    Level,
    Limits,
    NoRatingError,
    Ratings,
    Scale,
    category_text,
    group_lookalike_names,
)
from agreement_pipeline.readers.columns import (
    COLUMNS,
    REQUIRED,
    Columns,
    Layout,
    guess_column_by_role,
    guessed_columns,
)
from agreement_pipeline.readers.exports import Export, Reader, ReadRequest, Source, select_reader
from agreement_pipeline.readers.files import detect_compression, detect_kind, unpack_for_reading
from agreement_pipeline.readers.predictions import add_predictions
from agreement_pipeline.readers.rows import Rows
from agreement_pipeline.readers.rules import (
    RULES,
    Rules,
)
from agreement_pipeline.readers.table import TABLE, URL_MARK, is_pattern, read_header
from agreement_pipeline.text import called, counted, listed
from agreement_pipeline.units import ANSWERS

if TYPE_CHECKING:
    import pandas as pd

    from agreement_pipeline.units import Marked, Units, UnitSettings

EngineName = Literal["auto", "duckdb", "spark"]
CHOICES: tuple[str, ...] = get_args(EngineName)
EMPTY_ITEM_REASON = "of an item without content"
FILE_URL_PREFIX = "file://"
ARGUMENT_FORMS = {
    "columns": Value('Columns, as Columns(item="post")', is_instance_of(Columns)),
    "scale": Value('a Scale, as Scale(("no", "yes"))', is_instance_of(Scale, type(None))),
    "layout": Value('"long" or "wide"', ("long", "wide").__contains__),
    "level": Value(f"one of {listed(LEVELS)}", (*LEVELS, None).__contains__),
    "limits": Value("Limits, as Limits(rows=50_000)", is_instance_of(Limits)),
    "rules": Value('Rules, as Rules(exclude_raters=("gold",))', is_instance_of(Rules)),
    "classifiers": Value('a list of names, as ["model_a"]', lambda given: type(given) is not str),
}
CAPABILITY_BY_COLUMN = {
    "timestamp": "times",
    "confidence": "confidence",
    "gold": "gold",
    "assisted": "assisted",
}


def read(
    source: str | Source,
    columns: Columns = COLUMNS,
    *,
    layout: Layout = "long",
    scale: Scale | None = None,
    level: Level | None = "nominal",
    classifiers: Classifiers = (),
    usable: bool = True,
    in_order: bool = False,
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
        The path of an export that a registered reader recognises, a folder, or a pattern such as
        `round/*.parquet`. Or a DataFrame of pandas, Polars or Spark, or anything else that gives
        Arrow batches. Spark also reads the URL of a Parquet file.
    columns
        In a tool's export `label` is the question.
    layout
        long: one row a rating. wide: one row an item, one column a rater.
    scale, level
        No scale: it is read off the labels, on this level. No level: that is read off them too, as
        `init` does.
    classifiers
        Names of raters that are models. Or a function of all raters, as they are written, and of
        the source's name that returns these names.
    usable
        Refuse ratings in which no two raters meet.
    in_order
        The ratings will be judged, or read in order. Then their items are grouped only once.
    round_name
        The round to read, if the source names more than one.
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
    refuse_unfit_values(
        ARGUMENT_FORMS,
        {
            "columns": columns,
            "layout": layout,
            "scale": scale,
            "level": level,
            "classifiers": classifiers,
            "limits": limits,
            "rules": rules,
        },
        RatingsError,
    )
    if scale is None and level == "ordinal" and layout == "long":
        scale = _scale_of_ordered_column(source, columns.label)
    session = _choose_session(source, engine, memory_limit)
    units = rules.units
    are_cells = units is None or units.kind == "sets"
    # Other label objects are numbered before they are units. The numbers stay in this process.
    cell_session = session if are_cells else None
    read_layout: Layout = layout if are_cells else "long"
    rows = load_rows(source, columns, read_layout, limits, rules, cell_session)
    with rows.reading():
        rows = _select_round(rows, round_name, rules)
        if rules.predictions:
            rows = add_predictions(rows.read_through(), rules, limits)
        if units is None or rows.are_units:
            scale = scale if units is None else (scale or Scale(ANSWERS))
            ratings = _check_ratings(rows, scale, level, classifiers, limits, in_order=in_order)
        else:
            ratings = _build_unit_ratings(rows, units, rules.keep, scale, classifiers, session)
    if usable:
        _refuse_unusable(ratings, rows.source)
    if (origin := ratings.origin) and (origin.classifiers or rules.different_raters):
        classifier_details = [
            classifier
            for classifier in origin.classifiers
            if classifier["name"] in ratings.classifiers
        ]
        declared_different = tuple(
            group
            for group in group_lookalike_names(ratings.everyone, numbers_alike=True)
            if rules.declares_different(group)
        )
        of_raters = replace(
            origin, classifiers=tuple(classifier_details), different_raters=declared_different
        )
        return ratings.with_origin(of_raters)
    return ratings


def read_marked(
    source: str | Path,
    kind: str,
    columns: Columns = COLUMNS,
    *,
    round_name: str | None = None,
    limits: Limits = LIMITS,
    rules: Rules = RULES,
) -> "list[Marked]":
    r"""Read what each rater marked in each item, from the export of a tool.

    `kind` is one of `agreement_pipeline.units.KINDS`, such as `spans`. Everything else is as in
    `read_ratings`. Some formats do not show whether an item without marks was opened. They need
    `Rules(requires=())`.

    Raises
    ------
    RatingsError
        The export is broken, or an object cannot be.
    ProjectError
        There is no such kind.

    Examples
    --------
    >>> import json
    >>> from tempfile import TemporaryDirectory
    >>> said = {"text": "Ana left.", "spans": [{"start": 0, "end": 3, "label": "PER"}]}
    >>> said |= {"_session_id": "news-a", "_task_hash": 1, "answer": "accept"}
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "export.jsonl")
    ...     _ = path.write_text(json.dumps(said))
    ...     read_marked(path, "spans")[0].objects
    (Span(start=0, end=3, category='PER'),)
    """
    from agreement_pipeline.units import UnitSettings

    rules = replace(rules, units=UnitSettings(kind))
    return _load_marked(
        _select_round(load_rows(source, columns, "long", limits, rules), round_name, rules)
    )


def _load_marked(rows: Rows) -> "list[Marked]":
    """The marked objects of rows whose labels are numbers of such objects."""
    from agreement_pipeline.units import Marked

    occurrence = "occurrence" if "occurrence" in rows.names else "1"
    table = rows.relation.query(
        f"SELECT item, rater, label, {rows.quote_column('row')}, {occurrence} FROM {rows} ORDER "
        "BY nth"
    )
    marked = []
    for item, rater, label, record, repetition in zip(
        *(column.to_pylist() for column in table.columns), strict=True
    ):
        answer, place = rows.object_answers[int(label[1:])], f"{rows.source}: {record}"
        if item is None:
            raise RatingsError(
                f"{place}: found no item; expected what was marked. Correct the record, or name "
                "another field as the item."
            )
        is_model = rater in rows.classifiers
        marked.append(
            Marked(item, rater, answer.objects, answer.extent, place, int(repetition), is_model)
        )
    return marked


def _build_unit_ratings(
    rows: Rows,
    units: "UnitSettings",
    keep: Sequence[str],
    scale: Scale | None,
    classifiers: Classifiers,
    session: Session,
) -> Ratings:
    """The ratings of units made of marked objects, with what the delivery says of the documents."""
    from agreement_pipeline.units import size_columns_of, units_of

    raters = rows.distinct_texts("rater")
    classifier_names = classifiers(raters, rows.source) if callable(classifiers) else classifiers
    marked = _load_marked(rows)
    labelled_units = units_of(marked, units, scale, source=rows.source)
    complete_units = replace(
        labelled_units,
        classifiers=tuple(sorted({*classifier_names, *({*rows.classifiers} & {*raters})})),
        session=session,
    )
    documents = labelled_units.rows["cluster"].astype(object)
    contents = size_columns_of(marked, units)
    contents |= _contents_by_document(rows, keep)
    complete_units = replace(
        complete_units,
        rows=labelled_units.rows.assign(**_contents_of_first_units(contents, complete_units)),
    )
    if names := [n for n in rows.names if n in ("gold", "cluster") or n.startswith(STRATUM)]:
        table = rows.relation.query(
            f"SELECT item, {', '.join(map(rows.quote_column, names))} FROM (SELECT *, "
            "ROW_NUMBER() OVER "
            f"(PARTITION BY item ORDER BY nth) AS place FROM {rows}) AS said WHERE place = 1"
        )
        items = table["item"].to_pylist()
        values_by_column = {
            name: dict(zip(items, table[name].to_pylist(), strict=True)) for name in names
        }
        groups = {
            name: documents.map(value_by_item) for name, value_by_item in values_by_column.items()
        }
        complete_units = replace(complete_units, rows=complete_units.rows.assign(**groups))
    part = "" if units.part == "all" else units.part
    origin = replace(rows.origin, part=part)
    return complete_units.ratings.with_origin(
        origin.with_left_out(EMPTY_ITEM_REASON, sum(answer.is_empty for answer in marked))
    )


def _contents_by_document(rows: Rows, keep: Sequence[str]) -> dict[str, dict[str, str]]:
    """What the delivery has of each document, by the name of the column, then by item."""
    column_by_content = {name: name for name in rows.names if name.startswith(CONTENT_PREFIX)}
    if "text" in rows.names:
        column_by_content[f"{CONTENT_PREFIX}text"] = "text"
    contents: dict[str, dict[str, str]] = {}
    for content, column in column_by_content.items():
        text = rows.text_sql(column)
        values = rows.relation.query(
            f"SELECT item, MIN({text}) AS least, MAX({text}) AS greatest FROM {rows} "
            f"WHERE {text} IS NOT NULL GROUP BY item ORDER BY item"
        ).to_pylist()
        differing = [value["item"] for value in values if value["least"] != value["greatest"]]
        name = content.removeprefix(CONTENT_PREFIX)
        if differing and (name == "text" or name in keep):
            raise RatingsError(
                f"{rows.source}: field {name!r}: found different contents of item "
                f"{listed(differing)}; expected one. Give each content its own item."
            )
        # A field that nobody named and that differs by rater says nothing of the document.
        if values and not differing:
            contents[content] = {value["item"]: value["least"] for value in values}
    return contents


def _contents_of_first_units(
    contents: Mapping[str, Mapping[str, str]], units: "Units"
) -> dict[str, "pd.Series"]:
    """Columns for the rows of units. Only the first unit of a document has its contents, so that a
    long text is not there once for each unit.
    """
    from agreement_pipeline.units import NONE

    rows = units.rows
    visible = rows[rows["label"] != NONE] if units.part == "naming" else rows
    first_units = {*visible.groupby("cluster", observed=True)["item"].first()}
    documents = rows["cluster"].astype(object).where(rows["item"].isin(first_units))
    return {name: documents.map(dict(of_document)) for name, of_document in contents.items()}


def read_rounds(
    path: Path,
    columns: Columns = COLUMNS,
    limits: Limits = LIMITS,
    reader: str | None = None,
    *,
    layout: Layout = "long",
    rules: Rules = RULES,
) -> tuple[str, ...]:
    """The sorted names in a file's column of rounds. It refuses a row without one.

    If rules say what a round is, they say which rows count too.
    """
    if rules.rounds is not None:
        rows = load_rows(path, columns, layout, limits, rules)
        with rows.reading():
            return tuple(rows.distinct_texts("round"))
    round_names = set[str]()
    with unpack_for_reading(path, limits) as place:
        for rows in select_reader(place, reader, columns).read_round_column(
            place, ReadRequest(columns, limits=limits)
        ):
            if rows.has_row("round IS NULL"):
                rows_under_own_name = replace(rows, columns={"round": columns.round or "round"})
                raise RatingsError(
                    f"{rows_under_own_name.describe_place('round IS NULL', 'round')}: found no "
                    "round; expected one in every row. Fill it in, or name the column or field "
                    "that holds it."
                )
            round_names.update(rows.distinct_texts("round"))
    return tuple(sorted(round_names))


def _scale_of_ordered_column(source: object, label: str) -> Scale | None:
    """An ordered column of pandas names its categories from the lowest to the highest."""
    pandas = sys.modules.get("pandas")
    if pandas is None or not isinstance(source, pandas.DataFrame) or label not in source:
        return None
    dtype = source[label].dtype
    if not isinstance(dtype, pandas.CategoricalDtype) or not dtype.ordered:
        return None
    categories = tuple(map(category_text, dtype.categories))
    return Scale(categories, "ordinal") if len(categories) > 1 else None


def _choose_session(
    source: Source, engine: str = "auto", memory_limit: str | None = None
) -> Session:
    """The session for a source: of its engine, or DuckDB's."""
    if engine not in CHOICES:
        raise RatingsError(
            f"engine: found {engine!r}; expected one of {listed(CHOICES)}. Correct the name."
        )
    if engine == "spark" or is_spark_frame(source):
        return spark_session(source)
    return duckdb_session(memory_limit)


def load_rows(
    source: str | Source,
    columns: Columns = COLUMNS,
    layout: Layout = "long",
    limits: Limits = LIMITS,
    rules: Rules = RULES,
    session: Session | None = None,
) -> Rows:
    """It is `read` without checks. Without a session, rows are put in that of a Spark DataFrame,
    else in DuckDB.
    """
    request = ReadRequest(columns, layout, limits, rules, session or _choose_session(source))
    if isinstance(source, str) and source.startswith(FILE_URL_PREFIX):
        source = Path(source.removeprefix(FILE_URL_PREFIX))
    is_path = isinstance(source, str | Path)
    if not is_path or URL_MARK in str(source) or is_pattern(Path(source)):
        return _add_origin(TABLE, TABLE.read_rows(source, request), rules)
    path = Path(source)
    path = path if path.name else path.resolve()
    with unpack_for_reading(path, limits) as place:
        reader = select_reader(place, rules.reader, columns)
        rows = reader.read_rows(place, request)
        if place != path and any(detect_kind(file) == "parquet" for file in Export(place).files):
            rows = rows.read_through()
            names = [name for name in rows.names if name != "nth"]  # their file will be gone
            kinds = pa.schema([rows.relation.schema.field(name) for name in names])
            query = f"SELECT {', '.join(map(rows.quote_column, names))} FROM {rows} ORDER BY nth"
            loaded = request.session.load_batches(kinds, request.session.query_batches(query))
            rows = replace(rows, relation=loaded)
    return _add_origin(reader, rows, rules)


def _select_round(rows: Rows, name: str | None, rules: Rules) -> Rows:
    """The rows of one round. Several rounds without a choice are refused."""
    if name is None and rules.all_rounds:
        return rows
    place = f"{rows.source}: column {rows.columns.get('round', 'round')!r}"
    names_or_none: list[str | None] = []
    if "round" in rows.names:
        text = rows.text_sql("round")
        names_or_none = rows.relation.query_column(
            f"SELECT {text} AS name FROM {rows} GROUP BY {text} ORDER BY MIN(nth), name"
        )
    round_names = [round_name for round_name in names_or_none if round_name is not None]
    if name is None and round_names and len(round_names) < len(names_or_none):
        raise RatingsError(
            f"{place}: found rows without a round beside {called('round', round_names)}; expected "
            "a round in every row, or in none. Fill it in."
        )
    if name is None and len(round_names) <= 1:
        return rows
    if name is None:
        raise RatingsError(
            f"{place}: found {len(round_names)} rounds, {listed(round_names)}; expected one for "
            "ratings that are read as one. Choose one (--of-round NAME, or columns: {round: …} in "
            "a project for a round each), or read them together (--all-rounds, or all_rounds: "
            "true)."
        )
    if not round_names:
        raise RatingsError(
            f"{place}: found no round in any row; expected rows of round {name!r}. "
            "Name the column of rounds, or no round."
        )
    if name not in round_names:
        raise RatingsError(
            f"{place}: found no round {name!r} among {listed(round_names)}; expected one of these. "
            "Correct its name."
        )
    rows_of_round = rows.create_view(
        f"SELECT * FROM {rows} WHERE {rows.text_sql('round')} = {rows.value_sql(name)}"
    )
    left_out = Counter({key: count for key, count in rows.left_out.items() if key[0] == name})
    return replace(rows_of_round, left_out=left_out)


def guess_columns(
    source: object,
    columns: Columns = COLUMNS,
    layout: Layout = "long",
    rules: Rules = RULES,
    limits: Limits = LIMITS,
) -> dict[str, Any]:
    """The columns of a table that are read under another name, though nobody named them: those that
    the table must have, as `init` guesses them, and others that are usual.

    Of a compressed file nothing is guessed, since it would be unpacked once more.
    """
    if not isinstance(source, Path) or not source.exists() or detect_compression(source):
        return {}
    if select_reader(source, rules.reader, columns) is not TABLE:
        return {}
    header = read_header(source, columns, limits)
    used_columns = {*columns.column_by_role.values(), *columns.raters, *columns.models.values()}
    required: dict[str, Any] = {
        name: column
        for name, column in guess_column_by_role(header).items()
        if name in REQUIRED[layout]
        and getattr(columns, name) == getattr(COLUMNS, name) not in header
        and column not in used_columns
    }
    return required | guessed_columns(header, replace(columns, **required))


def _add_origin(reader: Reader, rows: Rows, rules: Rules) -> Rows:
    """The rows with what their reader shows. It must show what is required."""
    shows = frozenset(reader.shows)
    if reader.submissions is None:
        column_capabilities = {
            word for name, word in CAPABILITY_BY_COLUMN.items() if name in rows.names
        }
        other_capabilities = [
            *(["predictions"] if rows.classifiers else []),
            *["none"] * rows.are_units,
        ]
        shows = frozenset({"raters", *column_capabilities, *other_capabilities})
    default_required = (*reader.needs, *(["none"] if rules.units else []))
    required = default_required if rules.requires is None else rules.requires
    lacking = [name for name in required if name not in shows]
    if lacking:
        explanations = "; ".join(f"{name}: {CAPABILITIES[name]}" for name in lacking)
        advice = " ".join(reader.needs[name] for name in lacking if name in reader.needs)
        raise RatingsError(
            f"{rows.source}: found {reader.title}, which cannot show {listed(lacking)} "
            f"({explanations}); expected an export that does. {advice or 'Export another format.'}"
        )
    return replace(rows, reader=reader.name, shows=shows)


def _check_ratings(
    rows: Rows,
    scale: Scale | None,
    level: Level | None,
    classifiers: Classifiers,
    limits: Limits,
    *,
    in_order: bool,
) -> Ratings:
    """The ratings in rows, checked."""
    try:
        return Ratings.from_cells(
            rows,
            scale,
            level=level,
            classifiers=classifiers,
            models=rows.classifiers,
            limits=limits,
            origin=rows.origin,
            in_order=in_order,
            same_label_counts_once=True,
        )
    except NoRatingError:
        left_out = rows.origin.left_out_in_words
        finding, step = "no label in any row", "Check that the export is complete"
        if left_out:
            finding, step = f"{finding} (left out: {left_out})", f"{step}, and what is left out"
        if NO_ANSWER in left_out:
            step = f"{step}. Spans, boxes and rankings are read with --units: see `guide units`"
        label = rows.columns.get("label")
        label_place = "the columns of raters" if label is None else f"column {label!r}"
        raise RatingsError(
            f"{rows.source}: {label_place}: found {finding}; expected at least one rating. {step}."
        ) from None


def _refuse_unusable(ratings: Ratings, source: str) -> None:
    """Refuse ratings in which no two raters rated one item."""
    raters = ratings.raters
    if len(raters) < 2:
        models = (
            f", and the {called('classifier', ratings.classifiers)}" if ratings.classifiers else ""
        )
        raise RatingsError(
            f"{source}: found ratings by {counted(len(raters), 'rater')}, "
            f"{listed(raters)}{models}; expected two raters or more, since agreement compares "
            f"them{', and a classifier with them' if ratings.classifiers else ''}. Add the other "
            "raters' ratings, or name the column that tells the raters apart."
        )
    patterns, names_of_raters = ratings.patterns, set(raters)
    places = [place for place, name in enumerate(ratings.names) if name in names_of_raters]
    n_raters_by_pattern = np.zeros(len(patterns.n), dtype=np.int64)
    for row, _, _ in ratings.packing.iterate_labels(patterns.words, places):
        np.add.at(n_raters_by_pattern, row, 1)
    if not (n_raters_by_pattern >= 2).any():
        items = patterns.items[n_raters_by_pattern > 0]
        raise RatingsError(
            f"{source}: found no item with ratings by two raters "
            f"({counted(int(n_raters_by_pattern[n_raters_by_pattern > 0] @ items), 'rating')} of "
            f"{counted(int(items.sum()), 'item')} by {len(raters)} raters); "
            "expected at least one. Let raters overlap on some items, and check that their exports "
            "name the items alike."
        )
