"""Would another panel give the same label? That is the label which trains.

Agreement between raters says how far one rater can be replaced by another one. A panel's label is
another thing: many poor raters can settle on a good label, and good raters can settle on a poor one
if they share an error, which no agreement shows.

**Numbers and shares** are identified by two ratings an item. The label is the mean of an item's
ratings (of a category: its share), and its reliability is the part of the variance of labels that
is not error.

**A category by plurality** is not. Let p_k be the share of all possible raters who would give an
item category k, and q_k the chance that the plurality of m of them is k, with ties settled by lot.
Two panels agree with the chance A_m = E[sum_k q_k^2], a polynomial of degree 2m in p, and n ratings
of an item show its moments up to the degree n alone. With v = p (1 - p) and two categories,
A_3 = 1 - 6 E[v^2] - 8 E[v^3], while two or three ratings show E[v] only. So two panels of three
agree on at least the share P_o of pairs of raters that agree, and maybe on far more.

- P_o is a floor for every m: sum_k q_k^2 is at least sum_k p_k^2.
- One rating more than an odd panel nearly settles it. `SCORES` of the type of four ratings (3-1 is
  three equal ratings and one other) have a mean just under A_3, or just over it, whatever p is.
- 2m ratings settle it: it is the share of splits into two panels that give the same label.

Neither Spearman and Brown's formula nor a model of raters who err alike on all items may stand for
it: where items differ in difficulty, the first is too high by up to .3.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from functools import cache
from math import comb, prod
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from agreement_pipeline.counting import Rated, counting_for
from agreement_pipeline.errors import AgreementError
from agreement_pipeline.estimates.estimates import (
    CHOSEN_RATINGS_LEVEL,
    DEFAULT,
    Estimate,
    Scope,
    find_registered_measure,
)
from agreement_pipeline.intervals import (
    TOO_FEW_DRAWS,
    BoundsOnly,
    ConfidenceDistribution,
    Inference,
    affordable_resamples,
    build_expanded_percentiles,
    build_for_looks,
    draw_in_blocks,
    resampling_masses,
    spread_unit_weights_over_rows,
)
from agreement_pipeline.measures import NO_CATEGORY, Measure
from agreement_pipeline.ratings import (
    Array,
    Codes,
    Flags,
    Scale,
    TrainingLabel,
    Trains,
    default_label,
)
from agreement_pipeline.statistics import (
    CategoryCounts,
    LabelsOfPanels,
    NumbersByRater,
    missing_at_random_p_value,
    seed_from_arrays,
)
from agreement_pipeline.text import counted

RatingType = tuple[int, ...]
"""How often each category was given to an item, the most frequent first."""

SCORES: Mapping[int, Mapping[RatingType, tuple[float, float]]] = MappingProxyType(
    {
        3: {
            (4,): (0.9944, 1.0001),
            (3, 1): (1.0370, 1.0646),
            (2, 2): (-0.3852, -0.3928),
            (2, 1, 1): (0.1641, 0.1675),
            (1, 1, 1, 1): (0.0022, -0.0020),
        },
        5: {
            (6,): (0.9999, 1.0058),
            (5, 1): (0.9188, 0.9576),
            (4, 2): (1.3613, 1.2776),
            (4, 1, 1): (1.1606, 1.1694),
            (3, 3): (-1.0935, -0.9793),
            (3, 2, 1): (0.1209, 0.1253),
            (3, 1, 1, 1): (0.9506, 1.0035),
            (2, 2, 2): (0.0218, 0.0443),
            (2, 2, 1, 1): (-0.2348, -0.2031),
            (2, 1, 1, 1, 1): (0.1059, 0.0878),
            (1, 1, 1, 1, 1, 1): (-0.0806, 0.0194),
        },
    }
)
"""By the size of the panel: the scores whose mean is under A_m and over A_m, of m + 1 ratings.

