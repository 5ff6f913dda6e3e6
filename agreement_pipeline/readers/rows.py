"""The rows that a reader gives: ratings under canonical names, in a table of a session."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from agreement_pipeline.engine import Relation
from agreement_pipeline.ratings import Cells, Origin

LeftOut = Counter[tuple[str, str]]
"""How many rows are no ratings, by round and reason. The round is empty if none is named."""


@dataclass(frozen=True, eq=False)
class Rows(Cells):
    """The ratings of a source under canonical names, not checked yet.

    In the text of a query they stand for the name of their table.

    Parameters
    ----------
    relation, source, columns
        As in `Cells`. `nth` is 0 in all rows if the source has no order.
    classifiers
        The raters that the source calls models.
    left_out
        How many rows of the source are no ratings.
    reader, shows
        The name of the reader, and what the source can show. Empty if it is not known.
    """

    classifiers: tuple[str, ...] = ()
    left_out: LeftOut = field(default_factory=Counter)
    reader: str = ""
    shows: frozenset[str] = frozenset()

    def __str__(self) -> str:
        return self.relation.name

    @property
    def origin(self) -> Origin | None:
        """Where the rows came from, if it is known."""
        if not self.reader:
            return None
        left_out: Counter[str] = Counter()
        for (_, reason), count in self.left_out.items():
            left_out[reason] += count
        return Origin.of(self.reader, self.shows, left_out)

    def text(self, name: str) -> str:
        """A cell as text in SQL. Whole numbers have no decimal point."""
        return super().text(name) if name in self.kinds else f"CAST({self.quoted(name)} AS STRING)"

    def with_columns(self, made: Mapping[str, str], names: Iterable[str] | None = None) -> str:
        """What a query selects for all columns, of which some are made anew and some are new.

        `names` is their order. None: as they are, and the new ones last.
        """
        order = dict.fromkeys([*self.names, *made]) if names is None else names
        return ", ".join(
            f"{made[name]} AS {self.quoted(name)}" if name in made else self.quoted(name)
            for name in order
        )

    def view(self, sql: str, *others: Relation) -> "Rows":
        """The rows that a query makes of them."""
        return replace(self, relation=self.relation.view(sql, *others))

    def made(self, columns: Mapping[str, str], *others: Relation) -> "Rows":
        """The rows with some columns made anew in SQL, and some new ones."""
        return self.view(f"SELECT {self.with_columns(columns)} FROM {self}", *others)

    def without(self, test: str, reason: str, *others: Relation) -> "Rows":
        """The rows that do not meet a test of SQL. Those that do are counted, by round."""
        of_round = f"COALESCE({self.text('round')}, '')" if "round" in self.names else "''"
        found = self.relation.ask(
            f"SELECT {of_round} AS name, COUNT(*) AS n FROM {self} WHERE {test} GROUP BY 1"
        )
        counts = {(each["name"], reason): int(each["n"]) for each in found.to_pylist()}
        some = self.view(f"SELECT * FROM {self} WHERE NOT ({test})", *others)
        return replace(some, left_out=self.left_out + Counter(counts))

    def values(self, sql: str) -> list[Any]:
        """The only column of the answer to a query."""
        (column,) = self.relation.ask(sql).columns
        return list(column.to_pylist())

    def distinct(self, name: str) -> list[str]:
        """The texts of a column, sorted."""
        text = self.text(name)
        return sorted(
            self.values(f"SELECT DISTINCT {text} AS name FROM {self} WHERE {text} IS NOT NULL")
        )
