"""Recall and precision of a classifier by category, against raters who differ among themselves.

Recall asks: if a human gives a category, how often does the classifier? Precision asks the reverse.
Both are usually taken against one truth, such as the majority. A majority hides how much people
differ, and a rare category may never have one. So each human is taken as the truth in turn, and
the mean over humans is reported.

A human does not reach 1 against the other humans. That is the yardstick: the same value of each
human against the others. The classifier's value minus theirs is about 0 if the classifier errs as
they do. The lowest category is reported.
"""

from collections.abc import Callable

import numpy as np

from agreement_pipeline.measures.coefficient import Coefficient, ratio
from agreement_pipeline.measures.conditions import (
    CLASSIFIER_NEVER_MET,
    CLASSIFIER_NEVER_MET_A_PAIR,
    TWO_OF_THE_PANEL,
)
from agreement_pipeline.measures.registry import Condition, register
from agreement_pipeline.ratings import Array
from agreement_pipeline.statistics import LabelsByRater

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

Shares = Callable[[Array, Array], tuple[Array, Array]]
"""From raters' labels (P, R, K) and another's (P, K) to hits and cases row by row (P, R, K)."""


def _recall(raters: Array, other: Array) -> tuple[Array, Array]:
    """A case is a category that a rater gives. The other hits if they give it too."""
    return raters * other[:, None], raters * other.sum(1)[:, None, None]


def _precision(raters: Array, other: Array) -> tuple[Array, Array]:
    """A case is a category that the other gives. A rater hits if they give it too."""
    return raters * other[:, None], raters.sum(2, keepdims=True) * other[:, None]


def _shares(weights: Array, hits: Array, cases: Array) -> Array:
    """The share of hits of each rater and category. Shape (..., R, K)."""
    top, bottom = (weights @ each.reshape(len(each), -1) for each in (hits, cases))
    return ratio(top, bottom).reshape(*weights.shape[:-1], *hits.shape[1:])


def _mean(shares: Array) -> Array:
    """The mean over the raters who have a value. Shape (..., K)."""
    known = ~np.isnan(shares)
    return ratio(np.where(known, shares, 0.0).sum(-2), known.sum(-2))


def _of_classifier(panel: LabelsByRater, of: Shares) -> Array:
    """The classifier's share against each rater. Shape (..., R, K)."""
    return _shares(panel.weights, *of(panel.indicators, panel.label_indicators))


def _of_raters(panel: LabelsByRater, of: Shares) -> Array:
    """Each rater's mean share against the others, where the classifier labelled. (..., R, K)."""
    weights, given = np.where(panel.labelled, panel.weights, 0.0), panel.indicators
    values = np.empty((*weights.shape[:-1], *given.shape[1:]))
    for rater in range(given.shape[1]):
        others = np.delete(given, rater, axis=1)
        values[..., rater, :] = _mean(_shares(weights, *of(others, given[:, rater])))
    return values


def _beside(panel: LabelsByRater, of: Shares) -> Coefficient:
    classifier, raters = _mean(_of_classifier(panel, of)), _mean(_of_raters(panel, of))
    return Coefficient(classifier - raters, observed=classifier, expected=raters)


def _nothing_in_common(panel: LabelsByRater) -> bool:
    """True if no category is given by the classifier and by a rater where two rated."""
    weights = np.where(panel.labelled & (panel.weights > 0), 1.0, 0.0)
    met = np.where(panel.given.sum(1) >= 2, weights, 0.0)
    by_raters = met @ panel.indicators.sum(1) > 0
    by_classifier = np.where(panel.given.any(1), weights, 0.0) @ panel.label_indicators > 0
    return not (by_raters & by_classifier).any()


NOTHING_IN_COMMON = Condition(
    "the classifier gave no category that a rater gave where two of the panel rated",
    _nothing_in_common,
)


