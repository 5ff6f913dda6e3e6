"""Limits that hold at any time.

The boundary is tested against its definition and against paths. Then come the policy's key and
what is refused.
"""

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy import integrate, optimize, special, stats

from agreement_pipeline.contract import Contract
from agreement_pipeline.demo.rounds import CATEGORIES, simulate_round
from agreement_pipeline.errors import PolicyError
from agreement_pipeline.estimates import estimate, measure_ratings, survey
from agreement_pipeline.intervals import (
    AlwaysValid,
    Inference,
    Percentiles,
    critical_value,
    mixture_variance,
)
from agreement_pipeline.intervals.distributions import Student
from agreement_pipeline.policy import Policy, assess, describe_manner
from agreement_pipeline.policy.decision import describe_manner_for_record
from agreement_pipeline.ratings import Ratings, Scale
from agreement_pipeline.statistics import CategoryCounts, Clusters

TWO = Scale(("no", "yes"))
ALPHA = 0.05
MADE = {
    "policy": "p",
    "version": 1,
    "rules": [{"measure": "krippendorff_alpha"}],
    "n_resamples": 20_000,
}


def mixed(total, n, variance):
    """The likelihood ratio of a normal sum, mixed over drifts of N(0, variance), by quadrature."""

    def at(drift):
        return math.exp(drift * total - drift**2 * n / 2) * stats.norm.pdf(
            drift, scale=math.sqrt(variance)
        )

    peak = total / (n + 1 / variance)
    width = 12 / math.sqrt(n + 1 / variance)
    return integrate.quad(at, peak - width, peak + width, epsabs=0, epsrel=1e-10)[0]


@pytest.mark.parametrize("n", [10, 100, 500, 3000])
@pytest.mark.parametrize("alpha", [0.2, 0.05, 0.01])
def test_the_critical_value_is_where_the_mixed_likelihood_ratio_reaches_one_in_alpha(n, alpha):
    variance = mixture_variance(500, alpha)
    z = optimize.brentq(
        lambda z: math.log(mixed(z * math.sqrt(n), n, variance)) + math.log(alpha), 0.5, 12
    )
    assert critical_value(n * variance, alpha) == pytest.approx(z, rel=1e-6)


@pytest.mark.parametrize(("at", "alpha"), [(100, 0.05), (500, 0.05), (500, 0.01), (2000, 0.2)])
def test_the_limits_are_tightest_where_they_are_asked_to_be(at, alpha):
    best = optimize.minimize_scalar(
        lambda log: critical_value(at * math.exp(log), alpha),
        bounds=(-15, 5),
        method="bounded",
        options={"xatol": 1e-10},
    )
    assert mixture_variance(at, alpha) == pytest.approx(math.exp(best.x), rel=1e-4)
    assert at * mixture_variance(at, alpha) == pytest.approx(
        -special.lambertw(-(alpha**2) / math.e, -1).real - 1
    )


def test_a_path_ever_leaves_with_no_more_than_the_level_and_by_a_fixed_limit_far_more_often():
    rng, n = np.random.default_rng(0), np.arange(1, 3001)
    boundary = np.array([critical_value(each * mixture_variance(300, ALPHA), ALPHA) for each in n])
    z = np.cumsum(rng.standard_normal((2000, 3000)), axis=1) / np.sqrt(n)
    ever = (np.abs(z) > boundary).any(1).mean()
    assert 0.02 < ever <= ALPHA  # never reached to the full in so many steps, and not idle either
    assert (z > boundary).any(1).mean() <= ALPHA / 2 + 2 * math.sqrt(ALPHA / 2 / 2000)
    assert (np.abs(z[:, 39:600:20]) > stats.norm.ppf(1 - ALPHA / 2)).any(1).mean() > 0.2


def test_the_limits_are_quantiles_of_the_methods_draws_further_out():
    counts = CategoryCounts([[3, 0], [2, 1], [1, 2], [0, 3]], [220, 30, 20, 230], scale=TWO)
    found = estimate(
        "krippendorff_alpha", counts, Inference(n_resamples=20_000, always_valid_at=500)
    )
    z = critical_value(500 * mixture_variance(500, ALPHA), ALPHA)
    once = estimate("krippendorff_alpha", counts, Inference(n_resamples=20_000)).distribution
    limits = np.array(
        [
            np.quantile(draws, (stats.norm.sf(z), stats.norm.cdf(z)), method="inverted_cdf")
            for draws in (once.draws, once.seen_draws, once.raised_draws)
        ]
    )
    assert tuple(found.interval) == (limits[:2, 0].min(), limits[:, 1].max())
    assert (found.confidence_level, found.always_valid_at) == (0.95, 500)
    assert (
        found.method
        == "Dirichlet draws over item patterns, prior mass 3; always valid, tightest at 500 items; "
        "these raters"
    )
    assert found.interval.low < estimate("krippendorff_alpha", counts).interval.low


