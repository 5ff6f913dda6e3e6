"""Marked objects, sets, rubrics and comparisons of a release, in the forms that trainers read.

They are derived from the labels that train and from the places that raters drew. A document that
several rounds have is that of the first one.
"""

import json
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple

import pyarrow as pa

from agreement_pipeline.ratings import (
    CONTENT_PREFIX,
    PART_PREFIX,
    PART_UNIT_OF,
    BatchRows,
    Ratings,
    Scale,
)
from agreement_pipeline.units import (
    ALTERNATIVES,
    NONE,
    POSITION_LENGTH,
    TOKENS,
    document_of,
    frame_of_place,
    most_central_place,
    place_numbers_of,
    points_of_place,
    signed_area,
)

Label = str | float | bool
DOCUMENTS_FILE, TOKENS_FILE, COCO_FILE = (
    "objects/documents.jsonl",
    "objects/tokens.conll",
    "objects/coco.json",
)
PREFERENCES, RANKINGS, SETS, RUBRICS = (
    f"objects/{name}.parquet" for name in ("preferences", "rankings", "sets", "rubrics")
)
TEXT_FILES = frozenset({DOCUMENTS_FILE, TOKENS_FILE, COCO_FILE})
TABLE_FILES = frozenset({PREFERENCES, RANKINGS, SETS, RUBRICS})
OBJECT_FILES = TEXT_FILES | TABLE_FILES
"""The files that a release may have beside those that every release has."""

SIZES = ("image_width", "image_height", "duration_seconds")
UNSEEN_CONTENTS = frozenset({TOKENS, ALTERNATIVES, POSITION_LENGTH})
"""Contents of a document that say how its objects are written, and are no column."""
BETTER = {"first": ("first", "second"), "second": ("second", "first")}
YES = "yes"


class Answer(NamedTuple):
    """What a rater said of a unit, and the place of the rater's own object as JSON."""

    label: Label
    drawn: str | None


@dataclass(frozen=True, eq=False)
class Unit:
    """A unit with the label that trains; None if it has none."""

    name: str
    label: Label | None
    parts: Mapping[str, str]
    answer_by_rater: Mapping[str, Answer]

    @cached_property
    def place(self) -> tuple[float, ...]:
        """The numbers in its name; none of polygons and keypoints."""
        return place_numbers_of(self.name)

    @cached_property
    def is_object(self) -> bool:
        return self.label is not None and self.label != NONE

    @cached_property
    def object_place(self) -> Sequence[float]:
        """The numbers of the drawn object that is most like the others, of those who gave the
        label that trains; of all who drew there, if none of them gave it. Empty if nobody drew.
        """
        answers_with_place = [
            answer for answer in self.answer_by_rater.values() if answer.drawn is not None
        ]
        with_label = [answer for answer in answers_with_place if answer.label == self.label]
        places = sorted(
            json.loads(answer.drawn)
            for answer in with_label or answers_with_place
            if answer.drawn is not None
        )
        return most_central_place(places) if places else ()


@dataclass(frozen=True, eq=False)
class Document:
    """An item with its units, in the order in which they lie there.

    Attributes
    ----------
    groups
        Its cluster, if there are clusters, and its split.
    """

    name: str
    contents: Mapping[str, str]
    units: list[Unit] = field(default_factory=list)
    groups: Mapping[str, str | None] = field(default_factory=dict)

    @cached_property
    def columns(self) -> dict[str, Any]:
        """What a line about the document says of it."""
        return {
            name: number_of(text) if name in SIZES else text
            for name, text in self.contents.items()
            if name not in UNSEEN_CONTENTS
        }

    @property
    def unresolved(self) -> list[Unit]:
        return [unit for unit in self.units if unit.label is None]


class Place(NamedTuple):
    start: float
    end: float
    label: Label


