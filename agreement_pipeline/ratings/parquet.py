"""Ratings as a table of bytes, and back."""

import io
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from agreement_pipeline.errors import RatingsError
from agreement_pipeline.ratings.checks import CONTENT, KEY
from agreement_pipeline.ratings.ratings import Ratings
from agreement_pipeline.ratings.scale import Scale
from agreement_pipeline.text import listed

EXTRAS = ("confidence", "timestamp")


def ratings_table(ratings: Ratings) -> pa.Table:
    """One row a rating, with what is known of its item; then one row, without rater and label, for each item that nobody rated.

    Columns `item`, `rater`, `kind` (panel or classifier), `label`, `occurrence`, `earlier` and, where the ratings have them, `confidence`,
    `timestamp`, `text`, `gold`, `cluster`.
    """
    table = ratings.table
    rated = {
        "item": pa.array(table["item"], pa.string()),
        "rater": pa.array(table["rater"], pa.string()),
        "kind": pa.array(
            ["classifier" if name in ratings.classifiers else "panel" for name in table["rater"]],
            pa.string(),
        ),
        "label": pa.array(table["label"], _label_type(ratings.scale)),
        "occurrence": pa.array(table["occurrence"], pa.int64()),
        "earlier": pa.array(table["earlier"], pa.bool_()),
        **{name: _extra(table[name]) for name in EXTRAS if name in table},
        **_contents(ratings, table["item"]),
    }
    unrated = ratings.contents.index.difference(pd.Index(table["item"]), sort=True)
    if not len(unrated):
        return pa.table(rated)
    empty = {"item": pa.array(unrated, pa.string()), **_contents(ratings, unrated)}
    return pa.concat_tables([pa.table(rated), pa.table(empty)], promote_options="default")


def ratings_of(table: pa.Table, scale: Scale, *, source: str) -> Ratings:
    """The ratings that `ratings_table` made a table of, checked again.

    Raises
    ------
    RatingsError
        The table does not hold ratings.
    """
    frame = table.to_pandas(integer_object_nulls=True)
    missing = [name for name in (*KEY, "label", "kind", "earlier") if name not in frame]
    if missing:
        raise RatingsError(
            f"{source}: no columns {missing} found; they are required of stored ratings. Store the round again."
        )
    classifiers = sorted(frame.loc[frame["kind"] == "classifier", "rater"].unique())
    return Ratings.from_frame(frame, scale, classifiers=classifiers, source=source)


def kinds_in(values: "pd.Series[Any]") -> str:
    """The kinds of values in a column; times of two time zones are two.

    >>> kinds_in(pd.Series([1, 0.5, None], dtype=object))
    "['float', 'int']"
    """
    return listed(
        sorted(
            {
                type(value).__name__
                + (f" in {zone}" if (zone := getattr(value, "tzinfo", None)) else "")
                for value in values.dropna()
            }
        )
    )


def parquet_bytes(table: pa.Table) -> bytes:
    """A table, with the metadata of its schema, as a Parquet file; equal tables give equal bytes."""
    sink = io.BytesIO()
    pq.write_table(
        table,
        sink,
        version="2.6",
        data_page_version="1.0",
        compression="zstd",
        row_group_size=100_000,
    )
    return sink.getvalue()


def parquet_table(data: bytes) -> pa.Table:
    """The table in a Parquet file.

    Raises
    ------
    RatingsError
        The bytes are not a Parquet file.
    """
    try:
        table = pq.read_table(pa.BufferReader(data))
        table.validate(full=True)
    except (pa.ArrowException, OSError, UnicodeDecodeError) as cause:
        raise RatingsError(
            f"Parquet file: {cause}; a readable one is required. Restore the file."
        ) from None
    return table


def _label_type(scale: Scale) -> pa.DataType:
    if scale.dimensions > 1:
        return pa.list_(pa.float64())
    return pa.float64() if scale.numeric else pa.string()


def _contents(ratings: Ratings, items: "pd.Series[str] | pd.Index[str]") -> dict[str, pa.Array]:
    kinds = {"text": pa.string(), "gold": pa.bool_(), "cluster": pa.string()}
    known = ratings.contents.reindex(items)
    return {
        name: pa.array(
            _texts(known[name]) if name == "text" else known[name], kinds[name], from_pandas=True
        )
        for name in CONTENT
        if name in known
    }


def _texts(values: "pd.Series[str]") -> "pd.Series[str]":
    return values.astype(object).map(str, na_action="ignore")


def _extra(values: "pd.Series[str]") -> pa.Array:
    try:
        return pa.array(values, from_pandas=True)
    except (pa.ArrowException, OverflowError):
        raise RatingsError(
            f"ratings: column {values.name!r} with {kinds_in(values)} found; numbers, texts or times throughout are required to keep them. "
            "Write the column as text, which is kept as it stands."
        ) from None
