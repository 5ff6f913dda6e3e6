"""Training labels from ratings: one for each item."""

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from agreement_pipeline.errors import RatingsError
from agreement_pipeline.ratings.arrays import slices_of_rows
from agreement_pipeline.ratings.frames import TEXT, arrow_to_pandas
from agreement_pipeline.ratings.ratings import Ratings
from agreement_pipeline.ratings.scale import Array, Scale
from agreement_pipeline.text import listed

RESOLUTIONS = (
    "unanimous",
    "plurality",
    "mean",
    "adjudicated",
    "relabelled",
    "silver",
    "median",
    "shares",
    "one_rater",
    "tie",
    "single",
    "conflict",
    "no_majority",
    "not_adjudicated",
)
UNANIMOUS, PLURALITY, MEAN, ADJUDICATED, RELABELLED, BY_MODEL, MEDIAN, SHARES, ONE_RATER = range(9)
TIE, SINGLE, CONFLICT, NO_MAJORITY, LEFT_TO_ADJUDICATOR = range(9, len(RESOLUTIONS))
OF_ITEMS = ("round", "items", "label", "n_raters", "resolution")
Rows = np.ndarray[Any, Any]


def count_votes(item: Rows, code: Rows, shape: tuple[int, int]) -> Rows:
    """How many ratings each item has in each category. Shape (N, K)."""
    votes = np.zeros(shape, dtype=np.int32)
    for part in slices_of_rows(len(item)):
        cells = item[part] * shape[1] + code[part]
        lowest = int(cells.min())
        part_counts = np.bincount(cells - lowest)
        votes.reshape(-1)[lowest : lowest + len(part_counts)] += part_counts.astype(np.int32)
    return votes


def leading_categories(votes: Rows) -> tuple[Rows, Rows]:
    """The category that leads in each row of votes, and its resolution."""
    label = np.empty(len(votes), dtype=np.int32)
    resolution = np.empty(len(votes), dtype=np.int8)
    for part in slices_of_rows(len(votes)):
        top_votes, total = votes[part].max(1), votes[part].sum(1)
        n_leaders = (votes[part] == top_votes[:, None]).sum(1)
        label[part] = votes[part].argmax(1)
        resolution[part] = np.select(
            [total == 1, top_votes == total, n_leaders > 1], [SINGLE, UNANIMOUS, TIE], PLURALITY
        )
    return label, resolution


def mean_labels(labels: Array, n_raters: Rows) -> tuple[Rows, Rows]:
    """The mean is exact to the last digit in every order of the raters."""
    if not len(n_raters):
        return np.empty(0), np.empty(0, dtype=np.int8)
    stops = np.cumsum(n_raters)
    starts = stops - n_raters
    equal = np.maximum.reduceat(labels, starts) == np.minimum.reduceat(labels, starts)
    resolution = np.select([n_raters == 1, equal], [SINGLE, UNANIMOUS], MEAN)
    numbers, places = labels.tolist(), zip(starts.tolist(), stops.tolist(), strict=True)
    sums = np.array([math.fsum(numbers[start:stop]) for start, stop in places])
    return sums / n_raters, resolution.astype(np.int8)


MAX_SHOWN = 5


