"""Rules as data: what is refused, in words, and which verdict an interval gets."""

from dataclasses import replace
from functools import partial
from itertools import product

import numpy as np
import pytest

from agreement_pipeline import Scale
from agreement_pipeline.errors import PolicyError
from agreement_pipeline.estimates import ROUND, Estimate, Scope, estimate
from agreement_pipeline.intervals import Interval, Percentiles
from agreement_pipeline.intervals.draws import quantile_interval
from agreement_pipeline.measures import MEASURES
from agreement_pipeline.policy import Policy, Rule, load_policy
from agreement_pipeline.policy.reasons import times_as_many
from agreement_pipeline.statistics import CategoryCounts, LabelsByRater

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
        == "krippendorff_alpha of the round: not evaluated, since this round has no round estimate "
        "of it"
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
        "it leaves out ['ben', 'esra'], whose replicates are missing or show nothing, "
        "and the policy asks for every rater" in held.reason
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
            "every_rater: found 1; expected true or false",
        ),
        (
            {"measure": "self_agreement", "every_rater": True, "scope": "rater"},
            "every_rater: found True; expected false for self_agreement of the rater, since",
        ),
        (
            {"measure": "krippendorff_alpha", "every_rater": True},
            "only a measure of replicates or confidence, of the round or category, can leave out",
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


def test_every_rater_is_judged_on_their_own():
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
            "krippendorff_alpha 0.900, 95% interval 0.850 to 0.950 on 100 items: "
            "the lower limit reaches 0.8",
        ),
        (
            found(0.70, 0.95, value=0.90),
            "the lower limit reaches 0.667 but not 0.8; "
            "about 187 more items would decide, if agreement stays the same",
        ),
        (
            replace(found(0.70, 0.95, value=0.90), n_items=1000),
            "; about 1,900 more items would decide, if agreement stays the same",
        ),
        (
            found(0.60, 0.95, value=0.75),
            "could be under 0.667 and could be above; "
            "more items would not reach 0.8, if agreement stays the same",
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
        ({"measure": "krippendorf_alpha"}, "measure: found .* Did you mean 'krippendorff_alpha'"),
        ({"measure": ["krippendorff_alpha"]}, "measure: found .*; expected one of"),
        ({"measure": None}, "measure: found None; expected one of"),
        (
            {"reliable": 1.01},
            "reliable: found 1.01; expected 0.667 to 1 for krippendorff_alpha in a rule that can "
            "hold a release",
        ),
        ({"tentative": 0.5}, "tentative: found 0.5; expected 0.667 to 1 for krippendorff_alpha in"),
        ({"reliable": float("nan")}, "reliable: found nan; expected 0.667 to 1"),
        ({"reliable": True}, "reliable: found True; expected a number"),
        ({"reliable": 10**300}, "reliable: found 10{59}…; expected 0.667 to 1"),
        ({"tentative": "0.7"}, "tentative: found '0.7'; expected a number"),
        (
            {"reliable": 0.7, "tentative": 0.75},
            "tentative: found 0.75; expected at most the reliable cut-off, 0.7. Swap them",
        ),
        (
            {"effect": "warn", "tentative": -1.5},
            "tentative: found -1.5; expected -1 to 1 for krippendorff_alpha. Correct",
        ),
        (
            {"scope": "everything"},
            "scope: found 'everything'; expected one of round, category, rater, without, pair, "
            "classifier",
        ),
        (
            {"measure": "alpha_with_classifier", "scope": "classifier"},
            "effect: found 'hold'; expected 'warn' for alpha_with_classifier, since .* "
            "Use alpha_gain",
        ),
        ({"effect": "block"}, "effect: found 'block'; expected one of hold, warn"),
        ({"min_items": 0}, "min_items: found 0; expected a whole number from 1"),
        ({"min_items": 2.5}, "min_items: found 2.5; expected a whole number"),
        ({"min_raters": True}, "min_raters: found True; expected a whole number"),
        (
            {"min_item": 3},
            "min_item: found an unknown key; expected one of .*. Did you mean 'min_items'?",
        ),
    ],
)
def test_an_impossible_rule_is_refused_with_its_place_and_number(rule, words):
    data = {
        "policy": "p",
        "version": 1,
        "rules": [{"measure": "gwet_ac1"}, {"measure": "krippendorff_alpha", **rule}],
    }
    with pytest.raises(PolicyError, match=rf"^strict.yaml: rules\[1\]\.{words}"):
        Policy.from_mapping(data, source="strict.yaml")


