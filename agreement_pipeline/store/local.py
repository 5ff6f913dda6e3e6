"""Storage in a folder of this machine.

A file is written in a temporary place and flushed. Then it gets its name in one step.
"""

import hashlib
import os
import shutil
import uuid
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from errno import ENOSYS, ENOTSUP, EOPNOTSUPP, EPERM
from itertools import chain
from pathlib import Path
from typing import ClassVar, Literal

from filelock import FileLock

from agreement_pipeline.errors import StoreError
from agreement_pipeline.large_files import (
    Content,
    Files,
    LargeFile,
    iterate_content_parts,
    iterate_file_parts,
)

LOCK = ".lock"
PARTIAL = ".partial"
SEALS = "seals"
NO_HARD_LINK_ERRORS = (EPERM, ENOSYS, ENOTSUP, EOPNOTSUPP)
MAX_FOLDER_DEPTH = 100
MAX_BYTES_IN_MEMORY = 2**24


@dataclass(frozen=True, eq=False)
class LocalStorage:
    """Named files in a folder. Each is kept once and never changed. A name is a path with slashes.

    Unfinished files are in `.partial`. The next writer removes those of a killed one.
    """

    root: Path
    alone_seconds: ClassVar[float] = 0.0
    """How long nobody else writes after the lock was taken: a network disk may ignore locks."""
    _locks: dict[int, FileLock] = field(init=False, repr=False, default_factory=dict)

    def read(self, name: str) -> bytes | None:
        """The bytes of a small file, or None."""
        try:
            return (self.root / name).read_bytes()
        except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
            return None

    def copied(self, name: str) -> Content | None:
        """A copy of a file, or None. Many bytes are never in memory at once."""
        try:
            return content_of(self.root / name)
        except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
            return None

    def holds(self, name: str, content: Content) -> bool:
        """True if exactly this is kept under a name."""
        return is_in(self.root / name, content)

    def listed(self, folder: str) -> dict[str, str]:
        """The files under a folder by name, each with a tag of its bytes.

        A tag changes with the bytes, and may be their MD5. It is empty, as here, if only reading
        shows a change.
        """
        kinds = dict(sorted(kinds_in(self.root / folder)))
        # only the seals have a folder
        if wrong := [name for name, kind in kinds.items() if kind != "file" and name != SEALS]:
            raise StoreError(
                f"{self.root / folder / wrong[0]}: found something that is no file; "
                "expected nothing but the files of the log. Restore the log from a backup."
            )
        return {name: "" for name, kind in kinds.items() if kind != "folder"}

    def fetched(self, names: Iterable[str]) -> dict[str, bytes | None]:
        """The bytes kept under each name, or None."""
        return {name: self.read(name) for name in names}

    def names(self, folder: str = "") -> tuple[str, ...]:
        """The names of all files under a folder, relative to it."""
        return names_in(self.root / folder)

    def keep(self, name: str, content: Content, *, secret: bool = False) -> bool:
        """Keep a content under a name: all of it or nothing. Call only while locked.

        True if exactly these bytes are there now; others that were there stay. Only the owner can
        read a secret, if the storage knows owners.
        """
        path, partial = self.root / name, self._partial()
        if os.path.lexists(path):
            return self.holds(name, content)
        try:
            put(partial, content, 0o600 if secret else 0o644)
            return link(partial, path) or self.holds(name, content)
        finally:
            remove(partial)

    def keep_folder(self, name: str, contents: Files) -> bool:
        """Keep files in a folder, in the given order. Call only while locked.

        A reader that sees the last file sees all. True if exactly these files are there now.
        """
        path, partial = self.root / name, self._partial()
        if not os.path.lexists(path):
            try:
                _make_folders(partial)
                for file_name, content in contents.items():
                    put(partial / file_name, content, 0o644)
                if not holds(partial, contents):  # another writer can empty it without the lock
                    raise StoreError(
                        f"{partial}: found only a part of the files that were written; expected "
                        f"all. Another writer removed the others, which {LOCK} prevents. Try it "
                        f"again, and let nothing remove {LOCK}.",
                        may_pass=True,
                    )
                rename(partial, path)
            finally:
                remove(partial)
        return holds(path, contents)

    def keep_copy(self, name: str, source: Path, digest: str) -> bool:
        """Keep a copy of a file or folder that has this digest. Call only while locked.

        False if the source has changed, or if something else was there.
        """
        path, partial = self.root / name, self._partial()
        if not os.path.lexists(path):
            try:
                copy(source, partial)
                if digest_at(partial) != digest:
                    return False
                rename(partial, path) if partial.is_dir() else link(partial, path)
            finally:
                remove(partial)
        return digest_at(path) == digest

    def forget(self, names: Iterable[str]) -> None:
        """Remove files whose bytes are kept elsewhere too. Call only while locked."""
        for name in names:
            remove(self.root / name)

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Let every other writer wait. A thread may take its lock again.

        The lock of a dead holder becomes free: at once here, after its term in a bucket.
        """
        _make_folders(self.root)
        process = os.getpid()  # a forked process cannot use the lock of its parent
        if process not in self._locks:
            self._locks.setdefault(process, FileLock(self.root / LOCK, fallback_to_soft=False))
        lock = self._locks[process]
        with lock:
            if lock.lock_counter == 1:
                remove(self.root / PARTIAL)
            yield

    def _partial(self) -> Path:
        return self.root / PARTIAL / uuid.uuid4().hex


def put(path: Path, content: Content, mode: int) -> None:
    _make_folders(path.parent)
    with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode), "wb") as file:
        file.writelines(iterate_content_parts(content))
        file.flush()
        os.fsync(file.fileno())


def copy(source: Path, path: Path) -> None:
    if source.is_dir():
        _make_folders(path)
        for name in names_in(source):
            copy(source / name, path / name)
        return
    _make_folders(path.parent)
    with source.open("rb") as original, path.open("xb") as file:
        shutil.copyfileobj(original, file)
        file.flush()
        os.fsync(file.fileno())


def link(partial: Path, path: Path) -> bool:
    _make_folders(path.parent)
    try:
        os.link(partial, path)
    except FileExistsError:
        return False
    except OSError as cause:
        if cause.errno not in NO_HARD_LINK_ERRORS:
            raise
        raise StoreError(
            f"{path}: found a file system that makes no hard links ({cause}); "
            "expected one that does. Move the store."
        ) from None
    _sync_folder(path.parent)
    return True


def rename(partial: Path, path: Path) -> None:
    for folder, _, _ in os.walk(partial):
        _sync_folder(Path(folder))
    _make_folders(path.parent)
    os.rename(partial, path)
    _sync_folder(path.parent)


def remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def _make_folders(folder: Path) -> None:
    if not folder.is_dir():
        _make_folders(folder.parent)
        folder.mkdir(exist_ok=True)
        _sync_folder(folder.parent)


def _sync_folder(folder: Path) -> None:
    opened = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)


def digest_of(data: Content | Files) -> str:
    """SHA-256 of a content. For several files: the digest of their names and digests.

    >>> digest_of(b"")[:12], digest_of({"a.csv": b""})[:12]
    ('e3b0c44298fc', 'ae6bbab2f916')
    """
    if isinstance(data, LargeFile):
        return data.digest
    if isinstance(data, bytes):
        return hashlib.sha256(data).hexdigest()
    return _digest_of_digests({name: digest_of(content) for name, content in data.items()})


def digest_at(path: Path) -> str:
    if path.is_dir():
        return _digest_of_digests({name: digest_at(path / name) for name in names_in(path)})
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def names_in(folder: Path) -> tuple[str, ...]:
    """A link counts as a file. So does a folder a hundred folders down."""
    return tuple(sorted(name for name, kind in kinds_in(folder) if kind != "folder"))


def kinds_in(
    folder: Path | str, above: str = "", deeper: int = MAX_FOLDER_DEPTH
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
        first_bytes = file.read(MAX_BYTES_IN_MEMORY)
        if len(first_bytes) < MAX_BYTES_IN_MEMORY:
            return first_bytes
        return LargeFile.from_parts(chain([first_bytes], iterate_file_parts(file)))


def _digest_of_digests(digests: Mapping[str, str]) -> str:
    return digest_of("".join(f"{name}\0{digests[name]}\n" for name in sorted(digests)).encode())


def holds(folder: Path, contents: Files) -> bool:
    return set(names_in(folder)) == set(contents) and all(
        is_in(folder / name, content) for name, content in contents.items()
    )


def is_in(path: Path, content: Content) -> bool:
    try:
        with path.open("rb") as file:
            has_same_start = all(
                file.read(len(part)) == part for part in iterate_content_parts(content)
            )
            return has_same_start and not file.read(1)
    except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
        return False
