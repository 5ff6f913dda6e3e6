"""The digest of ratings, version 2: what was rated and how.

::

    digest  = SHA-256( header, items, contents, the raters' digests in ascending order )
    items   = SHA-256( lengths of the names ), SHA-256( names ), in the order of the names
    rater   = SHA-256( kind, SHA-256( records ), SHA-256( lengths of times ), SHA-256( times ),
                       SHA-256( lengths of places ), SHA-256( places ) )
    record  = item, occurrence, earlier, label, confidence, assisted

A record is a rating, and has a fixed width.

An item is its place among the sorted names, and a category its place on the scale. The contents are
texts, gold, weights and clusters, as far as they are known. The header says what the scale is and
which columns there are, so no two tables are the same bytes.

The names of the columns of strata enter, and the stratum of each item. What has no strata has the
digest that it had before there were any. So has what does not say which labels were assisted.
Places are where the objects of ratings lie. They enter only where they are known.

The order of rows and the names of raters and clusters do not enter: raters are put in the order of
their own digests. Ratings come in batches, in the order of item, rater and occurrence. So an engine
can stream them, and the memory that is needed does not grow with the ratings.

Version 1 read each name and label as a Python object, and no engine could compute it.
"""

import hashlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from agreement_pipeline.ratings.arrays import packed, whole
from agreement_pipeline.ratings.cells import STRATUM
from agreement_pipeline.ratings.scale import Scale, category_text

if TYPE_CHECKING:
    import pyarrow as pa

VERSION = 2
BATCH = 100_000
EXTRAS = ("confidence", "assisted", "drawn", "times")
Bytes = Any
"""A SHA-256 that is fed, as hashlib makes it."""


class Batch(NamedTuple):
    """Ratings in the order of item, rater and occurrence.

    Attributes
    ----------
    item, rater
        The place of each rating's item among all sorted items, and of its rater among the raters.
    occurrence, earlier
        As in `Ratings`.
    label
        The place of the category on the scale. Numbers (n,) or vectors (n, D) on a scale without
        categories.
    confidence, assisted, drawn, times
        Arrow columns, null where nothing is known. None if the ratings do not say.
    """

    item: np.ndarray[Any, Any]
    rater: np.ndarray[Any, Any]
    occurrence: np.ndarray[Any, Any]
    earlier: np.ndarray[Any, Any]
    label: np.ndarray[Any, Any]
    confidence: "pa.Array | None" = None
    assisted: "pa.Array | None" = None
    drawn: "pa.Array | None" = None
    times: "pa.Array | None" = None

    def at(self, rows: np.ndarray[Any, Any]) -> "Batch":
        """Some of the ratings."""
        import pyarrow as pa

        places = pa.array(rows)
        parts: list[Any] = [each[rows] for each in self[:5]]
        parts += [None if each is None else each.take(places) for each in self[5:]]
        return Batch(*parts)


class _Texts:
    """SHA-256 of texts in order. No other texts give the same."""

    def __init__(self) -> None:
        self.lengths, self.bytes = hashlib.sha256(), hashlib.sha256()

    def feed(self, texts: "pa.Array") -> None:
        """Add texts. A missing one has the length -1."""
        lengths, data = packed(texts)
        self.lengths.update(lengths.astype("<i8").tobytes())
        self.bytes.update(data)

    def digest(self) -> bytes:
        return self.lengths.digest() + self.bytes.digest()


@dataclass
class _Rater:
    """What is fed of one rater."""

    records: Bytes = field(default_factory=hashlib.sha256)
    times: _Texts = field(default_factory=_Texts)
    drawn: _Texts | None = None

    def feed_drawn(self, places: "pa.Array") -> None:
        """Add places of objects."""
        self.drawn = self.drawn or _Texts()
        self.drawn.feed(places)

    def digest(self, kind: bytes) -> bytes:
        whole = kind + self.records.digest() + self.times.digest()
        whole += b"" if self.drawn is None else self.drawn.digest()
        return hashlib.sha256(whole).digest()


