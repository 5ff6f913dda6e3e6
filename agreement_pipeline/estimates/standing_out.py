r"""Who differs from the rest of a panel, by more than the luck of the items.

A rater differs if Krippendorff's alpha, at the level of the scale, is higher without them:

.. math:: d_r = \alpha_{-r} - \alpha, \qquad \alpha = 1 - \frac{(n - 1) \sum_u V_u}
   {2\, (n \sum_u Q_u - |\sum_u S_u|^2)}

Each rating is a point, and two of them are as far apart as the level says. The :math:`m_u \ge 2`
points of item u have the sum :math:`S_u`, and their squared lengths have the sum :math:`Q_u`. Then
:math:`V_u = 2 (m_u Q_u - |S_u|^2) / (m_u - 1)`, and :math:`n = \sum_u m_u`. The ranks of an ordinal
scale are those of the whole round.

Student's test of :math:`d_r` takes items, or clusters of them, as drawn at random. The variance
comes from the derivative of :math:`d_r` by the weight of each item (the infinitesimal jackknife).
Holm's (1979) procedure holds the risk that anybody is named by luck at 2.5 %. A small rise of alpha
is no cause. It is divided by the share of pairs that the rater is in, so a crowd hides nobody.

Where a rule reads a coefficient of a fixed panel, it is asked in the place of alpha, with the same
test and the same bounds: `panel_coefficient` says which ones, and where their variance comes from.

Two camps are said to be there if both agree more inside than with each other. They are found by the
main component of agreement. So the test of all pairs inside against those across is held to 2.5 %,
divided by the number of ways to part the raters in two (Bonferroni). A coefficient of a fixed panel
must also surely be higher inside each camp than for all.

References: Holm, S. (1979), https://www.jstor.org/stable/4615733; Efron, B. (1982), The jackknife,
the bootstrap and other resampling plans, doi:10.1137/1.9781611970319, ch. 6
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from agreement_pipeline.estimates.comparison import DEFAULT_OF_ROUNDS
from agreement_pipeline.estimates.panel_coefficient import (
    Panel,
    PanelCoefficient,
    alpha_of_panel,
    find_panel_measure,
)
from agreement_pipeline.measures import ratio
from agreement_pipeline.ratings import Array, Codes, Flags
from agreement_pipeline.statistics import LabelsByRater, NumbersByRater, rater_distances
from agreement_pipeline.students_t import lower_tail_probability
from agreement_pipeline.text import PROBABILITY, WHOLE_PERCENT, in_words, joined

TAIL = 0.025
MIN_SHARED_ITEMS = 30
"""On fewer items, or clusters by Kish's formula, nobody is said to differ."""
MIN_ITEMS_APART = 5
"""On so many items, or clusters, a rater who differs is farther from the others than these are from
each other.
"""
MIN_RISE, MIN_RISE_IN_ORDER = 0.1, 0.06
"""The least rise of agreement that is a cause, divided by the share of pairs that the rater is in.

So of 300 items, a rater with 12 % of errors beside four with 10 % is named in under 1 % of rounds,
and one with 20 % in four of five. Where labels have an order, a step is a small part of the
distances, so the rise is smaller.
"""
MIN_DIFFERENCE = 0.065
"""Camps that differ by less are none, whatever the number of items."""
MAX_RATERS_DESCRIBED = 4
"""Of so many raters who differ agreement is said; of others, the name."""
MAX_PANEL_FOR_CAMPS = 60
"""A larger panel is a crowd, in which no camps are looked for."""
ROUNDING = 1e-9
ALPHA_SYMBOL = "α"

Pairs = tuple[Array, Array]
"""How alike some raters of each item are, and how many pairs they are: sums over ordered pairs."""
Finding = Literal["raters", "camps", "nobody", "too few to tell"]


class RaterWhoDiffers(NamedTuple):
    """A rater, and the agreement of the round with and without them.

    `value_without` is None if the others gave one and the same label each time. `coefficient` is
    what the values are of.
    """

    name: str
    value: float
    value_without: float | None
    coefficient: str = ALPHA_SYMBOL

    @property
    def sentence(self) -> str:
        value = f"{self.coefficient} is {in_words(self.value, PROBABILITY)}"
        differs = f"{self.name} differs from the rest: {value}"
        if self.value_without is None:
            return f"{differs}, and all others gave one and the same label."
        return f"{differs}, and {in_words(self.value_without, PROBABILITY)} without {self.name}."


