"""The cells of a table, from a whole file or a DataFrame."""

import json
import math
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import chain, islice
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np
import pandas as pd

from agreement_pipeline.engines._old_delimited import Delimited
from agreement_pipeline.errors import RatingsError
from agreement_pipeline.mistakes import shown
from agreement_pipeline.ratings import TEXT, Footer, category_text, expanded_bytes, in_pandas
from agreement_pipeline.readers import footer_of
from agreement_pipeline.readers.class_labels import Named, named_in_schema
from agreement_pipeline.readers.columns import refuse_twice
from agreement_pipeline.readers.exports import kind_of, separator_in
from agreement_pipeline.readers.files import WAIT, Steady, blank, refuse_nul, text_of
from agreement_pipeline.readers.json_stream import is_cut
from agreement_pipeline.readers.limits import Limits
from agreement_pipeline.readers.lines import blocks_of

SEPARATORS = {".csv": ",", ".tsv": "\t"}
KINDS = {
    ".csv": "text",
    ".tsv": "text",
    ".jsonl": "json",
    ".ndjson": "json",
    ".parquet": "parquet",
}
"""What a file is that ends so. Of another file, its content says it."""
BYTES_A_VALUE = 2
AT_ONCE = 8_192
"""How many records are Python objects at once."""


class Cells(NamedTuple):
    """The cells of a table.

    Attributes
    ----------
    source
        The name of the table, for errors.
    header
        The names of its columns.
    read
        Reads the columns of some names. The index `row` numbers the rows as an editor or a
        spreadsheet does.
    first
        The number of the first row of data.
    parts
        The same for a file of text, some rows at a time: batches of texts, or frames of what JSON
        holds. None for other tables.
    """

    source: str
    header: list[str]
    read: Callable[[Sequence[str]], pd.DataFrame]
    first: int
    parts: Callable[[Sequence[str]], Iterator[Any]] | None = None


def file_cells(path: Path, limits: Limits) -> Cells:
    """The cells of a table, as its file writes them.

    Cells of delimited text and JSON Lines become text. Only an empty cell or null is missing.
    Parquet keeps its types.

    Raises
    ------
    RatingsError
        The file is broken or too large, or it holds no row.
    """
    limits.refuse_beyond("file_bytes", path.stat().st_size, path.name, "bytes")
    kind = KINDS.get(path.suffix.lower()) or kind_of(path)
    if kind == "text":
        separator = separator_in(path, SEPARATORS.get(path.suffix.lower(), ","))
        delimited = Delimited(path, separator, limits)
        return _cells(path.name, delimited, first=2)._replace(parts=delimited.parts)
    if kind == "parquet":
        return _cells(path.name, _Parquet(path, limits), first=1)
    lines = _JsonLines(path, limits)
    return _cells(path.name, lines, first=1)._replace(parts=lines.parts)


class _Readable(Protocol):
    """A table of which some columns can be read."""

    @property
    def header(self) -> list[str]: ...

    def read(self, names: Sequence[str]) -> pd.DataFrame: ...


def _cells(source: str, table: _Readable, *, first: int) -> Cells:
    """The cells of a table whose rows of data are numbered from `first`, refused if it has none."""

    def read(names: Sequence[str]) -> pd.DataFrame:
        frame = table.read(names)
        refuse_no_row(len(frame), source)
        return frame.set_axis(pd.RangeIndex(first, first + len(frame), name="row"))

    return Cells(source, table.header, read, first)


def refuse_no_row(n_rows: int, source: str) -> None:
    """Refuse a table without a row of data.

    Raises
    ------
    RatingsError
        It has none.
    """
    if not n_rows:
        raise RatingsError(
            f"{source}: found no row of data; expected at least one rating. "
            "Check that the export is complete."
        )


class _JsonLines:
    """JSON Lines. Each line is read once, and its texts are then kept in Arrow."""

    def __init__(self, path: Path, limits: Limits) -> None:
        names, self._parts = dict[str, None](), list[_JsonColumns]()
        records = _records(path, limits)
        while some := list(islice(records, AT_ONCE)):
            here = dict.fromkeys(chain.from_iterable(some))
            names |= here
            if len(names) <= limits.columns:
                columns = {
                    name: _compact([_cell(each.get(name)) for each in some]) for name in here
                }
                self._parts.append(_JsonColumns(len(some), columns))
        limits.refuse_beyond("columns", len(names), path.name, "columns")
        self.header = list(names)

    def read(self, names: Sequence[str]) -> pd.DataFrame:
        """Some columns, as texts where all of their values are."""
        columns = {
            name: _column(list(chain.from_iterable(part.values(name) for part in self._parts)))
            for name in names
        }
        return pd.DataFrame(columns, index=pd.RangeIndex(sum(part.n_rows for part in self._parts)))

    def parts(self, names: Sequence[str]) -> Iterator[pd.DataFrame]:
        """The same columns, some rows at a time."""
        for part in self._parts:
            columns = {name: _column(part.values(name)) for name in names}
            yield pd.DataFrame(columns, index=pd.RangeIndex(part.n_rows))


