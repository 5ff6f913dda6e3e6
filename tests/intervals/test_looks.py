"""A plan of looks: published boundaries, and rounds that are judged at planned sizes alone."""

import math

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from agreement_pipeline import Policy, Ratings, Scale
from agreement_pipeline.errors import PolicyError
from agreement_pipeline.estimates import estimate, measure_ratings, survey
from agreement_pipeline.intervals import (
    Inference,
    Looks,
    critical_value,
    mixture_variance,
    tail_with_second_look,
)
from agreement_pipeline.intervals.distributions import TOO_FEW_ITEMS, Student
from agreement_pipeline.intervals.looks import build_at_look, limits_in_standard_errors
from agreement_pipeline.policy import judge
from agreement_pipeline.statistics import CategoryCounts, Clusters

TWO = Scale(("no", "yes"))
TAIL = 0.025


def crossed(z, times):
    """The probability to cross z by each look, by Genz's integration of the joint density."""
    times = np.asarray(times)
    together = np.sqrt(np.minimum.outer(times, times) / np.maximum.outer(times, times))
    exact = {"abseps": 1e-7, "releps": 1e-7, "maxpts": 2_000_000}
    return [
        1 - stats.multivariate_normal.cdf(z[:k], np.zeros(k), together[:k, :k], **exact)
        for k in range(1, len(times) + 1)
    ]


POCOCK = {2: 2.178, 4: 2.361}
OBRIEN_FLEMING = {2: 1.977, 4: 2.024}
"""Jennison and Turnbull (2000), Group Sequential Methods, tables 2.1 and 2.3, at 0.05 two-sided."""


@pytest.mark.parametrize("n_looks", [2, 4])
@pytest.mark.parametrize("table", [POCOCK, OBRIEN_FLEMING], ids=["pocock", "obrien_fleming"])
def test_the_constants_of_the_textbook_come_out_of_what_they_spend(n_looks, table):
    times = [(k + 1) / n_looks for k in range(n_looks)]
    falls = table is OBRIEN_FLEMING
    z = [table[n_looks] / (math.sqrt(time) if falls else 1) for time in times]
    spent = crossed(z, times)
    assert spent[-1] == pytest.approx(TAIL, abs=3e-5)
    assert limits_in_standard_errors(spent, times) == pytest.approx(z, abs=2e-3)


@pytest.mark.parametrize(
    ("spending", "z"),
    [
        ("obrien_fleming", [3.710303, 2.511427, 1.993048]),
        ("pocock", [2.279, 2.295, 2.296]),
    ],
)
def test_three_looks_are_those_of_gsdesign(spending, z):
    """`gsDesign(k = 3, test.type = 1, alpha = 0.025, sfu = sfLDOF)`, or `sfLDPocock`."""
    tails = Looks((200, 400, 600), spending).tails(TAIL)
    assert stats.norm.isf(tails) == pytest.approx(z, abs=6e-4 if spending == "pocock" else 2e-5)


@pytest.mark.parametrize("spending", ["obrien_fleming", "pocock"])
def test_a_path_ever_leaves_at_a_look_as_often_as_was_promised(spending):
    rng, sizes, paths = np.random.default_rng(0), np.array([300, 600, 700, 1000]), 400_000
    steps = rng.standard_normal((paths, 4)) * np.sqrt(np.diff(sizes, prepend=0))
    z = steps.cumsum(1) / np.sqrt(sizes)
    limits = stats.norm.isf(Looks(tuple(sizes.tolist()), spending).tails(TAIL))
    ever = (z > limits).any(1).mean()
    assert ever == pytest.approx(TAIL, abs=4 * math.sqrt(TAIL / paths))
    assert (z > stats.norm.isf(TAIL)).any(1).mean() > 0.045


def test_a_second_look_that_the_first_chooses_takes_the_risk_where_the_formula_says():
    """It is so far that the limit would reach the cut-off, were the distance to it kept.

    A round whose value lies under the cut-off goes on for a million times as many items.
    """
    rng, rounds, z = np.random.default_rng(0), 1_000_000, stats.norm.isf(TAIL)
    first, more = rng.standard_normal((2, rounds))
    times = np.where(first > z / 1000, (z / np.maximum(first, z / 1000)) ** 2, 1e6)
    again = (first + np.sqrt(np.maximum(times - 1, 0)) * more) / np.sqrt(times)
    admitted = ((first >= z) | (again >= z)).mean()
    assert tail_with_second_look(TAIL) == pytest.approx(admitted, abs=4 * math.sqrt(0.06 / rounds))


