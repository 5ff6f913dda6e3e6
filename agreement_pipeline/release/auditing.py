"""What a decision and a release hear of the models that labelled a round, from an auditor.

The auditor is one of the terms of a judgement. Nothing here knows what it asks of models.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Any, Protocol

from agreement_pipeline.errors import ReleaseInvalidError
from agreement_pipeline.integrity import Finding
from agreement_pipeline.policy import Policy
from agreement_pipeline.ratings import Ratings
from agreement_pipeline.store import Store
from agreement_pipeline.text import listed

KEYS = ("classifiers", "silver")
"""What an auditor writes of a round stands under these keys of a decision and of a manifest."""
DECISIVE = "silver"
"""If this fact is another one, a release is another one."""


def _find_nothing(_ratings: Ratings, _policy: Policy) -> Iterable[Finding]:
    return ()


@dataclass(frozen=True, eq=False)
class Audit:
    """What an auditor says of the models that labelled a round.

    Attributes
    ----------
    facts
        What the log and a manifest say of it.
    findings
        What the gate found when it judged the round: of each model that is known, and last
        `of_labels`. Of a release there are none: `find` looks again.
    of_labels
        What it found of the labels of a model that are to train. It may hold the round. None where
        people's labels train, and of a release.
    labelled_by
        The model whose labels train, if they may.
    find
        What ratings alone show of it under a policy, as of a release.
    """

    facts: Mapping[str, Any] = field(default_factory=dict)
    findings: Sequence[Finding] = ()
    of_labels: Finding | None = None
    labelled_by: str | None = None
    find: Callable[[Ratings, Policy], Iterable[Finding]] = _find_nothing


NO_MODELS = Audit()


class Auditor(Protocol):
    """Who answers for the models that labelled rounds."""

    def audit_round(
        self, store: Store, round_name: str, ratings: Ratings, policy: Policy, on: date
    ) -> Audit:
        """The round need not be in the store."""
        ...

    def audit_released(self, round_name: str, facts: Mapping[str, Any], on: date) -> Audit:
        """What a manifest says of a round. It raises `ReleaseInvalidError` if that has ended."""
        ...

    def may_stand(self, decided: Mapping[str, Any]) -> bool:
        """False if a decision in the log must be taken again to know whether it stands."""
        ...


class NoAuditor:
    """Nobody answers for models, so nothing that is said of them is believed."""

    def audit_round(self, *_round: object) -> Audit:
        return NO_MODELS

    def audit_released(self, round_name: str, facts: Mapping[str, Any], _on: date) -> Audit:
        if facts:
            raise ReleaseInvalidError(
                f"round {round_name}: found facts on models ({listed(sorted(facts))}); expected "
                "none without an auditor who can check them. Open the release with "
                "agreement_pipeline.open_release, or name an auditor.",
                "release_not_derived",
            )
        return NO_MODELS

    def may_stand(self, decided: Mapping[str, Any]) -> bool:
        return decided.keys().isdisjoint(KEYS)


NO_AUDITOR = NoAuditor()
