"""The training table of a release, and what each of its columns means."""

import hashlib
import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa

from agreement_pipeline.ratings import (
    CONTENT_PREFIX,
    PART_PREFIX,
    PART_UNIT_OF,
    RESOLUTIONS,
    STRATUM,
    Scale,
    TrainingRows,
    Trains,
    arrow_to_pandas,
    describe_training_label,
    iterate_growing_batches,
    vote_shares,
)
from agreement_pipeline.units import (
    ALTERNATIVES,
    POSITION_LENGTH,
    TOKENS,
    document_of,
    item_of,
    place_numbers_of,
)

UNIT_OF = "unit_of"
HUGGING_FACE_DTYPES = {pa.float64(): "float64"}
SPLITS = ("train", "validation", "test")
PERCENT_TRAIN, PERCENT_VALIDATION = 80, 10


class Column(NamedTuple):
    """A column of the training table.

    Attributes
    ----------
    feature
        What Hugging Face calls the type, in the metadata of the file.
    meaning
        What the column holds, in which unit, for the card.
    """

    name: str
    type: pa.DataType
    feature: dict[str, Any]
    meaning: str


def own_columns(
    rows: TrainingRows, numbers: tuple[str, ...] = (), *, are_whole: bool = False
) -> list[Column]:
    """The columns in order, before those of units and of the delivery. `numbers` are what the
    numbers of the place of a unit are called.
    """
    scale, has = rows.scale, rows.item_columns
    kind = label_type(scale)
    columns = [_text_column("id", "The name of the item.")]
    if numbers:
        columns.append(_text_column(UNIT_OF, "The document or image in which the unit lies."))
        make_place = _whole_number_column if are_whole else _number_column
        columns += [make_place(name, PLACES[name]) for name in numbers]
    columns += [
        _text_column("round", "The first round of the release that has the item."),
        _list_column(
            "rounds", pa.string(), "All rounds of the release that have the item, in order."
        ),
    ]
    if "text" in has:
        columns.append(_text_column("text", "The text of the item, as it was delivered."))
    dtype = HUGGING_FACE_DTYPES.get(kind, str(kind))
    of_numbers = LABEL_OF_NUMBERS if scale.numeric else LABEL
    meaning = f"{of_numbers} {_meaning_of_label(rows)}"
    columns.append(Column("label", kind, _croissant_value(dtype), meaning))
    if not scale.numeric:
        feature = {"names": list(scale.names), "_type": "ClassLabel"}
        columns.append(Column("label_id", pa.int64(), feature, LABEL_ID))
    if rows.votes is not None:
        columns += [
            _list_column("soft_label", pa.float64(), SOFT_LABEL),
            _list_column("votes", pa.int64(), VOTES),
        ]
    if rows.spread is not None:
        columns.append(_number_column("spread", SPREAD))
    if rows.panel_votes is not None:
        columns += [
            _list_column("panel_soft_label", pa.float64(), PANEL_SOFT_LABEL),
            _list_column("panel_votes", pa.int64(), PANEL_VOTES),
        ]
    if rows.panel_mean is not None:
        columns += [
            _number_column("panel_mean", PANEL_MEAN),
            _number_column("panel_spread", PANEL_SPREAD),
        ]
    columns += [
        _whole_number_column("n_raters", N_RATERS),
        _whole_number_column("n_ratings", N_RATINGS),
    ]
    if rows.votes is not None:
        columns.append(_number_column("entropy_bits", ENTROPY))
    columns.append(_text_column("resolution", RESOLUTION))
    columns += _columns_of_groups(has)
    columns.append(_text_column("split", SPLIT))
    return columns


def _columns_of_groups(names: Iterable[str]) -> Iterator[Column]:
    for name in names:
        if name == "cluster":
            yield _text_column(name, "What the item belongs to, such as a document or a patient.")
        elif name.startswith(STRATUM):
            stratum = name.removeprefix(STRATUM)
            yield _text_column(name, f"The stratum of the item: its {stratum}.")


