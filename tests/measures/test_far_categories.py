"""An unused category does not change agreement, however far off. Nor does a lone rating of it."""

import numpy as np
import pytest

from agreement_pipeline import Scale
from agreement_pipeline.estimates import estimate
from agreement_pipeline.intervals import Inference
from agreement_pipeline.statistics import (
    CategoryCounts,
    CountsOfStratum,
    LabelsByRater,
    ReplicatedLabels,
)
from tests.forms import FORMS

NEAR = (1.0, 2.0, 3.0)
FAR = [10.0**k for k in range(3, 13)]
FAMILIES = (
    "fleiss_kappa",
    "cohen_kappa",
    "conger_kappa",
    "schouten_kappa",
    "vanbelle_albert_kappa",
    "vanbelle_albert_group_kappa",
)
WEIGHTED = [
    f"{family}_{weights}"
    for family in FAMILIES
    for weights in ("linear", "quadratic", "radical", "ordinal", "ratio")
]
BY_VARIANCE = (
    "test_retest_icc",
    "eliasziw_inter_random",
    "eliasziw_inter_fixed",
    "eliasziw_intra_random",
    "eliasziw_intra_fixed",
)
ALPHAS = ["krippendorff_alpha", "alpha_with_classifier", "alpha_gain", "gwet_ordinal_alpha"]


def statistic(needs, categories, n_raters=4, level="ratio"):
    truth = np.random.default_rng(1).integers(0, 3, size=(60, 1))
    codes = np.where(
        np.random.default_rng(2).random((60, n_raters)) < 0.7,
        truth,
        np.random.default_rng(3).integers(0, 3, size=(60, n_raters)),
    )
    patterns = LabelsByRater(codes, scale=Scale(categories, level), raters=tuple("abcd"[:n_raters]))
    if needs == "panel":
        return patterns.with_rater_apart("a")
    if needs == "groups":
        return patterns.in_groups(("c", "d"))
    return patterns.counts() if needs == "counts" else patterns


def coefficient(name, categories, level="ratio"):
    record = FORMS[name]
    of = statistic(record.needs, categories, 2 if name.startswith("cohen") else 4, level)
    assert record.why_undefined(of) is None
    return record(of)


@pytest.mark.parametrize(
    ("name", "level"),
    [*((name, "ratio") for name in (*WEIGHTED, *ALPHAS)), ("krippendorff_alpha", "interval")],
)
def test_a_far_category_that_nobody_gave_changes_no_value(name, level):
    near = float(coefficient(name, NEAR, level).value)
    found = [float(coefficient(name, (*NEAR, far), level).value) for far in FAR]
    assert found == pytest.approx([near] * len(FAR), rel=1e-12)


@pytest.mark.parametrize("name", [name for name in WEIGHTED if name.endswith("_quadratic")])
def test_agreement_is_reported_in_spans_of_the_whole_scale(name):
    """On the scale 1, 2, 3, 5, a disagreement of 1 and 3 counts 4/16 of one of 1 and 5."""
    near, wide = coefficient(name, NEAR), coefficient(name, (*NEAR, 5.0))
    for part in ("observed", "expected", "greatest"):
        if getattr(near, part) is not None:
            assert 1 - float(getattr(wide, part)) == pytest.approx(
                (1 - float(getattr(near, part))) / 4, rel=1e-12
            )


def draws_with_and_without_the_far_category(needs, far, level):
    """Sixty items of near categories, and four items of the far one.

    The draws of weights hold all four, one of them, or none.
    """
    near = np.random.default_rng(4).integers(0, 3, size=(60, 4))
    codes = np.vstack(
        [
            np.where(np.random.default_rng(5).random((60, 4)) < 0.6, near[:, :1], near),
            [[3, 3, 3, 3], [3, 3, 3, 1], [0, 3, 3, 3], [3, 3, 3, 3]],
        ]
    )
    weights = np.random.default_rng(6).gamma(1.0, size=(6, 64))
    weights[2:4, 61:], weights[4:, 60:] = 0.0, 0.0
    scale = Scale((*NEAR, far), level)
    patterns = LabelsByRater(codes, scale=scale, raters=tuple("abcd"))
    if needs == "replicates":
        cells = [np.bincount(row, minlength=4) for row in codes]
        return ReplicatedLabels(cells, range(64), np.arange(64) % 2, patterns), weights
    if needs == "groups":
        return patterns.in_groups(("c", "d")), weights
    panel = patterns.select_raters("abc").with_classifier(codes[:, 3], "model")
    counts = patterns.counts()
    stratum = CountsOfStratum(counts, np.arange(64) % 2 == 0)
    made = {"counts": counts, "patterns": patterns, "panel": panel, "gold": panel}
    return (made | {"strata": stratum})[needs], weights


