"""How often two raters who met on an item said the same, for each pair of raters."""

from dataclasses import dataclass
from typing import Any

import numpy as np

Codes = np.ndarray[Any, Any]


@dataclass(frozen=True, eq=False)
class Pairs:
    """Pairs of raters, with an entry for each pair that met.

    Attributes
    ----------
    first, second
        The codes of the two raters. The first is the smaller one.
    met, differed
        On how many items they met, and on how many of these their labels differ.
    """

    first: Codes
    second: Codes
    met: Codes
    differed: Codes

    @classmethod
    def of(cls, item: Codes, rater: Codes, label: Codes) -> "Pairs":
        """The pairs in first ratings, which are in the order of item and rater."""
        keys, differs, n_raters = [], [], int(rater.max(initial=0)) + 1
        for apart in range(1, len(item)):
            here = np.flatnonzero(item[apart:] == item[:-apart])
            if not len(here):
                break
            keys.append(rater[here].astype(np.int64) * n_raters + rater[here + apart])
            differs.append(label[here] != label[here + apart])
        if not keys:
            return cls(*(np.empty(0, dtype=np.int64) for _ in range(4)))
        pairs, places = np.unique(np.concatenate(keys), return_inverse=True)
        return cls(
            pairs // n_raters,
            pairs % n_raters,
            np.bincount(places),
            np.bincount(places, np.concatenate(differs)).astype(np.int64),
        )

    def where(self, which: Codes) -> "Pairs":
        """Some of the pairs."""
        return Pairs(self.first[which], self.second[which], self.met[which], self.differed[which])

    @property
    def share(self) -> Codes:
        """The share of items on which the two differ."""
        return np.asarray(self.differed / self.met)
