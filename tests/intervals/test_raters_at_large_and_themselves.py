"""Agreement of raters at large with themselves."""

import math

import numpy as np
import pytest
from scipy import stats

from agreement_pipeline.estimates import estimate
from agreement_pipeline.intervals import DEFAULT_METHOD, Inference, compute_points, gather_evidence
from agreement_pipeline.measures import MEASURES
from agreement_pipeline.ratings import Scale
from agreement_pipeline.statistics import LabelsByRater, ReplicatedLabels
from tests.intervals.rounds import TWO, squared_error


def met_twice(*raters, scale=TWO):
    """Cells of raters who met items of their own twice."""
    cells = np.vstack(raters)
    of = np.repeat(np.arange(len(raters)), [len(each) for each in raters])
    first = LabelsByRater(
        np.where(of[:, None] == np.arange(len(raters)), cells.argmax(1)[:, None], -1),
        scale=scale,
        raters="abcdefgh"[: len(raters)],
    )
    return ReplicatedLabels(cells, np.arange(len(cells)), of, first)


SURE, TORN = (
    [[2, 0]] * agree + [[0, 2]] * agree + [[1, 1]] * (100 - 2 * agree) for agree in (48, 46)
)
CONSTANT = [[2, 0]] * 100


@pytest.mark.parametrize(
    "measure", ["test_retest_alpha", "test_retest_kappa", "test_retest_kappa_by_category"]
)
def test_raters_who_always_say_the_same_show_nothing_of_how_raters_at_large_agree_with_themselves(
    measure,
):
    two, among_five = met_twice(SURE, TORN), met_twice(SURE, TORN, CONSTANT, CONSTANT, CONSTANT)
    found = [
        estimate(measure, each, Inference(method="two_way_jackknife_log"))
        for each in (two, among_five)
    ]
    assert [(tuple(each.interval), each.n_raters) for each in found] == [((-1.0, 1.0), 2)] * 2
    three, as_many = (
        estimate(
            measure, met_twice(SURE, TORN, SURE, *more), Inference(method="two_way_jackknife_log")
        )
        for more in ([], [CONSTANT] * 2)
    )
    assert tuple(as_many.interval) == pytest.approx(tuple(three.interval), abs=0.002)
    assert three.interval.low > 0


def test_raters_who_always_give_one_number_show_nothing_of_raters_at_large_either():
    two = met_twice(SURE, TORN, CONSTANT, CONSTANT, scale=Scale((1, 2), "interval"))
    found = estimate("test_retest_icc", two, Inference(method="two_way_jackknife_log"))
    assert (tuple(found.interval), found.n_raters) == ((-math.inf, 1.0), 2)


def test_raters_of_a_pooled_coefficient_count_by_what_they_weigh_in_it():
    """Each rater gave 200 labels.

    Rater a weighs 200 · (1 - 2 · 100 · 99 / (200 · 199)).
    A rater who gave *yes* to two items weighs 200 · 2 · 4 · 196 / (200 · 199).
    """
    rare = [[2, 0]] * 98 + [[0, 2]] * 2
    seen = met_twice([[2, 0]] * 50 + [[0, 2]] * 50, rare, rare, rare, rare)
    (found,) = gather_evidence(
        compute_points([MEASURES["test_retest_alpha"]], seen),
        seen,
        Inference(n_resamples=10, method="two_way_jackknife"),
    ).values()
    weights = np.array([1 - 2 * 100 * 99 / (200 * 199), *[2 * 4 * 196 / (200 * 199)] * 4])
    assert found.n_raters == pytest.approx(weights.sum() ** 2 / (weights @ weights))
    assert (len(found.without_rater), round(found.n_raters)) == (5, 2)


