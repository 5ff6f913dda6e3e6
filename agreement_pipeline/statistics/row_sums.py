"""Weighted sums over rows, where the same seen rows stand beside other unseen rows again and again.

An interval computes a measure under the same weights of seen rows several times: without unseen
rows, with those for each category, and with one of them alone. The seen rows are summed once.
"""

from collections.abc import Callable, Hashable
from typing import Any, NamedTuple

import numpy as np

from agreement_pipeline.ratings import Array, Codes


class SomeRows(NamedTuple):
    """What some rows say, in numbers that are added. All other rows say 0.

    Attributes
    ----------
    places
        The places of these rows in ascending order. Shape (M,).
    values
        Their numbers. Shape (M, F).
    """

    places: Codes
    values: Array

    def split_at(self, place: int) -> tuple["SomeRows", "SomeRows"]:
        """The rows before a place, and the others with their places counted from there."""
        n = int(np.searchsorted(self.places, place))
        before = SomeRows(self.places[:n], self.values[:n])
        return before, SomeRows(self.places[n:] - place, self.values[n:])

    def under(self, weights: Array) -> Array:
        """The sums under weights of all rows. Shape (..., F) from (..., P)."""
        every = len(self.places) == weights.shape[-1]
        return np.asarray((weights if every else weights[..., self.places]) @ self.values)

    def at(self, place: Codes) -> Array:
        """What the rows at some places say. Shape (B, F) from (B,)."""
        found = np.zeros((len(place), self.values.shape[-1]))
        here = np.isin(place, self.places)
        found[here] = self.values[np.searchsorted(self.places, place[here])]
        return found


def every_row(values: Array) -> SomeRows:
    """What all rows say."""
    return SomeRows(np.arange(len(values)), values)


class SeenRows:
    """The weights of seen rows. Each sum over them is made once."""

    def __init__(self, weights: Array) -> None:
        self.weights = weights
        self._sums: dict[Hashable, Array] = {}

    def sums(self, rows: SomeRows, read: Hashable | None) -> Array:
        """The sums over some seen rows. They are remembered by what `read` them, if it is named."""
        if read is None:
            return rows.under(self.weights)
        if read not in self._sums:
            self._sums[read] = rows.under(self.weights)
        return self._sums[read]


class Beside(NamedTuple):
    """What is known of weights: those of seen rows, and which unseen rows have weight.

    Attributes
    ----------
    seen
        The rows that were seen.
    alone
        The place among the unseen rows of the only one that has weight: one for all resamples, or
        one for each. None if any unseen row may have weight.
    """

    seen: SeenRows
    alone: Codes | None = None

    def sums(self, weights: Array, rows: SomeRows, read: Callable[[Any], Any] | None) -> Array:
        """The sums under weights whose first ones are those of the seen rows."""
        n = self.seen.weights.shape[-1]
        seen, unseen = rows.split_at(n)
        total = self.seen.sums(seen, read)
        if weights.shape[-1] == n or not len(unseen.places):
            return np.broadcast_to(total, (*weights.shape[:-1], total.shape[-1]))
        if self.alone is None:
            return np.asarray(total + unseen.under(weights[..., n:]))
        mass = np.take_along_axis(weights, n + self.alone[:, None], -1)
        return np.asarray(total + mass * unseen.at(self.alone))

    def one_more(self, weights: Array) -> tuple[Codes, float] | None:
        """The place of the one unseen row beside the same seen ones in each resample, and its mass.

        None if that is not how the resamples differ.
        """
        if self.alone is None or self.seen.weights.ndim > 1:
            return None
        places = len(self.seen.weights) + self.alone
        return places, float(weights[0, places[0]])


__all__ = ["Beside", "SeenRows", "SomeRows", "every_row"]
