"""The places of releases in a store.

Each version of a release has a folder. If its folder holds a withdrawn or another release,
the next release of the version gets another folder.
"""

import json
from collections.abc import Iterator, Mapping, Sequence, Set
from itertools import count
from typing import Any

from agreement_pipeline.large_files import Content
from agreement_pipeline.policy import Policy
from agreement_pipeline.release.contents import MANIFEST, WITHDRAWN, as_json, document
from agreement_pipeline.release.members import Member
from agreement_pipeline.store import Store, digest_of


def version_of(name: str, members: Sequence[Member], policy: Policy) -> str:
    """The version of a release: the digest of its ratings, and the digest of its policy.

    For several rounds, the first digest is that of their names and digests, in order.
    """
    together = digest_of(as_json([[member.round, member.ratings.digest] for member in members]))
    content = members[0].ratings.digest if name == members[0].round else together
    return f"{content[:12]}-{policy.digest[:12]}"


def places(
    store: Store, name: str, version: str, data: Mapping[str, Content]
) -> Iterator[tuple[str, Set[str]]]:
    """The folders of a version that are free, or hold this release in force, in order.

    Each comes with the names of the files that stand there.
    """
    for number in count(1):
        called = f"{name}/{version if number == 1 else f'{version}-{number}'}"
        if called not in store.withdrawn([called]):
            standing = frozenset(store.storage.names(f"releases/{called}"))
            if not _another(store, called, standing, data):
                yield called, standing


def holds(store: Store, called: str, names: Set[str], data: Mapping[str, Content]) -> bool:
    """True if these files of a release stand there as they are in `data`."""
    return names <= data.keys() and all(
        store.storage.holds(f"releases/{called}/{name}", data[name]) for name in sorted(names)
    )


def _another(store: Store, called: str, standing: Set[str], data: Mapping[str, Content]) -> bool:
    """True if the folder holds another release, a withdrawn one, or other files.

    A release is another one if its rounds, project, policy, contract, waivers or version of
    this package differ. A release whose manifest cannot be read does not count: its
    verification says what is wrong.
    """
    if WITHDRAWN in standing or MANIFEST not in standing:
        return not holds(store, called, standing, data)
    manifest = _manifest(store.storage.read(f"releases/{called}/{MANIFEST}") or b"")
    written = json.loads(document(data, MANIFEST))
    return bool(manifest) and _decisive(manifest) != _decisive(written)


def _decisive(manifest: Mapping[str, Any]) -> tuple[Any, ...]:
    rounds = [
        (entry["round"], entry["ratings_digest"], entry.get("adjudicated"))
        for entry in manifest["rounds"]
    ]
    return (
        manifest["project"],
        manifest["policy_digest"],
        manifest["contract_digest"],
        manifest["waivers"],
        rounds,
        manifest["written_by"]["agreement_pipeline"],
    )


def _manifest(data: bytes) -> dict[str, Any]:
    """The manifest, empty if it cannot be read. Then the release does not verify either."""
    try:
        found: dict[str, Any] = json.loads(data)
        _decisive(found)
    except (ValueError, KeyError, TypeError, RecursionError):
        return {}
    return found