They solve linear programs over p with two to ten categories, and are at most .014 (m = 3) and .020
(m = 5) apart. `docs/proofs/panel-labels.md` has the programs, and a test checks the bounds.
"""
MAX_SPLITS = 50_000
"""Panels are not compared by splits of a row that has more of them than these."""
MIN_OTHER_LABELS = 10
"""With fewer panel labels outside the most common category, chance correction is unstable."""
MIN_ITEMS_BY_DESIGN = 10
MANY_ITEMS_OF_NUMBERS = 300
"""Limits of means were looked at for so many items in the study."""
MIN_ITEMS_COMPARED = 50
ITEMS_TO_DRAW = 300
N_RANDOM_SPLITS = 50
AGREEMENT, RELIABILITY = "label_agreement", "label_reliability"
LABEL = Scope("label")
NO_PAIR = "no item has two ratings"
FEW_OTHER_LABELS = (
    f"fewer than {MIN_OTHER_LABELS} labels are not the most common one, so agreement beyond chance "
    "is unstable"
)
ONLY_DISPUTES = (
    "more ratings stand only on items whose first ones differ, so pairs of ratings say nothing of "
    "all items; compare the first ratings alone, or draw the items that get more"
)
ADJUDICATED = (
    "raters do not show whether another adjudicator would give the same label; let a second "
    "adjudicator answer a drawn part, and judge both as a round of two raters with "
    "`trains: one_rater`"
)
OF_VECTORS = "a median of vectors is not defined"
WHICH_RATERS = (
    "The result is about raters like these, a new sample of them for each item, and counts a tie "
    "as settled by lot. Items with more ratings than others must have been drawn by chance."
)
NOT_RIGHT = (
    "It does not say that the label is right: only gold items, or an expert's check of drawn "
    "items, show the errors that raters share."
)
METHOD = "Dirichlet draws over items and one unseen item; these raters"
METHOD_OF_CLUSTERS = "Dirichlet draws over whole clusters and one unseen item; these raters"
N_FAR_ITEMS = 3
ABSENT_SHARE = np.exp(-1)
"""In so many draws of a bootstrap an item is absent. Dirichlet draws give it some weight in each,
and a number that is far from all others could carry agreement in all of them. So for the lower
limit of numbers, one item of each of the rows farthest from the mean is left out of so many draws,
where this makes their value smaller. Which draws those are does not depend on the ratings.
"""


class Bounds(NamedTuple):
    """The least and the greatest that a value can be, with a lower and an upper limit."""

    least: float
    greatest: float
    low: float
    high: float


class ItemScores(NamedTuple):
    """Scores of rows whose mean lies under and over A_m, each of shape (P,), and 0 where unused."""

    under: Array
    over: Array
    used: Flags
    worst: float
    best: float


class Panels(NamedTuple):
    """What the ratings tell of the labels of two panels.

    Attributes
    ----------
    statistic
        The ratings, with P rows.
    used
        The rows that have enough ratings (P,).
    under, over
        What bounds a value from below and from above. The row after the P rows is an unseen item.
    compared_size
        How many raters the panels have that are compared. If they are fewer than those of the
        label, only the least that a value can be is known. None of means and shares.
    n_needed
        How many ratings of an item are needed.
    """

    statistic: CategoryCounts | NumbersByRater
    used: Flags
    under: LabelsOfPanels
    over: LabelsOfPanels
    compared_size: int | None
    n_needed: int

    @property
    def weights(self) -> Array:
        return np.where(self.used, self.statistic.weights, 0.0)

    @property
    def n_items(self) -> int:
        return round(float(self.weights.sum()))


@dataclass(frozen=True)
class LabelReliability:
    """Whether another panel would give the same labels.

    Attributes
    ----------
    label
        The label that trains, as `trains` names it.
    panel_size
        The number of raters of the panel that is spoken of. None of means and shares: each item has
        its own number.
    n_items, n_items_compared
        The items with two ratings or more, and those that the values rest on.
    n_raters
        The number of raters.
    same_label
        The share of items to which another panel gives the same category. None of numbers.
    reliability
        How far another panel gives the same labels, beyond chance. Of means and shares: the part of
        the labels' variance that is no error.
    is_floor
        True if only the least that they can be is known, as of a category from one panel.
    missing_reason
        Why a value is None, or only a floor.
    """

    label: TrainingLabel
    panel_size: int | None
    n_items: int
    n_items_compared: int
    n_raters: int
    confidence_level: float
    same_label: Bounds | None = None
    reliability: Bounds | None = None
    is_floor: bool = False
    missing_reason: str = ""

    def to_mapping(self) -> dict[str, Any]:
        bounds = {name: getattr(self, name) for name in ("same_label", "reliability")}
        return {
            **asdict(self),
            **{name: None if part is None else part._asdict() for name, part in bounds.items()},
        }

    @property
    def sentences(self) -> tuple[str, ...]:
        """What is known, and of whom it speaks."""
        return *self.findings, WHICH_RATERS, NOT_RIGHT

    @property
    def findings(self) -> tuple[str, ...]:
        return tuple(_describe_findings(self))


def label_reliability(
    ratings: Rated,
    *,
    trains: Trains | None = None,
    panel_size: int | None = None,
    inference: Inference = DEFAULT,
) -> LabelReliability:
    """Measure how reliable the training label is: would another panel give the same one?

    The result is about raters like these, a new sample of them for each item. Items with more
    ratings than others must have been drawn at random.

    Parameters
    ----------
    ratings
        Ratings, or counts of categories.
    trains
        The label that trains. None: the plurality of categories, or the mean of numbers.
    panel_size
        How many raters give a label. By default, as many as most items have, or one fewer if that
        number is even (from four): the additional rater is then used to compare panels.
    inference
        The confidence level and the number of resamples.

    Raises
    ------
    AgreementError
        The panel size is not a whole number from 1, or the scale does not have such a label.
    """
    if panel_size is not None and not (isinstance(panel_size, int) and panel_size >= 1):
        raise AgreementError(
            f"panel_size: found {panel_size!r}; expected a whole number from 1. Correct it."
        )
    compared_by_measure = dict(
        _iterate_compared_panels(ratings, (AGREEMENT, RELIABILITY), trains, panel_size)
    )
    estimates = [
        _estimate_measure_of_label(name, compared, ratings, inference)
        for name, compared in compared_by_measure.items()
    ]
    same_bounds, reliable = (estimated.bounds for estimated in estimates)
    first_compared = next(iter(compared_by_measure.values()))
    missing_reasons = dict.fromkeys(
        estimated.estimate.undefined or estimated.estimate.at_least
        for estimated in estimates
        if estimated.bounds is None or estimated.estimate.at_least
    )
    if reliable is not None:
        missing_reasons.pop(NO_CATEGORY.reason, None)
    usable = [
        compared.panels for compared in compared_by_measure.values() if compared.panels is not None
    ]
    return LabelReliability(
        label=first_compared.label,
        panel_size=first_compared.size,
        n_items=first_compared.n_paired,
        n_items_compared=max((panels.n_items for panels in usable), default=0),
        n_raters=first_compared.n_raters,
        confidence_level=inference.confidence_level,
        same_label=same_bounds,
        reliability=reliable,
        is_floor=any(estimated.estimate.at_least for estimated in estimates),
        missing_reason="; ".join(filter(None, missing_reasons)),
    )


def estimate_label(
    ratings: Rated | CategoryCounts | NumbersByRater,
    measures: Iterable[str],
    inference: Inference = DEFAULT,
    trains: Trains | None = None,
) -> Iterator[Estimate]:
    """Estimates of the label that trains, each with the scope `label`. Statistics will do.

    Where one panel shows only the least that a value can be, the value is this floor, the upper
    limit is the greatest value of the measure, and `at_least` says what would tell more.
    """
    for name, compared in _iterate_compared_panels(ratings, measures, trains, None):
        yield _estimate_measure_of_label(name, compared, ratings, inference).estimate


class _Compared(NamedTuple):
    """The panels that a measure compares, or why there are none."""

    label: TrainingLabel
    size: int | None
    panels: Panels | None
    missing_reason: str
    n_items: int
    n_paired: int
    n_raters: int
    n_ratings: int
    chosen: float | None


class _Estimated(NamedTuple):
    estimate: Estimate
    bounds: Bounds | None


def _iterate_compared_panels(
    ratings: Rated | CategoryCounts | NumbersByRater,
    measures: Iterable[str],
    trains: Trains | None,
    panel_size: int | None,
) -> Iterator[tuple[str, _Compared]]:
    scale = ratings.scale
    label = trains.label if trains else default_label(scale)
    Trains(label).raise_if_unsuited(scale)
    statistic, n_raters = _statistic_of_label(ratings, label)
    if isinstance(statistic, NumbersByRater):
        sizes = (~np.isnan(statistic.values[..., 0])).sum(1)
    else:
        sizes = statistic.sizes
    weights = statistic.weights
    size: int | None = None
    if label not in ("mean", "shares", "adjudicated"):
        size = 1 if label == "one_rater" else panel_size or usual_panel_size(sizes, weights, label)
    chosen_p = None
    if isinstance(statistic, CategoryCounts) and label != "shares":
        p = missing_at_random_p_value(statistic)
        chosen_p = p if p <= CHOSEN_RATINGS_LEVEL else None
    for measure in measures:
        panels = _build_panels(statistic, sizes, scale, label, size, measure)
        yield (
            measure,
            _Compared(
                label,
                size,
                panels if isinstance(panels, Panels) else None,
                panels if isinstance(panels, str) else "",
                round(float(weights[sizes > 0].sum())),
                round(float(weights[sizes >= 2].sum())),
                n_raters,
                round(float(weights @ sizes)),
                chosen_p,
            ),
        )


def _statistic_of_label(
    ratings: Rated | CategoryCounts | NumbersByRater, label: TrainingLabel
) -> tuple[CategoryCounts | NumbersByRater, int]:
    """What the ratings of items are, and how many raters gave them."""
    if isinstance(ratings, CategoryCounts | NumbersByRater):
        return ratings, ratings.n_raters
    counting = counting_for(ratings)
    statistic: CategoryCounts | NumbersByRater
    if label == "mean" or ratings.scale.continuous:
        statistic = counting.numbers(ratings)
    else:
        statistic = counting.counts(ratings)
    return statistic, len(counting.panel(ratings)) if ratings.raters else statistic.n_raters


def _build_panels(
    statistic: CategoryCounts | NumbersByRater,
    sizes: Array,
    scale: Scale,
    label: TrainingLabel,
    size: int | None,
    measure: str,
) -> Panels | str:
    if reason := _no_panels_reason(statistic, sizes, label, size or 1, measure):
        return reason
    if isinstance(statistic, NumbersByRater):
        if label == "median":
            return _panels_of_medians_of_numbers(statistic, sizes, size or 1)
        return _panels_of_means(statistic, sizes, is_single=label == "one_rater")
    has_distance = measure == RELIABILITY and scale.level != "nominal"
    if label == "median":
        return _panels_of_medians(
            statistic, size or 1, _category_ranks(statistic) if has_distance else None
        )
    if label == "shares" or (label == "one_rater" and has_distance):
        return (
            _panels_of_shares(statistic)
            if label == "shares"
            else _panels_of_single_categories(statistic)
        )
    return _panels_of_categories(statistic, size or 1)


def _no_panels_reason(
    statistic: CategoryCounts | NumbersByRater,
    sizes: Array,
    label: TrainingLabel,
    size: int,
    measure: str,
) -> str:
    if label == "adjudicated":
        return ADJUDICATED
    if not (statistic.weights[sizes >= 2] > 0).any():
        return NO_PAIR
    if isinstance(statistic, NumbersByRater):
        return ""
    if label != "shares" and _are_extra_ratings_of_disputes(statistic):
        return ONLY_DISPUTES
    is_stable = _n_other_labels(statistic, label, size) >= MIN_OTHER_LABELS
    return "" if measure == AGREEMENT or is_stable else FEW_OTHER_LABELS


def _panels_of_means(numbers: NumbersByRater, sizes: Array, *, is_single: bool) -> Panels:
    """The means of items, or single ratings, whose mean of squares is then larger."""
    is_rated = ~np.isnan(numbers.values[..., 0])
    weights = np.where(sizes >= 2, numbers.weights, 0.0)
    ratings = np.where(is_rated[..., None], numbers.values, 0.0)
    n_ratings = float(weights @ sizes)
    centre = np.tensordot(weights, ratings.sum(1), 1) / n_ratings
    ratings = np.where(is_rated[..., None], numbers.values - centre, 0.0)
    nonzero_sizes = np.maximum(sizes, 1)
    means = ratings.sum(1) / nonzero_sizes[:, None]
    squares = (np.where(is_rated[..., None], ratings - means[:, None], 0.0) ** 2).sum((1, 2))
    variance = squares / np.maximum(sizes - 1, 1)
    guessed = float(weights @ (ratings**2).sum((1, 2))) / n_ratings
    if is_single:
        mean_square = (ratings**2).sum((1, 2)) / nonzero_sizes
        return _panels_of_numbers(numbers, sizes >= 2, means, mean_square, variance, guessed)
    of_mean = variance / nonzero_sizes
    guessed /= n_ratings / float(weights.sum())
    return _panels_of_numbers(numbers, sizes >= 2, means, (means**2).sum(1), of_mean, guessed)


def _panels_of_numbers(
    statistic: CategoryCounts | NumbersByRater,
    used: Flags,
    labels: Array,
    squares: Array,
    differences: Array,
    guessed: float,
    *,
    compared_size: int | None = None,
    n_needed: int = 2,
) -> Panels:
    """The unseen item is one on which raters guess, or one on which they agree."""
    weights = np.where(used, statistic.weights, 0.0)
    mean = weights @ labels / weights.sum()
    square = float((mean**2).sum())
    rows = np.vstack([labels, mean])
    seen_labels = LabelsOfPanels(labels, squares, differences, weights, of_categories=False)
    spread = max(float(np.nan_to_num(seen_labels.variance)), 0.0)
    lower, upper = (
        LabelsOfPanels(
            rows,
            np.append(squares, square + unseen_square),
            np.append(differences, unseen_difference),
            np.append(weights, 0.0),
            of_categories=False,
        )
        for unseen_square, unseen_difference in ((guessed, guessed), (spread, 0.0))
    )
    return Panels(statistic, used, lower, upper, compared_size, n_needed)


def _panels_of_shares(counts: CategoryCounts) -> Panels:
    used = np.asarray(counts.sizes >= 2)
    weights = np.where(used, counts.weights, 0.0)
    shares = counts.counts / np.maximum(counts.sizes, 1)[:, None]
    error = (1 - (shares**2).sum(1)) / np.maximum(counts.sizes - 1, 1)
    usual_shares = weights @ shares / weights.sum()
    guessed = float(1 - (usual_shares**2).sum()) / (
        float(weights @ counts.sizes) / float(weights.sum())
    )
    return _panels_of_numbers(counts, used, shares, (shares**2).sum(1), error, guessed)


def _panels_of_single_categories(counts: CategoryCounts) -> Panels:
    """Single ratings with a distance between categories."""
    used, sizes = np.asarray(counts.sizes >= 2), np.maximum(counts.sizes, 1)
    ranks = _category_ranks(counts)
    mean = counts.counts @ ranks / sizes
    square = counts.counts @ ranks**2 / sizes
    variance = (square - mean**2) * sizes / np.maximum(sizes - 1, 1)
    weights = np.where(used, counts.weights, 0.0)
    guessed = float(weights @ square / weights.sum() - (weights @ mean / weights.sum()) ** 2)
    return _panels_of_numbers(counts, used, mean[:, None], square, variance, guessed)


def _category_ranks(counts: CategoryCounts) -> Array:
    """The number of a category, or the mean rank of its ratings, from 0 to 1."""
    if counts.scale.numeric:
        numbers = counts.scale.scores
        return np.asarray(numbers - numbers.mean())
    times = counts.weights_of_paired @ counts.counts
    return np.asarray((times.cumsum() - times / 2) / max(float(times.sum()), 1.0) - 0.5)


def _panels_of_categories(counts: CategoryCounts, size: int) -> Panels:
    compared = _comparable_panel_size(counts, size)
    scores = same_label_scores(counts, compared)
    labels = panel_label_chances(counts, size)
    weights = np.where(scores.used, counts.weights, 0.0)
    most_common = np.argsort(weights @ labels)[-2:]
    unseen = np.zeros(labels.shape[1])
    unseen[most_common] = 1 / len(most_common)
    lower, upper = (
        LabelsOfPanels(
            np.vstack([labels, unseen]),
            np.ones(len(labels) + 1),
            np.append(1 - score, 1 - of_unseen),
            np.append(weights, 0.0),
        )
        for score, of_unseen in ((scores.under, scores.worst), (scores.over, scores.best))
    )
    return Panels(counts, scores.used, lower, upper, compared, _n_ratings_needed(compared))


def _n_other_labels(counts: CategoryCounts, label: TrainingLabel, size: int) -> float:
    """How many labels are not the most common one, of the items that show how panels differ."""
    n_needed = {"shares": 2, "median": 2 * size}.get(label)
    if n_needed is None:
        n_needed = _n_ratings_needed(_comparable_panel_size(counts, size))
    weights = np.where(counts.sizes >= n_needed, counts.weights, 0.0)
    if label == "median" and weights.sum() < MIN_ITEMS_COMPARED:
        return np.inf  # another reason says what is missing
    labels = counts.counts / np.maximum(counts.sizes, 1)[:, None]
    if label not in ("shares", "one_rater"):
        labels = panel_label_chances(counts, size)
    n_labels = weights @ labels
    return float(n_labels.sum() - n_labels.max())


def _panels_of_medians(counts: CategoryCounts, size: int, ranks: Array | None) -> Panels | str:
    """Medians of two panels, by the splits of an item's ratings."""
    n_needed = 2 * size
    used = np.asarray(counts.sizes >= n_needed)
    if reason := _too_few_items_reason(counts.weights[used].sum(), size, n_needed):
        return reason
    if not _can_split(counts, size):
        return f"an item has too many ratings to be split into panels of {size}"
    n_categories = counts.counts.shape[1]
    label_pairs = np.zeros((len(used), n_categories, n_categories))
    for row in np.flatnonzero(used):
        ratings = tuple(int(n) for n in counts.counts[row])
        label_pairs[row] = _label_pair_chances(ratings, size, _median_chances)
    labels = label_pairs.sum(2)
    if ranks is not None:
        mean, square = (labels @ ranks)[:, None], labels @ ranks**2
        differences = square - np.einsum("pkl,k,l->p", label_pairs, ranks, ranks)
        weights = np.where(used, counts.weights, 0.0)
        centre = float(weights @ mean[:, 0] / weights.sum())
        guessed = float(weights @ square / weights.sum()) - centre**2
        return _panels_of_numbers(
            counts, used, mean, square, differences, guessed, compared_size=size, n_needed=n_needed
        )
    same_chance = np.einsum("pkk->p", label_pairs)
    weights = np.append(np.where(used, counts.weights, 0.0), 0.0)
    unseen = np.zeros(n_categories)
    unseen[np.argsort(weights[:-1] @ labels)[-2:]] = 0.5
    lower, upper = (
        LabelsOfPanels(
            np.vstack([labels, unseen]),
            np.ones(len(labels) + 1),
            np.append(1 - same_chance, of_unseen),
            weights,
        )
        for of_unseen in (1.0, 0.0)
    )
    return Panels(counts, used, lower, upper, size, n_needed)


