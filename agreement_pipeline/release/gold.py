"""Gold items in a release: who agrees with whom, and neither their answers nor their texts.

A trainer must not learn the answers of gold items, and a rater must not find them in a public
release. But decisions rest on gold items too, so a proof needs to know who was right. So the labels
of a gold item become codes: 0 is its right label, if that is known, and the others are numbered in
the order of the raters' pseudonyms.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from agreement_pipeline.policy import is_digest
from agreement_pipeline.ratings import (
    CONTENT_PREFIX,
    ParquetRows,
    Ratings,
    RatingsRows,
    Scale,
    open_stored_cells,
    ratings_from_stored_cells,
    write_parquet_content,
)

GOLD_CODE = "gold_code"
GOLD_IS_KNOWN = "gold_is_known"
WITHHELD = ("text", "last_label", "drawn")
"""Columns that are null in the rows of gold items, as is what a project keeps of a delivery."""


class GoldElsewhere(NamedTuple):
    """The items of a round that another round calls gold, and the digest of that round."""

    ratings_digest: str
    items: tuple[str, ...]

    def to_mapping(self) -> dict[str, Any]:
        return {"ratings_digest": self.ratings_digest, "items": list(self.items)}

    @classmethod
    def from_mapping(cls, facts: Mapping[str, Any]) -> "GoldElsewhere":
        """A KeyError if it is not as it is written."""
        digest, items = facts["ratings_digest"], facts["items"]
        are_names = isinstance(items, list) and all(isinstance(item, str) for item in items)
        if not is_digest(digest) or not are_names or not items or items != sorted({*items}):
            raise KeyError("gold_elsewhere")
        return cls(digest, tuple(items))


def seal_gold(ratings: Ratings) -> Ratings:
    """The ratings with codes in the place of the labels of gold items, and without their texts."""
    if not ratings.gold:
        return ratings
    cells = open_stored_cells(
        ParquetRows(write_parquet_content(_SealedRows(RatingsRows(ratings)))), "ratings"
    )
    sealed = ratings_from_stored_cells(cells, ratings.scale, ratings.origin)
    return sealed.with_gold(ratings.gold)


def with_digest(ratings: Ratings, digest: str) -> Ratings:
    """Sealed ratings under the digest of those that were judged: their own proves the release."""
    vars(ratings)["digest"] = digest
    return ratings


def stand_ins(scale: Scale) -> Sequence[str | float] | None:
    """The label that stands for each code. None on a continuous scale: there it is the code + 1."""
    if scale.continuous:
        return None
    return [float(name) for name in scale.names] if scale.numeric else scale.names


@dataclass(frozen=True, eq=False)
class _SealedRows:
    rows: RatingsRows

    @property
    def schema(self) -> pa.Schema:
        return self.rows.schema

    def __len__(self) -> int:
        return len(self.rows)

    def to_batches(self) -> Iterator[pa.RecordBatch]:
        for batch in self.rows.to_batches():
            yield pa.RecordBatch.from_pydict(self._columns(batch), schema=self.schema)

    @cached_property
    def _codes(self) -> dict[tuple[str, Any], int]:
        """The code of each label by item, over all batches: an item's ratings may be in two."""
        codes: dict[tuple[str, Any], int] = {}
        n_codes: dict[str, int] = {}
        has_answers = "gold_label" in self.schema.names
        for batch in self.rows.to_batches():
            gold = batch.filter(self._is_gold(batch))
            answers = gold["gold_label"].to_pylist() if has_answers else [None] * len(gold)
            items, raters, labels = (gold[name].to_pylist() for name in ("item", "rater", "label"))
            rows = zip(items, raters, labels, answers, strict=True)
            for item, _, label, answer in sorted(rows, key=lambda row: (row[0], row[1] or "")):
                if answer is not None and item not in n_codes:
                    codes[item, self._label_of(answer)], n_codes[item] = 0, 1
                if label is not None and (item, label) not in codes:
                    codes[item, label] = n_codes.get(item, 0)
                    n_codes[item] = codes[item, label] + 1
        return codes

    def _label_of(self, answer: str) -> str | float:
        return float(answer) if self.rows.ratings.scale.numeric else answer

    def _is_gold(self, batch: pa.RecordBatch) -> pa.Array:
        return pc.is_in(batch["item"], pa.array(sorted(self.rows.ratings.gold), pa.string()))

    def _columns(self, batch: pa.RecordBatch) -> dict[str, pa.Array]:
        columns = dict(zip(batch.schema.names, batch.columns, strict=True))
        is_gold = self._is_gold(batch)
        if not pc.any(is_gold).as_py():
            return columns
        labels = stand_ins(self.rows.ratings.scale)
        pairs = zip(columns["item"].to_pylist(), columns["label"].to_pylist(), strict=True)
        codes = [self._codes.get(pair) for pair in pairs]
        stood_in = [
            None if code is None else code + 1.0 if labels is None else labels[code]
            for code in codes
        ]
        kind = columns["label"].type
        columns["label"] = pc.if_else(is_gold, pa.array(stood_in, kind), columns["label"])
        if "gold_label" in columns:
            answers, first_name = columns["gold_label"], self.rows.ratings.scale.names[0]
            is_known = pc.and_(is_gold, pc.is_valid(answers))
            stand_in, none = pa.scalar(first_name, answers.type), pa.scalar(None, answers.type)
            columns["gold_label"] = pc.if_else(is_known, stand_in, none)
        return {
            name: pc.if_else(is_gold, pa.scalar(None, values.type), values)
            if name in WITHHELD or name.startswith(CONTENT_PREFIX)
            else values
            for name, values in columns.items()
        }


