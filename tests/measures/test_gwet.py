import numpy as np
import pytest

from agreement_pipeline import Scale
from agreement_pipeline.measures.gwet import gwet_ac2, gwet_ordinal_alpha
from agreement_pipeline.measures.weighting import (
    IDENTITY,
    LINEAR,
)
from agreement_pipeline.statistics import CategoryCounts, LabelsByRater
from tests.forms import FORMS

SCALE = Scale((1.0, 2.0, 5.0, 6.0), "ratio")


def random_counts(seed, complete=False):
    codes = np.random.default_rng(seed).integers(0 if complete else -1, 4, size=(25, 4))
    return codes.tolist(), LabelsByRater(codes, scale=SCALE, raters=tuple("abcd")).counts()


def test_without_weights_ac2_is_ac1():
    _, counts = random_counts(2)
    assert float(gwet_ac2(counts, IDENTITY).value) == pytest.approx(
        float(FORMS["gwet_ac1"](counts).value), abs=1e-14
    )


def test_a_category_that_nobody_uses_raises_ac2_and_leaves_alpha_alone():
    rows = [[2, 0, 0], [1, 1, 0], [0, 0, 2], [0, 1, 1]]
    three = CategoryCounts(rows, scale=Scale((1.0, 2.0, 3.0), "interval"))
    four = CategoryCounts(
        [[*row, 0] for row in rows], scale=Scale((1.0, 2.0, 3.0, 4.0), "interval")
    )
    assert float(gwet_ac2(four, LINEAR).value) > float(gwet_ac2(three, LINEAR).value)
    assert float(gwet_ordinal_alpha(four).value) == pytest.approx(
        float(gwet_ordinal_alpha(three).value), abs=1e-14
    )


def test_ratings_of_one_category_are_agreement_for_ac2_and_nothing_for_alpha():
    counts = CategoryCounts([[3, 0, 0]], [9], scale=Scale(tuple("abc"), "ordinal"))
    assert float(FORMS["gwet_ac2_linear"](counts).value) == 1
    assert np.isnan(gwet_ordinal_alpha(counts).value)
    assert "one and the same label" in FORMS["gwet_ordinal_alpha"].why_undefined(counts)
