"""The two-way interval, which holds for raters at large."""

import math

import numpy as np
import pytest
from scipy import stats

from agreement_pipeline.estimates import estimate
from agreement_pipeline.intervals import Inference, compute_points, gather_evidence
from agreement_pipeline.measures import MEASURES
from agreement_pipeline.policy import Rule
from agreement_pipeline.ratings import Scale
from agreement_pipeline.statistics import CategoryCounts, Clusters, LabelsByRater, NumbersByRater
from tests.intervals.rounds import TWO, patterns, squared_error


def test_the_two_way_interval_is_that_of_its_parts_one_by_one():
    seen = patterns(9, 60, raters=4)
    alpha = MEASURES["krippendorff_alpha"]

    items = np.array(
        [
            float(
                alpha(
                    LabelsByRater(
                        np.delete(seen.codes, i, 0), scale=TWO, raters=seen.raters
                    ).counts()
                ).value
            )
            for i in range(60)
        ]
    )
    raters = np.array([float(alpha(seen.without(rater).counts()).value) for rater in seen.raters])
    reach = stats.t.ppf(0.975, 3) * math.sqrt(squared_error(items) + squared_error(raters))
    even, uneven = (
        estimate("krippendorff_alpha", seen, Inference(method=name))
        for name in ("two_way_jackknife", "two_way_jackknife_log")
    )
    apart = 1 - even.value
    assert tuple(even.interval) == pytest.approx((even.value - reach, min(1.0, even.value + reach)))
    assert tuple(uneven.interval) == pytest.approx(
        (max(-1.0, 1 - apart * math.exp(reach / apart)), 1 - apart * math.exp(-reach / apart))
    )


