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
        found = _whole(pa.array(values, pa.large_string() if texts else None, from_pandas=True))
    except (pa.ArrowException, OverflowError):
        raise _refused(values, "; expected only numbers, only texts or only times") from None
    if values.dtype == object and not texts and not _kept(values, found):
        raise _refused(
            values,
            ", which would be read back as other values; expected values of one kind, and times "
            "of one time zone",
        )
    return found


def known_of_items(known: pd.DataFrame, columns: Sequence[str]) -> dict[str, pa.Array]:
    """Some columns of what is known of items. Texts are large, and may be codes."""
    return {name: _known(known[name], name) for name in columns}


def plain(column: pa.Array) -> pa.Array:
    """A column of what is known of items, without codes and large texts."""
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    return column.cast(pa.string()) if pa.types.is_large_string(column.type) else column


def _known(values: "pd.Series[Any]", name: str) -> pa.Array:
    if name == "text" and not isinstance(values.dtype, pd.StringDtype):
        found = coded(values)
        places = pa.array(found.codes, mask=found.codes < 0)
        return pa.DictionaryArray.from_arrays(places, _whole(pa.array(found.texts)))
    return _whole(pa.array(values, OF_ITEMS.get(name, pa.large_string()), from_pandas=True))


def _whole(column: pa.Array | pa.ChunkedArray) -> pa.Array:
    return column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column


def _kept(given: "pd.Series[Any]", found: pa.Array) -> bool:
    """True if a column has the texts that were given, as the digest of ratings sees them."""
    back = in_pandas(pa.chunked_array([found]), integer_object_nulls=True)
    first, second = coded(given), coded(back)
    return first.texts.equals(second.texts) and bool((first.codes == second.codes).all())


def _refused(values: "pd.Series[Any]", expected: str) -> RatingsError:
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
