"""Krippendorff's alpha of a panel that a classifier joins, and what each rater does to it.

If a classifier labels as the panel does, adding it as one more rater leaves the panel's reliability as it was. The gain is the difference between
the two alphas on the same items: under 0, the classifier disagrees with the raters more than they do with each other. The influence of a rater is
the same difference for one of the panel, set apart as if she were the classifier.
"""

import numpy as np

from agreement_pipeline.measures.conditions import (
    CLASSIFIER_NEVER_MET,
    CLASSIFIER_NEVER_MET_A_PAIR,
    NO_PAIRABLE_ITEM,
    ONE_PAIRABLE_CATEGORY,
    PANEL_AND_CLASSIFIER_ONE_CATEGORY,
    PANEL_ONE_CATEGORY,
    TWO_OF_THE_PANEL,
)
from agreement_pipeline.measures.krippendorff import krippendorff_alpha
from agreement_pipeline.measures.registry import Coefficient, Condition, RestsOn, measure
from agreement_pipeline.ratings import LEVELS
from agreement_pipeline.statistics import LabelsByRater, NumbersByRater

Panel = LabelsByRater | NumbersByRater

LABELLED = "over the items that the classifier labelled; those with one rating are left out, every other counts with its number of ratings"
PAIRED = "over the items that the classifier labelled and two or more of the panel rated, each with its number of ratings"
SOURCE = "Krippendorff, K. (2018). Content Analysis (4th ed.), ch. 12"


OTHERS_NEVER_MET = Condition(
    "no item has two ratings of the others", lambda panel: NO_PAIRABLE_ITEM.holds(panel.panel)
)
OTHERS_ONE_CATEGORY = Condition(
    "the others' ratings that meet another are all of one category",
    lambda panel: ONE_PAIRABLE_CATEGORY.holds(panel.panel),
)
WITH_ONE_AND_WITH_ALL = RestsOn(
    lambda panel: panel.joined().readable,
    "one rating",
    among=lambda panel: panel.joined().n_items,
    ratings=lambda panel: panel.joined().n_ratings,
)


@measure(
    "Krippendorff's α with the classifier",
    question="classifier",
    needs="panel",
    bounds=(-1.0, 1.0),
    undefined=(CLASSIFIER_NEVER_MET, PANEL_AND_CLASSIFIER_ONE_CATEGORY),
    levels=set(LEVELS),
    chance_corrected=False,
    exchangeable=True,
    continuous=True,
    cannot_hold="beside many raters who agree a classifier that guesses hardly shows in it. Use alpha_gain or vanbelle_albert_kappa",
    convention=LABELLED,
    source=SOURCE,
)
def alpha_with_classifier(panel: Panel) -> Coefficient:
    r"""The reliability of the panel with the classifier as one rater more.

    .. math:: \alpha_{+} = 1 - \frac{D_o}{D_e}

    on the panel's ratings and the classifier's labels together, at the scale's own level. It speaks of all of them: beside many raters who
    agree, a classifier that guesses hardly shows in it. What the classifier does is read off `alpha_gain` or `vanbelle_albert_kappa`, and a rule
    on this measure may only warn.

    Parameters
    ----------
    panel
        panel codes of shape (P, R), classifier labels of shape (P,), weights of shape (..., P); or, on a scale without categories, panel
        values of shape (N, R, D), labels of shape (N, D), weights of shape (..., N).

    Returns
    -------
    Coefficient
        value of shape (...), at most 1; observed and expected are disagreements, in squared units of the scale. Undefined when
        the classifier labelled no item that the panel rated, or when they gave one and the same category to all of those.

    References
    ----------
    Krippendorff, K. (2018). Content Analysis: An Introduction to Its Methodology (4th ed.), chapter 12. Sage.

    Examples
    --------
    >>> from agreement_pipeline import LabelsByRater, Scale
    >>> panel = LabelsByRater([[0, 0], [0, 1], [1, 1]], scale=Scale(("no", "yes")), raters=("a", "b"))
    >>> round(float(alpha_with_classifier(panel.with_classifier([0, 0, 1], "model")).value), 4)
    0.6
    """
    return _alpha(_labelled(panel).joined())


