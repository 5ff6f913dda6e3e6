import re
from base64 import b64decode
from xml.etree import ElementTree

import pandas as pd
import pytest

from agreement_pipeline.evidence import rounds_in_words, rounds_not_admitted
from agreement_pipeline.evidence.history import decisions_by_round, round_counts, round_lines
from agreement_pipeline.evidence.rounds import build_course_figure
from agreement_pipeline.policy import Rule
from agreement_pipeline.report.drawing import svg_data_url

HELD = ("held: w1, w4",)
NOT_JUDGED = ("not judged: ['w3']; the table says why",)


@pytest.mark.parametrize(
    ("decisions", "counts", "words"),
    [
        ((), (0, 0, 0), ()),
        ((("w1", "admitted"), ("w2", "admitted (tentative)")), (2, 0, 0), ()),
        ((("w1", "held"), ("w1", "held"), ("w4", "pending")), (2, 2, 0), HELD),
        ((("w3", "admitted"), ("w3", "not judged")), (1, 0, 1), NOT_JUDGED),
        (
            (("w1", "held"), ("w3", "not judged"), ("w4", "pending")),
            (3, 2, 1),
            (*HELD, *NOT_JUDGED),
        ),
    ],
)
def test_rounds_that_are_not_admitted_are_held_or_not_judged(decisions, counts, words):
    rounds = pd.DataFrame(decisions, columns=["round", "decision"], dtype=object)
    assert tuple(round_counts(rounds).values()) == counts
    assert rounds_not_admitted(rounds) == words


def course_of(*decisions):
    """The figure of some decisions, by a rule with cut-offs of its own."""
    numbers = {"measure": "krippendorff_alpha", "value": 0.9, "low": 0.85, "high": 0.95}
    numbers["scope"] = "round"
    rows = [
        {"round": f"w{number}", "decision": decision, **numbers}
        for number, decision in enumerate(decisions)
    ]
    rule = Rule("krippendorff_alpha", reliable=0.9, tentative=0.7)
    return build_course_figure(pd.DataFrame(rows), rule)


def test_the_plot_shows_the_cut_offs_of_the_rule():
    assert dict(course_of("admitted").cutoffs) == {
        0.9: "reliable from 0.9",
        0.7: "tentative from 0.7",
    }


def test_reliable_tentative_and_held_rounds_differ_and_a_legend_names_each_once():
    figure = course_of("admitted", "admitted (tentative)", "held", "held")
    assert [mark.tone for mark in figure.marks] == ["good", "partly", "bad", "bad"]
    drawn = b64decode(svg_data_url(figure).partition(",")[2]).decode()
    shapes = {
        tone: set(re.findall(rf'<(\w+) class="mark {tone}"', drawn))
        for tone in ("good", "partly", "bad")
    }
    assert shapes == {"good": {"circle"}, "partly": {"polygon"}, "bad": {"rect"}}
    words = re.findall(r'<text class="label"[^>]*>([^<]+)</text>', drawn)
    decisions = ["admitted", "admitted (tentative)", "held"]
    assert words == [*decisions, "reliable from 0.9", "tentative from 0.7"]


def test_an_image_is_small_and_stands_by_itself():
    drawn = svg_data_url(course_of(*["held"] * 300))
    assert len(drawn) < 40_000
    root = ElementTree.fromstring(b64decode(drawn.partition(",")[2]))
    assert root.find("{http://www.w3.org/2000/svg}style").text.startswith(":root")
    assert {"width", "height", "viewBox"} <= set(root.keys())


def test_why_a_measure_is_not_evaluated_stands_beside_the_round():
    """The contract's finding stands before it, once."""
    row = {"decision": "held", "release": "none", "value": None, "low": None, "high": None}
    row["policy"] = "p 1"
    verdict = {"measure": "self_agreement", "verdict": "not_evaluated", "broken": "two files"}
    verdict["scope"] = "round"
    why = "self_agreement: undefined, since no rater met an item twice"
    rounds = pd.DataFrame([{"round": "w1", **row, **verdict, "reason": f"two files; {why}"}])
    said = why.replace("self_agreement", "Self-agreement SA")
    assert list(decisions_by_round(rounds)["why"]) == [f"two files; {said}"]


