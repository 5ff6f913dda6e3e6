"""The older part of the log: segments of entries, and an index of their names.

Everything here is made of bytes alone. The same entries give the same bytes.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from agreement_pipeline.store.entries import Entry, mentioned
from agreement_pipeline.store.files import digest_of

SIZE = 32


class Line(NamedTuple):
    """The bytes of an entry, their digest, and the entry."""

    data: bytes
    digest: str
    entry: Entry


def line_of(data: bytes) -> Line:
    """The entry in these bytes. It is empty if they hold none."""
    return Line(data, digest_of(data), _mapping(data))


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


def _mapping(data: bytes) -> dict[str, Any]:
    try:
        found = json.loads(data)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}
