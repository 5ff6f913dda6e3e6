r"""Who differs from the rest of a panel, by more than the luck of the items.

For each item, the share of others who agree with a rater is compared with the share of other
pairs who agree. So hard items favour nobody:

.. math:: d_{ir} = \frac{\sum_{s \ne r} a_{irs}}{m_i - 1}
   - \frac{\sum_{s < t;\, s, t \ne r} a_{ist}}{(m_i - 1)(m_i - 2) / 2}

Here :math:`a_{irs}` is 1 if raters r and s give item i the same label, and :math:`m_i` is how many
rated it. For numbers it is :math:`1 - (x_r - x_s)^2 / D`, and D is the mean of the squares of all
pairs. Student's test of the mean of :math:`d_{ir}` takes items, or clusters of them, as drawn at
random. Holm's (1979) procedure holds the risk that anybody is named by luck at 2.5 %.

Two camps are said to be there if both agree more inside than with each other. They are found by the
main component of agreement. So the test of all pairs inside against those across is held to 2.5 %,
divided by the number of ways to part the raters in two (Bonferroni).

Reference: Holm, S. (1979), https://www.jstor.org/stable/4615733
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from agreement_pipeline.measures import ratio
from agreement_pipeline.ratings import Array, Codes
from agreement_pipeline.statistics import LabelsByRater, NumbersByRater, rater_distances
from agreement_pipeline.students_t import lower_tail
from agreement_pipeline.text import PROBABILITY, WHOLE_PERCENT, in_words, joined

TAIL = 0.025
MIN_SHARED_ITEMS = 30
"""On fewer items, or clusters by Kish's formula, nobody is said to differ."""
MIN_DIFFERENCE = 0.065
"""A smaller difference is no cause, whatever the number of items.

So of 300 items, a rater with 12 % of errors beside four with 10 % is named in under 1 % of rounds,
and one with 20 % in four of five.
"""
MAX_RATERS_DESCRIBED = 4
"""Of so many raters who differ the agreement is said; of others, the name."""
MAX_PANEL_FOR_CAMPS = 60
"""A larger panel is a crowd, in which no camps are looked for."""

Panel = LabelsByRater | NumbersByRater
Pairs = tuple[Array, Array]
"""How alike some raters of each item are, and how many pairs they are: sums over ordered pairs."""
Finding = Literal["raters", "camps", "nobody", "too few to tell"]


class GroupAgreement(NamedTuple):
    raters: tuple[str, ...]
    own: float
    rest: float


@dataclass(frozen=True)
class StandingOut:
    """Who differs from the rest of a panel.

    Attributes
    ----------
    finding
        *raters*: some agree less with the others than these do with each other. *camps*: the panel
        stands in two camps. *nobody*: neither is certain. *too few to tell*: no rater shares 30
        items, or clusters, with two others.
    found
        Of each rater who stands out: their agreement with the others, and that of the others with
        each other. Of each camp: agreement inside it, and across. Empty otherwise.
    equal
        True if agreement is a share of equal labels. For numbers it is 1 for equal ones, and 0 for
        those as far apart as two of any items.
    """

    finding: Finding
    found: tuple[GroupAgreement, ...] = ()
    equal: bool = True

    @property
    def sentence(self) -> str:
        """The finding in words.

        >>> print(StandingOut("raters", (GroupAgreement(("ana",), 0.61, 0.82),)).sentence)
        ana differs from the rest: 61% of their labels equal another's, against 82% among the rest.
        """
        if self.finding == "too few to tell":
            return (
                "No rater shares enough items, or clusters of them, with two others to tell "
                "whether one of them stands out."
            )
        if self.finding == "nobody":
            return (
                "Nobody is known to stand out: no rater surely agrees less with the rest, and by "
                f"{100 * MIN_DIFFERENCE:g} points of 100 or more."
            )
        first_group = self.found[0]
        if self.finding == "camps":
            camps = " against ".join(joined(group.raters) for group in self.found)
            agreement_inside = joined(
                dict.fromkeys(self._format_agreement(group.own) for group in self.found)
            )
            predicate = "of labels are equal" if self.equal else "is the agreement"
            return (
                f"Two camps: {camps}. {agreement_inside} {predicate} within a camp, and "
                f"{self._format_agreement(first_group.rest)} across."
            )
        predicate = "of their labels equal another's" if self.equal else "is their agreement"
        sentences = [
            f"{group.raters[0]} differs from the rest: {self._format_agreement(group.own)} "
            f"{predicate}, against {self._format_agreement(group.rest)} among the rest."
            for group in self.found[:MAX_RATERS_DESCRIBED]
        ]
        if undescribed := self.found[MAX_RATERS_DESCRIBED:]:
            names = joined(group.raters[0] for group in undescribed)
            sentences.append(f"So {'does' if len(undescribed) == 1 else 'do'} {names}.")
        return " ".join(sentences)

    def _format_agreement(self, value: float) -> str:
        return in_words(value, WHOLE_PERCENT if self.equal else PROBABILITY)


