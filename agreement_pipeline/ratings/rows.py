"""Ratings as the rows of a table, and back."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from agreement_pipeline.errors import RatingsError
from agreement_pipeline.mapped_files import let_go
from agreement_pipeline.ratings.blocks import given_back, taken
from agreement_pipeline.ratings.coding import Coded, coded
from agreement_pipeline.ratings.contents import content_columns
from agreement_pipeline.ratings.given import OF_ITEMS
from agreement_pipeline.ratings.parquet import ParquetRows
from agreement_pipeline.ratings.ratings import EXTRAS, Ratings
from agreement_pipeline.ratings.scale import Scale
from agreement_pipeline.ratings.texts import TEXT, in_pandas
from agreement_pipeline.text import called

CODED = ("round", "item", "rater", "kind", "label")
KINDS = {
    "occurrence": pa.int64(),
    "earlier": pa.bool_(),
    "confidence": pa.float64(),
    "assisted": pa.bool_(),
    "drawn": pa.large_string(),
    **OF_ITEMS,
}
"""The types of columns that are neither text, nor label or time."""


@dataclass(frozen=True, eq=False)
class RatingsRows:
    """The ratings as the rows of a table.

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
    `assisted`     true, false or unknown  if the ratings have it
    `drawn`        text                    if the ratings have it
    `timestamp`    as given                if the ratings have it
    `text`         text                    if the items have it
    `gold`         true or false           if the items have it
    `gold_label`   text                    if the items have it
    `cluster`      text                    if the items have it
    `weight`       whole number from 1     if the items have it
    `stratum:NAME` text                    for each column of strata
    ============== ======================= =================================
    """

    ratings: Ratings

    @cached_property
    def schema(self) -> pa.Schema:
        """The columns."""
        has = self.ratings.has
        names = ["item", "rater", "kind", "label", "occurrence", "earlier"]
        names += [*(name for name in EXTRAS if name in has), *content_columns(has)]
        kinds = {**KINDS, "label": self._kind_of_label}
        if "timestamp" in names:
            kinds["timestamp"] = self._kind_of_times
        return pa.schema([(name, kinds.get(name, pa.string())) for name in names])

    def __len__(self) -> int:
        return len(self.ratings) + len(self._unrated)

    def to_batches(self) -> Iterator[pa.RecordBatch]:
        """The rows in order."""
        ratings = self.ratings
        kinds = [
            "classifier" if name in ratings.classifiers else "panel" for name in ratings.everyone
        ]
        asked = ["place" if name == "kind" else name for name in self.schema.names]
        for batch in ratings.every(asked):
            columns = dict(zip(asked, batch.columns, strict=True))
            columns["kind"] = pa.array(kinds, pa.string()).take(columns["place"])
            made = self._batch(columns, len(batch))
            let_go()
            yield made
        for some in self._unrated.to_batches():
            yield self._batch(dict(zip(some.schema.names, some.columns, strict=True)), len(some))

    def _batch(self, columns: Mapping[str, pa.Array], n_rows: int) -> pa.RecordBatch:
        arrays = [
            columns[each.name].cast(each.type)
            if each.name in columns
            else pa.nulls(n_rows, each.type)
            for each in self.schema
        ]
        return pa.record_batch(arrays, schema=self.schema)

    @property
    def _kind_of_label(self) -> pa.DataType:
        scale = self.ratings.scale
        if scale.dimensions > 1:
            return pa.list_(pa.float64())
        return pa.float64() if scale.numeric else pa.string()

    @property
    def _kind_of_times(self) -> pa.DataType:
        """The type of times as they were given. Texts are large."""
        (told,) = self.ratings.first(["timestamp"], items=()).schema.types
        return pa.large_string() if pa.types.is_string(told) else told

    @cached_property
    def _unrated(self) -> pa.Table:
        """What is known of the items without a rating."""
        ratings, items = self.ratings, self.ratings.items()["item"]
        if not len(items) or items.equals(rated := ratings.rated()):
            return ratings.items(names=())
        others = items.filter(pc.invert(pc.is_in(items, rated)))
        return ratings.items(content_columns(ratings.has), names=others.to_pylist())


def ratings_of(frame: pd.DataFrame, scale: Scale, *, source: str) -> Ratings:
    """The ratings in the columns of `RatingsRows`, checked again.

    Raises
    ------
    RatingsError
        The columns do not hold ratings.
    """
    needed = ("item", "rater", "occurrence", "label", "kind", "earlier")
    missing = [name for name in needed if name not in frame]
    if missing:
        raise RatingsError(
            f"{source}: found no {called('column', missing)}; expected them in stored ratings. "
            "Store the round again."
        )
    classifiers = frame.loc[frame["kind"] == "classifier", "rater"].unique()
    return Ratings.from_frame(frame, scale, classifiers=sorted(classifiers), source=source)


def coded_frame(rows: ParquetRows) -> pd.DataFrame:
    """The columns of a Parquet file of ratings. Texts that come often are categoricals.

    Each row group has codes of its own.

    Raises
    ------
    RatingsError
        The file cannot be read.
    """
    columns: dict[str, list[_Codes | pa.ChunkedArray]] = {}
    for part in rows.parts((*CODED, *content_columns(rows.schema.names))):
        for name, column in zip(part.column_names, part.columns, strict=True):
            columns.setdefault(name, []).append(_compact(name, column))
    frame = pd.DataFrame({name: _together(columns.pop(name)) for name in list(columns)})
    given_back()
    return frame


class _Codes(NamedTuple):
    """A part of a column of texts: distinct texts, and the place of each row's among them."""

    places: np.ndarray[Any, Any]
    texts: pa.Array