def number_of(text: str) -> float | int:
    """A number as a whole one if it is whole.

    >>> number_of("640"), number_of("10.5")
    (640, 10.5)
    """
    number = float(text)
    return int(number) if number == int(number) else number


def labels_by_unit(labels: Any) -> dict[str, Label | None]:
    """The label that trains of each unit, as people gave it; None if it has none."""
    scale: Scale = labels.scale
    values = labels.label.tolist()
    if not scale.numeric:
        values = [scale.label_values[place] for place in values]
    hidden = labels.has_no_label.tolist()
    return {
        unit: None if is_hidden else value
        for unit, value, is_hidden in zip(labels.items, values, hidden, strict=True)
    }


@dataclass(frozen=True, eq=False)
class ReleasedObjects:
    """The objects of a release.

    Attributes
    ----------
    label_by_unit
        The label that trains; None of a unit without one. Gold units are not among them.
    groups_by_unit
        The cluster, if there are clusters, and the split of each of these units.
    """

    rounds: Sequence[Ratings]
    label_by_unit: Mapping[str, Label | None]
    groups_by_unit: Mapping[str, Mapping[str, str | None]] = field(default_factory=dict)

    @cached_property
    def has_units(self) -> bool:
        """False of plain items, and of units that an older version stored."""
        return bool(self.rounds) and all(PART_UNIT_OF in ratings.has for ratings in self.rounds)

    @cached_property
    def part_names(self) -> frozenset[str]:
        return frozenset(
            name.removeprefix(PART_PREFIX)
            for ratings in self.rounds
            for name in ratings.has
            if name.startswith(PART_PREFIX) and name != PART_UNIT_OF
        )

    @cached_property
    def documents(self) -> list[Document]:
        documents: dict[str, Document] = {}
        for ratings in self.rounds:
            for document in self._documents_of(ratings):
                first_document = documents.setdefault(document.name, document)
                if first_document is not document and self.part_names:
                    # A criterion or a pair that only a later round has is one more of the item.
                    names = {unit.name for unit in first_document.units}
                    first_document.units.extend(u for u in document.units if u.name not in names)
        for document in documents.values():
            document.units.sort(key=lambda unit: (unit.place, unit.name))
        return [
            replace(documents[name], groups=self.groups_by_unit[documents[name].units[0].name])
            for name in sorted(documents)
        ]

    def _documents_of(self, ratings: Ratings) -> Iterator[Document]:
        columns = [name for name in sorted(ratings.has) if is_of_units(name)]
        answers = _answers_by_unit(ratings)
        documents: dict[str, Document] = {}
        for row in ratings.items(columns).to_pylist():
            unit_name = row["item"]
            name = row[PART_UNIT_OF] or document_of(unit_name)
            contents = {
                column.removeprefix(CONTENT_PREFIX): row[column]
                for column in columns
                if column.startswith(CONTENT_PREFIX) and row[column] is not None
            }
            document = documents.setdefault(name, Document(name, {}))
            if contents:
                documents[name] = document = Document(name, contents, document.units)
            if unit_name in self.label_by_unit:
                parts = {
                    column.removeprefix(PART_PREFIX): row[column]
                    for column in columns
                    if column.startswith(PART_PREFIX) and column != PART_UNIT_OF
                }
                label = self.label_by_unit[unit_name]
                document.units.append(Unit(unit_name, label, parts, answers.get(unit_name, {})))
        # A document without units is gold, or nobody of the panel rated it.
        return (document for document in documents.values() if document.units)

    @cached_property
    def are_runs(self) -> bool:
        """True of units that are runs of positions, whose names say where they lie."""
        return all("weight" in ratings.has for ratings in self.rounds)

    @cached_property
    def place_by_unit(self) -> dict[str, Sequence[float]]:
        """The numbers of the object of each matched unit, with all digits that its rater drew."""
        if not self.has_units or self.part_names or self.are_runs:
            return {}
        units = (unit for document in self.documents for unit in document.units)
        return {unit.name: unit.object_place for unit in units if unit.object_place}

    @cached_property
    def tables(self) -> dict[str, BatchRows]:
        """The tables of objects by path."""
        if not self.has_units or not self.part_names:
            return {}
        if "member" in self.part_names:
            return {SETS: table_of_sets(self.documents)}
        if "criterion" in self.part_names:
            return {RUBRICS: table_of_rubrics(self.documents)}
        preferences = table_of_preferences(self.documents)
        if any(len(document.units) > 1 for document in self.documents):
            return {PREFERENCES: preferences, RANKINGS: table_of_rankings(self.documents)}
        return {PREFERENCES: preferences}

    @cached_property
    def texts(self) -> dict[str, bytes]:
        """The files of places by path: spans and segments by document, or images of COCO."""
        if not self.has_units or self.part_names:
            return {}
        units = (unit for document in self.documents for unit in document.units)
        place = next((unit.object_place for unit in units if unit.object_place), ())
        if not place:
            return {}
        if len(place) > 2:
            scale = self.rounds[0].scale
            categories = zip(scale.label_values, scale.names, strict=True)
            return {COCO_FILE: coco_of(self.documents, {v: n for v, n in categories if n != NONE})}
        are_runs = self.are_runs
        lines = [line_of(document, are_runs=are_runs) for document in self.documents]
        texts = {DOCUMENTS_FILE: b"".join(map(json_line, lines))}
        if tagged := "".join(conll_of(document, are_runs=are_runs) for document in self.documents):
            texts[TOKENS_FILE] = tagged.encode()
        return texts

    @cached_property
    def loading_lines(self) -> dict[str, tuple[str, str]]:
        """What each file of objects holds, and the line of Python that loads it, by path."""
        lines = {path: LOADING_LINES[path] for path in (*self.tables, *self.texts)}
        return {path: line for path, line in lines.items() if not self._is_empty(path)}

    def _is_empty(self, path: str) -> bool:
        return path in self.tables and not len(self.tables[path])