@dataclass(frozen=True)
class Adjudicated:
    """The labels that an adjudicator gave to items of the ratings with this digest.

    They are no ratings. No measure reads them, and no rater's label changes.
    """

    ratings_digest: str = ""
    labels: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def from_manifest_entry(cls, entry: Mapping[str, Any]) -> "Adjudicated":
        labels = entry.get("adjudicated", {})
        if not isinstance(labels, dict) or not all(isinstance(x, str) for x in labels.values()):
            raise TypeError("adjudicated")
        return cls(entry["ratings_digest"], labels)

    def places_and_labels_on(self, items: pd.Index, scale: Scale) -> tuple[np.ndarray, Array]:
        """The places of the adjudicated items among `items`, and their labels."""
        if not self.labels:
            return np.empty(0, dtype=np.int64), np.empty(0)
        places = items.get_indexer(pd.Index(list(self.labels), dtype=TEXT))
        label_places = [self.place_of_label(label, scale) for label in self.labels.values()]
        wrong = [
            f"item {item!r} {'without a label of the panel' if place < 0 else f'as {label!r}'}"
            for (item, label), place, label_place in zip(
                self.labels.items(), places, label_places, strict=True
            )
            if place < 0 or label_place is None
        ]
        if wrong:
            remainder = f"; and {len(wrong) - MAX_SHOWN} more" if len(wrong) > MAX_SHOWN else ""
            names = f" {listed(scale.names, 12)}" if scale.names else ""
            raise RatingsError(
                f"adjudicated labels: found {'; '.join(wrong[:MAX_SHOWN])}{remainder}; expected "
                f"items that raters labelled, and labels of the scale{names}. Correct or remove "
                "these answers."
            )
        return places, np.array(label_places, dtype=float)

    @staticmethod
    def place_of_label(label: str, scale: Scale) -> float | None:
        """The place of a category, or the number. None if the scale has no such label."""
        if not scale.numeric:
            return scale.names.index(label) if label in scale.names else None
        try:
            value = float(label)
        except ValueError:
            return None
        listed = scale.categories is None or value in scale.categories
        return value if listed and np.isfinite(value) else None


NOT_ADJUDICATED = Adjudicated()


