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
    LOG_FIELDS,
    SUBJECTS,
    Entry,
    is_repeated,
    mentioned_names,
    missing_facts_message,
    require_same_location,
    require_same_project,
)
from agreement_pipeline.store.local import digest_of
from agreement_pipeline.store.objects import Storage
from agreement_pipeline.text import counted, listed

ENTRIES_PER_SEGMENT = 32
STORE_FORMAT = 1
"""The form in which this version writes a store. Each entry of a later form names its number."""
ENTRIES, SEGMENTS, INDEX = "log", "segments", "index"
SEALS = f"{ENTRIES}/seals"
CARRIED = "carried"
ENTRY_NAME, SEAL = re.compile(r"[0-9]{8}\.json"), re.compile(r"seals/[0-9]{8}-[0-9a-f]{64}")
NUMBERED_DIGEST = re.compile(r"[0-9]{8}-[0-9a-f]{64}")
MAX_REMEMBERED_SEGMENTS = 100


class Line(NamedTuple):
    data: bytes
    digest: str
    entry: Entry

    @classmethod
    def from_bytes(cls, data: bytes) -> "Line":
        try:
            entry = json.loads(data)
        except MISREAD:
            entry = {}
        return cls(data, digest_of(data), entry if isinstance(entry, dict) else {})


def parse_lines(segment: bytes) -> tuple[Line, ...]:
    return tuple(map(Line.from_bytes, segment.splitlines(keepends=True)))


def tail_start(last_number: int) -> int:
    """The number of the first entry that is in no segment yet."""
    return max(last_number - (last_number - 1) % ENTRIES_PER_SEGMENT, 1)


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
        for name in {name for line in lines for name in mentioned_names(line.entry)}:
            names[name] = [*names.get(name, []), len(self.segments)]
        return Index([*self.segments, digest_of(segment)], lines[-1].digest, names)

    def to_bytes(self) -> bytes:
        return json.dumps(vars(self), sort_keys=True, separators=(",", ":")).encode()


@dataclass(eq=False)
class View:
    """The log as it was at a time: its entries from number `first_number` on, and the index of
    the rest.
    """

    first_number: int = 1
    lines: list[Line] = field(default_factory=list)
    index: Index = field(default_factory=Index)
    last_is_sealed: bool = True
    older: tuple[Entry, ...] | None = None
    time: float = 0.0

    @property
    def last_number(self) -> int:
        return self.first_number - 1 + len(self.lines)

    @property
    def newest(self) -> Entry:
        return self.lines[-1].entry if self.lines else {}

    @property
    def head(self) -> str:
        return self.lines[-1].digest if self.lines else self.index.head

    @property
    def seals(self) -> list[str]:
        return [
            seal_name(self.first_number + position, line.digest)
            for position, line in enumerate(self.lines)
        ]

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
        previous_listing = None
        while True:
            self._listed = listed = self.storage.listed(ENTRIES)
            last_number = max(
                (int(name[:8]) for name in listed if ENTRY_NAME.fullmatch(name)), default=0
            )
            first_number = tail_start(last_number)
            sealed = {name[6:] for name in listed if SEAL.fullmatch(name)}
            seals = {seal for seal in sealed if int(seal[:8]) >= first_number}
            names = [f"{number:08}.json" for number in range(first_number, last_number + 1)]
            tags = {entry_name: listed.get(entry_name, "") for entry_name in names}
            entries = self._read_entries(tags, seals)
            # a later seal was written after the listing
            torn = None in entries or any(int(seal[:8]) > last_number for seal in seals)
            if not torn or previous_listing == listed:
                return first_number, entries, seals
            previous_listing = listed

    def begins_at(self, first_number: int) -> bool:
        """If not, another writer made a segment, and the number of an entry in it is free again.
        Nobody reads what is written under it.
        """
        listed = self.storage.listed(ENTRIES)
        return (
            tail_start(max(int(name[:8]) for name in listed if ENTRY_NAME.fullmatch(name)))
            == first_number
        )

    def seal(self, view: View) -> None:
        self.storage.keep(f"{SEALS}/{view.seals[-1]}", view.segment)
        data = view.lines[-1].data
        self._known[_md5_tag(data)] = data

    def names(self, view: View) -> list[str]:
        leftover = [
            name
            for name in self._listed
            if (ENTRY_NAME.fullmatch(name) and int(name[:8]) < view.first_number)
            or (SEAL.fullmatch(name) and int(name[6:14]) < view.first_number)
        ]
        entries = [f"{number:08}.json" for number in range(view.first_number, view.last_number + 1)]
        seals = [f"seals/{seal}" for seal in view.seals]
        return [f"{ENTRIES}/{name}" for name in (*entries, *seals, *leftover)]

    def _read_entries(self, tags: Mapping[str, str], seals: set[str]) -> list[bytes | None]:
        """Bytes are known if their MD5 is the tag in the listing."""
        bytes_by_tag = dict(self._known)  # other threads of the process read other segments
        if seals and sum(tag not in bytes_by_tag for tag in tags.values() if tag) > 1:
            sealed = parse_lines(self.storage.read(f"{SEALS}/{max(seals)}") or b"")
            bytes_by_tag |= {_md5_tag(line.data): line.data for line in sealed}
        unknown = [f"{ENTRIES}/{name}" for name, tag in tags.items() if tag not in bytes_by_tag]
        fetched_bytes = self.storage.fetched(unknown)
        contents = [
            bytes_by_tag[tag] if tag in bytes_by_tag else fetched_bytes[f"{ENTRIES}/{name}"]
            for name, tag in tags.items()
        ]
        pairs = zip(tags.values(), contents, strict=True)
        self._known = {tag: data for tag, data in pairs if tag and data is not None}
        return contents


