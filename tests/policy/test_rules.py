"""A rule describes itself, and an impossible rule is refused in words."""

import pytest

from agreement_pipeline import Scale
from agreement_pipeline.errors import PolicyError
from agreement_pipeline.measures import MEASURES
from agreement_pipeline.policy import Policy, Rule
from agreement_pipeline.statistics import LabelsByRater


def test_a_rule_describes_itself():
    rule = Rule("krippendorff_alpha", effect="warn", tentative=0.5)
    assert rule.name == "krippendorff_alpha_of_round"
    assert rule.question == (
        "Does the lower limit of Krippendorff's α of the round reach 0.8 (tentative: 0.5)? "
        "The rule only warns."
    )
    assert Rule("krippendorff_alpha").question.endswith(" The rule holds a release.")


@pytest.mark.parametrize(
    ("scope", "what"),
    [
        ("category", "each category"),
        ("without", "the round without each rater"),
        ("stratum", "each stratum"),
    ],
)
def test_a_rule_on_parts_of_a_round_asks_of_each_of_them(scope, what):
    rule = Rule("krippendorff_alpha", scope=scope)
    assert f"Krippendorff's α of {what} reach 0.8" in rule.question
    (verdict,) = rule.judge([])
    assert verdict.reason == (
        f"krippendorff_alpha of {what}: not evaluated, since this round has no such estimate of it"
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


def test_a_rule_that_only_warns_may_ask_for_less():
    assert Rule("krippendorff_alpha", tentative=0.0, reliable=0.5, effect="warn").tentative == 0.0


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


def test_a_cut_off_in_percent_is_asked_about():
    with pytest.raises(PolicyError, match=r"reliable: found 80; .*\. Did you mean 0\.8\?"):
        Rule("krippendorff_alpha", reliable=80)
    with pytest.raises(PolicyError, match=r"tentative: found 66\.7; .* Did you mean 0\.667\?"):
        Rule("krippendorff_alpha", tentative=66.7)
    with pytest.raises(PolicyError, match=r"reliable: found 30; .*\. Correct the value\."):
        Rule("krippendorff_alpha", reliable=30)
