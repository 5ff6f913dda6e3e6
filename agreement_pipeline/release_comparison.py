"""Where what a release holds differs from what is derived again: last digits of numbers may, since machines add them up in different orders."""

import math
from collections.abc import Container, Mapping
from reprlib import repr as shortened

import numpy as np
import pyarrow as pa

TOLERANCE = 1e-9


def same_rows(found: pa.Table, derived: pa.Table) -> bool:
    """Are these the same rows under the same schema, but for the last digits of numbers?"""
    same_columns = found.schema.equals(derived.schema) and found.schema.metadata == derived.schema.metadata
    return (
        same_columns
        and len(found) == len(derived)
        and all(_same_values(found[name].combine_chunks(), derived[name].combine_chunks()) for name in derived.column_names)
    )


def difference(found: object, derived: object, at: str, passed_over: Container[str] = ()) -> str | None:
    """The first place where plain data differ, in words; numbers may within the tolerance, and what stands under the keys passed over."""
    if isinstance(found, Mapping) and isinstance(derived, Mapping):
        pairs = [(found.get(name), derived.get(name), f"{at}, {name}") for name in sorted(found.keys() | derived.keys()) if name not in passed_over]
        return next((words for pair in pairs if (words := difference(*pair, passed_over))), None)
    if isinstance(found, list) and isinstance(derived, list) and len(found) == len(derived):
        return next((words for n, pair in enumerate(zip(found, derived, strict=True), 1) if (words := difference(*pair, f"{at} {n}", passed_over))), None)
    if isinstance(found, float) and isinstance(derived, float) and math.isclose(found, derived, rel_tol=0, abs_tol=TOLERANCE):
        return None
    return None if found == derived else f"{at} is {shortened(found)} and comes out as {shortened(derived)}"


def _same_values(found: pa.Array, derived: pa.Array) -> bool:
    if not found.is_null().equals(derived.is_null()):
        return False
    if pa.types.is_fixed_size_list(found.type):
        return _same_values(found.flatten(), derived.flatten())
    if pa.types.is_floating(found.type):
        return np.allclose(found.to_numpy(zero_copy_only=False), derived.to_numpy(zero_copy_only=False), rtol=0, atol=TOLERANCE, equal_nan=True)
    return bool(found.equals(derived))