class Camp(NamedTuple):
    """Raters, and how much they agree with each other and with the other camp.

    Agreement is the share of equal labels. For numbers it is 1 for equal ones, and 0 for those as
    far apart as two of any items.
    """

    raters: tuple[str, ...]
    inside: float
    across: float


@dataclass(frozen=True)
class StandingOut:
    """Who differs from the rest of a panel.

    Attributes
    ----------
    finding
        *raters*: without some rater, agreement is surely higher. *camps*: the panel stands in two
        camps. *nobody*: neither is certain. *too few to tell*: no rater shares 30 items, or
        clusters, with two others.
    raters
        Those who differ, the surest first.
    camps
        The two camps, the larger first.
    of_labels
        True if the ratings are labels, and no numbers.
    why_alpha
        Why alpha was asked in the place of the coefficient of the rule. Empty if it was not.
    """

    finding: Finding
    raters: tuple[RaterWhoDiffers, ...] = ()
    camps: tuple[Camp, ...] = ()
    of_labels: bool = True
    why_alpha: str = ""

    @property
    def sentence(self) -> str:
        """The finding in words.

        >>> print(StandingOut("raters", (RaterWhoDiffers("ana", 0.61, 0.82),)).sentence)
        ana differs from the rest: α is 0.61, and 0.82 without ana. This does not say who is right.
        """
        if self.finding == "too few to tell":
            return (
                "No rater shares enough items, or clusters of them, with two others to say whether "
                "one of them differs from the rest."
            )
        if self.finding == "nobody":
            nobody = (
                "No rater is known to differ from the rest: leaving any one of them out would not "
                "raise agreement by much, beyond chance."
            )
            return f"{nobody}{self._of_alpha}"
        if self.finding == "camps":
            camps = " against ".join(joined(camp.raters) for camp in self.camps)
            agreement_inside = joined(
                dict.fromkeys(self._format_agreement(camp.inside) for camp in self.camps)
            )
            predicate = "of labels are equal" if self.of_labels else "is the agreement"
            return (
                f"Two camps: {camps}. {agreement_inside} {predicate} within a camp, and "
                f"{self._format_agreement(self.camps[0].across)} across."
            )
        sentences = [rater.sentence for rater in self.raters[:MAX_RATERS_DESCRIBED]]
        if undescribed := self.raters[MAX_RATERS_DESCRIBED:]:
            names = joined(rater.name for rater in undescribed)
            sentences.append(f"So {'does' if len(undescribed) == 1 else 'do'} {names}.")
        return " ".join([*sentences, "This does not say who is right."]) + self._of_alpha

    @property
    def _of_alpha(self) -> str:
        return f" This was found with α, because {self.why_alpha}." if self.why_alpha else ""

    def _format_agreement(self, value: float) -> str:
        return in_words(value, WHOLE_PERCENT if self.of_labels else PROBABILITY)


def standing_out(panel: Panel, measure: str = DEFAULT_OF_ROUNDS) -> StandingOut:
    """Who differs from the rest of a panel, beyond what luck allows for its size.

    `measure` is what a rule reads. It is asked if it is one of a fixed panel, and else alpha.

    Examples
    --------
    >>> from agreement_pipeline import Scale
    >>> said = [[item % 2, item % 2, item % 2, item % 3 % 2] for item in range(60)]
    >>> panel = LabelsByRater(said, scale=Scale(("no", "yes")), raters=("a", "b", "c", "d"))
    >>> [rater.name for rater in standing_out(panel).raters]
    ['d']
    """
    coefficient, why_alpha = _build_coefficient(panel, measure)
    if coefficient is not None:
        panel = coefficient.panel
    of_labels = isinstance(panel, LabelsByRater)
    camps = _find_camps(panel, coefficient)
    if camps:
        return StandingOut("camps", camps=camps, of_labels=of_labels)
    is_comparable, names = _find_raters_who_differ(panel, coefficient)
    finding: Finding = "raters" if names else "nobody" if is_comparable else "too few to tell"
    raters = _describe_raters(names, panel, coefficient)
    return StandingOut(finding, tuple(raters), of_labels=of_labels, why_alpha=why_alpha)


def _build_coefficient(panel: Panel, measure: str) -> tuple[PanelCoefficient | None, str]:
    """What is asked in the place of alpha, if anything, or why it cannot be."""
    panel_measure = find_panel_measure(measure)
    if panel_measure is None:
        return None, ""
    coefficient = PanelCoefficient.from_panel(panel_measure, panel)
    reason = coefficient.find_unusable_reason()
    return (None, reason) if reason else (coefficient, "")


