"""Ratings that an engine queries, brought into memory. Names and labels come as codes."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from agreement_pipeline.engines.digested import batches_of, contents_of
from agreement_pipeline.engines.opening import EngineName
from agreement_pipeline.engines.opening import read as read_where_it_lies
from agreement_pipeline.engines.queries import Queries
from agreement_pipeline.engines.session import Files, Unreadable
from agreement_pipeline.engines.unpacked import queries_of
from agreement_pipeline.errors import RatingsError
from agreement_pipeline.ratings import TEXT, Batch, Coded, QueriedRatings, Ratings, Scale
from agreement_pipeline.readers import LIMITS, Columns, Export, Limits, origin_of_table
from agreement_pipeline.text import called


def read_through(
    source: Path,
    columns: Columns,
    *,
    engine: EngineName,
    memory_limit: str | None = None,
    limits: Limits = LIMITS,
    **reading: Any,
) -> Ratings:
    """Let an engine read and check a table, and bring its ratings into memory.

    The parameters are those of `read`. The limit `rows` holds.

    Raises
    ------
    RatingsError
        A check fails, or the engine cannot read the source.
    """
    _refuse_others(source, engine)
    found = read_where_it_lies(
        source, columns, engine=engine, memory_limit=memory_limit, limits=limits, **reading
    )
    return gathered(found, source.name, limits) if isinstance(found, QueriedRatings) else found


def gathered(ratings: QueriedRatings, source: str = "ratings", limits: Limits = LIMITS) -> Ratings:
    """The ratings in memory, as the reader in memory gives them.

    Raises
    ------
    RatingsError
        There are too many. Or the times or the texts of items are no text.
    """
    queries = queries_of(ratings)
    _refuse_odd(queries)
    names: list[pd.Index] = []
    parts: list[pd.DataFrame] = []
    n_rows = 0
    for new, part in _parts(queries, ratings.scale):
        n_rows += len(part)
        limits.refuse_beyond("rows", n_rows, source, "ratings or more")
        names.append(new)
        parts.append(part)
    table = pd.concat(parts, ignore_index=True)
    items = Coded(table["item"].to_numpy(), names[0].append(names[1:]))
    raters = Coded(table["rater"].to_numpy(), pd.Index(queries.raters, dtype=TEXT))
    table = table.assign(item=items.categorical(), rater=raters.categorical())
    contents = contents_of(queries)[0]
    shown = {*table, *contents}
    return Ratings(
        table, ratings.scale, ratings.classifiers, contents, origin=origin_of_table(shown)
    )


def _parts(queries: Queries, scale: Scale) -> Iterator[tuple[pd.Index, pd.DataFrame]]:
    """The items that begin in each batch, and its ratings."""
    for names, batch in batches_of(queries, scale):
        yield (
            names,
            pd.DataFrame(
                {
                    "item": batch.item.astype(np.int32),
                    "rater": batch.rater.astype(np.int32),
                    "label": _labels(batch, scale),
                    "occurrence": batch.occurrence.astype(np.int32),
                    "earlier": batch.earlier,
                    **({} if batch.confidence is None else {"confidence": batch.confidence}),
                    **({} if batch.times is None else {"timestamp": batch.times}),
                }
            ),
        )


def _labels(batch: Batch, scale: Scale) -> Any:
    """The labels of a batch, as a table of ratings holds them."""
    if scale.dimensions > 1:
        return pd.Series(list(map(tuple, batch.label.tolist())), dtype=object)
    if scale.continuous:
        return batch.label
    if scale.numeric:
        return scale.scores[batch.label]
    return pd.Categorical.from_codes(batch.label, categories=pd.Index(scale.names, dtype=TEXT))


def _refuse_others(source: Path, engine: EngineName) -> None:
    """Refuse a folder with files that the reader in memory sees and the engine does not."""
    if not source.is_dir():
        return
    read = {Path(path).name for path in Files.of(source).paths}
    others = [
        place for each in Export(source).files if (place := Export(source).place(each)) not in read
    ]
    if others:
        raise RatingsError(
            f"{source.name}: found {called('file', others)} beside the tables that the engine "
            f"{engine} reads; expected tables of one format alone. Remove the rest, or read the "
            "round in memory (engine memory)."
        )


def _refuse_odd(queries: Queries) -> None:
    """Refuse what becomes text in a query, and stays what it is in memory."""
    from pyarrow import types

    names = sorted((queries.has | queries.said) & {"text", "timestamp"})
    cells = queries.ask(f"SELECT {', '.join(names) or '1'} FROM {queries.name}_cells LIMIT 0")
    texts = [each.name for each in cells.schema if types.is_string(each.type)]
    odd = [name for name in names if name not in texts]
    if queries.odd_times or odd:
        raise Unreadable(
            f"{'timestamp' if queries.odd_times else odd[0]}: found values that are no text; "
            "expected text. Write them as text, or read the ratings in memory (engine memory)."
        )


__all__ = ["gathered", "read_through"]
