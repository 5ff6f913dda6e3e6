"""The store's log: a file an event, each carrying the digest of the one before it, and a seal beside it.

::

    log/<number>.json              what happened
    seals/<number>-<digest>        that it is kept: an empty file, written after the entry, whose name holds the entry's SHA-256

An entry is there or it is not: no half of one can be read, and none is ever written over. The last may lack its seal, when its writer was
killed between the two; the next writer puts it.

Whoever can write here can remove the end of the log, any number of entries with their seals, and nothing that stays shows it: what is left is a
log as it once was. The name of the last seal, kept where such a person cannot write, does: it is gone then.
"""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from itertools import zip_longest
from typing import Any, NamedTuple

from agreement_pipeline.errors import StoreError
from agreement_pipeline.store import files
from agreement_pipeline.store.storage import Storage
from agreement_pipeline.text import listed

ENTRIES, SEALS = "log", "seals"
SUBJECTS = {
    "ingested": "ratings",
    "decided": "decision",
    "released": "release",
    "withdrawn": "release",
}
DECIDING = (
    "decision",
    "ratings_digest",
    "policy_digest",
    "contract_digest",
    "code_version",
    "waivers",
)
FACTS = {
    "ingested": ("ratings_digest", "original_digest", "source", "table_digest"),
    "decided": (*DECIDING, "tentative", "verdicts", "findings"),
    "released": ("release", "rounds", "manifest_digest"),
    "withdrawn": ("releases", "reasons"),
}
WAIVED = ("round", "ratings_digest", "measure", "scope", "who", "why", "until")
NAME, SEAL = re.compile(r"[0-9]{8}\.json"), re.compile(r"[0-9]{8}-[0-9a-f]{64}")
HALF = re.compile(r"[\ud800-\udfff]")
OLDER = " If an older version of this package wrote it, start a new store, and ingest again the originals that this one keeps."
OWN = ("number", "time", "event", "round", "previous")

Entry = dict[str, Any]


def is_text(value: object) -> bool:
    """Is it a text, with no half of a character in it, which could not be written?"""
    return isinstance(value, str) and not HALF.search(value)


def are_texts(value: object) -> bool:
    """Is it a list of texts?"""
    return isinstance(value, list) and all(map(is_text, value))


def _is_naming(value: object) -> bool:
    return isinstance(value, dict) and bool(value) and are_texts([*value, *value.values()])


def _is_flag(value: object) -> bool:
    return isinstance(value, bool)


def _is_limit(value: object) -> bool:
    """Is it a number, or nothing where there is none?"""
    return value is None or (isinstance(value, int | float) and not isinstance(value, bool))


def _are_each(said: Mapping[str, Callable[[object], bool]], values: object) -> bool:
    """Is it a list, each of which says this much?"""
    return isinstance(values, list) and all(
        isinstance(value, dict)
        and all(name in value and is_so(value[name]) for name, is_so in said.items())
        for value in values
    )


class _Kind(NamedTuple):
    """What a fact must be, in words and as a question."""

    words: str
    holds: Callable[[object], bool]


LIMITS = dict.fromkeys(("value", "low", "high"), _is_limit)
TEXT, TEXTS = _Kind("a text", is_text), _Kind("a list of texts", are_texts)
KINDS = {
    "releases": TEXTS,
    "reasons": TEXTS,
    "rounds": _Kind("texts by name", _is_naming),
    "tentative": _Kind("true or false", _is_flag),
    "verdicts": _Kind(
        "a list of verdicts",
        partial(
            _are_each, dict.fromkeys(("measure", "effect", "verdict", "reason"), is_text) | LIMITS
        ),
    ),
    "findings": _Kind(
        "a list of findings",
        partial(_are_each, {"description": is_text, "severity": is_text, "passed": _is_flag}),
    ),
}
"""The facts that are no text."""


class _Line(NamedTuple):
    """An entry as it was written, its digest, and what it says."""

    data: bytes
    digest: str
    entry: Entry


