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
    gathered,
    interval_method,
    points_of,
    resampled,
)
from agreement_pipeline.intervals.draws import BAYESIAN, ITEMS
from agreement_pipeline.measures import MEASURES
from agreement_pipeline.policy import Rule
from agreement_pipeline.ratings import Scale
from agreement_pipeline.statistics import (
    CategoryCounts,
    Clusters,
    LabelsByRater,
    NumbersByRater,
    ReplicatedLabels,
)

TWO = Scale(("no", "yes"))
UNANIMOUS = LabelsByRater([[0, 0, 0], [1, 1, 1]], [5, 5], scale=TWO, raters="abc")
OTHERS = [name for name in METHODS if name != DEFAULT_METHOD]
LEAVING_OUT = [name for name, method in METHODS.items() if method.leaves_out]


def patterns(seed, n, raters=3, clear=0.8, categories=2):
    rng = np.random.default_rng(seed)
    codes = np.where(
        rng.random((n, 1)) < clear,
        rng.integers(categories, size=(n, 1)),
        rng.integers(categories, size=(n, raters)),
    )
    return LabelsByRater(
        codes,
        scale=Scale(tuple("abcde"[:categories])),
        raters=[str(rater) for rater in range(raters)],
    )


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
        interval_method("bootstrap")


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
            float(kappa(seen.reweighted(weights - np.eye(4)[row])).value)
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
    theirs = stats.bootstrap(
        (agreements(seen),), np.mean, n_resamples=20_000, method="BCa", rng=np.random.default_rng(0)
    ).confidence_interval
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
        drawn = np.vstack([block.weights for block in resampled(seen, 4000, 0, scheme=scheme)])
        assert (drawn[:, rows:] == 0).all()
        assert drawn.sum(1) == pytest.approx(np.full(4000, 30.0))
        assert drawn[:, :rows].mean(0) == pytest.approx(seen.weights, abs=0.2)
    assert (drawn % 1 == 0).all()
    assert drawn[:, :rows].var(0) == pytest.approx(seen.weights * (1 - seen.weights / 30), rel=0.1)


# Clusters


def test_items_of_a_cluster_are_drawn_together():
    seen = patterns(6, 12).in_clusters(Clusters.named(np.repeat([0, 1, 2], 4)))
    for scheme in (BAYESIAN, ITEMS):
        drawn = np.vstack([block.weights for block in resampled(seen, 500, 0, scheme=scheme)])[
            :, :12
        ]
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
        estimate(
            "percent_agreement",
            statistic,
            Inference(n_resamples=4000, method=name),
            clusters=grouped,
        )
        for statistic, grouped in ((seen, None), (copies, clusters), (copies, None))
    )
    width = [found.interval.high - found.interval.low for found in (once, known, ignored)]
    assert width[1] == pytest.approx(width[0], rel=0.08)
    assert width[2] < 0.6 * width[0]
    assert "; whole clusters; these raters" in known.method


@pytest.mark.parametrize("clusters", [[1, 2], [1] * 10])
def test_clusters_that_are_not_one_a_row_or_all_the_same_are_refused(clusters):
    with pytest.raises(
        PolicyError, match="one for each of 10 rows, of two names or more, is required"
    ):
        estimate("krippendorff_alpha", patterns(8, 10), clusters=clusters)


# Raters at large


def test_the_two_way_interval_is_that_of_its_parts_one_by_one():
    seen = patterns(9, 60, raters=4)
    alpha = MEASURES["krippendorff_alpha"]

    def squared_error(values):
        return (len(values) - 1) / len(values) * ((values - np.mean(values)) ** 2).sum()

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
            clusters=Clusters.named(np.arange(len(truth)) // 50),
        )
        found = estimate("krippendorff_alpha", seen, Inference(method=name))
        lows.append(found.interval.low)
        assert found.miss_probability(0.8) > 0.025
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

    def squared_error(values):
        return (len(values) - 1) / len(values) * ((values - np.mean(values)) ** 2).sum()

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
    assert (found.miss_probability(0.667) < 1) == known


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
    (found,) = gathered(
        points_of([record], seen), seen, Inference(n_resamples=10, method="two_way_jackknife")
    ).values()
    assert (record.crossed, found.n_raters, len(found.without_rater)) == (True, 4, 4)