IN_PYTHON = {"measure": "krippendorff_alpha", "min_items": 0, "reliable": "0.8", "effect": None}


def test_a_rule_made_in_python_is_refused_with_every_mistake():
    with pytest.raises(PolicyError) as caught:
        Rule(**IN_PYTHON)
    assert str(caught.value) == (
        "reliable: found '0.8'; expected a number. Correct the value. "
        "min_items: found 0; expected a whole number from 1. Correct the value. "
        "effect: found None; expected one of hold, warn. Correct the value."
    )
    assert caught.value.code == "policy_unreadable"


MANY_MISTAKES = """policy: p
version: true
admit: [reliable, inconclusive]
rules:
  - measure: gwet_ac1
    min_items: 0
    scope: round
    tentative: yes
  - measure: gwet_ac2
    flor: 0.8
n_resample: 1000
"""


def test_a_policy_file_is_refused_with_every_mistake_and_its_line(tmp_path):
    path = tmp_path / "many.yaml"
    path.write_text(MANY_MISTAKES)
    with pytest.raises(PolicyError) as caught:
        load_policy(path)
    mistakes = str(caught.value).split(f"{path}:")[1:]
    assert [each.split(";")[0] for each in mistakes] == [
        "2: version: found True",
        "3: admit: found ['reliable', 'inconclusive']",
        "6: rules[0].min_items: found 0",
        "8: rules[0].tentative: found True",
        "9: rules[1].measure: found 'gwet_ac2'",
        "10: rules[1].flor: found an unknown key",
        "11: n_resample: found an unknown key",
    ]


def test_a_cutoff_out_of_bounds_is_named_with_its_own_line(tmp_path):
    path = tmp_path / "strict.yaml"
    rule = "  - measure: krippendorff_alpha\n    reliable: 1.1\n    tentative: 0.5\n"
    path.write_text(f"policy: p\nversion: 1\nrules:\n{rule}")
    with pytest.raises(
        PolicyError, match=r"strict.yaml:5: rules\[0\].reliable: found 1.1;"
    ) as said:
        load_policy(path)
    assert "strict.yaml:6: rules[0].tentative: found 0.5;" in str(said.value)


def test_too_few_resamples_are_named_with_their_line(tmp_path):
    path = tmp_path / "fine.yaml"
    rules = "rules: [{measure: krippendorff_alpha}]\n"
    path.write_text(f"policy: p\nversion: 1\n{rules}confidence_level: 0.9999\nn_resamples: 5000\n")
    with pytest.raises(PolicyError, match=r"fine.yaml:5: n_resamples: found 5000 with"):
        load_policy(path)


def test_whole_numbers_stay_whole_in_the_canonical_form():
    rule = {"measure": "krippendorff_alpha", "reliable": 1, "tentative": 1}
    (made,) = Policy.from_mapping({**GOOD, "rules": [rule]}).to_mapping()["rules"]
    assert (type(made["reliable"]), type(made["tentative"])) == (int, int)


def test_a_rule_that_only_warns_may_ask_for_less():
    assert Rule("krippendorff_alpha", tentative=0.0, reliable=0.5, effect="warn").tentative == 0.0