def column_of_delivery(names: tuple[str, str]) -> Column:
    """The column of a part of units or of the delivery, from its names in ratings and here."""
    name, column = names
    if name.startswith(PART_PREFIX):
        return _text_column(column, PARTS.get(column, PART))
    return (
        _number_column(column, SIZES[column]) if column in SIZES else _text_column(column, CONTENT)
    )


def released_names(item_columns: Iterable[str], taken_names: Collection[str]) -> dict[str, str]:
    """What parts of units and columns of the delivery are called in the table, by their names in
    ratings. A column of the delivery has its own name, unless a column of the table is called so.

    >>> released_names(["content:language", "content:label", "part:member"], {"id", "label"})
    {'content:language': 'language', 'content:label': 'content:label', 'part:member': 'member'}
    """
    names: dict[str, str] = {}
    for name in item_columns:
        if (
            name.startswith(PART_PREFIX)
            and (part := name.removeprefix(PART_PREFIX)) not in taken_names
        ):
            names[name] = part
    for name in item_columns:
        content = name.removeprefix(CONTENT_PREFIX)
        if name.startswith(CONTENT_PREFIX) and content not in UNLISTED_CONTENTS:
            is_free = content not in taken_names and content not in names.values()
            names[name] = content if is_free else name
    return {name: names[name] for name in item_columns if name in names}


SIZES = {
    "image_width": "The width of the image, in pixels.",
    "image_height": "The height of the image, in pixels.",
    "duration_seconds": "The length of the recording, in seconds.",
}
UNLISTED_CONTENTS = frozenset({TOKENS, ALTERNATIVES, POSITION_LENGTH})
"""Contents of a document that say how its objects are written, and are no column."""
PARTS = {
    UNIT_OF: "The item that the unit is a part of: its document or image.",
    "member": "The label that is in the set of the item, or is not.",
    "criterion": "The criterion of the rubric that the label is a score of.",
    "first": "The alternative that is better if the label is first.",
    "second": "The alternative that is better if the label is second.",
}


PLACES = {
    "start": "Where the span starts: the number of characters before it.",
    "end": "Where the span ends: the number of characters before its end.",
    "x": "The left side of the box, in the unit of the delivery.",
    "y": "The upper side of the box, in the unit of the delivery.",
    "width": "The width of the box, in the unit of the delivery.",
    "height": "The height of the box, in the unit of the delivery.",
}
LABEL = "The label that trains, as raters gave it."
LABEL_OF_NUMBERS = "The number that trains, in the unit of the delivery."
LABEL_ID = "The position of `label` among the categories, from 0."
SOFT_LABEL = (
    "The share of `votes` in each category, from 0 to 1, in the order of the categories; 1 for the "
    "label of an adjudicator. Null for the label of a classifier."
)
VOTES = (
    "The number of ratings in each category that the label rests on, in the order of the "
    "categories. All are 0 if an adjudicator or a classifier gave the label."
)
SPREAD = (
    "The standard deviation of the ratings that the label rests on (divided by n - 1), in the unit "
    "of the label. Null of fewer than two."
)
PANEL_SOFT_LABEL = "The share of `panel_votes` in each category. Null if nobody rated the item."
PANEL_VOTES = "The number of raters' first ratings in each category, whatever trains."
PANEL_MEAN = "The mean of raters' first ratings, whatever trains. Null if nobody rated the item."
PANEL_SPREAD = "The standard deviation of raters' first ratings, whatever trains."
N_RATERS = "The number of different raters of the item."
N_RATINGS = "The number of their ratings. One rater who rates an item in two rounds gives two."
PART = "A part of the name of the unit, such as its item, criterion or member."
CONTENT = "A column of the delivery that the project keeps."
ENTROPY = (
    "The entropy of `soft_label` in bits: 0 if one category has all, log2 K if all share alike."
)
RESOLUTION = "How the label came about, as the next table says."
SPLIT = (
    "train, validation or test: 80, 10 and 10 of 100 clusters, drawn by the name of the cluster, "
    "or of the item where there are no clusters. It is the same in every release."
)
RESOLUTION_MEANINGS = {
    "unanimous": "Two raters or more, and all ratings are equal.",
    "plurality": "One category has more ratings than any other.",
    "mean": "The mean of ratings that are not all equal, on a scale of numbers.",
    "adjudicated": "An adjudicator gave the label, whatever raters said.",
    "relabelled": "Raters later gave another label than at first. The last ones train.",
    "silver": "A certified classifier gave the label, since that of raters gives none.",
    "tie": "Several categories lead, and none is chosen.",
    "single": "Only one rater rated the item.",
    "conflict": "Two rounds, or two adjudicators, settle the item with different categories.",
    "median": "The middle one of ratings that are not all equal.",
    "shares": "The ratings are not all equal, and the share of each category trains.",
    "one_rater": "Only one rater rated the item, and single labels train.",
    "no_majority": "No category has more than half of the ratings.",
    "not_adjudicated": "No adjudicator labelled the item, and no other label trains.",
}
UNRESOLVED_WORDS = frozenset(RESOLUTIONS[RESOLUTIONS.index("tie") :])
OF_EVERY_RELEASE = frozenset(
    ("unanimous", "adjudicated", "relabelled", "silver", "tie", "single", "conflict")
)
RESOLUTIONS_BY_LABEL = {
    "plurality": {"plurality"},
    "majority": {"plurality", "no_majority"},
    "median": {"median"},
    "mean": {"mean"},
    "shares": {"shares"},
    "one_rater": {"plurality", "mean", "one_rater"},
    "adjudicated": {"not_adjudicated"},
}


