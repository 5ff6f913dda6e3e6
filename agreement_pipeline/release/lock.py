"""The lock: training data come out of this module, and only when the policy admits the ratings they are made from.

Nothing here asks anybody else whether it may. A round is read again from its content-addressed bytes, judged again, and released or held.
"""

from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime

from agreement_pipeline.contract import Contract
from agreement_pipeline.errors import ReleaseHeldError, ReleaseInvalidError, StoreError
from agreement_pipeline.policy import Decision, Policy, Waiver, Waivers, assess, for_round
from agreement_pipeline.ratings import Ratings
from agreement_pipeline.release.contents import MANIFEST, Member, contents, gold_in
from agreement_pipeline.release.places import places, stands, version_of
from agreement_pipeline.release.proof import Release, prove, read_folder
from agreement_pipeline.release.withdrawal import reconcile, withdraw_versions
from agreement_pipeline.store import (
    DECIDING,
    Folder,
    RoundVersion,
    Store,
    check_round_name,
    folder_at,
)

__all__ = [
    "Release",
    "current_release",
    "judge_round",
    "open_release",
    "release_dataset",
    "release_round",
    "verify_release",
]


def release_round(
    store: Store,
    round_name: str,
    policy: Policy,
    contract: Contract,
    *,
    project: str,
    waivers: Sequence[Waiver] = (),
) -> Release:
    """The training data of a round, if the policy admits it, or waivers of it turn the verdicts that hold it.

    The decision is recorded either way. When it holds the round, every release that contains the round is withdrawn.

    Returns
    -------
    Release
        In the folder `releases/<round>/<ratings digest>-<policy digest>` of the store. One that is there already, with the same ratings, policy
        and contract, is verified and returned; one that was withdrawn is never revived, and one in other words is left as it is: the next gets the
        suffix -2, -3, ….

    Raises
    ------
    ReleaseHeldError
        The round is not admitted; the message gives every reason.
    ReleaseInvalidError
        What stands in its place is no release, or none that the log let out as it stands.
    StoreError
        The store does not hold the round, its bytes were edited, or it was ingested anew meanwhile.
    """
    return _release(
        store, round_name, [round_name], _Terms(policy, contract, tuple(waivers), _today()), project
    )


def release_dataset(
    store: Store,
    rounds: Sequence[str],
    policy: Policy,
    contract: Contract,
    *,
    project: str,
    waivers: Sequence[Waiver] = (),
) -> Release:
    """The training data of several rounds together, each judged again.

    An item met in several rounds keeps the row of the first of them, in the order given. One that is gold in any of them is gold in all: agreement
    is not read on it, and it is not released. The release is called `<project>.dataset`.

    Raises
    ------
    ReleaseHeldError
        A round is not admitted, none was given, or they do not go together; errors of the store as for `release_round`.
    """
    return _release(
        store,
        f"{project}.dataset",
        list(dict.fromkeys(rounds)),
        _Terms(policy, contract, tuple(waivers), _today()),
        project,
    )


def judge_round(
    store: Store,
    round_name: str,
    policy: Policy,
    contract: Contract,
    *,
    waivers: Sequence[Waiver] = (),
) -> tuple[Decision, bool]:
    """Judge a round anew, record the decision, and withdraw what is no longer admitted.

    When the round is held, that is every release that contains it. When it is admitted, it is those of its former versions which the policy
    would hold today.

    Returns
    -------
    (Decision, bool)
        The decision, and whether anything was withdrawn.

    Raises
    ------
    StoreError
        The store does not hold the round, its bytes were edited, or it was ingested anew meanwhile.
    """
    judged, withdrawn = _decide(
        store, [round_name], _Terms(policy, contract, tuple(waivers), _today())
    )
    return judged[0].decision, withdrawn


def current_release(store: Store, round_name: str) -> Folder | None:
    """The folder of the round's latest release that is in force."""
    check_round_name(round_name)
    found = (
        entry["release"] for entry in reversed(store.in_force()) if entry["round"] == round_name
    )
    return next(
        (store.root / "releases" / called for called in found if stands(store, called)), None
    )


def open_release(
    path: Folder | str, *, require: Policy | None = None, store: Store | None = None
) -> Release:
    """A release for training, verified first.

    Parameters
    ----------
    path
        Its folder, or the URL of one.
    require
        A policy that its annotations must meet too, whatever it was released under; no waiver turns a verdict of it.
    store
        Where it was released, if that can be reached: its log must be whole, and say that the release is in force.

    Raises
    ------
    ReleaseInvalidError
        It does not prove that it deserves to exist.
    ReleaseHeldError
        It does, but not under the required policy.
    """
    release = verify_release(path)
    if require is not None:
        _refuse_unmet(release, require)
    if store is not None:
        _refuse_unlogged(release, store)
    return release


