"""Alpha of strata on the ruler of the whole round: a slow loop, and the sum."""

from itertools import permutations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from agreement_pipeline.errors import RatingsError
from agreement_pipeline.measures import MEASURES
from agreement_pipeline.ratings import Scale
from agreement_pipeline.statistics import CategoryCounts, Clusters, CountsOfStratum
from tests.properties.tables import scale_of

stratum_alpha, krippendorff_alpha = MEASURES["stratum_alpha"], MEASURES["krippendorff_alpha"]


@st.composite
def rounds(draw):
    level = draw(st.sampled_from(["nominal", "ordinal", "interval", "ratio"]))
    k, n = draw(st.integers(2, 4)), draw(st.integers(2, 8))
    cells = st.lists(st.integers(0, 3), min_size=k, max_size=k)
    counts = np.array(draw(st.lists(cells, min_size=n, max_size=n)))
    weights = np.array(draw(st.lists(st.integers(0, 4), min_size=n, max_size=n)), dtype=float)
    strata = np.array(draw(st.lists(st.integers(0, 2), min_size=n, max_size=n)))
    return CategoryCounts(counts, weights, scale=scale_of(level, k)), strata


@settings(max_examples=60)
@given(rounds())
def test_strata_weighted_by_their_pairable_ratings_add_up_to_the_whole(found):
    whole, strata = found
    assume(krippendorff_alpha.why_undefined(whole) is None)
    paired = np.where(whole.pairable, whole.weights * whole.sizes, 0.0)
    total = 0.0
    for name in range(3):
        part = CountsOfStratum(whole, strata == name)
        n = paired[strata == name].sum()
        assert (stratum_alpha.why_undefined(part) is None) == (n > 0)
        if n:
            total += n / paired.sum() * float(stratum_alpha(part).value)
    assert total == pytest.approx(float(krippendorff_alpha(whole).value), abs=1e-9)


def slow(rows, inside):
    """Every pair of labels within items of the stratum, and every pair of all items' labels."""
    rated = [row for row in rows if len(row) >= 2]
    everything = [label for row in rated for label in row]
    pairs = [a != b for a, b in permutations(everything, 2)]
    here = [row for row, is_in in zip(rows, inside, strict=True) if is_in and len(row) >= 2]
    within = sum(sum(a != b for a, b in permutations(row, 2)) / (len(row) - 1) for row in here)
    return 1 - within / sum(map(len, here)) / (sum(pairs) / len(pairs))


def test_each_stratum_is_what_a_slow_loop_over_pairs_finds():
    rows = ["aa", "ab", "abb", "c", "ccc", "bc", "bb"]
    inside = [True, True, False, True, False, True, False]
    counts = [[row.count(name) for name in "abc"] for row in rows]
    whole = CategoryCounts(counts, scale=Scale(tuple("abc")))
    for part in (inside, [not each for each in inside]):
        found = stratum_alpha(CountsOfStratum(whole, part)).value
        assert float(found) == pytest.approx(slow(rows, part), abs=1e-12)


def test_equal_rows_are_made_one_within_a_stratum_and_a_cluster():
    scale = Scale(("no", "yes"))
    whole = CategoryCounts(
        [[2, 0], [2, 0], [2, 0], [1, 1]],
        scale=scale,
        clusters=Clusters.from_names(["a", "a", "b", "b"]),
    )
    merged = CountsOfStratum(whole, [True, True, True, False]).merged()
    assert sorted(zip(merged.weights.tolist(), merged.inside.tolist(), strict=True)) == [
        (1.0, False),
        (1.0, True),
        (2.0, True),
    ]
    alone = CountsOfStratum(CategoryCounts([[2, 0], [2, 0]], scale=scale), [True, False])
    assert alone.merged().weights.tolist() == [1.0, 1.0]


def test_a_stratum_says_of_each_row_whether_it_is_inside():
    whole = CategoryCounts([[2, 0], [1, 1]], scale=Scale(("no", "yes")))
    with pytest.raises(RatingsError, match=r"stratum: found shape \(1,\); expected \(2,\)"):
        CountsOfStratum(whole, [True])
