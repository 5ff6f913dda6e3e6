import krippendorff
import numpy as np
import pytest

from agreement_pipeline import Scale
from agreement_pipeline.estimates import estimate, estimate_each
from agreement_pipeline.intervals import Inference
from agreement_pipeline.measures import MEASURES
from agreement_pipeline.statistics import CategoryCounts, LabelsByRater

ALPHA, KAPPA = MEASURES["alpha_by_category"], MEASURES["kappa_by_category"]
SCALE = Scale(tuple("abc"))


def counts_of(codes):
    return LabelsByRater(
        codes, scale=SCALE, raters=[f"r{j}" for j in range(np.shape(codes)[1])]
    ).counts()


@pytest.mark.parametrize("seed", range(3))
def test_alpha_of_a_category_is_alpha_of_it_against_the_rest(seed):
    codes = np.random.default_rng(seed).integers(-1, 3, size=(30, 4))
    for k, found in enumerate(ALPHA(counts_of(codes)).value):
        binary = np.where(codes < 0, np.nan, codes == k).T
        assert found == pytest.approx(
            krippendorff.alpha(binary, level_of_measurement="nominal"), abs=1e-12
        )


@pytest.mark.parametrize("seed", range(3))
def test_kappa_of_a_category_is_fleiss_kappa_of_it_against_the_rest(seed):
    codes = np.random.default_rng(seed).integers(-1, 3, size=(30, 4))
    counts = counts_of(codes)
    for k, found in enumerate(KAPPA(counts).value):
        of = counts.counts[:, k]
        against_the_rest = CategoryCounts(
            np.column_stack([counts.sizes - of, of]), counts.weights, scale=Scale(("rest", "k"))
        )
        assert found == pytest.approx(
            float(MEASURES["fleiss_kappa"](against_the_rest).value), abs=1e-12
        )


@pytest.mark.parametrize("name", ["alpha_by_category", "kappa_by_category"])
def test_the_rounds_own_value_is_the_lowest_and_an_unused_category_says_why_it_has_none(name):
    counts = CategoryCounts(
        [[2, 0, 0, 0], [0, 1, 1, 0], [0, 0, 2, 0], [0, 2, 0, 0]],
        [5, 2, 4, 3],
        scale=Scale(tuple("abcd"), declared=False),
    )
    of_round, *of_categories = estimate_each([name], counts, Inference(n_resamples=200))
    values = [found.value for found in of_categories]
    assert values[3] is None
    assert of_categories[3].undefined == "no pair of ratings holds the category"
    assert of_round.value == min(values[:3])


def test_a_category_seen_only_on_items_rated_once_has_no_kappa():
    counts = CategoryCounts([[2, 0, 0], [0, 2, 0], [1, 1, 0], [0, 0, 1]], scale=SCALE)
    assert np.isnan(KAPPA(counts).value).tolist() == [False, False, True]


def test_on_one_category_there_is_no_lowest():
    found = estimate(
        "kappa_by_category",
        CategoryCounts([[2, 0, 0]], [9], scale=SCALE),
        Inference(n_resamples=200),
    )
    assert found.value is None
    assert "one and the same label" in found.undefined
