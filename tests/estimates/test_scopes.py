"""Whom the intervals of a round speak of."""

import math

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from agreement_pipeline.contract import Contract
from agreement_pipeline.demo.rounds import CATEGORIES, CLASSIFIERS, simulate_round
from agreement_pipeline.errors import AgreementError, PolicyError
from agreement_pipeline.estimates import measure, measure_ratings, survey
from agreement_pipeline.estimates.estimates import find_registered_measure
from agreement_pipeline.intervals import Inference
from agreement_pipeline.measures import MEASURES
from agreement_pipeline.policy import Policy, assess
from agreement_pipeline.ratings import Ratings, Scale
from agreement_pipeline.readers import read
from agreement_pipeline.statistics import LabelsByRater

SOME = [
    "krippendorff_alpha",
    "shah_kappa_s",
    "schouten_kappa",
    "self_agreement_unbiased",
    "cohen_kappa",
    "shah_s",
]
AT_LARGE = "two_way_jackknife_log"


@pytest.fixture(scope="module")
def ratings():
    return Ratings.from_frame(
        simulate_round("w", seed=2, n_items=200), Scale(CATEGORIES), classifiers=tuple(CLASSIFIERS)
    )


def test_of_raters_at_large_speaks_what_names_none_of_them(ratings):
    found = list(measure_ratings(ratings, SOME, Inference(n_resamples=1000, method=AT_LARGE)))
    spoken = {
        each.scope.kind: each.method.split("; ")[-1] for each in found if each.value is not None
    }
    assert spoken == {
        "round": "raters at large",
        "without": "raters at large",
        "classifier": "raters at large",
        "rater": "these raters",
        "pair": "these raters",
    }


def test_a_rater_who_met_nothing_again_is_not_said_of_everybody():
    rows = [(f"i{n}", rater, "ny"[n % 2], 1) for n in range(4) for rater in ("ana", "ben")]
    rows += [(f"i{n}", "ben", "n", 2) for n in (0, 2)]
    frame = pd.DataFrame(rows, columns=["item", "rater", "label", "occurrence"])
    again = Ratings.from_frame(frame, Scale(("n", "y")))
    names = ["self_agreement_unbiased", "test_retest_kappa"]
    found = measure_ratings(again, names, Inference(n_resamples=100), scopes=("rater",))
    undefined = {(each.measure, each.scope.name): each.undefined for each in found}
    never = "the rater met no item twice"
    assert undefined == {
        ("self_agreement_unbiased", "ana"): never,
        ("self_agreement_unbiased", "ben"): None,
        ("test_retest_kappa", "ana"): never,
        ("test_retest_kappa", "ben"): (
            "the rater gave one and the same label to all items they met again, so chance alone "
            "would give full agreement"
        ),
    }


def test_a_policy_for_raters_at_large_decides_by_their_interval(ratings):
    rules = [{"measure": "krippendorff_alpha"}]
    these, at_large = (
        assess(
            ratings,
            Policy.from_mapping({"policy": "p", "version": 1, "rules": rules, **options}),
            Contract.none(),
        )
        for options in ({}, {"interval_method": AT_LARGE})
    )
    found = next(
        each
        for each in survey(
            ratings, ["krippendorff_alpha"], Inference(method=AT_LARGE), judged=("round",)
        )
        if str(each.scope) == "round"
    )
    assert at_large.estimates[0].interval == found.interval != these.estimates[0].interval
    assert at_large.estimates[0].method.endswith("raters at large")
    value, (low, _), df = (
        at_large.estimates[0].value,
        found.interval,
        at_large.estimates[0].n_raters - 1,
    )
    error = math.log((1 - low) / (1 - value)) / stats.t.ppf(0.975, df)
    q = stats.t.sf(math.log(0.2 / (1 - value)) / error, df)
    assert at_large.decision.verdicts[0].to_mapping()["p_reliable"] == pytest.approx(q)


def test_details_have_ten_draws_beyond_each_limit(ratings):
    details = [
        each
        for each in survey(ratings, ["cohen_kappa"], Inference(confidence_level=0.995))
        if each.scope.kind == "pair" and each.draws is not None
    ]
    assert details
    assert all(len(each.draws) * 0.0025 >= 10 for each in details)


