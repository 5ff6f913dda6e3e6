"""The panel's ratings in codes, as facts about a round read them."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from agreement_pipeline.ratings import (
    TEXT,
    Ratings,
    counts,
    in_pandas,
    is_clock,
    seconds,
    take_in_blocks,
)

MEETINGS = 400_000
CROWD = 500
Codes = np.ndarray[Any, Any]


@dataclass(frozen=True, eq=False)
class Pairs:
    """The pairs of raters that met: their codes, on how many items, and how often they differed.

    The first rater is the one with the smaller code.
    """

    first: Codes
    second: Codes
    met: Codes
    differed: Codes

    @classmethod
    def of(cls, item: Codes, rater: Codes, label: Codes) -> "Pairs":
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
        return Pairs(self.first[which], self.second[which], self.met[which], self.differed[which])

    @property
    def share(self) -> Codes:
        return np.asarray(self.differed / self.met)


@dataclass(frozen=True, eq=False)
class Panel:
    """The ratings of a round by its panel, and those of earlier rounds, in the order of item, rater
    and occurrence. A code is a place among names.
    """

    ratings: Ratings

    @cached_property
    def columns(self) -> dict[str, Codes]:
        """Ratings by classifiers are there too. `label` is a number, a vector, or the place of a
        category.
        """
        scale, n_rows = self.ratings.scale, len(self.ratings)
        label = "label" if scale.numeric else "code"
        kinds: dict[str, Any] = {
            "at": np.int32,
            "place": np.min_scalar_type(-len(self.raters)),
            label: float if scale.numeric else np.min_scalar_type(-len(scale.names)),
            "occurrence": np.int32,
            "earlier": bool,
        }
        width = {label: (scale.dimensions,)} if scale.dimensions > 1 else {}
        found = {
            name: np.empty((n_rows, *width.get(name, ())), kind) for name, kind in kinds.items()
        }
        start = 0
        for batch in self.ratings.every([*kinds]):
            stop = start + len(batch)
            for name, column in zip(kinds, batch.columns, strict=True):
                values = column.flatten() if name in width else column
                part = found[name][start:stop]
                part[:] = values.to_numpy(zero_copy_only=False).reshape(part.shape)
            start = stop
        return {"label": found.pop(label), **found}

    @cached_property
    def people(self) -> Codes:
        return np.array([name not in self.ratings.classifiers for name in self.raters], dtype=bool)

    @cached_property
    def item(self) -> Codes:
        return self._of_panel(self.columns["at"])

    @cached_property
    def rater(self) -> Codes:
        return self._of_panel(self.columns["place"])

    @cached_property
    def label(self) -> Codes:
        several = self.ratings.scale.dimensions > 1
        return self._of_panel(self.vectors[1] if several else self.columns["label"])

    @cached_property
    def vectors(self) -> tuple[Codes, Codes]:
        label = self.columns["label"]
        places: Codes = np.zeros(len(label), dtype=np.int64)
        for numbers in label.T:
            codes, distinct = pd.factorize(numbers, sort=True)
            places = pd.factorize(places * len(distinct) + codes, sort=True)[0]
        found = np.empty((places.max(initial=-1) + 1, label.shape[1]))
        found[places] = label
        return found, places

    @property
    def occurrence(self) -> Codes:
        return self._of_panel(self.columns["occurrence"])

    @cached_property
    def items(self) -> pd.Index:
        names: pd.Index = pd.Index(pd.array(self.ratings.rated(), dtype=TEXT))
        return names

    @property
    def raters(self) -> tuple[str, ...]:
        return self.ratings.everyone

    @cached_property
    def begins(self) -> Codes:
        return begins(self.item, self.rater)

    @cached_property
    def again(self) -> Codes:
        """The places of the replicates. The rating before stands before each."""
        return np.flatnonzero(~self.begins)

    @cached_property
    def apart(self) -> tuple[Codes, bool]:
        if "timestamp" not in self.ratings.has or not len(self.again):
            return np.empty(0), False
        met = self.ratings.again(["at", "place", "timestamp"], gold=True)
        met = met.filter(pa.array(self.people[met["place"]]))
        again = np.flatnonzero(~begins(met["at"].to_numpy(), met["place"].to_numpy()))
        times = seconds(in_pandas(met["timestamp"].take(np.concatenate([again - 1, again]))))
        apart = times[len(again) :] - times[: len(again)]
        return apart[~np.isnan(apart)], is_clock(times)

    @cached_property
    def first(self) -> Codes:
        """The places of the round's own first ratings: what agreement between raters rests on."""
        earlier = self._of_panel(self.columns["earlier"])
        if not earlier.any():
            return _places(self.begins)
        own = _places(~earlier)
        return np.asarray(own[begins(self.item[own], self.rater[own])])

    @cached_property
    def n_raters(self) -> Codes:
        return counts(some(self.item, self.first), len(self.items))

    @cached_property
    def rated(self) -> Codes:
        return np.flatnonzero(self.n_raters)

    @cached_property
    def rated_items(self) -> pd.Index:
        return self.items if len(self.rated) == len(self.items) else self.items[self.rated]

    @cached_property
    def gold(self) -> Codes:
        gold = self.ratings.gold
        if not gold:
            return np.zeros(len(self.items), dtype=bool)
        return np.asarray(self.items.isin(gold))

    @cached_property
    def pairs(self) -> Pairs:
        return Pairs.of(*self.met)

    @cached_property
    def met(self) -> tuple[Codes, Codes, Codes]:
        """Item, rater and label of the first ratings on which raters are compared, but on gold.

        If raters met very often, a sample of the items is read. The draw follows from the digest of
        the ratings, so nobody can leave copies out. Items with a crowd of raters are left out.
        """
        each = np.where(self.gold, 0, self.n_raters)
        meetings = np.where(each > CROWD, 0, each * (each - 1) // 2)
        share = MEETINGS / max(int(meetings.sum()), MEETINGS)
        drawn = meetings > 0
        if share < 1:
            seed = int(self.ratings.digest[:16], 16)
            drawn &= np.random.default_rng(seed).random(len(each)) < share
        places = self.first[take_in_blocks(drawn, some(self.item, self.first))]
        return (some(self.item, places), some(self.rater, places), some(self.label, places))

    def contents(self, name: str) -> pd.Series | None:
        if name not in self.ratings.has:
            return None
        known: pd.Series = in_pandas(self.ratings.items([name])).set_index("item")[name]
        items = self.rated_items
        return known if known.index.equals(items) else known.reindex(items)

    def _of_panel(self, column: Codes) -> Codes:
        return (
            column
            if self.people.all()
            else column[take_in_blocks(self.people, self.columns["place"])]
        )


def begins(item: Codes, rater: Codes) -> Codes:
    other = (item[1:] != item[:-1]) | (rater[1:] != rater[:-1])
    return np.append(np.ones(min(1, len(item)), dtype=bool), other)


def some(column: Codes, places: Codes) -> Codes:
    return column if len(places) == len(column) else take_in_blocks(column, places)


def _places(held: Codes) -> Codes:
    """It takes half the memory of NumPy's own function."""
    if held.all():
        return np.arange(len(held), dtype=np.int32)
    return np.flatnonzero(held).astype(np.int32)
