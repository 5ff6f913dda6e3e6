"""Digests of bytes, and the files of a folder."""

import hashlib
import os
from collections.abc import Iterator, Mapping
from itertools import chain
from pathlib import Path

from agreement_pipeline.large_files import Content, LargeFile, parts_of, parts_of_file

DEEPEST = 100
MOST_IN_MEMORY = 2**24
"""The most bytes of a file that are read into memory at once."""


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
    """The digest of what is at a path, as `digest_of` gives it. It needs little memory."""
    if path.is_dir():
        return _together({name: digest_at(path / name) for name in names_in(path)})
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def names_in(folder: Path) -> tuple[str, ...]:
    """The paths of all files in a folder and its subfolders, relative to the folder.

    A link counts as a file, wherever it leads. So does a folder a hundred folders down.
    """
    return tuple(sorted(_names(folder, DEEPEST))) if folder.is_dir() else ()


def kinds_in(folder: Path, above: str = "") -> Iterator[tuple[str, bool]]:
    """All things in a folder and its subfolders by name, and if each is a file and no link."""
    if not folder.is_dir():
        return
    with os.scandir(folder) as entries:
        for entry in entries:
            yield above + entry.name, entry.is_file(follow_symlinks=False)
            if entry.is_dir(follow_symlinks=False):
                yield from kinds_in(Path(entry.path), f"{above}{entry.name}/")


def content_of(path: Path) -> Content:
    """The bytes of a file. If they are many, they are copied, and nobody else can change them."""
    with path.open("rb") as file:
        first = file.read(MOST_IN_MEMORY)
        if len(first) < MOST_IN_MEMORY:
            return first
        return LargeFile.of(chain([first], parts_of_file(file)))


def contents_of(path: Path) -> Content | dict[str, Content]:
    """The bytes of a file. For a folder: the bytes of its files, by name."""
    if not path.is_dir():
        return content_of(path)
    return {name: content_of(path / name) for name in names_in(path)}


def _together(digests: Mapping[str, str]) -> str:
    """The digest of several files, of their names and digests."""
    return digest_of("".join(f"{name}\0{digests[name]}\n" for name in sorted(digests)).encode())


def holds(folder: Path, contents: Mapping[str, Content]) -> bool:
    """True if a folder holds exactly these files. They are compared one at a time."""
    return set(names_in(folder)) == set(contents) and all(
        is_in(folder / name, content) for name, content in contents.items()
    )


def is_in(path: Path, content: Content) -> bool:
    """True if there is a file with exactly these bytes. They are compared a part at a time."""
    try:
        with path.open("rb") as file:
            same = all(file.read(len(part)) == part for part in parts_of(content))
            return same and not file.read(1)
    except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
        return False


def _names(folder: Path | str, deeper: int, above: str = "") -> Iterator[str]:
    with os.scandir(folder) as entries:
        for entry in entries:
            if deeper and entry.is_dir(follow_symlinks=False):
                yield from _names(entry.path, deeper - 1, f"{above}{entry.name}/")
            else:
                yield above + entry.name
