"""Verdicts that hold together.

Holm's procedure is compared with the closed test that it is. A simulation counts how often any
verdict is wrong.
"""

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest

from agreement_pipeline.estimates import ROUND, Estimate, Scope
from agreement_pipeline.intervals import BoundsOnly, Percentiles
from agreement_pipeline.intervals.distributions import Student
from agreement_pipeline.policy import Policy, Rule, decide
from agreement_pipeline.policy.policy import apply_holm, apply_holm_to_verdicts

HARMLESS = "nobody trains on it"
BY_RATER = Rule("self_agreement", scope="rater")
TAIL = 0.025
BETTER = ("not_evaluated", "unreliable", "inconclusive", "tentative", "reliable")


def found(value, error=0.02, name="ana", measure="self_agreement", known=None):
    known = known or Student(value, error, 400, (0.0, 1.0))
    return Estimate(
        measure,
        Scope("rater", name),
        value,
        known.limits(TAIL),
        0.95,
        "m",
        100,
        3,
        300,
        distribution=known,
    )


def policy(familywise="holm", **more):
    return Policy("p", 1, (BY_RATER,), familywise=familywise, passed_by_guessing=HARMLESS, **more)


def kinds(estimates, familywise="holm"):
    return [verdict.kind for verdict in policy(familywise).judge(estimates)]


def test_a_hypothesis_is_refuted_where_every_set_that_holds_it_is_by_bonferroni():
    """Holm's procedure is the closed test of Bonferroni's, and spends the level on all together."""
    rng = np.random.default_rng(1)
    for _ in range(300):
        q = rng.random(5) ** 4
        sets = [set(some) for size in range(1, 6) for some in combinations(range(5), size)]
        closed = [
            all(min(q[i] for i in some) <= 0.1 / len(some) for some in sets if k in some)
            for k in range(5)
        ]
        assert [met for met, _ in apply_holm(list(q), 0.1)] == closed


def test_one_verdict_alone_stays_what_it_is():
    for value in np.linspace(0.5, 0.95, 46):
        assert kinds([found(value)]) == kinds([found(value)], "none")


def test_what_does_not_stand_beside_the_others_is_taken_back_and_says_which_level_it_had_to_meet():
    """At 2.25 standard errors above the cut-off, p is 0.0122: under 0.025, and over 0.025/3."""
    near = [found(0.845, name="ana"), found(0.845, name="ben"), found(0.845, name="eva")]
    assert kinds(near, "none") == ["reliable"] * 3
    verdicts = policy().judge(near)
    assert [(each.kind, each.code) for each in verdicts] == [("tentative", "not_together")] * 3
    assert verdicts[0].reason.endswith(
        "the lower limit reaches 0.8 (p = 0.01); taken back to tentative, since of 3 verdicts "
        "that hold together this one had to meet 0.0083, "
        "and at reliable its p is 0.012"
    )
    sure = [found(0.95, name="ana"), found(0.95, name="ben"), found(0.845, name="eva")]
    assert kinds(sure) == ["reliable"] * 3  # two are refuted first, and the third meets 0.025


def test_no_verdict_is_better_together_than_alone():
    rng = np.random.default_rng(2)
    for _ in range(300):
        estimates = [
            found(rng.uniform(0.5, 0.95), rng.uniform(0.005, 0.06), name) for name in "abcdef"
        ]
        alone, beside = kinds(estimates, "none"), kinds(estimates)
        for one, other in zip(alone, beside, strict=True):
            assert BETTER.index(other) <= BETTER.index(one) or (one, other) == (
                "unreliable",
                "inconclusive",
            )


def test_what_was_not_evaluated_counts():
    near, silent = (
        found(0.843),
        replace(
            found(0.5, name="ben"),
            value=None,
            interval=None,
            distribution=None,
            undefined="nothing repeated",
        ),
    )
    assert kinds([near], "holm") == ["reliable"]
    assert kinds([near, silent]) == ["tentative", "not_evaluated"]


def test_rules_that_warn_are_left_alone_and_not_counted():
    rules = (BY_RATER, Rule("krippendorff_alpha", scope="rater", effect="warn"))
    warned = [found(0.845, name=name, measure="krippendorff_alpha") for name in "abcdef"]
    verdicts = Policy("p", 1, rules, familywise="holm", passed_by_guessing=HARMLESS).judge(
        [found(0.845), *warned]
    )
    assert {verdict.kind for verdict in verdicts} == {"reliable"}


def test_an_unreliable_verdict_is_taken_back_on_the_upper_side():
    """At 0.622, 2.25 standard errors under the lower cut-off."""
    low = [found(0.622, name=name) for name in "abc"]
    assert kinds(low, "none") == ["unreliable"] * 3
    assert kinds(low) == ["inconclusive"] * 3


def test_draws_that_cannot_tell_the_level_reach_nothing():
    sure = [
        found(0.99, name=name, known=Percentiles(np.full(1000, 0.99), 0.99, (0.0, 1.0)))
        for name in "abc"
    ]
    assert (
        kinds(sure) == ["inconclusive"] * 3
    )  # ten draws of a thousand are 0.01, and 0.025/3 is less
    assert (
        policy()
        .judge(sure)[0]
        .reason.endswith(
            "its p is 0.01, the least that so many resamples can tell; raise n_resamples"
        )
    )
    unsure = [
        replace(each, distribution=Percentiles(np.repeat([0.7, 0.99], [20, 980]), 0.99, (0.0, 1.0)))
        for each in sure
    ]
    assert policy().judge(unsure)[0].reason.endswith("its p is 0.02")
    many = [
        replace(each, distribution=Percentiles(np.full(2000, 0.99), 0.99, (0.0, 1.0)))
        for each in sure
    ]
    assert kinds(many) == ["reliable"] * 3


