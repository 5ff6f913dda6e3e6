"""Plans: how many items the rules of a policy need before they decide.

Rounds are random samples of a known *population*, a statistic whose weights are shares of the
items, and are judged as real rounds are.
"""

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations_with_replacement, product
from math import ceil, comb, factorial, inf, isnan, nan, prod
from typing import Any, NamedTuple

import numpy as np

from agreement_pipeline.counting import Rated
from agreement_pipeline.errors import PolicyError
from agreement_pipeline.estimates import (
    Estimate,
    basis_of,
    estimate,
    estimate_label,
    registered,
)
from agreement_pipeline.intervals import (
    NORMAL,
    PRIOR_MASS,
    Inference,
    Looks,
    min_draws,
    resampling_masses,
)
from agreement_pipeline.measures import SUBJECTS
from agreement_pipeline.policy.label_planning import LabelDesign, label_designs
from agreement_pipeline.policy.policy import Policy, Rule
from agreement_pipeline.policy.reasons import risks
from agreement_pipeline.ratings import Array, Codes, Ratings, Scale, Trains
from agreement_pipeline.statistics import (
    CategoryCounts,
    Clusters,
    LabelsByRater,
    ReplicatedLabels,
    Statistic,
)
from agreement_pipeline.tables import Table, Tabular
from agreement_pipeline.text import counted, in_words, listed

N_ROUNDS = 600
N_RESAMPLES = 1_000
FEWEST_POSSIBLE, N_POSSIBLE, MOST_MASSES = 100, 500, 5_000_000
FEWEST_ITEMS, MOST_ITEMS = 5, 200_000
GLANCE, STEP, WHOLE = 0.05, 0.25, 1.0
"""A number of items is tried on so many rounds, as shares of `n_rounds`."""
HOPELESS = 0.5
"""Under this share of the probability a glance is enough."""
STEPS = 4
LIKELY = 0.75
"""How much of what an earlier round leaves open lies over the cut-off, if one can plan from it."""
WORTH = 0.5
"""What a doubling of the items must bring, as a share of what it brings if agreement is known."""
TENTH = 0.1
ITERATIONS, FARTHEST_PROBIT = 8, 4.0
FARTHEST = 4
"""A fitted curve may ask for so many times as many items at once, or so many times fewer."""
FEWER = Inference(n_resamples=N_RESAMPLES)
EXPECTED, PROBABILITY = 0.85, 0.9
PREVALENCE, LABELS_AN_ITEM = (0.5, 0.5), (3,)


