"""A value with its interval, or a reason: exactly one of them."""

import json
import math
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from agreement_pipeline.errors import PolicyError
from agreement_pipeline.estimates import (
    ROUND,
    Estimate,
    Scope,
    estimate,
    estimate_each,
    find_registered_measure,
)
from agreement_pipeline.intervals import Inference, Interval, draw_reweighted
from agreement_pipeline.measures import MEASURES
from agreement_pipeline.policy import Rule
from agreement_pipeline.ratings import Scale
from agreement_pipeline.statistics import (
    CategoryCounts,
    Clusters,
    LabelsByRater,
    ReplicatedLabels,
)

THREE = Scale(("a", "b", "c"), declared=False)
SEEN = CategoryCounts([[3, 0, 0], [2, 1, 0], [0, 3, 0], [0, 0, 1]], [40, 10, 30, 5], scale=THREE)
MADE = Estimate("fleiss_kappa", ROUND, 0.8, Interval(0.7, 0.9), 0.95, "m", 10, 3, 30)


@pytest.mark.parametrize(
    "changes",
    [
        {"value": None},
        {"undefined": "no item has two ratings"},
        {"interval": None},
        {"value": None, "interval": None},
        {"value": None, "undefined": "a reason"},
    ],
)
def test_a_value_without_an_interval_or_beside_a_reason_is_refused(changes):
    with pytest.raises(
        ValueError,
        match="expected a value with an interval, or a reason",
    ):
        replace(MADE, **changes)


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_a_value_that_is_no_number_is_refused(value):
    with pytest.raises(ValueError, match=r"found value (nan|inf); expected a finite number"):
        replace(MADE, value=value)


def test_an_estimate_says_what_it_is_and_what_it_rests_on():
    found = estimate("fleiss_kappa", SEEN, Inference(seed=3))
    assert (found.measure, str(found.scope), found.confidence_level) == (
        "fleiss_kappa",
        "round",
        0.95,
    )
    assert (found.n_items, found.n_raters, found.n_ratings) == (85, 3, 245)
    point = MEASURES["fleiss_kappa"](SEEN)
    assert (found.value, found.observed, found.expected) == pytest.approx(
        (float(point.value), float(point.observed), float(point.expected))
    )
    assert "these raters" in found.method
    assert json.loads(json.dumps(found.to_mapping()))["low"] == found.interval.low


def test_an_estimate_says_what_was_dropped_and_why_and_what_its_categories_and_convention_are():
    said = estimate("fleiss_kappa", SEEN).to_mapping()
    assert (said["n_items"], said["n_dropped"], said["dropped"]) == (85, 5, {"one rating": 5})
    assert said["categories"] == ["a", "b", "c"]
    assert said["convention"] == MEASURES["fleiss_kappa"].convention


def panel_of_single_ratings_and_five_pairs():
    """100 items that a classifier labelled, of which two raters rated five.

    A third rater rated 30 items without a label.
    """
    codes = (
        [[0, -1, -1]] * 48
        + [[1, -1, -1]] * 47
        + [[0, 0, -1]] * 3
        + [[1, 1, -1]] * 2
        + [[-1, -1, 0]] * 30
    )
    labels = [0] * 48 + [1] * 47 + [0] * 3 + [1] * 2 + [-1] * 30
    return LabelsByRater(codes, scale=THREE, raters="xyz").with_classifier(labels, "model")


@pytest.mark.parametrize(
    "name", ["shah_s", "williams_index", "advantage_probability", "alpha_gain"]
)
def test_a_measure_of_pairs_of_the_panel_rests_on_the_items_that_have_one(name):
    found = estimate(
        name,
        panel_of_single_ratings_and_five_pairs(),
        Inference(n_resamples=1000),
        scope=Scope("classifier", "model"),
    )
    assert (found.n_items, found.n_used, found.n_raters) == (100, 5, 2)
    assert found.dropped == {"one rating of the panel": 95}
    (said,) = Rule(name, scope="classifier", min_items=30, effect="warn").judge([found])
    assert said.code == "too_few_items"


def test_what_rests_on_single_ratings_drops_none_of_them():
    found = estimate(
        "vanbelle_albert_kappa",
        panel_of_single_ratings_and_five_pairs(),
        Inference(n_resamples=1000),
    )
    assert (found.n_items, found.n_used, found.dropped) == (100, 100, {})


def test_against_the_majority_items_without_one_are_dropped():
    panel = LabelsByRater([[0, 0], [1, 1], [0, 1]], [5, 4, 3], scale=THREE, raters="xy")
    found = estimate(
        "consensus_kappa", panel.with_classifier([0, 1, 1], "model"), Inference(n_resamples=1000)
    )
    assert (found.n_items, found.n_used, found.dropped) == (12, 9, {"no majority of the panel": 3})