@measure(
    "What the classifier adds to Krippendorff's α",
    question="classifier",
    needs="panel",
    bounds=(-2.0, 2.0),
    undefined=(CLASSIFIER_NEVER_MET_A_PAIR, PANEL_ONE_CATEGORY),
    chance_corrected=False,
    levels=set(LEVELS),
    exchangeable=True,
    continuous=True,
    rests_on=TWO_OF_THE_PANEL,
    convention=PAIRED,
    source=SOURCE,
)
def alpha_gain(panel: Panel) -> Coefficient:
    r"""The panel's reliability with the classifier, less its reliability without, both on the same items.

    .. math:: \Delta = \alpha_{+} - \alpha

    Both are taken over the items that the classifier labelled and two or more of the panel rated: an item with one panel rating would add to
    the first and nothing to the second. Above 0 the data are more reliable with the classifier's labels among them than without, below 0 less.
    Other items are left out of both; `alpha_influence` keeps them.

    Parameters
    ----------
    panel
        panel codes of shape (P, R), classifier labels of shape (P,), weights of shape (..., P); or, on a scale without categories, panel
        values of shape (N, R, D), labels of shape (N, D), weights of shape (..., N).

    Returns
    -------
    Coefficient
        value of shape (...), from -2 to 2; observed is alpha with the classifier. Undefined when the classifier labelled no item that two of
        the panel rated, or when the panel's ratings of those are all of one category.

    References
    ----------
    Krippendorff, K. (2018). Content Analysis: An Introduction to Its Methodology (4th ed.), chapter 12. Sage.

    Examples
    --------
    >>> from agreement_pipeline import LabelsByRater, Scale
    >>> panel = LabelsByRater([[0, 0], [0, 1], [1, 1]], scale=Scale(("no", "yes")), raters=("a", "b"))
    >>> round(float(alpha_gain(panel.with_classifier([0, 0, 1], "model")).value), 4)
    0.1556
    """
    paired = _labelled(panel, of_panel=2)
    with_classifier = _alpha(paired.joined()).value
    without = _alpha(paired.panel).value
    return Coefficient(with_classifier - without, observed=with_classifier)


@measure(
    "Influence of a rater on Krippendorff's α",
    question="classifier",
    needs="panel",
    bounds=(-2.0, 2.0),
    undefined=(OTHERS_NEVER_MET, OTHERS_ONE_CATEGORY),
    chance_corrected=False,
    levels=set(LEVELS),
    exchangeable=True,
    continuous=True,
    rests_on=WITH_ONE_AND_WITH_ALL,
    convention="over all items, labelled or not; those with one rating are left out, every other counts with its number of ratings",
    source=SOURCE,
)
def alpha_influence(panel: Panel) -> Coefficient:
    r"""What a rater or a classifier does to the reliability of the whole: α with her, less α without her.

    .. math:: \Delta = \alpha - \alpha_{-r}

    Both on all items and from the same draws, so that the interval is that of the difference. Below 0 the data are more reliable without
    her. `alpha_gain` is the same over the items that she and two or more others rated.

    Parameters
    ----------
    panel
        codes of the others of shape (P, R), her labels of shape (P,), weights of shape (..., P); or, on a scale without categories, their
        values of shape (N, R, D), her labels of shape (N, D), weights of shape (..., N).

    Returns
    -------
    Coefficient
        value of shape (...), from -2 to 2; observed is alpha with her. Undefined when without her no item has two ratings, or those that
        meet another are all of one category.

    References
    ----------
    Krippendorff, K. (2018). Content Analysis: An Introduction to Its Methodology (4th ed.), chapter 12. Sage.

    Examples
    --------
    >>> from agreement_pipeline import LabelsByRater, Scale
    >>> others = LabelsByRater([[0, 0], [0, 1], [1, 1]], scale=Scale(("no", "yes")), raters=("a", "b"))
    >>> round(float(alpha_influence(others.with_classifier([0, 0, -1], "c")).value), 4)
    0.0889
    """
    with_her = _alpha(panel.joined()).value
    without_her = _alpha(panel.panel).value
    return Coefficient(with_her - without_her, observed=with_her)


def _labelled(panel: Panel, of_panel: int = 0) -> Panel:
    """The panel with no weight on items without a label, or with fewer ratings of the panel."""
    return panel.reweighted(
        np.where(panel.labelled & (panel.rated.sum(1) >= of_panel), panel.weights, 0.0)
    )


def _alpha(ratings: LabelsByRater | NumbersByRater) -> Coefficient:
    return krippendorff_alpha(ratings.unnamed())
