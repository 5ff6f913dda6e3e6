"""How much values differ beyond their standard errors: a slow loop, and values that do not."""

import numpy as np
import pytest

from agreement_pipeline.estimates.control import variance_between_rounds


def test_the_spread_is_what_a_slow_loop_finds():
    values, errors = [0.9, 0.8, 0.6, 0.85], [0.02, 0.03, 0.1, 0.05]
    weights = [1 / e**2 for e in errors]
    plain = sum(w * x for w, x in zip(weights, values, strict=True)) / sum(weights)
    q = sum(w * (x - plain) ** 2 for w, x in zip(weights, values, strict=True))
    expected = (q - 3) / (sum(weights) - sum(w**2 for w in weights) / sum(weights))
    found = variance_between_rounds(np.array(values), np.array(errors) ** 2)
    assert found == pytest.approx(expected)
    assert found > 0


def test_values_that_differ_by_chance_alone_have_no_spread():
    assert variance_between_rounds(np.array([0.8, 0.8, 0.8]), np.full(3, 0.05**2)) == 0
