"""What became of agreement, raters, models and categories since the round before."""

from collections.abc import Sequence

import pandas as pd

from agreement_pipeline.errors import AgreementError
from agreement_pipeline.estimates import Difference, Drift, compare, drift
from agreement_pipeline.intervals import Inference
from agreement_pipeline.policy import Policy
from agreement_pipeline.ratings import Ratings
from agreement_pipeline.report.judged import Before, JudgedRound, headline
from agreement_pipeline.report.section import Answer, Grid, Row, Section, grid, section
from agreement_pipeline.report.tables import difference_rows
from agreement_pipeline.text import SENTENCE, TABLE, interval, number

USUAL = "krippendorff_alpha"
SAME_ITEMS = (
    "Drift is read on items that both rounds share. The items are the same, so what differs is how "
    "they were judged."
)


def since(ratings: Ratings, name: str, before: Before | None, policy: Policy) -> Section:
    """The difference from the round before, and the drift on the items that both share.

    Where the rounds cannot be compared, a text says why. Empty if there is no round before.
    """
    if before is None:
        return {}
    changed, drifted = _difference(ratings, name, before, policy), _drift(ratings, before)
    rows = changed if isinstance(changed, str) else pd.DataFrame(difference_rows([changed]))
    return {"since_last_round": rows, "drift": drifted}


def _difference(ratings: Ratings, name: str, before: Before, policy: Policy) -> Difference | str:
    """How much the headline measure changed, or why nobody knows."""
    inference = Inference(policy.confidence_level, policy.n_resamples)
    measure, names = headline(policy) or USUAL, (name, before.name)
    try:
        return compare(ratings, before.ratings, measure=measure, names=names, inference=inference)
    except AgreementError as error:
        return str(error)


def _drift(ratings: Ratings, before: Before) -> Grid | str:
    """The drift on the items that both rounds share, or why nobody knows. What moved is first."""
    try:
        found: Sequence[Drift] = drift(ratings, before.ratings)
    except AgreementError as error:
        return str(error)
    rows: list[Row] = [
        [
            str(each.scope),
            each.what,
            number(each.value),
            "" if each.interval is None else interval(*each.interval, TABLE, " … "),
            str(each.n_items),
            each.undefined or ("moved" if each.moved else ""),
        ]
        for each in sorted(found, key=lambda each: not each.moved)
    ]
    columns = ("of", "what", "value", "interval", "items", "note")
    return grid("Drift on the shared items", columns, rows)


@section("Since the round before", "Is this round worse than the last, and who changed?", place=20)
def since_the_round_before(judged: JudgedRound) -> Answer | None:
    """The difference from the round before, and the drift. None if there is no round before."""
    if judged.before is None:
        return None
    changed = _difference(judged.ratings, judged.name, judged.before, judged.policy)
    said = changed if isinstance(changed, str) else _said(changed, judged.before.name)
    drifted = _drift(judged.ratings, judged.before)
    if isinstance(drifted, str):
        return Answer((said, drifted))
    return Answer((said, SAME_ITEMS), tables=(drifted,))


def _said(found: Difference, before: str) -> str:
    """Whether the round is worse, in a sentence with its interval."""
    if found.value is None or found.interval is None:
        return f"Nobody knows whether agreement differs from {before}: {found.undefined}."
    low, high = found.interval
    reads = "is lower" if high < 0 else "is higher" if low > 0 else "may be the same"
    change = f"{number(found.value, SENTENCE)} ({interval(found.low, found.high)})"
    shared = "" if found.n_shared is None else f" They share {found.n_shared} items."
    prevalence = f" But {found.note}." if found.note else ""
    return f"Agreement {reads}: it changed by {change} since {before}.{shared}{prevalence}"
