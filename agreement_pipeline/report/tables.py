"""Tables and texts for terminals and Markdown."""

import html
import re
from collections.abc import Iterable, Sequence
from textwrap import wrap

from agreement_pipeline.evidence import cut
from agreement_pipeline.text import unlinked

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
    wrapped: str | None = None,
    width: int | None = None,
) -> str:
    """The `wrapped` column goes on in the next line, after `REASON_WIDTH` characters at most. In a
    terminal the widest columns give way, and text that is cut ends in `…`.
    """
    texts = [[printable(str(cell)) for cell in row] for row in rows]
    column = header.index(wrapped) if wrapped in header else None
    column_widths = [max(map(len, cells)) for cells in zip(header, *texts, strict=True)]
    if column is not None and width is None:
        column_widths[column] = REASON_WIDTH
    elif column is not None and width is not None:
        _shrink_columns(column_widths, [column], width, MIN_WRAPPED_WIDTH)
    if width is not None:
        _shrink_columns(column_widths, range(len(column_widths)), width, MIN_COLUMN_WIDTH)
    lines = [line for row in texts for line in _wrap_row(row, column, column_widths)]
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
    row: Sequence[str], wrapped: int | None, column_widths: Sequence[int]
) -> list[list[str]]:
    cells = [cut(cell, limit) for cell, limit in zip(row, column_widths, strict=True)]
    if wrapped is None:
        return [cells]
    first_part, *other_parts = wrap(row[wrapped], column_widths[wrapped]) or [""]
    cells[wrapped] = first_part
    empty = [""] * len(row)
    return [cells, *([*empty[:wrapped], part, *empty[wrapped + 1 :]] for part in other_parts)]


def markdown_text(text: str) -> str:
    """Nothing in it is Markdown or a link."""
    escaped = html.escape(unlinked(printable(text)), quote=False)
    return MARKDOWN_CHARACTERS.sub(r"\\\g<0>", escaped)
