"""The tables of a release: training rows, unresolved items, and annotations."""

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from agreement_pipeline.classifiers import Identity, identified
from agreement_pipeline.contract import Contract, Finding
from agreement_pipeline.errors import ReleaseHeldError
from agreement_pipeline.policy import NONE, Assessment, Policy, Waivers, assess
from agreement_pipeline.ratings import (
    NOT_ADJUDICATED,
    RESOLUTIONS,
    Adjudicated,
    PanelLabels,
    Ratings,
    RatingsRows,
    Rows,
    Scale,
    growing,
    in_pandas,
    overruled,
)
from agreement_pipeline.text import listed
from agreement_pipeline.units import item_of, numbers_named

if TYPE_CHECKING:
    from agreement_pipeline.release.silver import Audit


@dataclass(frozen=True, eq=False)
class Member:
    """A round of a release, as it was judged. Its ratings have pseudonyms.

    An item that is gold in any round of the release is gold here. No decision reads the
    `adjudicated` labels. Of a silver round, `audit` says what its labels rest on. `before` is what
    the contract found in these ratings under the raters' own names.
    """

    round: str
    original_digest: str
    ratings: Ratings
    policy: Policy
    contract: Contract
    waivers: Waivers = NONE
    version: int = 1
    adjudicated: Adjudicated = NOT_ADJUDICATED
    audit: "Audit | None" = None
    identities: Sequence[Identity] = ()
    before: Sequence[Finding] = ()

    @cached_property
    def assessment(self) -> Assessment:
        also = [*map(identified, self.identities)]
        also += [self.audit.finding(self.ratings, self.policy)] if self.audit else []
        by = self.policy, self.contract, self.waivers
        found = self.contract.check(self.ratings, self.before)
        return assess(self.ratings, *by, also, self.version, found)

    @cached_property
    def labels(self) -> PanelLabels:
        found = PanelLabels.of(self.ratings, self.round, self.adjudicated)
        return found.beside(self.ratings, self.audit.classifier.name) if self.audit else found

    @cached_property
    def overruled(self) -> tuple[int, int]:
        may_be = self.adjudicated.labels or "last_label" in self.ratings.has
        return overruled(self.ratings, self.adjudicated) if may_be else (0, 0)


def gold_in(rounds: Iterable[Ratings]) -> frozenset[str]:
    return frozenset().union(*(ratings.gold for ratings in rounds))


def rounds_of(members: Sequence[Member]) -> str:
    return f"rounds {listed([member.round for member in members])}"


TRAIN = "data/train-00000-of-00001.parquet"
UNRESOLVED = "data/unresolved-00000-of-00001.parquet"
ANNOTATIONS = "annotations/train-00000-of-00001.parquet"
UNIT_OF = "unit_of"
OF_LABELS = frozenset({"label", "last_label", "gold_label"})
HUGGING_FACE_DTYPES = {pa.float64(): "float64"}
MOST_OVERRULED = 0.1
"""So large a share of the items on which all raters agree may be overruled."""


def tables_of(
    members: Sequence[Member], labels: PanelLabels, *, labels_as_positions: bool = False
) -> dict[str, Rows]:
    """The tables by path. Releases before form 4 hold `labels_as_positions` of their categories."""
    numbers: tuple[str, ...] = ()  # those that say where units lie, if all items are units
    if all("cluster" in member.ratings.has for member in members):
        items = (member.ratings.items()["item"] for member in members)
        numbers = numbers_named(name for each in items for name in each.to_pylist())
    rounds = tuple(member.round for member in members)
    typed_scale = None if labels_as_positions else labels.scale
    annotations = AnnotationRows(
        rounds, tuple(RatingsRows(member.ratings) for member in members), numbers, typed_scale
    )
    try:
        _ = annotations.schema
    except (pa.ArrowInvalid, pa.ArrowTypeError) as cause:
        raise ReleaseHeldError(
            f"{rounds_of(members)}: found columns of different kinds ({cause}); "
            "expected one kind, and one time zone of times, in all rounds. "
            "Ingest them again with that column as text in each."
        ) from None
    return {
        TRAIN: LabelRows(labels, labels.resolved, numbers, labels_as_positions),
        UNRESOLVED: LabelRows(
            labels, np.flatnonzero(labels.unresolved), numbers, labels_as_positions
        ),
        ANNOTATIONS: annotations,
    }