LOADING_LINES = {
    DOCUMENTS_FILE: (
        "a line a document, with its `spans`: `start` and `end` count from 0, in characters or in "
        "seconds, and `end` is after the last one. `unresolved` are the places without a label.",
        'documents = [json.loads(line) for line in Path("objects/documents.jsonl")'
        '.read_text("utf-8").split("\\n") if line]',
    ),
    TOKENS_FILE: (
        "a token a line with its tag of BIO, and an empty line after each document. A token has "
        "the label of the span that it overlaps. Documents with places without a label are left "
        "out.",
        'sentences = [[line.split("\\t") for line in block.split("\\n") '
        'if not line.startswith("# ")] for block in Path("objects/tokens.conll")'
        '.read_text("utf-8").strip().split("\\n\\n")]',
    ),
    COCO_FILE: (
        "the images with their objects in the form of COCO. The object of a unit is the one that "
        "is most like the others, of raters who gave the label. `unresolved` of an image counts "
        "the objects in it without a label.",
        'coco = pycocotools.coco.COCO("objects/coco.json")',
    ),
    PREFERENCES: (
        "a row a pair of which one is better: `chosen` and `rejected` are the texts, or the names "
        "if the delivery has no texts. Ties are left out.",
        'preferences = pandas.read_parquet("objects/preferences.parquet")',
    ),
    RANKINGS: (
        "a row an item: `ranking` has the groups of alternatives from the best to the worst, those "
        "of one group tied. `why_no_ranking` says why there is none.",
        'rankings = pandas.read_parquet("objects/rankings.parquet")',
    ),
    SETS: (
        "a row an item: `labels` are those of its set, and `multi_hot` has 1 or 0 for each label, "
        "in the order that the metadata of the file say; null where a label is `unresolved`.",
        'sets = pandas.read_parquet("objects/sets.parquet")',
    ),
    RUBRICS: (
        "a row an item, with a column for each criterion.",
        'rubrics = pandas.read_parquet("objects/rubrics.parquet")',
    ),
}


