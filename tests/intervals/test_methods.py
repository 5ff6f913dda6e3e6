"""Every method against its definition, another implementation, or a population.

No method is certain of what was not seen.
"""

import math

import numpy as np
import pytest
from scipy import stats

from agreement_pipeline.errors import PolicyError
from agreement_pipeline.estimates import estimate, estimate_each
from agreement_pipeline.intervals import (
    DEFAULT_METHOD,
    METHODS,
    Inference,
    draw_reweighted,
    find_interval_method,
)
from agreement_pipeline.intervals.draws import BAYESIAN, ITEMS
from agreement_pipeline.measures import MEASURES
from agreement_pipeline.statistics import CategoryCounts, Clusters, LabelsByRater
from tests.intervals.rounds import TWO, patterns

UNANIMOUS = LabelsByRater([[0, 0, 0], [1, 1, 1]], [5, 5], scale=TWO, raters="abc")
OTHERS = [name for name in METHODS if name != DEFAULT_METHOD]
LEAVING_OUT = [name for name, method in METHODS.items() if method.leaves_out]


def agreements(seen):
    """Item by item the share of pairs that agree: percent agreement is their mean."""
    counts = np.repeat(seen.counts().counts, seen.weights.astype(int), axis=0)
    m = counts.sum(1)
    return (counts * (counts - 1)).sum(1) / (m * (m - 1))


@pytest.mark.parametrize("name", METHODS)
def test_an_estimate_says_which_method_it_is_and_of_whom_it_speaks(name):
    found = estimate("krippendorff_alpha", patterns(0, 50), Inference(n_resamples=100, method=name))
    assert found.method == f"{METHODS[name].description}; {METHODS[name].population}"
    assert found.interval.low < found.value < found.interval.high
    assert (found.draws is None) == (METHODS[name].scheme is None)


def test_a_method_that_is_not_registered_is_refused():
    with pytest.raises(
        PolicyError,
        match="interval method: found 'bootstrap'; expected one of smoothed_bayesian_bootstrap, ",
    ):
        find_interval_method("bootstrap")


@pytest.mark.parametrize("name", OTHERS)
def test_on_many_items_every_method_agrees_with_the_default_where_raters_are_alike(name):
    seen = patterns(1, 3000, raters=5).merged()
    usual, found = (
        estimate("krippendorff_alpha", seen, Inference(n_resamples=4000, method=each)).interval
        for each in (DEFAULT_METHOD, name)
    )
    width = usual.high - usual.low
    at_large = METHODS[name].population == "raters at large"
    assert 0.9 * width < found.high - found.low < (1.6 if at_large else 1.1) * width
    assert abs(sum(found) - sum(usual)) / 2 < (0.2 if at_large else 0.1) * width


def by_gwet(counts, measure):
    """The value and the standard error by Gwet's linearization (2008), item by item.

    https://doi.org/10.1348/000711006X126600
    """
    n, r, categories = len(counts), counts.sum(1), counts.shape[1]
    agreeing = (counts * (counts - 1)).sum(1) / (r * (r - 1))
    shares = counts / r[:, None]
    used = shares.mean(0)
    chance, expected = (
        (shares @ used, used @ used)
        if measure == "fleiss_kappa"
        else (shares @ (1 - used) / (categories - 1), used @ (1 - used) / (categories - 1))
    )
    value = (agreeing.mean() - expected) / (1 - expected)
    each = (agreeing - expected) / (1 - expected) - 2 * (1 - value) * (chance - expected) / (
        1 - expected
    )
    return value, math.sqrt(((each - value) ** 2).sum() / (n * (n - 1)))