@dataclass(frozen=True, eq=False)
class PanelLabels:
    """The labels of the panel, as `consensus` describes them, in arrays with an entry an item.

    Attributes
    ----------
    round
        The place of each item's round among `rounds`.
    label
        The place of the category on the scale, or the mean. It says nothing of an unresolved item.
    votes
        Shape (N, K). None if the scale has no categories.
    resolution
        The place among `RESOLUTIONS`.
    """

    scale: Scale
    rounds: tuple[str, ...]
    round: Rows
    items: pd.Index
    texts: pd.Series | None
    label: Rows
    votes: Rows | None
    n_raters: Rows
    resolution: Rows

    @classmethod
    def from_ratings(
        cls,
        ratings: Ratings,
        round_name: str = "",
        adjudicated: Adjudicated = NOT_ADJUDICATED,
        *,
        among: Collection[str] | None = None,
        first: bool = False,
    ) -> "PanelLabels":
        """Adjudicated labels stand instead of the panel's. The label of an item is that of its last
        labels, unless the `first` ones are asked for. Its votes are the first ones.
        """
        scale, panel = ratings.scale, ratings.raters
        if scale.dimensions > 1:
            raise RatingsError(
                f"round {round_name or 'of vectors'}: found labels of {scale.dimensions} "
                "dimensions; expected one dimension for training labels. "
                "Release each dimension as a round of its own."
            )
        label_kinds = [
            *([] if scale.continuous else ["code"]),
            *(["number"] if scale.numeric else []),
        ]
        later = ["last_label"] if "last_label" in ratings.has and not first else []
        # each rating has the name of its item, which a large round needs once alone
        is_whole = among is None and not (ratings.gold or ratings.classifiers or ratings.preceded)
        columns_needed = ["at", *label_kinds, *later, *([] if is_whole else ["item"])]
        columns = ratings.first_ratings(columns_needed, items=among, raters=panel).columns
        names = ratings.rated_items() if is_whole else columns.pop()
        last_labels = columns.pop() if later else None
        item, *label_columns = (column.to_numpy() for column in columns)
        if not is_whole:
            names = names.take(np.flatnonzero(np.diff(item, prepend=-1)))
        items = pd.Index(arrow_to_pandas(names))
        n_raters = np.bincount(item, minlength=len(items))
        shape = (len(items), len(scale.names))
        votes = None if scale.continuous else count_votes(item, label_columns[0], shape)
        label, resolution = (
            leading_categories(votes)
            if votes is not None and not scale.numeric
            else mean_labels(label_columns[-1], n_raters)
        )
        if last_labels is not None and last_labels.null_count < len(last_labels):
            _relabel(item, label_columns, last_labels.to_pylist(), shape, scale, label, resolution)
        adjudicated_places, labels = adjudicated.places_and_labels_on(items, scale)
        label[adjudicated_places] = labels
        resolution[adjudicated_places] = ADJUDICATED
        return cls(
            scale,
            (round_name,),
            np.zeros(len(items), dtype=np.int32),
            items,
            _texts_of(ratings, items),
            label,
            votes,
            n_raters.astype(np.int32),
            resolution,
        )

    def labels_of_classifier(self, ratings: Ratings, classifier: str) -> "PanelLabels":
        """The labels of a classifier, which must have labelled all items that the panel did, where
        the panel's give none.
        """
        names, codes = ratings.first_ratings(["item", "code"], raters=[classifier]).columns
        items, n = pd.Index(arrow_to_pandas(names)), len(names)
        label = codes.to_numpy().astype(self.label.dtype)
        resolution = np.full(n, BY_MODEL, np.int8)
        votes, n_raters = np.zeros((n, len(self.scale.names)), np.int32), np.zeros(n, np.int32)
        panel_places = items.get_indexer(self.items)
        if self.votes is None or self.scale.numeric or (panel_places < 0).any():
            raise RatingsError(
                f"classifier {classifier}: found numbers, or items of the panel without its label; "
                "expected a category for each item. Let it label them."
            )
        votes[panel_places], n_raters[panel_places] = self.votes, self.n_raters
        settled = self.rows_with_label
        label[panel_places[settled]], resolution[panel_places[settled]] = (
            self.label[settled],
            self.resolution[settled],
        )
        return replace(
            self,
            round=np.zeros(n, dtype=np.int32),
            items=items,
            texts=_texts_of(ratings, items),
            label=label,
            votes=votes,
            n_raters=n_raters,
            resolution=resolution,
        )

    @classmethod
    def combine_first_of(cls, rounds: Sequence["PanelLabels"]) -> "PanelLabels":
        """If an item is in several rounds, its first one counts. If another has another label for
        it, the item is in conflict and has no label.
        """
        if len(rounds) == 1:
            return rounds[0]
        all_labels = _concatenate(rounds)
        all_labels = all_labels.select_rows(np.argsort(all_labels.items, kind="stable"))
        labels = all_labels.select_rows(np.flatnonzero(is_first := ~all_labels.items.duplicated()))
        item, is_known = np.cumsum(is_first) - 1, ~all_labels.rows_without_label
        lowest, highest = np.full(len(labels), np.inf), np.full(len(labels), -np.inf)
        np.minimum.at(lowest, item[is_known], all_labels.label[is_known])
        np.maximum.at(highest, item[is_known], all_labels.label[is_known])
        return replace(labels, resolution=np.where(lowest < highest, CONFLICT, labels.resolution))

    def __len__(self) -> int:
        return len(self.items)

    @property
    def rows_without_label(self) -> Rows:
        return np.asarray(self.resolution >= TIE)

    def is_resolved_as(self, resolution: str) -> Rows:
        return np.asarray(self.resolution == RESOLUTIONS.index(resolution))

    @property
    def rows_with_label(self) -> Rows:
        """The rows of items that have a label."""
        return np.flatnonzero(~self.rows_without_label)

    @property
    def soft_label(self) -> Array:
        """Shape (N, K). If nobody of the panel labelled an item, it is that of its label."""
        assert self.votes is not None
        votes = self.votes
        if len(unseen := np.flatnonzero(self.n_raters == 0)):
            votes = votes.copy()
            votes[unseen, self.label[unseen]] = 1
        return np.asarray(votes / votes.sum(1, keepdims=True))

    @property
    def entropy_bits(self) -> Array:
        soft = self.soft_label
        return np.asarray(-(soft * np.log2(np.where(soft > 0, soft, 1))).sum(1) + 0.0)

    def select_rows(self, rows: Rows) -> "PanelLabels":
        columns: dict[str, Any] = {name: getattr(self, name)[rows] for name in OF_ITEMS}
        if self.texts is not None:
            columns["texts"] = self.texts.iloc[rows]
        if self.votes is not None:
            columns["votes"] = self.votes[rows]
        return replace(self, **columns)

    def to_frame(self) -> pd.DataFrame:
        columns = {
            "id": pd.Series(self.items),
            "round": np.array(self.rounds, dtype=object)[self.round],
        }
        if self.texts is not None:
            columns["text"] = list(self.texts.astype(object).where(self.texts.notna(), None))
        scale, unresolved = self.scale, self.rows_without_label
        label = self.label if scale.numeric else np.array(scale.label_values)[self.label]
        columns["label"] = _series_with_missing(label, unresolved)
        if not scale.numeric:
            columns["label_id"] = _series_with_missing(self.label.astype(np.int64), unresolved)
        if self.votes is not None:
            columns |= {"soft_label": self.soft_label.tolist(), "votes": self.votes.tolist()}
        columns["n_raters"] = self.n_raters.astype(np.int64)
        if self.votes is not None:
            columns["entropy_bits"] = self.entropy_bits
        columns["resolution"] = np.array(RESOLUTIONS, dtype=object)[self.resolution]
        return pd.DataFrame(columns, index=range(len(self)))