def standing_out(panel: Panel) -> StandingOut:
    """Who differs from the rest of a panel, beyond an interval that allows for its size.

    Examples
    --------
    >>> from agreement_pipeline import Scale
    >>> said = [[item % 2, item % 2, item % 2, item % 3 % 2] for item in range(60)]
    >>> panel = LabelsByRater(said, scale=Scale(("no", "yes")), raters=("a", "b", "c", "d"))
    >>> [each.raters for each in standing_out(panel).found]
    [('d',)]
    """
    camps = _find_camps(panel)
    if camps:
        return StandingOut("camps", camps, isinstance(panel, LabelsByRater))
    is_comparable, raters = _find_raters(panel)
    finding: Finding = "raters" if raters else "nobody" if is_comparable else "too few to tell"
    return StandingOut(finding, raters, isinstance(panel, LabelsByRater))


def _find_raters(panel: Panel) -> tuple[bool, tuple[GroupAgreement, ...]]:
    place, row = np.nonzero(panel.given.T)
    if isinstance(panel, LabelsByRater):
        counts = panel.counts().counts
        likeness_to_item, likeness_in_item = (
            counts[row, panel.codes[row, place]],
            (counts**2).sum(1),
        )
    else:
        likeness_to_item, likeness_in_item = np.zeros(len(row)), np.zeros(len(panel.given))
        for left_factors, right_factors in _likeness_factors(panel):
            likeness_to_item += left_factors[row, place] * right_factors.sum(1)[row]
            likeness_in_item += left_factors.sum(1) * right_factors.sum(1)
    likeness_to_item -= 1
    m = panel.given.sum(1).astype(float)[row]
    own_agreement = ratio(likeness_to_item, m - 1)
    rest_agreement = ratio(likeness_in_item[row] - m - 2 * likeness_to_item, (m - 1) * (m - 2))
    rater_starts, tested = np.searchsorted(place, np.arange(len(panel.raters) + 1)), []
    for position, name in enumerate(panel.raters):
        own_slice, agreements = (
            slice(rater_starts[position], rater_starts[position + 1]),
            np.full((2, len(likeness_in_item)), np.nan),
        )
        agreements[:, row[own_slice]] = own_agreement[own_slice], rest_agreement[own_slice]
        test = _test_mean(agreements[0] - agreements[1], panel)
        if test is not None:
            means = agreements[:, test.rows] @ test.weights
            tested.append((test, GroupAgreement((name,), *means.tolist())))
    tested.sort(key=lambda tested_pair: (tested_pair[0].p_lower, tested_pair[0].mean))
    standouts = []
    for position, (test, standout) in enumerate(tested):
        if test.p_lower > TAIL / (len(tested) - position):
            break
        if test.mean <= -MIN_DIFFERENCE:
            standouts.append(standout)
    return bool(tested), tuple(standouts)


def _find_camps(panel: Panel) -> tuple[GroupAgreement, ...]:
    n = len(panel.raters)
    if not 4 <= n <= MAX_PANEL_FOR_CAMPS:
        return ()
    tail = TAIL / (2 ** (n - 1) - 1 - n)
    order = alike_first(1.0 - rater_distances(panel).of_pairs)
    best: tuple[GroupAgreement, ...] = ()
    min_difference = MIN_DIFFERENCE
    for n_in_first, (first_pairs, second_pairs, pairs) in enumerate(
        _sum_pairs_by_cut(panel, order), 1
    ):
        if not 2 <= n_in_first <= n - 2:
            continue
        in_first_camp, agreement_across = np.isin(np.arange(n), order[:n_in_first]), ratio(*pairs)
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
                GroupAgreement(
                    tuple(sorted(np.array(panel.raters, dtype=object)[camp])),
                    *(
                        float(values[test.rows] @ test.weights)
                        for values in (agreement_inside, agreement_across)
                    ),
                )
                for (agreement_inside, camp), test in zip(pairs_by_camp, camp_tests, strict=True)
                if test
            )
    return tuple(sorted(best, key=lambda camp: -len(camp.raters)))


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
    p_lower: float
    p_higher: float


def _test_mean(values: Array, panel: Panel) -> _MeanTest | None:
    rows = np.flatnonzero(~np.isnan(values) & (panel.weights > 0))
    weights = panel.weights[rows]
    if not len(rows):
        return None
    n, clusters = float(weights.sum()), panel.clusters and panel.clusters.select_rows(rows)
    units = round(clusters.effective(weights, np.ones(len(rows), dtype=bool)) if clusters else n)
    if units < MIN_SHARED_ITEMS:
        return None
    mean = float(weights @ values[rows] / n)
    deviations = values[rows] - mean
    squares = float(weights @ deviations**2)
    if clusters:
        cluster_sums = np.bincount(clusters.places, clusters.sizes(weights) * deviations)
        squares = float(clusters.times @ cluster_sums**2)
    error = np.sqrt(units / (units - 1) * squares) / n
    t = mean / error if error > 0 else np.sign(mean) * np.inf if mean else 0.0
    return _MeanTest(
        mean, rows, weights / n, lower_tail(float(t), units - 1), lower_tail(float(-t), units - 1)
    )


def alike_first(agreement: Array) -> Sequence[int]:
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
