"""The rounds in a project's inbox, and which of them are due."""

import hashlib
import os
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from agreement_pipeline.errors import ProjectError
from agreement_pipeline.projects.settings import ProjectSettings
from agreement_pipeline.readers import read_rounds
from agreement_pipeline.store import Store, is_decided
from agreement_pipeline.text import listed

AT_REST_NS = 2_000_000_000


@dataclass(frozen=True)
class Delivery:
    """A round as it was delivered: its file, and the digest of the file's bytes."""

    round: str
    path: Path
    digest: str


class _Read(NamedTuple):
    """What was read of a file, and how the file was marked then."""

    mark: tuple[int, ...]
    digest: str
    rounds: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Inbox:
    """The file or folder where rounds arrive. A file is read again only if it has changed.

    A file counts as unchanged if its size, its inode and its times of change are the same.
    The file system sets the last of these times, and no program can choose it. A file that
    changed in the last two seconds is read each time: a clock may give two changes one time.
    """

    path: Path
    settings: ProjectSettings
    _known: dict[Path, _Read] = field(default_factory=dict, repr=False)

    def deliveries(self) -> dict[str, Delivery]:
        """The rounds in the inbox by name, sorted.

        Raises
        ------
        ProjectError
            Two files hold the same round.
        RatingsError
            A file's rounds cannot be read.
        """
        files = list(_files(self.path))
        read = {path: self._read(path, status) for path, status in files}
        self._known.clear()
        self._known.update(read)
        found = [
            Delivery(name, path, each.digest) for path, each in read.items() for name in each.rounds
        ]
        self._refuse_twice(delivery.round for delivery in found)
        return {each.round: each for each in sorted(found, key=lambda each: each.round)}

    def delivery(self, round_name: str) -> Delivery | None:
        """The delivery of one round, or None. It raises the errors of `deliveries`.

        If each file is one round, no other file is read.
        """
        if self.settings.columns.round:
            return self.deliveries().get(round_name)
        files = list(_files(self.path))
        self._refuse_twice(path.stem for path, _ in files)
        for path, status in files:
            if path.stem == round_name:
                return Delivery(round_name, path, self._read(path, status).digest)
        return None

    def _read(self, path: Path, status: os.stat_result) -> _Read:
        mark = (
            status.st_size,
            status.st_dev,
            status.st_ino,
            status.st_mtime_ns,
            status.st_ctime_ns,
        )
        known = self._known.get(path)
        if known and known.mark == mark:
            return known
        at_rest = time.time_ns() - max(status.st_mtime_ns, status.st_ctime_ns) > AT_REST_NS
        with path.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
        said = self.settings
        rounds = (
            read_rounds(path, said.columns, said.limits, said.reader)
            if said.columns.round
            else (path.stem,)
        )
        return _Read(mark if at_rest else (), digest, rounds)

    def _refuse_twice(self, rounds: Iterable[str]) -> None:
        twice = sorted(name for name, count in Counter(rounds).items() if count > 1)
        if twice:
            raise ProjectError(
                f"{self.path}: found rounds {listed(twice)} in two files; "
                "expected one file a round. Remove or rename one."
            )


def undecided(
    deliveries: Iterable[Delivery], store: Store, settings_digest: str
) -> tuple[Delivery, ...]:
    """The deliveries that are not the latest of their round, or were not decided.

    A delivery is its bytes, as they are read under these settings.
    """
    waiting = tuple(deliveries)
    if not waiting:
        return ()
    entered = store.histories([delivery.round for delivery in waiting])
    return tuple(
        each
        for each in waiting
        if not _is_decided((each.digest, settings_digest), entered[each.round])
    )


def times_arrived(round_name: str, store: Store) -> int:
    """How often a round has come, each time with other bytes than the time before."""
    return sum(entry["event"] == "ingested" for entry in store.history(round_name))


def _is_decided(delivered: tuple[str, str], history: Iterable[dict[str, Any]]) -> bool:
    last = {entry["event"]: entry for entry in history}
    if "ingested" not in last or not is_decided(last):
        return False
    arrived = last["ingested"]
    return (arrived["original_digest"], arrived["settings_digest"]) == delivered


def _files(inbox: Path) -> Iterator[tuple[Path, os.stat_result]]:
    """The visible files of an inbox with their status, by name."""
    if inbox.is_file():
        yield inbox, inbox.stat()
    elif inbox.is_dir():
        with os.scandir(inbox) as entries:
            found = sorted((entry.name, entry) for entry in entries if entry.is_file())
        for name, entry in found:
            if not name.startswith("."):
                yield inbox / name, entry.stat()
