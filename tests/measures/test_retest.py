"""Test-retest reliability against loops, and the pooling over raters."""

import numpy as np
import pytest

from agreement_pipeline.counting import RatingsCounting
from agreement_pipeline.estimates import estimate
from agreement_pipeline.measures.weighting import WEIGHTINGS
from agreement_pipeline.ratings import Scale
from agreement_pipeline.statistics import LabelsByRater, ReplicatedLabels, ReplicatedNumbers
from tests.forms import FORMS
from tests.measures.retest_loops import (
    LEVELS,
    NUMBERS,
    looped_alpha,
    looped_icc,
    looped_kappa,
    looped_weighted_kappa,
    ratings_of,
    said_by,
    scale_of,
)

ALPHA, KAPPA, ICC = (FORMS[f"test_retest_{name}"] for name in ("alpha", "kappa", "icc"))
BY_CATEGORY = FORMS["test_retest_kappa_by_category"]


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("seed", range(4))
def test_alpha_is_the_disagreement_within_a_raters_items_over_that_of_her_labels_as_loops(
    seed, level
):
    of_each = said_by(seed)
    ratings = ratings_of(of_each, scale_of(level))
    found = ALPHA(RatingsCounting().replicates(ratings))
    assert float(found.value) == pytest.approx(looped_alpha(of_each, level), abs=1e-12)
    assert float(found.value) == pytest.approx(
        1 - float(found.observed / found.expected), abs=1e-12
    )
    for rater, of_items in enumerate(of_each):
        own = ALPHA(RatingsCounting().replicates(ratings).cells_of_rater(f"r{rater}"))
        assert float(own.value) == pytest.approx(looped_alpha([of_items], level), abs=1e-12)


@pytest.mark.parametrize("level", LEVELS[1:])
@pytest.mark.parametrize("seed", range(4))
def test_alpha_is_the_same_where_the_scale_lists_no_categories(seed, level):
    of_each = said_by(seed)
    ratings = ratings_of(of_each, Scale(None, level))
    assert float(ALPHA(RatingsCounting().replicates(ratings).as_numbers()).value) == pytest.approx(
        looped_alpha(of_each, level), abs=1e-10
    )


def test_alpha_of_vectors_sums_squared_differences_over_their_dimensions():
    rng = np.random.default_rng(3)
    cells = [rng.normal(size=2) + rng.normal(0, 0.3, size=(m, 2)) for m in (2, 3, 2, 4)]
    values = np.full((4, 4, 2), np.nan)
    for row, cell in zip(values, cells, strict=True):
        row[: len(cell)] = cell
    pool = np.vstack(cells)
    within = sum(
        sum(((a - b) ** 2).sum() for a in cell for b in cell) / (len(cell) - 1) for cell in cells
    ) / len(pool)
    between = sum(((a - b) ** 2).sum() for a in pool for b in pool) / (len(pool) * (len(pool) - 1))
    replicates = ReplicatedNumbers(
        values,
        range(4),
        [0] * 4,
        np.ones(4),
        scale=Scale(None, "multivariate interval", dimensions=2),
        raters=("a",),
    )
    assert float(ALPHA(replicates).value) == pytest.approx(1 - within / between, abs=1e-12)


@pytest.mark.parametrize("seed", range(4))
def test_kappa_is_that_of_fleiss_with_meetings_for_raters_as_loops(seed):
    of_each = said_by(seed)
    replicates = RatingsCounting().replicates(ratings_of(of_each, scale_of("nominal")))
    found = KAPPA(replicates)
    assert float(found.value) == pytest.approx(looped_kappa(of_each), abs=1e-12)
    assert float((found.observed - found.expected) / (1 - found.expected)) == pytest.approx(
        looped_kappa(of_each), abs=1e-12
    )
    assert BY_CATEGORY(replicates).value == pytest.approx(
        [looped_kappa(of_each, label) for label in NUMBERS], abs=1e-12
    )


