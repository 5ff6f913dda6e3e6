"""The log of a store: numbered entries in order, the older ones in segments.

::

    log/<number>.json              what happened
    log/seals/<number>-<digest>    proves that the entry was kept
    segments/<number>-<digest>     32 older entries, up to this number, as they were written
    index/<number>-<digest>        which segments mention which round or release

Each entry carries the digest of the entry before it. Its seal is written after it.
The name of the seal holds the SHA-256 of the entry. The seal also holds a copy of the entries
since the last segment. So a bucket is asked for one object instead of many.

The first entry after a segment carries the digest of the index. The index has the digest of
each segment. So entries that are followed by others cannot be changed in a segment or in the
index. `look` says what is checked when the log is read.

An entry is written whole, and it is never overwritten. If a writer is killed before it
writes the seal, the last entry has no seal. The next writer adds it.

A person who can write here can remove the last entries together with their seals.
Nothing in the folder shows this. Keep the name of the last seal where that person cannot write.
"""

import hashlib
import json
import re
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import chain
from typing import Any, NamedTuple

from agreement_pipeline.errors import StoreError
from agreement_pipeline.store.entries import (
    Entry,
    lacking,
    mentioned,
    refuse_other_project,
    refuse_unknown,
    said_before,
)
from agreement_pipeline.store.storage import Storage, digest_of
from agreement_pipeline.text import counted

SIZE = 32


class Line(NamedTuple):
    """The bytes of an entry, their digest, and the entry."""

    data: bytes
    digest: str
    entry: Entry


def line_of(data: bytes) -> Line:
    """The entry in these bytes. It is empty if they hold none."""
    try:
        found = json.loads(data)
    except (ValueError, RecursionError):
        found = {}
    return Line(data, digest_of(data), found if isinstance(found, dict) else {})


def lines_of(segment: bytes) -> tuple[Line, ...]:
    """The entries of a segment."""
    return tuple(line_of(data) for data in segment.splitlines(keepends=True))


def segment_of(lines: Iterable[Line]) -> bytes:
    """The bytes of a segment."""
    return b"".join(line.data for line in lines)


def first_after(last: int) -> int:
    """The number of the first entry that is not in a segment, if `last` is the last entry."""
    return max(last - (last - 1) % SIZE, 1)


@dataclass(frozen=True)
class Index:
    """Which segments mention which round or release.

    Attributes
    ----------
    segments
        The SHA-256 of each segment, in order.
    head
        The SHA-256 of the last entry of the last segment.
    names
        For each round and release: the positions of the segments that mention it.
    """

    segments: tuple[str, ...] = ()
    head: str = ""
    names: Mapping[str, tuple[int, ...]] = field(default_factory=dict)

    def following(self, segment: bytes, lines: Sequence[Line]) -> "Index":
        """The index with one more segment."""
        position, names = len(self.segments), dict(self.names)
        for name in sorted({name for line in lines for name in mentioned(line.entry)}):
            names[name] = (*names.get(name, ()), position)
        return Index((*self.segments, digest_of(segment)), lines[-1].digest, names)

    def of(self, names: Iterable[str]) -> tuple[int, ...]:
        """The positions of the segments that mention one of these names, in order."""
        return tuple(sorted({at for name in names for at in self.names.get(name, ())}))

    def to_bytes(self) -> bytes:
        """The index as a file."""
        said = {"segments": self.segments, "head": self.head, "names": self.names}
        return json.dumps(said, sort_keys=True, separators=(",", ":")).encode()

    @classmethod
    def from_bytes(cls, data: bytes) -> "Index":
        """The index that `to_bytes` wrote. Call only with bytes of a known digest."""
        said = json.loads(data)
        names = {name: tuple(positions) for name, positions in said["names"].items()}
        return cls(tuple(said["segments"]), said["head"], names)


@dataclass(eq=False)
class View:
    """The log as it was at a time, with the entries that were added since."""

    first: int
    lines: list[Line]
    index: Index
    last_is_sealed: bool = True
    older: tuple[Entry, ...] | None = None
    time: float = 0.0

    @property
    def last(self) -> int:
        """The number of the last entry."""
        return self.first - 1 + len(self.lines)

    @property
    def project(self) -> str | None:
        """The project that the store belongs to. None if no entry names one."""
        return self.lines[-1].entry.get("project") if self.lines else None

    @property
    def head(self) -> str:
        """The digest of the last entry."""
        return self.lines[-1].digest if self.lines else self.index.head


