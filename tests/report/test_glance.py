"""The picture that stands in the page: legible XML, small, and true to the rounds."""

import re
from urllib.parse import unquote
from xml.etree import ElementTree

import pandas as pd
import pytest

from agreement_pipeline.evidence.history import COLUMNS, decisions
from agreement_pipeline.evidence.rounds import course_figure
from agreement_pipeline.policy import Rule
from agreement_pipeline.report.drawing import (
    MAX_GLANCE_LENGTH,
    MAX_GLANCE_NAME_LENGTH,
    MAX_GLANCE_ROUNDS,
    SIGNS,
    draw_glance,
)

RULE = Rule("krippendorff_alpha", reliable=0.9, tentative=0.7)


def rounds_of(*rows):
    base = dict.fromkeys(COLUMNS, "")
    return pd.DataFrame(
        [
            {
                **base,
                "measure": RULE.measure,
                "scope": RULE.scope,
                "release": "none",
                "policy": "p 1",
                "round": name,
                "decision": decision,
                "value": value,
                "low": value - 0.05,
                "high": value + 0.05,
                "verdict": "reliable" if decision == "admitted" else "unreliable",
            }
            for name, decision, value in rows
        ]
    )


def drawn(rounds):
    uri = draw_glance(course_figure(rounds, RULE))
    assert len(uri) <= MAX_GLANCE_LENGTH
    assert not re.search(r"[ <>()\"]", uri)
    return ElementTree.fromstring(unquote(uri.partition(",")[2]))


def test_each_decision_has_its_own_colour_sign_and_end_and_the_legend_names_those_met():
    text = "".join(
        drawn(
            rounds_of(("w1", "admitted", 0.92), ("w2", "held", 0.5), ("w3", "held", 0.6))
        ).itertext()
    )
    assert "●admitted" in text
    assert "■held" in text
    assert "tentative" not in text
    assert all(len({mark[part] for mark in SIGNS.values()}) == 3 for part in range(3))


def test_cut_offs_are_those_of_the_rule_and_the_first_and_last_round_are_named():
    words = list(drawn(rounds_of(*((f"w{n}", "held", 0.5) for n in range(5)))).itertext())
    assert {"0.9", "0.7", "w0", "w4"} <= set(words)
    assert "w2" not in words


@pytest.mark.parametrize("decision", ["held", "admitted"])
def test_more_agreement_stands_higher(decision):
    (path,) = [
        each.get("d")
        for each in drawn(rounds_of(("w1", decision, 0.6), ("w2", decision, 0.8))).iter()
        if each.get("stroke-width") == "8"
    ]
    low, high = (int(y) for y in re.findall(r"M\d+,(\d+)", path))
    assert high < low


@pytest.mark.parametrize("name", ["2026-W{:02}", "{:02}-" + "long" * 30])
def test_of_many_rounds_as_many_are_drawn_as_have_room(name):
    names = [
        (name.format(n), ("held", "admitted")[n % 2], 0.5) for n in range(3 * MAX_GLANCE_ROUNDS)
    ]
    words = list(drawn(rounds_of(*names)).itertext())
    assert names[-1][0][:MAX_GLANCE_NAME_LENGTH] in words


def test_without_a_value_there_is_no_picture():
    assert course_figure(rounds_of().reindex(columns=list(COLUMNS)), RULE) is None


def test_the_decisions_name_what_holds_a_round_and_the_last_round_comes_first():
    table = decisions(rounds_of(("w1", "admitted", 0.95), ("w2", "held", 0.5)))
    assert table.values.tolist() == [
        ["w2", "held", "Krippendorff's α 0.500 (0.450 … 0.550) is unreliable", "none", "p 1"],
        ["w1", "admitted", "Krippendorff's α 0.950 (0.900 … 1.000) is reliable", "none", "p 1"],
    ]


@pytest.mark.parametrize("n", [2, 3, 5, 10])
def test_the_names_of_the_first_and_the_last_round_stand_apart(n):
    found = drawn(rounds_of(*((f"2026-09-{day:02}-batch", "held", 0.5) for day in range(n))))
    first, last = (
        int(each.get("x")) for each in found.iter() if (each.text or "").startswith("2026-09")
    )
    widest_letter = 7
    assert last - first >= widest_letter * MAX_GLANCE_NAME_LENGTH


def test_the_names_of_two_near_cut_offs_stand_apart():
    rule = Rule("krippendorff_alpha", reliable=0.8, tentative=0.667)
    uri = draw_glance(course_figure(rounds_of(("w1", "held", -0.9)), rule))
    found = ElementTree.fromstring(unquote(uri.partition(",")[2]))
    high, low = (int(each.get("y")) for each in found.iter() if each.text in ("0.8", "0.667"))
    assert low - high >= 11
