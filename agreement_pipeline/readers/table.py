"""Long and wide tables in delimited text, JSON Lines, Parquet or a DataFrame."""

import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import reduce
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from agreement_pipeline.errors import ProjectError, RatingsError
from agreement_pipeline.mistakes import shown
from agreement_pipeline.ratings import TEXT, category_text, coded, given_back
from agreement_pipeline.readers.cells import (
    Cells,
    file_cells,
    frame_cells,
    is_named_table,
    refuse_no_row,
)
from agreement_pipeline.readers.columns import (
    COLUMNS,
    Columns,
    Layout,
    chosen_columns,
    rater_columns,
)
from agreement_pipeline.readers.exports import Export
from agreement_pipeline.readers.frame_rules import kept, linked, stratified, with_models
from agreement_pipeline.readers.joined import joined
from agreement_pipeline.readers.limits import LIMITS, Limits
from agreement_pipeline.readers.registry import TABLE as NAME
from agreement_pipeline.readers.registry import Reader, Rows, Source, register
from agreement_pipeline.readers.rules import FIELD, RULES, Rules
from agreement_pipeline.text import called, listed

NAMED = ("item", "rater", "label", "round", "cluster")
FRAME = "DataFrame"
BINARY = (bytes, bytearray, memoryview)


def table_rows(
    source: Source,
    columns: Columns = COLUMNS,
    layout: Layout = "long",
    limits: Limits = LIMITS,
    rules: Rules = RULES,
) -> Rows:
    """The ratings in a table under their canonical names, one row a rating.

    Cells of text are kept as they are written. So `NA` and `001` are text. Only an empty cell is
    missing. A list of labels becomes text with `|` between them; `|` alone is the empty list.
    Columns that nothing names are left out.

    Parameters
    ----------
    source
        A file of delimited text, JSON Lines, Parquet or Excel, or a DataFrame. Or a folder of such
        files, which are one table.
    columns
        What its columns are called.
    layout
        long: one row a rating. wide: one row an item, one column a rater.
    limits
        How large the table may be.
    rules
        Which rows count, and which items are one.

    Raises
    ------
    RatingsError
        The table is broken or lacks a column.
    ProjectError
        The columns belong to the other layout.
    """
    if not (isinstance(source, Path) and source.is_dir()):
        return cells_rows(cells_of(source, limits), columns, layout, limits, rules)
    _refuse_of_other_layout(columns, layout)
    export = Export(source)
    parts = {
        export.place(each): _rows(file_cells(each, limits), columns, layout, limits, rules)
        for each in export.files
    }
    return _ruled(joined(parts, source.name, limits), columns, rules)


def cells_rows(
    cells: Cells, columns: Columns, layout: Layout, limits: Limits, rules: Rules
) -> Rows:
    """The ratings in the cells of a table, as `table_rows` gives them."""
    _refuse_of_other_layout(columns, layout)
    return _ruled(_rows(cells, columns, layout, limits, rules), columns, rules)


def _rows(table: Cells, columns: Columns, layout: Layout, limits: Limits, rules: Rules) -> Rows:
    """The rows of one table, before any rule."""
    name, header = table.source, table.header
    chosen = chosen_columns(header, columns, layout, name)
    raters = rater_columns(header, columns, chosen, name) if layout == "wide" else []
    beside = _beside(header, columns, rules, name)
    cells = table.read(list(dict.fromkeys([*chosen.values(), *raters, *beside.values()])))
    labels = raters or [chosen["label"]]
    cells = cells.assign(**{each: _lists_as_text(cells[each]) for each in labels})
    _refuse_no_single_value(cells, (*chosen.values(), *raters, *beside.values()), name, labels)
    named = [column for key, column in chosen.items() if key in NAMED]
    _refuse_long(cells, [*named, *raters], name, limits)
    if not raters:
        _refuse_header_again(cells, [chosen[key] for key in ("label", "item", "rater")], name)
    plain = rules.plain and not columns.models
    items = _let_go(cells, chosen["item"]) if plain else cells[chosen["item"]]
    taken = {**chosen, **beside}
    frame = cells[list(taken.values())].set_axis(list(taken), axis=1).assign(item=items)
    if "round" in frame:
        frame["round"] = coded(frame["round"]).categorical()
    frame = _by_rater(frame, cells[raters]) if raters else frame
    return Rows(frame, chosen, name)