def _series_with_missing(values: Rows, missing: Rows) -> "pd.Series[Any]":
    """Numbers and booleans have their own dtype if none is missing; the rest are objects."""
    if values.dtype.kind != "U" and not missing.any():
        return pd.Series(values)
    objects = values.astype(object)
    objects[missing] = None
    return pd.Series(objects, dtype="object")


def _texts_of(ratings: Ratings, items: pd.Index) -> pd.Series | None:
    if "text" not in ratings.has:
        return None
    frame: pd.DataFrame = arrow_to_pandas(ratings.items(["text"]))
    return frame.set_index("item")["text"].reindex(items)


def _relabel(
    item: Rows,
    label_columns: Sequence[Rows],
    last_labels: Sequence[str | None],
    shape: tuple[int, int],
    scale: Scale,
    label: Rows,
    resolution: Rows,
) -> None:
    """Put the label of the last labels where a rater gave another one later."""
    relabelled_rows = np.array(
        [place for place, text in enumerate(last_labels) if text is not None]
    )
    later = label_columns[-1].copy()
    later[relabelled_rows] = [
        Adjudicated.place_of_label(text, scale) for text in last_labels if text is not None
    ]
    if scale.numeric:
        new_label, new_resolution = mean_labels(later, np.bincount(item, minlength=len(label)))
    else:
        new_label, new_resolution = leading_categories(count_votes(item, later, shape))
    changed_items = np.unique(item[relabelled_rows])
    label[changed_items] = new_label[changed_items]
    resolution[changed_items] = np.where(
        new_resolution[changed_items] < TIE, RELABELLED, new_resolution[changed_items]
    )


def count_overruled(ratings: Ratings, adjudicated: Adjudicated) -> tuple[int, int]:
    """On how many items all raters agree at first and their label is another, and on how many they
    agree.
    """
    panel = PanelLabels.from_ratings(ratings, first=True)
    labels = PanelLabels.from_ratings(ratings, adjudicated=adjudicated)
    agreed = panel.resolution == UNANIMOUS
    is_other = labels.rows_without_label | (panel.label != labels.label)
    return int((agreed & is_other).sum()), int(agreed.sum())


class OverruledSingles(NamedTuple):
    """Items with one rating whose adjudicated label is another one.

    `n_training` items have a label. On `pair_difference` of items with several ratings, two of
    their ratings, taken by chance, differ.
    """

    n_overruled: int = 0
    n_training: int = 0
    pair_difference: float = 0.0


