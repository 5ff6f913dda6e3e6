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
    ROUND,
    Estimate,
    build_round_statistic,
    estimate,
    estimate_label,
    find_registered_measure,
    measure_ratings,
)
from agreement_pipeline.intervals import (
    NORMAL,
    PRIOR_MASS,
    Inference,
    Looks,
    min_draws,
    resampling_masses,
    reweight_to_draw,
    tail_with_second_look,
)
from agreement_pipeline.measures import SUBJECTS
from agreement_pipeline.policy.decision import select_judged_ratings
from agreement_pipeline.policy.fresh_round import (
    FEWEST_ITEMS,
    HOPELESS_SHARE,
    MIN_SHARE_OVER_CUTOFF,
    MOST_ITEMS,
    PLANNING_INFERENCE,
    PROBABILITY,
    Forecast,
    can_be_redrawn,
    find_min_items,
)
from agreement_pipeline.policy.label_planning import LabelDesign, iterate_label_designs
from agreement_pipeline.policy.policy import Policy, Rule
from agreement_pipeline.ratings import Array, Codes, Ratings, Scale, Trains
from agreement_pipeline.statistics import (
    CategoryCounts,
    LabelsByRater,
    ReplicatedLabels,
    Statistic,
)
from agreement_pipeline.tables import Table, Tabular
from agreement_pipeline.text import counted, in_words, listed

N_ROUNDS = 600
N_RESAMPLES = 1_000
FEWEST_POSSIBLE, N_POSSIBLE, MOST_MASSES = 100, 500, 5_000_000
GLANCE_SHARE, STEP_SHARE, FINAL_SHARE = 0.05, 0.25, 1.0
"""A number of items is tried on so many rounds, as shares of `n_rounds`."""
N_FITTED_STEPS = 4
TAIL_SHARE = 0.1
CURVE_FACTORS = (0.25, 0.35, 0.5, 0.7, 1.0, 1.4, 2.0)
"""A curve of chances has so many times the planned items."""
N_FIT_ITERATIONS, MAX_PROBIT = 8, 4.0
MAX_FACTOR = 4
"""A fitted curve may ask for so many times as many items at once, or so many times fewer."""
DEFAULT_EXPECTED_VALUE, DEFAULT_PROBABILITY = 0.85, PROBABILITY
DEFAULT_PREVALENCE, DEFAULT_LABELS_PER_ITEM = (0.5, 0.5), (3,)


