"""How many items a rule needs before it decides: rounds of a known population, judged as real ones are.

A *population* is a statistic whose weights are the shares of items that show each row. A round of n items is a draw of n rows; its lower limit is that
of the interval which judges real rounds; the probability that it decides is the share of drawn rounds whose lower limit reaches the cut-off.
Where the population's items come in clusters, a round is a draw of whole clusters, as many as hold n items on average.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations_with_replacement, product
from math import ceil, comb, factorial, isnan, nan, prod
from typing import Any

import numpy as np

from agreement_pipeline.errors import PolicyError
from agreement_pipeline.estimates import (
    CONFIDENCE_LEVEL,
    Estimate,
    estimate,
    refuse_impossible,
    registered,
)
from agreement_pipeline.intervals import (
    NORMAL,
    critical_value,
    drawn_masses,
    draws_needed,
    fewest_draws,
    mixture,
)
from agreement_pipeline.ratings import Array, Scale
from agreement_pipeline.statistics import (
    CategoryCounts,
    Clusters,
    LabelsByRater,
    ReplicatedLabels,
    Statistic,
)

N_ROUNDS = 2_000
N_RESAMPLES = 1_000
FEWEST_ITEMS, MOST_ITEMS = 5, 200_000
MOST_ROWS = 50_000
MOST_LABELS = 1_000
STEPS_OF_AGREEMENT = 60
WHOLE = 1e9
PLACES_OF_RATINGS = 3
COARSE, CONFIRMING = 0.2, 2.0
NEAR = 1.5


@dataclass(frozen=True)
class Plan:
    """The least number of items with which a rule decides as often as asked.

    Attributes
    ----------
    measure, expected, reliable, probability
        What was asked: the measure, its value in the population, the cut-off, and how often the lower limit is to reach it.
    labels_an_item
        Ratings that the measure rests on, by item of the population in the mean: of a measure of replicates, those of items that a rater met again.
    n_items
        Items needed; None where no number of them would do.
    decided
        The share of the simulated rounds of that many items that decide.
    curve
        The numbers of items that were tried, in order, with the share that decided.
    impossible
        Why no number of items would do.
    """

    measure: str
    expected: float
    reliable: float
    probability: float
    labels_an_item: float
    n_items: int | None
    decided: float | None
    curve: tuple[tuple[int, float], ...]
    impossible: str | None = None

    @property
    def n_ratings(self) -> int | None:
        """What it costs in ratings, the last one whole."""
        return (
            None
            if self.n_items is None
            else ceil(round(self.n_items * self.labels_an_item, PLACES_OF_RATINGS))
        )

    def to_mapping(self) -> dict[str, Any]:
        """The plan as plain data; whole numbers of labels an item as such."""
        labels = (
            int(self.labels_an_item) if self.labels_an_item.is_integer() else self.labels_an_item
        )
        return {
            **vars(self),
            "labels_an_item": labels,
            "n_ratings": self.n_ratings,
            "curve": [list(point) for point in self.curve],
        }


def plan(
    measure: str,
    population: Statistic,
    *,
    reliable: float,
    probability: float,
    min_items: int = FEWEST_ITEMS,
    confidence_level: float = CONFIDENCE_LEVEL,
    n_rounds: int = N_ROUNDS,
    seed: int = 0,
    n_together: int = 1,
    always_valid_at: int | None = None,
    n_resamples: int = N_RESAMPLES,
) -> Plan:
    """How many items of the population a round needs, so that the lower limit of the measure reaches `reliable` with `probability`.

    Numbers of items are doubled until enough rounds decide, each tried on a fifth of `n_rounds` rounds; then the last step is halved until it is two
    percent, each number tried on all of them. What chance favoured of those is not believed by itself: a curve through all of them says how many are
    enough. That number is tried on twice as many other rounds, and what these say is promised, to half a point.

    Parameters
    ----------
    measure
        A registered measure; of one of every category, the lowest is planned for.
    population
        What it is computed from; weights are shares.
    reliable, probability, confidence_level
        As above.
    min_items
        A round in which agreement is read on fewer is not evaluated, and so does not decide; no fewer are tried.
    n_rounds, seed
        Rounds that are simulated for each number of items, and the seed they are drawn from.
    n_together
        Verdicts that hold together by Holm's procedure. The plan is for the level that the first of them meets, at which this one decides whatever
        becomes of the others.
    always_valid_at
        Items at which limits that hold at any time are tightest; a round of the items found then decides without another look having cost anything.
    n_resamples
        Draws for each round; several verdicts, or many looks, ask for limits further out, and those for more draws.

    Raises
    ------
    PolicyError
        The probability is none that a round can reach, the draws are too few for limits at the level, there is no such measure, or it has no value
        in the population.
    """
    if not 0 < probability < 1:
        raise PolicyError(
            f"probability {probability!r} found; more than 0 and less than 1 is required. 0.9 is usual."
        )
    refuse_impossible(confidence_level, n_resamples)
    _refuse_too_few_draws(n_resamples, confidence_level, n_together, always_valid_at)
    expected = _value(measure, population)
    if isnan(expected):
        raise PolicyError(
            f"{measure} has no value in the population; one is required to plan from. Plan from another."
        )
    asked = (measure, expected, reliable, probability, _labels_an_item(population))
    if not expected > reliable:
        return Plan(
            *asked,
            None,
            None,
            (),
            f"the agreement expected, {expected:.3f}, is no more than {reliable:g}: more items would only make that surer",
        )

    def decided(n_items: int, share: float = 1.0) -> float:
        rounds, drawn = max(1, round(n_rounds * share)), seed + int(share > 1)
        settings: dict[str, Any] = {
            "confidence_level": confidence_level,
            "always_valid_at": always_valid_at,
            "n_resamples": n_resamples,
        }
        judged = _estimates(measure, population, n_items, n_rounds=rounds, seed=drawn, **settings)
        return float(np.mean([_reaches(each, reliable, min_items, n_together) for each in judged]))

    start = max(min_items, FEWEST_ITEMS)
    tried = dict(_searched(decided, probability, start))
    curve, enough = (
        tuple(sorted(tried.items())),
        [n for n, share in tried.items() if share >= probability],
    )
    if not enough:
        return Plan(*asked, None, None, curve, f"{MOST_ITEMS} items would not do")
    needed = max(start, _smoothed(tried, min(enough), probability))
    return Plan(*asked, needed, decided(needed, CONFIRMING), curve)


def _refuse_too_few_draws(
    n_resamples: int, confidence_level: float, n_together: int, always_valid_at: int | None
) -> None:
    """Refuse draws of which fewer than ten lie beyond the limits: no number of items would make a round decide by them."""
    alpha = 1 - confidence_level
    needed = fewest_draws(alpha / 2 / n_together)
    if always_valid_at is not None:
        tightest = critical_value(mixture(1, alpha), alpha / n_together)
        needed = max(draws_needed(confidence_level), fewest_draws(NORMAL.cdf(-tightest)))
    if n_resamples < needed:
        verdicts = f", {n_together} verdicts together" if n_together > 1 else ""
        found = f"n_resamples {n_resamples} with confidence_level {confidence_level:g}{verdicts}{'' if always_valid_at is None else ', always_valid_at'}"
        raise PolicyError(
            f"{found} found; {needed} or more is required, so that ten draws lie beyond each limit. Raise n_resamples."
        )


def lower_limits(
    measure: str,
    population: Statistic,
    n_items: int,
    *,
    confidence_level: float,
    n_rounds: int,
    seed: int,
) -> Array:
    """The lower limits in simulated rounds, shape (n_rounds,); -inf where the measure is undefined."""
    settings: dict[str, Any] = {
        "confidence_level": confidence_level,
        "always_valid_at": None,
        "n_resamples": N_RESAMPLES,
    }
    found = _estimates(measure, population, n_items, n_rounds=n_rounds, seed=seed, **settings)
    return np.array([each.interval.low if each.interval else -np.inf for each in found])


def _estimates(
    measure: str, population: Statistic, n_items: int, *, n_rounds: int, seed: int, **settings: Any
) -> Iterator[Estimate]:
    """What is found in simulated rounds."""
    rng = np.random.default_rng([seed, n_items])
    for number, drawn in enumerate(_rounds(population, n_items, n_rounds, rng)):
        yield estimate(measure, drawn, seed=number, **settings)


def _reaches(found: Estimate, cutoff: float, min_items: int, n_together: int) -> bool:
    """Does the lower limit reach the cut-off, on as many items as are asked for, also at the level that the first of so many verdicts has to meet?"""
    if (
        found.interval is None
        or found.known is None
        or found.n_used < min_items
        or found.interval.low < cutoff
    ):
        return False
    return (
        n_together == 1
        or max(found.known.under(cutoff), found.known.finest)
        <= (1 - found.confidence_level) / 2 / n_together
    )


def _rounds(
    population: Statistic, n_items: int, n_rounds: int, rng: np.random.Generator
) -> Iterator[Statistic]:
    """Rounds of so many items of the population; of whole clusters, a cluster drawn twice standing for two, where its items come in clusters."""
    masses, weights, clusters = drawn_masses(population), population.weights, population.clusters
    n = n_items if clusters is None else max(1, round(n_items * masses.sum() / weights.sum()))
    for times in rng.multinomial(n, masses / masses.sum(), size=n_rounds).astype(float):
        if clusters is None:
            yield population.reweighted(times)
        else:
            drawn = population.in_clusters(Clusters(clusters.places, times))
            yield drawn.reweighted(times[clusters.places] * clusters.sizes(weights))


def assumed(measure: str, expected: float, prevalence: Sequence[float], n_raters: int) -> Statistic:
    """The population in which the measure has the expected value.

    An item is clear with a certain probability, and then all raters give its category; else each of them guesses, after the prevalence. Whole items
    are hard, not single ratings: of the ways in which the same agreement may come about, the one that asks for the most items.

    Raises
    ------
    PolicyError
        The prevalence is none, no such population has the expected value, or an item may be labelled in too many ways.
    """
    shares = np.asarray(prevalence, dtype=float)
    if (
        shares.ndim != 1
        or len(shares) < 2
        or not (shares > 0).all()
        or not np.isclose(shares.sum(), 1)
    ):
        raise PolicyError(
            f"prevalence {list(prevalence)} found; two shares or more, above 0 and 1 in all, are required. Give one for each category."
        )
    if not 2 <= n_raters <= MOST_LABELS:
        raise PolicyError(
            f"{n_raters} labels an item found; 2 to {MOST_LABELS} are required. Plan for as many as an item will have."
        )
    low, high = 0.0, 1.0
    for _ in range(STEPS_OF_AGREEMENT):
        middle = (low + high) / 2
        low, high = (
            (middle, high)
            if _value(measure, _clear_or_guessed(measure, middle, shares, n_raters)) < expected
            else (low, middle)
        )
    population = _clear_or_guessed(measure, high, shares, n_raters)
    if not np.isclose(_value(measure, population), expected, atol=1e-6):
        raise PolicyError(
            f"{measure} {expected:g} found; a value that raters who know or guess can have is required. Expect more agreement, or less."
        )
    return population


def _searched(
    decided: Callable[..., float], probability: float, start: int
) -> Iterator[tuple[int, float]]:
    """Numbers of items and the share that decides: doubled until enough do, then between the last two."""
    too_few = enough = start
    while (share := decided(enough, COARSE)) < probability:
        yield enough, share
        if enough == MOST_ITEMS:
            return
        too_few, enough = enough, min(2 * enough, MOST_ITEMS)
    while (share := decided(enough)) < probability and enough < MOST_ITEMS:
        yield enough, share
        too_few, enough = enough, min(enough + enough // 4, MOST_ITEMS)
    yield enough, share
    while enough - too_few > max(1, enough // 50):
        middle = (too_few + enough) // 2
        share = decided(middle)
        yield middle, share
        too_few, enough = (too_few, middle) if share >= probability else (middle, enough)


def _smoothed(tried: Mapping[int, float], enough: int, probability: float) -> int:
    """How many items are enough by the curve through the shares near `enough`: their probits rise as the root of the items does, since limits narrow so.

    Where chance has no part in it, nor has a curve: every round of a unanimous population decides, or none.
    """
    least, most = enough / NEAR, enough * NEAR
    near = [(n, share) for n, share in tried.items() if least <= n <= most and 0 < share < 1]
    if len(near) < 2:
        return enough
    n, share = np.array(near).T
    probits = np.array([NORMAL.inv_cdf(each) for each in share])
    certainty = np.array([NORMAL.pdf(each) for each in probits]) / np.sqrt(share * (1 - share))
    slope, intercept = np.polyfit(np.sqrt(n), probits, 1, w=certainty)
    return (
        ceil(np.clip((NORMAL.inv_cdf(probability) - intercept) / slope, least**0.5, most**0.5) ** 2)
        if slope > 0
        else enough
    )


def _value(measure: str, population: Statistic) -> float:
    """The measure's value, the lowest of every category that has one, in so many items that no correction for few of them is left; nan where there is none."""
    values = np.atleast_1d(registered(measure)(_whole(population)).value)
    return float(min(values[~np.isnan(values)], default=nan))