def is_of_units(column: str) -> bool:
    return column.startswith((PART_PREFIX, CONTENT_PREFIX))


def _answers_by_unit(ratings: Ratings) -> dict[str, dict[str, Answer]]:
    columns = ["item", "rater", "label", *({"drawn", "last_label"} & ratings.has)]
    answers: defaultdict[str, dict[str, Answer]] = defaultdict(dict)
    value_by_name: dict[Any, Label] = {}
    if not ratings.scale.numeric:
        scale = ratings.scale
        value_by_name = dict(zip(scale.names, scale.label_values, strict=True))
    for row in ratings.first_ratings(columns, raters=ratings.raters).to_pylist():
        last_label = row.get("last_label")
        label = row["label"] if last_label is None else last_label
        answers[row["item"]][row["rater"]] = Answer(
            value_by_name.get(label, label), row.get("drawn")
        )
    return dict(answers)


# Spans and segments


def spans_of(document: Document, *, are_runs: bool) -> list[Place]:
    """The spans of a document in order. Its units are runs of positions, or matched objects."""
    if are_runs:
        return _join_runs(document)
    return sorted(
        Place(unit.object_place[0], unit.object_place[1], unit.label)
        for unit in document.units
        if unit.is_object and unit.label is not None and unit.object_place
    )


def unresolved_places(document: Document, *, are_runs: bool) -> list[tuple[float, float]]:
    """Where units without a label lie: the whole text, if nothing was marked in it."""
    length = number_of(document.contents.get(POSITION_LENGTH, "1"))
    places = []
    for unit in document.unresolved:
        if are_runs:
            start, end = (number(value * length) for value in unit.place)
        elif unit.object_place:
            start, end = unit.object_place
        else:
            start, end = 0, len(document.contents.get("text", ""))
        places.append((start, end))
    return places


def _join_runs(document: Document) -> list[Place]:
    """Runs side by side of one label are one span, unless more of the raters who gave it at both
    ended a span there than went on.
    """
    spans: list[Place] = []
    previous: Unit | None = None
    for unit in document.units:
        start, end = unit.place
        if unit.is_object and unit.label is not None:
            if previous is not None and is_continued_by(previous, unit):
                spans[-1] = spans[-1]._replace(end=end)
            else:
                spans.append(Place(start, end, unit.label))
        previous = unit
    length = number_of(document.contents.get(POSITION_LENGTH, "1"))
    return [Place(number(a * length), number(b * length), label) for a, b, label in spans]


def number(value: float) -> float | int:
    """A whole number without a decimal point, and others without the last digits of a product."""
    rounded = round(value, 9)
    return int(rounded) if rounded == int(rounded) else rounded


def is_continued_by(unit: Unit, following: Unit) -> bool:
    if unit.label != following.label or unit.place[1] != following.place[0]:
        return False
    following_answers = following.answer_by_rater
    are_same_objects = [
        answer.drawn == following_answers[rater].drawn
        for rater, answer in unit.answer_by_rater.items()
        if rater in following_answers
        and answer.label == following_answers[rater].label == unit.label
    ]
    return sum(are_same_objects) >= len(are_same_objects) - sum(are_same_objects)


def line_of(document: Document, *, are_runs: bool) -> dict[str, Any]:
    text = document.contents.get("text")
    spans = [span._asdict() for span in spans_of(document, are_runs=are_runs)]
    if text is not None:
        spans = [{**span, "text": text[span["start"] : span["end"]]} for span in spans]
    object_columns = {
        "spans": spans,
        "unresolved": [
            {"start": start, "end": end}
            for start, end in unresolved_places(document, are_runs=are_runs)
        ],
    }
    groups = document.groups
    contents = contents_beside(document, {"id", *groups, *object_columns})
    return {"id": document.name, **groups, **contents, **object_columns}