def resolution_meanings(trains: Trains | None) -> dict[str, str]:
    """What each resolution means that a release can have."""
    label_resolutions = RESOLUTIONS_BY_LABEL[trains.label] if trains else {"plurality", "mean"}
    return {
        word: meaning
        for word, meaning in RESOLUTION_MEANINGS.items()
        if word in OF_EVERY_RELEASE | label_resolutions
    }


def _meaning_of_label(rows: TrainingRows) -> str:
    if rows.trains and rows.trains.label == "shares":
        return "It is the category that leads in `soft_label`, which trains. Null of a tie."
    return f"It is {describe_training_label(rows.trains, rows.scale)}. Null if there is none."


class UnitPlaces(NamedTuple):
    """Where units lie, if all items of a release are units.

    Attributes
    ----------
    numbers
        What the numbers of a place are called, such as start and end. None: items are no units.
    by_unit
        The numbers of units as a rater drew them. Those of other units stand in their names.
    """

    numbers: tuple[str, ...] = ()
    by_unit: Mapping[str, Sequence[float]] = MappingProxyType({})

    def columns(self, units: Any) -> dict[str, list[Any]]:
        """The item and the numbers of each unit, by column."""
        if not self.numbers:
            return {}
        item_places = [(unit, *item_of(unit, self.numbers)) for unit in units.tolist()]
        places = [self.by_unit.get(unit, place) for unit, _, place in item_places]
        return {
            UNIT_OF: [item for _, item, _ in item_places],
            **{name: [place[n] for place in places] for n, name in enumerate(self.numbers)},
        }


NOWHERE = UnitPlaces()
"""Of items that are no units."""


