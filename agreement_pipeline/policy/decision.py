"""The decision: may these ratings become training data?"""

import hashlib
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from agreement_pipeline.contract import Contract, Finding
from agreement_pipeline.counting import refuse_unread
from agreement_pipeline.errors import PolicyError
from agreement_pipeline.estimates import SCOPE_KINDS, Estimate, measure_ratings, measure_strata
from agreement_pipeline.policy import reasons
from agreement_pipeline.policy.assisted import judged_part, met_with_all, with_and_without
from agreement_pipeline.policy.flattered import unflattered
from agreement_pipeline.policy.how_often import (
    OF_THE_GATE,
    manner,
    of_version,
    recorded_manner,
    too_often,
)
from agreement_pipeline.policy.policy import Policy
from agreement_pipeline.policy.rules import Verdict
from agreement_pipeline.policy.waivers import NONE, Waiver, Waivers
from agreement_pipeline.ratings import CAPABILITIES, Ratings
from agreement_pipeline.tables import Tabular
from agreement_pipeline.text import listed
from agreement_pipeline.version import __version__


@dataclass(frozen=True)
class Decision(Tabular):
    """Admitted or held, with everything that led to this.

    Attributes
    ----------
    admitted
        True if the ratings may become training data.
    verdicts, findings
        What the policy and the data contract said.
    unmet
        The verdicts that hold the release.
    waived, refused
        The waivers that overrode a verdict. The waivers that are not valid, in words.
    manner
        How the round was judged: how often, and with which confidence.
    recorded_manner
        The manner in the words that plain data keep.
    ratings_digest, policy_digest, contract_digest, code_version
        The ratings that were judged, the policy and contract used, and the version of this package.
    version
        How many different ratings came under the round's name, up to these. None: not known, since
        the ratings were judged outside a store.
    """

    admitted: bool
    verdicts: tuple[Verdict, ...]
    findings: tuple[Finding, ...]
    unmet: tuple[Verdict, ...]
    waived: tuple[Waiver, ...]
    refused: tuple[str, ...]
    manner: str
    recorded_manner: str
    ratings_digest: str
    policy_digest: str
    contract_digest: str
    code_version: str
    version: int | None = None

    @property
    def holding(self) -> tuple[Verdict, ...]:
        """The verdicts of the rules that can hold a release."""
        return tuple(verdict for verdict in self.verdicts if verdict.rule.effect == "hold")

    @property
    def tentative(self) -> bool:
        """True if the round is admitted on a tentative verdict. The release then says so."""
        return self.admitted and any(verdict.kind == "tentative" for verdict in self.holding)

    def waives(self, verdict: Verdict) -> bool:
        """True if a waiver overrode this verdict."""
        return any(waiver.turns(verdict) for waiver in self.waived)

    @property
    def broken(self) -> tuple[Finding, ...]:
        """The findings that hold the round."""
        return tuple(finding for finding in self.findings if finding.holds)

    @property
    def reasons(self) -> tuple[str, ...]:
        """Why the round is held or admitted, with a sentence for each reason."""
        if self.admitted:
            return (
                *(verdict.reason for verdict in self.holding),
                *map(str, self.waived),
                *self.refused,
            )
        broken = [
            f"{'' if finding.table == OF_THE_GATE else 'contract: '}{finding.description}"
            for finding in self.broken
        ]
        return (*broken, *(verdict.reason for verdict in self.unmet), *self.refused)

    @property
    def codes(self) -> tuple[str, ...]:
        """The reason codes of a held round; none if the round is admitted.

        `docs/reasons.md` lists them.
        """
        return () if self.admitted else _codes(self)

    @property
    def digest(self) -> str:
        """SHA-256 of the decision."""
        return hashlib.sha256(json.dumps(self.to_mapping(), sort_keys=True).encode()).hexdigest()

    def to_mapping(self) -> dict[str, Any]:
        """The decision as plain data."""
        return {
            "decision": "admitted" if self.admitted else "held",
            "tentative": self.tentative,
            "codes": list(self.codes),
            "reasons": list(self.reasons),
            "waivers": [waiver.to_mapping() for waiver in self.waived],
            "verdicts": [verdict.to_mapping() for verdict in self.verdicts],
            "manner": self.recorded_manner,
            "version": self.version,
            "findings": [finding.to_mapping() for finding in self.findings],
            "ratings_digest": self.ratings_digest,
            "policy_digest": self.policy_digest,
            "contract_digest": self.contract_digest,
            "code_version": self.code_version,
        }

    def rows(self) -> Iterator[dict[str, Any]]:
        """One row per verdict."""
        return (row for verdict in self.verdicts for row in verdict.rows())

    def _repr_html_(self) -> str:
        return f"<p>{'admitted' if self.admitted else 'held'}</p>{super()._repr_html_()}"


def _as_it_is(verdict: Verdict) -> Verdict:
    return verdict


def decide(
    estimates: Sequence[Estimate],
    policy: Policy,
    *,
    findings: Sequence[Finding],
    ratings_digest: str,
    contract_digest: str,
    code_version: str,
    waivers: Waivers = NONE,
    doubted: Callable[[Verdict], Verdict] = _as_it_is,
    version: int | None = None,
) -> Decision:
    """Judge estimates by a policy. `doubted` may take a verdict back.

    The round is admitted if both are true:

    - Each verdict of a rule that can hold a release is one that the policy admits, or a waiver
      overrides it.
    - No finding of the contract holds the round.

    So the round is held if there is no verdict, a value is undefined, an interval is inconclusive
    or an estimate is missing.
    """
    verdicts = tuple(doubted(verdict) for verdict in policy.judge(estimates))
    holding = [verdict for verdict in verdicts if verdict.rule.effect == "hold"]
    short = [verdict for verdict in holding if verdict.kind not in policy.admit]
    waived, refused = waivers.sorted_out(verdicts, policy, ratings_digest)
    unmet = tuple(
        verdict for verdict in short if not any(waiver.turns(verdict) for waiver in waived)
    )
    return Decision(
        admitted=bool(holding) and not unmet and not any(finding.holds for finding in findings),
        verdicts=verdicts,
        findings=tuple(findings),
        unmet=unmet,
        waived=waived,
        refused=refused,
        manner=f"{of_version(version)}{manner(policy, version)}",
        recorded_manner=recorded_manner(policy, version),
        ratings_digest=ratings_digest,
        policy_digest=policy.digest,
        contract_digest=contract_digest,
        code_version=code_version,
        version=version,
    )