def _describe_raters(
    names: Sequence[str], panel: Panel, coefficient: PanelCoefficient | None
) -> Iterator[RaterWhoDiffers]:
    def value(raters: Sequence[str]) -> float | None:
        if coefficient is None:
            return alpha_of_panel(panel.select_raters(raters))
        value = coefficient.value(raters)
        return None if np.isnan(value) else value

    symbol = ALPHA_SYMBOL if coefficient is None else coefficient.measure.name
    value_of_all = value(panel.raters) if names else None
    if value_of_all is not None:
        for name in names:
            yield RaterWhoDiffers(name, value_of_all, value(_others(panel, name)), symbol)


def _others(panel: Panel, rater: str) -> Sequence[str]:
    return [name for name in panel.raters if name != rater]


def _find_raters_who_differ(
    panel: Panel, coefficient: PanelCoefficient | None
) -> tuple[bool, Sequence[str]]:
    """Whether any rater can be compared, and the names of those who differ, the surest first."""
    n_compared, rises = _find_large_rises(panel, coefficient)
    names = []
    for position, rise in enumerate(sorted(rises, key=lambda rise: (rise.p, -rise.t))):
        if rise.p > TAIL / (n_compared - position):
            break
        names.append(rise.name)
    return n_compared > 0, names


class _Rise(NamedTuple):
    """How much higher agreement is without a rater, and the standard error of that."""

    name: str
    size: float
    error: float
    units: int

    @property
    def t(self) -> float:
        return self.size / self.error if self.error > 0 else np.inf

    @property
    def p(self) -> float:
        return lower_tail_probability(-self.t, self.units - 1)


def _find_large_rises(
    panel: Panel, coefficient: PanelCoefficient | None = None
) -> tuple[int, Sequence[_Rise]]:
    """How many raters can be compared, and the rises of alpha, or of another coefficient, that are
    large enough to be a cause.

    Smaller ones take part in Holm's procedure as if they were of no size.
    """
    items = _Items.from_panel(panel)
    weights, moments = panel.weights[items.rows], items.sums.moments
    totals = weights @ moments
    alpha, gradient = _alpha_and_gradient(totals)
    min_rise = MIN_RISE if panel.scale.level == "nominal" else MIN_RISE_IN_ORDER
    n_compared, rises = 0, []
    for place, name in enumerate(panel.raters):
        own = np.flatnonzero(panel.given[items.rows, place])
        of_three = items.sums.sizes[own] >= 3
        units = _n_independent_units(panel, items.rows[own[of_three]])
        if units < MIN_SHARED_ITEMS:
            continue
        n_compared += 1
        points, sums = items.points(place, items.rows[own]), items.sums.select_rows(own)
        others = sums.without_points(points).moments
        removed = moments[own] - others
        alpha_without, gradient_without = _alpha_and_gradient(totals - weights[own] @ removed)
        share_of_pairs = 2 * weights[own].sum() / totals[0]
        is_apart = of_three & (sums.distances_from(points) > others[:, 1] + ROUNDING)
        if _count_units(panel, items.rows[own[is_apart]]) < MIN_ITEMS_APART:
            continue
        size = alpha_without - alpha
        if coefficient is not None:
            size = coefficient.rise(_others(panel, name))
        if not size >= min_rise * share_of_pairs:
            continue
        if coefficient is not None:
            error, n_units = coefficient.error_of_rise(_others(panel, name), units)
            rises.append(_Rise(name, size, error, n_units))
            continue
        influence = moments @ (gradient_without - gradient)
        influence[own] -= removed @ gradient_without
        influence -= weights @ influence / weights.sum()
        error = _error_of_sum(influence, items.rows, panel, units)
        rises.append(_Rise(name, size, error, units))
    return n_compared, rises


def _alpha_and_gradient(totals: Array) -> tuple[float, Array]:
    """Alpha from the sums of moments over items, and its derivatives by them.

    It counts as 1 where all ratings are the same.
    """
    n, within, squares, sums = totals[0], totals[1], totals[2], totals[3:]
    between = 2 * (n * squares - sums @ sums)
    if between <= ROUNDING * n**2:
        return 1.0, np.zeros(len(totals))
    observed = (n - 1) * within / between
    by_between = observed / between
    gradient = np.concatenate(
        [
            [2 * squares * by_between - within / between, -(n - 1) / between, 2 * n * by_between],
            -4 * sums * by_between,
        ]
    )
    return float(1 - observed), gradient