@dataclass(frozen=True)
class Plan(Tabular):
    """The smallest number of items with which a rule decides as often as asked.

    `labels_an_item` is the mean number of ratings that the measure uses. `decided` is the share of
    simulated rounds of `n_items` items that decide, and `curve` has it for each number that was
    tried. If no number is enough, `impossible` says why. An earlier round is consistent with many
    populations: `over` is the share of these in which agreement is over the cut-off, and the plan
    is for them. One in ten needs no more items than the first number of `between`, and one in ten
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
        return self.items_to_clusters(self.n_items)

    def items_to_clusters(self, n_items: int | None) -> int | None:
        if n_items is None or self.items_a_cluster is None:
            return None
        return count_units(n_items, self.items_a_cluster)

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
        row = {**vars(self), "items": self.n_items, "ratings": self.n_ratings}
        row["clusters"] = self.n_clusters
        columns = ("measure", "expected", "reliable", "labels_an_item", "items", "clusters")
        yield {name: row[name] for name in (*columns, "ratings", "decided", "impossible")}


class Trial(NamedTuple):
    """How many of some simulated rounds decide."""

    deciding: float
    rounds: float

    @property
    def share(self) -> float:
        return self.deciding / self.rounds

    def with_more(self, other: "Trial") -> "Trial":
        return Trial(self.deciding + other.deciding, self.rounds + other.rounds)


NO_TRIAL = Trial(0.0, 0.0)


class PossiblePopulations(NamedTuple):
    """Populations that may be the true one: their masses, and how far they are over the cut-off."""

    masses: list[Array]
    reach: Array

    def draw_populations(self, rng: np.random.Generator, n_rounds: int) -> Codes:
        places_over_cutoff = np.flatnonzero(self.reach > 0)
        return places_over_cutoff[rng.integers(len(places_over_cutoff), size=n_rounds)]


class RuleOnSimulation(NamedTuple):
    measure: str
    cutoff: float
    min_items: int
    inference: Inference
    n_together: int

    def inference_at_look(self, number: int) -> Inference:
        return replace(self.inference, lower_only=True, seed=number)

    def decides(self, estimate: Estimate) -> bool:
        if (
            estimate.interval is None
            or estimate.distribution is None
            or estimate.n_apart < self.min_items
            or estimate.interval.low < self.cutoff
        ):
            return False
        if self.n_together == 1:
            return True
        p = max(
            estimate.distribution.confidence_under(self.cutoff), estimate.distribution.finest_tail
        )
        return p <= self.inference.tail / self.n_together


def plan(
    policy: Policy,
    earlier: Ratings | None = None,
    *,
    expected: float = DEFAULT_EXPECTED_VALUE,
    prevalence: Sequence[float] = DEFAULT_PREVALENCE,
    labels_an_item: Sequence[int] = DEFAULT_LABELS_PER_ITEM,
    probability: float = DEFAULT_PROBABILITY,
    n_rounds: int = N_ROUNDS,
    where: str = "earlier round",
    trains: Trains | None = None,
) -> Table[Plan]:
    """Plan how many items a round needs: one plan for each rule on the round that can hold it.

    A rule on the training label has a plan for each number of raters an item that can be derived
    from the earlier round.

    Parameters
    ----------
    earlier
        An earlier round, if the next one will be like it. Its name in errors is `where`.
    expected, prevalence, labels_an_item
        Without an earlier round: the value expected of each measure, the share of each category,
        and how many raters label an item. Each number of raters has plans of its own.
    probability, n_rounds
        The share of rounds that should decide, and how many are simulated for a number of items.
    trains
        The training label that rules with the scope label are about.

    Raises
    ------
    PolicyError
        The number of items cannot be derived from a rule and its population.
    """
    if earlier is not None:
        earlier = select_judged_ratings(earlier, policy)
    holding_rules = [rule for rule in policy.rules if rule.effect == "hold"]
    rules = [rule for rule in holding_rules if rule.scope == "round"]
    label_rules = [rule for rule in holding_rules if rule.scope == "label"]
    if earlier is not None:
        populations_by_rule = [
            (rule, select_population(earlier, rule, source_name=where)) for rule in rules
        ]
    else:
        populations_by_rule = [
            (rule, build_assumed_population(rule.measure, expected, prevalence, raters))
            for rule in rules
            for raters in labels_an_item
        ]
    if policy.inference.interval_method.population == "raters at large":
        raise PolicyError(
            f"policy {policy.policy}: found interval_method {policy.interval_method}; expected a "
            "method for these raters, since more items narrow only a part of the limits for raters "
            "at large. Plan for a policy without it, and ask more raters."
        )
    other_scopes = sorted({rule.scope for rule in holding_rules} - {"round", "label"})
    if policy.familywise == "holm" and other_scopes:
        raise PolicyError(
            f"policy {policy.policy}: found familywise: holm with rules that hold on "
            f"{listed(other_scopes)}; expected rules of the round alone, since the number of "
            "verdicts that hold together is unknown otherwise. "
            "Plan for a policy without these rules."
        )
    if label_rules and earlier is None:
        raise PolicyError(
            f"policy {policy.policy}: found a rule on {label_rules[0].measure}; expected an "
            "earlier "
            "round to plan from, since the label depends on how items differ. Name its file."
        )
    if not rules and not label_rules:
        raise PolicyError(
            f"policy {policy.policy}: found no rule of the round that can hold a release; "
            "expected one for a plan. Plan for another policy."
        )
    inference = policy.inference
    if policy.familywise == "none" and inference.several_looks is None:
        n_fewer = max(N_RESAMPLES, inference.min_resamples())  # unless limits lie far out
        inference = replace(inference, n_resamples=n_fewer)
    n_together = len(holding_rules) if policy.familywise == "holm" else 1
    estimate_by_measure: dict[str, Estimate] = {}
    if earlier is not None and policy.inference.looks is None:
        round_estimates = measure_ratings(
            earlier, [rule.measure for rule in rules], policy.inference, scopes=("round",)
        )
        estimate_by_measure = {
            round_estimate.measure: round_estimate
            for round_estimate in round_estimates
            if round_estimate.scope == ROUND
        }
    plans_of_label = (
        _plan_label(rule, design, inference, trains, probability, n_rounds, n_together)
        for rule in label_rules
        if earlier is not None
        for design in iterate_label_designs(earlier, rule, trains, where)
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
                    sample_estimate=estimate_by_measure.get(rule.measure),
                )
                for rule, population in populations_by_rule
            ),
        )
    )


def estimate_chance(
    policy: Policy,
    n_items: int,
    earlier: Ratings | None = None,
    *,
    expected: float = DEFAULT_EXPECTED_VALUE,
    prevalence: Sequence[float] = DEFAULT_PREVALENCE,
    labels_an_item: int = DEFAULT_LABELS_PER_ITEM[0],
    n_rounds: int = N_ROUNDS,
) -> float:
    """How likely a round of so many items meets the rule of the round that is hardest to meet.

    Parameters are those of `plan`. Items are like those of an earlier round if its agreement is
    over the cut-off, or have the value expected.
    """
    n_fewer = max(N_RESAMPLES, policy.inference.min_resamples())
    inference = replace(policy.inference, n_resamples=n_fewer)
    chances = []
    for rule in policy.rules:
        if rule.effect != "hold" or rule.scope != "round":
            continue
        if earlier is not None:
            population = select_population(earlier, rule)
            sample_estimate = estimate(rule.measure, population, inference)
            chances.append(Forecast(sample_estimate, rule.reliable).chance(n_items))
            continue
        population = build_assumed_population(rule.measure, expected, prevalence, labels_an_item)
        judging = RuleOnSimulation(rule.measure, rule.reliable, rule.min_items, inference, 1)
        rounds = simulate_rounds(population, n_items, n_rounds, np.random.default_rng(n_items))
        decided = [
            judging.decides(estimate(rule.measure, drawn, judging.inference_at_look(number)))
            for number, drawn in enumerate(rounds)
        ]
        chances.append(sum(decided) / n_rounds)
    return min(chances, default=1.0)


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
    judging = RuleOnSimulation(rule.measure, rule.reliable, rule.min_items, inference, n_together)
    reason = (
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
        None if design.expected > rule.reliable else reason,
    )
    if plan.impossible:
        return plan
    n_simulated: Counter[int] = Counter()

    def simulate(n_items: int, share_of_rounds: float) -> Trial:
        seed, n_rounds_now = n_simulated[n_items], max(1, round(n_rounds * share_of_rounds))
        n_simulated[n_items] += n_rounds_now
        rng = np.random.default_rng([seed, n_items])
        n_deciding = 0
        for _ in range(n_rounds_now):
            reweight_to_draw = design.draw(rng, n_items)
            (label_estimate,) = estimate_label(reweight_to_draw, [rule.measure], inference, trains)
            n_deciding += judging.decides(label_estimate)
        return Trial(float(n_deciding), float(n_rounds_now))

    start = max(rule.min_items, FEWEST_ITEMS)
    return search_n_items(plan, simulate, start, inference.tail)


def describe_risks(half_alpha: float) -> str:
    """The risk of a wrong admission at one look, and at two if the first chooses the second."""
    single_look_risk, two_look_risk = (
        f"{100 * risk:.2g}%" for risk in (half_alpha, tail_with_second_look(half_alpha))
    )
    return f"from {single_look_risk} to as much as {two_look_risk}"


def warn_of_unplanned_look(policy: Policy) -> str | None:
    if policy.inference.several_looks:
        return None
    return (
        "Each plan is for a round that is judged once. A second look at the same round after more "
        f"items raises the risk of a wrong admission {describe_risks(policy.inference.tail)}. "
        "Name the "
        "sizes as looks in the policy, set always_valid_at, or judge a fresh round."
    )


def plan_measure(
    measure: str,
    population: Statistic,
    inference: Inference = PLANNING_INFERENCE,
    *,
    reliable: float,
    probability: float,
    min_items: int = FEWEST_ITEMS,
    n_rounds: int = N_ROUNDS,
    n_together: int = 1,
    sampled: bool = False,
    sample_estimate: Estimate | None = None,
) -> Plan:
    """How many items of the population a round needs before a rule decides often enough.

    If the population is only a sample, such as an earlier round, the number is that of the reason
    of its verdict (`Forecast`). If fewer than three in four of the populations that it leaves open
    are over the cut-off, it is too small. With planned looks, rounds of these populations are
    simulated (Rubin's Bayesian bootstrap, with unseen items if all of the sample are alike).

    For a known population:

    1. A glance at a twentieth of `n_rounds` shows whether a number of items is hopeless. It grows
       fourfold until it is not. If all rounds then decide, the last step is halved.
    2. A curve through the results gives the number that is tried next, on a quarter of `n_rounds`.
       This is done four times, so that no number is enough by luck alone.
    3. The number that the curve gives at last is tried on `n_rounds` new rounds. The plan states
       the share of them that decides.

    A measure of every category is planned for the lowest one. Holm's procedure corrects
    `n_together` verdicts, and the plan is for the level that the first of them must meet.
    """
    if sample_estimate is not None and sample_estimate.inference is not None:
        inference = sample_estimate.inference
    judging = RuleOnSimulation(measure, reliable, min_items, inference, n_together)
    unsearched_plan = build_unsearched_plan(judging, population, probability)
    if unsearched_plan.impossible:
        return unsearched_plan
    if sampled and inference.looks is None:
        sample_estimate = sample_estimate or estimate(measure, population, inference)
        return plan_like_sample(unsearched_plan, judging, sample_estimate)
    if inference.looks is not None:
        possible_populations = PossiblePopulations([resampling_masses(population)], np.ones(1))
        if sampled:
            possible_populations = draw_possible_populations(judging, population)
            if not np.ptp(possible_populations.reach) and population.clusters is None:
                population = population.with_unseen(PRIOR_MASS)
                possible_populations = draw_possible_populations(judging, population)
            share_over = float(np.mean(possible_populations.reach > 0))
            unsearched_plan = refuse_too_small(unsearched_plan, share_over)
            if unsearched_plan.impossible:
                return unsearched_plan
        return simulate_looks(
            unsearched_plan, judging, population, possible_populations, inference.looks, n_rounds
        )

    n_simulated: Counter[int] = Counter()
    masses = resampling_masses(population)

    def simulate(n_items: int, share_of_rounds: float) -> Trial:
        seed, n_rounds_now = n_simulated[n_items], max(1, round(n_rounds * share_of_rounds))
        n_simulated[n_items] += n_rounds_now
        rng = np.random.default_rng([seed, n_items])
        n_deciding = 0
        for number in range(seed, seed + n_rounds_now):
            drawn = sample_round(population, n_items, masses, rng)
            n_deciding += judging.decides(
                estimate(measure, drawn, judging.inference_at_look(number))
            )
        return Trial(float(n_deciding), float(n_rounds_now))

    start = max(min_items, FEWEST_ITEMS)
    return search_n_items(unsearched_plan, simulate, start, inference.tail)


def refuse_too_small(unsearched_plan: Plan, share_over: float) -> Plan:
    reason = (
        f"too small to plan from: it leaves a value over {unsearched_plan.reliable:g} open, and "
        f"one under it too ({100 * (1 - share_over):.0f}%). Plan from more items, or with "
        "--expected"
    )
    impossible = None if share_over >= MIN_SHARE_OVER_CUTOFF else reason
    return replace(unsearched_plan, over=share_over, impossible=impossible)


def plan_like_sample(
    unsearched_plan: Plan, judging: RuleOnSimulation, sample_estimate: Estimate
) -> Plan:
    """Plan fresh rounds like a sample, with the number that the step of a held round says."""
    if not can_be_redrawn(sample_estimate):
        return refuse_too_small(unsearched_plan, 0.0)
    forecast = Forecast(sample_estimate, judging.cutoff, judging.n_together)
    plan = refuse_too_small(unsearched_plan, forecast.share_over)
    if plan.impossible:
        return plan
    probability, size = plan.probability, plan.items_a_cluster
    n_units = forecast.find_size(probability, judging.min_items)
    if n_units is None:
        return replace(plan, impossible=f"{MOST_ITEMS:,} items would not do")
    n_few, n_many = (
        forecast.find_size(probability, judging.min_items, reach_quantile)
        for reach_quantile in np.quantile(
            forecast.reach, (1 - TAIL_SHARE, TAIL_SHARE), method="nearest"
        ).reshape(2, 1)
    )
    sizes = sorted({max(1, round(n_units * factor)) for factor in CURVE_FACTORS})
    return replace(
        plan,
        n_items=convert_units_to_items(n_units, size),
        decided=forecast.chance(n_units),
        curve=tuple((convert_units_to_items(n, size), forecast.chance(n)) for n in sizes),
        between=None
        if n_few is None
        else (
            convert_units_to_items(n_few, size),
            None if n_many is None else convert_units_to_items(n_many, size),
        ),
    )


def build_unsearched_plan(
    judging: RuleOnSimulation, population: Statistic, probability: float
) -> Plan:
    looks = judging.inference.looks
    if looks is not None and find_registered_measure(judging.measure).needs == "replicates":
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
    expected = compute_true_value(judging.measure, population)
    if isnan(expected):
        raise PolicyError(
            f"{judging.measure}: found no value in the population; expected one to plan from. "
            "Plan from another population."
        )
    reason = (
        f"the agreement expected, {in_words(expected, cutoffs=[judging.cutoff])}, is no more than "
        f"{judging.cutoff:g}: more items would only make that surer"
    )
    n_least = find_min_items(judging.measure, judging.cutoff, population, judging.inference)
    items_per_cluster = mean_items_per_cluster(population)
    return Plan(
        judging.measure,
        expected,
        judging.cutoff,
        probability,
        mean_labels_per_item(population),
        None,
        None,
        (),
        None if expected > judging.cutoff else reason,
        least=None if n_least is None else convert_units_to_items(n_least, items_per_cluster),
        items_a_cluster=items_per_cluster,
    )


def draw_possible_populations(
    judging: RuleOnSimulation, population: Statistic
) -> PossiblePopulations:
    """The populations that a sample leaves open.

    How far one is over the cut-off is told on the root of the distance to the greatest value, which
    varies alike at every value (Bartlett 1936, https://doi.org/10.2307/2983678).
    """
    rng, masses = np.random.default_rng(0), resampling_masses(population)
    n_populations = max(FEWEST_POSSIBLE, min(N_POSSIBLE, MOST_MASSES // len(masses)))
    drawn_masses = [rng.dirichlet(masses) for _ in range(n_populations)]
    populations = (
        reweight_to_draw(population, masses_or_round) for masses_or_round in drawn_masses
    )
    values = np.array(
        [compute_true_value(judging.measure, masses_or_round) for masses_or_round in populations]
    )
    upper_bound = find_registered_measure(judging.measure).bounds[1]
    if upper_bound < inf:
        reach = np.sqrt(upper_bound - judging.cutoff) - np.sqrt(
            np.maximum(upper_bound - values, 0.0)
        )
    else:
        reach = values - judging.cutoff
    return PossiblePopulations(drawn_masses, np.where(np.isnan(reach), -inf, reach))


def search_n_items(
    unsearched_plan: Plan,
    simulate: Callable[[int, float], Trial],
    start: int,
    tail: float,
) -> Plan:
    hopeless_share = HOPELESS_SHARE * unsearched_plan.probability
    too_few = n_items = start
    trial_by_n_items = {start: simulate(start, GLANCE_SHARE)}
    while trial_by_n_items[n_items].share < hopeless_share and n_items < MOST_ITEMS:
        too_few, n_items = n_items, min(MAX_FACTOR * n_items, MOST_ITEMS)
        trial_by_n_items[n_items] = simulate(n_items, GLANCE_SHARE)
    while trial_by_n_items[n_items].share == 1 and n_items - too_few > max(1, n_items // 20):
        middle = (too_few + n_items) // 2
        trial_by_n_items[middle] = simulate(middle, GLANCE_SHARE)
        if trial_by_n_items[middle].share < hopeless_share:
            too_few = middle
        else:
            n_items = middle

    def find_fitted_size(n_last: int) -> int:
        n_least, n_most = max(start, n_last // MAX_FACTOR), min(MAX_FACTOR * n_last, MOST_ITEMS)
        curve_fit = fit_probit_curve(trial_by_n_items, n_last, tail)
        return curve_fit.find_size(unsearched_plan.probability, range(n_least, n_most))

    for _ in range(N_FITTED_STEPS):
        n_items = find_fitted_size(n_items)
        trial_by_n_items[n_items] = trial_by_n_items.get(n_items, NO_TRIAL).with_more(
            simulate(n_items, STEP_SHARE)
        )
    n_items = find_fitted_size(n_items)
    curve = tuple((n, trial.share) for n, trial in sorted(trial_by_n_items.items()))
    if n_items == MOST_ITEMS:
        return replace(
            unsearched_plan, curve=curve, impossible=f"{MOST_ITEMS:,} items would not do"
        )
    share = simulate(n_items, FINAL_SHARE).share
    return replace(unsearched_plan, n_items=n_items, decided=share, curve=curve)


class ProbitCurve(NamedTuple):
    """A curve through the shares: the probit of a share is a line of the root of items."""

    slope: float
    intercept: float

    def find_size(self, probability: float, candidates: range) -> int:
        if self.slope <= 0:
            return candidates.stop
        target_probit = NORMAL.inv_cdf(probability)

        def is_enough(n_items: int) -> bool:
            return self.intercept + self.slope * float(np.sqrt(n_items)) >= target_probit

        return candidates.start + bisect_left(candidates, True, key=is_enough)


def fit_probit_curve(
    trial_by_n_items: Mapping[int, Trial], n_last: int, tail: float
) -> ProbitCurve:
    """The curve of the greatest likelihood near the last number, by iterated least squares.

    The probit of the share rises with the root of the number of items, since intervals narrow with
    it. Without items, a round on the cut-off would decide with the probability `tail`. That counts
    as one round, and gives a slope where one number alone was tried.
    """
    nearby_trials = [
        np.array([[np.sqrt(n)], [trial.deciding], [trial.rounds]])
        for n, trial in trial_by_n_items.items()
        if n_last / MAX_FACTOR <= n <= n_last * MAX_FACTOR
    ]
    x, counts, rounds = np.hstack([np.array([[0.0], [tail], [1.0]]), *nearby_trials])
    probits = np.array([NORMAL.inv_cdf(p) for p in (counts + 0.5) / (rounds + 1)])
    for _ in range(N_FIT_ITERATIONS):
        probits = np.clip(probits, -MAX_PROBIT, MAX_PROBIT)
        shares = np.array([NORMAL.cdf(probit) for probit in probits])
        slopes = np.array([NORMAL.pdf(probit) for probit in probits])
        working_response = probits + (counts / rounds - shares) / slopes
        certainty = slopes * np.sqrt(rounds / (shares * (1 - shares)))
        slope, intercept = np.polyfit(x, working_response, 1, w=certainty)
        probits = slope * x + intercept
    return ProbitCurve(float(slope), float(intercept))


def simulate_looks(
    unsearched_plan: Plan,
    judging: RuleOnSimulation,
    population: Statistic,
    possible_populations: PossiblePopulations,
    looks: Looks,
    n_rounds: int,
) -> Plan:
    rng, look_sizes = np.random.default_rng(0), looks.at
    n_decided_by_look = np.zeros(len(look_sizes))
    tails = looks.tails(judging.inference.tail / judging.n_together)
    draws = [max(N_RESAMPLES, min_draws(tail)) for tail in tails]
    for number, drawn_from in enumerate(possible_populations.draw_populations(rng, n_rounds)):
        masses = possible_populations.masses[drawn_from]
        draws_by_item, n_before = np.zeros(len(masses)), 0
        for place, size in enumerate(look_sizes):
            draws_by_item, n_before = (
                draws_by_item + rng.multinomial(size - n_before, masses / masses.sum()),
                size,
            )
            if draws[place] > judging.inference.n_resamples:
                continue  # this look decides nothing
            inference = replace(
                judging.inference_at_look(number), judged_on=size, n_resamples=draws[place]
            )
            drawn_round_statistic = reweight_to_draw(population, draws_by_item)
            if judging.decides(estimate(judging.measure, drawn_round_statistic, inference)):
                n_decided_by_look[place:] += 1
                break
    shares, items_per_cluster = (
        (n_decided_by_look / n_rounds).tolist(),
        unsearched_plan.items_a_cluster,
    )
    curve = tuple(
        (convert_units_to_items(n, items_per_cluster), share)
        for n, share in zip(look_sizes, shares, strict=True)
    )
    enough = next((point for point in curve if point[1] >= unsearched_plan.probability), None)
    if enough is None:
        last_look = (
            f"{look_sizes[-1]}" if items_per_cluster is None else counted(look_sizes[-1], "cluster")
        )
        reason = f"by the last look, at {last_look}, {100 * curve[-1][1]:.1f}% decide"
        return replace(unsearched_plan, curve=curve, impossible=reason)
    return replace(unsearched_plan, curve=curve, n_items=enough[0], decided=enough[1])


def simulate_rounds(
    population: Statistic, n_items: int, n_rounds: int, rng: np.random.Generator
) -> Iterator[Statistic]:
    masses = resampling_masses(population)
    return (sample_round(population, n_items, masses, rng) for _ in range(n_rounds))


def sample_round(
    population: Statistic, n_items: int, masses: Array, rng: np.random.Generator
) -> Statistic:
    """A cluster that is drawn twice stands for two clusters."""
    n = count_units(n_items, mean_items_per_cluster(population))
    return reweight_to_draw(population, rng.multinomial(n, masses / masses.sum()).astype(float))


def mean_items_per_cluster(population: Statistic) -> float | None:
    clusters = population.clusters
    return None if clusters is None else float(population.weights.sum() / clusters.times.sum())


def count_units(n_items: int, items_a_cluster: float | None) -> int:
    return n_items if items_a_cluster is None else max(1, round(n_items / items_a_cluster))


def convert_units_to_items(n_apart: int, items_a_cluster: float | None) -> int:
    return n_apart if items_a_cluster is None else round(n_apart * items_a_cluster)


MAX_LABELINGS = 50_000
MAX_LABELS_PER_ITEM = 1_000
N_AGREEMENT_HALVINGS = 60
N_ITEMS_OF_POPULATION = 1e9


def select_population(
    ratings: Rated, rule: Rule, *, source_name: str = "earlier round"
) -> Statistic:
    statistic, record = (
        build_round_statistic(ratings, rule.measure),
        find_registered_measure(rule.measure),
    )
    if statistic is None or record.why_undefined(statistic):
        raise PolicyError(
            f"{source_name}: found no value of {rule.measure}; expected one to plan from. "
            "Plan from another round, or from the value expected."
        )
    n_raters, left_out = record.rests_on.n_raters(statistic), record.raters_left_out(statistic)
    if n_raters < rule.min_raters:
        reason = f"found {counted(n_raters, 'rater')}; expected {rule.min_raters}"
    elif rule.every_rater and left_out:
        reason = f"found nothing to read of raters {listed(left_out)}; expected every rater"
    else:
        return statistic
    raise PolicyError(
        f"{source_name}: {rule.measure}: {reason}, as the rule asks. "
        "More items do not help: plan from a round in which these raters are read."
    )


def build_assumed_population(
    measure: str, expected: float, prevalence: Sequence[float], n_raters: int
) -> Statistic:
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
    if not 2 <= n_raters <= MAX_LABELS_PER_ITEM:
        raise PolicyError(
            f"labels an item: found {n_raters}; expected 2 to {MAX_LABELS_PER_ITEM}. "
            "Plan for as many as an item will have."
        )
    labelings, clear_weights, guessed_weights = enumerate_labelings(measure, shares, n_raters)

    def with_clear(share: float) -> Statistic:
        return labelings.with_weights(share * clear_weights + (1 - share) * guessed_weights)

    low_share, high_share = 0.0, 1.0
    for _ in range(N_AGREEMENT_HALVINGS):
        middle_share = (low_share + high_share) / 2
        too_few = compute_true_value(measure, with_clear(middle_share)) < expected
        low_share, high_share = (middle_share, high_share) if too_few else (low_share, middle_share)
    population = with_clear(high_share)
    if not np.isclose(compute_true_value(measure, population), expected, atol=1e-6):
        raise PolicyError(
            f"{measure}: found {expected:g}; expected a value that raters who know or guess can "
            "have. Expect more agreement, or less."
        )
    return population


def compute_true_value(measure: str, population: Statistic) -> float:
    """Very many items are used because some measures have a correction for few items. A category
    that is declared and does not occur leaves the lowest value undefined.
    """
    values = np.atleast_1d(find_registered_measure(measure)(scale_to_many_items(population)).value)
    defined_values = values if population.scale.declared else values[~np.isnan(values)]
    return float(defined_values.min()) if defined_values.size else nan


def enumerate_labelings(
    measure: str, prevalence: Array, n_raters: int
) -> tuple[Statistic, Array, Array]:
    """The ways to label an item, and how often a clear and an unclear item is labelled so."""
    n_categories, needs = len(prevalence), find_registered_measure(measure).needs
    if needs not in ("counts", "patterns", "replicates"):
        raise PolicyError(
            f"{measure}: found a measure of {SUBJECTS[needs]}; expected a measure of "
            f"{SUBJECTS['counts']}, or of {SUBJECTS['replicates']}. Plan from an earlier "
            "round instead."
        )
    n_ways = (
        n_categories**n_raters
        if needs == "patterns"
        else comb(n_raters + n_categories - 1, n_raters)
    )
    if n_ways > MAX_LABELINGS:  # before they are made, since they may not fit into memory
        raise PolicyError(
            f"ways to label an item: found {n_ways}; expected at most {MAX_LABELINGS}. "
            "Plan for fewer raters or categories."
        )
    scale = Scale(tuple(f"c{k}" for k in range(n_categories)))
    raters = tuple(f"r{number}" for number in range(n_raters))
    if needs == "patterns":
        codes = np.array(list(product(range(n_categories), repeat=n_raters)))
        clear_weights = np.where((codes == codes[:, :1]).all(1), prevalence[codes[:, 0]], 0.0)
        guessed_weights = prevalence[codes].prod(1)
        return (
            LabelsByRater(codes, guessed_weights, scale=scale, raters=raters),
            clear_weights,
            guessed_weights,
        )
    combinations = combinations_with_replacement(range(n_categories), n_raters)
    counts = np.array([np.bincount(labels, minlength=n_categories) for labels in combinations])
    orders = np.array([factorial(n_raters) / prod(map(factorial, row.tolist())) for row in counts])
    guessed_weights = orders * (prevalence**counts).prod(1)
    clear_weights = (counts == n_raters) @ prevalence
    if needs == "counts":
        statistic = CategoryCounts(counts, guessed_weights, scale=scale, n_raters=n_raters)
        return statistic, clear_weights, guessed_weights
    first_ratings = LabelsByRater(
        counts.argmax(1)[:, None], guessed_weights, scale=scale, raters=raters[:1]
    )
    places = np.arange(len(counts))
    return (
        ReplicatedLabels(counts, places, np.zeros_like(places), first_ratings),
        clear_weights,
        guessed_weights,
    )


def mean_labels_per_item(population: Statistic) -> float:
    return scale_to_many_items(population).n_ratings / N_ITEMS_OF_POPULATION


def scale_to_many_items(population: Statistic) -> Statistic:
    """The items are so many that each share is a whole number of them."""
    return population.with_weights(
        population.weights * (N_ITEMS_OF_POPULATION / population.weights.sum())
    )
