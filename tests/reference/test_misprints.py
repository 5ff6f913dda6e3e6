"""Where a source's print and its definition disagree, the definition is computed; how the printed figure arises is shown beside it."""

from itertools import permutations

import numpy as np
import pytest

from agreement_pipeline.engines import memory
from agreement_pipeline.measures import MEASURES
from agreement_pipeline.measures.reliability import random_choice
from agreement_pipeline.patterns import CategoryCounts, RatingPatterns
from agreement_pipeline.replicates import ReplicateCounts
from agreement_pipeline.scale import Scale

EXPERTS = ("E1", "E2", "E3", "E4")
LABELS = Scale(("L1", "L2", "L3", "L4"))


def chance(ratings, divisor, classifier=None):
    """Shah's equations 4 and 7 as a loop, with the divisor left open."""
    table = memory.item_table(ratings)
    total = 0.0
    for category in ratings.scale.names:
        share = 1.0 if classifier is None else np.mean(ratings.current.query("rater == @classifier")["label"] == category)
        pairs = sum(np.mean(table[p] == category) * np.mean(table[q] == category) for p, q in permutations(table.columns, 2))
        total += share * pairs / divisor
    return total


def test_shahs_printed_kappa_s_of_the_laboratories_divides_by_r_squared(serology):
    r = 3
    found = MEASURES["shah_kappa_s"](memory.rating_patterns(serology))
    assert found.expected == pytest.approx(chance(serology, r * (r - 1)), abs=1e-12)
    assert found.value == pytest.approx(0.67908, abs=5e-6)
    slip = chance(serology, r**2)
    assert slip == pytest.approx(0.272, abs=1.5e-3)
    assert (float(found.observed) - slip) / (1 - slip) == pytest.approx(0.738, abs=1e-3)


def test_shahs_printed_s_of_laboratory_t_divides_by_r_squared(serology):
    r = 3
    found = MEASURES["shah_s"](memory.panel_patterns(serology, "T"))
    assert found.expected == pytest.approx(chance(serology, r * (r - 1), "T"), abs=1e-12)
    assert found.value == pytest.approx(0.63576, abs=5e-6)
    slip = chance(serology, r**2, "T")
    assert slip == pytest.approx(0.105, abs=1.5e-3)
    assert (float(found.observed) - slip) / (float(found.greatest) - slip) == pytest.approx(0.662, abs=1e-3)


def test_dividing_by_r_squared_would_not_give_cohens_kappa_for_two_raters():
    two = RatingPatterns([[0, 0], [0, 1], [1, 0], [1, 1]], [20, 10, 20, 50], scale=Scale(("STAT", "IReq")), raters=("A", "B"))
    cohens_chance = 0.3 * 0.4 + 0.7 * 0.6
    assert MEASURES["shah_kappa_s"](two).expected == pytest.approx(cohens_chance, abs=1e-12)
    assert 2 * cohens_chance / 2**2 == pytest.approx(cohens_chance / 2)


@pytest.mark.parametrize(
    ("name", "rows", "weights", "kappa_s", "kappa_f"),
    [
        ("Hypo0", [[0, 1, 2, 3]], [200], 0.0, -0.33333),
        ("Hypo2", [[1, 1, 2, 3], [0, 0, 2, 3]], [100, 100], 0.09091, -0.11111),
        ("Hypo3 as meant: E3 the same as E1 and E2", [[1, 1, 1, 3], [0, 0, 0, 3]], [100, 100], 0.33333, 0.23810),
        ("Hypo3 as worded: E3 the opposite of E1 and E2", [[1, 1, 0, 3], [0, 0, 1, 3]], [100, 100], -0.11111, None),
        ("Hypo4", [[k] * 4 for k in range(4)], [50] * 4, 1.0, 1.0),
        ("Hypo4a", [[0] * 4, [1] * 4], [100, 100], 1.0, 1.0),
    ],
)
def test_shahs_hypothetical_panels(name, rows, weights, kappa_s, kappa_f):
    patterns = RatingPatterns(rows, weights, scale=LABELS, raters=EXPERTS)
    assert MEASURES["shah_kappa_s"](patterns).value == pytest.approx(kappa_s, abs=5e-6), name
    if kappa_f is not None:
        assert MEASURES["fleiss_kappa"](patterns.counts()).value == pytest.approx(kappa_f, abs=5e-6), name


def test_self_agreement_is_one_minus_the_gini_impurity_not_the_impurity_itself():
    first = RatingPatterns([[0]], scale=Scale(("no", "yes")), raters=("a",))
    possible = [float(MEASURES["self_agreement"](ReplicateCounts([[c, 6 - c]], [0], [0], first)).value) for c in range(7)]
    impurity = [1 - (c / 6) ** 2 - (1 - c / 6) ** 2 for c in range(7)]
    assert possible == pytest.approx([1 - gini for gini in impurity])
    assert sorted({round(36 * value, 9) for value in possible}) == [18, 20, 26, 36]


def test_siegels_two_category_names_are_swapped_in_print():
    sandwich = CategoryCounts([[2, 0], [1, 1], [0, 2]], [400, 150, 450], scale=Scale(("does not contain", "contains")))
    rates = dict(zip(sandwich.scale.names, MEASURES["category_agreement"](sandwich).value, strict=True))
    printed = {"contains": 400 / 550, "does not contain": 450 / 600}
    assert rates == pytest.approx({"does not contain": printed["contains"], "contains": printed["does not contain"]})


def test_the_largest_share_of_guessing_that_entropy_allows_on_two_balanced_classes_is_a_third_where_campagner_and_cabitza_print_a_half():
    d = np.array([[c / 6, 1 - c / 6] for c in range(7)])
    assert random_choice(d, np.array([0.5, 0.5])).max() == pytest.approx(1 / 3)
    assert random_choice(np.array([[1.0, 0.0]]), np.array([1.0, 0.0])) == pytest.approx(0.5)


def test_campagner_and_cabitzas_printed_rho_takes_more_guessing_than_their_equation_1_allows():
    p, agreed, printed = np.array([0.5, 0.5]), 0.82, 0.46
    largest = random_choice(np.array([p]), p)[0]

    def rho(x):
        return agreed * ((1 - x) / (1 - x + x / 2)) ** 2

    first = RatingPatterns([[0, 0], [1, 1], [0, 1], [1, 0]], [41, 41, 9, 9], scale=Scale(("no", "yes")), raters=("a", "b"))
    least = MEASURES["campagner_cabitza_rho_robust"](ReplicateCounts([[3, 3], [3, 3]], [0, 0], [0, 1], first)).value
    assert least == pytest.approx(rho(largest), abs=1e-12)
    assert least == pytest.approx(0.525, abs=5e-4)
    assert rho(0.40) == pytest.approx(printed, abs=5e-3)
