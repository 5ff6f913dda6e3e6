"""The checked long table: one row a rating."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
import pandas as pd

from agreement_pipeline.errors import RatingsError
from agreement_pipeline.ratings.checks import KEY, checked
from agreement_pipeline.ratings.scale import Scale
from agreement_pipeline.text import listed


@dataclass(frozen=True, eq=False)
class Ratings:
    """Who gave which item which label, and which time it was.

    Parameters
    ----------
    table
        One row a rating, sorted by item, rater and occurrence: `item` and `rater` (text), `label` (a category, as the scale writes it; a
        number where the scale has none, a tuple of them on a multivariate interval scale),
        `occurrence` (1, 2, … when the rater met the item again), `earlier` (did an earlier round give it? then it speaks for intra-rater
        agreement only) and, where known, `confidence` (a number from 0 to 1, nan where none was stated) and `timestamp`.
    scale
        What the labels may be.
    classifiers
        The raters that are models, not people: they are compared with the panel and never part of it.
    contents
        What is known of the items: index `item`, columns `text`, `gold` and `cluster` (the document, conversation, patient or batch an item is of)
        where given.
    also_gold
        Items that are gold in another round which these ratings are released with: they are gold here too. The digest does not say so.

    Make one with `Ratings.from_frame`.
    """

    table: pd.DataFrame
    scale: Scale
    classifiers: tuple[str, ...] = ()
    contents: pd.DataFrame = field(
        default_factory=lambda: pd.DataFrame(index=pd.Index([], name="item"))
    )
    also_gold: frozenset[str] = frozenset()

    @classmethod
    def from_frame(
        cls,
        frame: pd.DataFrame,
        scale: Scale,
        *,
        classifiers: Sequence[str] = (),
        source: str = "ratings",
        columns: Mapping[str, str] | None = None,
        first_row: int = 1,
    ) -> "Ratings":
        """Check a long table and put it in order.

        Parameters
        ----------
        frame
            The columns `item`, `rater` and `label`, and any of `occurrence`, `earlier`, `confidence`, `timestamp`, `text`, `gold`, `cluster`.
            Rows without a label are missing ratings and are left out. A vector of numbers is a tuple, a list or an array, or text with `|`
            between the numbers; a set of labels is a set or a frozenset, or its members in order with `|` between them.
        scale
            What the labels may be.
        classifiers
            Names of raters that are models.
        source, columns, first_row
            For error messages: the name of the file, what each column is called in it, and the number of its first row of data.
            A frame whose index has a level `row` numbers its rows itself; a second level `column` names the column each rating stands in,
            for tables with a column a rater.

        Raises
        ------
        RatingsError
            A column is missing or there twice, nothing is rated, a name is empty, a label is not on the scale, a flag is neither yes nor no, a
            confidence is no number from 0 to 1, one (item, rater, occurrence) has two labels, an item stands in two clusters, or some items in one and
            others in none.

        Examples
        --------
        >>> frame = pd.DataFrame({"item": ["i1", "i1"], "rater": ["a", "b"], "label": ["yes", "no"]})
        >>> Ratings.from_frame(frame, Scale(("no", "yes"))).raters
        ('a', 'b')
        """
        table, contents = checked(frame, scale, source, dict(columns or {}), first_row)
        unknown = sorted(set(classifiers) - set(table["rater"].unique()))
        if unknown:
            raise RatingsError(
                f"{source}: no rating by classifier {listed(unknown)} found; every named classifier is required to have some. Correct the classifiers' names."
            )
        ordered = table.sort_values(list(KEY), kind="stable").reset_index(drop=True)
        return cls(ordered, scale, tuple(sorted(classifiers)), contents)

    @property
    def raters(self) -> tuple[str, ...]:
        """The raters of the panel, by name."""
        return tuple(
            name for name in sorted(self.table["rater"].unique()) if name not in self.classifiers
        )

    @cached_property
    def current(self) -> pd.DataFrame:
        """The round's own ratings, the first of each rater and item: what inter-rater agreement rests on."""
        own = self.table[~self.table["earlier"]]
        return own.drop_duplicates(["item", "rater"], keep="first").reset_index(drop=True)

    @cached_property
    def gold(self) -> frozenset[str]:
        """The items whose label was known before: they are not released, and agreement is not read on them."""
        known = self.contents
        return self.also_gold | frozenset(known.index[known["gold"]] if "gold" in known else ())

    @cached_property
    def without_gold(self) -> "Ratings":
        """The ratings of the other items: what agreement and training labels rest on."""
        if not self.gold:
            return self
        table = self.table[~self.table["item"].isin(self.gold)].reset_index(drop=True)
        return replace(
            self,
            table=table,
            contents=self.contents[~self.contents.index.isin(self.gold)],
            also_gold=frozenset(),
        )

    @cached_property
    def cluster_of(self) -> pd.Series | None:
        """The cluster of each item as a number: clusters are counted in the order of their first items, so that their names do not matter."""
        if "cluster" not in self.contents:
            return None
        known = self.contents["cluster"].sort_index()
        return pd.Series(pd.factorize(known)[0], index=known.index)

    @cached_property
    def rater_order(self) -> tuple[str, ...]:
        """All raters in an order that their ratings fix, not their names."""
        return tuple(
            sorted(self._rater_digests, key=lambda name: (self._rater_digests[name], name))
        )

    @cached_property
    def digest(self) -> str:
        """SHA-256 of what was rated and how, and which items stand together; the order of rows and the names of raters and clusters do not enter.

        Two tables with the same digest, and the same items gold, give the same estimates to the last digit.
        """
        parts = hashlib.sha256()
        parts.update(json.dumps(self.scale.to_mapping(), sort_keys=True).encode())
        parts.update(_packed(self.table["item"].unique()))
        said = self.contents.drop(columns="cluster", errors="ignore")
        parts.update(said.sort_index().to_csv().encode() if len(said.columns) else b"")
        if self.cluster_of is not None:
            parts.update(
                b"clusters"
                + hashlib.sha256(
                    _packed(self.cluster_of.index.to_numpy())
                    + self.cluster_of.to_numpy(dtype="<i8").tobytes()
                ).digest()
            )
        for value in sorted(self._rater_digests.values()):
            parts.update(value.encode())
        return parts.hexdigest()

    @cached_property
    def _rater_digests(self) -> dict[str, str]:
        _, codes = np.unique(self.table["item"].to_numpy(dtype=object), return_inverse=True)
        labels = self.table["label"].to_numpy(dtype=object)
        extras = self.table[[name for name in ("confidence", "timestamp") if name in self.table]]
        digests = {}
        for name, rows in self.table.groupby("rater", observed=True).indices.items():
            of = hashlib.sha256(b"classifier" if name in self.classifiers else b"panel")
            of.update(len(rows).to_bytes(8, "little"))
            of.update(codes[rows].astype("<i8").tobytes())
            of.update(self.table["occurrence"].to_numpy()[rows].astype("<i8").tobytes())
            of.update(self.table["earlier"].to_numpy()[rows].astype("u1").tobytes())
            of.update(_packed(labels[rows]))
            of.update(
                extras.iloc[rows].to_csv(index=False).encode() if len(extras.columns) else b""
            )
            digests[str(name)] = of.hexdigest()
        return digests

    def renamed(self, names: Mapping[str, str]) -> "Ratings":
        """The same ratings under other rater names."""
        table = self.table.assign(rater=self.table["rater"].map(lambda name: names.get(name, name)))
        classifiers = tuple(sorted(names.get(name, name) for name in self.classifiers))
        return replace(
            self,
            table=table.sort_values(list(KEY), kind="stable").reset_index(drop=True),
            classifiers=classifiers,
        )


def _packed(texts: Sequence[object] | np.ndarray) -> bytes:
    """Texts as bytes that no other list of texts gives, whatever follows them."""
    encoded = [str(text).encode() for text in texts]
    return np.array([len(encoded), *map(len, encoded)], dtype="<i8").tobytes() + b"".join(encoded)
