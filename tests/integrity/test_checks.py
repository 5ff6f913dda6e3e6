"""The bounds on facts stand in the policy, and what lies beyond them does what the policy says."""

from dataclasses import asdict, fields, replace

import pandas as pd
import pytest
import yaml

from agreement_pipeline import Columns, Scale, read_ratings
from agreement_pipeline.errors import PolicyError
from agreement_pipeline.integrity import (
    FACTS,
    AtMost,
    Check,
    Integrity,
    Panel,
    check_integrity,
)
from agreement_pipeline.integrity.checks import SENTENCES
from agreement_pipeline.policy import BUNDLED, Policy, judge, load_policy
from agreement_pipeline.ratings import Ratings
from tests.integrity.test_facts import YES_NO, copied, independent, latent
from tests.policy.test_flattered import noise

STANDARD = replace(load_policy("standard"), n_resamples=1000)
GOOD = {"policy": "ours", "version": 1, "rules": [{"measure": "krippendorff_alpha"}]}


def policy_of(**integrity):
    return Policy.from_mapping({**GOOD, "integrity": integrity})


def under(**integrity):
    return replace(STANDARD, integrity=replace(STANDARD.integrity, **integrity))


def test_every_fact_has_a_bound_and_every_bound_is_of_a_fact():
    bounds = {each.name for each in fields(Integrity) if isinstance(each.default, str) is False}
    assert bounds == {*SENTENCES}
    assert {fact for fact, _ in SENTENCES.values()} == {*FACTS}


def test_a_policy_without_the_section_has_the_usual_bounds_and_its_digest():
    plain = Policy.from_mapping(GOOD)
    assert "integrity" not in plain.to_mapping()
    written_out = policy_of(**asdict(Integrity()))
    assert (written_out, written_out.digest) == (plain, plain.digest)
    stricter = policy_of(item_texts_differ={"at_most": 0.05, "effect": "hold"})
    assert stricter.digest != plain.digest
    said = stricter.to_mapping()["integrity"]
    assert said == {"item_texts_differ": {"at_most": 0.05, "effect": "hold"}}
    assert Policy.from_mapping(stricter.to_mapping()) == stricter


def test_the_standard_policy_writes_out_every_bound():
    written = yaml.safe_load(BUNDLED["standard"].read_text())["integrity"]
    assert written == asdict(Integrity())
    assert load_policy("standard").integrity == Integrity()


@pytest.mark.parametrize(
    ("integrity", "words"),
    [
        ({"odd": {"at_most": 1, "effect": "hold"}}, "odd"),
        ({"weak_part": "off"}, "weak_part: found 'off'; expected one of hold, warn, not_asked"),
        ({"item_texts_differ": {"at_most": 0.1}}, "effect"),
        ({"item_texts_differ": {"at_most": -1, "effect": "warn"}}, "expected a finite number"),
        ({"clusters_hold_items": {"at_most": 2, "effect": "warn"}}, "at_most"),
    ],
)
def test_an_impossible_bound_is_refused(integrity, words):
    with pytest.raises(PolicyError, match=words):
        policy_of(**integrity)


def test_a_check_holds_warns_or_is_not_asked_as_the_policy_says():
    frame = copied(independent(1500, dict.fromkeys("abc", 0.1)), "a", ["c1", "c2"])
    ratings = Ratings.from_frame(frame, YES_NO)
    decisions = {
        effect: judge(ratings, under(raters_not_copied=AtMost(0, effect)))
        for effect in ("hold", "warn", "not_asked")
    }
    found = {
        effect: [each for each in decision.findings if each.check == "raters_not_copied"]
        for effect, decision in decisions.items()
    }
    assert "contract:raters_not_copied" in decisions["hold"].codes
    assert decisions["hold"].digest == judge(ratings, STANDARD).digest
    (warned,) = found["warn"]
    assert (warned.passed, warned.holds, warned.severity) == (False, False, "warning")
    assert "contract:raters_not_copied" not in decisions["warn"].codes
    assert found["not_asked"] == []


