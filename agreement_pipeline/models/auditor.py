"""Who answers for models that labelled rounds: which they are, and if the labels of one train."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

from agreement_pipeline.errors import ReleaseInvalidError
from agreement_pipeline.integrity import Finding
from agreement_pipeline.models.identity import Identity, identities_in, identity_finding
from agreement_pipeline.models.silver import CertifiedBy, SilverAudit
from agreement_pipeline.policy import Policy
from agreement_pipeline.ratings import Ratings
from agreement_pipeline.release import Audit
from agreement_pipeline.store import Store, classifier_name


@dataclass(frozen=True, eq=False)
class ModelsAuditor:
    """The auditor of rounds that models labelled, beside people or alone.

    Parameters
    ----------
    identities
        Which classifiers the project names, beside those that exports tell.
    certified_by
        Which classifier gave the labels, and who certifies it. The round is held without its
        certificate and a drawn audit. None: people gave them.
    """

    identities: Sequence[Identity] = ()
    certified_by: CertifiedBy | None = None

    def audit_round(
        self, store: Store, round_name: str, ratings: Ratings, policy: Policy, on: date
    ) -> Audit:
        identities, findings = list[Identity](), list[Finding]()
        for identity, exported_digests in identities_in(ratings, self.identities):
            entries = store.log.about(classifier_name(identity.name))
            logged_identities = (
                Identity.from_mapping(classifier)
                for entry in entries
                for classifier in entry["classifiers"]
            )
            namesakes = {
                logged_identity.digest
                for logged_identity in logged_identities
                if logged_identity.name == identity.name
            } - {identity.digest}
            identities.append(identity)
            findings.append(
                identity_finding(
                    identity, {*(digest[:12] for digest in namesakes), *exported_digests}
                )
            )
        if self.certified_by is None:
            return _build_audit(identities, findings)
        of_labels, silver = self.certified_by.judged(store, round_name, ratings, policy, on)
        return _build_audit(identities, findings, of_labels, silver)

    def audit_released(self, round_name: str, facts: Mapping[str, Any], on: date) -> Audit:
        silver = SilverAudit.from_mapping(facts["silver"]) if "silver" in facts else None
        if silver is not None and on > silver.expires:
            raise ReleaseInvalidError(
                f"round {round_name}: found labels of {silver.classifier.name}, whose certificate "
                f"ended on {silver.expires}; expected one that holds. Ask for the next release.",
                "release_certificate_ended",
            )
        identities = tuple(map(Identity.from_mapping, facts.get("classifiers", ())))
        return _build_audit(identities, silver=silver)

    def may_stand(self, decided: Mapping[str, Any]) -> bool:
        mapping_by_name = {identity.name: identity.to_mapping() for identity in self.identities}
        logged = decided.get("classifiers", ())
        return (
            self.certified_by is None
            and "silver" not in decided
            and all(
                mapping_by_name.get(classifier["name"], classifier) == classifier
                for classifier in logged
            )
        )


def _build_audit(
    identities: Sequence[Identity],
    findings: Sequence[Finding] = (),
    of_labels: Finding | None = None,
    silver: SilverAudit | None = None,
) -> Audit:
    def find(ratings: Ratings, policy: Policy) -> Iterator[Finding]:
        yield from map(identity_finding, identities)
        if silver is not None:
            yield silver.finding(ratings, policy)

    facts = dict[str, Any]()
    if identities:
        facts["classifiers"] = [identity.to_mapping() for identity in identities]
    if silver is not None:
        facts["silver"] = silver.to_mapping()
    elif of_labels is not None:
        facts["silver"] = {"held": of_labels.check}
    labelled_by = silver.classifier.name if silver else None
    all_findings = [*findings, *([of_labels] if of_labels else [])]
    return Audit(facts, all_findings, of_labels, labelled_by, find)