def _panels_of_medians_of_numbers(numbers: NumbersByRater, sizes: Array, size: int) -> Panels | str:
    """Medians of two panels, by random splits of an item's ratings."""
    n_needed = 2 * size
    used = np.asarray(sizes >= n_needed)
    if numbers.values.shape[2] > 1:
        return OF_VECTORS
    if reason := _too_few_items_reason(numbers.weights[used].sum(), size, n_needed):
        return reason
    rows = numbers.values[..., 0]
    rng = np.random.default_rng(0)
    mean, square, differences = np.zeros((3, len(rows)))
    for _ in range(N_RANDOM_SPLITS):
        order = np.argsort(np.where(np.isnan(rows), np.inf, rng.random(rows.shape)), axis=1)
        shuffled_rows = np.take_along_axis(rows, order, 1)[used]
        first_medians = np.median(shuffled_rows[:, :size], axis=1)
        second_medians = np.median(shuffled_rows[:, size:n_needed], axis=1)
        mean[used] += (first_medians + second_medians) / 2 / N_RANDOM_SPLITS
        square[used] += (first_medians**2 + second_medians**2) / 2 / N_RANDOM_SPLITS
        differences[used] += (first_medians - second_medians) ** 2 / 2 / N_RANDOM_SPLITS
    weights = np.where(used, numbers.weights, 0.0)
    centre = float(weights @ mean / weights.sum())
    square, mean = square - 2 * centre * mean + centre**2, mean - centre
    guessed = float(weights @ square / weights.sum())
    return _panels_of_numbers(
        numbers,
        used,
        mean[:, None],
        square,
        differences,
        guessed,
        compared_size=size,
        n_needed=n_needed,
    )