def test_a_bound_of_the_policy_decides_and_is_said():
    frame = latent(100, "abc", 0.05)
    texts = frame["item"].where(frame["item"] >= "i00020", "i00000")
    ratings = Ratings.from_frame(frame.assign(text="on " + texts), YES_NO)

    def finding(most):
        decision = judge(ratings, under(items_not_repeated=AtMost(most, "hold")))
        return next(each for each in decision.findings if each.check == "items_not_repeated")

    assert finding(0.19).passed
    assert finding(0.18).holds
    assert "at most 0.18 of the items" in finding(0.18).description
    names = Panel(ratings), [under(raters_not_copied=AtMost(3, "hold")).integrity.checks[8]]
    (said,) = check_integrity(*names)
    assert said.description.endswith("(the policy's bound is 3)")


def test_numbers_far_from_all_others_take_back_a_verdict_unless_the_policy_says_otherwise():
    ratings = Ratings.from_frame(noise(300, 15), Scale(None, "interval"))
    kinds = {}
    for effect in ("hold", "warn", "not_asked"):
        (verdict,) = judge(ratings, under(flattered=effect)).verdicts
        kinds[effect] = verdict.kind, verdict.code, "expected disagreement" in verdict.reason
    assert kinds == {
        "hold": ("inconclusive", "flattered", True),
        "warn": ("reliable", "reliable", True),
        "not_asked": ("reliable", "reliable", False),
    }


def test_labels_like_missing_ones_hold_warn_or_are_not_asked():
    frame = independent(300, dict.fromkeys("abc", 0.07))
    nothing = frame.assign(item="none" + frame["item"], label="n/a")
    ratings = read_ratings(pd.concat([frame, nothing]))
    severities = {}
    for effect in ("hold", "warn", "not_asked"):
        found = judge(ratings, under(placeholders_not_declared=effect)).findings
        severities[effect] = [each.severity for each in found if "placeholders" in each.check]
    assert severities == {"hold": ["error"], "warn": ["warning"], "not_asked": []}


def test_what_cannot_be_found_holds_whatever_the_policy_says(monkeypatch):
    def broken(panel):
        raise ZeroDivisionError("no items")

    monkeypatch.setitem(FACTS, "share_of_gold", broken)
    ratings = Ratings.from_frame(latent(40, "abc", 0.1), YES_NO)
    (found,) = [
        each for each in judge(ratings, STANDARD).findings if each.check == "gold_items_few"
    ]
    assert found.holds
    assert "could not be run (ZeroDivisionError: no items)" in found.description


def test_an_address_in_what_a_fact_says_is_not_shown():
    frame = latent(40, ["ana@example.org", "Ana@example.org", "bo"], 0.1)
    (found,) = check_integrity(
        Panel(Ratings.from_frame(frame, YES_NO)),
        [Check("names", "raters_that_print_alike", "names must differ", "error", at_most=0)],
    )
    assert not found.passed
    assert found.description == "names: (redacted); names must differ"


@pytest.mark.parametrize(
    "change",
    [
        lambda frame: {"frame": frame.assign(earlier=True)},
        lambda frame: {"frame": frame, "classifiers": tuple("abc")},
        lambda frame: {"frame": frame[frame["rater"] == "a"]},
    ],
)
@pytest.mark.parametrize("policy", [*BUNDLED])
def test_a_round_that_the_panel_did_not_rate_is_held_by_its_rules(change, policy):
    ratings = Ratings.from_frame(scale=YES_NO, **change(latent(60, "abc", 0.0)))
    decision = judge(ratings, load_policy(policy))
    assert not decision.admitted


def test_ratings_that_came_without_a_label_are_said_and_empty_cells_of_a_wide_table_are_not():
    rows = pd.DataFrame({"item": [f"i{n // 3}" for n in range(30)], "rater": [*"abc"] * 10})
    labels = ["yes", "no", "yes"] * 2 + [None] * 24
    wide = pd.DataFrame({"item": ["i1", "i2"], "a": ["yes", None], "b": ["no", None]})

    def finding(source, *columns, **how):
        findings = judge(read_ratings(source, *columns, scale=YES_NO, **how), STANDARD).findings
        return next(each for each in findings if each.check == "labels_given")

    missing = finding(rows.assign(label=labels))
    assert (missing.passed, missing.severity) == (False, "warning")
    assert "24 of 30 ratings came without a label" in missing.description
    assert finding(rows.assign(label="yes")).passed
    assert finding(wide, Columns(raters=("a", "b")), layout="wide").passed
