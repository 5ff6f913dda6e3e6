"""Columns as codes: whatever looks at a name or a label looks at each distinct one once."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, cast

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pandas.api.types import union_categoricals

from agreement_pipeline.ratings.blocks import held, taken
from agreement_pipeline.ratings.row_order import row_keys
from agreement_pipeline.ratings.spelling import category_text
from agreement_pipeline.ratings.text_codes import in_codes
from agreement_pipeline.ratings.text_order import order_of_texts
from agreement_pipeline.ratings.texts import TEXT, are_texts

SAMPLE = 1000
IntCodes = np.ndarray[Any, np.dtype[Any]]


class Coded(NamedTuple):
    """A column of texts as codes.

    Attributes
    ----------
    codes
        The place of each row's text among `texts`. -1 if it is missing.
    texts
        The distinct texts, sorted.
    """

    codes: IntCodes
    texts: pd.Index

    def each(self, values: Any, missing: Any) -> np.ndarray[Any, Any]:
        """One value for each row, from one value for each distinct text."""
        return taken(np.append(np.asarray(values), missing), self.codes)

    def categorical(self) -> pd.Categorical:
        """The column as a categorical. Its categories are the texts."""
        return pd.Categorical.from_codes(self.codes, dtype=_kind(self.texts), validate=False)


def coded(values: pd.Series) -> Coded:
    """The texts of a column, as `category_text` writes them, in codes.

    >>> found = coded(pd.Series([2.0, 1.0, None, 2.0]))
    >>> found.codes.tolist(), found.texts.tolist()
    ([1, 0, -1, 1], ['1', '2'])
    """
    if isinstance(values.dtype, pd.CategoricalDtype):
        return _coded_again(values)
    if isinstance(values.dtype, pd.StringDtype):
        return _coded_texts(values)
    if values.dtype == object:
        return _coded_texts(values.map(category_text, na_action="ignore").astype(TEXT))
    codes, distinct = pd.factorize(values)
    return _through(codes, pd.Series(list(distinct), dtype=object))


def texts_in(values: pd.Series) -> pd.Series:
    """The texts of a column of codes of texts, without a Python object for each.

    >>> texts_in(pd.Series(["b", None, "b"], dtype=TEXT).astype("category")).fillna("").tolist()
    ['b', '', 'b']
    """
    texts, codes = values.cat.categories.array, values.cat.codes.to_numpy()
    return pd.Series(texts.take(codes, allow_fill=True), index=values.index)


def by_distinct(values: pd.Series, made: Callable[[pd.Series], Any], missing: Any) -> Any:
    """What `made` makes of the distinct texts of a column, one for each row."""
    found = coded(values)
    return found.each(made(pd.Series(found.texts)), missing)


def numbers_in(values: pd.Series) -> NDArray[np.float64]:
    """The numbers in a column. It is nan where a value is missing or is no number."""
    if isinstance(values.dtype, pd.StringDtype | pd.CategoricalDtype):
        return np.asarray(by_distinct(values, _numbers, np.nan), dtype=float)
    return _numbers(values)


def preceded(table: pd.DataFrame, earlier: Sequence[pd.DataFrame]) -> pd.DataFrame:
    """A table of ratings, preceded by the ratings of the same raters and items in earlier tables.

    Occurrences are counted anew.
    """
    own = table.assign(earlier=False)
    before = [_of_the_same(own, each[~each["earlier"]].assign(earlier=True)) for each in earlier]
    together = _with_joint_labels([*before, own])
    keys = row_keys(together.assign(occurrence=1))
    order = np.argsort(keys, kind="stable")
    ordered = together.iloc[order].reset_index(drop=True)
    starts = np.flatnonzero(np.append(True, np.diff(keys[order]) > 0))
    sizes = np.diff(np.append(starts, len(keys)))
    return ordered.assign(occurrence=np.arange(len(keys)) - np.repeat(starts, sizes) + 1)


def _of_the_same(own: pd.DataFrame, table: pd.DataFrame) -> pd.DataFrame:
    """The rows of another table whose rater rated the same item here, in the codes used here."""
    moved = {}
    for name in ("item", "rater"):
        names = own[name].cat.categories
        places = names.get_indexer(table[name].cat.categories)[table[name].cat.codes]
        moved[name] = pd.Categorical.from_codes(places, categories=names)
    same = table.assign(**moved).dropna(subset=["item", "rater"])
    there, here = (row_keys(each.assign(occurrence=1)) for each in (same, own))
    return same[np.isin(there, here)]


def _with_joint_labels(tables: list[pd.DataFrame]) -> pd.DataFrame:
    """Tables one after the other. Labels in codes get the categories of all."""
    if not isinstance(tables[0]["label"].dtype, pd.CategoricalDtype):
        return pd.concat(tables, ignore_index=True)
    labels = union_categoricals([each["label"] for each in tables])
    rest = pd.concat([each.drop(columns="label") for each in tables], ignore_index=True)
    return rest.assign(label=labels)[list(tables[-1].columns)]


def used(column: pd.Series) -> list[str]:
    """The categories of a column that it holds, in order."""
    return list(column.cat.categories[_held(column)])


def recoded(column: pd.Series, names: Callable[[str], str]) -> pd.Categorical:
    """A column of codes whose texts have other names, sorted again."""
    renamed = coded(pd.Series([names(text) for text in column.cat.categories], dtype=TEXT))
    return _recoded(column.cat.codes.to_numpy(), renamed).categorical()


def _coded_texts(values: pd.Series) -> Coded:
    import pyarrow as pa

    column = _in_arrow(values)
    if _ascending(column.slice(0, SAMPLE)) and _ascending(column):
        return _coded_ascending(column)
    codes, distinct = in_codes(column)
    order = order_of_texts(distinct)
    ranks = np.empty(len(order) + 1, dtype=np.int32)
    ranks[order] = np.arange(len(order), dtype=np.int32)
    ranks[-1] = -1
    texts = distinct.take(pa.array(order)).cast(pa.large_string())
    return Coded(taken(ranks, codes), pd.Index(pd.array(texts, dtype=TEXT)))


def _in_arrow(values: pd.Series | pd.Index) -> Any:
    import pyarrow as pa

    return pa.chunked_array(pa.array(values, from_pandas=True))


def _ascending(column: Any) -> bool:
    """True if an Arrow column has texts alone, and none comes before the one above it."""
    import pyarrow.compute as pc

    rising = pc.less_equal(column.slice(0, max(len(column) - 1, 0)), column.slice(1))
    return column.null_count == 0 and bool(pc.all(rising, min_count=0).as_py())


def _coded_ascending(column: Any) -> Coded:
    import pyarrow as pa
    import pyarrow.compute as pc

    differs = pc.not_equal(column.slice(0, max(len(column) - 1, 0)), column.slice(1)).to_numpy()
    first = np.append(True, differs)[: len(column)]
    texts = column.filter(pa.array(first, pa.bool_())).cast(pa.large_string())
    # Arrow copies all chunks whenever some texts of a chunked column are taken.
    texts = texts.combine_chunks()
    return Coded(np.cumsum(first, dtype=np.int32) - 1, pd.Index(pd.array(texts, dtype=TEXT)))


def _kind(texts: pd.Index) -> pd.CategoricalDtype:
    """The type of a column of codes of distinct texts.

    To see that texts are distinct, pandas would make a Python object of each, and keep them.
    """
    kind: Any = pd.CategoricalDtype()
    kind.__setstate__({"categories": texts, "ordered": False})
    return cast(pd.CategoricalDtype, kind)


def _through(codes: IntCodes, distinct: pd.Series) -> Coded:
    """The codes of a column from the codes of its distinct values."""
    return _recoded(codes, coded(distinct))


def _recoded(codes: IntCodes, distinct: Coded) -> Coded:
    """The codes of a column whose distinct values are coded."""
    if np.array_equal(distinct.codes, np.arange(len(distinct.texts))):
        return Coded(codes, distinct.texts)
    return Coded(taken(np.append(distinct.codes, np.int32(-1)), codes), distinct.texts)


def _coded_again(values: pd.Series) -> Coded:
    """The codes of a categorical column, without the categories that it does not hold."""
    codes, texts, there = values.cat.codes.to_numpy(), values.cat.categories, _held(values)
    if not there.all():
        places = np.append(np.cumsum(there, dtype=np.int32) - 1, np.int32(-1))
        codes, texts = taken(places, codes), texts[there]
    if isinstance(texts.dtype, pd.StringDtype) and _ascending(_in_arrow(texts)):
        return Coded(codes, texts)
    return _through(codes, pd.Series(texts))


def _held(column: pd.Series) -> NDArray[np.bool_]:
    """True for each category that a column holds."""
    return held(column.cat.codes.to_numpy(), len(column.cat.categories))


def _numbers(values: pd.Series) -> NDArray[np.float64]:
    found = pd.to_numeric(values, errors="coerce").to_numpy(dtype=float, na_value=np.nan)
    if pd.__version__ >= "3" or not (values.dtype == object or are_texts(values)):
        return found
    # pandas 2 reads one text of three as a neighbour of the nearest number.
    return np.asarray(values.where(~np.isnan(found)).astype(float), dtype=np.float64)


__all__ = [
    "Coded",
    "by_distinct",
    "coded",
    "numbers_in",
    "preceded",
    "recoded",
    "texts_in",
    "used",
]
