"""Digests of bytes, and the files of a folder."""

import hashlib
import os
from collections.abc import Iterator, Mapping
from pathlib import Path

DEEPEST = 100


def digest_of(data: bytes | Mapping[str, bytes]) -> str:
    """SHA-256 of bytes. For several files: the digest of their names and digests.

    >>> digest_of(b"")[:12], digest_of({"a.csv": b""})[:12]
    ('e3b0c44298fc', 'ae6bbab2f916')
    """
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


def contents_of(path: Path) -> bytes | dict[str, bytes]:
    """The bytes of a file. For a folder: the bytes of its files, by name."""
    return contents_in(path) if path.is_dir() else path.read_bytes()


def contents_in(folder: Path) -> dict[str, bytes]:
    """The bytes of all files in a folder and its subfolders, by name."""
    return {name: Path(folder, name).read_bytes() for name in names_in(folder)}


def _together(digests: Mapping[str, str]) -> str:
    """The digest of several files, of their names and digests."""
    return digest_of("".join(f"{name}\0{digests[name]}\n" for name in sorted(digests)).encode())


def _names(folder: Path | str, deeper: int, above: str = "") -> Iterator[str]:
    with os.scandir(folder) as entries:
        for entry in entries:
            if deeper and entry.is_dir(follow_symlinks=False):
                yield from _names(entry.path, deeper - 1, f"{above}{entry.name}/")
            else:
                yield above + entry.name
