"""Decisions on rounds: judged again from their stored bytes, recorded, and acted upon."""

from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from functools import partial
from typing import Any

from agreement_pipeline.contract import Contract, Finding
from agreement_pipeline.errors import StoreError
from agreement_pipeline.policy import (
    OF_THE_GATE,
    Decision,
    Policy,
    Waiver,
    Waivers,
    assess,
    for_round,
)
from agreement_pipeline.ratings import Adjudicated, Ratings
from agreement_pipeline.release.withdrawal import agrees, reconcile, withdraw_versions
from agreement_pipeline.store import DECIDING, RoundVersion, Store


@dataclass(frozen=True, eq=False)
class Terms:
    """What rounds are judged by.

    Attributes
    ----------
    policy, contract
        The policy and the data contract.
    waivers
        The waivers of all rounds.
    on
        The day on which a waiver must hold.
    settings_digest
        SHA-256 of the settings that rounds must have been read under. None: any settings.
    adjudicated
        The labels that adjudicators chose, by the round. No decision reads them.
    """

    policy: Policy
    contract: Contract
    waivers: tuple[Waiver, ...]
    on: date
    settings_digest: str | None = None
    adjudicated: Mapping[str, Adjudicated] = field(default_factory=dict)

    def of(self, round_name: str) -> Waivers:
        """The waivers of one round."""
        return for_round(self.waivers, round_name, self.on)

    def read_otherwise(self, version: RoundVersion) -> bool:
        """True if a version was read under other settings than rounds must have been."""
        return self.settings_digest not in (None, version.settings_digest)


@dataclass(frozen=True, eq=False)
class Checked:
    """What this process kept of a delivery, and what the contract found in it.

    Attributes
    ----------
    version, ratings
        The version, and the ratings that were kept as this version.
    contract_digest, findings
        The contract that they were checked by, and what it found.
    """

    version: RoundVersion
    ratings: Ratings
    contract_digest: str
    findings: tuple[Finding, ...]


@dataclass(frozen=True, eq=False)
class Taken:
    """A version of a round, and the decision that was taken on it.

    Attributes
    ----------
    version, decision
        The version and the decision.
    number
        How many different ratings came under the round's name, up to this version.
    """

    version: RoundVersion
    decision: Decision
    number: int

    @property
    def facts(self) -> dict[str, Any]:
        """What the log keeps of the decision."""
        settings = {"settings_digest": self.version.settings_digest}
        return {**self.decision.to_mapping(), **settings}


@dataclass(frozen=True, eq=False)
class Judged(Taken):
    """A version of a round with its ratings, and the decision on them."""

    ratings: Ratings

    @property
    def taken(self) -> Taken:
        """The decision without the ratings, which need much memory."""
        return Taken(self.version, self.decision, self.number)


def decide(
    store: Store,
    rounds: Sequence[str],
    terms: Terms,
    *,
    checked_later: bool = False,
    kept: Checked | None = None,
) -> tuple[list[Judged], bool]:
    """Judge the present versions of rounds, record the decisions, and withdraw releases.

    A release is withdrawn if it contains a version of a round that is held now. If the caller
    checks later that nothing changed meanwhile, nothing is locked for decisions that the log
    has already. A version that this process `kept` is judged without being read again.

    Returns
    -------
    (list of Judged, bool)
        The decisions. True if a release was withdrawn.
    """
    with store.reading():
        refuse_reused(store, terms.policy)
        judged = [_judge(store, store.present(name), terms, kept) for name in rounds]
        former = {
            version: _held_since(store, version, terms)
            for version in _released_before(store, judged)
        }
        if checked_later and _is_recorded(store, judged, former):
            return judged, False
    with store.locked():
        reconcile(store, rounds)
        refuse_replaced(store, judged)
        _refuse_released(store, judged, former)
        for each in judged:
            store.record(
                "decided", each.version.round, policy=terms.policy.to_mapping(), **each.facts
            )
        outdated = [
            withdraw_versions(
                store,
                version.round,
                [version],
                reasons,
                partial(_read_and_reworded, store, version, terms),
            )
            for version, reasons in former.items()
            if reasons
        ]
        held = [
            withdraw_versions(
                store,
                each.version.round,
                store.versions(each.version.round),
                each.decision.reasons,
                partial(_reworded, store, each.version, terms, each.ratings),
            )
            for each in judged
            if not each.decision.admitted
        ]
    return judged, any(outdated + held)


def is_last_decision(store: Store, judged: Taken) -> bool:
    """True if the last decision on the round rests on the same facts."""
    decided = [
        entry for entry in store.history(judged.version.round) if entry["event"] == "decided"
    ]
    facts = judged.facts
    return bool(decided) and all(decided[-1][name] == facts[name] for name in DECIDING)


