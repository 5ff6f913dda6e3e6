"""What does not count in agreement, and why."""

import numpy as np

from agreement_pipeline.estimates import Estimate
from agreement_pipeline.report.answer import Answer, Cell, Row, grid
from agreement_pipeline.report.judged import JudgedRound
from agreement_pipeline.report.sections.record import section
from agreement_pipeline.report.sections.replicates import repeats
from agreement_pipeline.text import listed


@section("What was excluded", "Which ratings do not count in agreement, and why?", place=92)
def excluded(judged: JudgedRound) -> Answer:
    """Counts of gold items, single ratings, replicates, earlier ratings and classifiers."""
    found = [(what, n, why) for what, n, why in _counts(judged) if n]
    rows: list[Row] = [[what, Cell(f"{n:,}", n), why] for what, n, why in found]
    n = len(judged.ratings)
    said = f"The round has {n:,} ratings of {judged.n_items:,} items."
    if not rows:
        return Answer((f"{said} All of them count.",))
    return Answer(
        (f"{said} Some do not count in agreement between raters.",),
        tables=(grid("What does not count", ("what", "how many", "why"), rows, "reasons"),),
    )


def _counts(judged: JudgedRound) -> list[tuple[str, int, str]]:
    ratings, own = judged.ratings, judged.ratings.without_earlier
    again, earlier = len(repeats(own.again(["at", "place"], gold=True))), len(ratings) - len(own)
    return [
        ("gold items", len(ratings.gold), "their label was known before"),
        ("ratings again", again, "they tell agreement of raters with themselves"),
        ("ratings of earlier rounds", earlier, "they tell agreement of raters with themselves"),
        (
            "classifiers",
            len(ratings.classifiers),
            f"{listed(ratings.classifiers)}: compared with the panel, and never part of it",
        ),
        *_dropped(judged.assessment.estimates),
        *_left_out(judged.assessment.estimates),
    ]


def _dropped(estimates: tuple[Estimate, ...]) -> list[tuple[str, int, str]]:
    """The items on which the measures of the whole round cannot be read."""
    found = {
        (reason, n): found.measure
        for found in estimates
        if found.scope.kind == "round"
        for reason, n in found.dropped.items()
    }
    return [(f"items: {reason}", n, f"not read by {name}") for (reason, n), name in found.items()]


def _left_out(estimates: tuple[Estimate, ...]) -> list[tuple[str, int, str]]:
    return [
        (
            f"raters in {found.measure}",
            len(np.unique(found.raters_left_out)),
            "nothing that it needs is known of them",
        )
        for found in estimates
        if found.scope.kind == "round" and found.raters_left_out
    ]
