"""Krippendorff's alpha for sets of labels: a rater may give an item several labels, or none of them.

A set is one label on a scale whose distances know how sets overlap. Counting two sets as different because one holds a label more would
throw away most of the agreement. Jaccard's distance is the share of labels not in common; MASI also looks at whether one set holds the other.
"""

from collections.abc import Callable
from functools import partial

import numpy as np

from agreement_pipeline.measures.conditions import NO_PAIRABLE_ITEM
from agreement_pipeline.measures.krippendorff import alpha_by_distance
from agreement_pipeline.measures.registry import Coefficient, Condition, measure
from agreement_pipeline.ratings import Array
from agreement_pipeline.statistics import CategoryCounts, farthest

LEFT_OUT = "items with one rating are left out; every other item counts with its number of ratings; the empty set is a rating"
Labels = frozenset[str]


def _sets(counts: CategoryCounts) -> list[Labels]:
    return [frozenset(label for label in name.split("|") if label) for name in counts.scale.names]


def _one_set(counts: CategoryCounts) -> bool:
    used = counts.counts[counts.pairable & (counts.weights > 0)].sum(0) > 0
    return len({labels for labels, here in zip(_sets(counts), used, strict=True) if here}) < 2


ONE_SET = Condition(
    "every rating that meets another is the same set of labels, so chance alone would agree always",
    _one_set,
)


def _jaccard(one: Labels, other: Labels) -> float:
    return 1 - len(one & other) / len(one | other) if one | other else 0.0


def _masi(one: Labels, other: Labels) -> float:
    if one == other:
        return 0.0
    monotonicity = 2 / 3 if one <= other or other <= one else 1 / 3
    return 1 - (1 - _jaccard(one, other)) * monotonicity


def _distances(counts: CategoryCounts, distance: Callable[[Labels, Labels], float]) -> Array:
    """The distance between every two categories, shape (K, K)."""
    sets = _sets(counts)
    return np.array([[distance(one, other) for other in sets] for one in sets])


def _split(counts: CategoryCounts, distance: Callable[[Labels, Labels], float]) -> tuple[int, int]:
    """The most used set and the one in use that is farthest from it: two sets that are nearly one would not show how far raters may differ."""
    first = int(counts.meeting.argmax())
    return first, farthest(counts.meeting, _distances(counts, distance)[first], first)


@measure(
    "Krippendorff's α with Jaccard's distance",
    question="inter-rater",
    needs="counts",
    bounds=(-1.0, 1.0),
    undefined=(NO_PAIRABLE_ITEM, ONE_SET),
    levels={"nominal"},
    exchangeable=True,
    split=partial(_split, distance=_jaccard),
    convention=LEFT_OUT,
    source="Krippendorff, K. (2018). Content Analysis (4th ed.), ch. 12; Jaccard, P. (1912), doi:10.1111/j.1469-8137.1912.tb05611.x",
)
def alpha_jaccard(counts: CategoryCounts) -> Coefficient:
    r"""Agreement beyond chance on sets of labels, where two sets differ by the share of their labels that they do not have in common.

    .. math:: \alpha = 1 - \frac{D_o}{D_e}, \qquad \delta_{AB} = 1 - \frac{|A \cap B|}{|A \cup B|}

    with :math:`D_o` and :math:`D_e` as in `krippendorff_alpha`. A category is a set: its labels in order with `|` between them, the empty
    text for the empty set. On labels without `|` it is the nominal alpha.

    Parameters
    ----------
    counts
        counts of shape (P, K), weights of shape (..., P).

    Returns
    -------
    Coefficient
        value of shape (...), at most 1, 0 for chance; observed and expected are mean distances, from 0 to 1. Undefined when no item has
        two ratings, or when those that have are all of one set.

    References
    ----------
    Krippendorff, K. (2018). Content Analysis: An Introduction to Its Methodology (4th ed.), chapter 12. Sage.
    Jaccard, P. (1912). The distribution of the flora in the alpine zone. New Phytologist 11(2), 37-50.
    https://doi.org/10.1111/j.1469-8137.1912.tb05611.x

    Examples
    --------
    >>> from agreement_pipeline import Scale
    >>> counts = CategoryCounts([[2, 0, 0], [0, 2, 0], [0, 1, 1]], scale=Scale(("joy", "sadness", "anger|sadness")))
    >>> round(float(alpha_jaccard(counts).value), 4)
    0.7368
    """
    return alpha_by_distance(counts, _distances(counts, _jaccard))


@measure(
    "Krippendorff's α with the MASI distance",
    question="inter-rater",
    needs="counts",
    bounds=(-1.0, 1.0),
    undefined=(NO_PAIRABLE_ITEM, ONE_SET),
    levels={"nominal"},
    exchangeable=True,
    split=partial(_split, distance=_masi),
    convention=LEFT_OUT,
    source="Passonneau, R. (2006). Measuring agreement on set-valued items (MASI). LREC 2006, 831-836",
)
def alpha_masi(counts: CategoryCounts) -> Coefficient:
    r"""Agreement beyond chance on sets of labels, where two sets also differ by how they lie to each other.

    .. math:: \alpha = 1 - \frac{D_o}{D_e}, \qquad \delta_{AB} = 1 - \frac{|A \cap B|}{|A \cup B|} \, M_{AB}

    with :math:`D_o` and :math:`D_e` as in `krippendorff_alpha`, and the monotonicity M 1 for equal sets, 2/3 where one holds the other, 1/3
    where both have labels of their own beside common ones, and 0 without a common one. A category is a set: its labels in order with `|`
    between them, the empty text for the empty set. On labels without `|` it is the nominal alpha.

    Parameters
    ----------
    counts
        counts of shape (P, K), weights of shape (..., P).

    Returns
    -------
    Coefficient
        value of shape (...), at most 1, 0 for chance; observed and expected are mean distances, from 0 to 1. Undefined when no item has
        two ratings, or when those that have are all of one set.

    References
    ----------
    Passonneau, R. (2006). Measuring agreement on set-valued items (MASI) for semantic and pragmatic annotation. LREC 2006, 831-836.

    Examples
    --------
    >>> from agreement_pipeline import Scale
    >>> counts = CategoryCounts([[2, 0, 0], [0, 2, 0], [0, 1, 1]], scale=Scale(("joy", "sadness", "anger|sadness")))
    >>> round(float(alpha_masi(counts).value), 4)
    0.6667
    """
    return alpha_by_distance(counts, _distances(counts, _masi))