class _Sums(NamedTuple):
    """Of the points of each item: how many there are (P,), the sum of their squared lengths (P,),
    and their sum (P, D).
    """

    sizes: Array
    squares: Array
    sums: Array

    def select_rows(self, rows: Codes) -> "_Sums":
        return _Sums(self.sizes[rows], self.squares[rows], self.sums[rows])

    def without_points(self, points: Array) -> "_Sums":
        """The sums of the other points of each item."""
        return _Sums(self.sizes - 1, self.squares - (points**2).sum(1), self.sums - points)

    def distances_from(self, points: Array) -> Array:
        """The sum of the squared distances of the item's points from one of them (P,)."""
        own_squares, products = (points**2).sum(1), (points * self.sums).sum(1)
        return np.asarray(self.sizes * own_squares + self.squares - 2 * products)

    @property
    def moments(self) -> Array:
        """What each item adds to alpha (P, 3 + D): its ratings, their disagreement, the squared
        lengths of the points, and their sum. All are 0 of an item with one rating.
        """
        m = self.sizes
        within = 2 * (m * self.squares - (self.sums**2).sum(1)) / np.maximum(m - 1, 1)
        moments = np.column_stack([m, within, self.squares, self.sums])
        return np.asarray(np.where(m[:, None] >= 2, moments, 0.0))


class _Items(NamedTuple):
    """The items with two ratings or more.

    `rows` are those of the panel, `sums` has their points together, and `points(place, rows)` are
    those of one rater.
    """

    rows: Codes
    sums: _Sums
    points: Callable[[int, Codes], Array]

    @classmethod
    def from_panel(cls, panel: Panel) -> "_Items":
        rows = np.flatnonzero((panel.given.sum(1) >= 2) & (panel.weights > 0))
        sizes = panel.given[rows].sum(1).astype(float)
        if isinstance(panel, LabelsByRater):
            counts, codes = panel.counts().counts[rows], panel.codes
            of_category = _points_of_categories(panel, panel.weights[rows] @ counts)
            sums = _Sums(sizes, counts @ (of_category**2).sum(1), counts @ of_category)
            return cls(rows, sums, lambda place, own: of_category[codes[own, place]])
        positions = _points_of_numbers(panel, rows)
        sums = _Sums(sizes, np.zeros(len(rows)), np.zeros((len(rows), positions.shape[-1])))
        for place in range(len(panel.raters)):
            own = np.flatnonzero(panel.given[rows, place])
            points = positions[rows[own], place]
            sums.squares[own] += (points**2).sum(1)
            sums.sums[own] += points
        return cls(rows, sums, lambda place, own: positions[own, place])


def _points_of_categories(panel: LabelsByRater, used: Array) -> Array:
    """A point for each category (K, D)."""
    level, scores = panel.scale.level, panel.scale.scores
    if level == "nominal":
        return np.asarray(np.eye(len(used)) / np.sqrt(2))
    if level == "ordinal":
        scores = np.cumsum(used) - used / 2
    return (
        _ratio_points(scores)
        if level == "ratio"
        else _centre_used_values(scores[:, None], used > 0)
    )


def _points_of_numbers(panel: NumbersByRater, rows: Codes) -> Array:
    """A point for each number (N, R, D); nan if missing."""
    is_used = np.zeros(panel.given.shape, dtype=bool)
    is_used[rows] = panel.given[rows]
    if panel.scale.level == "ratio":
        return _ratio_points(panel.values[..., 0])
    if panel.scale.level != "ordinal":
        return _centre_used_values(panel.values, is_used)
    ranks = np.full(panel.values.shape, np.nan)
    values, places = np.unique(panel.values[is_used][:, 0], return_inverse=True)
    used = np.bincount(places, panel.weights[np.nonzero(is_used)[0]], minlength=len(values))
    ranks[is_used, 0] = (np.cumsum(used) - used / 2)[places]
    return _centre_used_values(ranks, is_used)


def _centre_used_values(values: Array, is_used: Flags) -> Array:
    used = values[is_used]
    if not len(used):
        return values
    return np.asarray((values - used.mean(0)) / (float(np.ptp(used, axis=0).max()) or 1.0))


