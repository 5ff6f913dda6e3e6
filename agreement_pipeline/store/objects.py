"""Object storage behind an fsspec URL. A lease serves as the lock."""

import inspect
import json
import os
import random
import socket
import threading
import time
import uuid
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from fsspec import AbstractFileSystem
from upath import UPath

from agreement_pipeline.errors import MissingExtraError, StoreError
from agreement_pipeline.large_files import Content, Files, LargeFile
from agreement_pipeline.store.local import (
    MAX_BYTES_IN_MEMORY,
    LocalStorage,
    content_of,
    digest_of,
    names_in,
)

LOG = "log"
LEASES = f"{LOG}/leases"
LIST, READ, WRITE, REMOVE = "list", "read", "write into", "remove objects of"
CONDITIONS = ("PreconditionFailed", "ConditionalRequestConflict", "InvalidRange")
"""Codes of S3 that answer a condition of ours, and are no fault."""
PROBE = "conditional"
"""An object that is written twice, to see whether a server refuses the second one."""
MAX_PAST_LEASES = 200
LEASE_SECONDS = 60.0
POLL_SECONDS = 0.1


@dataclass(frozen=True, eq=False)
class ObjectStorage:
    """What `LocalStorage` is, in a bucket.

    The library of the protocol finds the credentials and the endpoint.
    """

    root: UPath
    _objects: AbstractFileSystem = field(init=False, repr=False)
    _lease: "Lease" = field(init=False, repr=False)
    _looked: list[dict[str, str]] = field(init=False, repr=False, default_factory=list)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_objects", open_file_system(self.root))
        object.__setattr__(self, "_lease", Lease(self))

    @property
    def alone_seconds(self) -> float:
        """Half the term of a lease. A writer that was stopped for longer may have lost it."""
        return LEASE_SECONDS / 2

    def read(self, name: str) -> bytes | None:
        try:
            with require_answer(self.root, READ):
                data: bytes = self._objects.cat_file(self._path(name))
        except FileNotFoundError:
            return None
        return data

    def copied(self, name: str) -> Content | None:
        """Few bytes take one request."""
        path = self._path(name)
        try:
            with require_answer(self.root, READ):
                first_bytes: bytes = self._objects.cat_file(path, start=0, end=MAX_BYTES_IN_MEMORY)
                if len(first_bytes) < MAX_BYTES_IN_MEMORY:
                    return first_bytes
                return LargeFile(lambda to: self._objects.get_file(path, str(to)))
        except FileNotFoundError:
            return None
        except OSError as cause:
            if "InvalidRange" not in str(cause.__cause__):
                raise
            return b""

    def holds(self, name: str, content: Content) -> bool:
        stored_content = self.copied(name)
        return stored_content is not None and digest_of(stored_content) == digest_of(content)

    def listed(self, folder: str) -> dict[str, str]:
        """What was listed when the lease was taken is not listed again: nobody else writes."""
        return self._looked.pop() if folder == LOG and self._looked else self._list_objects(folder)

    def fetched(self, names: Iterable[str]) -> dict[str, bytes | None]:
        paths = {name: self._path(name) for name in names}
        if not paths:
            return {}
        with require_answer(self.root, READ):
            result_by_path = self._objects.cat(list(paths.values()), on_error="return")
            for result in result_by_path.values():
                if isinstance(result, Exception) and not isinstance(result, FileNotFoundError):
                    raise result
        return {
            name: None if isinstance(result_by_path[path], Exception) else result_by_path[path]
            for name, path in paths.items()
        }

    def names(self, folder: str = "") -> tuple[str, ...]:
        return tuple(sorted(self._list_objects(folder)))

    def keep(self, name: str, content: Content, *, secret: bool = False) -> bool:
        """The bucket's permissions decide who can read it."""
        return self.put(name, content) or self.holds(name, content)

    def keep_folder(self, name: str, contents: Files) -> bool:
        return set(self.names(name)) <= set(contents) and all(
            self.keep(f"{name}/{file_name}", content) for file_name, content in contents.items()
        )

    def keep_copy(self, name: str, source: Path, digest: str) -> bool:
        """It is first copied to where nobody else writes."""
        if source.is_dir():
            contents = {file_name: content_of(source / file_name) for file_name in names_in(source)}
            return digest_of(contents) == digest and self.keep_folder(name, contents)
        content = content_of(source)
        return digest_of(content) == digest and self.keep(name, content)

    @contextmanager
    def locked(self) -> Iterator[None]:
        with self._lease.hold() as listed:
            if listed is not None:
                self._looked[:] = [listed]
            try:
                yield
            finally:
                self._looked.clear()

    def put(self, name: str, content: Content) -> bool:
        """Write an object if its name is free. True if it was written.

        Many bytes are sent in parts, and the object is there when the last one was sent. If two
        writers collide, S3 may accept neither and ask both to try again.
        """
        while True:
            try:
                with require_answer(self.root, WRITE):
                    if isinstance(content, bytes):
                        self._objects.pipe_file(self._path(name), content, mode="create")
                    else:
                        self._objects.put_file(str(content.path), self._path(name), mode="create")
            except FileExistsError:
                return False
            except OSError as error:
                if "PreconditionFailed" in str(error.__cause__):
                    return False
                if "ConditionalRequestConflict" not in str(error.__cause__):
                    raise
            else:
                return True

    def forget(self, names: Iterable[str]) -> None:
        self.remove([*names, *self._lease.past()])

    def remove(self, names: Sequence[str]) -> None:
        try:
            with require_answer(self.root, REMOVE):
                self._objects.rm([self._path(name) for name in names])
        except FileNotFoundError:
            return

    def refuse_unconditional(self) -> None:
        """Refuse a server that ignores the condition, before anything can be overwritten."""
        if self.put(PROBE, b"put once\n") and self.put(PROBE, b"put once\n"):
            raise StoreError(
                f"{self.root}: found a server that overwrote an object; "
                "expected conditional writes. Use another server for the store."
            )

    def _list_objects(self, folder: str) -> dict[str, str]:
        """The library may list the folder as an object, if its first object comes meanwhile."""
        folder_path = self._path(folder) + "/"
        with require_answer(self.root, LIST):
            info_by_path: dict[str, dict[str, Any]] = self._objects.find(
                self._path(), detail=True, prefix=f"{folder}/" if folder else ""
            )
        return {
            path[len(folder_path) :]: str(info.get("ETag", "")).strip('"')
            for path, info in info_by_path.items()
            if path.startswith(folder_path)
        }

    def _path(self, *names: str) -> str:
        return "/".join([self.root.path.rstrip("/"), *(name for name in names if name)])