@register(
    "Recall by category",
    question="classifier",
    needs="panel",
    bounds=(0.0, 1.0),
    undefined=(CLASSIFIER_NEVER_MET,),
    levels={"nominal", "ordinal"},
    per_category=True,
    chance_corrected=False,
    convention=EACH_RATER,
    source=SOURCE,
)
def recall_by_category(panel: LabelsByRater) -> Coefficient:
    r"""If a rater gives a category, how often the classifier gives it: the mean over raters.

    .. math:: \mathrm{recall}_c = \frac{1}{|R_c|} \sum_{r \in R_c} P(f = c \mid r = c)

    Here :math:`R_c` are the raters who gave category c to an item that the classifier f labelled.
    No majority is taken. The value of the round is the lowest one. It is not corrected for chance.
    Read it beside `precision_by_category`: a classifier that always names c has recall 1 there.

    Parameters
    ----------
    panel
        panel codes of shape (P, R), classifier labels of shape (P,) and weights of shape (..., P).

    Returns
    -------
    Coefficient
        value of shape (..., K), from 0 to 1. Undefined when the classifier labelled no item that
        the panel rated. A category has no value when no rater gave it to such an item.

    References
    ----------
    Kent, A., Berry, M. M., Luehrs, F. U. & Perry, J. W. (1955). Machine literature searching VIII.
    Operational criteria for designing information retrieval systems. American Documentation 6(2),
    93-101. https://doi.org/10.1002/asi.5090060209

    Examples
    --------
    >>> from agreement_pipeline import Scale
    >>> from agreement_pipeline.statistics import LabelsByRater
    >>> codes, scale = [[0, 0], [0, 1], [1, 1], [1, 1]], Scale(("no", "yes"))
    >>> panel = LabelsByRater(codes, scale=scale, raters=("a", "b"))
    >>> recall_by_category(panel.with_classifier([0, 1, 1, 1], "model")).value.round(4).tolist()
    [0.75, 1.0]
    """
    recall = _mean(_of_classifier(panel, _recall))
    return Coefficient(recall, observed=recall)


@register(
    "Precision by category",
    question="classifier",
    needs="panel",
    bounds=(0.0, 1.0),
    undefined=(CLASSIFIER_NEVER_MET,),
    levels={"nominal", "ordinal"},
    per_category=True,
    chance_corrected=False,
    convention=EACH_LABEL,
    source=SOURCE,
)
def precision_by_category(panel: LabelsByRater) -> Coefficient:
    r"""If the classifier gives a category, how often a rater gives it: the mean over raters.

    .. math:: \mathrm{precision}_c = \frac{1}{|R_c|} \sum_{r \in R_c} P(r = c \mid f = c)

    Here :math:`R_c` are the raters who rated an item to which the classifier f gave category c. No
    majority is taken. The value of the round is the lowest one. It is not corrected for chance.

    Parameters
    ----------
    panel
        panel codes of shape (P, R), classifier labels of shape (P,) and weights of shape (..., P).

    Returns
    -------
    Coefficient
        value of shape (..., K), from 0 to 1. Undefined when the classifier labelled no item that
        the panel rated. A category has no value when the classifier gave it to no such item.

    References
    ----------
    Kent, A., Berry, M. M., Luehrs, F. U. & Perry, J. W. (1955). Machine literature searching VIII.
    Operational criteria for designing information retrieval systems. American Documentation 6(2),
    93-101. https://doi.org/10.1002/asi.5090060209

    Examples
    --------
    >>> from agreement_pipeline import Scale
    >>> from agreement_pipeline.statistics import LabelsByRater
    >>> codes, scale = [[0, 0], [0, 1], [1, 1], [1, 1]], Scale(("no", "yes"))
    >>> panel = LabelsByRater(codes, scale=scale, raters=("a", "b"))
    >>> precision_by_category(panel.with_classifier([0, 1, 1, 1], "model")).value.round(4).tolist()
    [1.0, 0.8333]
    """
    precision = _mean(_of_classifier(panel, _precision))
    return Coefficient(precision, observed=precision)


