"""Tables of ratings: long with one row a rating, or wide with one column a rater."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path

import pyarrow as pa

from agreement_pipeline.engine import duckdb_session
from agreement_pipeline.errors import ProjectError, RatingsError
from agreement_pipeline.ratings import LIMITS, Limits, Scale
from agreement_pipeline.readers.cells import (
    Table,
    far_table,
    file_table,
    is_named_table,
    table_of,
)
from agreement_pipeline.readers.columns import (
    COLUMNS,
    OPTIONAL,
    Columns,
    chosen_columns,
    rater_columns,
)
from agreement_pipeline.readers.exports import Export
from agreement_pipeline.readers.files import refuse_unfinished, unpacked
from agreement_pipeline.readers.registry import TABLE as NAME
from agreement_pipeline.readers.registry import Asked, Reader, Source, reader_of, register
from agreement_pipeline.readers.rows import Rows
from agreement_pipeline.readers.rules import FIELD, arranged, kept
from agreement_pipeline.text import called, listed

RATER = "rater:"
"""How the name of a column begins that holds the labels of a rater, before it is unpivoted."""
TOGETHER = 32
"""How many columns of raters a part of a query looks at."""
AFAR = "://"


class Tables(Reader):
    """The reader of tables."""

    def rows(self, source: Source, asked: Asked) -> Rows:
        """The ratings in a table under their canonical names, one row a rating.

        Cells of text are kept as they are written. So `NA` and `001` are text. Only an empty cell
        is missing. A list of labels becomes text with `|` between them; `|` alone is the empty
        list. Columns that nothing names are left out.

        Parameters
        ----------
        source
            A file of delimited text, JSON Lines, Parquet or Excel, or a DataFrame. Or a folder of
            such files, or a pattern, which are one table. For Spark also the URL of a
            Parquet file.
        asked
            What its columns are called, and which rows count.

        Raises
        ------
        RatingsError
            The table is broken or lacks a column.
        ProjectError
            The columns belong to the other layout.
        """
        if isinstance(source, str) and AFAR in source:
            return rows_in(far_table(source, asked.session, asked.limits), asked)
        source = Path(source) if isinstance(source, str) else source
        files = _files_of(source) if isinstance(source, Path) else None
        if files is None:
            return rows_in(table_of(source, asked.limits), asked)
        _refuse_of_other_layout(asked)
        parts = {name: _rows(file_table(each, asked.limits), asked) for name, each in files.items()}
        return _ruled(_joined(parts, source.name, asked.limits), asked)

    def rounds(self, path: Path, asked: Asked) -> tuple[str, ...]:
        """The rounds that a table with a column of rounds names, sorted.

        Raises
        ------
        RatingsError
            The file is broken. Or it has no such column, or a row without a round.
        """
        if path.is_dir():
            each = [self.rounds(file, asked) for file in Export(path).files]
            return tuple(sorted({*chain.from_iterable(each)}))
        return rounds_in(file_table(path, asked.limits), asked)


def _files_of(source: Path) -> Mapping[str, Path] | None:
    """The files of a folder or a pattern, by the names that errors use. None for one file."""
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


def rows_in(table: Table, asked: Asked) -> Rows:
    """The ratings in a table, as the reader of tables gives them."""
    _refuse_of_other_layout(asked)
    return _ruled(_rows(table, asked), asked)


def rounds_in(table: Table, asked: Asked) -> tuple[str, ...]:
    """The rounds that a table names, as the reader of tables gives them."""
    column = asked.columns.round or "round"
    if column not in table.header:
        raise RatingsError(
            f"{table.source}: found no column {column!r} among {listed(table.header)}; "
            "expected the round of every row. Name the column that holds it."
        )
    rows = table.load(asked.session, {"round": column})
    absent = rows.values(f"SELECT row FROM {rows} WHERE round IS NULL ORDER BY nth")
    if absent:
        raise RatingsError(
            f"{table.source}: {called('row', absent)}, column {column!r}: found no round; "
            "expected one in every row. Fill it in."
        )
    return tuple(rows.distinct("round"))


def labels_left_out(
    path: Path, columns: Columns, scale: Scale, limits: Limits = LIMITS
) -> tuple[str, ...]:
    """The columns of a wide table that are not read although all their cells are labels.

    One may be a rater whose dissent is missing, or a settled label. Only people know.
    """
    with unpacked(path, limits) as place:
        if scale.categories is None or reader_of(place).name != NAME:
            return ()
        table = file_table(place, limits)
        named = {*columns.named.values(), *columns.raters, *columns.models.values(), *OPTIONAL}
        free = [name for name in table.header if name not in named]
        labels = set(map(str, scale.categories))
        return tuple(name for name in free if _are_labels(table, name, labels))


def _are_labels(table: Table, name: str, labels: set[str]) -> bool:
    """True if a column holds labels and nothing else."""
    rows = table.load(duckdb_session(), {"label": name})
    most = f"LIMIT {len(labels) + 2}"
    found = rows.values(f"SELECT DISTINCT {rows.text('label')} AS label FROM {rows} {most}")
    texts = {*found} - {None}
    return bool(texts) and texts <= labels


def _rows(table: Table, asked: Asked) -> Rows:
    """The rows of one table, before any rule."""
    columns, name, header = asked.columns, table.source, table.header
    chosen = chosen_columns(header, columns, asked.layout, name)
    is_wide = asked.layout == "wide"
    raters = rater_columns(header, columns, chosen, name) if is_wide else []
    places = {f"{RATER}{at}": rater for at, rater in enumerate(raters)}
    others = (*asked.rules.fields, *columns.models.values())
    absent = [each for each in others if each not in header]
    if absent:
        raise RatingsError(
            f"{name}: found no {called('column', absent)} among {listed(header, 12)}; expected "
            "every column that a rule or a model names. Correct the names."
        )
    for each in (*chosen.values(), *raters):
        what = "characters in the name of a column"
        asked.limits.refuse_beyond("name_length", len(each), f"{name}: row 1", what)
    taken = {**chosen, **places, **{FIELD + each: each for each in others}}
    rows = table.load(asked.session, taken, raters or [chosen["label"]])
    if others or not _are_alike(rows, places):
        _refuse_nan(rows, taken)
    return replace(_by_rater(rows, raters) if raters else rows, columns=chosen)


def _are_alike(rows: Rows, names: Iterable[str]) -> bool:
    """True if columns have one type."""
    return len({rows.relation.schema.field(name).type for name in names}) <= 1


def _refuse_nan(rows: Rows, columns: Mapping[str, str]) -> None:
    """Refuse a number that went wrong, before it becomes text."""
    for name, of in columns.items():
        if rows.kinds.get(name) != "float":
            continue
        is_nan = f"ISNAN({rows.quoted(name)})"
        found = rows.values(f"SELECT row FROM {rows} WHERE {is_nan} ORDER BY nth LIMIT 1")
        if found:
            raise RatingsError(
                f"{rows.source}: row {found[0]}, column {of!r}: found nan; expected one value, or "
                "null. Correct the row."
            )


def _by_rater(rows: Rows, raters: Sequence[str]) -> Rows:
    """One row a rating, in the order of the wide table's rows."""
    shared = [each for each in rows.names if not each.startswith(RATER) and each != "nth"]
    names = pa.table({"name": pa.array(raters, pa.large_string())})
    named = rows.relation.session.load(names.schema, names.to_batches())
    places = [f"{RATER}{at}" for at in range(len(raters))]
    labels = list(map(rows.quoted if _are_alike(rows, places) else rows.text, places))
    parts = []
    for start in range(0, len(raters), TOGETHER):
        some = range(start, min(start + TOGETHER, len(raters)))
        label = " ".join(f"WHEN {at} THEN {labels[at]}" for at in some)
        parts.append(
            f"SELECT {', '.join(map(rows.quoted, shared))}, name AS rater, "
            f"CASE place {label} END AS label, name AS {rows.quoted('column')}, "
            f"{rows}.nth * {len(raters)} + place AS nth FROM {rows} CROSS JOIN "
            f"(SELECT name, nth AS place FROM {named} "
            f"WHERE nth BETWEEN {start} AND {some[-1]}) AS named"
        )
    return rows.view(" UNION ALL ".join(parts), named)


