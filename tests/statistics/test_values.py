import numpy as np
import pandas as pd
import pytest

from agreement_pipeline.engines import memory
from agreement_pipeline.errors import RatingsError
from agreement_pipeline.estimates import estimate
from agreement_pipeline.intervals import Inference, evidence, resampled
from agreement_pipeline.measures import MEASURES
from agreement_pipeline.ratings import (
    Ratings,
    Scale,
    parquet_bytes,
    parquet_table,
    ratings_of,
    ratings_table,
)
from agreement_pipeline.statistics import RatingPatterns, RatingValues

INTERVAL = Scale(None, "interval")
PLANE = Scale(None, "multivariate interval", dimensions=2)


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
    assert list(other.table["label"]) == [(71.0, 166.0), (74.0, 171.0), (73.5, 160.0)]
    assert other.digest == plain.digest


def test_vectors_survive_being_stored():
    ratings = Ratings.from_frame(
        long_table([("i1", "a", (71, 166)), ("i1", "b", (74.5, 171))]), PLANE
    )
    stored = parquet_table(parquet_bytes(ratings_table(ratings)))
    assert ratings_of(stored, PLANE, source="store").digest == ratings.digest


def test_another_number_in_a_vector_gives_another_digest():
    one, other = (
        Ratings.from_frame(long_table([("i1", "a", (1, 2)), ("i1", "b", (1, x))]), PLANE).digest
        for x in (3, 3.5)
    )
    assert one != other


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
    with pytest.raises(RatingsError, match=r"row 2, column 'label'.*2 finite numbers are required"):
        Ratings.from_frame(table, PLANE)


def test_a_row_without_a_vector_is_a_missing_rating():
    ratings = Ratings.from_frame(
        long_table([("i1", "a", "1|2"), ("i1", "b", None), ("i2", "b", "3|4")]), PLANE
    )
    values = memory.rating_values(ratings)
    assert values.n_ratings == 2
    assert np.isnan(values.values[0, values.raters.index("b")]).all()


def test_the_memory_engine_puts_every_number_in_its_item_and_rater():
    table = long_table(
        [("i2", "b", 0.25), ("i1", "a", 1.5), ("i1", "b", -2.0), ("i1", "model", 9.0)]
    )
    values = memory.rating_values(Ratings.from_frame(table, INTERVAL, classifiers=["model"]))
    by_name = dict(zip(values.raters, values.values[:, :, 0].T.tolist(), strict=True))
    assert by_name["b"] == [-2.0, 0.25]
    assert by_name["a"][0] == 1.5
    assert np.isnan(by_name["a"][1])


def test_equal_rows_are_made_one_where_the_scale_has_categories():
    table = long_table(
        [(f"i{n}", rater, 1.0) for n in range(5) for rater in "ab"]
        + [("x", "a", 2.5), ("x", "b", 1.0)]
    )
    values = memory.rating_values(
        Ratings.from_frame(table, Scale.from_labels(table["label"], "interval"))
    )
    assert values.weights.tolist() == [5.0, 1.0]
    assert sorted(values.values[1, :, 0].tolist()) == [1.0, 2.5]


def test_labels_are_not_counted_on_a_scale_without_categories():
    ratings = Ratings.from_frame(long_table([("i1", "a", 0.5), ("i1", "b", 0.7)]), INTERVAL)
    with pytest.raises(RatingsError, match="a list of them is required to count labels"):
        memory.category_counts(ratings)


def test_codes_become_the_numbers_they_stand_for():
    patterns = RatingPatterns(
        [[0, 2], [1, -1]], [3, 1], scale=Scale((1, 5, 20), "interval"), raters=("a", "b")
    )
    values = RatingValues.of_patterns(patterns)
    assert values.values[0, :, 0].tolist() == [1.0, 20.0]
    assert values.n_items == 4
    assert values.n_ratings == 7


@pytest.mark.parametrize(
    ("values", "scale", "message"),
    [
        (
            [[1.0, 2.0], [1.0, np.inf]],
            INTERVAL,
            r"row 2, column 'b': \[inf\] found \(1 such ratings in all\); finite numbers up to 1e\+150 in size",
        ),
        ([[-1.1e150, 1.0]], INTERVAL, r"row 1, column 'a': \[-1.1e\+150\] found"),
        (
            [[1.0, -1.0]],
            Scale(None, "ratio"),
            r"column 'b': \[-1.0\] found .* finite non-negative numbers",
        ),
        ([[1.0, 2.0, 3.0]], INTERVAL, r"shape \(1, 3, 1\) found; \(N, 2, 1\) is required"),
        (
            [[(1.0, np.nan), (1.0, 2.0)]],
            PLANE,
            r"column 'a': \[1.0, nan\] found .* or nan in all dimensions",
        ),
        ([[1.0, 2.0]], Scale(("low", "high"), "ordinal"), "a scale of numbers is required"),
    ],
)
def test_impossible_values_are_refused_at_birth(values, scale, message):
    with pytest.raises(RatingsError, match=message):
        RatingValues(values, scale=scale, raters=("a", "b"))


