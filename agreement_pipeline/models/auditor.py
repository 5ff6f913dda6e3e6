"""Who answers for models that labelled rounds: which they are, and if the labels of one train."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

from agreement_pipeline.errors import ReleaseInvalidError
from agreement_pipeline.integrity import Finding
from agreement_pipeline.models.identity import Identity, identified, known_in
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
        known, findings = list[Identity](), list[Finding]()
        for each, others in known_in(ratings, self.identities):
            entries = store.log.about(classifier_name(each.name))
            logged = (Identity.from_mapping(it) for entry in entries for it in entry["classifiers"])
            namesakes = {one.digest for one in logged if one.name == each.name} - {each.digest}
            known.append(each)
            findings.append(identified(each, {*(digest[:12] for digest in namesakes), *others}))
        if self.certified_by is None:
            return _audit(known, findings)
        of_labels, silver = self.certified_by.judged(store, round_name, ratings, policy, on)
        return _audit(known, findings, of_labels, silver)

    def audit_released(self, round_name: str, facts: Mapping[str, Any], on: date) -> Audit:
        silver = SilverAudit.from_mapping(facts["silver"]) if "silver" in facts else None
        if silver is not None and on > silver.expires:
            raise ReleaseInvalidError(
                f"round {round_name}: found labels of {silver.classifier.name}, whose certificate "
                f"ended on {silver.expires}; expected one that holds. Ask for the next release.",
                "release_certificate_ended",
            )
        known = tuple(map(Identity.from_mapping, facts.get("classifiers", ())))
        return _audit(known, silver=silver)

    def may_stand(self, decided: Mapping[str, Any]) -> bool:
        named = {each.name: each.to_mapping() for each in self.identities}
        logged = decided.get("classifiers", ())
        return (
            self.certified_by is None
            and "silver" not in decided
            and all(named.get(each["name"], each) == each for each in logged)
        )


def _audit(
    known: Sequence[Identity],
    findings: Sequence[Finding] = (),
    of_labels: Finding | None = None,
    silver: SilverAudit | None = None,
) -> Audit:
    def find(ratings: Ratings, policy: Policy) -> Iterator[Finding]:
        yield from map(identified, known)
        if silver is not None:
            yield silver.finding(ratings, policy)

    facts = dict[str, Any]()
    if known:
        facts["classifiers"] = [each.to_mapping() for each in known]
    if silver is not None:
        facts["silver"] = silver.to_mapping()
    elif of_labels is not None:
        facts["silver"] = {"held": of_labels.check}
    labelled_by = silver.classifier.name if silver else None
    found = [*findings, *([of_labels] if of_labels else [])]
    return Audit(facts, found, of_labels, labelled_by, find)
