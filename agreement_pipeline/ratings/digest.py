"""The digest of ratings: what was rated and how.

The order of rows and the names of raters and clusters do not enter. Raters are put in an order by
the digests of their own ratings.
"""

import hashlib
import json
from collections.abc import Collection, Mapping, Sequence

import numpy as np
import pandas as pd

from agreement_pipeline.ratings.scale import Scale


def digest_of(
    scale: Scale,
    items: np.ndarray,
    contents: pd.DataFrame,
    cluster_of: pd.Series | None,
    by_rater: Mapping[str, str],
) -> str:
    """SHA-256 of ratings in hexadecimal: of the scale, the items and the raters' own digests."""
    parts = hashlib.sha256()
    parts.update(json.dumps(scale.to_mapping(), sort_keys=True).encode())
    parts.update(_packed(items))
    said = contents.drop(columns="cluster", errors="ignore")
    parts.update(said.sort_index().to_csv().encode() if len(said.columns) else b"")
    if cluster_of is not None:
        parts.update(b"clusters" + _digest_of_clusters(cluster_of))
    for value in sorted(by_rater.values()):
        parts.update(value.encode())
    return parts.hexdigest()


def digests_by_rater(table: pd.DataFrame, classifiers: Collection[str]) -> dict[str, str]:
    """SHA-256 of each rater's own ratings in hexadecimal by name."""
    _, codes = np.unique(table["item"].to_numpy(dtype=object), return_inverse=True)
    labels = table["label"].to_numpy(dtype=object)
    extras = table[[name for name in ("confidence", "timestamp") if name in table]]
    digests = {}
    for name, rows in table.groupby("rater", observed=True).indices.items():
        of = hashlib.sha256(b"classifier" if name in classifiers else b"panel")
        of.update(len(rows).to_bytes(8, "little"))
        of.update(codes[rows].astype("<i8").tobytes())
        of.update(table["occurrence"].to_numpy()[rows].astype("<i8").tobytes())
        of.update(table["earlier"].to_numpy()[rows].astype("u1").tobytes())
        of.update(_packed(labels[rows]))
        of.update(extras.iloc[rows].to_csv(index=False).encode() if len(extras.columns) else b"")
        digests[str(name)] = of.hexdigest()
    return digests


def _digest_of_clusters(cluster_of: pd.Series) -> bytes:
    """SHA-256 of which items stand together."""
    items, places = _packed(cluster_of.index.to_numpy()), cluster_of.to_numpy(dtype="<i8").tobytes()
    return hashlib.sha256(items + places).digest()


def _packed(texts: Sequence[object] | np.ndarray) -> bytes:
    """Texts as bytes that no other list of texts gives whatever follows them."""
    encoded = [str(text).encode() for text in texts]
    return np.array([len(encoded), *map(len, encoded)], dtype="<i8").tobytes() + b"".join(encoded)


__all__ = ["digest_of", "digests_by_rater"]
