"""Weighted sums over rows beside plain products with the whole table of weights."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from agreement_pipeline import Scale
from agreement_pipeline.statistics import (
    KnownWeights,
    LabelsByRater,
    SeenRows,
    SomeRows,
    indicator_rows,
    rows_from_array,
    to_dense,
)

RNG = np.random.default_rng(5)
SEEN, UNSEEN, COLUMNS = 7, 5, 3
VALUES = RNG.integers(0, 3, (SEEN + UNSEEN, COLUMNS)).astype(float)
EVERY = rows_from_array(VALUES)
SOME = SomeRows(np.array([1, 4, 8, 11]), VALUES[[1, 4, 8, 11]])
FEW = SomeRows(SOME.places, csr_array(SOME.values))
NONE = SomeRows(np.arange(0), np.zeros((0, COLUMNS)))
ROWS = pytest.mark.parametrize(
    "rows", [EVERY, SOME, FEW, NONE], ids=["every", "some", "sparse", "none"]
)


def plain(rows, weights):
    """The sums, row by row."""
    total = np.zeros((*weights.shape[:-1], COLUMNS))
    for place, values in zip(rows.places, to_dense(rows.values), strict=True):
        total += weights[..., place, None] * values
    return total


def alone(places, mass):
    """Weights with one unseen row alone in each resample."""
    weights = np.zeros((len(places), SEEN + UNSEEN))
    weights[:, :SEEN] = RNG.random(SEEN)
    weights[np.arange(len(places)), SEEN + places] = mass
    return weights


@ROWS
@pytest.mark.parametrize("read", [None, "a name"])
def test_sums_beside_seen_rows_are_those_of_all_weights(rows, read):
    weights = RNG.random((4, SEEN + UNSEEN))
    seen = SeenRows(weights[:, :SEEN])
    for _ in range(2):
        weights[:, SEEN:] = RNG.random((4, UNSEEN))
        found = KnownWeights(seen).weighted_sums(weights, rows, read)
        assert found == pytest.approx(plain(rows, weights), abs=1e-12)


@ROWS
def test_an_unseen_row_that_alone_has_weight_is_added(rows):
    places = np.array([0, 1, 3, 4, 4])
    weights = alone(places, 2.5)
    known = KnownWeights(SeenRows(weights[0, :SEEN]), places)
    assert known.weighted_sums(weights, rows, None) == pytest.approx(
        plain(rows, weights), abs=1e-12
    )
    for place in range(UNSEEN):
        weights = alone(np.full(3, place), RNG.random(3))
        weights[:, :SEEN] = RNG.random((3, SEEN))
        known = KnownWeights(SeenRows(weights[:, :SEEN]), np.array([place]))
        assert known.weighted_sums(weights, rows, None) == pytest.approx(
            plain(rows, weights), abs=1e-12
        )


@ROWS
def test_rows_that_say_nothing_say_zeros(rows):
    said = dict(zip(rows.places.tolist(), to_dense(rows.values).tolist(), strict=True))
    places = [11, 0, 1, 2, 8, 8]
    assert rows.values_or_zero_at(np.array(places)).tolist() == [
        said.get(each, [0] * COLUMNS) for each in places
    ]


def test_what_a_crowd_says_is_kept_without_its_zeros():
    values = np.zeros((2_000, 1_000))
    said = RNG.integers(0, 2_000, 500), RNG.integers(0, 1_000, 500)
    values[said] = RNG.integers(1, 9, 500)
    rows, weights = rows_from_array(values), RNG.random((3, 2_000))
    assert rows.places.tolist() == sorted({*said[0].tolist()})
    assert rows.weighted_sums(weights) == pytest.approx(weights @ values, abs=1e-12)
    assert np.array_equal(rows.values_or_zero_at(np.arange(2_000)), values)


def test_which_category_each_rater_of_a_crowd_gave():
    codes = np.full((2_000, 400), -1)
    codes[RNG.integers(0, 2_000, 900), RNG.integers(0, 400, 900)] = RNG.integers(0, 3, 900)
    weights, slow = RNG.random((2, 2_000)), np.zeros((2, 400, 3))
    for row, rater in np.argwhere(codes >= 0):
        slow[:, rater, codes[row, rater]] += weights[:, row]
    found = indicator_rows(codes, 3).weighted_sums(weights)
    assert found == pytest.approx(slow.reshape(2, -1), abs=1e-12)


def test_each_sum_over_seen_rows_is_made_once():
    seen = SeenRows(np.ones(SEEN))
    first = seen.weighted_sums(rows_from_array(VALUES[:SEEN]), "a name")
    assert seen.weighted_sums(rows_from_array(VALUES[:SEEN]), "a name") is first
    assert seen.weighted_sums(rows_from_array(VALUES[:SEEN]), None) is not first


def test_a_statistic_without_unseen_rows_has_the_sums_of_its_weights():
    codes, weights = RNG.integers(0, 2, (SEEN, 4)), RNG.random((6, SEEN))
    labels = LabelsByRater(codes, scale=Scale(("no", "yes")), raters=tuple("abcd"))

    def read(statistic):
        return rows_from_array(statistic.codes.astype(float))

    expected = weights @ codes
    assert labels.with_weights(weights).sums(read) == pytest.approx(expected)
    known = KnownWeights(SeenRows(weights))
    assert labels.with_weights(weights).with_known_weights(known).sums(read) == pytest.approx(
        expected
    )
    assert labels.with_weights(weights[0]).sums(read) == pytest.approx(expected[0])


def test_new_weights_forget_what_was_known_of_the_old_ones():
    labels = LabelsByRater([[0, 1]], [2], scale=Scale(("no", "yes")), raters=("a", "b"))
    known = labels.with_known_weights(KnownWeights(SeenRows(np.array([2.0]))))
    sums = known.with_weights(np.array([5.0])).sums(
        lambda each: rows_from_array(each.indicators[:, 0])
    )
    assert sums.tolist() == [5.0, 0.0]
