"""The checked ratings of a round as a stored table, and back."""

import json
from collections.abc import Hashable, Iterator
from dataclasses import replace
from typing import Any

import pandas as pd

from agreement_pipeline.errors import RatingsError, StoreError
from agreement_pipeline.large_files import Content
from agreement_pipeline.ratings import (
    Origin,
    ParquetRows,
    Ratings,
    RatingsRows,
    Scale,
    coded_frame,
    kinds_in,
    parquet_of,
    ratings_of,
)

SCALE, ORIGIN = b"agreement_pipeline.scale", b"agreement_pipeline.origin"
RESTORE = "expected what was ingested. Restore it, or remove it and ingest again."


def table_of(ratings: Ratings) -> Content:
    """The ratings as a Parquet file. Its metadata hold the scale, and the origin if it is known."""
    said = {SCALE: _as_json(ratings.scale.to_mapping())}
    if ratings.origin is not None:
        said[ORIGIN] = _as_json(ratings.origin.to_mapping())
    return parquet_of(RatingsRows(ratings), said)


def table_ratings(table: Content, source: str) -> Ratings:
    """The ratings that `table_of` wrote, checked again.

    Raises
    ------
    StoreError
        The bytes do not hold ratings.
    """
    try:
        rows = ParquetRows(table)
        said = rows.schema.metadata
        scale = Scale.from_mapping(json.loads(said[SCALE]))
        origin = Origin.from_mapping(json.loads(said[ORIGIN])) if ORIGIN in said else None
        return replace(ratings_of(coded_frame(rows), scale, source=source), origin=origin)
    except (RatingsError, KeyError, TypeError, ValueError) as cause:
        raise StoreError(
            f"{source}: found no table that can be read as ratings ({cause}); {RESTORE}"
        ) from None


def refuse_unstable(given: Ratings, kept: Ratings, round_name: str) -> None:
    """Refuse ratings that change when they are written and read back.

    A stored column holds one kind of number or time.
    """
    if kept.digest == given.digest:
        return
    back = dict(_columns(kept))
    found = [
        f"column {name!r} with {kinds_in(values)}"
        for name, values in _columns(given)
        if values.to_csv() != back[name].to_csv()
    ]
    raise StoreError(
        f"ratings of round {round_name}: found {' and '.join(found)}, "
        "which would be read back as other values; expected values of one kind, "
        "and times of one time zone. Write the column as text, which is kept as it stands."
    )


def _columns(ratings: Ratings) -> "Iterator[tuple[Hashable, pd.Series[Any]]]":
    yield from ratings.table.items()
    yield from ratings.contents.items()


def _as_json(data: object) -> str:
    return json.dumps(data, sort_keys=True)
