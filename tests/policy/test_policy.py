"""Rules as data: what is refused, in words, and which verdict an interval gets."""

from dataclasses import replace
from functools import partial
from itertools import product

import numpy as np
import pytest

from agreement_pipeline import MEASURES, CategoryCounts, RatingPatterns, Scale
from agreement_pipeline.errors import PolicyError
from agreement_pipeline.estimates import ROUND, Estimate, Scope, estimate
from agreement_pipeline.intervals import Interval, Percentiles
from agreement_pipeline.intervals.draws import quantile_interval
from agreement_pipeline.policy import Policy, Rule
from agreement_pipeline.policy.rules import times_as_many

ALPHA = Rule("krippendorff_alpha")


def found(
    low,
    high,
    value=None,
    *,
    scope=ROUND,
    n_items=100,
    n_raters=3,
    draws=None,
    measure="krippendorff_alpha",
    lowest=None,
):
    middle = (max(low, -1.0) + high) / 2 if value is None else value
    known = None if draws is None else Percentiles(draws, middle, (-1.0, 1.0))
    return Estimate(
        measure,
        scope,
        middle,
        Interval(low, high),
        0.95,
        "m",
        n_items,
        n_raters,
        3 * n_items,
        lowest=lowest,
        distribution=known,
    )


def undefined(reason, scope=ROUND):
    return Estimate("krippendorff_alpha", scope, None, None, 0.95, "m", 0, 0, 0, undefined=reason)


def verdict(rule, *estimates):
    (only,) = rule.judge(estimates)
    return only


def test_no_estimate_at_all_is_not_evaluated():
    said = verdict(ALPHA)
    assert (said.kind, said.code) == ("not_evaluated", "no_estimate")
    assert (
        said.reason
        == "krippendorff_alpha of the round: not evaluated, since no round estimate of it exists for this round"
    )


def test_an_estimate_of_another_measure_or_scope_does_not_count():
    elsewhere = [found(0.9, 1.0, measure="gwet_ac1"), found(0.9, 1.0, scope=Scope("rater", "ana"))]
    assert verdict(ALPHA, *elsewhere).code == "no_estimate"


def test_an_undefined_value_is_not_evaluated_and_says_why():
    said = verdict(ALPHA, undefined("no item has two ratings"))
    assert (said.kind, said.code) == ("not_evaluated", "undefined")
    assert said.reason == "krippendorff_alpha: undefined, since no item has two ratings"


@pytest.mark.parametrize(
    ("rule", "code", "words"),
    [
        (
            Rule("krippendorff_alpha", min_items=101),
            "too_few_items",
            "it rests on 100 items and the policy asks for 101",
        ),
        (
            Rule("krippendorff_alpha", min_raters=4),
            "too_few_raters",
            "it rests on 3 raters and the policy asks for 4",
        ),
    ],
)
def test_a_perfect_interval_on_too_little_evidence_is_not_evaluated(rule, code, words):
    said = verdict(rule, found(0.99, 1.0))
    assert (said.kind, said.code) == ("not_evaluated", code)
    assert words in said.reason


def test_items_with_one_rating_are_no_evidence():
    said = verdict(
        Rule("krippendorff_alpha", min_items=50),
        replace(found(0.9, 1.0), dropped={"one rating": 60}),
    )
    assert (said.kind, said.code) == ("not_evaluated", "too_few_items")
    assert "it rests on 40 items and the policy asks for 50" in said.reason
    assert (
        "on 40 of 100 items (the others have one rating)"
        in verdict(ALPHA, replace(found(0.9, 1.0), dropped={"one rating": 60})).reason
    )


