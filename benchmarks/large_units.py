"""CPU time and memory of label objects that are many or large, each in a process of its own.

    python -m benchmarks.large_units [CASE]

Without a case, each is run. The time is that from objects, or a file, to units and their alpha.
"""

import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np

from agreement_pipeline import Ratings, measure, read_ratings
from agreement_pipeline.readers import Rules
from agreement_pipeline.units import (
    Box,
    ChosenSet,
    Marked,
    Polygon,
    Ranking,
    UnitSettings,
    units_of,
)
from benchmarks.asked import asked, head, line
from benchmarks.measuring import seconds, unlimited

RATERS = ("ana", "ben", "chi")
MOST_PAIRS = 3_000_000
RANDOM = np.random.default_rng(35)


def rankings(n: int = 200) -> Ratings:
    """Rankings of 200 alternatives, 50 items, three raters."""
    names = [f"a{at:03}" for at in range(n)]
    marked = [
        Marked(f"q{at:02}", rater, (Ranking(tuple(frozenset({n}) for n in order)),))
        for at in range(50)
        for rater in RATERS
        for order in [RANDOM.permutation(names).tolist()]
    ]
    return units_of(marked, UnitSettings("rankings", most_pairs=MOST_PAIRS)).ratings


def fewer_rankings() -> Ratings:
    """Rankings of 80 alternatives, 50 items, three raters: nearly as many pairs as may be."""
    return rankings(80)


def conll() -> Ratings:
    """A CoNLL file of 60,000 tags of two raters."""
    tags = RANDOM.choice(["O", "B-PER", "B-ORG"], (30_000, 2), p=[0.8, 0.1, 0.1])
    lines = ["# global.columns = FORM ana ben"]
    for at, (one, other) in enumerate(tags):
        lines.append(f"w{at}\t{one}\t{other}")
        if at % 20 == 19:
            lines.append("")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "round.conll")
        path.write_text("\n".join(lines) + "\n")
        return read_ratings(path, rules=Rules(requires=(), units=UnitSettings("spans")))


def boxes() -> Ratings:
    """An image with 1,500 boxes of each of three raters."""
    place = RANDOM.uniform(0, 2000, (1500, 2))
    marked = []
    for rater in RATERS:
        moved = np.maximum(place + RANDOM.normal(0, 2, place.shape), 0)
        drawn = [Box(float(x), float(y), 40.0, 40.0, "cat") for x, y in moved]
        marked.append(Marked("i", rater, tuple(drawn), (2100, 2100)))
        marked.append(Marked("j", rater, (Box(1, 1, 9, 9, "cat"),), (2100, 2100)))
    return units_of(marked, UnitSettings("boxes")).ratings


def polygons() -> Ratings:
    """Two polygons of 2,000 corners."""
    turn = np.linspace(0, 2 * np.pi, 2000, endpoint=False)
    marked = []
    for shift, rater in enumerate(("ana", "ben")):
        reach = 400 + 20 * np.sin(40 * turn) + RANDOM.uniform(0, 3, 2000)
        at = np.column_stack([np.cos(turn), np.sin(turn)])
        corners = 500 + reach[:, None] * at + [3 * shift, 0]
        shape = Polygon(tuple((x, y) for x, y in corners.tolist()), "cat")
        marked.append(Marked("i", rater, (shape,), (1000, 1000)))
        square = Polygon(((1, 1), (9, 1), (9, 9), (1, 9)), "cat")
        marked.append(Marked("j", rater, (square,), (1000, 1000)))
    return units_of(marked, UnitSettings("polygons")).ratings


def sets() -> Ratings:
    """Sets of up to 2,000 labels, 20 items, three raters."""
    names = np.array([f"l{at:04}" for at in range(2000)])
    marked = []
    for at in range(20):
        right = RANDOM.random(2000) < 0.1
        for rater in RATERS:
            ticked = frozenset(names[right ^ (RANDOM.random(2000) < 0.01)].tolist())
            marked.append(Marked(f"e{at:02}", rater, (ChosenSet(ticked),)))
    return units_of(marked, UnitSettings("sets")).ratings


CASES: dict[str, Callable[[], Ratings]] = {
    each.__name__: each for each in (rankings, fewer_rankings, conll, boxes, polygons, sets)
}


def main() -> None:
    name = asked(__doc__, case=("",)).case
    if not name:
        head("objects", "CPU s", "peak MB", "ratings", "alpha")
        for each, made in CASES.items():
            found = unlimited((sys.executable, "-m", "benchmarks.large_units", each))
            spent, ratings, value = found.note.split()
            line(made.__doc__, spent, f"{found.peak:.0f}", ratings, value)
        return
    spent, _, (ratings, value) = seconds(lambda: of_units(CASES[name]()))
    print(f"{spent:.1f} {len(ratings):,} {value:.3f}")


def of_units(ratings: Ratings) -> tuple[Ratings, float]:
    return ratings, measure(ratings).value or 0


if __name__ == "__main__":
    main()
