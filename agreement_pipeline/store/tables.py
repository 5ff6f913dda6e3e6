"""The checked ratings of a round as a stored table, and back."""

import json
from dataclasses import replace

from agreement_pipeline.errors import RatingsError, StoreError
from agreement_pipeline.large_files import Content
from agreement_pipeline.ratings import (
    Origin,
    ParquetRows,
    Ratings,
    RatingsRows,
    Scale,
    coded_frame,
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


def _as_json(data: object) -> str:
    return json.dumps(data, sort_keys=True)
