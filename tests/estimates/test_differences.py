"""Differences with their intervals, against a bootstrap of items one by one."""

import numpy as np
import pytest

from agreement_pipeline.errors import AgreementError
from agreement_pipeline.estimates import Difference
from agreement_pipeline.estimates.differences import Side, estimate_difference
from agreement_pipeline.intervals import Inference, Interval
from agreement_pipeline.measures import MEASURES
from agreement_pipeline.ratings import Scale
from agreement_pipeline.statistics import CategoryCounts, LabelsByRater, NumbersByRater
from tests.estimates.labelled import TWO, N, labelled, panels


def item_bootstrap(one, other, measure, paired, seed=0, n=1000):
    """Limits of the difference when items are drawn with replacement, as a loop.

    Paired sides get the same items. Other sides get items of their own.
    """
    rng = np.random.default_rng(seed)
    function, found = MEASURES[measure], []
    for _ in range(n):
        weights = np.bincount(rng.integers(N, size=N), minlength=N).astype(float)
        others = (
            weights if paired else np.bincount(rng.integers(N, size=N), minlength=N).astype(float)
        )
        found.append(
            float(
                function(one.with_weights(weights)).value
                - function(other.with_weights(others)).value
            )
        )
    return np.quantile(found, [0.025, 0.975])


@pytest.mark.parametrize("paired", [True, False])
def test_the_interval_of_two_classifiers_is_that_of_resampling_items(paired):
    measure = "vanbelle_albert_kappa"
    one, other = panels(1, 0.9, 0.6)
    found = estimate_difference(
        Side("one", measure, one), Side("other", measure, other), shared=N if paired else None
    )
    low, high = item_bootstrap(one, other, measure, paired)
    assert found.value == pytest.approx(
        float(MEASURES[measure](one).value - MEASURES[measure](other).value)
    )
    assert found.interval.high - found.interval.low == pytest.approx(high - low, rel=0.15)
    assert tuple(found.interval) == pytest.approx((low, high), abs=0.25 * (high - low))


def test_what_makes_an_item_hard_for_both_does_not_blur_how_far_they_differ():
    one, other = (
        Side(each.classifier, "vanbelle_albert_kappa", each) for each in panels(2, 0.8, 0.7)
    )
    together, apart = estimate_difference(one, other, shared=N), estimate_difference(one, other)
    assert together.interval.high - together.interval.low < 0.8 * (
        apart.interval.high - apart.interval.low
    )
    assert ("paired by item" in together.method, "drawn apart" in apart.method) == (True, True)


def test_two_classifiers_that_never_differed_are_not_certain_never_to():
    (one,) = panels(4, 0.8)
    found = estimate_difference(
        Side("one", "shah_s", one),
        Side("other", "shah_s", one.panel.with_classifier(one.labels, "other")),
        shared=N,
    )
    assert found.value == 0
    assert found.interval.low < 0 < found.interval.high


def test_of_measures_of_every_category_the_lowest_are_compared():
    counts = [
        CategoryCounts(
            [[3, 0, 0], [0, 3, 0], rows, [0, 0, 1]],
            [30, 30, 20, 1],
            scale=Scale(tuple("abc"), declared=False),
        )
        for rows in ([2, 1, 0], [1, 1, 1])
    ]
    found = estimate_difference(
        *(Side(str(k), "specific_agreement", each) for k, each in enumerate(counts))
    )
    values = [np.nanmin(MEASURES["specific_agreement"](each).value) for each in counts]
    assert found.value == pytest.approx(values[0] - values[1])
    assert found.interval.low <= found.value <= found.interval.high


def test_a_category_that_is_named_is_compared_and_one_that_nobody_gave_is_undefined():
    names = Scale(tuple("abcd"))
    counts = [
        CategoryCounts(
            [[3, 0, 0, 0], [0, 3, 0, 0], rows, [0, 0, 3, 0]], [30, 30, 20, 9], scale=names
        )
        for rows in ([2, 1, 0, 0], [1, 1, 1, 0])
    ]
    for place, category in enumerate("abc"):
        found = estimate_difference(
            *(Side(str(k), "specific_agreement", each, category) for k, each in enumerate(counts)),
            inference=Inference(n_resamples=2000),
        )
        values = [MEASURES["specific_agreement"](each).value[place] for each in counts]
        assert found.value == pytest.approx(values[0] - values[1])
        assert found.interval.low <= found.value <= found.interval.high
    never = estimate_difference(
        *(Side(str(k), "specific_agreement", each, "d") for k, each in enumerate(counts))
    )
    assert (
        never.undefined
        == "0: no pair of ratings holds the category; 1: no pair of ratings holds the category"
    )