@dataclass(frozen=True)
class Plan(Tabular):
    """The smallest number of items with which a rule decides as often as asked.

    `labels_an_item` is the mean number of ratings that the measure uses. `decided` is the share of
    simulated rounds of `n_items` items that decide, and `curve` has it for each number that was
    tried. If no number is enough, `impossible` says why. `over` is the share of the populations
    that an earlier round leaves open and in which agreement is over the cut-off. The plan is for
    these. One in ten of them needs no more items than the first number of `between`, and one in ten
    more than the second, if any is enough. With `least` items full agreement is enough.
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
    over: float | None = None
    between: tuple[int, int | None] | None = None
    least: int | None = None
    items_a_cluster: float | None = None

    @property
    def n_clusters(self) -> int | None:
        return self.in_clusters(self.n_items)

    def in_clusters(self, n_items: int | None) -> int | None:
        if n_items is None or self.items_a_cluster is None:
            return None
        return _n_apart(n_items, self.items_a_cluster)

    @property
    def n_ratings(self) -> int | None:
        return None if self.n_items is None else ceil(round(self.n_items * self.labels_an_item, 3))

    def to_mapping(self) -> dict[str, Any]:
        labels = self.labels_an_item
        return {
            **vars(self),
            "labels_an_item": int(labels) if labels.is_integer() else labels,
            "n_ratings": self.n_ratings,
            "n_clusters": self.n_clusters,
            "curve": [list(point) for point in self.curve],
        }

    def rows(self) -> Iterator[dict[str, Any]]:
        said = {**vars(self), "items": self.n_items, "ratings": self.n_ratings}
        said["clusters"] = self.n_clusters
        shown = ("measure", "expected", "reliable", "labels_an_item", "items", "clusters")
        yield {name: said[name] for name in (*shown, "ratings", "decided", "impossible")}


KNOWN = np.ones(1)
"""How far agreement is over the cut-off, in any unit."""


class Trial(NamedTuple):
    """How many of some simulated rounds decide, by how far agreement is over the cut-off (T,)."""

    reach: Array
    deciding: Array
    rounds: Array

    @property
    def share(self) -> float:
        return float(self.deciding.sum() / self.rounds.sum())

    def with_more(self, others: "Trial") -> "Trial":
        every, deciding, rounds = np.hstack([self, others])
        reach, place = np.unique(every, return_inverse=True)
        merged = (np.bincount(place, each).astype(np.float64) for each in (deciding, rounds))
        return Trial(reach, *merged)


NOTHING = Trial(*np.empty((3, 0)))


class LeftOpen(NamedTuple):
    """Populations that may be the true one: their masses, and how far they are over the cut-off."""

    masses: list[Array]
    reach: Array

    def drawn(self, rng: np.random.Generator, n_rounds: int) -> Codes:
        over = np.flatnonzero(self.reach > 0)
        return over[rng.integers(len(over), size=n_rounds)]


class Judging(NamedTuple):
    measure: str
    cutoff: float
    min_items: int
    inference: Inference
    n_together: int

    def inference_of(self, number: int) -> Inference:
        return replace(self.inference, lower_only=True, seed=number)

    def decides(self, found: Estimate) -> bool:
        if (
            found.interval is None
            or found.distribution is None
            or found.n_apart < self.min_items
            or found.interval.low < self.cutoff
        ):
            return False
        if self.n_together == 1:
            return True
        p = max(found.distribution.under(self.cutoff), found.distribution.finest)
        return p <= self.inference.tail / self.n_together


def plan(
    policy: Policy,
    earlier: Ratings | None = None,
    *,
    expected: float = EXPECTED,
    prevalence: Sequence[float] = PREVALENCE,
    labels_an_item: Sequence[int] = LABELS_AN_ITEM,
    probability: float = PROBABILITY,
    n_rounds: int = N_ROUNDS,
    where: str = "earlier round",
    trains: Trains | None = None,
) -> Table[Plan]:
    """One plan for each rule on the round that can hold a release, judged as the policy says.

    A rule on the label that trains has a plan for each number of raters an item that the earlier
    round tells of.

    Parameters
    ----------
    earlier
        An earlier round, if the next one will be like it. Its name in errors is `where`.
    expected, prevalence, labels_an_item
        Without an earlier round: the value expected of each measure, the share of each category,
        and how many raters label an item. Each number of raters has plans of its own.
    probability, n_rounds
        The share of rounds that shall decide, and how many are simulated for a number of items.
    trains
        The label of which rules with the scope label speak.

    Raises
    ------
    PolicyError
        One rule and its population do not say how many items the policy needs.
    """
    holding = [rule for rule in policy.rules if rule.effect == "hold"]
    rules = [rule for rule in holding if rule.scope == "round"]
    of_label = [rule for rule in holding if rule.scope == "label"]
    if earlier is not None:
        asked = [(rule, population_of(earlier, rule, where=where)) for rule in rules]
    else:
        asked = [
            (rule, assumed(rule.measure, expected, prevalence, raters))
            for rule in rules
            for raters in labels_an_item
        ]
    if policy.inference.interval_method.population == "raters at large":
        raise PolicyError(
            f"policy {policy.policy}: found interval_method {policy.interval_method}; expected a "
            "method for these raters, since more items narrow only a part of the limits for raters "
            "at large. Plan for a policy without it, and ask more raters."
        )
    elsewhere = sorted({rule.scope for rule in holding} - {"round", "label"})
    if policy.familywise == "holm" and elsewhere:
        raise PolicyError(
            f"policy {policy.policy}: found familywise: holm with rules that hold on "
            f"{listed(elsewhere)}; expected rules of the round alone, since the number of "
            "verdicts that hold together is unknown otherwise. "
            "Plan for a policy without these rules."
        )
    if of_label and earlier is None:
        raise PolicyError(
            f"policy {policy.policy}: found a rule on {of_label[0].measure}; expected an earlier "
            "round to plan from, since the label depends on how items differ. Name its file."
        )
    if not rules and not of_label:
        raise PolicyError(
            f"policy {policy.policy}: found no rule of the round that can hold a release; "
            "expected one for a plan. Plan for another policy."
        )
    inference = policy.inference
    if policy.familywise == "none" and inference.several_looks is None:
        fewer = max(N_RESAMPLES, inference.min_resamples())  # unless limits lie far out
        inference = replace(inference, n_resamples=fewer)
    n_together = len(holding) if policy.familywise == "holm" else 1
    plans_of_label = (
        _plan_label(rule, design, inference, trains, probability, n_rounds, n_together)
        for rule in of_label
        if earlier is not None
        for design in label_designs(earlier, rule, trains, where)
    )
    return Table(
        (
            *plans_of_label,
            *(
                plan_measure(
                    rule.measure,
                    population,
                    inference,
                    reliable=rule.reliable,
                    probability=probability,
                    min_items=rule.min_items,
                    n_rounds=n_rounds,
                    n_together=n_together,
                    sampled=earlier is not None,
                )
                for rule, population in asked
            ),
        )
    )


def _plan_label(
    rule: Rule,
    design: LabelDesign,
    inference: Inference,
    trains: Trains | None,
    probability: float,
    n_rounds: int,
    n_together: int,
) -> Plan:
    """The items that a design needs before a rule on the label decides often enough."""
    if inference.looks is not None:
        raise PolicyError(
            f"{rule.measure}: found looks; expected a policy without them, since a plan for the "
            "label is for one look. Plan for a policy without looks."
        )
    judging = Judging(rule.measure, rule.reliable, rule.min_items, inference, n_together)
    why = (
        f"{design.n_ratings} raters an item give "
        f"{in_words(design.expected, cutoffs=[rule.reliable])}: more items would only make that "
        "surer"
    )
    plan = Plan(
        rule.measure,
        design.expected,
        rule.reliable,
        probability,
        float(design.n_ratings),
        None,
        None,
        (),
        None if design.expected > rule.reliable else why,
    )
    if plan.impossible:
        return plan
    before: Counter[int] = Counter()

    def decided(n_items: int, part: float) -> Trial:
        first, rounds = before[n_items], max(1, round(n_rounds * part))
        before[n_items] += rounds
        rng = np.random.default_rng([first, n_items])
        deciding = 0
        for _ in range(rounds):
            drawn = design.draw(rng, n_items)
            (found,) = estimate_label(drawn, [rule.measure], inference, trains)
            deciding += judging.decides(found)
        return Trial(KNOWN, np.array([float(deciding)]), np.array([float(rounds)]))

    start = max(rule.min_items, FEWEST_ITEMS)
    return _planned(plan, decided, start, inference.tail)


def unplanned_look(policy: Policy) -> str | None:
    if policy.inference.several_looks:
        return None
    return (
        "Each plan is for a round that is judged once. A second look at the same round after more "
        f"items raises the risk of a wrong admission {risks(policy.inference.tail)}. Name the "
        "sizes as looks in the policy, set always_valid_at, or judge a fresh round."
    )


def plan_measure(
    measure: str,
    population: Statistic,
    inference: Inference = FEWER,
    *,
    reliable: float,
    probability: float,
    min_items: int = FEWEST_ITEMS,
    n_rounds: int = N_ROUNDS,
    n_together: int = 1,
    sampled: bool = False,
) -> Plan:
    """How many items of the population a round needs before a rule decides often enough.

    If the population is only a sample, such as an earlier round, the share that decides is averaged
    over the populations that it leaves open and that are over the cut-off. This is called assurance
    (O'Hagan, Stevens & Campbell 2005, https://doi.org/10.1002/pst.175). The populations are those
    of Rubin's Bayesian bootstrap, with the unseen items of an interval if all of them are alike. If
    fewer than three in four are over the cut-off, the sample is too small.

    An unlucky sample would ask for very many items. So the plan stops where twice as many items
    bring less than half of what they bring if agreement is known. Labels are then bought at one
    price per round that decides, whether the sample was lucky or not.

    1. A glance at a twentieth of `n_rounds` shows whether a number of items is hopeless. It grows
       fourfold until it is not. If all rounds then decide, the last step is halved.
    2. A curve through the results gives the number that is tried next, on a quarter of `n_rounds`.
       This is done four times, so that no number is enough by luck alone.
    3. The number that the curve gives at last is tried on `n_rounds` new rounds. The plan states
       the share of them that decides.

    A measure of every category is planned for the lowest one. Holm's procedure corrects
    `n_together` verdicts, and the plan is for the level that the first of them must meet.
    """
    judging = Judging(measure, reliable, min_items, inference, n_together)
    asked = asked_of(judging, population, probability)
    possible = LeftOpen([resampling_masses(population)], KNOWN)
    if sampled and asked.impossible is None:
        possible = _left_open(judging, population)
        if not np.ptp(possible.reach) and population.clusters is None:
            population = population.with_unseen(PRIOR_MASS)
            possible = _left_open(judging, population)
        over = float(np.mean(possible.reach > 0))
        why = (
            f"too small to plan from: it leaves a value over {reliable:g} open, and one under it "
            f"too ({100 * (1 - over):.0f}%). Plan from more items, or with --expected"
        )
        asked = replace(asked, over=over, impossible=None if over >= LIKELY else why)
    if asked.impossible:
        return asked
    if inference.looks is not None:
        return _planned_looks(asked, judging, population, possible, inference.looks, n_rounds)

    before: Counter[int] = Counter()

    def decided(n_items: int, part: float) -> Trial:
        first, rounds = before[n_items], max(1, round(n_rounds * part))
        before[n_items] += rounds
        rng = np.random.default_rng([first, n_items])
        places = possible.drawn(rng, rounds)
        drawn = (sampled_round(population, n_items, possible.masses[each], rng) for each in places)
        found = [
            judging.decides(estimate(measure, each, judging.inference_of(number)))
            for number, each in enumerate(drawn, first)
        ]
        trial = Trial(possible.reach[places], np.array(found, dtype=float), np.ones(rounds))
        return NOTHING.with_more(trial)

    start = max(min_items, FEWEST_ITEMS)
    return _planned(asked, decided, start, inference.tail, possible.reach)


def asked_of(judging: Judging, population: Statistic, probability: float) -> Plan:
    looks = judging.inference.looks
    if looks is not None and registered(judging.measure).needs == "replicates":
        raise PolicyError(
            f"{judging.measure}: found looks at {looks} with a measure of replicates; expected a "
            "measure that reads all items, since a look counts the items of the round. "
            "Plan for a policy without looks."
        )
    if not 0 < probability < 1:
        raise PolicyError(
            f"probability: found {probability!r}; expected more than 0 and less than 1. "
            "0.9 is usual."
        )
    judging.inference.require_enough_resamples(judging.n_together)
    expected = true_value(judging.measure, population)
    if isnan(expected):
        raise PolicyError(
            f"{judging.measure}: found no value in the population; expected one to plan from. "
            "Plan from another population."
        )
    why = (
        f"the agreement expected, {in_words(expected, cutoffs=[judging.cutoff])}, is no more than "
        f"{judging.cutoff:g}: more items would only make that surer"
    )
    least = least_items(judging.measure, judging.cutoff, population, judging.inference)
    size = _items_a_cluster(population)
    return Plan(
        judging.measure,
        expected,
        judging.cutoff,
        probability,
        mean_labels(population),
        None,
        None,
        (),
        None if expected > judging.cutoff else why,
        least=None if least is None else _in_items(least, size),
        items_a_cluster=size,
    )


def _left_open(judging: Judging, population: Statistic) -> LeftOpen:
    """The populations that a sample leaves open.

    How far one is over the cut-off is told on the root of the distance to the greatest value, which
    varies alike at every value (Bartlett 1936, https://doi.org/10.2307/2983678).
    """
    rng, masses = np.random.default_rng(0), resampling_masses(population)
    n = max(FEWEST_POSSIBLE, min(N_POSSIBLE, MOST_MASSES // len(masses)))
    drawn = [rng.dirichlet(masses) for _ in range(n)]
    rounds = (drawn_round(population, each) for each in drawn)
    values = np.array([true_value(judging.measure, each) for each in rounds])
    most = registered(judging.measure).bounds[1]
    if most < inf:
        reach = np.sqrt(most - judging.cutoff) - np.sqrt(np.maximum(most - values, 0.0))
    else:
        reach = values - judging.cutoff
    return LeftOpen(drawn, np.where(np.isnan(reach), -inf, reach))


def least_items(
    measure: str, cutoff: float, statistic: Statistic, inference: Inference = FEWER
) -> int | None:
    """On fewer items, not even full agreement is enough. With looks, it is the first that can
    decide.

    Categories have the shares of the statistic, and each item as many ratings as most of its items
    have.
    """
    if type(statistic) is not CategoryCounts or np.count_nonzero(statistic.meeting) < 2:
        return None

    def enough(n_items: int) -> bool:
        counts = statistic.in_full_agreement(n_items)
        found = estimate(measure, counts, replace(inference, lower_only=True))
        return found.interval is not None and found.interval.low >= cutoff

    if inference.looks is not None:
        return next(filter(enough, inference.looks.at), None)
    most = FEWEST_ITEMS
    while not enough(most):  # far beyond their tightest, always valid limits tell nothing
        most *= 2
        if most > MOST_ITEMS:
            return None
    return bisect_left(range(most), True, lo=max(most // 2, FEWEST_ITEMS), key=enough)


def _planned(
    asked: Plan,
    decided: Callable[[int, float], Trial],
    start: int,
    tail: float,
    reach: Array = KNOWN,
) -> Plan:
    hopeless = HOPELESS * asked.probability
    too_few = n_items = start
    tried = {start: decided(start, GLANCE)}
    while tried[n_items].share < hopeless and n_items < MOST_ITEMS:
        too_few, n_items = n_items, min(FARTHEST * n_items, MOST_ITEMS)
        tried[n_items] = decided(n_items, GLANCE)
    while tried[n_items].share == 1 and n_items - too_few > max(1, n_items // 20):
        middle = (too_few + n_items) // 2
        tried[middle] = decided(middle, GLANCE)
        if tried[middle].share < hopeless:
            too_few = middle
        else:
            n_items = middle
    over = reach[reach > 0]

    def fitted(last: int) -> tuple[int, Fit]:
        least, most = max(start, last // FARTHEST), min(FARTHEST * last, MOST_ITEMS)
        fit = _fit(tried, last, tail)
        return fit.enough(over, asked.probability, range(least, most)), fit

    for _ in range(STEPS):
        n_items, _ = fitted(n_items)
        tried[n_items] = tried.get(n_items, NOTHING).with_more(decided(n_items, STEP))
    n_items, fit = fitted(n_items)
    curve = tuple((n, trial.share) for n, trial in sorted(tried.items()))
    if n_items == MOST_ITEMS:
        return replace(asked, curve=curve, impossible=f"{MOST_ITEMS:,} items would not do")
    share = decided(n_items, WHOLE).share
    if asked.over is not None:
        few, many = (
            fit.enough(each, asked.probability, range(start, MOST_ITEMS))
            for each in np.quantile(reach, (1 - TENTH, TENTH), method="nearest").reshape(2, 1)
        )
        asked = replace(asked, between=(few, many if many < MOST_ITEMS else None))
    return replace(asked, n_items=n_items, decided=share, curve=curve)


class Fit(NamedTuple):
    """A curve through the shares: the probit of a share is a line of reach times root of items."""

    slope: float
    intercept: float
    tail: float

    def enough(self, reach: Array, probability: float, among: range) -> int:
        if self.slope <= 0:
            return among.stop
        asked = NORMAL.inv_cdf(probability)
        worth = WORTH * NORMAL.pdf(asked) * (asked - NORMAL.inv_cdf(self.tail))

        def does(n_items: int) -> bool:
            rises = self.slope * reach * np.sqrt(n_items)
            probits = (self.intercept + rises).tolist()
            share = np.mean([NORMAL.cdf(each) for each in probits])
            brings = np.mean(rises * [NORMAL.pdf(each) for each in probits])
            pays = share < HOPELESS * probability or brings >= worth
            return bool(share >= probability or not pays)

        return among.start + bisect_left(among, True, key=does)


def _fit(tried: Mapping[int, Trial], last: int, tail: float) -> Fit:
    """The curve of the greatest likelihood near the last number, by iterated least squares.

    The probit of the share rises with the root of the number of items, since intervals narrow with
    it. Without items, a round on the cut-off would decide with the probability `tail`. That counts
    as one round, and gives a slope where one number alone was tried.
    """
    near = [
        np.array([np.sqrt(n) * trial.reach, trial.deciding, trial.rounds])
        for n, trial in tried.items()
        if last / FARTHEST <= n <= last * FARTHEST
    ]
    x, counts, rounds = np.hstack([np.array([[0.0], [tail], [1.0]]), *near])
    fitted = np.array([NORMAL.inv_cdf(p) for p in (counts + 0.5) / (rounds + 1)])
    for _ in range(ITERATIONS):
        fitted = np.clip(fitted, -FARTHEST_PROBIT, FARTHEST_PROBIT)
        shares = np.array([NORMAL.cdf(each) for each in fitted])
        slopes = np.array([NORMAL.pdf(each) for each in fitted])
        wanted = fitted + (counts / rounds - shares) / slopes
        certainty = slopes * np.sqrt(rounds / (shares * (1 - shares)))
        slope, intercept = np.polyfit(x, wanted, 1, w=certainty)
        fitted = slope * x + intercept
    return Fit(float(slope), float(intercept), tail)


def _planned_looks(
    asked: Plan,
    judging: Judging,
    population: Statistic,
    possible: LeftOpen,
    looks: Looks,
    n_rounds: int,
) -> Plan:
    rng, at = np.random.default_rng(0), looks.at
    decided = np.zeros(len(at))
    tails = looks.tails(judging.inference.tail / judging.n_together)
    draws = [max(N_RESAMPLES, min_draws(tail)) for tail in tails]
    for number, drawn_from in enumerate(possible.drawn(rng, n_rounds)):
        masses = possible.masses[drawn_from]
        times, before = np.zeros(len(masses)), 0
        for place, size in enumerate(at):
            times, before = times + rng.multinomial(size - before, masses / masses.sum()), size
            if draws[place] > judging.inference.n_resamples:
                continue  # this look decides nothing
            inference = replace(
                judging.inference_of(number), judged_on=size, n_resamples=draws[place]
            )
            drawn = drawn_round(population, times)
            if judging.decides(estimate(judging.measure, drawn, inference)):
                decided[place:] += 1
                break
    shares, mean = (decided / n_rounds).tolist(), asked.items_a_cluster
    curve = tuple((_in_items(n, mean), share) for n, share in zip(at, shares, strict=True))
    enough = next((point for point in curve if point[1] >= asked.probability), None)
    if enough is None:
        last = f"{at[-1]}" if mean is None else counted(at[-1], "cluster")
        why = f"by the last look, at {last}, {100 * curve[-1][1]:.1f}% decide"
        return replace(asked, curve=curve, impossible=why)
    return replace(asked, curve=curve, n_items=enough[0], decided=enough[1])


def simulated_rounds(
    population: Statistic, n_items: int, n_rounds: int, rng: np.random.Generator
) -> Iterator[Statistic]:
    masses = resampling_masses(population)
    return (sampled_round(population, n_items, masses, rng) for _ in range(n_rounds))


def sampled_round(
    population: Statistic, n_items: int, masses: Array, rng: np.random.Generator
) -> Statistic:
    """A cluster that is drawn twice stands for two clusters."""
    n = _n_apart(n_items, _items_a_cluster(population))
    return drawn_round(population, rng.multinomial(n, masses / masses.sum()).astype(float))


def _items_a_cluster(population: Statistic) -> float | None:
    clusters = population.clusters
    return None if clusters is None else float(population.weights.sum() / clusters.times.sum())


def _n_apart(n_items: int, items_a_cluster: float | None) -> int:
    return n_items if items_a_cluster is None else max(1, round(n_items / items_a_cluster))


def _in_items(n_apart: int, items_a_cluster: float | None) -> int:
    return n_apart if items_a_cluster is None else round(n_apart * items_a_cluster)


def drawn_round(population: Statistic, times: Array) -> Statistic:
    clusters = population.clusters
    if clusters is None:
        return population.reweighted(times)
    drawn = population.in_clusters(Clusters(clusters.places, times))
    return drawn.reweighted(times[clusters.places] * clusters.sizes(population.weights))


MOST_ROWS = 50_000
MOST_LABELS = 1_000
STEPS_OF_AGREEMENT = 60
MANY = 1e9


def population_of(ratings: Rated, rule: Rule, *, where: str = "earlier round") -> Statistic:
    statistic, record = basis_of(ratings, rule.measure), registered(rule.measure)
    if statistic is None or record.why_undefined(statistic):
        raise PolicyError(
            f"{where}: found no value of {rule.measure}; expected one to plan from. "
            "Plan from another round, or from the value expected."
        )
    n_raters, left_out = record.rests_on.raters(statistic), record.raters_left_out(statistic)
    if n_raters < rule.min_raters:
        why = f"found {counted(n_raters, 'rater')}; expected {rule.min_raters}"
    elif rule.every_rater and left_out:
        why = f"found nothing to read of raters {listed(left_out)}; expected every rater"
    else:
        return statistic
    raise PolicyError(
        f"{where}: {rule.measure}: {why}, as the rule asks. "
        "More items do not help: plan from a round in which these raters are read."
    )


def assumed(measure: str, expected: float, prevalence: Sequence[float], n_raters: int) -> Statistic:
    """All raters of a clear item give its category, and those of an unclear one guess by the
    prevalence.

    Other populations with the same agreement may need fewer items, or more.
    """
    shares = np.asarray(prevalence, dtype=float)
    if (
        shares.ndim != 1
        or len(shares) < 2
        or not (shares > 0).all()
        or not np.isclose(shares.sum(), 1)
    ):
        raise PolicyError(
            f"prevalence: found {list(prevalence)}; expected two shares or more, above 0, with sum "
            "1. Give one for each category."
        )
    if not 2 <= n_raters <= MOST_LABELS:
        raise PolicyError(
            f"labels an item: found {n_raters}; expected 2 to {MOST_LABELS}. "
            "Plan for as many as an item will have."
        )
    ways, known, guessed = _clear_or_guessed(measure, shares, n_raters)

    def with_clear(share: float) -> Statistic:
        return ways.reweighted(share * known + (1 - share) * guessed)

    low, high = 0.0, 1.0
    for _ in range(STEPS_OF_AGREEMENT):
        middle = (low + high) / 2
        too_few = true_value(measure, with_clear(middle)) < expected
        low, high = (middle, high) if too_few else (low, middle)
    population = with_clear(high)
    if not np.isclose(true_value(measure, population), expected, atol=1e-6):
        raise PolicyError(
            f"{measure}: found {expected:g}; expected a value that raters who know or guess can "
            "have. Expect more agreement, or less."
        )
    return population


def true_value(measure: str, population: Statistic) -> float:
    """Very many items are used because some measures have a correction for few items. A category
    that is declared and does not occur leaves the lowest value undefined.
    """
    values = np.atleast_1d(registered(measure)(_whole(population)).value)
    known = values if population.scale.declared else values[~np.isnan(values)]
    return float(known.min()) if known.size else nan


def _clear_or_guessed(
    measure: str, prevalence: Array, n_raters: int
) -> tuple[Statistic, Array, Array]:
    """The ways to label an item, and how often a clear and an unclear item is labelled so."""
    n, needs = len(prevalence), registered(measure).needs
    if needs not in ("counts", "patterns", "replicates"):
        raise PolicyError(
            f"{measure}: found a measure of {SUBJECTS[needs]}; expected a measure of "
            f"{SUBJECTS['counts']}, or of {SUBJECTS['replicates']}. Plan from an earlier "
            "round instead."
        )
    n_ways = n**n_raters if needs == "patterns" else comb(n_raters + n - 1, n_raters)
    if n_ways > MOST_ROWS:  # before they are made, since they may not fit into memory
        raise PolicyError(
            f"ways to label an item: found {n_ways}; expected at most {MOST_ROWS}. "
            "Plan for fewer raters or categories."
        )
    scale = Scale(tuple(f"c{k}" for k in range(n)))
    raters = tuple(f"r{number}" for number in range(n_raters))
    if needs == "patterns":
        codes = np.array(list(product(range(n), repeat=n_raters)))
        known = np.where((codes == codes[:, :1]).all(1), prevalence[codes[:, 0]], 0.0)
        guessed = prevalence[codes].prod(1)
        return LabelsByRater(codes, guessed, scale=scale, raters=raters), known, guessed
    given = combinations_with_replacement(range(n), n_raters)
    counts = np.array([np.bincount(labels, minlength=n) for labels in given])
    orders = np.array([factorial(n_raters) / prod(map(factorial, row.tolist())) for row in counts])
    guessed = orders * (prevalence**counts).prod(1)
    known = (counts == n_raters) @ prevalence
    if needs == "counts":
        counted = CategoryCounts(counts, guessed, scale=scale, n_raters=n_raters)
        return counted, known, guessed
    first = LabelsByRater(counts.argmax(1)[:, None], guessed, scale=scale, raters=raters[:1])
    places = np.arange(len(counts))
    return ReplicatedLabels(counts, places, np.zeros_like(places), first), known, guessed


def mean_labels(population: Statistic) -> float:
    return _whole(population).n_ratings / MANY


def _whole(population: Statistic) -> Statistic:
    """The items are so many that each share is a whole number of them."""
    return population.reweighted(population.weights * (MANY / population.weights.sum()))