def json_line(value: object) -> bytes:
    return (json.dumps(value, ensure_ascii=False, allow_nan=False) + "\n").encode()


def conll_of(document: Document, *, are_runs: bool) -> str:
    """The tokens with tags of BIO. Empty if tokens are unknown, or if some have no label."""
    text, tokens = document.contents.get("text"), document.contents.get(TOKENS)
    if text is None or tokens is None:
        return ""
    spans = spans_of(document, are_runs=are_runs)
    groups = {"newdoc id": document.name, **document.groups}
    lines = [
        f"# {name} = {' '.join(group.splitlines())}"
        for name, group in groups.items()
        if group is not None
    ]
    previous_index = -1
    open_places = unresolved_places(document, are_runs=are_runs)
    for start, end in json.loads(tokens):
        if any(low < end and start < high for low, high in open_places):
            return ""
        span_index = next((n for n, s in enumerate(spans) if s.start < end and start < s.end), -1)
        tag = "O"
        if span_index >= 0:
            prefix = "I" if span_index == previous_index else "B"
            tag = f"{prefix}-{one_line(str(spans[span_index].label))}"
        previous_index = span_index
        if token := one_line(text[start:end]):
            lines.append(f"{token}\t{tag}")
    return "\n".join([*lines, "", ""])


def one_line(text: str) -> str:
    """A text without blanks, which stand between the cells of a line."""
    return re.sub(r"\s+", "_", text.strip())


# Images


