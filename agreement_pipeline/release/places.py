"""Where releases stand in a store: a folder for each version, and another where one was withdrawn or holds something else."""

import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import count
from typing import Any

from agreement_pipeline.policy import Policy
from agreement_pipeline.release.contents import MANIFEST, WITHDRAWN, Member, as_json
from agreement_pipeline.store import Store, files


def version_of(name: str, members: Sequence[Member], policy: Policy) -> str:
    """What is in it and what it was judged by, by digest; of several rounds, the digest of their names and digests in order."""
    together = files.digest_of(
        as_json([[member.round, member.ratings.digest] for member in members])
    )
    return f"{(members[0].ratings.digest if name == members[0].round else together)[:12]}-{policy.digest[:12]}"


def places(store: Store, name: str, version: str, data: Mapping[str, bytes]) -> Iterator[str]:
    """The folders of that version, in order, that are free, or hold this release and are in force."""
    names = (f"{name}/{version if number == 1 else f'{version}-{number}'}" for number in count(1))
    return (
        called
        for called in names
        if called not in store.withdrawn()
        and not _another(store.storage.contents(f"releases/{called}"), data)
    )


def stands(store: Store, called: str) -> bool:
    """Is a release there, and no notice in it?"""
    names = store.storage.names(f"releases/{called}")
    return MANIFEST in names and WITHDRAWN not in names


def _another(standing: Mapping[str, bytes], data: Mapping[str, bytes]) -> bool:
    """Was it withdrawn, is it of other rounds, another project or contract, worded by another version of this package, or a part of something else?

    One whose manifest cannot be read is not: verifying it says why.
    """
    if WITHDRAWN in standing or MANIFEST not in standing:
        return any(data.get(name) != content for name, content in standing.items())
    manifest = _manifest(standing[MANIFEST])
    return bool(manifest) and _decisive(manifest) != _decisive(json.loads(data[MANIFEST]))


def _decisive(manifest: Mapping[str, Any]) -> tuple[Any, ...]:
    rounds = [(entry["round"], entry["ratings_digest"]) for entry in manifest["rounds"]]
    return (
        manifest["project"],
        manifest["policy_digest"],
        manifest["contract_digest"],
        manifest["waivers"],
        rounds,
        manifest["written_by"]["agreement_pipeline"],
    )


def _manifest(data: bytes) -> dict[str, Any]:
    """The manifest; empty where it cannot be read, and then the release cannot be verified either."""
    try:
        found: dict[str, Any] = json.loads(data)
        _decisive(found)
    except (ValueError, KeyError, TypeError, RecursionError):
        return {}
    return found