def _clear_or_guessed(measure: str, clear: float, prevalence: Array, n_raters: int) -> Statistic:
    scale = Scale(tuple(f"c{k}" for k in range(len(prevalence))))
    makers: dict[str, Callable[..., Any]] = {
        "counts": _as_counts,
        "patterns": _as_patterns,
        "replicates": _as_replicates,
    }
    needs = registered(measure).needs
    if needs not in makers:
        raise PolicyError(
            f"measure {measure} found; one of raters' categories or replicates is required here. Plan from an earlier round instead."
        )
    statistic: Statistic = makers[needs](clear, prevalence, n_raters, scale)
    return statistic


def _as_counts(clear: float, prevalence: Array, n_raters: int, scale: Scale) -> CategoryCounts:
    """Every way in which an item's ratings fall on the categories, and how often."""
    _refuse_too_many(comb(n_raters + len(prevalence) - 1, n_raters))
    counts = np.array(
        [
            np.bincount(given, minlength=len(prevalence))
            for given in combinations_with_replacement(range(len(prevalence)), n_raters)
        ]
    )
    orders = np.array([factorial(n_raters) / prod(map(factorial, row.tolist())) for row in counts])
    guessed = orders * (prevalence**counts).prod(1)
    all_alike = (counts == n_raters) @ prevalence
    return CategoryCounts(
        counts, clear * all_alike + (1 - clear) * guessed, scale=scale, n_raters=n_raters
    )