def _joined(parts: Mapping[str, Rows], source: str, limits: Limits) -> Rows:
    """The rows of several files together. Each row is named by its number and its file."""
    (name, first), *others = parts.items()
    columns = first.columns
    for other, rows in others:
        if rows.columns != columns:
            raise RatingsError(
                f"{source}: found columns {listed(rows.columns.values(), 12)} in {other}, "
                f"and {listed(columns.values(), 12)} in {name}; expected the same in each file of "
                "a folder, which is one table. Rename the columns, or move the file."
            )
    types = [dict(zip(e.names, e.relation.schema.types, strict=True)) for e in parts.values()]
    texts = [each for each in first.names if len({of.get(each) for of in types}) > 1]
    before, queries = 0, []
    for file, rows in parts.items():
        _refuse_nan(
            replace(rows, source=file),
            {each: columns.get(each, each) for each in texts if each != "row"},
        )
        made = {each: rows.text(each) for each in texts}
        row = f"CONCAT(CAST(row AS STRING), {rows.literal(f' of {file}')})"
        made |= {"nth": f"nth + {before}", "row": row}
        queries.append(f"SELECT {rows.with_columns(made, first.names)} FROM {rows}")
        before += rows.values(f"SELECT COUNT(*) AS n FROM {rows}")[0]
    limits.refuse_beyond("rows", before, source, "rows")
    return replace(
        first.view(" UNION ALL ".join(queries), *(rows.relation for _, rows in others)),
        source=source,
    )


def _ruled(rows: Rows, asked: Asked) -> Rows:
    """The rows that count, with the models' labels beside those of the raters."""
    models = asked.columns.models
    if asked.rules.plain and not models:
        return rows
    return arranged(kept(rows, asked.rules), asked.rules, models)


def _refuse_of_other_layout(asked: Asked) -> None:
    columns, layout = asked.columns, asked.layout
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


TABLE = register(Tables(NAME, "a table", _is_table))
