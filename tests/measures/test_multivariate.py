import json
import math
from itertools import combinations, product
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from agreement_pipeline import Ratings, Scale
from agreement_pipeline.counting import OfRatings
from agreement_pipeline.measures import MEASURES
from agreement_pipeline.statistics import LabelsByRater
from tests.measures.vectors import berry_mielke_r, janson_olsson_iota, random_table, um_phi, vectors
from tools.pages.sources import um

SHARED = Path(__file__).parents[3] / "shared" / "data"
needs_data = pytest.mark.skipif(not SHARED.exists(), reason="the shared data are not here")


ALL = [um_phi, berry_mielke_r, janson_olsson_iota]


def size_of(measure, corners):
    """The measure's disagreement of ratings by different raters."""
    if measure is um_phi:
        return abs(np.linalg.det(corners[1:] - corners[0])) / math.factorial(corners.shape[1])
    squared = ((corners[0] - corners[1]) ** 2).sum()
    return math.sqrt(squared) if measure is berry_mielke_r else squared


def slow_parts(measure, table, weights):
    """Observed and expected disagreement as the papers define them, item by item and by panel."""
    items, raters, dimensions = table.shape
    corners = dimensions + 1 if measure is um_phi else 2
    panels = list(combinations(range(raters), corners))
    observed = sum(
        weights[i] * size_of(measure, table[i, list(panel)])
        for i in range(items)
        for panel in panels
    )
    expected = sum(
        math.prod(weights[i] for i in chosen) * size_of(measure, table[list(chosen), list(panel)])
        for chosen in product(range(items), repeat=corners)
        for panel in panels
    )
    total = sum(weights)
    return observed / total / len(panels), expected / total**corners / len(panels)


@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize(
    ("items", "raters", "dimensions"),
    [(7, 2, 1), (6, 4, 1), (6, 3, 2), (5, 4, 2), (4, 5, 2), (4, 4, 3), (3, 5, 3)],
)
@pytest.mark.parametrize("measure", ALL, ids=lambda measure: measure.name)
def test_each_measure_is_what_its_definition_says(measure, items, raters, dimensions, ties):
    rng = np.random.default_rng([items, raters, dimensions])
    table = random_table(rng, items, raters, dimensions, ties=ties)
    table[0, 1] = table[1, 0]
    weights = np.vstack([np.ones(items), rng.gamma(1, size=(2, items))])
    found = measure(vectors(table, weights))
    for draw in range(3):
        observed, expected = slow_parts(measure, table, weights[draw])
        assert [found.observed[draw], found.expected[draw]] == pytest.approx(
            [observed, expected], rel=1e-11, abs=1e-13
        )
        assert found.value[draw] == pytest.approx(1 - observed / expected, rel=1e-11, abs=1e-11)


def test_the_figures_of_um_table_2_with_the_factorial_of_equation_5():
    found = um_phi(vectors(um.TABLE_2))
    assert [found.observed, found.expected, found.value] == pytest.approx(
        [20.5714, 57.9796, 0.64520], abs=6e-5
    )


def test_the_printed_figures_of_um_table_2_leave_the_factorial_out():
    found = um_phi(vectors(um.TABLE_2))
    assert [2 * found.observed, 2 * found.expected, found.value] == pytest.approx(
        [41.143, 115.960, 0.645], abs=1e-3
    )


def test_the_defined_figures_of_um_table_3_are_not_the_printed_one():
    found = um_phi(vectors(um.TABLE_3))
    assert [found.observed, found.expected, found.value] == pytest.approx(
        [5.0, 9.8047, 0.49004], abs=5e-5
    )
    assert abs(found.value - 0.859) > 0.3
    assert berry_mielke_r(vectors(um.TABLE_3)).value == pytest.approx(0.86645, abs=5e-6)


def test_um_table_3_rests_on_the_one_rating_that_does_not_sum_to_40():
    assert [tuple(rating) for rating in um.TABLE_3.reshape(-1, 2) if rating.sum() != 40] == [
        (35, 15)
    ]
    on_one_line = um.TABLE_3.copy()
    on_one_line[1, 2, 1] = 5
    assert "linearly dependent" in um_phi.why_undefined(vectors(on_one_line))
    assert np.isnan(um_phi(vectors(on_one_line)).value)


