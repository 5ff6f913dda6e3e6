"""What is said of a judged round in short: in the UI, in a terminal, on pages and in alerts."""

from collections.abc import Collection
from dataclasses import dataclass

from agreement_pipeline.errors import EXPECTED, error_in_a_sentence
from agreement_pipeline.estimates import Scope
from agreement_pipeline.evidence.advice import HeldRound, Step, describe_who_rated
from agreement_pipeline.evidence.section import measure_title, scope_in_words
from agreement_pipeline.policy import (
    Decision,
    Policy,
    Verdict,
    describe_first_labels,
    describe_new_items,
)
from agreement_pipeline.ratings import Ratings, describe_lookalikes, group_lookalike_labels

NUMBERS = ("value", "low", "high", "p_reliable", "p_tentative")


@dataclass(frozen=True)
class RuleResult:
    """What a rule says of an estimate, in plain data.

    `about` is the scope as people read it. `is_met` is True if the policy admits the verdict or a
    waiver overrides it, and `is_unmet` if the verdict holds the release. Without a value there are
    no limits, and a limit that is infinite is None.
    """

    rule: str
    measure: str
    title: str
    scope: str
    scope_kind: str
    about: str
    holds: bool
    kind: str
    reason: str
    is_met: bool
    is_unmet: bool
    reliable: float
    tentative: float
    value: float | None
    low: float | None
    high: float | None
    p_reliable: float | None
    p_tentative: float | None

    @classmethod
    def of(
        cls,
        verdict: Verdict,
        policy: Policy,
        decision: Decision,
        unmet: Collection[tuple[str, Scope]],
    ) -> "RuleResult":
        rule, facts = verdict.rule, verdict.to_mapping()
        return cls(
            rule=rule.name,
            measure=rule.measure,
            title=measure_title(rule.measure),
            scope=str(verdict.scope),
            scope_kind=verdict.scope.kind,
            about=scope_in_words(verdict.scope),
            holds=rule.effect == "hold",
            kind=verdict.kind,
            reason=verdict.reason,
            is_met=verdict.kind in policy.admit or decision.waives(verdict),
            is_unmet=(rule.name, verdict.scope) in unmet,
            reliable=rule.reliable,
            tentative=rule.tentative,
            **{name: facts[name] for name in NUMBERS},
        )


@dataclass(frozen=True)
class Summary:
    """A judged round in short, gathered once from its ratings.

    Attributes
    ----------
    project, name
        The project and the round. Of a table, `name` is its file and options.
    results
        What each rule of the policy says, in the order of the decision.
    who_differs
        Who differs from the rest, if disagreement holds the round. Empty otherwise.
    what_is_new
        How far raters agree on items that came before, and on new ones.
    steps
        What to do now, if the round is held.
    no_ratings, labels_alike
        What the export holds that is no rating, and declared labels that print alike, in words.
    command_for_disputed
        The command that shows the disputed items.
    warnings
        What may be a mistake in a table, as its reading told.
    not_known
        Why who rated, who differs and what to do is not known, if the ratings do not tell.
    """

    project: str
    name: str
    policy: Policy
    decision: Decision
    results: tuple[RuleResult, ...]
    who_rated: str = ""
    who_differs: str = ""
    what_is_new: str = ""
    first_labels: str = ""
    steps: tuple[Step, ...] = ()
    no_ratings: str = ""
    labels_alike: tuple[str, ...] = ()
    command_for_disputed: str = ""
    warnings: tuple[str, ...] = ()
    not_known: str = ""


def summarize(  # a round has many names, each given by its own
    ratings: Ratings,
    policy: Policy,
    decision: Decision,
    project: str = "",
    name: str = "",
    policy_name: str = "",
    is_stored: bool = True,
    models: Collection[str] | None = None,
    warnings: tuple[str, ...] = (),
) -> Summary:
    """Gather what is said of a judged round in short.

    Parameters
    ----------
    policy_name
        The policy's file or its bundled name, as commands call it.
    is_stored
        True if the project's store has these ratings.
    models
        Raters whose names are likely those of models, if it is known already.
    warnings
        What may be a mistake in a table, as its reading told.
    """
    held_round = HeldRound(ratings, policy, decision, project, name, policy_name, is_stored)
    origin = ratings.origin
    return Summary(
        project,
        name,
        policy,
        decision,
        _rule_results(policy, decision),
        who_rated=describe_who_rated(ratings, models),
        who_differs=held_round.who_differs,
        what_is_new=describe_new_items(ratings, policy),
        first_labels=describe_first_labels(ratings),
        steps=held_round.steps,
        no_ratings=origin.left_out_in_words if origin else "",
        labels_alike=declared_labels_alike(ratings),
        warnings=warnings,
        command_for_disputed=held_round.command_for_disputed,
    )


def declared_labels_alike(ratings: Ratings) -> tuple[str, ...]:
    """Of labels that nobody declared, the warnings of reading tell."""
    scale = ratings.scale
    return (
        tuple(map(describe_lookalikes, group_lookalike_labels(scale.names)))
        if scale.declared
        else ()
    )


def summarize_anyway(
    ratings: Ratings, policy: Policy, decision: Decision, project: str, name: str
) -> Summary:
    """What cannot be told of the ratings hides no decision: the summary says why."""
    try:
        return summarize(ratings, policy, decision, project, name)
    except EXPECTED as error:
        reason = f"who rated, who differs and what to do: {error_in_a_sentence(error)}"
        results = _rule_results(policy, decision)
        return Summary(project, name, policy, decision, results, not_known=reason)


def _rule_results(policy: Policy, decision: Decision) -> tuple[RuleResult, ...]:
    unmet = {(verdict.rule.name, verdict.scope) for verdict in decision.unmet}
    return tuple(RuleResult.of(verdict, policy, decision, unmet) for verdict in decision.verdicts)