@dataclass(frozen=True, eq=False)
class TrainingTable:
    """Some training rows as a table. The metadata name the categories for Hugging Face."""

    rows: TrainingRows
    places: np.ndarray[Any, Any]
    unit_places: UnitPlaces = NOWHERE
    are_whole: bool = False

    @cached_property
    def _own_columns(self) -> list[Column]:
        return own_columns(self.rows, self.unit_places.numbers, are_whole=self.are_whole)

    @cached_property
    def _released_names(self) -> dict[str, str]:
        taken_names = {column.name for column in self._own_columns}
        return released_names(self.rows.item_columns, taken_names)

    @cached_property
    def columns(self) -> list[Column]:
        return [*self._own_columns, *map(column_of_delivery, self._released_names.items())]

    @cached_property
    def schema(self) -> pa.Schema:
        features = {column.name: column.feature for column in self.columns}
        return pa.schema([(column.name, column.type) for column in self.columns]).with_metadata(
            {"huggingface": json.dumps({"info": {"features": features}})}
        )

    def __len__(self) -> int:
        return len(self.places)

    def to_batches(self) -> Iterator[pa.RecordBatch]:
        return iterate_growing_batches(len(self), self._batch)

    def to_pandas(self) -> pd.DataFrame:
        """The rows as a DataFrame, with lists in the place of arrays."""
        frame: pd.DataFrame = arrow_to_pandas(pa.Table.from_batches(self.to_batches(), self.schema))
        for column in self.columns:
            if pa.types.is_list(column.type):
                lists = [
                    None if values is None else values.tolist() for values in frame[column.name]
                ]
                frame[column.name] = pd.Series(lists, dtype="object")
        return frame

    def _batch(self, part: slice) -> pa.RecordBatch:
        rows = self.rows.select_rows(self.places[part])
        scale, hidden = rows.scale, rows.has_no_label
        rounds = rows.rounds_of_items()
        columns: dict[str, Any] = {
            **rows.item_columns,
            "id": rows.items,
            **self._places(rows),
            "round": pa.array(rows.rounds, pa.string()).take(
                pa.array(rows.round_ids[rows.round_starts[:-1]])
            ),
            "rounds": rounds,
            "n_raters": rows.n_raters,
            "n_ratings": rows.n_ratings,
            "resolution": pa.array(RESOLUTIONS).take(pa.array(rows.resolution)),
            "split": splits_of(rows.split_keys),
            "spread": rows.spread,
            "panel_mean": rows.panel_mean,
            "panel_spread": rows.panel_spread,
        }
        for name, column in self._released_names.items():
            values = rows.item_columns[name]
            columns[column] = pd.to_numeric(values) if column in SIZES else values
        if scale.numeric:
            columns["label"] = pa.array(rows.label, pa.float64(), mask=hidden)
        else:
            columns["label_id"] = pa.array(rows.label, pa.int64(), mask=hidden)
            names = pa.array(scale.label_values, label_type(scale))
            columns["label"] = names.take(columns["label_id"])
        if rows.votes is not None:
            columns |= {
                "soft_label": _rows_as_lists(rows.soft_label),
                "votes": _rows_as_lists(rows.votes),
                "entropy_bits": rows.entropy_bits,
            }
        if rows.panel_votes is not None:
            columns["panel_votes"] = _rows_as_lists(rows.panel_votes)
            columns["panel_soft_label"] = _rows_as_lists(vote_shares(rows.panel_votes))
        arrays = [_as_arrow_array(columns[field.name], field.type) for field in self.schema]
        return pa.record_batch(arrays, schema=self.schema)

    def _places(self, rows: TrainingRows) -> dict[str, list[Any]]:
        """The item and the numbers of units by column, in characters, seconds or pixels."""
        places = self.unit_places.columns(rows.items)
        lengths = rows.item_columns.get(f"{CONTENT_PREFIX}{POSITION_LENGTH}")
        if lengths is None:
            return places
        factors = pd.to_numeric(lengths).fillna(1).tolist()
        for name in self.unit_places.numbers:
            pairs = zip(places[name], factors, strict=True)
            places[name] = [None if n is None else round(n * factor, 9) for n, factor in pairs]
        return places


def places_are_whole(rows: TrainingRows, unit_places: UnitPlaces) -> bool:
    """True if each number of each unit's place is whole, also in seconds."""
    if f"{CONTENT_PREFIX}{POSITION_LENGTH}" in rows.item_columns:
        return False
    places = unit_places.columns(rows.items)
    return all(n is None or n == int(n) for name in unit_places.numbers for n in places[name])


