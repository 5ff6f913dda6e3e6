"""How much of what ratings differ by lies between items, between raters, and in both together."""

from dataclasses import dataclass

import numpy as np

from agreement_pipeline.counting import Rated, counting_for
from agreement_pipeline.errors import AgreementError
from agreement_pipeline.ratings import Array
from agreement_pipeline.statistics import LabelsByRater, NumbersByRater


@dataclass(frozen=True)
class VarianceComponents:
    """Variances of ratings; of categories, the sums over zeros and ones of each category.

    Attributes
    ----------
    items
        Between items: what all raters see alike.
    raters
        Between raters, whatever the item: habits. 0 if it cannot be told from `both`.
    both
        The rest: what a rater sees in an item and others do not, and slips.
    """

    items: float
    raters: float
    both: float

    @property
    def error_of_one_rating(self) -> float:
        """Of one rating, if raters are drawn anew for each item."""
        return self.raters + self.both

    def reliability(self, n_ratings: float) -> float:
        """Of the mean or the shares of so many ratings of an item.

        >>> VarianceComponents(1.0, 0.2, 0.8).reliability(4)
        0.8
        """
        return (
            self.items / (self.items + self.error_of_one_rating / n_ratings)
            if self.items > 0
            else 0.0
        )

    def needed_ratings(self, reliability: float) -> float:
        """How many ratings of an item reach a reliability; infinite if none do.

        >>> VarianceComponents(1.0, 0.2, 0.8).needed_ratings(0.8)
        4.0
        """
        if self.items <= 0:
            return float("inf")
        odds = round(reliability / (1 - reliability), 9)
        return odds * self.error_of_one_rating / self.items


def estimate_variance_components(ratings: Rated) -> VarianceComponents:
    r"""The variance components of ratings by raters with names, however many are missing.

    Half of the mean squared difference of two ratings estimates sums of components: by different
    raters of one item :math:`\gamma_1 = \sigma_r^2 + \sigma_b^2`, by one rater of different items
    :math:`\gamma_2 = \sigma_i^2 + \sigma_b^2`, and of different items by different raters
    :math:`\gamma_3 = \sigma_i^2 + \sigma_r^2 + \sigma_b^2`. So :math:`\sigma_i^2 = \gamma_3 -
    \gamma_1`, :math:`\sigma_r^2 = \gamma_3 - \gamma_2` and the rest is :math:`\sigma_b^2`. None is
    under 0.

    Raises
    ------
    AgreementError
        The raters have no names, or no item has two ratings.
    """
    if not ratings.raters:
        raise AgreementError(
            "variance components: found counts without raters; expected ratings. "
            "Give a row for each rating."
        )
    table = counting_for(ratings).by_rater(ratings)
    return estimate_components_of_table(table)


def estimate_components_of_table(table: LabelsByRater | NumbersByRater) -> VarianceComponents:
    values = _values_or_indicators(table)
    is_rated = ~np.isnan(values[..., 0])
    centred_values = np.where(is_rated[..., None], values, 0.0)
    weights, rated = table.weights, is_rated.astype(float)
    n_ratings = float(weights @ rated.sum(1))
    mean = np.tensordot(weights, centred_values.sum(1), 1) / max(n_ratings, 1.0)
    centred_values = np.where(is_rated[..., None], values - mean, 0.0)
    squares = float(weights @ (centred_values**2).sum((1, 2)))
    by_item, n_by_item = centred_values.sum(1), rated.sum(1)
    within_items = _half_mean_squared_difference(
        weights, by_item, n_by_item, (centred_values**2).sum((1, 2))
    )
    by_rater, n_by_rater = np.tensordot(weights, centred_values, 1), weights @ rated
    squares_by_rater = np.tensordot(weights, (centred_values**2).sum(2), 1)
    within_raters = _half_mean_squared_difference(
        np.ones(len(n_by_rater)), by_rater, n_by_rater, squares_by_rater
    )
    if within_items is None:
        raise AgreementError(
            "variance components: found no item with two ratings; expected one. "
            "Have items labelled by several raters."
        )
    total = np.tensordot(weights, centred_values.sum(1), 1)
    everywhere = _half_mean_squared_difference(
        np.ones(1), total[None], np.array([n_ratings]), squares
    )
    n_pairs = n_ratings * (n_ratings - 1)
    n_same_item = float(weights @ (n_by_item * (n_by_item - 1)))
    n_same_rater = float((n_by_rater * (n_by_rater - 1)).sum())
    n_apart = n_pairs - n_same_item - n_same_rater
    if everywhere is None or n_apart <= 0:  # all ratings are of one item
        return VarianceComponents(0.0, 0.0, within_items)
    of_same_rater = 0.0 if within_raters is None else within_raters * n_same_rater
    squares_apart = (everywhere * n_pairs - within_items * n_same_item - of_same_rater) / n_apart
    items = max(squares_apart - within_items, 0.0)
    raters = 0.0 if within_raters is None else max(squares_apart - within_raters, 0.0)
    return VarianceComponents(float(items), float(raters), float(max(within_items - raters, 0.0)))


def _values_or_indicators(table: LabelsByRater | NumbersByRater) -> Array:
    """Numbers (P, R, D), or zeros and ones of each category (P, R, K); nan where missing."""
    if isinstance(table, NumbersByRater):
        return table.values
    if table.scale.numeric:
        return table.as_numbers().values
    ones = np.eye(len(table.scale.names))[np.maximum(table.codes, 0)]
    return np.where((table.codes >= 0)[..., None], ones, np.nan)


def _half_mean_squared_difference(
    times: Array, sums: Array, n: Array, squares: Array | float
) -> float | None:
    """Half of the mean squared difference of two ratings of one group, over all pairs.

    Of each group: its sum (G, D), number of ratings and sum of squares (G,), and how often it is.
    """
    n_pairs = float(times @ (n * (n - 1)))
    if n_pairs <= 0:
        return None
    return float((times @ (n * squares - (sums**2).sum(1))) / n_pairs)
