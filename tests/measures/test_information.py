import mpmath
import numpy as np
import pytest
from sklearn.metrics import mutual_info_score

from agreement_pipeline import Scale
from agreement_pipeline.measures import MEASURES
from agreement_pipeline.statistics import LabelsByRater
from tests.measures.panels import of_table

IA, IA_C = MEASURES["information_agreement"], MEASURES["information_agreement_c"]


def at_epsilon(table, digits):
    """IA with 10 ** -digits in every empty cell."""
    with mpmath.workdps(3 * digits):
        cells = [
            [mpmath.mpf(int(cell)) or mpmath.mpf(10) ** -digits for cell in row] for row in table
        ]
        total = sum(map(sum, cells))
        entropies = [
            -sum(p / total * mpmath.log(p / total) for p in shares)
            for shares in (
                [sum(row) for row in cells],
                [sum(column) for column in zip(*cells, strict=True)],
                [cell for row in cells for cell in row],
            )
        ]
        return (entropies[0] + entropies[1] - entropies[2]) / min(entropies[:2])


def limit(table):
    """The limit as epsilon falls to 0. The error falls with 1 / digits, so two values give it."""
    few, many = at_epsilon(table, 500), at_epsilon(table, 1000)
    return float(2 * many - few)


TABLES = {
    "full": [[40, 2], [3, 5]],
    "an empty cell": [[4, 0], [3, 5]],
    "a diagonal": [[4, 0, 0], [0, 7, 0], [0, 0, 2]],
    "an empty row": [[3, 7], [0, 0]],
    "an empty column": [[3, 0], [7, 0]],
    "one cell of two by two": [[0, 0], [0, 6]],
    "one cell of three by three": [[0, 0, 0], [0, 9, 0], [0, 0, 0]],
    "one row of three": [[0, 0, 0], [5, 0, 1], [0, 0, 0]],
    "one column of three": [[2, 0, 0], [5, 0, 0], [1, 0, 0]],
    "an unused category": [[5, 1, 0], [2, 6, 0], [0, 0, 0]],
    "never the same": [[0, 5, 1], [2, 0, 0], [0, 3, 0]],
}


@pytest.mark.parametrize("table", [pytest.param(table, id=name) for name, table in TABLES.items()])
def test_ia_c_is_what_ia_tends_to(table):
    assert float(IA_C(of_table(table)).value) == pytest.approx(limit(table), abs=1e-5)


@pytest.mark.parametrize("seed", range(3))
def test_ia_is_scikit_learns_mutual_information_over_the_lesser_entropy(seed):
    rng = np.random.default_rng(seed)
    one = rng.integers(0, 4, size=50)
    other = np.where(rng.random(50) < 0.6, one, rng.integers(0, 4, size=50))
    patterns = LabelsByRater(
        np.column_stack([one, other]), scale=Scale(tuple("abcd")), raters=("one", "other")
    )
    least = min(mutual_info_score(one, one), mutual_info_score(other, other))
    for measure in (IA, IA_C):
        found = measure(patterns)
        assert float(found.value) == pytest.approx(mutual_info_score(one, other) / least, abs=1e-12)
        assert float(found.observed) == pytest.approx(
            mutual_info_score(one, other) / np.log(2), abs=1e-12
        )
        assert float(found.greatest) == pytest.approx(least / np.log(2), abs=1e-12)


@pytest.mark.parametrize("name", ["an empty row", "an empty column", "one cell of three by three"])
def test_ia_has_no_value_where_a_rater_gives_one_category(name):
    patterns = of_table(TABLES[name])
    assert np.isnan(IA(patterns).value)
    assert (
        IA.why_undefined(patterns)
        == "a rater gave one single category to the items that both rated"
    )
    assert IA_C.why_undefined(patterns) is None


@pytest.mark.parametrize("record", [IA, IA_C])
@pytest.mark.parametrize("seed", range(50))
def test_raters_whose_labels_are_independent_to_the_last_item_never_have_less_than_nothing(
    record, seed
):
    rng = np.random.default_rng(seed)
    table = np.outer(rng.integers(1, 30, size=4), rng.integers(1, 30, size=4))
    found = record(of_table(table))
    assert 0 <= found.value < 1e-12
    assert found.observed >= 0


def test_ia_by_continuity_depends_on_the_number_of_categories_alone_where_both_raters_give_one():
    values = [
        float(
            IA_C(
                LabelsByRater(
                    [[0, 0]], [9], scale=Scale(tuple(map(str, range(k)))), raters=("a", "b")
                )
            ).value
        )
        for k in (2, 10, 50)
    ]
    assert values == pytest.approx([0.5, 0.9, 0.98])
    assert not IA_C.chance_corrected


def test_raters_who_always_give_opposite_labels_have_all_the_information():
    assert float(IA(of_table([[0, 5], [7, 0]])).value) == pytest.approx(1, abs=1e-14)