@pytest.mark.parametrize(("dimensions", "at_random"), [(2, 1), (3, 2)])
def test_phi_does_not_see_raters_at_random_fewer_than_dimensions_where_the_others_agree(
    dimensions, at_random
):
    rng = np.random.default_rng(13)
    table = np.repeat(rng.normal(size=(30, 1, dimensions)), 5, axis=1)
    table[:, :at_random] = rng.normal(size=(30, at_random, dimensions))
    assert um_phi(vectors(table)).value == pytest.approx(1)
    assert janson_olsson_iota(vectors(table)).value < 0.7


def test_phi_does_not_see_a_dimension_of_noise_where_the_other_is_agreed_on():
    rng = np.random.default_rng(14)
    table = np.repeat(rng.normal(size=(30, 1, 2)), 5, axis=1)
    table[:, :, 1] = rng.normal(size=(30, 5))
    assert um_phi(vectors(table)).value == pytest.approx(1)
    assert janson_olsson_iota(vectors(table)).value < 0.7


def test_phi_falls_with_every_further_disagreement_as_in_um_figure_1():
    phi = [um_phi(vectors(um.figure_1(m))).value for m in range(6)]
    assert all(np.diff(phi) < 0)


def test_r_too_falls_with_every_further_disagreement_which_um_figure_1_denies():
    r = [berry_mielke_r(vectors(um.figure_1(m))).value for m in range(6)]
    phi = [um_phi(vectors(um.figure_1(m))).value for m in range(6)]
    assert all(np.diff(r) < 0)
    assert phi[1] - phi[0] < r[1] - r[0]
    assert phi[5] - phi[4] > r[5] - r[4]


@needs_data
def test_the_iota_of_janson_and_olsson_table_1():
    table = pd.read_csv(SHARED / "ref_janson_olsson_photo.csv")
    ratings = Ratings.from_frame(
        table[["item", "rater", "label"]],
        Scale.from_labels(table["label"], "multivariate interval"),
    )
    assert janson_olsson_iota(OfRatings().numbers(ratings)).value == pytest.approx(
        0.755015, abs=5e-7
    )


@needs_data
def test_the_iota_of_one_nominal_variable_is_that_of_its_indicators_and_congers_kappa():
    cases = json.loads((SHARED / "reference_vectors.json").read_text())["cases"]
    case = next(case for case in cases if case["id"] == "fleiss1971_iota")
    codes = np.array(case["data"]["values"]).T - 1
    scale = Scale(tuple("12345"))
    assert janson_olsson_iota(vectors(np.eye(5)[codes])).value == pytest.approx(
        case["expected"], abs=case["tolerance"]
    )
    assert MEASURES["shah_kappa_s"](
        LabelsByRater(codes, scale=scale, raters="abcdef")
    ).value == pytest.approx(case["expected"], abs=case["tolerance"])


@needs_data
def test_a_panel_that_never_meets_leaves_nothing_that_every_rater_rated():
    table = pd.read_csv(SHARED / "snow_affect.csv")
    ratings = Ratings.from_frame(
        table[["item", "rater", "label"]],
        Scale.from_labels(table["label"], "multivariate interval"),
    )
    values = OfRatings().numbers(ratings)
    for measure in ALL:
        assert measure.why_undefined(values) == "no item was rated by every rater"
        assert np.isnan(measure(values).value)


def test_in_one_dimension_phi_is_r_and_iota_is_lins_concordance():
    values = vectors(random_table(np.random.default_rng(1), 40, 3, 1))
    assert um_phi(values).value == pytest.approx(berry_mielke_r(values).value, rel=1e-12)
    assert janson_olsson_iota(values).value == pytest.approx(
        MEASURES["lin_ccc"](values).value, rel=1e-12
    )


@pytest.mark.parametrize(("raters", "dimensions"), [(3, 1), (3, 2), (4, 3)])
def test_phi_does_not_depend_on_the_units_of_the_dimensions_nor_on_turning_them(raters, dimensions):
    rng = np.random.default_rng(2)
    table = random_table(rng, 8, raters, dimensions)
    phi = um_phi(vectors(table)).value
    for mixing in (
        np.diag(10.0 ** np.arange(-3, 6, 3)[:dimensions]),
        rng.normal(size=(dimensions, dimensions)),
    ):
        moved = um_phi(vectors(1e3 + table @ mixing))
        assert moved.value == pytest.approx(phi, rel=1e-9)
        assert moved.expected == pytest.approx(
            um_phi(vectors(table)).expected * abs(np.linalg.det(mixing)), rel=1e-9
        )


