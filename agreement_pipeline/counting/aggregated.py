"""Ratings that somebody else counted: a table of counts, or of two raters.

Counts of categories have no raters. So a measure that needs raters by name is refused.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import ClassVar, NoReturn

import numpy as np

from agreement_pipeline.counting.counted import CountedRatings
from agreement_pipeline.errors import RatingsError
from agreement_pipeline.ratings import Level, Scale
from agreement_pipeline.readers import LIMITS, Limits, Source
from agreement_pipeline.statistics import (
    CategoryCounts,
    LabelsByRater,
    ReplicatedLabels,
    statistic_bytes,
)

ROWS, COLUMNS = "rows", "columns"
TWO = (ROWS, COLUMNS)
Names = tuple[str, ...]


@dataclass(frozen=True, eq=False)
class CountsOfItems:
    """How often each item got each category. Nobody knows from whom.

    Parameters
    ----------
    counts
        A row for each different item.
    """

    has: ClassVar[frozenset[str]] = frozenset()
    classifiers: ClassVar[Names] = ()
    raters: ClassVar[Names] = ()
    gold: ClassVar[frozenset[str]] = frozenset()
    cluster_names: ClassVar[frozenset[str]] = frozenset()
    origin: ClassVar[None] = None

    counts: CategoryCounts

    @property
    def scale(self) -> Scale:
        """What the labels may be."""
        return self.counts.scale

    @property
    def digest(self) -> str:
        """SHA-256 of the counts."""
        return sha256(self.counts.counts.tobytes() + self.counts.weights.tobytes()).hexdigest()


def read_counts(
    source: Source,
    item: str | None = None,
    *,
    scale: Scale | None = None,
    level: Level = "nominal",
    limits: Limits = LIMITS,
) -> CountsOfItems:
    """Read a table with a row for each item, and how often it got each category.

    Parameters
    ----------
    source
        A path, a DataFrame, or anything that gives Arrow batches.
    item
        The column that names the items. None: the first one. All other columns are categories.
    scale
        The categories. None: those of the table, at the given level.
    level
        The level of measurement, if no scale is given.
    limits
        How large the table may be.

    Raises
    ------
    RatingsError
        A cell is no whole number, an item is there twice, or a column is no category.

    Examples
    --------
    >>> import pandas as pd
    >>> table = pd.DataFrame({"item": ["a", "b", "c"], "no": [3, 1, 0], "yes": [0, 2, 3]})
    >>> read_counts(table).counts.n_ratings
    9
    """
    from agreement_pipeline.readers import whole_numbers

    table = whole_numbers(source, item, limits)
    scale = _scale(table.columns, scale, level)
    places = _places(table.columns, scale, f"{table.source}: row 1")
    counts = np.zeros((len(table.rows), len(scale.names)))
    counts[:, places] = table.values
    return CountsOfItems(CategoryCounts(counts[counts.any(1)], scale=scale).merged())


def read_contingency(
    source: Source,
    rows: str | None = None,
    *,
    scale: Scale | None = None,
    level: Level = "nominal",
    limits: Limits = LIMITS,
) -> CountedRatings:
    """Read a table of two raters: how many items got each pair of categories.

    The rater of the rows is called `rows`, and the other one is called `columns`.

    Parameters
    ----------
    source
        A path, a DataFrame, or anything that gives Arrow batches.
    rows
        The column with the categories of the rows. None: the first one.
    scale, level, limits
        As in `read_counts`.

    Raises
    ------
    RatingsError
        A cell is no whole number, or rows and columns do not have the same categories.

    Examples
    --------
    >>> import pandas as pd
    >>> table = pd.DataFrame({"": ["no", "yes"], "no": [40, 5], "yes": [3, 12]})
    >>> read_contingency(table).everybody.n_items
    60
    """
    from agreement_pipeline.readers import whole_numbers

    table = whole_numbers(source, rows, limits)
    scale = _scale(table.columns, scale, level)
    across = _places(table.columns, scale, f"{table.source}: row 1")
    down = _places(table.rows, scale, f"{table.source}: first column")
    codes = [(a, b) for a in down for b in across]
    met = table.values.ravel() > 0
    labels = LabelsByRater(
        np.array(codes).reshape(-1, 2)[met], table.values.ravel()[met], scale=scale, raters=TWO
    ).merged()
    digest = sha256(statistic_bytes(labels)).hexdigest()
    sure = labels.with_confidence(np.full(labels.codes.shape, np.nan))
    return CountedRatings(labels, _no_replicates(scale), {}, sure, TWO, (), frozenset(), (digest,))


def _no_replicates(scale: Scale) -> ReplicatedLabels:
    nobody = LabelsByRater(np.empty((0, 2), dtype=np.int64), scale=scale, raters=TWO)
    nothing = np.empty(0, dtype=np.int64)
    return ReplicatedLabels(np.empty((0, len(scale.names))), nothing, nothing, nobody)


def _scale(columns: Sequence[str], scale: Scale | None, level: Level) -> Scale:
    return Scale(tuple(columns), level) if scale is None else scale


def _places(names: Sequence[str], scale: Scale, where: str) -> list[int]:
    """The place of each category on the scale."""
    try:
        return [scale.index(name) for name in names]
    except RatingsError as error:
        raise RatingsError(f"{where}: {error}") from error


class OfCounts:
    """Reads counts of categories. It knows no raters, and no names of items."""

    def panel(self, ratings: CountsOfItems) -> Names:
        """There are no raters by name."""
        return ()

    classifiers = panel

    def counts(self, ratings: CountsOfItems) -> CategoryCounts:
        """The counts. Equal rows are one."""
        return ratings.counts.in_order()

    def without_raters(self, *_: CountsOfItems | Names | None) -> NoReturn:
        """Raters' names were not kept, and items cannot be paired."""
        raise RatingsError(
            "counts of categories: found no raters; expected raters by name for this question. "
            "Choose a measure such as krippendorff_alpha, or give one row a rating."
        )

    items = labels = confident_labels = numbers = by_rater = without_raters
    replicates = replicated_labels = replicated_numbers = by_item = aligned = without_raters