def count_overruled_singles(ratings: Ratings, adjudicated: Adjudicated) -> OverruledSingles:
    """Without categories nothing is counted, since numbers nearly always differ a little."""
    if not adjudicated.labels or ratings.scale.continuous:
        return OverruledSingles()
    panel = PanelLabels.from_ratings(ratings)
    labels = PanelLabels.from_ratings(ratings, adjudicated=adjudicated)
    assert panel.votes is not None
    is_other = (panel.resolution == SINGLE) & (panel.label != labels.label)
    n_overruled = int((labels.is_resolved_as("adjudicated") & is_other).sum())
    votes = panel.votes[panel.n_raters >= 2].astype(float)
    sizes = votes.sum(1)
    share_equal = (votes * (votes - 1)).sum(1) / (sizes * (sizes - 1))
    return OverruledSingles(
        n_overruled,
        len(labels.rows_with_label),
        float(1 - share_equal.mean()) if len(share_equal) else 0.0,
    )


def consensus_frame(
    ratings: Ratings, round_name: str = "", adjudicated: Adjudicated = NOT_ADJUDICATED
) -> pd.DataFrame:
    """The label of the panel for each item.

    Only first ratings of the panel in the round itself count. Gold items have no row, and neither
    has an item without such a rating.

    Returns
    -------
    pandas.DataFrame
        Sorted by `id`, with these columns:

        - `id`, `round`, and `text` if the items have texts
        - `label`: the category that leads as people gave it (`Scale.label_values`), or the mean
          of numbers. None for an unresolved item.
        - `label_id`: the position of that category on the scale, from 0
        - `soft_label`, `votes`: the share and number of the ratings in each category of the scale
        - `n_raters`: the number of raters
        - `entropy_bits`: -Σ p log2 p of the soft label, from 0 to log2 K
        - `resolution`: how the label was found, as below

        Without categories, `soft_label`, `votes` and `entropy_bits` are left out.

        ============ ==============================================  ========
        resolution   ratings of the item                             resolved
        ============ ==============================================  ========
        *unanimous*  two or more, all equal                          yes
        *plurality*  one category leads                              yes
        *mean*       not all equal, on an interval or ratio scale    yes
        adjudicated  any; the label is the adjudicator's             yes
        relabelled   any; raters gave other labels later             yes
        silver       none, or no label follows; it is a classifier's yes
        *tie*        several categories lead, and none is chosen     no
        *single*     only one                                        no
        *conflict*   different labels in different rounds            no
        ============ ==============================================  ========

    Raises
    ------
    RatingsError
        The labels are vectors of numbers, which have no consensus.

    Examples
    --------
    >>> from agreement_pipeline import Ratings, Scale
    >>> rows = [("i1", "a", "yes"), ("i1", "b", "yes"), ("i1", "c", "no"), ("i2", "a", "no")]
    >>> frame = pd.DataFrame(rows, columns=["item", "rater", "label"])
    >>> labels = consensus_frame(Ratings.from_frame(frame, Scale(("no", "yes"))))
    >>> labels[["id", "label", "votes", "resolution"]].to_numpy().tolist()
    [['i1', 'yes', [1, 2], 'plurality'], ['i2', None, [1, 0], 'single']]
    """
    return PanelLabels.from_ratings(ratings, round_name, adjudicated).to_frame()


def _concatenate(rounds: Sequence[PanelLabels]) -> PanelLabels:
    starts = np.cumsum([0, *(len(panel.rounds) for panel in rounds[:-1])])
    votes = [panel.votes for panel in rounds if panel.votes is not None]
    texts = [
        pd.Series(None, index=panel.items, dtype=TEXT) if panel.texts is None else panel.texts
        for panel in rounds
    ]
    columns: dict[str, Any] = {
        name: np.concatenate([getattr(panel, name) for panel in rounds])
        for name in ("label", "n_raters", "resolution")
    }
    return replace(
        rounds[0],
        rounds=tuple(name for panel in rounds for name in panel.rounds),
        round=np.concatenate(
            [panel.round + start for panel, start in zip(rounds, starts, strict=True)]
        ),
        items=rounds[0].items.append([panel.items for panel in rounds[1:]]),
        texts=pd.concat(texts) if any(panel.texts is not None for panel in rounds) else None,
        votes=np.concatenate(votes) if votes else None,
        **columns,
    )