def test_raters_left_out_are_named_and_hold_where_the_policy_asks_for_every_rater():
    some = replace(found(0.9, 1.0, measure="self_agreement"), raters_left_out=("ben", "esra"))
    said = verdict(Rule("self_agreement"), some)
    assert said.kind == "reliable"
    assert "on 100 items, leaving out ['ben', 'esra']" in said.reason
    held = verdict(Rule("self_agreement", every_rater=True), some)
    assert (held.kind, held.code) == ("not_evaluated", "raters_left_out")
    assert (
        "it leaves out ['ben', 'esra'], of whom replicates are missing or show nothing, and the policy asks for every rater"
        in held.reason
    )
    assert (
        verdict(Rule("self_agreement", every_rater=True), replace(some, raters_left_out=())).kind
        == "reliable"
    )


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (
            {"measure": "self_agreement", "every_rater": 1},
            "every_rater 1 found; true or false is required",
        ),
        (
            {"measure": "self_agreement", "every_rater": True, "scope": "rater"},
            "every_rater of self_agreement of the rater found",
        ),
        (
            {"measure": "krippendorff_alpha", "every_rater": True},
            "a measure of replicates or confidence, of the round or category, is required",
        ),
    ],
)
def test_every_rater_may_be_asked_for_where_one_can_be_left_out(arguments, words):
    with pytest.raises(PolicyError, match=words):
        Rule(**arguments)


@pytest.mark.parametrize(
    ("low", "high", "kind"),
    [
        (-np.inf, 1.0, "inconclusive"),
        (-0.2, 0.3, "unreliable"),
        (0.5, 0.6669999, "unreliable"),
        (0.5, 0.667, "inconclusive"),
        (0.6, 0.95, "inconclusive"),
        (0.6669999, 1.0, "inconclusive"),
        (0.667, 0.7, "tentative"),
        (0.7999999, 1.0, "tentative"),
        (0.8, 0.8, "reliable"),
        (0.8, 1.0, "reliable"),
        (1.0, 1.0, "reliable"),
    ],
)
def test_the_interval_decides_and_a_limit_on_the_cutoff_reaches_it(low, high, kind):
    assert verdict(ALPHA, found(low, high)).kind == kind


def test_the_point_value_does_not_decide():
    assert verdict(ALPHA, found(0.60, 0.99, value=0.95)).kind == "inconclusive"


@pytest.mark.parametrize(("tentative", "reliable"), [(0.7, 0.9), (0.667, 0.667)])
def test_a_rule_may_be_stricter_than_the_usual_cutoffs(tentative, reliable):
    rule = Rule("krippendorff_alpha", tentative=tentative, reliable=reliable)
    limits = np.round(np.arange(0.6, 1.0, 0.01), 2)
    for low in limits:
        expected = (
            "reliable" if low >= reliable else "tentative" if low >= tentative else "inconclusive"
        )
        assert verdict(rule, found(low, 1.0)).kind == expected


def test_every_rater_is_judged_by_herself():
    rule = Rule("krippendorff_alpha", scope="rater")
    ana, ben = (
        found(low, 1.0, scope=Scope("rater", name)) for name, low in (("ana", 0.9), ("ben", 0.5))
    )
    assert [(str(v.scope), v.kind) for v in rule.judge([ana, ben])] == [
        ("rater ana", "reliable"),
        ("rater ben", "inconclusive"),
    ]


@pytest.mark.parametrize(
    ("estimate", "words"),
    [
        (
            found(0.85, 0.95),
            "krippendorff_alpha 0.900, 95% interval 0.850 to 0.950 on 100 items: the lower limit reaches 0.8",
        ),
        (
            found(0.70, 0.95, value=0.90),
            "the lower limit reaches 0.667 but not 0.8; about 187 more items at this agreement would decide",
        ),
        (
            found(0.60, 0.95, value=0.75),
            "could be under 0.667 and could be above; more items alone would not reach 0.8 at this agreement",
        ),
        (found(0.10, 0.30), "the upper limit is under 0.667"),
        (found(-np.inf, 0.95, value=0.9), "could be under 0.667 and could be above"),
        (found(0.85, 0.95, lowest="rare"), "krippendorff_alpha (lowest: rare) 0.900"),
        (
            found(0.85, 0.95, draws=np.array([0.7, 0.9, 0.9, 0.9])),
            "the lower limit reaches 0.8 (q = 0.25)",
        ),
    ],
)
def test_a_verdict_says_in_words_and_numbers_what_was_found_and_what_would_help(estimate, words):
    assert words in verdict(ALPHA, estimate).reason