def verify_release(path: Folder | str) -> Release:
    """A release, once everything in it has been derived again from its annotations, its policy and its contract.

    This shows that the training rows follow from the annotations and that the policy admits these. It does not show who made the annotations:
    it is no signature.

    Raises
    ------
    ReleaseInvalidError
        It has no manifest, was withdrawn, a file is missing, extra or changed, something comes out otherwise, or a round is not admitted.
    """
    folder = folder_at(path)
    return prove(read_folder(folder), folder, _today())


def _refuse_unmet(release: Release, policy: Policy) -> None:
    for round_name, ratings in release.ratings.items():
        decision = assess(ratings, policy, release.contract).decision
        if not decision.admitted:
            raise ReleaseHeldError(
                f"{release.path}: round {round_name} held under policy {policy.policy} version {policy.version} ({'; '.join(decision.reasons)}); "
                "a release that meets it is required. Use another release, or the policy it was released under."
            )


def _refuse_unlogged(release: Release, store: Store) -> None:
    if release.manifest_digest not in {entry["manifest_digest"] for entry in store.in_force()}:
        raise ReleaseInvalidError(
            f"{release.path}: no such release in force found in the log of {store.root}; one that was let out as it stands and not withdrawn is required. "
            "Do not train on it; ask for the present release.",
            "release_not_in_log",
        )


@dataclass(frozen=True, eq=False)
class _Terms:
    """What rounds are judged by: a policy, a contract, the waivers that were written, and the day on which these are read."""

    policy: Policy
    contract: Contract
    waivers: tuple[Waiver, ...]
    on: date

    def of(self, round_name: str) -> Waivers:
        """The waivers of one round."""
        return for_round(self.waivers, round_name, self.on)


@dataclass(frozen=True, eq=False)
class _Judged:
    """A version of a round, and what the policy says of it."""

    version: RoundVersion
    ratings: Ratings
    decision: Decision


def _release(
    store: Store, name: str, rounds: Sequence[str], terms: _Terms, project: str
) -> Release:
    """Judge, make the release ready, and let it out if nothing has changed since: what is expensive is done while others may write."""
    check_round_name(project, "project")
    if not rounds:
        raise ReleaseHeldError(
            f"release {name}: no round found; at least one that is admitted is required. Release it when a round is admitted."
        )
    judged, _ = _decide(store, rounds, terms)
    _refuse_held(judged)
    gold = gold_in(each.ratings for each in judged)
    members = [_member(store, each, terms, gold) for each in judged]
    data = contents(project, members, terms.policy, terms.contract)
    ready = prove(
        data, store.release_folder(name, version_of(name, members, terms.policy)), terms.on
    )
    with store.locked():
        _refuse_replaced(store, judged)
        _refuse_redecided(store, judged)
        return _let_out(store, name, ready, data)


def _decide(store: Store, rounds: Sequence[str], terms: _Terms) -> tuple[list[_Judged], bool]:
    """Judge the rounds as they are now, record the decisions, and withdraw what these and the former versions of the rounds do not bear."""
    judged = [_judge(store, store.present(round_name), terms) for round_name in rounds]
    former = {
        version: _held_since(store, version, terms) for version in _released_before(store, judged)
    }
    with store.locked():
        reconcile(store)
        _refuse_replaced(store, judged)
        _refuse_released(store, judged, former)
        for each in judged:
            store.record("decided", each.version.round, **each.decision.to_mapping())
        outdated = [
            withdraw_versions(store, version.round, [version], reasons)
            for version, reasons in former.items()
            if reasons
        ]
        held = [
            withdraw_versions(
                store, each.version.round, store.versions(each.version.round), each.decision.reasons
            )
            for each in judged
            if not each.decision.admitted
        ]
    return judged, any(outdated + held)


def _judge(store: Store, version: RoundVersion, terms: _Terms) -> _Judged:
    ratings = store.ratings_of(version)
    return _Judged(
        version,
        ratings,
        assess(ratings, terms.policy, terms.contract, terms.of(version.round)).decision,
    )


def _released_before(store: Store, judged: Iterable[_Judged]) -> list[RoundVersion]:
    """The former versions of the rounds that are in a release in force, one for each digest."""
    released = {found for entry in store.in_force() for found in entry["rounds"].items()} - {
        (each.version.round, each.version.ratings_digest) for each in judged
    }
    former = {
        (version.round, version.ratings_digest): version
        for each in judged
        for version in store.versions(each.version.round)
    }
    return [version for known, version in former.items() if known in released]


def _held_since(store: Store, version: RoundVersion, terms: _Terms) -> Sequence[str]:
    """Why a former version is not admitted today; nothing if it is. One that cannot be read is not admitted."""
    try:
        decision = _judge(store, version, terms).decision
    except StoreError as cause:
        return [str(cause)]
    return () if decision.admitted else decision.reasons


