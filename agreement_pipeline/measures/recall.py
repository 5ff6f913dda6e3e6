"""Recall and precision of a classifier by category, against raters who differ among themselves.

A majority would hide how much people differ. So each human is taken as the truth in turn, and the
mean over humans is reported. A human does not reach 1 against the other humans. That is the
yardstick: the classifier's value minus theirs is about 0 if it errs as they do.
"""

import math
from collections.abc import Callable
from functools import cache, partial

import numpy as np

from agreement_pipeline.measures.coefficient import Coefficient, across, ratio
from agreement_pipeline.measures.conditions import (
    CLASSIFIER_NEVER_MET,
    CLASSIFIER_NEVER_MET_A_PAIR,
    TWO_OF_THE_PANEL,
)
from agreement_pipeline.measures.registry import Condition, always, register
from agreement_pipeline.ratings import Array
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

MOST_SUMS_OF_PAIRS, MOST_CELLS, MOST_REMEMBERED = 150, 40_000_000, 10_000_000


def _few(panel: LabelsByRater) -> bool:
    sums = len(panel.scale.names) * panel.n_raters * (panel.n_raters - 1)
    small = panel.together is not None or sums * len(panel.codes) <= MOST_CELLS
    return sums <= MOST_SUMS_OF_PAIRS and small


@cache
def _read(recall: bool, category: int, of: range) -> Callable[[LabelsByRater], SomeRows]:
    """Of columns beside each rater, the classifier last: both gave the category, or one did."""

    def read(panel: LabelsByRater) -> SomeRows:
        codes = np.column_stack([panel.codes, panel.labels])
        gave = codes == category
        rows = np.flatnonzero(panel.labelled & gave.any(1))
        gave, another = gave[rows], (codes[rows] >= 0) & ~gave[rows]
        own, theirs = (another, gave) if recall else (gave, another)
        raters = np.array([[j for j in range(panel.n_raters) if j != one] for one in of], int)
        both = gave[:, of, None] & gave[:, raters], own[:, of, None] & theirs[:, raters]
        values = np.stack(both, axis=2).reshape(len(rows), 2 * raters.size)
        some = values.any(1)
        return SomeRows(rows[some], values[some].astype(float))

    return read


def _of_classifier(panel: LabelsByRater, recall: bool) -> Array:
    values = np.full((*panel.weights.shape[:-1], len(panel.scale.names)), np.nan)
    alone = range(panel.n_raters, panel.n_raters + 1)
    for category in panel.asked:
        (values[..., category],) = _mean_shares(panel.sums(_read(recall, category, alone)), 1)
    return values


def _of_raters(panel: LabelsByRater, recall: bool) -> Array:
    draws, r, k = panel.weights.shape[:-1], panel.n_raters, len(panel.scale.names)
    few, values = _few(panel), np.full((*draws, k), np.nan)
    remembered = 2 * k * r * (r - 1) * math.prod(draws) <= MOST_REMEMBERED
    size = max(1, MOST_SUMS_OF_PAIRS // (2 * max(1, r)))
    each = np.empty((r, *draws))
    for category in panel.asked:
        for start in range(0, r, size):
            of = range(start, min(start + size, r))
            read = _read(recall, category, of)
            known = read if remembered else None
            sums = panel.sums(read) if few else panel.sums_of(read(panel), known)
            each[of] = _mean_shares(sums, len(of))
        values[..., category] = _mean(np.moveaxis(each, 0, -1))
    return values


def _mean_shares(sums: Array, n: int) -> Array:
    shape = *sums.shape[:-1], n, 2, sums.shape[-1] // (2 * n)
    both, alone = np.moveaxis(sums.reshape(shape), -2, 0)
    return np.moveaxis(_mean(ratio(both, both + alone)), -1, 0)


def _mean(values: Array) -> Array:
    known = ~np.isnan(values)
    return ratio(across(np.where(known, values, 0.0)), across(known.astype(float)))


def _beside(panel: LabelsByRater, recall: bool) -> Coefficient:
    classifier, raters = _of_classifier(panel, recall), _of_raters(panel, recall)
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
    recall = _of_classifier(panel, True)
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
    precision = _of_classifier(panel, False)
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
    return _beside(panel, True)


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
    return _beside(panel, False)
