"""Which release of a dataset is the present one.

The folder `current` of a store has a file for each dataset, which names its present release: the
last one in force that is complete. The file is removed before that release is withdrawn, and
written after a release is complete. So it may be missing for a moment, and never names a withdrawn
or unfinished release.
"""

import json
from collections.abc import Iterable, Mapping
from typing import Any

from agreement_pipeline.errors import MISREAD
from agreement_pipeline.release.contents import MANIFEST, WITHDRAWN, as_json
from agreement_pipeline.release.publication import Edition
from agreement_pipeline.release.tables import TRAIN
from agreement_pipeline.store import Store, digest_of, of_event


def pointer_path(dataset: str) -> str:
    """Where the file that names the present release of a dataset lies in its store."""
    return f"current/{dataset}.json"


def forget_current(store: Store, releases: Iterable[str]) -> None:
    """Remove the files that name one of these releases. Call only while the store is locked."""
    for release in sorted({*releases}):
        path = pointer_path(dataset_of(release))
        content = store.storage.read(path)
        if content is not None and _release_name_in_pointer(content) in (
            None,
            f"releases/{release}",
        ):
            store.storage.forget([path])


def point_to_release(
    store: Store, release: str, rounds: Mapping[str, str], manifest: bytes | None = None
) -> None:
    """Name a complete release in force as the present one of its dataset. Call only while the store
    is locked.

    `rounds` are the digests of its ratings. Its manifest is read if it is not at hand.
    """
    folder, path = f"releases/{release}", pointer_path(dataset_of(release))
    if manifest is None:
        manifest = store.storage.read(f"{folder}/{MANIFEST}") or b""
    facts = {"rounds": dict(rounds), "manifest_digest": digest_of(manifest)}
    content = as_json({"release": folder, **facts, **_edition_facts(manifest)})
    if not store.storage.keep(path, content):
        store.storage.forget([path])
        store.storage.keep(path, content)


def point_to_last_in_force(store: Store, datasets: Iterable[str]) -> None:
    """Name the last complete release in force of each dataset whose present one was withdrawn. Call
    only while the store is locked.
    """
    for dataset in sorted({*datasets}):
        released = of_event("released", store.history(dataset))
        withdrawn = store.withdrawn([entry["release"] for entry in released])
        for entry in reversed(released):
            folder = f"releases/{entry['release']}"
            if entry["release"] in withdrawn:
                continue
            if store.storage.read(f"{folder}/{WITHDRAWN}") is not None:
                continue
            manifest = store.storage.read(f"{folder}/{MANIFEST}")
            if manifest is not None:
                point_to_release(store, entry["release"], entry["rounds"], manifest)
                break


def dataset_of(release: str) -> str:
    """The name of the dataset of a release.

    >>> dataset_of("posts.dataset/0123456789ab-cdef01234567")
    'posts.dataset'
    """
    return release.partition("/")[0]


def _release_name_in_pointer(content: bytes) -> object:
    """None if the file cannot be read."""
    try:
        return json.loads(content)["release"]
    except MISREAD:
        return None


def _edition_facts(manifest: bytes) -> dict[str, Any]:
    """The day, the version and what the team says of the dataset, if the form says them."""
    try:
        manifest_json: Mapping[str, Any] = json.loads(manifest)
        edition = Edition.from_mapping(manifest_json["dataset"])
        version = edition.version(manifest_json["files"][TRAIN]["sha256"])
    except MISREAD:
        return {}
    return edition.to_mapping() | ({"version": version} if version else {})
