"""Raters who never look, 2 % yes: which measures they pass, and what a policy must say of it."""

from functools import cache

import numpy as np
import pandas as pd
import pytest

from agreement_pipeline import Policy, Ratings, Rule, Scale
from agreement_pipeline.errors import PolicyError
from agreement_pipeline.estimates import SCOPE_KINDS, measure_ratings
from agreement_pipeline.intervals import Inference
from agreement_pipeline.measures import MEASURES
from agreement_pipeline.store import Store
from tests.release.rounds import make_ratings, released

INFERENCE = Inference(0.95, 1000)
SENTENCE = "The labels only sort a queue that people read anyway."


@cache
def never_looked(level):
    """Three raters and a model who say yes to 2 % of what they meet, whatever it is.

    Half of the items are gold, and in truth 2 % of them are yes too.
    """
    random, scale = np.random.default_rng(3), Scale((0, 1), level)
    rows = [
        (f"i{i:03}", rater, int(random.random() < 0.02), occurrence, 0.97)
        for i in range(800)
        for rater in ("a", "b", "c", "model")
        for occurrence in (1, 2)
    ]
    frame = pd.DataFrame(rows, columns=["item", "rater", "label", "occurrence", "confidence"])
    labels = frame["label"] if scale.numeric else frame["label"].astype(str)
    number = frame["item"].str[1:].astype(int)
    known = {"gold": number >= 400, "gold_label": (number % 50 == 0).astype(int).astype(str)}
    return Ratings.from_frame(frame.assign(label=labels, **known), scale, classifiers=("model",))


def passes(name, level, scope):
    """Would a rule be met: does every estimate of a scope reach the lower cut-off?"""
    found = [
        each
        for each in measure_ratings(never_looked(level), [name], INFERENCE, scopes=(scope,))
        if each.scope.kind == scope
    ]
    return bool(found) and all(each.low is not None and each.low >= 0.667 for each in found)


@pytest.mark.parametrize("name", [name for name, each in MEASURES.items() if not each.cannot_hold])
def test_s17_each_record_says_whether_raters_who_never_look_can_pass(name):
    levels = [
        level
        for level in ("nominal", "ordinal", "interval", "ratio")
        if MEASURES[name].defined_on(Scale((0, 1), level))
    ]
    found = any(passes(name, level, scope) for level in levels[:1] for scope in SCOPE_KINDS)
    assert MEASURES[name].passed_by_guessing is found


@pytest.mark.parametrize("name", ["percent_agreement", "gwet_ac1", "campagner_cabitza_rho"])
def test_a_policy_that_guessing_can_pass_is_refused(name):
    with pytest.raises(PolicyError, match=r"passed_by_guessing: found only .* to hold a release"):
        Policy("blind", 1, (Rule(name),))


def test_a_rule_that_only_warns_does_not_make_up_for_it():
    rules = (Rule("percent_agreement"), Rule("krippendorff_alpha", effect="warn"))
    with pytest.raises(PolicyError, match="passed_by_guessing"):
        Policy("blind", 1, rules)


def test_rules_that_hold_nothing_are_one_mistake():
    with pytest.raises(PolicyError, match="no rule that can hold a release") as refusal:
        Policy("blind", 1, (Rule("percent_agreement", effect="warn"),))
    assert "passed_by_guessing" not in str(refusal.value)


def test_one_rule_that_guessing_cannot_pass_is_enough():
    Policy("seeing", 1, (Rule("percent_agreement"), Rule("krippendorff_alpha")))


def test_a_policy_may_say_why_it_does_no_harm_and_the_card_shows_it(tmp_path):
    policy = Policy("blind", 1, (Rule("percent_agreement"),), passed_by_guessing=SENTENCE)
    assert Policy.from_mapping(policy.to_mapping()) == policy
    store, ratings = Store(tmp_path / "store"), make_ratings(0)
    (tmp_path / "r1.csv").write_text(ratings.to_pandas().to_csv(index=False))
    store.ingest("r1", ratings, tmp_path / "r1.csv")
    assert SENTENCE in (released(store, policy).path / "README.md").read_text()


def test_blanks_are_no_sentence():
    with pytest.raises(PolicyError, match="passed_by_guessing"):
        Policy("blind", 1, (Rule("percent_agreement"),), passed_by_guessing="  ")


def test_policies_that_do_not_use_the_new_keys_keep_their_digest():
    said = Policy("standard", 1, (Rule("krippendorff_alpha"),)).to_mapping()
    assert not {"passed_by_guessing", "items_in_conflict"} & set(said)