@pytest.mark.parametrize("broken", ["two raters are one", "5 % wrong: too many", ""])
def test_the_text_of_a_round_keeps_what_failed_and_leaves_out_what_other_columns_say(broken):
    row = {"round": "w1", "decision": "held", "release": "none", "version": 1, "broken": broken}
    row |= {"measure": "cohen_kappa", "value": 0.9, "low": 0.85, "high": 0.95, "scope": "round"}
    alone = "cohen_kappa 0.9, 95% interval 0.85 to 0.95 on 400 items: the lower limit reaches 0.8"
    reason = "; ".join(filter(None, [broken, alone]))
    rounds = pd.DataFrame([{**row, "verdict": "reliable", "reason": reason}])
    said = [*filter(None, [broken]), "the lower limit reaches 0.8"]
    assert list(rounds_in_words(rounds)["reason"]) == ["; ".join(said)]


def test_a_part_of_a_round_is_named_and_has_the_cut_offs_of_its_own_rule():
    row = {"round": "w1", "decision": "held", "release": "none", "version": 1, "broken": ""}
    row |= {"measure": "krippendorff_alpha", "low": 0.2, "high": 0.9, "policy": "p 1"}
    parts = (("round", 0.8), ("stratum language=de", 0.3), ("stratum language=en", 0.7))
    rounds = pd.DataFrame(
        {**row, "scope": scope, "value": value, "verdict": "tentative", "reason": "why"}
        for scope, value in parts
    )
    names = ["krippendorff_alpha", *(f"krippendorff_alpha of {scope}" for scope, _ in parts[1:])]
    assert list(rounds_in_words(rounds)["measure"]) == names
    (why,) = decisions_by_round(rounds)["why"]
    assert "Krippendorff's α of stratum language=de 0.300 (0.200 … 0.900) is tentative; " in why
    drawn = {
        scope: build_course_figure(
            rounds, Rule("krippendorff_alpha", scope=scope, reliable=reliable)
        )
        for scope, reliable in (("round", 0.9), ("stratum", 0.75))
    }
    found = {scope: [mark.value for mark in each.marks] for scope, each in drawn.items()}
    assert found == {"round": [0.8], "stratum": [0.3]}
    assert [max(dict(each.cutoffs)) for each in drawn.values()] == [0.9, 0.75]
    assert drawn["stratum"].title == "Krippendorff's α, the lowest stratum, by round"


@pytest.mark.parametrize(("needs", "is_met"), [(0.667, True), (0.8, False)])
def test_a_tentative_verdict_that_the_policy_admits_is_met_in_a_held_round(needs, is_met):
    row = {"round": "w1", "decision": "held", "release": "none", "version": 1, "broken": ""}
    row |= {"policy": "p 1", "scope": "round", "code": ""}
    alpha = {"measure": "krippendorff_alpha", "value": 0.75, "low": 0.7, "high": 0.8}
    alpha |= {"verdict": "tentative", "needs": needs, "tentative": 0.667, "reason": "alpha"}
    accuracy = {"measure": "percent_agreement", "value": 0.7, "low": 0.6, "high": 0.8}
    accuracy |= {"verdict": "unreliable", "needs": 0.9, "tentative": None, "reason": "agreement"}
    rounds = pd.DataFrame([{**row, **alpha}, {**row, **accuracy}])
    (line,) = round_lines(rounds)
    assert line.value == (0.7 if is_met else 0.75)
    (why,) = decisions_by_round(rounds)["why"]
    assert why.startswith("Percent agreement 0.700") is is_met
    assert why.startswith("Krippendorff's α 0.750 (0.700 … 0.800) is tentative") is not is_met
