"""The rounds in a project's inbox, and which of them are due."""

import hashlib
import json
import os
import shutil
import tempfile
import time
import weakref
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from agreement_pipeline.errors import AgreementError, ProjectError
from agreement_pipeline.projects.settings import ProjectSettings
from agreement_pipeline.readers import read_rounds, without_ending
from agreement_pipeline.store import Bucket, Folder, Listed, Store, digest_at, names_in

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
            _refuse_no_files(path)
            digest, said = digest_at(path), self.settings
            rounds: tuple[str, ...] = (place.round,)
            if said.columns.round:
                rounds = read_rounds(path, said.columns, said.limits, said.reader)
        except AgreementError as error:
            return _Read((), "", (), str(error))
        except OSError as error:
            words = f"{path}: found a file that cannot be read ({error.strerror or error}); "
            return _Read((), "", (), f"{words}expected a file. Correct its permissions.")
        return _Read(place.mark if at_rest else (), digest, rounds)


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
            elif inside := names_in(inbox / entry.name):
                folder = inbox / entry.name
                marks = tuple(_file(name, (folder / name).lstat()) for name in inside)
                yield _Place(folder, marks, entry.name)


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


LONGEST_NAME = 255


@dataclass(frozen=True, eq=False)
class BucketInbox:
    """The folder of a bucket where rounds arrive. An object is a round, or a folder of objects.

    No object is read to find what is new: the list has the size and the ETag of each. So a list
    of a thousand objects is one request.
    """

    url: Folder
    _copies: dict[str, Path] = field(default_factory=dict, repr=False)
    _urls: dict[str, Folder] = field(default_factory=dict, repr=False)

    @cached_property
    def _bucket(self) -> Bucket:
        return Bucket(str(self.url))

    def is_there(self) -> bool:
        """True if there is such a bucket. It may be empty."""
        return self._bucket.is_there()

    def look(self) -> Found:
        """The rounds in the bucket, and what of it cannot be read."""
        return self._found("")

    def delivery(self, round_name: str) -> Delivery | None:
        """The delivery of one round, or None. No objects of other names are listed.

        Raises
        ------
        ProjectError
            The round is there twice, or cannot be fetched.
        """
        found = self._found(round_name)
        if round_name in found.refused:
            raise ProjectError(found.refused[round_name], may_pass=True)
        return found.deliveries.get(round_name)

    def fetched(self, delivery: Delivery) -> Delivery:
        """The delivery with a copy of its objects as its path. The last copy is kept.

        Raises
        ------
        ProjectError
            An object changed meanwhile.
        """
        if delivery.digest not in self._copies:
            for copy in self._copies.values():
                _remove(copy.parent, os.getpid())
            self._copies.clear()
            folder = Path(tempfile.mkdtemp(prefix="agreement-"))
            weakref.finalize(self, _remove, folder, os.getpid())
            self._fetch(delivery, folder)
            self._copies[delivery.digest] = folder / delivery.path.name
        return replace(delivery, path=self._copies[delivery.digest])

    @contextmanager
    def naming(self, delivery: Delivery) -> Iterator[None]:
        """Let errors name the object in the bucket, not its copy."""
        try:
            yield
        except AgreementError as error:
            url = str(self.url / delivery.path.name)
            said = str(error).replace(str(delivery.path), url)
            if url not in said:
                rest = said.removeprefix(delivery.path.name)
                said = f"{url}: {said}" if rest == said else f"{url}{rest}"
            error.args = (said,)
            raise

    def _fetch(self, delivery: Delivery, folder: Path) -> None:
        for each in delivery.files:
            (folder / each.name).parent.mkdir(parents=True, exist_ok=True)
            self._bucket.fetch(each.name, folder / each.name)
        if self.delivery(delivery.round) != delivery:
            raise ProjectError(
                f"{delivery.path}: found a change while it was fetched; expected objects that do "
                "not change. It is fetched again later.",
                may_pass=True,
            )

    def _found(self, start: str) -> Found:
        places = _rounds_of(self._bucket.listed(start))
        refused = twice(self.url, (each.round for each in places))
        for each in places:
            if wrong := each.unwritable():
                refused[each.round] = (
                    f"{self.url}/{wrong}: found an object whose name is no path of a file; "
                    f"expected no empty part, none of dots alone, {LONGEST_NAME} bytes at most in "
                    "each, and no object inside another. Rename the object."
                )
        found = {
            each.round: Delivery(
                each.round, self._url(each.name), _digest(each.objects), each.files, True
            )
            for each in sorted(places)
            if each.round not in refused
        }
        return Found(found, refused)

    def _url(self, name: str) -> Folder:
        """The URL of an object or a folder. It is made once, since that takes long."""
        if name not in self._urls:
            self._urls[name] = self.url / name
        return self._urls[name]


class _InBucket(NamedTuple):
    """A round: the name of its object or folder, and its objects by their names."""

    round: str
    name: str
    objects: Mapping[str, Listed]

    @property
    def files(self) -> tuple[FileSeen, ...]:
        """When each object was written."""
        return tuple(
            FileSeen(name, about.modified, about.modified) for name, about in self.objects.items()
        )

    def unwritable(self) -> str | None:
        """The first object whose name cannot be the path of a file, if there is one."""
        inside = [name for name in self.objects if "/" in name]
        folders = {str(above) for name in inside for above in PurePosixPath(name).parents}
        return next((name for name in self.objects if name in folders or _is_no_path(name)), None)


def _rounds_of(objects: Mapping[str, Listed]) -> list[_InBucket]:
    """The rounds of these objects. An object in a folder belongs to the round of the folder."""
    found: dict[tuple[str, str], dict[str, Listed]] = {}
    for name, about in objects.items():
        first, folder, _ = name.partition("/")
        if not first.startswith("."):
            found.setdefault((first if folder else named_after(first), first), {})[name] = about
    return [_InBucket(*named, inside) for named, inside in found.items()]


def _is_no_path(name: str) -> bool:
    """True if a name leads elsewhere, or no file can be called so."""
    parts = name.split("/")
    return (
        not {"", ".", ".."}.isdisjoint(parts)
        or "\0" in name
        or any(len(each.encode()) > LONGEST_NAME for each in parts)
    )


def _digest(objects: Mapping[str, Listed]) -> str:
    """What tells these objects from others. Equal bytes that are sent again have the same."""
    said = [[name, about.size, about.tag] for name, about in sorted(objects.items())]
    return hashlib.sha256(json.dumps(said).encode()).hexdigest()


def _remove(folder: Path, process: int) -> None:
    """Remove a folder, unless this process was forked from the one whose folder it is."""
    if os.getpid() == process:
        shutil.rmtree(folder, ignore_errors=True)