def _too_few_items_reason(n_items: float, size: int, n_needed: int) -> str:
    if n_items >= MIN_ITEMS_COMPARED:
        return ""
    return (
        f"one panel does not show whether another panel of {size} has the same median; a second "
        f"panel on {ITEMS_TO_DRAW} items drawn by chance does, which is {n_needed} ratings (here "
        f"{counted(round(float(n_items)), 'item')}, and {MIN_ITEMS_COMPARED} are needed)"
    )


def same_label_scores(counts: CategoryCounts, panel_size: int) -> ItemScores:
    """The scores of each row whose mean over items is the share of items on which panels agree.

    Rows with fewer ratings than are needed are not used: two for a panel of one or two, one more
    than the panel has where there are `SCORES`, and else two panels. A row with more ratings than
    that gets the mean over the choices among them, or over the splits into two panels.
    """
    used = np.asarray(counts.sizes >= _n_ratings_needed(panel_size))
    scores = np.zeros((len(used), 2))
    for row in np.flatnonzero(used):
        ratings = tuple(sorted((int(n) for n in counts.counts[row] if n), reverse=True))
        scores[row] = _same_label_scores_of_row(ratings, panel_size)
    worst, best = 0.0, 1.0
    if (scores[:, 0] != scores[:, 1]).any():
        worst = min(low for low, _ in SCORES[panel_size].values())
        best = max(high for _, high in SCORES[panel_size].values())
    return ItemScores(scores[:, 0], scores[:, 1], used, worst, best)


