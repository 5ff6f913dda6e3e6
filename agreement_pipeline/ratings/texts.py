"""The dtype of texts in tables. It is the same whichever pandas is installed."""

from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

TEXT: Any = (
    pd.api.types.pandas_dtype("string[pyarrow_numpy]")
    if pd.__version__.startswith("2.2.")
    else pd.StringDtype("pyarrow", na_value=np.nan)
)
OF_ARROW = {pa.string(): TEXT, pa.large_string(): TEXT}


def categorical(codes: np.ndarray[Any, Any], texts: pd.Index) -> pd.Categorical:
    """A column of codes of distinct texts. -1 is a missing one.

    To see that texts are distinct, pandas would make a Python object of each, and keep them.

    >>> categorical(np.array([1, -1]), pd.Index(["no", "yes"], dtype=TEXT)).tolist()
    ['yes', nan]
    """
    kind: Any = pd.CategoricalDtype()
    kind.__setstate__({"categories": texts, "ordered": False})
    return pd.Categorical.from_codes(codes, dtype=kind, validate=False)


def in_pandas(found: pa.Table | pa.ChunkedArray, **options: Any) -> Any:
    """An Arrow table or column in pandas."""
    return found.to_pandas(types_mapper=OF_ARROW.get, **options)


def are_texts(values: "pd.Series[Any]") -> bool:
    """True if each value is a text or missing, also in a column of Python objects.

    >>> are_texts(pd.Series(["a", None], dtype=object)), are_texts(pd.Series(["a", 1]))
    (True, False)
    """
    return bool(pd.api.types.infer_dtype(values) == "string")