@pytest.mark.parametrize("measure", ["fleiss_kappa", "gwet_ac1"])
@pytest.mark.parametrize(("clear", "categories"), [(0.8, 2), (0.9, 4), (0.6, 5)])
def test_on_a_thousand_items_the_default_is_as_wide_as_gwets_interval_and_the_item_bootstrap(
    measure, clear, categories
):
    seen = patterns(5, 1000, raters=5, clear=clear, categories=categories)
    found = estimate(measure, seen.counts().merged())
    counts, rng = seen.counts().counts, np.random.default_rng(6)
    value, error = by_gwet(counts, measure)
    again = [by_gwet(counts[rng.integers(1000, size=1000)], measure)[0] for _ in range(4000)]
    width = found.interval.high - found.interval.low
    assert found.value == pytest.approx(value)
    assert width == pytest.approx(2 * stats.t.ppf(0.975, 999) * error, rel=0.15)
    assert width == pytest.approx(np.ptp(np.quantile(again, [0.025, 0.975])), rel=0.15)


def test_jackknife_t_of_a_mean_is_students_interval():
    seen = patterns(2, 40)
    x = agreements(seen)
    reach = stats.t.ppf(0.975, 39) * x.std(ddof=1) / math.sqrt(40)
    found = estimate("percent_agreement", seen, Inference(method="jackknife_t")).interval
    assert tuple(found) == pytest.approx((x.mean() - reach, min(1.0, x.mean() + reach)))


def test_degrees_of_freedom_are_those_of_the_items_that_the_measure_is_read_on():
    """Of 40 items 30 have no majority of the panel, and say nothing of agreement with it."""
    weights, kappa = np.array([5.0, 4.0, 1.0, 30.0]), MEASURES["consensus_kappa"]
    seen = LabelsByRater(
        [[0, 0], [1, 1], [0, 0], [0, 1]], weights, scale=TWO, raters="ab"
    ).with_classifier([0, 1, 1, 0], "model")
    without = np.array(
        [
            float(kappa(seen.with_weights(weights - np.eye(4)[row])).value)
            for row in np.repeat(range(4), [5, 4, 1, 30])
        ]
    )
    reach = stats.t.ppf(0.975, 9) * math.sqrt(39 / 40 * ((without - without.mean()) ** 2).sum())
    found = estimate("consensus_kappa", seen, Inference(method="jackknife_t"))
    assert found.n_used == 10
    assert tuple(found.interval) == pytest.approx(
        (found.value - reach, min(1.0, found.value + reach))
    )


def test_jackknife_log_is_students_interval_of_the_logarithm_by_the_delta_method():
    seen = patterns(2, 40)
    x = agreements(seen)
    apart = 1 - x.mean()
    reach = stats.t.ppf(0.975, 39) * x.std(ddof=1) / math.sqrt(40) / apart
    found = estimate("percent_agreement", seen, Inference(method="jackknife_log")).interval
    assert tuple(found) == pytest.approx(
        (1 - apart * math.exp(reach), 1 - apart * math.exp(-reach))
    )


def test_bca_is_scipys():
    seen = patterns(3, 60)
    asked = {"n_resamples": 20_000, "method": "BCa", "random_state": np.random.default_rng(0)}
    theirs = stats.bootstrap((agreements(seen),), np.mean, **asked).confidence_interval
    found = estimate(
        "percent_agreement", seen, Inference(n_resamples=20_000, method="bca_bootstrap")
    ).interval
    assert tuple(found) == pytest.approx((theirs.low, theirs.high), abs=0.01)


def test_where_all_agree_the_limit_is_that_of_clopper_and_pearson():
    unlike = stats.binomtest(0, 10).proportion_ci(0.95, "exact").high
    for name in LEAVING_OUT:
        found = estimate("percent_agreement", UNANIMOUS, Inference(method=name)).interval
        assert tuple(found) == pytest.approx(
            (1 - unlike * (1 - 1 / 3), 1.0)
        )  # of three ratings, a split item has one pair in three agree


@pytest.mark.parametrize(
    "name", [name for name, method in METHODS.items() if method.decides or method.leaves_out]
)
@pytest.mark.parametrize(
    "measure", ["krippendorff_alpha", "fleiss_kappa", "gwet_ac1", "shah_kappa_s"]
)
def test_ten_unanimous_items_do_not_reach_the_cutoff_by_any_method_that_may_decide(measure, name):
    assert estimate(measure, UNANIMOUS, Inference(method=name)).interval.low < 0.8


