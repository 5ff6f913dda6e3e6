"""Which rater differs most from the others, and over which labels."""

from collections.abc import Callable, Iterator, Sequence

import numpy as np
import pandas as pd

from agreement_pipeline.counting import counting_of
from agreement_pipeline.errors import AgreementError
from agreement_pipeline.ratings import MISSING, Array, Codes, Ratings
from agreement_pipeline.statistics import LabelsByRater
from agreement_pipeline.text import PERCENT, number

MOST_RATERS = 40


def most_differing(rounds: Sequence[str], ratings_of: Callable[[str], Ratings]) -> pd.DataFrame:
    """Of each round the rater who differs most, and over which labels.

    A round without categories, or one whose stored bytes cannot be read, has no row.
    """
    found = [row for name in rounds for row in _first(name, ratings_of)]
    return pd.concat(found, ignore_index=True) if found else pd.DataFrame()


def _first(name: str, ratings_of: Callable[[str], Ratings]) -> Iterator[pd.DataFrame]:
    try:
        found = differing_raters(ratings_of(name))
    except AgreementError:  # its own run says why; the other rounds are still shown
        return
    if found is not None:
        first = found[["rater", "differs in", "most often"]].head(1)
        first.insert(0, "round", name)
        yield first


def differing_raters(ratings: Ratings) -> pd.DataFrame | None:
    """A row for each rater of the panel, and who differs most comes first.

    A rater is compared with every other rater on every item that both rated. No correction for
    chance is made: the row says where to look, and no rule reads it. None if the scale has no
    categories.
    """
    if ratings.scale.continuous:
        return None
    panel = counting_of(ratings).labels(ratings.without_gold).with_scale(ratings.scale)
    counts = _counts(panel)
    compared = [_compared(panel, counts, rater) for rater in range(panel.n_raters)]
    pairs, differing = np.array(compared).reshape(-1, 2).T
    share = differing / np.where(pairs > 0, pairs, np.nan)
    order = np.argsort(np.nan_to_num(-share, nan=np.inf), kind="stable")[:MOST_RATERS]
    return pd.DataFrame(
        {
            "rater": [panel.raters[rater] for rater in order],
            "differs in": [
                "" if np.isnan(share[rater]) else number(float(share[rater]), PERCENT)
                for rater in order
            ],
            "of comparisons": [f"{pairs[rater]:g}" for rater in order],
            "most often": [_most_often(panel, counts, rater) for rater in order],
        }
    )


def _counts(panel: LabelsByRater) -> Array:
    """How many raters gave each label in each row. Shape (P, K)."""
    categories = np.arange(len(panel.scale.names))
    return np.stack([(panel.codes == each).sum(1) for each in categories], axis=1)


def _rated(panel: LabelsByRater, rater: int) -> tuple[Codes, Codes]:
    """The rows that a rater rated, and the labels given there."""
    labels = panel.codes[:, rater]
    rows = np.flatnonzero(labels != MISSING)
    return rows, labels[rows]


def _compared(panel: LabelsByRater, counts: Array, rater: int) -> tuple[float, float]:
    """How often a rater is compared with another one, and how often they differ."""
    rows, labels = _rated(panel, rater)
    items, raters = panel.weights[rows], counts[rows].sum(1)
    same = counts[rows, labels] - 1
    return float(items @ (raters - 1)), float(items @ (raters - 1 - same))


def _most_often(panel: LabelsByRater, counts: Array, rater: int) -> str:
    """The label of the rater and the other label that stand against each other most often."""
    rows, labels = _rated(panel, rater)
    against = np.zeros((len(panel.scale.names),) * 2)
    np.add.at(against, labels, panel.weights[rows][:, None] * counts[rows])
    np.fill_diagonal(against, 0)
    if not against.any():
        return ""
    own, other = np.unravel_index(against.argmax(), against.shape)
    names = panel.scale.names
    return (
        f"says {names[own]} where others say {names[other]} "
        f"({against[own, other]:g} of {against.sum():g})"
    )
