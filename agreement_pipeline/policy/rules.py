"""What a policy asks of a round, and the verdicts that it gives.

By Krippendorff's rule, a verdict reads the interval and not the value. Data are reliable if the
lower limit reaches the cut-off. Data whose lower limit is under 0.667 are never admitted by a rule.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Annotated, Literal, get_args

from agreement_pipeline.errors import PolicyError
from agreement_pipeline.estimates import SCOPE_KINDS, Estimate, Scope, ScopeKind, registered
from agreement_pipeline.large_files import Plain
from agreement_pipeline.mistakes import (
    CLOSED,
    Need,
    Value,
    is_number,
    one_of,
    refuse_mistakes,
    whole,
)
from agreement_pipeline.policy import reasons
from agreement_pipeline.policy.reasons import Kind
from agreement_pipeline.ratings import CAPABILITIES
from agreement_pipeline.tables import Tabular
from agreement_pipeline.text import counted, listed

RELIABLE, TENTATIVE = 0.800, 0.667

Effect = Literal["hold", "warn"]
IfTooFew = Literal["hold", "tell", "pool"]
MEASURE = Value("a registered measure", lambda name: bool(registered(name)))
CUTOFF = Value("a number", is_number)
COUNT = Value("a whole number from 1", whole(1))
FLAG = Value("true or false", lambda value: isinstance(value, bool))
CAPABLE = Value(
    f"a list of some of {', '.join(CAPABILITIES)}",
    lambda names: all(name in CAPABILITIES for name in names) and len(names) == len({*names}),
    nested=True,
)


@dataclass(frozen=True)
class Rule:
    """A rule on one measure.

    Parameters
    ----------
    scope
        round, category, rater, without (a rater left out), pair, classifier or stratum. Each
        estimate of this scope is judged on its own. Those on strata hold together (Holm).
    reliable, tentative
        The cut-offs for the lower limit, at least 0.667 in a rule that can hold a release.
    min_items, min_raters
        The fewest items (or clusters) with a value, and the fewest raters of one of them. An
        estimate with fewer is not evaluated.
    if_too_few
        What happens to a stratum of fewer items. hold: it holds the release. tell: its verdict is
        only shown. pool: all such strata of a column are judged as one.
    every_rater
        True if the estimate is only evaluated if every rater counts in it. One does not if their
        replicates, or their confidence, are missing or show nothing.
    requires
        What the export must show, or the rule is not evaluated.
    effect
        hold: the round is held if this rule is not met. warn: the verdict is only shown.

    Raises
    ------
    PolicyError
        A value is impossible, or does not suit the measure or the scope.
    """

    __pydantic_config__ = CLOSED

    measure: Annotated[str, MEASURE]
    scope: Annotated[ScopeKind, one_of(SCOPE_KINDS)] = "round"
    reliable: Annotated[float, CUTOFF] = RELIABLE
    tentative: Annotated[float, CUTOFF] = TENTATIVE
    min_items: Annotated[int, COUNT] = 2
    min_raters: Annotated[int, COUNT] = 1
    if_too_few: Annotated[IfTooFew, one_of(get_args(IfTooFew))] = "hold"
    every_rater: Annotated[bool, FLAG] = False
    requires: Annotated[tuple[str, ...], CAPABLE] = ()
    effect: Annotated[Effect, one_of(get_args(Effect))] = "hold"

    def __post_init__(self) -> None:
        refuse_mistakes(self, PolicyError, self._needs())

    def _needs(self) -> Iterator[Need]:
        measure, holds = registered(self.measure), self.effect == "hold"
        why = measure.cannot_hold
        yield Need(("effect",), not (why and holds), f"'warn' for {self.measure}, since {why}", "")
        low, high = (TENTATIVE if holds else measure.bounds[0]), measure.bounds[1]
        in_bounds = f"{low:g} to {high:g} for {self.measure}"
        if holds:
            in_bounds += " in a rule that can hold a release"
        for key in ("reliable", "tentative"):
            cutoff = getattr(self, key)
            is_percent = 1 < cutoff <= 100 and low <= cutoff / 100 <= high
            step = f"Did you mean {cutoff / 100:g}?" if is_percent else "Correct the value."
            yield Need((key,), low <= cutoff <= high, in_bounds, step)
        at_most = f"at most the reliable cut-off, {self.reliable!r}"
        yield Need(("tentative",), not self.tentative > self.reliable, at_most, "Swap them.")
        can_leave_out = measure.needs in ("replicates", "confidence") and self.scope in (
            "round",
            "category",
        )
        left_out = (
            f"false for {self.measure} of the {self.scope}, since only a measure of replicates or "
            "confidence, of the round or category, can leave out a rater"
        )
        yield Need(("every_rater",), not self.every_rater or can_leave_out, left_out)
        few = f"hold for the scope {self.scope}, since only strata may be told of or pooled"
        yield Need(("if_too_few",), self.if_too_few == "hold" or self.scope == "stratum", few)

    @property
    def name(self) -> str:
        """Letters, digits and underscores that no other rule of a policy has."""
        return f"{self.measure}_of_{self.scope}"

    @property
    def question(self) -> str:
        title = registered(self.measure).title
        return (
            f"Does the lower limit of {title} of {reasons.each_of(self.scope)} "
            f"reach {self.reliable:g} "
            f"(tentative: {self.tentative:g})? "
            f"The rule {'holds a release' if self.effect == 'hold' else 'only warns'}."
        )

    def judge(self, estimates: Iterable[Estimate]) -> tuple["Verdict", ...]:
        """A verdict on each estimate of the rule's measure and scope.

        If there is no such estimate, the one verdict is *not_evaluated*.
        """
        mine = [e for e in estimates if e.measure == self.measure and e.scope.kind == self.scope]
        if not mine:
            reason = (
                f"{self.measure} of {reasons.each_of(self.scope)}: not evaluated, "
                "since this round has no such estimate of it"
            )
            return (Verdict(self, Scope(self.scope), "not_evaluated", reason, code="no_estimate"),)
        return tuple(self._verdict(e) for e in mine)

    def _verdict(self, estimate: Estimate) -> "Verdict":
        told = self.if_too_few == "tell" and estimate.n_apart < self.min_items
        rule = replace(self, effect="warn") if told else self
        value, interval, scope = estimate.value, estimate.interval, estimate.scope
        if estimate.undefined is not None or interval is None or value is None:
            reason = reasons.undefined(estimate)
            return Verdict(rule, scope, "not_evaluated", reason, code="undefined")
        if missing := rule._missing_evidence(estimate):
            code, why = missing
            reason = reasons.not_evaluated(estimate, value, why)
            return Verdict(rule, scope, "not_evaluated", reason, code, estimate)
        kind: Kind = "unreliable" if interval.high < self.tentative else "inconclusive"
        if interval.low >= self.tentative:
            kind = "reliable" if interval.low >= self.reliable else "tentative"
        reason = reasons.judged(estimate, value, interval, kind, self.reliable, self.tentative)
        return Verdict(rule, scope, kind, reason, kind, estimate)

    def _missing_evidence(self, estimate: Estimate) -> tuple[str, str] | None:
        rests_on = "it rests on {} and the policy asks for {}"
        if (n := estimate.n_apart) < self.min_items:
            clustered = estimate.n_clusters is not None
            found = f"{counted(n, 'cluster')} of items" if clustered else counted(n, "item")
            return "too_few_items", rests_on.format(found, self.min_items)
        if estimate.n_raters < self.min_raters:
            found = counted(estimate.n_raters, "rater")
            return "too_few_raters", rests_on.format(found, self.min_raters)
        if self.effect == "hold" and estimate.misled is not None:
            return "ratings_chosen", estimate.misled
        if self.every_rater and estimate.raters_left_out:
            replicated = registered(self.measure).needs == "replicates"
            return "raters_left_out", (
                f"it leaves out {listed(estimate.raters_left_out)}, whose "
                f"{'replicates' if replicated else 'statements of confidence'} "
                "are missing or show nothing, and the policy asks for every rater"
            )
        return None


@dataclass(frozen=True)
class Verdict(Tabular):
    """What a rule says about an estimate.

    Attributes
    ----------
    kind
        *reliable*: the lower limit reaches the upper cut-off. *tentative*: only the lower one.
        *unreliable*: the upper limit is under the lower cut-off. *inconclusive*: none of these.
        *not_evaluated*: there is no value, or evidence is missing.
    reason, code
        Why, in words and numbers, and under a stable name.
    estimate
        The estimate. None if there is none, or if its value is undefined.
    """

    rule: Rule
    scope: Scope
    kind: Kind
    reason: str
    code: str
    estimate: Estimate | None = None

    def taken_back(self, where: str, other: "Verdict", *, code: str) -> "Verdict":
        reason = f"{self.reason}; {where} it is {other.kind}: {other.reason}"
        return replace(self, kind="inconclusive", reason=reason, code=code)

    def to_mapping(self) -> Plain:
        numbers: Plain = dict.fromkeys(
            ("value", "low", "high", "p_reliable", "p_tentative", "n_items")
        )
        if found := self.estimate:
            numbers |= {
                "value": found.value,
                "low": found.low,
                "high": found.high,
                "p_reliable": found.p_value(self.rule.reliable),
                "p_tentative": found.p_value(self.rule.tentative),
                "n_items": found.n_used,
            }
        return {
            "measure": self.rule.measure,
            "scope": str(self.scope),
            "effect": self.rule.effect,
            "verdict": self.kind,
            "code": self.code,
            "reason": self.reason,
            **numbers,
        }

    def rows(self) -> Iterator[Plain]:
        said = self.to_mapping()
        shown = ("measure", "scope", "verdict", "value", "low", "high", "reason")
        yield {name: said[name] for name in shown}
