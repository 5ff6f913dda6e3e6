"""The tables of labels of releases up to form 3, which are derived again as they were written."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa

from agreement_pipeline.ratings import RESOLUTIONS, PanelLabels, Scale, iterate_growing_batches
from agreement_pipeline.release.training_table import NOWHERE, UNIT_OF, UnitPlaces

UNRESOLVED_TO_FORM_3 = "data/unresolved-00000-of-00001.parquet"


@dataclass(frozen=True, eq=False)
class LabelRowsToForm3:
    """A category is its position on the scale, and the metadata name the categories for Hugging
    Face.
    """

    labels: PanelLabels
    rows: np.ndarray[Any, Any]
    unit_places: UnitPlaces = NOWHERE

    @cached_property
    def schema(self) -> pa.Schema:
        kinds = _type_and_meaning_by_column(self.labels, self.unit_places.numbers)
        features = {name: feature for name, (_, feature) in kinds.items()}
        return pa.schema({name: kind for name, (kind, _) in kinds.items()}).with_metadata(
            {"huggingface": json.dumps({"info": {"features": features}})}
        )

    def __len__(self) -> int:
        return len(self.rows)

    def to_batches(self) -> Iterator[pa.RecordBatch]:
        return iterate_growing_batches(len(self), self._batch)

    def _batch(self, rows: slice) -> pa.RecordBatch:
        labels = self.labels.select_rows(self.rows[rows])
        columns = {
            "id": labels.items,
            **self.unit_places.columns(labels.items),
            "round": pa.array(labels.rounds).take(pa.array(labels.round)),
            "text": labels.texts,
            "label": labels.label,
            "n_raters": labels.n_raters,
            "resolution": pa.array(RESOLUTIONS).take(pa.array(labels.resolution)),
        }
        if labels.votes is not None:
            columns |= {
                "soft_label": labels.soft_label,
                "votes": labels.votes,
                "entropy_bits": labels.entropy_bits,
            }
        hidden = labels.rows_without_label
        arrays = [
            _as_arrow_array(
                columns[field.name], field.type, hidden if field.name == "label" else None
            )
            for field in self.schema
        ]
        return pa.record_batch(arrays, schema=self.schema)


def _as_arrow_array(
    values: Any, kind: pa.DataType, hidden: np.ndarray[Any, Any] | None
) -> pa.Array:
    if pa.types.is_fixed_size_list(kind):
        flat = pa.array(values.ravel(), kind.value_type)
        return pa.FixedSizeListArray.from_arrays(flat, type=kind)
    return pa.array(values, kind, mask=hidden, from_pandas=pa.types.is_string(kind))


def _type_and_meaning_by_column(
    labels: PanelLabels, numbers: tuple[str, ...]
) -> dict[str, tuple[pa.DataType, dict[str, Any]]]:
    scale = labels.scale
    text, integer, real = (
        (pa.string(), _croissant_value("string")),
        (pa.int64(), _croissant_value("int64")),
        (pa.float64(), _croissant_value("float64")),
    )
    by_category = {
        "soft_label": (
            pa.list_(pa.float64(), len(scale.names)),
            _croissant_by_category("float64", scale),
        ),
        "votes": (pa.list_(pa.int64(), len(scale.names)), _croissant_by_category("int64", scale)),
    }
    label = (
        real if scale.numeric else (pa.int64(), {"names": list(scale.names), "_type": "ClassLabel"})
    )
    return {
        "id": text,
        **({UNIT_OF: text, **dict.fromkeys(numbers, real)} if numbers else {}),
        "round": text,
        **({} if labels.texts is None else {"text": text}),
        "label": label,
        **({} if labels.votes is None else by_category),
        "n_raters": integer,
        **({} if labels.votes is None else {"entropy_bits": real}),
        "resolution": text,
    }


def _croissant_value(kind: str) -> dict[str, Any]:
    return {"dtype": kind, "_type": "Value"}


def _croissant_by_category(kind: str, scale: Scale) -> dict[str, Any]:
    return {"feature": _croissant_value(kind), "length": len(scale.names), "_type": "Sequence"}
