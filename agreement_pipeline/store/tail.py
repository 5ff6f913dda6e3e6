"""The entries of the log since its last segment, and their seals, as they are kept."""

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from agreement_pipeline.store.segments import Line, first_after, lines_of, segment_of
from agreement_pipeline.store.storage import Storage

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
            torn = None in kept.entries or _ends_with_a_seal(kept)
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


def _ends_with_a_seal(kept: Kept) -> bool:
    """True if a seal has no entry: it was written after the entries were listed."""
    return any(int(seal[:8]) >= kept.first + len(kept.entries) for seal in kept.seals)
