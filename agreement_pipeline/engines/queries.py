"""What SQL engines answer about ratings, as NumPy arrays. Answers that are small are kept."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from agreement_pipeline.engines import sql
from agreement_pipeline.engines.session import Session
from agreement_pipeline.ratings import MISSING, Array, Category, Codes, Scale

Columns = dict[str, np.ndarray]


@dataclass(frozen=True)
class Patterns:
    """Distinct rows of items, with the labels of all raters.

    Parameters
    ----------
    words
        Shape (P, W): the labels of a row, packed.
    n
        Shape (P,): the first ratings of each row.
    items
        Shape (P,): how many items show each row.
    gold, cluster
        Shape (P,): if these items are gold, and the number of their cluster. -1 if none.
    longest, blank
        The longest name of an item, and how many items have no name.
    """

    words: Codes
    n: Codes
    items: Codes
    gold: np.ndarray
    cluster: Codes
    longest: int
    blank: int


@dataclass(frozen=True, eq=False)
class Queries:
    """Checked ratings behind the views of a session.

    Parameters
    ----------
    session, name
        The session, and how the names of the views begin.
    raters, categories
        All raters and the categories in the order of the numbers that the views give them. The
        categories are None if labels are numbers.
    dimensions
        The numbers of a label, if labels are numbers. None if they are categories.
    has
        The optional columns that count.
    said
        What the source says of items: text, gold, cluster.
    again
        True if a rater met an item again.
    odd_times
        True if there are times that are no text.
    """

    session: Session
    name: str
    raters: tuple[str, ...]
    categories: tuple[Category, ...] | None
    dimensions: int | None
    has: frozenset[str]
    said: frozenset[str]
    again: bool
    odd_times: bool

    @property
    def packing(self) -> sql.Packing:
        """Where labels stand in words. Without categories, one bit says that there is one."""
        return sql.Packing(len(self.raters), len(self.categories or ("rated",)))

    def by_item(self, extra: Sequence[str] = ()) -> str:
        """The query for one row an item."""
        return sql.by_item(self.name, self.packing, sorted(self.has), extra)

    @cached_property
    def patterns(self) -> Patterns:
        """Distinct rows of items. One pass over the ratings."""
        clusters = ["cluster"] if "cluster" in self.has else []
        keys = [*self.packing.columns, "n", "gold", *clusters]
        found = self.session.ask(sql.patterns(self.by_item(), keys, self.blanks))
        return Patterns(
            self.words(found),
            whole(found, "n"),
            whole(found, "items"),
            flags(found, "gold"),
            self.clusters(found),
            int(whole(found, "longest").max(initial=0)),
            int(whole(found, "blank").sum()),
        )

    @cached_property
    def unlike(self) -> bool:
        """True if the labels of some item are fewer than its ratings.

        Then a rater labelled an item twice. Or a rater or a label is none of those that are known.
        """
        codes = self.codes(self.patterns.words, range(len(self.raters)))
        return bool(((codes >= 0).sum(1) != self.patterns.n).any())

    @property
    def blanks(self) -> str:
        """All blank characters as they stand in a query."""
        return self.session.literal(sql.BLANKS)

    def words(self, found: Any) -> Codes:
        """The words of rows. Shape (P, W)."""
        words = np.column_stack([whole(found, column) for column in self.packing.columns])
        return np.maximum(words, 0)

    def codes(self, words: Codes, raters: Sequence[int]) -> Codes:
        """The labels of some raters, unpacked. -1 if missing. Shape (P, R)."""
        packing = self.packing
        mask = (1 << packing.bits) - 1
        columns = [
            (words[:, packing.word(place)] // packing.unit(place)) & mask for place in raters
        ]
        return np.stack(columns, axis=1) - 1 if columns else np.empty((len(words), 0), np.int64)

    def clusters(self, found: Any) -> Codes:
        """The numbers of the clusters of rows, in the order of their first items."""
        if "cluster" not in self.has:
            return np.full(found.num_rows, MISSING)
        from pyarrow.compute import index_in

        places = index_in(found["cluster"], value_set=self.ordered_clusters)
        return np.asarray(places.to_numpy(), dtype=np.int64)

    @cached_property
    def ordered_clusters(self) -> Any:
        """The names of all clusters, in the order of their first items."""
        text = (
            f"SELECT cluster, MIN(item) AS item FROM {self.name}_rows WHERE item IS NOT NULL "
            "GROUP BY cluster ORDER BY item"
        )
        return self.session.ask(text)["cluster"].combine_chunks()

    def positions(self, scale: Scale) -> Codes:
        """The position on a scale of each category that the views know."""
        known = self.categories or ()
        if known == scale.categories:
            return np.arange(len(known))
        return np.array([scale.index(category) for category in known], dtype=np.int64)

    def gold(self) -> frozenset[str]:
        """The gold items. Those without a rating count too."""
        if "gold" not in self.has:
            return frozenset()
        text = f"SELECT DISTINCT item FROM {self.name}_contents WHERE gold"
        return frozenset(self.session.ask(text)["item"].to_pylist())

    def cluster_names(self) -> frozenset[str]:
        """The clusters of the items that are not gold."""
        if "cluster" not in self.has:
            return frozenset()
        where = "item IS NOT NULL AND NOT gold"
        text = f"SELECT DISTINCT cluster FROM {self.name}_contents WHERE {where}"
        return frozenset(self.session.ask(text)["cluster"].to_pylist())

    def digest(self, scale: Scale, classifiers: tuple[str, ...]) -> str:
        """SHA-256 of the ratings on a scale. One sorted pass over them."""
        from agreement_pipeline.engines.digested import digest_of

        return digest_of(self, scale, classifiers)

    def ask(self, text: str) -> Any:
        """The answer to a query as an Arrow table."""
        return self.session.ask(text)


def whole(found: Any, column: str) -> Codes:
    """A column of whole numbers; -1 where it has none."""
    return np.asarray(found[column].fill_null(MISSING).to_numpy(), dtype=np.int64)


def flags(found: Any, column: str) -> np.ndarray:
    """A column of true and false."""
    return np.asarray(found[column].to_numpy(), dtype=bool)


def numbers(found: Any, column: str) -> Array:
    """A column of numbers; nan where it has none."""
    return np.asarray(found[column].to_numpy(), dtype=float)


def texts(found: Any, column: str) -> tuple[str, ...]:
    """A column of texts."""
    return tuple(found[column].to_pylist())


__all__ = ["Patterns", "Queries", "flags", "numbers", "texts", "whole"]
