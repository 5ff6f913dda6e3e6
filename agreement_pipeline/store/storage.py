"""One small interface for where the bytes of a store are kept: a folder or a bucket.

Kept bytes are never overwritten.
"""

from collections.abc import Iterable, Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Protocol

from upath import UPath

from agreement_pipeline.errors import StoreError
from agreement_pipeline.large_files import Content

__all__ = ["Folder", "Storage", "folder_at", "storage_at"]

Folder = Path | UPath


class Storage(Protocol):
    """Named files. Each is kept once and never changed. One writer works at a time.

    A name is a path relative to the root. Slashes separate its parts.
    """

    @property
    def root(self) -> Folder:
        """The folder or URL of the storage."""

    @property
    def alone_seconds(self) -> float:
        """How long nobody else writes after the lock was taken, whatever happens."""

    def read(self, name: str) -> bytes | None:
        """The bytes kept under a name, or None. Call only for a file that is small."""

    def copied(self, name: str) -> Content | None:
        """A copy of what is kept under a name, or None. Many bytes are never in memory at once."""

    def holds(self, name: str, content: Content) -> bool:
        """True if exactly this is kept under a name."""

    def listed(self, folder: str) -> dict[str, str]:
        """The files under a folder by name, each with a tag of its bytes.

        A tag is the MD5 of the bytes, or another text that changes with them. It is empty if
        only reading shows a change.
        """

    def fetched(self, names: Iterable[str]) -> dict[str, bytes | None]:
        """The bytes kept under each name, or None."""

    def names(self, folder: str = "") -> tuple[str, ...]:
        """The names of all files under a folder, relative to it."""

    def keep(self, name: str, content: Content, *, secret: bool = False) -> bool:
        """Keep a content under a name: all of it or nothing. Call only while locked.

        True if exactly these bytes are there now. False if other bytes were there before.
        The earlier bytes stay. Only the owner can read a secret, if the storage knows owners.
        """

    def keep_folder(self, name: str, contents: Mapping[str, Content]) -> bool:
        """Keep files in a folder, in the given order. Call only while locked.

        A reader that sees the last file sees all files. True if exactly these files are
        there now. False if other files were there before. The earlier files stay.
        """

    def keep_copy(self, name: str, source: Path, digest: str) -> bool:
        """Keep a copy of a file or folder that has this digest. Call only while locked.

        True if exactly that is there now. False if the source has changed, or if something else
        was there before. What was there stays.
        """

    def forget(self, names: Iterable[str]) -> None:
        """Remove files whose bytes are kept elsewhere too. Call only while locked."""

    def locked(self) -> AbstractContextManager[None]:
        """Let every other writer wait.

        The thread that holds the lock may take it again. The lock of a dead holder becomes
        free: at once in a folder, after its term in a bucket.
        """


def folder_at(place: Folder | str) -> Folder:
    """The folder that a path or a URL names.

    Raises
    ------
    StoreError
        No library knows the protocol of the URL.

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
            f"{place}: found a URL that cannot be used ({cause}); "
            "expected a folder, or a URL such as s3://bucket/folder. Correct the URL."
        ) from None


def storage_at(place: Folder | str) -> Storage:
    """The storage at a path of this machine or at a URL such as `s3://bucket/folder`.

    Raises
    ------
    StoreError
        The storage at the URL cannot refuse to overwrite.
    MissingExtraError
        The library for the URL is not installed.
    """
    folder = folder_at(place)
    if isinstance(folder, Path):
        from agreement_pipeline.store.local import LocalStorage

        return LocalStorage(folder)
    from agreement_pipeline.store.objects import ObjectStorage

    return ObjectStorage(folder)
