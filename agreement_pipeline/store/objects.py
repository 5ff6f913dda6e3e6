"""Object storage behind an fsspec URL: every object is put on condition that there is none, and a lease stands for a lock."""

import inspect
import json
import os
import random
import socket
import threading
import time
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from fsspec import AbstractFileSystem
from upath import UPath

from agreement_pipeline.errors import MissingExtraError, StoreError

LEASES, PROBE = "leases", "conditional"
LEASE_SECONDS = 60.0
POLL_SECONDS = 0.1


@dataclass(frozen=True, eq=False)
class ObjectStorage:
    """A bucket, or a folder of one.

    Attributes
    ----------
    root
        Its URL. Credentials and endpoint come from where the library of that protocol looks for them.
    """

    root: UPath
    _objects: AbstractFileSystem = field(init=False, repr=False)
    _lease: "Lease" = field(init=False, repr=False)
    _seen: dict[str, tuple[str, bytes]] = field(init=False, repr=False, default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_objects", _file_system(self.root))
        object.__setattr__(self, "_lease", Lease(self))

    def read(self, name: str) -> bytes | None:
        """The bytes kept under a name; None where there are none."""
        try:
            with _answered(self.root):
                data: bytes = self._objects.cat_file(self._path(name))
        except FileNotFoundError:
            return None
        return data

    def names(self, folder: str = "") -> tuple[str, ...]:
        """Every object under a folder, by its name from there."""
        return tuple(sorted(self._found(folder)))

    def contents(self, folder: str = "") -> dict[str, bytes]:
        """Every object under a folder with its bytes; those whose tag has not changed since the last look are not fetched again."""
        found = self._found(folder)
        known = {name: self._seen.get(self._path(folder, name), ("", b"")) for name in found}
        fresh = {
            self._path(folder, name): tag
            for name, tag in found.items()
            if not tag or known[name][0] != tag
        }
        if fresh:
            with _answered(self.root):
                data = self._objects.cat(list(fresh), on_error="raise")
            self._seen.update(
                {
                    path: (tag, data[path] if isinstance(data, dict) else data)
                    for path, tag in fresh.items()
                }
            )
        return {name: self._seen[self._path(folder, name)][1] for name in sorted(found)}

    def keep(self, name: str, data: bytes, *, secret: bool = False) -> bool:
        """Keep bytes under a name. Who may read them is the bucket's business, secret or not."""
        return self.put(name, data) or self.read(name) == data

    def keep_folder(self, name: str, contents: Mapping[str, bytes]) -> bool:
        """Keep files under a name, the last of them last."""
        return all(
            self.keep(f"{name}/{inside}", data) for inside, data in contents.items()
        ) and set(self.names(name)) == set(contents)

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Keep every other writer waiting."""
        with self._lease.held() as anew:
            if anew:
                self._refuse_unconditional()
            yield

    def put(self, name: str, data: bytes) -> bool:
        """Put an object where there is none. Was it put?

        Where two puts of one object meet, S3 takes neither and asks to try again.
        """
        while True:
            try:
                with _answered(self.root):
                    self._objects.pipe_file(self._path(name), data, mode="create")
            except FileExistsError:
                return False
            except OSError as error:
                if "PreconditionFailed" in str(error.__cause__):
                    return False
                if "ConditionalRequestConflict" not in str(error.__cause__):
                    raise
            else:
                return True

    def remove(self, name: str) -> None:
        """Remove an object, if it is there."""
        try:
            with _answered(self.root):
                self._objects.rm_file(self._path(name))
        except FileNotFoundError:
            return

    def _refuse_unconditional(self) -> None:
        """A server that ignores the condition would let two writers overwrite each other: refuse it before anything is at stake."""
        if self.put(PROBE, b"put once\n") and self.put(PROBE, b"put once\n"):
            raise StoreError(
                f"{self.root}: an object was overwritten that should have stayed; conditional writes are required. Use another server for the store."
            )

    def _found(self, folder: str) -> dict[str, str]:
        """The tag of every object under a folder, by name from there.

        A folder that gets its first object between two looks of the library is given as if it were an object itself: it was empty.
        """
        at = self._path(folder)
        with _answered(self.root):
            found: dict[str, dict[str, Any]] = self._objects.find(at, detail=True)
        return {
            path[len(at) + 1 :]: str(about.get("ETag", ""))
            for path, about in found.items()
            if path != at
        }

    def _path(self, *names: str) -> str:
        return "/".join([self.root.path.rstrip("/"), *(name for name in names if name)])


class Lease:
    """A lock that outlives a killed holder by its term and no longer.

    Leases are numbered. Whoever puts the next number holds the lock, and frees it by a mark beside it. A holder that gives no sign for the
    term it asked for, by the clock of the one who waits, has lost it. One that lost it without noticing is told by the log, which takes an
    entry only after those that stood there when the lock was taken.
    """

    def __init__(self, storage: ObjectStorage) -> None:
        self._storage = storage
        self._threads = threading.RLock()
        self._depth = 0

    @contextmanager
    def held(self) -> Iterator[bool]:
        """Wait for the lease and hold it. Is it taken anew, and not once more by the thread that holds it?"""
        with self._threads:
            if self._depth:
                yield False
                return
            number = self._taken()
            self._depth = 1
            try:
                yield True
            finally:
                self._depth = 0
                self._free(number)

    def _taken(self) -> int:
        waiting_for, since = 0, 0.0
        while True:
            last, free = self._last()
            if last != waiting_for:
                waiting_for, since = last, time.monotonic()
            if (free or time.monotonic() - since > self._term(last)) and self._take(last + 1):
                return last + 1
            time.sleep(POLL_SECONDS * random.uniform(0.5, 1.5))

    def _last(self) -> tuple[int, bool]:
        """The highest number taken, and whether it was freed."""
        marks = self._storage.names(LEASES)
        last = max((int(mark[:8]) for mark in marks), default=0)
        return last, not last or f"{last:08}.free" in marks

    def _term(self, number: int) -> float:
        held = self._storage.read(f"{LEASES}/{number:08}.json")
        return float(json.loads(held)["seconds"]) if held else 0.0

    def _take(self, number: int) -> bool:
        """Put the lease of that number. Those who come late find a higher one, and have not got it."""
        owner = f"{socket.gethostname()}:{os.getpid()}:{uuid.uuid4().hex}"
        lease = {"owner": owner, "seconds": LEASE_SECONDS, "time": datetime.now(UTC).isoformat()}
        if (
            not self._storage.keep(f"{LEASES}/{number:08}.json", json.dumps(lease).encode())
            or self._last()[0] != number
        ):
            return False
        for mark in self._storage.names(LEASES):
            if int(mark[:8]) < number:
                self._storage.remove(f"{LEASES}/{mark}")
        return True

    def _free(self, number: int) -> None:
        self._storage.put(f"{LEASES}/{number:08}.free", b"")


@contextmanager
def _answered(root: UPath) -> Iterator[None]:
    """Refuse a store that gives no answer, or whose questions cannot be signed. What the server itself refuses is an `OSError` already."""
    try:
        yield
    except _without_answer(root.protocol) as cause:
        raise StoreError(
            f"{root}: {cause}; a bucket that answers, and credentials for it, are required. Set them where the library for {root.protocol}:// looks for them."
        ) from cause


def _without_answer(protocol: str) -> tuple[type[Exception], ...]:
    """What the library of a protocol raises then."""
    if protocol != "s3":
        return ()
    from botocore.exceptions import BotoCoreError

    return (BotoCoreError,)


def _file_system(root: UPath) -> AbstractFileSystem:
    """The file system of a URL, listing anew each time, once it is seen to know conditional writes."""
    try:
        objects = UPath(str(root), **{**root.storage_options, "use_listings_cache": False}).fs
    except ImportError:
        raise MissingExtraError.of(
            str(root), f"the fsspec library for {root.protocol}://", "s3"
        ) from None
    create = getattr(objects, "_pipe_file", objects.pipe_file)
    if "mode" not in inspect.signature(create).parameters or create.__qualname__.startswith(
        "Abstract"
    ):
        raise StoreError(
            f"{root}: a file system without conditional writes found; one that can refuse to overwrite is required. Use s3:// or a folder."
        )
    return objects