@pytest.mark.parametrize("name", ["two_way_jackknife", "two_way_jackknife_log"])
@pytest.mark.parametrize("n_clusters", [2, 3, 6])
def test_few_clusters_that_happen_to_be_alike_say_no_more_of_raters_at_large_than_where_all_agree(
    name, n_clusters
):
    rng = np.random.default_rng(n_clusters)
    truth = np.arange(50 * n_clusters)[:, None] % 2
    lows = []
    for noise in (0.0, 0.01):
        codes = np.where(rng.random((len(truth), 8)) < noise, 1 - truth, truth)
        seen = LabelsByRater(
            codes,
            scale=Scale(("no", "yes")),
            raters=tuple("abcdefgh"),
            clusters=Clusters.from_names(np.arange(len(truth)) // 50),
        )
        found = estimate("krippendorff_alpha", seen, Inference(method=name))
        lows.append(found.interval.low)
        assert found.p_value(0.8) > 0.025
    assert lows[1] <= lows[0] < 0.667


@pytest.mark.parametrize("name", ["two_way_jackknife", "two_way_jackknife_log"])
def test_raters_whose_ratings_meet_no_other_say_nothing_of_raters_at_large(name):
    few = patterns(8, 300, raters=3, clear=0.95)
    alone = np.full((64, 11), -1)
    alone[range(64), 3 + np.arange(64) // 8] = np.arange(64) % 2
    codes = np.vstack([np.column_stack([few.codes, np.full((300, 8), -1)]), alone])
    many = LabelsByRater(
        codes, scale=few.scale, raters=[*few.raters, *(f"alone {number}" for number in range(8))]
    )
    found, expected = (
        estimate("krippendorff_alpha", each, Inference(method=name)).interval
        for each in (many, few)
    )
    assert tuple(found) == pytest.approx(
        tuple(expected), abs=1e-3
    )  # as far as n items, of 364 or 300, are (n - 1)/n
    rng = np.random.default_rng(9)
    labels = np.where(rng.random(364) < 0.95, codes[:, 0], 1 - codes[:, 0])
    labels[300:] = -1
    two = many.without(few.raters[0]).with_classifier(labels, "model")
    assert (
        tuple(estimate("vanbelle_albert_kappa", two, Inference(method=name)).interval)
        == MEASURES["vanbelle_albert_kappa"].bounds
    )


def with_passers_by(codes, n, rng):
    """The ratings with those of `n` raters more who rated one item each, by chance."""
    more = np.full((len(codes), n), -1)
    more[rng.choice(len(codes), n, replace=False), range(n)] = rng.integers(2, size=n)
    return of_codes(np.hstack([codes, more]))


def of_codes(codes):
    return LabelsByRater(codes, scale=TWO, raters=[str(rater) for rater in range(codes.shape[1])])


def of_skill(rng, skills, n):
    """Ratings of items by raters who know the answer with those probabilities."""
    return np.where(
        rng.random((n, len(skills))) < skills,
        rng.integers(2, size=(n, 1)),
        rng.integers(2, size=(n, len(skills))),
    )


def test_raters_of_one_item_each_add_no_degree_of_freedom_and_do_not_change_the_verdict():
    rng = np.random.default_rng(0)
    codes = of_skill(rng, [0.96, 0.95, 0.93], 600)
    few, many = of_codes(codes), with_passers_by(codes, 5, rng)
    alpha = MEASURES["krippendorff_alpha"]

    items = np.array(
        [float(alpha(of_codes(np.delete(many.codes, i, 0)).counts()).value) for i in range(600)]
    )
    raters = np.array([float(alpha(many.without(rater).counts()).value) for rater in many.raters])
    found, without = (
        estimate("krippendorff_alpha", each, Inference(method="two_way_jackknife_log"))
        for each in (many, few)
    )
    apart = 1 - found.value
    reach = math.sqrt(squared_error(items) + squared_error(raters)) / apart
    by_three, by_eight = (1 - apart * math.exp(stats.t.ppf(0.975, df) * reach) for df in (2, 7))
    assert found.interval.low == pytest.approx(by_three)
    assert found.interval.low <= without.interval.low < 0.8 < by_eight
    codes_of_verdicts = [
        Rule("krippendorff_alpha").judge([each])[0].code for each in (found, without)
    ]
    assert codes_of_verdicts[0] == codes_of_verdicts[1] != "reliable"


@pytest.mark.parametrize("name", ["two_way_jackknife", "two_way_jackknife_log"])
@pytest.mark.parametrize(("items", "known"), [(80, False), (200, True)])
def test_two_raters_and_a_third_of_few_items_say_nothing_of_raters_at_large(name, items, known):
    """Two raters rated 400 items each. A third rater rated 80 of them, or 200.

    With 80 items there are 880**2 / (400**2 + 400**2 + 80**2) = 2.4 raters, with 200 items 2.8.
    """
    codes = of_skill(np.random.default_rng(3), [0.97, 0.96, 0.97], 400)
    codes[items:, 2] = -1
    found = estimate("krippendorff_alpha", of_codes(codes), Inference(method=name))
    assert (tuple(found.interval) != (-1.0, 1.0)) == known
    assert (found.p_value(0.667) < 1) == known


def test_a_tenth_of_the_ratings_missing_leaves_raters_at_large_their_degrees_of_freedom():
    rng = np.random.default_rng(4)
    codes = of_skill(rng, [0.9, 0.7, 0.85, 0.6], 300)
    found = estimate(
        "krippendorff_alpha",
        of_codes(np.where(rng.random(codes.shape) < 0.1, -1, codes)),
        Inference(method="two_way_jackknife"),
    )
    near, far = (found.value - found.distribution.limits(tail).low for tail in (0.1, 0.025))
    assert far / near == pytest.approx(stats.t.ppf(0.975, 3) / stats.t.ppf(0.9, 3))


def test_a_measure_of_the_items_that_all_rated_counts_its_raters_on_these():
    values = np.random.default_rng(5).normal(size=(50, 1)) + np.random.default_rng(6).normal(
        size=(50, 4)
    )
    values[10:, 3] = np.nan
    seen = NumbersByRater(values, scale=Scale(None, "interval"), raters="abcd")
    record = MEASURES["icc_2_1"]
    (found,) = gather_evidence(
        compute_points([record], seen), seen, Inference(n_resamples=10, method="two_way_jackknife")
    ).values()
    assert (record.crossed, found.n_raters, len(found.without_rater)) == (True, 4, 4)


def test_fewer_items_than_raters_have_the_degrees_of_freedom():
    rng = np.random.default_rng(0)
    truth = rng.integers(2, size=(5, 1))
    codes = np.where(rng.random((5, 12)) < 0.2, 1 - truth, truth)
    seen = LabelsByRater(codes, scale=Scale(("no", "yes")), raters=tuple("abcdefghijkl"))

    def alpha(rows, raters):
        return float(
            MEASURES["krippendorff_alpha"](
                CategoryCounts(
                    [[(row[raters] == k).sum() for k in (0, 1)] for row in codes[rows]],
                    scale=seen.scale,
                )
            ).value
        )

    value, everybody = alpha(np.arange(5), np.arange(12)), np.arange(12)
    items = np.array([alpha(np.delete(np.arange(5), gone), everybody) for gone in range(5)])
    raters = np.array([alpha(np.arange(5), np.delete(everybody, gone)) for gone in everybody])
    error = math.sqrt(
        sum(
            (len(each) - 1) / len(each) * ((each - each.mean()) ** 2).sum()
            for each in (items, raters)
        )
    )
    found = estimate("krippendorff_alpha", seen, Inference(method="two_way_jackknife"))
    assert found.interval.low <= max(value + stats.t.ppf(0.025, 4) * error, -1) + 1e-9


@pytest.mark.parametrize("name", ["two_way_jackknife", "two_way_jackknife_log"])
def test_of_two_raters_nothing_is_said_about_others(name):
    assert tuple(
        estimate("krippendorff_alpha", patterns(10, 500, raters=2), Inference(method=name)).interval
    ) == (-1.0, 1.0)


def test_where_there_is_no_limit_plain_data_say_none():
    found = estimate(
        "shah_kappa_s", patterns(10, 50, raters=2), Inference(method="two_way_jackknife")
    )
    assert tuple(found.interval) == (-math.inf, 1.0)
    assert (found.to_mapping()["low"], found.to_mapping()["high"]) == (None, 1.0)


def careless(rng, raters, n):
    """Ratings by raters of differing skill.

    Alpha over all such raters is the square of the mean skill.
    """
    skill = np.clip(rng.normal(0.9, 0.07, size=raters), 0, 1)
    truth = rng.integers(2, size=(n, 1))
    return np.where(rng.random((n, raters)) < skill, truth, rng.integers(2, size=(n, raters)))


def test_only_the_two_way_interval_holds_what_is_true_of_raters_at_large():
    rng = np.random.default_rng(11)
    skills = np.clip(rng.normal(0.9, 0.07, size=1_000_000), 0, 1)
    truth, held = skills.mean() ** 2, {"jackknife_t": 0, "two_way_jackknife_log": 0}
    for _ in range(150):
        seen = LabelsByRater(careless(rng, 5, 1000), scale=TWO, raters="abcde").merged()
        for name in held:
            low, high = estimate("krippendorff_alpha", seen, Inference(method=name)).interval
            held[name] += low <= truth <= high
    assert held["jackknife_t"] / 150 < 0.7
    assert held["two_way_jackknife_log"] / 150 > 0.95 - 3 * math.sqrt(0.95 * 0.05 / 150)