ENTRIES = "log"
SEALS = f"{ENTRIES}/seals"
NAME, SEAL = re.compile(r"[0-9]{8}\.json"), re.compile(r"seals/[0-9]{8}-[0-9a-f]{64}")


def entry_name(number: int) -> str:
    """The name of an entry."""
    return f"{number:08}.json"


def seal_name(number: int, digest: str) -> str:
    """The name of a seal, and of a segment or an index up to an entry."""
    return f"{number:08}-{digest}"


class Kept(NamedTuple):
    """The tail as it is kept: nothing is checked yet.

    Attributes
    ----------
    first
        The number of its first entry.
    entries
        The bytes of the entries in order. None where an entry is missing.
    seals
        The names of the seals from the first entry on.
    """

    first: int
    entries: tuple[bytes | None, ...]
    seals: set[str]


@dataclass(eq=False)
class Tail:
    """The files of the tail in a storage."""

    storage: Storage
    _known: dict[str, bytes] = field(default_factory=dict, repr=False)
    _listed: dict[str, str] = field(default_factory=dict, repr=False)

    def read(self) -> Kept:
        """The tail now. It is read again while another writer changes it."""
        before = None
        while True:
            self._listed = self.storage.listed(ENTRIES)
            kept = self._kept(self._listed)
            end = kept.first + len(kept.entries)  # a later seal was written after the listing
            torn = None in kept.entries or any(int(seal[:8]) >= end for seal in kept.seals)
            if not torn or before == self._listed:
                return kept
            before = self._listed

    def begins_at(self, first: int) -> bool:
        """True if the tail still begins at this entry.

        If another writer made a segment meanwhile, the number of an entry in it is free again.
        Whoever writes that number writes an entry that nobody reads.
        """
        listed = self.storage.listed(ENTRIES)
        return first_after(max(int(name[:8]) for name in listed if NAME.fullmatch(name))) == first

    def seal(self, first: int, lines: Sequence[Line]) -> None:
        """Seal the last of the entries. The seal holds a copy of them all."""
        name = seal_name(first - 1 + len(lines), lines[-1].digest)
        self.storage.keep(f"{SEALS}/{name}", segment_of(lines))
        self._learn([lines[-1].data])

    def names(self, first: int, lines: Sequence[Line]) -> list[str]:
        """The files of these entries, and whatever older ones a killed writer left behind."""
        left = [
            name
            for name in self._listed
            if (NAME.fullmatch(name) and int(name[:8]) < first)
            or (SEAL.fullmatch(name) and int(name[6:14]) < first)
        ]
        entries = [entry_name(first + at) for at in range(len(lines))]
        seals = [f"seals/{seal_name(first + at, line.digest)}" for at, line in enumerate(lines)]
        return [f"{ENTRIES}/{name}" for name in (*entries, *seals, *left)]

    def _kept(self, listed: Mapping[str, str]) -> Kept:
        last = max((int(name[:8]) for name in listed if NAME.fullmatch(name)), default=0)
        first = first_after(last)
        seals = {name[6:] for name in listed if SEAL.fullmatch(name)}
        seals = {seal for seal in seals if int(seal[:8]) >= first}
        names = [entry_name(number) for number in range(first, last + 1)]
        found = self._bytes({name: listed.get(name, "") for name in names}, max(seals, default=""))
        return Kept(first, tuple(found[name] for name in names), seals)

    def _bytes(self, tags: Mapping[str, str], last_seal: str) -> dict[str, bytes | None]:
        """The bytes of entries. Bytes are known if their MD5 is the tag in the listing."""
        if last_seal and sum(tag not in self._known for tag in tags.values() if tag) > 1:
            copy = self.storage.read(f"{SEALS}/{last_seal}") or b""
            self._learn([line.data for line in lines_of(copy)])
        unknown = [name for name, tag in tags.items() if tag not in self._known]
        fetched = self.storage.fetched(f"{ENTRIES}/{name}" for name in unknown)
        read = {name: fetched[f"{ENTRIES}/{name}"] for name in unknown}
        found = {
            name: read[name] if name in read else self._known[tag] for name, tag in tags.items()
        }
        self._known = {
            tag: data for name, tag in tags.items() if tag and (data := found[name]) is not None
        }
        return found

    def _learn(self, entries: Sequence[bytes]) -> None:
        for data in entries:
            self._known[hashlib.md5(data, usedforsecurity=False).hexdigest()] = data


