"""Ratings as a Parquet table, and back."""

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
    """The ratings as a table.

    Each rating has a row, with the contents of its item. Each item without a rating has a
    row without rater and label. These rows come last.

    ============== ======================= =================================
    column         value                   when it is there
    ============== ======================= =================================
    `item`         text                    always
    `rater`        text                    always
    `kind`         panel or classifier     always
    `label`        as on the scale         always
    `occurrence`   whole number from 1     always
    `earlier`      true or false           always
    `confidence`   as given                if the ratings have it
    `timestamp`    as given                if the ratings have it
    `text`         text                    if the items have it
    `gold`         true or false           if the items have it
    `cluster`      text                    if the items have it
    ============== ======================= =================================
    """
    table = ratings.table
    rated = {
        "item": _decoded(table["item"]),
        "rater": _decoded(table["rater"]),
        "kind": _kinds(ratings),
        "label": _labels(table["label"], ratings.scale),
        "occurrence": pa.array(table["occurrence"], pa.int64()),
        "earlier": pa.array(table["earlier"], pa.bool_()),
        **{name: _extra(table[name]) for name in EXTRAS if name in table},
        **_contents(ratings, table["item"]),
    }
    unrated = ratings.contents.index.difference(table["item"].cat.categories, sort=True)
    if not len(unrated):
        return pa.table(rated)
    empty = {"item": pa.array(unrated, pa.string()), **_contents(ratings, unrated)}
    return pa.concat_tables([pa.table(rated), pa.table(empty)], promote_options="default")


def ratings_of(table: pa.Table, scale: Scale, *, source: str) -> Ratings:
    """The ratings in a table of `ratings_table`, checked again.

    Raises
    ------
    RatingsError
        The table does not hold ratings.
    """
    frame = table.to_pandas(integer_object_nulls=True)
    missing = [name for name in (*KEY, "label", "kind", "earlier") if name not in frame]
    if missing:
        raise RatingsError(
            f"{source}: found no columns {missing}; expected them in stored ratings. "
            "Store the round again."
        )
    classifiers = sorted(frame.loc[frame["kind"] == "classifier", "rater"].unique())
    return Ratings.from_frame(frame, scale, classifiers=classifiers, source=source)


def kinds_in(values: "pd.Series[Any]") -> str:
    """The kinds of values in a column. Times of two time zones are two kinds.

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
    """A table as a Parquet file, with the metadata of its schema.

    Equal tables give equal bytes.
    """
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
            f"Parquet file: found one that cannot be read ({cause}); "
            "expected a readable file. Restore the file."
        ) from None
    return table


def _decoded(column: "pd.Series[Any]") -> pa.Array:
    """A column of codes as texts."""
    codes = pa.array(column.cat.codes.to_numpy().astype("int32"))
    texts = pa.array(column.cat.categories).cast(pa.large_string())
    return texts.take(codes).cast(pa.string())


def _kinds(ratings: Ratings) -> pa.Array:
    """Whether each rating is of the panel or of a classifier."""
    rater = ratings.table["rater"].cat
    kinds = ["classifier" if name in ratings.classifiers else "panel" for name in rater.categories]
    return pa.array(kinds, pa.string()).take(pa.array(rater.codes.to_numpy().astype("int32")))


def _labels(labels: "pd.Series[Any]", scale: Scale) -> pa.Array:
    if scale.dimensions > 1:
        return pa.array(labels, pa.list_(pa.float64()))
    return pa.array(labels, pa.float64()) if scale.numeric else _decoded(labels)


def _contents(ratings: Ratings, items: "pd.Series[str] | pd.Index[str]") -> dict[str, pa.Array]:
    kinds = {"text": pa.string(), "gold": pa.bool_(), "cluster": pa.string()}
    if ratings.contents.columns.empty:
        return {}
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
            f"ratings: found column {values.name!r} with {kinds_in(values)}; "
            "expected only numbers, only texts or only times. "
            "Write the column as text, which is kept as it stands."
        ) from None
