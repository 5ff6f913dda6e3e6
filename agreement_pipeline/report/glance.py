"""A drawing of the last rounds that is small enough to stand in a page without a click.

Dagster's UI shows Markdown in place only if it has fewer than 1,000 characters.
"""

from collections.abc import Iterator, Sequence
from urllib.parse import quote
from xml.sax.saxutils import escape

from agreement_pipeline.report.figure import Figure, Mark, Tone
from agreement_pipeline.report.sheet import Axis

LONGEST, MOST_ROUNDS, LONGEST_NAME = 960, 24, 16
WIDTH, HEIGHT, TOP, BOTTOM, LEFT = 430, 128, 24, 108, 46
LINE, WIDEST_STEP = 11, 120
UNQUOTED = "/:='-.,;+*!~_"
SHORTEST_AXIS = 0.05

SIGNS: dict[Tone, tuple[str, str, str]] = {
    "good": ("round", "#0b62a8", "●"),
    "partly": ("butt", "#8a5a00", "▮"),
    "bad": ("square", "#b5280f", "■"),
}


def glance(course: Figure | None) -> str | None:
    if course is None:
        return None
    known = [mark for mark in course.marks if mark.value is not None][-MOST_ROUNDS:]
    drawn = (_drawing(course, known[start:]) for start in range(len(known)))
    return next((each for each in drawn if len(each) <= LONGEST), None)


def _drawing(course: Figure, marks: Sequence[Mark]) -> str:
    cutoffs = [cutoff for cutoff, _ in course.cutoffs]
    numbers = [number for mark in marks for number in (mark.value, mark.low) if number is not None]
    axis = Axis(max(-1.0, min(*cutoffs, *numbers) - SHORTEST_AXIS), 1.0, BOTTOM, TOP)
    step = min(WIDEST_STEP, (WIDTH - LEFT - 10) // len(marks))
    placed = [(LEFT + step // 2 + nth * step, mark) for nth, mark in enumerate(marks)]
    drawn, legend = [], []
    for tone, words in course.legend:
        mine = [(x, mark) for x, mark in placed if _shown_as(mark) == tone]
        if mine:
            drawn.append(_values(tone, mine, axis))
            _, colour, sign = SIGNS[tone]
            legend.append(f"<tspan fill='{colour}'>{sign}{words}</tspan>")
    names = (
        f"<text x='{x - 18}' y='{HEIGHT - 4}'>{escape(mark.label[:LONGEST_NAME])}</text>"
        for x, mark in dict([placed[0], placed[-1]]).items()
    )
    parts = [
        f"<svg xmlns='http://www.w3.org/2000/svg' width='{WIDTH}' height='{HEIGHT}' "
        "font-size='11' fill='#778' stroke-width='2'>",
        *_lines(cutoffs, axis),
        *drawn,
        f"<text x='{LEFT}' y='10'>{' '.join(legend)}</text>",
        *names,
        "</svg>",
    ]
    return f"data:image/svg+xml,{quote(''.join(parts), safe=UNQUOTED)}"


def _shown_as(mark: Mark) -> Tone:
    return mark.tone if mark.tone in SIGNS else "bad"


def _lines(cutoffs: Sequence[float], axis: Axis) -> Iterator[str]:
    below = 0
    for cutoff in cutoffs:
        y = round(axis.at(cutoff))
        below = max(y + 4, below + LINE)
        yield f"<text y='{below}'>{cutoff:g}</text>"
        yield f"<path stroke='#99a' stroke-dasharray='4' d='M{LEFT - 8},{y}h{WIDTH - LEFT}'/>"


def _values(tone: Tone, placed: Sequence[tuple[int, Mark]], axis: Axis) -> str:
    end, colour, _ = SIGNS[tone]
    flat, lines, values = 2 if end == "butt" else 0, "", ""
    for x, mark in placed:
        low, high = map(round, axis.span(mark.low, mark.high))
        lines += f"M{x},{high}v{low - high}"
        values += f"M{x - flat},{round(axis.at(mark.value or 0.0))}h{2 * flat}"
    return (
        f"<g stroke='{colour}'><path d='{lines}'/>"
        f"<path stroke-width='8' stroke-linecap='{end}' d='{values}'/></g>"
    )
