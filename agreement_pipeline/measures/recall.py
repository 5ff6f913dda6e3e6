"""Recall and precision of a classifier by category, against raters who differ among themselves.

A majority would hide how much people differ. So each human is taken as the truth in turn, and the
mean over humans is reported. A human does not reach 1 against the other humans. That is the
yardstick: the classifier's value minus theirs is about 0 if it errs as they do.
"""

import math
from collections.abc import Callable
from functools import cache, partial

import numpy as np

from agreement_pipeline.measures.coefficient import Coefficient, ratio, sum_last_axis
from agreement_pipeline.measures.cohen import MAX_REMEMBERED_CELLS
from agreement_pipeline.measures.conditions import (
    CLASSIFIER_NEVER_MET,
    CLASSIFIER_NEVER_MET_A_PAIR,
    TWO_OF_THE_PANEL,
)
from agreement_pipeline.measures.registry import UndefinedCondition, always, register
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

MAX_REMEMBERED_SUMS = 150
MAX_REMEMBERED_VALUES = 10_000_000


def _can_remember_sums(panel: LabelsByRater) -> bool:
    n_sums = len(panel.scale.names) * panel.n_raters * (panel.n_raters - 1)
    is_small = panel.together is not None or n_sums * len(panel.codes) <= MAX_REMEMBERED_CELLS
    return n_sums <= MAX_REMEMBERED_SUMS and is_small


@cache
def _pair_reader(
    recall: bool, category: int, columns: range
) -> Callable[[LabelsByRater], SomeRows]:
    """Of columns beside each rater, the classifier last: both gave the category, or one did."""

    def read_rows(panel: LabelsByRater) -> SomeRows:
        codes = np.column_stack([panel.codes, panel.labels])
        gave = codes == category
        rows = np.flatnonzero(panel.labelled & gave.any(1))
        gave, gave_other = gave[rows], (codes[rows] >= 0) & ~gave[rows]
        own_flags, other_flags = (gave_other, gave) if recall else (gave, gave_other)
        raters = np.array(
            [[j for j in range(panel.n_raters) if j != column] for column in columns], int
        )
        pair_flags = (
            gave[:, columns, None] & gave[:, raters],
            own_flags[:, columns, None] & other_flags[:, raters],
        )
        values = np.stack(pair_flags, axis=2).reshape(len(rows), 2 * raters.size)
        is_used = values.any(1)
        return SomeRows(rows[is_used], values[is_used].astype(float))

    return read_rows


def _classifier_means(panel: LabelsByRater, recall: bool) -> Array:
    values = np.full((*panel.weights.shape[:-1], len(panel.scale.names)), np.nan)
    classifier_column = range(panel.n_raters, panel.n_raters + 1)
    for category in panel.places_to_compute:
        (values[..., category],) = _mean_shares(
            panel.sums(_pair_reader(recall, category, classifier_column)), 1
        )
    return values


def _rater_means(panel: LabelsByRater, recall: bool) -> Array:
    draws, r, k = panel.weights.shape[:-1], panel.n_raters, len(panel.scale.names)
    can_remember, values = _can_remember_sums(panel), np.full((*draws, k), np.nan)
    remembered = 2 * k * r * (r - 1) * math.prod(draws) <= MAX_REMEMBERED_VALUES
    size = max(1, MAX_REMEMBERED_SUMS // (2 * max(1, r)))
    rater_means = np.empty((r, *draws))
    for category in panel.places_to_compute:
        for start in range(0, r, size):
            columns = range(start, min(start + size, r))
            reader = _pair_reader(recall, category, columns)
            remembered_reader = reader if remembered else None
            sums = (
                panel.sums(reader)
                if can_remember
                else panel.weighted_sums_of_rows(reader(panel), remembered_reader)
            )
            rater_means[columns] = _mean_shares(sums, len(columns))
        values[..., category] = _mean_of_defined(np.moveaxis(rater_means, 0, -1))
    return values


def _mean_shares(sums: Array, n: int) -> Array:
    shape = *sums.shape[:-1], n, 2, sums.shape[-1] // (2 * n)
    both_gave, only_one_gave = np.moveaxis(sums.reshape(shape), -2, 0)
    return np.moveaxis(_mean_of_defined(ratio(both_gave, both_gave + only_one_gave)), -1, 0)


def _mean_of_defined(values: Array) -> Array:
    is_defined = ~np.isnan(values)
    return ratio(
        sum_last_axis(np.where(is_defined, values, 0.0)), sum_last_axis(is_defined.astype(float))
    )


def _classifier_minus_raters(panel: LabelsByRater, recall: bool) -> Coefficient:
    classifier, raters = _classifier_means(panel, recall), _rater_means(panel, recall)
    return Coefficient(classifier - raters, observed=classifier, expected=raters)


def _shares_no_category_with_classifier(panel: LabelsByRater) -> bool:
    weights = np.where(panel.labelled & (panel.weights > 0), 1.0, 0.0)
    pair_weights = np.where(panel.given.sum(1) >= 2, weights, 0.0)
    by_raters = pair_weights @ panel.indicators.sum(1) > 0
    by_classifier = np.where(panel.given.any(1), weights, 0.0) @ panel.label_indicators > 0
    return not (by_raters & by_classifier).any()


NOTHING_IN_COMMON = UndefinedCondition(
    "the classifier gave no category that a rater gave where two of the panel rated",
    _shares_no_category_with_classifier,
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
    recall = _classifier_means(panel, True)
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
    precision = _classifier_means(panel, False)
    return Coefficient(precision, observed=precision)


@_of_each_category(
    "Recall of the classifier minus that of the raters",
    bounds=(-1.0, 1.0),
    undefined=(CLASSIFIER_NEVER_MET_A_PAIR,),
    rests_on=TWO_OF_THE_PANEL,
    by_pair=True,
    sums_of_raters=_can_remember_sums,
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
    return _classifier_minus_raters(panel, True)


@_of_each_category(
    "Precision of the classifier minus that of the raters",
    bounds=(-1.0, 1.0),
    undefined=(CLASSIFIER_NEVER_MET_A_PAIR, NOTHING_IN_COMMON),
    rests_on=TWO_OF_THE_PANEL,
    by_pair=True,
    sums_of_raters=_can_remember_sums,
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
    return _classifier_minus_raters(panel, False)