@pytest.mark.parametrize(
    "measure", [berry_mielke_r, janson_olsson_iota], ids=lambda measure: measure.name
)
def test_distances_do_not_depend_on_turning_the_dimensions_or_on_one_common_unit(measure):
    rng = np.random.default_rng(3)
    table = random_table(rng, 8, 3, 2)
    turn = np.array([[0.6, -0.8], [0.8, 0.6]])
    for moved in (1e-9 * table @ turn, 1e3 + 1e3 * table):
        assert measure(vectors(moved)).value == pytest.approx(
            measure(vectors(table)).value, rel=1e-9
        )
    assert abs(measure(vectors(table * [1, 100])).value - measure(vectors(table)).value) > 1e-3


@pytest.mark.parametrize("measure", ALL, ids=lambda measure: measure.name)
def test_perfect_agreement_is_1_and_an_incomplete_item_changes_nothing(measure):
    rng = np.random.default_rng(4)
    agreed = np.repeat(rng.normal(size=(9, 1, 2)), 3, axis=1)
    assert measure(vectors(agreed)).value == pytest.approx(1)
    table = random_table(rng, 9, 3, 2)
    more = np.concatenate([table, [[(1e9, 0), (np.nan, np.nan), (0, 1e9)]]])
    assert measure(vectors(more)).value == pytest.approx(measure(vectors(table)).value, rel=1e-12)


@pytest.mark.parametrize("measure", ALL, ids=lambda measure: measure.name)
def test_whole_weights_repeat_items(measure):
    rng = np.random.default_rng(5)
    table, weights = random_table(rng, 8, 3, 2), rng.integers(0, 4, (3, 8))
    repeated = [float(measure(vectors(np.repeat(table, row, axis=0))).value) for row in weights]
    assert measure(vectors(table, weights)).value == pytest.approx(repeated, rel=1e-11)


@pytest.mark.parametrize("measure", ALL, ids=lambda measure: measure.name)
@pytest.mark.parametrize("unit", [1e-9, 1e9])
def test_the_size_of_all_weights_together_changes_nothing(measure, unit):
    rng = np.random.default_rng(12)
    table, weights = random_table(rng, 8, 3, 2), rng.gamma(1, size=8)
    assert measure(vectors(table, unit * weights)).value == pytest.approx(
        measure(vectors(table, weights)).value, rel=1e-9
    )


@pytest.mark.parametrize(
    "name", ["um_phi", "berry_mielke_r", "janson_olsson_iota", "lin_ccc", "krippendorff_alpha"]
)
def test_on_a_single_item_all_that_is_seen_is_what_chance_gives(name):
    found = MEASURES[name](vectors([[[1.0], [2.5], [7.0]]]))
    assert found.value == pytest.approx(0, abs=1e-12)
    assert found.observed == pytest.approx(found.expected)
    assert MEASURES[name].why_undefined(vectors([[[1.0], [2.5], [7.0]]])) is None


P, Q, S, U = (0.0, 0.0), (1.0, 0.0), (0.3, 0.9), (0.7, 0.1)


@pytest.mark.parametrize(
    ("table", "measure", "reason"),
    [
        (
            [[P, P, P], [P, P, P]],
            janson_olsson_iota,
            "every rating of the items that every rater rated is the same",
        ),
        (
            [[P, P, P], [P, P, P]],
            berry_mielke_r,
            "every rating of the items that every rater rated is the same",
        ),
        (
            [[P, P, P], [P, P, P]],
            um_phi,
            "every simplex of ratings by different raters has volume 0",
        ),
        (
            [[P, P, Q], [P, P, S], [P, P, U]],
            um_phi,
            "every simplex of ratings by different raters has volume 0",
        ),
        ([[P, Q, S]], um_phi, None),
        ([[P, P, S], [P, Q, P]], um_phi, None),
        ([[P, Q], [Q, S]], um_phi, "there are fewer raters than a simplex has corners"),
        ([[P], [Q]], berry_mielke_r, "there is only one rater"),
        ([[P], [Q]], janson_olsson_iota, "there is only one rater"),
        ([[P, (np.nan, np.nan), Q]], um_phi, "no item was rated by every rater"),
    ],
)
def test_a_measure_is_undefined_for_a_reason_exactly_where_it_has_no_value(table, measure, reason):
    found = measure.why_undefined(vectors(table))
    assert (found is None) if reason is None else found.startswith(reason)
    assert np.isnan(measure(vectors(table)).value) == (reason is not None)