def _n_ratings_needed(panel_size: int) -> int:
    if panel_size <= 2:
        return 2
    return panel_size + 1 if panel_size in SCORES else 2 * panel_size


def _comparable_panel_size(counts: CategoryCounts, size: int) -> int:
    """The size of the largest panels that can be compared, up to that of the label.

    Smaller panels agree no more often than larger ones.
    """
    for smaller in range(size, 2, -1):
        enough = counts.weights[counts.sizes >= _n_ratings_needed(smaller)].sum()
        can_compare = smaller in SCORES or _can_split(counts, smaller)
        if enough >= MIN_ITEMS_COMPARED and can_compare:
            return smaller
    return min(size, 2)


def _can_split(counts: CategoryCounts, panel_size: int) -> bool:
    n_used = int((counts.counts > 0).sum(1).max(initial=1))
    return _n_splits(n_used, panel_size) <= MAX_SPLITS


def _n_splits(n_categories: int, panel_size: int) -> int:
    """The most splits of ratings in so many categories into two panels."""
    return comb(panel_size + n_categories - 1, n_categories - 1) ** 2


@cache
def _same_label_scores_of_row(ratings: RatingType, panel_size: int) -> tuple[float, float]:
    n_ratings = sum(ratings)
    if panel_size <= 2:  # a tie of two by lot gives each rater's label with equal chance
        pairs = sum(n * (n - 1) for n in ratings) / (n_ratings * (n_ratings - 1))
        return pairs, pairs
    if n_ratings >= 2 * panel_size and _n_splits(len(ratings), panel_size) <= MAX_SPLITS:
        agree = float(np.trace(_label_pair_chances(ratings, panel_size, _plurality_chances)))
        return agree, agree
    lower_score = upper_score = 0.0
    for sampled, chance in _samples_and_chances(ratings, panel_size + 1):
        low, high = SCORES[panel_size][tuple(sorted(filter(None, sampled), reverse=True))]
        lower_score, upper_score = lower_score + chance * low, upper_score + chance * high
    return lower_score, upper_score


