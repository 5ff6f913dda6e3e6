"""What became of agreement, raters, models and categories since the round before."""

from collections.abc import Iterable
from typing import NamedTuple

import pandas as pd

from agreement_pipeline.errors import AgreementError
from agreement_pipeline.estimates import Difference, Drift, compare, drift
from agreement_pipeline.intervals import Inference
from agreement_pipeline.policy import Policy
from agreement_pipeline.ratings import Ratings
from agreement_pipeline.report.control import headline
from agreement_pipeline.report.section import Section
from agreement_pipeline.report.tables import difference_rows
from agreement_pipeline.text import TABLE, interval, number

USUAL = "krippendorff_alpha"
COLUMNS = ("of", "what", "value", "interval", "items", "note")


class Before(NamedTuple):
    """The round before, by name."""

    name: str
    ratings: Ratings


def since(ratings: Ratings, name: str, before: Before | None, policy: Policy) -> Section:
    """The difference from the round before, and the drift on the items that both share.

    Where the rounds cannot be compared, a text says why. Empty if there is no round before.
    """
    if before is None:
        return {}
    changed, drifted = difference_since(ratings, name, before, policy), drift_since(ratings, before)
    return {
        "since_last_round": changed
        if isinstance(changed, str)
        else pd.DataFrame(difference_rows([changed])),
        "drift": drifted if isinstance(drifted, str) else drift_rows(drifted),
    }


def difference_since(
    ratings: Ratings, name: str, before: Before, policy: Policy
) -> Difference | str:
    """How much the headline measure changed, or why nobody knows."""
    inference = Inference(policy.confidence_level, policy.n_resamples)
    measure, names = headline(policy) or USUAL, (name, before.name)
    try:
        return compare(ratings, before.ratings, measure=measure, names=names, inference=inference)
    except AgreementError as error:
        return str(error)


def drift_since(ratings: Ratings, before: Before) -> tuple[Drift, ...] | str:
    """The drift on the items that both rounds share, or why nobody knows."""
    try:
        return tuple(drift(ratings, before.ratings))
    except AgreementError as error:
        return str(error)


def drift_rows(found: Iterable[Drift]) -> pd.DataFrame:
    """Drift as a table of text. What moved comes first."""
    ordered = sorted(found, key=lambda each: not each.moved)
    return pd.DataFrame([_row(each) for each in ordered], columns=list(COLUMNS))


def _row(each: Drift) -> tuple[str, ...]:
    return (
        str(each.scope),
        each.what,
        number(each.value),
        "" if each.interval is None else interval(*each.interval, TABLE, " … "),
        str(each.n_items),
        each.undefined or ("moved" if each.moved else ""),
    )
