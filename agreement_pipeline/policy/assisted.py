"""Labels that began as a model's suggestion: agreement with them and without them.

A rater who corrects a suggestion leans to it, and so do the others. Such labels agree more than
labels that were given from nothing. The policy chooses which of them it judges. If it leaves them
out, they must not be the labels that differ.
"""

from collections.abc import Iterator
from dataclasses import replace

from agreement_pipeline.contract import Finding
from agreement_pipeline.estimates import ROUND, measure_ratings, registered, values_of
from agreement_pipeline.policy.how_often import OF_THE_GATE
from agreement_pipeline.policy.policy import Policy
from agreement_pipeline.policy.rules import Verdict
from agreement_pipeline.ratings import Ratings
from agreement_pipeline.text import in_words

USUAL = "krippendorff_alpha"
"""The measure that is told if no rule is about the whole round."""


def judged_part(ratings: Ratings, policy: Policy) -> Ratings:
    """The ratings that a policy judges."""
    leaves_out = policy.assisted == "leave_out" and ratings.n_assisted > 0
    return ratings.unassisted if leaves_out else ratings


def met_with_all(verdict: Verdict, *, ratings: Ratings, policy: Policy) -> Verdict:
    """The verdict, or an inconclusive one with the code *dissent_left_out*.

    Labels that were left out can be those that differ. So a verdict on the whole round that the
    policy admits must be one that it admits with all labels too.
    """
    if verdict.scope.kind != "round" or verdict.kind not in policy.admit:
        return verdict
    again = measure_ratings(ratings, verdict.rule.asks, policy.inference, scopes=("round",))
    other = next(iter(verdict.rule.judge(again)))
    if other.kind in policy.admit:
        return verdict
    said = (
        f"{verdict.reason}; with the labels that began as a suggestion it is {other.kind}: "
        f"{other.reason}"
    )
    return replace(verdict, kind="inconclusive", reason=said, code="dissent_left_out")


def with_and_without(ratings: Ratings, policy: Policy) -> Iterator[Finding]:
    """How many labels began as a suggestion, and the values with them and without them."""
    count, total = ratings.n_assisted, ratings.n_of_panel
    if not count:
        return
    done = "left out" if policy.assisted == "leave_out" else "counted"
    names = [rule.measure for rule in policy.rules if rule.scope == "round"] or [USUAL]
    values = [
        f"{name} is {_value(ratings, name)} with them and {_value(ratings.unassisted, name)} "
        "without them"
        for name in dict.fromkeys(names)
        if registered(name).defined_on(ratings.scale)
    ]
    words = f"{count} of {total} labels began as a suggestion, and are {done}; {'; '.join(values)}"
    yield Finding("assisted", OF_THE_GATE, False, "warning", words)


def _value(ratings: Ratings, measure: str) -> str:
    found = values_of(ratings, measure, "round").get(ROUND)
    return "undefined" if found is None else in_words(found)
