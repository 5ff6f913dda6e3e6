"""Tables of ratings: long with one row a rating, or wide with one column a rater."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path

import pyarrow as pa

from agreement_pipeline.engine import Relation, Session, duckdb_session
from agreement_pipeline.errors import ProjectError, RatingsError
from agreement_pipeline.ratings import LIMITS, Limits, Scale
from agreement_pipeline.readers.cells import (
    Cells,
    cells_of,
    far_cells,
    file_cells,
    is_named_table,
)
from agreement_pipeline.readers.columns import (
    COLUMNS,
    OPTIONAL,
    Columns,
    Layout,
    chosen_columns,
    rater_columns,
)
from agreement_pipeline.readers.exports import Export
from agreement_pipeline.readers.files import refuse_unfinished
from agreement_pipeline.readers.packed import unpacked
from agreement_pipeline.readers.registry import TABLE as NAME
from agreement_pipeline.readers.registry import Reader, Rows, Source, reader_of, register
from agreement_pipeline.readers.rules import (
    FIELD,
    RULES,
    Rules,
    columns_of,
    kept,
    linked,
    names_of,
    stratified,
    text_of,
    with_models,
)
from agreement_pipeline.text import called, listed

RATER = "rater:"
"""How the name of a column begins that holds the labels of a rater, before it is unpivoted."""
TOGETHER = 32
"""How many columns of raters a part of a query looks at."""
AFAR = "://"


def table_rows(
    source: Source,
    columns: Columns = COLUMNS,
    layout: Layout = "long",
    limits: Limits = LIMITS,
    rules: Rules = RULES,
    session: Session | None = None,
) -> Rows:
    """The ratings in a table under their canonical names, one row a rating.

    Cells of text are kept as they are written. So `NA` and `001` are text. Only an empty cell is
    missing. A list of labels becomes text with `|` between them; `|` alone is the empty list.
    Columns that nothing names are left out.

    Parameters
    ----------
    source
        A file of delimited text, JSON Lines, Parquet or Excel, or a DataFrame. Or a folder of such
        files, or a pattern, which are one table. For Spark also the URL of a Parquet file.
    columns
        What its columns are called.
    layout
        long: one row a rating. wide: one row an item, one column a rater.
    limits
        How large the table may be.
    rules
        Which rows count, and which items are one.
    session
        Where the rows are put. None: in DuckDB.

    Raises
    ------
    RatingsError
        The table is broken or lacks a column.
    ProjectError
        The columns belong to the other layout.
    """
    session = session or duckdb_session()
    if isinstance(source, str) and AFAR in source:
        cells = far_cells(source, session, limits)
        return cells_rows(cells, columns, layout, limits, rules, session)
    source = Path(source) if isinstance(source, str) else source
    files = files_of(source) if isinstance(source, Path) else None
    if files is None:
        return cells_rows(cells_of(source, limits), columns, layout, limits, rules, session)
    _refuse_of_other_layout(columns, layout)
    parts = {
        name: _rows(file_cells(each, limits), columns, layout, limits, rules, session)
        for name, each in files.items()
    }
    return _ruled(_joined(parts, source.name, limits), columns, rules)


def cells_rows(
    cells: Cells,
    columns: Columns,
    layout: Layout,
    limits: Limits,
    rules: Rules,
    session: Session | None = None,
) -> Rows:
    """The ratings in the cells of a table, as `table_rows` gives them."""
    _refuse_of_other_layout(columns, layout)
    rows = _rows(cells, columns, layout, limits, rules, session or duckdb_session())
    return _ruled(rows, columns, rules)


def files_of(source: Path) -> Mapping[str, Path] | None:
    """The files of a folder or a pattern, by the names that errors use. None for one file.

    Raises
    ------
    RatingsError
        No file is like the pattern.
    """
    if source.is_dir():
        export = Export(source)
        return {export.place(each): each for each in export.files}
    if not is_pattern(source):
        return None
    anchor = Path(source.anchor or ".")
    within = source.relative_to(source.anchor) if source.anchor else source
    found = [each for each in sorted(anchor.glob(str(within))) if each.is_file()]
    if not found:
        raise RatingsError(
            f"{source}: found no table; expected files with names ending as those of tables do. "
            "Check the path."
        )
    for each in found:
        refuse_unfinished(each)
    return {each.name: each for each in found}


def is_pattern(source: Path) -> bool:
    """True for a pattern of names, such as `round/*.parquet`."""
    return not source.exists() and any(mark in str(source) for mark in "*?[")


def table_rounds(
    path: Path, columns: Columns = COLUMNS, limits: Limits = LIMITS
) -> tuple[str, ...]:
    """The rounds that a table with a column of rounds names, sorted.

    Raises
    ------
    RatingsError
        The file is broken. Or it has no such column, or a row without a round.
    """
    if path.is_dir():
        each = [table_rounds(file, columns, limits) for file in Export(path).files]
        return tuple(sorted({*chain.from_iterable(each)}))
    return cells_rounds(file_cells(path, limits), columns)


def cells_rounds(table: Cells, columns: Columns) -> tuple[str, ...]:
    """The rounds that the cells of a table name, as `table_rounds` gives them."""
    column = columns.round or "round"
    if column not in table.header:
        raise RatingsError(
            f"{table.source}: found no column {column!r} among {listed(table.header)}; "
            "expected the round of every row. Name the column that holds it."
        )
    cells = table.load(duckdb_session(), {"round": column}, ())
    absent = cells.ask(f"SELECT row FROM {cells} WHERE round IS NULL ORDER BY nth")
    if absent.num_rows:
        raise RatingsError(
            f"{table.source}: {called('row', absent['row'].to_pylist())}, column {column!r}: found "
            "no round; expected one in every row. Fill it in."
        )
    found = cells.ask(f"SELECT DISTINCT {text_of(cells, 'round')} AS round FROM {cells}")
    return tuple(sorted(found["round"].to_pylist()))


def labels_left_out(
    path: Path, columns: Columns, scale: Scale, limits: Limits = LIMITS
) -> tuple[str, ...]:
    """The columns of a wide table that are not read although all their cells are labels.

    One may be a rater whose dissent is missing, or a settled label. Only people know.
    """
    with unpacked(path, limits) as place:
        if scale.categories is None or reader_of(place).name != NAME:
            return ()
        table = file_cells(place, limits)
        named = {*columns.named.values(), *columns.raters, *columns.models.values(), *OPTIONAL}
        free = [name for name in table.header if name not in named]
        labels = set(map(str, scale.categories))
        return tuple(name for name in free if _are_labels(table, name, labels))


def _are_labels(table: Cells, name: str, labels: set[str]) -> bool:
    """True if a column holds labels and nothing else."""
    cells = table.load(duckdb_session(), {"label": name}, ())
    most = f"LIMIT {len(labels) + 2}"
    found = cells.ask(f"SELECT DISTINCT {text_of(cells, 'label')} AS label FROM {cells} {most}")
    texts = {*found["label"].to_pylist()} - {None}
    return bool(texts) and texts <= labels


def _rows(
    table: Cells,
    columns: Columns,
    layout: Layout,
    limits: Limits,
    rules: Rules,
    session: Session,
) -> Rows:
    """The rows of one table, before any rule."""
    name, header = table.source, table.header
    chosen = chosen_columns(header, columns, layout, name)
    raters = rater_columns(header, columns, chosen, name) if layout == "wide" else []
    places = {f"{RATER}{at}": rater for at, rater in enumerate(raters)}
    beside = _beside(header, columns, rules, name)
    _refuse_long_headers([*chosen.values(), *raters], name, limits)
    taken = {**chosen, **places, **beside}
    cells = table.load(session, taken, raters or [chosen["label"]])
    if beside or not _are_alike(cells, places):
        _refuse_nan(cells, taken, name)
    return Rows(_by_rater(cells, raters) if raters else cells, chosen, name)


def _refuse_long_headers(names: Iterable[str], source: str, limits: Limits) -> None:
    for name in names:
        what = "characters in the name of a column"
        limits.refuse_beyond("name_length", len(name), f"{source}: row 1", what)


def _are_alike(cells: Relation, names: Iterable[str]) -> bool:
    """True if columns have one type."""
    return len({cells.schema.field(name).type for name in names}) <= 1


def _refuse_nan(cells: Relation, columns: Mapping[str, str], source: str) -> None:
    """Refuse a number that went wrong, before it becomes text."""
    for name, of in columns.items():
        if not pa.types.is_floating(cells.schema.field(name).type):
            continue
        is_nan = f"ISNAN({cells.session.column(name)})"
        found = cells.ask(f"SELECT row FROM {cells} WHERE {is_nan} ORDER BY nth LIMIT 1")
        if found.num_rows:
            raise RatingsError(
                f"{source}: row {found['row'][0]}, column {of!r}: found nan; expected one value, "
                "or null. Correct the row."
            )


def _by_rater(cells: Relation, raters: Sequence[str]) -> Relation:
    """One row a rating, in the order of the wide table's rows."""
    column = cells.session.column
    shared = [each for each in names_of(cells) if not each.startswith(RATER) and each != "nth"]
    names = pa.table({"name": pa.array(raters, pa.large_string())})
    named = cells.session.load(names.schema, names.to_batches())
    places = [f"{RATER}{at}" for at in range(len(raters))]
    alike = _are_alike(cells, places)
    labels = [column(place) if alike else text_of(cells, place) for place in places]
    parts = []
    for start in range(0, len(raters), TOGETHER):
        some = range(start, min(start + TOGETHER, len(raters)))
        label = " ".join(f"WHEN {at} THEN {labels[at]}" for at in some)
        parts.append(
            f"SELECT {', '.join(map(column, shared))}, name AS rater, "
            f"CASE place {label} END AS label, name AS {column('column')}, "
            f"{cells}.nth * {len(raters)} + place AS nth FROM {cells} CROSS JOIN "
            f"(SELECT name, nth AS place FROM {named} "
            f"WHERE nth BETWEEN {start} AND {some[-1]}) AS named"
        )
    return cells.view(" UNION ALL ".join(parts), named)