def codes_of_gold(batch: pa.RecordBatch, gold: frozenset[str], scale: Scale) -> dict[str, pa.Array]:
    """The columns of a batch of sealed ratings as they are released: codes, and no stand-ins."""
    columns = dict(zip(batch.schema.names, batch.columns, strict=True))
    is_gold = pc.is_in(batch["item"], pa.array(sorted(gold), pa.string()))
    labels, label = stand_ins(scale), columns["label"]
    if labels is None:
        # labels of other items may be fractions
        stood_in = pc.if_else(is_gold, label, pa.scalar(None, label.type))
        codes = pc.subtract(stood_in, 1.0).cast(pa.int64())
    else:
        codes = pc.index_in(label, pa.array(labels, label.type)).cast(pa.int64())
    columns[GOLD_CODE] = pc.if_else(is_gold, codes, pa.scalar(None, pa.int64()))
    columns["label"] = pc.if_else(is_gold, pa.scalar(None, label.type), label)
    if "gold_label" in columns:
        columns[GOLD_IS_KNOWN] = pc.is_valid(columns.pop("gold_label"))
    return columns


def without_codes(rows: ParquetRows, scale: Scale) -> ParquetRows:
    """Released annotations with stand-ins in the place of codes, as they were judged."""
    if GOLD_CODE not in rows.schema.names:
        return rows
    return ParquetRows(write_parquet_content(_UncodedRows(rows, scale)))


@dataclass(frozen=True, eq=False)
class _UncodedRows:
    rows: ParquetRows
    scale: Scale

    @cached_property
    def schema(self) -> pa.Schema:
        fields = [field for field in self.rows.schema if field.name != GOLD_CODE]
        answers = pa.string() if self.scale.numeric else self.rows.schema.field("label").type
        return pa.schema(
            [
                pa.field("gold_label", answers) if field.name == GOLD_IS_KNOWN else field
                for field in fields
            ]
        )

    def __len__(self) -> int:
        return len(self.rows)

    def to_batches(self) -> Iterator[pa.RecordBatch]:
        for part in self.rows.iterate_row_groups():
            for batch in part.to_batches():
                yield self._batch(batch)

    def _batch(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        columns = dict(zip(batch.schema.names, batch.columns, strict=True))
        codes, label = columns.pop(GOLD_CODE), columns["label"]
        if self.scale.continuous:
            stood_in = pc.add(codes, 1).cast(pa.float64())
        else:
            labels = pa.array(_typed_stand_ins(self.scale), label.type)
            stood_in = labels.take(pc.if_else(pc.less(codes, len(labels)), codes, None))
        columns["label"] = pc.if_else(pc.is_valid(codes), stood_in, label)
        if GOLD_IS_KNOWN in columns:
            kind = self.schema.field("gold_label").type
            first_label = self.scale.names[0] if self.scale.numeric else self.scale.label_values[0]
            is_known = columns.pop(GOLD_IS_KNOWN)
            columns["gold_label"] = pc.if_else(
                is_known, pa.scalar(first_label, kind), pa.scalar(None, kind)
            )
        return pa.record_batch([columns[name] for name in self.schema.names], schema=self.schema)


def _typed_stand_ins(scale: Scale) -> Sequence[Any]:
    return [float(name) for name in scale.names] if scale.numeric else scale.label_values
