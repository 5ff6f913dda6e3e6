"""Sums of parts, checked against `math.fsum`."""

import math

import numpy as np
import pytest

from agreement_pipeline.ratings.consensus import exact_sums

RNG = np.random.default_rng(3)
SIZES = RNG.integers(1, 9, 500)
N = int(SIZES.sum())


@pytest.mark.parametrize(
    "values",
    [
        RNG.normal(size=N),
        RNG.integers(0, 100, N) / 10,
        RNG.normal(size=N) * 10.0 ** RNG.integers(-30, 30, N),
        RNG.choice([1e150, -1e150, 1.0, -0.0, 1e-300], N),
    ],
    ids=["normal", "tenths", "of all sizes", "at the ends"],
)
def test_sums_of_parts_are_those_of_fsum(values):
    starts = np.cumsum(SIZES) - SIZES
    expected = [math.fsum(part) for part in np.split(values, starts[1:])]
    assert exact_sums(values, starts).tolist() == expected


def test_no_parts_have_no_sums():
    assert exact_sums(np.empty(0), np.empty(0, dtype=int)).tolist() == []
