"""A rule that must be met in each stratum."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from agreement_pipeline.contract import Contract
from agreement_pipeline.errors import PolicyError
from agreement_pipeline.estimates import Scope
from agreement_pipeline.intervals.distributions import Student
from agreement_pipeline.policy import Policy, Rule, assess
from agreement_pipeline.ratings import Ratings, Scale
from tests.policy.verdicts import found

ALPHA = "krippendorff_alpha"
NO_CONTRACT = Contract.none()


def estimated(name, value, error, n_items=100):
    known = Student(value, error, 400, (-1.0, 1.0))
    low, high = known.limits(0.025)
    made = found(low, high, value, scope=Scope.of_stratum("language", name), n_items=n_items)
    return replace(made, distribution=known)


def policy(**rule):
    return Policy("p", 1, (Rule(ALPHA, scope="stratum", **rule),), n_resamples=1000)


def kinds(estimates, made):
    return [verdict.kind for verdict in made.judge(estimates)]


def test_verdicts_on_strata_hold_together_whatever_the_policy_says_of_others():
    """p = 0.02 suffices for one verdict, and not for one of four that hold together."""
    sure = 0.8 + 2.06 * 0.02
    assert kinds([estimated("de", sure, 0.02)], policy()) == ["reliable"]
    four = [estimated(name, sure, 0.02) for name in ("de", "en", "fr", "it")]
    assert kinds(four, policy()) == ["tentative"] * 4
    of_round = Policy("p", 1, (Rule(ALPHA),))
    assert kinds([replace(four[0], scope=Scope("round"))], of_round) == ["reliable"]
    assert "of 4 verdicts that hold together" in policy().judge(four)[0].reason


def ratings_of(sizes, wrong=frozenset()):
    rows = [
        (f"{name}{item:03}", rater, str((item + (name in wrong and rater == "ben")) % 2), name)
        for name, size in sizes.items()
        for item in range(size)
        for rater in ("ana", "ben", "cleo")
    ]
    columns = ["item", "rater", "label", "stratum:language"]
    return Ratings.from_frame(pd.DataFrame(rows, columns=columns), Scale(("0", "1")))


def decided(ratings, **rule):
    return assess(ratings, policy(min_items=50, **rule), NO_CONTRACT).decision


def test_one_bad_stratum_holds_a_round_and_is_named():
    decision = decided(ratings_of({"de": 60, "en": 60}, wrong={"en"}))
    assert not decision.admitted
    assert [str(verdict.scope) for verdict in decision.unmet] == ["stratum language=en"]
    assert decision.reasons[0].startswith("krippendorff_alpha of stratum language=en")


def test_a_round_without_strata_is_held():
    decision = decided(ratings_of({"de": 60}).select_strata("language", ("de",)))
    assert decision.admitted
    bare = replace(ratings_of({"de": 60}), has=frozenset())
    assert decided(bare).codes == ("no_estimate",)


@pytest.mark.parametrize(
    ("if_too_few", "admitted", "judged"),
    [
        ("hold", False, {"language=de", "language=fr", "language=it"}),
        ("tell", True, {"language=de", "language=fr", "language=it"}),
        ("pool", True, {"language=de", "language, 2 small ones as one"}),
    ],
)
def test_a_small_stratum_holds_is_told_of_or_is_pooled(if_too_few, admitted, judged):
    small = ratings_of({"de": 60, "fr": 30, "it": 40})
    decision = decided(small, if_too_few=if_too_few)
    assert (decision.admitted, {each.scope.name for each in decision.verdicts}) == (
        admitted,
        judged,
    )


def test_a_small_stratum_that_is_told_of_warns_with_its_number_of_items():
    decision = decided(ratings_of({"de": 60, "fr": 30}, wrong={"fr"}), if_too_few="tell")
    (told,) = (each for each in decision.verdicts if each.rule.effect == "warn")
    assert (told.kind, told.code) == ("not_evaluated", "too_few_items")
    assert "it rests on 30 items and the policy asks for 50" in told.reason
    assert not decided(ratings_of({"fr": 30}), if_too_few="tell").admitted


def test_strata_that_are_too_few_together_hold():
    decision = decided(ratings_of({"de": 60, "fr": 10, "it": 10}), if_too_few="pool")
    assert decision.codes == ("too_few_items",)


@pytest.mark.parametrize(
    ("rule", "more", "words"),
    [
        ({"if_too_few": "tell", "scope": "round"}, {}, "if_too_few: found 'tell'; expected hold"),
        (
            {"measure": "stratum_alpha"},
            {"interval_method": "two_way_jackknife_log"},
            "interval_method: found 'two_way_jackknife_log'; expected a method about these raters",
        ),
    ],
)
def test_what_a_policy_cannot_ask_of_strata_is_refused(rule, more, words):
    said = {"measure": ALPHA, "scope": "stratum", **rule}
    with pytest.raises(PolicyError, match=words):
        Policy.from_mapping({"policy": "p", "version": 1, "rules": [said], **more})


def test_a_policy_without_strata_says_what_it_said_before_there_were_any():
    said = Policy("p", 1, (Rule(ALPHA),)).to_mapping()["rules"][0]
    assert list(said) == [
        "measure",
        "scope",
        "reliable",
        "tentative",
        "min_items",
        "min_raters",
        "every_rater",
        "effect",
    ]
    pooling = policy(min_items=50, if_too_few="pool")
    assert Policy.from_mapping(pooling.to_mapping()) == pooling


def test_k_strata_at_the_cut_off_are_seldom_called_reliable():
    """The share of a thousand rounds with a stratum called reliable, of eight at the cut-off."""
    random = np.random.default_rng(7)
    wrong = sum(
        "reliable"
        in kinds([estimated(str(k), random.normal(0.8, 0.02), 0.02) for k in range(8)], policy())
        for _ in range(1000)
    )
    assert wrong <= 37