@pytest.mark.parametrize(("n", "level"), [(5, 0.95), (6, 0.95), (10, 0.99), (40, 0.95)])
def test_no_round_is_known_better_for_being_looked_at_many_times(n, level):
    counts = CategoryCounts([[2, 0], [0, 2]], [n - 2, 2], scale=TWO)
    settings = {"n_resamples": 200_000, "confidence_level": level}
    once, always = (
        estimate("krippendorff_alpha", counts, Inference(always_valid_at=at, **settings))
        for at in (None, 10)
    )
    assert always.interval.low <= once.interval.low
    assert all(
        always.p_value(cutoff) >= once.p_value(cutoff) for cutoff in (-0.5, 0.0, 0.5, 0.8, 0.95)
    )


def test_items_count_that_agreement_was_read_on_and_clusters_where_items_come_in_them():
    singles = CategoryCounts([[2, 0], [1, 1], [0, 2], [1, 0]], [40, 8, 40, 300], scale=TWO)
    alike = CategoryCounts([[2, 0], [1, 1], [0, 2]], [40, 8, 40], scale=TWO)
    informed = [
        estimate(
            "krippendorff_alpha", each, Inference(n_resamples=1000, always_valid_at=500)
        ).distribution.first.information
        for each in (singles, alike)
    ]
    assert informed == pytest.approx([88 * mixture_variance(500, ALPHA)] * 2)
    rows = CategoryCounts([[2, 0], [1, 1], [0, 2], [2, 0]], [1, 1, 1, 1], scale=TWO)
    clustered = estimate(
        "krippendorff_alpha",
        rows.with_clusters(Clusters.from_names([0, 0, 1, 1])),
        Inference(n_resamples=1000, always_valid_at=500),
    )
    assert clustered.distribution.first.information == pytest.approx(
        2 * mixture_variance(500, ALPHA)
    )


def test_too_few_draws_give_the_bounds_and_q_says_so():
    sure = Percentiles(np.full(1000, 0.99), 0.99, (-1.0, 1.0))
    known = AlwaysValid(sure, (-1.0, 1.0), 500 * mixture_variance(500, ALPHA))
    assert tuple(known.limits(0.025)) == (-1.0, 1.0)
    assert known.confidence_under(0.8) > 0.025
    enough = AlwaysValid(
        Percentiles(np.full(20_000, 0.99), 0.99, (-1.0, 1.0)),
        (-1.0, 1.0),
        500 * mixture_variance(500, ALPHA),
    )
    assert (enough.limits(0.025).low, enough.confidence_under(0.8) < 0.025) == (0.99, True)


def test_q_is_half_of_the_least_level_that_leaves_the_cutoff_out():
    once = Student(0.85, 0.01, 400, (-1.0, 1.0))
    information = 200 * mixture_variance(500, ALPHA)
    known = AlwaysValid(once, (-1.0, 1.0), information)
    alpha = optimize.brentq(
        lambda alpha: once.limits(stats.norm.sf(critical_value(information, alpha))).low - 0.8,
        1e-7,
        0.5,
    )
    assert known.confidence_under(0.8) == pytest.approx(alpha / 2, rel=1e-3)
    assert known.confidence_under(0.84) <= 0.5 <= known.confidence_under(0.86)


def test_enough_draws_lie_beyond_the_limits_from_a_quarter_of_the_items_to_ten_times_as_many():
    needed = Inference(always_valid_at=500).min_resamples()
    for n in (100, 200, 400, 1000, 4000):
        assert needed * stats.norm.sf(critical_value(n * mixture_variance(400, ALPHA), ALPHA)) >= 10
    assert needed * stats.norm.sf(critical_value(90 * mixture_variance(400, ALPHA), ALPHA)) < 10


# In a policy


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        (
            {"always_valid_at": 5},
            "always_valid_at: found 5; expected a whole number of items .or clusters. "
            "from 10 to 1000000",
        ),
        ({"always_valid_at": "500"}, "always_valid_at: found '500'; expected a whole number"),
        ({"always_valid_at": True}, "always_valid_at: found True; expected a whole number"),
        ({"always_valid_at": 500.0}, "always_valid_at: found 500.0; expected a whole number"),
        (
            {"always_valid_at": 500, "n_resamples": 10_000},
            "n_resamples: found 10000 with confidence_level 0.95, always_valid_at; "
            "expected 17398 or more",
        ),
        (
            {"always_valid_at": 500, "interval_method": "two_way_jackknife_log"},
            "always_valid_at: found 500; expected none with two_way_jackknife_log, "
            "since a round gains items while it fills",
        ),
        (
            {"familywise": "bonferroni"},
            "familywise: found 'bonferroni'; expected one of none, holm",
        ),
        ({"familywise": None}, "familywise: found None; expected one of none, holm"),
    ],
)
def test_what_cannot_be_judged_so_is_refused_in_words(changes, words):
    with pytest.raises(PolicyError, match=words):
        Policy.from_mapping({**MADE, **changes})


