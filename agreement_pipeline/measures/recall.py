"""Recall and precision of a classifier by category, against raters who differ among themselves.

A majority would hide how much people differ. So each human is taken as the truth in turn, and the
mean over humans is reported. A human does not reach 1 against the other humans. That is the
yardstick: the classifier's value minus theirs is about 0 if it errs as they do.
"""

from collections.abc import Callable
from functools import cache, partial

import numpy as np

from agreement_pipeline.measures.coefficient import Coefficient, ratio
from agreement_pipeline.measures.conditions import (
    CLASSIFIER_NEVER_MET,
    CLASSIFIER_NEVER_MET_A_PAIR,
    TWO_OF_THE_PANEL,
)
from agreement_pipeline.measures.registry import Condition, always, register
from agreement_pipeline.ratings import MISSING, Array, Codes, Flags
from agreement_pipeline.statistics import LabelsByRater, SomeRows

SOURCE = (
    "Recall and precision are those of Kent, A. et al. (1955), doi:10.1002/asi.5090060209, "
    "against each rater in turn"
)
EACH_RATER = (
    "rater by rater, over the items that the rater and the classifier labelled; raters who never "
    "gave the category there are left out"
)
EACH_LABEL = (
    "rater by rater, over the items that the rater and the classifier labelled; raters who met no "
    "item to which the classifier gave the category are left out"
)
EACH_PAIR = "as the classifier's, over the items that the classifier and both raters labelled"

MOST_SUMS_OF_PAIRS, MOST_CELLS = 150, 40_000_000

Missed = Callable[[Codes, Codes, int], SomeRows]
"""It leads from raters' codes (P, R), another's (P,) and a category to the cases that are
no hits.
"""


def _hits(raters: Codes, other: Codes, category: int) -> SomeRows:
    return _some(other == category, raters == category)


def _of_recall(raters: Codes, other: Codes, category: int) -> SomeRows:
    return _some((other >= 0) & (other != category), raters == category)


def _of_precision(raters: Codes, other: Codes, category: int) -> SomeRows:
    return _some(other == category, (raters >= 0) & (raters != category))


def _some(rows: Flags, gave: Flags) -> SomeRows:
    return SomeRows(np.flatnonzero(rows), gave[rows].astype(float))


def _few(panel: LabelsByRater) -> bool:
    sums = len(panel.scale.names) * panel.n_raters * (panel.n_raters - 1)
    small = panel.together is not None or sums * len(panel.codes) <= MOST_CELLS
    return sums <= MOST_SUMS_OF_PAIRS and small


@cache
def _read(
    rows: Missed, category: int, rater: int | None = None
) -> Callable[[LabelsByRater], SomeRows]:
    """The classifier against the raters, or one rater against the others where it labelled."""

    def read(panel: LabelsByRater) -> SomeRows:
        if rater is None:
            return rows(panel.codes, panel.labels, category)
        codes = np.where(panel.labelled[:, None], panel.codes, MISSING)
        return rows(np.delete(codes, rater, axis=1), codes[:, rater], category)

    return read


def _of_classifier(panel: LabelsByRater, missed: Missed) -> Array:
    values = np.full((*panel.weights.shape[:-1], len(panel.scale.names)), np.nan)
    for category in panel.asked:
        hits, others = (panel.sums(_read(rows, category)) for rows in (_hits, missed))
        values[..., category] = _mean_share(hits, others)
    return values


def _of_raters(panel: LabelsByRater, missed: Missed) -> Array:
    few = _few(panel)
    values = np.full((*panel.weights.shape[:-1], len(panel.scale.names)), np.nan)
    each = np.empty((panel.n_raters, *panel.weights.shape[:-1]))
    for category in panel.asked:
        for rater in range(panel.n_raters):
            reads = (_read(rows, category, rater) for rows in (_hits, missed))
            hits, others = (
                panel.sums(read) if few else panel.sums_of(read(panel)) for read in reads
            )
            each[rater] = _mean_share(hits, others)
        values[..., category] = _mean(each)
    return values


def _mean_share(hits: Array, missed: Array) -> Array:
    return _mean(np.moveaxis(ratio(hits, hits + missed), -1, 0))


def _mean(values: Array) -> Array:
    known = ~np.isnan(values)
    return ratio(np.where(known, values, 0.0).sum(0), known.sum(0))


def _beside(panel: LabelsByRater, missed: Missed) -> Coefficient:
    classifier, raters = _of_classifier(panel, missed), _of_raters(panel, missed)
    return Coefficient(classifier - raters, observed=classifier, expected=raters)