def _codes(decision: Decision) -> tuple[str, ...]:
    broken = [
        finding.check if finding.table == OF_THE_GATE else f"contract:{finding.check}"
        for finding in decision.broken
    ]
    unmet = [verdict.code for verdict in decision.unmet]
    return tuple(dict.fromkeys([*broken, *unmet])) or ("no_rule",)


@dataclass(frozen=True)
class Assessment:
    """A decision on ratings, and the estimates that were judged."""

    estimates: tuple[Estimate, ...]
    decision: Decision


def assess(
    ratings: Ratings,
    policy: Policy,
    contract: Contract,
    waivers: Waivers = NONE,
    also: Sequence[Finding] = (),
    version: int | None = None,
    checked: Sequence[Finding] | None = None,
) -> Assessment:
    """Estimate what the policy asks for, and decide. `also` are findings of the gate itself.

    `version` is as in `Decision`. If what the contract finds in these ratings is known, it is
    `checked`.

    Nothing but the arguments is read. So the same ratings, policy, contract, waivers and version of
    this package give the same decision.
    """
    part = judged_part(ratings, policy)
    found = tuple(estimate for kind in SCOPE_KINDS for estimate in _judged(part, policy, kind))
    decision = decide(
        found,
        policy,
        waivers=waivers,
        findings=(
            *(contract.check(ratings) if checked is None else checked),
            *_not_shown(ratings, policy),
            *with_and_without(ratings, policy),
            *also,
            *too_often(policy, version),
        ),
        ratings_digest=ratings.digest,
        contract_digest=contract.digest,
        code_version=__version__,
        doubted=partial(_doubted, ratings=ratings, part=part, policy=policy),
        version=version,
    )
    return Assessment(found, decision)


def judge(
    ratings: Ratings, policy: Policy, contract: Contract | None = None, waivers: Waivers = NONE
) -> Decision:
    """The decision on ratings under a policy, and under the usual contract if none is given.

    Raises
    ------
    AgreementError
        A table in the place of ratings, or the name of a policy in the place of the policy.
    """
    refuse_unread(ratings)
    if not isinstance(policy, Policy):
        raise PolicyError(
            f"found {policy!r}; expected a policy. Use what load_policy gives for its name or file."
        )
    return assess(ratings, policy, contract or Contract.default(), waivers).decision


def _doubted(verdict: Verdict, *, ratings: Ratings, part: Ratings, policy: Policy) -> Verdict:
    """The verdict on the part that is judged, taken back if it does not hold.

    Its rule may require what is not shown, or the scale or the part may flatter it.
    """
    stands = unflattered(_if_shown(verdict, part), ratings=part, policy=policy)
    return stands if part is ratings else met_with_all(stands, ratings=ratings, policy=policy)


def _if_shown(verdict: Verdict, ratings: Ratings) -> Verdict:
    """The verdict; not evaluated if the export cannot show what its rule requires."""
    lacking, found = _lacking(ratings, verdict.rule.requires), verdict.estimate
    if not lacking or found is None or found.value is None:
        return verdict
    why = f"the rule requires what is not shown: {_cannot_show(ratings, lacking)}"
    reason = reasons.not_evaluated(found, found.value, why)
    return replace(verdict, kind="not_evaluated", reason=reason, code="not_shown")


def _not_shown(ratings: Ratings, policy: Policy) -> Iterator[Finding]:
    """What the policy requires of an export and this one cannot show."""
    lacking = _lacking(ratings, policy.requires)
    if policy.assisted == "leave_out" and not ratings.says_assisted:
        lacking = tuple(dict.fromkeys([*lacking, "assisted"]))
    if lacking:
        words = (
            f"found {_cannot_show(ratings, lacking)}; expected what the "
            "policy requires. Export another format, and deliver the round again."
        )
        yield Finding("not_shown", OF_THE_GATE, False, "error", words)


def _lacking(ratings: Ratings, required: tuple[str, ...]) -> tuple[str, ...]:
    """What is required and the export cannot show."""
    return required if ratings.origin is None else ratings.origin.lacks(required)


def _cannot_show(ratings: Ratings, lacking: tuple[str, ...]) -> str:
    """What an export cannot show, in words."""
    origin = ratings.origin
    read = f"an export read as {origin.reader}" if origin else "ratings of an unknown export"
    shown = "; ".join(f"{name}: {CAPABILITIES[name]}" for name in lacking)
    return f"{read}, which cannot show {listed(lacking)} ({shown})"


def _judged(ratings: Ratings, policy: Policy, kind: str) -> Iterator[Estimate]:
    rules = [rule for rule in policy.rules if rule.scope == kind]
    asked = [measure for rule in rules if rule.pools_under is None for measure in rule.asks]
    yield from measure_ratings(ratings, asked, policy.inference, scopes=(kind,))
    for rule in rules:
        if rule.pools_under is not None:
            yield from measure_strata(ratings, rule.asks, policy.inference, rule.pools_under)
