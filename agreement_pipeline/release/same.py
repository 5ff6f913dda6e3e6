"""The comparison of what a release holds with what is derived again.

The last digits of numbers may differ: machines add numbers up in different orders.
"""

import math
from reprlib import repr as shortened

import numpy as np
import pyarrow as pa

from agreement_pipeline.ratings import InTurn, ParquetRows, Rows

TOLERANCE = 1e-9
EACH = "*"

Paths = frozenset[tuple[str, ...]]
"""Places in plain data, key by key. `EACH` stands for every key and every list entry."""


class _Nothing:
    def __repr__(self) -> str:
        return "nothing"


NOTHING = _Nothing()


def same_rows(found: ParquetRows, derived: Rows) -> bool:
    """True for the same rows under the same schema, in a file whose footer adds nothing.

    The last digits of a number may differ, unless the number is a label. Labels are added up
    exactly.
    """
    same_columns = (
        found.schema.equals(derived.schema) and found.schema.metadata == derived.schema.metadata
    )
    plain = found.has_plain_footer(derived.schema.metadata or {})
    if not (same_columns and plain) or len(found) != len(derived):
        return False
    again = InTurn(derived)
    same = all(_same_part(part, again.take(len(part))) for part in found.parts())
    return same and not len(again.take(1))


def difference(
    found: object, derived: object, at: str, passed_over: Paths = frozenset()
) -> str | None:
    """The first place where plain data differ, in words. None if they are the same.

    Numbers may differ within the tolerance. Values under the paths in `passed_over` may
    differ, but both must be there and have the same type. A missing key is not a null, and
    a true is not a one.
    """
    if () in passed_over and type(found) is type(derived):
        return None
    if isinstance(found, dict) and isinstance(derived, dict):
        names = sorted(found.keys() | derived.keys())
        parts = [
            (
                found.get(name, NOTHING),
                derived.get(name, NOTHING),
                f"{at}, {name}",
                _under(passed_over, name),
            )
            for name in names
        ]
        return next((words for part in parts if (words := difference(*part))), None)
    if isinstance(found, list) and isinstance(derived, list) and len(found) == len(derived):
        inside = _under(passed_over, EACH)
        return next(
            (
                words
                for n, pair in enumerate(zip(found, derived, strict=True), 1)
                if (words := difference(*pair, f"{at} {n}", inside))
            ),
            None,
        )
    return (
        None
        if _same(found, derived)
        else f"{at} is {shortened(found)} and comes out as {shortened(derived)}"
    )


def _under(paths: Paths, name: str) -> Paths:
    """The rest of each path that leads through a key."""
    return frozenset(path[1:] for path in paths if path and path[0] in (name, EACH))


def _same(found: object, derived: object) -> bool:
    if isinstance(found, float) and isinstance(derived, float):
        return math.isclose(found, derived, rel_tol=0, abs_tol=TOLERANCE)
    return found == derived and (
        type(found) is type(derived) or {type(found), type(derived)} == {int, float}
    )


def _same_part(found: pa.Table, derived: pa.Table) -> bool:
    return all(
        _same_column(name, found[name].combine_chunks(), derived[name].combine_chunks())
        for name in derived.column_names
    )


def _same_column(name: str, found: pa.Array, derived: pa.Array) -> bool:
    return bool(found.equals(derived)) if name == "label" else _same_values(found, derived)


def _same_values(found: pa.Array, derived: pa.Array) -> bool:
    if not found.is_null().equals(derived.is_null()):
        return False
    if pa.types.is_fixed_size_list(found.type):
        return _same_values(found.flatten(), derived.flatten())
    if pa.types.is_floating(found.type):
        return np.allclose(
            found.to_numpy(zero_copy_only=False),
            derived.to_numpy(zero_copy_only=False),
            rtol=0,
            atol=TOLERANCE,
            equal_nan=True,
        )
    return bool(found.equals(derived))
