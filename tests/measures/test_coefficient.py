import numpy as np
import pytest

from agreement_pipeline.measures.coefficient import sum_last_axis


@pytest.mark.parametrize("columns", [*range(12), 40])
def test_sums_over_the_last_axis_are_those_of_numpy_to_the_last_bit(columns):
    """Of one row, of several, and of a part of the columns of a larger table."""
    values = np.random.default_rng(columns).lognormal(sigma=9, size=(30, 2, columns + 1))
    for rows in (values[0, 0, :columns], values[:, 0, :columns], values[..., :columns].copy()):
        assert sum_last_axis(rows).tobytes() == np.asarray(rows.sum(-1)).tobytes()
