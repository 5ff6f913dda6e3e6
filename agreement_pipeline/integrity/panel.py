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
    arrow_to_pandas,
    count_codes,
    take_in_blocks,
    tells_minutes,
    times_as_seconds,
)

MAX_PAIRS_OF_RATINGS = 400_000
"""Of a round with more pairs of ratings of one item, a sample of the items is read."""
MAX_RATERS_COMPARED = 500
"""Items with more raters are not read."""
Codes = np.ndarray[Any, Any]


@dataclass(frozen=True, eq=False)
class Pairs:
    """The pairs of raters that met: their codes, on how many items, and how often they differed.

    The first rater is the one with the smaller code.
    """

    first: Codes
    second: Codes
    n_shared: Codes
    n_differing: Codes

    @classmethod
    def of(cls, item: Codes, rater: Codes, label: Codes) -> "Pairs":
        keys, differs, n_raters = [], [], int(rater.max(initial=0)) + 1
        for offset in range(1, len(item)):
            rows = np.flatnonzero(item[offset:] == item[:-offset])
            if not len(rows):
                break
            keys.append(rater[rows].astype(np.int64) * n_raters + rater[rows + offset])
            differs.append(label[rows] != label[rows + offset])
        if not keys:
            return cls(*(np.empty(0, dtype=np.int64) for _ in range(4)))
        pairs, places = np.unique(np.concatenate(keys), return_inverse=True)
        return cls(
            pairs // n_raters,
            pairs % n_raters,
            np.bincount(places),
            np.bincount(places, np.concatenate(differs)).astype(np.int64),
        )

    def where(self, mask: Codes) -> "Pairs":
        return Pairs(
            self.first[mask], self.second[mask], self.n_shared[mask], self.n_differing[mask]
        )

    @property
    def share(self) -> Codes:
        return np.asarray(self.n_differing / self.n_shared)


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
        arrays = {
            name: np.empty((n_rows, *width.get(name, ())), kind) for name, kind in kinds.items()
        }
        start = 0
        for batch in self.ratings.iterate_ratings([*kinds]):
            stop = start + len(batch)
            for name, column in zip(kinds, batch.columns, strict=True):
                values = column.flatten() if name in width else column
                part = arrays[name][start:stop]
                part[:] = values.to_numpy(zero_copy_only=False).reshape(part.shape)
            start = stop
        return {"label": arrays.pop(label), **arrays}

    @cached_property
    def is_no_classifier(self) -> Codes:
        return np.array([name not in self.ratings.classifiers for name in self.raters], dtype=bool)

    @cached_property
    def item(self) -> Codes:
        return self._without_classifiers(self.columns["at"])

    @cached_property
    def rater(self) -> Codes:
        return self._without_classifiers(self.columns["place"])

    @cached_property
    def label(self) -> Codes:
        label = self.columns["label"]
        if self.ratings.scale.dimensions > 1:
            label = _codes_of_vectors(label)
        return self._without_classifiers(label)

    @property
    def occurrence(self) -> Codes:
        return self._without_classifiers(self.columns["occurrence"])

    @cached_property
    def items(self) -> pd.Index:
        names: pd.Index = pd.Index(pd.array(self.ratings.rated_items(), dtype=TEXT))
        return names

    @property
    def raters(self) -> tuple[str, ...]:
        return self.ratings.everyone

    @cached_property
    def begins(self) -> Codes:
        return begins_first_rating(self.item, self.rater)

    @cached_property
    def replicates(self) -> Codes:
        """The places of the replicates. The rating before stands before each."""
        return np.flatnonzero(~self.begins)

    @cached_property
    def replicate_gaps(self) -> tuple[Codes, bool]:
        """Seconds from the rating before to each replicate, and whether times tell minutes."""
        if "timestamp" not in self.ratings.has or not len(self.replicates):
            return np.empty(0), False
        table = self.ratings.replicated_ratings(["at", "place", "timestamp"], gold=True)
        table = table.filter(pa.array(self.is_no_classifier[table["place"]]))
        replicates = np.flatnonzero(
            ~begins_first_rating(table["at"].to_numpy(), table["place"].to_numpy())
        )
        times = times_as_seconds(
            arrow_to_pandas(table["timestamp"].take(np.concatenate([replicates - 1, replicates])))
        )
        gaps_seconds = times[len(replicates) :] - times[: len(replicates)]
        return gaps_seconds[~np.isnan(gaps_seconds)], tells_minutes(times)

    @cached_property
    def first_places(self) -> Codes:
        """The places of the round's own first ratings: what agreement between raters rests on."""
        earlier = self._without_classifiers(self.columns["earlier"])
        if not earlier.any():
            return _places_where_true(self.begins)
        own_places = _places_where_true(~earlier)
        return np.asarray(
            own_places[begins_first_rating(self.item[own_places], self.rater[own_places])]
        )

    @cached_property
    def n_raters_by_item(self) -> Codes:
        return count_codes(take_at(self.item, self.first_places), len(self.items))

    @cached_property
    def places_of_rated_items(self) -> Codes:
        return np.flatnonzero(self.n_raters_by_item)

    @cached_property
    def rated_items(self) -> pd.Index:
        return (
            self.items
            if len(self.places_of_rated_items) == len(self.items)
            else self.items[self.places_of_rated_items]
        )

    @cached_property
    def is_gold_by_item(self) -> Codes:
        gold = self.ratings.gold
        if not gold:
            return np.zeros(len(self.items), dtype=bool)
        return np.asarray(self.items.isin(gold))

    @cached_property
    def pairs(self) -> Pairs:
        return Pairs.of(*self.compared_ratings)

    @cached_property
    def compared_ratings(self) -> tuple[Codes, Codes, Codes]:
        """Item, rater and label of the first ratings on which raters are compared, but on gold.

        If raters met very often, a sample of the items is read. The draw follows from the digest of
        the ratings, so nobody can leave copies out. Items with a crowd of raters are left out.
        """
        n_raters = np.where(self.is_gold_by_item, 0, self.n_raters_by_item)
        meetings = np.where(n_raters > MAX_RATERS_COMPARED, 0, n_raters * (n_raters - 1) // 2)
        share = MAX_PAIRS_OF_RATINGS / max(int(meetings.sum()), MAX_PAIRS_OF_RATINGS)
        is_drawn = meetings > 0
        if share < 1:
            seed = int(self.ratings.digest[:16], 16)
            is_drawn &= np.random.default_rng(seed).random(len(n_raters)) < share
        places = self.first_places[take_in_blocks(is_drawn, take_at(self.item, self.first_places))]
        return (
            take_at(self.item, places),
            take_at(self.rater, places),
            take_at(self.label, places),
        )

    def contents_of_rated_items(self, name: str) -> pd.Series | None:
        if name not in self.ratings.has:
            return None
        values: pd.Series = arrow_to_pandas(self.ratings.items([name])).set_index("item")[name]
        items = self.rated_items
        return values if values.index.equals(items) else values.reindex(items)

    def _without_classifiers(self, column: Codes) -> Codes:
        return (
            column
            if self.is_no_classifier.all()
            else column[take_in_blocks(self.is_no_classifier, self.columns["place"])]
        )


def _codes_of_vectors(vectors: Codes) -> Codes:
    """Equal vectors have one code."""
    codes: Codes = np.zeros(len(vectors), dtype=np.int64)
    for numbers in vectors.T:
        codes_of_numbers, distinct = pd.factorize(numbers, sort=True)
        codes = pd.factorize(codes * len(distinct) + codes_of_numbers, sort=True)[0]
    return codes


def begins_first_rating(item: Codes, rater: Codes) -> Codes:
    is_other_pair = (item[1:] != item[:-1]) | (rater[1:] != rater[:-1])
    return np.append(np.ones(min(1, len(item)), dtype=bool), is_other_pair)


def take_at(column: Codes, places: Codes) -> Codes:
    """The column itself if all of its places are wanted, so that nothing is copied."""
    return column if len(places) == len(column) else take_in_blocks(column, places)


def _places_where_true(mask: Codes) -> Codes:
    """It takes half the memory of NumPy's own function."""
    if mask.all():
        return np.arange(len(mask), dtype=np.int32)
    return np.flatnonzero(mask).astype(np.int32)
