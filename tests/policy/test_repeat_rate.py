"""How likely another round is to get the same decision, computed from one round."""

import math
from dataclasses import replace
from statistics import NormalDist

import numpy as np
import pytest

from agreement_pipeline.estimates import estimate
from agreement_pipeline.integrity import Finding
from agreement_pipeline.intervals import (
    Inference,
    Looks,
    Percentiles,
    estimate_repeat_range,
    estimate_repeat_rate,
)
from agreement_pipeline.policy import Rule, Silver, decide, load_policy
from benchmarks.studies import repeats
from benchmarks.studies.study import ALPHA
from tests.intervals.rounds import patterns

TAIL = 0.025
STANDARD = load_policy("standard")
BROKEN = Finding("known labels", "rows", False, "error", "3 labels are unknown")


def decided(estimates, policy=STANDARD, findings=()):
    asked = {"ratings_digest": "r", "contract_digest": "c", "code_version": "1"}
    return decide(estimates, policy, findings=findings, **asked)


def of_round(seed, n, clear, measure=ALPHA, method="tail_adaptive_bootstrap"):
    statistic = patterns(seed, n, clear=clear)
    return estimate(measure, statistic, Inference(method=method, seed=seed))


def one_by_one(asked):
    """The same, pair of resamples by pair of resamples."""
    reached = weighed = 0.0
    lows = [known.limits(TAIL).low for known, _ in asked]
    for b in range(len(asked[0][0].draws)):
        weight, met = 1.0, True
        for (known, cutoff), low in zip(asked, lows, strict=True):
            most = known.bounds[1]
            draws = known.draws if known.seen_draws is None else known.seen_draws
            this, before = (math.sqrt(most - draws[place]) for place in (b, b - 1))
            weight *= this
            met = met and math.sqrt(most - low) + this - before <= math.sqrt(most - cutoff)
        reached += weight * met
        weighed += weight
    return reached / weighed


def test_it_is_what_a_loop_over_pairs_of_resamples_finds():
    one, other = of_round(1, 200, 0.85), of_round(1, 200, 0.85, "gwet_ac1")
    for asked in (
        [(one.distribution, 0.8)],
        [(one.distribution, 0.7)],
        [(one.distribution, 0.8), (other.distribution, 0.75)],
    ):
        assert estimate_repeat_rate(asked, TAIL) == pytest.approx(one_by_one(asked), abs=1e-12)


def test_it_is_near_one_half_at_the_limit_and_rises_with_the_distance_from_it():
    known = of_round(2, 300, 0.85).distribution
    low = known.limits(TAIL).low
    rates = [estimate_repeat_rate([(known, low - by)], TAIL) for by in (-0.2, -0.05, 0, 0.05, 0.2)]
    assert rates == sorted(rates)
    assert rates[0] < 0.01
    assert 0.4 < rates[2] < 0.55
    assert rates[-1] > 0.99


def test_for_normal_resamples_far_from_the_greatest_value_it_is_goodmans_probability():
    draws = np.random.default_rng(3).normal(0.0, 0.01, 100_000)
    known = Percentiles(draws, 0.0, (-1.0, 1.0))
    low = known.limits(TAIL).low
    found = estimate_repeat_rate([(known, low - 0.01)], TAIL)
    assert found == pytest.approx((1 + math.erf(1 / 2)) / 2, abs=0.01)


def test_for_normal_resamples_the_range_is_that_of_the_true_values():
    """At a true value z standard errors up, another limit is over the cut-off with Φ(gap + z)."""
    draws = np.random.default_rng(3).normal(0.0, 0.01, 50_000)
    known = Percentiles(draws, 0.0, (-1.0, 1.0))
    low = known.limits(TAIL).low
    few, many = estimate_repeat_range([(known, low - 0.01)], TAIL)
    nine_in_ten = NormalDist().inv_cdf(0.9)
    assert few == pytest.approx(NormalDist().cdf(1 - nine_in_ten), abs=0.04)
    assert many == pytest.approx(NormalDist().cdf(1 + nine_in_ten), abs=0.04)


def roots_of(known):
    draws = known.draws if known.seen_draws is None else known.seen_draws
    return np.sqrt(known.bounds[1] - draws)


def test_the_range_of_two_rules_is_that_of_a_loop_over_true_values():
    one, other = of_round(1, 200, 0.85), of_round(1, 200, 0.85, "gwet_ac1")
    asked = [(one.distribution, 0.8), (other.distribution, 0.75)]
    n = len(one.distribution.draws)
    rates = []
    in_order = np.argsort(roots_of(one.distribution), kind="stable")
    for place in range(200):
        truth = in_order[int((place + 0.5) / 200 * n)]
        met, weight = np.ones(n, dtype=bool), 1.0
        for known, cutoff in asked:
            most, low, roots = known.bounds[1], known.limits(TAIL).low, roots_of(known)
            weight *= roots[truth]
            met &= np.sqrt(most - low) + roots[truth] - roots <= np.sqrt(most - cutoff)
        rates.append((met.mean(), weight))
    rates.sort()
    total, reached, ends = sum(weight for _, weight in rates), 0.0, []
    for rate, weight in rates:
        for share in (0.1, 0.9):
            if reached < share * total <= reached + weight:
                ends.append(rate)
        reached += weight
    assert estimate_repeat_range(asked, TAIL) == pytest.approx(ends, abs=1e-12)


