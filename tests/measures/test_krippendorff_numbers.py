import json
import tracemalloc
from pathlib import Path

import krippendorff
import numpy as np
import pandas as pd
import pytest

from agreement_pipeline import Ratings, Scale
from agreement_pipeline.counting import RatingsCounting
from agreement_pipeline.estimates import estimate
from agreement_pipeline.intervals import Inference, draw_reweighted
from agreement_pipeline.measures import MEASURES, _numbers
from agreement_pipeline.statistics import CategoryCounts, NumbersByRater
from tests.measures.loops import slow_alpha, slow_difference

SHARED = Path(__file__).parents[3] / "shared" / "data"
needs_data = pytest.mark.skipif(not SHARED.exists(), reason="the shared data are not here")
alpha = MEASURES["krippendorff_alpha"]
LEVELS = ["ordinal", "interval", "ratio"]


def numbers(table, level="interval", weights=None):
    table = np.asarray(table, dtype=float)
    dimensions = table.shape[2] if table.ndim == 3 else 1
    return NumbersByRater(
        table,
        weights,
        scale=Scale(None, level, dimensions=dimensions),
        raters=range(table.shape[1]),
    )


def random_table(rng, *, ties):
    table = rng.lognormal(size=(12, 1)) * rng.lognormal(sigma=0.5, size=(12, 4))
    table = np.floor(3 * table) if ties else table
    table[rng.random(table.shape) < 0.3] = np.nan
    return table


@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize("level", LEVELS)
def test_alpha_of_numbers_is_the_mean_over_pairs_of_ratings(level, ties):
    table = random_table(np.random.default_rng(7), ties=ties)
    items = [row[~np.isnan(row)].tolist() for row in table]
    every = [rating for ratings in items if len(ratings) >= 2 for rating in ratings]
    found = alpha(numbers(table, level))
    assert [found.value, found.observed, found.expected] == pytest.approx(
        slow_alpha(items, slow_difference(level, every)), rel=1e-12
    )


@pytest.mark.parametrize("level", LEVELS)
def test_alpha_of_numbers_is_that_of_the_krippendorff_library(level):
    table = random_table(np.random.default_rng(8), ties=False)
    assert alpha(numbers(table, level)).value == pytest.approx(
        krippendorff.alpha(table.T, level_of_measurement=level), rel=1e-12
    )


@pytest.mark.parametrize(
    "values", [np.arange(7.0), np.array([0, 1, 1.5, 10, 11, 1e4, 1e7]), 1e6 + np.arange(7.0)]
)
@pytest.mark.parametrize("level", LEVELS)
def test_alpha_of_numbers_is_alpha_of_the_same_numbers_as_categories(level, values):
    rng = np.random.default_rng(9)
    codes, rated = rng.integers(0, 7, (60, 4)), rng.random((60, 4)) < 0.7
    counts = np.array(
        [
            [((row == k) & here).sum() for k in range(7)]
            for row, here in zip(codes, rated, strict=True)
        ]
    )
    weights = rng.gamma(1, size=(5, 60))
    by_category = alpha(CategoryCounts(counts, weights, scale=Scale(tuple(values), level)))
    by_number = alpha(numbers(np.where(rated, values[codes], np.nan), level, weights))
    for part in ("value", "observed", "expected"):
        assert getattr(by_number, part) == pytest.approx(
            getattr(by_category, part), rel=1e-12, abs=1e-12
        )


@pytest.mark.parametrize("unit", [1e-9, 1e9])
@pytest.mark.parametrize("level", LEVELS)
def test_alpha_of_numbers_does_not_depend_on_the_unit(level, unit):
    table = random_table(np.random.default_rng(12), ties=False)
    assert alpha(numbers(unit * table, level)).value == pytest.approx(
        alpha(numbers(table, level)).value, rel=1e-12
    )


def test_multivariate_alpha_is_the_mean_squared_distance_over_pairs_of_ratings():
    rng = np.random.default_rng(13)
    table = rng.normal(size=(8, 1, 3)) + rng.normal(size=(8, 4, 3)) * [0.1, 1, 10]
    table[rng.random((8, 4)) < 0.3] = np.nan
    items = [[tuple(rating) for rating in row if not np.isnan(rating).any()] for row in table]
    found = alpha(numbers(table, "multivariate interval"))
    slow = slow_alpha(items, lambda a, b: sum((x - y) ** 2 for x, y in zip(a, b, strict=True)))
    assert [found.value, found.observed, found.expected] == pytest.approx(slow, rel=1e-12)