@pytest.mark.parametrize("name", LEAVING_OUT)
def test_where_leaving_an_item_out_leaves_nothing_to_measure_the_interval_is_everything(name):
    one_of_a_kind = LabelsByRater(
        [[0, 0, 0], [0, 0, 1], [1, 1, 1]], [9, 0, 1], scale=TWO, raters="abc"
    )
    assert tuple(
        estimate(
            "krippendorff_alpha", one_of_a_kind, Inference(n_resamples=200, method=name)
        ).interval
    ) == (-1.0, 1.0)


def test_a_measure_of_categories_has_its_lowest_and_each_of_them():
    seen = patterns(4, 80, categories=3)
    of_round, *of_each = estimate_each(
        ["specific_agreement"], seen, Inference(method="jackknife_t")
    )
    values = MEASURES["specific_agreement"](seen.counts()).value
    items = np.repeat(seen.counts().counts, 1, axis=0)
    alone = np.array(
        [
            MEASURES["specific_agreement"](
                CategoryCounts(np.delete(items, i, axis=0), scale=seen.scale)
            ).value
            for i in range(80)
        ]
    )
    for k, found in enumerate(of_each):
        se = math.sqrt(79 / 80 * ((alone[:, k] - alone[:, k].mean()) ** 2).sum())
        assert found.interval.low == pytest.approx(values[k] - stats.t.ppf(0.975, 79) * se)
    assert of_round.value == values.min()


def test_the_bootstraps_without_a_prior_put_no_weight_on_what_was_not_seen():
    seen = patterns(5, 30).counts().merged()
    rows = seen.weights.shape[-1]
    for scheme in (BAYESIAN, ITEMS):
        drawn = np.vstack(
            [block.weights for block in draw_reweighted(seen, 4000, 0, scheme=scheme)]
        )
        assert (drawn[:, rows:] == 0).all()
        assert drawn.sum(1) == pytest.approx(np.full(4000, 30.0))
        assert drawn[:, :rows].mean(0) == pytest.approx(seen.weights, abs=0.2)
    assert (drawn % 1 == 0).all()
    assert drawn[:, :rows].var(0) == pytest.approx(seen.weights * (1 - seen.weights / 30), rel=0.1)


# Clusters


def test_items_of_a_cluster_are_drawn_together():
    seen = patterns(6, 12).with_clusters(Clusters.from_names(np.repeat([0, 1, 2], 4)))
    for scheme in (BAYESIAN, ITEMS):
        drawn = np.vstack(
            [block.weights for block in draw_reweighted(seen, 500, 0, scheme=scheme)]
        )[:, :12]
        assert (drawn[:, [0, 4, 8]].repeat(4, axis=1) == drawn).all()
        assert drawn.mean(0) == pytest.approx(np.ones(12), abs=0.15)


@pytest.mark.parametrize(
    "name", [name for name in METHODS if METHODS[name].population == "these raters"]
)
def test_four_copies_of_every_item_say_no_more_than_one_when_they_are_a_cluster(name):
    seen = patterns(7, 150)
    copies = LabelsByRater(np.repeat(seen.codes, 4, axis=0), scale=seen.scale, raters=seen.raters)
    clusters = [f"document {number // 4}" for number in range(600)]
    once, known, ignored = (
        estimate("percent_agreement", statistic, Inference(n_resamples=4000, method=name))
        for statistic in (seen, copies.with_clusters(Clusters.from_names(clusters)), copies)
    )
    width = [found.interval.high - found.interval.low for found in (once, known, ignored)]
    assert width[1] == pytest.approx(width[0], rel=0.08)
    assert width[2] < 0.6 * width[0]
    assert "; whole clusters; these raters" in known.method