def met_twice(*raters, scale=TWO):
    """Raters, each of whom met items of her own twice: her cells."""
    cells = np.vstack(raters)
    of = np.repeat(np.arange(len(raters)), [len(each) for each in raters])
    first = LabelsByRater(
        np.where(of[:, None] == np.arange(len(raters)), cells.argmax(1)[:, None], -1),
        scale=scale,
        raters="abcdefgh"[: len(raters)],
    )
    return ReplicatedLabels(cells, np.arange(len(cells)), of, first)


SURE, TORN = (
    [[2, 0]] * agree + [[0, 2]] * agree + [[1, 1]] * (100 - 2 * agree) for agree in (48, 46)
)
CONSTANT = [[2, 0]] * 100


@pytest.mark.parametrize(
    "measure", ["test_retest_alpha", "test_retest_kappa", "test_retest_kappa_by_category"]
)
def test_raters_who_always_say_the_same_show_nothing_of_how_raters_at_large_agree_with_themselves(
    measure,
):
    two, among_five = met_twice(SURE, TORN), met_twice(SURE, TORN, CONSTANT, CONSTANT, CONSTANT)
    found = [
        estimate(measure, each, Inference(method="two_way_jackknife_log"))
        for each in (two, among_five)
    ]
    assert [(tuple(each.interval), each.n_raters) for each in found] == [((-1.0, 1.0), 2)] * 2
    three, as_many = (
        estimate(
            measure, met_twice(SURE, TORN, SURE, *more), Inference(method="two_way_jackknife_log")
        )
        for more in ([], [CONSTANT] * 2)
    )
    assert tuple(as_many.interval) == pytest.approx(tuple(three.interval), abs=0.002)
    assert three.interval.low > 0


def test_raters_who_always_give_one_number_show_nothing_of_raters_at_large_either():
    two = met_twice(SURE, TORN, CONSTANT, CONSTANT, scale=Scale((1, 2), "interval"))
    found = estimate("test_retest_icc", two, Inference(method="two_way_jackknife_log"))
    assert (tuple(found.interval), found.n_raters) == ((-math.inf, 1.0), 2)


def test_raters_of_a_pooled_coefficient_count_by_what_they_weigh_in_it():
    """Each rater gave 200 labels.

    Rater a weighs 200 · (1 - 2 · 100 · 99 / (200 · 199)).
    A rater who gave *yes* to two items weighs 200 · 2 · 4 · 196 / (200 · 199).
    """
    rare = [[2, 0]] * 98 + [[0, 2]] * 2
    seen = met_twice([[2, 0]] * 50 + [[0, 2]] * 50, rare, rare, rare, rare)
    (found,) = gathered(
        points_of([MEASURES["test_retest_alpha"]], seen),
        seen,
        Inference(n_resamples=10, method="two_way_jackknife"),
    ).values()
    weights = np.array([1 - 2 * 100 * 99 / (200 * 199), *[2 * 4 * 196 / (200 * 199)] * 4])
    assert found.n_raters == pytest.approx(weights.sum() ** 2 / (weights @ weights))
    assert (len(found.without_rater), round(found.n_raters)) == (5, 2)