def test_rho_rests_on_the_items_that_two_raters_with_replicates_rated():
    first = LabelsByRater(
        [[0, 0, -1], [1, 1, 1], [0, -1, 0]], [5, 4, 3], scale=Scale(("no", "yes")), raters="xyz"
    )
    found = estimate(
        "campagner_cabitza_rho",
        ReplicatedLabels([[3, 1], [1, 3]], [0, 1], [0, 1], first),
        Inference(n_resamples=1000),
    )
    assert (found.n_items, found.n_used) == (12, 9)
    assert list(found.dropped) == [
        "fewer than two ratings of raters whose replicates show guessing"
    ]


@pytest.mark.parametrize(
    ("again", "labels", "n"),
    [([0, 2], 4, 8), ([1, 2], 4, 7), ([0, 1, 2], 4, 12), ([0, 1, 2, 3], 4, 12), ([0, 2], 2, 8)],
)
def test_of_rho_no_more_is_known_than_the_fewer_of_the_items_paired_and_those_met_again_tell(
    again, labels, n
):
    """Two raters rated 5, 4 and 3 items, and one rater rated 20. Some were met again.

    If there are two categories, two labels of an item are enough.
    """
    first = LabelsByRater(
        [[0, 0], [1, 1], [0, 1], [0, -1]], [5, 4, 3, 20], scale=Scale(("no", "yes")), raters="xy"
    )
    cells = ReplicatedLabels(
        [[labels - 1, 1]] * len(again), again, [0, 1, 0, 0][: len(again)], first
    )
    rests_on = MEASURES["campagner_cabitza_rho"].rests_on
    assert (rests_on.n_independent_units(cells), rests_on.n_deciding_units(cells)) == (12, n)


def test_cells_too_short_to_show_guessing_decide_nothing():
    """The 5 and the 4 items were met three times, the 3 items twice. There are three categories.

    Then every pattern of ratings becomes a cluster.
    """
    first = LabelsByRater([[0, 0], [1, 1], [2, 2]], [5, 4, 3], scale=THREE, raters="xy")
    cells = ReplicatedLabels([[2, 1, 0], [0, 2, 1], [0, 0, 2]], [0, 1, 2], [0, 1, 0], first)
    rests_on = MEASURES["campagner_cabitza_rho"].rests_on
    assert (rests_on.n_independent_units(cells), rests_on.n_deciding_units(cells)) == (12, 9)
    documents = cells.with_clusters(Clusters(np.array([0, 1, 2]), np.ones(3)))
    assert rests_on.n_deciding_units(documents) == pytest.approx((5 + 4) ** 2 / (5**2 + 4**2))
    few, more = (
        estimate("campagner_cabitza_rho_robust", each, Inference(n_resamples=1000))
        for each in (cells, cells.with_weights(10 * cells.weights))
    )
    assert [each.distribution.n for each in (few, more)] == [9, 90]


def test_the_influence_of_a_rater_rests_on_all_items_with_two_ratings():
    found = estimate(
        "alpha_influence", panel_of_single_ratings_and_five_pairs(), Inference(n_resamples=1000)
    )
    assert (found.n_items, found.n_used, found.dropped) == (130, 100, {"one rating": 30})


def read_in_three_ways(kappa, block):
    """The measure on the rows seen, with unseen rows, and as one item of one kind raises it most.

    The four rows seen stand first. Five items show a disagreement once its weight falls.
    """
    seen, unseen = block.weights[:, :4], block.weights[:, 4:]
    times = [
        sum(SEEN.weights[(SEEN.counts == row).all(1)]) if np.count_nonzero(row) > 1 else 0
        for row in block.counts[4:]
    ]
    lighter = unseen * [5 / max(each, 5) for each in times]
    kinds = np.eye(len(times))
    one_more = [
        float(kappa(block.with_weights(np.append(SEEN.weights, kind)[None])).value[0])
        for kind in kinds
    ]
    raising = unseen.sum(1, keepdims=True) / 3 * kinds[np.argmax(one_more)]
    return [
        kappa(SEEN.with_weights(seen)).value,
        *(kappa(block.with_weights(np.hstack([seen, each]))).value for each in (lighter, raising)),
    ]


