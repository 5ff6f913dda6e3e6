"""Waivers: a named person waives one verdict or check on one round, with a reason and an end date.

A waiver is valid for the ratings of one digest, and that of a check for one policy or contract too.
A remedy stands beside them: relabelled items whose raters were judged by a random sample.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from datetime import date
from pathlib import Path
from typing import Annotated, Any

from agreement_pipeline.contract import OF_DELIVERY, OF_ROUND
from agreement_pipeline.errors import WaiverError
from agreement_pipeline.estimates import SCOPE_KINDS, Scope, find_registered_measure
from agreement_pipeline.integrity import OF_INTEGRITY, Finding
from agreement_pipeline.mistakes import (
    CLOSED,
    Requirement,
    Value,
    day_value,
    is_text,
    refuse_mistakes,
)
from agreement_pipeline.policy.policy import MEASURE, NOBODY, Policy, Verdict
from agreement_pipeline.text import listed
from agreement_pipeline.yaml_files import Place, read_yaml, validate_settings

MIN_REASON_LETTERS, LEAST_DIFFERENT = 10, 5
FILLERS = "\u115f\u1160\u3164\uffa0"
"""Letters that nobody sees."""


def is_digest(value: object) -> bool:
    return isinstance(value, str) and re.fullmatch(r"[0-9a-f]{64}", value) is not None


REQUIRED_TEXT = Value("text", is_text, "Write what the waiver is for.")
PERSON = Value(
    "the visible name of a person",
    lambda who: isinstance(who, str) and who.isprintable() and n_visible_letters(who) > 1,
    "Write who answers for it.",
)
REASON = Value(
    f"a reason with {MIN_REASON_LETTERS} letters or more",
    lambda why: (
        isinstance(why, str)
        and n_visible_letters(why) >= MIN_REASON_LETTERS
        and len({*why}) >= LEAST_DIFFERENT
    ),
    "Write why it does no harm.",
)
SHA256_DIGEST = Value(
    "64 hexadecimal digits in lower case", is_digest, "Copy them from the decision."
)
LAST_DAY = day_value("A waiver without an end would be a weaker policy.")
SCOPE = Value(
    f"one of {', '.join(SCOPE_KINDS)}, with a name if there are several",
    lambda scope: isinstance(scope, str) and scope.partition(" ")[0] in SCOPE_KINDS,
)
CHECK_NAME = Value("text", is_text, "Name the check.")
ONLY_RELABELLED = Value("labels_given_again", lambda check: check == "labels_given_again")
WAIVABLE_TABLES = (OF_INTEGRITY, OF_DELIVERY)
EARLIER_WAIVABLE_TABLES = ("items", OF_ROUND)
"""Of contracts of earlier versions, under which releases stand."""
GATE_TABLE = "gate"
"""The table of a finding that is about the round as a whole, and not about its ratings."""


def build_gate_finding(
    check: str,
    words: str,
    severity: str = "error",
    *,
    passed: bool = False,
    observed: tuple[tuple[str, Any], ...] = (),
) -> Finding:
    return Finding(check, GATE_TABLE, passed, severity, words, observed)


RELABELLED = "labels_given_again"
HISTORY_CHECKS = (RELABELLED, "disputed_items_dropped")
"""A person may waive these. Only a store shows earlier deliveries of a round."""
REMEDIED = "relabelling_remedied"
"""The finding that says whether the sample of a remedy was drawn, labelled and admitted."""


@dataclass(frozen=True)
class Waiver:
    """A person's statement that one verdict or one check on one round does not hold it.

    Parameters
    ----------
    ratings_digest
        As a decision shows it.
    measure, scope
        The rule's measure, and what the verdict is about: `round`, or a kind and a name such as
        `rater ana`. The measure is None if a check is waived.
    who, why, until
        The person who answers for it, the reason, and the last day. The policy bounds it.
    check
        A check of the policy's `integrity`, or one of the contract.
    policy_digest, contract_digest
        Of a check, one of both: the policy that bounds it, or the contract that asks it. Either
        will do for `labels_given_again` and `disputed_items_dropped`.

    Raises
    ------
    WaiverError
        Nobody is named, no reason is given, the digest is malformed, or the scope does not exist.
    PolicyError
        The measure does not exist.
    """

    __pydantic_config__ = CLOSED

    project: Annotated[str, REQUIRED_TEXT]
    round: Annotated[str, REQUIRED_TEXT]
    ratings_digest: Annotated[str, SHA256_DIGEST]
    measure: Annotated[str | None, MEASURE]
    who: Annotated[str, PERSON]
    why: Annotated[str, REASON]
    until: Annotated[date, LAST_DAY]
    scope: Annotated[str, SCOPE] = "round"
    check: Annotated[str | None, CHECK_NAME] = None
    contract_digest: Annotated[str | None, SHA256_DIGEST] = None
    policy_digest: Annotated[str | None, SHA256_DIGEST] = None

    def __post_init__(self) -> None:
        if self.measure is not None and is_text(self.measure):
            find_registered_measure(self.measure)
        refuse_mistakes(self, WaiverError, self._needs())

    def _needs(self) -> Iterator[Requirement]:
        is_measure_or_check = (self.measure is None) is not (self.check is None)
        expected_phrase, step = "either a measure or a check", "Write one waiver for each."
        yield Requirement(
            "measure",
            is_measure_or_check,
            expected_phrase,
            step,
            found=None if self.measure else "nothing",
        )
        n_digests = (self.contract_digest, self.policy_digest).count(None)
        is_bound_rightly = n_digests == (2 if self.check is None else 1)
        expected_digest = (
            "for a check the digest of its policy or of its contract, and none for a measure"
        )
        digests_stated = ("both", "one", "nothing")[n_digests]
        yield Requirement(
            "policy_digest",
            is_bound_rightly,
            expected_digest,
            "Copy it from the decision.",
            digests_stated,
        )
        is_round_or_measure = self.check is None or self.scope == "round"
        yield Requirement(
            "scope", is_round_or_measure, "round, since a check is about the whole round"
        )

    @classmethod
    def from_mapping(cls, data: object, *, source: str | Place = "waiver") -> "Waiver":
        if isinstance(data, Mapping) and "check" in data:
            data = {"measure": None, **data}
        return validate_settings(cls, data, source, WaiverError)

    def to_mapping(self) -> dict[str, str]:
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        return {name: str(value) for name, value in values.items() if value is not None}

    @property
    def subject(self) -> "RoundRatings":
        """The ratings that train under it."""
        return RoundRatings(self.round, self.ratings_digest)

    def renamed(self, names: Mapping[str, str]) -> "Waiver":
        return replace(self, scope=str(Scope.parse(self.scope).renamed(names)))

    def applies_to(self, verdict_or_finding: Verdict | Finding) -> bool:
        if isinstance(verdict_or_finding, Finding):
            if verdict_or_finding.check != self.check or not verdict_or_finding.holds:
                return False
            ran = bool(verdict_or_finding.observed)
            of_the_gate = (
                verdict_or_finding.table == GATE_TABLE
                and verdict_or_finding.check in HISTORY_CHECKS
            )
            waivable_tables = (*WAIVABLE_TABLES, *EARLIER_WAIVABLE_TABLES)
            return of_the_gate or (verdict_or_finding.table in waivable_tables and ran)
        verdict = verdict_or_finding
        return verdict.rule.effect == "hold" and (verdict.rule.measure, str(verdict.scope)) == (
            self.measure,
            str(Scope.parse(self.scope)),
        )

    def refusal_reason(
        self,
        policy: Policy,
        ratings_digest: str,
        contract_digest: str,
        judged_on: date,
        verdicts_and_findings: Sequence[Verdict | Finding],
    ) -> str | None:
        """Why the waiver is not valid on a day for what was found; None if it is valid."""
        policy_phrase = f"policy {policy.policy}"
        waived_phrase, rule = (
            describe_waived(self.to_mapping()),
            ("hold", self.measure, self.scope.split()[0]),
        )
        is_used = any(map(self.applies_to, verdicts_and_findings))
        rule_refusals = (
            (
                rule
                not in [
                    (found_item.effect, found_item.measure, found_item.scope)
                    for found_item in policy.rules
                ],
                f"{policy_phrase} has no rule on {waived_phrase} that can hold a release",
            ),
            (not is_used, f"this round has no verdict on {waived_phrase}"),
        )
        failed = {
            found_item.check
            for found_item in verdicts_and_findings
            if isinstance(found_item, Finding) and found_item.holds
        }
        tables = {
            found_item.table
            for found_item in verdicts_and_findings
            if isinstance(found_item, Finding) and self.applies_to(found_item)
        }
        check_refusals = (
            (
                self.contract_digest not in (None, contract_digest),
                f"it is bound to another contract than {contract_digest[:12]}",
            ),
            (
                self.policy_digest not in (None, policy.digest),
                f"it is bound to another policy than {policy.digest[:12]}",
            ),
            (
                self.policy_digest is None and OF_INTEGRITY in tables,
                f"{policy_phrase} bounds {self.check}; write policy_digest instead of "
                "contract_digest",
            ),
            (
                self.contract_digest is None and bool(tables - {OF_INTEGRITY, GATE_TABLE}),
                f"the contract asks {self.check}; write contract_digest instead of policy_digest",
            ),
            (
                self.check not in HISTORY_CHECKS and self.check not in failed,
                f"no critical check {self.check} of this round failed",
            ),
            (
                self.check not in HISTORY_CHECKS and not is_used,
                f"a check of the table {' or '.join(WAIVABLE_TABLES)} that ran can be waived, and "
                "no "
                "other",
            ),
        )
        refusals = (
            *_iterate_refusals(self, policy, ratings_digest, judged_on),
            *(rule_refusals if self.check is None else check_refusals),
        )
        return next((refusal_reason for is_refused, refusal_reason in refusals if is_refused), None)

    @property
    def kind(self) -> str:
        return "waiver"

    def __str__(self) -> str:
        return (
            f"{self.kind} by {self.who} until {self.until} of {describe_waived(self.to_mapping())} "
            f"({' '.join(self.why.split())})"
        )


@dataclass(frozen=True)
class RoundRatings:
    """The ratings of a round as they came once. A decision shows the digest."""

    __pydantic_config__ = CLOSED

    round: Annotated[str, REQUIRED_TEXT]
    ratings_digest: Annotated[str, SHA256_DIGEST]

    def __post_init__(self) -> None:
        refuse_mistakes(self, WaiverError)

    def __str__(self) -> str:
        return f"{self.round} ({self.ratings_digest[:12]})"


@dataclass(frozen=True)
class Remedy:
    """Items of a held round that its raters labelled again, and the sample that judged them since.

    It overrides `labels_given_again` and nothing else. Only the lock, which has the store, can say
    whether the sample is the one that its log gives, and whether it is admitted.

    Parameters
    ----------
    round, ratings_digest
        The round as it was held.
    remedied_by
        The round with the new labels, and their digest. It may be the same round.
    sample
        The round with the labels of the sample, and their digest.
    who, why, until
        As in a waiver.
    check
        What it overrides.

    Raises
    ------
    WaiverError
        Nobody is named, no reason is given, or a digest is malformed.
    """

    __pydantic_config__ = CLOSED

    project: Annotated[str, REQUIRED_TEXT]
    round: Annotated[str, REQUIRED_TEXT]
    ratings_digest: Annotated[str, SHA256_DIGEST]
    remedied_by: RoundRatings
    sample: RoundRatings
    who: Annotated[str, PERSON]
    why: Annotated[str, REASON]
    until: Annotated[date, LAST_DAY]
    check: Annotated[str, ONLY_RELABELLED] = RELABELLED

    def __post_init__(self) -> None:
        refuse_mistakes(self, WaiverError, self._needs())

    def _needs(self) -> Iterator[Requirement]:
        others = {self.held_ratings, self.sample}
        met = len({*others, self.remedied_by}) == 3  # held, relabelled, sample
        expected = "three different deliveries: as held, labelled again, and the sample"
        yield Requirement("remedied_by", met, expected, found=str(self.remedied_by))

    @property
    def held_ratings(self) -> RoundRatings:
        return RoundRatings(self.round, self.ratings_digest)

    @property
    def subject(self) -> RoundRatings:
        """The ratings that train under it."""
        return self.remedied_by

    def to_mapping(self) -> dict[str, Any]:
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        nested = {name: {**vars(values[name])} for name in ("remedied_by", "sample")}
        return {**{name: str(value) for name, value in values.items()}, **nested}

    def renamed(self, names: Mapping[str, str]) -> "Remedy":
        del names  # it names no rater
        return self

    def applies_to(self, found: Verdict | Finding) -> bool:
        if not isinstance(found, Finding):
            return False
        return found.holds and found.table == GATE_TABLE and found.check == self.check

    def finding_if_proved(self, detail: str = "") -> Finding:
        """The finding that the sample was drawn and is admitted."""
        words = (
            f"the labels were given again after {self.held_ratings} was held, and a random sample "
            "of the "
            f"items, {self.sample}, was labelled once more and admitted{detail}; {self.who} "
            "answers for it"
        )
        return self._build_finding(words, passed=True)

    def finding_if_refuted(self, why: str) -> Finding:
        """The finding that the sample does not show what it should."""
        return self._build_finding(why, passed=False)

    def _build_finding(self, words: str, *, passed: bool) -> Finding:
        severity = "error" if passed else "warning"  # what it would override holds the round
        observed = (("remedy", str(self.to_mapping())),)
        return build_gate_finding(REMEDIED, words, severity, passed=passed, observed=observed)

    def refusal_reason(
        self,
        policy: Policy,
        ratings_digest: str,
        contract_digest: str,
        on: date,
        found: Sequence[Verdict | Finding],
    ) -> str | None:
        """Why the remedy is not valid on a day for what was found; None if it is valid."""
        del contract_digest  # a remedy overrides no check of a contract
        shown = [
            finding
            for finding in found
            if isinstance(finding, Finding)
            and finding.check == REMEDIED
            and dict(finding.observed).get("remedy") == str(self.to_mapping())
        ]
        failed = next((finding.description for finding in shown if not finding.passed), None)
        refusals = (
            *_iterate_refusals(self, policy, ratings_digest, on),
            (failed is not None, failed or ""),
            (
                not shown,
                "only the store can show that its sample was drawn, labelled and admitted; let "
                "the project judge the round",
            ),
        )
        return next((why for holds, why in refusals if holds), None)

    @property
    def kind(self) -> str:
        return "remedy"

    def __str__(self) -> str:
        return (
            f"{self.kind} by {self.who} until {self.until} of {describe_waived(self.to_mapping())} "
            f"({' '.join(self.why.split())})"
        )


AnyWaiver = Waiver | Remedy


def _iterate_refusals(
    waiver: AnyWaiver, policy: Policy, ratings_digest: str, on: date
) -> Iterator[tuple[bool, str]]:
    """What keeps a waiver or a remedy from being valid, whatever it overrides."""
    named, days = f"policy {policy.policy}", policy.waiver_days
    digest = waiver.subject.ratings_digest
    yield (
        digest != ratings_digest,
        f"it is bound to ratings {digest[:12]}, and these are {ratings_digest[:12]}",
    )
    yield NOBODY in policy.waived_by, f"{named} lets nobody waive"
    yield (
        bool(policy.waived_by) and waiver.who not in policy.waived_by,
        f"{named} lets only {listed(policy.waived_by)} waive",
    )
    yield on > waiver.until, f"it ended on {waiver.until}"
    yield (
        (waiver.until - on).days > days,
        f"it ends on {waiver.until}, and {named} allows waivers for at most {days} days",
    )


@dataclass(frozen=True)
class Waivers:
    """The waivers that were written for a round, and the day on which it is judged."""

    written: tuple[AnyWaiver, ...] = ()
    on: date = date.max

    def sort_valid_and_refused(
        self,
        verdicts: Sequence[Verdict],
        findings: Sequence[Finding],
        policy: Policy,
        ratings_digest: str,
        contract_digest: str,
    ) -> tuple[tuple[AnyWaiver, ...], tuple[str, ...]]:
        """The waivers that override a verdict or a check, and the refused waivers in words.

        A waiver of a verdict that the policy admits anyway is neither. One of what earlier
        deliveries show counts as used, since a release does not show these.
        """
        digests = ratings_digest, contract_digest
        verdicts_and_findings: list[Verdict | Finding] = [*verdicts, *findings]
        refusals = [
            (waiver, waiver.refusal_reason(policy, *digests, self.on, verdicts_and_findings))
            for waiver in self.written
        ]
        failures: list[Verdict | Finding] = [
            *(waiver for waiver in verdicts if waiver.kind not in policy.admit),
            *(waiver for waiver in findings if waiver.holds),
        ]
        used_waivers = tuple(
            waiver
            for waiver, refusal in refusals
            if not refusal
            and (waiver.check in HISTORY_CHECKS or any(map(waiver.applies_to, failures)))
        )
        return used_waivers, tuple(
            f"{waiver} is refused, since {refusal}" for waiver, refusal in refusals if refusal
        )

    def renamed(self, names: Mapping[str, str]) -> "Waivers":
        return replace(self, written=tuple(waiver.renamed(names) for waiver in self.written))


NO_WAIVERS: Waivers = Waivers()


def describe_waived(waiver: Mapping[str, Any]) -> str:
    """What a waiver overrides, in words.

    >>> describe_waived({"check": "raters_not_copied", "scope": "round"})
    'check raters_not_copied of round'
    """
    subject = waiver["measure"] if "measure" in waiver else f"check {waiver['check']}"
    return f"{subject} of {waiver.get('scope', 'round')}"


def select_round_waivers(waivers: Iterable[AnyWaiver], round_name: str, judged_on: date) -> Waivers:
    return Waivers(
        tuple(waiver for waiver in waivers if waiver.subject.round == round_name), judged_on
    )


def waiver_from_mapping(data: object, *, source: str | Place = "waiver") -> AnyWaiver:
    """A waiver, or a remedy where `remedied_by` is written."""
    if isinstance(data, Mapping) and "remedied_by" in data:
        return validate_settings(Remedy, data, source, WaiverError)
    return Waiver.from_mapping(data, source=source)


def n_visible_letters(text: str) -> int:
    return sum(character.isalnum() and character not in FILLERS for character in text)


def load_waiver(path: Path | str) -> AnyWaiver:
    """Load a waiver or a remedy. An error names every mistake with its line."""
    data, place = read_yaml(Path(path), WaiverError, expected_key="until")
    return waiver_from_mapping(data, source=place)
