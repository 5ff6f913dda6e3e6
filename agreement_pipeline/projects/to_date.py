"""The project to date: what was counted in each round, added up.

Statistics of each round are kept in the store beside it, and so are the sums of every 32 rounds,
and of every 32 such sums. No decision reads them::

    counted/<version of the code>/<digest>.npz
"""

from collections.abc import Sequence
from dataclasses import dataclass
from zipfile import BadZipFile

from agreement_pipeline.counting import CountedRatings, sum_counted
from agreement_pipeline.errors import MISREAD, StoreError
from agreement_pipeline.store import RoundVersion, Store, digest_of, of_event
from agreement_pipeline.version import __version__

MAX_PARTS_PER_SUM = 32


@dataclass(frozen=True)
class _Part:
    name: str
    of: "RoundVersion | Sequence[_Part]"
    kept: bool = True


def to_date(store: Store) -> CountedRatings:
    last_by_round = {entry["round"]: entry for entry in of_event("ingested", store.history())}
    versions = [RoundVersion.from_entry(last_by_round[name]) for name in sorted(last_by_round)]
    if not versions:
        raise StoreError(
            f"{store.root}: found no round; expected one at least. Let Dagster judge one, "
            "or run `agreement-pipeline run`, or name another store."
        )
    parts = [_Part(version.table_digest, version) for version in versions]
    while len(parts) > MAX_PARTS_PER_SUM:
        starts = range(0, len(parts), MAX_PARTS_PER_SUM)
        parts = [_combine_parts(parts[start : start + MAX_PARTS_PER_SUM]) for start in starts]
    return sum_counted([_count_part(store, part) for part in parts])


def _combine_parts(parts: Sequence[_Part]) -> _Part:
    name = digest_of("\n".join(part.name for part in parts).encode())
    return _Part(name, parts, len(parts) == MAX_PARTS_PER_SUM and all(part.kept for part in parts))


def _count_part(store: Store, part: _Part) -> CountedRatings:
    """The ratings of a round are its own, since those of earlier rounds are counted there."""
    name = f"counted/{__version__}/{part.name}.npz"
    data = store.storage.read(name) if part.kept else None
    if data is not None:
        try:
            return CountedRatings.from_bytes(data)
        except (*MISREAD, EOFError, MemoryError, BadZipFile) as cause:
            raise StoreError(
                f"{store.root / name}: found no statistics that can be read ({cause}); expected "
                "those that were kept. Remove the file: the rounds are then counted again."
            ) from None
    if isinstance(part.of, RoundVersion):
        counts = CountedRatings.of(store.ratings_of(part.of).without_earlier)
    else:
        counts = sum_counted([_count_part(store, inner_part) for inner_part in part.of])
    if part.kept:
        with store.locked():
            store.storage.keep(name, counts.to_bytes())
    return counts
