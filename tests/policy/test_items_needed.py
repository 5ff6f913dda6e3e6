"""A planned round decides as often as promised, on rounds that another simulation makes."""

from dataclasses import replace
from statistics import NormalDist

import numpy as np
import pytest
from scipy import stats

from agreement_pipeline import Scale
from agreement_pipeline.errors import PolicyError
from agreement_pipeline.estimates import estimate
from agreement_pipeline.intervals import Inference
from agreement_pipeline.policy import Policy, Rule, estimate_chance, planning
from agreement_pipeline.policy.planning import (
    build_assumed_population,
    plan_measure,
    simulate_rounds,
)
from agreement_pipeline.statistics import CategoryCounts, LabelsByRater, ReplicatedLabels
from tests.policy.guessed_items import ALPHA, rounds_of_clear_and_guessed_items

LIMIT = Inference(n_resamples=1_000, lower_only=True)


@pytest.mark.slow
@pytest.mark.parametrize("prevalence", [(0.5, 0.5), (0.95, 0.05)])
def test_a_planned_round_decides_as_often_as_promised(prevalence):
    found = plan_measure(
        ALPHA, build_assumed_population(ALPHA, 0.85, prevalence, 3), reliable=0.8, probability=0.9
    )
    rng = np.random.default_rng(20261121)
    rounds = [
        rounds_of_clear_and_guessed_items(rng, 0.85, prevalence, 3, found.n_items)
        for _ in range(1_000)
    ]
    limits = [
        estimate(ALPHA, each, replace(LIMIT, seed=number)).interval.low
        for number, each in enumerate(rounds)
    ]
    decided = np.mean(np.array(limits) >= 0.8)
    assert decided == pytest.approx(0.9, abs=0.025)
    three_errors = 3 * np.sqrt(0.9 * 0.1 * (1 / planning.N_ROUNDS + 1 / len(limits)))
    assert found.decided == pytest.approx(decided, abs=three_errors)


def test_more_items_decide_more_often_and_more_agreement_needs_fewer():
    good, better = (
        build_assumed_population(ALPHA, expected, (0.5, 0.5), 3) for expected in (0.86, 0.92)
    )
    found = plan_measure(ALPHA, good, reliable=0.8, probability=0.8, n_rounds=200)
    assert (
        found.n_items
        > plan_measure(ALPHA, better, reliable=0.8, probability=0.8, n_rounds=200).n_items
    )
    numbers, shares = zip(*found.curve, strict=True)
    assert numbers == tuple(sorted(numbers))
    assert shares[0] < 0.1
    assert shares[-1] >= 0.8
    assert found.n_ratings == 3 * found.n_items


def test_chance_hardly_moves_a_plan():
    """Of rounds of n items the share Φ(0.11 √n - 2) decides, and for 0.9, 890 items are enough.

    A plan simulates some 1,300 rounds. That moves its number by five percent, and the share that
    decides by less than two points. The first number that happens to be enough moves much more.
    """
    rng, simulated = np.random.default_rng(5), []

    def decided(n_items, part):
        n_rounds = round(planning.N_ROUNDS * part)
        simulated.append(n_rounds)
        enough = NormalDist().cdf(0.11 * np.sqrt(n_items) - 2)
        return planning.Trial(float(rng.binomial(n_rounds, enough)), float(n_rounds))

    asked = planning.Plan(ALPHA, 0.85, 0.8, 0.9, 3.0, None, None, ())
    start = planning.FEWEST_ITEMS
    found = [planning.search_n_items(asked, decided, start, 0.025) for _ in range(200)]
    items = np.array([each.n_items for each in found])
    happened = np.array(
        [min((n for n, share in each.curve if share >= 0.9), default=np.nan) for each in found]
    )
    assert items.mean() == pytest.approx(890, rel=0.02)
    assert items.std() < 0.05 * 890
    assert items.std() < 0.7 * np.nanstd(happened)
    truly = [NormalDist().cdf(0.11 * np.sqrt(n) - 2) for n in items]
    assert np.quantile(truly, (0.05, 0.95)) == pytest.approx([0.9, 0.9], abs=0.025)
    assert np.mean([each.decided for each in found]) == pytest.approx(0.9, abs=0.005)
    assert sum(simulated) / len(found) < 1_500