def _joined(parts: Mapping[str, Rows], source: str, limits: Limits) -> Rows:
    """The rows of several files together. Each row is named by its number and its file."""
    first, *others = parts
    columns = parts[first].columns
    for name in others:
        if parts[name].columns != columns:
            raise RatingsError(
                f"{source}: found columns {listed(parts[name].columns.values(), 12)} in {name}, "
                f"and {listed(columns.values(), 12)} in {first}; expected the same in each file of "
                "a folder, which is one table. Rename the columns, or move the file."
            )
    names, before, queries = names_of(parts[first].cells), 0, []
    texts = [name for name in names if name != "row" and _differ(parts.values(), name)]
    for file, rows in parts.items():
        cells = rows.cells
        _refuse_nan(cells, {name: rows.columns.get(name, name) for name in texts}, file)
        place = cells.session.literal(f" of {file}")
        made = {name: text_of(cells, name) for name in texts}
        made |= {"nth": f"nth + {before}", "row": f"CONCAT(CAST(row AS STRING), {place})"}
        queries.append(f"SELECT {columns_of(cells, made, names)} FROM {cells}")
        before += cells.ask(f"SELECT COUNT(*) AS n FROM {cells}")["n"][0].as_py()
    limits.refuse_beyond("rows", before, source, "rows")
    first_cells, *other_cells = [rows.cells for rows in parts.values()]
    return Rows(first_cells.view(" UNION ALL ".join(queries), *other_cells), columns, source)


