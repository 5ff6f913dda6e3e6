"""The checked ratings of a round as a stored table, and back."""

import json
from dataclasses import replace
from typing import Any

import pandas as pd

from agreement_pipeline.errors import RatingsError, StoreError
from agreement_pipeline.large_files import Content
from agreement_pipeline.mapped_files import let_go
from agreement_pipeline.ratings import (
    EXTRAS,
    Origin,
    ParquetRows,
    Ratings,
    RatingsRows,
    Scale,
    coded,
    coded_frame,
    in_pandas,
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


def refuse_unstable(given: Ratings, table: Content, round_name: str) -> None:
    """Refuse ratings that would change when they are read back from their table.

    A stored column holds one kind of number or time. A row group at a time is in memory.
    """
    changed = {**_changed(given.table, table), **_changed_texts(given.contents)}
    if not changed:
        return
    found = [f"column {name!r} with {kinds_in(values)}" for name, values in changed.items()]
    raise StoreError(
        f"ratings of round {round_name}: found {' and '.join(found)}, "
        "which would be read back as other values; expected values of one kind, "
        "and times of one time zone. Write the column as text, which is kept as it stands."
    )


def _changed(given: pd.DataFrame, table: Content) -> "dict[str, pd.Series[Any]]":
    """The columns that are stored as they were given, and are read back as other values."""
    names, at = [name for name in EXTRAS if name in given], 0
    changed: dict[str, pd.Series[Any]] = {}
    for part in ParquetRows(table).parts(only=names) if names else ():
        for name in names:
            told = given[name].iloc[at : at + len(part)]
            back = in_pandas(part[name].slice(0, len(told)), integer_object_nulls=True)
            if not _same(told, back):
                changed[name] = given[name]
        at += len(part)
        let_go()
    return changed


def _changed_texts(contents: pd.DataFrame) -> "dict[str, pd.Series[Any]]":
    """The texts of items that are no texts, and whose texts are not those of their values."""
    if "text" not in contents or contents["text"].dtype != object:
        return {}
    said = contents["text"]
    return {} if _same(said, said.map(str, na_action="ignore")) else {"text": said}


def _same(one: "pd.Series[Any]", other: "pd.Series[Any]") -> bool:
    """True if two columns have the same texts, as the digest of ratings sees them."""
    if isinstance(one.dtype, pd.StringDtype | pd.BooleanDtype):
        return bool(one.array.equals(other.astype(one.dtype).array))
    first, second = coded(one), coded(other)
    return first.texts.equals(second.texts) and bool((first.codes == second.codes).all())


def _as_json(data: object) -> str:
    return json.dumps(data, sort_keys=True)