@pytest.mark.parametrize("measure", ["krippendorff_alpha", "gwet_ac1"])
@pytest.mark.parametrize(
    ("counts", "weights"),
    [
        ([[3, 0], [0, 3]], [3, 2]),
        ([[3, 0], [0, 3]], [6, 6]),
        ([[3, 0], [2, 1], [0, 3]], [15, 1, 9]),
        ([[2, 0], [1, 1], [0, 2]], [60, 6, 34]),
        ([[5, 0, 0], [4, 1, 0], [0, 5, 0], [1, 1, 3], [0, 0, 5]], [20, 4, 9, 2, 15]),
        ([[3, 0], [2, 1], [0, 3]], [250, 15, 35]),
    ],
)
def test_the_items_that_would_decide_bring_the_limit_to_the_cutoff(measure, counts, weights):
    scale = Scale(("a", "b", "c")[: len(counts[0])])

    def of(times):
        return estimate(measure, CategoryCounts(counts, np.multiply(weights, times), scale=scale))

    once = of(1.0)
    cutoff = round((once.low + 2 * once.value) / 3, 3)
    times = times_as_many(
        once.value, once.interval, cutoff, partial(once.distribution.relative_reach, 0.025)
    )
    assert of(0.75 * times).low < cutoff < of(1.3 * times).low


def test_the_confidence_level_is_not_rounded():
    fine = Estimate("krippendorff_alpha", ROUND, 0.9, Interval(0.85, 0.95), 0.975, "m", 100, 3, 300)
    assert "97.5% interval" in verdict(ALPHA, fine).reason


def test_q_never_rises_from_a_better_verdict_to_a_worse_one():
    rng = np.random.default_rng(0)
    of_kind = {}
    for centre, spread in product(np.linspace(0.5, 0.98, 25), (0.01, 0.05, 0.15)):
        draws = np.where(
            rng.random(2000) < 0.005, np.nan, np.minimum(rng.normal(centre, spread, 2000), 1.0)
        )
        interval = quantile_interval(draws, 0.025, 0.975, (-1.0, 1.0))
        said = verdict(ALPHA, found(*interval, draws=draws)).to_mapping()
        of_kind.setdefault(said["verdict"], []).append((said["q_reliable"], said["q_tentative"]))
    assert set(of_kind) == {"reliable", "tentative", "inconclusive", "unreliable"}
    assert (
        max(q for q, _ in of_kind["reliable"]) <= 0.025 <= min(q for q, _ in of_kind["tentative"])
    )
    assert (
        max(q for _, q in of_kind["tentative"])
        <= 0.025
        <= min(q for _, q in of_kind["inconclusive"])
    )
    assert (
        max(q for _, q in of_kind["inconclusive"])
        <= 0.9755
        <= min(q for _, q in of_kind["unreliable"])
    )


@pytest.mark.parametrize(
    ("rule", "words"),
    [
        ({"measure": "alpha"}, "measure: found 'alpha'; expected one of"),
        ({"measure": "krippendorf_alpha"}, "Did you mean 'krippendorff_alpha'"),
        ({"measure": ["krippendorff_alpha"]}, "one of .* is required"),
        ({"measure": None}, "measure None found"),
        (
            {"reliable": 1.01},
            "reliable cut-off 1.01 found; 0.667 to 1 is required of krippendorff_alpha in a rule that holds a release",
        ),
        (
            {"reliable": 0.6, "tentative": 0.5},
            "tentative cut-off 0.5 found; 0.667 to 1 is required",
        ),
        ({"reliable": float("nan")}, "reliable cut-off nan found"),
        ({"reliable": True}, "reliable True found; a number is required"),
        ({"tentative": "0.7"}, "tentative '0.7' found; a number is required"),
        ({"reliable": 0.7, "tentative": 0.75}, "tentative cut-off 0.75 above reliable 0.7 found"),
        (
            {"effect": "warn", "tentative": -1.5},
            "tentative cut-off -1.5 found; -1 to 1 is required of krippendorff_alpha. Correct",
        ),
        (
            {"scope": "everything"},
            "scope 'everything' found; one of round, category, rater, without, pair, classifier is required",
        ),
        (
            {"measure": "alpha_with_classifier", "scope": "classifier"},
            "effect hold of alpha_with_classifier found; warn is required, since .* Use alpha_gain",
        ),
        ({"effect": "block"}, "effect 'block' found; one of hold, warn is required"),
        ({"min_items": 0}, "min_items 0 found; a whole number from 1 is required"),
        ({"min_items": 2.5}, "min_items 2.5 found"),
        ({"min_raters": True}, "min_raters True found"),
        (
            {"floor": 0.8},
            r"unknown key \['floor'\] found; .* are known. Correct the spelling: nothing is ignored",
        ),
    ],
)
def test_an_impossible_rule_is_refused_with_its_place_and_number(rule, words):
    data = {
        "policy": "p",
        "version": 1,
        "rules": [{"measure": "gwet_ac1"}, {"measure": "krippendorff_alpha", **rule}],
    }
    with pytest.raises(PolicyError, match=words) as caught:
        Policy.from_mapping(data, source="strict.yaml")
    assert str(caught.value).startswith("strict.yaml")