def text_batches(cells: Cells, columns: Mapping[str, str]) -> Iterator[Any]:
    """The cells of a file of text under canonical names, in batches.

    They are what `table_rows` reads, for what takes Arrow batches and holds them elsewhere.

    Raises
    ------
    RatingsError
        The file is broken, holds no row, or has its header twice.
    """
    import pyarrow as pa

    assert cells.parts is not None
    row, key = cells.first, [columns[name] for name in ("label", "item", "rater")]
    for some in cells.parts(list(columns.values())):
        rows = pd.RangeIndex(row, row + len(some), name="row")
        of_json = isinstance(some, pd.DataFrame)
        part = _texts_of_json(some.set_axis(rows), columns, cells.source) if of_json else some
        _refuse_header_in(part, key, row, cells.source)
        yield pa.record_batch(part.columns, names=[*columns])
        row += len(part)
    refuse_no_row(row - cells.first, cells.source)


def _texts_of_json(frame: pd.DataFrame, columns: Mapping[str, str], source: str) -> Any:
    """Cells of JSON as a batch of texts. All but lists are texts already."""
    import pyarrow as pa

    label = columns["label"]
    cells = frame.assign(**{label: _lists_as_text(frame[label])})
    _refuse_no_single_value(cells, columns.values(), source, [label])
    texts = {name: pa.array(cells[name], pa.large_string(), from_pandas=True) for name in cells}
    return pa.record_batch(texts)


def _refuse_header_in(batch: Any, columns: Sequence[str], first: int, source: str) -> None:
    import pyarrow.compute as pc

    again = reduce(pc.and_, [pc.equal(batch[name], name) for name in columns])
    place = pc.index(again, True).as_py()
    if place >= 0:
        raise _header_again(source, first + place)


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
    rounds = table.read([column])[column]
    absent = rounds.index[rounds.isna()]
    if len(absent):
        raise RatingsError(
            f"{table.source}: {called('row', absent)}, column {column!r}: found no round; "
            "expected one in every row. Fill it in."
        )
    return tuple(coded(rounds).texts)


def _let_go(cells: pd.DataFrame, name: str) -> Any:
    """A column of many texts in codes. In the table itself, the text of each row is let go."""
    if not isinstance(cells[name].dtype, pd.StringDtype):
        return cells[name]
    given_back()
    found = coded(cells.pop(name))
    cells[name] = found.codes
    given_back()
    return found.categorical()


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
    frame, left_out = kept(rows.frame, rules, rows.source)
    models = {name: FIELD + column for name, column in columns.models.items()}
    return replace(
        rows,
        frame=stratified(with_models(linked(frame, rules, rows.source), models), rules),
        classifiers=tuple(sorted(models)),
        left_out=left_out,
    )


def cells_of(source: Source, limits: Limits) -> Cells:
    """The cells of a file or of a DataFrame."""
    if isinstance(source, Path):
        return file_cells(source, limits)
    return frame_cells(source, FRAME, limits)


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


def _by_rater(frame: pd.DataFrame, labels: pd.DataFrame) -> pd.DataFrame:
    """One row a rating, in the order of the wide table's rows."""
    n_rows, n_raters = labels.shape
    rows, raters = np.repeat(np.arange(n_rows), n_raters), np.tile(np.arange(n_raters), n_rows)
    names = labels.columns
    levels: list[Any] = [frame.index, names]
    codes: list[Any] = [rows, raters]
    ratings = frame.iloc[rows].set_axis(pd.MultiIndex(levels, codes, names=["row", "column"]))
    return ratings.assign(
        rater=pd.Categorical.from_codes(raters, categories=names), label=_in_rows(labels)
    )


