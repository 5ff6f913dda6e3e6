"""Where a store's bytes stand: a folder or a bucket, behind one small interface. What was kept is never overwritten."""

from collections.abc import Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Protocol

from upath import UPath

from agreement_pipeline.errors import StoreError

__all__ = ["Folder", "Storage", "folder_at", "storage_at"]

Folder = Path | UPath


class Storage(Protocol):
    """Files under names, each kept once and for all, by one writer at a time.

    A name is a path from the root, its parts parted by slashes.
    """

    @property
    def root(self) -> Folder:
        """Where it stands."""

    def read(self, name: str) -> bytes | None:
        """The bytes kept under a name; None where there are none."""

    def names(self, folder: str = "") -> tuple[str, ...]:
        """Every file under a folder, by its name from there."""

    def contents(self, folder: str = "") -> dict[str, bytes]:
        """Every file under a folder with its bytes."""

    def keep(self, name: str, data: bytes, *, secret: bool = False) -> bool:
        """Keep bytes under a name: all of them or none. False when others stand there already; they stay.

        Only while the storage is locked. What is secret can be read by its owner alone, where the storage knows owners.
        """

    def keep_folder(self, name: str, contents: Mapping[str, bytes]) -> bool:
        """Keep files in a folder, in the order given; whoever sees the last sees all. False when others stand there already; they stay.

        Only while the storage is locked.
        """

    def locked(self) -> AbstractContextManager[None]:
        """Keep every other writer waiting. The thread that holds the lock may take it again; the lock survives its holder for a while at most."""


def folder_at(place: Folder | str) -> Folder:
    """The folder that a path or a URL names.

    Raises
    ------
    StoreError
        No such protocol is known.

    >>> folder_at("file:///srv/store") == folder_at("/srv/store") == Path("/srv/store")
    True
    """
    if not isinstance(place, str):
        return place
    if place.startswith("file://") or "://" not in place:
        return Path(place.removeprefix("file://"))
    try:
        return UPath(place)
    except ValueError as cause:
        raise StoreError(
            f"{place}: {cause}; a folder, or a URL such as s3://bucket/folder, is required. Correct the URL."
        ) from None


def storage_at(place: Folder | str) -> Storage:
    """The storage at a path (a folder of this machine) or at a URL such as `s3://bucket/folder`.

    Raises
    ------
    StoreError
        What is there cannot refuse to overwrite.
    MissingExtraError
        The library that reads such URLs is not installed.
    """
    folder = folder_at(place)
    if isinstance(folder, Path):
        from agreement_pipeline.store.local import LocalStorage

        return LocalStorage(folder)
    from agreement_pipeline.store.objects import ObjectStorage

    return ObjectStorage(folder)
