"""Numbers and vectors in the place of categories."""

import numpy as np
import pandas as pd
import pytest

from agreement_pipeline.counting import RatingsCounting
from agreement_pipeline.errors import RatingsError
from agreement_pipeline.estimates import estimate
from agreement_pipeline.intervals import Inference
from agreement_pipeline.ratings import (
    ParquetRows,
    Ratings,
    RatingsRows,
    Scale,
    open_stored_cells,
    parquet_bytes,
    ratings_from_stored_cells,
)
from agreement_pipeline.statistics import LabelsByRater, NumbersByRater
from tests.statistics.scales import INTERVAL, PLANE


def long_table(rows):
    return pd.DataFrame(rows, columns=["item", "rater", "label"])


def test_a_continuous_scale_is_read_off_more_than_64_distinct_numbers_only():
    assert Scale.from_labels(np.arange(64) / 7, "interval").categories == tuple(np.arange(64) / 7)
    assert Scale.from_labels(np.arange(65) / 7, "interval").continuous
    assert Scale.from_labels(np.arange(65) / 7, "ratio").continuous


def test_a_multivariate_scale_reads_its_dimensions_off_the_labels():
    assert Scale.from_labels([None, "71|166", "74|171"], "multivariate interval") == PLANE
    assert Scale.from_mapping(PLANE.to_mapping()) == PLANE


def test_the_plain_data_of_a_scale_of_one_dimension_do_not_name_it():
    assert INTERVAL.to_mapping() == {"level": "interval", "categories": None}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((None, "multivariate interval", 1), "expected two or more"),
        ((None, "interval", 2), "expected one there"),
        ((("1", "2"), "multivariate interval", 2), "expected none there"),
        ((None, "nominal"), "expected a list of them on the nominal level"),
    ],
)
def test_a_scale_refuses_dimensions_that_its_level_does_not_have(arguments, message):
    with pytest.raises(RatingsError, match=message):
        Scale(*arguments)


@pytest.mark.parametrize("form", [tuple, list, np.array, lambda pair: "|".join(map(str, pair))])
def test_a_vector_may_be_written_in_any_form_and_has_one_digest(form):
    rows = [("i1", "a", (71, 166)), ("i1", "b", (74, 171)), ("i2", "a", (73.5, 160))]
    plain = Ratings.from_frame(long_table(rows), PLANE)
    other = Ratings.from_frame(
        pd.DataFrame(
            {
                "item": ["i1", "i1", "i2"],
                "rater": ["a", "b", "a"],
                "label": [form(row[2]) for row in rows],
            }
        ),
        PLANE,
    )
    assert list(other.to_pandas()["label"]) == [(71.0, 166.0), (74.0, 171.0), (73.5, 160.0)]
    assert other.digest == plain.digest


def test_vectors_survive_being_stored():
    ratings = Ratings.from_frame(
        long_table([("i1", "a", (71, 166)), ("i1", "b", (74.5, 171))]), PLANE
    )
    stored = ParquetRows(parquet_bytes(RatingsRows(ratings)))
    assert (
        ratings_from_stored_cells(open_stored_cells(stored, "store"), PLANE).digest
        == ratings.digest
    )


@pytest.mark.parametrize(
    "label", ["71", "71|tall", "71|", (1, 2, 3), (1, np.inf), (1, -2e150), 4.0]
)
def test_a_label_that_is_not_a_vector_is_refused_with_its_row(label):
    table = pd.DataFrame(
        {
            "item": ["i1", "i1"],
            "rater": ["a", "b"],
            "label": pd.Series(["1|2", label], dtype=object),
        }
    )
    with pytest.raises(
        RatingsError,
        match=r"row 2, column 'label': found label .*; expected 2 finite numbers on the "
        r"multivariate interval level",
    ):
        Ratings.from_frame(table, PLANE)


def test_a_row_without_a_vector_is_a_missing_rating():
    ratings = Ratings.from_frame(
        long_table([("i1", "a", "1|2"), ("i1", "b", None), ("i2", "b", "3|4")]), PLANE
    )
    values = RatingsCounting().numbers(ratings)
    assert values.n_ratings == 2
    assert np.isnan(values.values[0, values.raters.index("b")]).all()


def test_equal_rows_are_made_one_where_the_scale_has_categories():
    table = long_table(
        [(f"i{n}", rater, 1.0) for n in range(5) for rater in "ab"]
        + [("x", "a", 2.5), ("x", "b", 1.0)]
    )
    values = RatingsCounting().numbers(
        Ratings.from_frame(table, Scale.from_labels(table["label"], "interval"))
    )
    assert values.weights.tolist() == [5.0, 1.0]
    assert sorted(values.values[1, :, 0].tolist()) == [1.0, 2.5]


def test_labels_are_not_counted_on_a_scale_without_categories():
    ratings = Ratings.from_frame(long_table([("i1", "a", 0.5), ("i1", "b", 0.7)]), INTERVAL)
    with pytest.raises(RatingsError, match="expected a list of them to count labels"):
        RatingsCounting().counts(ratings)