def _in_rows(labels: pd.DataFrame) -> "pd.api.extensions.ExtensionArray | np.ndarray":
    """The cells of a table, row after row."""
    cells = labels.astype(object).to_numpy().ravel()
    return pd.array(cells, dtype=TEXT) if (labels.dtypes == TEXT).all() else cells


def _refuse_long(cells: pd.DataFrame, names: Iterable[str], source: str, limits: Limits) -> None:
    for name in names:
        limits.refuse_beyond(
            "name_length", len(name), f"{source}: row 1", "characters in the name of a column"
        )
        if _most_bytes(cells[name]) > limits.name_length:
            lengths = cells[name].astype(object).map(_length).astype(int)
            where = f"{source}: row {lengths.idxmax()}, column {name!r}"
            limits.refuse_beyond("name_length", int(lengths.max()), where, "characters")


def _refuse_header_again(cells: pd.DataFrame, columns: Iterable[str], source: str) -> None:
    """Refuse a row that says what the header says: two files were put together as text."""
    again = np.ones(len(cells), dtype=bool)
    for column in columns:
        again &= (cells[column] == column).to_numpy(dtype=bool, na_value=False)
        if not again.any():
            return
    raise _header_again(source, cells.index[again][0])


def _header_again(source: str, row: int) -> RatingsError:
    return RatingsError(
        f"{source}: row {row}: found the header again; expected it once, above all ratings. "
        "Remove the row, or deliver the files in one folder."
    )


def _most_bytes(values: pd.Series) -> int:
    """The bytes of the longest text in a column, which has no more characters."""
    import pyarrow as pa
    import pyarrow.compute as pc

    texts = values.cat.categories if isinstance(values.dtype, pd.CategoricalDtype) else values
    if isinstance(texts.dtype, pd.StringDtype):
        chunks = pa.chunked_array(pa.array(texts, from_pandas=True)).chunks
        return max((pc.max(pc.binary_length(each)).as_py() or 0 for each in chunks), default=0)
    return max(map(_length, texts), default=0) * 4 if texts.dtype == object else 0


def _length(value: object) -> int:
    return len(value) if isinstance(value, str) else 0


def _lists_as_text(labels: pd.Series) -> pd.Series:
    """Lists as text with `|` between their members. A list with an odd member stays a list."""
    if labels.dtype != object:
        return labels
    is_list = labels.map(lambda label: isinstance(label, (list, np.ndarray)))
    return labels.mask(is_list, labels[is_list].map(_list_as_text)) if is_list.any() else labels


def _list_as_text(label: "list[object] | np.ndarray") -> object:
    members = np.atleast_1d(label).tolist() if isinstance(label, np.ndarray) else list(label)
    if any(_no_single_value(each) or each is None for each in members):
        return members
    texts = list(map(category_text, members))
    return members if any(not text or "|" in text for text in texts) else "|".join(texts) or "|"


def _refuse_no_single_value(
    cells: pd.DataFrame, names: Iterable[str], source: str, labels: Collection[str]
) -> None:
    for name in names:
        bad = (
            cells[name][cells[name].map(_no_single_value)]
            if cells[name].dtype == object
            else cells[name].iloc[:0]
        )
        if len(bad):
            found = bad.iloc[0]
            lists = name in labels and isinstance(found, list)
            several = "one label, a list of labels (none empty, none with |)"
            expected = several if lists else "one value"
            expected = "text" if isinstance(found, BINARY) else expected
            raise RatingsError(
                f"{source}: row {bad.index[0]}, column {name!r}: found {shown(found)}; "
                f"expected {expected}, or null. Correct the row."
            )


def _no_single_value(value: object) -> bool:
    return isinstance(value, (list, dict, np.ndarray, *BINARY)) or (
        isinstance(value, float) and math.isnan(value)
    )


def _is_table(export: Export) -> bool:
    """True for what has rows of single values: delimited text, JSON Lines, Parquet, Excel."""
    if export.path.is_dir():
        return bool(export.files) and all(is_named_table(each) for each in export.files)
    return export.kind in ("text", "json", "parquet", "excel")


TABLE = register(Reader(NAME, "a table", _is_table, table_rows, table_rounds))
