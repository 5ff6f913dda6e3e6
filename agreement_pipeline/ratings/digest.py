"""The digest of ratings, version 2: what was rated and how.

::

    digest  = SHA-256( header, items, contents, the raters' digests in ascending order )
    items   = SHA-256( lengths of the names ), SHA-256( names ), in the order of the names
    rater   = SHA-256( kind, SHA-256( records ), SHA-256( lengths of times ), SHA-256( times ),
                       SHA-256( lengths of places ), SHA-256( places ),
                       SHA-256( lengths ), SHA-256( last labels ),
                       SHA-256( lengths ), SHA-256( times of changes ) )
    record  = item, occurrence, earlier, label, confidence, assisted

A record is a rating, and has a fixed width.

An item is its place among the sorted names, and a category its place on the scale. The contents are
texts, gold, weights and clusters, as far as they are known. The header says what the scale is and
which columns there are, so no two tables are the same bytes.

Columns of strata, of parts of units and of other contents enter with their names. Places are where
the objects of ratings lie. Places, strata, parts, contents, assistance and later labels enter only
where they are known, so older digests stay.

The order of rows and the names of raters and clusters do not enter: raters are put in the order of
their own digests. Ratings come in batches, in the order of item, rater and occurrence, so an engine
can stream them.
"""

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from agreement_pipeline.ratings.arrays import (
    as_number_array,
    as_whole_numbers_or_missing,
    pack_texts,
    unify_nan_and_zero,
)
from agreement_pipeline.ratings.cells import (
    CONTENT_PREFIX,
    PART_PREFIX,
    STRATUM,
    is_text_type,
    write_as_texts,
)
from agreement_pipeline.ratings.scale import Scale

Contents = tuple[list[str], pa.Array, Iterator[pa.RecordBatch]]
"""The names of columns of items, all items in order, and the columns in batches."""
VERSION = 2
PREFIXES = (STRATUM, PART_PREFIX, CONTENT_PREFIX)


def digest_ratings(
    scale: Scale,
    raters_are_models: Sequence[bool],
    extras: Sequence[str],
    items: Iterable[pa.Array],
    parts: Callable[[Sequence[str]], Iterable[pa.RecordBatch]],
    contents: Callable[[], Contents],
) -> str:
    """`parts` are all ratings with the columns that are asked for. They are read one after the
    other, and `contents` of the items after them.
    """
    label = "number" if scale.continuous else "code"
    names_of_items, raters = _TextHash(), [_RaterHash() for _ in raters_are_models]
    for names in items:
        names_of_items.feed(names)
    for part in parts(["at", "place", label, "occurrence", "earlier", *extras]):
        _feed_raters(raters, part, label)
    header = {
        "version": VERSION,
        "scale": scale.to_mapping(),
        "columns": sorted("times" if name == "timestamp" else name for name in extras),
        "raters": len(raters),
    }
    digest = hashlib.sha256(json.dumps(header, sort_keys=True).encode())
    digest.update(names_of_items.digest() + _hash_contents(*contents()))
    digests = [
        rater.digest(b"classifier" if is_model else b"panel")
        for is_model, rater in zip(raters_are_models, raters, strict=True)
    ]
    digest.update(b"".join(sorted(digests)))
    return digest.hexdigest()


class _TextHash:
    """SHA-256 of texts in order. No other texts give the same."""

    def __init__(self) -> None:
        self.lengths, self.bytes = hashlib.sha256(), hashlib.sha256()

    def feed(self, texts: pa.Array) -> None:
        """A missing text has the length -1."""
        lengths, data = pack_texts(texts)
        self.lengths.update(lengths.astype("<i8").tobytes())
        self.bytes.update(data)

    def digest(self) -> bytes:
        return self.lengths.digest() + self.bytes.digest()


TEXTS = ("timestamp", "drawn", "last_label", "changed_at")
"""Columns of texts. All but the first enter only where they are known."""


class _RaterHash:
    def __init__(self) -> None:
        self.records, self.texts = hashlib.sha256(), {"timestamp": _TextHash()}

    def digest(self, kind: bytes) -> bytes:
        texts = b"".join(self.texts[name].digest() for name in TEXTS if name in self.texts)
        return hashlib.sha256(kind + self.records.digest() + texts).digest()


def _hash_contents(
    names: Sequence[str], items: pa.Array, batches: Iterable[pa.RecordBatch]
) -> bytes:
    """The hash of what is known of items, and of their names."""
    texts, numbers = {name: _TextHash() for name in names}, b""
    for item_texts in texts.values():
        item_texts.feed(items)
    for part in batches:
        for name, item_texts in texts.items():
            if name == "cluster_at":
                numbers += as_whole_numbers_or_missing(part[name]).astype("<i8").tobytes()
            else:
                item_texts.feed(_as_texts(part[name]))
    columns = hashlib.sha256()
    for name, item_texts in texts.items():
        if name == "cluster_at":
            columns.update(b"clusters" + item_texts.digest() + numbers)
        elif prefix := next(filter(name.startswith, PREFIXES), None):
            # A team's own names have one width, so that none is another.
            name_digest = hashlib.sha256(name.encode()).digest()
            columns.update(prefix.encode() + name_digest + item_texts.digest())
        else:
            columns.update(name.encode() + item_texts.digest())
    return hashlib.sha256(columns.digest()).digest()


def _feed_raters(raters: list[_RaterHash], part: pa.RecordBatch, label: str) -> None:
    """Add the records and texts of a part to the hashes of its raters."""
    place = as_whole_numbers_or_missing(part["place"])
    part = part.take(np.argsort(place, kind="stable"))
    records = _rating_records(part, label)
    texts = {name: _as_texts(part[name]) for name in TEXTS if name in part.schema.names}
    stops = np.cumsum(np.bincount(place, minlength=len(raters)))
    for rater, start, stop in zip(raters, np.append(0, stops), stops, strict=False):
        if start == stop:
            continue
        rater.records.update(records[start:stop])
        for name, values in texts.items():
            rater.texts.setdefault(name, _TextHash()).feed(values.slice(start, stop - start))


def _rating_records(part: pa.RecordBatch, label: str) -> Any:
    """The ratings of a part as records of a fixed width."""
    labels, column_names = as_number_array(part[label]), part.schema.names
    kind = "<f8" if labels.dtype.kind == "f" else "<i4"
    columns: dict[str, tuple[Any, ...]] = {
        "item": (as_whole_numbers_or_missing(part["at"]), "<i8"),
        "occurrence": (as_whole_numbers_or_missing(part["occurrence"]), "<i8"),
        "earlier": (as_whole_numbers_or_missing(part["earlier"]) > 0, "u1"),
        "label": (unify_nan_and_zero(labels), kind, labels.shape[1:]),
    }
    if "confidence" in column_names:
        columns["confidence"] = (unify_nan_and_zero(as_number_array(part["confidence"])), "<f8")
    if "assisted" in column_names:
        columns["assisted"] = (as_whole_numbers_or_missing(part["assisted"]), "i1")
    records: Any = np.empty(len(labels), [(name, *kind) for name, (_, *kind) in columns.items()])
    for name, (values, *_) in columns.items():
        records[name] = values
    return records


def _as_texts(values: pa.Array) -> pa.Array:
    return values if is_text_type(values.type) else write_as_texts(values)