def test_a_rule_that_only_warns_may_ask_for_less():
    assert Rule("krippendorff_alpha", tentative=0.0, reliable=0.5, effect="warn").tentative == 0.0


GOOD = {"policy": "p", "version": 1, "rules": [{"measure": "krippendorff_alpha"}]}


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        (
            {"rules": []},
            "no rule that holds found; at least one is required, or everything would be admitted",
        ),
        ({"rules": [{"measure": "gwet_ac1", "effect": "warn"}]}, "no rule that holds found"),
        ({"rules": "krippendorff_alpha"}, "a list of rules is required"),
        ({"rules": ["krippendorff_alpha"]}, "str found; a mapping of keys to values is required"),
        ({"rules": [{"scope": "round"}]}, r"no \['measure'\] found"),
        (
            {"rules": GOOD["rules"] * 2},
            r"two rules on \['krippendorff_alpha of the round'\] found; one is required",
        ),
        ({"admit": []}, r"admit \[\] found; reliable, or reliable and tentative, is required"),
        (
            {"admit": ["tentative"]},
            r"admit \['tentative'\] found; reliable, or reliable and tentative, is required",
        ),
        ({"admit": ["reliable", "inconclusive"]}, "Nothing else may be admitted"),
        ({"admit": [["reliable"]]}, "reliable, or reliable and tentative, is required"),
        ({"admit": "reliable"}, "a list of verdicts is required"),
        (
            {"confidence_level": 0.5},
            "confidence_level 0.5 found; 0.8 or more and under 1 is required",
        ),
        ({"confidence_level": 1}, "confidence_level 1 found"),
        (
            {"n_resamples": 10},
            "n_resamples 10 found; a whole number from 1000 to 1000000 is required",
        ),
        ({"n_resamples": 1e4}, "n_resamples 10000.0 found"),
        (
            {"interval_method": "bootstrap"},
            "interval method 'bootstrap' found; one of smoothed_bayesian_bootstrap, ",
        ),
        ({"interval_method": ["jackknife_t"]}, "interval method .* found; one of"),
        (
            {"interval_method": "item_bootstrap"},
            "interval_method 'item_bootstrap' found; smoothed_bayesian_bootstrap or two_way_jackknife_log is required",
        ),
        ({"version": "1"}, "a name and a whole number are required"),
        ({"policy": 3}, "a name and a whole number are required"),
        ({"description": {"why": "risk"}}, "policy: dict found; a text is required"),
        ({"polcy": "p"}, r"unknown key \['polcy'\] found"),
    ],
)
def test_an_impossible_policy_is_refused_in_words(changes, words):
    with pytest.raises(PolicyError, match=words):
        Policy.from_mapping({**GOOD, **changes})


@pytest.mark.parametrize("key", ["policy", "version", "rules"])
def test_a_policy_without_a_needed_key_is_refused(key):
    with pytest.raises(
        PolicyError, match=rf"no \['{key}'\] found; policy, version, rules are required"
    ):
        Policy.from_mapping({name: value for name, value in GOOD.items() if name != key})


@pytest.mark.parametrize("data", [None, [], "policy"])
def test_what_is_no_mapping_is_no_policy(data):
    with pytest.raises(PolicyError, match="a mapping of keys to values is required"):
        Policy.from_mapping(data)


