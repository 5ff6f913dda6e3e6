"""Ratings as the rows of a table, and back."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

import pyarrow as pa
import pyarrow.compute as pc

from agreement_pipeline.engine import duckdb_session
from agreement_pipeline.errors import RatingsError
from agreement_pipeline.ratings.birth import EXTRAS, content_columns
from agreement_pipeline.ratings.cells import Cells, cells_in
from agreement_pipeline.ratings.origin import Origin
from agreement_pipeline.ratings.parquet import ParquetRows
from agreement_pipeline.ratings.ratings import Ratings
from agreement_pipeline.ratings.scale import Scale
from agreement_pipeline.text import called

KINDS = {
    "occurrence": pa.int64(),
    "earlier": pa.bool_(),
    "confidence": pa.float64(),
    "assisted": pa.bool_(),
    "drawn": pa.large_string(),
    "gold": pa.bool_(),
    "weight": pa.int64(),
}
"""The types of columns that are neither text, nor label or time."""


@dataclass(frozen=True, eq=False)
class RatingsRows:
    """The ratings as the rows of a table.

    Each rating has a row, with the contents of its item. Each item without a rating has a
    row without rater and label. These rows come last.

    ============== ======================= =================================
    column         value                   when it is there
    ============== ======================= =================================
    `item`         text                    always
    `rater`        text                    always
    `kind`         panel or classifier     always
    `label`        as on the scale         always
    `occurrence`   whole number from 1     always
    `earlier`      true or false           always
    `confidence`   as given                if the ratings have it
    `assisted`     true, false or unknown  if the ratings have it
    `drawn`        text                    if the ratings have it
    `timestamp`    as given                if the ratings have it
    `text`         text                    if the items have it
    `gold`         true or false           if the items have it
    `gold_label`   text                    if the items have it
    `cluster`      text                    if the items have it
    `weight`       whole number from 1     if the items have it
    `stratum:NAME` text                    for each column of strata
    ============== ======================= =================================
    """

    ratings: Ratings

    @cached_property
    def schema(self) -> pa.Schema:
        """The columns."""
        has = self.ratings.has
        names = ["item", "rater", "kind", "label", "occurrence", "earlier"]
        names += [*(name for name in EXTRAS if name in has), *content_columns(has)]
        kinds = {**KINDS, "label": self._kind_of_label}
        if "timestamp" in names:
            kinds["timestamp"] = self._kind_of_times
        return pa.schema([(name, kinds.get(name, pa.string())) for name in names])

    def __len__(self) -> int:
        return len(self.ratings) + len(self._unrated)

    def to_batches(self) -> Iterator[pa.RecordBatch]:
        """The rows in order."""
        ratings = self.ratings
        kinds = [
            "classifier" if name in ratings.classifiers else "panel" for name in ratings.everyone
        ]
        asked = ["place" if name == "kind" else name for name in self.schema.names]
        for batch in ratings.every(asked):
            columns = dict(zip(asked, batch.columns, strict=True))
            columns["kind"] = pa.array(kinds, pa.string()).take(columns["place"])
            made = self._batch(columns, len(batch))
            yield made
        for some in self._unrated.to_batches():
            yield self._batch(dict(zip(some.schema.names, some.columns, strict=True)), len(some))

    def _batch(self, columns: Mapping[str, pa.Array], n_rows: int) -> pa.RecordBatch:
        arrays = [
            columns[each.name].cast(each.type)
            if each.name in columns
            else pa.nulls(n_rows, each.type)
            for each in self.schema
        ]
        return pa.record_batch(arrays, schema=self.schema)

    @property
    def _kind_of_label(self) -> pa.DataType:
        scale = self.ratings.scale
        if scale.dimensions > 1:
            return pa.list_(pa.float64())
        return pa.float64() if scale.numeric else pa.string()

    @property
    def _kind_of_times(self) -> pa.DataType:
        """The type of times as they were given. Texts are large."""
        (told,) = self.ratings.first(["timestamp"], items=()).schema.types
        return pa.large_string() if pa.types.is_string(told) else told

    @cached_property
    def _unrated(self) -> pa.Table:
        """What is known of the items without a rating."""
        ratings, items = self.ratings, self.ratings.items()["item"]
        if not len(items) or items.equals(rated := ratings.rated()):
            return ratings.items(names=())
        others = items.filter(pc.invert(pc.is_in(items, rated)))
        return ratings.items(content_columns(ratings.has), names=others.to_pylist())


def stored_cells(rows: ParquetRows, source: str) -> Cells:
    """The rows of a Parquet file of `RatingsRows` in a session, not checked yet.

    Raises
    ------
    RatingsError
        The file cannot be read.
    """
    batches = (cells_in(batch) for part in rows.parts() for batch in part.to_batches())
    empty = cells_in(pa.RecordBatch.from_pylist([], rows.schema))
    relation = duckdb_session().load(empty.schema, batches)
    return Cells(relation.view(f"SELECT *, nth + 1 AS row FROM {relation}"), source)


def ratings_of(cells: Cells, scale: Scale, origin: Origin | None = None) -> Ratings:
    """The ratings in stored cells, checked again.

    Raises
    ------
    RatingsError
        The cells do not hold ratings.
    """
    needed = ("item", "rater", "occurrence", "label", "kind", "earlier")
    missing = [name for name in needed if name not in cells.names]
    if missing:
        raise RatingsError(
            f"{cells.source}: found no {called('column', missing)}; expected them in stored "
            "ratings. Store the round again."
        )
    models = f"SELECT DISTINCT rater FROM {cells.relation} WHERE kind = 'classifier'"
    classifiers = cells.relation.ask(f"{models} ORDER BY rater")["rater"].to_pylist()
    return Ratings.from_cells(cells, scale, classifiers=classifiers, origin=origin)