@pytest.mark.parametrize("measure", ["campagner_cabitza_rho", "campagner_cabitza_rho_robust"])
def test_a_rater_who_met_items_again_that_nobody_else_rated_is_among_raters_at_large(measure):
    """The last rater differs most from the others.

    The expected ρ without a rater comes from a statistic that is made without this rater.
    """
    rng = np.random.default_rng(0)
    truth, wrong = rng.integers(2, size=120), np.array([0.02, 0.03, 0.02, 0.03, 0.35])
    said = np.where(rng.random((2, 120, 5)) < wrong, 1 - truth[:, None], truth[:, None])
    met = np.vstack(
        [np.argwhere(np.ones((20, 4), dtype=bool)), [(item, 4) for item in range(100, 120)]]
    )
    codes = np.where((np.arange(120)[:, None] < 100) | (np.arange(5) == 4), said[0], -1)

    def of(raters):
        kept = met[np.isin(met[:, 1], raters)]
        cells = [np.bincount(said[:, item, rater], minlength=2) for item, rater in kept]
        return ReplicatedLabels(
            cells,
            kept[:, 0],
            np.searchsorted(raters, kept[:, 1]),
            LabelsByRater(codes[:, raters], scale=TWO, raters=[*map(str, raters)]),
        )

    record, everybody = MEASURES[measure], np.arange(5)
    (found,) = gather_evidence(
        compute_points([record], of(everybody)),
        of(everybody),
        Inference(n_resamples=10, method="two_way_jackknife"),
    ).values()
    assert found.without_rater == pytest.approx(
        [float(record(of(np.delete(everybody, gone))).value) for gone in everybody]
    )
    assert found.n_raters == pytest.approx(5)


def test_raters_who_met_again_only_items_of_their_own_are_those_that_a_rule_on_rho_asks_for():
    codes = (
        [[0, 0]] * 20
        + [[1, 1]] * 20
        + [[0, -1]] * 10
        + [[1, -1]] * 10
        + [[-1, 0]] * 10
        + [[-1, 1]] * 10
    )
    cells = ([[2, 0]] * 10 + [[0, 2]] * 10) * 2
    seen = ReplicatedLabels(
        cells, np.arange(40, 80), [0] * 20 + [1] * 20, LabelsByRater(codes, scale=TWO, raters="ab")
    )
    found = estimate("campagner_cabitza_rho", seen)
    assert (found.value, found.n_used, found.n_raters) == (1.0, 40, 2)


def test_agreement_of_raters_with_themselves_has_the_rater_as_cluster():
    cells = [[2, 0]] * 30 + [[2, 0]] * 30 + [[1, 1]] * 30
    first = LabelsByRater(np.zeros((30, 3), dtype=int), scale=TWO, raters="abc")
    replicates = ReplicatedLabels(cells, np.tile(np.arange(30), 3), np.repeat([0, 1, 2], 30), first)
    these, at_large = (
        estimate("self_agreement_unbiased", replicates, Inference(method=name)).interval
        for name in (DEFAULT_METHOD, "two_way_jackknife")
    )
    assert these.high - these.low < 0.2
    assert tuple(at_large) == (0.0, 1.0)


def test_pooled_self_agreement_has_the_variance_of_raters_and_of_items_left_out():
    rng = np.random.default_rng(12)
    counts = rng.multinomial(2, [0.5, 0.5], size=120) * (rng.random((120, 1)) < 0.4)
    counts = np.where(counts.sum(1, keepdims=True) == 0, [[2, 0]], counts)
    item, rater = np.tile(np.arange(30), 4), np.repeat(np.arange(4), 30)
    replicates = ReplicatedLabels(
        counts, item, rater, LabelsByRater(np.zeros((30, 4), dtype=int), scale=TWO, raters="abcd")
    )
    same = (counts == 2).any(1)

    items, raters = (
        [same[places != k].mean() for k in range(places.max() + 1)] for places in (item, rater)
    )
    found = estimate("self_agreement_unbiased", replicates, Inference(method="two_way_jackknife"))
    reach = stats.t.ppf(0.975, 3) * math.sqrt(
        squared_error(np.array(items)) + squared_error(np.array(raters))
    )
    assert tuple(found.interval) == pytest.approx(
        (max(0.0, same.mean() - reach), min(1.0, same.mean() + reach))
    )