class Lease:
    """A lock that its holder frees, or that becomes free after its term.

    Leases are numbered. Whoever writes the next number holds the lock, and frees it with a mark.
    The waiting writer measures the term with its own clock. A holder may not notice that it lost
    the lock. Then the log refuses its entries, if others were added meanwhile.
    """

    def __init__(self, storage: ObjectStorage) -> None:
        self._storage = storage
        self._threads = threading.RLock()
        self._depth = 0
        self._number = 0
        self._marks: list[str] = []

    @contextmanager
    def hold(self) -> Iterator[dict[str, str] | None]:
        """Yields the folder of leases and log as listed then. None if this thread already
        held it.
        """
        with self._threads:
            if self._depth:
                yield None
                return
            self._number, listed = self._wait_and_take()
            self._depth = 1
            try:
                if len(self._marks) > MAX_PAST_LEASES:
                    self._storage.remove(self.past())
                yield listed
            finally:
                self._depth = 0
                self._storage.put(f"{LEASES}/{self._number:08}.free", b"")

    def past(self) -> list[str]:
        return [f"{LEASES}/{mark}" for mark in self._marks if int(mark[:8]) < self._number]

    def _wait_and_take(self) -> tuple[int, dict[str, str]]:
        """The number of a new lease, and what was listed after it was taken.

        If this process freed the last lease that it knows of, it first tries the next one.
        """
        waiting_for, waiting_since = 0, 0.0
        if self._number and (listed := self._take_if_free(self._number + 1)):
            return self._number + 1, listed
        while True:
            last_number, free = self._find_last_number(self._storage.listed(LOG))
            if last_number != waiting_for:
                waiting_for, waiting_since = last_number, time.monotonic()
            lease_data = b"" if free else self._storage.read(f"{LEASES}/{last_number:08}.json")
            term = float(json.loads(lease_data)["seconds"]) if lease_data else 0.0
            if free or time.monotonic() - waiting_since > term:
                if not last_number:
                    self._storage.refuse_unconditional()
                if listed := self._take_if_free(last_number + 1):
                    return last_number + 1, listed
            time.sleep(POLL_SECONDS * random.uniform(0.5, 1.5))

    def _find_last_number(self, listed: Iterable[str]) -> tuple[int, bool]:
        folder_prefix = LEASES[len(LOG) + 1 :] + "/"
        self._marks = [
            name.removeprefix(folder_prefix) for name in listed if name.startswith(folder_prefix)
        ]
        last_number = max((int(mark[:8]) for mark in self._marks), default=0)
        return last_number, not last_number or f"{last_number:08}.free" in self._marks

    def _take_if_free(self, number: int) -> dict[str, str] | None:
        owner = f"{socket.gethostname()}:{os.getpid()}:{uuid.uuid4().hex}"
        lease = {"owner": owner, "seconds": LEASE_SECONDS, "time": datetime.now(UTC).isoformat()}
        if not self._storage.keep(f"{LEASES}/{number:08}.json", json.dumps(lease).encode()):
            return None
        listed = self._storage.listed(LOG)
        return listed if self._find_last_number(listed)[0] == number else None


