"""Alpha with a distance that the user brings is alpha at a level that has this distance.

Beside it stand two statistics of the distances themselves. They are held against a list of all
pairs, SciPy and NumPy.
"""

import numpy as np
import pytest

from agreement_pipeline import Scale
from agreement_pipeline.errors import RatingsError
from agreement_pipeline.measures import MEASURES, alpha_with_distance
from agreement_pipeline.statistics import CategoryCounts

COUNTS = np.random.default_rng(4).integers(0, 3, size=(20, 3))


def test_squared_differences_give_the_interval_alpha():
    counts = CategoryCounts(COUNTS, scale=Scale((1.0, 2.0, 5.0), "interval"))
    distances = np.subtract.outer([1, 2, 5], [1, 2, 5]) ** 2
    weights = np.random.default_rng(5).integers(0, 3, size=(4, 20)).astype(float)
    found = alpha_with_distance(counts.with_weights(weights), distances).value
    alpha = MEASURES["krippendorff_alpha"](counts.with_weights(weights)).value
    np.testing.assert_allclose(found, alpha)


@pytest.mark.parametrize(
    "distance",
    [
        np.eye(3),
        np.zeros((2, 2)),
        [[0, 1, 1], [2, 0, 1], [1, 1, 0]],
        [[0, -1, 1], [-1, 0, 1], [1, 1, 0]],
        [[0, np.nan, 1], [np.nan, 0, 1], [1, 1, 0]],
    ],
)
def test_what_is_no_distance_is_refused(distance):
    counts = CategoryCounts(COUNTS, scale=Scale(tuple("abc")))
    with pytest.raises(RatingsError, match="expected a matrix of 3 by 3 finite numbers"):
        alpha_with_distance(counts, distance)
