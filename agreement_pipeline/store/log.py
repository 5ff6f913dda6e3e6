"""The log of a store: numbered entries in order, the older ones in segments.

::

    log/<number>.json              what happened
    log/seals/<number>-<digest>    proves that the entry was kept
    segments/<number>-<digest>     32 older entries, up to this number, as they were written
    index/<number>-<digest>        which segments mention which round or release

Each entry carries the digest of the entry before it. Its seal is written after it, and the
name of the seal holds its SHA-256. The seal also has a copy of the entries since the last segment,
so a bucket is asked for one object instead of many.

The first entry after a segment carries the digest of the index, which has those of all segments.
So entries that are followed by others cannot be changed. A killed writer may leave the last entry
without its seal, and the next writer adds it.

Whoever can write here can remove the last entries together with their seals. Keep the name of the
last seal where they cannot write.
"""

import hashlib
import json
import re
import threading
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import chain
from typing import Any, NamedTuple

from agreement_pipeline.errors import MISREAD, StoreError
from agreement_pipeline.store.entries import (
    OWN,
    SUBJECTS,
    Entry,
    lacking,
    mentioned,
    refuse_other_location,
    refuse_other_project,
    said_before,
)
from agreement_pipeline.store.local import digest_of
from agreement_pipeline.store.objects import Storage
from agreement_pipeline.text import counted, listed

SIZE = 32
STORE_FORMAT = 0
"""The form in which this version writes a store. Each entry of a later form names its number."""
ENTRIES, SEGMENTS, INDEX = "log", "segments", "index"
SEALS = f"{ENTRIES}/seals"
CARRIED = "carried"
NAME, SEAL = re.compile(r"[0-9]{8}\.json"), re.compile(r"seals/[0-9]{8}-[0-9a-f]{64}")
KEPT = re.compile(r"[0-9]{8}-[0-9a-f]{64}")
REMEMBERED = 100


class Line(NamedTuple):
    data: bytes
    digest: str
    entry: Entry

    @classmethod
    def of(cls, data: bytes) -> "Line":
        try:
            found = json.loads(data)
        except MISREAD:
            found = {}
        return cls(data, digest_of(data), found if isinstance(found, dict) else {})


def lines_of(segment: bytes) -> tuple[Line, ...]:
    return tuple(map(Line.of, segment.splitlines(keepends=True)))


def first_after(last: int) -> int:
    return max(last - (last - 1) % SIZE, 1)


def seal_name(number: int, digest: str) -> str:
    return f"{number:08}-{digest}"


@dataclass(frozen=True)
class Index:
    """Which segments mention which round, release or policy, by the positions of these segments.

    It has the SHA-256 of each segment and of the last entry in them.
    """

    segments: list[str] = field(default_factory=list)
    head: str = ""
    names: dict[str, list[int]] = field(default_factory=dict)

    def following(self, segment: bytes, lines: Sequence[Line]) -> "Index":
        names = dict(self.names)
        for name in {name for line in lines for name in mentioned(line.entry)}:
            names[name] = [*names.get(name, []), len(self.segments)]
        return Index([*self.segments, digest_of(segment)], lines[-1].digest, names)

    def to_bytes(self) -> bytes:
        return json.dumps(vars(self), sort_keys=True, separators=(",", ":")).encode()


@dataclass(eq=False)
class View:
    """The log as it was at a time: its entries from number `first` on, and the index of
    the rest.
    """

    first: int = 1
    lines: list[Line] = field(default_factory=list)
    index: Index = field(default_factory=Index)
    last_is_sealed: bool = True
    older: tuple[Entry, ...] | None = None
    time: float = 0.0

    @property
    def last(self) -> int:
        return self.first - 1 + len(self.lines)

    @property
    def newest(self) -> Entry:
        return self.lines[-1].entry if self.lines else {}

    @property
    def head(self) -> str:
        return self.lines[-1].digest if self.lines else self.index.head

    @property
    def seals(self) -> list[str]:
        return [seal_name(self.first + at, line.digest) for at, line in enumerate(self.lines)]

    @property
    def segment(self) -> bytes:
        return b"".join(line.data for line in self.lines)