def _as_patterns(clear: float, prevalence: Array, n_raters: int, scale: Scale) -> LabelsByRater:
    """Every way in which the raters may label an item, and how often."""
    _refuse_too_many(len(prevalence) ** n_raters)
    codes = np.array(list(product(range(len(prevalence)), repeat=n_raters)))
    all_alike = np.where((codes == codes[:, :1]).all(1), prevalence[codes[:, 0]], 0.0)
    return LabelsByRater(
        codes,
        clear * all_alike + (1 - clear) * prevalence[codes].prod(1),
        scale=scale,
        raters=_names(n_raters),
    )


def _as_replicates(
    clear: float, prevalence: Array, n_raters: int, scale: Scale
) -> ReplicatedLabels:
    """Items that one rater meets `n_raters` times, in every way in which her labels may fall on the categories."""
    counts = _as_counts(clear, prevalence, n_raters, scale)
    first = LabelsByRater(
        counts.counts.argmax(1)[:, None], counts.weights, scale=scale, raters=_names(1)
    )
    places = np.arange(len(counts.counts))
    return ReplicatedLabels(counts.counts, places, np.zeros_like(places), first)


def _refuse_too_many(n_ways: int) -> None:
    """Refuse before the ways are made: they may be more than the memory holds."""
    if n_ways > MOST_ROWS:
        raise PolicyError(
            f"more than {MOST_ROWS} ways to label an item found; at most as many are required. Plan for fewer raters or categories."
        )


def _names(n_raters: int) -> tuple[str, ...]:
    return tuple(f"r{number}" for number in range(n_raters))


def _labels_an_item(population: Statistic) -> float:
    return _whole(population).n_ratings / WHOLE


def _whole(population: Statistic) -> Statistic:
    """The population as so many items that shares of them are whole numbers."""
    return population.reweighted(population.weights * (WHOLE / population.weights.sum()))
