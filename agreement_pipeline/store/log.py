"""The log of a store: one file for each event, in order.

::

    log/<number>.json              what happened
    seals/<number>-<digest>        an empty file that proves the entry was kept

Each entry carries the digest of the entry before it. Its seal is written after it.
The name of the seal holds the SHA-256 of the entry.

An entry is written whole, and it is never overwritten. If a writer is killed before it
writes the seal, the last entry has no seal. The next writer adds it.

A person who can write here can remove the last entries together with their seals.
Nothing in the folder shows this: the log looks as it did earlier.
Keep the name of the last seal where that person cannot write.
If the log was cut, that seal is gone.
"""

import json
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import zip_longest
from typing import Any, NamedTuple

from agreement_pipeline.errors import StoreError
from agreement_pipeline.store import files
from agreement_pipeline.store.entries import Entry, lacking, refuse_unknown, said_before
from agreement_pipeline.store.storage import Storage

ENTRIES, SEALS = "log", "seals"
NAME, SEAL = re.compile(r"[0-9]{8}\.json"), re.compile(r"[0-9]{8}-[0-9a-f]{64}")
OLDER = (
    " If an older version of this package wrote it, start a new store, "
    "and ingest again the originals that this one keeps."
)


class _Line(NamedTuple):
    """The bytes of an entry, their digest, and the entry."""

    data: bytes
    digest: str
    entry: Entry


@dataclass(eq=False)
class Log:
    """The events of a store, in order."""

    storage: Storage
    _read: list[_Line] = field(default_factory=list, repr=False)
    _held: list[_Line] | None = field(default=None, repr=False)

    def entries(self) -> tuple[Entry, ...]:
        """All entries, in order.

        Raises
        ------
        StoreError
            An entry was edited, moved or removed, or it lacks a fact. If the last entries
            were removed with their seals, the log cannot notice it.
        """
        return tuple(line.entry for line in self._lines())

    @contextmanager
    def held(self) -> Iterator[None]:
        """Read the log once. Later entries follow the ones that were read here.

        Call only while the storage is locked. An entry that another writer adds meanwhile
        is an error.
        """
        if self._held is not None:
            yield
            return
        self._held = list(self._lines())
        try:
            yield
        finally:
            self._held = None

    def append(self, event: str, round_name: str, facts: Mapping[str, Any]) -> None:
        """Add an entry, unless the last entry on the same subject says the same.

        Call only while the log is held. Two decisions are the same if they rest on the same
        facts.

        Raises
        ------
        StoreError
            One of these:

            - The event is unknown.
            - A fact is missing, or it has a name of the log's own.
            - A waiver does not name its verdict.
            - The log was edited, or another writer added an entry meanwhile.
        """
        refuse_unknown(event, facts)
        told = json.loads(json.dumps(dict(facts), allow_nan=False))
        missing = lacking({"event": event, "round": round_name, "time": "", **told})
        if missing:
            raise StoreError(
                f"log: found {event} of {round_name} without {missing}; "
                "expected an entry that says what it is about. Add it."
            )
        if not said_before(self.entries(), event, round_name, told):
            self._add({"event": event, "round": round_name, **told})

    def _add(self, said: Entry) -> None:
        lines = self._lines()
        number, previous = len(lines) + 1, lines[-1].digest if lines else ""
        entry = {
            "number": number,
            "time": datetime.now(UTC).isoformat(),
            **said,
            "previous": previous,
        }
        line = _line((json.dumps(entry, ensure_ascii=False) + "\n").encode())
        if lines:
            self._keep_seal(number - 1, previous)
        if not self.storage.keep(f"{ENTRIES}/{_name(number)}", line.data):
            raise StoreError(
                f"{self._place}: found entry {number}, written by another writer meanwhile; "
                "expected the log as it was at the start. Run this again."
            )
        self._keep_seal(number, line.digest)
        lines.append(line)

    def _keep_seal(self, number: int, digest: str) -> None:
        self.storage.keep(f"{SEALS}/{_seal(number, digest)}", b"")

    def _lines(self) -> list[_Line]:
        """All entries, read and checked. While the log is held: those it was held with.

        Seals are listed before entries are read. A seal is written after its entry, so
        every listed seal must have an entry.
        """
        if self._held is not None:
            return self._held
        seals = {name for name in self.storage.names(SEALS) if SEAL.fullmatch(name)}
        found = self._followed(self._entries())
        self._refuse_other(found, seals)
        self._read = found
        return found

    def _entries(self) -> list[bytes | None]:
        """The bytes of the entries up to the highest number.

        A listing may miss an entry that was added meanwhile. Such an entry is read by name.
        """
        found = self.storage.contents(ENTRIES)
        last = max((int(name[:8]) for name in found if NAME.fullmatch(name)), default=0)
        return [
            found.get(_name(number)) or self.storage.read(f"{ENTRIES}/{_name(number)}")
            for number in range(1, last + 1)
        ]

    def _followed(self, entries: list[bytes | None]) -> list[_Line]:
        """The entries, each checked to follow the one before it. Known bytes are not reparsed."""
        found: list[_Line] = []
        for number, (data, known) in enumerate(zip_longest(entries, self._read[: len(entries)]), 1):
            line = known if known and known.data == data else _line(data or b"")
            if line.entry.get("number") != number or line.entry.get("previous") != (
                found[-1].digest if found else ""
            ):
                raise self._broken(f"entry {number}, which does not follow the one before it")
            if missing := lacking(line.entry):
                raise self._broken(f"entry {number} without {missing}", OLDER)
            found.append(line)
        return found

    def _refuse_other(self, found: list[_Line], seals: set[str]) -> None:
        wanted = [_seal(number, line.digest) for number, line in enumerate(found, 1)]
        other = sorted(seals.difference(wanted))
        if other and int(other[-1][:8]) > len(found):
            raise self._broken(f"{len(found)} entries where {int(other[-1][:8])} were written")
        missing = [
            seal
            for seal in wanted[:-1]
            if seal not in seals and self.storage.read(f"{SEALS}/{seal}") is None
        ]
        if other or missing:
            raise self._broken(
                f"entry {int(min(other + missing)[:8])}, which is not the one that was written"
            )

    @property
    def _place(self) -> str:
        return f"{self.storage.root}/{ENTRIES}"

    def _broken(self, found: str, otherwise: str = "") -> StoreError:
        return StoreError(
            f"{self._place}: found {found}; expected every entry as it was written. "
            f"Restore the log, with its seals, from a backup.{otherwise}"
        )


def _name(number: int) -> str:
    return f"{number:08}.json"


def _seal(number: int, digest: str) -> str:
    return f"{number:08}-{digest}"


def _line(data: bytes) -> _Line:
    try:
        entry = json.loads(data)
    except (ValueError, RecursionError):
        entry = None
    return _Line(data, files.digest_of(data), entry if isinstance(entry, dict) else {})
