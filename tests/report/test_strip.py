"""A round in a line: short numbers, what helps, and a picture that is small and true to them."""

import re
from dataclasses import replace
from urllib.parse import unquote
from xml.etree import ElementTree

import pandas as pd
import pytest

from agreement_pipeline.evidence import (
    ProjectState,
    RoundLine,
    Tone,
    build_projects_page,
    decisions_by_round,
    round_lines,
    trend,
)
from agreement_pipeline.evidence.history import COLUMNS, NUMBERS
from agreement_pipeline.evidence.rounds import build_course_figure
from agreement_pipeline.policy import Policy, Rule
from agreement_pipeline.report import render_text, strip_data_url
from agreement_pipeline.report.drawing import STRIP_SIGNS, STRIP_WIDTH

RULE = Rule("krippendorff_alpha", reliable=0.8, tentative=0.667)
POLICY = Policy.from_mapping(
    {"policy": "p", "version": 1, "rules": [{"measure": "krippendorff_alpha"}]}
)


def rounds_of(*rows, half=0.05, **other):
    base = {**dict.fromkeys(COLUMNS, ""), **dict.fromkeys(NUMBERS)}
    base |= {"measure": RULE.measure, "scope": "round", "release": "none", "policy": "p 1"}
    base |= {"needs": RULE.reliable, "tentative": RULE.tentative, "version": 1, **other}
    table = pd.DataFrame(
        [
            {
                **base,
                "round": name,
                "decision": decision,
                "value": value,
                "low": value - half,
                "high": value + half,
                "verdict": "reliable" if decision == "admitted" else "unreliable",
                "code": "" if decision == "admitted" else "unreliable",
                "reason": f"{RULE.measure} {value} on 9 items: the reason",
            }
            for name, decision, value in rows
        ],
        columns=list(COLUMNS),
    )
    return table.astype(dict.fromkeys(NUMBERS, float))


@pytest.mark.parametrize(
    ("decision", "value", "half", "numbers"),
    [
        ("admitted", 0.874, 0.05, "α .874, passes .800"),
        ("held", 0.831, 0.051, "α .831, may be .780, needs .800"),
        ("held", 0.504, 0.05, "α .504, needs .800"),
        ("held", 0.79996, 0.05, "α .79996, needs .800"),
        ("held", -0.02, 0.05, "α -.020, needs .800"),
        # it is held for another reason, such as copied labels
        ("held", 0.9, 0.05, "α .900"),
    ],
)
def test_a_round_says_its_number_and_the_cut_off_that_it_needs(decision, value, half, numbers):
    [line] = round_lines(rounds_of(("w1", decision, value), half=half))
    assert line.numbers == numbers


def test_the_last_round_comes_first_and_a_withdrawn_release_and_a_version_are_told():
    first, second = round_lines(
        pd.concat(
            [
                rounds_of(("w1", "admitted", 0.95)),
                rounds_of(("w2", "held", 0.5), release="withdrawn", version=2),
            ]
        )
    )
    assert (first.round, first.decision) == ("w2", "held, version 2, release withdrawn")
    assert (second.round, second.decision, second.step) == ("w1", "admitted", "")


@pytest.mark.parametrize(
    ("fields", "step"),
    [
        ({}, "A better guideline, other raters or other categories"),
        ({"reason": "krippendorff_alpha 0.7 on 9 items: below; label more"}, "Label more."),
        ({"broken": "items_rated: 3 items have no label"}, "3 items have no label."),
        (
            {"verdict": "not_evaluated", "reason": "krippendorff_alpha: undefined, since so"},
            "Undefined, since so.",
        ),
    ],
)
def test_a_held_round_says_what_helps(fields, step):
    [line] = round_lines(rounds_of(("w1", "held", 0.5)).assign(**fields))
    assert line.step.startswith(step)


def test_a_measure_without_a_value_is_told_and_has_no_picture():
    [line] = round_lines(rounds_of(("w1", "held", float("nan")), measure="self_agreement_unbiased"))
    assert line.numbers == "Self-agreement not measured"
    assert strip_data_url(line) is None