SEGMENTS, INDEX, OLD_SEALS = "segments", "index", "seals"
REMEMBERED = 100
KEPT = re.compile(r"([0-9]{8})-([0-9a-f]{64})")
OLDER = (
    " If an older version of this package wrote it, start a new store, "
    "and ingest again the originals that this one keeps."
)


@dataclass(eq=False)
class Log:
    """The events of a store, in order."""

    storage: Storage
    project: str | None = None
    _tail: Tail = field(init=False, repr=False)
    _indexes: dict[str, Index] = field(default_factory=dict, repr=False)
    _segments: dict[str, tuple[Line, ...]] = field(default_factory=dict, repr=False)
    _held: View | None = field(default=None, repr=False)
    _writing: bool = field(default=False, repr=False)

    def __post_init__(self) -> None:
        self._tail = Tail(self.storage)

    def entries(self) -> tuple[Entry, ...]:
        """All entries, in order, after a check of the whole log."""
        view = self._view
        if view.older is None:
            view.older = tuple(line.entry for line in self._older(view))
        return view.older + tuple(line.entry for line in view.lines)

    def give_to(self, project: str) -> None:
        """Write for a project from now on. A log of another one is refused."""
        refuse_other_project(project, self.project, self._place)
        refuse_other_project(project, self._view.project, self._place)
        self.project = project

    @property
    def _view(self) -> View:
        return self._held or self.look()

    @property
    def head(self) -> str:
        """The digest of the last entry."""
        return self._view.head

    def about(self, *names: str) -> tuple[Entry, ...]:
        """The entries that mention one of these rounds or releases, in order.

        Only the segments that mention them are read. The rest is checked as `look` says.
        """
        view = self._view
        older = (line for at in view.index.of(names) for line in self._segment(view.index, at))
        return tuple(
            line.entry
            for lines in (older, view.lines)
            for line in lines
            if not mentioned(line.entry).isdisjoint(names)
        )

    def first_about(self, name: str) -> Entry | None:
        """The first entry that mentions a round, a release or a policy."""
        view = self._view
        older = [self._segment(view.index, at) for at in view.index.of([name])[:1]]
        entries = (line.entry for line in (older[0] if older else view.lines))
        return next((entry for entry in entries if name in mentioned(entry)), None)

    @property
    def mark(self) -> str:
        """The number of the last entry, and its digest."""
        view = self._view
        return seal_name(view.last, view.head)

    def following(self, mark: str) -> tuple[Entry, ...] | None:
        """The entries that followed a mark, in order. None if the log does not have its entry.

        Only the segments from that entry on are read. The rest is checked as `look` says.
        """
        view = self._view
        number, digest = int(mark[:8]), mark[9:]
        if not 0 < number <= view.last:
            return None
        first = min((number - 1) // SIZE, len(view.index.segments))
        later = range(first, len(view.index.segments))
        older = [line for at in later for line in self._segment(view.index, at)]
        lines = [*older, *view.lines][number - first * SIZE - 1 :]
        return tuple(line.entry for line in lines[1:]) if lines[0].digest == digest else None

    def latest(self, event: str) -> Entry | None:
        """The last entry of an event. The log is read from its end, until it is found."""
        view = self._view
        older = (self._segment(view.index, at) for at in reversed(range(len(view.index.segments))))
        backwards = (line.entry for lines in chain([view.lines], older) for line in reversed(lines))
        return next((entry for entry in backwards if entry["event"] == event), None)

    def look(self) -> View:
        """The log now: the entries since the last segment, and the index of the others.

        This checks each entry since the last segment against its seal and the entry before
        it, and the index against the first of them. A segment is checked when it is read.
        """
        start = time.time()
        kept = self._tail.read()
        view = View(kept.first, [], Index(), time=start)
        if kept.first > 1:
            view.index = self._index(kept.first, line_of(kept.entries[0] or b""))
        elif not kept.entries:
            self._refuse_beheaded(kept.seals)
        for data in kept.entries:
            self._follow(view, line_of(data or b""))
        self._refuse_other_seals(view, kept.seals)
        refuse_other_project(self.project, view.project, self._place)
        return view

    @contextmanager
    def held(self, *, writing: bool = False) -> Iterator[None]:
        """Look at the log once. All reads inside see the log as it was then.

        If `writing`, entries can be added. They follow the ones that were read here. Write
        only while the storage is locked. An entry that another writer adds meanwhile is an
        error.
        """
        if self._held is not None and (self._writing or not writing):
            yield
            return
        before = self._held, self._writing
        self._held, self._writing = self.look(), writing
        try:
            yield
        finally:
            self._held, self._writing = before

    def append(self, event: str, round_name: str, facts: Mapping[str, Any]) -> None:
        """Add an entry, unless the last entry on the same subject says the same.

        Call only while the log is held. Two decisions are the same if they rest on the same
        facts.
        """
        refuse_unknown(event, facts)
        told = json.loads(json.dumps(dict(facts), allow_nan=False))
        missing = lacking({"event": event, "round": round_name, "time": "", **told})
        if missing:
            raise StoreError(
                f"log: found {event} of {round_name} without {missing}; "
                "expected an entry that says what it is about. Add it."
            )
        if not said_before(self.about(round_name), event, round_name, told):
            assert self._held is not None
            self._add(self._held, {"event": event, "round": round_name, **told})

    def _add(self, view: View, said: Entry) -> None:
        number = view.last + 1
        if view.lines and not view.last_is_sealed:
            self._tail.seal(view.first, view.lines)
        entry = {"number": number, "time": datetime.now(UTC).isoformat(), **said}
        entry |= {"project": belongs} if (belongs := self.project or view.project) else {}
        entry["previous"], after = view.head, view
        if number == view.first + SIZE:
            after, entry["index"] = self._with_segment(view)
        line = line_of((json.dumps(entry, ensure_ascii=False) + "\n").encode())
        name = f"{ENTRIES}/{entry_name(number)}"
        alone_until = view.time + self.storage.alone_seconds
        if not self.storage.keep(name, line.data) or (
            time.time() >= alone_until and not self._tail.begins_at(after.first)
        ):
            raise StoreError(
                f"{self._place}: found entry {number}, written by another writer meanwhile; "
                "expected the log as it was at the start. Run this again.",
                may_pass=True,
            )
        after.lines.append(line)
        self._tail.seal(after.first, after.lines)
        after.last_is_sealed = True
        if after is not view:
            self._forget(view)
            self._held = after

    def _with_segment(self, view: View) -> tuple[View, str]:
        """The log with its full tail kept as a segment, and the digest of its index.

        The tail is still there too.
        """
        data = segment_of(view.lines)
        index = view.index.following(data, view.lines)
        about = index.to_bytes()
        for folder, kept in ((SEGMENTS, data), (INDEX, about)):
            name = f"{folder}/{seal_name(view.last, digest_of(kept))}"
            if not self.storage.keep(name, kept):
                raise self._broken(f"{name} with other bytes")
        digest = digest_of(about)
        self._indexes = {digest: index}
        return View(view.last + 1, [], index, time=view.time), digest

    def _forget(self, view: View) -> None:
        """Remove the tail of a view, and its index, since a segment and an index hold them."""
        index = view.lines[0].entry.get("index")
        self.storage.forget(
            [
                *self._tail.names(view.first, view.lines),
                *([f"{INDEX}/{seal_name(view.first - 1, index)}"] if index else []),
            ]
        )

    def _older(self, view: View) -> list[Line]:
        """The entries in segments, after a check of them all and of what is derived of them."""
        names = self._segment_names()
        beyond = [name for name in names if int(name[:8]) > view.last]
        if beyond:
            raise self._broken(_fewer(view.last, beyond))
        wanted = [
            seal_name((at + 1) * SIZE, digest) for at, digest in enumerate(view.index.segments)
        ]
        found = self._walked(wanted)
        if found.index != view.index:
            raise self._broken("an index that does not follow from the entries")
        return found.lines

    def _segment_names(self) -> list[str]:
        return sorted(filter(KEPT.fullmatch, self.storage.names(SEGMENTS)))

    def _walked(self, names: Sequence[str]) -> View:
        """The entries of these segments, each checked to follow, and their index."""
        found = View(1, [], Index())
        fetched = self.storage.fetched(f"{SEGMENTS}/{name}" for name in names)
        for name, data in zip(names, fetched.values(), strict=True):
            lines = self._checked(name, data)
            for line in lines:
                self._follow(found, line)
            found.index = found.index.following(data or b"", lines)
        return found

    def _segment(self, index: Index, at: int) -> tuple[Line, ...]:
        """The entries of a segment. They are remembered, since the digest says what they are."""
        name = seal_name((at + 1) * SIZE, index.segments[at])
        if name not in self._segments:
            lines = self._checked(name, self.storage.read(f"{SEGMENTS}/{name}"))
            self._segments = {**dict(list(self._segments.items())[-REMEMBERED:]), name: lines}
        return self._segments[name]

    def _checked(self, name: str, data: bytes | None) -> tuple[Line, ...]:
        """The entries in the bytes of a segment, if they are the ones that its name promises."""
        last, digest = int(name[:8]), name[9:]
        if data is None or digest_of(data) != digest:
            raise self._broken(
                f"entries {last - SIZE + 1} to {last}, which are not the ones that were written"
            )
        return lines_of(data)

    def _index(self, first: int, line: Line) -> Index:
        """The index that the first entry after a segment names. If it is gone, it is made again."""
        digest = line.entry.get("index")
        if not isinstance(digest, str) or not KEPT.fullmatch(seal_name(first - 1, digest)):
            raise self._broken(f"entry {first}, which does not follow the one before it")
        if digest not in self._indexes:
            data = self.storage.read(f"{INDEX}/{seal_name(first - 1, digest)}")
            known = data is not None and digest_of(data) == digest
            index = Index.from_bytes(data) if data and known else self._indexed(first, digest)
            self._indexes = {digest: index}
        return self._indexes[digest]

    def _indexed(self, first: int, digest: str) -> Index:
        """The index of all segments before an entry, made from them."""
        found = self._walked([name for name in self._segment_names() if int(name[:8]) < first])
        if digest_of(found.index.to_bytes()) != digest:
            raise self._broken(f"segments that do not lead to entry {first}")
        return found.index

    def _follow(self, view: View, line: Line) -> None:
        """Add an entry to a view. Its number and its digests must follow from the one before."""
        number = view.last + 1
        if line.entry.get("number") != number or line.entry.get("previous") != view.head:
            raise self._broken(f"entry {number}, which does not follow the one before it")
        if missing := lacking(line.entry):
            raise self._broken(f"entry {number} without {missing}", older=True)
        refuse_other_project(view.project, line.entry.get("project"), self._place)
        view.lines.append(line)

    def _refuse_other_seals(self, view: View, seals: set[str]) -> None:
        wanted = [seal_name(view.first + at, line.digest) for at, line in enumerate(view.lines)]
        view.last_is_sealed = not wanted or wanted[-1] in seals
        other = sorted(seals.difference(wanted))
        if other and int(other[-1][:8]) > view.last:
            raise self._broken(_fewer(view.last, other))
        missing = [
            seal
            for seal in wanted[:-1]
            if seal not in seals and self.storage.read(f"{SEALS}/{seal}") is None
        ]
        if other or missing:
            raise self._broken(
                f"entry {int(min(other + missing)[:8])}, which is not the one that was written"
            )

    def _refuse_beheaded(self, seals: set[str]) -> None:
        """Refuse a log without entries after its segments. Each segment is followed by one."""
        kept = {*seals, *filter(KEPT.fullmatch, self.storage.names(SEGMENTS))}
        if kept:
            raise self._broken(_fewer(0, kept))

    @property
    def _place(self) -> str:
        return f"{self.storage.root}/{ENTRIES}"

    def _broken(self, found: str, *, older: bool = False) -> StoreError:
        told = OLDER if older or self.storage.names(OLD_SEALS) else ""
        return StoreError(
            f"{self._place}: found {found}; expected every entry as it was written. "
            f"Restore the log, with its seals, from a backup.{told}"
        )


def _fewer(there: int, kept: Iterable[str]) -> str:
    """That the log ends too early, from the names of what was kept of its entries."""
    written = int(max(kept)[:8])
    return f"{counted(there, 'entry')} where {written} {'was' if written == 1 else 'were'} written"