def refuse_replaced(store: Store, judged: Iterable[Taken]) -> None:
    """Refuse decisions on rounds that were ingested again meanwhile."""
    for each in judged:
        if store.present(each.version.round) != each.version:
            raise StoreError(
                f"round {each.version.round}: found another version, ingested meanwhile; "
                "expected the version that was judged. Judge it again.",
                may_pass=True,
            )


def _number_of(store: Store, version: RoundVersion) -> int:
    """How many different ratings came under the round's name, up to this version's last arrival."""
    arrived = [
        entry["ratings_digest"]
        for entry in store.history(version.round)
        if entry["event"] == "ingested"
    ]
    later = arrived[::-1].index(version.ratings_digest)
    return len(set(arrived[: len(arrived) - later]))


def today() -> date:
    """The day in UTC."""
    return datetime.now(UTC).date()


def refuse_reused(store: Store, policy: Policy) -> None:
    """Refuse a policy if the log has another one under the same name and version."""
    first = store.first_under(policy.policy, policy.version)
    if first is not None and first["policy_digest"] != policy.digest:
        raise StoreError(
            f"policy {policy.policy}, version {policy.version}: found other rules than those that "
            f"round {first['round']} was first judged by, under this name and version; "
            "expected the same rules. Give the policy a new version."
        )


def _judge(
    store: Store, version: RoundVersion, terms: Terms, kept: Checked | None = None
) -> Judged:
    mine = kept if kept and kept.version == version else None
    ratings = mine.ratings if mine else store.ratings_of(version)
    same = mine is not None and mine.contract_digest == terms.contract.digest
    number = _number_of(store, version)
    found = assess(
        ratings,
        terms.policy,
        terms.contract,
        terms.of(version.round),
        _read_otherwise(version, terms),
        version=number,
        checked=mine.findings if mine and same else None,
    )
    return Judged(version, found.decision, number, ratings)


def _read_otherwise(version: RoundVersion, terms: Terms) -> list[Finding]:
    if not terms.read_otherwise(version):
        return []
    words = (
        "found ratings that were read under other settings than the project has now; "
        "expected the same columns, scale, classifiers, layout, replicates and limits. "
        "Put the round's file into the inbox, so that it is read again."
    )
    return [Finding("read_otherwise", OF_THE_GATE, False, "error", words)]


def _read_and_reworded(store: Store, version: RoundVersion, terms: Terms) -> Sequence[str]:
    """Why a former version is held, as `_reworded` says it. Empty if it cannot be read."""
    try:
        return _reworded(store, version, terms, store.ratings_of(version))
    except StoreError:
        return ()


def _reworded(store: Store, version: RoundVersion, terms: Terms, ratings: Ratings) -> Sequence[str]:
    """Why a version is held, in words that are made from the pseudonyms of its raters.

    Empty if it cannot be judged under them.
    """
    try:
        names = store.pseudonyms(ratings)
    except StoreError:
        return ()
    waivers, also = terms.of(version.round).renamed(names), _read_otherwise(version, terms)
    renamed = ratings.renamed(names)
    number = _number_of(store, version)
    found = assess(renamed, terms.policy, terms.contract, waivers, also, version=number)
    return () if found.decision.admitted else found.decision.reasons


def _is_recorded(
    store: Store, judged: Sequence[Judged], former: Mapping[RoundVersion, Sequence[str]]
) -> bool:
    """True if the log and the releases already say all that follows from the decisions."""
    rounds = [each.version.round for each in judged]
    return (
        all(each.decision.admitted and is_last_decision(store, each) for each in judged)
        and not any(former.values())
        and agrees(store, rounds)
    )


def _released_before(store: Store, judged: Iterable[Judged]) -> list[RoundVersion]:
    """The former versions of the rounds in releases in force, one for each digest."""
    found: dict[tuple[str, str], RoundVersion] = {}
    for each in judged:
        name, present = each.version.round, each.version.ratings_digest
        released = {
            entry["rounds"][name] for entry in store.in_force(store.releases_with(name))
        } - {present}
        for version in store.versions(name) if released else ():
            if version.ratings_digest in released:
                found[name, version.ratings_digest] = version
    return list(found.values())


def _held_since(store: Store, version: RoundVersion, terms: Terms) -> Sequence[str]:
    """Why a former version is held today. Empty if it is admitted.

    A version that cannot be read is held.
    """
    try:
        decision = _judge(store, version, terms).decision
    except StoreError as cause:
        return [str(cause)]
    return () if decision.admitted else decision.reasons


def _refuse_released(
    store: Store, judged: Iterable[Judged], former: Container[RoundVersion]
) -> None:
    for version in _released_before(store, judged):
        if version not in former:
            raise StoreError(
                f"round {version.round}: found a release of a former version, made meanwhile; "
                "expected none. Judge the round again.",
                may_pass=True,
            )
