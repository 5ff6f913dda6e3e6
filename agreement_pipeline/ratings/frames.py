"""The cells of a pandas DataFrame, or of Arrow batches, as a session of an engine takes them.

Texts, whole numbers, floats and times stay what they are. All else becomes the text that
`category_text` writes.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from agreement_pipeline.engine import Session
from agreement_pipeline.errors import RatingsError
from agreement_pipeline.ratings.cells import Cells
from agreement_pipeline.ratings.scale import MEMBERS, Scale, category_text
from agreement_pipeline.text import called

if TYPE_CHECKING:
    import pandas as pd

BATCH = 65_536
VECTORS = (tuple, list, np.ndarray)


def cells_of_frame(frame: "pd.DataFrame") -> tuple[pa.Schema, Iterator[pa.RecordBatch]]:
    """The columns of a frame, under their names, in batches.

    None, NaN, `pd.NA` and NaT are missing. A vector of numbers becomes text with `|` between the
    numbers, such as `71.0|166.0`: no digit is lost.

    >>> import pandas as pd
    >>> schema, batches = cells_of_frame(pd.DataFrame({"label": [True, 2, {"b", "a"}, (1, 2.5)]}))
    >>> next(batches)["label"].to_pylist()
    ['True', '2', 'a|b', '1.0|2.5']
    """
    columns = [_column(frame.iloc[:, at]) for at in range(frame.shape[1])]
    table = pa.table(columns, names=[str(name) for name in frame.columns])
    return table.schema, iter(table.to_batches(BATCH))


def frame_in(
    session: Session,
    frame: "pd.DataFrame",
    source: str,
    columns: Mapping[str, str],
    first_row: int,
) -> Cells:
    """The cells of a frame in a session. An index level `row` names its rows.

    Raises
    ------
    RatingsError
        A column is there twice.
    """
    twice = sorted({str(name) for name in frame.columns[frame.columns.duplicated()]})
    if twice:
        raise RatingsError(
            f"{source}: found {called('column', [columns.get(name, name) for name in twice])} "
            "twice; expected each once. Drop or rename the other one."
        )
    levels = {
        name: frame.index.get_level_values(name)
        for name in ("row", "column")
        if name in frame.index.names
    }
    table = session.load(*cells_of_frame(frame.reset_index(drop=True).assign(**levels)))
    if "row" not in levels:
        table = table.view(f"SELECT *, nth + {first_row} AS row FROM {table}")
    return Cells(table, source, dict(columns))


def frame_of(
    parts: Iterable[pa.RecordBatch], everyone: Sequence[str], scale: Scale
) -> "pd.DataFrame":
    """Ratings as a frame. Items, raters and categories are categorical."""
    import pandas as pd

    from agreement_pipeline.ratings.texts import TEXT, in_pandas

    frame: pd.DataFrame = in_pandas(pa.Table.from_batches(parts))
    names = {"item": frame["item"].unique(), "rater": everyone}
    if scale.dimensions > 1:
        frame["label"] = frame["label"].map(tuple)
    elif not scale.numeric:
        names["label"] = scale.names
    for name, texts in names.items():
        kind = pd.CategoricalDtype(pd.Index(texts, dtype=TEXT))
        frame[name] = frame[name].astype(kind)
    if "assisted" in frame:
        frame["assisted"] = frame["assisted"].astype("boolean")
    return frame.astype({"occurrence": "int32"})


def plain_type(kind: pa.DataType) -> pa.DataType:
    """What the cells of an Arrow type become: texts, numbers or times."""
    types = pa.types
    if types.is_dictionary(kind):
        return plain_type(kind.value_type)
    if types.is_float16(kind):
        return pa.float32()
    is_whole = types.is_integer(kind) and not types.is_uint64(kind)
    return kind if is_whole or types.is_floating(kind) or is_time(kind) else pa.large_string()


def is_time(kind: pa.DataType) -> bool:
    """True for the Arrow type of dates with times. Those of a zone become text.

    An engine would tell them in a zone of its own.
    """
    return bool(pa.types.is_timestamp(kind) and kind.tz is None)


def is_text(kind: pa.DataType) -> bool:
    """True for the Arrow types of text."""
    types = pa.types
    return bool(types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind))


def plain(cells: pa.Array) -> pa.Array:
    """An Arrow array of single values as `plain_type` says."""
    kind = cells.type
    if pa.types.is_dictionary(kind):
        return plain(cells.dictionary).take(cells.indices)
    to = plain_type(kind)
    if kind == to:
        return cells
    if is_text(kind) or pa.types.is_null(kind):
        return cells.cast(to)
    return written(cells) if to == pa.large_string() else cells.cast(to)


def written(cells: pa.Array) -> pa.Array:
    """An Arrow array of single values as text. Each distinct value is written once."""
    coded = cells.dictionary_encode()
    texts = [None if each is None else category_text(each) for each in coded.dictionary.to_pylist()]
    return pa.array(texts, pa.large_string()).take(coded.indices)


def _column(values: "pd.Series") -> Any:
    import pandas as pd

    kind = values.dtype
    if isinstance(kind, pd.CategoricalDtype):
        codes = values.cat.codes.to_numpy()
        categories = pa.chunked_array(_column(pd.Series(values.cat.categories)))
        return categories.combine_chunks().take(pa.array(codes, mask=codes < 0))
    if kind == np.dtype(object):
        return _objects(values)
    if kind.kind in "mc" or isinstance(kind, pd.PeriodDtype | pd.IntervalDtype | pd.SparseDtype):
        return _texts(values.astype(object))
    if kind == np.dtype("longdouble"):
        values = values.astype(float)
    return _plain(pa.array(values, from_pandas=True))


def _plain(cells: Any) -> Any:
    chunks = cells.chunks if isinstance(cells, pa.ChunkedArray) else [cells]
    return pa.chunked_array([plain(each) for each in chunks], plain_type(cells.type))


def _objects(values: "pd.Series") -> Any:
    """A column of Python objects. If they are of one kind, they stay what they are."""
    import pandas as pd

    found = pd.api.types.infer_dtype(values)
    kinds = {"string": pa.large_string(), "integer": pa.int64(), "datetime": None, "empty": None}
    if found == "floating" and set(map(type, values)) <= {float, np.float64, type(None)}:
        kinds["floating"] = pa.float64()
    if found == "datetime" and any(each.tzinfo is not None for each in values.dropna()):
        return _texts(values)
    if found not in kinds:
        return _texts(values)
    try:
        return _plain(pa.array(values, kinds[found], from_pandas=True))
    except (pa.ArrowException, OverflowError):
        return _texts(values)


def _texts(values: "pd.Series") -> pa.Array:
    missing = values.isna()
    texts = [
        None if absent else _text(value) for value, absent in zip(values, missing, strict=True)
    ]
    return pa.array(texts, pa.large_string())


def _text(value: object) -> str:
    if not isinstance(value, VECTORS):
        return category_text(value)
    try:
        return MEMBERS.join(repr(float(each)) for each in value)
    except (TypeError, ValueError):
        return category_text(value)


__all__ = [
    "cells_of_frame",
    "frame_in",
    "frame_of",
    "is_text",
    "is_time",
    "plain",
    "plain_type",
    "written",
]
