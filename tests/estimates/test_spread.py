"""Values drawn towards the others: a slow loop, and whom ten labels condemn."""

import numpy as np
import pytest

from agreement_pipeline.estimates import Estimate, Scope, drawn_together
from agreement_pipeline.estimates.shrinkage import spread_between
from agreement_pipeline.intervals import Interval

Z = 1.959963984540054


def found(name, value, error, n_items=100):
    limits = Interval(value - Z * error, value + Z * error)
    return Estimate("m", Scope("rater", name), value, limits, 0.95, "m", n_items, 1, n_items)


def test_each_value_is_what_a_slow_loop_finds():
    values, errors = [0.9, 0.8, 0.6, 0.85], [0.02, 0.03, 0.1, 0.05]
    weights = [1 / e**2 for e in errors]
    plain = sum(w * x for w, x in zip(weights, values, strict=True)) / sum(weights)
    q = sum(w * (x - plain) ** 2 for w, x in zip(weights, values, strict=True))
    tau2 = (q - 3) / (sum(weights) - sum(w**2 for w in weights) / sum(weights))
    weights = [1 / (e**2 + tau2) for e in errors]
    mean = sum(w * x for w, x in zip(weights, values, strict=True)) / sum(weights)
    drawn = drawn_together(map(found, "abcd", values, errors))
    for each, x, e in zip(drawn, values, errors, strict=True):
        precisions = (1 / e**2, 1 / tau2)
        expected = (x * precisions[0] + mean * precisions[1]) / sum(precisions)
        assert each.value == pytest.approx(expected, abs=1e-9)
        assert each.mean == pytest.approx(mean, abs=1e-9)


def test_raters_who_differ_by_chance_alone_are_all_the_mean():
    drawn = drawn_together(found(name, 0.8, 0.05) for name in "abc")
    assert [each.value for each in drawn] == pytest.approx([0.8] * 3)
    assert spread_between(np.array([0.8, 0.81]), np.array([0.01, 0.01])) == 0


def test_few_items_never_condemn_anyone():
    good = [found(f"r{n}", 0.85 + 0.01 * n, 0.02) for n in range(5)]
    (*_, few) = drawn_together([*good, found("new", 0.1, 0.2, n_items=10)])
    assert few.reads == "too few to tell"
    assert few.value > 0.7
    (*_, many) = drawn_together([*good, found("known", 0.3, 0.02, n_items=300)])
    assert many.reads == "lower"
    assert many.value == pytest.approx(0.3, abs=0.02)


def test_what_has_no_limits_is_left_out():
    undefined = Estimate(
        "m", Scope("rater", "x"), None, None, 0.95, "m", 0, 0, 0, undefined="nothing"
    )
    certain = Estimate("m", Scope("rater", "y"), 1.0, Interval(1.0, 1.0), 0.95, "m", 9, 1, 9)
    assert drawn_together([undefined, certain, found("a", 0.8, 0.1)]) == ()


def test_the_lowest_of_many_are_drawn_towards_all_of_them():
    """Of 40 raters around 0.8, ten stand low beyond their errors, and the pool shows it."""
    everybody = [found(f"r{n:02}", 0.6 + 0.01 * n, 0.01) for n in range(40)]
    lowest = everybody[:10]
    drawn = drawn_together(lowest, everybody)
    assert [each.estimate for each in drawn] == lowest
    assert {each.mean for each in drawn} == {drawn_together(everybody)[0].mean}
    assert {each.reads for each in drawn} == {"lower"}
    assert "higher" in {each.reads for each in drawn_together(lowest)}