def drawn(line, values=()):
    address = strip_data_url(line, values)
    assert not re.search(r"[ <>()\"]", address)
    assert len(address) < 900
    return ElementTree.fromstring(unquote(address.partition(",")[2]))


def line_of(value, reading: Tone = "good"):
    [line] = round_lines(rounds_of(("w1", "held", value)))
    return replace(line, reading=reading)


def sign_at(line):
    [place] = [part.get("transform") for part in drawn(line).iter() if part.get("transform")]
    return int(re.findall(r"\d+", place)[0])


def test_more_agreement_stands_further_right_and_what_is_below_the_axis_at_its_left_end():
    at = [sign_at(line_of(value)) for value in (-0.5, 0.2, 0.6, 0.8, 0.95)]
    assert at == sorted(at)
    assert at[:2] == [0, 0]
    assert len({*at[1:]}) == 4
    assert at[-1] < STRIP_WIDTH


def test_the_sign_stands_right_of_the_dashes_only_if_the_value_reaches_the_cut_off():
    dashes = [
        int(re.findall(r"M(\d+)", part.get("d"))[0])
        for part in drawn(line_of(0.7)).iter()
        if part.get("stroke-dasharray")
    ]
    assert [sign_at(line_of(value)) >= dashes[-1] for value in (0.7, 0.79, 0.81)] == [
        False,
        False,
        True,
    ]


def test_each_reading_has_a_colour_and_no_two_that_decide_share_a_sign():
    deciding = [STRIP_SIGNS[tone] for tone in ("good", "partly", "bad")]
    assert all(len({sign[part] for sign in deciding}) == 3 for part in range(2))


def test_the_trend_is_that_of_the_last_rounds():
    line = line_of(0.9)
    several = drawn(line, [0.5, 0.7, 0.9] * 10)
    assert int(several.get("width")) > STRIP_WIDTH == int(drawn(line, [0.5]).get("width"))
    path = [part.get("d") for part in several.iter()][-1]
    ys = [int(y) for y in re.findall(r",(\d+)", path)]
    assert len(ys) == 12
    assert ys[0] > ys[1] > ys[2]


def test_the_trend_has_each_round_once_in_order():
    table = rounds_of(("w1", "held", 0.5), ("w1", "held", 0.6), ("w2", "admitted", 0.9))
    assert trend(table, POLICY) == (0.6, 0.9)


def test_a_line_of_nothing_is_none():
    assert round_lines(rounds_of()) == []
    assert strip_data_url(RoundLine("w1", "held", "bad")) is None
    assert build_course_figure(rounds_of().reindex(columns=list(COLUMNS)), RULE) is None


def test_the_decisions_name_what_holds_a_round_and_the_last_round_comes_first():
    table = decisions_by_round(rounds_of(("w1", "admitted", 0.95), ("w2", "held", 0.5)))
    assert table.values.tolist() == [
        ["w2", "held", "Krippendorff's α 0.500 (0.450 … 0.550) is unreliable", "none", "p 1"],
        ["w1", "admitted", "Krippendorff's α 0.950 (0.900 … 1.000) is reliable", "none", "p 1"],
    ]


def test_a_terminal_wraps_what_helps_and_cuts_no_number():
    table = rounds_of(("w1", "held", 0.831), half=0.051)
    state = ProjectState(
        "reviews",
        ["w1"],
        last="w1: held",
        why=f"w1: {'a long reason ' * 9}",
        lines=round_lines(table),
    )
    text = render_text(build_projects_page([state]), 100)
    assert "\\x" not in text
    assert max(map(len, text.splitlines())) <= 100
    said = " ".join(text.split())
    for word in (".831,", ".780,", ".800", "guideline,", "categories;", "help."):
        assert word in said


def test_of_many_rounds_the_latest_have_a_line_and_one_that_is_named():
    table = rounds_of(*((f"w{n:03}", "held", 0.5) for n in range(100)))
    names = [line.round for line in round_lines(table, ["w007"])]
    assert names == [*(f"w{n:03}" for n in range(99, 59, -1)), "w007"]
