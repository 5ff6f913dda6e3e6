"""The control chart that is read off the log of a store."""

import pandas as pd

from agreement_pipeline.evidence import JudgedProject, charted, rounds_out_of_limits
from agreement_pipeline.evidence.rounds import answer_about_control, build_control_grid
from agreement_pipeline.policy import Policy, Rule

ALPHA = "krippendorff_alpha"
POLICY = Policy("p", 1, (Rule(ALPHA, scope="without"), Rule(ALPHA)))


def rounds_of(values, **more):
    return pd.DataFrame(
        [
            {
                "round": f"week-{n}",
                "measure": ALPHA,
                "scope": scope,
                "value": value,
                "low": value - 0.0392,
                "high": value + 0.0392,
                "confidence_level": 0.95,
            }
            for n, value in reversed(list(enumerate(values, 1)))
            for scope in ("round", "stratum language=de")
        ]
    ).assign(**more)


ROUNDS = rounds_of([0.80, 0.82, 0.81, 0.79, 0.80, 0.82, 0.81, 0.80, 0.81, 0.60])


def test_rounds_come_in_the_order_of_their_numbers_with_their_standard_errors():
    chart = charted(ROUNDS, POLICY)
    assert [each.reading.round for each in chart] == [f"week-{n}" for n in range(1, 11)]
    assert {round(each.reading.error, 4) for each in chart} == {0.02}
    (said,) = rounds_out_of_limits(chart)
    assert said.startswith("round week-10 is lower than before: 0.600, and 0.7")
    assert [row[-1] for row in build_control_grid(chart).texts[:2]] == [
        "lower than before",
        "within the limits",
    ]


def test_rounds_without_limits_and_other_scopes_are_left_out():
    assert charted(ROUNDS.assign(low=None), POLICY) == ()
    assert charted(ROUNDS, Policy("p", 1, (Rule(ALPHA, scope="without"),))) == ()
    assert not build_control_grid(()).rows


def test_the_page_says_which_round_fell_out():
    found = answer_about_control(JudgedProject("p", "", POLICY, ROUNDS, {}, {}))
    assert found.sentences[0].startswith("round week-10 is lower than before")
    assert [mark.tone for mark in found.figures[0].marks][-2:] == ["plain", "bad"]
    assert found.tables[0].rows[0][0].text == "week-10"
    usual = answer_about_control(JudgedProject("p", "", POLICY, rounds_of([0.8] * 3), {}, {}))
    assert usual.sentences[0].startswith("At least 8 rounds are needed")
    enough = answer_about_control(
        JudgedProject("p", "", POLICY, rounds_of([0.8, 0.81] * 4), {}, {})
    )
    assert enough.sentences[0] == "No round is outside its limits."


def test_no_limit_of_the_chart_is_beyond_perfect_agreement():
    chart = charted(rounds_of([0.9, 0.99] * 5), POLICY)
    assert max(each.limits.high for each in chart if each.limits) == 1.0
