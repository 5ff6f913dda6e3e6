"""The cells of JSON Lines. Each line is read once, and its texts are then kept in Arrow."""

import json
from collections.abc import Iterator, Sequence
from itertools import chain, islice
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa

from agreement_pipeline.errors import RatingsError
from agreement_pipeline.mistakes import shown
from agreement_pipeline.ratings import Limits, category_text
from agreement_pipeline.readers.columns import refuse_twice
from agreement_pipeline.readers.files import WAIT, Steady, blank, refuse_nul, text_of
from agreement_pipeline.readers.json_stream import is_cut
from agreement_pipeline.readers.lines import blocks_of

AT_ONCE = 8_192
"""How many records are Python objects at once."""


class JsonLines:
    """A file of JSON Lines.

    Attributes
    ----------
    header
        The names of its columns.

    Raises
    ------
    RatingsError
        The file is broken or too large.
    """

    def __init__(self, path: Path, limits: Limits) -> None:
        names, self._blocks = dict[str, None](), list[_Block]()
        records = _records(path, limits)
        while some := list(islice(records, AT_ONCE)):
            here = dict.fromkeys(chain.from_iterable(some))
            names |= here
            if len(names) <= limits.columns:
                columns = {
                    name: _compact([_cell(each.get(name)) for each in some]) for name in here
                }
                self._blocks.append(_Block(len(some), columns))
        limits.refuse_beyond("columns", len(names), path.name, "columns")
        self.header = list(names)

    def blocks(self, names: Sequence[str]) -> Iterator[dict[str, Any]]:
        """Some columns, some rows at a time.

        A column is an Arrow array of texts. If it holds anything but texts, it is a list.
        """
        for block in self._blocks:
            empty = pa.nulls(block.n_rows, pa.large_string())
            yield {name: block.columns.get(name, empty) for name in names}


class _Block(NamedTuple):
    """The cells of some records by column, as an Arrow array where all of them are texts."""

    n_rows: int
    columns: dict[str, Any]


def _compact(values: list[object]) -> Any:
    are_texts = all(value is None or isinstance(value, str) for value in values)
    return pa.array(values, pa.large_string()) if are_texts else values


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
