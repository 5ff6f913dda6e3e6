"""The rounds in a project's inbox, and which of them are due."""

import os
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from agreement_pipeline.errors import AgreementError, ProjectError
from agreement_pipeline.projects.settings import ProjectSettings
from agreement_pipeline.readers import read_rounds, without_ending
from agreement_pipeline.store import Folder, Store, digest_at, names_in

AT_REST_NS = 2_000_000_000


class FileSeen(NamedTuple):
    """When a delivered file changed, in seconds since 1970. A program can choose `modified`."""

    name: str
    modified: float
    changed: float


@dataclass(frozen=True)
class Delivery:
    """A round as it was delivered.

    Attributes
    ----------
    round
        Its name.
    path
        Its file or folder.
    digest
        The digest of its bytes. In a bucket: of the sizes and ETags of its objects.
    files
        Its file, or the files in its folder.
    in_bucket
        True if it lies in a bucket.
    """

    round: str
    path: Folder
    digest: str
    files: tuple[FileSeen, ...] = ()
    in_bucket: bool = False

    @property
    def here(self) -> Path:
        """Its path on a disk. In a bucket there is none before the delivery was fetched."""
        assert isinstance(self.path, Path)
        return self.path


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


class _File(NamedTuple):
    """What the file system says of a file: another content means another of these."""

    name: str
    size: int
    device: int
    number: int
    modified: int
    changed_status: int

    @property
    def changed(self) -> int:
        """When it changed last."""
        return max(self.modified, self.changed_status)


Mark = tuple[_File, ...]
"""How a file is marked, or each file of a folder."""


class _Place(NamedTuple):
    """A file or folder of an inbox, and the round that it is if it is one."""

    path: Path
    mark: Mark
    round: str

    def delivered(self, round_name: str, digest: str) -> Delivery:
        """A round in it as a delivery."""
        files = tuple(
            FileSeen(each.name, each.modified / 1e9, each.changed_status / 1e9)
            for each in self.mark
        )
        return Delivery(round_name, self.path, digest, files)


class _Read(NamedTuple):
    """What was read of a file, and how the file was marked then.

    A file that cannot be read has a `refusal` instead of rounds.
    """

    mark: Mark
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

    def is_there(self) -> bool:
        """True if there is such a file or folder."""
        return self.path.exists()

    def fetched(self, delivery: Delivery) -> Delivery:
        """The delivery itself, since its file is here."""
        return delivery

    def naming(self, _: Delivery) -> AbstractContextManager[None]:
        """Errors name the file as they are."""
        return nullcontext()

    def look(self) -> Found:
        """The rounds in the inbox, and what of it cannot be read."""
        places = list(_places(self.path))
        read = {each.path: self._read(each) for each in places}
        self._known.clear()
        self._known.update(read)
        rounds = [(name, each) for each in places for name in read[each.path].rounds]
        doubled = twice(self.path, (name for name, _ in rounds))
        unread = {each.round: why for each in places if (why := read[each.path].refusal)}
        found = {
            name: each.delivered(name, read[each.path].digest)
            for name, each in sorted(rounds)
            if name not in doubled
        }
        return Found(found, {**unread, **doubled})

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
            mine = [each for each in _places(self.path) if each.round == round_name]
            read = [self._read(each) for each in mine]
            refusal = twice(self.path, (each.round for each in mine)).get(round_name) or "".join(
                each.refusal for each in read
            )
            found = mine[0].delivered(round_name, read[0].digest) if mine else None
        if refusal:
            raise ProjectError(refusal, may_pass=True)
        return found

    def _read(self, place: _Place) -> _Read:
        path, known = place.path, self._known.get(place.path)
        if known and known.mark == place.mark:
            return known
        at_rest = time.time_ns() - max(each.changed for each in place.mark) > AT_REST_NS
        try:
            digest, rounds = self._content(place)
        except AgreementError as error:
            return _Read((), "", (), str(error))
        except OSError as error:
            words = f"{path}: found a file that cannot be read ({error.strerror or error}); "
            return _Read((), "", (), f"{words}expected a file. Correct its permissions.")
        return _Read(place.mark if at_rest else (), digest, rounds)

    def _content(self, place: _Place) -> tuple[str, tuple[str, ...]]:
        """The digest of a file or folder, and its rounds."""
        path = place.path
        _refuse_no_files(path)
        digest = digest_at(path)
        said = self.settings
        if said.columns.round:
            return digest, read_rounds(path, said.columns, said.limits, said.reader)
        return digest, (place.round,)


def twice(inbox: Folder, rounds: Iterable[str]) -> dict[str, str]:
    """Why each round that is in two files of an inbox is refused."""
    doubled = sorted(name for name, count in Counter(rounds).items() if count > 1)
    return {
        name: f"{inbox}: found round {name!r} in more than one file; "
        "expected one file a round. Remove or rename one."
        for name in doubled
    }


def named_after(file: str) -> str:
    """The name of the round in a file of its own.

    >>> named_after("2026-09.csv"), named_after("2026-09.csv.gz")
    ('2026-09', '2026-09')
    """
    return Path(without_ending(file)).stem


def times_arrived(round_name: str, store: Store) -> int:
    """How often a round has come, each time with other bytes than the time before."""
    return sum(entry["event"] == "ingested" for entry in store.history(round_name))


def _places(inbox: Path) -> Iterator[_Place]:
    """The visible files and folders of files in an inbox by name, and all that is no folder."""
    if inbox.is_file():
        yield _Place(inbox, (_file(inbox.name, inbox.stat()),), named_after(inbox.name))
    elif inbox.is_dir():
        with os.scandir(inbox) as entries:
            there = [entry for entry in entries if not entry.name.startswith(".")]
        for entry in sorted(there, key=lambda each: each.name):
            if not entry.is_dir(follow_symlinks=False):
                mark = _file(entry.name, entry.stat(follow_symlinks=False))
                yield _Place(inbox / entry.name, (mark,), named_after(entry.name))
            elif marks := _files_in(inbox / entry.name):
                yield _Place(inbox / entry.name, marks, entry.name)


def _files_in(folder: Path) -> Mark:
    return tuple(_file(name, (folder / name).lstat()) for name in names_in(folder))


def _file(name: str, status: os.stat_result) -> _File:
    return _File(
        name,
        status.st_size,
        status.st_dev,
        status.st_ino,
        status.st_mtime_ns,
        status.st_ctime_ns,
    )


def _refuse_no_files(path: Path) -> None:
    """Refuse links, and pipes and devices: a reader would wait for them."""
    inside = [path / name for name in names_in(path)]
    for each in (path, *inside):
        if each.is_symlink():
            raise ProjectError(
                f"{each}: found a link; expected the file itself, since a link can lead anywhere. "
                "Put the file into the inbox."
            )
        if not (each.is_file() or each.is_dir()):
            raise ProjectError(
                f"{each}: found a device, pipe or socket; expected a file. "
                "Put a file in its place, or remove it."
            )
