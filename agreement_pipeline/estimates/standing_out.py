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
FEWEST_TO_COMPARE = 30
"""On fewer items, or clusters by Kish's formula, nobody is said to differ."""
LEAST = 0.065
"""A smaller difference is no cause, whatever the number of items.

So of 300 items, a rater with 12 % of errors beside four with 10 % is named in under 1 % of rounds,
and one with 20 % in four of five.
"""
MOST_IN_WORDS = 4
"""Of so many raters who differ the agreement is said; of others, the name."""
MOST_IN_CAMPS = 60
"""A larger panel is a crowd, in which no camps are looked for."""

Panel = LabelsByRater | NumbersByRater
Pairs = tuple[Array, Array]
"""How alike some raters of each item are, and how many pairs they are: sums over ordered pairs."""
Finding = Literal["raters", "camps", "nobody", "too few to tell"]


class Beside(NamedTuple):
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
    found: tuple[Beside, ...] = ()
    equal: bool = True

    @property
    def sentence(self) -> str:
        """The finding in words.

        >>> print(StandingOut("raters", (Beside(("ana",), 0.61, 0.82),)).sentence)
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
                f"{100 * LEAST:g} points of 100 or more."
            )
        first = self.found[0]
        if self.finding == "camps":
            camps = " against ".join(joined(each.raters) for each in self.found)
            inside = joined(dict.fromkeys(self._said(each.own) for each in self.found))
            what = "of labels are equal" if self.equal else "is the agreement"
            return (
                f"Two camps: {camps}. {inside} {what} within a camp, and "
                f"{self._said(first.rest)} across."
            )
        what = "of their labels equal another's" if self.equal else "is their agreement"
        said = [
            f"{each.raters[0]} differs from the rest: {self._said(each.own)} {what}, "
            f"against {self._said(each.rest)} among the rest."
            for each in self.found[:MOST_IN_WORDS]
        ]
        if others := self.found[MOST_IN_WORDS:]:
            named = joined(each.raters[0] for each in others)
            said.append(f"So {'does' if len(others) == 1 else 'do'} {named}.")
        return " ".join(said)

    def _said(self, value: float) -> str:
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
    camps = _camps(panel)
    if camps:
        return StandingOut("camps", camps, isinstance(panel, LabelsByRater))
    known, raters = _raters(panel)
    finding: Finding = "raters" if raters else "nobody" if known else "too few to tell"
    return StandingOut(finding, raters, isinstance(panel, LabelsByRater))


def _raters(panel: Panel) -> tuple[bool, tuple[Beside, ...]]:
    place, row = np.nonzero(panel.given.T)
    if isinstance(panel, LabelsByRater):
        counts = panel.counts().counts
        near, every = counts[row, panel.codes[row, place]], (counts**2).sum(1)
    else:
        near, every = np.zeros(len(row)), np.zeros(len(panel.given))
        for left, right in _parts(panel):
            near += left[row, place] * right.sum(1)[row]
            every += left.sum(1) * right.sum(1)
    near -= 1
    m = panel.given.sum(1).astype(float)[row]
    own = ratio(near, m - 1)
    rest = ratio(every[row] - m - 2 * near, (m - 1) * (m - 2))
    ends, tested = np.searchsorted(place, np.arange(len(panel.raters) + 1)), []
    for at, name in enumerate(panel.raters):
        mine, both = slice(ends[at], ends[at + 1]), np.full((2, len(every)), np.nan)
        both[:, row[mine]] = own[mine], rest[mine]
        found = _tested(both[0] - both[1], panel)
        if found is not None:
            means = both[:, found.rows] @ found.weights
            tested.append((found, Beside((name,), *means.tolist())))
    tested.sort(key=lambda each: (each[0].p_lower, each[0].mean))
    named = []
    for at, (found, beside) in enumerate(tested):
        if found.p_lower > TAIL / (len(tested) - at):
            break
        if found.mean <= -LEAST:
            named.append(beside)
    return bool(tested), tuple(named)


def _camps(panel: Panel) -> tuple[Beside, ...]:
    n = len(panel.raters)
    if not 4 <= n <= MOST_IN_CAMPS:
        return ()
    tail = TAIL / (2 ** (n - 1) - 1 - n)
    order = alike_first(1.0 - rater_distances(panel).of_pairs)
    best: tuple[Beside, ...] = ()
    least = LEAST
    for cut, (first, other, pairs) in enumerate(_by_cut(panel, order), 1):
        if not 2 <= cut <= n - 2:
            continue
        ones, across = np.isin(np.arange(n), order[:cut]), ratio(*pairs)
        both = _tested(ratio(first[0] + other[0], first[1] + other[1]) - across, panel)
        each = [(ratio(*inside), camp) for inside, camp in ((first, ones), (other, ~ones))]
        alone = [_tested(within - across, panel) for within, _ in each]
        if both is None or both.p_higher > tail or None in alone:
            continue
        if all(found.p_higher <= TAIL and found.mean >= least for found in alone if found):
            least = min(found.mean for found in alone if found)
            best = tuple(
                Beside(
                    tuple(sorted(np.array(panel.raters, dtype=object)[camp])),
                    *(float(values[found.rows] @ found.weights) for values in (within, across)),
                )
                for (within, camp), found in zip(each, alone, strict=True)
                if found
            )
    return tuple(sorted(best, key=lambda camp: -len(camp.raters)))


def _by_cut(panel: Panel, order: Sequence[int]) -> Iterator[tuple[Pairs, Pairs, Pairs]]:
    n = panel.given[:, order].astype(float).cumsum(1)
    first, other, across = (np.zeros(n.shape) for _ in range(3))
    for left, right in _parts(panel):
        one, two = left[:, order].cumsum(1), right[:, order].cumsum(1)
        first += one * two
        across += one * (two[:, -1:] - two)
        other += (one[:, -1:] - one) * (two[:, -1:] - two)
    for at, some in enumerate(n.T):
        rest = n[:, -1] - some
        yield (
            (first[:, at] - some, some * (some - 1)),
            (other[:, at] - rest, rest * (rest - 1)),
            (across[:, at], some * rest),
        )


def _parts(panel: Panel) -> Iterator[tuple[Array, Array]]:
    """Arrays (P, R) whose products for two raters add up to how alike their ratings are.

    A rating is 1 alike to itself, and a missing one is 0 alike to all.
    """
    if isinstance(panel, LabelsByRater):
        for k in range(len(panel.scale.names)):
            gave = (panel.codes == k).astype(float)
            yield gave, gave
        return
    given = panel.given.astype(float)
    n = float((panel.weights @ given).sum()) or 1.0
    x = np.where(panel.given[..., None], panel.values, 0.0)
    x = (x - (panel.weights @ x.sum(1)) / n) * given[..., None]
    squares = (x**2).sum(-1)
    far = 2 * float(panel.weights @ squares.sum(1)) / n or 1.0
    yield given, given
    yield -squares / far, given
    yield given, -squares / far
    for dimension in np.moveaxis(x, -1, 0):
        yield 2 * dimension / far, dimension


class _Tested(NamedTuple):
    mean: float
    rows: Codes
    weights: Array
    p_lower: float
    p_higher: float


def _tested(values: Array, panel: Panel) -> _Tested | None:
    rows = np.flatnonzero(~np.isnan(values) & (panel.weights > 0))
    weights = panel.weights[rows]
    if not len(rows):
        return None
    n, clusters = float(weights.sum()), panel.clusters and panel.clusters.at(rows)
    units = round(clusters.effective(weights, np.ones(len(rows), dtype=bool)) if clusters else n)
    if units < FEWEST_TO_COMPARE:
        return None
    mean = float(weights @ values[rows] / n)
    beyond = values[rows] - mean
    squares = float(weights @ beyond**2)
    if clusters:
        held = np.bincount(clusters.places, clusters.sizes(weights) * beyond)
        squares = float(clusters.times @ held**2)
    error = np.sqrt(units / (units - 1) * squares) / n
    t = mean / error if error > 0 else np.sign(mean) * np.inf if mean else 0.0
    return _Tested(
        mean, rows, weights / n, lower_tail(float(t), units - 1), lower_tail(float(-t), units - 1)
    )


def alike_first(same: Array) -> Sequence[int]:
    """An order of raters in which those who agree stand beside each other.

    They are put in the order of the main component of their agreement (R, R); nan is unknown.
    """
    known = np.where(np.isnan(same), np.nanmean(same) if (~np.isnan(same)).any() else 0.0, same)
    np.fill_diagonal(known, 1.0)
    centred = known - known.mean(0) - known.mean(1)[:, None] + known.mean()
    main = np.linalg.eigh(centred)[1][:, -1]
    main = main if main[np.argmax(np.abs(main))] > 0 else -main
    return [int(at) for at in np.argsort(-main, kind="stable")]
