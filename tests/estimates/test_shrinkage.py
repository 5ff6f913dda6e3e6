"""Single raters drawn towards the pool."""

import numpy as np
import pytest
from scipy import stats

from agreement_pipeline.estimates import shrunken_self_agreement
from agreement_pipeline.intervals import Inference
from agreement_pipeline.measures import MEASURES
from agreement_pipeline.ratings import Scale
from agreement_pipeline.statistics import LabelsByRater, ReplicatedLabels

TWO = Scale(("no", "yes"))


def replicates(agreeing, met):
    """Ratings of items that raters met twice, each item met by one rater only.

    `agreeing` counts a rater's items with the same label twice, `met` counts all of them.
    """
    cells = [
        [2, 0] if i < a else [1, 1] for a, c in zip(agreeing, met, strict=True) for i in range(c)
    ]
    rater = np.repeat(np.arange(len(met)), met)
    names = [chr(ord("a") + r) for r in range(len(met))]
    return ReplicatedLabels(
        cells,
        np.arange(sum(met)),
        rater,
        LabelsByRater(np.zeros((sum(met), len(met)), dtype=int), scale=TWO, raters=names),
    )


def shrunk(agreeing, met, **options):
    return shrunken_self_agreement(replicates(agreeing, met), Inference(**options))


def by_the_formula(agreeing, met):
    s, c = np.array(agreeing, dtype=float), np.array(met, dtype=float)
    total, mu = c.sum(), (s.sum() + 0.5) / (c.sum() + 1)
    q = sum(c[r] * (s[r] / c[r] - mu) ** 2 for r in range(len(c))) / (mu * (1 - mu))
    rho = (q - (len(c) - 1)) / (
        total - sum(c[r] ** 2 for r in range(len(c))) / total - (len(c) - 1)
    )
    m = 1 / rho - 1
    return m, (s + m * mu) / (c + m)


def test_values_are_those_of_the_formula():
    m, expected = by_the_formula([38, 30, 39, 20], [40, 40, 42, 30])
    found = shrunk([38, 30, 39, 20], [40, 40, 42, 30])
    assert 1 < m < 152
    assert [each.value for each in found] == pytest.approx(expected)
    assert f"by {m:.1f} items" in found[0].method


def test_limits_are_quantiles_of_each_raters_beta_distribution():
    agreeing, met = [38, 30, 39, 20], [40, 40, 42, 30]
    m, _ = by_the_formula(agreeing, met)
    mu = (sum(agreeing) + 0.5) / (sum(met) + 1)
    for a, c, found in zip(agreeing, met, shrunk(agreeing, met, n_resamples=100_000), strict=True):
        assert tuple(found.interval) == pytest.approx(
            stats.beta.ppf([0.025, 0.975], a + m * mu, c - a + m * (1 - mu)), abs=0.005
        )


def test_a_rater_with_few_items_is_drawn_further_and_everybody_towards_the_pool():
    few, many, *_ = shrunk([1, 20, 36, 38], [2, 40, 40, 40])
    raw = [
        MEASURES["self_agreement_unbiased"](
            replicates([1, 20, 36, 38], [2, 40, 40, 40]).of(name)
        ).value
        for name in "ab"
    ]
    pool = 95.5 / 123
    assert raw[0] == raw[1] == 0.5
    assert 0.5 < many.value < few.value < pool


def test_raters_who_differ_no_more_than_by_chance_are_nearly_the_pool():
    found = shrunk([9, 9, 9], [10, 10, 10])
    assert all(f"pool of 3 raters, {27.5 / 31:.3f}, by 30.0 items" in each.method for each in found)


def test_unanimous_raters_are_not_certain():
    for each in shrunk([10, 10, 10], [10, 10, 10]):
        assert 0.9 < each.value < 1
        assert each.interval.low < 0.98


def test_raters_are_in_order_and_the_method_says_what_was_done():
    found = shrunk([3, 9], [4, 10])
    assert [str(each.scope) for each in found] == ["rater a", "rater b"]
    assert all(
        each.method.startswith("empirical Bayes: shrunk towards the pool of 2 raters")
        for each in found
    )
    assert (found[0].n_items, found[0].n_raters, found[0].n_ratings, found[0].measure) == (
        4,
        1,
        8,
        "self_agreement_unbiased",
    )
    assert found == shrunk([3, 9], [4, 10])


def test_one_rater_has_no_pool():
    (alone,) = shrunk([3], [4])
    assert (alone.value, alone.undefined) == (
        None,
        "fewer than two raters met an item twice, so there is no pool",
    )
    assert shrunk([], []) == ()


def test_shrunk_values_are_nearer_the_truth():
    rng = np.random.default_rng(3)
    raw, drawn = [], []
    for _ in range(60):
        p = rng.beta(18, 3, size=8)
        agreeing = rng.binomial(12, p)
        raw.append(np.mean((agreeing / 12 - p) ** 2))
        drawn.append(
            np.mean(
                (np.array([each.value for each in shrunk(agreeing, [12] * 8, n_resamples=10)]) - p)
                ** 2
            )
        )
    assert np.mean(drawn) < 0.8 * np.mean(raw)


def test_limits_leave_out_what_is_not_known_of_the_pool_and_hold_the_truth_too_rarely():
    """Twelve raters met ten items each, as the guide to intervals says.

    The guide names 82 %. By chance the share may lie from 78 to 86 %.
    """
    rng, held = np.random.default_rng(4), []
    for number in range(60):
        p = rng.beta(6.8, 1.2, size=12)
        found = shrunk(rng.binomial(10, p), [10] * 12, seed=number, n_resamples=1000)
        held.append(
            np.mean(
                [
                    each.interval.low <= truth <= each.interval.high
                    for each, truth in zip(found, p, strict=True)
                ]
            )
        )
    assert 0.78 <= np.mean(held) <= 0.86