def _compact(name: str, column: pa.ChunkedArray) -> _Codes | pa.ChunkedArray:
    """A part of a column in little memory."""
    if pa.types.is_dictionary(column.type):
        whole = column.unify_dictionaries().combine_chunks()
        places = whole.indices.fill_null(-1).to_numpy()
        small = np.int8 if len(whole.dictionary) < 128 else np.int32
        return _Codes(places.astype(small), whole.dictionary.cast(pa.large_string()))
    return _short(column) if name == "occurrence" else column


def _short(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Whole numbers in half the memory, if they fit."""
    if not pa.types.is_int64(column.type):
        return column
    try:
        return column.cast(pa.int32())
    except pa.ArrowInvalid:
        return column


def _together(parts: Sequence[_Codes | pa.ChunkedArray]) -> Any:
    """A whole column."""
    codes = [part for part in parts if isinstance(part, _Codes)]
    if codes:
        return _joined(codes)
    whole = [part for part in parts if not isinstance(part, _Codes)]
    if len({part.type for part in whole}) > 1:
        whole = [part.cast(pa.int64()) for part in whole]
    chunks = [chunk for part in whole for chunk in part.chunks]
    return in_pandas(pa.chunked_array(chunks), integer_object_nulls=True)


def _joined(parts: Sequence[_Codes]) -> pd.Categorical:
    """Parts of a column of texts as one. Few texts keep their codes small."""
    texts = pa.chunked_array([part.texts for part in parts], pa.large_string())
    found = coded(pd.Series(pd.array(texts, dtype=TEXT)))
    kind = np.int8 if len(found.texts) < 128 else np.int32
    places, at = np.empty(sum(len(part.places) for part in parts), dtype=kind), 0
    starts = np.cumsum([0, *(len(part.texts) for part in parts)])
    for part, start in zip(parts, starts, strict=False):
        here = np.append(found.codes[start : start + len(part.texts)], -1).astype(kind)
        places[at : at + len(part.places)] = taken(here, part.places)
        at += len(part.places)
    return Coded(places, found.texts).categorical()
