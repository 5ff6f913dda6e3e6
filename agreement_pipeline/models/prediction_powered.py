r"""A mean of a population, from the labels of a drawn part and a classifier's labels of all items.

A stratum has N items, n of them drawn at random, with means over the drawn (n) and the other (u)
items of the labels :math:`y` and of the classifier's labels :math:`f`. The prediction-powered
estimate with its tuned weight (PPI++, Angelopoulos, Duchi and Zrnic 2023) is

.. math:: \hat\theta = \bar y_n + \lambda (\bar f_u - \bar f_n), \qquad
   \lambda = \frac{cov_n(y, f)}{(1 + n / (N - n)) \, var_N(f)} \text{ inside } [0, 1].

Strata are weighted by their items, and each has its own weight (Fisch and others 2024). If whole
clusters were drawn, the units are clusters, and means are ratios of totals.

The limits are Gaffke's (2005) on the rectified values :math:`z = y - \lambda' f`, where
:math:`\lambda' = \lambda N / (N - n)`: the quantiles of a mean of z with random weights
(Dirichlet), in which one more unit stands at the lowest or the highest value that z could have. For
labels of 0 and 1 and no classifier, these are the limits of Clopper and Pearson. Strata are
combined as independent confidence distributions (Fay, Proschan and Brittain 2015). So is what other
raters would say, by Student's t on a jackknife over the raters.

References: https://doi.org/10.48550/arXiv.2311.01453,
https://doi.org/10.48550/arXiv.2406.04291, https://doi.org/10.48550/arXiv.1905.06208,
https://doi.org/10.1111/biom.12231. The last but one has Gaffke's limits and their tests.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from agreement_pipeline.intervals import Interval, draw_in_blocks, share_interval
from agreement_pipeline.ratings import Array, Codes

N_DRAWS, SEED, DECIMALS = 10_000, 20231103, 12
"""How many random means the limits rest on, the seed of all, and the decimals that count.

Sums differ in later ones with the order of items. So equal labels give equal limits.
"""


@dataclass(frozen=True, eq=False)
class Stratum:
    """A part of the population with a random draw of its own, in units: items or clusters.

    Parameters
    ----------
    sizes, predicted
        Shape (N,): the items of each unit, and the sum of the classifier's labels over them.
    drawn, labels
        Shape (n,): the places of the drawn units, and the sum of the labels over their items.

    A label is a number from 0 to 1.
    """

    sizes: Array
    predicted: Array
    drawn: Codes
    labels: Array

    @property
    def n_items(self) -> float:
        return float(self.sizes.sum())

    @property
    def uncorrected(self) -> float:
        return float(self.predicted.sum()) / self.n_items

    @property
    def classical(self) -> float:
        return float(self.labels.sum() / self.sizes[self.drawn].sum())

    @property
    def value(self) -> float:
        return self.classical + self._rectifying_weight * (
            self.uncorrected - self._predicted_of_drawn
        )

    @cached_property
    def tuned(self) -> float:
        """The weight of the classifier's labels, from 0 to 1. 0 if these do not vary."""
        n, n_undrawn = len(self.drawn), len(self.sizes) - len(self.drawn)
        spread = self._residuals(self.predicted, self.sizes, self.uncorrected)
        if not n_undrawn or not spread.any():
            return 0.0
        ys, fs = self._drawn_residuals
        variance = float(spread @ spread) / (len(self.sizes) - 1)
        return min(max(float(ys @ fs) / n / ((1 + n / n_undrawn) * variance), 0.0), 1.0)

    @property
    def variances(self) -> tuple[float, float]:
        n, (ys, fs) = len(self.drawn), self._drawn_residuals
        classical = float(ys @ ys) / n**2
        if not self.tuned:
            return classical, classical
        undrawn = np.delete(np.arange(len(self.sizes)), self.drawn)
        predicted, sizes = self.predicted[undrawn], self.sizes[undrawn]
        unseen = self._residuals(predicted, sizes, float(predicted.sum() / sizes.sum()))
        rectified = ys - self.tuned * fs
        imputed = self.tuned**2 * float(unseen @ unseen) / len(undrawn) ** 2
        return classical, imputed + float(rectified @ rectified) / n**2

    def means(self, *, classical: bool, seed: int) -> tuple[Array, Array]:
        """One more unit stands at the lower end, or at the upper one. Shape (B,) each."""
        full = 0.0 if classical else self._rectifying_weight
        sizes, offset = self.sizes[self.drawn], full * self.uncorrected
        rectified = self.labels - full * self.predicted[self.drawn] + offset * sizes
        pairs = np.column_stack([rectified, sizes]).round(DECIMALS)
        kinds, times = np.unique(pairs, axis=0, return_counts=True)
        n, mean_size = len(sizes), float(sizes.mean())
        lowest_total, highest_total = mean_size * (offset - full), mean_size * (offset + 1)

        def draw_means(rng: np.random.Generator, size: int) -> Array:
            weights = rng.standard_gamma(times, (size, len(times)))
            total, items = (weights / weights.sum(1, keepdims=True) @ kinds).T
            # The weight of one more unit beside all others, at evenly spread quantiles.
            extra_weight = ((rng.permutation(size) + 0.5) / size) ** (-1 / n) - 1
            items = items + mean_size * extra_weight
            return np.array(
                [
                    (total + lowest_total * extra_weight) / items,
                    (total + highest_total * extra_weight) / items,
                ]
            )

        blocks = draw_in_blocks(draw_means, N_DRAWS, len(times), (SEED, seed))
        low, high = np.concatenate(list(blocks), axis=1)
        return low, high

    @property
    def _rectifying_weight(self) -> float:
        n_undrawn_items = self.n_items - float(self.sizes[self.drawn].sum())
        return self.tuned * self.n_items / n_undrawn_items if n_undrawn_items else 0.0

    @property
    def _predicted_of_drawn(self) -> float:
        return float(self.predicted[self.drawn].sum() / self.sizes[self.drawn].sum())

    @property
    def _drawn_residuals(self) -> tuple[Array, Array]:
        predicted, sizes = self.predicted[self.drawn], self.sizes[self.drawn]
        return (
            self._residuals(self.labels, sizes, self.classical),
            self._residuals(predicted, sizes, self._predicted_of_drawn),
        )

    @staticmethod
    def _residuals(totals: Array, sizes: Array, mean: float) -> Array:
        return np.asarray(((totals - mean * sizes) / sizes.mean()).round(DECIMALS))


