"""Krippendorff's alpha for sets of labels: a rater may give an item several labels, or none.

A set is one label on a scale, and its distances measure how sets overlap. Jaccard's distance is the
share of labels not in common. MASI also uses whether one set contains the other.
"""

from collections.abc import Callable
from functools import partial

import numpy as np

from agreement_pipeline.measures.coefficient import Coefficient
from agreement_pipeline.measures.conditions import NO_PAIRABLE_ITEM
from agreement_pipeline.measures.krippendorff import alpha_by_distance
from agreement_pipeline.measures.registry import UndefinedCondition, register
from agreement_pipeline.ratings import Array
from agreement_pipeline.statistics import CategoryCounts, farthest_category

SETS_CONVENTION = (
    "items with one rating are left out; all other items count with their number of ratings; the "
    "empty set is a rating"
)
Labels = frozenset[str]


def _label_sets(counts: CategoryCounts) -> list[Labels]:
    return [frozenset(label for label in name.split("|") if label) for name in counts.scale.names]


def _has_one_set(counts: CategoryCounts) -> bool:
    used = counts.counts[counts.pairable & (counts.weights > 0)].sum(0) > 0
    return (
        len({labels for labels, is_used in zip(_label_sets(counts), used, strict=True) if is_used})
        < 2
    )


ONE_SET = UndefinedCondition(
    "every rating that can be compared with another is the same set of labels, so chance alone "
    "would give full agreement",
    _has_one_set,
)


def _jaccard_distance(labels: Labels, other_labels: Labels) -> float:
    return (
        1 - len(labels & other_labels) / len(labels | other_labels)
        if labels | other_labels
        else 0.0
    )


def _masi_distance(labels: Labels, other_labels: Labels) -> float:
    if labels == other_labels:
        return 0.0
    monotonicity = 2 / 3 if labels <= other_labels or other_labels <= labels else 1 / 3
    return 1 - (1 - _jaccard_distance(labels, other_labels)) * monotonicity


def _set_distances(counts: CategoryCounts, distance: Callable[[Labels, Labels], float]) -> Array:
    sets = _label_sets(counts)
    return np.array([[distance(labels, other_labels) for other_labels in sets] for labels in sets])


def _most_used_and_farthest_sets(
    counts: CategoryCounts, distance: Callable[[Labels, Labels], float]
) -> tuple[int, int]:
    """The most used set, and the set that is farthest from it.

    Two nearly equal sets would not show how far raters may differ.
    """
    most_used, declared = int(counts.n_pairable_by_category.argmax()), counts.scale.declared
    return most_used, farthest_category(
        counts.n_pairable_by_category,
        _set_distances(counts, distance)[most_used],
        most_used,
        declared,
    )


_of_sets = partial(
    register,
    question="inter-rater",
    needs="counts",
    withstands_chosen=True,
    bounds=(-1.0, 1.0),
    undefined=(NO_PAIRABLE_ITEM, ONE_SET),
    levels={"nominal"},
    exchangeable=True,
    convention=SETS_CONVENTION,
    example="""
>>> scale = Scale(("joy", "sadness", "anger|sadness"))
>>> counts = CategoryCounts([[2, 0, 0], [0, 2, 0], [0, 1, 1]], scale=scale)""",
)


@_of_sets(
    "Krippendorff's α with Jaccard's distance",
    split=partial(_most_used_and_farthest_sets, distance=_jaccard_distance),
    source=(
        "Krippendorff, K. (2018). Content Analysis (4th ed.), ch. 12; Jaccard, P. (1912), "
        "doi:10.1111/j.1469-8137.1912.tb05611.x"
    ),
)
def alpha_jaccard(counts: CategoryCounts) -> Coefficient:
    r"""Agreement beyond chance on sets of labels, by the share of labels not in common.

    .. math:: \alpha = 1 - \frac{D_o}{D_e}, \qquad \delta_{AB} = 1 - \frac{|A \cap B|}{|A \cup B|}

    :math:`D_o` and :math:`D_e` are as in `krippendorff_alpha`. A category is a set, written as its
    labels with `|` between them. The empty text and `|` are the empty set.

    Examples
    --------
    >>> round(float(alpha_jaccard(counts).value), 4)
    0.7368
    """
    return alpha_by_distance(counts, _set_distances(counts, _jaccard_distance))


@_of_sets(
    "Krippendorff's α with the MASI distance",
    split=partial(_most_used_and_farthest_sets, distance=_masi_distance),
    source=(
        "Passonneau, R. (2006). Measuring agreement on set-valued items (MASI). LREC 2006, 831-836"
    ),
)
def alpha_masi(counts: CategoryCounts) -> Coefficient:
    r"""Agreement beyond chance on sets of labels, by their overlap and by which contains the other.

    .. math:: \alpha = 1 - \frac{D_o}{D_e}, \qquad
       \delta_{AB} = 1 - \frac{|A \cap B|}{|A \cup B|} \, M_{AB}

    Sets are written as for `alpha_jaccard`. The monotonicity M is 1 for equal sets, 2/3 where one
    contains the other, 1/3 where each has labels of its own beside common ones, and 0 without a
    common label.

    Examples
    --------
    >>> round(float(alpha_masi(counts).value), 4)
    0.6667
    """
    return alpha_by_distance(counts, _set_distances(counts, _masi_distance))