@pytest.mark.parametrize("measure", ["campagner_cabitza_rho", "campagner_cabitza_rho_robust"])
def test_a_rater_who_met_items_again_that_nobody_else_rated_is_among_raters_at_large(measure):
    """The last rater differs most from the others.

    The expected ρ without a rater comes from a statistic that is made without this rater.
    """
    rng = np.random.default_rng(0)
    truth, wrong = rng.integers(2, size=120), np.array([0.02, 0.03, 0.02, 0.03, 0.35])
    said = np.where(rng.random((2, 120, 5)) < wrong, 1 - truth[:, None], truth[:, None])
    met = np.vstack(
        [np.argwhere(np.ones((20, 4), dtype=bool)), [(item, 4) for item in range(100, 120)]]
    )
    codes = np.where((np.arange(120)[:, None] < 100) | (np.arange(5) == 4), said[0], -1)

    def of(raters):
        kept = met[np.isin(met[:, 1], raters)]
        cells = [np.bincount(said[:, item, rater], minlength=2) for item, rater in kept]
        return ReplicatedLabels(
            cells,
            kept[:, 0],
            np.searchsorted(raters, kept[:, 1]),
            LabelsByRater(codes[:, raters], scale=TWO, raters=[*map(str, raters)]),
        )

    record, everybody = MEASURES[measure], np.arange(5)
    (found,) = gathered(
        points_of([record], of(everybody)),
        of(everybody),
        Inference(n_resamples=10, method="two_way_jackknife"),
    ).values()
    assert found.without_rater == pytest.approx(
        [float(record(of(np.delete(everybody, gone))).value) for gone in everybody]
    )
    assert found.n_raters == pytest.approx(5)


def test_raters_who_met_again_only_items_of_their_own_are_those_that_a_rule_on_rho_asks_for():
    codes = (
        [[0, 0]] * 20
        + [[1, 1]] * 20
        + [[0, -1]] * 10
        + [[1, -1]] * 10
        + [[-1, 0]] * 10
        + [[-1, 1]] * 10
    )
    cells = ([[2, 0]] * 10 + [[0, 2]] * 10) * 2
    seen = ReplicatedLabels(
        cells, np.arange(40, 80), [0] * 20 + [1] * 20, LabelsByRater(codes, scale=TWO, raters="ab")
    )
    found = estimate("campagner_cabitza_rho", seen)
    assert (found.value, found.n_used, found.n_raters) == (1.0, 40, 2)


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


def test_agreement_of_raters_with_themselves_has_the_rater_as_cluster():
    cells = [[2, 0]] * 30 + [[2, 0]] * 30 + [[1, 1]] * 30
    first = LabelsByRater(np.zeros((30, 3), dtype=int), scale=TWO, raters="abc")
    replicates = ReplicatedLabels(cells, np.tile(np.arange(30), 3), np.repeat([0, 1, 2], 30), first)
    these, at_large = (
        estimate("self_agreement_unbiased", replicates, Inference(method=name)).interval
        for name in (DEFAULT_METHOD, "two_way_jackknife")
    )
    assert these.high - these.low < 0.2
    assert tuple(at_large) == (0.0, 1.0)


def test_pooled_self_agreement_has_the_variance_of_raters_and_of_items_left_out():
    rng = np.random.default_rng(12)
    counts = rng.multinomial(2, [0.5, 0.5], size=120) * (rng.random((120, 1)) < 0.4)
    counts = np.where(counts.sum(1, keepdims=True) == 0, [[2, 0]], counts)
    item, rater = np.tile(np.arange(30), 4), np.repeat(np.arange(4), 30)
    replicates = ReplicatedLabels(
        counts, item, rater, LabelsByRater(np.zeros((30, 4), dtype=int), scale=TWO, raters="abcd")
    )
    same = (counts == 2).any(1)

    def squared_error(values):
        return (len(values) - 1) / len(values) * ((values - np.mean(values)) ** 2).sum()

    items, raters = (
        [same[places != k].mean() for k in range(places.max() + 1)] for places in (item, rater)
    )
    found = estimate("self_agreement_unbiased", replicates, Inference(method="two_way_jackknife"))
    reach = stats.t.ppf(0.975, 3) * math.sqrt(
        squared_error(np.array(items)) + squared_error(np.array(raters))
    )
    assert tuple(found.interval) == pytest.approx(
        (max(0.0, same.mean() - reach), min(1.0, same.mean() + reach))
    )


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
