"""How far a large file has been read, for those who wait."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

LARGE = 100_000_000
"""From how many bytes on it is said."""


class _Place(NamedTuple):
    name: str
    size: int
    at: int


_now: dict[object, _Place] = {}


@contextmanager
def followed(path: Path) -> Iterator[Callable[[int], None]]:
    """While a file is read: a function that is told how many bytes have been read."""
    reading, size = object(), path.stat().st_size

    def note(at: int) -> None:
        if size >= LARGE:
            _now[reading] = _Place(path.name, size, at)

    try:
        yield note
    finally:
        _now.pop(reading, None)


def how_far() -> str:
    """How far the file is that was opened last. Empty if no large file is being read.

    >>> how_far()
    ''
    """
    for name, size, at in reversed(list(_now.values())):
        return f"{at / size:.0%} of {name}"
    return ""
