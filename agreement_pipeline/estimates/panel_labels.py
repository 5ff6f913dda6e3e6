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
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from functools import cache
from math import comb, prod
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from agreement_pipeline.counting import Rated, counting_of
from agreement_pipeline.errors import AgreementError
from agreement_pipeline.estimates.estimates import DEFAULT
from agreement_pipeline.intervals import (
    Inference,
    draw_in_blocks,
    resampling_masses,
    spread_over_rows,
)
from agreement_pipeline.ratings import Array, Flags
from agreement_pipeline.statistics import CategoryCounts, NumbersByRater, seed_of
from agreement_pipeline.text import counted, joined

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
PANEL_SIZES = (1, 2, *SCORES)
MAX_SPLITS = 50_000
"""Of a row with more splits than these, the mean of scores is taken, which needs no splits."""
MIN_OTHER_LABELS = 10
"""With fewer panel labels outside the most common category, chance correction is unstable."""
MIN_ITEMS_BY_DESIGN = 10
MIN_ITEMS_SCORED = 50
NO_PAIR = "no item has two ratings"
WHICH_CAN = f"name one of {joined(map(str, PANEL_SIZES))}"
FEW_OTHER_LABELS = (
    f"no value beyond chance, since fewer than {MIN_OTHER_LABELS} panel labels are not the most "
    "common one"
)
ONLY_DISPUTES = (
    "more ratings stand only on items whose first ones differ, so pairs of ratings say nothing of "
    "all items; compare the first ratings alone, or draw the items that get more"
)


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


@dataclass(frozen=True)
class LabelReliability:
    """Whether another panel would give the same labels.

    Attributes
    ----------
    kind
        `mean`, `share` or `plurality`: how ratings become the label.
    panel_size
        The number of raters of the panel that is spoken of. None of means: each item's own number.
    n_items
        The items with two ratings or more.
    reliability
        Of a mean or a share: the part of the labels' variance that is no error. None of a category.
    floor
        Of a category: two panels agree on at least this share of items. `low` is its lower limit.
    same_label
        Of a category: the share of items on which two panels agree. None without enough ratings.
    beyond_chance
        `same_label`, corrected for chance agreement of panels.
    n_items_scored
        The items that `same_label` rests on.
    missing_reason
        Why a part is None.
    """

    kind: str
    panel_size: int | None
    n_items: int
    confidence_level: float
    reliability: Bounds | None = None
    floor: Bounds | None = None
    same_label: Bounds | None = None
    beyond_chance: Bounds | None = None
    n_items_scored: int = 0
    missing_reason: str = ""

    def to_mapping(self) -> dict[str, Any]:
        parts = ("reliability", "floor", "same_label", "beyond_chance")
        bounds = {name: getattr(self, name) for name in parts}
        return {
            **asdict(self),
            **{name: None if part is None else part._asdict() for name, part in bounds.items()},
        }

    @property
    def sentences(self) -> tuple[str, ...]:
        return tuple(_sentences(self))


def label_reliability(
    ratings: Rated, *, panel_size: int | None = None, inference: Inference = DEFAULT
) -> LabelReliability:
    """How reliable is the label that trains: would another panel give it again?

    It speaks of raters like these, drawn anew for each item. The items with more ratings than
    others must have been drawn by chance.

    Parameters
    ----------
    ratings
        Ratings, or counts of categories.
    panel_size
        How many raters give a label. By default, as many as most items have.
    inference
        The confidence level and the number of resamples.

    Raises
    ------
    AgreementError
        The panel size is not a whole number from 1.
    """
    if panel_size is not None and not (isinstance(panel_size, int) and panel_size >= 1):
        raise AgreementError(
            f"panel_size: found {panel_size!r}; expected a whole number from 1. Correct it."
        )
    scale, counting = ratings.scale, counting_of(ratings)
    if scale.numeric:
        return _of_means(counting.numbers(ratings), inference)
    return _of_plurality(counting.counts(ratings), panel_size, inference)


def share_reliability(counts: CategoryCounts, weights: Array) -> Array:
    r"""The reliability of the shares of categories, for weights of shape (..., P); (...).

    .. math:: R = 1 - \frac{\sum_k W_k}{\sum_k V_k}

    V_k is the variance between items of the share of category k, and W_k the mean over items of
    s^2 / m, where s^2 is the variance of an item's m ratings as zeros and ones. Every item counts
    once, as in training. With equal m, R is ICC(1, k) of these numbers, and m a / (1 + (m - 1) a)
    of alpha a but for a correction for few items.
    """
    sizes = counts.sizes
    shares = counts.counts / np.maximum(sizes, 1)[:, None]
    error = (1 - (shares**2).sum(1)) / np.maximum(sizes - 1, 1)
    return _one_less_error(shares, error, np.where(sizes >= 2, weights, 0.0))


