"""Statistics as bytes and back: what was counted need not be read again."""

import io
import json
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from agreement_pipeline.ratings import Scale
from agreement_pipeline.statistics.clusters import Clusters
from agreement_pipeline.statistics.labels import LabelsByRater
from agreement_pipeline.statistics.numbers import NumbersByRater
from agreement_pipeline.statistics.replicates import ReplicatedLabels, ReplicatedNumbers

Counted = LabelsByRater | NumbersByRater | ReplicatedLabels | ReplicatedNumbers
Arrays = Mapping[str, NDArray[Any]]

PLAIN = "plain"
FIRST = "first."


def statistic_bytes(statistic: Counted) -> bytes:
    """A statistic with nobody apart, as a compressed archive of NumPy arrays.

    Equal statistics have equal bytes.

    Examples
    --------
    >>> labels = LabelsByRater([[0, 1]], [3], scale=Scale(("no", "yes")), raters=("ana", "ben"))
    >>> statistic_of(statistic_bytes(labels)).n_items
    3
    """
    plain = {
        "kind": type(statistic).__name__,
        "scale": statistic.scale.to_mapping(),
        "raters": list(statistic.raters),
        "round_raters": list(getattr(statistic, "round_raters", ())),
    }
    header = as_array(json.dumps(plain, sort_keys=True).encode())
    return archive_of({PLAIN: header, **_arrays(statistic)})


def statistic_of(data: bytes) -> Counted:
    """The statistic that `statistic_bytes` wrote, checked as when it was made."""
    found = arrays_of(data)
    plain = json.loads(found[PLAIN].tobytes())
    return _MAKERS[plain["kind"]](plain, found)


def archive_of(arrays: Arrays) -> bytes:
    """Arrays by name as a compressed archive."""
    kept = io.BytesIO()
    np.savez_compressed(kept, allow_pickle=False, **arrays)
    return kept.getvalue()


def arrays_of(data: bytes) -> Arrays:
    """The arrays that `archive_of` wrote."""
    with np.load(io.BytesIO(data), allow_pickle=False) as arrays:
        return dict(arrays)


def as_array(data: bytes) -> NDArray[np.uint8]:
    """Bytes as an array."""
    return np.frombuffer(data, dtype=np.uint8)


def _arrays(statistic: Counted) -> dict[str, NDArray[Any]]:
    """The arrays from which a statistic can be made again."""
    if isinstance(statistic, ReplicatedLabels):
        cells = {"counts": statistic.counts, "item": statistic.item, "rater": statistic.rater}
        first = _arrays(statistic.first)
        return {**cells, **{f"{FIRST}{name}": each for name, each in first.items()}}
    arrays: dict[str, NDArray[Any]] = {"weights": statistic.weights}
    if isinstance(statistic, LabelsByRater):
        arrays |= {"codes": statistic.codes}
        arrays |= {} if statistic.confidence is None else {"confidence": statistic.confidence}
    else:
        arrays |= {"values": statistic.values}
    if isinstance(statistic, ReplicatedNumbers):
        arrays |= {"item": statistic.item, "rater": statistic.rater}
    clusters = statistic.clusters
    return arrays | (
        {} if clusters is None else {"places": clusters.places, "times": clusters.times}
    )


def _labels(plain: Mapping[str, Any], arrays: Arrays) -> LabelsByRater:
    labels = LabelsByRater(arrays["codes"], arrays["weights"], **_named(plain, arrays))
    return labels.with_confidence(arrays["confidence"]) if "confidence" in arrays else labels


def _numbers(plain: Mapping[str, Any], arrays: Arrays) -> NumbersByRater:
    return NumbersByRater(arrays["values"], arrays["weights"], **_named(plain, arrays))


def _replicated_labels(plain: Mapping[str, Any], arrays: Arrays) -> ReplicatedLabels:
    first = {name.removeprefix(FIRST): each for name, each in arrays.items() if FIRST in name}
    labels = _labels(plain, first)
    return ReplicatedLabels(arrays["counts"], arrays["item"], arrays["rater"], labels)


def _replicated_numbers(plain: Mapping[str, Any], arrays: Arrays) -> ReplicatedNumbers:
    cells = (arrays[name] for name in ("values", "item", "rater", "weights"))
    here = plain["round_raters"]
    return ReplicatedNumbers(*cells, **_named(plain, arrays), round_raters=here)


def _named(plain: Mapping[str, Any], arrays: Arrays) -> dict[str, Any]:
    clusters = Clusters(arrays["places"], arrays["times"]) if "places" in arrays else None
    scale = Scale.from_mapping(plain["scale"])
    return {"scale": scale, "raters": tuple(plain["raters"]), "clusters": clusters}


_MAKERS: dict[str, Callable[[Mapping[str, Any], Arrays], Counted]] = {
    "LabelsByRater": _labels,
    "NumbersByRater": _numbers,
    "ReplicatedLabels": _replicated_labels,
    "ReplicatedNumbers": _replicated_numbers,
}