@pytest.mark.parametrize("name", WEIGHTINGS)
@pytest.mark.parametrize("seed", range(4))
def test_weighted_kappa_is_the_loop_over_pairs_of_meetings(seed, name):
    of_each = said_by(seed)
    record, scale = FORMS[f"test_retest_kappa_{name}"], scale_of(max(WEIGHTINGS[name].levels))
    expected = looped_weighted_kappa(of_each, WEIGHTINGS[name].weight_matrix(scale))
    found = record(RatingsCounting().replicates(ratings_of(of_each, scale)))
    assert float(found.value) == pytest.approx(expected, abs=1e-12)
    assert float((found.observed - found.expected) / (1 - found.expected)) == pytest.approx(
        expected, abs=1e-12
    )


@pytest.mark.parametrize("level", LEVELS)
def test_a_crowd_is_pooled_as_loops_however_often_an_item_counts(level):
    everyone, times = said_by(5, raters=300, items=3), np.array([1.0, 3.0, 0.0])
    of_each = [said for said in everyone if min(len(said[0]), len(said[1])) > 1]
    assert len(of_each) > 150
    repeated = [
        {(u, time): said for u, said in of_items.items() for time in range(int(times[u]))}
        for of_items in of_each
    ]
    replicates = RatingsCounting().replicates(ratings_of(of_each, scale_of(level)))
    weights = np.zeros((2, replicates.weights.shape[-1]))
    weights[:, np.unique(replicates.item)] = np.ones(3), times
    drawn = replicates.with_weights(weights)
    expected = [looped_alpha(each, level) for each in (of_each, repeated)]
    assert ALPHA(drawn).value == pytest.approx(expected, abs=1e-12)
    if level == "nominal":
        found = np.column_stack([KAPPA(drawn).value, BY_CATEGORY(drawn).value])
        expected = [
            [looped_kappa(each), *(looped_kappa(each, label) for label in NUMBERS)]
            for each in (of_each, repeated)
        ]
        assert found == pytest.approx(np.array(expected), abs=1e-12)
    if level == "interval":
        expected = [looped_icc(each) for each in (of_each, repeated)]
        assert ICC(drawn).value == pytest.approx(expected, abs=1e-12)


KAPPAS = [
    "test_retest_kappa",
    "test_retest_kappa_by_category",
    *(f"test_retest_kappa_{name}" for name in WEIGHTINGS),
]


