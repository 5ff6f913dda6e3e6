"""Training rows: one an item, from all ratings of it in the rounds of a release.

The label, its soft label, votes, numbers of raters and spread are computed from the same ratings,
so that none can contradict another. What raters said where something else trains has columns of
its own (`panel_votes`, `panel_mean`).
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa

from agreement_pipeline.errors import RatingsError
from agreement_pipeline.ratings.cells import CONTENT_PREFIX, PART_PREFIX, PART_UNIT_OF, STRATUM
from agreement_pipeline.ratings.consensus import (
    ADJUDICATED,
    BY_MODEL,
    CONFLICT,
    NOT_ADJUDICATED,
    RELABELLED,
    RESOLUTIONS,
    TIE,
    Adjudicated,
    count_votes,
)
from agreement_pipeline.ratings.frames import arrow_to_pandas
from agreement_pipeline.ratings.label_rules import (
    LabelRule,
    RatingsPool,
    Trains,
    default_rule,
    describe_fate_of_singles,
    describe_training_label,
    is_led_by_several,
)
from agreement_pipeline.ratings.ratings import Ratings
from agreement_pipeline.ratings.scale import Scale
from agreement_pipeline.text import counted

Array = np.ndarray[Any, Any]


@dataclass(frozen=True, eq=False)
class LabelledRound:
    """A round whose ratings train.

    Attributes
    ----------
    adjudicated
        The answers of an adjudicator, which train in the place of the raters' labels.
    classifier
        The classifier whose labels train where those of raters give none. None: no classifier does.
    """

    name: str
    ratings: Ratings
    adjudicated: Adjudicated = NOT_ADJUDICATED
    classifier: str | None = None


@dataclass(frozen=True, eq=False)
class TrainingRows:
    """The training rows of a release, in arrays with an entry an item, sorted by `items`.

    Attributes
    ----------
    round_starts, round_ids
        `round_ids[round_starts[i]:round_starts[i + 1]]` are the rounds that have item i, in order,
        as positions among `rounds`.
    item_columns
        What is known of items by the name of its column: `text`, `cluster`, strata.
    split_keys
        What the split of each item is drawn by: its cluster, or its own name.
    label
        The position of the category on the scale, or a number. It says nothing of an unresolved
        item.
    resolution
        The position among `RESOLUTIONS`.
    votes
        Ratings by category that train, shape (N, K): none where an adjudicator's or a classifier's
        label does. None without categories.
    panel_votes, panel_mean, panel_spread
        What raters said at first. None if the same trains for all items.
    spread
        The standard deviation of the numbers that train; nan of fewer than two.
    trains
        The label that the project names. None: the plurality, or the mean of numbers.
    """

    scale: Scale
    rounds: tuple[str, ...]
    items: pd.Index
    round_starts: Array
    round_ids: Array
    item_columns: Mapping[str, pd.Series]
    split_keys: pd.Series
    label: Array
    resolution: Array
    n_raters: Array
    n_ratings: Array
    votes: Array | None
    spread: Array | None
    panel_votes: Array | None = None
    panel_mean: Array | None = None
    panel_spread: Array | None = None
    trains: Trains | None = None

    @classmethod
    def build(cls, rounds: Sequence[LabelledRound], trains: Trains | None = None) -> "TrainingRows":
        """The rows of these rounds, which share one scale.

        Each rater's label is the last that the rater gave in a round. It settles the item as
        `trains` says: by default the plurality of categories, or the mean of numbers. Where an
        adjudicator answered, the answer trains. Where no label follows, the label of a classifier
        trains, if a round has one.

        If two rounds settle an item, or two adjudicators answer, with different categories, then it
        is in conflict and has no label. Numbers and shares are pooled.

        Raises
        ------
        RatingsError
            A round has vectors of numbers, its classifier did not label all items, or the scale
            has no such label.
        """
        return _TrainingRowsBuilder(rounds, trains).build_rows()

    def __len__(self) -> int:
        return len(self.items)

    @property
    def rows_without_label(self) -> Array:
        return np.asarray(self.resolution >= TIE)

    @property
    def rows_with_label(self) -> Array:
        return np.flatnonzero(~self.rows_without_label)

    @property
    def has_no_label(self) -> Array:
        """True for an unresolved item, and for a tie whose shares train."""
        if self.trains is None or self.trains.label != "shares" or self.votes is None:
            return self.rows_without_label
        return np.asarray(
            self.rows_without_label | (is_led_by_several(self.votes) & (self.votes.sum(1) > 0))
        )

    def is_resolved_as(self, resolution: str) -> Array:
        return np.asarray(self.resolution == RESOLUTIONS.index(resolution))

    def describe(self) -> tuple[str, ...]:
        """What trains and what does not, with the reasons and numbers of items, as sentences."""
        n_items, n_resolved = len(self), len(self.rows_with_label)
        trains = "trains" if n_resolved == 1 else "train"
        n_single = int((self.is_resolved_as("single") | self.is_resolved_as("one_rater")).sum())
        sentences = [
            f"The training label is {describe_training_label(self.trains, self.scale)}. "
            f"{n_resolved:,} of {counted(n_items, 'item')} {trains}.",
            describe_fate_of_singles(n_single, n_items, self.trains),
            self._describe_adjudication(),
        ]
        for resolution, words in WHY_ITEMS_DO_NOT_TRAIN.items():
            if n := int(self.is_resolved_as(resolution).sum()):
                does = "does" if n == 1 else "do"
                sentences.append(f"{counted(n, 'item')} {does} not train, because {words}.")
        if n := int((self.has_no_label & ~self.rows_without_label).sum()):
            trains = "trains" if n == 1 else "train"
            sentences.append(
                f"{counted(n, 'tie')} {trains} by the shares alone, without a `label`."
            )
        return tuple(filter(None, sentences))

    def _describe_adjudication(self) -> str:
        """Agreement says nothing of labels that an adjudicator put in the place of the raters'."""
        adjudicated = np.flatnonzero(self.resolution == ADJUDICATED)
        if not len(adjudicated):
            return ""
        words = (
            f"Adjudication gave {len(adjudicated):,} of "
            f"{counted(len(self.rows_with_label), 'label')}."
        )
        votes = self.votes if self.panel_votes is None else self.panel_votes
        if votes is None:
            return words
        votes = votes[adjudicated]
        n_ratings = votes.sum(1)
        n_equal = votes[np.arange(len(votes)), self._label_ids(adjudicated)]
        is_overruled = (n_equal == 0) & (n_ratings > 0)
        if not is_overruled.any():
            return f"{words} On none of these items did it overrule every rater."
        n_overruled, n_against = int(is_overruled.sum()), int(n_ratings[is_overruled].sum())
        n_single = int((is_overruled & (n_ratings == 1)).sum())
        one_rater = f"; {n_single:,} of these items had one rater" if n_single else ""
        return (
            f"{words} On {n_overruled:,} of these items it overruled every rater "
            f"({counted(n_against, 'rating')}{one_rater})."
        )

    @property
    def soft_label(self) -> Array:
        """Shape (N, K): the shares of the votes, and 1 for an adjudicator's label. A row is nan
        where no share of the label is known, as of a classifier's label.
        """
        assert self.votes is not None
        shares = vote_shares(self.votes)
        adjudicated = np.flatnonzero(self.resolution == ADJUDICATED)
        shares[adjudicated] = 0
        shares[adjudicated, self._label_ids(adjudicated)] = 1
        return shares

    def _label_ids(self, rows: Array) -> Array:
        """The category of the label, or the one that is next to it: adjudicators' numbers pool."""
        if not self.scale.numeric:
            return np.asarray(self.label[rows])
        categories = np.array(self.scale.categories, dtype=float)
        return np.asarray(np.abs(self.label[rows, None] - categories).argmin(1))

    @property
    def entropy_bits(self) -> Array:
        """-Σ p log2 p of each soft label; nan where it is nan."""
        shares = self.soft_label
        return np.asarray(-(shares * np.log2(np.where(shares > 0, shares, 1))).sum(1) + 0.0)

    def rounds_of_items(self) -> pa.ListArray:
        names = pa.array(self.rounds, pa.string()).take(pa.array(self.round_ids))
        return pa.ListArray.from_arrays(pa.array(self.round_starts.astype(np.int32)), names)

    def select_rows(self, rows: Array) -> "TrainingRows":
        """Some rows, at their positions."""
        starts, counts = self.round_starts[rows], np.diff(self.round_starts)[rows]
        stops = np.cumsum(counts)
        ids = np.arange(counts.sum()) + np.repeat(starts - (stops - counts), counts)
        columns = {
            name: values[rows]
            for name in ITEM_ARRAYS
            if (values := getattr(self, name)) is not None
        }
        return replace(
            self,
            round_starts=np.append(0, stops),
            round_ids=self.round_ids[ids],
            item_columns={name: column.iloc[rows] for name, column in self.item_columns.items()},
            split_keys=self.split_keys.iloc[rows],
            **columns,
        )