@dataclass(eq=False)
class Tail:
    storage: Storage
    _known: dict[str, bytes] = field(default_factory=dict, repr=False)
    _listed: dict[str, str] = field(default_factory=dict, repr=False)

    def read(self) -> tuple[int, list[bytes | None], set[str]]:
        """The first number, the bytes of each entry or None, and the seals. Nothing is checked.

        It is read again while another writer changes it.
        """
        before = None
        while True:
            self._listed = listed = self.storage.listed(ENTRIES)
            last = max((int(name[:8]) for name in listed if NAME.fullmatch(name)), default=0)
            first = first_after(last)
            sealed = {name[6:] for name in listed if SEAL.fullmatch(name)}
            seals = {seal for seal in sealed if int(seal[:8]) >= first}
            names = [f"{number:08}.json" for number in range(first, last + 1)]
            entries = self._bytes({each: listed.get(each, "") for each in names}, seals)
            # a later seal was written after the listing
            torn = None in entries or any(int(seal[:8]) > last for seal in seals)
            if not torn or before == listed:
                return first, entries, seals
            before = listed

    def begins_at(self, first: int) -> bool:
        """If not, another writer made a segment, and the number of an entry in it is free again.
        Nobody reads what is written under it.
        """
        listed = self.storage.listed(ENTRIES)
        return first_after(max(int(name[:8]) for name in listed if NAME.fullmatch(name))) == first

    def seal(self, view: View) -> None:
        self.storage.keep(f"{SEALS}/{view.seals[-1]}", view.segment)
        data = view.lines[-1].data
        self._known[_tag(data)] = data

    def names(self, view: View) -> list[str]:
        left = [
            name
            for name in self._listed
            if (NAME.fullmatch(name) and int(name[:8]) < view.first)
            or (SEAL.fullmatch(name) and int(name[6:14]) < view.first)
        ]
        entries = [f"{number:08}.json" for number in range(view.first, view.last + 1)]
        seals = [f"seals/{seal}" for seal in view.seals]
        return [f"{ENTRIES}/{name}" for name in (*entries, *seals, *left)]

    def _bytes(self, tags: Mapping[str, str], seals: set[str]) -> list[bytes | None]:
        """Bytes are known if their MD5 is the tag in the listing."""
        known = dict(self._known)  # other threads of the process read other segments
        if seals and sum(tag not in known for tag in tags.values() if tag) > 1:
            sealed = lines_of(self.storage.read(f"{SEALS}/{max(seals)}") or b"")
            known |= {_tag(line.data): line.data for line in sealed}
        unknown = [f"{ENTRIES}/{name}" for name, tag in tags.items() if tag not in known]
        read = self.storage.fetched(unknown)
        found = [
            known[tag] if tag in known else read[f"{ENTRIES}/{name}"] for name, tag in tags.items()
        ]
        pairs = zip(tags.values(), found, strict=True)
        self._known = {tag: data for tag, data in pairs if tag and data is not None}
        return found


def _tag(data: bytes) -> str:
    return hashlib.md5(data, usedforsecurity=False).hexdigest()


class _Held(threading.local):
    # other threads of the process read and write at the same time
    view: View | None = None
    writing = False


