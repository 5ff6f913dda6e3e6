"""The lock: training data come out of this module, and only when the policy admits the ratings they are made from.

Nothing here asks anybody else whether it may. A round is read again from its content-addressed bytes, judged again, and released or held.
"""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from typing import Any

from agreement_pipeline import files
from agreement_pipeline.assessment import assess
from agreement_pipeline.contract import Contract
from agreement_pipeline.errors import ReleaseHeldError, StoreError
from agreement_pipeline.gate import Decision
from agreement_pipeline.policy import Policy
from agreement_pipeline.ratings import Ratings
from agreement_pipeline.release_contents import MANIFEST, WITHDRAWN, Member, as_json, contents, identity
from agreement_pipeline.release_proof import Release, prove, read_folder
from agreement_pipeline.store import RoundVersion, Store, check_round_name

__all__ = ["Release", "current_release", "open_release", "release_dataset", "release_round", "verify_release", "withdraw"]


def release_round(store: Store, round_name: str, policy: Policy, contract: Contract, *, project: str) -> Release:
    """The training data of a round, if the policy admits it.

    The decision is recorded either way. When it holds the round, every release that contains the round is withdrawn.

    Returns
    -------
    Release
        In the folder `releases/<round>/<ratings digest>-<policy digest>` of the store. One that is there already, with the same ratings, policy
        and contract, is verified and returned; one that was withdrawn is never revived: the next gets the suffix -2, -3, ….

    Raises
    ------
    ReleaseHeldError
        The round is not admitted; the message gives every reason.
    StoreError
        The store does not hold the round, its bytes were edited, or it was ingested anew meanwhile.
    """
    return _release(store, round_name, [round_name], policy, contract, project)


def release_dataset(store: Store, rounds: Sequence[str], policy: Policy, contract: Contract, *, project: str) -> Release:
    """The training data of several rounds together, each judged again.

    An item met in several rounds keeps the row of the first of them, in the order given. The release is called `<project>.dataset`.

    Raises
    ------
    ReleaseHeldError
        A round is not admitted, none was given, or they do not go together; errors of the store as for `release_round`.
    """
    return _release(store, f"{project}.dataset", list(dict.fromkeys(rounds)), policy, contract, project)


def withdraw(store: Store, round_name: str, reasons: Iterable[str]) -> bool:
    """Withdraw every release that contains the round, its own and those of several rounds.

    The data stay where they are, so that whoever reads them finds the reasons; in these, raters have their pseudonyms.

    Returns
    -------
    bool
        Was there one?
    """
    check_round_name(round_name)
    said = list(reasons)
    with store.locked():
        found = [path for path in store.release_folders() if _in_force(path) and round_name in _rounds(_manifest(path))]
        notice = {"round": round_name, "reasons": _without_names(store, round_name, said), "time": datetime.now(UTC).isoformat()}
        for path in found:
            files.write(path / WITHDRAWN, as_json(notice))
        if found:
            store.record("withdrawn", round_name, releases=[_called(path) for path in found], reasons=said)
    return bool(found)


def current_release(store: Store, round_name: str) -> Path | None:
    """The folder of the round's latest release that is in force."""
    released = [entry["release"].split("/") for entry in store.history(round_name) if entry["event"] == "released"]
    return next((path for name, version in reversed(released) if _in_force(path := store.release_folder(name, version))), None)


def open_release(path: Path | str, *, require: Policy | None = None) -> Release:
    """A release for training, verified first.

    Parameters
    ----------
    path
        Its folder.
    require
        A policy that its annotations must meet too, whatever it was released under.

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
    return release


def verify_release(path: Path | str) -> Release:
    """A release, once everything in it has been derived again from its annotations, its policy and its contract.

    This shows that the training rows follow from the annotations and that the policy admits these. It does not show who made the annotations:
    it is no signature.

    Raises
    ------
    ReleaseInvalidError
        It has no manifest, was withdrawn, a file is missing, extra or changed, something comes out otherwise, or a round is not admitted.
    """
    return prove(read_folder(Path(path)), Path(path))


def _refuse_unmet(release: Release, policy: Policy) -> None:
    for round_name, ratings in release.ratings.items():
        decision = assess(ratings, policy, release.contract).decision
        if not decision.admitted:
            raise ReleaseHeldError(
                f"{release.path}: round {round_name} held under policy {policy.policy} version {policy.version} ({'; '.join(decision.reasons)}); "
                "a release that meets it is required. Use another release, or the policy it was released under."
            )


@dataclass(frozen=True, eq=False)
class _Judged:
    """A version of a round, and what the policy says of it."""

    version: RoundVersion
    ratings: Ratings
    decision: Decision


def _release(store: Store, name: str, rounds: Sequence[str], policy: Policy, contract: Contract, project: str) -> Release:
    check_round_name(project, "project")
    if not rounds:
        raise ReleaseHeldError(f"release {name}: no round found; at least one that is admitted is required. Release it when a round is admitted.")
    judged = [_judge(store, round_name, policy, contract) for round_name in rounds]
    with store.locked():
        _refuse_replaced(store, judged)
        for each in judged:
            store.record("decided", each.version.round, **each.decision.to_mapping())
        _refuse_held(store, judged)
        return _released(store, name, [_member(store, each, policy, contract) for each in judged], policy, contract, project)


def _judge(store: Store, round_name: str, policy: Policy, contract: Contract) -> _Judged:
    version = store.present(round_name)
    ratings = store.ratings_of(version)
    return _Judged(version, ratings, assess(ratings, policy, contract).decision)


def _member(store: Store, judged: _Judged, policy: Policy, contract: Contract) -> Member:
    """The round as it is released: judged once more under the raters' pseudonyms, which is all that readers can derive."""
    ratings = judged.ratings.renamed(store.pseudonyms(judged.ratings))
    member = Member.assessed(judged.version.round, judged.version.original_digest, ratings, policy, contract)
    decision = member.assessment.decision
    if not decision.admitted:
        raise ReleaseHeldError(
            f"round {judged.version.round}: admitted under the raters' names and held under their pseudonyms ({'; '.join(decision.reasons)}); "
            "a contract that does not depend on names is required, since a release has none. Take the raters' names out of the contract."
        )
    return member


