"""A page as text: the sentences, the tables, and the figures that letters can draw."""

from collections.abc import Iterable, Iterator
from textwrap import wrap

from agreement_pipeline.evidence import (
    Answer,
    Axis,
    Figure,
    Mark,
    Page,
    Step,
    Tone,
    axis_bounds,
    cut_text,
    tick_text,
)
from agreement_pipeline.report.tables import align_table, markdown_text, printable

LINE_WIDTH = 100
AXIS_WIDTH = 40
MAX_LABEL_LENGTH = 48
MIN_WRAPPED_LENGTH = 20
"""Columns with longer texts may be wrapped."""
SIGNS: dict[Tone, str] = {"plain": "o", "good": "o", "partly": "+", "bad": "x", "unknown": "?"}
TENTATIVE_SIGN = ":"
RELIABLE_SIGN = "|"
INTERVAL_SIGN = "-"


def render_text(page: Page, width: int | None = None) -> str:
    """Figures are drawn in ASCII if they are intervals. What a page of HTML opens by a click is
    left out.
    """
    head = [printable(page.title), "=" * len(page.title), page.kind, "", page.badge.text]
    blocks = ["\n".join([*head, *map(printable, page.lead)])]
    if page.top:
        figures = () if page.top.figure is None else (page.top.figure,)
        blocks += _iterate_blocks(Answer((*page.top.why, page.top.who), figures), width)
        blocks += ["What to do now", *steps_as_text(page.top.steps)] if page.top.steps else []
    for title, answer in page.parts:
        blocks += [f"{title}\n{'-' * len(title)}", *_iterate_blocks(answer, width)]
    return "\n\n".join(blocks)


def steps_as_text(steps: Iterable[Step]) -> Iterator[str]:
    """The command of a step stands in a line of its own.

    >>> print(*steps_as_text([Step("Look.", "It helps.", "agreement-pipeline plan")]))
    1. Look. It helps.
       agreement-pipeline plan
    """
    for place, step in enumerate(steps, 1):
        sentence = f"{place}. {printable(step.what)} {printable(step.why)}"
        yield f"{sentence}\n   {printable(step.by)}" if step.by else sentence


def steps_as_markdown(steps: Iterable[Step]) -> Iterator[str]:
    """Each step with its command.

    >>> print(*steps_as_markdown([Step("Look.", "It helps.", "agreement-pipeline plan")]))
    1. Look. It helps. `agreement-pipeline plan`
    """
    for place, step in enumerate(steps, 1):
        by = printable(step.by)
        command = markdown_text(by) if "`" in by else f"`{by}`"
        yield f"{place}. {markdown_text(f'{step.what} {step.why}')} {command}"


def _iterate_blocks(answer: Answer, width: int | None) -> Iterator[str]:
    lines = (
        wrap(printable(sentence), min(width or LINE_WIDTH, LINE_WIDTH))
        for sentence in answer.sentences
    )
    yield "\n".join("\n".join(paragraph) for paragraph in lines)
    for figure in answer.figures:
        if figure.kind in ("intervals", "course"):
            yield draw_ascii(figure)
    for table in answer.tables:
        longest = [max(map(len, column)) for column in zip(*table.texts, strict=True)]
        wrapped = [
            name
            for name, length in zip(table.columns, longest, strict=True)
            if length > MIN_WRAPPED_LENGTH
        ]
        text = align_table(table.columns, table.texts, wrapped, width)
        left_out = f"\n{table.left_out}" if table.left_out else ""
        yield f"{printable(table.caption)}\n\n{text}{left_out}"


def draw_ascii(figure: Figure) -> str:
    """A figure of intervals in ASCII, a line a mark.

    >>> from agreement_pipeline.evidence import Series
    >>> marks = (Mark("W1", 0.5, 0.25, 0.75, cutoffs=(0.0, 1.0)),)
    >>> print(draw_ascii(Figure("intervals", "By round", "", (Series("s", marks),), bounds=(0, 1))))
    By round
    <BLANKLINE>
    W1  :         ----------o---------         |  0.500 (0.250 to 0.750)
        0                                      1
    <BLANKLINE>
    | reliable from, : tentative from
    """
    axis = Axis(*axis_bounds(figure), 0, AXIS_WIDTH - 1)
    labels = [cut_text(printable(mark.label), MAX_LABEL_LENGTH) for mark in figure.marks]
    wide = max(map(len, labels), default=0)
    rows = [
        f"{label:{wide}}  {_draw_mark(figure, axis, mark)}"
        for label, mark in zip(labels, figure.marks, strict=True)
    ]
    low, high = (tick_text(round(limit, 2)) for limit in (axis.low, axis.high))
    scale = f"{' ' * (wide + 2)}{low}{high:>{AXIS_WIDTH - len(low)}}"
    used = {mark.tone for mark in figure.marks if mark.value is not None}
    key = [f"{SIGNS[tone]} {words}" for tone, words in figure.legend if tone in used]
    if figure.cutoffs:
        (_, first_name), *other_cutoffs = sorted(figure.cutoffs, reverse=True)
        strokes = [
            f"{RELIABLE_SIGN} {first_name}",
            *(f"{TENTATIVE_SIGN} {name}" for _, name in other_cutoffs),
        ]
        key.append(", ".join(strokes))
    elif any(mark.cutoffs for mark in figure.marks):
        key.append(f"{RELIABLE_SIGN} reliable from, {TENTATIVE_SIGN} tentative from")
    lines = [printable(figure.title), "", *rows, scale, *(["", "   ".join(key)] if key else [])]
    return "\n".join(lines)


def _draw_mark(figure: Figure, axis: Axis, mark: Mark) -> str:
    cells = [" "] * AXIS_WIDTH
    cutoffs = sorted(mark.cutoffs or {value for value, _ in figure.cutoffs})
    for value in cutoffs:
        cells[round(axis.position_of(value))] = (
            RELIABLE_SIGN if value == cutoffs[-1] else TENTATIVE_SIGN
        )
    if mark.value is not None:
        low, high = map(round, axis.span(mark.low, mark.high))
        for column in range(low, high + 1):
            cells[column] = INTERVAL_SIGN if cells[column] == " " else cells[column]
        cells[round(axis.position_of(mark.value))] = SIGNS[mark.tone]
    return f"{''.join(cells)}  {mark.value_in_words}"
