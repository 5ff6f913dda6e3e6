"""The populations by which plans are tried: their true α, by hand."""

from pathlib import Path

import numpy as np
import pytest

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"


@pytest.fixture
def sizes(monkeypatch):
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    import planned_sizes

    return planned_sizes


def test_camps_of_one_mind_read_as_many_items_in_two_ways_as_the_expected_alpha_says(sizes):
    """Of the six pairs of four raters, four differ on such an item, and chance differs in half."""
    population = sizes.as_expected(sizes.of_one_mind)
    assert population.share[-1] == pytest.approx((1 - 0.85) * (1 / 2) / (4 / 6))


def test_every_population_has_the_expected_alpha(sizes):
    for population in (
        sizes.as_assumed(),
        sizes.careless(),
        sizes.as_expected(sizes.camps),
        sizes.as_expected(sizes.of_one_mind),
    ):
        codes, likely = population.ways
        share = np.array([likely @ (codes == k).mean(1) for k in (0, 1)])
        differing = likely @ (2 * (codes == 0).sum(1) * (codes == 1).sum(1) / 12)
        assert 1 - differing / (2 * share.prod()) == pytest.approx(0.85), population.name


def test_rounds_that_decide_are_counted_with_their_number(sizes):
    assert sizes.deciding(sizes.as_assumed(), 5_000, rounds=20) == 20
    assert sizes.deciding(sizes.as_assumed(), 20, rounds=20) < 20
