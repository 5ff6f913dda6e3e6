"""A release is opened for training: verified first, then checked against what is asked of it."""

from agreement_pipeline.errors import ReleaseInvalidError
from agreement_pipeline.policy import Policy
from agreement_pipeline.release.deciding import today
from agreement_pipeline.release.demands import Demands
from agreement_pipeline.release.folder import read_folder
from agreement_pipeline.release.proof import Release, prove
from agreement_pipeline.store import Folder, Store, folder_at


def open_release(
    path: Folder | str,
    *,
    require: Policy | Demands | None = None,
    store: Store | None = None,
) -> Release:
    """A release for training, verified first.

    Parameters
    ----------
    path
        The folder of the release, or its URL.
    require
        A policy that the annotations must meet too, or more demands. Waivers do not count
        for the policy.
    store
        The store of the release, if it can be reached. Its log must be whole. It must say
        that the release is in force.

    Raises
    ------
    ReleaseInvalidError
        The release does not prove itself, the log does not have it, or it rests on a waiver
        and the demands allow none.
    ReleaseHeldError
        The release proves itself, but it does not meet the demands.
    """
    release = verify_release(path)
    if require is not None:
        demands = Demands(require) if isinstance(require, Policy) else require
        demands.refuse_unmet(release)
    if store is not None:
        _refuse_unlogged(release, store)
    return release


def verify_release(path: Folder | str) -> Release:
    """A release that has proved itself.

    Everything in it is derived again from its annotations, its policy and its contract.
    This proves that the training rows follow from the annotations, and that the policy
    admits the annotations. It does not prove who made the annotations: it is no signature.

    Raises
    ------
    ReleaseInvalidError
        One of these:

        - The release has no manifest, or it was withdrawn.
        - A file is missing, extra or changed.
        - Something is different when it is derived again.
        - A round is not admitted.
    """
    folder = folder_at(path)
    return prove(read_folder(folder), folder, today())


def superseded(release: Release, store: Store) -> tuple[str, ...]:
    """The rounds of a release that have a newer version in the store."""
    with store.reading():
        return tuple(
            name
            for name, ratings in release.ratings.items()
            if store.present(name).ratings_digest != ratings.digest
        )


def _refuse_unlogged(release: Release, store: Store) -> None:
    if release.manifest_digest not in {entry["manifest_digest"] for entry in store.in_force()}:
        raise ReleaseInvalidError(
            f"{release.path}: found no such release in force in the log of {store.root}; "
            "expected a release as it was let out, and not withdrawn. "
            "Do not train on it; ask for the present release.",
            "release_not_in_log",
        )
