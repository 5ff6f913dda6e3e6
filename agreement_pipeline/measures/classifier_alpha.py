"""Krippendorff's alpha of a panel with a classifier, and how each rater changes it.

Adding a classifier that labels as the panel does does not change the panel's reliability. Below 0,
a gain means that the classifier disagrees with the raters more than they do with each other.
"""

from functools import partial

from agreement_pipeline.measures.coefficient import Coefficient
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
from agreement_pipeline.measures.registry import UndefinedCondition, UsedRows, register
from agreement_pipeline.ratings import LEVELS
from agreement_pipeline.statistics import LabelsByRater, NumbersByRater

Panel = LabelsByRater | NumbersByRater

LABELLED_CONVENTION = (
    "over the items that the classifier labelled; items with one rating are left out; "
    "every other item counts with its number of ratings"
)
PAIRED_CONVENTION = (
    "over the items that the classifier labelled and two or more of the panel rated; "
    "each item counts with its number of ratings"
)
SOURCE = "Krippendorff, K. (2018). Content Analysis (4th ed.), ch. 12"


NO_ITEM_RATED_BY_TWO_OTHERS = UndefinedCondition(
    "no item has two ratings by the other raters", lambda panel: NO_PAIRABLE_ITEM.holds(panel.panel)
)
OTHERS_ONE_CATEGORY = UndefinedCondition(
    "the other raters gave one single category to all items that two of them rated",
    lambda panel: ONE_PAIRABLE_CATEGORY.holds(panel.panel),
)
WITH_ONE_AND_WITH_ALL = UsedRows(
    lambda panel: panel.with_classifier_as_rater().readable,
    "one rating",
    among=lambda panel: panel.with_classifier_as_rater().n_items,
    ratings=lambda panel: panel.with_classifier_as_rater().n_ratings,
)


_of_classifier = partial(
    register,
    question="classifier",
    needs="panel",
    levels=set(LEVELS),
    chance_corrected=False,
    exchangeable=True,
    continuous=True,
    source=SOURCE,
)


@_of_classifier(
    "Krippendorff's α with the classifier",
    bounds=(-1.0, 1.0),
    undefined=(CLASSIFIER_NEVER_MET, PANEL_AND_CLASSIFIER_ONE_CATEGORY),
    cannot_hold="beside many raters who agree, a classifier that guesses hardly changes it. "
    "Use alpha_gain or vanbelle_albert_kappa",
    convention=LABELLED_CONVENTION,
)
def alpha_with_classifier(panel: Panel) -> Coefficient:
    r"""The reliability of the panel with the classifier as one more rater.

    .. math:: \alpha_{+} = 1 - \frac{D_o}{D_e}

    A classifier that guesses hardly changes it beside many raters who agree. So a rule on this
    measure may only warn; to judge the classifier, use `alpha_gain` or `vanbelle_albert_kappa`.

    Examples
    --------
    >>> round(float(alpha_with_classifier(panel).value), 4)
    0.5926
    """
    return _alpha(_restrict_to_classifier_labelled(panel).with_classifier_as_rater())


@_of_classifier(
    "What the classifier adds to Krippendorff's α",
    bounds=(-2.0, 2.0),
    undefined=(CLASSIFIER_NEVER_MET_A_PAIR, PANEL_ONE_CATEGORY),
    rests_on=TWO_OF_THE_PANEL,
    convention=PAIRED_CONVENTION,
)
def alpha_gain(panel: Panel) -> Coefficient:
    r"""The panel's reliability with the classifier minus that without, both on the same items.

    .. math:: \Delta = \alpha_{+} - \alpha

    `alpha_influence` keeps the items that the classifier or two of the panel did not label.

    Examples
    --------
    >>> round(float(alpha_gain(panel).value), 4)
    -0.0074
    """
    paired = _restrict_to_classifier_labelled(panel, min_panel_ratings=2)
    with_classifier = _alpha(paired.with_classifier_as_rater()).value
    without = _alpha(paired.panel).value
    return Coefficient(with_classifier - without, observed=with_classifier)


@_of_classifier(
    "Influence of a rater on Krippendorff's α",
    bounds=(-2.0, 2.0),
    undefined=(NO_ITEM_RATED_BY_TWO_OTHERS, OTHERS_ONE_CATEGORY),
    rests_on=WITH_ONE_AND_WITH_ALL,
    convention="over all items, labelled or not; items with one rating are left out; "
    "every other item counts with its number of ratings",
)
def alpha_influence(panel: Panel) -> Coefficient:
    r"""How a rater or classifier changes the reliability of all: α with them minus α without them.

    .. math:: \Delta = \alpha - \alpha_{-r}

    Both are computed on all items and from the same resamples. Below 0, the data are more reliable
    without this rater.

    Examples
    --------
    >>> round(float(alpha_influence(panel).value), 4)
    -0.0074
    """
    with_her = _alpha(panel.with_classifier_as_rater()).value
    without_her = _alpha(panel.panel).value
    return Coefficient(with_her - without_her, observed=with_her)


def _restrict_to_classifier_labelled(panel: Panel, min_panel_ratings: int = 0) -> Panel:
    return panel.with_weights(
        panel.weights_of(panel.labelled & (panel.rated.sum(1) >= min_panel_ratings))
    )


def _alpha(ratings: LabelsByRater | NumbersByRater) -> Coefficient:
    return krippendorff_alpha(ratings.without_rater_names())