class Mean(NamedTuple):
    value: float
    interval: Interval


class OfRaters(NamedTuple):
    """How far both estimates would lie from themselves with other raters, as standard errors."""

    corrected: float
    classical: float
    n_raters: int

    @classmethod
    def without_each(cls, values: Sequence[tuple[float, float]]) -> "OfRaters":
        r"""The jackknife over R raters, from both estimates without each of them.

        It is :math:`\sqrt{(R - 1) / R \sum_r (\hat\theta_{(r)} - \bar\theta)^2}`.
        """
        n = len(values)
        corrected, classical = np.sqrt((n - 1) * np.var(values, axis=0))
        return cls(float(corrected), float(classical), n)


class PredictionPowered(NamedTuple):
    """`tuning` has the weight λ of each stratum. `times` is the classical variance by the other
    one, if some label lies apart from the rest: how many labels each drawn one counts for.
    """

    corrected: Mean
    classical: Mean
    tuning: tuple[float, ...]
    times: float | None


def prediction_powered(
    strata: Sequence[Stratum],
    confidence_level: float,
    of_raters: OfRaters | None = None,
) -> PredictionPowered:
    """The mean over all strata, from 0 to 1. Each needs a drawn unit.

    For raters at large, `of_raters` adds Student's t with one degree of freedom less than raters.

    >>> labels = np.array([0.0, 0, 1, 1])
    >>> stratum = Stratum(np.ones(100), np.tile(labels, 25), np.arange(4), labels)
    >>> result = prediction_powered([stratum], 0.95)
    >>> round(result.corrected.value, 3), round(stratum.tuned, 3)
    (0.5, 0.95)
    """
    shares = _compute_stratum_shares(strata)

    def mean(estimate: float, *, classical: bool) -> Mean:
        limit_draws = [
            stratum.means(classical=classical, seed=place) for place, stratum in enumerate(strata)
        ]
        tail, rater_errors = (1 - confidence_level) / 2, np.zeros(N_DRAWS)
        if of_raters is not None:
            t = np.random.default_rng(SEED).standard_t(of_raters.n_raters - 1, N_DRAWS)
            rater_errors = t * (of_raters.classical if classical else of_raters.corrected)
        low = float(np.quantile(shares @ [low for low, _ in limit_draws] + rater_errors, tail))
        high = float(
            np.quantile(shares @ [high for _, high in limit_draws] + rater_errors, 1 - tail)
        )
        value = min(max(estimate, 0.0), 1.0)
        limits = Interval(max(low, 0.0), min(high, 1.0))
        return Mean(value, limits.widened_to_include(value))

    value, classical_value = estimates(strata)
    classical, corrected = shares**2 @ [stratum.variances for stratum in strata]
    return PredictionPowered(
        mean(value, classical=False),
        mean(classical_value, classical=True),
        tuple(stratum.tuned for stratum in strata),
        float(classical / corrected) if corrected > 0 else None,
    )


def lowest_mean(strata: Sequence[Stratum], confidence_level: float) -> float:
    """Labels of 0 and 1 of single items in one stratum have the limit of Clopper and Pearson,
    without random draws.
    """
    labels, sizes = strata[0].labels, strata[0].sizes
    if len(strata) == 1 and np.isin(labels, (0, 1)).all() and (sizes == 1).all():
        return share_interval(int(labels.sum()), len(labels), confidence_level).low
    return prediction_powered(strata, confidence_level).classical.interval.low


def estimates(strata: Sequence[Stratum]) -> tuple[float, float]:
    shares = _compute_stratum_shares(strata)
    corrected, classical = shares @ [(stratum.value, stratum.classical) for stratum in strata]
    return float(corrected), float(classical)


def _compute_stratum_shares(strata: Sequence[Stratum]) -> Array:
    items = np.array([stratum.n_items for stratum in strata])
    return np.asarray(items / items.sum())