def in_document_order(rows: TrainingRows, places: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """The positions of units in the order in which they lie in their documents; others stay."""
    if PART_UNIT_OF not in rows.item_columns:
        return places
    documents = rows.item_columns[PART_UNIT_OF].iloc[places]
    names = rows.items[places]
    keys = [
        (document_of(name) if pd.isna(document) else document, place_numbers_of(name), name)
        for document, name in zip(documents, names, strict=True)
    ]
    return np.asarray(places[sorted(range(len(keys)), key=keys.__getitem__)])


def _as_arrow_array(values: Any, kind: pa.DataType) -> pa.Array:
    if isinstance(values, (pa.Array, pa.ChunkedArray)):
        return values.cast(kind)
    nullable = pa.types.is_string(kind) or pa.types.is_floating(kind)
    return pa.array(values, kind, from_pandas=nullable)


def _rows_as_lists(values: np.ndarray[Any, Any]) -> pa.ListArray:
    """A list a row; null of a row of nan."""
    is_missing = np.isnan(values).any(1)
    lengths = np.where(is_missing, 0, values.shape[1])
    starts = np.append(0, np.cumsum(lengths)).astype(np.int32)
    return pa.ListArray.from_arrays(
        pa.array(starts), pa.array(values[~is_missing].ravel()), mask=pa.array(is_missing)
    )


def splits_of(keys: Iterable[str]) -> pa.Array:
    """The split of each row by its key: a digest of the key alone decides.

    So rows of one key are in one split, and other rows and other releases change nothing.

    >>> splits_of(["thread-1", "thread-2", "thread-1"]).to_pylist()
    ['train', 'train', 'train']
    """
    keys = list(keys)
    split_by_key = {key: _split_of_key(key) for key in dict.fromkeys(keys)}
    return pa.array([split_by_key[key] for key in keys], pa.string())


def groups_of_items(rows: TrainingRows) -> dict[str, dict[str, str | None]]:
    """The cluster, if there are clusters, and the split of each item, by the name of the item."""
    columns: dict[str, list[Any]] = {"split": splits_of(rows.split_keys).to_pylist()}
    if "cluster" in rows.item_columns:
        clusters = rows.item_columns["cluster"]
        columns = {"cluster": [None if pd.isna(name) else name for name in clusters], **columns}
    groups = zip(*columns.values(), strict=True)
    return {
        item: dict(zip(columns, group, strict=True))
        for item, group in zip(rows.items, groups, strict=True)
    }


def _split_of_key(key: str) -> str:
    draw = int.from_bytes(hashlib.sha256(key.encode()).digest()[:8]) % 100
    if draw < PERCENT_TRAIN:
        return SPLITS[0]
    return SPLITS[1] if draw < PERCENT_TRAIN + PERCENT_VALIDATION else SPLITS[2]


def label_type(scale: Scale) -> pa.DataType:
    """The type of a category of the scale as data."""
    return pa.float64() if scale.numeric else pa.array(scale.label_values).type


def _croissant_value(kind: str) -> dict[str, Any]:
    return {"dtype": kind, "_type": "Value"}


def _text_column(name: str, meaning: str) -> Column:
    return Column(name, pa.string(), _croissant_value("string"), meaning)


def _whole_number_column(name: str, meaning: str) -> Column:
    return Column(name, pa.int64(), _croissant_value("int64"), meaning)


def _number_column(name: str, meaning: str) -> Column:
    return Column(name, pa.float64(), _croissant_value("float64"), meaning)


def _list_column(name: str, kind: pa.DataType, meaning: str) -> Column:
    feature = _croissant_value(HUGGING_FACE_DTYPES.get(kind, str(kind)))
    return Column(
        name, pa.list_(kind), {"feature": feature, "length": -1, "_type": "Sequence"}, meaning
    )
