"""The control chart: a slow loop, its false alarms, and what it sees."""

import math

import numpy as np
import pytest
from scipy import stats

from agreement_pipeline.errors import AgreementError
from agreement_pipeline.estimates import MIN_EARLIER_ROUNDS, RoundReading, build_control_chart


def readings(values, errors):
    return [
        RoundReading(f"w{n}", value, error)
        for n, (value, error) in enumerate(zip(values, errors, strict=True))
    ]


def slow(before, error):
    """The limits as the page of the module says them, one step after the other."""
    weights = [1 / each.error**2 for each in before]
    mean = sum(w * each.value for w, each in zip(weights, before, strict=True)) / sum(weights)
    q = sum(w * (each.value - mean) ** 2 for w, each in zip(weights, before, strict=True))
    left = sum(weights) - sum(w**2 for w in weights) / sum(weights)
    tau2 = max(0.0, (q - (len(before) - 1)) / left)
    weights = [1 / (each.error**2 + tau2) for each in before]
    centre = sum(w * each.value for w, each in zip(weights, before, strict=True)) / sum(weights)
    t = stats.t.ppf(1 - 0.00135, len(before) - 1)
    reach = t * math.sqrt(error**2 + tau2 + 1 / sum(weights))
    return centre, centre - reach, centre + reach


def test_limits_are_those_of_a_slow_loop():
    values = [0.80, 0.84, 0.78, 0.86, 0.81, 0.83, 0.82, 0.45]
    rounds = readings(values, [0.02, 0.01, 0.03, 0.02, 0.02, 0.01, 0.02, 0.04])
    for place, each in enumerate(build_control_chart(rounds)):
        if place < MIN_EARLIER_ROUNDS:
            assert each.limits is None
        else:
            found = (each.centre, *each.limits)
            assert found == pytest.approx(slow(rounds[:place], rounds[place].error), abs=1e-9)
    assert [each.is_out_of_limits for each in build_control_chart(rounds)] == [False] * 7 + [True]


@pytest.mark.parametrize("between", [0.0, 0.04, 0.08])
def test_rounds_of_one_process_seldom_fall_out_whatever_their_sizes(between):
    """Of 23 rounds after the first seven, in 200 processes; between rounds may differ."""
    random = np.random.default_rng(4)
    out = 0
    for _ in range(200):
        errors = random.uniform(0.01, 0.04, 30)
        values = random.normal(0.8, np.hypot(errors, between))
        out += sum(
            each.is_out_of_limits
            for each in build_control_chart(readings(values, errors))[MIN_EARLIER_ROUNDS:]
        )
    assert out / (200 * 23) < 0.01


def test_no_limit_lies_beyond_what_the_measure_can_reach():
    rounds = readings([0.9, 0.99] * 5, [0.05] * 10)
    free, bounded = (
        build_control_chart(rounds)[-1],
        build_control_chart(rounds, bounds=(-1.0, 1.0))[-1],
    )
    assert free.limits.high > 1
    assert bounded.limits == (free.limits.low, 1.0)


def test_under_eight_rounds_nobody_can_tell():
    few = build_control_chart(readings([0.8] * 6 + [0.1], [0.02] * 7))
    assert [each.limits for each in few] == [None] * 7


def test_a_small_round_may_lie_farther_out_than_a_large_one():
    usual = readings([0.80, 0.81] * 5, [0.01] * 10)
    small, large = (
        build_control_chart([*usual, RoundReading("w", 0.7, error)])[-1] for error in (0.05, 0.01)
    )
    assert (small.is_out_of_limits, large.is_out_of_limits, large.is_below_limits) == (
        False,
        True,
        True,
    )


def test_a_round_that_fell_out_is_not_part_of_what_is_expected():
    usual = readings([0.80, 0.81] * 4, [0.01] * 8)
    with_bad = build_control_chart(
        [*usual, RoundReading("bad", 0.4, 0.01), RoundReading("next", 0.8, 0.01)]
    )[-1]
    assert (with_bad.centre, with_bad.limits) == (
        build_control_chart([*usual, RoundReading("next", 0.8, 0.01)])[-1].centre,
        build_control_chart([*usual, RoundReading("next", 0.8, 0.01)])[-1].limits,
    )


@pytest.mark.parametrize(("value", "error"), [(math.nan, 0.1), (0.8, 0.0), (0.8, math.inf)])
def test_a_reading_has_a_value_and_a_standard_error(value, error):
    with pytest.raises(AgreementError, match="expected a finite value with a standard error"):
        RoundReading("w1", value, error)