def _differ(parts: Iterable[Rows], name: str) -> bool:
    """True if a column has several types in some files."""
    return len({rows.cells.schema.field(name).type for rows in parts}) > 1


def _beside(header: list[str], columns: Columns, rules: Rules, source: str) -> dict[str, str]:
    """The columns that rules and models read, under names of their own."""
    names = (*rules.fields, *columns.models.values())
    absent = [name for name in names if name not in header]
    if absent:
        raise RatingsError(
            f"{source}: found no {called('column', absent)} among {listed(header, 12)}; expected "
            "every column that a rule or a model names. Correct the names."
        )
    return {FIELD + name: name for name in names}


def _ruled(rows: Rows, columns: Columns, rules: Rules) -> Rows:
    """The rows that count, with the models' labels beside those of the raters."""
    if rules.plain and not columns.models:
        return rows
    cells, left_out = kept(rows.cells, rules, rows.source)
    models = {name: FIELD + column for name, column in columns.models.items()}
    ruled = stratified(with_models(linked(cells, rules, rows.source), models), rules)
    return replace(rows, cells=ruled, classifiers=tuple(sorted(models)), left_out=left_out)


def _refuse_of_other_layout(columns: Columns, layout: Layout) -> None:
    if layout == "long" and columns.raters:
        raise ProjectError(
            f"columns: found raters {listed(columns.raters)} in the layout long; expected raters "
            "for a wide table only. Choose the layout wide, or name no raters."
        )
    named = [
        f"{name} {getattr(columns, name)!r}"
        for name in ("rater", "label")
        if getattr(columns, name) != getattr(COLUMNS, name)
    ]
    if layout == "wide" and named:
        raise ProjectError(
            f"columns: found {' and '.join(named)} in the layout wide; expected them for a long "
            "table only. Choose the layout long, or name only the columns of raters."
        )


def _is_table(export: Export) -> bool:
    """True for what has rows of single values: delimited text, JSON Lines, Parquet, Excel."""
    if export.path.is_dir():
        return bool(export.files) and all(is_named_table(each) for each in export.files)
    return export.kind in ("text", "json", "parquet", "excel")


TABLE = register(Reader(NAME, "a table", _is_table, table_rows, table_rounds))