@dataclass(eq=False)
class Log:
    """Those that write may name their Dagster code `location`.

    Then no other may write, until the store is adopted.
    """

    storage: Storage
    project: str | None = None
    carrying: bool = False
    location: str | None = None
    _tail: Tail = field(init=False, repr=False)
    _indexes: dict[str, Index] = field(default_factory=dict, repr=False)
    _segments: dict[str, tuple[Line, ...]] = field(default_factory=dict, repr=False)
    _held: _Held = field(default_factory=_Held, repr=False)

    def __post_init__(self) -> None:
        self._tail = Tail(self.storage)

    def entries(self) -> tuple[Entry, ...]:
        view = self._view
        if view.older is None:
            if beyond := [name for name in self._segment_names() if int(name[:8]) > view.last]:
                raise self._broken(_fewer(view.last, beyond))
            kept = enumerate(view.index.segments, 1)
            found = self._walked([seal_name(nth * SIZE, digest) for nth, digest in kept])
            if found.index != view.index:
                raise self._broken("an index that does not follow from the entries")
            view.older = tuple(line.entry for line in found.lines)
        return view.older + tuple(line.entry for line in view.lines)

    def give_to(self, project: str) -> None:
        refuse_other_project(project, self.project, self._place)
        refuse_other_project(project, self._view.newest.get("project"), self._place)
        self.project = project

    @property
    def _view(self) -> View:
        return self._held.view or self.look()

    def about(self, *names: str) -> Iterator[Entry]:
        """Only the segments that mention the names are read. The rest is checked as `look` says."""
        view = self._view
        mentioning = {at for name in names for at in view.index.names.get(name, ())}
        for line in self._lines(view, sorted(mentioning)):
            if not mentioned(line.entry).isdisjoint(names):
                yield line.entry

    @property
    def head(self) -> str:
        return self._view.head

    @property
    def mark(self) -> str:
        """The number of the last entry, and its digest: the name of its seal."""
        view = self._view
        return seal_name(view.last, view.head)

    def following(self, mark: str) -> tuple[Entry, ...] | None:
        view = self._view
        if not KEPT.fullmatch(mark) or not 0 < (number := int(mark[:8])) <= view.last:
            return None
        n_segments = len(view.index.segments)
        first = min((number - 1) // SIZE, n_segments)
        lines = [*self._lines(view, range(first, n_segments))][number - first * SIZE - 1 :]
        return tuple(line.entry for line in lines[1:]) if lines[0].digest == mark[9:] else None

    def since(self, seal: str) -> tuple[Entry, ...] | None:
        """What `following` gives for the name of a seal, after a check of the whole log."""
        with self.held():
            self.entries()
            return self.following(seal)

    def latest(self, event: str) -> Entry | None:
        return next(self.backwards(event), None)

    def backwards(self, event: str) -> Iterator[Entry]:
        """The entries of one event, the newest first."""
        view = self._view
        older = (self._segment(view.index, at) for at in reversed(range(len(view.index.segments))))
        for lines in chain([view.lines], older):
            yield from (line.entry for line in reversed(lines) if line.entry["event"] == event)

    def _lines(self, view: View, segments: Iterable[int]) -> Iterator[Line]:
        for at in segments:
            yield from self._segment(view.index, at)
        yield from view.lines

    def look(self) -> View:
        """The entries since the last segment, each checked against its seal and the entry before
        it, and the index of the others, checked against the first of them. A segment is checked
        when it is read.
        """
        start = time.time()
        first, entries, seals = self._tail.read()
        view = View(first, time=start)
        if first > 1:
            view.index = self._index(first, Line.of(entries[0] or b""))
        elif not entries and (left := {*seals, *self._segment_names()}):
            raise self._broken(_fewer(0, left))  # each segment is followed by an entry
        for data in entries:
            self._follow(view, Line.of(data or b""))
        wanted = view.seals
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
        refuse_other_project(self.project, view.newest.get("project"), self._place)
        if view.newest.get(CARRIED) and not self.carrying:
            raise StoreError(
                f"{self._place}: found a store whose making was stopped; expected one that is "
                "whole. Run the same `agreement-pipeline store` command again: it goes on."
            )
        return view

    @contextmanager
    def held(self, *, writing: bool = False) -> Iterator[None]:
        """Look at the log once. All reads inside see the log as it was then.

        If `writing`, entries can be added. Write only while the storage is locked.
        """
        held = self._held
        if held.view is not None and (held.writing or not writing):
            yield
            return
        before = held.view, held.writing
        held.view, held.writing = self.look(), writing
        try:
            yield
        finally:
            held.view, held.writing = before

    def append(self, event: str, round_name: str, facts: Mapping[str, Any]) -> None:
        """Nothing is added if the last entry on the same subject says the same. Call only while the
        log is held.
        """
        if event not in SUBJECTS:
            raise StoreError(
                f"log: found event {event!r}; expected one of {', '.join(SUBJECTS)}. "
                "Correct the event."
            )
        if taken := sorted(set(OWN) & set(facts)):
            raise StoreError(
                f"log: found facts called {listed(taken)}; expected other names, "
                "since the log uses these itself. Rename the facts."
            )
        told = json.loads(json.dumps(dict(facts), allow_nan=False))
        missing = lacking({"event": event, "round": round_name, "time": "", **told})
        if missing:
            raise StoreError(
                f"log: found {event} of {round_name} without {missing}; "
                "expected an entry that says what it is about. Add it."
            )
        if not said_before(self.about(round_name), event, round_name, told):
            assert self._held.view is not None
            self._add(self._held.view, {"event": event, "round": round_name, **told})

    def carry(self, number: int, said: Entry) -> None:
        """Add an entry of another log as this number, under its own time. Call only while held.

        Until another entry follows, nobody but who is carrying reads the log.
        """
        view = self._held.view
        assert view is not None
        if missing := lacking(said):
            raise StoreError(
                f"log: found {said.get('event')} of {said.get('round')} without {missing}; "
                "expected an entry that says what it is about. Restore the log from a backup."
            )
        if number != view.last + 1:
            raise StoreError(
                f"{self._place}: found {counted(view.last, 'entry')} where entry {number} "
                "was to follow; expected nobody else to write here. Run this again.",
                may_pass=True,
            )
        self._add(view, {**said, CARRIED: True})

    def _add(self, view: View, said: Entry) -> None:
        number = view.last + 1
        if view.lines and not view.last_is_sealed:
            self._tail.seal(view)
        entry = {"number": number, "time": datetime.now(UTC).isoformat(), **said}
        last = view.newest
        entry |= {"format": STORE_FORMAT} if STORE_FORMAT else {}
        entry |= {"project": of} if (of := self.project or last.get("project")) else {}
        if said["event"] == "adopted":
            entry["location"] = said["by"]
        else:
            refuse_other_location(self.location, last.get("location"), self._place)
            decides = said.get("location") or self.location or last.get("location")
            entry |= {"location": decides} if decides else {}
        entry["previous"], after = view.head, view
        if number == view.first + SIZE:
            after, entry["index"] = self._with_segment(view)
        line = Line.of((json.dumps(entry, ensure_ascii=False) + "\n").encode())
        alone_until = view.time + self.storage.alone_seconds
        if not self.storage.keep(f"{ENTRIES}/{number:08}.json", line.data) or (
            time.time() >= alone_until and not self._tail.begins_at(after.first)
        ):
            raise StoreError(
                f"{self._place}: found entry {number}, written by another writer meanwhile; "
                "expected the log as it was at the start. Run this again.",
                may_pass=True,
            )
        after.lines.append(line)
        self._tail.seal(after)
        after.last_is_sealed = True
        if after is not view:
            # a segment and an index hold the tail of the view, and its index
            index = view.lines[0].entry.get("index")
            older = [f"{INDEX}/{seal_name(view.first - 1, index)}"] if index else []
            self.storage.forget([*self._tail.names(view), *older])
            self._held.view = after

    def _with_segment(self, view: View) -> tuple[View, str]:
        """The log with its full tail kept as a segment, and the digest of its index.

        The tail is still there too.
        """
        index = view.index.following(view.segment, view.lines)
        about = index.to_bytes()
        for folder, kept in ((SEGMENTS, view.segment), (INDEX, about)):
            name = f"{folder}/{seal_name(view.last, digest_of(kept))}"
            if not self.storage.keep(name, kept):
                raise self._broken(f"{name} with other bytes")
        digest = digest_of(about)
        self._indexes = {digest: index}
        return View(view.last + 1, index=index, time=view.time), digest

    def _segment_names(self) -> list[str]:
        return sorted(filter(KEPT.fullmatch, self.storage.names(SEGMENTS)))

    def _walked(self, names: Sequence[str]) -> View:
        found = View()
        fetched = self.storage.fetched(f"{SEGMENTS}/{name}" for name in names)
        for name, data in zip(names, fetched.values(), strict=True):
            lines = self._checked(name, data)
            for line in lines:
                self._follow(found, line)
            found.index = found.index.following(data or b"", lines)
        return found

    def _segment(self, index: Index, at: int) -> tuple[Line, ...]:
        """Remembered, since the digest says what the entries are."""
        name = seal_name((at + 1) * SIZE, index.segments[at])
        if name not in self._segments:
            lines = self._checked(name, self.storage.read(f"{SEGMENTS}/{name}"))
            self._segments = {**dict(list(self._segments.items())[-REMEMBERED:]), name: lines}
        return self._segments[name]

    def _checked(self, name: str, data: bytes | None) -> tuple[Line, ...]:
        last, digest = int(name[:8]), name[9:]
        if data is None or digest_of(data) != digest:
            raise self._broken(
                f"entries {last - SIZE + 1} to {last}, which are not the ones that were written"
            )
        return lines_of(data)

    def _index(self, first: int, line: Line) -> Index:
        """The index that the first entry after a segment names.

        If it is gone, it is made again from all segments before that entry.
        """
        digest = line.entry.get("index")
        if not isinstance(digest, str) or not KEPT.fullmatch(seal_name(first - 1, digest)):
            raise self._broken(f"entry {first}, which does not follow the one before it")
        if digest not in self._indexes:
            data = self.storage.read(f"{INDEX}/{seal_name(first - 1, digest)}") or b""
            if digest_of(data) != digest:
                before = [name for name in self._segment_names() if int(name[:8]) < first]
                data = self._walked(before).index.to_bytes()
            if digest_of(data) != digest:
                raise self._broken(f"segments that do not lead to entry {first}")
            self._indexes = {digest: Index(**json.loads(data))}
        return self._indexes[digest]

    def _follow(self, view: View, line: Line) -> None:
        number = view.last + 1
        if line.entry.get("number") != number or line.entry.get("previous") != view.head:
            raise self._broken(f"entry {number}, which does not follow the one before it")
        store_format = line.entry.get("format", 0)
        if not isinstance(store_format, int) or store_format > STORE_FORMAT:
            raise StoreError(
                f"{self._place}: found entry {number} in format {store_format}, which a "
                f"newer version of agreement_pipeline wrote; expected format {STORE_FORMAT} at "
                "most. Upgrade agreement_pipeline here. Nothing is wrong with the store."
            )
        if missing := lacking(line.entry):
            raise self._broken(f"entry {number} without {missing}")
        refuse_other_project(view.newest.get("project"), line.entry.get("project"), self._place)
        view.lines.append(line)

    @property
    def _place(self) -> str:
        return f"{self.storage.root}/{ENTRIES}"

    def _broken(self, found: str) -> StoreError:
        return StoreError(
            f"{self._place}: found {found}; expected every entry as it was written. "
            f"Restore the log, with its seals, from a backup."
        )


def _fewer(there: int, kept: Iterable[str]) -> str:
    written = int(max(kept)[:8])
    return f"{counted(there, 'entry')} where {written} {'was' if written == 1 else 'were'} written"
