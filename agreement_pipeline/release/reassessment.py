"""All rounds of a store, judged again where something changed that their decisions rest on.

A decision follows from the ratings, the policy, the contract, the waivers, the settings and the
code. The log has the digest of each of them. So a round is decided anew only where one differs, or
where its releases do not fit its decision. The stored bytes of every round are digested.

Each decision is in the log before the next round is looked at. So if the work is ended in the
middle, another call goes on from there.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from agreement_pipeline.contract import Contract
from agreement_pipeline.errors import AgreementError
from agreement_pipeline.policy import Decision, Policy, Waiver
from agreement_pipeline.release.contents import WITHDRAWN
from agreement_pipeline.release.deciding import (
    Terms,
    decide,
    refuse_reused,
    today,
)
from agreement_pipeline.store import RoundVersion, Store
from agreement_pipeline.version import __version__


@dataclass(frozen=True, eq=False)
class Reassessed:
    """What became of a round when it was looked at again.

    Attributes
    ----------
    round
        Its name.
    before
        Its last decision, in a word. Empty if there was none.
    decision
        The new decision. None if the last one stands, or if the round could not be judged.
    withdrawn
        True if a release was withdrawn.
    error
        Why the round could not be judged.
    """

    round: str
    before: str
    decision: Decision | None = None
    withdrawn: bool = False
    error: AgreementError | None = None

    @property
    def changed(self) -> bool:
        """True if the decision is another one than before, or a release was withdrawn."""
        now = self.decision
        if now is None:
            return False
        return self.withdrawn or self.before != ("admitted" if now.admitted else "held")


@dataclass(eq=False)
class _Known:
    """What the log says of a round.

    Attributes
    ----------
    arrived
        Its versions, each time that one came.
    decided
        Its last decision.
    released
        The digests of its ratings in releases in force.
    torn
        True if a release with it is withdrawn in the log or by its notice, and not by the other.
    """

    arrived: list[RoundVersion] = field(default_factory=list)
    decided: Mapping[str, Any] = field(default_factory=dict)
    released: set[str] = field(default_factory=set)
    torn: bool = False


def reassess(
    store: Store,
    policy: Policy,
    contract: Contract,
    *,
    waivers: Sequence[Waiver] = (),
    settings_digest: str | None = None,
) -> Iterator[Reassessed]:
    """Look at every round of a store again, and judge it as `judge_round` does where that is due.

    An error of one round ends nothing: the others are looked at all the same.

    Raises
    ------
    StoreError
        The log was edited, or it has another policy of the same name and version.
    """
    terms = Terms(policy, contract, tuple(waivers), today(), settings_digest)
    with store.reading():
        refuse_reused(store, policy)
        known = _known(store)
    for name, round_ in sorted(known.items()):
        before = str(round_.decided.get("decision", ""))
        try:
            if _stands(round_, terms):
                store.refuse_edited(round_.arrived[-1])
                yield Reassessed(name, before)
            else:
                judged, withdrawn = decide(store, [name], terms)
                yield Reassessed(name, before, judged[0].decision, withdrawn)
        except AgreementError as error:
            yield Reassessed(name, before, error=error)


def _known(store: Store) -> dict[str, _Known]:
    """What the log says of each round that was ingested."""
    history, withdrawn = store.history(), store.withdrawn()
    names = store.storage.names("releases")
    noticed = {name.removesuffix(f"/{WITHDRAWN}") for name in names if name.endswith(WITHDRAWN)}
    found: dict[str, _Known] = {}
    for entry in history:
        if entry["event"] == "ingested":
            said = {name: entry[name] for name in RoundVersion.__dataclass_fields__}
            found.setdefault(entry["round"], _Known()).arrived.append(RoundVersion(**said))
    for entry in history:
        if entry["event"] == "decided" and entry["round"] in found:
            found[entry["round"]].decided = entry
    _add_releases(found, history, withdrawn.keys(), noticed)
    return found


def _add_releases(
    found: Mapping[str, _Known],
    history: Iterable[Mapping[str, Any]],
    withdrawn: Iterable[str],
    noticed: set[str],
) -> None:
    gone = set(withdrawn)
    for entry in history:
        for name in entry["rounds"] if entry["event"] == "released" else ():
            if name in found:
                called = entry["release"]
                found[name].torn |= (called in gone) != (called in noticed)
                if called not in gone:
                    found[name].released.add(entry["rounds"][name])


def _stands(known: _Known, terms: Terms) -> bool:
    """True if the last decision rests on what the round would be judged by today."""
    present, decided = known.arrived[-1], known.decided
    facts = {
        "ratings_digest": present.ratings_digest,
        "policy_digest": terms.policy.digest,
        "contract_digest": terms.contract.digest,
        "settings_digest": present.settings_digest,
        "code_version": __version__,
        "waivers": [],
        "version": len({each.ratings_digest for each in known.arrived}),
    }
    checks = {finding["check"] for finding in decided.get("findings", ())}
    admitted = {present.ratings_digest} if decided.get("decision") == "admitted" else set()
    return (
        all(decided.get(name) == fact for name, fact in facts.items())
        and not terms.of(present.round).written
        and ("read_otherwise" in checks) == terms.read_otherwise(present)
        and known.released <= admitted
        and not known.torn
    )
