"""Without variation on items with two ratings, agreement cannot be told from habit."""

import numpy as np
import pytest

from agreement_pipeline import Scale
from agreement_pipeline.estimates import estimate
from agreement_pipeline.intervals import Inference
from agreement_pipeline.measures import MEASURES
from agreement_pipeline.statistics import LabelsByRater

NO_YES = Scale(("no", "yes"))
KAPPAS = (
    "fleiss_kappa",
    "scott_pi",
    "kappa_by_category",
    "cohen_kappa",
    "shah_kappa_s",
    "conger_kappa",
    "light_kappa",
    "kraemer_icc",
)
BY_DESIGN = {"gwet_ac1": 1.0, "bennett_s": 1.0}


def statistic(name, codes, weights=None):
    patterns = LabelsByRater(
        codes, weights, scale=NO_YES, raters=tuple("abc")[: np.shape(codes)[1]]
    )
    return patterns if MEASURES[name].needs == "patterns" else patterns.counts()


@pytest.mark.parametrize("name", KAPPAS)
def test_four_hundred_pairs_of_no_and_single_ratings_that_vary_say_nothing_of_agreement(name):
    of = statistic(name, [[0, 0], [0, -1], [1, -1], [-1, 0], [-1, 1]], [400, 50, 50, 50, 50])
    found = estimate(name, of, Inference(n_resamples=200))
    assert found.value is None
    assert (
        "one and the same label" in found.undefined
        or "gave the same category to all items" in found.undefined
    )
    assert np.isnan(MEASURES[name](of).value).all()


@pytest.mark.parametrize("name", BY_DESIGN)
def test_measures_of_another_chance_keep_their_value_there(name):
    of = statistic(name, [[0, 0], [0, -1], [1, -1]], [400, 100, 100])
    value = estimate(name, of, Inference(n_resamples=200)).value
    assert value == BY_DESIGN[name]


@pytest.mark.parametrize("name", KAPPAS)
def test_each_draw_of_weights_asks_for_itself_whether_the_ratings_vary(name):
    of = statistic(name, [[0, 0], [0, 1], [1, 1], [1, -1]])
    value = MEASURES[name](
        of.with_weights(
            np.array([[2.0, 1.0, 2.0, 1.0], [3.0, 0.0, 0.0, 2.0], [2.0, 0.0, 1.0, 0.0]])
        )
    ).value
    assert np.isnan(value.reshape(3, -1)).all(1).tolist() == [False, True, False]


def test_a_category_of_all_pairs_or_of_single_ratings_only_has_no_kappa():
    counts = LabelsByRater(
        [[0, 0], [0, 1], [2, -1]], [9, 1, 5], scale=Scale(tuple("abc")), raters=("x", "y")
    ).counts()
    assert np.isnan(MEASURES["kappa_by_category"](counts).value).tolist() == [False, False, True]