def test_a_reason_for_raters_at_large_does_not_promise_that_so_many_items_would_decide():
    """One of five raters knows less than the others.

    Ten times the items hardly make the interval narrower.
    """
    policy = Policy.from_mapping(
        {
            "policy": "p",
            "version": 1,
            "rules": [{"measure": "krippendorff_alpha"}],
            "interval_method": AT_LARGE,
        }
    )
    widths = []
    for n_items in (300, 3000):
        frame = simulate_round(
            "w", seed=2, n_items=n_items, missing=0.0, classifiers={}, replicated=0.0, accuracy=0.99
        )
        weak = (frame["rater"] == "ana") & (frame.index % 4 == 0)
        frame.loc[weak, "label"] = CATEGORIES[0]
        (verdict,) = assess(
            Ratings.from_frame(frame, Scale(CATEGORIES)), policy, Contract.none()
        ).decision.verdicts
        assert verdict.kind in ("tentative", "inconclusive")
        assert verdict.estimate.value > 0.8
        assert verdict.reason.endswith(
            "; for raters at large more items may never be enough, "
            "and more raters would narrow the interval"
        )
        widths.append(verdict.estimate.interval.high - verdict.estimate.interval.low)
    assert widths[1] > 0.8 * widths[0]


def test_numbers_have_intervals_for_raters_at_large_too():
    frame = simulate_round("w", seed=2, n_items=60, classifiers={}, missing=0.0, replicated=0.0)
    frame["label"] = (
        frame["label"].map(dict(zip(CATEGORIES, (1.25, 2.5, 7.0), strict=True)))
        + frame.index % 5 / 10
    )
    numbers = Ratings.from_frame(frame, Scale(None, "interval"))
    for found in measure_ratings(
        numbers,
        ["krippendorff_alpha", "icc_2_1", "berry_mielke_r"],
        Inference(method=AT_LARGE),
        scopes=("round",),
    ):
        assert found.method.endswith("raters at large")
        assert found.interval.low < found.value < found.interval.high


def test_nothing_is_made_for_a_scope_that_no_rule_asks_of(ratings, monkeypatch):
    """With hundreds of raters, the round without each of them takes minutes.

    A rule of the round does not need these estimates.
    """

    def made(*_):
        raise AssertionError

    for name in ("without", "select_raters"):
        monkeypatch.setattr(LabelsByRater, name, made)
    rules = [{"measure": "krippendorff_alpha"}, {"measure": "shah_kappa_s"}]
    found = assess(
        ratings,
        Policy.from_mapping({"policy": "p", "version": 1, "rules": rules}),
        Contract.none(),
    ).estimates
    assert [(each.measure, str(each.scope), each.value is not None) for each in found] == [
        (rule["measure"], "round", True) for rule in rules
    ]


OF_A_PAIR = ("percent_agreement", "krippendorff_alpha", "fleiss_kappa", "gwet_ac1", "bennett_s")


@pytest.mark.parametrize("level", ["nominal", "ordinal", "interval"])
def test_the_value_of_a_pair_is_that_of_a_table_of_the_two(level):
    rng = np.random.default_rng(4)
    rows = [
        (item, rater, int(rng.integers(4)) if rng.random() < 0.4 else item % 4)
        for item in range(60)
        for rater in "abcd"
        if rng.random() < 0.8
    ]
    table = pd.DataFrame(rows, columns=["item", "rater", "label"])
    ratings = read(table, level=level)
    names = [name for name in OF_A_PAIR if MEASURES[name].defined_on(ratings.scale)]
    found = survey(ratings, names, Inference(n_resamples=400), scopes=["pair"])
    assert len(found) == 6 * len(names)
    pairs = {
        name: read(table[table["rater"].isin(name.split(" and "))], level=level)
        for name in {each.scope.name for each in found}
    }
    for each in found:
        (alone,) = survey(
            pairs[each.scope.name], [each.measure], Inference(n_resamples=400), scopes=["round"]
        )
        assert each.value == pytest.approx(alone.value, rel=1e-12)
        assert each.interval.low == pytest.approx(alone.interval.low, abs=0.1)


