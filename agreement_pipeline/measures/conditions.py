"""The conditions under which measures are undefined, each stated once."""

import numpy as np

from agreement_pipeline.measures._agreement import ends_known, ends_met
from agreement_pipeline.measures.registry import Condition, RestsOn
from agreement_pipeline.statistics import (
    CategoryCounts,
    LabelsByRater,
    NumbersByRater,
    ReplicatedLabels,
)


def _used(counts: CategoryCounts, rows: np.ndarray) -> int:
    return int((counts.counts[rows & (counts.weights > 0)].sum(0) > 0).sum())


def _counts(statistic: CategoryCounts | LabelsByRater) -> CategoryCounts:
    counts: CategoryCounts = statistic.unnamed()
    return counts


def _no_pairable(statistic: CategoryCounts | LabelsByRater | NumbersByRater) -> bool:
    items: CategoryCounts | NumbersByRater = statistic.unnamed()
    return not (items.weights[items.pairable] > 0).any()


def _one_pairable_category(statistic: CategoryCounts | LabelsByRater | NumbersByRater) -> bool:
    if statistic.holds == "numbers":
        return _one_number(statistic, statistic.pairable)
    counts = _counts(statistic)
    return _used(counts, counts.pairable) < 2


def _one_category(statistic: CategoryCounts | LabelsByRater) -> bool:
    counts = _counts(statistic)
    return _used(counts, counts.sizes > 0) < 2


def _ends_unknown(counts: CategoryCounts) -> bool:
    return not ends_known(counts)


def _end_unmet(statistic: CategoryCounts | LabelsByRater) -> bool:
    return not ends_met(_counts(statistic))


def _one_number(values: NumbersByRater, rows: np.ndarray) -> bool:
    numbers = values.values[rows & (values.weights > 0)]
    numbers = numbers[~np.isnan(numbers[:, :, 0])]
    return not len(numbers) or bool((np.ptp(numbers, axis=0) == 0).all())


def _one_crossed_number(values: NumbersByRater) -> bool:
    return _one_number(values, np.asarray(values.rated.all(1)))


def _no_crossed(values: NumbersByRater) -> bool:
    return not (values.weights[values.rated.all(1)] > 0).any()


def _one_rater(values: NumbersByRater) -> bool:
    return values.n_raters < 2


def _silent_rater(patterns: LabelsByRater) -> bool:
    return bool(((patterns.codes[patterns.weights > 0] >= 0).sum(0) == 0).any())


def _met(panel: LabelsByRater | NumbersByRater, least: int) -> np.ndarray:
    """True for rows that the classifier labelled and at least `least` raters of the panel rated."""
    return np.asarray(panel.labelled & (panel.weights > 0) & (panel.rated.sum(1) >= least))


def _never_met(panel: LabelsByRater | NumbersByRater) -> bool:
    return not _met(panel, 1).any()


def _never_met_a_pair(panel: LabelsByRater | NumbersByRater) -> bool:
    return not _met(panel, 2).any()


def _not_two_raters(patterns: LabelsByRater) -> bool:
    return patterns.n_raters != 2


def _not_two_categories(statistic: CategoryCounts | LabelsByRater) -> bool:
    return len(statistic.scale.names) != 2


def _constant_rater(patterns: LabelsByRater) -> bool:
    shared = patterns.codes[(patterns.codes >= 0).all(1) & (patterns.weights > 0)]
    return bool(len(shared)) and bool((shared == shared[0]).all(0).any())


def _labelled(panel: LabelsByRater | NumbersByRater, least: int) -> np.ndarray:
    """The panel's ratings of the items that the classifier labelled, one rating a row.

    Only items that at least `least` raters of the panel rated are used.
    """
    met = _met(panel, least)
    return np.asarray(panel.said[met][panel.rated[met]])


def _panel_one_category(panel: LabelsByRater | NumbersByRater) -> bool:
    return _all_alike(_labelled(panel, 2))


def _all_one_category(panel: LabelsByRater | NumbersByRater) -> bool:
    return _all_alike(np.concatenate([_labelled(panel, 1), panel.labels[_met(panel, 1)]]))


def _all_alike(ratings: np.ndarray) -> bool:
    """True if there is a rating and all are the same."""
    return bool(len(ratings)) and bool((ratings == ratings[0]).all())


def _no_replicates(replicates: ReplicatedLabels) -> bool:
    return not (replicates.cell_weights > 0).any()


TWO_OF_THE_PANEL = RestsOn(lambda panel: _met(panel, 2), "one rating of the panel")

NO_PAIRABLE_ITEM = Condition("no item has two ratings", _no_pairable)
ONE_PAIRABLE_CATEGORY = Condition(
    "every rating that can be compared with another gives one and the same label, so chance alone "
    "would give full agreement",
    _one_pairable_category,
)
ONE_CATEGORY = Condition(
    "every rating is of one category, so chance alone would give full agreement", _one_category
)
ENDS_UNKNOWN = Condition(
    "the categories were read off the ratings, so the distance between the ends of the scale is "
    "not known; name the categories",
    _ends_unknown,
)
END_UNMET = Condition(
    "the lowest or the highest number given is on no item with a second rating, so chance would "
    "rest on numbers that nobody compared; krippendorff_alpha leaves single ratings out",
    _end_unmet,
)
NO_CROSSED_ITEM = Condition("no item was rated by every rater", _no_crossed)
ONE_RATER = Condition("there is only one rater", _one_rater)
ONE_CROSSED_NUMBER = Condition(
    "every rating of the items that every rater rated is the same, so chance alone would give "
    "full agreement",
    _one_crossed_number,
)
SILENT_RATER = Condition("a rater gave no rating", _silent_rater)
CLASSIFIER_NEVER_MET = Condition("the classifier labelled no item that the panel rated", _never_met)
CLASSIFIER_NEVER_MET_A_PAIR = Condition(
    "the classifier labelled no item that two of the panel rated", _never_met_a_pair
)
PANEL_ONE_CATEGORY = Condition(
    "on the items that the classifier labelled, all ratings of the panel that can be compared are "
    "of one category",
    _panel_one_category,
)
PANEL_AND_CLASSIFIER_ONE_CATEGORY = Condition(
    "the classifier and the panel gave one and the same category to every item they share, so "
    "chance alone would give full agreement",
    _all_one_category,
)
NOT_TWO_RATERS = Condition(
    "there are not exactly two raters; use shah_kappa_s or light_kappa for more", _not_two_raters
)
NOT_TWO_CATEGORIES = Condition(
    "the scale does not have exactly two categories", _not_two_categories
)
CONSTANT_RATER = Condition(
    "a rater gave one single category to the items that both rated", _constant_rater
)
NO_REPLICATES = Condition("no rater met an item twice", _no_replicates)