def full():
    rules = [
        {"measure": "krippendorff_alpha", "min_items": 50},
        {"measure": "gwet_ac1", "scope": "pair", "effect": "warn", "reliable": 0.9},
    ]
    return {
        "policy": "p",
        "version": 3,
        "rules": rules,
        "admit": ["reliable", "tentative"],
        "confidence_level": 0.9,
        "description": "why",
    }


def test_plain_data_make_the_same_policy_again():
    policy = Policy.from_mapping(full())
    again = Policy.from_mapping(policy.to_mapping())
    assert (again, again.digest) == (policy, policy.digest)
    assert policy.measures == ("gwet_ac1", "krippendorff_alpha")


def test_the_digest_is_of_all_that_decides_and_not_of_the_description():
    policy = Policy.from_mapping(full())
    assert Policy.from_mapping({**full(), "description": "other words"}).digest == policy.digest
    changed = [
        {"version": 4},
        {"policy": "q"},
        {"admit": ["reliable"]},
        {"confidence_level": 0.95},
        {"n_resamples": 20_000},
        {"interval_method": "two_way_jackknife_log"},
        {"rules": full()["rules"][:1]},
    ]
    assert (
        len(
            {
                policy.digest,
                *(Policy.from_mapping({**full(), **change}).digest for change in changed),
            }
        )
        == 8
    )


def test_a_policy_gives_the_verdicts_of_all_its_rules():
    policy = Policy.from_mapping(full())
    pair = found(0.95, 1.0, measure="gwet_ac1", scope=Scope("pair", "ana and ben"))
    assert [(v.rule.measure, v.kind) for v in policy.judge([found(0.7, 0.9), pair])] == [
        ("krippendorff_alpha", "tentative"),
        ("gwet_ac1", "reliable"),
    ]


OF_ASSOCIATION = ("information_agreement", "information_agreement_c", "yule_y")


@pytest.mark.parametrize("measure", OF_ASSOCIATION)
def test_a_measure_of_association_may_warn_and_not_hold(measure):
    assert Rule(measure, effect="warn").effect == "warn"
    with pytest.raises(
        PolicyError,
        match=rf"effect hold of {measure} found; warn is required, since it sees .* and not agreement.* Use .*krippendorff_alpha",
    ):
        Rule(measure)


@pytest.mark.parametrize("measure", OF_ASSOCIATION)
def test_raters_who_always_contradict_each_other_would_be_admitted_by_it(measure):
    opposite = RatingPatterns(
        [[0, 1], [1, 0]], [200, 200], scale=Scale(("no", "yes")), raters=("a", "b")
    )
    mostly = RatingPatterns(
        [[0, 0], [0, 1], [1, 1]], [100, 150, 150], scale=Scale(("no", "yes")), raters=("a", "b")
    )
    of = mostly if measure == "yule_y" else opposite
    assert float(MEASURES[measure](of).value) == pytest.approx(1)
    assert float(MEASURES["cohen_kappa"](of).value) < 0.5


@pytest.mark.parametrize(("level", "draws"), [(0.99, 1_999), (0.9999, 199_999)])
def test_limits_further_out_than_the_draws_can_tell_are_refused(level, draws):
    rules = (Rule("krippendorff_alpha"),)
    with pytest.raises(
        PolicyError,
        match=rf"n_resamples: found {draws} with confidence_level {level}; expected {draws + 1} or more",
    ):
        Policy("strict", 1, rules, confidence_level=level, n_resamples=draws)
    assert Policy(
        "strict", 1, rules, confidence_level=level, n_resamples=draws + 1
    ).inference.tail == pytest.approx((1 - level) / 2)


@pytest.mark.parametrize(
    ("scope", "words"),
    [
        (ROUND, "krippendorff_alpha 0.9"),
        (Scope("rater", "ana"), "krippendorff_alpha of rater ana 0.9"),
        (Scope("without", "ana"), "krippendorff_alpha without ana 0.9"),
    ],
)
def test_a_reason_names_what_it_speaks_of(scope, words):
    (verdict,) = Rule("krippendorff_alpha", scope=scope.kind).judge(
        [found(0.85, 0.95, 0.9, scope=scope)]
    )
    assert verdict.reason.startswith(words)
