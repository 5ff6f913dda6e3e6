"""Honest rounds are not held, and dishonest ones are: a few of each kind of the study."""

import numpy as np
import pytest

from benchmarks.studies.honest_rounds import DISHONEST, HONEST, held

pytestmark = pytest.mark.slow


def n_held(make, rounds=4):
    return sum(held(make(np.random.default_rng((99, seed)))) for seed in range(rounds))


@pytest.mark.parametrize("make", HONEST, ids=lambda make: make.__name__)
def test_honest_rounds_are_not_held(make):
    assert n_held(make) == 0


@pytest.mark.parametrize("make", DISHONEST, ids=lambda make: make.__name__)
def test_dishonest_rounds_are_held(make):
    assert n_held(make) >= 3
