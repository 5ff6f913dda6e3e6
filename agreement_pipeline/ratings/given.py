"""What is kept as it was given: times, and what is known of items. As Arrow columns."""

from collections.abc import Sequence
from typing import Any

import pandas as pd
import pyarrow as pa

from agreement_pipeline.errors import RatingsError
from agreement_pipeline.ratings.coding import coded
from agreement_pipeline.ratings.texts import are_texts, in_pandas
from agreement_pipeline.text import listed

OF_ITEMS = {"gold": pa.bool_(), "weight": pa.int64(), "cluster_at": pa.int64()}
"""The types of what is known of items, where it is no text."""


def as_given(values: "pd.Series[Any]") -> pa.Array:
    """A column that holds what was given. Its texts are large.

    Raises
    ------
    RatingsError
        The values are of several kinds, so that some would become others.
    """
    texts = are_texts(values)
    try:
        found = pa.array(values, pa.large_string() if texts else None, from_pandas=True)
    except (pa.ArrowException, OverflowError):
        raise _of_several_kinds(
            values, "; expected only numbers, only texts or only times"
        ) from None
    if values.dtype == object and not texts:
        _refuse_changed(values, in_pandas(pa.chunked_array(found), integer_object_nulls=True))
    return _whole(found)


def known_of_items(known: pd.DataFrame, columns: Sequence[str]) -> dict[str, pa.Array]:
    """Some columns of what is known of items. Texts are large, and may be codes.

    Raises
    ------
    RatingsError
        The texts of items are no texts, and would become others.
    """
    return {name: _known(known[name], name) for name in columns}


def plain(column: pa.Array) -> pa.Array:
    """A column of what is known of items, without codes and large texts."""
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    return column.cast(pa.string()) if pa.types.is_large_string(column.type) else column


def _known(values: "pd.Series[Any]", name: str) -> pa.Array:
    if name == "text" and isinstance(values.dtype, pd.CategoricalDtype):
        texts = _texts(pd.Series(values.cat.categories, name=name))
        return pa.DictionaryArray.from_arrays(
            pa.array(codes := values.cat.codes.to_numpy(), mask=codes < 0),
            _whole(pa.array(texts, pa.large_string(), from_pandas=True)),
        )
    told = _texts(values) if name == "text" else values
    return _whole(pa.array(told, OF_ITEMS.get(name, pa.large_string()), from_pandas=True))


def _whole(column: pa.Array | pa.ChunkedArray) -> pa.Array:
    return column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column


def _texts(values: "pd.Series[Any]") -> "pd.Series[Any]":
    if isinstance(values.dtype, pd.StringDtype):
        return values
    texts = values.astype(object).map(str, na_action="ignore")
    _refuse_changed(values, texts)
    return texts


def _refuse_changed(given: "pd.Series[Any]", kept: "pd.Series[Any]") -> None:
    """Refuse values whose texts are others, as the digest of ratings sees them."""
    first, second = coded(given), coded(kept)
    if not (first.texts.equals(second.texts) and bool((first.codes == second.codes).all())):
        raise _of_several_kinds(
            given,
            ", which would be read back as other values; expected values of one kind, and times "
            "of one time zone",
        )


def _of_several_kinds(values: "pd.Series[Any]", expected: str) -> RatingsError:
    return RatingsError(
        f"ratings: found column {values.name!r} with {_kinds_in(values)}{expected}. "
        "Write the column as text, which is kept as it stands."
    )


def _kinds_in(values: "pd.Series[Any]") -> str:
    """The kinds of values in a column. Times of two time zones are two kinds.

    >>> _kinds_in(pd.Series([1, 0.5, None], dtype=object))
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


__all__ = ["OF_ITEMS", "as_given", "known_of_items", "plain"]