def test_raters_at_large_are_not_asked_about_at_any_time():
    counts = CategoryCounts([[3, 0], [0, 3]], [50, 50], scale=TWO)
    with pytest.raises(
        PolicyError,
        match="always_valid_at: found method two_way_jackknife_log; expected one for these raters",
    ):
        estimate(
            "krippendorff_alpha",
            counts,
            Inference(method="two_way_jackknife_log", always_valid_at=500),
        )


@pytest.mark.parametrize("at", [0, -500])
def test_limits_that_are_tightest_at_no_item_are_refused(at):
    counts = CategoryCounts([[3, 0], [0, 3]], [50, 50], scale=TWO)
    with pytest.raises(
        PolicyError,
        match=f"always_valid_at: found {at}; expected a number of items .or clusters. from 1",
    ):
        estimate("krippendorff_alpha", counts, Inference(always_valid_at=at))


def test_both_keys_are_part_of_the_policy_its_digest_and_what_a_decision_says():
    plain, both = (
        Policy.from_mapping(MADE),
        Policy.from_mapping({**MADE, "always_valid_at": 500, "familywise": "holm"}),
    )
    digests = {
        plain.digest,
        both.digest,
        replace(both, familywise="none").digest,
        replace(both, always_valid_at=400).digest,
    }
    assert len(digests) == 4
    assert Policy.from_mapping(both.to_mapping()) == both
    assert describe_manner(plain, 1) == "Judged once. Each verdict by itself has 95 % confidence."
    assert describe_manner_for_record(plain, 1) == "judged once; each verdict holds by itself"
    assert describe_manner_for_record(both, 1) == (
        "judged at any time, always valid, tightest at 500 items (or clusters); "
        "the verdicts hold together (Holm)"
    )
    assert describe_manner(both, 1) == (
        "Judged at any time, with always valid limits that are tightest at 500 items "
        "(or clusters). All verdicts together have 95 % confidence (Holm)."
    )


@pytest.fixture(scope="module")
def ratings():
    return Ratings.from_frame(
        simulate_round("w", seed=3, n_items=300, missing=0.0, classifiers={}, accuracy=0.97),
        Scale(CATEGORIES),
    )


def test_a_policy_decides_by_the_always_valid_limits_and_its_verdict_says_so(ratings):
    once, always = (
        assess(ratings, Policy.from_mapping({**MADE, **more}), Contract.none())
        for more in ({}, {"always_valid_at": 300})
    )
    assert always.estimates[0].interval.low < once.estimates[0].interval.low
    (verdict,) = always.decision.verdicts
    assert " (always valid) on " in verdict.reason
    assert "always valid" not in once.decision.verdicts[0].reason
    assert always.decision.manner.startswith(
        "Judged at any time, with always valid limits that are tightest at 300 items (or clusters)"
    )
    shown = next(
        each
        for each in survey(
            ratings, ["krippendorff_alpha"], Inference(n_resamples=20_000, always_valid_at=300)
        )
        if str(each.scope) == "round"
    )
    assert shown.interval == always.estimates[0].interval


def test_a_round_of_too_few_items_for_its_draws_waits_and_says_why(ratings):
    policy = Policy.from_mapping({**MADE, "always_valid_at": 5000})
    (verdict,) = assess(ratings, policy, Contract.none()).decision.verdicts
    assert verdict.kind == "inconclusive"
    assert " (always valid, tightest at 5000) on " in verdict.reason
    assert verdict.reason.endswith("; no limits: too few items or draws")
    assert "more items would" not in verdict.reason


def test_each_rater_has_a_time_of_her_own(ratings):
    again = ratings.to_pandas()[ratings.to_pandas()["occurrence"] > 1]
    once = again[again["rater"] == "ana"]["item"].unique()[:10]
    fewer = Ratings.from_frame(
        ratings.to_pandas().drop(again.index[(again["rater"] == "ana") & again["item"].isin(once)]),
        Scale(CATEGORIES),
    )
    left = fewer.to_pandas()[fewer.to_pandas()["occurrence"] > 1]
    met = left.groupby("rater", observed=True)["item"].nunique()
    found = measure_ratings(
        fewer,
        ["self_agreement"],
        Inference(n_resamples=1000, always_valid_at=300),
        scopes=("round", "rater"),
    )
    information = {
        str(each.scope): each.distribution.first.information / mixture_variance(300, ALPHA)
        for each in found
    }
    assert information == pytest.approx(
        {
            "round": again["item"].nunique(),
            **{f"rater {name}": items for name, items in met.items()},
        }
    )
    assert met["ana"] == met["ben"] - 10
