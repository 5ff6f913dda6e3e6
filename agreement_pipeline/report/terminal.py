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
    bounds_of,
    cut,
    tick_text,
)
from agreement_pipeline.report.tables import aligned, markdown_text, printable

LINE, AXIS, LONGEST_LABEL, LONG = 100, 40, 48, 30
SIGNS: dict[Tone, str] = {"plain": "o", "good": "o", "partly": "+", "bad": "x", "unknown": "?"}
TENTATIVE, RELIABLE, BETWEEN = ":", "|", "-"


def as_text(page: Page, width: int | None = None) -> str:
    """Figures are drawn in ASCII if they are intervals. What a page of HTML opens by a click is
    left out.
    """
    head = [printable(page.title), "=" * len(page.title), page.kind, "", page.badge.text]
    blocks = ["\n".join([*head, *map(printable, page.lead)])]
    if page.top:
        figures = () if page.top.figure is None else (page.top.figure,)
        blocks += _blocks(Answer((*page.top.why, page.top.who), figures), width)
        blocks += ["What to do now", *steps_as_text(page.top.steps)] if page.top.steps else []
    for title, answer in page.parts:
        blocks += [f"{title}\n{'-' * len(title)}", *_blocks(answer, width)]
    return "\n\n".join(blocks)


def steps_as_text(steps: Iterable[Step]) -> Iterator[str]:
    """The command of a step stands in a line of its own.

    >>> print(*steps_as_text([Step("Look.", "It helps.", "agreement-pipeline plan")]))
    1. Look. It helps.
       agreement-pipeline plan
    """
    for place, step in enumerate(steps, 1):
        said = f"{place}. {printable(step.what)} {printable(step.why)}"
        yield f"{said}\n   {printable(step.by)}" if step.by else said


def steps_as_markdown(steps: Iterable[Step]) -> Iterator[str]:
    """Each step with its command.

    >>> print(*steps_as_markdown([Step("Look.", "It helps.", "agreement-pipeline plan")]))
    1. Look. It helps. `agreement-pipeline plan`
    """
    for place, step in enumerate(steps, 1):
        by = printable(step.by)
        command = markdown_text(by) if "`" in by else f"`{by}`"
        yield f"{place}. {markdown_text(f'{step.what} {step.why}')} {command}"


def _blocks(answer: Answer, width: int | None) -> Iterator[str]:
    lines = (wrap(printable(said), min(width or LINE, LINE)) for said in answer.sentences)
    yield "\n".join("\n".join(each) for each in lines)
    for figure in answer.figures:
        if figure.kind in ("intervals", "course"):
            yield drawn(figure)
    for table in answer.tables:
        longest = [max(map(len, column)) for column in zip(*table.texts, strict=True)]
        wide = max(longest, default=0)
        wrapped = table.columns[longest.index(wide)] if wide > LONG else None
        shown = aligned(table.columns, table.texts, wrapped, width)
        left_out = f"\n{table.left_out}" if table.left_out else ""
        yield f"{printable(table.caption)}\n\n{shown}{left_out}"


def drawn(figure: Figure) -> str:
    """A figure of intervals in ASCII, a line a mark.

    >>> from agreement_pipeline.evidence import Series
    >>> marks = (Mark("W1", 0.5, 0.25, 0.75, cutoffs=(0.0, 1.0)),)
    >>> print(drawn(Figure("intervals", "By round", "", (Series("s", marks),), bounds=(0, 1))))
    By round
    <BLANKLINE>
    W1  :         ----------o---------         |  0.500 (0.250 to 0.750)
        0                                      1
    <BLANKLINE>
    | reliable from, : tentative from
    """
    axis = Axis(*bounds_of(figure), 0, AXIS - 1)
    labels = [cut(printable(mark.label), LONGEST_LABEL) for mark in figure.marks]
    wide = max(map(len, labels), default=0)
    rows = [
        f"{label:{wide}}  {_line(figure, axis, mark)}"
        for label, mark in zip(labels, figure.marks, strict=True)
    ]
    low, high = (tick_text(round(end, 2)) for end in (axis.low, axis.high))
    scale = f"{' ' * (wide + 2)}{low}{high:>{AXIS - len(low)}}"
    used = {mark.tone for mark in figure.marks if mark.value is not None}
    key = [f"{SIGNS[tone]} {words}" for tone, words in figure.legend if tone in used]
    if figure.cutoffs:
        (_, first), *others = sorted(figure.cutoffs, reverse=True)
        strokes = [f"{RELIABLE} {first}", *(f"{TENTATIVE} {name}" for _, name in others)]
        key.append(", ".join(strokes))
    elif any(mark.cutoffs for mark in figure.marks):
        key.append(f"{RELIABLE} reliable from, {TENTATIVE} tentative from")
    lines = [printable(figure.title), "", *rows, scale, *(["", "   ".join(key)] if key else [])]
    return "\n".join(lines)


def _line(figure: Figure, axis: Axis, mark: Mark) -> str:
    cells = [" "] * AXIS
    cutoffs = sorted(mark.cutoffs or {value for value, _ in figure.cutoffs})
    for value in cutoffs:
        cells[round(axis.at(value))] = RELIABLE if value == cutoffs[-1] else TENTATIVE
    if mark.value is not None:
        low, high = map(round, axis.span(mark.low, mark.high))
        for at in range(low, high + 1):
            cells[at] = BETWEEN if cells[at] == " " else cells[at]
        cells[round(axis.at(mark.value))] = SIGNS[mark.tone]
    return f"{''.join(cells)}  {mark.said}"