def test_a_round_of_two_raters_and_its_pair_show_one_interval():
    rng = np.random.default_rng(5)
    rows = [
        (item, rater, bool(rng.random() < (0.9 if item % 2 else 0.2)))
        for item in range(80)
        for rater in "ab"
    ]
    ratings = read(pd.DataFrame(rows, columns=["item", "rater", "label"]))
    found = survey(ratings, [*OF_A_PAIR, "cohen_kappa"], scopes=["round", "pair"])
    shown = {}
    for each in found:
        shown.setdefault(each.measure, []).append((each.value, each.interval))
    assert {len(set(both)) for both in shown.values()} == {1}
    assert {len(both) for both in shown.values()} == {2}


@pytest.mark.parametrize("name", ["pabak", "randolph_kappa"])
def test_a_measure_under_another_name_is_pointed_out(name):
    with pytest.raises(PolicyError, match="Did you mean 'bennett_s'"):
        find_registered_measure(name)


@pytest.mark.parametrize(
    ("scale", "name", "words"),
    [
        (None, "schouten_kappa", "schouten_kappa: found a measure of parts of a round; expected"),
        (None, "lin_ccc", "lin_ccc: found level nominal; expected one of interval, ratio"),
        (
            Scale(None, "interval"),
            "fleiss_kappa",
            "found level interval without categories; expected one of nominal, ordinal",
        ),
    ],
)
def test_a_measure_of_another_level_names_its_levels(scale, name, words):
    frame = pd.DataFrame({"item": [1, 1, 2, 2], "rater": [*"abab"], "label": [1.5, 2, 3, 3]})
    with pytest.raises(AgreementError, match=words):
        measure(read(frame, scale=scale), name)


@pytest.mark.parametrize("level", ["nominal", "ratio"])
def test_a_classifier_agrees_with_itself_as_a_panel_of_it_alone_would(level):
    rng = np.random.default_rng(6)
    rows = [
        (item, rater, time, 1 + (item % 3 if rng.random() < 0.8 else int(rng.integers(3))))
        for item in range(60)
        for rater, times in (("ana", 1), ("ben", 2), ("judge", 3), ("once", 1))
        for time in range(1, times + 1)
    ]
    table = pd.DataFrame(rows, columns=["item", "rater", "occurrence", "label"])
    models = ["judge", "once"]
    ratings = read(table, level=level, classifiers=models)
    names = [each for each in MEASURES if MEASURES[each].needs == "replicates"]
    once = Inference(n_resamples=400)
    found = survey(ratings, names, once, scopes=["round", "classifier"])
    judged = [each for each in found if each.scope.name == "judge"]
    alone = survey(
        read(table[table["rater"] == "judge"], level=level, usable=False),
        names,
        once,
        scopes=["round"],
    )
    assert len(judged) == len(alone) > 5
    for one, other in zip(judged, alone, strict=True):
        assert (one.value, one.interval, one.undefined) == (
            other.value,
            other.interval,
            other.undefined,
        )
    assert all(each.undefined for each in found if each.scope.name == "once")
    panel = survey(
        read(table[~table["rater"].isin(models)], level=level), names, once, scopes=["round"]
    )
    of_round = [each for each in found if each.scope.kind == "round"]
    assert [(each.value, each.interval) for each in of_round] == [
        (each.value, each.interval) for each in panel
    ]


def test_a_rule_may_ask_that_a_model_agrees_with_itself(ratings):
    rule = {"measure": "self_agreement", "scope": "classifier", "reliable": 0.99}
    rules = [rule, {"measure": "krippendorff_alpha"}]
    policy = Policy.from_mapping({"policy": "p", "version": 1, "rules": rules})
    decided = assess(ratings, policy, Contract.none()).decision
    verdicts = [each for each in decided.verdicts if each.scope.kind == "classifier"]
    assert {str(each.scope) for each in verdicts} == {f"classifier {each}" for each in CLASSIFIERS}
    assert {each.kind for each in verdicts} == {"not_evaluated"}
    assert all("no rater met an item twice" in each.reason for each in verdicts)
