"""A drawing of the last rounds that is small enough to stand in a page without a click.

Dagster's UI shows Markdown in place if it has fewer than 1,000 characters, and hides it behind a
click if it has more. So the drawing is SVG in few characters.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple
from urllib.parse import quote
from xml.sax.saxutils import escape

from agreement_pipeline.report.figure import Figure, Mark, Tone

LONGEST, MOST_ROUNDS, LONGEST_NAME = 960, 24, 16
WIDTH, HEIGHT, TOP, BOTTOM, LEFT = 430, 128, 24, 108, 46
LINE, WIDEST_STEP = 11, 120
"""How high a line of text is, and how far apart rounds are at most: two names have room."""
UNQUOTED = "/:='-.,;+*!~_"
SHORTEST_AXIS = 0.05

SIGNS: dict[Tone, tuple[str, str, str]] = {
    "good": ("round", "#0b62a8", "●"),
    "partly": ("butt", "#8a5a00", "▮"),
    "bad": ("square", "#b5280f", "■"),
}
"""The end of the line that draws a value, its colour, and its sign in the legend."""


class Place(NamedTuple):
    """Where a round is drawn: from the left, and from the top its limits with the value."""

    x: int
    high: int
    value: int
    low: int
    tone: Tone


def glance(course: Figure | None) -> str | None:
    """The last rounds of a figure of rounds, as a data URI: as many as have room.

    None if no round has a value.
    """
    if course is None:
        return None
    known = [mark for mark in course.marks if mark.value is not None][-MOST_ROUNDS:]
    drawn = (_drawing(course, known[start:]) for start in range(len(known)))
    return next((each for each in drawn if len(each) <= LONGEST), None)


def _drawing(course: Figure, marks: Sequence[Mark]) -> str:
    cutoffs = [cutoff for cutoff, _ in course.cutoffs]
    drawn = [number for mark in marks for number in (mark.value, mark.low) if number is not None]
    least = max(-1.0, min(*cutoffs, *drawn) - SHORTEST_AXIS)
    places = list(_places(marks, least))
    names = {tone: words for tone, words in course.legend if tone in SIGNS}
    of_tones = {tone: [each for each in places if each.tone == tone] for tone in names}
    met = [tone for tone, mine in of_tones.items() if mine]
    legend = " ".join(
        f"<tspan fill='{SIGNS[tone][1]}'>{SIGNS[tone][2]}{names[tone]}</tspan>" for tone in met
    )
    ends = {place.x: mark.label for place, mark in zip(places, marks, strict=True)}
    shown = sorted({min(ends), max(ends)})
    parts = [
        f"<svg xmlns='http://www.w3.org/2000/svg' width='{WIDTH}' height='{HEIGHT}' "
        "font-size='11' fill='#778' stroke-width='2'>",
        *_lines(cutoffs, least),
        *(_values(tone, of_tones[tone]) for tone in met),
        f"<text x='{LEFT}' y='10'>{legend}</text>",
        *(
            f"<text x='{x - 18}' y='{HEIGHT - 4}'>{escape(ends[x][:LONGEST_NAME])}</text>"
            for x in shown
        ),
        "</svg>",
    ]
    return f"data:image/svg+xml,{quote(''.join(parts), safe=UNQUOTED)}"


def _places(marks: Sequence[Mark], least: float) -> Iterator[Place]:
    step = min(WIDEST_STEP, (WIDTH - LEFT - 10) // len(marks))
    for nth, mark in enumerate(marks):
        high, low = 1.0 if mark.high is None else mark.high, mark.low
        yield Place(
            LEFT + step // 2 + nth * step,
            _height(high, least),
            _height(mark.value or 0.0, least),
            _height(least if low is None else low, least),
            mark.tone if mark.tone in SIGNS else "bad",
        )


def _height(value: float, least: float) -> int:
    """How far from the top a value is drawn: 1 at the top of the axis, the least at its end."""
    share = (1.0 - min(max(value, least), 1.0)) / (1.0 - least)
    return round(TOP + share * (BOTTOM - TOP))


def _lines(cutoffs: Sequence[float], least: float) -> Iterator[str]:
    """The cut-offs with their numbers, which stand apart."""
    below = 0
    for cutoff in cutoffs:
        y = _height(cutoff, least)
        below = max(y + 4, below + LINE)
        yield f"<text y='{below}'>{cutoff:g}</text>"
        yield f"<path stroke='#99a' stroke-dasharray='4' d='M{LEFT - 8},{y}h{WIDTH - LEFT}'/>"


def _values(tone: Tone, places: Sequence[Place]) -> str:
    """The intervals and the values of the rounds with one decision."""
    end, colour, _ = SIGNS[tone]
    flat = 2 if end == "butt" else 0
    lines = "".join(f"M{each.x},{each.high}v{each.low - each.high}" for each in places)
    values = "".join(f"M{each.x - flat},{each.value}h{2 * flat}" for each in places)
    return (
        f"<g stroke='{colour}'><path d='{lines}'/>"
        f"<path stroke-width='8' stroke-linecap='{end}' d='{values}'/></g>"
    )
