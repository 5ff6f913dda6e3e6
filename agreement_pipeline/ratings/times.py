"""When ratings were given, in seconds."""

from typing import Any

import numpy as np
import pandas as pd

DAY = 86_400
EARLIEST = 1e8
UNITS = ((1e17, 1e9), (1e14, 1e6), (1e11, 1e3))
Seconds = np.ndarray[Any, np.dtype[np.float64]]


def seconds(given: "pd.Series[Any]") -> Seconds:
    """The seconds of each time, from any start. NaN where none can be read.

    Numbers are seconds, or smaller units if they are large.
    """
    numbers = pd.to_numeric(given, errors="coerce") if not _is_time(given) else None
    if numbers is not None and numbers.notna().any():
        found = numbers.to_numpy(dtype=np.float64, na_value=np.nan)
        size = np.nanmedian(np.abs(found))
        return np.asarray(found / next((unit for least, unit in UNITS if size > least), 1.0))
    form = None if _is_time(given) else "ISO8601"
    times = pd.to_datetime(given, errors="coerce", utc=True, format=form)
    since = (times - pd.Timestamp(0, tz="UTC")).dt.total_seconds()
    return np.asarray(since, dtype=np.float64)


def is_clock(times: Seconds) -> bool:
    """True if times tell minutes: they are neither days alone nor a mere order."""
    known = times[~np.isnan(times)]
    if not len(known) or np.median(np.abs(known)) < EARLIEST:
        return False
    return bool((known % DAY != 0).any())


def _is_time(given: "pd.Series[Any]") -> bool:
    return pd.api.types.is_datetime64_any_dtype(given)