@cache
def _label_pair_chances(
    ratings: RatingType, panel_size: int, chances_of: Callable[[RatingType], Array]
) -> Array:
    """The chance of each two labels (K, K) of two panels without a common rating, drawn from
    these.
    """
    chances_of_pairs = np.zeros((len(ratings), len(ratings)))
    for first_panel, chance in _samples_and_chances(ratings, panel_size):
        remaining = tuple(n - n_taken for n, n_taken in zip(ratings, first_panel, strict=True))
        for second_panel, chance_after in _samples_and_chances(remaining, panel_size):
            chances_of_pairs += (
                chance * chance_after * np.outer(chances_of(first_panel), chances_of(second_panel))
            )
    return chances_of_pairs


@cache
def _plurality_chances(ratings: RatingType) -> Array:
    """The chance of each category to be the plurality, with ties settled by lot."""
    times = np.array(ratings)
    is_most_frequent = times == times.max()
    return np.asarray(is_most_frequent / is_most_frequent.sum())


@cache
def _median_chances(ratings: RatingType) -> Array:
    """The chance of each category to be the median; between two, each has half of it."""
    below, total = np.cumsum(ratings), sum(ratings)
    chances = np.zeros(len(ratings))
    chances[int((2 * below >= total).argmax())] += 0.5
    chances[int((2 * below > total).argmax())] += 0.5
    return chances


@cache
def _samples_and_chances(ratings: RatingType, size: int) -> tuple[tuple[RatingType, float], ...]:
    """The samples of this size from the ratings, by category, and the chance of each."""
    n_choices = comb(sum(ratings), size)
    return tuple(
        (
            sampled,
            prod(comb(n, n_taken) for n, n_taken in zip(ratings, sampled, strict=True)) / n_choices,
        )
        for sampled in _iterate_samples(ratings, size)
    )


def _iterate_samples(ratings: RatingType, size: int) -> Iterator[RatingType]:
    if not ratings:
        if size == 0:
            yield ()
        return
    n_of_category, other_categories = ratings[0], ratings[1:]
    for n_taken in range(max(0, size - sum(other_categories)), min(n_of_category, size) + 1):
        for other_counts in _iterate_samples(other_categories, size - n_taken):
            yield n_taken, *other_counts