@pytest.mark.parametrize("probability", [0, 1, 1.5, float("nan")])
def test_a_probability_that_no_round_can_reach_is_refused(probability):
    with pytest.raises(
        PolicyError, match=r"probability: found .*; expected more than 0 and less than 1"
    ):
        plan_measure(
            ALPHA,
            build_assumed_population(ALPHA, 0.9, (0.5, 0.5), 3),
            reliable=0.8,
            probability=probability,
        )


def test_no_number_of_items_makes_agreement_out_of_disagreement():
    found = plan_measure(
        ALPHA, build_assumed_population(ALPHA, 0.78, (0.5, 0.5), 2), reliable=0.8, probability=0.9
    )
    assert (found.n_items, found.n_ratings, found.decided) == (None, None, None)
    assert "more items would only make that surer" in found.impossible


def test_agreement_just_over_the_cut_off_needs_more_items_than_anybody_labels():
    population = build_assumed_population(ALPHA, 0.8005, (0.5, 0.5), 3)
    found = plan_measure(ALPHA, population, reliable=0.8, probability=0.9, n_rounds=200)
    assert (found.n_items, found.impossible) == (None, "200,000 items would not do")
    assert found.curve[-1][0] == 200_000


def test_a_rule_that_asks_for_items_gets_them():
    unanimous = CategoryCounts([[3, 0], [0, 3]], [5, 5], scale=Scale(("n", "y")))
    assert (
        plan_measure(
            ALPHA, unanimous, reliable=0.8, probability=0.9, min_items=100, n_rounds=100
        ).n_items
        == 100
    )


def test_a_round_decides_only_where_agreement_is_read_on_as_many_items_as_the_rule_asks_for():
    """Of unanimous items one in five has a second rating.

    Then 500 items give at least the 100 that are asked for in about half of the rounds.
    """
    lonely = CategoryCounts([[3, 0], [0, 3], [1, 0]], [1, 1, 8], scale=Scale(("n", "y")))
    found = plan_measure(ALPHA, lonely, reliable=0.8, probability=0.9, min_items=100, n_rounds=400)
    assert stats.binom.sf(99, found.n_items, 0.2) == pytest.approx(0.9, abs=0.05)
    assert found.decided == pytest.approx(stats.binom.sf(99, found.n_items, 0.2), abs=0.05)


def test_a_plan_at_holms_first_level_is_that_of_the_level_itself():
    """Of five verdicts the first has to meet 0.02, the tail of a 96 % interval.

    One verdict alone has to meet 0.1.
    """
    rounds = list(
        simulate_rounds(
            build_assumed_population(ALPHA, 0.9, (0.5, 0.5), 3), 150, 400, np.random.default_rng(1)
        )
    )
    shares = [
        np.mean(
            [
                judging.decides(estimate(ALPHA, each, judging.inference_at_look(1)))
                for each in rounds
            ]
        )
        for judging in (
            planning.RuleOnSimulation(ALPHA, 0.8, 5, Inference(0.8, 1000), 5),
            planning.RuleOnSimulation(ALPHA, 0.8, 5, Inference(0.96, 1000), 1),
        )
    ]
    assert 0.2 < shares[0] < 0.9
    assert shares[0] == pytest.approx(shares[1], abs=0.02)  # a draw more may decide a round


def test_a_population_in_which_a_measure_has_no_value_is_refused():
    lonely = CategoryCounts([[1, 0], [0, 1]], [5, 5], scale=Scale(("n", "y")))
    for measure in (ALPHA, "specific_agreement"):
        with pytest.raises(
            PolicyError,
            match=f"{measure}: found no value in the population; expected one to plan from",
        ):
            plan_measure(measure, lonely, reliable=0.8, probability=0.9)