def _ratio_points(values: Array) -> Array:
    """Points whose squared distance is that of the ratio level, to a thousandth (..., D).

    It is tanh²(Δ/2) = 1 - sech²(Δ/2), where Δ is the difference of two logarithms, and sech² is a
    sum of cosines of Δ. Zero is 1 apart from all others.
    """
    is_positive = values > 0
    logarithms = np.log(values, out=np.full(values.shape, np.nan), where=is_positive)
    span = float(np.ptp(logarithms[is_positive])) if is_positive.any() else 0.0
    step = 2 * np.pi / (span + 8)
    frequencies = step * (np.arange(np.ceil(4 / step)) + 0.5)
    lengths = frequencies / np.sinh(np.pi * frequencies)
    lengths = np.sqrt(lengths / lengths.sum() / 2)
    angles = logarithms[..., None] * frequencies
    points = np.concatenate([lengths * np.cos(angles), lengths * np.sin(angles)], axis=-1)
    is_zero = (values == 0)[..., None] / np.sqrt(2)
    return np.concatenate([np.where(is_zero > 0, 0.0, points), is_zero], axis=-1)


def _n_independent_units(panel: Panel, rows: Codes) -> int:
    """How many items, or clusters of one size, say as much as some rows."""
    if panel.clusters is None or not len(rows):
        return round(float(panel.weights[rows].sum()))
    is_selected = np.zeros(len(panel.weights), dtype=bool)
    is_selected[rows] = True
    return round(panel.clusters.effective_number(panel.weights, is_selected))


def _count_units(panel: Panel, rows: Codes) -> float:
    """How many items, or clusters that hold any, are in some rows."""
    if panel.clusters is None:
        return float(panel.weights[rows].sum())
    return panel.clusters.select_rows(rows).n


def _error_of_sum(values: Array, rows: Codes, panel: Panel, units: int) -> float:
    """The standard error of the sum over items of values whose mean is 0 (P,)."""
    weights = panel.weights[rows]
    squares = float(weights @ values**2)
    if panel.clusters:
        clusters = panel.clusters.select_rows(rows)
        cluster_sums = np.bincount(clusters.places, clusters.sizes(weights) * values)
        squares = float(clusters.times @ cluster_sums**2)
    return float(np.sqrt(units / (units - 1) * squares))


def _find_camps(panel: Panel, coefficient: PanelCoefficient | None) -> tuple[Camp, ...]:
    n = len(panel.raters)
    if not 4 <= n <= MAX_PANEL_FOR_CAMPS:
        return ()
    tail = TAIL / (2 ** (n - 1) - 1 - n)
    order = order_raters_by_agreement(1.0 - rater_distances(panel).of_pairs)
    best: tuple[Camp, ...] = ()
    min_difference = MIN_DIFFERENCE
    for n_in_first, (first_pairs, second_pairs, pairs) in enumerate(
        _sum_pairs_by_cut(panel, order), 1
    ):
        if not 2 <= n_in_first <= n - 2:
            continue
        in_first_camp, agreement_across = (
            np.isin(np.arange(n), order[:n_in_first]),
            ratio(*pairs),
        )
        joint_test = _test_mean(
            ratio(first_pairs[0] + second_pairs[0], first_pairs[1] + second_pairs[1])
            - agreement_across,
            panel,
        )
        pairs_by_camp = [
            (ratio(*camp_pairs), camp)
            for camp_pairs, camp in ((first_pairs, in_first_camp), (second_pairs, ~in_first_camp))
        ]
        camp_tests = [
            _test_mean(agreement_inside - agreement_across, panel)
            for agreement_inside, _ in pairs_by_camp
        ]
        if joint_test is None or joint_test.p_higher > tail or None in camp_tests:
            continue
        if all(
            test.p_higher <= TAIL and test.mean >= min_difference for test in camp_tests if test
        ):
            min_difference = min(test.mean for test in camp_tests if test)
            best = tuple(
                Camp(
                    tuple(sorted(np.array(panel.raters, dtype=object)[camp])),
                    *(
                        float(values[test.rows] @ test.weights)
                        for values in (agreement_inside, agreement_across)
                    ),
                )
                for (agreement_inside, camp), test in zip(pairs_by_camp, camp_tests, strict=True)
                if test
            )
    if coefficient is not None and not _is_higher_in_camps(coefficient, best):
        return ()
    return tuple(sorted(best, key=lambda camp: -len(camp.raters)))


