"""Storage in a folder of this machine.

A file is written in a temporary place and flushed. Then it gets its name in one step.
"""

import os
import shutil
import uuid
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from errno import ENOSYS, ENOTSUP, EOPNOTSUPP, EPERM
from pathlib import Path

from filelock import FileLock

from agreement_pipeline.errors import StoreError
from agreement_pipeline.large_files import Content, parts_of
from agreement_pipeline.store.storage import (
    content_of,
    digest_at,
    holds,
    is_in,
    kinds_in,
    names_in,
)

LOCK, PARTIAL, SEALS = ".lock", ".partial", "seals"
WITHOUT_LINKS = (EPERM, ENOSYS, ENOTSUP, EOPNOTSUPP)


@dataclass(frozen=True, eq=False)
class LocalStorage:
    """Unfinished files are in `.partial`. The next writer removes those of a killed one."""

    root: Path
    _locks: dict[int, FileLock] = field(init=False, repr=False, default_factory=dict)

    @property
    def alone_seconds(self) -> float:
        """Nobody is alone for a moment: a network disk may ignore locks."""
        return 0.0

    def read(self, name: str) -> bytes | None:
        try:
            return (self.root / name).read_bytes()
        except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
            return None

    def copied(self, name: str) -> Content | None:
        try:
            return content_of(self.root / name)
        except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
            return None

    def holds(self, name: str, content: Content) -> bool:
        return is_in(self.root / name, content)

    def listed(self, folder: str) -> dict[str, str]:
        """There are no tags, since reading a file costs little."""
        kinds = dict(sorted(kinds_in(self.root / folder)))
        # only the seals have a folder
        if wrong := [name for name, kind in kinds.items() if kind != "file" and name != SEALS]:
            raise StoreError(
                f"{self.root / folder / wrong[0]}: found something that is no file; "
                "expected nothing but the files of the log. Restore the log from a backup."
            )
        return {name: "" for name, kind in kinds.items() if kind != "folder"}

    def fetched(self, names: Iterable[str]) -> dict[str, bytes | None]:
        return {name: self.read(name) for name in names}

    def names(self, folder: str = "") -> tuple[str, ...]:
        return names_in(self.root / folder)

    def keep(self, name: str, content: Content, *, secret: bool = False) -> bool:
        path, partial = self.root / name, self._partial()
        if os.path.lexists(path):
            return self.holds(name, content)
        try:
            put(partial, content, 0o600 if secret else 0o644)
            return link(partial, path) or self.holds(name, content)
        finally:
            remove(partial)

    def keep_folder(self, name: str, contents: Mapping[str, Content]) -> bool:
        path, partial = self.root / name, self._partial()
        if not os.path.lexists(path):
            try:
                _make(partial)
                for inside, content in contents.items():
                    put(partial / inside, content, 0o644)
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
        for name in names:
            remove(self.root / name)

    @contextmanager
    def locked(self) -> Iterator[None]:
        _make(self.root)
        lock = self._lock_of_this_process()
        with lock:
            if lock.lock_counter == 1:
                remove(self.root / PARTIAL)
            yield

    def _lock_of_this_process(self) -> FileLock:
        """A forked process cannot use the lock of its parent."""
        process = os.getpid()
        if process not in self._locks:
            self._locks.setdefault(process, FileLock(self.root / LOCK, fallback_to_soft=False))
        return self._locks[process]

    def _partial(self) -> Path:
        return self.root / PARTIAL / uuid.uuid4().hex


def put(path: Path, content: Content, mode: int) -> None:
    _make(path.parent)
    with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode), "wb") as file:
        file.writelines(parts_of(content))
        file.flush()
        os.fsync(file.fileno())


def copy(source: Path, path: Path) -> None:
    if source.is_dir():
        _make(path)
        for name in names_in(source):
            copy(source / name, path / name)
        return
    _make(path.parent)
    with source.open("rb") as original, path.open("xb") as file:
        shutil.copyfileobj(original, file)
        file.flush()
        os.fsync(file.fileno())


def link(partial: Path, path: Path) -> bool:
    _make(path.parent)
    try:
        os.link(partial, path)
    except FileExistsError:
        return False
    except OSError as cause:
        if cause.errno not in WITHOUT_LINKS:
            raise
        raise StoreError(
            f"{path}: found a file system that makes no hard links ({cause}); "
            "expected one that does. Move the store."
        ) from None
    _sync(path.parent)
    return True


def rename(partial: Path, path: Path) -> None:
    for at, _, _ in os.walk(partial):
        _sync(Path(at))
    _make(path.parent)
    os.rename(partial, path)
    _sync(path.parent)


def remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def _make(folder: Path) -> None:
    if not folder.is_dir():
        _make(folder.parent)
        folder.mkdir(exist_ok=True)
        _sync(folder.parent)


def _sync(folder: Path) -> None:
    opened = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)