class _JsonColumns(NamedTuple):
    """The cells of some records by column, as an Arrow array where all of them are texts."""

    n_rows: int
    columns: dict[str, Any]

    def values(self, name: str) -> list[object]:
        """A column. It is empty where no record has it."""
        found = self.columns.get(name)
        if found is None:
            return [None] * self.n_rows
        return found if isinstance(found, list) else list(found.to_pylist())


def _compact(values: list[object]) -> Any:
    import pyarrow as pa

    return pa.array(values, pa.large_string()) if _are_texts(values) else values


def _column(values: list[object]) -> pd.Series:
    """Values as texts, if all of them are texts or missing."""
    return pd.Series(values, dtype=TEXT if _are_texts(values) else object)


def _are_texts(values: list[object]) -> bool:
    return all(value is None or isinstance(value, str) for value in values)


def _records(path: Path, limits: Limits) -> Iterator[dict[str, object]]:
    """The records of a file, one a line. Blank lines at its end are none.

    Raises
    ------
    RatingsError
        The file changed while it was read, is blank or too long, or a line holds no record.
    """
    file, source, row, waiting = Steady.at(path), path.name, 0, list[str]()
    for block in blocks_of(path):
        refuse_nul(block, source, row + len(waiting))
        for line in text_of(block, source, row + len(waiting)).removesuffix("\n").split("\n"):
            if line.strip() and waiting:
                for row, each in enumerate(waiting, row + 1):  # noqa: B020
                    yield _record(each, row, False, source)
                waiting.clear()
            waiting.append(line)
    if not waiting[0].strip():
        raise blank(source)
    yield _record(waiting[0], row + 1, True, source)
    limits.refuse_beyond("rows", row + len(waiting), source, "lines")
    file.refuse_change()


def _record(line: str, row: int, last: bool, source: str) -> dict[str, object]:
    if not line.strip():
        return {}
    where = f"{source}: row {row}"
    try:
        found = json.loads(
            line,
            object_pairs_hook=lambda pairs: _pairs(pairs, where),
            parse_int=str,
            parse_float=_float_text,
            parse_constant=str,
        )
    except (json.JSONDecodeError, RecursionError) as error:
        if row == 1 and not last and line.strip() in ("[", "{", "[{"):
            raise _no_lines(where) from None
        if last and line.lstrip().startswith("{") and is_cut(error, line):
            raise RatingsError(
                f"{where}: found a last line that is cut off ({error}); expected a JSON object in "
                f"every line. {WAIT}"
            ) from None
        raise RatingsError(
            f"{where}: found text that is not readable as JSON ({error}); expected a JSON object "
            "in every line. Correct the line."
        ) from None
    if isinstance(found, list) and found and isinstance(found[0], dict):
        raise _no_lines(where)
    if not isinstance(found, dict):
        raise RatingsError(
            f"{where}: found {shown(line.strip())}; expected a JSON object in every line. "
            "Write each row as an object."
        )
    if "\\u" in line:
        _refuse_half_characters(found, where)
    return found


def _no_lines(where: str) -> RatingsError:
    """That a file is one JSON document: a list, or an object over several lines."""
    return RatingsError(
        f"{where}: found a JSON document that is no tool's export; expected a JSON object in "
        "every line, or an export as its tool writes it. "
        "Export again and rename no field, or write one rating a line."
    )


def _pairs(pairs: list[tuple[str, Any]], where: str) -> dict[str, object]:
    found = dict(pairs)
    if len(found) < len(pairs):
        refuse_twice([name for name, _ in pairs], where)
    return found


def _cell(value: object) -> object:
    if isinstance(value, str):
        return value or None
    if isinstance(value, list):
        return [_cell(member) for member in value]
    return category_text(value) if isinstance(value, bool) else value