def mean_reliability(numbers: NumbersByRater, weights: Array) -> Array:
    """The reliability of the means of items, as `share_reliability` for numbers of any size."""
    values = numbers.values
    is_rated = ~np.isnan(values[..., 0])
    sizes = is_rated.sum(1)
    values = np.where(is_rated[..., None], values, 0.0)
    means = values.sum(1) / np.maximum(sizes, 1)[:, None]
    squares = (np.where(is_rated[..., None], values - means[:, None], 0.0) ** 2).sum((1, 2))
    error = squares / np.maximum(sizes - 1, 1) / np.maximum(sizes, 1)
    return _one_less_error(means, error, np.where(sizes >= 2, weights, 0.0))


def _one_less_error(labels: Array, error: Array, weights: Array) -> Array:
    """`labels` (P, D) and the variance of each label's error (P,); weights (..., P)."""
    n_items = weights.sum(-1)
    with np.errstate(divide="ignore", invalid="ignore"):
        centres = (weights @ labels) / n_items[..., None]
        apart = ((labels - centres[..., None, :]) ** 2).sum(-1)
        variance = (weights * apart).sum(-1) / (n_items - 1)
        return np.asarray(1 - (weights @ error) / n_items / variance)


def same_label_scores(counts: CategoryCounts, panel_size: int) -> ItemScores:
    """The scores of each row whose mean over items is the share of items on which panels agree.

    Rows with fewer ratings than are needed are not used: two for a panel of one or two, and one
    more than the panel has for a larger one. A row with more ratings than that gets the mean over
    the choices among them, or over the splits into two panels.
    """
    used = np.asarray(counts.sizes >= _n_ratings_needed(panel_size))
    scores = np.zeros((len(used), 2))
    for row in np.flatnonzero(used):
        ratings = tuple(sorted((int(n) for n in counts.counts[row] if n), reverse=True))
        scores[row] = _row_scores(ratings, panel_size)
    worst, best = 0.0, 1.0
    if (scores[:, 0] != scores[:, 1]).any():
        worst = min(low for low, _ in SCORES[panel_size].values())
        best = max(high for _, high in SCORES[panel_size].values())
    return ItemScores(scores[:, 0], scores[:, 1], used, worst, best)


def _n_ratings_needed(panel_size: int) -> int:
    return 2 if panel_size <= 2 else panel_size + 1


@cache
def _row_scores(ratings: RatingType, panel_size: int) -> tuple[float, float]:
    n_ratings = sum(ratings)
    if panel_size <= 2:  # a tie of two by lot gives each rater's label with equal chance
        pairs = sum(n * (n - 1) for n in ratings) / (n_ratings * (n_ratings - 1))
        return pairs, pairs
    if n_ratings >= 2 * panel_size and len(_choices(ratings, panel_size)) ** 2 <= MAX_SPLITS:
        agree = _splits_agree(ratings, panel_size)
        return agree, agree
    under = over = 0.0
    for some, chance in _choices(ratings, panel_size + 1):
        low, high = SCORES[panel_size][tuple(sorted(filter(None, some), reverse=True))]
        under, over = under + chance * low, over + chance * high
    return under, over


def _splits_agree(ratings: RatingType, panel_size: int) -> float:
    """The chance that two panels without a common rating, drawn from these, give the same label."""
    agree = 0.0
    for one, chance in _choices(ratings, panel_size):
        rest = tuple(n - taken for n, taken in zip(ratings, one, strict=True))
        for other, chance_after in _choices(rest, panel_size):
            same = np.dot(_label_chances(one), _label_chances(other))
            agree += chance * chance_after * float(same)
    return agree


@cache
def _label_chances(ratings: RatingType) -> Array:
    """The chance of each category to be the plurality, with ties settled by lot."""
    times = np.array(ratings)
    most = times == times.max()
    return np.asarray(most / most.sum())


@cache
def _choices(ratings: RatingType, size: int) -> tuple[tuple[RatingType, float], ...]:
    """The samples of this size from the ratings, by category, and the chance of each."""
    every = comb(sum(ratings), size)
    return tuple(
        (some, prod(comb(n, taken) for n, taken in zip(ratings, some, strict=True)) / every)
        for some in _samples(ratings, size)
    )