@pytest.mark.parametrize(
    ("settings", "n_together", "found", "needed"),
    [
        (
            {},
            4,
            "found 1000 with confidence_level 0.95, 4 verdicts together",
            1600,
        ),  # ten beyond 0.025 / 4
        (
            {"always_valid_at": 200},
            1,
            "found 1000 with confidence_level 0.95, always_valid_at",
            17398,
        ),
        (
            {"always_valid_at": 200, "n_resamples": 18_000},
            4,
            "found 18000 with confidence_level 0.95, 4 verdicts together, always_valid_at",
            None,
        ),
        ({"confidence_level": 0.99}, 1, "found 1000 with confidence_level 0.99", 2000),
    ],
)
def test_draws_that_cannot_tell_the_level_are_refused(settings, n_together, found, needed):
    with pytest.raises(
        PolicyError,
        match=f"n_resamples: {found}; expected {needed or '[0-9]+'} or more, "
        "so that ten resamples lie beyond each limit",
    ):
        plan_measure(
            ALPHA,
            build_assumed_population(ALPHA, 0.95, (0.5, 0.5), 3),
            Inference(**{"n_resamples": 1000} | settings),
            reliable=0.8,
            probability=0.9,
            n_together=n_together,
        )


def test_labels_of_items_met_again_and_of_a_group_are_counted():
    """Two raters meet five of ten items twice, 20 labels.

    A group of two rates ten items that the other group rates too.
    """
    scale, codes = Scale(("n", "y")), np.array([[0, 0], [1, 1]] * 5)
    first = LabelsByRater(codes, scale=scale, raters=("a", "b"))
    item, rater = np.repeat(np.arange(5), 2), np.tile([0, 1], 5)
    again = ReplicatedLabels(2 * np.eye(2)[codes[item, rater]], item, rater, first)
    everybody = LabelsByRater(np.hstack([codes, codes[:, :1]]), scale=scale, raters=("a", "b", "m"))
    groups = everybody.merged().in_groups(("m",))
    settings = {"reliable": 0.8, "probability": 0.8, "n_rounds": 20}
    assert plan_measure("self_agreement", again, **settings).labels_an_item == 2
    assert plan_measure("cross_kappa", groups, **settings).labels_an_item == 2


def test_a_plan_from_a_sample_averages_over_what_the_sample_leaves_open():
    """A sample may show too much agreement. The plan asks for more items than its value alone."""
    scale, settings = Scale(("n", "y")), {"reliable": 0.8, "probability": 0.9, "n_rounds": 100}
    sample = CategoryCounts([[3, 0], [0, 3], [2, 1], [1, 2]], [65, 65, 6, 6], scale=scale)
    alone = plan_measure(ALPHA, sample, **settings)
    averaged = plan_measure(ALPHA, sample, **settings, sampled=True)
    assert alone.over is None
    assert 0.9 < averaged.over <= 1
    assert averaged.n_items > 1.1 * alone.n_items


def test_a_sample_that_leaves_open_whether_agreement_is_over_the_cutoff_is_too_small_to_plan_from():
    """The share over the cut-off is that of Dirichlet weights, drawn here anew.

    Before the round every value is as likely, so that few disagreements are no likelier than many.
    """
    scale = Scale(("n", "y"))
    sample = CategoryCounts([[3, 0], [0, 3], [2, 1], [1, 2]], [20, 20, 3, 3], scale=scale)
    settings = {"reliable": 0.8, "probability": 0.9}
    found = plan_measure(ALPHA, sample, **settings, n_rounds=50, sampled=True)
    assert found.n_items is None
    assert "too small to plan from" in found.impossible
    shares = np.random.default_rng(4).dirichlet(sample.weights, size=4_000)
    two_yes = shares[:, 2] + shares[:, 3]
    yes = shares @ np.array([0, 3, 1, 2]) / 3
    distance = (two_yes * 2 / 3) / (2 * yes * (1 - yes))
    over = np.average(1 - distance > 0.8, weights=distance)
    assert found.over == pytest.approx(over, abs=0.06)


