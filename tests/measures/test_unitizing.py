"""Alphas of continua as loops over positions.

`tests/reference/test_reproduction.py` has what Krippendorff and dkpro-statistics print.
"""

from itertools import combinations

import numpy as np
import pytest

from agreement_pipeline.errors import RatingsError
from agreement_pipeline.measures import unitizing_alpha, unitizing_alphas
from agreement_pipeline.units import Marked, Span

EXAMPLE_C = (
    [(2, 6), (10, 2), (14, 4), (20, 2)],
    [(0, 2), (4, 4), (10, 4), (16, 2), (20, 2)],
)
"""Start and length of the units of two raters on 24 tokens: Krippendorff (1995), p. 57."""


def marked(rater, *units, length=24):
    spans = tuple(Span(start, start + size, category) for start, size, category in units)
    return Marked("d", rater, spans, (length,))


def test_example_c_on_half_positions_has_the_chance_that_dkpro_tests():
    raters = [
        marked(rater, *((start // 2, size // 2, "u") for start, size in units), length=12)
        for rater, units in zip("ij", EXAMPLE_C, strict=True)
    ]
    found = unitizing_alpha(raters)
    assert float(found.expected) == pytest.approx(0.05494, abs=1e-5)
    assert float(found.value) == pytest.approx(0.494, abs=0.001)


def some_units(rng, length=18):
    cuts = np.unique(rng.integers(0, length + 1, 7)).tolist()
    return [
        (start, end - start, "ABC"[rng.integers(0, 3)])
        for start, end in zip(cuts[:-1:2], cuts[1::2], strict=False)
    ]


def by_position(units, length=18):
    """The category and the unit of each position. A gap is of one position."""
    found = [("none", f"gap {n}") for n in range(length)]
    for n, (start, size, category) in enumerate(units):
        found[start : start + size] = [(category, f"unit {n}")] * size
    return found


def slowly(raters, what=lambda category: category):
    """Alpha over all pairs of positions that are not of one unit of one rater."""
    lines = [by_position(units) for units in raters]
    meet = [
        what(one[n][0]) != what(other[n][0])
        for one, other in combinations(lines, 2)
        for n in range(18)
    ]
    every = [(who, *line[n]) for who, line in enumerate(lines) for n in range(18)]
    chance = [
        what(one[1]) != what(other[1])
        for one, other in combinations(every, 2)
        if (one[0], one[2]) != (other[0], other[2])
    ]
    return 1 - np.mean(meet) / np.mean(chance)


@pytest.mark.parametrize("seed", range(8))
def test_the_alphas_of_2016_are_loops_over_pairs_of_positions(seed):
    rng = np.random.default_rng(seed)
    raters = [some_units(rng) for _ in range(3)]
    found = unitizing_alphas(
        [marked(name, *units, length=18) for name, units in zip("abc", raters, strict=True)]
    )
    assert float(found.nominal.value) == pytest.approx(slowly(raters))
    assert float(found.binary.value) == pytest.approx(
        slowly(raters, lambda category: category == "none")
    )


def coding_slowly(raters):
    """cuα over pairs of marked positions. One counts by the share of others who marked it too."""
    lines = [by_position(units) for units in raters]
    others = len(lines) - 1
    pairs = [
        (one[n][0], other[n][0])
        for one, other in combinations(lines, 2)
        for n in range(18)
        if "none" not in (one[n][0], other[n][0])
    ]
    every = [
        (who, *line[n], sum(each[n][0] != "none" for each in lines if each is not line) / others)
        for who, line in enumerate(lines)
        for n in range(18)
        if line[n][0] != "none"
    ]
    apart = every_pair = 0.0
    for one, other in combinations(every, 2):
        if (one[0], one[2]) != (other[0], other[2]):
            every_pair += one[3] * other[3]
            apart += one[3] * other[3] * (one[1] != other[1])
    return 1 - np.mean([one != other for one, other in pairs]) / (apart / every_pair)


@pytest.mark.parametrize("n_raters", [2, 3, 4])
@pytest.mark.parametrize("seed", range(4))
def test_coding_is_what_raters_call_the_positions_that_others_marked_too(seed, n_raters):
    rng = np.random.default_rng(seed)
    raters = [
        [(0, 5, "A"), (7, 3, "B"), (10, 4, "A")],
        *(some_units(rng) for _ in range(n_raters - 1)),
    ]
    found = unitizing_alphas(
        [marked(name, *units, length=18) for name, units in zip("abcd", raters, strict=False)]
    )
    assert float(found.coding.value) == pytest.approx(coding_slowly(raters))


def test_a_category_whose_units_nobody_else_marked_has_no_alpha():
    both = (0, 5, "A"), (10, 4, "C")
    found = unitizing_alphas([marked("a", *both, (16, 3, "B")), marked("b", *both)])
    of_each = {name: float(each.value) for name, each in found.by_category.items()}
    assert of_each == pytest.approx({"A": 1, "B": np.nan, "C": 1}, nan_ok=True)


def test_full_agreement_is_one_in_every_alpha():
    units = [(0, 5, "A"), (7, 3, "B"), (10, 4, "A")]
    found = unitizing_alphas([marked(name, *units) for name in "ab"])
    of_each = [float(each.value) for each in found.by_category.values()]
    assert [float(each.value) for each in found[:3]] + of_each == [1.0] * 5


def test_an_item_that_one_rater_marked_changes_no_alpha():
    said = [marked("a", (0, 5, "A"), (7, 3, "B")), marked("b", (0, 4, "A"), (7, 3, "B"))]
    alone = Marked("e", "a", (Span(0, 3, "A"),), (9,))
    assert unitizing_alphas([*said, alone]).nominal == unitizing_alphas(said).nominal


def test_no_unit_has_no_alpha():
    assert np.isnan(unitizing_alpha([marked("a"), marked("b")]).value)
    assert np.isnan(unitizing_alphas([marked("a"), marked("b")]).nominal.value)


def test_what_alphas_of_continua_refuse():
    with pytest.raises(RatingsError, match="found 1 raters of 1 items; expected two raters"):
        unitizing_alpha([marked("a")])
    with pytest.raises(RatingsError, match="found units of rater 'a' that overlap at 2"):
        unitizing_alphas([marked("a", (0, 4, "A"), (2, 4, "B")), marked("b")])
