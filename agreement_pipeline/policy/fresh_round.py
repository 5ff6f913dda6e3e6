"""How many items a fresh round needs before a rule decides, read off a round like it.

The reason of a verdict, the step that follows from it and `plan` all say this one number.
"""

import math
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple, TypeGuard

import numpy as np

from agreement_pipeline.estimates import (
    Estimate,
    estimate,
    estimate_redrawn,
    find_registered_measure,
    reestimate,
)
from agreement_pipeline.intervals import (
    NORMAL,
    PRIOR_MASS,
    Inference,
    Percentiles,
    WiderOf,
    resampling_masses,
)
from agreement_pipeline.ratings import Array
from agreement_pipeline.statistics import CategoryCounts, Statistic
from agreement_pipeline.text import DIGITS

PROBABILITY = 0.9
"""How often a fresh round shall decide, if nobody says otherwise."""
FEWEST_ITEMS, MOST_ITEMS = 5, 200_000
MIN_SHARE_OVER_CUTOFF = 0.75
"""How much of what a round leaves open lies over the cut-off, if one can plan from it."""
MIN_RELATIVE_GAIN = 0.5
"""What a doubling of the items must bring, as a share of what it brings if agreement is known."""
HOPELESS_SHARE = 0.5
"""Under this share of the probability, more items are worth their price."""
PLANNING_INFERENCE = Inference(n_resamples=1_000)
N_TRUTHS = 200
N_ROUNDS, MIN_ROUNDS = 16, 3
MAX_REDRAWN_WEIGHTS = 5_000_000
"""A size is tried on so many rounds, and on fewer if their resamples have so many weights."""
MIN_COSTLY_ROWS = 40
"""Resamples of fewer rows take as long as those of so many."""
MAX_REDRAWN_ROWS = 20_000
"""On more rows the gap of the round itself stands for that of all sizes."""
LOG_STEP = 0.1
MAX_ITEM_FACTOR, MAX_MORE_ITEMS = 30, 5_000
"""If so many times the items and so many more would be needed, nobody is told to label them."""
MIN_ROUNDED_SIZE = 100


class FreshRound(NamedTuple):
    """The size of a fresh round like one that was judged, and the chance that a rule decides there.

    Sizes are numbers of items, or of clusters. `n` is None if no number can be named, and `n_now`
    is that of the round itself. `share_over` is the share of what the round leaves open that lies
    over the cut-off, and the chance is for agreement there. `more_than` is a number that is not
    enough if agreement stays the same. It is None unless very many are needed.
    """

    n: int | None
    chance: float
    share_over: float
    n_now: int
    more_than: int | None = None

    @property
    def is_too_small(self) -> bool:
        """True if the judged round has too few items to tell what a fresh one would show."""
        leaves_open = self.n is None or self.share_over < MIN_SHARE_OVER_CUTOFF
        return leaves_open and self.more_than is None


def plan_fresh_round(
    estimate: Estimate, cutoff: float, *, min_units: int = FEWEST_ITEMS, n_together: int = 1
) -> FreshRound | None:
    """The smallest fresh round in which nine of ten limits reach the cut-off.

    None if no number follows from the estimate: its value is not over the cut-off, it is for raters
    at large or at a planned look, or the items are not kept.
    """
    if (
        estimate.value is None
        or round(estimate.value - cutoff, DIGITS) <= 0
        or estimate.looks is not None
        or estimate.population == "raters at large"
        or not can_be_redrawn(estimate)
    ):
        return None
    forecast = Forecast(estimate, cutoff, n_together)
    n_now, share_over = forecast.n_now, forecast.share_over
    is_open = share_over < MIN_SHARE_OVER_CUTOFF
    reach = forecast.reach_of_value if is_open else None
    n = forecast.find_size(PROBABILITY, max(min_units, FEWEST_ITEMS), reach)
    very_many = max(MAX_ITEM_FACTOR * n_now, n_now + MAX_MORE_ITEMS)
    very_many -= very_many % 10 ** (len(str(very_many)) - 2)
    greatest = find_registered_measure(estimate.measure).bounds[1]
    is_near_cutoff = 2 * (estimate.value - cutoff) < greatest - cutoff
    if is_near_cutoff and (n is None or n > very_many):
        return FreshRound(None, 0.0, share_over, n_now, min(very_many, max(MOST_ITEMS, n_now)))
    if n is None or n > very_many or is_open:
        return FreshRound(None, 0.0, share_over, n_now)
    return FreshRound(n, forecast.chance(n), share_over, n_now)


