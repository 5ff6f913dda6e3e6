"""Statistics as bytes and back: what was counted need not be read again."""

import io
import json
from collections.abc import Mapping
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from agreement_pipeline.ratings import Scale
from agreement_pipeline.statistics.by_rater import LabelsByRater, NumbersByRater
from agreement_pipeline.statistics.clusters import Clusters
from agreement_pipeline.statistics.replicates import ReplicatedLabels, ReplicatedNumbers

Storable = LabelsByRater | NumbersByRater | ReplicatedLabels | ReplicatedNumbers
Arrays = Mapping[str, NDArray[Any]]

HEADER_KEY = "plain"
FIRST_PREFIX = "first."
KINDS: dict[str, tuple[Any, tuple[str, ...]]] = {
    "LabelsByRater": (LabelsByRater, ("codes",)),
    "NumbersByRater": (NumbersByRater, ("values",)),
    "ReplicatedNumbers": (ReplicatedNumbers, ("values", "item", "rater")),
}


def statistic_bytes(statistic: Storable) -> bytes:
    """A statistic with nobody apart. Equal statistics have equal bytes.

    Examples
    --------
    >>> labels = LabelsByRater([[0, 1]], [3], scale=Scale(("no", "yes")), raters=("ana", "ben"))
    >>> statistic_from_bytes(statistic_bytes(labels)).n_items
    3
    """
    plain = {
        "kind": type(statistic).__name__,
        "scale": statistic.scale.to_mapping(),
        "raters": list(statistic.raters),
        "round_raters": list(getattr(statistic, "round_raters", ())),
    }
    header = bytes_as_array(json.dumps(plain, sort_keys=True).encode())
    return npz_from_arrays({HEADER_KEY: header, **_array_by_name(statistic)})


def statistic_from_bytes(data: bytes) -> Storable:
    """The statistic that these bytes hold."""
    arrays = arrays_from_npz(data)
    plain = json.loads(arrays[HEADER_KEY].tobytes())
    return _build_statistic(plain["kind"], plain, arrays)


def npz_from_arrays(arrays: Arrays) -> bytes:
    """Arrays as the bytes of an .npz file."""
    buffer = io.BytesIO()
    np.savez_compressed(buffer, allow_pickle=False, **arrays)
    return buffer.getvalue()


def arrays_from_npz(data: bytes) -> Arrays:
    """The arrays that the bytes of an .npz file hold."""
    with np.load(io.BytesIO(data), allow_pickle=False) as arrays:
        return dict(arrays)


def bytes_as_array(data: bytes) -> NDArray[np.uint8]:
    return np.frombuffer(data, dtype=np.uint8)


def _array_by_name(statistic: Storable) -> dict[str, NDArray[Any]]:
    if isinstance(statistic, ReplicatedLabels):
        cells = {"counts": statistic.counts, "item": statistic.item, "rater": statistic.rater}
        first_arrays = _array_by_name(statistic.first)
        return {**cells, **{f"{FIRST_PREFIX}{name}": array for name, array in first_arrays.items()}}
    _, own_fields = KINDS[type(statistic).__name__]
    arrays = {
        **{name: getattr(statistic, name, None) for name in ("weights", *own_fields, "confidence")},
        **{name: getattr(statistic.clusters, name, None) for name in ("places", "times")},
    }
    return {name: array for name, array in arrays.items() if array is not None}


def _build_statistic(kind: str, plain: Mapping[str, Any], arrays: Arrays) -> Storable:
    if kind == "ReplicatedLabels":
        first_arrays = {
            name.removeprefix(FIRST_PREFIX): array
            for name, array in arrays.items()
            if FIRST_PREFIX in name
        }
        labels = cast(LabelsByRater, _build_statistic("LabelsByRater", plain, first_arrays))
        return ReplicatedLabels(arrays["counts"], arrays["item"], arrays["rater"], labels)
    keyword_arguments: dict[str, Any] = {
        "scale": Scale.from_mapping(plain["scale"]),
        "raters": tuple(plain["raters"]),
        "clusters": Clusters(arrays["places"], arrays["times"]) if "places" in arrays else None,
    }
    if kind == "ReplicatedNumbers":
        keyword_arguments["round_raters"] = plain["round_raters"]
    make, own_fields = KINDS[kind]
    statistic: Storable = make(
        *(arrays[name] for name in (*own_fields, "weights")), **keyword_arguments
    )
    if "confidence" in arrays:
        return cast(LabelsByRater, statistic).with_confidence(arrays["confidence"])
    return statistic