def _member(store: Store, judged: _Judged, terms: _Terms, gold: frozenset[str]) -> Member:
    """The round as it is released: judged once more, under the raters' pseudonyms and without what is gold in any round of it, as readers can derive it."""
    pseudonyms, version = store.pseudonyms(judged.ratings), judged.version
    ratings, waivers = (
        replace(judged.ratings.renamed(pseudonyms), also_gold=gold),
        terms.of(version.round).renamed(pseudonyms),
    )
    member = Member.assessed(
        version.round, version.original_digest, ratings, terms.policy, terms.contract, waivers
    )
    decision = member.assessment.decision
    if not decision.admitted and ratings.gold != judged.ratings.gold:
        raise ReleaseHeldError(
            f"round {version.round}: admitted by itself and held without the items that are gold in another round ({'; '.join(decision.reasons)}); "
            "rounds that are admitted on what they release together are required. Release them apart, or have more items labelled."
        )
    if not decision.admitted:
        raise ReleaseHeldError(
            f"round {judged.version.round}: admitted under the raters' names and held under their pseudonyms ({'; '.join(decision.reasons)}); "
            "a contract that does not depend on names is required, since a release has none. Take the raters' names out of the contract."
        )
    return member


def _refuse_replaced(store: Store, judged: Iterable[_Judged]) -> None:
    for each in judged:
        if store.present(each.version.round) != each.version:
            raise StoreError(
                f"round {each.version.round}: another version than the one judged found, ingested meanwhile; one is required. Judge it again."
            )


def _refuse_released(
    store: Store, judged: Iterable[_Judged], former: Container[RoundVersion]
) -> None:
    for version in _released_before(store, judged):
        if version not in former:
            raise StoreError(
                f"round {version.round}: a release of a former version found, made meanwhile; none is required. Judge the round again."
            )


def _refuse_redecided(store: Store, judged: Iterable[_Judged]) -> None:
    for each in judged:
        last = [
            entry for entry in store.history(each.version.round) if entry["event"] == "decided"
        ][-1]
        decision = each.decision.to_mapping()
        if any(last[name] != decision[name] for name in DECIDING):
            raise StoreError(
                f"round {each.version.round}: another decision found, taken meanwhile; the one it is released on is required. Release it again."
            )


def _refuse_held(judged: Iterable[_Judged]) -> None:
    held = [each for each in judged if not each.decision.admitted]
    if held:
        said = "; ".join(
            f"round {each.version.round}: held, since {'; '.join(each.decision.reasons)}"
            for each in held
        )
        raise ReleaseHeldError(
            f"{said}; an admitted decision is required for training data. Mend what the reasons name, and ingest the round again."
        )


def _let_out(store: Store, name: str, ready: Release, data: Mapping[str, bytes]) -> Release:
    """Enter the release into the log, and then let it be seen: nothing is ever seen that the log does not know.

    Whoever was killed between the two leaves an entry without a release, and the next run puts it there.
    """
    fitting = (
        _at(store, called, ready, data) for called in places(store, name, ready.path.name, data)
    )
    release = next(found for found in fitting if found)
    called = f"{name}/{release.path.name}"
    digests = {round_name: ratings.digest for round_name, ratings in release.ratings.items()}
    store.record(
        "released",
        name,
        release=called,
        rounds=digests,
        manifest_digest=release.manifest_digest,
        tentative=release.tentative,
    )
    if release.manifest_digest == ready.manifest_digest and not store.storage.keep_folder(
        f"releases/{called}", data
    ):
        raise StoreError(
            f"{release.path}: a part of a release found; the whole or nothing is required. Remove the folder, and release it again."
        )
    return release


def _at(store: Store, called: str, ready: Release, data: Mapping[str, bytes]) -> Release | None:
    """The release at a place: this one, or the one that was let out there before; None if other words stand there than this version writes."""
    path, standing = store.root / "releases" / called, store.storage.contents(f"releases/{called}")
    if MANIFEST not in standing or standing == data:
        return replace(ready, path=path)
    try:
        release = verify_release(path)
    except ReleaseInvalidError as refusal:
        if refusal.code != "release_reworded":
            raise
        return None
    _refuse_never_let_out(store, called, release)
    return release


def _refuse_never_let_out(store: Store, called: str, release: Release) -> None:
    """Refuse what verifies and is not what was let out: a part of a release follows from nothing in it, and the log alone knows whose words these are."""
    if release.manifest_digest not in {
        entry["manifest_digest"] for entry in store.in_force() if entry["release"] == called
    }:
        raise ReleaseInvalidError(
            f"{release.path}: a release found that the log of {store.root} did not let out as it stands; that one, or none, is required. "
            "Do not train on it; find out who wrote it, remove the folder, and release the round again.",
            "release_not_in_log",
        )


def _today() -> date:
    return datetime.now(UTC).date()