class RatingsHash:
    """The digest of ratings that come in batches.

    Parameters
    ----------
    kinds
        Of each rater, by place: True for a classifier.
    """

    def __init__(self, kinds: Sequence[bool]) -> None:
        self.kinds = list(kinds)
        self._items, self._contents = _Texts(), hashlib.sha256()
        self._raters = [_Rater() for _ in kinds]
        self._columns: set[str] = set()

    def add_items(self, names: "pa.Array") -> None:
        """Add the names of rated items in ascending order."""
        self._items.feed(names)

    def add_contents(
        self, items: "pa.Array", names: Sequence[str], known: "Iterable[pa.RecordBatch]"
    ) -> None:
        """Add what is known of all items, in ascending order of the items.

        Parameters
        ----------
        items
            The items.
        names
            The columns of what is known. In `cluster_at` stand the numbers of clusters.
        known
            These columns in batches.
        """
        texts, numbers = {name: _Texts() for name in names}, b""
        for each in texts.values():
            each.feed(items)
        for part in known:
            for name, each in texts.items():
                if name == "cluster_at":
                    numbers += whole(part[name]).astype("<i8").tobytes()
                else:
                    each.feed(_as_texts(part[name]))
        found = hashlib.sha256()
        for name, each in texts.items():
            is_cluster = name == "cluster_at"
            found.update(b"clusters" if is_cluster else _name(name))
            found.update(each.digest() + (numbers if is_cluster else b""))
        self._contents.update(found.digest())

    def add(self, batch: Batch) -> None:
        """Add ratings that follow those before."""
        ends = np.cumsum(np.bincount(batch.rater, minlength=len(self.kinds)))
        batch = batch.at(np.argsort(batch.rater, kind="stable"))
        records = _records(batch)
        times = None if batch.times is None else _as_texts(batch.times)
        self._columns |= {name for name in EXTRAS if getattr(batch, name) is not None}
        for rater, (start, end) in enumerate(zip(np.append(0, ends), ends, strict=False)):
            if start < end:
                self._raters[rater].records.update(records[start:end])
                if times is not None:
                    self._raters[rater].times.feed(times.slice(start, end - start))
                if batch.drawn is not None:
                    self._raters[rater].feed_drawn(batch.drawn.slice(start, end - start))

    def hexdigest(self, scale: Scale) -> str:
        """The digest in hexadecimal."""
        header = {
            "version": VERSION,
            "scale": scale.to_mapping(),
            "columns": sorted(self._columns),
            "raters": len(self.kinds),
        }
        whole = hashlib.sha256(json.dumps(header, sort_keys=True).encode())
        whole.update(self._items.digest() + self._contents.digest())
        for each in sorted(
            rater.digest(b"classifier" if kind else b"panel")
            for rater, kind in zip(self._raters, self.kinds, strict=True)
        ):
            whole.update(each)
        return whole.hexdigest()


def _records(batch: Batch) -> np.ndarray[Any, Any]:
    """One record of a fixed width for each rating."""
    label, sure, assisted = batch.label, batch.confidence, batch.assisted
    kind = "<f8" if label.dtype.kind == "f" else "<i4"
    stated = [] if sure is None else [("confidence", "<f8")]
    began = [] if assisted is None else [("assisted", "i1")]
    records = np.empty(
        len(batch.item),
        dtype=[
            ("item", "<i8"),
            ("occurrence", "<i8"),
            ("earlier", "u1"),
            ("label", kind, label.shape[1:]),
            *stated,
            *began,
        ],
    )
    records["item"], records["occurrence"] = batch.item, batch.occurrence
    records["earlier"] = batch.earlier
    records["label"] = _one_way(label) if kind == "<f8" else label
    if sure is not None:
        records["confidence"] = _one_way(sure.to_numpy(zero_copy_only=False))
    if assisted is not None:
        records["assisted"] = assisted.cast("int8").fill_null(-1).to_numpy()
    return records


def _one_way(numbers: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Numbers with one kind of nan and one zero."""
    return np.asarray(np.where(np.isnan(numbers), np.nan, numbers) + 0.0)


def _as_texts(values: "pa.Array") -> "pa.Array":
    """Values as text, missing where they are missing."""
    import pyarrow as pa

    if pa.types.is_string(values.type) or pa.types.is_large_string(values.type):
        return values
    coded = values.dictionary_encode()
    texts = [category_text(each) for each in coded.dictionary.to_pylist()]
    return pa.DictionaryArray.from_arrays(coded.indices, pa.array(texts, pa.string())).cast(
        "string"
    )


def _name(column: str) -> bytes:
    """The name of a column. A team's own name has a fixed width, so that no two are the same."""
    if not column.startswith(STRATUM):
        return column.encode()
    return STRATUM.encode() + hashlib.sha256(column.encode()).digest()


__all__ = ["Batch", "RatingsHash"]