def _samples(ratings: RatingType, size: int) -> Iterator[RatingType]:
    if not ratings:
        if size == 0:
            yield ()
        return
    first, rest = ratings[0], ratings[1:]
    for taken in range(max(0, size - sum(rest)), min(first, size) + 1):
        for others in _samples(rest, size - taken):
            yield taken, *others


def panel_labels(counts: CategoryCounts, panel_size: int) -> Array:
    """The chance of each category to be the label of a panel drawn from a row's ratings (P, K)."""
    chances = np.zeros(counts.counts.shape)
    for row in np.flatnonzero(counts.sizes >= panel_size):
        there = np.flatnonzero(counts.counts[row])
        ratings = tuple(int(n) for n in counts.counts[row][there])
        for some, chance in _choices(ratings, panel_size):
            chances[row, there] += chance * _label_chances(some)
    return chances


def _sentences(found: LabelReliability) -> Iterator[str]:
    level = f"{found.confidence_level:.0%}"
    if found.reliability is not None:
        value, _, low, high = found.reliability  # both bounds are equal
        of = "mean of an item's ratings" if found.kind == "mean" else "shares of an item's ratings"
        yield (
            f"The {of} has reliability {value:.3f} ({level} interval {low:.3f} to {high:.3f}, "
            f"{counted(found.n_items, 'item')}): the part of the labels' variance that is no error."
        )
    size = found.panel_size
    if found.floor is not None:
        yield (
            f"Another panel of {size} would give the same label on at least "
            f"{found.floor.low:.0%} of items (lower limit of the {level} interval, "
            f"{counted(found.n_items, 'item')})."
        )
    if found.same_label is not None:
        least, greatest, low, high = found.same_label
        share = f"{least:.1%}" if greatest - least < 5e-4 else f"{least:.1%} to {greatest:.1%}"
        yield (
            f"By {counted(found.n_items_scored, 'item')} with more ratings it is {share} of items "
            f"({level} interval {low:.0%} to {high:.0%}), if these items were drawn by chance."
        )
    if found.beyond_chance is not None:
        least, greatest, low, high = found.beyond_chance
        yield (
            f"Beyond chance: {least:.3f} to {greatest:.3f} "
            f"({level} interval {low:.3f} to {high:.3f})."
        )
    if found.missing_reason:
        yield f"{found.missing_reason[0].upper()}{found.missing_reason[1:]}."
    yield (
        "This speaks of raters like these, drawn anew for each item, and counts a tie as settled "
        "by lot. It does not say that the label is right: only gold items or an expert's check of "
        "drawn items show the errors that raters share."
    )


def _of_means(numbers: NumbersByRater, inference: Inference) -> LabelReliability:
    n_items = round(float(numbers.weights[(~np.isnan(numbers.values[..., 0])).sum(1) >= 2].sum()))
    value = float(mean_reliability(numbers, numbers.weights)) if n_items >= 2 else np.nan
    if np.isnan(value):
        return LabelReliability(
            "mean", None, n_items, inference.confidence_level, missing_reason=NO_PAIR
        )
    drawn = np.concatenate(
        [mean_reliability(numbers, weights) for weights, _ in _resamples(numbers, inference)]
    )
    low, high = _limits(drawn, drawn, inference)
    bounds = Bounds(value, value, low, high)
    return LabelReliability("mean", None, n_items, inference.confidence_level, reliability=bounds)


def _of_plurality(
    counts: CategoryCounts, panel_size: int | None, inference: Inference
) -> LabelReliability:
    n_items = round(float(counts.weights[counts.sizes >= 2].sum()))
    size = panel_size or _usual_panel(counts)
    unknown = LabelReliability("plurality", size, n_items, inference.confidence_level)
    if not n_items:
        return replace(unknown, missing_reason=NO_PAIR)
    if _only_disputes(counts):
        return replace(unknown, missing_reason=ONLY_DISPUTES)
    floor, _ = _estimate(counts, same_label_scores(counts, 1), None, inference)
    known = replace(unknown, floor=floor)
    if size not in PANEL_SIZES:
        return replace(known, missing_reason=f"panels of {size} cannot be compared; {WHICH_CAN}")
    scores = same_label_scores(counts, size)
    used = np.where(scores.used, counts.weights, 0.0)
    n_scored = round(float(used.sum()))
    if n_scored < MIN_ITEMS_SCORED:
        why = (
            f"how far above that, {counted(size, 'rating')} an item cannot tell; "
            f"{_n_ratings_needed(size)} ratings on 300 items drawn by chance can (here "
            f"{counted(n_scored, 'item')}, and {MIN_ITEMS_SCORED} are needed)"
        )
        return replace(known, missing_reason=why)
    labels = panel_labels(counts, size)
    n_labels = used @ labels
    is_stable = n_labels.sum() - n_labels.max() >= MIN_OTHER_LABELS
    same, beyond = _estimate(counts, scores, labels if is_stable else None, inference)
    return replace(
        known,
        same_label=same,
        beyond_chance=beyond,
        n_items_scored=n_scored,
        missing_reason="" if is_stable else FEW_OTHER_LABELS,
    )


