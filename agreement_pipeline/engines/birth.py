"""The checks of ratings that an SQL engine queries.

Whatever has few distinct values is checked by the reader in memory, on these values alone. Items
and numbers are checked by queries. If a check fails, a second and slow pass selects the rows at
fault. The checks in memory then raise their own error, with the file, the rows and the column.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import count
from typing import Any
from weakref import finalize

import numpy as np
import pandas as pd

from agreement_pipeline.engines import sql
from agreement_pipeline.engines._old_reading import Rows, checked_rows, of_round
from agreement_pipeline.engines.faults import Faults
from agreement_pipeline.engines.keys import Keys, Known, kinds_of
from agreement_pipeline.engines.queries import Queries
from agreement_pipeline.engines.session import Session, Unreadable
from agreement_pipeline.errors import RatingsError
from agreement_pipeline.ratings import Level, QueriedRatings, Scale
from agreement_pipeline.readers import (
    Classifiers,
    Columns,
    Layout,
    Limits,
    chosen_columns,
    refuse_lonely,
)

_number = count()


@dataclass(frozen=True)
class Asked:
    """How a source is to be read."""

    columns: Columns
    layout: Layout
    scale: Scale | None
    level: Level
    classifiers: Classifiers
    usable: bool
    round_name: str | None
    limits: Limits


def born_in(
    session: Session, source: Any, asked: Asked, *, all_rounds: bool = False
) -> QueriedRatings:
    """Check ratings where they lie. `all_rounds` reads several rounds as one.

    Raises
    ------
    RatingsError
        A check fails.
    Unreadable
        The engine does not read the source as the reader in memory does.
    """
    name = f"ratings_{next(_number)}"
    try:
        ratings = _Birth.of(session, source, asked, name, all_rounds).ratings()
    except RatingsError:
        session.forget(f"{name}_cells", source)
        raise
    finalize(ratings.answers, session.forget, f"{name}_cells", source)
    return ratings


@dataclass(frozen=True)
class _Birth:
    session: Session
    source: Any
    asked: Asked
    name: str
    label: str
    columns: Mapping[str, str]
    kinds: Mapping[str, sql.Kind]
    all_rounds: bool

    @classmethod
    def of(
        cls, session: Session, source: Any, asked: Asked, name: str, all_rounds: bool
    ) -> "_Birth":
        """Open the source under canonical names."""
        if asked.layout == "wide":
            raise Unreadable(
                f"{session.engine}: found the layout wide; expected long, one row a rating. "
                "Read it in memory (engine memory), or write one row a rating."
            )
        label = getattr(source, "name", "DataFrame")
        header = session.header(source)
        asked.limits.refuse_beyond("columns", len(header), label, "columns")
        columns = chosen_columns(header, asked.columns, "long", label)
        session.open(f"{name}_cells", source, columns)
        kinds = kinds_of(session.ask(f"SELECT * FROM {name}_cells LIMIT 0").schema, label)
        return cls(session, source, asked, name, label, columns, kinds, all_rounds)

    def ratings(self) -> QueriedRatings:
        """The ratings, after all checks."""
        rows = sql.rows(f"{self.name}_cells", self.kinds, self.rounds)
        self.session.view(f"{self.name}_rows", rows)
        keys = Keys.of(self.session, self.name, self.kinds, self.asked, self.label)
        try:
            known = self._known(keys)
        except RatingsError:
            self.faults.refuse(keys)
            raise
        return self._checked(keys, known, self._queries(known))

    def _known(self, keys: Keys) -> Known:
        return keys.known(
            checked_rows(
                Rows(keys.frame, dict(self.columns), self.label),
                scale=keys.scale,
                level=self.asked.level,
                classifiers=self.asked.classifiers,
                limits=self.asked.limits,
            )
        )

    def _queries(self, known: Known) -> Queries:
        """The views of the ratings, and what asks them."""
        session, name = self.session, self.name
        session.table(f"{name}_raters", known.raters_table)
        if known.dimensions is None:
            session.table(f"{name}_labels", known.labels_table)
        gold = [session.literal(text) for text in known.gold]
        has = frozenset(self.kinds) - ({"gold"} if not known.gold else set())
        has = has - (set() if known.again else {"occurrence"})
        session.view(f"{name}_contents", sql.contents(name, sorted(self.kinds), gold))
        session.view(f"{name}_rated", sql.rated(name, sorted(has), known.dimensions, gold))
        session.view(f"{name}_first", sql.first(name, known.again))
        return Queries(
            session,
            name,
            known.raters,
            known.categories,
            known.dimensions,
            has,
            frozenset(self.kinds) & {"text", "gold", "cluster"},
            known.again,
            "timestamp" in self.columns and "timestamp" not in self.kinds,
        )

    def _checked(self, keys: Keys, known: Known, queries: Queries) -> QueriedRatings:
        self.faults.refuse_found(keys, queries)
        ratings = QueriedRatings(
            queries, self.session.engine, known.scale, known.raters, known.classifiers
        )
        if self.asked.usable:
            _refuse_unusable(ratings, queries, self.label)
        return ratings

    @property
    def faults(self) -> Faults:
        """What finds the rows at fault."""
        return Faults(
            self.session, self.source, self.asked, self.name, self.label, self.columns, self.kinds
        )

    @cached_property
    def rounds(self) -> list[str] | None:
        """The literals of the round to read, as the source spells it. None: all rows are read."""
        if self.all_rounds and self.asked.round_name is None:
            return None
        if "round" not in self.kinds:
            of_round(Rows(pd.DataFrame(), dict(self.columns), self.label), self.asked.round_name)
            return None
        text = f"SELECT DISTINCT CAST(round AS STRING) AS round FROM {self.name}_cells"
        spelt = self.session.ask(text)["round"].to_pylist()
        names = [None if each is None else sql.typed(each, self.kinds["round"]) for each in spelt]
        frame = pd.DataFrame({"round": pd.Series(names, dtype=object), "spelt": spelt})
        chosen = of_round(
            Rows(_with_texts(frame), dict(self.columns), self.label), self.asked.round_name
        ).frame["spelt"]
        if len(chosen) == len(frame):
            return None
        return [self.session.literal(each) for each in chosen]


def _with_texts(frame: pd.DataFrame) -> pd.DataFrame:
    from agreement_pipeline.ratings import category_text

    return frame.assign(round=frame["round"].map(category_text, na_action="ignore"))


def _refuse_unusable(ratings: QueriedRatings, queries: Queries, source: str) -> None:
    patterns = queries.patterns
    places = [queries.raters.index(name) for name in ratings.raters]
    each = (queries.codes(patterns.words, places) >= 0).sum(1)
    some = each > 0
    refuse_lonely(ratings, each[some], source, np.asarray(patterns.items[some]))


__all__ = ["Asked", "born_in"]
