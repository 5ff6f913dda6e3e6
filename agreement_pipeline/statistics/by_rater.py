"""What labels by rater and numbers by rater share: columns of raters and raters apart."""

from collections.abc import Iterator, Sequence
from typing import ClassVar, Self, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from agreement_pipeline.errors import RatingsError
from agreement_pipeline.ratings import Array, Codes, Scale
from agreement_pipeline.statistics.clusters import Clusters
from agreement_pipeline.statistics.order import Hashes, order_of_raters
from agreement_pipeline.statistics.weighted import OfRows, Statistic, changed, total

T = TypeVar("T", bound=np.generic)
R = TypeVar("R", bound="ByRater")


class ByRater(Statistic):
    """Rows with a column for each rater; some raters may stand apart from the panel.

    A class that builds on this one says what the raters `said`, which ratings are `given`, which of
    these are `rated` by the panel and count, and which rows those who stand apart `labelled`.
    """

    missing: ClassVar[float]

    weights: Array
    scale: Scale
    raters: tuple[str, ...]
    clusters: Clusters | None
    classifier: str | None
    labels: Array | Codes

    @property
    def said(self) -> Array | Codes:
        """What was given in the columns."""
        raise NotImplementedError

    def with_classifier(self, labels: ArrayLike, classifier: str) -> Self:
        """Set one classifier or isolated rater apart. `labels` are what they gave each row."""
        raise NotImplementedError

    @property
    def given(self) -> NDArray[np.bool_]:
        """True for each rating in the columns. Shape (P, R)."""
        raise NotImplementedError

    @property
    def rated(self) -> NDArray[np.bool_]:
        """True for each rating of the panel that counts. One column for each of the panel."""
        return self.given

    @property
    def labelled(self) -> NDArray[np.bool_]:
        """True for rows with a label from those who stand apart. Shape (P,)."""
        raise NotImplementedError

    @property
    def some_apart(self) -> bool:
        """True if a classifier or a group of them stands apart from the panel."""
        return self.classifier is not None

    @property
    def hashes(self) -> Hashes:
        """A number for what each rater gave in each row. Equal ratings have equal ones. (P, R)."""
        raise NotImplementedError

    def with_scale(self, scale: Scale) -> Self:
        """The same on a scale that lists the same categories in another order."""
        return changed(self, scale=scale)

    def merged(self) -> Self:
        """Make equal rows of a cluster one row, if rows are not the items themselves."""
        return self

    def with_columns(self, places: Sequence[int] | Codes) -> Self:
        """Keep the columns at some places in this order."""
        raise NotImplementedError

    def only(self, raters: Sequence[str]) -> Self:
        """Keep the columns of some raters in this order."""
        return self.with_columns([self.raters.index(rater) for rater in raters])

    @property
    def first(self) -> tuple[str, ...]:
        """The raters of the panel: all who do not stand apart."""
        return self.raters

    @property
    def n_raters(self) -> int:
        """How many columns there are."""
        return len(self.raters)

    @property
    def readable(self) -> NDArray[np.bool_]:
        """True for rows that show agreement, shape (P,).

        These are rows with two ratings that count. If some raters stand apart, these are rows with
        a label from them and a rating from the panel.
        """
        if self.some_apart:
            return np.asarray(self.labelled & self.rated.any(1))
        return np.asarray(self.rated.sum(1) >= 2)

    @property
    def n_items(self) -> int:
        """Items with a rating. If some raters stand apart, one from them and one from the panel."""
        rows = self.readable if self.some_apart else self.given.any(1)
        return total(self.weights[..., rows])

    @property
    def n_ratings(self) -> int:
        """Ratings of the panel that count; a vector is one rating.

        If some raters stand apart, only items with a label from them are counted.
        """
        return total(self.weights * self.rated.sum(1) * (self.labelled if self.some_apart else 1))

    def in_order(self) -> Self:
        """Put the columns into an order that the ratings fix. The raters' names do not enter.

        Nor does the order in which categories are listed, unless it has a meaning. Equal rows are
        made one.
        """
        merged = self.with_scale(self.scale.canonical).merged()
        order = order_of_raters(merged.hashes, merged.weights)
        return merged.with_columns(order).merged()

    def without(self, rater: str) -> Self:
        """Keep the columns of all raters but one."""
        return self.only([name for name in self.raters if name != rater])

    def against(self, rater: str) -> Self:
        """Set one rater apart from the others, as a classifier stands apart from the panel."""
        said = self.said[:, self.raters.index(rater)]
        return self.without(rater).with_classifier(said, rater)

    @property
    def panel(self) -> Self:
        """The columns alone: nobody stands apart."""
        return self.kept(_alone).reweighted(self.weights)

    def joined(self) -> Self:
        """The panel with the classifier as the last column."""
        return self.kept(_joined).reweighted(self.weights)

    def without_each_rater(self) -> Iterator[Self]:
        """Leave out each rater of the panel in turn. One table is made at a time."""
        return (self.without(rater) for rater in self.first)

    @OfRows
    def _rated_as_numbers(self) -> Array:
        return self.rated.astype(float)

    def items_by_rater(self, rows: NDArray[np.bool_]) -> Array:
        """How many items of some rows each rater of the panel rated."""
        return np.asarray(np.where(rows, self.weights, 0.0) @ self._rated_as_numbers)


def _alone(statistic: R) -> R:
    nobody = np.full_like(statistic.labels, statistic.missing)
    return changed(statistic, classifier=None, labels=nobody, second=None)


def _joined(statistic: R) -> R:
    return type(statistic)(  # type: ignore[call-arg]
        np.concatenate([statistic.said, statistic.labels[:, None]], axis=1),
        statistic.weights,
        scale=statistic.scale,
        raters=(*statistic.raters, str(statistic.classifier)),
        clusters=statistic.clusters,
    )


def placed(
    cells: NDArray[T], own: Sequence[str], raters: Sequence[str], missing: float
) -> NDArray[T]:
    """Cells with a column for each of `raters`. Raters without one of their own get `missing`."""
    columns = np.full((len(cells), len(raters), *cells.shape[2:]), missing, dtype=cells.dtype)
    columns[:, [raters.index(name) for name in own]] = cells
    return columns


def refuse_other_classifier(what: str, one: str | None, other: str | None) -> None:
    """Refuse to add the statistics of two classifiers."""
    if one != other:
        raise RatingsError(
            f"{what}: found classifiers {one!r} and {other!r}; expected one. "
            "Add the statistics of one classifier."
        )
