from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from agreement_pipeline.ratings import Array

AGREEMENTS = ("observed", "expected", "greatest")
IN_TURN = 8
"""NumPy adds fewer numbers of a row than this one after the other, and more of them in parts."""


class Coefficient(NamedTuple):
    """A coefficient and its parts, each of shape (...); of every category, each of shape (..., K).

    `value` is nan where it is undefined. `observed` and `expected` are agreement, or disagreement
    for measures built on it. `greatest` is the largest agreement that could have been reached,
    where this is not always 1. `monte_carlo_error` is the standard error from sampling inside the
    measure.
    """

    value: Array
    observed: Array
    expected: Array | None = None
    greatest: Array | None = None
    monte_carlo_error: Array | None = None

    def where(self, defined: ArrayLike) -> "Coefficient":
        return self._replace(value=np.where(defined, self.value, np.nan))

    def in_spans(self, span: Array) -> "Coefficient":
        """The coefficient with its agreement parts counted over the whole scale.

        They were counted in a unit that is the share `span` of it; shape (...).
        """
        return self._replace(
            **{
                name: 1 - span * (1 - part)
                for name in AGREEMENTS
                if (part := getattr(self, name)) is not None
            }
        )


def across(values: Array) -> Array:
    """The sums over the last axis: few columns one by one, as NumPy adds them, but faster."""
    columns = values.shape[-1]
    if not 0 < columns < IN_TURN:
        return np.asarray(values.sum(-1))
    total = values[..., 0]
    for place in range(1, columns):
        total = total + values[..., place]
    return np.asarray(total)


def ratio(numerator: ArrayLike, denominator: ArrayLike) -> Array:
    """The quotient; nan where the denominator is at most 0 up to rounding. No warning is given."""
    top, bottom = np.asarray(numerator, dtype=float), np.asarray(denominator, dtype=float)
    quotient = np.full(np.broadcast(top, bottom).shape, np.nan)
    np.divide(top, bottom, out=quotient, where=bottom > 1e-12)
    return quotient


def chance_corrected(p_o: Array, p_e: Array) -> Coefficient:
    return Coefficient(ratio(p_o - p_e, 1 - p_e), observed=p_o, expected=p_e)
