"""The project to date: what was counted in each round, added up.

Each round is counted once. Its statistics are kept in the store beside it, and so are the sums of
every 32 rounds, and of every 32 such sums. No decision reads them::

    counted/<version of the code>/<digest>.npz
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from zipfile import BadZipFile

from agreement_pipeline.counting import CountedRatings, summed
from agreement_pipeline.errors import AgreementError, StoreError
from agreement_pipeline.store import RoundVersion, Store
from agreement_pipeline.version import __version__

MOST_ADDED = 32


@dataclass(frozen=True)
class _Sum:
    """Rounds that are counted together, and how to count them if nothing was kept."""

    name: str
    count: Callable[[], CountedRatings]
    kept: bool = True


def to_date(store: Store) -> CountedRatings:
    """What was counted in the present version of every round of a store.

    Raises
    ------
    StoreError
        The store holds no round, or kept statistics cannot be read.
    RatingsError
        The rounds have other scales, or items in clusters.
    """
    sums = [
        _Sum(version.table_digest, partial(_counted, store, version)) for version in _present(store)
    ]
    if not sums:
        raise StoreError(f"{store.root}: found no round; expected one at least. Ingest it first.")
    while len(sums) > MOST_ADDED:
        starts = range(0, len(sums), MOST_ADDED)
        sums = [_together(store, sums[start : start + MOST_ADDED]) for start in starts]
    return _added(store, sums)


def _present(store: Store) -> list[RoundVersion]:
    """The present version of each round, in the order of their names."""
    fields = RoundVersion.__dataclass_fields__
    ingested = [entry for entry in store.history() if entry["event"] == "ingested"]
    last = {entry["round"]: {name: entry[name] for name in fields} for entry in ingested}
    return [RoundVersion(**last[name]) for name in sorted(last)]


def _counted(store: Store, version: RoundVersion) -> CountedRatings:
    """What is counted of the round's own ratings. Those of earlier rounds are counted there."""
    return CountedRatings.of(store.ratings_of(version).without_earlier)


def _together(store: Store, sums: Sequence[_Sum]) -> _Sum:
    """Some sums as one. A sum that may still grow is not kept."""
    name = sha256("\n".join(each.name for each in sums).encode()).hexdigest()
    full = len(sums) == MOST_ADDED and all(each.kept for each in sums)
    return _Sum(name, partial(_added, store, sums), full)


def _added(store: Store, sums: Sequence[_Sum]) -> CountedRatings:
    return summed([_read(store, each) for each in sums])


def _read(store: Store, part: _Sum) -> CountedRatings:
    """What was kept. If nothing was, it is counted and kept."""
    if not part.kept:
        return part.count()
    name = f"counted/{__version__}/{part.name}.npz"
    data = store.storage.read(name)
    if data is not None:
        return _opened(data, f"{store.root / name}")
    counted = part.count()
    with store.locked():
        store.storage.keep(name, counted.to_bytes())
    return counted


def _opened(data: bytes, source: str) -> CountedRatings:
    try:
        return CountedRatings.from_bytes(data)
    except (
        AgreementError,
        ValueError,
        LookupError,
        TypeError,
        EOFError,
        MemoryError,
        BadZipFile,
    ) as cause:
        raise StoreError(
            f"{source}: found no statistics that can be read ({cause}); expected those that were "
            "kept. Remove the file: the rounds are then counted again."
        ) from None