@pytest.mark.parametrize("name", KAPPAS)
@pytest.mark.parametrize("seed", range(4))
def test_kappa_is_never_under_minus_one_whatever_the_weights_of_items(seed, name):
    rng = np.random.default_rng(seed)
    record = FORMS[name]
    levels = record.levels
    scale = (
        Scale(tuple(np.cumsum(rng.gamma(0.5, size=3) + 0.01)), "ratio")
        if "ratio" in levels
        else Scale(tuple("abc"), "ordinal")
    )
    cells = [
        rng.permutation([half, size - half, 0])
        for size in rng.choice([2, 2, 3, 12], size=8)
        for half in [size // 2]
    ]
    patterns = LabelsByRater(np.zeros((4, 2), int), scale=scale, raters=("a", "b"))
    replicates = ReplicatedLabels(cells, np.repeat(range(4), 2), [0, 1] * 4, patterns)
    for of in (replicates, replicates.with_unseen(3.0)):
        draws = np.vstack(
            [
                rng.dirichlet(np.full(of.weights.shape[-1], share), size=200)
                * rng.choice([1.1, 4, 7], size=(200, 1))
                for share in (0.1, 1.0)
            ]
        )
        value = record(of.with_weights(draws)).value
        assert np.nanmin(value) >= record.bounds[0] - 1e-9 == -1 - 1e-9


@pytest.mark.parametrize("name", KAPPAS)
def test_kappa_reaches_minus_one_where_a_rater_says_both_poles_of_every_item(name):
    record = FORMS[name]
    scale = Scale((1.0, 2.0), "ratio") if "ratio" in record.levels else Scale(("a", "b"), "ordinal")
    patterns = LabelsByRater([[0], [1]], scale=scale, raters=("a",))
    assert record(
        ReplicatedLabels([[1, 1], [1, 1]], [0, 1], [0, 0], patterns)
    ).value == pytest.approx(-1.0)


@pytest.mark.parametrize("level", ["interval", "ratio"])
@pytest.mark.parametrize("seed", range(4))
def test_icc_is_the_one_way_analysis_of_variance_of_a_raters_meetings_as_loops(seed, level):
    of_each = said_by(seed)
    expected = looped_icc(of_each)
    assert float(
        ICC(RatingsCounting().replicates(ratings_of(of_each, scale_of(level)))).value
    ) == pytest.approx(expected, abs=1e-12)
    assert float(
        ICC(RatingsCounting().replicates(ratings_of(of_each, Scale(None, level)))).value
    ) == pytest.approx(expected, abs=1e-12)


def test_in_a_draw_of_little_more_than_one_item_an_icc_may_lie_under_minus_one():
    """An item met twice weighs 0.6, and one met ten times weighs 0.5, so n_0 is -22.5.

    The total variance, which n_0 divides, is then almost 0.
    """
    said = np.full((2, 10), np.nan)
    said[0, :2], said[1] = [0.0, 1.0], np.tile([0.75, 1.75], 5)
    replicates = ReplicatedNumbers(
        said, [0, 1], [0, 0], [0.6, 0.5], scale=Scale(None, "interval"), raters=("a",)
    )
    mean = (0.6 * 1.0 + 0.5 * 12.5) / 6.2
    bms = (0.6 * 2 * (0.5 - mean) ** 2 + 0.5 * 10 * (1.25 - mean) ** 2) / 0.1
    wms = (0.6 * 0.5 + 0.5 * 2.5) / (6.2 - 1.1)
    k = (6.2 - (0.6 * 4 + 0.5 * 100) / 6.2) / 0.1
    expected = ((bms - wms) / k) / ((bms - wms) / k + wms)
    assert expected < -1
    assert float(ICC(replicates).value) == pytest.approx(expected, rel=1e-9)
    assert ICC.bounds[0] == -np.inf


def test_a_rater_who_always_says_the_same_is_left_out_of_the_pooled_value_and_has_none_of_her_own(
    tabled,
):
    table = "A B\n0/0 1/1\n1/1 1/1\n0/1 1/1\n1/1 1/1"
    replicates = RatingsCounting().replicates(tabled(table, ("0", "1")))
    for record in (ALPHA, KAPPA):
        assert float(record(replicates).value) == pytest.approx(
            float(record(replicates.cells_of_rater("A")).value)
        )
        assert "one and the same label to all items they met again" in (
            record.why_undefined(replicates.cells_of_rater("B")) or ""
        )


@pytest.mark.parametrize(
    ("table", "reason"),
    [
        ("A B\n0 1\n1 0", "no rater met an item twice"),
        ("A B\n0/1 1\n1 0/0", "no rater met two items again"),
        (
            "A B\n1/1 0/1\n1/1 0",
            "every rater who met two items again gave one and the same number to all of them",
        ),
    ],
)
def test_an_icc_without_a_value_says_why(tabled, table, reason):
    replicates = RatingsCounting().replicates(tabled(table, ("0", "1"), "interval"))
    assert ICC.why_undefined(replicates) == reason
    assert np.isnan(ICC(replicates).value)


def test_the_interval_of_a_rater_always_at_one_with_herself_is_not_certain():
    replicates = RatingsCounting().replicates(
        ratings_of([{u: [float(u)] * 2 for u in range(20)}], Scale(None, "interval"))
    )
    for name in ("test_retest_alpha", "test_retest_icc"):
        found = estimate(name, replicates)
        assert found.value == pytest.approx(1.0)
        assert 0.5 < found.interval.low < 0.97


def test_raters_without_a_coefficient_of_their_own_are_named(tabled):
    ratings = tabled("A B C\n1/1 1/1 1\n2/3 1/1 2\n3/3 1/1 3", ("1", "2", "3"), "interval")
    counts, numbers = (
        RatingsCounting().replicates(ratings),
        RatingsCounting().replicates(ratings).as_numbers(),
    )
    for record, replicates in ((ALPHA, counts), (ALPHA, numbers), (ICC, counts), (ICC, numbers)):
        assert record.raters_left_out(replicates) == ("B", "C")
    nominal = RatingsCounting().replicates(
        tabled("A B C\n1/1 1/1 1\n2/3 1/1 2\n3/3 1/1 3", ("1", "2", "3"))
    )
    assert KAPPA.raters_left_out(nominal) == BY_CATEGORY.raters_left_out(nominal) == ("B", "C")
