"""The conditions under which measures are undefined, each stated once."""

import numpy as np

from agreement_pipeline.measures.coefficient import has_known_ends, has_paired_ends
from agreement_pipeline.measures.registry import UndefinedCondition, UsedRows
from agreement_pipeline.statistics import CategoryCounts, LabelsByRater, NumbersByRater

Panel = LabelsByRater | NumbersByRater


def _has_one_category(counts: CategoryCounts, rows: np.ndarray) -> bool:
    return int((counts.counts[rows & (counts.weights > 0)].sum(0) > 0).sum()) < 2


def _has_one_number(values: NumbersByRater, rows: np.ndarray) -> bool:
    numbers = values.values[rows & (values.weights > 0)]
    numbers = numbers[~np.isnan(numbers[:, :, 0])]
    return not len(numbers) or bool((np.ptp(numbers, axis=0) == 0).all())


def _has_one_pairable_category(statistic: CategoryCounts | Panel) -> bool:
    if statistic.holds == "numbers":
        return _has_one_number(statistic, statistic.pairable)
    counts: CategoryCounts = statistic.without_rater_names()
    return _has_one_category(counts, counts.pairable)


def _has_no_pairable(statistic: CategoryCounts | Panel) -> bool:
    items: CategoryCounts | NumbersByRater = statistic.without_rater_names()
    return not (items.weights[items.pairable] > 0).any()


def _has_constant_rater(patterns: LabelsByRater) -> bool:
    shared = patterns.codes[(patterns.codes >= 0).all(1) & (patterns.weights > 0)]
    return bool(len(shared)) and bool((shared == shared[0]).all(0).any())


def _is_shared_with_panel(panel: Panel, min_panel_ratings: int) -> np.ndarray:
    return np.asarray(
        panel.labelled & (panel.weights > 0) & (panel.rated.sum(1) >= min_panel_ratings)
    )


def _has_identical_ratings(panel: Panel, min_panel_ratings: int, *labels: np.ndarray) -> bool:
    """True if the ratings of the panel in rows that count, and the labels, are there and all the
    same.
    """
    is_shared = _is_shared_with_panel(panel, min_panel_ratings)
    ratings = np.concatenate([panel.cell_values[is_shared][panel.rated[is_shared]], *labels])
    return bool(len(ratings)) and bool((ratings == ratings[0]).all())


TWO_OF_THE_PANEL = UsedRows(
    lambda panel: _is_shared_with_panel(panel, 2), "one rating of the panel"
)

NO_PAIRABLE_ITEM = UndefinedCondition("no item has two ratings", _has_no_pairable)
ONE_PAIRABLE_CATEGORY = UndefinedCondition(
    "every rating that can be compared with another gives one and the same label, so chance alone "
    "would give full agreement",
    _has_one_pairable_category,
)
ONE_CATEGORY = UndefinedCondition(
    "every rating is of one category, so chance alone would give full agreement",
    lambda labels: _has_one_category(
        labels.without_rater_names(), labels.without_rater_names().sizes > 0
    ),
)
ENDS_UNKNOWN = UndefinedCondition(
    "the categories were read off the ratings, so the distance between the ends of the scale is "
    "not known; name the categories",
    lambda counts: not has_known_ends(counts),
)
END_UNMET = UndefinedCondition(
    "the lowest or the highest number given is on no item with a second rating, so chance would "
    "rest on numbers that nobody compared; krippendorff_alpha leaves single ratings out",
    lambda labels: not has_paired_ends(labels.without_rater_names()),
)
NO_CROSSED_ITEM = UndefinedCondition(
    "no item was rated by every rater",
    lambda values: not (values.weights[values.rated.all(1)] > 0).any(),
)
ONE_RATER = UndefinedCondition("there is only one rater", lambda values: values.n_raters < 2)
ONE_CROSSED_NUMBER = UndefinedCondition(
    "every rating of the items that every rater rated is the same, so chance alone would give "
    "full agreement",
    lambda values: _has_one_number(values, np.asarray(values.rated.all(1))),
)
SILENT_RATER = UndefinedCondition(
    "a rater gave no rating",
    lambda patterns: not patterns.given[patterns.weights > 0].any(0).all(),
)
CLASSIFIER_NEVER_MET = UndefinedCondition(
    "the classifier labelled no item that the panel rated",
    lambda panel: not _is_shared_with_panel(panel, 1).any(),
)
CLASSIFIER_NEVER_MET_A_PAIR = UndefinedCondition(
    "the classifier labelled no item that two of the panel rated",
    lambda panel: not _is_shared_with_panel(panel, 2).any(),
)
PANEL_ONE_CATEGORY = UndefinedCondition(
    "on the items that the classifier labelled, all ratings of the panel that can be compared are "
    "of one category",
    lambda panel: _has_identical_ratings(panel, 2),
)
PANEL_AND_CLASSIFIER_ONE_CATEGORY = UndefinedCondition(
    "the classifier and the panel gave one and the same category to every item they share, so "
    "chance alone would give full agreement",
    lambda panel: _has_identical_ratings(panel, 1, panel.labels[_is_shared_with_panel(panel, 1)]),
)
NOT_TWO_RATERS = UndefinedCondition(
    "there are not exactly two raters; use shah_kappa_s or light_kappa for more",
    lambda patterns: patterns.n_raters != 2,
)
NOT_TWO_CATEGORIES = UndefinedCondition(
    "the scale does not have exactly two categories",
    lambda labels: len(labels.scale.names) != 2,
)
CONSTANT_RATER = UndefinedCondition(
    "a rater gave one single category to the items that both rated", _has_constant_rater
)
NO_REPLICATES = UndefinedCondition(
    "no rater met an item twice", lambda replicates: not (replicates.cell_weights > 0).any()
)
