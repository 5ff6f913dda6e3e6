import math
from itertools import combinations, product

import numpy as np
import pytest

from agreement_pipeline.measures import MEASURES
from tests.measures.vectors import berry_mielke_r, janson_olsson_iota, random_table, um_phi, vectors

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


@pytest.mark.parametrize("cells", [1, 3, 10**6])
def test_distances_are_those_of_the_definition_in_blocks_of_any_size(monkeypatch, cells):
    monkeypatch.setattr("agreement_pipeline.measures.multivariate.CELLS_PER_BLOCK", cells)
    table = random_table(np.random.default_rng(9), 11, 3, 2)
    found = berry_mielke_r(vectors(table))
    expected = slow_parts(berry_mielke_r, table, np.ones(11))
    assert [float(found.observed), float(found.expected)] == pytest.approx(expected, rel=1e-11)


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


@pytest.mark.parametrize("measure", ALL, ids=lambda measure: measure.name)
def test_perfect_agreement_is_1_and_an_incomplete_item_changes_nothing(measure):
    rng = np.random.default_rng(4)
    agreed = np.repeat(rng.normal(size=(9, 1, 2)), 3, axis=1)
    assert measure(vectors(agreed)).value == pytest.approx(1)
    table = random_table(rng, 9, 3, 2)
    more = np.concatenate([table, [[(1e9, 0), (np.nan, np.nan), (0, 1e9)]]])
    assert measure(vectors(more)).value == pytest.approx(measure(vectors(table)).value, rel=1e-12)


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
