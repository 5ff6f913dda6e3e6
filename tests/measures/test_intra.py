"""A rater's agreement with herself, as loops over her own labels."""

from itertools import permutations

import numpy as np
import pytest

from agreement_pipeline.engines.memory import replicate_counts
from agreement_pipeline.measures import MEASURES
from agreement_pipeline.patterns import RatingPatterns
from agreement_pipeline.replicates import ReplicateCounts
from agreement_pipeline.scale import Scale

TABLE = """
A B
0/0/1/1/2/0 0
1/1 1/1/1
2/0 .
0 2/1/2
"""
CELLS = (["0", "0", "1", "1", "2", "0"], ["1", "1"], ["2", "0"], ["1", "1", "1"], ["2", "1", "2"])


@pytest.fixture
def replicates(tabled):
    return replicate_counts(tabled(TABLE, ("0", "1", "2")))


def test_self_agreement_is_the_mean_over_cells_of_the_chance_that_two_of_a_raters_labels_drawn_with_return_are_the_same(replicates):
    expected = np.mean([np.mean([a == b for a in cell for b in cell]) for cell in CELLS])
    assert MEASURES["self_agreement"](replicates).value == pytest.approx(expected, abs=1e-12)


def test_the_unbiased_form_draws_without_return(replicates):
    expected = np.mean([np.mean([a == b for a, b in permutations(cell, 2)]) for cell in CELLS])
    assert MEASURES["self_agreement_unbiased"](replicates).value == pytest.approx(expected, abs=1e-12)


def test_one_raters_own_value_rests_on_her_cells_alone(replicates):
    expected = np.mean([np.mean([a == b for a, b in permutations(cell, 2)]) for cell in CELLS[3:]])
    assert MEASURES["self_agreement_unbiased"](replicates.of("B")).value == pytest.approx(expected, abs=1e-12)


def test_the_unbiased_form_is_right_on_average_where_the_plug_in_form_is_too_high():
    # Three labels of shares (0.7, 0.3), whose true self-agreement is 0.58: one item for each number of first labels, weighed by its chance.
    first = RatingPatterns([[0]] * 4, [0.3**3, 3 * 0.7 * 0.3**2, 3 * 0.7**2 * 0.3, 0.7**3], scale=Scale(("no", "yes")), raters=("a",))
    every_draw = ReplicateCounts([[c, 3 - c] for c in range(4)], range(4), [0] * 4, first)
    assert MEASURES["self_agreement_unbiased"](every_draw).value == pytest.approx(0.58, abs=1e-12)
    assert MEASURES["self_agreement"](every_draw).value == pytest.approx(0.58 + 0.42 / 3, abs=1e-12)


def test_items_weigh_as_often_as_they_are_drawn(replicates):
    twice = replicates.reweighted(np.where(np.arange(replicates.weights.shape[-1]) == replicates.item[0], 2.0, 1.0))
    values = [np.mean([a == b for a, b in permutations(cell, 2)]) for cell in CELLS]
    assert MEASURES["self_agreement_unbiased"](twice).value == pytest.approx((values[0] + sum(values)) / 6, abs=1e-12)
