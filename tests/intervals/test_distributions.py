"""Limits and q of every method are two readings of one distribution.

The lower limit reaches a cut-off exactly where q is at most the tail.
"""

import math
from itertools import product

import numpy as np
import pytest
from scipy import stats

from agreement_pipeline.estimates import estimate
from agreement_pipeline.evidence.tables import estimate_note
from agreement_pipeline.intervals import (
    METHODS,
    BoundsOnly,
    ExpandedPercentiles,
    Inference,
    Percentiles,
    build_expanded_percentiles,
)
from agreement_pipeline.intervals.distributions import CorrectedPercentiles, Exact, Student, WiderOf
from agreement_pipeline.policy import Rule
from agreement_pipeline.ratings import Scale
from agreement_pipeline.statistics import LabelsByRater

pytestmark = pytest.mark.slow

TWO = Scale(("no", "yes"))
LEVELS = (0.8, 0.9, 0.95, 0.99)
CUTOFFS = (-1.0, 0.0, 0.5, 0.667, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95, 1.0)
TIE, ROUNDING = 1e-7, 1e-15
AT_LARGE = [name for name, method in METHODS.items() if method.population == "raters at large"]
EVERY = [(name, at) for name in METHODS for at in (None, 200) if at is None or name not in AT_LARGE]


def patterns(seed):
    """A small or large round of 2 to 5 raters.

    Some rounds have missing ratings. In some rounds all raters agree.
    """
    rng = np.random.default_rng(seed)
    n, raters, clear = (
        int(rng.choice([6, 15, 60, 400])),
        int(rng.integers(2, 6)),
        float(rng.choice([0.5, 0.8, 0.9, 1.0])),
    )
    codes = np.where(
        rng.random((n, 1)) < clear, rng.integers(2, size=(n, 1)), rng.integers(2, size=(n, raters))
    )
    codes = np.where(rng.random(codes.shape) < rng.choice([0.0, 0.2]), -1, codes)
    return LabelsByRater(codes, scale=TWO, raters=[str(rater) for rater in range(raters)])


@pytest.mark.parametrize(("name", "at"), EVERY)
def test_the_lower_limit_reaches_a_cutoff_where_q_is_at_most_the_tail_and_the_upper_one_likewise(
    name, at
):
    compared = 0
    for seed in range(12):
        measure = ("krippendorff_alpha", "gwet_ac1", "percent_agreement")[seed % 3]
        found = estimate(
            measure,
            patterns(seed),
            Inference(n_resamples=1000, method=name, always_valid_at=at, seed=seed),
        )
        if found.value is None:
            continue
        assert found.interval == found.distribution.limits((1 - found.confidence_level) / 2)
        at_levels = [
            (level, (1 - level) / 2, found.distribution.limits((1 - level) / 2)) for level in LEVELS
        ]
        at_cutoffs = [
            (
                cutoff,
                found.distribution.confidence_under(cutoff),
                found.distribution.confidence_over(cutoff),
            )
            for cutoff in (*CUTOFFS, found.value)
        ]
        assert all(0 <= q <= 1 and 0 <= p <= 1 for _, q, p in at_cutoffs)
        for (level, tail, (low, high)), (cutoff, q, p) in product(at_levels, at_cutoffs):
            if abs(q - tail) > TIE:
                assert (low >= cutoff) == (q < tail), (seed, measure, level, cutoff, q, low)
                compared += 1
            if abs(p - tail) > TIE and abs(high - cutoff) > ROUNDING:
                assert (high < cutoff) == (p < tail), (seed, measure, level, cutoff, p, high)
    assert compared > 250


@pytest.mark.parametrize(("name", "at"), EVERY)
def test_q_never_falls_as_the_cutoff_rises(name, at):
    for seed in range(6):
        found = estimate(
            "krippendorff_alpha",
            patterns(seed),
            Inference(n_resamples=500, method=name, always_valid_at=at),
        )
        if found.value is not None:
            q = [found.p_value(cutoff) for cutoff in np.linspace(-1, 1, 41)]
            assert (np.diff(q) >= -1e-12).all()


def test_where_nothing_is_known_q_is_1():
    two = LabelsByRater([[0, 0], [0, 1], [1, 1]], [50, 1, 50], scale=TWO, raters="ab")
    found = estimate("krippendorff_alpha", two, Inference(method="two_way_jackknife_log"))
    assert tuple(found.interval) == (-1.0, 1.0)
    assert [found.p_value(cutoff) for cutoff in (0.667, 0.8, 1.0)] == [1.0, 1.0, 1.0]
    assert (found.distribution, found.without_limits) == (
        BoundsOnly((-1.0, 1.0), "too few raters"),
        "too few raters",
    )


def test_a_draw_without_a_value_is_a_miss_on_either_side():
    holed = Percentiles(np.array([0.7, 0.85, 0.9, np.nan]), 0.86, (-1.0, 1.0))
    assert (holed.confidence_under(0.8), holed.confidence_over(0.8)) == (0.5, 0.75)
    assert (holed.confidence_under(-1.0), holed.confidence_over(1.0)) == (0.0, 0.25)


def test_a_cutoff_above_the_value_has_a_q_of_a_half_at_the_least():
    lopsided = Percentiles(np.array([0.81, 0.82, 0.83, 0.84]), 0.78, (-1.0, 1.0))
    assert (
        lopsided.limits(0.25).low,
        lopsided.confidence_under(0.8),
        lopsided.confidence_under(0.77),
    ) == (
        0.78,
        0.5,
        0.0,
    )