def test_most_ranges_hold_the_rate_at_the_true_value():
    """True values are drawn evenly, and the rate at each is read off rounds at some of them."""
    inference = Inference(n_resamples=400, method=repeats.METHOD, lower_only=True)
    drawn, rng = repeats.POPULATIONS["two categories, 3 raters"], np.random.default_rng(4)

    def judged(truth):
        seeded = replace(inference, seed=int(rng.integers(2**31)))
        return estimate(ALPHA, drawn(rng, truth, 200), seeded)

    truths = np.linspace(0.76, 0.98, 12)
    admitted = [np.mean([judged(truth).low >= 0.8 for _ in range(60)]) for truth in truths]
    held = []
    for truth in rng.uniform(0.76, 0.98, 150):
        first = judged(truth)
        ends = np.array(estimate_repeat_range([(first.distribution, 0.8)], TAIL))
        rate = np.interp(truth, truths, admitted)
        held.append(ends[0] - 0.03 <= rate <= ends[1] + 0.03)
    assert 0.7 < np.mean(held) < 0.95


def test_an_undefined_resample_counts_as_the_least_value_and_no_bound_gives_no_rate():
    draws = np.append(np.linspace(0.8, 0.9, 400), np.nan)
    found = estimate_repeat_rate([(Percentiles(draws, 0.85, (-1.0, 1.0)), 0.7)], TAIL)
    assert 0.99 < found < 1
    for bounds in ((-np.inf, 1.0), (0.0, np.inf)):
        of_no_bound = [(Percentiles(draws, 0.85, bounds), 0.7)]
        assert estimate_repeat_rate(of_no_bound, TAIL) is None
        assert estimate_repeat_range(of_no_bound, TAIL) is None


def test_a_unanimous_round_may_be_held_next_time():
    found = of_round(4, 45, 1.0)
    assert found.value == 1.0
    assert 0.3 < estimate_repeat_rate([(found.distribution, found.interval.low)], TAIL) < 0.7


def test_a_decision_says_it_in_its_document_and_in_one_sentence():
    made = decided([of_round(5, 400, 0.88)])
    assert made.admitted
    assert made.to_mapping()["repeat_rate"] == made.repeat_rate
    few, many = made.repeat_range
    assert few < made.repeat_rate < many
    assert (
        f"the same decision in {100 * few:.0f} to {100 * many:.0f} of 100 cases, depending on "
        f"their true agreement; the mean is {100 * made.repeat_rate:.0f}."
        in made.repeat_rate_sentence
    )
    sure = decided([of_round(5, 900, 0.5)])
    assert (sure.admitted, sure.repeat_rate) == (False, 1.0)
    assert "the same decision in over 99 of 100 cases." in sure.repeat_rate_sentence


def test_the_rates_of_admitting_and_of_holding_sum_to_one():
    near = of_round(6, 200, 0.82)
    low = near.interval.low
    rates = []
    for cutoff in (low - 1e-9, low + 1e-9):
        policy = replace(STANDARD, rules=(Rule(ALPHA, reliable=cutoff),))
        rates.append(decided([near], policy).repeat_rate)
    assert sum(rates) == pytest.approx(1, abs=0.011)
    assert rates == [round(rate, 2) for rate in rates]


def test_a_tentative_cut_off_counts_if_the_policy_admits_it():
    near = of_round(7, 200, 0.82)
    lenient = replace(STANDARD, admit=("reliable", "tentative"))
    assert decided([near], lenient).admitted
    assert decided([near], lenient).repeat_rate > 1 - decided([near]).repeat_rate


@pytest.mark.parametrize(
    "policy",
    [
        replace(STANDARD, familywise="holm"),
        replace(STANDARD, looks=Looks((300, 600), "pocock")),
        replace(STANDARD, rules=(Rule(ALPHA), Rule(ALPHA, scope="stratum"))),
        replace(STANDARD, rules=(Rule(ALPHA, min_items=1000),)),
        replace(STANDARD, rules=(Rule(ALPHA), Rule("self_agreement"))),
        replace(STANDARD, silver=Silver(0.05)),
    ],
)
def test_nothing_is_said_where_more_than_limits_of_one_look_decides(policy):
    made = decided([of_round(8, 300, 0.9)], policy)
    assert (made.repeat_rate, made.repeat_rate_sentence) == (None, "")


def test_nothing_is_said_where_the_contract_holds_or_for_raters_at_large():
    assert decided([of_round(9, 300, 0.9)], findings=[BROKEN]).repeat_rate is None
    at_large = of_round(9, 300, 0.9, method="two_way_jackknife_log")
    policy = replace(STANDARD, interval_method="two_way_jackknife_log")
    assert decided([at_large], policy).repeat_rate is None


def test_rounds_say_as_often_as_it_is_so():
    """A small part of the study in docs/proofs/intervals.md, within three Monte Carlo errors."""
    inference = Inference(n_resamples=400, method=repeats.METHOD, lower_only=True)
    drawn = repeats.POPULATIONS["two categories, 3 raters"]
    pairs = [repeats._pair(drawn, inference, 77, number) for number in range(200)]
    first, second, said = np.array([each for each in pairs if each is not None]).T
    apart = (first == second) - said
    assert abs(apart.mean()) < 3 * apart.std() / math.sqrt(len(apart)) + 0.015


def test_a_share_of_no_round_is_no_number():
    assert repeats.shares([repeats.Repeat(True, True, 0.9), None]) == [
        *("1", "100.0, 90.0", "100.0, 90.0", "none")
    ]
