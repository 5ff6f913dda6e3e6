"""A folder of this machine: written beside its place, flushed, and then given its name in one step."""

import os
import shutil
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from filelock import FileLock

from agreement_pipeline.errors import StoreError
from agreement_pipeline.store import files

LOCK, PARTIAL = ".lock", ".partial"


@dataclass(frozen=True, eq=False)
class LocalStorage:
    """A folder of this machine.

    Unfinished files stand in its folder `.partial`; what a killed writer left there is removed by the next to take the lock.
    """

    root: Path
    _lock: FileLock = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_lock", FileLock(self.root / LOCK, fallback_to_soft=False))

    def read(self, name: str) -> bytes | None:
        """The bytes kept under a name; None where there are none."""
        try:
            return (self.root / name).read_bytes()
        except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
            return None

    def names(self, folder: str = "") -> tuple[str, ...]:
        """Every file under a folder, by its name from there."""
        return files.names_in(self.root / folder)

    def contents(self, folder: str = "") -> dict[str, bytes]:
        """Every file under a folder with its bytes."""
        return files.contents_in(self.root / folder)

    def keep(self, name: str, data: bytes, *, secret: bool = False) -> bool:
        """Keep bytes under a name."""
        path, partial = self.root / name, self._partial()
        if os.path.lexists(path):
            return self.read(name) == data
        try:
            put(partial, data, 0o600 if secret else 0o644)
            return link(partial, path) or self.read(name) == data
        finally:
            remove(partial)

    def keep_folder(self, name: str, contents: Mapping[str, bytes]) -> bool:
        """Keep files in a folder, which gets its name when all of them are in it."""
        path, partial = self.root / name, self._partial()
        if not os.path.lexists(path):
            try:
                _make(partial)
                for inside, data in contents.items():
                    put(partial / inside, data, 0o644)
                rename(partial, path)
            finally:
                remove(partial)
        return self.contents(name) == contents

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Keep every other writer waiting."""
        _make(self.root)
        with self._lock:
            if self._lock.lock_counter == 1:
                remove(self.root / PARTIAL)
            yield

    def _partial(self) -> Path:
        return self.root / PARTIAL / uuid.uuid4().hex


def put(path: Path, data: bytes, mode: int) -> None:
    """Write bytes and wait until the disk has them."""
    _make(path.parent)
    with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode), "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


def link(partial: Path, path: Path) -> bool:
    """Give a finished file its name in one step, unless another has it. Was it given?"""
    _make(path.parent)
    try:
        os.link(partial, path)
    except FileExistsError:
        return False
    except PermissionError as cause:
        raise StoreError(
            f"{path}: no second name for a file can be made here ({cause}); a file system with hard links is required. Move the store."
        ) from None
    _sync(path.parent)
    return True


def rename(partial: Path, path: Path) -> None:
    """Give a finished folder its name in one step."""
    for at, _, _ in os.walk(partial):
        _sync(Path(at))
    _make(path.parent)
    os.rename(partial, path)
    _sync(path.parent)


def remove(path: Path) -> None:
    """Remove a file or a folder, if it is there."""
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def _make(folder: Path) -> None:
    """Make a folder that the disk has when its files come."""
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