@register(
    "Recall of the classifier minus that of the raters",
    question="classifier",
    needs="panel",
    bounds=(-1.0, 1.0),
    undefined=(CLASSIFIER_NEVER_MET_A_PAIR,),
    levels={"nominal", "ordinal"},
    per_category=True,
    chance_corrected=False,
    rests_on=TWO_OF_THE_PANEL,
    by_pair=True,
    classifiers_only=True,
    convention=EACH_PAIR,
    source=SOURCE,
)
def recall_beside_raters(panel: LabelsByRater) -> Coefficient:
    r"""The classifier's recall by category minus the raters' mean recall against the others.

    .. math:: \mathrm{recall}_c(f) - \frac{1}{|R|} \sum_{r \in R} \mathrm{recall}_c(r)

    Each rater r is compared with the other raters as the classifier f is with all of them. Only
    items that the classifier labelled count. Observed is the classifier's recall, and expected is
    the raters'. Both are of the same items, so a hard item does not blur the difference. The value
    of the round is the lowest one.

    Parameters
    ----------
    panel
        panel codes of shape (P, R), classifier labels of shape (P,) and weights of shape (..., P).

    Returns
    -------
    Coefficient
        value of shape (..., K), from -1 to 1. It is 0 if the classifier errs as often as a rater.
        Undefined when the classifier labelled no item that two of the panel rated. A category has
        no value when the classifier or every rater has none.

    References
    ----------
    Kent, A., Berry, M. M., Luehrs, F. U. & Perry, J. W. (1955). Machine literature searching VIII.
    Operational criteria for designing information retrieval systems. American Documentation 6(2),
    93-101. https://doi.org/10.1002/asi.5090060209

    Examples
    --------
    >>> from agreement_pipeline import Scale
    >>> from agreement_pipeline.statistics import LabelsByRater
    >>> codes, scale = [[0, 0], [0, 1], [1, 1], [1, 1]], Scale(("no", "yes"))
    >>> panel = LabelsByRater(codes, scale=scale, raters=("a", "b"))
    >>> recall_beside_raters(panel.with_classifier([0, 1, 1, 1], "model")).value.round(4).tolist()
    [0.0, 0.1667]
    """
    return _beside(panel, _recall)


@register(
    "Precision of the classifier minus that of the raters",
    question="classifier",
    needs="panel",
    bounds=(-1.0, 1.0),
    undefined=(CLASSIFIER_NEVER_MET_A_PAIR, NOTHING_IN_COMMON),
    levels={"nominal", "ordinal"},
    per_category=True,
    chance_corrected=False,
    rests_on=TWO_OF_THE_PANEL,
    by_pair=True,
    classifiers_only=True,
    convention=EACH_PAIR,
    source=SOURCE,
)
def precision_beside_raters(panel: LabelsByRater) -> Coefficient:
    r"""The classifier's precision by category minus the raters' mean precision against the others.

    .. math:: \mathrm{precision}_c(f) - \frac{1}{|R|} \sum_{r \in R} \mathrm{precision}_c(r)

    Each rater r is compared with the other raters as the classifier f is with all of them. Only
    items that the classifier labelled count. Observed is the classifier's precision, and expected
    is the raters'. The value of the round is the lowest one.

    Parameters
    ----------
    panel
        panel codes of shape (P, R), classifier labels of shape (P,) and weights of shape (..., P).

    Returns
    -------
    Coefficient
        value of shape (..., K), from -1 to 1. Undefined when the classifier labelled no item that
        two of the panel rated, or if no category has a value. A category has no value when the
        classifier or every rater has none.

    References
    ----------
    Kent, A., Berry, M. M., Luehrs, F. U. & Perry, J. W. (1955). Machine literature searching VIII.
    Operational criteria for designing information retrieval systems. American Documentation 6(2),
    93-101. https://doi.org/10.1002/asi.5090060209

    Examples
    --------
    >>> from agreement_pipeline import Scale
    >>> from agreement_pipeline.statistics import LabelsByRater
    >>> codes, scale = [[0, 0], [0, 1], [1, 1], [1, 1]], Scale(("no", "yes"))
    >>> panel = LabelsByRater(codes, scale=scale, raters=("a", "b"))
    >>> found = precision_beside_raters(panel.with_classifier([0, 1, 1, 1], "model"))
    >>> found.value.round(4).tolist()
    [0.25, 0.0]
    """
    return _beside(panel, _precision)
