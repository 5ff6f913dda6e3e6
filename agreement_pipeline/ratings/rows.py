"""Ratings as the rows of a table, and back."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa

from agreement_pipeline.errors import RatingsError
from agreement_pipeline.mapped_files import let_go
from agreement_pipeline.ratings.blocks import given_back, taken
from agreement_pipeline.ratings.coding import Coded, coded, texts_in
from agreement_pipeline.ratings.birth import content_columns
from agreement_pipeline.ratings.parquet import ParquetRows
from agreement_pipeline.ratings.ratings import Ratings
from agreement_pipeline.ratings.scale import Scale
from agreement_pipeline.ratings.texts import TEXT, are_texts, in_pandas
from agreement_pipeline.text import called, listed

EXTRAS = ("confidence", "assisted", "drawn", "timestamp")
CODED = ("round", "item", "rater", "kind", "label")
KINDS = {"gold": pa.bool_(), "weight": pa.int64()}


class _Column(NamedTuple):
    """A column: values, and the place of each row's value among them. None: a value a row."""

    values: pa.Array
    places: np.ndarray[Any, Any] | None = None
    as_given: bool = False

    def slice(self, start: int, stop: int) -> pa.Array:
        if self.places is None:
            part = self.values.slice(start, stop - start)
        else:
            places = self.places[start:stop]
            part = self.values.take(pa.array(places, mask=places < 0))
        short = pa.types.is_large_string(part.type) and not self.as_given
        return part.cast(pa.string()) if short else part


class _Numbers(NamedTuple):
    """A column of numbers, and their type in the table."""

    values: np.ndarray[Any, Any]
    type: pa.DataType

    def slice(self, start: int, stop: int) -> pa.Array:
        return pa.array(self.values[start:stop], self.type)


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
        return pa.schema({name: column.slice(0, 0).type for name, column in self._rated.items()})

    def __len__(self) -> int:
        return len(self.ratings.table) + len(self._unrated["item"].values)

    def slice(self, offset: int, length: int) -> pa.Table:
        """Some rows. There are fewer where the rows end."""
        n, stop = len(self.ratings.table), min(offset + length, len(self))
        parts = []
        if offset < n or stop == offset:
            parts.append(self._part(self._rated, offset, min(stop, n)))
        if stop > n:
            parts.append(self._part(self._unrated, max(offset, n) - n, stop - n))
        let_go()
        return pa.concat_tables(parts)

    def _part(self, columns: Mapping[str, _Column | _Numbers], start: int, stop: int) -> pa.Table:
        arrays = [
            columns[each.name].slice(start, stop)
            if each.name in columns
            else pa.nulls(stop - start, each.type)
            for each in self.schema
        ]
        return pa.table(arrays, schema=self.schema)

    @cached_property
    def _rated(self) -> dict[str, _Column | _Numbers]:
        table, contents = self.ratings.table, self.ratings.contents
        item = table["item"].cat
        return {
            "item": _of_codes(table["item"]),
            "rater": _of_codes(table["rater"]),
            "kind": _kinds(self.ratings),
            "label": _labels(table["label"], self.ratings.scale),
            "occurrence": _Numbers(table["occurrence"].to_numpy(), pa.int64()),
            "earlier": _Numbers(table["earlier"].to_numpy(), pa.bool_()),
            **{
                name: _Column(_extra(table[name]), as_given=True)
                for name in EXTRAS
                if name in table
            },
            **{
                name: _placed(column, item.codes.to_numpy())
                for name, column in _contents(contents, item.categories).items()
            },
        }

    @cached_property
    def _unrated(self) -> dict[str, _Column]:
        contents = self.ratings.contents
        rated = self.ratings.table["item"].cat.categories
        items = _beyond(contents.index, rated)
        named = _Column(pa.array(items, pa.large_string()))
        return {"item": named, **_contents(contents, items)}


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
    found = Ratings.from_frame(frame, scale, classifiers=sorted(classifiers), source=source)
    texts = {name: _texts(found.contents[name]) for name in found.contents if name == "text"}
    return replace(found, contents=found.contents.assign(**texts))


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


def _of_codes(column: "pd.Series[Any]") -> _Column:
    texts = pa.array(column.cat.categories).cast(pa.large_string())
    return _Column(texts, column.cat.codes.to_numpy())


def _beyond(items: pd.Index, rated: pd.Index) -> pd.Index:
    """The items that are not rated. Names are looked up, in much memory, if they must be."""
    if items.empty or items.equals(rated):
        return items[:0]
    return items.difference(rated, sort=True)


def _kinds(ratings: Ratings) -> _Column:
    """Whether each rating is of the panel or of a classifier."""
    rater = ratings.table["rater"].cat
    kinds = ["classifier" if name in ratings.classifiers else "panel" for name in rater.categories]
    return _Column(pa.array(kinds, pa.large_string()), rater.codes.to_numpy())


def _labels(labels: "pd.Series[Any]", scale: Scale) -> _Column | _Numbers:
    if scale.dimensions > 1:
        return _Column(pa.array(labels, pa.list_(pa.float64())))
    return _Numbers(labels.to_numpy(), pa.float64()) if scale.numeric else _of_codes(labels)


def _contents(contents: pd.DataFrame, items: pd.Index) -> dict[str, _Column]:
    """What is known of some items, a value an item."""
    if contents.columns.empty:
        return {}
    known = contents.reindex(items)
    return {name: _of_items(known[name], name) for name in content_columns(known)}


def _of_items(values: "pd.Series[Any]", name: str) -> _Column:
    if name == "text" and isinstance(values.dtype, pd.CategoricalDtype):
        return _of_codes(values)
    told = _texts(values) if name == "text" else values
    return _Column(pa.array(told, KINDS.get(name, pa.large_string()), from_pandas=True))


def _placed(column: _Column, items: np.ndarray[Any, Any]) -> _Column:
    """A value a row, from a value an item and the item of each row."""
    return _Column(column.values, items if column.places is None else column.places[items])


def _texts(values: "pd.Series[Any]") -> "pd.Series[Any]":
    if isinstance(values.dtype, pd.StringDtype):
        return values
    if isinstance(values.dtype, pd.CategoricalDtype):
        return texts_in(values)
    return values.astype(object).map(str, na_action="ignore")


def _extra(values: "pd.Series[Any]") -> pa.Array:
    try:
        return pa.array(values, pa.large_string() if are_texts(values) else None, from_pandas=True)
    except (pa.ArrowException, OverflowError):
        raise RatingsError(
            f"ratings: found column {values.name!r} with {kinds_in(values)}; "
            "expected only numbers, only texts or only times. "
            "Write the column as text, which is kept as it stands."
        ) from None


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