@dataclass(eq=False)
class Log:
    """What happened in a store, in order."""

    storage: Storage
    _read: list[_Line] = field(default_factory=list, repr=False)
    _held: list[_Line] | None = field(default=None, repr=False)

    def entries(self) -> tuple[Entry, ...]:
        """All entries, in order.

        Raises
        ------
        StoreError
            An entry was edited or moved, or removed but for the last ones together with their seals; or it does not say what it must.
        """
        return tuple(line.entry for line in self._lines())

    @contextmanager
    def held(self) -> Iterator[None]:
        """From here on, entries follow those that stand here now, and none that another writes meanwhile. The storage must be locked."""
        if self._held is not None:
            yield
            return
        self._held = list(self._lines())
        try:
            yield
        finally:
            self._held = None

    def append(self, event: str, round_name: str, facts: Mapping[str, Any]) -> None:
        """Add an entry, unless the last one on the same subject says the same. The log must be held.

        A decision is the same when what it rests on is: names and words follow from that.

        Raises
        ------
        StoreError
            The event is unknown, a fact has a name of the log's own or is missing, a waiver does not say what it is a waiver of, the log was edited,
            or another wrote to it meanwhile.
        """
        _refuse_unknown(event, facts)
        told = json.loads(json.dumps(dict(facts), allow_nan=False))
        lacking = _lacking({"event": event, "round": round_name, "time": "", **told})
        if lacking:
            raise StoreError(
                f"log: {event} of {round_name} without {lacking} found; an entry that says what it is about is required. Add it."
            )
        if not _said_before(self.entries(), event, round_name, told):
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
                f"{self._place}: entry {number} was written by another meanwhile; the log as it stood at the start is required. Run this again."
            )
        self._keep_seal(number, line.digest)
        lines.append(line)

    def _keep_seal(self, number: int, digest: str) -> None:
        self.storage.keep(f"{SEALS}/{_seal(number, digest)}", b"")

    def _lines(self) -> list[_Line]:
        """The entries read and checked; while the log is held, those that stood there at the start and those added since.

        Seals are listed first: each is put after its entry, so that none of those listed can lack one.
        """
        if self._held is not None:
            return self._held
        seals = {name for name in self.storage.names(SEALS) if SEAL.fullmatch(name)}
        found = self._followed(self._entries())
        self._refuse_other(found, seals)
        self._read = found
        return found

    def _entries(self) -> list[bytes | None]:
        """The entries as they stand there, to the highest number. A listing may miss what came while it was made; a look at the name does not."""
        found = self.storage.contents(ENTRIES)
        last = max((int(name[:8]) for name in found if NAME.fullmatch(name)), default=0)
        return [
            found.get(_name(number)) or self.storage.read(f"{ENTRIES}/{_name(number)}")
            for number in range(1, last + 1)
        ]

    def _followed(self, entries: list[bytes | None]) -> list[_Line]:
        """The entries, each of them following the one before it; those that were read before are not parsed again."""
        found: list[_Line] = []
        for number, (data, known) in enumerate(zip_longest(entries, self._read[: len(entries)]), 1):
            line = known if known and known.data == data else _line(data or b"")
            if line.entry.get("number") != number or line.entry.get("previous") != (
                found[-1].digest if found else ""
            ):
                raise self._broken(f"entry {number} does not follow the one before it")
            if lacking := _lacking(line.entry):
                raise self._broken(f"entry {number} found without {lacking}", OLDER)
            found.append(line)
        return found

    def _refuse_other(self, found: list[_Line], seals: set[str]) -> None:
        wanted = [_seal(number, line.digest) for number, line in enumerate(found, 1)]
        other = sorted(seals.difference(wanted))
        if other and int(other[-1][:8]) > len(found):
            raise self._broken(
                f"{len(found)} entries found where {int(other[-1][:8])} were written"
            )
        missing = [
            seal
            for seal in wanted[:-1]
            if seal not in seals and self.storage.read(f"{SEALS}/{seal}") is None
        ]
        if other or missing:
            raise self._broken(
                f"entry {int(min(other + missing)[:8])} is not the one that was written"
            )

    @property
    def _place(self) -> str:
        return f"{self.storage.root}/{ENTRIES}"

    def _broken(self, found: str, otherwise: str = "") -> StoreError:
        return StoreError(
            f"{self._place}: {found}; every entry as it was written is required. Restore the log, with its seals, from a backup.{otherwise}"
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


def _refuse_unknown(event: str, facts: Mapping[str, Any]) -> None:
    if event not in SUBJECTS:
        raise StoreError(
            f"log: event {event!r} found; one of {', '.join(SUBJECTS)} is required. Correct the event."
        )
    taken = sorted(set(OWN) & set(facts))
    if taken:
        raise StoreError(
            f"log: facts called {listed(taken)} found; these names are the log's own. Rename the facts."
        )


def _lacking(entry: Entry) -> str | None:
    """What an entry must say and does not: its facts, and in each waiver which verdict on these very ratings it turns."""
    if str(entry.get("event")) not in FACTS:
        return "an event that is known"
    missing = [name for name in ("round", "time", *FACTS[entry["event"]]) if name not in entry]
    if missing:
        return f"facts {listed(missing)}"
    if other := _of_another_kind(entry):
        return other
    waivers = entry["waivers"] if entry["event"] == "decided" else []
    if not isinstance(waivers, list) or not all(isinstance(waiver, dict) for waiver in waivers):
        return "a list of waivers"
    subject = {name: entry[name] for name in ("round", "ratings_digest") if waivers}
    said = [
        (f"{name} of waiver {n}", waiver.get(name), subject.get(name))
        for n, waiver in enumerate(waivers, 1)
        for name in WAIVED
    ]
    return next(
        (
            f"{what}, which is its subject"
            for what, found, due in said
            if not found or found != (due or found)
        ),
        None,
    )


def _of_another_kind(entry: Entry) -> str | None:
    """The first fact that is not of its kind, and the kind: what reads the log relies on it."""
    texts = {"round", "time", *FACTS[entry["event"]]} - KINDS.keys() - {"waivers"}
    kinds = dict.fromkeys(sorted(texts), TEXT) | {
        name: kind for name, kind in KINDS.items() if name in entry
    }
    return next(
        (f"{kind.words} as {name}" for name, kind in kinds.items() if not kind.holds(entry[name])),
        None,
    )


def _said_before(before: Iterable[Entry], event: str, round_name: str, told: Entry) -> bool:
    same_subject = [
        entry
        for entry in before
        if entry["round"] == round_name and SUBJECTS[entry["event"]] == SUBJECTS[event]
    ]
    if not same_subject or same_subject[-1]["event"] != event:
        return False
    last = {name: value for name, value in same_subject[-1].items() if name not in OWN}
    names = DECIDING if event == "decided" else {*last, *told}
    return all(last.get(name) == told.get(name) for name in names)