def _refuse_replaced(store: Store, judged: Iterable[_Judged]) -> None:
    for each in judged:
        if store.present(each.version.round) != each.version:
            raise StoreError(f"round {each.version.round}: another version than the one judged found, ingested meanwhile; one is required. Release it again.")


def _refuse_held(store: Store, judged: Iterable[_Judged]) -> None:
    held = [each for each in judged if not each.decision.admitted]
    for each in held:
        withdraw(store, each.version.round, each.decision.reasons)
    if held:
        said = "; ".join(f"round {each.version.round}: held, since {'; '.join(each.decision.reasons)}" for each in held)
        raise ReleaseHeldError(f"{said}; an admitted decision is required for training data. Mend what the reasons name, and ingest the round again.")


def _released(store: Store, name: str, members: Sequence[Member], policy: Policy, contract: Contract, project: str) -> Release:
    path = _place(store, name, _version(name, members, policy), identity(project, members, policy, contract))
    if path.exists():
        release = verify_release(path)
    else:
        data = contents(project, members, policy, contract)
        release = prove(data, path)
        files.write_folder(path, data)
    store.record("released", name, release=_called(path), rounds=list(release.rounds), tentative=release.tentative)
    return release


def _version(name: str, members: Sequence[Member], policy: Policy) -> str:
    """What is in it and what it was judged by, by digest; of several rounds, the digest of their names and digests in order."""
    together = files.digest_of(as_json([[member.round, member.ratings.digest] for member in members]))
    return f"{(members[0].ratings.digest if name == members[0].round else together)[:12]}-{policy.digest[:12]}"


def _place(store: Store, name: str, version: str, this: Mapping[str, Any]) -> Path:
    """The first folder of that version that is free, or holds this release and is in force."""
    folders = (store.release_folder(name, version if number == 1 else f"{version}-{number}") for number in count(1))
    return next(path for path in folders if not path.exists() or not _another(path, this))


def _another(path: Path, this: Mapping[str, Any]) -> bool:
    """Was it withdrawn, or is it of other rounds, another project or contract? One that cannot be read is not: verifying it says why."""
    manifest = _manifest(path)
    return (path / WITHDRAWN).exists() or (bool(manifest) and _decisive(manifest) != _decisive(this))


def _decisive(manifest: Mapping[str, Any]) -> tuple[Any, ...]:
    rounds = [(entry["round"], entry["ratings_digest"]) for entry in manifest["rounds"]]
    return (manifest["project"], manifest["policy_digest"], manifest["contract_digest"], rounds)


def _in_force(path: Path) -> bool:
    return (path / MANIFEST).is_file() and not (path / WITHDRAWN).exists()


def _manifest(path: Path) -> dict[str, Any]:
    """The manifest; empty where there is none that can be read, and then the release cannot be verified either."""
    try:
        found: dict[str, Any] = json.loads((path / MANIFEST).read_bytes())
        _decisive(found)
    except (OSError, ValueError, KeyError, TypeError):
        return {}
    return found


def _rounds(manifest: Mapping[str, Any]) -> list[str]:
    return [entry["round"] for entry in manifest.get("rounds", [])]


def _called(path: Path) -> str:
    return f"{path.parent.name}/{path.name}"


def _without_names(store: Store, round_name: str, reasons: Iterable[str]) -> list[str]:
    """The reasons with the raters' pseudonyms in place of their names."""
    try:
        pseudonyms = store.pseudonyms(store.ratings(round_name))
    except StoreError:
        return ["the round can no longer be read from the store, whose log has the reasons"]
    names = "|".join(re.escape(name) for name in sorted(pseudonyms, key=len, reverse=True)) or "(?!)"
    return [re.sub(rf"(?<![\w-])(?:{names})(?![\w-])", lambda found: pseudonyms[found.group()], reason) for reason in reasons]
