"""How often two raters who met on an item said the same, for each pair of raters."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from agreement_pipeline.ratings import counts, taken

if TYPE_CHECKING:
    from agreement_pipeline.contract.facts.panel import Panel

MEETINGS = 400_000
CROWD = 500
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
    def of(cls, panel: "Panel") -> "Pairs":
        """The pairs of a panel. If raters met very often, a sample of the items is read."""
        item, rater, label = _some(panel)
        keys, differs, n_raters = [], [], len(panel.raters)
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


def _some(panel: "Panel") -> tuple[Codes, Codes, Codes]:
    """Items, raters and labels of first ratings: all, or those of items that are drawn.

    An item with a crowd of raters is left out. The draw follows from the digest of the ratings.
    So nobody can leave copies out of it.
    """
    places = panel.deciding
    item = panel.items_at(places)
    each = counts(item, len(panel.items))
    meetings = np.where(each > CROWD, 0, each * (each - 1) // 2)
    share = MEETINGS / max(int(meetings.sum()), MEETINGS)
    drawn = meetings > 0
    if share < 1:
        seed = int(panel.ratings.digest[:16], 16)
        drawn &= np.random.default_rng(seed).random(len(each)) < share
    if not drawn.all():
        kept = taken(drawn, item)
        places, item = places[kept], item[kept]
    return item, panel.rater[places], panel.label[places]