def test_the_interval_is_that_of_the_measure_over_the_draws_with_tails_for_so_many_items():
    blocks, kappa = list(draw_reweighted(SEEN, 500, 3)), MEASURES["fleiss_kappa"]
    read = zip(*(read_in_three_ways(kappa, block) for block in blocks), strict=True)
    seen_alone, lighter, raised = map(np.concatenate, read)
    found = estimate("fleiss_kappa", SEEN, Inference(confidence_level=0.9, n_resamples=500, seed=3))
    n = found.n_used
    tail = stats.norm.cdf(stats.t.ppf(0.05, n - 1) * math.sqrt((n + 1) / (n - 1)))
    low, high = (
        [np.quantile(each, level, method="inverted_cdf") for each in (seen_alone, lighter, raised)]
        for level in (tail, 1 - tail)
    )
    assert found.interval == (min(low[:2]), max(high))


def test_patterns_will_do_for_a_measure_that_forgets_raters():
    patterns = LabelsByRater(
        [[0, 0, 0], [0, 1, 0], [1, 1, 1], [2, -1, -1]], [40, 10, 30, 5], scale=THREE, raters="abc"
    )
    named, forgotten = (
        estimate("fleiss_kappa", patterns, Inference(seed=3)),
        estimate("fleiss_kappa", patterns.counts().merged(), Inference(seed=3)),
    )
    assert named == forgotten
    assert (named.draws == forgotten.draws).all()


def test_a_measure_asked_for_under_two_names_is_computed_once(monkeypatch):
    patterns = LabelsByRater([[0, 0], [0, 1], [1, 1]], [5, 2, 5], scale=THREE, raters="xy")
    calls = []

    def counted(statistic):
        calls.append(statistic)
        return record.function(statistic)

    record = MEASURES["shah_kappa_s"]
    monkeypatch.setitem(MEASURES, "shah_kappa_s", replace(record, function=counted))
    alone = estimate("conger_kappa", patterns)
    once = len(calls)
    conger, light, shah = estimate_each(["conger_kappa", "light_kappa", "shah_kappa_s"], patterns)
    assert len(calls) == 2 * once > 0
    assert [e.measure for e in (conger, light, shah)] == [
        "conger_kappa",
        "light_kappa",
        "shah_kappa_s",
    ]
    assert replace(shah, measure="conger_kappa") == conger == alone
    assert (conger.draws == shah.draws).all()


def test_of_a_measure_by_category_the_lowest_stands_for_the_round_and_each_has_its_own():
    of_round, *of_each = estimate_each(["specific_agreement"], SEEN)
    values = MEASURES["specific_agreement"](SEEN).value
    assert (of_round.scope, of_round.lowest, of_round.value) == (ROUND, "b", values[1])
    assert [(str(e.scope), e.value) for e in of_each] == [
        ("category a", values[0]),
        ("category b", values[1]),
        ("category c", None),
    ]
    assert of_each[2].undefined == "no pair of ratings holds the category"


def test_the_interval_of_the_lowest_follows_whichever_category_is_lowest_in_a_draw():
    of_round, *of_each = estimate_each(["specific_agreement"], SEEN)
    assert (of_round.draws == np.minimum(of_each[0].draws, of_each[1].draws)).all()
    assert of_round.interval.low <= min(e.interval.low for e in of_each[:2])


def test_categories_are_of_the_round_and_not_of_its_parts():
    (only,) = estimate_each(["specific_agreement"], SEEN, scope=Scope("without", "ana"))
    assert (str(only.scope), only.lowest) == ("without ana", "b")


def test_an_undefined_measure_gives_its_reason_and_nothing_else():
    lonely = CategoryCounts([[1, 0, 0], [0, 1, 0]], scale=THREE)
    for name in ("krippendorff_alpha", "specific_agreement"):
        found = estimate(name, lonely)
        assert found.undefined == "no item has two ratings"
        assert (found.value, found.interval, found.draws, found.p_value(0.8)) == (
            None,
            None,
            None,
            None,
        )


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("fleis_kappa", "Did you mean 'fleiss_kappa'"),
        *((name, "Did you mean 'krippendorff_alpha'") for name in ("alpha", "alfa", "Alpha")),
        ("zzz", "agreement-pipeline guide measures` lists them"),
        (["a"], "lists them"),
        (7, "lists them"),
    ],
)
def test_a_measure_that_is_not_registered_is_refused_with_the_nearest_name(name, hint):
    with pytest.raises(PolicyError, match=hint):
        find_registered_measure(name)


def test_the_interval_holds_the_value_even_at_the_edge_of_what_is_possible():
    for rows, value in (([[3, 0, 0], [0, 3, 0]], 1.0), ([[1, 1, 0], [1, 1, 0]], -0.5)):
        found = estimate(
            "fleiss_kappa" if value > 0 else "krippendorff_alpha",
            CategoryCounts(rows, [1, 1], scale=THREE),
        )
        assert found.value == pytest.approx(value)
        assert found.interval.low <= found.value <= found.interval.high