WHY_ITEMS_DO_NOT_TRAIN = {
    "tie": "the most frequent categories are tied, and no adjudicator chose one",
    "no_majority": "no category has more than half of the ratings",
    "conflict": "two rounds, or two adjudicators, give different categories",
    "not_adjudicated": "no adjudicator gave a label",
}

ITEM_ARRAYS = (
    "items",
    "label",
    "resolution",
    "n_raters",
    "n_ratings",
    "votes",
    "spread",
    "panel_votes",
    "panel_mean",
    "panel_spread",
)


def vote_shares(votes: Array) -> Array:
    """The share of each category; nan of a row without votes.

    >>> vote_shares(np.array([[1, 3], [0, 2]])).tolist()
    [[0.25, 0.75], [0.0, 1.0]]
    """
    with np.errstate(invalid="ignore"):
        return np.asarray(votes / votes.sum(1, keepdims=True))


class _RoundLabels(NamedTuple):
    """The panel's ratings of one round: what each rater said first, and last."""

    items: pd.Index
    item: Array
    rater: Array
    first: Array
    last: Array


@dataclass(frozen=True, eq=False)
class _TrainingRowsBuilder:
    labelled: Sequence[LabelledRound]
    trains: Trains | None

    @property
    def scale(self) -> Scale:
        return self.labelled[0].ratings.scale

    @cached_property
    def rule(self) -> LabelRule:
        return self.trains.rule(self.scale) if self.trains else default_rule(self.scale)

    @property
    def pools_rounds(self) -> bool:
        """True if all rounds of an item make one label, so that they cannot settle it apart."""
        return self.scale.numeric or (self.trains is not None and self.trains.label == "shares")

    @cached_property
    def panels(self) -> list[_RoundLabels]:
        return [_read_panel_labels(labelled_round) for labelled_round in self.labelled]

    @cached_property
    def model_labels(self) -> list[tuple[pd.Index, Array]]:
        """The items and labels of each round's classifier."""
        return [_read_classifier_labels(labelled_round) for labelled_round in self.labelled]

    @cached_property
    def items(self) -> pd.Index:
        names = [panel.items for panel in self.panels] + [names for names, _ in self.model_labels]
        if len(names) == 2 and not len(names[1]):
            return names[0]
        # pandas warns of indices that are empty
        first, *others = [some_names for some_names in names if len(some_names)] or names[:1]
        return first.append(others).drop_duplicates().sort_values()

    def build_rows(self) -> TrainingRows:
        scale = self.scale
        pool = self._pool_all_rounds("last")
        # a rule may hand over arrays of the pool, which say what raters said
        label, resolution = (values.copy() for values in self.rule(pool))
        is_relabelled = self._is_relabelled()
        first_pool = self._pool_all_rounds("first") if is_relabelled.any() else pool
        resolution[is_relabelled & (resolution < TIE)] = RELABELLED
        if not self.pools_rounds and len(self.labelled) > 1:
            resolution[self._is_settled_differently()] = CONFLICT
        self._put_model_labels(label, resolution)
        self._put_adjudicated(label, resolution)
        by_other = np.isin(resolution, (ADJUDICATED, BY_MODEL))
        votes = pool.votes
        if votes is not None and by_other.any():
            votes = np.where(by_other[:, None], 0, votes)
        spread = np.where(by_other, np.nan, pool.spread) if scale.numeric else None
        panel: dict[str, Array | None] = {}
        if (by_other | is_relabelled).any():
            panel = {"panel_votes": first_pool.votes}
            if scale.numeric:
                panel |= {"panel_mean": first_pool.mean, "panel_spread": first_pool.spread}
        starts, ids = self._rounds_by_item()
        columns = self._item_columns()
        return TrainingRows(
            scale,
            tuple(labelled_round.name for labelled_round in self.labelled),
            self.items,
            starts,
            ids,
            columns,
            self._split_keys(columns),
            label,
            resolution,
            pool.n_raters,
            pool.n_ratings,
            votes,
            spread,
            **panel,
            trains=self.trains,
        )

    def _positions_of_items(self, names: pd.Index) -> Array:
        """The positions of items among all."""
        return np.arange(len(names)) if names is self.items else self.items.get_indexer(names)

    @cached_property
    def _item_by_round(self) -> list[Array]:
        return [
            panel.item
            if panel.items is self.items
            else self._positions_of_items(panel.items)[panel.item]
            for panel in self.panels
        ]

    def _pool_all_rounds(self, label_kind: str) -> RatingsPool:
        """The ratings of all rounds, by the `first` or the `last` labels of raters."""
        labels = [getattr(panel, label_kind) for panel in self.panels]
        return self._pool_rounds(self._item_by_round, labels, self._n_raters)

    def _pool_rounds(
        self, items: Sequence[Array], labels: Sequence[Array], n_raters: Array
    ) -> RatingsPool:
        """The ratings of some rounds in one pool."""
        scale, n_items = self.scale, len(self.items)
        none = np.empty(0, dtype=np.int64)
        item = items[0] if len(items) == 1 else np.concatenate(items)
        label = labels[0] if len(labels) == 1 else np.concatenate(labels)
        n_ratings = np.bincount(item, minlength=n_items).astype(np.int32)
        votes = None
        if not scale.continuous:
            code = label if not scale.numeric else _category_positions(label, scale)
            votes = count_votes(item, code, (n_items, len(scale.names)))
        if not scale.numeric:
            return RatingsPool(scale, votes, n_raters, n_ratings, none, none)
        order = np.argsort(item, kind="stable")
        return RatingsPool(scale, votes, n_raters, n_ratings, item[order], label[order])

    @cached_property
    def _n_raters(self) -> Array:
        """The number of different raters by item. A rater has one name in all rounds."""
        if len(self.panels) == 1:
            count = np.bincount(self._item_by_round[0], minlength=len(self.items))
            return count.astype(np.int32)
        names = pd.Index(
            sorted(
                {
                    name
                    for labelled_round in self.labelled
                    for name in labelled_round.ratings.everyone
                }
            )
        )
        pairs = [
            item * len(names)
            + names.get_indexer(pd.Index(labelled_round.ratings.everyone))[panel.rater]
            for labelled_round, panel, item in zip(
                self.labelled, self.panels, self._item_by_round, strict=True
            )
        ]
        item = np.unique(np.concatenate(pairs)) // max(len(names), 1)
        return np.bincount(item, minlength=len(self.items)).astype(np.int32)

    def _is_relabelled(self) -> Array:
        mask = np.zeros(len(self.items), dtype=bool)
        for panel, item in zip(self.panels, self._item_by_round, strict=True):
            if panel.first is not panel.last:
                mask[item[panel.first != panel.last]] = True
        return mask

    def _is_settled_differently(self) -> Array:
        """True where two rounds settle the item, each by its own ratings, with other labels."""
        lowest, highest = np.full(len(self.items), np.inf), np.full(len(self.items), -np.inf)
        for panel, item in zip(self.panels, self._item_by_round, strict=True):
            n_raters = np.bincount(item, minlength=len(self.items))
            label, resolution = self.rule(self._pool_rounds([item], [panel.last], n_raters))
            places = np.flatnonzero((resolution < TIE) & (n_raters > 0))
            np.minimum.at(lowest, places, label[places])
            np.maximum.at(highest, places, label[places])
        return np.asarray(lowest < highest)

    def _put_model_labels(self, label: Array, resolution: Array) -> None:
        answers = [
            (self._positions_of_items(names), labels)
            for names, labels in self.model_labels
            if len(names)
        ]
        unsettled = (resolution >= TIE) & (resolution != CONFLICT)
        _put_answers(answers, BY_MODEL, label, resolution, unsettled, pools=False)

    def _put_adjudicated(self, label: Array, resolution: Array) -> None:
        answers = []
        for labelled_round, panel in zip(self.labelled, self.panels, strict=True):
            places, labels = labelled_round.adjudicated.places_and_labels_on(
                panel.items, self.scale
            )
            answers.append((self._positions_of_items(panel.items)[places], labels))
        everywhere = np.ones(len(label), dtype=bool)
        _put_answers(answers, ADJUDICATED, label, resolution, everywhere, pools=self.scale.numeric)

    def _rounds_by_item(self) -> tuple[Array, Array]:
        """Where the rounds of each item start, and the rounds, as in `TrainingRows`."""
        if len(self.labelled) == 1:
            return np.arange(len(self.items) + 1), np.zeros(len(self.items), dtype=np.int32)
        items, ids = [], []
        for n, (panel, (names, _)) in enumerate(zip(self.panels, self.model_labels, strict=True)):
            items_of_round = np.unique(
                np.concatenate(
                    [self._positions_of_items(panel.items), self._positions_of_items(names)]
                )
            )
            items.append(items_of_round)
            ids.append(np.full(len(items_of_round), n, dtype=np.int32))
        item = np.concatenate(items)
        starts = np.append(0, np.cumsum(np.bincount(item, minlength=len(self.items))))
        return starts, np.concatenate(ids)[np.argsort(item, kind="stable")]

    def _item_columns(self) -> dict[str, pd.Series]:
        """The first value that a round has, by the name of the column."""
        columns = dict.fromkeys(
            name
            for labelled_round in self.labelled
            for name in _content_columns_for_training(labelled_round.ratings)
        )
        by_name: dict[str, pd.Series] = {}
        for labelled_round in self.labelled:
            names = [name for name in columns if name in labelled_round.ratings.has]
            if not names:
                continue
            frame: pd.DataFrame = arrow_to_pandas(labelled_round.ratings.items(names)).set_index(
                "item"
            )
            contents = [name for name in names if name.startswith(CONTENT_PREFIX)]
            if contents and PART_UNIT_OF in frame:
                # The contents of a document stand at one of its units alone.
                frame[contents] = frame.groupby(PART_UNIT_OF)[contents].transform("first")
            for name in names:
                values = frame[name].reindex(self.items)
                earlier_values = by_name.get(name)
                by_name[name] = (
                    values
                    if earlier_values is None
                    else earlier_values.where(earlier_values.notna(), values)
                )
        return {name: by_name[name] for name in columns}

    def _split_keys(self, columns: Mapping[str, pd.Series]) -> pd.Series:
        """Clusters that share an item, as it is in several rounds, have one key: the first of them
        by name.
        """
        item_names = pd.Series(self.items, index=self.items)
        if "cluster" not in columns:
            return item_names
        pairs = [
            arrow_to_pandas(labelled_round.ratings.items(["cluster"]))
            for labelled_round in self.labelled
            if "cluster" in labelled_round.ratings.has
        ]
        frame = pd.concat(pairs).dropna().drop_duplicates()
        several = frame[frame["item"].duplicated(keep=False)]
        parent = _first_name_by_member(several.groupby("item")["cluster"].agg(list))
        keys = columns["cluster"].map(lambda name: parent.get(name, name), na_action="ignore")
        return keys.where(keys.notna(), item_names)


