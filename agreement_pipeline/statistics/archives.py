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

Counted = LabelsByRater | NumbersByRater | ReplicatedLabels | ReplicatedNumbers
Arrays = Mapping[str, NDArray[Any]]

PLAIN = "plain"
FIRST = "first."
KINDS: dict[str, tuple[Any, tuple[str, ...]]] = {
    "LabelsByRater": (LabelsByRater, ("codes",)),
    "NumbersByRater": (NumbersByRater, ("values",)),
    "ReplicatedNumbers": (ReplicatedNumbers, ("values", "item", "rater")),
}


def statistic_bytes(statistic: Counted) -> bytes:
    """A statistic with nobody apart. Equal statistics have equal bytes.

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
    found = arrays_of(data)
    plain = json.loads(found[PLAIN].tobytes())
    return _made(plain["kind"], plain, found)


def archive_of(arrays: Arrays) -> bytes:
    kept = io.BytesIO()
    np.savez_compressed(kept, allow_pickle=False, **arrays)
    return kept.getvalue()


def arrays_of(data: bytes) -> Arrays:
    with np.load(io.BytesIO(data), allow_pickle=False) as arrays:
        return dict(arrays)


def as_array(data: bytes) -> NDArray[np.uint8]:
    return np.frombuffer(data, dtype=np.uint8)


def _arrays(statistic: Counted) -> dict[str, NDArray[Any]]:
    if isinstance(statistic, ReplicatedLabels):
        cells = {"counts": statistic.counts, "item": statistic.item, "rater": statistic.rater}
        first = _arrays(statistic.first)
        return {**cells, **{f"{FIRST}{name}": each for name, each in first.items()}}
    _, own = KINDS[type(statistic).__name__]
    found = {
        **{name: getattr(statistic, name, None) for name in ("weights", *own, "confidence")},
        **{name: getattr(statistic.clusters, name, None) for name in ("places", "times")},
    }
    return {name: each for name, each in found.items() if each is not None}


def _made(kind: str, plain: Mapping[str, Any], arrays: Arrays) -> Counted:
    if kind == "ReplicatedLabels":
        first = {name.removeprefix(FIRST): each for name, each in arrays.items() if FIRST in name}
        labels = cast(LabelsByRater, _made("LabelsByRater", plain, first))
        return ReplicatedLabels(arrays["counts"], arrays["item"], arrays["rater"], labels)
    named: dict[str, Any] = {
        "scale": Scale.from_mapping(plain["scale"]),
        "raters": tuple(plain["raters"]),
        "clusters": Clusters(arrays["places"], arrays["times"]) if "places" in arrays else None,
    }
    if kind == "ReplicatedNumbers":
        named["round_raters"] = plain["round_raters"]
    make, own = KINDS[kind]
    found: Counted = make(*(arrays[name] for name in (*own, "weights")), **named)
    if "confidence" in arrays:
        return cast(LabelsByRater, found).with_confidence(arrays["confidence"])
    return found
