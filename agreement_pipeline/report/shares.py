"""How often each category was given."""

from collections.abc import Mapping

import numpy as np

from agreement_pipeline.counting import counting_of
from agreement_pipeline.ratings import Array, Ratings
from agreement_pipeline.report.judged import JudgedRound
from agreement_pipeline.statistics import CategoryCounts


def shares_of(ratings: Ratings) -> Mapping[str, float]:
    """The share of each category among the panel's labels. Gold items are left out."""
    counts = counting_of(ratings).counts(ratings).with_scale(ratings.scale)
    return _shares(counts.scale.names, counts.weights @ counts.counts)


def shares_of_rater(judged: JudgedRound, name: str) -> Mapping[str, tuple[float, float]]:
    """The share of each category among a rater's labels, and among the others' on these items.

    Empty if the scale has no categories, or if nobody else rated the items.
    """
    _, said = judged.by_item
    if not isinstance(said, CategoryCounts):
        return {}
    codes = judged.labels.codes[:, judged.raters.index(name)]
    mine = codes >= 0
    own = np.bincount(codes[mine], minlength=said.counts.shape[1]).astype(float)
    others = said.counts[mine].sum(0) - own
    if not others.sum():
        return {}
    names = said.scale.names
    both = _shares(names, own), _shares(names, others)
    return {each: (both[0][each], both[1][each]) for each in names}


def _shares(names: tuple[str, ...], used: Array) -> Mapping[str, float]:
    return dict(zip(names, (used / used.sum()).tolist(), strict=True))
