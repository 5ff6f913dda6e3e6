"""What is asked of a few rows, because it says all of the whole table.

Many expectations judge each value alone. They say the same of equal values. So they are asked of
each distinct value of a column of codes once, and the codes say of how many rows this holds.
Values that pass for sure are not asked (`doubtful.py`).

A row is unique if no other has its codes. So uniqueness is asked of the other rows only.

Each expectation itself makes its result of the counts. If Great Expectations raises an exception,
the whole table is asked, so the message is that of the whole table.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import pandas as pd

from agreement_pipeline.contract.asking import KEPT, Answer, Suite, answer_from, answers
from agreement_pipeline.contract.doubtful import doubtful
from agreement_pipeline.ratings import parts

OF_VALUES = frozenset(
    {
        "expect_column_value_lengths_to_be_between",
        "expect_column_value_lengths_to_equal",
        "expect_column_values_to_be_between",
        "expect_column_values_to_be_dateutil_parseable",
        "expect_column_values_to_be_in_set",
        "expect_column_values_to_be_json_parseable",
        "expect_column_values_to_be_null",
        "expect_column_values_to_match_regex",
        "expect_column_values_to_match_regex_list",
        "expect_column_values_to_match_strftime_format",
        "expect_column_values_to_not_be_in_set",
        "expect_column_values_to_not_be_null",
        "expect_column_values_to_not_match_regex",
        "expect_column_values_to_not_match_regex_list",
    }
)
"""Expectations that judge each value alone."""

COUNTABLE = ("bool", "int8", "int16", "int32", "int64")
OF_ROWS = "expect_compound_columns_to_be_unique"
OF_MEAN = "expect_column_mean_to_be_between"
PART, BLOCK = 1 << 18, 1 << 20
COMPLETE = {
    "result_format": "COMPLETE",
    "exclude_unexpected_values": True,
    "return_unexpected_index_query": False,
}
Codes = np.ndarray[Any, Any]
Answers: TypeAlias = dict[str, Answer]


def answers_by_codes(suite: Suite, frame: pd.DataFrame, parameters: Mapping[str, Any]) -> Answers:
    """What Great Expectations says of a table, by check."""
    known = _of_values(suite, frame, parameters) | _of_rows(suite, frame, parameters)
    known |= _of_means(suite, frame)
    rest = {check: built for check, built in suite.items() if check not in known}
    return known | answers(rest, frame, parameters)


class _Column(NamedTuple):
    """A column of codes, and how many rows hold each. The last count is of missing values."""

    values: pd.Categorical
    codes: Codes
    counts: Codes

    @classmethod
    def of(cls, column: pd.Series) -> "_Column":
        codes = column.cat.codes.to_numpy()
        counts = np.zeros(len(column.cat.categories) + 1, dtype=np.int64)
        for part in parts(len(codes), BLOCK):
            least = int(codes[part].min())
            held = np.bincount(codes[part] - least)
            counts[least + 1 : least + 1 + len(held)] += held
        return cls(column.array, codes, np.roll(counts, -1))

    def parts(self, suite: Suite) -> Iterator[tuple[Codes, pd.Categorical]]:
        """The distinct values on which an expectation may fail, in parts.

        The first of each part is no value. Each part comes with the places of its values among the
        counts.
        """
        missing, texts = len(self.counts) - 1, self.values.categories
        asked = (self.counts[:missing] > 0) & doubtful(suite, texts)
        for start in range(0, max(1, missing), PART):
            held = np.flatnonzero(asked[start : start + PART])
            if len(held) or start == 0:
                yield (
                    np.append(missing, held + start),
                    pd.Categorical.from_codes(
                        np.append(-1, held),
                        categories=texts[start : start + PART],
                        ordered=self.values.ordered,
                    ),
                )

    def rows(self, failing: Codes) -> list[int]:
        """The first rows whose value fails."""
        found: list[int] = []
        for part in parts(len(self.codes), BLOCK):
            here = np.flatnonzero(failing[self.codes[part]])[: KEPT - len(found)]
            found.extend((here + part.start).tolist())
            if len(found) == KEPT:
                break
        return found


def _of_values(suite: Suite, frame: pd.DataFrame, parameters: Mapping[str, Any]) -> Answers:
    """What is said of expectations that judge each value alone, where it is known."""
    asked: dict[str, dict[str, Any]] = {}
    for check, built in suite.items():
        if built.expectation_type in OF_VALUES and _is_coded(frame, built.column):
            asked.setdefault(built.column, {})[check] = built
    return {
        check: answer
        for name, checks in asked.items()
        for check, answer in _of_column(checks, name, _Column.of(frame[name]), parameters).items()
    }


def _of_column(suite: Suite, name: str, column: _Column, parameters: Mapping[str, Any]) -> Answers:
    """What is said of one column of codes, where it is known."""
    failing = {check: np.zeros(len(column.counts), dtype=bool) for check in suite}
    for places, values in column.parts(suite):
        said = answers(suite, pd.DataFrame({name: values}), parameters, COMPLETE)
        suite = {check: built for check, built in suite.items() if _is_known(said.get(check))}
        for check in suite:
            failing[check][places[said[check].result["unexpected_index_list"]]] = True
    return {check: _spread(built, column, failing[check]) for check, built in suite.items()}


def _spread(built: Any, column: _Column, failing: Codes) -> Answer:
    """What is said of the rows, from which distinct values fail."""
    unexpected = int(column.counts[failing].sum())
    counted = {
        "table.row_count": len(column.codes),
        "column_values.nonnull.unexpected_count": int(column.counts[-1]),
        ".unexpected_count": unexpected,
        ".unexpected_values": [],
        ".unexpected_index_list": column.rows(failing) if unexpected else [],
    }
    return answer_from(built, counted)


def _of_rows(suite: Suite, frame: pd.DataFrame, parameters: Mapping[str, Any]) -> Answers:
    """What is said of the uniqueness of rows, where it is known."""
    known = {}
    for check, built in suite.items():
        keys = _keys(frame, built.column_list) if built.expectation_type == OF_ROWS else None
        if keys is None:
            continue
        doubtful = frame[_repeated(keys) | _lacking(frame, built.column_list)]
        said = answers({check: built}, doubtful, parameters).get(check)
        if said and _is_known(said):
            known[check] = _widened(built, said.result, len(frame))
    return known


def _of_means(suite: Suite, frame: pd.DataFrame) -> Answers:
    """What is said of means of whole numbers and flags. pandas counts them, as it does there.

    Great Expectations would look at each number in Python before.
    """
    return {
        check: answer_from(built, {"column.mean": frame[built.column].mean()})
        for check, built in suite.items()
        if built.expectation_type == OF_MEAN
        and built.column in frame
        and frame[built.column].dtype in COUNTABLE
    }


def _widened(built: Any, result: Mapping[str, Any], n_rows: int) -> Answer:
    """What is said of all rows, from what is said of the doubtful ones."""
    counted = {
        "table.row_count": n_rows,
        ".filtered_row_count": n_rows - result["missing_count"],
        ".unexpected_count": result["unexpected_count"],
        ".unexpected_values": [],
        ".unexpected_index_list": result["partial_unexpected_index_list"],
    }
    return answer_from(built, counted)


def _is_known(said: Answer | None) -> bool:
    return said is not None and said.raised is None


def _is_coded(frame: pd.DataFrame, name: object) -> bool:
    return name in frame and isinstance(frame[name].dtype, pd.CategoricalDtype)


def _keys(frame: pd.DataFrame, names: object) -> Codes | None:
    """A number for each row, of which equal rows have the same.

    None if a column has neither codes nor whole numbers, or if numbers do not reach.
    """
    if not isinstance(names, list) or not all(_is_countable(frame, name) for name in names):
        return None
    keys, n_keys = np.zeros(len(frame), dtype=np.int64), 1
    for name in names:
        values = _whole(frame[name])
        least = int(values.min(initial=0))
        width = int(values.max(initial=0)) - least + 1
        n_keys *= width
        if n_keys > np.iinfo(np.int64).max:
            return None
        keys *= width
        keys += values
        keys -= least
    return keys


def _is_countable(frame: pd.DataFrame, name: object) -> bool:
    return _is_coded(frame, name) or (name in frame and frame[name].dtype in COUNTABLE)


def _whole(column: Any) -> Codes:
    """A column of codes or of whole numbers as whole numbers."""
    coded = isinstance(column.dtype, pd.CategoricalDtype)
    return np.asarray(column.cat.codes if coded else column)


def _repeated(keys: Codes) -> Codes:
    """True for each key that is there more than once."""
    if (keys[1:] > keys[:-1]).all():
        return np.zeros(len(keys), dtype=bool)
    ordered = np.sort(keys)
    return np.isin(keys, ordered[1:][ordered[1:] == ordered[:-1]])


def _lacking(frame: pd.DataFrame, names: Iterable[str]) -> Codes:
    """True for each row without a value in one of its columns."""
    lacking = np.zeros(len(frame), dtype=bool)
    for name in names:
        if _is_coded(frame, name):
            lacking |= frame[name].cat.codes.to_numpy() < 0
    return lacking
