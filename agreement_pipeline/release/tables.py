"""The tables of a release: training rows, unresolved items, and annotations."""

import json
from collections.abc import Sequence
from typing import Any

import pandas as pd
import pyarrow as pa

from agreement_pipeline.errors import ReleaseHeldError
from agreement_pipeline.ratings import Scale, consensus, ratings_table, resolved, unresolved
from agreement_pipeline.release.members import Member, called
from agreement_pipeline.text import listed

TRAIN = "data/train-00000-of-00001.parquet"
UNRESOLVED = "data/unresolved-00000-of-00001.parquet"
ANNOTATIONS = "annotations/train-00000-of-00001.parquet"


def tables_of(members: Sequence[Member], labels: pd.DataFrame, scale: Scale) -> dict[str, pa.Table]:
    """The tables of a release by file name.

    They hold the training rows, the unresolved items, and the annotations of both.
    """
    return {
        TRAIN: labels_table(resolved(labels), scale),
        UNRESOLVED: labels_table(unresolved(labels), scale),
        ANNOTATIONS: annotations_table(members),
    }


def labels_of(members: Sequence[Member]) -> pd.DataFrame:
    """The consensus on every item. If an item is in several rounds, the first round counts.

    Raises
    ------
    ReleaseHeldError
        An item has different texts in two rounds, so one text would be lost.
    """
    _refuse_two_texts(members)
    rows = pd.concat(
        [consensus(member.ratings, member.round) for member in members], ignore_index=True
    )
    return rows[~rows["id"].duplicated()].sort_values("id", kind="stable").reset_index(drop=True)


def labels_table(labels: pd.DataFrame, scale: Scale) -> pa.Table:
    """The consensus as it is released.

    A category is stored as its position on the scale. The metadata name the categories for
    Hugging Face `datasets`.
    """
    kinds = _kinds(scale)
    columns = [name for name in kinds if name in labels]
    values = {name: list(labels[name]) for name in columns}
    if not scale.numeric:
        positions = {name: position for position, name in enumerate(scale.names)}
        values["label"] = [positions.get(label) for label in labels["label"]]
    arrays = {
        name: pa.array(values[name], kinds[name][0], from_pandas=name == "text") for name in columns
    }
    features = {name: kinds[name][1] for name in columns}
    return pa.table(arrays).replace_schema_metadata(
        {"huggingface": json.dumps({"info": {"features": features}})}
    )


def annotations_table(members: Sequence[Member]) -> pa.Table:
    """The ratings of all rounds as they are released, one row for each rating."""
    tables = [
        (table := ratings_table(member.ratings)).add_column(
            0, "round", pa.array([member.round] * len(table), pa.string())
        )
        for member in members
    ]
    try:
        return pa.concat_tables(tables, promote_options="default")
    except (pa.ArrowInvalid, pa.ArrowTypeError) as cause:
        raise ReleaseHeldError(
            f"{called(members)}: found columns of different kinds ({cause}); "
            "expected one kind, and one time zone of times, in all rounds. "
            "Ingest them again with that column as text in each."
        ) from None


def _kinds(scale: Scale) -> dict[str, tuple[pa.DataType, dict[str, Any]]]:
    """The type of each column in Parquet and in Hugging Face `datasets`."""
    text, whole, real = (
        (pa.string(), _value("string")),
        (pa.int64(), _value("int64")),
        (pa.float64(), _value("float64")),
    )
    by_category = {
        "soft_label": (pa.list_(pa.float64(), len(scale.names)), _by_category("float64", scale)),
        "votes": (pa.list_(pa.int64(), len(scale.names)), _by_category("int64", scale)),
    }
    label = (
        real if scale.numeric else (pa.int64(), {"names": list(scale.names), "_type": "ClassLabel"})
    )
    return {
        "id": text,
        "round": text,
        "text": text,
        "label": label,
        **by_category,
        "n_raters": whole,
        "entropy_bits": real,
        "resolution": text,
    }


def _value(kind: str) -> dict[str, Any]:
    return {"dtype": kind, "_type": "Value"}


def _by_category(kind: str, scale: Scale) -> dict[str, Any]:
    return {"feature": _value(kind), "length": len(scale.names), "_type": "Sequence"}


def _refuse_two_texts(members: Sequence[Member]) -> None:
    texts = pd.concat(
        [member.ratings.contents.get("text", pd.Series(dtype=object)) for member in members]
    )
    n_texts = texts.groupby(texts.index).nunique()
    differing = list(n_texts.index[n_texts > 1])
    if differing:
        raise ReleaseHeldError(
            f"{called(members)}: found items {listed(differing)} with different texts "
            "in different rounds; expected one text for each item, or one would be lost. "
            "Give each text its own item."
        )