def test_an_estimate_of_which_nothing_is_known_reaches_nothing():
    assert kinds([replace(found(0.99), distribution=BoundsOnly((0.0, 1.0), "too few raters"))]) == [
        "inconclusive"
    ]
    assert kinds([replace(found(0.99), distribution=None)]) == ["inconclusive"]


@pytest.mark.parametrize(
    "truths",
    [
        (0.7,) * 8,
        (0.6,) * 4 + (0.79,) * 4,
        (0.66,) * 2 + (0.799,) * 3 + (0.667,) * 3,
        (0.9,) * 4 + (0.799,) * 4,
    ],
)
def test_any_verdict_is_wrong_in_no_more_rounds_than_the_level_says(truths):
    """Values have a known error about the truth, which is at the cut-offs or right under them.

    In 95 % of rounds, none of eight verdicts is wrong.
    """
    rng, error, wrong, wrong_alone = np.random.default_rng(3), 0.01, 0, 0
    rule_says = {
        "reliable": lambda truth: truth >= 0.8,
        "tentative": lambda truth: truth >= 0.667,
        "unreliable": lambda truth: truth < 0.667,
    }
    for _ in range(400):
        estimates = [
            found(float(min(rng.normal(truth, error), 1.0)), error, str(n))
            for n, truth in enumerate(truths)
        ]
        for familywise in ("none", "holm"):
            said = kinds(estimates, familywise)
            any_wrong = any(
                kind in rule_says and not rule_says[kind](truth)
                for kind, truth in zip(said, truths, strict=True)
            )
            wrong, wrong_alone = (
                wrong + (any_wrong and familywise == "holm"),
                wrong_alone + (any_wrong and familywise == "none"),
            )
    assert wrong <= 400 * 0.05 + 2 * np.sqrt(400 * 0.05 * 0.95)
    assert wrong <= wrong_alone


def test_alone_the_same_verdicts_are_wrong_far_more_often():
    rng = np.random.default_rng(4)
    rounds = [
        [found(float(rng.normal(0.799, 0.01)), 0.01, str(n)) for n in range(8)] for _ in range(400)
    ]
    alone, beside = (
        sum("reliable" in kinds(each, familywise) for each in rounds) / 400
        for familywise in ("none", "holm")
    )
    assert alone > 0.1
    assert beside < 0.05


def test_a_round_with_one_rule_short_is_admitted_no_more_often_with_many_rules_than_with_one():
    """Berger's (1982) intersection-union test: seven rules certainly met and one just short."""
    rng = np.random.default_rng(5)
    values = rng.normal(0.7999, 0.01, 2000)
    admitted = sum(
        decide(
            [*(found(0.97, 0.01, str(n)) for n in range(7)), found(float(value), 0.01)],
            policy("none"),
            findings=(),
            ratings_digest="r",
            contract_digest="c",
            code_version="1",
        ).admitted
        for value in values
    )
    assert admitted / 2000 <= TAIL + 2 * np.sqrt(TAIL / 2000)


def test_a_decision_says_that_its_verdicts_hold_together():
    made = decide(
        [found(0.843), found(0.843, name="ben")],
        policy(),
        findings=(),
        ratings_digest="r",
        contract_digest="c",
        code_version="1",
    )
    assert not made.admitted
    assert made.codes == ("not_together",)
    assert made.manner == (
        "The limits are valid for a round that is judged once. "
        "All verdicts together have 95 % confidence (Holm)."
    )
    assert made.to_mapping()["manner"] == "judged as at one look; the verdicts hold together (Holm)"


def test_taking_back_needs_no_scope_of_its_own():
    of_round = Estimate(
        "krippendorff_alpha",
        ROUND,
        0.9,
        Student(0.9, 0.02, 10, (-1.0, 1.0)).limits(TAIL),
        0.95,
        "m",
        100,
        3,
        300,
    )
    verdicts = Policy("p", 1, (Rule("krippendorff_alpha"), BY_RATER), familywise="holm").judge(
        [of_round]
    )
    assert [verdict.kind for verdict in apply_holm_to_verdicts(verdicts, TAIL)] == [
        "inconclusive",
        "not_evaluated",
    ]


def test_an_expensive_measure_stands_only_as_the_last_of_verdicts_that_all_stand():
    """Of 400 resamples, ten are 0.025: the level of the last verdict, and of no other."""
    expensive = found(0.95, name="ana", known=Percentiles(np.full(400, 0.95), 0.95, (0.0, 1.0)))
    sure, unsure = found(0.95, 0.01, name="ben"), found(0.81, name="ben")
    assert kinds([expensive, sure]) == ["reliable", "reliable"]
    assert kinds([expensive, unsure])[0] == "inconclusive"


def test_a_p_at_its_level_is_refuted_as_holm_says():
    """Holm (1979): P at most alpha / (n - k + 1). These levels are powers of two, so exact."""
    assert apply_holm([0.25, 0.5], 0.5) == [(True, 0.25), (True, 0.5)]