def _refuse_half_characters(value: object, where: str) -> None:
    if isinstance(value, dict):
        for each in chain.from_iterable(value.items()):
            _refuse_half_characters(each, where)
    elif isinstance(value, list):
        for each in value:
            _refuse_half_characters(each, where)
    elif isinstance(value, str):
        try:
            value.encode()
        except UnicodeEncodeError as error:
            half = f"\\u{ord(value[error.start]):04x}"
            raise RatingsError(
                f"{where}: found half a character ({half}); expected whole characters. "
                "Export the table again, as UTF-8."
            ) from None


def _float_text(written: str) -> str:
    return category_text(float(written))


class _Parquet:
    """A Parquet file."""

    def __init__(self, path: Path, limits: Limits) -> None:
        import pyarrow.parquet as pq

        self._source, self._delivered = path.name, Steady.at(path)
        with _as_refusal(self._source):
            self._footer = footer_of(path)
            _refuse_large(self._footer, self._source, limits)
            self._file = pq.ParquetFile(path, read_dictionary=_repetitive(self._footer))
            self._path, self._limits = path, limits
            schema = self._file.schema_arrow
            self.header = list(schema.names)
        self._named = named_in_schema(schema.metadata, self._source)
        self._delivered.refuse_change()
        refuse_twice(self.header, self._source)
        refuse_no_row(self._file.metadata.num_rows, self._source)

    def read(self, names: Sequence[str]) -> pd.DataFrame:
        """Some columns, with their types. NaN and None stay apart, and labels have their names."""
        columns = {}
        for name in names:
            with _as_refusal(self._source):
                expanded = expanded_bytes(self._path, self._footer, name, self._limits.file_bytes)
                where = f"{self._source}: column {name!r}"
                self._limits.refuse_beyond("file_bytes", expanded, where, "bytes once expanded")
                column = self._file.read(columns=[name])
                column.validate(full=True)
            values = _apart(column.column(0))
            columns[name] = in_names(values, self._named[name]) if name in self._named else values
        self._delivered.refuse_change()
        return pd.DataFrame(columns, index=pd.RangeIndex(self._file.metadata.num_rows))


@contextmanager
def _as_refusal(source: str) -> Iterator[None]:
    """Whatever Arrow says of a broken file, as one refusal."""
    import pyarrow as pa

    try:
        yield
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        raise RatingsError(
            f"{source}: found no whole Parquet file ({str(error).splitlines()[0]}); expected a "
            f"finished one. {WAIT}"
        ) from None


def _refuse_large(footer: Footer, source: str, limits: Limits) -> None:
    """Refuse by what the file says of itself: a small Parquet file can hold a large table."""
    limits.refuse_beyond("columns", len(footer.leaves), source, "columns")
    limits.refuse_beyond("rows", footer.rows, source, "rows")
    limits.refuse_beyond("file_bytes", footer.size, source, "bytes once expanded")


def _repetitive(footer: Footer) -> list[str]:
    """The columns of text whose values are so few that a value takes two bytes at most."""
    sizes: defaultdict[str, float] = defaultdict(float)
    for chunk in footer.chunks:
        sizes[chunk.path] += chunk.size if chunk.text and not chunk.by_prefix else math.inf
    return [name for name, size in sizes.items() if size <= BYTES_A_VALUE * footer.rows]


def _in_codes(column: Any) -> Any:
    """An Arrow column of codes whose texts are all different, or None."""
    import pyarrow as pa

    if not (pa.types.is_dictionary(column.type) and _is_text(column.type.value_type)):
        return None
    whole = column.unify_dictionaries()
    texts = whole.chunk(0).dictionary if whole.num_chunks else pa.array([], pa.string())
    return whole if len(texts.unique()) == len(texts) and not texts.null_count else None


def _is_text(kind: Any) -> bool:
    import pyarrow as pa

    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def _apart(column: Any) -> pd.Series:
    """An Arrow column in which NaN and None stay apart.

    NaN is a failed calculation; None is a missing value. pandas alone would read both as missing.
    """
    import pyarrow as pa

    if (in_codes := _in_codes(column)) is not None:
        return pd.Series(in_codes.to_pandas())
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    values: pd.Series = in_pandas(column, integer_object_nulls=True)
    if not pa.types.is_floating(column.type):
        return values
    missing = column.is_null().to_numpy()
    if not (np.isnan(values) & ~missing).any():
        return values
    return values.astype(object).mask(missing, None)


def in_names(cells: pd.Series, named: Named) -> pd.Series:
    """The cells of a column as names. Each distinct number is looked up once."""
    if cells.dtype == object:
        return cells.map(named)
    codes, numbers = pd.factorize(cells)
    names = np.array([*map(named, numbers), None], dtype=object)
    return pd.Series(names[codes], cells.index)