def _md5_tag(data: bytes) -> str:
    return hashlib.md5(data, usedforsecurity=False).hexdigest()


class _ThreadState(threading.local):
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
    _thread: _ThreadState = field(default_factory=_ThreadState, repr=False)

    def __post_init__(self) -> None:
        self._tail = Tail(self.storage)

    def entries(self) -> tuple[Entry, ...]:
        view = self._view
        if view.older is None:
            if later_segments := [
                name for name in self._segment_names() if int(name[:8]) > view.last_number
            ]:
                raise self._broken_log_error(
                    _too_few_entries_message(view.last_number, later_segments)
                )
            numbered_digests = enumerate(view.index.segments, 1)
            segment_names = [
                seal_name(number * ENTRIES_PER_SEGMENT, digest)
                for number, digest in numbered_digests
            ]
            segment_view = self._walk_segments(segment_names)
            if segment_view.index != view.index:
                raise self._broken_log_error("an index that does not follow from the entries")
            view.older = tuple(line.entry for line in segment_view.lines)
        return view.older + tuple(line.entry for line in view.lines)

    def give_to(self, project: str) -> None:
        require_same_project(project, self.project, self._place)
        require_same_project(project, self._view.newest.get("project"), self._place)
        self.project = project

    @property
    def _view(self) -> View:
        return self._thread.view or self.look()

    def about(self, *names: str) -> Iterator[Entry]:
        """Only the segments that mention the names are read. The rest is checked as `look` says."""
        view = self._view
        mentioning = {position for name in names for position in view.index.names.get(name, ())}
        for line in self._iterate_lines(view, sorted(mentioning)):
            if not mentioned_names(line.entry).isdisjoint(names):
                yield line.entry

    @property
    def head(self) -> str:
        return self._view.head

    @property
    def mark(self) -> str:
        """The number of the last entry, and its digest: the name of its seal."""
        view = self._view
        return seal_name(view.last_number, view.head)

    def following(self, mark: str) -> tuple[Entry, ...] | None:
        view = self._view
        if (
            not NUMBERED_DIGEST.fullmatch(mark)
            or not 0 < (number := int(mark[:8])) <= view.last_number
        ):
            return None
        n_segments = len(view.index.segments)
        first_segment = min((number - 1) // ENTRIES_PER_SEGMENT, n_segments)
        lines = [*self._iterate_lines(view, range(first_segment, n_segments))][
            number - first_segment * ENTRIES_PER_SEGMENT - 1 :
        ]
        return tuple(line.entry for line in lines[1:]) if lines[0].digest == mark[9:] else None

    def since(self, seal: str) -> tuple[Entry, ...] | None:
        """What `following` gives for the name of a seal, after a check of the whole log."""
        with self.hold():
            self.entries()
            return self.following(seal)

    def latest(self, event: str) -> Entry | None:
        return next(self.backwards(event), None)

    def backwards(self, event: str) -> Iterator[Entry]:
        """The entries of one event, the newest first."""
        view = self._view
        older = (
            self._read_segment(view.index, position)
            for position in reversed(range(len(view.index.segments)))
        )
        for lines in chain([view.lines], older):
            yield from (line.entry for line in reversed(lines) if line.entry["event"] == event)

    def _iterate_lines(self, view: View, segments: Iterable[int]) -> Iterator[Line]:
        for position in segments:
            yield from self._read_segment(view.index, position)
        yield from view.lines

    def look(self) -> View:
        """The entries since the last segment, each checked against its seal and the entry before
        it, and the index of the others, checked against the first of them. A segment is checked
        when it is read.
        """
        start = time.time()
        first_number, entries, seals = self._tail.read()
        view = View(first_number, time=start)
        if first_number > 1:
            view.index = self._read_index(first_number, Line.from_bytes(entries[0] or b""))
        elif not entries and (unexpected := {*seals, *self._segment_names()}):
            # Each segment is followed by an entry.
            raise self._broken_log_error(_too_few_entries_message(0, unexpected))
        for data in entries:
            self._add_line(view, Line.from_bytes(data or b""))
        expected_seals = view.seals
        view.last_is_sealed = not expected_seals or expected_seals[-1] in seals
        unknown_seals = sorted(seals.difference(expected_seals))
        if unknown_seals and int(unknown_seals[-1][:8]) > view.last_number:
            raise self._broken_log_error(_too_few_entries_message(view.last_number, unknown_seals))
        missing = [
            seal
            for seal in expected_seals[:-1]
            if seal not in seals and self.storage.read(f"{SEALS}/{seal}") is None
        ]
        if unknown_seals or missing:
            number = int(min(unknown_seals + missing)[:8])
            raise self._broken_log_error(f"entry {number}, which is not the one that was written")
        require_same_project(self.project, view.newest.get("project"), self._place)
        if view.newest.get(CARRIED) and not self.carrying:
            raise StoreError(
                f"{self._place}: found a store whose making was stopped; expected one that is "
                "whole. Run the same `agreement-pipeline store` command again: it goes on."
            )
        return view

    @contextmanager
    def hold(self, *, writing: bool = False) -> Iterator[None]:
        """Look at the log once. All reads inside see the log as it was then.

        If `writing`, entries can be added. Write only while the storage is locked.
        """
        thread = self._thread
        if thread.view is not None and (thread.writing or not writing):
            yield
            return
        outer_state = thread.view, thread.writing
        thread.view, thread.writing = self.look(), writing
        try:
            yield
        finally:
            thread.view, thread.writing = outer_state

    def append(self, event: str, round_name: str, facts: Mapping[str, Any]) -> None:
        """Nothing is added if the last entry on the same subject says the same. Call only while the
        log is held.
        """
        if event not in SUBJECTS:
            raise StoreError(
                f"log: found event {event!r}; expected one of {', '.join(SUBJECTS)}. "
                "Correct the event."
            )
        if reserved := sorted(set(LOG_FIELDS) & set(facts)):
            raise StoreError(
                f"log: found facts called {listed(reserved)}; expected other names, "
                "since the log uses these itself. Rename the facts."
            )
        stored_facts = json.loads(json.dumps(dict(facts), allow_nan=False))
        missing = missing_facts_message(
            {"event": event, "round": round_name, "time": "", **stored_facts}
        )
        if missing:
            raise StoreError(
                f"log: found {event} of {round_name} without {missing}; "
                "expected an entry that says what it is about. Add it."
            )
        if not is_repeated(self.about(round_name), event, round_name, stored_facts):
            assert self._thread.view is not None
            self._add(self._thread.view, {"event": event, "round": round_name, **stored_facts})

    def carry(self, number: int, entry: Entry) -> None:
        """Add an entry of another log as this number, under its own time. Call only while held.

        Until another entry follows, nobody but who is carrying reads the log.
        """
        view = self._thread.view
        assert view is not None
        if missing := missing_facts_message(entry):
            raise StoreError(
                f"log: found {entry.get('event')} of {entry.get('round')} without {missing}; "
                "expected an entry that says what it is about. Restore the log from a backup."
            )
        if number != view.last_number + 1:
            raise StoreError(
                f"{self._place}: found {counted(view.last_number, 'entry')} where entry {number} "
                "was to follow; expected nobody else to write here. Run this again.",
                may_pass=True,
            )
        self._add(view, {**entry, CARRIED: True})

    def _add(self, view: View, facts: Entry) -> None:
        number = view.last_number + 1
        if view.lines and not view.last_is_sealed:
            self._tail.seal(view)
        entry = {"number": number, "time": datetime.now(UTC).isoformat(), **facts}
        newest_entry = view.newest
        entry |= {"format": STORE_FORMAT} if STORE_FORMAT else {}
        project_name = self.project or newest_entry.get("project")
        entry |= {"project": project_name} if project_name else {}
        if facts["event"] == "adopted":
            entry["location"] = facts["by"]
        else:
            require_same_location(self.location, newest_entry.get("location"), self._place)
            deciding_location = (
                facts.get("location") or self.location or newest_entry.get("location")
            )
            entry |= {"location": deciding_location} if deciding_location else {}
        entry["previous"], next_view = view.head, view
        if number == view.first_number + ENTRIES_PER_SEGMENT:
            next_view, entry["index"] = self._close_segment(view)
        line = Line.from_bytes((json.dumps(entry, ensure_ascii=False) + "\n").encode())
        alone_until = view.time + self.storage.alone_seconds
        if not self.storage.keep(f"{ENTRIES}/{number:08}.json", line.data) or (
            time.time() >= alone_until and not self._tail.begins_at(next_view.first_number)
        ):
            raise StoreError(
                f"{self._place}: found entry {number}, written by another writer meanwhile; "
                "expected the log as it was at the start. Run this again.",
                may_pass=True,
            )
        next_view.lines.append(line)
        self._tail.seal(next_view)
        next_view.last_is_sealed = True
        if next_view is not view:
            # a segment and an index hold the tail of the view, and its index
            index = view.lines[0].entry.get("index")
            older = [f"{INDEX}/{seal_name(view.first_number - 1, index)}"] if index else []
            self.storage.forget([*self._tail.names(view), *older])
            self._thread.view = next_view

    def _close_segment(self, view: View) -> tuple[View, str]:
        """The log with its full tail kept as a segment, and the digest of its index.

        The tail is still there too.
        """
        index = view.index.following(view.segment, view.lines)
        index_bytes = index.to_bytes()
        for folder, content in ((SEGMENTS, view.segment), (INDEX, index_bytes)):
            name = f"{folder}/{seal_name(view.last_number, digest_of(content))}"
            if not self.storage.keep(name, content):
                raise self._broken_log_error(f"{name} with other bytes")
        digest = digest_of(index_bytes)
        self._indexes = {digest: index}
        return View(view.last_number + 1, index=index, time=view.time), digest

    def _segment_names(self) -> list[str]:
        return sorted(filter(NUMBERED_DIGEST.fullmatch, self.storage.names(SEGMENTS)))

    def _walk_segments(self, names: Sequence[str]) -> View:
        view = View()
        fetched = self.storage.fetched(f"{SEGMENTS}/{name}" for name in names)
        for name, data in zip(names, fetched.values(), strict=True):
            lines = self._check_segment(name, data)
            for line in lines:
                self._add_line(view, line)
            view.index = view.index.following(data or b"", lines)
        return view

    def _read_segment(self, index: Index, position: int) -> tuple[Line, ...]:
        """Remembered, since the digest says what the entries are."""
        name = seal_name((position + 1) * ENTRIES_PER_SEGMENT, index.segments[position])
        if name not in self._segments:
            lines = self._check_segment(name, self.storage.read(f"{SEGMENTS}/{name}"))
            self._segments = {
                **dict(list(self._segments.items())[-MAX_REMEMBERED_SEGMENTS:]),
                name: lines,
            }
        return self._segments[name]

    def _check_segment(self, name: str, data: bytes | None) -> tuple[Line, ...]:
        last_number, digest = int(name[:8]), name[9:]
        if data is None or digest_of(data) != digest:
            raise self._broken_log_error(
                f"entries {last_number - ENTRIES_PER_SEGMENT + 1} to {last_number}, which are not "
                "the ones that were written"
            )
        return parse_lines(data)

    def _read_index(self, first_number: int, line: Line) -> Index:
        """The index that the first entry after a segment names.

        If it is gone, it is made again from all segments before that entry.
        """
        digest = line.entry.get("index")
        if not isinstance(digest, str) or not NUMBERED_DIGEST.fullmatch(
            seal_name(first_number - 1, digest)
        ):
            raise self._broken_log_error(
                f"entry {first_number}, which does not follow the one before it"
            )
        if digest not in self._indexes:
            data = self.storage.read(f"{INDEX}/{seal_name(first_number - 1, digest)}") or b""
            if digest_of(data) != digest:
                earlier_segments = [
                    name for name in self._segment_names() if int(name[:8]) < first_number
                ]
                data = self._walk_segments(earlier_segments).index.to_bytes()
            if digest_of(data) != digest:
                raise self._broken_log_error(f"segments that do not lead to entry {first_number}")
            self._indexes = {digest: Index(**json.loads(data))}
        return self._indexes[digest]

    def _add_line(self, view: View, line: Line) -> None:
        number = view.last_number + 1
        if line.entry.get("number") != number or line.entry.get("previous") != view.head:
            raise self._broken_log_error(f"entry {number}, which does not follow the one before it")
        store_format = line.entry.get("format", 0)
        if not isinstance(store_format, int) or store_format > STORE_FORMAT:
            raise StoreError(
                f"{self._place}: found entry {number} in format {store_format}, which a "
                f"newer version of agreement_pipeline wrote; expected format {STORE_FORMAT} at "
                "most. Upgrade agreement_pipeline here. Nothing is wrong with the store."
            )
        if missing := missing_facts_message(line.entry):
            raise self._broken_log_error(f"entry {number} without {missing}")
        require_same_project(view.newest.get("project"), line.entry.get("project"), self._place)
        view.lines.append(line)

    @property
    def _place(self) -> str:
        return f"{self.storage.root}/{ENTRIES}"

    def _broken_log_error(self, problem: str) -> StoreError:
        return StoreError(
            f"{self._place}: found {problem}; expected every entry as it was written. "
            f"Restore the log, with its seals, from a backup."
        )


def _too_few_entries_message(n_entries: int, names: Iterable[str]) -> str:
    n_written = int(max(names)[:8])
    verb = "was" if n_written == 1 else "were"
    return f"{counted(n_entries, 'entry')} where {n_written} {verb} written"