@pytest.mark.parametrize("spending", ["obrien_fleming", "pocock"])
@pytest.mark.parametrize("n", [300, 600, 1000])
def test_the_p_value_is_the_tail_at_which_the_limit_lies_at_the_cutoff(spending, n):
    once = Student(0.85, 0.02, 400, (-1.0, 1.0))
    known = build_at_look(once, Looks((300, 600, 1000), spending), n, (-1.0, 1.0))
    for tail in (0.01, TAIL, 0.1):
        low, high = known.limits(tail)
        assert known.confidence_under(low) == pytest.approx(tail, rel=1e-6)
        assert known.confidence_over(high) == pytest.approx(tail, rel=1e-6)
        assert low < once.limits(tail).low
    assert known.confidence_under(0.84) <= 0.5 <= known.confidence_under(0.86)
    assert (known.confidence_under(-1.0), known.confidence_over(1.1)) == (0.0, 0.0)
    assert known.confidence_under(-0.9) < 1e-3 < known.confidence_under(0.8)


def test_a_plan_gives_narrower_limits_than_looks_at_any_time():
    always = critical_value(1000 * mixture_variance(500, 2 * TAIL), 2 * TAIL)
    for spending in ("obrien_fleming", "pocock"):
        assert max(stats.norm.isf(Looks((300, 600, 1000), spending).tails(TAIL))[1:]) < always
    assert stats.norm.isf(Looks((500, 1000)).tails(TAIL)[-1]) < 1.97


COUNTS = CategoryCounts([[3, 0], [2, 1], [1, 2], [0, 3]], [220, 30, 20, 230], scale=TWO)


def test_the_limits_at_a_look_are_those_of_one_round_at_its_tail():
    looks = Looks((500, 1000))
    found = estimate("krippendorff_alpha", COUNTS, Inference(looks=looks))
    once = estimate("krippendorff_alpha", COUNTS)
    assert found.interval == once.distribution.limits(looks.tails(TAIL)[0])
    assert found.method.endswith("for looks at 500 and 1000 (obrien_fleming) items; these raters")


@pytest.mark.parametrize(
    ("at", "words"),
    [
        ((400, 800), "no look is planned at 500, and the next look is at 800"),
        ((600, 800), "no look is planned at 500, and the next look is at 600"),
        ((300, 400), "no look is planned at 500, and the plan has ended"),
    ],
)
def test_at_any_other_size_only_the_bounds_are_known(at, words):
    found = estimate("krippendorff_alpha", COUNTS, Inference(looks=Looks(at, "pocock")))
    assert tuple(found.interval) == (-1.0, 1.0)
    assert found.without_limits == words
    assert found.p_value(0.8) == 1.0


def test_clusters_are_counted_where_items_come_in_them():
    rows = CategoryCounts([[2, 0], [1, 1], [0, 2], [2, 0]] * 3, scale=TWO)
    planned = Inference(looks=Looks((6, 12), "pocock"))
    three = rows.with_clusters(Clusters.from_names([0, 0, 1, 1, 2, 2] * 2))
    found = estimate("krippendorff_alpha", three, planned)
    assert found.without_limits == "no look is planned at 3, and the next look is at 6"
    six = rows.with_clusters(Clusters.from_names([0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5]))
    assert estimate("krippendorff_alpha", six, planned).without_limits is None


def a_few_wrong(n, wrong):
    """Three raters, half of the items of each category; c differs on the first few items."""
    rows = [
        (f"i{item:03}", rater, ("no", "yes")[(item + (rater == "c" and item < wrong)) % 2])
        for item in range(n)
        for rater in "abc"
    ]
    return pd.DataFrame(rows, columns=["item", "rater", "label"])


def ratings(n, wrong):
    return Ratings.from_frame(a_few_wrong(n, wrong), TWO)


POLICY = {
    "policy": "p",
    "version": 1,
    "looks": {"at": [60, 120], "spending": "pocock"},
    "rules": [{"measure": "krippendorff_alpha"}],
}


