"""Training labels from ratings: one for each item."""

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from agreement_pipeline.errors import RatingsError
from agreement_pipeline.ratings.arrays import parts
from agreement_pipeline.ratings.frames import TEXT, in_pandas
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


def votes_of(item: Rows, code: Rows, shape: tuple[int, int]) -> Rows:
    votes = np.zeros(shape, dtype=np.int32)
    for part in parts(len(item)):
        cells = item[part] * shape[1] + code[part]
        least = int(cells.min())
        here = np.bincount(cells - least)
        votes.reshape(-1)[least : least + len(here)] += here.astype(np.int32)
    return votes


def leaders_of(votes: Rows) -> tuple[Rows, Rows]:
    label = np.empty(len(votes), dtype=np.int32)
    resolution = np.empty(len(votes), dtype=np.int8)
    for part in parts(len(votes)):
        most, total = votes[part].max(1), votes[part].sum(1)
        leading = (votes[part] == most[:, None]).sum(1)
        label[part] = votes[part].argmax(1)
        resolution[part] = np.select(
            [total == 1, most == total, leading > 1], [SINGLE, UNANIMOUS, TIE], PLURALITY
        )
    return label, resolution


def means_of(labels: Array, n_raters: Rows) -> tuple[Rows, Rows]:
    """The mean is exact to the last digit in every order of the raters."""
    if not len(n_raters):
        return np.empty(0), np.empty(0, dtype=np.int8)
    ends = np.cumsum(n_raters)
    starts = ends - n_raters
    equal = np.maximum.reduceat(labels, starts) == np.minimum.reduceat(labels, starts)
    resolution = np.select([n_raters == 1, equal], [SINGLE, UNANIMOUS], MEAN)
    given, places = labels.tolist(), zip(starts.tolist(), ends.tolist(), strict=True)
    sums = np.array([math.fsum(given[start:end]) for start, end in places])
    return sums / n_raters, resolution.astype(np.int8)


MOST_SAID = 5


