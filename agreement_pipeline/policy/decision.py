"""The decision: may these ratings become training data?"""

import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from agreement_pipeline.contract import Contract, Finding
from agreement_pipeline.estimates import (
    SCOPE_KINDS,
    Estimate,
    measure_ratings,
)
from agreement_pipeline.policy.policy import Policy
from agreement_pipeline.policy.rules import Verdict
from agreement_pipeline.policy.waivers import NONE, Waiver, Waivers
from agreement_pipeline.ratings import Ratings
from agreement_pipeline.tables import Tabular
from agreement_pipeline.version import __version__


@dataclass(frozen=True)
class Decision(Tabular):
    """Admitted or held, and everything it rests on.

    Attributes
    ----------
    admitted
        May the ratings become training data?
    verdicts, findings
        What the policy and the data contract said.
    unmet
        The verdicts that hold the release.
    waived, refused
        The waivers that turned a verdict; and, in words, those that were written and do not hold.
    manner
        How the round was judged: once or at any time, each verdict by itself or all together.
    ratings_digest, policy_digest, contract_digest, code_version
        What it was decided on, by what, and by which version of this package.
    tentative
        Is it admitted on a tentative verdict? The release then says so.
    """

    admitted: bool
    verdicts: tuple[Verdict, ...]
    findings: tuple[Finding, ...]
    unmet: tuple[Verdict, ...]
    waived: tuple[Waiver, ...]
    refused: tuple[str, ...]
    manner: str
    ratings_digest: str
    policy_digest: str
    contract_digest: str
    code_version: str

    @property
    def holding(self) -> tuple[Verdict, ...]:
        """The verdicts of the rules that can hold a release."""
        return tuple(verdict for verdict in self.verdicts if verdict.rule.effect == "hold")

    @property
    def tentative(self) -> bool:
        """Is it admitted on a tentative verdict?"""
        return self.admitted and any(verdict.kind == "tentative" for verdict in self.holding)

    def waives(self, verdict: Verdict) -> bool:
        """Is this a verdict that a waiver turned?"""
        return any(waiver.turns(verdict) for waiver in self.waived)

    @property
    def reasons(self) -> tuple[str, ...]:
        """Why it is held, or on what it is admitted, one sentence each."""
        if self.admitted:
            return (
                *(verdict.reason for verdict in self.holding),
                *map(str, self.waived),
                *self.refused,
            )
        broken = [f"contract: {finding.description}" for finding in self.findings if finding.holds]
        return (*broken, *(verdict.reason for verdict in self.unmet), *self.refused)

    @property
    def codes(self) -> tuple[str, ...]:
        """The stable names of all that holds it, which `docs/reasons.md` lists; none when it is admitted."""
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
            "manner": self.manner,
            "findings": [finding.to_mapping() for finding in self.findings],
            "ratings_digest": self.ratings_digest,
            "policy_digest": self.policy_digest,
            "contract_digest": self.contract_digest,
            "code_version": self.code_version,
        }

    def rows(self) -> Iterator[dict[str, Any]]:
        """One row a verdict."""
        return (row for verdict in self.verdicts for row in verdict.rows())

    def _repr_html_(self) -> str:
        return f"<p>{'admitted' if self.admitted else 'held'}</p>{super()._repr_html_()}"


def decide(
    estimates: Sequence[Estimate],
    policy: Policy,
    *,
    findings: Sequence[Finding],
    ratings_digest: str,
    contract_digest: str,
    code_version: str,
    waivers: Waivers = NONE,
) -> Decision:
    """Judge estimates by a policy.

    Admitted when every rule that holds gives a verdict the policy admits, or one that a waiver turns, and no finding of the contract holds.
    No verdict at all, an undefined value, an inconclusive interval and a missing estimate hold.
    """
    verdicts = policy.judge(estimates)
    holding = [verdict for verdict in verdicts if verdict.rule.effect == "hold"]
    short = [verdict for verdict in holding if verdict.kind not in policy.admit]
    waived, refused = waivers.sorted_out(short, policy, ratings_digest)
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
        manner=policy.manner,
        ratings_digest=ratings_digest,
        policy_digest=policy.digest,
        contract_digest=contract_digest,
        code_version=code_version,
    )


def _codes(decision: Decision) -> tuple[str, ...]:
    broken = [f"contract:{finding.check}" for finding in decision.findings if finding.holds]
    unmet = [verdict.code for verdict in decision.unmet]
    return tuple(dict.fromkeys([*broken, *unmet])) or ("no_rule",)


@dataclass(frozen=True)
class Assessment:
    """What a policy says of ratings, and the estimates it says it of."""

    estimates: tuple[Estimate, ...]
    decision: Decision


def assess(
    ratings: Ratings, policy: Policy, contract: Contract, waivers: Waivers = NONE
) -> Assessment:
    """Estimate what the policy asks for, and decide.

    Reads nothing but its arguments: the same ratings, policy, contract, waivers and version of this package give the same decision.
    """
    found = tuple(estimate for kind in SCOPE_KINDS for estimate in _judged(ratings, policy, kind))
    decision = decide(
        found,
        policy,
        waivers=waivers,
        findings=contract.check(ratings),
        ratings_digest=ratings.digest,
        contract_digest=contract.digest,
        code_version=__version__,
    )
    return Assessment(found, decision)


def judge(
    ratings: Ratings, policy: Policy, contract: Contract | None = None, waivers: Waivers = NONE
) -> Decision:
    """The decision on ratings under a policy, and under the usual contract if none is given."""
    return assess(ratings, policy, contract or Contract.default(), waivers).decision


def _judged(ratings: Ratings, policy: Policy, kind: str) -> Iterator[Estimate]:
    asked = [rule.measure for rule in policy.rules if rule.scope == kind]
    return measure_ratings(
        ratings,
        asked,
        policy.inference,
        scopes=(kind,),
    )
