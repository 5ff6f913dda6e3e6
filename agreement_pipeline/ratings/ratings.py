"""The checked long table: one row a rating."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import pandas as pd

from agreement_pipeline.errors import RatingsError
from agreement_pipeline.ratings.checks import KEY, checked
from agreement_pipeline.ratings.digest import digest_of, digests_by_rater
from agreement_pipeline.ratings.scale import Scale
from agreement_pipeline.text import listed


@dataclass(frozen=True, eq=False)
class Ratings:
    """Who gave which item which label, and which time it was.

    Parameters
    ----------
    table
        One row a rating, sorted by item, rater and occurrence. Columns

        - `item` and `rater`: text;
        - `label`: a category, as the scale writes it. A number if the scale has no categories, and
          a tuple of numbers on a multivariate interval scale;
        - `occurrence`: 1, 2, … if the rater met the item again;
        - `earlier`: True if an earlier round gave it. It then counts for intra-rater agreement
          only;
        - `confidence`, if known: a number from 0 to 1, nan if none was stated;
        - `timestamp`, if known.
    scale
        What the labels may be.
    classifiers
        The raters that are models, not people. They are compared with the panel and are never
        part of it.
    contents
        What is known of the items: index `item`, and the columns `text`, `gold` and `cluster` if
        given. A cluster is the document, conversation, patient or batch of an item.
    also_gold
        Items that are gold in another round which these ratings are released with. They are gold
        here too. The digest does not say so.

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
            The columns `item`, `rater` and `label`, and any of `occurrence`, `earlier`,
            `confidence`, `timestamp`, `text`, `gold`, `cluster`. Rows without a label are missing
            ratings and are left out. A vector of numbers is a tuple, a list or an array, or text
            with `|` between the numbers. A set of labels is a set or a frozenset, or its members
            in order with `|` between them.
        scale
            What the labels may be.
        classifiers
            Names of raters that are models.
        source, columns, first_row
            For error messages: the name of the file, the name of each column in it, and the number
            of its first row of data. A frame whose index has a level `row` numbers its rows itself.
            A second level `column` names the column of each rating, for tables with a column a
            rater.

        Raises
        ------
        RatingsError
            If one of these holds:

            - a column is missing or there twice, or nothing is rated;
            - a name is empty, or a label is not on the scale;
            - a flag is neither yes nor no, or a confidence is no number from 0 to 1;
            - one (item, rater, occurrence) has two labels;
            - an item stands in two clusters, or only some items stand in one.

        Examples
        --------
        >>> said = {"item": ["i1", "i1"], "rater": ["a", "b"], "label": ["yes", "no"]}
        >>> frame = pd.DataFrame(said)
        >>> Ratings.from_frame(frame, Scale(("no", "yes"))).raters
        ('a', 'b')
        """
        table, contents = checked(frame, scale, source, dict(columns or {}), first_row)
        unknown = sorted(set(classifiers) - set(table["rater"].unique()))
        if unknown:
            raise RatingsError(
                f"{source}: found no rating by classifier {listed(unknown)}; expected some by "
                "every named classifier. Correct the classifiers' names."
            )
        ordered = table.sort_values(list(KEY), kind="stable").reset_index(drop=True)
        return cls(ordered, scale, tuple(sorted(classifiers)), contents)

    @property
    def engine(self) -> str:
        """The name of the engine that counts ratings in memory."""
        return "memory"

    @property
    def raters(self) -> tuple[str, ...]:
        """The raters of the panel, by name."""
        return tuple(
            name for name in sorted(self.table["rater"].unique()) if name not in self.classifiers
        )

    @cached_property
    def current(self) -> pd.DataFrame:
        """The round's own ratings, the first of each rater and item.

        Inter-rater agreement rests on these.
        """
        own = self.table[~self.table["earlier"]]
        return own.drop_duplicates(["item", "rater"], keep="first").reset_index(drop=True)

    @cached_property
    def gold(self) -> frozenset[str]:
        """The items whose label was known before.

        They are not released, and agreement is not read on them.
        """
        known = self.contents
        return self.also_gold | frozenset(known.index[known["gold"]] if "gold" in known else ())

    @cached_property
    def without_gold(self) -> "Ratings":
        """The ratings of the items that are not gold.

        Agreement and training labels rest on these.
        """
        if not self.gold:
            return self
        table = self.table[~self.table["item"].isin(self.gold)].reset_index(drop=True)
        return replace(
            self,
            table=table,
            contents=self.contents[~self.contents.index.isin(self.gold)],
            also_gold=frozenset(),
        )

    @property
    def cluster_names(self) -> frozenset[str]:
        """The names of the clusters of all items that are not gold."""
        known = self.without_gold.contents
        return frozenset(known["cluster"]) if "cluster" in known else frozenset()

    @cached_property
    def cluster_of(self) -> pd.Series | None:
        """The cluster of each item as a number; None if items do not come in clusters.

        Clusters are counted in the order of their first items, so their names do not matter.
        """
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
        """SHA-256 of what was rated and how, and of which items stand together.

        The order of rows and the names of raters and clusters do not enter. Two tables with the
        same digest, and the same items gold, give the same estimates to the last digit.
        """
        items = self.table["item"].unique()
        return digest_of(self.scale, items, self.contents, self.cluster_of, self._rater_digests)

    @cached_property
    def _rater_digests(self) -> dict[str, str]:
        return digests_by_rater(self.table, self.classifiers)

    def renamed(self, names: Mapping[str, str]) -> "Ratings":
        """Give raters other names; raters without a new name keep their old one."""
        table = self.table.assign(rater=self.table["rater"].map(lambda name: names.get(name, name)))
        classifiers = tuple(sorted(names.get(name, name) for name in self.classifiers))
        return replace(
            self,
            table=table.sort_values(list(KEY), kind="stable").reset_index(drop=True),
            classifiers=classifiers,
        )
