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
PANDAS_TYPE_BY_ARROW_TYPE = {pa.string(): TEXT, pa.large_string(): TEXT}


def categorical_from_codes(codes: np.ndarray[Any, Any], texts: pd.Index) -> pd.Categorical:
    """A column of codes of distinct texts; -1 is a missing one.

    To see that texts are distinct, pandas would make a Python object of each, and keep them.

    >>> categorical_from_codes(np.array([1, -1]), pd.Index(["no", "yes"], dtype=TEXT)).tolist()
    ['yes', nan]
    """
    kind: Any = pd.CategoricalDtype()
    kind.__setstate__({"categories": texts, "ordered": False})
    return pd.Categorical.from_codes(codes, dtype=kind, validate=False)


def arrow_to_pandas(table: pa.Table | pa.ChunkedArray, **options: Any) -> Any:
    """An Arrow table or column in pandas, in which texts have one dtype."""
    return table.to_pandas(types_mapper=PANDAS_TYPE_BY_ARROW_TYPE.get, **options)


DAY_SECONDS = 86_400
EARLIEST_SECONDS = 1e8
TIME_WITH_ZONE = r"[T ].*(?:Z|[+-][0-9:]+)$"
UNIT_BY_MIN_SIZE = ((1e17, 1e9), (1e14, 1e6), (1e11, 1e3))
Seconds = np.ndarray[Any, np.dtype[np.float64]]


def times_as_seconds(times: "pd.Series[Any]") -> Seconds:
    """They count from any start. Numbers are seconds, or smaller units if large."""
    is_time = pd.api.types.is_datetime64_any_dtype(times)
    if not is_time and (numbers := pd.to_numeric(times, errors="coerce")).notna().any():
        values = numbers.to_numpy(dtype=np.float64, na_value=np.nan)
        size = np.nanmedian(np.abs(values))
        return np.asarray(
            values / next((unit for min_size, unit in UNIT_BY_MIN_SIZE if size > min_size), 1.0)
        )
    if is_time:
        return _seconds_since_1970(times, None)
    seconds_since_1970 = np.full(len(times), np.nan)
    # Before pandas 3, a time without a zone took the zone of another one.
    of_zone = times.astype(TEXT).str.contains(TIME_WITH_ZONE, na=False).to_numpy(dtype=bool)
    for selection in (of_zone, ~of_zone):
        seconds_since_1970[selection] = _seconds_since_1970(times[selection], "ISO8601")
    return seconds_since_1970


def _seconds_since_1970(values: "pd.Series[Any]", form: str | None) -> Seconds:
    times = pd.to_datetime(values, errors="coerce", utc=True, format=form)
    # Years such as 9999 have no nanoseconds.
    start = pd.Timestamp(0, tz="UTC").as_unit(times.dt.unit)
    return np.asarray((times - start).dt.total_seconds(), dtype=np.float64)


def tells_minutes(times: Seconds) -> bool:
    """True if times tell minutes: they are neither days alone nor a mere order."""
    stated = times[~np.isnan(times)]
    if not len(stated) or np.median(np.abs(stated)) < EARLIEST_SECONDS:
        return False
    return bool((stated % DAY_SECONDS != 0).any())


def ratings_frame(
    parts: Iterable[pa.RecordBatch], everyone: Sequence[str], scale: Scale
) -> pd.DataFrame:
    """Ratings as a DataFrame, with categorical names."""
    frame: pd.DataFrame = arrow_to_pandas(pa.Table.from_batches(parts))
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