def test_crossed_leaves_out_incomplete_items_and_counts_them():
    values = RatingValues(
        [[1, 2], [3, np.nan], [np.nan, np.nan]], [2, 3, 4], scale=INTERVAL, raters=("a", "b")
    )
    crossed = values.crossed()
    assert crossed.values[:, :, 0].tolist() == [[1.0, 2.0]]
    assert (crossed.n_items, crossed.left_out) == (2, 3)
    assert crossed.crossed() is crossed


def test_two_raters_of_one_name_are_refused():
    with pytest.raises(
        RatingsError,
        match=r"rating values: raters \['a', 'a'\] found; each name is required once. Name the raters apart",
    ):
        RatingValues([[1, 2]], scale=INTERVAL, raters=("a", "a"))


def test_two_rounds_values_add_by_rater_name():
    one = RatingValues([[1, 2]], scale=INTERVAL, raters=("a", "b"))
    other = RatingValues([[3, 4]], scale=INTERVAL, raters=("b", "c"))
    both = one + other
    assert both.raters == ("a", "b", "c")
    assert np.array_equal(both.values[:, :, 0], [[1, 2, np.nan], [np.nan, 3, 4]], equal_nan=True)
    with pytest.raises(RatingsError, match="different scales"):
        one + RatingValues([[1, 2]], scale=Scale(None, "ratio"), raters=("a", "b"))


def test_leaving_a_rater_out_keeps_the_others_columns():
    values = RatingValues([[1, 2, 3]], scale=INTERVAL, raters=("a", "b", "c"))
    assert values.without("b").values[0, :, 0].tolist() == [1.0, 3.0]
    assert values.without("b").raters == ("a", "c")


def test_the_unseen_items_of_ratings_of_0_and_1_are_their_splits_by_every_rater():
    rng = np.random.default_rng(0)
    values = RatingValues((rng.random((200, 3)) < 0.1).astype(float), scale=INTERVAL, raters="abc")
    unseen = values.with_unseen(3.0).values[200:, :, 0].round(9)
    assert sorted(map(tuple, unseen)) == sorted(
        [(1, 1, 1)] * 3
        + [(0, 0, 0)] * 3
        + [(1, 1, 0), (0, 1, 1), (1, 0, 1), (1, 0, 0), (0, 1, 0), (0, 0, 1)]
    )
    assert values.with_unseen(3.0).weights[200:].sum() == pytest.approx(3)


def test_the_two_values_of_unseen_items_never_lie_outside_the_ratings_by_rounding():
    x = 0.9340435159562497
    seen = RatingValues(
        [[x, x], [x, 0.0], [0.0, x], [x, 0.0], [0.0, x]], scale=Scale(None, "ratio"), raters="ab"
    )
    unseen = seen.with_unseen(3.0).values[5:]
    assert (unseen.min(), unseen.max()) == (0.0, x)


def test_the_two_values_of_unseen_items_have_the_mean_variance_and_skewness_of_all_ratings():
    rng = np.random.default_rng(1)
    numbers, weights = rng.lognormal(size=(50, 4)), rng.integers(1, 4, 50)
    unseen = (
        RatingValues(numbers, weights, scale=Scale(None, "ratio"), raters="abcd")
        .with_unseen(3.0)
        .values[50:]
    )
    low, high = np.unique(unseen.round(12))
    every = np.repeat(numbers, weights, axis=0).ravel()
    share = (every.mean() - low) / (high - low)
    two = [(low, 1 - share), (high, share)]
    for power in (2, 3):
        assert sum(p * (x - every.mean()) ** power for x, p in two) == pytest.approx(
            ((every - every.mean()) ** power).mean()
        )
    assert every.min() < low < high < every.max()


def test_the_two_values_of_unseen_items_never_lie_outside_the_ratings():
    rng = np.random.default_rng(3)
    for _ in range(400):
        numbers = np.where(rng.random((12, 3)) < rng.random(), rng.lognormal(), 0.0)
        unseen = (
            RatingValues(numbers, scale=Scale(None, "ratio"), raters="abc")
            .with_unseen(3.0)
            .values[12:]
        )
        assert numbers.min() <= unseen.min() <= unseen.max() <= numbers.max()