def can_be_redrawn(estimate: Estimate) -> bool:
    return estimate.statistic is not None and find_percentiles(estimate) is not None


def find_percentiles(estimate: Estimate) -> Percentiles | None:
    """The percentiles of a single look, which always valid limits lie around."""
    distribution = estimate.distribution
    if isinstance(distribution, WiderOf):
        distribution = distribution.second
    return distribution if isinstance(distribution, Percentiles) else None


def find_seen_draws(estimate: Estimate) -> Array:
    """The resampled values without unseen items, if they are apart."""
    percentiles = find_percentiles(estimate)
    if percentiles is None:
        return np.zeros(1)
    draws = percentiles.draws if percentiles.seen_draws is None else percentiles.seen_draws
    return draws[~np.isnan(draws)]


class Forecast:
    r"""What fresh rounds of other sizes show, if their items are like those of a round.

    Values are told as the root of their distance to the greatest value,
    :math:`u = \sqrt{\theta_{max} - \theta}`, which varies alike at every value (Bartlett 1936,
    https://doi.org/10.2307/2983678). The lower limit of a fresh round is the sum of three:

    - the true value, of which the round leaves open what its resamples are;
    - the error of the fresh round's value, which shrinks with the root of its items;
    - the gap between value and limit. It is read off a few rounds of some sizes, drawn from the
      items of the round and judged as real ones are, since unseen disagreement counts for more in
      small rounds than the root of items says.

    The share that decides is averaged over the true values over the cut-off (assurance; O'Hagan,
    Stevens & Campbell 2005, https://doi.org/10.1002/pst.175).

    Attributes
    ----------
    n_now
        The items of the round, or its clusters.
    reach_of_value, reach
        How far over the cut-off the round's value is, and the true values that it leaves open.
        Shapes (1,) and (T,).
    """

    def __init__(self, estimate: Estimate, cutoff: float, n_together: int = 1) -> None:
        statistic, inference = estimate.statistic, estimate.inference
        if statistic is None or inference is None:
            raise ValueError(f"{estimate.measure}: found no statistic; expected one to draw from.")
        self.n_now = max(1, round(float(resampling_masses(statistic).sum())))
        self._cutoff, self._judged_by = cutoff, inference
        self._counts = statistic if can_agree_in_full(statistic) else None
        self._is_undecided = estimate.low is None or estimate.low < cutoff
        self._greatest = find_registered_measure(estimate.measure).bounds[1]
        self._tail = inference.tail / n_together
        self._inference = replace(
            inference,
            n_resamples=min(inference.n_resamples, inference.min_resamples(n_together)),
            judged_on=None,
        )
        if statistic.clusters is None and not np.ptp(find_seen_draws(estimate)):
            # Nothing varies, so unseen items stand for what fresh rounds may show.
            statistic = statistic.with_unseen(PRIOR_MASS)
            estimate = reestimate(estimate, statistic, inference)
        self._estimate, self._population = estimate, statistic
        self._n_apart_share = max(1, estimate.n_apart) / self.n_now
        value = float(self._root(np.array(estimate.value)))
        draws = find_seen_draws(estimate)
        levels = (np.arange(N_TRUTHS) + 0.5) / N_TRUTHS
        self._errors = np.quantile(self._root(draws) - value, levels)
        self.reach_of_value = np.array([float(self._root(np.array(cutoff))) - value])
        self.reach = self.reach_of_value - self._weigh_by_distance(draws, value, levels)
        self._gaps_by_doublings: dict[int, Array] = {}

    def _weigh_by_distance(self, draws: Array, value: float, levels: Array) -> Array:
        """Quantiles of how far true values lie from the round's.

        Resamples say that few disagreements are likelier than many. Weights of the distance to the
        greatest value say that before the round, every true value was as likely as any other.
        """
        draws = np.sort(draws)[::-1]
        has_distance = math.isfinite(self._greatest) and draws[-1] < self._greatest
        weights = self._greatest - draws if has_distance else np.ones_like(draws)
        shares = (np.cumsum(weights) - weights / 2) / weights.sum()
        return np.interp(levels, shares, self._root(draws) - value)

    @property
    def share_over(self) -> float:
        return float(np.mean(self.reach > 0))

    def chance(self, n: int) -> float:
        """The share of fresh rounds of `n` items (or clusters) whose limit reaches the cut-off."""
        return self._share(n, n, self.reach[self.reach > 0])

    def find_size(
        self, probability: float, min_units: int = FEWEST_ITEMS, reach: Array | None = None
    ) -> int | None:
        """The smallest size that decides often enough; None if `MOST_ITEMS` do not.

        It stops where twice as many items bring less than half of what they bring if agreement is
        known. So labels are bought at one price per round that decides, whether the round was lucky
        or not. `reach` is that of the true values that are averaged, else of all over the cut-off.
        """
        of_truths = self.reach[self.reach > 0] if reach is None else reach
        target = NORMAL.inv_cdf(probability)
        min_gain = (
            MIN_RELATIVE_GAIN * NORMAL.pdf(target) * (target - NORMAL.inv_cdf(self._tail)) / 2
        )

        def is_enough(n: int) -> bool:
            share = self._share(n, n, of_truths)
            if share >= probability or share < HOPELESS_SHARE * probability:
                return share >= probability
            fewer, more = (n * math.exp(step) for step in (-LOG_STEP, LOG_STEP))
            gain = self._share(more, n, of_truths) - self._share(fewer, n, of_truths)
            return gain / (2 * LOG_STEP) < min_gain

        fewest = math.ceil(min_units / self._n_apart_share)
        if self._is_undecided:  # a fresh round must not be smaller than one that did not decide
            fewest = max(fewest, self.n_now)
        few = many = max(fewest, self.n_now)
        while not is_enough(many):
            if many >= MOST_ITEMS:
                return None
            few, many = many, min(2 * many, MOST_ITEMS)
        while few == many > fewest:
            few = max(fewest, many // 2)
            many = few if is_enough(few) else many
        sizes = list(iterate_round_sizes(few, many))
        n = sizes[bisect_left(sizes, True, hi=len(sizes) - 1, key=is_enough)]
        fewest = self._min_items(n)
        return n if n >= fewest else next(iterate_round_sizes(fewest, fewest))

    def _min_items(self, n: int) -> int:
        """The fewest items of which full agreement would be enough, if so many are not; else 0."""
        name, counts = self._estimate.measure, self._counts
        if counts is None or is_full_agreement_enough(
            name, self._cutoff, counts, self._judged_by, n
        ):
            return 0
        return find_min_items(name, self._cutoff, counts, self._judged_by) or 0

    def _root(self, values: Array) -> Array:
        if not math.isfinite(self._greatest):
            return -values
        return np.asarray(np.sqrt(np.maximum(self._greatest - values, 0.0)))

    def _share(self, n: float, n_of_gaps: int, reach: Array) -> float:
        if not len(reach):
            return 0.0
        room = reach[:, None] * math.sqrt(n / self.n_now) - self._interpolate_gaps(n_of_gaps)
        return float(np.searchsorted(self._errors, room, side="right").mean() / len(self._errors))

    def _interpolate_gaps(self, n: int) -> Array:
        """Gaps between value and limit, times the root of how many times as many items there are.

        In order, shape (M,).
        """
        doublings = math.log2(n / self.n_now)
        below = math.floor(doublings)
        part = doublings - below
        gaps = (1 - part) * self._gaps(below)
        return gaps + part * self._gaps(below + 1) if part else gaps

    def _gaps(self, doublings: int) -> Array:
        n_rows = len(self._population.weights)
        if n_rows > MAX_REDRAWN_ROWS:
            return np.array([self._gap(self._estimate)])
        if doublings not in self._gaps_by_doublings:
            factor = 2.0**doublings
            n_weights = max(n_rows, MIN_COSTLY_ROWS) * self._inference.n_resamples
            n_rounds = max(MIN_ROUNDS, min(N_ROUNDS, MAX_REDRAWN_WEIGHTS // n_weights))
            gaps = np.sort([self._gap_of_fresh(factor, number) for number in range(n_rounds)])
            levels = (np.arange(N_ROUNDS) + 0.5) / N_ROUNDS
            gaps = np.quantile(gaps, levels, method="inverted_cdf")
            self._gaps_by_doublings[doublings] = gaps * math.sqrt(factor)
        return self._gaps_by_doublings[doublings]

    def _gap_of_fresh(self, factor: float, number: int) -> float:
        n_units = max(1, round(self.n_now * factor))
        rng = np.random.default_rng([n_units, number])
        inference = replace(self._inference, seed=number)
        return self._gap(
            estimate_redrawn(self._estimate, self._population, n_units, inference, rng)
        )

    def _gap(self, drawn: Estimate) -> float:
        if drawn.value is None or drawn.distribution is None:
            return math.inf
        low = drawn.distribution.limits(self._tail).low
        return float(self._root(np.array(low)) - self._root(np.array(drawn.value)))


def iterate_round_sizes(few: int, many: int) -> Iterator[int]:
    """Sizes from `few` on that are easily said, until one is `many` or more.

    >>> list(iterate_round_sizes(98, 131))
    [98, 99, 100, 110, 120, 130, 140]
    """
    n = few
    while True:
        step = 10 ** (len(str(n)) - 2) if n >= MIN_ROUNDED_SIZE else 1
        n = -(-n // step) * step
        yield n
        if n >= many:
            return
        n += step


def find_min_items(
    measure: str, cutoff: float, statistic: Statistic, inference: Inference = PLANNING_INFERENCE
) -> int | None:
    """On fewer items, not even full agreement is enough. With looks, it is the first that can
    decide.

    Categories have the shares of the statistic, and each item as many ratings as most of its items
    have.
    """
    if not can_agree_in_full(statistic):
        return None

    def enough(n_items: int) -> bool:
        return is_full_agreement_enough(measure, cutoff, statistic, inference, n_items)

    if inference.looks is not None:
        return next(filter(enough, inference.looks.at), None)
    n_enough = FEWEST_ITEMS
    while not enough(n_enough):  # far beyond their tightest, always valid limits tell nothing
        n_enough *= 2
        if n_enough > MOST_ITEMS:
            return None
    return bisect_left(range(n_enough), True, lo=max(n_enough // 2, FEWEST_ITEMS), key=enough)


def can_agree_in_full(statistic: Statistic) -> TypeGuard[CategoryCounts]:
    if type(statistic) is not CategoryCounts:
        return False
    return bool(np.count_nonzero(statistic.n_pairable_by_category) >= 2)


def is_full_agreement_enough(
    measure: str, cutoff: float, counts: CategoryCounts, inference: Inference, n_items: int
) -> bool:
    in_full = counts.in_full_agreement(n_items)
    perfect_estimate = estimate(measure, in_full, replace(inference, lower_only=True))
    return perfect_estimate.interval is not None and perfect_estimate.interval.low >= cutoff