def labels_of(members: Sequence[Member]) -> PanelLabels:
    given = [each.ratings.items(["text"]) for each in members if "text" in each.ratings.has]
    if len(given) > 1:
        texts = in_pandas(pa.concat_tables(given))
        texts = texts[texts["item"].duplicated(keep=False)].groupby("item")["text"].nunique()
        differing = list(texts.index[texts > 1])
        if differing:
            raise ReleaseHeldError(
                f"{rounds_of(members)}: found items {listed(differing)} with different texts "
                "in different rounds; expected one text for each item, or one would be lost. "
                "Give each text its own item."
            )
    for member in members:
        count, agreed = member.overruled
        if count > MOST_OVERRULED * agreed:
            later = ["later"] if member.ratings.n_given_again[0] else []
            resolved_by = ["adjudicated"] * bool(member.adjudicated.labels) + later
            raise ReleaseHeldError(
                f"round {member.round}: found {' and '.join(resolved_by)} labels against all "
                f"raters on {count} of the {agreed} items on which they agree; expected "
                f"{MOST_OVERRULED:.0%} of them at most. Adjudicate the items on which raters "
                "differ, or have the round labelled again."
            )
    return PanelLabels.first_of([each.labels for each in members])


@dataclass(frozen=True, eq=False)
class LabelRows:
    """`label` is the category as people gave it, and `label_id` its position on the scale. The
    metadata name the categories for Hugging Face.

    Units have their item and the `numbers` of their place.
    """

    labels: PanelLabels
    rows: np.ndarray[Any, Any]
    numbers: tuple[str, ...] = ()
    labels_as_positions: bool = False

    @cached_property
    def schema(self) -> pa.Schema:
        kinds = _kinds(self.labels, self.numbers)
        if self.labels_as_positions and "label_id" in kinds:
            kinds["label"] = kinds.pop("label_id")
        features = {name: feature for name, (_, feature) in kinds.items()}
        return pa.schema({name: kind for name, (kind, _) in kinds.items()}).with_metadata(
            {"huggingface": json.dumps({"info": {"features": features}})}
        )

    def __len__(self) -> int:
        return len(self.rows)

    def to_batches(self) -> Iterator[pa.RecordBatch]:
        return growing(len(self), self._batch)

    def _batch(self, rows: slice) -> pa.RecordBatch:
        some = self.labels.take(self.rows[rows])
        columns = {
            "id": some.items,
            **_places(some.items, self.numbers),
            "round": pa.array(some.rounds).take(pa.array(some.round)),
            "text": some.texts,
            "label": some.label,
            "label_id": some.label,
            "n_raters": some.n_raters,
            "resolution": pa.array(RESOLUTIONS).take(pa.array(some.resolution)),
        }
        if some.votes is not None:
            columns |= {
                "soft_label": some.soft_label,
                "votes": some.votes,
                "entropy_bits": some.entropy_bits,
            }
        if "label_id" in self.schema.names:
            columns["label"] = np.array(some.scale.label_values)[some.label]
        hidden = some.unresolved
        arrays = [
            _array(
                columns[each.name],
                each.type,
                hidden if each.name in ("label", "label_id") else None,
            )
            for each in self.schema
        ]
        return pa.record_batch(arrays, schema=self.schema)


