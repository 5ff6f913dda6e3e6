"""Estimates of strata: each is a round of its own, and small ones are read together."""

import numpy as np
import pandas as pd
import pytest

from agreement_pipeline.estimates import (
    DETAIL_RESAMPLES,
    Scope,
    estimate,
    measure_ratings,
    measure_strata,
    survey,
)
from agreement_pipeline.intervals import Inference
from agreement_pipeline.ratings import Ratings, Scale
from agreement_pipeline.statistics import CategoryCounts, CountsOfStratum

FEW = Inference(n_resamples=1000)
ALPHA = "krippendorff_alpha"
SIZES = {"de": 60, "en": 40, "fr": 12, "it": 9}


@pytest.fixture(scope="module")
def frame():
    random = np.random.default_rng(5)
    rows = [
        (f"{name}{item:03}", rater, random.choice(3) if random.random() < 0.2 else item % 3, name)
        for name, size in SIZES.items()
        for item in range(size)
        for rater in ("ana", "ben", "cleo")
    ]
    made = pd.DataFrame(rows, columns=["item", "rater", "label", "stratum:language"])
    return made.assign(label=made["label"].astype(str))


def ratings_of(frame):
    return Ratings.from_frame(frame, Scale(("0", "1", "2")))


def by_scope(estimates):
    return {str(each.scope): each for each in estimates}


def test_a_stratum_is_a_round_of_its_own_for_every_measure(frame):
    names = [ALPHA, "shah_kappa_s", "category_agreement", "self_agreement"]
    found = list(measure_ratings(ratings_of(frame), names, FEW, scopes=("stratum",)))
    for language in SIZES:
        alone = ratings_of(frame[frame["stratum:language"] == language])
        of_round = list(measure_ratings(alone, names, FEW, scopes=("round",)))
        mine = [each for each in found if each.scope == Scope.of_stratum("language", language)]
        assert [(each.measure, each.value, each.interval, each.n_used) for each in mine] == [
            (each.measure, each.value, each.interval, each.n_used) for each in of_round
        ]


def test_a_measure_without_a_value_for_a_round_has_none_for_a_stratum(frame):
    assert not list(measure_ratings(ratings_of(frame), ["shah_s"], FEW, scopes=("stratum",)))


def test_small_strata_are_read_together(frame):
    found = by_scope(measure_strata(ratings_of(frame), [ALPHA], FEW, 30))
    assert set(found) == {
        "stratum language=de",
        "stratum language=en",
        "stratum language, 2 small ones as one",
    }
    small = ratings_of(frame[frame["stratum:language"].isin(("fr", "it"))])
    alone = next(measure_ratings(small, [ALPHA], FEW, scopes=("round",)))
    pooled = found["stratum language, 2 small ones as one"]
    assert (pooled.value, pooled.interval, pooled.n_used) == (alone.value, alone.interval, 21)


def test_one_small_stratum_stays_itself(frame):
    assert set(by_scope(measure_strata(ratings_of(frame), [ALPHA], FEW, 10))) == {
        f"stratum language={name}" for name in SIZES
    }


def test_on_the_ruler_of_the_round_strata_add_up_and_have_intervals(frame):
    ratings = ratings_of(frame)
    found = survey(ratings, ["stratum_alpha"], FEW, scopes=("stratum",))
    whole = next(measure_ratings(ratings, [ALPHA], FEW, scopes=("round",)))
    total = sum(each.value * each.n_ratings for each in found) / whole.n_ratings
    assert total == pytest.approx(whole.value, abs=1e-12)
    assert [each.n_used for each in found] == list(SIZES.values())
    assert all(each.low < each.value < each.high for each in found)
    assert FEW.n_resamples >= DETAIL_RESAMPLES


def test_a_stratum_that_is_the_whole_round_has_the_limits_of_the_round():
    counts = CategoryCounts([[3, 0], [2, 1], [0, 3]], [20, 4, 16], scale=Scale(("no", "yes")))
    whole, part = (
        estimate(name, each, Inference(n_resamples=1000, seed=1))
        for name, each in (
            (ALPHA, counts),
            ("stratum_alpha", CountsOfStratum(counts, [True] * 3)),
        )
    )
    assert (part.value, part.interval) == (whole.value, whole.interval)


def test_other_strata_hardly_change_the_limits_of_a_stratum_on_the_same_ruler():
    """As many items beside the stratum do not count as items that could be unlike it."""
    rows, scale = [[3, 0], [2, 1], [0, 3]], Scale(("no", "yes"))
    widths = []
    for times in (0, 20):
        weights = [20, 4, 16, *(np.array([20, 4, 16]) * times)]
        whole = CategoryCounts(rows * 2, weights, scale=scale)
        part = CountsOfStratum(whole, [True] * 3 + [False] * 3)
        found = estimate("stratum_alpha", part, Inference(n_resamples=4000, seed=1))
        widths.append(found.interval.high - found.interval.low)
    assert 0.75 < widths[1] / widths[0] < 1.05
