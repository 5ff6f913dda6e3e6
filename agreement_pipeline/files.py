"""Bytes on disk: whole or not there at all, known by their digest, written by one process at a time."""

import fcntl
import hashlib
import os
import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


def digest_of(data: bytes) -> str:
    """SHA-256 of bytes."""
    return hashlib.sha256(data).hexdigest()


def digest_at(path: Path) -> str:
    """SHA-256 of a file's bytes; of a folder, of the names and digests of the files in it."""
    if path.is_dir():
        inside = [f"{file.relative_to(path).as_posix()}\0{digest_at(file)}\n" for file in sorted(path.rglob("*")) if file.is_file()]
        return digest_of("".join(inside).encode())
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def write(path: Path, data: bytes, *, mode: int = 0o644) -> None:
    """Write a file that is never seen half-written."""
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = partial_of(path)
    try:
        put(partial, data, mode)
        into_place(partial, path)
    finally:
        remove(partial)


def write_folder(path: Path, contents: dict[str, bytes]) -> None:
    """Write a folder that is never seen half-filled, its files in the order given."""
    partial = partial_of(path)
    remove(partial)
    try:
        for name, data in contents.items():
            (partial / name).parent.mkdir(parents=True, exist_ok=True)
            put(partial / name, data)
        into_place(partial, path)
    finally:
        remove(partial)


def copy(source: Path, partial: Path) -> None:
    """Copy a file, or a folder with all that is in it, byte for byte."""
    remove(partial)
    if source.is_dir():
        shutil.copytree(source, partial, copy_function=_copy_file)
    else:
        partial.parent.mkdir(parents=True, exist_ok=True)
        _copy_file(source, partial)


def remove(path: Path) -> None:
    """Remove a file or a folder, if it is there."""
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def partial_of(path: Path) -> Path:
    """Where something stands while it is written: beside its place, and hidden."""
    return path.with_name(f".{path.name}.partial")


def put(path: Path, data: bytes, mode: int = 0o644) -> None:
    """Write bytes and wait until the disk has them."""
    with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, mode), "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


def into_place(partial: Path, path: Path) -> None:
    """Give a finished file or folder its name, in one step."""
    path.parent.mkdir(parents=True, exist_ok=True)
    os.replace(partial, path)
    _sync_folder(path.parent)


class Lock:
    """A lock that threads of this process and other processes honour; it dies with its holder.

    The thread that holds it may take it again.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._threads = threading.RLock()
        self._depth = 0

    @contextmanager
    def held(self) -> Iterator[None]:
        """Wait for the lock, and hold it."""
        with self._threads:
            if self._depth:
                yield
                return
            self._path.parent.mkdir(parents=True, exist_ok=True)
            with self._path.open("ab") as file:
                fcntl.flock(file, fcntl.LOCK_EX)
                self._depth = 1
                try:
                    yield
                finally:
                    self._depth = 0


def _copy_file(source: str | Path, target: str | Path) -> None:
    shutil.copyfile(source, target)
    with open(target, "rb") as file:
        os.fsync(file.fileno())


def _sync_folder(path: Path) -> None:
    folder = os.open(path, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