@dataclass(frozen=True)
class Adjudicated:
    """The labels that an adjudicator gave to items of the ratings with this digest.

    They are no ratings. No measure reads them, and no rater's label changes.
    """

    ratings_digest: str = ""
    labels: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def released(cls, entry: Mapping[str, Any]) -> "Adjudicated":
        labels = entry.get("adjudicated", {})
        if not isinstance(labels, dict) or not all(isinstance(x, str) for x in labels.values()):
            raise TypeError("adjudicated")
        return cls(entry["ratings_digest"], labels)

    def on(self, items: pd.Index, scale: Scale) -> tuple[np.ndarray, Array]:
        if not self.labels:
            return np.empty(0, dtype=np.int64), np.empty(0)
        places = items.get_indexer(pd.Index(list(self.labels), dtype=TEXT))
        found = [self.place(label, scale) for label in self.labels.values()]
        wrong = [
            f"item {item!r} {'without a label of the panel' if place < 0 else f'as {label!r}'}"
            for (item, label), place, said in zip(self.labels.items(), places, found, strict=True)
            if place < 0 or said is None
        ]
        if wrong:
            more = f"; and {len(wrong) - MOST_SAID} more" if len(wrong) > MOST_SAID else ""
            names = f" {listed(scale.names, 12)}" if scale.names else ""
            raise RatingsError(
                f"adjudicated labels: found {'; '.join(wrong[:MOST_SAID])}{more}; expected items "
                f"that raters labelled, and labels of the scale{names}. Correct or remove these "
                "answers."
            )
        return places, np.array(found, dtype=float)

    @staticmethod
    def place(label: str, scale: Scale) -> float | None:
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
    def of(
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
        said = [*([] if scale.continuous else ["code"]), *(["number"] if scale.numeric else [])]
        later = ["last_label"] if "last_label" in ratings.has and not first else []
        # each rating has the name of its item, which a large round needs once alone
        whole = among is None and not (ratings.gold or ratings.classifiers or ratings.preceded)
        asked = ["at", *said, *later, *([] if whole else ["item"])]
        columns = ratings.first(asked, items=among, raters=panel).columns
        names = ratings.rated() if whole else columns.pop()
        last = columns.pop() if later else None
        item, *given = (column.to_numpy() for column in columns)
        if not whole:
            names = names.take(np.flatnonzero(np.diff(item, prepend=-1)))
        items = pd.Index(in_pandas(names))
        n_raters = np.bincount(item, minlength=len(items))
        shape = (len(items), len(scale.names))
        votes = None if scale.continuous else votes_of(item, given[0], shape)
        label, resolution = (
            leaders_of(votes)
            if votes is not None and not scale.numeric
            else means_of(given[-1], n_raters)
        )
        if last is not None and last.null_count < len(last):
            _relabel(item, given, last.to_pylist(), shape, scale, label, resolution)
        chosen, labels = adjudicated.on(items, scale)
        label[chosen] = labels
        resolution[chosen] = ADJUDICATED
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

    def beside(self, ratings: Ratings, classifier: str) -> "PanelLabels":
        """The labels of a classifier, which must have labelled all items that the panel did, where
        the panel's give none.
        """
        names, codes = ratings.first(["item", "code"], raters=[classifier]).columns
        items, n = pd.Index(in_pandas(names)), len(names)
        label, resolution = (
            codes.to_numpy().astype(self.label.dtype),
            np.full(n, BY_MODEL, np.int8),
        )
        votes, n_raters = np.zeros((n, len(self.scale.names)), np.int32), np.zeros(n, np.int32)
        seen = items.get_indexer(self.items)
        if self.votes is None or self.scale.numeric or (seen < 0).any():
            raise RatingsError(
                f"classifier {classifier}: found numbers, or items of the panel without its label; "
                "expected a category for each item. Let it label them."
            )
        votes[seen], n_raters[seen] = self.votes, self.n_raters
        kept = self.resolved
        label[seen[kept]], resolution[seen[kept]] = self.label[kept], self.resolution[kept]
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
    def first_of(cls, rounds: Sequence["PanelLabels"]) -> "PanelLabels":
        """If an item is in several rounds, its first one counts. If another has another label for
        it, the item is in conflict and has no label.
        """
        if len(rounds) == 1:
            return rounds[0]
        joined = _joined(rounds)
        joined = joined.take(np.argsort(joined.items, kind="stable"))
        labels = joined.take(np.flatnonzero(first := ~joined.items.duplicated()))
        item, known = np.cumsum(first) - 1, ~joined.unresolved
        least, most = np.full(len(labels), np.inf), np.full(len(labels), -np.inf)
        np.minimum.at(least, item[known], joined.label[known])
        np.maximum.at(most, item[known], joined.label[known])
        return replace(labels, resolution=np.where(least < most, CONFLICT, labels.resolution))

    def __len__(self) -> int:
        return len(self.items)

    @property
    def unresolved(self) -> Rows:
        return np.asarray(self.resolution >= TIE)

    def resolved_as(self, resolution: str) -> Rows:
        return np.asarray(self.resolution == RESOLUTIONS.index(resolution))

    @property
    def resolved(self) -> Rows:
        return np.flatnonzero(~self.unresolved)

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

    def take(self, rows: Rows) -> "PanelLabels":
        columns: dict[str, Any] = {name: getattr(self, name)[rows] for name in OF_ITEMS}
        if self.texts is not None:
            columns["texts"] = self.texts.iloc[rows]
        if self.votes is not None:
            columns["votes"] = self.votes[rows]
        return replace(self, **columns)

    def frame(self) -> pd.DataFrame:
        columns = {
            "id": pd.Series(self.items),
            "round": np.array(self.rounds, dtype=object)[self.round],
        }
        if self.texts is not None:
            columns["text"] = list(self.texts.astype(object).where(self.texts.notna(), None))
        scale, unresolved = self.scale, self.unresolved
        label = self.label if scale.numeric else np.array(scale.label_values)[self.label]
        columns["label"] = _with_gaps(label, unresolved)
        if not scale.numeric:
            columns["label_id"] = _with_gaps(self.label.astype(np.int64), unresolved)
        if self.votes is not None:
            columns |= {"soft_label": self.soft_label.tolist(), "votes": self.votes.tolist()}
        columns["n_raters"] = self.n_raters.astype(np.int64)
        if self.votes is not None:
            columns["entropy_bits"] = self.entropy_bits
        columns["resolution"] = np.array(RESOLUTIONS, dtype=object)[self.resolution]
        return pd.DataFrame(columns, index=range(len(self)))


def _with_gaps(values: Rows, missing: Rows) -> "pd.Series[Any]":
    """Numbers and booleans have their own dtype if none is missing; the rest are objects."""
    if values.dtype.kind != "U" and not missing.any():
        return pd.Series(values)
    objects = values.astype(object)
    objects[missing] = None
    return pd.Series(objects, dtype="object")


def _texts_of(ratings: Ratings, items: pd.Index) -> pd.Series | None:
    if "text" not in ratings.has:
        return None
    known: pd.DataFrame = in_pandas(ratings.items(["text"]))
    return known.set_index("item")["text"].reindex(items)


def _relabel(
    item: Rows,
    given: Sequence[Rows],
    last: Sequence[str | None],
    shape: tuple[int, int],
    scale: Scale,
    label: Rows,
    resolution: Rows,
) -> None:
    """Put the label of the last labels where a rater gave another one later."""
    at = np.array([place for place, said in enumerate(last) if said is not None])
    later = given[-1].copy()
    later[at] = [Adjudicated.place(said, scale) for said in last if said is not None]
    if scale.numeric:
        found, resolved = means_of(later, np.bincount(item, minlength=len(label)))
    else:
        found, resolved = leaders_of(votes_of(item, later, shape))
    changed = np.unique(item[at])
    label[changed] = found[changed]
    resolution[changed] = np.where(resolved[changed] < TIE, RELABELLED, resolved[changed])


def overruled(ratings: Ratings, adjudicated: Adjudicated) -> tuple[int, int]:
    """On how many items all raters agree at first and their label is another, and on how many they
    agree.
    """
    panel = PanelLabels.of(ratings, first=True)
    labels = PanelLabels.of(ratings, adjudicated=adjudicated)
    agreed = panel.resolution == UNANIMOUS
    other = labels.unresolved | (panel.label != labels.label)
    return int((agreed & other).sum()), int(agreed.sum())


class SinglesOverruled(NamedTuple):
    """Items with one rating whose adjudicated label is another one.

    `n_training` items have a label. On `pair_difference` of items with several ratings, two of
    their ratings, taken by chance, differ.
    """

    n_overruled: int = 0
    n_training: int = 0
    pair_difference: float = 0.0


def singles_overruled(ratings: Ratings, adjudicated: Adjudicated) -> SinglesOverruled:
    """Without categories nothing is counted, since numbers nearly always differ a little."""
    if not adjudicated.labels or ratings.scale.continuous:
        return SinglesOverruled()
    panel = PanelLabels.of(ratings)
    labels = PanelLabels.of(ratings, adjudicated=adjudicated)
    assert panel.votes is not None
    other = (panel.resolution == SINGLE) & (panel.label != labels.label)
    n_overruled = int((labels.resolved_as("adjudicated") & other).sum())
    votes = panel.votes[panel.n_raters >= 2].astype(float)
    sizes = votes.sum(1)
    same = (votes * (votes - 1)).sum(1) / (sizes * (sizes - 1))
    return SinglesOverruled(
        n_overruled, len(labels.resolved), float(1 - same.mean()) if len(same) else 0.0
    )


def consensus(
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
        *conflict*   other labels in other rounds                    no
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
    >>> labels = consensus(Ratings.from_frame(frame, Scale(("no", "yes"))))
    >>> labels[["id", "label", "votes", "resolution"]].to_numpy().tolist()
    [['i1', 'yes', [1, 2], 'plurality'], ['i2', None, [1, 0], 'single']]
    """
    return PanelLabels.of(ratings, round_name, adjudicated).frame()


def _joined(rounds: Sequence[PanelLabels]) -> PanelLabels:
    starts = np.cumsum([0, *(len(each.rounds) for each in rounds[:-1])])
    votes = [each.votes for each in rounds if each.votes is not None]
    texts = [
        pd.Series(None, index=each.items, dtype=TEXT) if each.texts is None else each.texts
        for each in rounds
    ]
    columns: dict[str, Any] = {
        name: np.concatenate([getattr(each, name) for each in rounds])
        for name in ("label", "n_raters", "resolution")
    }
    return replace(
        rounds[0],
        rounds=tuple(name for each in rounds for name in each.rounds),
        round=np.concatenate(
            [each.round + start for each, start in zip(rounds, starts, strict=True)]
        ),
        items=rounds[0].items.append([each.items for each in rounds[1:]]),
        texts=pd.concat(texts) if any(each.texts is not None for each in rounds) else None,
        votes=np.concatenate(votes) if votes else None,
        **columns,
    )
