"""Where the bytes of a store are kept: a folder or a bucket. Kept bytes are never overwritten."""

import hashlib
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import AbstractContextManager
from itertools import chain
from pathlib import Path
from typing import Literal, Protocol

from upath import UPath

from agreement_pipeline.large_files import Content, LargeFile, parts_of, parts_of_file

Folder = Path | UPath


class Storage(Protocol):
    """Named files. Each is kept once and never changed. A name is a path with slashes."""

    @property
    def root(self) -> Folder:
        """The folder or URL of the storage."""

    @property
    def alone_seconds(self) -> float:
        """How long nobody else writes after the lock was taken, whatever happens."""

    def read(self, name: str) -> bytes | None:
        """The bytes of a small file, or None."""

    def copied(self, name: str) -> Content | None:
        """A copy of a file, or None. Many bytes are never in memory at once."""

    def holds(self, name: str, content: Content) -> bool:
        """True if exactly this is kept under a name."""

    def listed(self, folder: str) -> dict[str, str]:
        """The files under a folder by name, each with a tag of its bytes.

        A tag changes with the bytes, and may be their MD5. It is empty if only reading shows a
        change.
        """

    def fetched(self, names: Iterable[str]) -> dict[str, bytes | None]:
        """The bytes kept under each name, or None."""

    def names(self, folder: str = "") -> tuple[str, ...]:
        """The names of all files under a folder, relative to it."""

    def keep(self, name: str, content: Content, *, secret: bool = False) -> bool:
        """Keep a content under a name: all of it or nothing. Call only while locked.

        True if exactly these bytes are there now; others that were there stay. Only the owner can
        read a secret, if the storage knows owners.
        """

    def keep_folder(self, name: str, contents: Mapping[str, Content]) -> bool:
        """Keep files in a folder, in the given order. Call only while locked.

        A reader that sees the last file sees all. True if exactly these files are there now.
        """

    def keep_copy(self, name: str, source: Path, digest: str) -> bool:
        """Keep a copy of a file or folder that has this digest. Call only while locked.

        False if the source has changed, or if something else was there.
        """

    def forget(self, names: Iterable[str]) -> None:
        """Remove files whose bytes are kept elsewhere too. Call only while locked."""

    def locked(self) -> AbstractContextManager[None]:
        """Let every other writer wait. A thread may take its lock again.

        The lock of a dead holder becomes free: at once in a folder, after its term in a bucket.
        """


DEEPEST = 100
MOST_IN_MEMORY = 2**24


def digest_of(data: Content | Mapping[str, Content]) -> str:
    """SHA-256 of a content. For several files: the digest of their names and digests.

    >>> digest_of(b"")[:12], digest_of({"a.csv": b""})[:12]
    ('e3b0c44298fc', 'ae6bbab2f916')
    """
    if isinstance(data, LargeFile):
        return data.digest
    if isinstance(data, bytes):
        return hashlib.sha256(data).hexdigest()
    return _together({name: digest_of(content) for name, content in data.items()})


def digest_at(path: Path) -> str:
    if path.is_dir():
        return _together({name: digest_at(path / name) for name in names_in(path)})
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def names_in(folder: Path) -> tuple[str, ...]:
    """A link counts as a file. So does a folder a hundred folders down."""
    return tuple(sorted(name for name, kind in kinds_in(folder) if kind != "folder"))


def kinds_in(
    folder: Path | str, above: str = "", deeper: int = DEEPEST
) -> Iterator[tuple[str, Literal["file", "folder", "other"]]]:
    """All things in a folder and its subfolders by name. A link is no file."""
    try:
        opened = os.scandir(folder)
    except (FileNotFoundError, NotADirectoryError):
        return
    with opened as entries:
        for entry in entries:
            name = above + entry.name
            if deeper and entry.is_dir(follow_symlinks=False):
                yield name, "folder"
                yield from kinds_in(entry.path, f"{name}/", deeper - 1)
            else:
                yield name, "file" if entry.is_file(follow_symlinks=False) else "other"


def content_of(path: Path) -> Content:
    """Many bytes are copied, so that nobody else can change them."""
    with path.open("rb") as file:
        first = file.read(MOST_IN_MEMORY)
        if len(first) < MOST_IN_MEMORY:
            return first
        return LargeFile.of(chain([first], parts_of_file(file)))


def contents_of(path: Path) -> Content | dict[str, Content]:
    if not path.is_dir():
        return content_of(path)
    return {name: content_of(path / name) for name in names_in(path)}


def _together(digests: Mapping[str, str]) -> str:
    return digest_of("".join(f"{name}\0{digests[name]}\n" for name in sorted(digests)).encode())


def holds(folder: Path, contents: Mapping[str, Content]) -> bool:
    return set(names_in(folder)) == set(contents) and all(
        is_in(folder / name, content) for name, content in contents.items()
    )


def is_in(path: Path, content: Content) -> bool:
    try:
        with path.open("rb") as file:
            same = all(file.read(len(part)) == part for part in parts_of(content))
            return same and not file.read(1)
    except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
        return False