def _read_panel_labels(labelled: LabelledRound) -> _RoundLabels:
    """The first and last labels of the panel in a round."""
    ratings = labelled.ratings
    scale = ratings.scale
    if scale.dimensions > 1:
        raise RatingsError(
            f"round {labelled.name or 'of vectors'}: found labels of {scale.dimensions} "
            "dimensions; expected one dimension for training labels. "
            "Release each dimension as a round of its own."
        )
    kind = "number" if scale.numeric else "code"
    later = ["last_label"] if "last_label" in ratings.has else []
    # each rating has the name of its item, which a large round needs once alone
    is_whole = not (ratings.gold or ratings.classifiers or ratings.preceded)
    names_column = [] if is_whole else ["item"]
    table = ratings.first_ratings(
        ["at", "place", kind, *later, *names_column], raters=ratings.raters
    )
    item, first_labels = table["at"].to_numpy(), table[kind].to_numpy()
    names = (
        ratings.rated_items()
        if is_whole
        else table["item"].take(np.flatnonzero(np.diff(item, prepend=-1)))
    )
    last_labels = first_labels
    if later and table["last_label"].null_count < len(table):
        last_labels = first_labels.copy()
        texts = table["last_label"].to_pylist()
        changed_places = [place for place, text in enumerate(texts) if text is not None]
        last_labels[changed_places] = [
            Adjudicated.place_of_label(texts[place], scale) for place in changed_places
        ]
    items = pd.Index(arrow_to_pandas(names))
    return _RoundLabels(items, item, table["place"].to_numpy(), first_labels, last_labels)


