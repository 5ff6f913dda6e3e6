"""Measure the CPU time of units: 10,000 documents of spans, and images of many boxes.

python benchmarks/units_speed.py [documents]
"""

import resource
import sys
import time

import numpy as np

from agreement_pipeline.estimates import measure
from agreement_pipeline.units import Box, Marked, Span, UnitSettings, units_of

RATERS, LENGTH, SPANS = "abc", 2_000, 10
BOXES = (100, 200, 400, 800)


def documents(rng, n):
    """What three raters marked in documents of 2,000 characters: ten spans in each."""
    for number in range(n):
        places = np.sort(rng.choice(LENGTH // 10, SPANS, replace=False)) * 10
        for rater in RATERS:
            first, last = rng.integers(0, 3, SPANS), rng.integers(4, 9, SPANS)
            names = rng.integers(0, 2, SPANS)
            spans = tuple(
                Span(int(at + a), int(at + b), ("PER", "ORG")[name])
                for at, a, b, name in zip(places, first, last, names, strict=True)
            )
            yield Marked(f"d{number:05d}", rater, spans, (LENGTH,))


def image(rng, n):
    """What three raters drew in an image of `n` objects."""
    side = 30 * int(np.ceil(np.sqrt(n)))
    places = [(30 * (k % (side // 30)), 30 * (k // (side // 30))) for k in range(n)]
    for rater in RATERS:
        moved = rng.integers(0, 4, size=(n, 2)).tolist()
        boxes = tuple(
            Box(x + dx, y + dy, 20, 20, "cell")
            for (x, y), (dx, dy) in zip(places, moved, strict=True)
        )
        yield Marked("image", rater, boxes, (side + 10, side + 10))


def timed(what, function):
    """The result of a function, whose CPU time is printed."""
    start = time.process_time()
    found = function()
    print(f"{what}: {time.process_time() - start:.2f} s of CPU")
    return found


def main(n=10_000):
    """Print the times."""
    marked = list(documents(np.random.default_rng(1), n))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    units = timed(
        f"{n} documents, runs of positions", lambda: units_of(marked, UnitSettings("spans"))
    )
    ratings = timed("checked ratings of them", lambda: units.ratings)
    timed("alpha with its interval", lambda: measure(ratings, "krippendorff_alpha"))
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(f"{len(units.rows)} rows; {(after - before) // 1024} MB more than the spans themselves")
    for boxes in BOXES:
        drawn = list(image(np.random.default_rng(2), boxes))
        settings = UnitSettings("boxes")
        timed(f"matching {boxes} boxes of each rater", lambda: units_of(drawn, settings))  # noqa: B023


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
