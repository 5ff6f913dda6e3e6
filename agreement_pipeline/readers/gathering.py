"""A table that grows row by row, in little memory.

Every so many rows become Arrow arrays. So no Python object is kept for a row.
"""

from collections.abc import Iterable
from typing import Any

import pandas as pd

AT_ONCE = 8_192
SELDOM, FEW = 0.5, 0.05
"""The most different texts among its rows: of a part in codes, and of a column in codes."""


class Growing:
    """The columns of a table that grows row by row.

    Parameters
    ----------
    names
        Its columns.
    in_codes
        The columns that may be categorical in the table, if their texts come often.
    """

    def __init__(self, names: Iterable[str], in_codes: Iterable[str]) -> None:
        self._parts: dict[str, list[Any]] = {name: [] for name in names}
        self._new: dict[str, list[Any]] = {name: [] for name in self._parts}
        self._in_codes = frozenset(in_codes)

    def append(self, row: dict[str, Any]) -> None:
        """Add a row, with a value of each column."""
        for name, values in self._new.items():
            values.append(row[name])
        if len(values) == AT_ONCE:
            self._settle()

    def frame(self) -> pd.DataFrame:
        """The table. A column of texts is `str` or categorical, and any other is of objects."""
        self._settle()
        return pd.DataFrame({name: self._column(name) for name in list(self._parts)})

    def _settle(self) -> None:
        """Put the last rows with those before."""
        for name, values in self._new.items():
            self._parts[name].append(_packed(values))
            values.clear()

    def _column(self, name: str) -> pd.Series:
        import pyarrow as pa

        parts = self._parts.pop(name)
        if any(isinstance(part, list) for part in parts):
            lists = (part if isinstance(part, list) else part.to_pylist() for part in parts)
            return pd.Series([value for part in lists for value in part], dtype=object)
        if name in self._in_codes and _come_often(parts):
            return pd.Series(pa.chunked_array(parts).unify_dictionaries().to_pandas())
        plain = [part.cast(pa.large_string()) for part in parts]
        return pd.Series(pd.array(pa.chunked_array(plain, pa.large_string()), dtype="str"))


def _come_often(parts: list[Any]) -> bool:
    """True if all parts are in codes, and few texts are in them. pandas keeps those in codes."""
    if not all(hasattr(part, "dictionary") for part in parts):
        return False
    return sum(len(part.dictionary) for part in parts) <= FEW * sum(map(len, parts))


def _packed(values: list[Any]) -> Any:
    """Texts as an Arrow array, of codes if they come often. Anything else as it is."""
    import pyarrow as pa

    if not all(value is None or type(value) is str for value in values):
        return [*values]
    texts = pa.array(values, pa.string())
    coded = texts.dictionary_encode()
    return coded if len(coded.dictionary) <= SELDOM * len(values) else texts