def test_a_plan_stops_where_twice_as_many_items_bring_few_more_decisions():
    """The sample has 17 split items of 150, and 22.5 lie on the cut-off.

    Nine in ten of what it leaves open would need thousands of items. Twice the planned number bring
    less than one round in ten more, and half of it would cost more rounds than that.
    """
    sample = CategoryCounts(
        [[3, 0], [0, 3], [2, 1], [1, 2]], [66.5, 66.5, 8.5, 8.5], scale=Scale(("n", "y"))
    )
    found = plan_measure(ALPHA, sample, reliable=0.8, probability=0.9, sampled=True)
    few, many = found.between
    assert few < 400
    assert 600 < found.n_items < 2_000
    assert many is None
    split = np.random.default_rng(8).beta(17, 133, size=2_000)
    value = 1 - split[split < 0.15] * 4 / 3
    reach = np.sqrt(0.2) - np.sqrt(1 - value)

    def decide(n_items):
        return stats.norm.cdf(np.sqrt(3 * n_items) * reach - 1.96).mean()

    assert found.decided == pytest.approx(decide(found.n_items), abs=0.08)
    once, twice, half = (decide(found.n_items * each) for each in (1, 2, 0.5))
    assert twice - once < 0.1 < once - half


def test_a_sample_in_which_all_agree_leaves_open_that_others_do_not():
    """Of 10 items in full agreement one in ten may differ; of 150 hardly any."""
    scale = Scale(("n", "y"))
    settings = {"reliable": 0.8, "probability": 0.9, "n_rounds": 100, "sampled": True}
    few, more, many = (
        plan_measure(ALPHA, CategoryCounts([[3, 0], [0, 3]], [n, n], scale=scale), **settings)
        for n in (5, 10, 75)
    )
    assert few.n_items is None
    assert few.over < 0.75 < more.over < many.over
    assert more.n_items > many.n_items > many.least


@pytest.mark.parametrize(
    ("raters", "shares", "least"),
    [(2, (0.5, 0.5), 30), (3, (0.5, 0.5), 30), (2, (0.95, 0.05), 100)],
)
def test_on_fewer_items_not_even_full_agreement_is_enough(raters, shares, least):
    """An audit found the lower limits 0.767, 0.796 and 0.678 on these numbers of items."""
    scale = Scale(("n", "y"))
    seen = CategoryCounts(raters * np.eye(2), 20 * np.array(shares), scale=scale)
    found = planning.find_min_items(ALPHA, 0.8, seen)
    assert least < found < 2 * least

    def low(n_items):
        counts = CategoryCounts(raters * np.eye(2), n_items * np.array(shares), scale=scale)
        return estimate(ALPHA, counts, planning.PLANNING_INFERENCE).interval.low

    assert low(found - 3) < 0.8 < low(found + 3)


def test_always_valid_limits_of_a_huge_round_hide_no_number_that_is_enough():
    """They tell nothing of 5,000 items if they are tightest at 300, and 0.89 of 100 items."""
    seen = CategoryCounts([[3, 0], [2, 1], [0, 3]], [90, 20, 90], scale=Scale(("n", "y")))
    judging = Inference(n_resamples=20_000, always_valid_at=300)
    assert 50 < planning.find_min_items(ALPHA, 0.8, seen, judging) < 100


def test_an_expected_value_just_under_the_cutoff_is_not_printed_as_it():
    just_under = CategoryCounts([[2, 0], [1, 1], [0, 2]], [449.9, 100.2, 449.9], scale=Scale("ny"))
    found = plan_measure(ALPHA, just_under, reliable=0.8, probability=0.9)
    assert found.impossible.startswith("the agreement expected, 0.7996, is no more than 0.8: ")


def test_full_agreement_on_one_category_is_never_enough():
    one = CategoryCounts([[3, 0]], [50], scale=Scale(("n", "y")))
    assert planning.find_min_items(ALPHA, 0.8, one) is None


def test_the_chance_of_a_number_of_items_is_the_share_of_rounds_that_another_simulation_admits():
    policy = Policy("p", 1, (Rule(ALPHA), Rule("percent_agreement", reliable=0.7, tentative=0.667)))
    chance = estimate_chance(policy, 390, expected=0.84, prevalence=(0.8, 0.2))
    rng = np.random.default_rng(2)
    limits = [
        estimate(
            ALPHA,
            rounds_of_clear_and_guessed_items(rng, 0.84, (0.8, 0.2), 3, 390),
            replace(LIMIT, seed=number),
        ).interval.low
        for number in range(400)
    ]
    decided = np.mean(np.array(limits) >= 0.8)
    assert 0.1 < decided < 0.9
    three_errors = 3 * np.sqrt(0.25 * (1 / len(limits) + 1 / planning.N_ROUNDS))
    assert chance == pytest.approx(decided, abs=three_errors)