BATCHED = [
    name
    for name, record in FORMS.items()
    if record.needs not in ("values", "confidence", "label")  # a panel's label is no category
    and "interval" in record.levels
    and name not in BY_VARIANCE
]


@pytest.mark.parametrize("name", BATCHED)
def test_a_draw_without_the_far_category_is_not_blurred_by_draws_that_hold_it(name):
    record = FORMS[name]
    for far in (1e3, 1e6, 1e9, 1e12):
        of, weights = draws_with_and_without_the_far_category(
            record.needs, far, max(record.levels & {"interval", "ratio"})
        )
        if name.startswith("cohen"):
            of = of.select_raters(("a", "d"))
        together = record(of.with_weights(weights))
        singly = [record(of.with_weights(draw)) for draw in weights]
        for part in ("value", "observed", "expected", "greatest"):
            if getattr(together, part) is not None:
                alone = [float(getattr(each, part)) for each in singly]
                assert np.broadcast_to(getattr(together, part), len(alone)) == pytest.approx(
                    alone, rel=1e-12, abs=1e-12
                ), (far, part)


NEAR_ONLY = [
    *WEIGHTED,
    *(
        f"test_retest_kappa_{weights}"
        for weights in ("linear", "quadratic", "radical", "ordinal", "ratio")
    ),
]


@pytest.mark.parametrize("name", NEAR_ONLY)
def test_it_has_the_value_of_a_scale_that_does_not_hold_it(name):
    record = FORMS[name]

    def values(far):
        of, weights = draws_with_and_without_the_far_category(record.needs, far, "ratio")
        of = of.select_raters(("a", "d")) if name.startswith("cohen") else of
        return record(of.with_weights(weights)).value[4:]

    near = values(4.0)
    for far in (1e6, 1e9, 1e12):
        assert values(far) == pytest.approx(near, rel=1e-9), far


@pytest.mark.parametrize("distance", [1e6, 1e9])
def test_alpha_of_proportions_does_not_see_a_zero_that_meets_no_other_rating(distance):
    pairs = [[0, 2, 0], [0, 1, 1], [0, 0, 2]]
    alone = CategoryCounts(pairs, [30, 5, 25], scale=Scale((0.0, distance, distance + 1), "ratio"))
    with_zero = CategoryCounts([*pairs, [1, 0, 0]], [30, 5, 25, 1], scale=alone.scale)
    without = CategoryCounts(
        [row[1:] for row in pairs], alone.weights, scale=Scale((distance, distance + 1), "ratio")
    )
    nominal = float(
        FORMS["krippendorff_alpha"](
            CategoryCounts([row[1:] for row in pairs], alone.weights, scale=Scale(("a", "b")))
        ).value
    )
    for counts in (alone, with_zero, without):
        assert float(FORMS["krippendorff_alpha"](counts).value) == pytest.approx(nominal, rel=1e-12)
    assert estimate(
        "krippendorff_alpha", with_zero, Inference(n_resamples=200)
    ).value == pytest.approx(nominal, rel=1e-12)


@pytest.mark.parametrize("name", ["vanbelle_albert_kappa_quadratic", "schouten_kappa_quadratic"])
def test_a_classifier_on_neighbours_of_a_far_category_has_the_value_of_two_categories(name):
    codes = [[1, 1, 1], [1, 2, 1], [2, 2, 2], [2, 2, 1]]
    far = LabelsByRater(
        codes, scale=Scale((0.0, 1.0, 2.0, 2e6), "interval"), raters=tuple("abc")
    ).with_classifier([1, 1, 2, 2], "model")
    near = LabelsByRater(
        np.array(codes) - 1, scale=Scale(("a", "b")), raters=tuple("abc")
    ).with_classifier([0, 0, 1, 1], "model")
    assert FORMS[name].why_undefined(far) is None
    assert float(FORMS[name](far).value) == pytest.approx(
        float(FORMS[name.removesuffix("_quadratic")](near).value), rel=1e-12
    )
