"""Which distinct values an expectation may fail on.

Arrow finds the values that pass for sure, in one pass over their bytes. Great Expectations is asked
of all others. Arrow and Python read regular expressions alike if two things hold. The expression
uses only what both write in the same way. And the text is printable ASCII.
"""

import re
import warnings
from typing import Any

import numpy as np
import pandas as pd

from agreement_pipeline.contract.asking import Suite

PLAIN = "^[ -~]*$"
LITERAL = r"[0-9A-Za-z _=@#%&~<>,:;!'\"/`-]|\\[sSdDwW]|\\[!-/:-@\[-^`{-~]"
ATOM = rf"{LITERAL}|[.|^$)]|\[\^?(?:{LITERAL}|[.*+?|$(){{}}])+\]|\((?:\?:|(?![*+?{{]))"
REPEATED = r"(?:[*+?]|\{\d+(?:,\d*)?\})\??"
COMMON = re.compile(rf"(?:(?:{ATOM})(?:{REPEATED})?)*")
"""The regular expressions that Arrow and Python read alike on printable ASCII."""


def doubtful(suite: Suite, values: pd.Index) -> np.ndarray[Any, Any]:
    """True for each value on which one of the expectations may fail."""
    found = np.zeros(len(values), dtype=bool)
    for built in suite.values():
        found |= _doubtful(built, values)
    return found


def _doubtful(built: Any, values: pd.Index) -> np.ndarray[Any, Any] | bool:
    if built.expectation_type == "expect_column_values_to_not_be_null":
        return False
    if built.expectation_type == "expect_column_values_to_not_match_regex":
        return _may_match(built.regex, values)
    return True


def _may_match(pattern: object, values: pd.Index) -> np.ndarray[Any, Any] | bool:
    """True for each text that may match a regular expression."""
    if not (isinstance(values.dtype, pd.StringDtype) and _is_common(pattern)):
        return True
    import pyarrow as pa
    import pyarrow.compute as pc

    texts = pa.chunked_array(pa.array(values)).cast(pa.large_string())
    try:
        matching = pc.match_substring_regex(texts, pattern)
    except pa.ArrowInvalid:
        return True
    if all(map(_is_plain, texts.chunks)):
        return np.asarray(matching)
    return ~np.asarray(pc.and_not(pc.match_substring_regex(texts, PLAIN), matching))


def _is_plain(texts: Any) -> bool:
    """True if all large strings are printable ASCII, seen in one pass over their bytes."""
    ends = np.frombuffer(texts.buffers()[1], dtype=np.int64)
    first, last = ends[texts.offset], ends[texts.offset + len(texts)]
    letters = np.frombuffer(texts.buffers()[2] or b"", dtype=np.uint8)[first:last]
    return texts.null_count == 0 and bool(((letters >= ord(" ")) & (letters <= ord("~"))).all())


def _is_common(pattern: object) -> bool:
    """True for a regular expression that Python reads, and Arrow in the same way."""
    if not isinstance(pattern, str) or not COMMON.fullmatch(pattern):
        return False
    try:
        with warnings.catch_warnings(action="ignore"):
            re.compile(pattern)
    except re.error:
        return False
    return True
