import math

import numpy as np
import pytest

from agreement_pipeline import Scale
from agreement_pipeline.measures.weighting import (
    BIPOLAR,
    CIRCULAR,
    IDENTITY,
    LINEAR,
    ORDINAL,
    QUADRATIC,
    RADICAL,
    RATIO,
    WEIGHTINGS,
)

EVERY = [IDENTITY, *WEIGHTINGS.values()]
UNEVEN = Scale((0.0, 0.5, 3.0, 4.0), "ratio")


@pytest.mark.parametrize(
    ("weighting", "next_to", "ends"),
    [
        (IDENTITY, 0, 0),
        (RADICAL, 0.2928932, 0),
        (LINEAR, 0.5, 0),
        (ORDINAL, 0.6666667, 0),
        (QUADRATIC, 0.75, 0),
        (CIRCULAR, 0, 0),
        (BIPOLAR, 0.6666667, 0),
    ],
)
def test_three_ranked_categories_have_the_weights_that_irrcac_prints(weighting, next_to, ends):
    scale = Scale(("1", "2", "3"), "ordinal")
    printed = [[1, next_to, ends], [next_to, 1, next_to], [ends, next_to, 1]]
    np.testing.assert_allclose(weighting.weight_matrix(scale), printed, atol=5e-8)


@pytest.mark.parametrize(
    ("weighting", "distance"),
    [
        (LINEAR, lambda x, y: abs(x - y)),
        (QUADRATIC, lambda x, y: (x - y) ** 2),
        (RADICAL, lambda x, y: math.sqrt(abs(x - y))),
        (RATIO, lambda x, y: ((x - y) / (x + y)) ** 2 if x + y else 0.0),
        (BIPOLAR, lambda x, y: (x - y) ** 2 / ((x + y - 0) * (2 * 4 - x - y)) if x != y else 0.0),
        (
            ORDINAL,
            lambda x, y: math.comb(
                abs(UNEVEN.categories.index(x) - UNEVEN.categories.index(y)) + 1, 2
            ),
        ),
    ],
)
def test_uneven_scores_are_weighed_by_gwets_formulas(weighting, distance):
    apart = np.array([[distance(x, y) for y in UNEVEN.categories] for x in UNEVEN.categories])
    np.testing.assert_allclose(weighting.weight_matrix(UNEVEN), 1 - apart / apart.max(), atol=1e-12)


@pytest.mark.parametrize("weighting", EVERY)
@pytest.mark.parametrize("k", [2, 3, 7])
def test_weights_are_symmetric_from_0_to_1_and_1_for_a_category_with_itself_only(weighting, k):
    w = weighting.weight_matrix(Scale(tuple(float(x) ** 2 for x in range(k)), "ratio"))
    np.testing.assert_array_equal(w, w.T)
    np.testing.assert_array_equal(np.diag(w), 1.0)
    assert w.min() == 0
    assert (w[~np.eye(k, dtype=bool)] < 1).all()


def test_a_circle_closes_one_place_after_the_last_and_so_takes_places_alone():
    places = Scale(tuple("abcde"), "ordinal")
    apart = np.array([[math.sin(math.pi * (x - y) / 5) ** 2 for y in range(5)] for x in range(5)])
    np.testing.assert_allclose(CIRCULAR.weight_matrix(places), 1 - apart / apart.max(), atol=1e-12)
    assert CIRCULAR.levels == {"ordinal"}


def test_ordinal_weights_read_the_rank_of_a_number_and_not_its_place_in_the_list():
    shuffled = Scale((3.0, 1.0, 20.0), "interval")
    assert ORDINAL.weight_matrix(shuffled)[1, 2] == 0
    assert ORDINAL.weight_matrix(shuffled)[0, 1] == pytest.approx(2 / 3)