def _read_classifier_labels(labelled: LabelledRound) -> tuple[pd.Index, Array]:
    """The items and labels of the round's classifier. Empty if there is none."""
    ratings, name = labelled.ratings, labelled.classifier
    if name is None:
        return pd.Index([], dtype=object), np.empty(0, dtype=np.int64)
    table = ratings.first_ratings(["item", "code"], raters=[name])
    items = pd.Index(arrow_to_pandas(table["item"]))
    panel = pd.Index(
        arrow_to_pandas(ratings.first_ratings(["item"], raters=ratings.raters)["item"])
    ).unique()
    if ratings.scale.numeric or (items.get_indexer(panel) < 0).any():
        raise RatingsError(
            f"classifier {name}: found numbers, or items of the panel without its label; "
            "expected a category for each item. Let it label them."
        )
    return items, table["code"].to_numpy()


def _content_columns_for_training(ratings: Ratings) -> list[str]:
    """The columns of items that go into training rows."""
    prefixes = STRATUM, PART_PREFIX, CONTENT_PREFIX
    prefixed_names = sorted(name for name in ratings.has if name.startswith(prefixes))
    return [name for name in ("text", "cluster", *prefixed_names) if name in ratings.has]


def _put_answers(
    answers: Iterable[tuple[Array, Array]],
    resolved_as: int,
    label: Array,
    resolution: Array,
    may_put: Array,
    *,
    pools: bool,
) -> None:
    """Put labels of somebody else in the place of the raters'. Several for one item are one if they
    are equal. Otherwise their mean is taken if numbers are pooled, or the item is in conflict.
    """
    answered = [(places, labels) for places, labels in answers if len(places)]
    if not answered:
        return
    place = np.concatenate([places for places, _ in answered])
    given_labels = np.concatenate([labels for _, labels in answered])
    order = np.lexsort((given_labels, place))
    place, given_labels = place[order], given_labels[order]
    starts = np.flatnonzero(np.diff(place, prepend=-1))
    stops = np.append(starts[1:], len(place))
    answered_items = place[starts]
    differ = given_labels[starts] != given_labels[stops - 1]
    labels = given_labels[starts]
    if pools:
        sums = [
            math.fsum(given_labels[start:stop]) for start, stop in zip(starts, stops, strict=True)
        ]
        labels = np.array(sums) / (stops - starts)
    resolutions = np.where(differ & (not pools), CONFLICT, resolved_as)
    is_open = may_put[answered_items]
    label[answered_items[is_open]] = labels[is_open]
    resolution[answered_items[is_open]] = resolutions[is_open]


def _category_positions(numbers: Array, scale: Scale) -> Array:
    """The positions of numbers among the categories."""
    values = np.array(scale.categories, dtype=float)
    order = np.argsort(values)
    return np.asarray(order[np.searchsorted(values[order], numbers)])


def _first_name_by_member(groups: Iterable[Sequence[str]]) -> dict[str, str]:
    """The first name of all that are joined with a name, directly or by way of others.

    >>> _first_name_by_member([["b", "c"], ["a", "c"], ["x", "y"]])
    {'b': 'a', 'c': 'a', 'a': 'a', 'x': 'x', 'y': 'x'}
    """
    parent: dict[str, str] = {}

    def root(name: str) -> str:
        while parent.setdefault(name, name) != name:
            name = parent[name]
        return name

    for group in groups:
        first_name, *_ = roots = sorted({root(name) for name in group})
        parent.update(dict.fromkeys(roots, first_name))
    return {name: root(name) for name in parent}