def _usual_panel(counts: CategoryCounts) -> int:
    """As many raters as most items have, or the next smaller panel that can be compared."""
    items_by_size = Counter[int]()
    for size, weight in zip(counts.sizes, counts.weights, strict=True):
        items_by_size[int(size)] += weight if size >= 2 else 0
    usual = max(items_by_size, key=lambda size: (items_by_size[size], -size))
    return max(size for size in PANEL_SIZES if size <= usual)


def _only_disputes(counts: CategoryCounts) -> bool:
    """Whether items got more ratings just where the first ones differed.

    Then every item with the fewest ratings is unanimous, and none of the others.
    """
    rated = (counts.sizes >= 2) & (counts.weights > 0)
    if not rated.any():
        return False
    few = rated & (counts.sizes == counts.sizes[rated].min())
    more = rated & ~few
    unanimous = counts.counts.max(1) == counts.sizes
    n_few, n_more = counts.weights[few].sum(), counts.weights[more].sum()
    enough = min(n_few, n_more) >= MIN_ITEMS_BY_DESIGN
    return bool(enough and unanimous[few].all() and not unanimous[more].any())


def _resamples(
    statistic: CategoryCounts | NumbersByRater, inference: Inference
) -> Iterator[tuple[Array, Array]]:
    """Weights of rows (B, P) by the Bayesian bootstrap, and that of one unseen item (B,)."""
    masses = np.append(resampling_masses(statistic), 1.0)

    def drawn(rng: np.random.Generator, size: int) -> tuple[Array, Array]:
        found = rng.dirichlet(masses, size=size) * masses.sum()
        weights = spread_over_rows(statistic, found)
        return weights[:, :-1], weights[:, -1]

    yield from draw_in_blocks(drawn, inference.n_resamples, len(masses), seed_of(statistic))


def _estimate(
    counts: CategoryCounts, scores: ItemScores, labels: Array | None, inference: Inference
) -> tuple[Bounds, Bounds | None]:
    """The share of items with the same label, and beyond chance if the panel's labels are given.

    The unseen item is the worst that could have been seen for the lower limit, and the best for
    the upper one. For chance, its label is one of the two most common ones.
    """

    def values(weights: Array, unseen: Array) -> Iterator[Array]:
        used = np.where(scores.used, weights, 0.0)
        n_items = used.sum(-1) + unseen
        under = np.clip((used @ scores.under + unseen * scores.worst) / n_items, 0.0, 1.0)
        over = np.clip((used @ scores.over + unseen * scores.best) / n_items, 0.0, 1.0)
        yield from (under, over)
        if labels is not None:
            shares = used @ labels
            places = np.argsort(shares, axis=-1)[..., -2:]
            half = np.take_along_axis(shares, places, -1) + unseen[..., None] / 2
            np.put_along_axis(shares, places, half, -1)
            chance = ((shares / shares.sum(-1, keepdims=True)) ** 2).sum(-1)
            yield from ((under - chance) / (1 - chance), (over - chance) / (1 - chance))

    points = [float(value[0]) for value in values(counts.weights[None], np.zeros(1))]
    blocks = [list(values(*block)) for block in _resamples(counts, inference)]
    drawn = [np.concatenate(parts) for parts in zip(*blocks, strict=True)]
    same = Bounds(points[0], points[1], *_limits(drawn[0], drawn[1], inference))
    if labels is None:
        return same, None
    return same, Bounds(points[2], points[3], *_limits(drawn[2], drawn[3], inference))


def _limits(under: Array, over: Array, inference: Inference) -> tuple[float, float]:
    outside = (1 - inference.confidence_level) / 2
    return float(np.quantile(under, outside)), float(np.quantile(over, 1 - outside))