def _is_higher_in_camps(coefficient: PanelCoefficient, camps: Sequence[Camp]) -> bool:
    """True if the coefficient is surely higher inside each camp than for all."""
    panel = coefficient.panel
    n_pairs, n_pairs_across = (
        math.comb(len(panel.raters), 2),
        math.prod(len(camp.raters) for camp in camps),
    )
    units = _n_independent_units(panel, np.flatnonzero(panel.weights > 0))
    for camp in camps:
        size = coefficient.rise(camp.raters)
        if not size >= MIN_DIFFERENCE * n_pairs_across / n_pairs:
            return False
        error, n_units = coefficient.error_of_rise(camp.raters, units)
        if _Rise("", size, error, n_units).p > TAIL:
            return False
    return True


def _sum_pairs_by_cut(panel: Panel, order: Sequence[int]) -> Iterator[tuple[Pairs, Pairs, Pairs]]:
    n = panel.given[:, order].astype(float).cumsum(1)
    alike_in_first, alike_in_second, alike_across = (np.zeros(n.shape) for _ in range(3))
    for left_factors, right_factors in _likeness_factors(panel):
        left_sums, right_sums = left_factors[:, order].cumsum(1), right_factors[:, order].cumsum(1)
        alike_in_first += left_sums * right_sums
        alike_across += left_sums * (right_sums[:, -1:] - right_sums)
        alike_in_second += (left_sums[:, -1:] - left_sums) * (right_sums[:, -1:] - right_sums)
    for n_in_first, n_first in enumerate(n.T):
        n_second = n[:, -1] - n_first
        yield (
            (alike_in_first[:, n_in_first] - n_first, n_first * (n_first - 1)),
            (alike_in_second[:, n_in_first] - n_second, n_second * (n_second - 1)),
            (alike_across[:, n_in_first], n_first * n_second),
        )


def _likeness_factors(panel: Panel) -> Iterator[tuple[Array, Array]]:
    """Arrays (P, R) whose products for two raters add up to how alike their ratings are.

    A rating is 1 alike to itself, and a missing one is 0 alike to all.
    """
    if isinstance(panel, LabelsByRater):
        for k in range(len(panel.scale.names)):
            has_category = (panel.codes == k).astype(float)
            yield has_category, has_category
        return
    is_rated = panel.given.astype(float)
    n = float((panel.weights @ is_rated).sum()) or 1.0
    x = np.where(panel.given[..., None], panel.values, 0.0)
    x = (x - (panel.weights @ x.sum(1)) / n) * is_rated[..., None]
    squares = (x**2).sum(-1)
    mean_square_distance = 2 * float(panel.weights @ squares.sum(1)) / n or 1.0
    yield is_rated, is_rated
    yield -squares / mean_square_distance, is_rated
    yield is_rated, -squares / mean_square_distance
    for dimension in np.moveaxis(x, -1, 0):
        yield 2 * dimension / mean_square_distance, dimension


class _MeanTest(NamedTuple):
    mean: float
    rows: Codes
    weights: Array
    p_higher: float


def _test_mean(values: Array, panel: Panel) -> _MeanTest | None:
    rows = np.flatnonzero(~np.isnan(values) & (panel.weights > 0))
    weights = panel.weights[rows]
    units = _n_independent_units(panel, rows)
    if units < MIN_SHARED_ITEMS:
        return None
    n = float(weights.sum())
    mean = float(weights @ values[rows] / n)
    error = _error_of_sum(values[rows] - mean, rows, panel, units) / n
    t = mean / error if error > 0 else np.sign(mean) * np.inf if mean else 0.0
    return _MeanTest(mean, rows, weights / n, lower_tail_probability(float(-t), units - 1))


def order_raters_by_agreement(agreement: Array) -> Sequence[int]:
    """An order of raters in which those who agree stand beside each other.

    They are put in the order of the main component of their agreement (R, R); nan is unknown.
    """
    agreement_or_mean = np.where(
        np.isnan(agreement),
        np.nanmean(agreement) if (~np.isnan(agreement)).any() else 0.0,
        agreement,
    )
    np.fill_diagonal(agreement_or_mean, 1.0)
    centred = (
        agreement_or_mean
        - agreement_or_mean.mean(0)
        - agreement_or_mean.mean(1)[:, None]
        + agreement_or_mean.mean()
    )
    main = np.linalg.eigh(centred)[1][:, -1]
    main = main if main[np.argmax(np.abs(main))] > 0 else -main
    return [int(position) for position in np.argsort(-main, kind="stable")]
