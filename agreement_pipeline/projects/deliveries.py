"""The rounds in a project's inbox, and which of them are due."""

import hashlib
import os
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from agreement_pipeline.errors import AgreementError, ProjectError
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


class Found(NamedTuple):
    """What an inbox holds.

    Attributes
    ----------
    deliveries
        The rounds by name, sorted.
    refused
        Why a file or a round cannot be read, by the name of the round or the file. They keep
        no other round from being read.
    """

    deliveries: dict[str, Delivery]
    refused: dict[str, str]


class _Read(NamedTuple):
    """What was read of a file, and how the file was marked then.

    A file that cannot be read has a `refusal` instead of rounds.
    """

    mark: tuple[int, ...]
    digest: str
    rounds: tuple[str, ...]
    refusal: str = ""


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

    def look(self) -> Found:
        """The rounds in the inbox, and what of it cannot be read."""
        read = {path: self._read(path, status) for path, status in _files(self.path)}
        self._known.clear()
        self._known.update(read)
        rounds = [(name, path) for path, each in read.items() for name in each.rounds]
        twice = self._twice(name for name, _ in rounds)
        unread = {path.stem: each.refusal for path, each in read.items() if each.refusal}
        found = {
            name: Delivery(name, path, read[path].digest)
            for name, path in sorted(rounds)
            if name not in twice
        }
        return Found(found, {**unread, **twice})

    def delivery(self, round_name: str) -> Delivery | None:
        """The delivery of one round, or None. If each file is one round, no other file is read.

        Raises
        ------
        ProjectError
            Two files hold the round, or its file cannot be read.
        """
        if self.settings.columns.round:
            deliveries, refused = self.look()
            found, refusal = deliveries.get(round_name), refused.get(round_name)
        else:
            paths = [(path, status) for path, status in _files(self.path)]
            mine = [each for each in paths if each[0].stem == round_name]
            read = [self._read(*each) for each in mine]
            refusal = self._twice(path.stem for path, _ in mine).get(round_name) or "".join(
                each.refusal for each in read
            )
            found = Delivery(round_name, mine[0][0], read[0].digest) if mine else None
        if refusal:
            raise ProjectError(refusal)
        return found

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
        try:
            digest, rounds = self._content(path)
        except AgreementError as error:
            return _Read((), "", (), str(error))
        except OSError as error:
            words = f"{path}: found a file that cannot be read ({error.strerror}); "
            return _Read((), "", (), f"{words}expected a file. Correct its permissions.")
        return _Read(mark if at_rest else (), digest, rounds)

    def _content(self, path: Path) -> tuple[str, tuple[str, ...]]:
        """The digest of a file, and its rounds."""
        if path.is_symlink():
            raise ProjectError(
                f"{path}: found a link; expected the file itself, since a link can lead anywhere. "
                "Put the file into the inbox."
            )
        with path.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
        said = self.settings
        if said.columns.round:
            return digest, read_rounds(path, said.columns, said.limits, said.reader)
        return digest, (path.stem,)

    def _twice(self, rounds: Iterable[str]) -> dict[str, str]:
        """Why each round that is in two files is refused."""
        twice = sorted(name for name, count in Counter(rounds).items() if count > 1)
        return {
            name: f"{self.path}: found rounds {listed([name])} in two files; "
            "expected one file a round. Remove or rename one."
            for name in twice
        }


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
    """The visible files and links of an inbox with their status, by name."""
    if inbox.is_file():
        yield inbox, inbox.stat()
    elif inbox.is_dir():
        with os.scandir(inbox) as entries:
            found = sorted(
                (entry.name, entry.stat(follow_symlinks=False))
                for entry in entries
                if entry.is_symlink() or entry.is_file()
            )
        for name, status in found:
            if not name.startswith("."):
                yield inbox / name, status
