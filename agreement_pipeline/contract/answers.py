"""The expectations of nearly every contract, answered here as Great Expectations answers them.

To import Great Expectations takes more CPU time than all else that is done with a small round.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from math import inf
from typing import Any, NamedTuple, TypeGuard

import numpy as np
import pandas as pd

from agreement_pipeline.contract.expectations import REDACTING, Expectation
from agreement_pipeline.ratings import TEXT

Codes = np.ndarray[Any, Any]
MAX_FAILING_ROWS = 20
EMAIL = r"[^\s@]@[^\s@]+\.[^\s@]"
"""What the usual contract looks for in names. Most are told by one letter that they lack."""
ROWS, COLUMNS = "expect_table_row_count_to_be_between", "expect_table_columns_to_match_set"
PRESENT, UNIQUE = "expect_column_values_to_not_be_null", "expect_compound_columns_to_be_unique"
VALUES_BETWEEN, IN_SET = "expect_column_values_to_be_between", "expect_column_values_to_be_in_set"
BOUNDS: tuple[set[str], ...] = ({"min_value"}, {"max_value"}, {"min_value", "max_value"})
FORMS: dict[str, Sequence[set[str]]] = {
    ROWS: BOUNDS,
    COLUMNS: [{"column_set", "exact_match"}],
    UNIQUE: [{"column_list"}],
    PRESENT: [{"column"}],
    VALUES_BETWEEN: [{"column", *names} for names in BOUNDS],
    IN_SET: [{"column", "value_set"}],
    REDACTING: [{"column", "regex"}],
}


class Answer(NamedTuple):
    success: bool
    result: Mapping[str, Any]
    raised: str | None = None


def is_usual(expectation: Expectation) -> bool:
    kwargs = expectation.kwargs
    names = {*kwargs} - ({"mostly"} if "column" in kwargs else set())
    return (
        names in FORMS.get(expectation.type, ())
        and all(ARGUMENTS[name](value) for name, value in kwargs.items())
        and kwargs.get("min_value", -inf) <= kwargs.get("max_value", inf)
    )


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _are_names(value: object) -> bool:
    return (
        isinstance(value, list) and len(value) > 1 and all(isinstance(name, str) for name in value)
    )


def _is_regex(value: object) -> bool:
    try:
        return isinstance(value, str) and not re.compile(value).groups
    except re.error:
        return False


ARGUMENTS: dict[str, Callable[[Any], bool]] = {
    "column": lambda value: isinstance(value, str),
    "column_list": _are_names,
    "column_set": _are_names,
    "exact_match": lambda value: value is False,
    "max_value": _is_number,
    "min_value": _is_number,
    "mostly": lambda value: _is_number(value) and 0 <= value <= 1,
    "regex": _is_regex,
    "value_set": lambda value: value == {"$PARAMETER": "vocabulary"},
}


def answer(
    expectation: Expectation, frame: pd.DataFrame, vocabulary: Sequence[Any]
) -> Answer | None:
    kwargs, kind = expectation.kwargs, expectation.type
    if kind == ROWS:
        minimum, maximum = kwargs.get("min_value", -inf), kwargs.get("max_value", inf)
        return Answer(minimum <= len(frame) <= maximum, {"observed_value": len(frame)})
    if kind == COLUMNS:
        return Answer({*kwargs["column_set"]} <= {*frame}, {"observed_value": sorted(frame)})
    fails = np.zeros(len(frame), dtype=bool)
    if kind == UNIQUE:
        return (
            _count_failing(fails, frame.index)
            if _is_increasing(frame, kwargs["column_list"])
            else None
        )
    column: Any = frame.get(kwargs["column"])
    mostly = kwargs.get("mostly", 1)
    if column is None or (kind == VALUES_BETWEEN and column.dtype.kind not in "iuf"):
        return None
    missing = column.isna().to_numpy()
    if kind == PRESENT:
        return _count_failing(missing, frame.index, mostly)
    if is_coded(column):
        values = pd.Series(column.cat.categories)
    else:
        values = column[~missing] if missing.any() else column
    odd = ~_is_expected(values, kind, kwargs, vocabulary)
    if odd.any():
        fails[~missing] = odd[column.cat.codes[~missing]] if is_coded(column) else odd
    return _count_failing(fails, frame.index, mostly, int(missing.sum()))


def _is_expected(
    values: pd.Series, kind: str, kwargs: Mapping[str, Any], vocabulary: Sequence[Any]
) -> Codes:
    if kind == VALUES_BETWEEN:
        minimum, maximum = kwargs.get("min_value", -inf), kwargs.get("max_value", inf)
        numbers = values.to_numpy()
        return np.asarray((minimum <= numbers) & (numbers <= maximum))
    if kind == IN_SET:
        return values.isin(vocabulary).to_numpy()
    search, regex = re.compile(kwargs["regex"]).search, kwargs["regex"]
    required_sign = "@" if regex == EMAIL else ""
    texts = values.astype(TEXT).tolist()
    return np.array(
        [required_sign not in text or search(text) is None for text in texts], dtype=bool
    )


def _count_failing(fails: Codes, index: pd.Index, mostly: float = 1, n_missing: int = 0) -> Answer:
    n_checked, n_failing = len(fails) - n_missing, int(fails.sum())
    return Answer(
        not n_checked or (n_checked - n_failing) / n_checked >= mostly,
        {
            "element_count": len(fails),
            "missing_count": n_missing,
            "unexpected_count": n_failing,
            "partial_unexpected_index_list": index[fails][:MAX_FAILING_ROWS].tolist()
            if n_failing
            else [],
        },
    )


def _is_increasing(frame: pd.DataFrame, names: Sequence[str]) -> bool:
    equal = np.ones(max(len(frame) - 1, 0), dtype=bool)
    for name in names:
        column = frame.get(name)
        codes = column.cat.codes if is_coded(column) else column
        if codes is None or codes.dtype.kind != "i" or (codes < 0).any():
            return False
        values = codes.to_numpy()
        if (values[1:] < values[:-1])[equal].any():
            return False
        equal &= values[1:] == values[:-1]
    return not equal.any()


def is_coded(column: pd.Series | None) -> TypeGuard[pd.Series]:
    return column is not None and isinstance(column.dtype, pd.CategoricalDtype)
