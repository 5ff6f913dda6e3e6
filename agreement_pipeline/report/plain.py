"""A page as text: the sentences, the tables, and the figures that letters can draw."""

from collections.abc import Iterator
from dataclasses import dataclass
from textwrap import wrap

import pandas as pd

from agreement_pipeline.report.answer import Answer, Grid
from agreement_pipeline.report.drawing.axis import bounds_of, tick_text
from agreement_pipeline.report.figure import Figure, Mark, Tone
from agreement_pipeline.report.page import Page, Part
from agreement_pipeline.report.tables import printable, text_table
from agreement_pipeline.text import SENTENCE, in_words, interval, number

LINE, AXIS, LONGEST_LABEL, LONG = 100, 40, 48, 30
SIGNS: dict[Tone, str] = {"plain": "o", "good": "o", "partly": "+", "bad": "x", "unknown": "?"}
TENTATIVE, RELIABLE, BETWEEN, BAR = ":", "|", "-", "#"


def as_text(page: Page, width: int | None = None) -> str:
    """The page as text for a terminal.

    Figures are drawn in ASCII if they are intervals or bars. The numbers of all others stand in
    the tables beside them. What a page of HTML opens by a click is left out.

    Parameters
    ----------
    page
        The page.
    width
        The width of the terminal. None: tables are as wide as they need.
    """
    head = [printable(page.title), "=" * len(page.title), page.kind, "", page.badge.text]
    parts = [_part(part, width) for part in page.parts]
    return "\n\n".join(["\n".join([*head, *map(printable, page.lead)]), *parts])


def _part(part: Part, width: int | None) -> str:
    title = part.section.title
    blocks = [f"{title}\n{'-' * len(title)}", *_blocks(part.answer, width)]
    return "\n\n".join(blocks)


def _blocks(answer: Answer, width: int | None) -> Iterator[str]:
    """The sentences, then each figure, then each table."""
    yield "\n".join(_wrapped(said, width) for said in answer.sentences)
    for figure in answer.figures:
        if figure.kind in ("intervals", "course", "bars"):
            yield drawn(figure)
    for table in answer.tables:
        yield _tabled(table, width)


def _wrapped(said: str, width: int | None) -> str:
    return "\n".join(wrap(printable(said), min(width or LINE, LINE)))


def _tabled(table: Grid, width: int | None) -> str:
    """The table under its caption. Its longest column goes on in the next line."""
    cells = [[cell.text for cell in row] for row in table.rows]
    longest = [max((len(row[at]) for row in cells), default=0) for at in range(len(table.columns))]
    wide = max(longest, default=0)
    wrapped = table.columns[longest.index(wide)] if wide > LONG else None
    shown = text_table(
        pd.DataFrame(cells, columns=list(table.columns)), wrapped=wrapped, width=width
    )
    left_out = f"\n{table.left_out}" if table.left_out else ""
    return f"{printable(table.caption)}\n\n{shown}{left_out}"


@dataclass(frozen=True)
class _Axis:
    """An axis of letters from one number to another."""

    low: float
    high: float

    def at(self, value: float) -> int:
        share = (min(max(value, self.low), self.high) - self.low) / (self.high - self.low)
        return round(share * (AXIS - 1))


def drawn(figure: Figure) -> str:
    """A figure of intervals or bars in ASCII, a line a mark.

    >>> from agreement_pipeline.report.figure import Series
    >>> marks = (Mark("W1", 0.5, 0.25, 0.75, cutoffs=(0.0, 1.0)),)
    >>> print(drawn(Figure("intervals", "By round", "", (Series("s", marks),), bounds=(0, 1))))
    By round
    <BLANKLINE>
    W1  :         ----------o---------         |  0.500 (0.250 to 0.750)
        0                                      1
    <BLANKLINE>
    | reliable from, : tentative from
    """
    axis = _Axis(*bounds_of(figure))
    labels = [_label(mark) for mark in figure.marks]
    wide = max(map(len, labels), default=0)
    draw = _bar if figure.kind == "bars" else _line
    rows = [
        f"{label:{wide}}  {draw(figure, axis, mark)}  {_number(figure, mark)}"
        for label, mark in zip(labels, figure.marks, strict=True)
    ]
    ends = (tick_text(round(end, 2)) for end in (axis.low, axis.high))
    scale = " " * (wide + 2) + "{}{:>{rest}}".format(*ends, rest=AXIS - 1)
    return "\n".join([printable(figure.title), "", *rows, scale, *_legend(figure)])


def _label(mark: Mark) -> str:
    label = printable(mark.label)
    return label if len(label) <= LONGEST_LABEL else f"{label[: LONGEST_LABEL - 1]}…"


def _line(figure: Figure, axis: _Axis, mark: Mark) -> str:
    """The interval of a mark with its cut-offs. A limit that is not there is the end."""
    cells = [" "] * AXIS
    for value, sign in _cutoffs(figure, mark):
        cells[axis.at(value)] = sign
    if mark.value is not None:
        low = 0 if mark.low is None else axis.at(mark.low)
        high = AXIS - 1 if mark.high is None else axis.at(mark.high)
        for at in range(low, high + 1):
            cells[at] = BETWEEN if cells[at] == " " else cells[at]
        cells[axis.at(mark.value)] = SIGNS[mark.tone]
    return "".join(cells)


def _cutoffs(figure: Figure, mark: Mark) -> list[tuple[float, str]]:
    """The cut-offs of a mark, or of all marks: the highest is the reliable one."""
    found = sorted(mark.cutoffs or {value for value, _ in figure.cutoffs})
    return [(value, RELIABLE if value == found[-1] else TENTATIVE) for value in found]


def _bar(figure: Figure, axis: _Axis, mark: Mark) -> str:
    return f"{BAR * (0 if mark.value is None else axis.at(mark.value) + 1):{AXIS}}"


def _number(figure: Figure, mark: Mark) -> str:
    if mark.value is None:
        return "no value"
    if figure.kind == "bars":
        return in_words(mark.value, figure.form)
    return f"{number(mark.value, SENTENCE)} ({interval(mark.low, mark.high)})"


def _legend(figure: Figure) -> list[str]:
    """What the signs mean that are drawn."""
    used = {mark.tone for mark in figure.marks if mark.value is not None}
    tones = [f"{SIGNS[tone]} {words}" for tone, words in figure.legend if tone in used]
    found = [*tones, *_strokes(figure)]
    return ["", "   ".join(found)] if found else []


def _strokes(figure: Figure) -> list[str]:
    """What the strokes across all marks are called; else those of the cut-offs of each mark."""
    if not figure.cutoffs:
        own = any(mark.cutoffs for mark in figure.marks)
        return [f"{RELIABLE} reliable from, {TENTATIVE} tentative from"] if own else []
    highest = max(value for value, _ in figure.cutoffs)
    named = sorted(figure.cutoffs, reverse=True)
    signs = ((RELIABLE if value == highest else TENTATIVE, name) for value, name in named)
    return [", ".join(f"{sign} {name}" for sign, name in signs)]