def _nothing_in_common(panel: LabelsByRater) -> bool:
    weights = np.where(panel.labelled & (panel.weights > 0), 1.0, 0.0)
    met = np.where(panel.given.sum(1) >= 2, weights, 0.0)
    by_raters = met @ panel.indicators.sum(1) > 0
    by_classifier = np.where(panel.given.any(1), weights, 0.0) @ panel.label_indicators > 0
    return not (by_raters & by_classifier).any()


NOTHING_IN_COMMON = Condition(
    "the classifier gave no category that a rater gave where two of the panel rated",
    _nothing_in_common,
)


_of_each_category = partial(
    register,
    question="classifier",
    needs="panel",
    levels={"nominal", "ordinal"},
    per_category=True,
    chance_corrected=False,
    source=SOURCE,
    example="""
>>> codes, scale = [[0, 0], [0, 1], [1, 1], [1, 1]], Scale(("no", "yes"))
>>> labels = LabelsByRater(codes, scale=scale, raters=("a", "b"))
>>> panel = labels.with_classifier([0, 1, 1, 1], "model")""",
)


@_of_each_category(
    "Recall by category",
    bounds=(0.0, 1.0),
    undefined=(CLASSIFIER_NEVER_MET,),
    sums_of_raters=always,
    convention=EACH_RATER,
)
def recall_by_category(panel: LabelsByRater) -> Coefficient:
    r"""If a rater gives a category, how often the classifier gives it: the mean over raters.

    .. math:: \mathrm{recall}_c = \frac{1}{|R_c|} \sum_{r \in R_c} P(f = c \mid r = c)

    :math:`R_c` are the raters who gave category c to an item that the classifier f labelled. Read
    it beside `precision_by_category`: a classifier that always names c has recall 1 there.

    Examples
    --------
    >>> recall_by_category(panel).value.round(4).tolist()
    [0.75, 1.0]
    """
    recall = _of_classifier(panel, _of_recall)
    return Coefficient(recall, observed=recall)


@_of_each_category(
    "Precision by category",
    bounds=(0.0, 1.0),
    undefined=(CLASSIFIER_NEVER_MET,),
    sums_of_raters=always,
    convention=EACH_LABEL,
)
def precision_by_category(panel: LabelsByRater) -> Coefficient:
    r"""If the classifier gives a category, how often a rater gives it: the mean over raters.

    .. math:: \mathrm{precision}_c = \frac{1}{|R_c|} \sum_{r \in R_c} P(r = c \mid f = c)

    :math:`R_c` are the raters who rated an item to which the classifier f gave category c.

    Examples
    --------
    >>> precision_by_category(panel).value.round(4).tolist()
    [1.0, 0.8333]
    """
    precision = _of_classifier(panel, _of_precision)
    return Coefficient(precision, observed=precision)


@_of_each_category(
    "Recall of the classifier minus that of the raters",
    bounds=(-1.0, 1.0),
    undefined=(CLASSIFIER_NEVER_MET_A_PAIR,),
    rests_on=TWO_OF_THE_PANEL,
    by_pair=True,
    sums_of_raters=_few,
    classifiers_only=True,
    convention=EACH_PAIR,
)
def recall_beside_raters(panel: LabelsByRater) -> Coefficient:
    r"""The classifier's recall by category minus the raters' mean recall against the others.

    .. math:: \mathrm{recall}_c(f) - \frac{1}{|R|} \sum_{r \in R} \mathrm{recall}_c(r)

    Each rater r is compared with the other raters as the classifier f is with all of them, on the
    items that the classifier labelled. So a hard item does not blur the difference. Observed is the
    classifier's recall, and expected is the raters'.

    Examples
    --------
    >>> recall_beside_raters(panel).value.round(4).tolist()
    [0.0, 0.1667]
    """
    return _beside(panel, _of_recall)


@_of_each_category(
    "Precision of the classifier minus that of the raters",
    bounds=(-1.0, 1.0),
    undefined=(CLASSIFIER_NEVER_MET_A_PAIR, NOTHING_IN_COMMON),
    rests_on=TWO_OF_THE_PANEL,
    by_pair=True,
    sums_of_raters=_few,
    classifiers_only=True,
    convention=EACH_PAIR,
)
def precision_beside_raters(panel: LabelsByRater) -> Coefficient:
    r"""The classifier's precision by category minus the raters' mean precision against the others.

    .. math:: \mathrm{precision}_c(f) - \frac{1}{|R|} \sum_{r \in R} \mathrm{precision}_c(r)

    It is as `recall_beside_raters`, with precision in place of recall.

    Examples
    --------
    >>> precision_beside_raters(panel).value.round(4).tolist()
    [0.25, 0.0]
    """
    return _beside(panel, _of_precision)
