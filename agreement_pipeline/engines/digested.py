"""Ratings that an engine queries, sorted and in batches, and their digest."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd

from agreement_pipeline.engines.queries import Queries
from agreement_pipeline.engines.session import Unreadable
from agreement_pipeline.ratings import TEXT, Batch, Codes, RatingsHash, Scale, in_pandas


def digest_of(queries: Queries, scale: Scale, classifiers: tuple[str, ...]) -> str:
    """The digest that the same ratings have in memory.

    Raises
    ------
    Unreadable
        The times are not text.
    """
    if queries.odd_times:
        raise Unreadable(
            "timestamp: found times that are no text; expected text for a digest. Write the times "
            "as text, or read the ratings in memory (engine memory)."
        )
    found = RatingsHash([name in classifiers for name in queries.raters])
    found.add_contents(*contents_of(queries))
    for names, batch in batches_of(queries, scale):
        found.add_items(names)
        found.add(batch)
    return found.hexdigest(scale)


def batches_of(queries: Queries, scale: Scale) -> Iterator[tuple[pd.Index, Batch]]:
    """Batches of sorted ratings, each with the names of the items that begin there."""
    ordered = f"SELECT * FROM {queries.name}_rated ORDER BY item, place" + (
        ", occurrence" if queries.again else ""
    )
    last, seen = None, 0
    for rows in queries.session.batches(ordered):
        if rows.num_rows == 0:
            continue
        coded = rows["item"].dictionary_encode()
        names = coded.dictionary.to_pylist()
        new = names[1:] if names[0] == last else names
        first = seen - (names[0] == last)
        item = np.asarray(coded.indices.to_numpy(), dtype=np.int64) + first
        last, seen = names[-1], seen + len(new)
        yield pd.Index(new, dtype=TEXT), _batch(queries, scale, rows, item)


def _batch(queries: Queries, scale: Scale, rows: Any, item: Codes) -> Batch:
    once = np.ones(rows.num_rows, dtype=np.int64)
    has = queries.has
    return Batch(
        item,
        rows["place"].to_numpy(),
        rows["occurrence"].to_numpy() if "occurrence" in has else once,
        np.zeros(rows.num_rows, dtype=bool),
        _labels(queries, scale, rows),
        rows["confidence"].to_numpy(zero_copy_only=False) if "confidence" in has else None,
        None,
        None,
        in_pandas(rows["timestamp"]).astype(TEXT) if "timestamp" in has else None,
    )


def _labels(queries: Queries, scale: Scale, rows: Any) -> np.ndarray:
    if not scale.continuous:
        return np.asarray(queries.positions(scale)[rows["code"].to_numpy() - 1])
    values = [rows[f"d{at}"].to_numpy() for at in range(scale.dimensions)]
    return values[0] if len(values) == 1 else np.column_stack(values)


def contents_of(queries: Queries) -> tuple[pd.DataFrame, pd.Series | None]:
    """What is known of the items, and the number of each one's cluster."""
    names = [name for name in ("text", "gold", "cluster") if name in queries.said]
    if not names:
        return pd.DataFrame(index=pd.Index([], name="item", dtype=TEXT)), None
    found = in_pandas(
        queries.ask(
            f"SELECT DISTINCT item, {', '.join(names)} FROM {queries.name}_contents "
            "WHERE item IS NOT NULL ORDER BY item"
        )
    )
    contents = found.set_index(pd.Index(found.pop("item"), name="item", dtype=TEXT))
    if "cluster" not in names:
        return contents, None
    return contents, pd.Series(pd.factorize(contents["cluster"])[0], index=contents.index)


__all__ = ["batches_of", "contents_of", "digest_of"]
