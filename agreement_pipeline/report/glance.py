"""A drawing of the last rounds that is small enough to stand in a page without a click.

Dagster's UI shows Markdown in place if it has fewer than 1,000 characters, and hides it behind a
click if it has more. So the drawing is SVG in few characters.
"""

from collections.abc import Iterator
from typing import NamedTuple
from urllib.parse import quote
from xml.sax.saxutils import escape

import numpy as np
import pandas as pd

from agreement_pipeline.policy import Rule
from agreement_pipeline.report.figures import BAD, GOOD, PARTLY

LONGEST, MOST_ROUNDS, LONGEST_NAME = 960, 24, 16
WIDTH, HEIGHT, TOP, BOTTOM, LEFT = 430, 128, 24, 108, 46
LINE, WIDEST_STEP = 11, 120
"""How high a line of text is, and how far apart rounds are at most: two names have room."""
UNQUOTED = "/:='-.,;+*!~_"
SHORTEST_AXIS = 0.05

MARKS = {
    "admitted": ("round", GOOD, "●"),
    "admitted (tentative)": ("butt", PARTLY, "▮"),
    "held": ("square", BAD, "■"),
}
"""The end of the line that draws a round's value, its colour, and its sign in the legend."""


class Place(NamedTuple):
    """Where a round is drawn.

    Parameters
    ----------
    x
        From the left.
    high, value, low
        From the top: the limits of the interval, and the value between them.
    decision
        One of `MARKS`.
    """

    x: int
    high: int
    value: int
    low: int
    decision: str


def glance(rounds: pd.DataFrame, rule: Rule) -> str | None:
    """The measure of a rule in the last rounds, with its intervals, cut-offs and decisions.

    As many rounds are drawn as have room. None if no round has a value.
    """
    known = rounds[(rounds["measure"] == rule.measure) & rounds["value"].notna()]
    known = known.drop_duplicates("round").tail(MOST_ROUNDS)
    drawn = (_drawing(known.tail(n), rule) for n in range(len(known), 0, -1))
    return next((each for each in drawn if len(each) <= LONGEST), None)


def _drawing(rounds: pd.DataFrame, rule: Rule) -> str:
    least = min(rule.tentative, rounds["value"].min(), rounds["low"].min()) - SHORTEST_AXIS
    least = max(least, -1.0) if np.isfinite(least) else -1.0
    places = list(_places(rounds, least))
    parts = [
        f"<svg xmlns='http://www.w3.org/2000/svg' width='{WIDTH}' height='{HEIGHT}' "
        "font-size='11' fill='#778' stroke-width='2'>",
        *_cutoffs(rule, least),
        *(_marks(decision, places) for decision in MARKS),
        _legend(places),
        *_names(rounds, places),
        "</svg>",
    ]
    return f"data:image/svg+xml,{quote(''.join(parts), safe=UNQUOTED)}"


def _places(rounds: pd.DataFrame, least: float) -> Iterator[Place]:
    step = min(WIDEST_STEP, (WIDTH - LEFT - 10) // max(1, len(rounds)))
    for place, row in enumerate(rounds.to_dict("records")):
        low, value, high = row["low"], row["value"], row["high"]
        yield Place(
            LEFT + step // 2 + place * step,
            _height(1.0 if np.isnan(high) else high, least),
            _height(value, least),
            _height(least if np.isnan(low) else low, least),
            row["decision"] if row["decision"] in MARKS else "held",
        )


def _height(value: float, least: float) -> int:
    """How far from the top a value is drawn: 1 at the top of the axis, the least at its end."""
    share = (1.0 - min(max(value, least), 1.0)) / (1.0 - least)
    return round(TOP + share * (BOTTOM - TOP))


def _cutoffs(rule: Rule, least: float) -> Iterator[str]:
    below = 0
    for cutoff in (rule.reliable, rule.tentative):
        y = _height(cutoff, least)
        below = max(y + 4, below + LINE)
        yield f"<text y='{below}'>{cutoff:g}</text>"
        yield f"<path stroke='#99a' stroke-dasharray='4' d='M{LEFT - 8},{y}h{WIDTH - LEFT}'/>"


def _marks(decision: str, places: list[Place]) -> str:
    """The intervals and the values of the rounds with one decision."""
    end, colour, _ = MARKS[decision]
    mine = [each for each in places if each.decision == decision]
    if not mine:
        return ""
    lines = "".join(f"M{each.x},{each.high}v{each.low - each.high}" for each in mine)
    flat = end == "butt"
    values = "".join(f"M{each.x - 2 * flat},{each.value}h{4 * flat}" for each in mine)
    return (
        f"<g stroke='{colour}'><path d='{lines}'/>"
        f"<path stroke-width='8' stroke-linecap='{end}' d='{values}'/></g>"
    )


def _legend(places: list[Place]) -> str:
    """What the signs and colours mean."""
    met = [decision for decision in MARKS if any(each.decision == decision for each in places)]
    said = " ".join(
        f"<tspan fill='{MARKS[each][1]}'>{MARKS[each][2]}{each}</tspan>" for each in met
    )
    return f"<text x='{LEFT}' y='10'>{said}</text>"


def _names(rounds: pd.DataFrame, places: list[Place]) -> Iterator[str]:
    """The names of the first and the last round under their places."""
    shown = {place.x: str(name) for place, name in zip(places, rounds["round"], strict=True)}
    for x in sorted({min(shown), max(shown)}):
        yield f"<text x='{x - 18}' y='{HEIGHT - 4}'>{escape(shown[x][:LONGEST_NAME])}</text>"
