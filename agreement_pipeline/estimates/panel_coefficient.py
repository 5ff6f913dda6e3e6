r"""A coefficient of a fixed panel with and without some raters, and how sure the difference is.

What a rater's habit costs depends on the coefficient. A constant bias lowers Krippendorff's alpha,
and leaves a consistency ICC as it is. So who differs is asked of the coefficient of the rule, if

- it compares raters by name: they may not swap their ratings of an item, as in alpha,
- it is corrected for chance, or an ICC, and defined for three raters or more,
- and it takes linear time.

These are Conger's and Light's kappa, ICC(2,1), ICC(3,1), Lin's concordance and Janson and Olsson's
iota. For the mean of k ratings it is the ICC of one of them, since k falls with each rater left
out. A measure that needs items rated by everybody is compared on the same items with and without
a rater.

The jackknife leaves out each item, or each cluster of items. Where these are many, it leaves out
forty groups of them.

.. math:: d = \theta_S - \theta, \qquad
   v = \frac{n - 1}{n} \sum_g \left( d_{(g)} - d_{(\cdot)} \right)^2

References: Shao, J. & Tu, D. (1995), The jackknife and bootstrap, doi:10.1007/978-1-4612-0795-5,
section 5.1
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from agreement_pipeline.estimates.estimates import find_registered_measure
from agreement_pipeline.intervals import jackknife_variance, leave_out_each_item, leave_out_groups
from agreement_pipeline.measures import NOT_TWO_RATERS, Measure, krippendorff_alpha
from agreement_pipeline.ratings import Array
from agreement_pipeline.statistics import LabelsByRater, NumbersByRater
from agreement_pipeline.text import counted

N_GROUPS = 40
MAX_WEIGHTS = 1_000_000
"""So many weights, or fewer, are drawn up to leave out each item by itself."""
MAX_WEIGHTS_AT_ONCE = 10_000_000
"""Weights of groups in memory. A measure reads the ratings again for each such block."""
MAX_CELLS = 100_000_000
"""Numbers to add up, for the values with and without each rater. More would take many seconds."""
SEED = 0

Panel = LabelsByRater | NumbersByRater


def find_panel_measure(name: str) -> Measure | None:
    """The measure that says who differs where a rule reads the one of that name. None for alpha.

    >>> find_panel_measure("icc_3_k").name, find_panel_measure("fleiss_kappa")
    ('icc_3_1', None)
    """
    measure = find_registered_measure(name)
    if measure.of_one_rating:
        measure = find_registered_measure(measure.of_one_rating)
    is_of_fixed_panel = (
        measure.question == "inter-rater"
        and measure.needs in ("patterns", "values")
        and measure.chance_corrected
        and not (measure.exchangeable or measure.per_category or measure.expensive)
        and NOT_TWO_RATERS not in measure.undefined
    )
    return measure if is_of_fixed_panel else None


def alpha_of_panel(panel: Panel) -> float | None:
    """Krippendorff's alpha at the level of the scale; None if all gave one and the same label."""
    ratings = panel.counts() if isinstance(panel, LabelsByRater) else panel
    value = float(krippendorff_alpha(ratings).value)
    return None if np.isnan(value) else value


@dataclass(frozen=True)
class PanelCoefficient:
    """A coefficient of a panel, and of some of its raters on the items that count for the panel.

    `panel` has no weight on other items.
    """

    measure: Measure
    panel: Panel

    @classmethod
    def from_panel(cls, measure: Measure, panel: Panel) -> "PanelCoefficient":
        if measure.crossed:
            is_complete = panel.given.all(1)
            panel = panel.with_weights(np.where(is_complete, panel.weights, 0.0))
        return cls(measure, panel)

    def find_unusable_reason(self) -> str:
        """Why the coefficient cannot say who differs; empty if it can."""
        panel, n_values = self.panel, self.panel.n_raters + N_GROUPS
        n_numbers_of_rating = len(panel.scale.names) if self.measure.needs == "patterns" else 1
        n_cells = panel.given.size * n_numbers_of_rating * self._n_values_of_rater
        if n_cells * n_values > MAX_CELLS:
            size = f"{counted(panel.n_raters, 'rater')} on {counted(panel.n_items, 'item')}"
            return f"{self.measure.name} without each rater takes too long for {size}"
        if np.isnan(self.value_of_all):
            return f"{self.measure.name} has no value"
        return ""

    @property
    def _n_values_of_rater(self) -> int:
        return self.panel.n_raters if self.measure.by_pair else 1

    def value(self, raters: Sequence[str]) -> float:
        """The coefficient of some raters; nan if it is undefined."""
        return float(self.measure(self._statistic.select_raters(raters)).value)

    @cached_property
    def value_of_all(self) -> float:
        return self.value(self.panel.raters)

    def rise(self, raters: Sequence[str]) -> float:
        """How much higher it is of some raters than of all; nan if it is undefined.

        It counts as 1 of raters who gave one and the same label.
        """
        value = self.value(raters)
        if np.isnan(value) and alpha_of_panel(self.panel.select_raters(raters)) is None:
            value = 1.0
        return value - self.value_of_all

    def error_of_rise(self, raters: Sequence[str], n_units: int) -> tuple[float, int]:
        """The standard error of the rise by the jackknife, and how many units say as much.

        `n_units` are how many items, or clusters of one size, say as much as those that are shared.
        A value that is undefined without some items counts as 1.
        """
        values_of_all, times = self._left_out_of_all
        n_left_out = float(times.sum())
        units = min(n_units, round(n_left_out))
        variance = jackknife_variance(self._leave_out(raters).values - values_of_all, times)
        of_unequal_clusters = units / (units - 1) * (n_left_out - 1) / n_left_out
        return float(np.sqrt(of_unequal_clusters * variance)), units

    @cached_property
    def _statistic(self) -> Panel:
        return self._read_as_needed(self.panel)

    def _read_as_needed(self, panel: Panel) -> Panel:
        if isinstance(panel, LabelsByRater) and self.measure.needs == "values":
            return panel.as_numbers()
        return panel

    @cached_property
    def _statistic_to_leave_out(self) -> Panel:
        """In an order that no rater's name decides, since groups are drawn from it."""
        if isinstance(self.panel, NumbersByRater):
            return self._statistic
        return self._read_as_needed(self.panel.in_canonical_order())

    def _iterate_left_out(self) -> Iterator[tuple[Array, Array]]:
        statistic, clusters = self._statistic_to_leave_out, self.panel.clusters
        rows = len(statistic.weights)
        n_kinds = np.count_nonzero(statistic.weights) if clusters is None else len(clusters.times)
        if rows * n_kinds * self._n_values_of_rater <= MAX_WEIGHTS:
            return leave_out_each_item(statistic, MAX_WEIGHTS, SEED)
        return leave_out_groups(statistic, N_GROUPS, SEED, MAX_WEIGHTS_AT_ONCE)

    @cached_property
    def _left_out_of_all(self) -> "_LeftOut":
        return self._leave_out(self.panel.raters)

    def _leave_out(self, raters: Sequence[str]) -> "_LeftOut":
        statistic = self._statistic_to_leave_out.select_raters(raters)
        values, times = zip(
            *(
                (self.measure(statistic.with_weights(weights)).value, times)
                for weights, times in self._iterate_left_out()
            ),
            strict=True,
        )
        return _LeftOut(np.nan_to_num(np.concatenate(values), nan=1.0), np.concatenate(times))


class _LeftOut(NamedTuple):
    """The values without each item, cluster or group, and how many such ones there are."""

    values: Array
    times: Array
