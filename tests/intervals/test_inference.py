"""Settings of intervals are checked when they are made, and say how many resamples they need."""

import math
from dataclasses import replace

import pytest

from agreement_pipeline.errors import PolicyError
from agreement_pipeline.estimates import estimate
from agreement_pipeline.estimates.differences import Side, estimate_difference
from agreement_pipeline.intervals import Inference, Looks
from agreement_pipeline.ratings import Scale
from agreement_pipeline.statistics import CategoryCounts
from tests.intervals.rounds import patterns


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        (
            {"confidence_level": 95},
            "confidence_level: found 95; expected more than 0 and less than 1",
        ),
        ({"confidence_level": math.nan}, "confidence_level: found nan"),
        ({"n_resamples": 0}, "n_resamples: found 0; expected a whole number from 1"),
        ({"method": "bootstrap"}, "interval method: found 'bootstrap'; expected one of"),
        ({"method": ["bootstrap"]}, r"found \['bootstrap'\]"),
        ({"always_valid_at": 0}, "always_valid_at: found 0; expected a number of items"),
        (
            {"always_valid_at": 500, "method": "two_way_jackknife"},
            "always_valid_at: found method two_way_jackknife; expected one for these raters",
        ),
        (
            {"always_valid_at": 500, "looks": Looks((100, 200))},
            r"looks: found looks at \[100, 200\] and always_valid_at 500; expected one of them",
        ),
    ],
)
def test_impossible_settings_are_refused_when_they_are_made(settings, words):
    with pytest.raises(PolicyError, match=words):
        Inference(**settings)


@pytest.mark.parametrize(
    ("settings", "n_together", "needed"),
    [
        ({}, 1, 400),
        ({}, 4, 1600),
        ({"confidence_level": 0.99}, 1, 2000),
        ({"always_valid_at": 200}, 1, 17398),
        ({"method": "jackknife_t"}, 1, 400),
    ],
)
def test_ten_resamples_lie_beyond_each_limit(settings, n_together, needed):
    assert Inference(**settings).min_resamples(n_together) == needed
    Inference(**settings, n_resamples=needed).require_enough_resamples(n_together)
    with pytest.raises(PolicyError, match=f"found {needed - 1} with .*; expected {needed} or more"):
        Inference(**settings, n_resamples=needed - 1).require_enough_resamples(n_together)


@pytest.mark.parametrize(
    "settings", [{"method": "jackknife_t"}, {"always_valid_at": 500}], ids=["method", "always"]
)
def test_a_difference_has_one_method(settings):
    counts = CategoryCounts([[3, 0], [0, 3]], [10, 10], scale=Scale(("no", "yes")))
    side = Side("one", "fleiss_kappa", counts)
    inference = Inference(**settings)
    with pytest.raises(PolicyError, match=r"difference: found method .*, judged once"):
        estimate_difference(side, side, inference, shared=20)


@pytest.mark.parametrize("looked", [{}, {"always_valid_at": 60}], ids=["once", "always"])
@pytest.mark.parametrize("name", ["krippendorff_alpha", "gwet_ac1", "shah_kappa_s"])
def test_lower_limits_alone_are_the_same_and_leave_the_upper_one_open(name, looked):
    both = Inference(n_resamples=18_000, **looked)
    statistic = patterns(1, 60)
    whole, lower = (
        estimate(name, statistic, each) for each in (both, replace(both, lower_only=True))
    )
    assert lower.interval.low == whole.interval.low > -1
    assert lower.p_value(0.5) == whole.p_value(0.5)
    assert lower.interval.high == 1 > whole.interval.high