def panel_label_chances(counts: CategoryCounts, panel_size: int) -> Array:
    """The chance of each category to be the label of a panel drawn from a row's ratings (P, K).

    A row of fewer ratings has the label of these.
    """
    chances = np.zeros(counts.counts.shape)
    for row in np.flatnonzero(counts.sizes >= 2):
        given_categories = np.flatnonzero(counts.counts[row])
        ratings = tuple(int(n) for n in counts.counts[row][given_categories])
        size = min(panel_size, sum(ratings))
        if _n_splits(len(ratings), size) > MAX_SPLITS:
            chances[row, given_categories] = _plurality_chances(ratings)
            continue
        for sampled, chance in _samples_and_chances(ratings, size):
            chances[row, given_categories] += chance * _plurality_chances(sampled)
    return chances


def usual_panel_size(sizes: Array, weights: Array, label: TrainingLabel) -> int:
    """As many raters as most items have, or one fewer if they are four, six and so on.

    Then the rater more serves to compare panels. With two categories and ties by lot, a panel of
    four agrees with another as often as one of three. An even panel may have no median.
    """
    items_by_size = Counter[int]()
    for size, weight in zip(sizes, weights, strict=True):
        items_by_size[int(size)] += weight if size >= 2 else 0
    most_frequent_size = max(
        items_by_size, key=lambda size: (items_by_size[size], -size), default=2
    )
    is_odd_better = most_frequent_size > 2 or label == "median"
    return (
        most_frequent_size - 1
        if is_odd_better and most_frequent_size % 2 == 0
        else most_frequent_size
    )


def _are_extra_ratings_of_disputes(counts: CategoryCounts) -> bool:
    """Whether items got more ratings just where the first ones differed.

    Then every item with the fewest ratings is unanimous, and none of the others.
    """
    rated = (counts.sizes >= 2) & (counts.weights > 0)
    if not rated.any():
        return False
    has_fewest = rated & (counts.sizes == counts.sizes[rated].min())
    has_more = rated & ~has_fewest
    unanimous = counts.counts.max(1) == counts.sizes
    n_few, n_more = counts.weights[has_fewest].sum(), counts.weights[has_more].sum()
    enough = min(n_few, n_more) >= MIN_ITEMS_BY_DESIGN
    return bool(enough and unanimous[has_fewest].all() and not unanimous[has_more].any())


def _estimate_measure_of_label(
    measure: str,
    compared: _Compared,
    ratings: Rated | CategoryCounts | NumbersByRater,
    inference: Inference,
) -> _Estimated:
    record, panels = find_registered_measure(measure), compared.panels
    statistic = None if panels is None else panels.statistic
    clusters = None if statistic is None else statistic.clusters
    undefined: str | None = compared.missing_reason or None
    confidence, bounds, n_clusters = None, None, None
    point: list[Any] = []
    if panels is not None and statistic is not None:
        point = [
            record(labels.with_weights(labels.weights)) for labels in (panels.under, panels.over)
        ]
        undefined = record.why_undefined(panels.under)
        if clusters is not None:
            n_clusters = clusters.select_rows(panels.used & (statistic.weights > 0)).n
            if n_clusters < 2:
                undefined = undefined or f"the items are of {counted(n_clusters, 'cluster')}"
    is_floor = _is_floor(compared)
    judged_on = inference.judged_on
    if judged_on is None:
        judged_on = compared.n_items if clusters is None else clusters.n
    if panels is not None and undefined is None:
        lowest, greatest = (
            _clip_to_bounds(float(coefficient.value), record) for coefficient in point
        )
        if is_floor:
            greatest = record.bounds[1]
        confidence = _build_distribution(
            record, panels, lowest, inference, judged_on, is_floor=is_floor
        )
        low, high = confidence.limits(inference.tail)
        bounds = Bounds(lowest, greatest, low, high)
    n_used = 0 if panels is None else panels.n_items
    n_dropped = compared.n_items - n_used
    dropped_reason = f"fewer than {2 if panels is None else panels.n_needed} ratings"
    estimate = Estimate(
        measure=record.name,
        scope=LABEL,
        value=None if bounds is None else bounds.least,
        interval=None if confidence is None else confidence.limits(inference.tail),
        confidence_level=inference.confidence_level,
        method=METHOD if clusters is None else METHOD_OF_CLUSTERS,
        n_items=compared.n_items,
        n_raters=compared.n_raters,
        n_ratings=compared.n_ratings,
        observed=None if bounds is None else float(point[0].observed),
        undefined=undefined,
        dropped={dropped_reason: n_dropped} if n_dropped else {},
        convention=record.convention,
        categories=ratings.scale.names,
        n_clusters=n_clusters,
        always_valid_at=inference.always_valid_at,
        looks=inference.looks,
        judged_on=None if inference.looks is None else judged_on,
        chosen=compared.chosen,
        distribution=confidence,
        at_least=_floor_reason(compared) if is_floor and bounds is not None else "",
    )
    return _Estimated(estimate, bounds)


def _clip_to_bounds(value: float, record: Measure) -> float:
    low, high = record.bounds
    return float(np.clip(value, low, high))


def _is_floor(compared: _Compared) -> bool:
    panels, size = compared.panels, compared.size
    if panels is None or size is None or panels.compared_size is None or size <= 2:
        return False
    return panels.compared_size < size


def _floor_reason(compared: _Compared) -> str:
    size = compared.size or 0
    n_needed = _n_ratings_needed(size)
    return (
        f"the true value may be higher; to measure it, have {ITEMS_TO_DRAW} items drawn at random "
        f"rated by {n_needed} raters each"
    )