def test_a_category_that_was_always_agreed_on_is_not_certain_to_be():
    counts = [
        CategoryCounts([[3, 0, 0], [0, 3, 0], [0, 1, 2]], weights, scale=Scale(tuple("abc")))
        for weights in ([6, 30, 30], [6, 30, 20])
    ]
    found = estimate_difference(
        *(Side(str(k), "specific_agreement", each, "a") for k, each in enumerate(counts))
    )
    assert found.value == 0
    assert found.interval.low < -0.1
    assert found.interval.high > 0.1


@pytest.mark.parametrize(
    ("measure", "category", "need"),
    [
        ("specific_agreement", "maybe", "one of no, yes"),
        ("fleiss_kappa", "no", "none, since the measure has no value for each category"),
    ],
)
def test_a_category_that_cannot_be_compared_is_refused(measure, category, need):
    counts = labelled(11, 0.8)[0].counts().merged()
    with pytest.raises(AgreementError, match=f"found category '{category}'; expected {need}"):
        estimate_difference(
            Side("a", measure, counts, category), Side("b", measure, counts, category), shared=N
        )


def test_an_undefined_side_gives_its_reason_and_no_number():
    lonely = CategoryCounts([[1, 0], [0, 1]], scale=TWO)
    found = estimate_difference(
        Side("alone", "krippendorff_alpha", lonely),
        Side("seen", "krippendorff_alpha", labelled(7, 0.8)[0].counts().merged()),
    )
    assert found.undefined == "alone: no item has two ratings"
    assert (found.value, found.interval, found.draws, found.share_greater) == (
        None,
        None,
        None,
        None,
    )
    assert found.to_mapping()["undefined"] == found.undefined


def test_undefined_draws_count_against_both_limits():
    rare = CategoryCounts([[3, 0], [0, 3]], [11, 1], scale=TWO)
    both = CategoryCounts([[3, 0], [0, 3]], [6, 6], scale=TWO)
    found = estimate_difference(
        Side("rare", "krippendorff_alpha", rare),
        Side("both", "krippendorff_alpha", both),
        Inference(n_resamples=4000),
    )
    assert found.interval.low < -0.3
    assert found.interval.high > 0.2


@pytest.mark.parametrize(
    ("confidence_level", "enough"), [(0.9, True), (0.95, True), (0.951, False), (0.999, False)]
)
def test_too_few_dear_draws_for_limits_so_far_out_give_the_bounds(confidence_level, enough):
    """An expensive measure has 400 draws.

    Ten of them lie beyond a limit at 2.5 %. Fewer lie beyond a limit further out.
    """
    rng = np.random.default_rng(0)
    truth = rng.normal(size=(30, 1))
    one, other = (
        NumbersByRater(
            truth + rng.normal(0, error, (30, 3)), scale=Scale(None, "interval"), raters="abc"
        )
        for error in (0.3, 0.6)
    )
    found = estimate_difference(
        Side("one", "um_phi", one),
        Side("other", "um_phi", other),
        Inference(confidence_level=confidence_level),
    )
    assert (np.isfinite(found.interval).all(), "too few draws for limits at" in found.method) == (
        enough,
        not enough,
    )
    assert len(found.draws) == 400
    assert (
        (found.low, found.high) != (None, None)
        if enough
        else (found.low, found.high) == (None, None)
    )


def test_sides_that_share_items_must_be_the_same_rows():
    patterns, _ = labelled(8, 0.8)
    fewer = LabelsByRater(patterns.codes[:-1], scale=TWO, raters="abc")
    with pytest.raises(
        AgreementError,
        match="found 400 and 399 rows that differ; expected the same items row by row",
    ):
        estimate_difference(
            Side("a", "shah_kappa_s", patterns), Side("b", "shah_kappa_s", fewer), shared=399
        )


def test_the_same_seed_gives_the_same_limits_and_the_mapping_says_what_was_compared():
    one, other = (Side(each.classifier, "shah_s", each) for each in panels(10, 0.9, 0.7))
    found = estimate_difference(one, other, Inference(n_resamples=500, seed=[1, 2]), shared=N)
    assert found == estimate_difference(
        one, other, Inference(n_resamples=500, seed=[1, 2]), shared=N
    )
    assert (
        found.interval
        != estimate_difference(
            one, other, Inference(n_resamples=500, seed=[1, 3]), shared=N
        ).interval
    )
    told = found.to_mapping()
    assert (told["one"], told["other"], told["n_shared"], told["difference"]) == (
        "model 0",
        "model 1",
        N,
        found.value,
    )
    assert isinstance(found, Difference)
    assert isinstance(found.interval, Interval)
