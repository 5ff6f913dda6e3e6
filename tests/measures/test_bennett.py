import numpy as np

from agreement_pipeline import Scale
from agreement_pipeline.statistics import CategoryCounts
from tests.forms import FORMS


def test_without_weights_it_is_never_less_than_the_value_of_two_categories_never_agreed_on():
    never = CategoryCounts([[1, 1]], [9], scale=Scale(("no", "yes")))
    assert float(FORMS["bennett_s"](never).value) == -1
    assert FORMS["bennett_s"].bounds == FORMS["brennan_prediger"].bounds == (-1, 1)
    assert FORMS["brennan_prediger_quadratic"].bounds == (-np.inf, 1)
    assert (
        float(
            FORMS["brennan_prediger_quadratic"](
                CategoryCounts([[1, 0, 1]], [9], scale=Scale(("a", "b", "c"), "ordinal"))
            ).value
        )
        < -1
    )