@pytest.mark.parametrize(
    ("table", "reason"),
    [
        ([[1, np.nan], [2, np.nan]], "no item has two ratings"),
        (
            [[0.1, 0.1], [0.1, 0.1], [5.0, np.nan]],
            "every rating that can be compared with another gives one and the same label",
        ),
        (
            [[0, 0], [0, 0]],
            "every rating that can be compared with another gives one and the same label",
        ),
    ],
)
@pytest.mark.parametrize("level", LEVELS)
def test_alpha_of_numbers_is_undefined_for_a_reason_exactly_where_it_has_no_value(
    level, table, reason
):
    assert reason in alpha.why_undefined(numbers(table, level))
    assert np.isnan(alpha(numbers(table, level)).value)


@pytest.mark.parametrize(
    "table",
    [[[1e-7, 1e-7], [2e-7, 2e-7]], [[1e6, 1e6], [1e6 + 1, 1e6 + 1]], [[0, 0], [1e-300, 1e-300]]],
)
@pytest.mark.parametrize("level", LEVELS)
def test_alpha_of_numbers_that_lie_close_is_defined(level, table):
    assert alpha.why_undefined(numbers(table, level)) is None
    assert alpha(numbers(table, level)).value == 1


@pytest.mark.parametrize("level", ["interval", "ordinal", "ratio"])
def test_the_interval_of_alpha_of_100_000_items_by_5_raters_takes_under_300_megabytes(level):
    table = np.random.default_rng(3).lognormal(sigma=3, size=(100_000, 5))
    values = NumbersByRater(table, scale=Scale(None, level), raters=tuple("abcde"))
    tracemalloc.start()
    found = estimate("krippendorff_alpha", values, Inference(n_resamples=40))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert len(found.draws) == 40
    assert peak < 300e6


def test_blocks_of_draws_share_what_is_read_off_the_numbers(monkeypatch):
    read = []
    monkeypatch.setattr(
        _numbers,
        "_items_and_ranks",
        lambda values, once=_numbers._items_and_ranks: (
            read.append(len(values.values)) or once(values)
        ),
    )
    values = NumbersByRater(
        np.random.default_rng(3).normal(size=(20, 3)),
        scale=Scale(None, "ordinal"),
        raters=tuple("abc"),
    )
    blocks = list(draw_reweighted(values, 5, 0)) + list(draw_reweighted(values, 5, 1))
    for weights in (np.ones((2, 32)), np.full((3, 32), 2.0)):
        MEASURES["krippendorff_alpha"](blocks[0].with_weights(weights))
    assert read == [32]
    MEASURES["krippendorff_alpha"](blocks[1])
    assert read == [32, 32]


def test_from_a_table_of_distinct_numbers_to_alpha_takes_under_300_megabytes():
    rng = np.random.default_rng(15)
    items = np.repeat(np.arange(100_000), 5).astype(str).astype(object)
    raters = np.tile(np.array(list("abcde"), dtype=object), 100_000)
    table = pd.DataFrame({"item": items, "rater": raters, "label": rng.normal(size=500_000)})
    ratings = Ratings.from_frame(table, Scale.from_labels(table["label"], "interval"))
    assert len(ratings) == 500_000
    tracemalloc.start()
    found = alpha(RatingsCounting().numbers(ratings))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert found.value == pytest.approx(0, abs=0.01)
    assert peak < 300e6


@needs_data
@pytest.mark.parametrize(
    ("name", "value"), [("ref_janson_olsson_photo", 0.762706), ("snow_affect", 0.322192)]
)
def test_the_multivariate_alpha_of_two_tables_is_that_of_another_computation(name, value):
    table = pd.read_csv(SHARED / f"{name}.csv")
    ratings = Ratings.from_frame(
        table[["item", "rater", "label"]],
        Scale.from_labels(table["label"], "multivariate interval"),
    )
    assert alpha(RatingsCounting().numbers(ratings)).value == pytest.approx(value, abs=5e-7)


@needs_data
def test_the_interval_alphas_of_the_dimensions_of_snow_2008():
    table = pd.read_csv(SHARED / "snow_affect.csv")
    published = json.loads((SHARED / "snow_affect.json").read_text())["alpha_fast_krippendorff"]
    for column, expected in published.items():
        frame = table[["item", "rater"]].assign(label=table[column])
        values = RatingsCounting().numbers(Ratings.from_frame(frame, Scale(None, "interval")))
        assert alpha(values).value == pytest.approx(expected["interval"], abs=1e-6)
        ranks = RatingsCounting().numbers(Ratings.from_frame(frame, Scale(None, "ordinal")))
        assert alpha(ranks).value == pytest.approx(expected["ordinal"], abs=1e-6)