def test_the_unseen_items_of_two_dimensions_do_not_lie_on_one_line():
    rng = np.random.default_rng(2)
    unseen = (
        RatingValues(rng.normal(size=(20, 3, 2)), scale=PLANE, raters="abc")
        .with_unseen(3.0)
        .values[20:]
    )
    doubled_areas = [abs(np.linalg.det(item[1:] - item[0])) for item in unseen]
    assert sum(area > 0.5 for area in doubled_areas) == 6


def test_unseen_items_hold_as_many_ratings_as_a_typical_item():
    values = RatingValues(
        [[1, 2, np.nan, np.nan], [3, np.nan, np.nan, 4]], scale=INTERVAL, raters="abcd"
    )
    assert set(values.with_unseen(3.0).sizes[2:]) == {2.0}


def test_draws_of_values_depend_on_the_seed_alone():
    values = RatingValues(
        np.random.default_rng(0).normal(size=(10, 3)), scale=INTERVAL, raters="abc"
    )
    one, same, other = (next(resampled(values, 5, seed)).weights for seed in (1, 1, 2))
    assert np.array_equal(one, same)
    assert not np.array_equal(one, other)


def test_an_expensive_measure_has_400_draws_and_says_so():
    values = RatingValues(
        np.random.default_rng(0).normal(size=(30, 3)), scale=INTERVAL, raters="abc"
    )
    found = estimate("berry_mielke_r", values, Inference(n_resamples=1000))
    assert len(found.draws) == 400
    assert found.method.startswith("400 Dirichlet draws")
    assert len(estimate("icc_1_1", values, Inference(n_resamples=1000)).draws) == 1000


def test_limits_further_out_than_the_draws_of_an_expensive_measure_can_tell_are_its_bounds():
    """Ten of 400 draws lie beyond a limit at 95 %; at 99 % it would be two."""
    values = RatingValues(
        np.random.default_rng(0).normal(size=(30, 1))
        + np.random.default_rng(1).normal(scale=0.1, size=(30, 3)),
        scale=INTERVAL,
        raters="abc",
    )
    usual, further = (
        estimate("berry_mielke_r", values, Inference(confidence_level=level))
        for level in (0.95, 0.99)
    )
    assert usual.interval.low > 0.5
    assert tuple(further.interval) == MEASURES["berry_mielke_r"].bounds
    assert further.miss_probability(0.5) == 1
    assert further.method.endswith("too few draws for limits at 99 %")
    assert estimate("icc_1_1", values, Inference(confidence_level=0.99)).interval.low > 0.5


def test_many_rows_are_given_fewer_draws_and_the_method_says_so(monkeypatch):
    monkeypatch.setattr(evidence, "MOST_DRAWN_WEIGHTS", 60_000)
    values = RatingValues(
        np.random.default_rng(0).normal(size=(40, 2)), scale=INTERVAL, raters="ab"
    )
    found = estimate("icc_1_1", values, Inference(n_resamples=3_000))
    assert len(found.draws) == 1_500
    assert found.method.startswith("1500 Dirichlet draws")
    assert estimate("icc_1_1", values, Inference(n_resamples=50)).method.startswith(
        "Dirichlet draws"
    )


def test_a_crossed_measure_counts_the_items_it_rests_on_and_those_left_out():
    values = RatingValues(
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
    assert "percent_agreement" not in assessment.applicable(ratings)
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
    }


def test_what_is_read_off_the_values_is_read_once_for_all_weights_and_anew_for_other_rows():
    def ranges(values):
        read.append(values.values.shape)
        return np.ptp(values.values)

    read = []
    values = RatingValues([[1.0, 2.0], [4.0, 9.0], [3.0, 3.0]], scale=INTERVAL, raters=("a", "b"))
    other = values.reweighted(np.full((2, 3), 0.5))
    assert (
        values.kept(ranges) == other.kept(ranges) == other.reweighted(np.zeros(3)).kept(ranges) == 8
    )
    assert read == [(3, 2, 1)]
    first, last = np.array([True, False, False]), np.array([False, False, True])
    assert [
        values.at(first).kept(ranges),
        other.at(first).kept(ranges),
        other.at(last).kept(ranges),
        values.at(first).kept(ranges),
    ] == [1, 1, 0, 1]
    assert other.at(last).weights.tolist() == [[0.5], [0.5]]
    assert values.at(np.ones(3, dtype=bool)) is values
