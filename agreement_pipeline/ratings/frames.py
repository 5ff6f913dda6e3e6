"""Ratings in pandas: texts of one dtype whichever pandas is installed, times, and frames."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from agreement_pipeline.ratings.scale import Scale

TEXT: Any = (
    pd.api.types.pandas_dtype("string[pyarrow_numpy]")
    if pd.__version__.startswith("2.2.")
    else pd.StringDtype("pyarrow", na_value=np.nan)
)
OF_ARROW = {pa.string(): TEXT, pa.large_string(): TEXT}


def categorical(codes: np.ndarray[Any, Any], texts: pd.Index) -> pd.Categorical:
    """A column of codes of distinct texts; -1 is a missing one.

    To see that texts are distinct, pandas would make a Python object of each, and keep them.

    >>> categorical(np.array([1, -1]), pd.Index(["no", "yes"], dtype=TEXT)).tolist()
    ['yes', nan]
    """
    kind: Any = pd.CategoricalDtype()
    kind.__setstate__({"categories": texts, "ordered": False})
    return pd.Categorical.from_codes(codes, dtype=kind, validate=False)


def in_pandas(found: pa.Table | pa.ChunkedArray, **options: Any) -> Any:
    return found.to_pandas(types_mapper=OF_ARROW.get, **options)


DAY = 86_400
EARLIEST = 1e8
OF_ZONE = r"[T ].*(?:Z|[+-][0-9:]+)$"
UNITS = ((1e17, 1e9), (1e14, 1e6), (1e11, 1e3))
Seconds = np.ndarray[Any, np.dtype[np.float64]]


def seconds(given: "pd.Series[Any]") -> Seconds:
    """They count from any start. Numbers are seconds, or smaller units if large."""
    is_time = pd.api.types.is_datetime64_any_dtype(given)
    if not is_time and (numbers := pd.to_numeric(given, errors="coerce")).notna().any():
        found = numbers.to_numpy(dtype=np.float64, na_value=np.nan)
        size = np.nanmedian(np.abs(found))
        return np.asarray(found / next((unit for least, unit in UNITS if size > least), 1.0))
    if is_time:
        return _since_1970(given, None)
    since = np.full(len(given), np.nan)
    # Before pandas 3, a time without a zone took the zone of another one.
    of_zone = given.astype(TEXT).str.contains(OF_ZONE, na=False).to_numpy(dtype=bool)
    for some in (of_zone, ~of_zone):
        since[some] = _since_1970(given[some], "ISO8601")
    return since


def _since_1970(given: "pd.Series[Any]", form: str | None) -> Seconds:
    times = pd.to_datetime(given, errors="coerce", utc=True, format=form)
    # Years such as 9999 have no nanoseconds.
    start = pd.Timestamp(0, tz="UTC").as_unit(times.dt.unit)
    return np.asarray((times - start).dt.total_seconds(), dtype=np.float64)


def is_clock(times: Seconds) -> bool:
    """True if times tell minutes: they are neither days alone nor a mere order."""
    known = times[~np.isnan(times)]
    if not len(known) or np.median(np.abs(known)) < EARLIEST:
        return False
    return bool((known % DAY != 0).any())


def frame_of(
    parts: Iterable[pa.RecordBatch], everyone: Sequence[str], scale: Scale
) -> pd.DataFrame:
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