def coco_of(documents: Iterable[Document], name_by_label: Mapping[Label, str]) -> bytes:
    """Boxes, polygons or keypoints as in COCO's files of annotations."""
    category_ids = {label: place for place, label in enumerate(name_by_label, 1)}
    images, annotations, n_points = [], list[dict[str, Any]](), 0
    for image_id, document in enumerate(documents, 1):
        columns = dict(document.columns)
        size = {
            name.removeprefix("image_"): columns.pop(name)
            for name in ("image_width", "image_height")
            if name in columns
        }
        images.append(
            {
                "id": image_id,
                "file_name": columns.pop("image", document.name),
                **size,
                "unit_of": document.name,
                **document.groups,
                "unresolved": len(document.unresolved),
                **{name: value for name, value in columns.items() if name not in OF_IMAGES},
            }
        )
        for unit in document.units:
            if unit.is_object and unit.object_place and unit.label is not None:
                shape = shape_of(unit.object_place)
                n_points = max(n_points, len(shape.get("keypoints", ())) // 3)
                annotations.append(
                    {
                        "id": len(annotations) + 1,
                        "image_id": image_id,
                        "category_id": category_ids[unit.label],
                        "iscrowd": 0,
                        "unit": unit.name,
                        **shape,
                    }
                )
    points = {"keypoints": [str(n) for n in range(1, n_points + 1)], "skeleton": []}
    return json_line(
        {
            "images": images,
            "annotations": annotations,
            "categories": [
                {"id": place, "name": name_by_label[label], **(points if n_points else {})}
                for label, place in category_ids.items()
            ],
        }
    )


OF_IMAGES = frozenset(
    {"id", "file_name", "width", "height", "unit_of", "unresolved", "cluster", "split"}
)


def shape_of(place: Sequence[Any]) -> dict[str, Any]:
    """The shape of an object of COCO, from the numbers of its place."""
    left, right, top, bottom = frame_of_place(place)
    bbox = [number(value) for value in (left, top, right - left, bottom - top)]
    if len(place) == 4:
        return {"bbox": list(place), "area": number(place[2] * place[3]), "segmentation": []}
    points = points_of_place(place)
    if len(place) % 2 == 0:
        size = number(abs(signed_area(points)))
        return {"bbox": bbox, "area": size, "segmentation": [list(place)]}
    size = place[-1]
    flat = [value for x, y in points for value in ((0, 0, 0) if min(x, y) < 0 else (x, y, 2))]
    set_points = sum(visible > 0 for visible in flat[2::3])
    return {
        "bbox": bbox,
        "area": size,
        "segmentation": [],
        "keypoints": flat,
        "num_keypoints": set_points,
    }


# Sets, rubrics and comparisons


@dataclass(frozen=True, eq=False)
class ObjectRows:
    """A table whose rows are in memory."""

    schema: pa.Schema
    rows: Sequence[Mapping[str, Any]]

    def __len__(self) -> int:
        return len(self.rows)

    def to_batches(self) -> Iterable[pa.RecordBatch]:
        return [pa.RecordBatch.from_pylist(list(self.rows), self.schema)] if self.rows else []


def table_of(
    rows: Sequence[Mapping[str, Any]], type_by_column: Mapping[str, pa.DataType]
) -> ObjectRows:
    """The rows with the columns of `type_by_column`, and with those of documents after `id`."""
    names = dict.fromkeys(name for row in rows for name in row if name not in type_by_column)
    contents = {name: pa.float64() if name in SIZES else pa.string() for name in sorted(names)}
    id_column, *other_columns = type_by_column.items()
    columns = [id_column, *contents.items(), *other_columns]
    features = {name: feature_of(kind) for name, kind in columns}
    metadata = {"huggingface": json.dumps({"info": {"features": features}})}
    return ObjectRows(pa.schema(columns).with_metadata(metadata), rows)


def feature_of(kind: pa.DataType) -> dict[str, Any]:
    """What Hugging Face calls a type."""
    if pa.types.is_list(kind):
        return {"feature": feature_of(kind.value_type), "length": -1, "_type": "Sequence"}
    return {"dtype": DTYPES.get(kind, str(kind)), "_type": "Value"}


DTYPES = {pa.float64(): "float64"}
TEXTS = pa.list_(pa.string())


def group_columns_of(documents: Iterable[Document]) -> dict[str, pa.DataType]:
    """The columns of the groups of documents: their cluster, if there are clusters, and split."""
    return dict.fromkeys((name for document in documents for name in document.groups), pa.string())


def contents_beside(document: Document, own_names: Iterable[str]) -> dict[str, Any]:
    """The contents of a document under names that no column of its table has."""
    taken_names = {*own_names}
    return {
        f"{CONTENT_PREFIX}{name}" if name in taken_names else name: value
        for name, value in document.columns.items()
    }


def table_of_sets(documents: Iterable[Document]) -> ObjectRows:
    documents = list(documents)
    members = sorted({unit.parts["member"] for document in documents for unit in document.units})
    type_by_column = {
        "id": pa.string(),
        "labels": TEXTS,
        "multi_hot": pa.list_(pa.int64()),
        "unresolved": TEXTS,
        **group_columns_of(documents),
    }
    rows = []
    for document in documents:
        is_in = {
            unit.parts["member"]: None if unit.label is None else unit.label == YES
            for unit in document.units
        }
        flags = [is_in.get(member) for member in members]
        rows.append(
            {
                "id": document.name,
                **contents_beside(document, type_by_column),
                "labels": [member for member in members if is_in.get(member)],
                "multi_hot": [None if flag is None else int(flag) for flag in flags],
                "unresolved": [m for m, flag in zip(members, flags, strict=True) if flag is None],
                **document.groups,
            }
        )
    table = table_of(rows, type_by_column)
    return ObjectRows(
        table.schema.with_metadata({**table.schema.metadata, "multi_hot": json.dumps(members)}),
        rows,
    )


def table_of_rubrics(documents: Iterable[Document]) -> ObjectRows:
    documents = list(documents)
    units = [unit for document in documents for unit in document.units]
    criteria = sorted({unit.parts["criterion"] for unit in units})
    groups = group_columns_of(documents)
    contents = [contents_beside(document, {"id", *groups}) for document in documents]
    columns_of_documents = {"id", *groups, *(name for columns in contents for name in columns)}
    name_by_criterion = {
        criterion: f"criterion:{criterion}" if criterion in columns_of_documents else criterion
        for criterion in criteria
    }
    labels = [unit.label for unit in units if unit.label is not None]
    kind = pa.array(labels).type if labels else pa.float64()
    type_by_column = {
        "id": pa.string(),
        **dict.fromkeys(name_by_criterion.values(), kind),
        **groups,
    }
    rows = []
    for document, columns in zip(documents, contents, strict=True):
        scores = {name_by_criterion[u.parts["criterion"]]: u.label for u in document.units}
        rows.append({"id": document.name, **columns, **scores, **document.groups})
    return table_of(rows, type_by_column)


def texts_of_alternatives(document: Document) -> dict[str, str]:
    texts: dict[str, str] = json.loads(document.contents.get(ALTERNATIVES, "{}"))
    return texts


def table_of_preferences(documents: Iterable[Document]) -> ObjectRows:
    """A row a pair with a better one. Ties and pairs without a label have none."""
    documents = list(documents)
    type_by_column = dict.fromkeys(
        ("id", "unit_of", "chosen", "rejected", "chosen_name", "rejected_name"), pa.string()
    )
    type_by_column |= group_columns_of(documents)
    have_texts = any(map(texts_of_alternatives, documents))
    rows = []
    for document in documents:
        texts = texts_of_alternatives(document)
        for unit in document.units:
            if (parts := BETTER.get(str(unit.label))) is None:
                continue
            chosen, rejected = (unit.parts[part] for part in parts)
            rows.append(
                {
                    "id": unit.name,
                    "unit_of": document.name,
                    **contents_beside(document, type_by_column),
                    "chosen": texts.get(chosen) if have_texts else chosen,
                    "rejected": texts.get(rejected) if have_texts else rejected,
                    "chosen_name": chosen,
                    "rejected_name": rejected,
                    **document.groups,
                }
            )
    return table_of(rows, type_by_column)


def table_of_rankings(documents: Iterable[Document]) -> ObjectRows:
    documents = list(documents)
    type_by_column = {
        "id": pa.string(),
        "ranking": pa.list_(TEXTS),
        "ranked_texts": pa.list_(TEXTS),
        "why_no_ranking": pa.string(),
        **group_columns_of(documents),
    }
    rows = []
    for document in documents:
        groups, reason = ranking_of(document.units)
        texts = texts_of_alternatives(document)
        ranked = None
        if groups is not None and texts:
            ranked = [[texts.get(name) for name in group] for group in groups]
        rows.append(
            {
                "id": document.name,
                **contents_beside(document, type_by_column),
                "ranking": groups,
                "ranked_texts": ranked,
                "why_no_ranking": reason,
                **document.groups,
            }
        )
    return table_of(rows, type_by_column)


def ranking_of(units: Sequence[Unit]) -> tuple[list[list[str]] | None, str | None]:
    """Groups of alternatives from the best to the worst, those of one group tied, if all pairs say
    one order. Else None and the reason.
    """
    names = sorted({unit.parts[part] for unit in units for part in ("first", "second")})
    better: dict[tuple[str, str], bool] = {}
    for unit in units:
        if unit.label is None:
            return None, "a pair has no label"
        alternative, rival = unit.parts["first"], unit.parts["second"]
        better[alternative, rival] = unit.label == "first"
        better[rival, alternative] = unit.label == "second"
    if len(better) < len(names) * (len(names) - 1):
        return None, "a pair was not compared"
    wins = {name: sum(better[name, rival] for rival in names if rival != name) for name in names}
    groups = [
        [name for name in names if wins[name] == count]
        for count in sorted({*wins.values()}, reverse=True)
    ]
    rank = {name: place for place, group in enumerate(groups) for name in group}
    consistent = all(is_better == (rank[a] < rank[b]) for (a, b), is_better in better.items())
    return (groups, None) if consistent else (None, "pairs contradict each other")