def _build_distribution(
    record: Measure,
    panels: Panels,
    value: float,
    inference: Inference,
    judged_on: int,
    *,
    is_floor: bool,
) -> ConfidenceDistribution:
    """The lower limit comes from what bounds the value from below, with the worst unseen item. The
    upper limit comes from what bounds it from above, with the best one.
    """
    statistic, used = panels.statistic, panels.used
    n_resamples = min(inference.n_resamples, affordable_resamples(record, statistic))
    lower_values, upper_values = [], []
    far_rows = _farthest_rows(panels)
    absent_rng = np.random.default_rng(0)
    for weights in _draw_resampled_weights(statistic, replace(inference, n_resamples=n_resamples)):
        weights[..., :-1] *= used
        if not is_floor:
            upper_values.append(record(panels.over.with_weights(weights)).value)
        values = record(panels.under.with_weights(weights)).value
        if len(far_rows):
            is_absent = absent_rng.random((len(weights), len(far_rows))) < ABSENT_SHARE
            weights[:, far_rows] *= np.where(is_absent, 1 - 1 / panels.weights[far_rows], 1.0)
            values = np.fmin(values, record(panels.under.with_weights(weights)).value)
        lower_values.append(values)
    low, high = record.bounds
    lower_draws = np.clip(np.concatenate(lower_values), low, high)
    greatest = (
        np.full(len(lower_draws), high)
        if is_floor
        else np.clip(np.concatenate(upper_values), low, high)
    )
    n_units = float(panels.weights.sum())
    if statistic.clusters is not None:
        n_units = statistic.clusters.effective_number(statistic.weights, used)
    if inference.has_too_few(len(lower_draws)):
        return BoundsOnly(record.bounds, TOO_FEW_DRAWS)
    single_look = build_expanded_percentiles(
        lower_draws, value, record.bounds, n_units, raised_draws=greatest
    )
    return build_for_looks(single_look, single_look, inference, record.bounds, judged_on, n_units)


def _farthest_rows(panels: Panels) -> Codes:
    """The rows whose numbers are farthest from the mean. None of categories and their shares."""
    rows = np.flatnonzero(panels.weights >= 1)
    labels = panels.under.labels[rows]
    if isinstance(panels.statistic, CategoryCounts) or not len(rows):
        return rows[:0]
    distances = ((labels - np.average(labels, axis=0, weights=panels.weights[rows])) ** 2).sum(-1)
    return rows[np.argsort(-distances, kind="stable")[:N_FAR_ITEMS]]


def _draw_resampled_weights(
    statistic: CategoryCounts | NumbersByRater, inference: Inference
) -> Iterator[Array]:
    """Weights of rows and of one unseen item (B, P + 1), by the Bayesian bootstrap."""
    masses = np.append(resampling_masses(statistic), 1.0)

    def draw_block(rng: np.random.Generator, size: int) -> Array:
        unit_weights = rng.dirichlet(masses, size=size) * masses.sum()
        return spread_unit_weights_over_rows(statistic, unit_weights)

    yield from draw_in_blocks(
        draw_block, inference.n_resamples, len(masses), seed_from_arrays(statistic)
    )


def _describe_findings(result: LabelReliability) -> Iterator[str]:
    level = f"{result.confidence_level:.0%}"
    size, items = (
        result.panel_size,
        counted(result.n_items_compared, "item"),
    )
    label_words = {
        "mean": "means of ratings",
        "shares": "shares of ratings",
        "median": f"medians of {size} ratings",
        "one_rater": "labels of one rater",
    }.get(result.label, f"labels of panels of {size}")
    if result.same_label is not None:
        lowest, greatest, low, high = result.same_label
        other_panel = "Another rater" if size == 1 else f"Another panel of {size}"
        if result.is_floor:
            yield (
                f"{other_panel} would give the same label on at least {low:.0%} of items (lower "
                f"limit of the {level} interval; {lowest:.0%} on these {items})."
            )
        else:
            share = (
                f"{lowest:.1%}" if greatest - lowest < 5e-4 else f"{lowest:.1%} to {greatest:.1%}"
            )
            yield (
                f"{other_panel} would give the same label on {share} of items ({level} interval "
                f"{low:.0%} to {high:.0%}, {items})."
            )
    if result.reliability is not None:
        lowest, greatest, low, high = result.reliability
        if result.is_floor:
            yield f"Beyond chance, that is at least {low:.3f} ({lowest:.3f} on these items)."
        else:
            value = f"{lowest:.3f}"
            if greatest - lowest >= 5e-4:
                value = f"{lowest:.3f} to {greatest:.3f}"
            yield (
                f"Reliability of the {label_words}, beyond chance: {value} ({level} interval "
                f"{low:.3f} to {high:.3f}, {items})."
            )
    if result.missing_reason:
        yield f"{result.missing_reason[0].upper()}{result.missing_reason[1:]}."
    if result.label == "mean" and result.n_items_compared < MANY_ITEMS_OF_NUMBERS:
        yield (
            f"On fewer than {MANY_ITEMS_OF_NUMBERS} items, and where numbers are skewed, the upper "
            "limit is too low more often than it says."
        )
    if size is not None and 2 <= result.n_raters <= size:
        yield (
            f"All labels come from the same {result.n_raters} raters, so nothing shows how far "
            "others would differ from them."
        )
