"""The slow pass: the rows at fault, with their numbers, for the checks in memory to refuse."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from agreement_pipeline.engines import sql
from agreement_pipeline.engines._old_reading import Rows, checked_rows
from agreement_pipeline.engines.queries import Queries
from agreement_pipeline.engines.session import Session, Unreadable
from agreement_pipeline.errors import RatingsError
from agreement_pipeline.ratings import (
    TEXT,
    Ratings,
    Scale,
    category_text,
    in_pandas,
    lookalikes,
    meaning,
)

if TYPE_CHECKING:
    from agreement_pipeline.engines.birth import Asked
    from agreement_pipeline.engines.keys import Keys

MOST = 1_000_000
"""Rows at fault that are read. More are not counted."""


@dataclass(frozen=True)
class Faults:
    """Finds rows at fault in a source."""

    session: Session
    source: Any
    asked: "Asked"
    name: str
    label: str
    columns: Mapping[str, str]
    kinds: Mapping[str, sql.Kind]

    def refuse(self, keys: "Keys") -> None:
        """Refuse the rows whose raters, labels, occurrences or flags are at fault.

        Raises
        ------
        RatingsError
            There are such rows.
        """
        self._refuse([*self._bad_cells(keys), *self._bad_keys(keys)], _any_scale(keys, self.asked))

    def refuse_found(self, keys: "Keys", queries: Queries) -> None:
        """Refuse rows at fault that the keys do not show.

        Raises
        ------
        RatingsError
            There are such rows.
        Unreadable
            The engine finds a fault that the checks in memory do not.
        """
        patterns = queries.patterns
        if patterns.longest > self.asked.limits.name_length:
            self._refuse_long_item(patterns.longest)
        found = self._in_cells(keys)
        if patterns.blank:
            found.append(self._blank_item)
        if repeated := self._repeated(queries):
            found.append(f"{self._item} IN ({repeated})")
        found += self._in_contents(queries)
        if found:
            self._refuse(found, keys.scale or _any_scale(keys, self.asked))
            raise Unreadable(
                f"{self.label}: found cells that {self.session.engine} does not read as the memory "
                "engine does; expected plain numbers and names. Read it in memory "
                "(engine memory), or write them plainly."
            )

    def _refuse_long_item(self, longest: int) -> None:
        """Refuse the first row with the longest name of an item."""
        rows = self._rows_at_fault(f"LENGTH({self._item}) = {longest}").index
        where = f"{self.label}: row {rows[0]}, column {self.columns['item']!r}"
        self.asked.limits.refuse_beyond("name_length", longest, where, "characters")

    @property
    def _item(self) -> str:
        return sql.as_text("item", self.kinds["item"])

    @property
    def _blank_item(self) -> str:
        return sql.is_blank(self._item, self.session.literal(sql.BLANKS))

    def _in_cells(self, keys: "Keys") -> list[str]:
        """The tests of cells that some row fails."""
        tests = self._bad_cells(keys)
        if not tests:
            return []
        counted = ", ".join(
            f"COUNT(CASE WHEN {test} THEN 1 END) AS t{at}" for at, test in enumerate(tests)
        )
        found = self.session.ask(f"SELECT {counted} FROM {self.name}_cells WHERE label IS NOT NULL")
        return [test for at, test in enumerate(tests) if found[f"t{at}"][0].as_py()]

    def _bad_cells(self, keys: "Keys") -> list[str]:
        """Tests of confidence, labels of numbers, and names that are fractions."""
        tests = [self._bad_confidence] if "confidence" in self.kinds else []
        for name in ("item", "cluster", "text"):
            if self.kinds.get(name) == "float":
                tests.append(f"{name} <> FLOOR({name}) OR NOT ABS({name}) < {sql.WHOLE!r}")
        if keys.scale is not None and keys.scale.continuous:
            tests.append(self._bad_numbers(keys.scale))
        return tests

    @property
    def _bad_confidence(self) -> str:
        number = sql.as_number("confidence", self.kinds["confidence"])
        beyond = f"COALESCE(NOT {number} BETWEEN 0 AND 1, TRUE)"
        if self.kinds["confidence"] != "text":
            return f"confidence IS NOT NULL AND {beyond}"
        spelt = self.session.matches("confidence", sql.spelling(1))
        blank = sql.is_blank("confidence", self.session.literal(sql.BLANKS))
        return f"NOT {blank} AND (NOT {spelt} OR {beyond})"

    def _bad_numbers(self, scale: Scale) -> str:
        """A test of labels that are numbers of a scale without categories."""
        kind = self.kinds["label"]
        spelt = self.session.matches("label", sql.spelling(scale.dimensions))
        label = sql.as_number("label", kind)
        return sql.bad_label(
            label, scale.dimensions, spelt if kind == "text" else None, scale.level == "ratio"
        )

    def _bad_keys(self, keys: "Keys") -> Iterator[str]:
        """Tests of the spellings that the checks in memory refuse."""
        for name in ("rater", "occurrence"):
            if name in self.kinds:
                yield f"{name} IS NULL AND label IS NOT NULL"
        for name in ("rater", "label", "occurrence", "gold"):
            if name not in keys.spelt:
                continue
            bad = [
                self.session.literal(spelt)
                for spelt, cell in _distinct(keys, name)
                if not _passes(name, cell, keys, self.asked)
            ]
            if bad:
                yield f"{sql.as_text(name, self.kinds[name])} IN ({', '.join(bad)})"

    def _repeated(self, queries: Queries) -> str | None:
        """The query for items with two labels of one rater and occurrence, if there are any."""
        keys = "item, place, occurrence" if queries.again else "item, place"
        repeated = f"SELECT item FROM {queries.name}_rated GROUP BY {keys} HAVING COUNT(*) > 1"
        if queries.again:
            return repeated if queries.ask(f"{repeated} LIMIT 1").num_rows else None
        return repeated if queries.unlike else None

    def _in_contents(self, queries: Queries) -> list[str]:
        tests = []
        if "cluster" in self.kinds:
            cluster = sql.as_text("cluster", self.kinds["cluster"])
            blank = sql.is_blank(cluster, self.session.literal(sql.BLANKS))
            blank = f"item IS NOT NULL AND {blank}"
            if queries.ask(f"SELECT 1 AS x FROM {self.name}_cells WHERE {blank} LIMIT 1").num_rows:
                return [blank]
            for group in lookalikes(queries.ordered_clusters.to_pylist())[:1]:
                listed = ", ".join(map(self.session.literal, group))
                tests.append(f"{cluster} IN ({listed})")
        conflict = sql.in_conflict(self.name, sorted(self.kinds))
        if conflict and queries.ask(f"{conflict} LIMIT 1").num_rows:
            tests.append(f"{self._item} IN ({conflict})")
        return tests

    def _refuse(self, tests: list[str], scale: Scale) -> None:
        """Let the checks in memory refuse the rows that fail a test."""
        frame = self._rows_at_fault(" OR ".join(f"({test})" for test in tests))
        if len(frame):
            checked_rows(
                Rows(frame, dict(self.columns), self.label), scale=scale, limits=self.asked.limits
            )

    def _rows_at_fault(self, where: str) -> pd.DataFrame:
        """The rows that meet a test, with their numbers as the index."""
        cells = f"{self.name}_cells"
        views = self.session.numbered(f"{self.name}_numbered", cells, self.source, self.columns)
        parts = [
            self._at_fault(view, where, at if len(views) > 1 else None)
            for at, view in enumerate(views)
        ]
        return pd.concat([part for part in parts if len(part)] or parts[:1])

    def _at_fault(self, view: str, where: str, at: int | None) -> pd.DataFrame:
        found = self.session.ask(f"SELECT * FROM {view} WHERE {where} ORDER BY row LIMIT {MOST}")
        frame: pd.DataFrame = in_pandas(found, integer_object_nulls=True)
        rows = frame.pop("row")
        if at is not None:
            rows = f"{Path(self.source.paths[at]).name}:" + rows.astype(TEXT)
        return frame.set_axis(pd.Index(rows, name="row"))


def _any_scale(keys: "Keys", asked: "Asked") -> Scale:
    """The scale of the labels, or one that holds them all."""
    if keys.scale is not None:
        return keys.scale
    if asked.level in ("interval", "ratio"):
        return Scale(None, asked.level)
    texts = ["", " ", *map(category_text, keys.frame["label"].dropna())]
    return Scale(tuple({meaning(text, sets=True): text for text in texts}.values()))


def _distinct(keys: "Keys", name: str) -> Iterator[tuple[str, object]]:
    pairs = pd.DataFrame({"spelt": keys.spelt[name], "cell": keys.frame[name].to_numpy()})
    pairs = pairs.dropna(subset=["spelt"]).drop_duplicates("spelt")
    return zip(pairs["spelt"], pairs["cell"], strict=True)


def _passes(name: str, cell: object, keys: "Keys", asked: "Asked") -> bool:
    """Do the checks in memory take a cell? It stands in a row that is right otherwise."""
    scale = _any_scale(keys, asked)
    right: object = (scale.categories or ("|".join("0" * scale.dimensions),))[0]
    row = {"item": "i", "rater": "r", "label": right, name: cell}
    try:
        Ratings.from_frame(pd.DataFrame([row]), scale)
    except RatingsError:
        return False
    return True


__all__ = ["Faults"]
