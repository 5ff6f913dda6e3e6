"""Tables and texts for terminals and Markdown."""

import html
import re
from collections.abc import Collection, Iterable, Sequence
from itertools import zip_longest
from textwrap import wrap

from agreement_pipeline.evidence import cut_text
from agreement_pipeline.text import without_links

REASON_WIDTH = 78
MIN_WRAPPED_WIDTH = 30
MIN_COLUMN_WIDTH = 9

MARKDOWN_CHARACTERS = re.compile(r"[\\`*_\[\]()#!|]")


def printable(text: str) -> str:
    r"""The text on one line. Characters that move the cursor or start a line are escaped.

    >>> print(printable("\x1b[2J caf\u00e9"))
    \x1b[2J café
    """
    return "".join(
        character if character.isprintable() else character.encode("unicode_escape").decode()
        for character in text
    )


def align_table(
    header: Sequence[str],
    rows: Iterable[Iterable[object]],
    wrapped: str | Collection[str] = (),
    width: int | None = None,
) -> str:
    """The `wrapped` columns go on in the next line, after `REASON_WIDTH` characters at most. In a
    terminal the widest columns give way, and text that is cut ends in `…`.
    """
    texts = [[printable(str(cell)) for cell in row] for row in rows]
    wrapped_names = {wrapped} if isinstance(wrapped, str) else {*wrapped}
    columns = [place for place, name in enumerate(header) if name in wrapped_names]
    column_widths = [max(map(len, cells)) for cells in zip(header, *texts, strict=True)]
    if width is None:
        for column in columns:
            column_widths[column] = REASON_WIDTH
    else:
        if columns:
            _shrink_columns(column_widths, columns, width, MIN_WRAPPED_WIDTH)
        _shrink_columns(column_widths, range(len(column_widths)), width, MIN_COLUMN_WIDTH)
    lines = [line for row in texts for line in _wrap_row(row, columns, column_widths)]
    widths = [max(map(len, cells)) for cells in zip(header, *lines, strict=True)]
    rule = ["-" * column_width for column_width in widths]
    return "\n".join(
        "  ".join(map(str.ljust, line, widths)).rstrip() for line in (header, rule, *lines)
    )


def _shrink_columns(widths: list[int], columns: Sequence[int], width: int, narrowest: int) -> None:
    gaps = 2 * (len(widths) - 1)
    while sum(widths) + gaps > width:
        widest = max(columns, key=lambda column: widths[column])
        if widths[widest] <= narrowest:
            return
        widths[widest] -= 1


def _wrap_row(
    row: Sequence[str], wrapped: Collection[int], column_widths: Sequence[int]
) -> list[list[str]]:
    parts_by_column = [
        wrap(cell, limit) or [""] if column in wrapped else [cut_text(cell, limit)]
        for column, (cell, limit) in enumerate(zip(row, column_widths, strict=True))
    ]
    return [list(line) for line in zip_longest(*parts_by_column, fillvalue="")]


def markdown_text(text: str) -> str:
    """Nothing in it is Markdown or a link."""
    escaped = html.escape(without_links(printable(text)), quote=False)
    return MARKDOWN_CHARACTERS.sub(r"\\\g<0>", escaped)