GOOD = {"policy": "p", "version": 1, "rules": [{"measure": "krippendorff_alpha"}]}


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        (
            {"rules": []},
            "rules: found no rule that can hold a release; "
            "expected at least one, or everything would be admitted",
        ),
        (
            {"rules": [{"measure": "gwet_ac1", "effect": "warn"}]},
            "rules: found no rule that can hold a release",
        ),
        ({"rules": "krippendorff_alpha"}, "rules: found 'krippendorff_alpha'; expected a list"),
        (
            {"rules": ["krippendorff_alpha"]},
            r"rules\[0\]: found 'krippendorff_alpha'; expected a mapping of keys and values",
        ),
        ({"rules": [{"scope": "round"}]}, r"rules\[0\].measure: found nothing; expected a value"),
        (
            {"rules": GOOD["rules"] * 2},
            r"rules: found two rules \['krippendorff_alpha_of_round'\]; expected one rule",
        ),
        ({"admit": []}, r"admit: found \[\]; expected \[reliable\] or \[reliable, tentative\]"),
        (
            {"admit": ["tentative"]},
            r"admit: found \['tentative'\]; expected \[reliable\] or \[reliable, tentative\]",
        ),
        ({"admit": ["reliable", "inconclusive"]}, "Nothing else may be admitted"),
        ({"admit": [["reliable"]]}, r"admit\[0\]: found \['reliable'\]; expected 'reliable', "),
        ({"admit": "reliable"}, "admit: found 'reliable'; expected a list"),
        (
            {"confidence_level": 0.5},
            "confidence_level: found 0.5; expected 0.8 or more, and under 1",
        ),
        ({"confidence_level": 1}, "confidence_level: found 1; expected 0.8 or more"),
        (
            {"n_resamples": 10},
            "n_resamples: found 10; expected a whole number from 1000 to 1000000",
        ),
        ({"n_resamples": 1e4}, "n_resamples: found 10000.0; expected a whole number"),
        (
            {"interval_method": "bootstrap"},
            "interval_method: found 'bootstrap'; expected smoothed_bayesian_bootstrap or ",
        ),
        ({"interval_method": ["jackknife_t"]}, "interval_method: found .*; expected smoothed"),
        (
            {"interval_method": "item_bootstrap"},
            "interval_method: found 'item_bootstrap'; "
            "expected smoothed_bayesian_bootstrap or two_way_jackknife_log",
        ),
        ({"version": "1"}, "version: found '1'; expected a whole number"),
        ({"policy": 3}, "policy: found 3; expected text"),
        ({"description": {"why": "risk"}}, "description: found {'why': 'risk'}; expected text"),
        ({"polcy": "p"}, "polcy: found an unknown key; .* Did you mean 'policy'?"),
    ],
)
def test_an_impossible_policy_is_refused_in_words(changes, words):
    with pytest.raises(PolicyError, match=words):
        Policy.from_mapping({**GOOD, **changes})


@pytest.mark.parametrize("key", ["policy", "version", "rules"])
def test_a_policy_without_a_needed_key_is_refused(key):
    with pytest.raises(
        PolicyError, match=f"^policy: {key}: found nothing; expected a value. Add the key {key}"
    ):
        Policy.from_mapping({name: value for name, value in GOOD.items() if name != key})


@pytest.mark.parametrize("data", [None, [], "policy"])
def test_what_is_no_mapping_is_no_policy(data):
    with pytest.raises(
        PolicyError, match=r"^policy: found .*; expected a mapping of keys and values"
    ):
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
        match=rf"effect: found 'hold'; expected 'warn' for {measure}, since it sees .* "
        r"and not agreement.* Use .*krippendorff_alpha",
    ):
        Rule(measure)


@pytest.mark.parametrize("measure", OF_ASSOCIATION)
def test_raters_who_always_contradict_each_other_would_be_admitted_by_it(measure):
    opposite = LabelsByRater(
        [[0, 1], [1, 0]], [200, 200], scale=Scale(("no", "yes")), raters=("a", "b")
    )
    mostly = LabelsByRater(
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
        match=rf"n_resamples: found {draws} with confidence_level {level}; "
        rf"expected {draws + 1} or more",
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