@dataclass(frozen=True, eq=False)
class AnnotationRows:
    """The ratings of all rounds. With a `typed_scale`, labels are as in the training table."""

    rounds: tuple[str, ...]
    each: tuple[RatingsRows, ...]
    numbers: tuple[str, ...] = ()
    typed_scale: Scale | None = None

    @cached_property
    def schema(self) -> pa.Schema:
        column = pa.field("round", pa.string())
        schemas = [rows.schema.insert(0, column) for rows in self.each]
        places = pa.schema([(name, pa.float64()) for name in self.numbers])
        schema = pa.unify_schemas([*schemas, places], promote_options="default")
        if self.typed_scale is None or self.typed_scale.numeric:
            return schema
        kind = label_type(self.typed_scale)
        for name in OF_LABELS & {*schema.names}:
            schema = schema.set(schema.get_field_index(name), pa.field(name, kind))
        return schema

    def __len__(self) -> int:
        return sum(map(len, self.each))

    def to_batches(self) -> Iterator[pa.RecordBatch]:
        for name, rows in zip(self.rounds, self.each, strict=True):
            for part in rows.to_batches():
                given = dict(zip(part.schema.names, part.columns, strict=True))
                places = _places(part.column("item"), self.numbers)
                columns = {"round": pa.repeat(name, len(part)), **given}
                columns |= {each: pa.array(places[each], pa.float64()) for each in self.numbers}
                arrays = [
                    self._cast(columns[each.name], each)
                    if each.name in columns
                    else pa.nulls(len(part), each.type)
                    for each in self.schema
                ]
                yield pa.record_batch(arrays, schema=self.schema)

    def _cast(self, column: pa.Array, field: pa.Field) -> pa.Array:
        scale = self.typed_scale
        if field.name not in OF_LABELS or scale is None or scale.numeric:
            return column.cast(field.type)
        ids = pc.index_in(column, pa.array(scale.names, column.type))
        return pa.array(scale.label_values, field.type).take(ids)


def _places(units: Any, numbers: tuple[str, ...]) -> dict[str, list[Any]]:
    if not numbers:
        return {}
    found = [item_of(unit, numbers) for unit in units.tolist()]
    return {
        UNIT_OF: [item for item, _ in found],
        **{name: [said[n] for _, said in found] for n, name in enumerate(numbers)},
    }


def label_type(scale: Scale) -> pa.DataType:
    """The type of a category of the scale as data."""
    return pa.float64() if scale.numeric else pa.array(scale.label_values).type


def _array(values: Any, kind: pa.DataType, hidden: np.ndarray[Any, Any] | None) -> pa.Array:
    if pa.types.is_fixed_size_list(kind):
        flat = pa.array(values.ravel(), kind.value_type)
        return pa.FixedSizeListArray.from_arrays(flat, type=kind)
    return pa.array(values, kind, mask=hidden, from_pandas=pa.types.is_string(kind))


def _kinds(
    labels: PanelLabels, numbers: tuple[str, ...]
) -> dict[str, tuple[pa.DataType, dict[str, Any]]]:
    scale = labels.scale
    text, whole, real = (
        (pa.string(), _value("string")),
        (pa.int64(), _value("int64")),
        (pa.float64(), _value("float64")),
    )
    by_category = {
        "soft_label": (pa.list_(pa.float64(), len(scale.names)), _by_category("float64", scale)),
        "votes": (pa.list_(pa.int64(), len(scale.names)), _by_category("int64", scale)),
    }
    kind = label_type(scale)
    label_id = pa.int64(), {"names": list(scale.names), "_type": "ClassLabel"}
    return {
        "id": text,
        **({UNIT_OF: text, **dict.fromkeys(numbers, real)} if numbers else {}),
        "round": text,
        **({} if labels.texts is None else {"text": text}),
        "label": (kind, _value(HUGGING_FACE_DTYPES.get(kind, str(kind)))),
        **({} if scale.numeric else {"label_id": label_id}),
        **({} if labels.votes is None else by_category),
        "n_raters": whole,
        **({} if labels.votes is None else {"entropy_bits": real}),
        "resolution": text,
    }


def _value(kind: str) -> dict[str, Any]:
    return {"dtype": kind, "_type": "Value"}


def _by_category(kind: str, scale: Scale) -> dict[str, Any]:
    return {"feature": _value(kind), "length": len(scale.names), "_type": "Sequence"}