@pytest.mark.parametrize(
    ("n", "wrong", "kind", "words"),
    [
        (60, 1, "reliable", "(for all looks of the plan)"),
        (60, 6, "tentative", "the next look is at 120 items"),
        (90, 1, "inconclusive", "no limits: no look is planned at 90, and the next look is at 120"),
        (
            120,
            14,
            "tentative",
            "this was the last look of the plan, so only a fresh round can decide",
        ),
        (121, 1, "inconclusive", "no look is planned at 121, and the plan has ended"),
    ],
)
def test_the_gate_judges_at_the_looks_alone(n, wrong, kind, words):
    decision = judge(ratings(n, wrong), Policy.from_mapping(POLICY))
    (verdict,) = decision.verdicts
    assert (verdict.kind, decision.admitted) == (kind, kind == "reliable")
    assert words in verdict.reason
    assert decision.manner == (
        "Judged at 60 and 120 (pocock) items (or clusters), and at no other size. "
        "Each verdict by itself has 95 % confidence."
    )
    assert decision.recorded_manner == (
        "judged as planned, at 60 and 120 (pocock) items (or clusters); "
        "each verdict holds by itself"
    )


def test_a_part_of_a_round_is_at_the_look_of_the_round():
    """Ana leaves half of the items out, and the round is at its look all the same."""
    frame = a_few_wrong(60, 3)
    some = frame[(frame["rater"] != "a") | (frame["item"] < "i030")]
    table = Ratings.from_frame(some, TWO)
    inference = Policy.from_mapping(POLICY).inference
    found = list(measure_ratings(table, ["cohen_kappa"], inference, scopes=("pair",)))
    assert {each.n_used for each in found} == {30, 60}
    assert [each.without_limits for each in found] == [None] * 3
    shown = survey(table, ["cohen_kappa"], inference, scopes=("pair",))
    assert [each.looks for each in shown] == [None] * 3


@pytest.mark.parametrize(
    ("looks", "words"),
    [
        ({"at": [300]}, r"looks.at: found \[300\]; expected from 2 to 20 whole numbers"),
        ({"at": [300, 200]}, r"at: found \[300, 200\]; expected .*each larger than the last"),
        ({"at": [300, 600.0]}, r"at: found \[300, 600.0\]; expected"),
        (
            {"at": [300, 301]},
            r"at: found looks at \[300, 301\]; expected each size larger than the",
        ),
        ({"at": "300"}, "at: found '300'; expected"),
        ({"spending": "pocock"}, "at: found nothing; expected a value"),
        (
            {"at": [300, 600], "spending": "of"},
            "spending: found 'of'; expected one of obrien_fleming, pocock",
        ),
        ({"at": [300, 600], "spend": "pocock"}, "spend: found an unknown key; .*Did you mean"),
        (300, "looks: found 300; expected a mapping of keys and values"),
    ],
)
def test_a_plan_with_a_mistake_is_refused_in_words(looks, words):
    with pytest.raises(PolicyError, match=words.replace("looks.at", "at")):
        Policy.from_mapping({**POLICY, "looks": looks})


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        (
            {"always_valid_at": 300, "n_resamples": 20_000},
            "looks: found .*; expected none beside always_valid_at, whose limits hold at every",
        ),
        (
            {"interval_method": "two_way_jackknife_log"},
            "looks: found .*; expected none with two_way_jackknife_log, since a round gains items",
        ),
        (
            {"looks": {"at": [500, 1000]}, "n_resamples": 6_000},
            "n_resamples: found 6000 with confidence_level 0.95, looks; expected 6556 or more, "
            ".* Raise n_resamples, look later first, or spend as pocock",
        ),
    ],
)
def test_a_plan_that_cannot_be_kept_is_refused(changes, words):
    with pytest.raises(PolicyError, match=words):
        Policy.from_mapping({**POLICY, **changes})


def test_an_early_look_that_spends_nearly_nothing_asks_for_no_resamples_and_decides_nothing():
    """Looks at 150, 300 and 600 spend 0.0000074, 0.0015 and 0.024 at most."""
    policy = Policy.from_mapping({**POLICY, "looks": {"at": [150, 300, 600]}})
    assert policy.inference.min_resamples() == 6568
    agreed = CategoryCounts([[3, 0], [0, 3]], [75, 75], scale=TWO)
    first, second = (
        estimate("krippendorff_alpha", agreed.with_weights(agreed.weights * n), policy.inference)
        for n in (1, 2)
    )
    assert first.interval == (-1.0, 1.0)
    assert first.without_limits == TOO_FEW_ITEMS
    assert second.interval.low > 0.8


def test_a_plan_comes_back_from_its_mapping():
    policy = Policy.from_mapping(POLICY)
    assert policy.looks == Looks((60, 120), "pocock")
    assert Policy.from_mapping(policy.to_mapping()) == policy
    other = Policy.from_mapping({**POLICY, "looks": {"at": [60, 180], "spending": "pocock"}})
    assert other.digest != policy.digest