@contextmanager
def require_answer(root: UPath, action: str) -> Iterator[None]:
    """Refuse a bucket that does not answer, that is not there, or that refuses an action.

    A missing object stays a `FileNotFoundError`. What the caller asks for by a condition stays the
    error that it is.
    """
    without_answer: tuple[type[Exception], ...] = ()
    if root.protocol == "s3":
        from botocore.exceptions import BotoCoreError

        without_answer = (BotoCoreError,)
    try:
        yield
    except without_answer as cause:
        raise StoreError(
            f"{root}: found no answer to {action} it ({cause}); expected a bucket that answers, "
            "and credentials for it. "
            f"Set them where the library for {root.protocol}:// looks for them.",
            may_pass=True,
        ) from cause
    except PermissionError as cause:
        raise StoreError(
            f"{root}: found no permission to {action} it ({cause}); expected credentials that may "
            "list, read and write in the bucket, or list and read if nothing is stored there. "
            "Correct them, or the policy of the bucket.",
            may_pass=True,
        ) from cause
    except FileNotFoundError as cause:
        if action != WRITE:
            raise
        raise StoreError(
            f"{root}: found no such bucket ({cause}); expected one that is there. Create it, or "
            "correct the name."
        ) from cause
    except FileExistsError:
        raise
    except OSError as cause:
        if any(condition in str(cause.__cause__) for condition in CONDITIONS):
            raise
        raise StoreError(
            f"{root}: found a server that refused to {action} it ({cause}); expected a bucket "
            "that can be listed, read and written. Try again, and look for the reason at the "
            "server.",
            may_pass=True,
        ) from cause


def open_file_system(root: UPath) -> AbstractFileSystem:
    try:
        options = {**root.storage_options, "use_listings_cache": False}
        if root.protocol == "s3":
            options["max_concurrency"] = 1
        objects = UPath(str(root), **options).fs
    except ImportError as cause:
        if root.protocol != "s3":
            raise StoreError(
                f"{root}: found no library for {root.protocol}:// ({cause}); expected s3:// or a "
                "folder. Use one of these, or install a library that can refuse to overwrite."
            ) from None
        raise MissingExtraError.for_feature(
            str(root), "the fsspec library for s3://", "s3"
        ) from None
    create = getattr(objects, "_pipe_file", objects.pipe_file)
    if "mode" not in inspect.signature(create).parameters or create.__qualname__.startswith(
        "Abstract"
    ):
        raise StoreError(
            f"{root}: found a file system without conditional writes; "
            "expected one that can refuse to overwrite. Use s3:// or a folder."
        )
    return objects


Storage = LocalStorage | ObjectStorage
Folder = Path | UPath


class Listed(NamedTuple):
    size: int
    tag: str
    modified: float


@dataclass(frozen=True, eq=False)
class Bucket:
    url: str
    root: UPath = field(init=False)
    _objects: AbstractFileSystem = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "root", UPath(self.url))
        object.__setattr__(self, "_objects", open_file_system(self.root))

    def is_there(self) -> bool:
        bucket = self.root.path.partition("/")[0]
        try:
            with require_answer(self.root, LIST):
                self._objects.call_s3("list_objects_v2", Bucket=bucket, MaxKeys=1)
        except FileNotFoundError:
            return False
        return True

    def listed(self, start: str = "") -> dict[str, Listed]:
        """Marks that some tools leave for a folder are no objects."""
        folder_path = self.root.path.rstrip("/") + "/"
        try:
            with require_answer(self.root, LIST):
                info_by_path: dict[str, dict[str, Any]] = self._objects.find(
                    folder_path, detail=True, prefix=start
                )
        except FileNotFoundError:
            return {}
        return {
            path[len(folder_path) :]: Listed(
                info["size"], info["ETag"].strip('"'), info["LastModified"].timestamp()
            )
            for path, info in sorted(info_by_path.items())
            if path.startswith(folder_path) and not path.endswith("/")
        }

    def fetch(self, name: str, to: Path) -> None:
        with require_answer(self.root, READ):
            self._objects.get_file(f"{self.root.path.rstrip('/')}/{name}", str(to))