def test_codes_become_the_numbers_they_stand_for():
    patterns = LabelsByRater(
        [[0, 2], [1, -1]], [3, 1], scale=Scale((1, 5, 20), "interval"), raters=("a", "b")
    )
    values = patterns.as_numbers()
    assert values.values[0, :, 0].tolist() == [1.0, 20.0]
    assert values.n_items == 4
    assert values.n_ratings == 7


@pytest.mark.parametrize(
    ("values", "scale", "message"),
    [
        (
            [[1.0, 2.0], [1.0, np.inf]],
            INTERVAL,
            r"row 2, column 'b': found \[inf\] \(1 such rating in all\); "
            r"expected finite numbers up to 1e\+150 in size",
        ),
        ([[-1.1e150, 1.0]], INTERVAL, r"row 1, column 'a': found \[-1.1e\+150\]"),
        (
            [[1.0, -1.0]],
            Scale(None, "ratio"),
            r"column 'b': found \[-1.0\] .*; expected finite non-negative numbers",
        ),
        (
            [[1.0, 2.0, 3.0]],
            INTERVAL,
            r"found shape \(1, 3, 1\); expected \(N, 2, 1\) for the raters",
        ),
        (
            [[(1.0, np.nan), (1.0, 2.0)]],
            PLANE,
            r"column 'a': found \[1.0, nan\] .* or nan in all dimensions",
        ),
        ([[1.0, 2.0]], Scale(("low", "high"), "ordinal"), "expected a scale of numbers"),
    ],
)
def test_impossible_values_are_refused_at_birth(values, scale, message):
    with pytest.raises(RatingsError, match=message):
        NumbersByRater(values, scale=scale, raters=("a", "b"))


def test_crossed_leaves_out_incomplete_items_and_counts_them():
    values = NumbersByRater(
        [[1, 2], [3, np.nan], [np.nan, np.nan]], [2, 3, 4], scale=INTERVAL, raters=("a", "b")
    )
    crossed = values.items_rated_by_all()
    assert crossed.values[:, :, 0].tolist() == [[1.0, 2.0]]
    assert (crossed.n_items, crossed.left_out) == (2, 3)
    assert crossed.items_rated_by_all() is crossed


def test_two_raters_of_one_name_are_refused():
    with pytest.raises(
        RatingsError,
        match=r"numbers by rater: found raters \['a', 'a'\]; expected each name once. "
        "Name the raters apart",
    ):
        NumbersByRater([[1, 2]], scale=INTERVAL, raters=("a", "a"))


def test_two_rounds_values_add_by_rater_name():
    one = NumbersByRater([[1, 2]], scale=INTERVAL, raters=("a", "b"))
    other = NumbersByRater([[3, 4]], scale=INTERVAL, raters=("b", "c"))
    both = one + other
    assert both.raters == ("a", "b", "c")
    assert np.array_equal(both.values[:, :, 0], [[1, 2, np.nan], [np.nan, 3, 4]], equal_nan=True)
    with pytest.raises(RatingsError, match="different scales"):
        one + NumbersByRater([[1, 2]], scale=Scale(None, "ratio"), raters=("a", "b"))


def test_a_crossed_measure_counts_the_items_it_rests_on_and_those_left_out():
    values = NumbersByRater(
        [[1, 2.2], [3, 3.1], [5, 4.7], [7, np.nan], [6, np.nan]], scale=INTERVAL, raters=("a", "b")
    )
    found = estimate("icc_2_1", values, Inference(n_resamples=100))
    assert (found.n_items, found.n_ratings) == (3, 6)
    assert found.method.endswith("items with missing ratings left out: 2")
    assert estimate("icc_1_1", values, Inference(n_resamples=100)).n_items == 5


def test_a_round_is_measured_on_every_scope_that_numbers_have():
    assessment = pytest.importorskip(
        "agreement_pipeline.estimates.scopes",
        reason="the data contract is not here",
        exc_type=ImportError,
    )
    rng = np.random.default_rng(0)
    rows = [
        (f"i{n}", rater, truth + rng.normal() / 2)
        for n, truth in enumerate(rng.normal(size=40))
        for rater in "abc"
    ]
    ratings = Ratings.from_frame(long_table(rows), INTERVAL)
    assert "percent_agreement" not in assessment.applicable_measures(ratings)
    found = {
        (e.measure, str(e.scope))
        for e in assessment.measure_ratings(
            ratings, ["krippendorff_alpha", "um_phi"], Inference(n_resamples=100)
        )
    }
    assert found == {
        ("um_phi", "round"),
        ("krippendorff_alpha", "round"),
        *(("krippendorff_alpha", f"without {rater}") for rater in "abc"),
        *(("krippendorff_alpha", f"pair {one} and {other}") for one, other in ("ab", "ac", "bc")),
    }