@pytest.mark.parametrize("n", [5, 12, 30, 300])
def test_of_normal_draws_that_vary_as_dirichlet_means_do_the_limits_are_students(n):
    x = np.random.default_rng(n).gamma(2.0, size=n)
    draws = stats.norm.ppf(
        (np.arange(400_000) + 0.5) / 400_000, x.mean(), x.std() / math.sqrt(n + 1)
    )
    known = ExpandedPercentiles(draws, x.mean(), (-math.inf, math.inf), n)
    for level in (0.8, 0.9, 0.95):
        exact = stats.ttest_1samp(x, 0).confidence_interval(level)
        assert tuple(known.limits((1 - level) / 2)) == pytest.approx(
            (exact.low, exact.high), rel=1e-3
        )
    for cutoff in x.mean() + np.array([-2.0, -0.7, 0.4]) * x.std(ddof=1) / math.sqrt(n):
        p = stats.ttest_1samp(x, cutoff, alternative="greater").pvalue
        assert (known.confidence_under(cutoff), known.confidence_over(cutoff)) == pytest.approx(
            (max(p, 0.5 * (cutoff > x.mean())), max(1 - p, 0.5 * (cutoff <= x.mean()))), rel=2e-3
        )


def test_further_out_than_any_draw_lies_the_limits_are_the_bounds():
    draws = np.linspace(0.5, 0.9, 1000)
    few, more = (ExpandedPercentiles(draws, 0.8, (-1.0, 1.0), n) for n in (4, 12))
    assert (
        tuple(few.limits(0.025)),
        few.confidence_under(0.3),
        few.confidence_under(-1.0),
        few.confidence_over(1.5),
    ) == (
        (-1.0, 1.0),
        few.confidence_under(0.5),
        0.0,
        0.0,
    )
    assert few.confidence_under(0.3) > 0.025 > more.confidence_under(0.3) > 0
    assert 0.5 < more.limits(0.025).low < 0.51
    assert (more.finest_tail, few.finest_tail) == (0.01, few.confidence_under(0.3))


def test_an_estimate_says_that_its_items_are_too_few_for_limits():
    few, more = (
        estimate(
            "percent_agreement",
            LabelsByRater([[0, 0]], [n], scale=TWO, raters="ab"),
            Inference(n_resamples=1000),
        )
        for n in (4, 12)
    )
    assert "too few items or draws for limits at 95 %" in few.method
    assert "too few" not in more.method
    assert (tuple(few.interval), more.interval.low > 0) == ((0.0, 1.0), True)
    assert (few.without_limits, more.without_limits, estimate_note(more)) == (
        "too few items or draws",
        None,
        "",
    )
    assert estimate_note(few) == "no limits: too few items or draws"
    (verdict,) = Rule("percent_agreement", effect="warn").judge([few])
    assert verdict.reason.endswith("; no limits: too few items or draws")


def test_one_item_tells_nothing():
    assert build_expanded_percentiles(
        np.linspace(0.5, 0.9, 1000), 0.8, (0.0, 1.0), 1.4
    ) == BoundsOnly((0.0, 1.0), "too few items or draws")


def test_efrons_correction_is_undone_where_it_passes_its_pole():
    for acceleration in (-0.5, 0.5):
        known = CorrectedPercentiles(
            np.linspace(0.5, 0.99, 200), 0.8, (-1.0, 1.0), 0.2, acceleration
        )
        for tail in (1e-4, 0.01, 0.05, 0.1):
            for cutoff in np.linspace(0.45, 0.8, 60):
                if abs(known.confidence_under(cutoff) - tail) > TIE:
                    assert (known.limits(tail).low >= cutoff) == (
                        known.confidence_under(cutoff) < tail
                    )


def test_on_a_scale_without_a_greatest_value_or_at_it_the_logarithm_is_not_taken():
    plain = Student(0.7, 0.1, 5, (-1.0, math.inf))
    assert Student(0.7, 0.1, 5, (-1.0, math.inf), log=True).limits(0.025) == plain.limits(0.025)
    assert plain.confidence_under(0.6) == pytest.approx(stats.t.sf(1, 5))
    assert Student(1.0, 0.1, 5, (-1.0, 1.0), log=True).confidence_under(0.9) == pytest.approx(
        stats.t.sf(1, 5)
    )


def test_an_undefined_value_with_unlike_items_counts_as_the_bounds():
    known = Exact(0.9, lambda tail: np.array([np.nan, 0.9]), (-1.0, 1.0))
    assert tuple(known.limits(0.025)) == (-1.0, 1.0)
    assert (known.confidence_under(0.8), known.confidence_over(0.95)) == (1.0, 1.0)


def test_limits_are_absent_if_either_of_two_distributions_has_too_little():
    known, unknown = Student(0.9, 0.02, 10, (-1.0, 1.0)), BoundsOnly((-1.0, 1.0), "one item")
    for both in (WiderOf(known, unknown), WiderOf(unknown, known)):
        assert both.missing_limits_reason(0.025) == "one item"
        assert tuple(both.limits(0.025)) == (-1.0, 1.0)
    assert WiderOf(known, known).missing_limits_reason(0.025) is None
