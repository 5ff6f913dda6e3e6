"""What ratings tell of the labels that panels of raters give an item."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from agreement_pipeline.errors import RatingsError
from agreement_pipeline.ratings import Array


@dataclass(frozen=True, eq=False)
class LabelsOfPanels:
    """The labels that two panels of raters would give the items of each row.

    Parameters
    ----------
    labels
        Shape (P, D): the mean label. It is a number, the shares of the categories, or the chance of
        each category to be the label.
    squares
        Shape (P,): the mean of the squared length of a label. It is 1 for a category.
    apart
        Shape (P,): half of the mean squared distance between the labels of two panels. For a
        category it is the chance that they differ.
    weights
        How many items each row stands for, shape (..., P); 1 each if omitted.
    of_categories
        True if a label is a category.

    Examples
    --------
    >>> panels = LabelsOfPanels([[1, 0], [0.5, 0.5]], [1, 1], [0, 0.5], [3, 1])
    >>> panels.n_items.tolist(), panels.mean_apart.tolist()
    (4.0, 0.125)
    """

    labels: Array
    squares: Array
    apart: Array
    weights: Array
    of_categories: bool

    def __init__(
        self,
        labels: ArrayLike,
        squares: ArrayLike,
        apart: ArrayLike,
        weights: ArrayLike | None = None,
        *,
        of_categories: bool = True,
    ) -> None:
        rows = np.asarray(labels, dtype=float)
        n_rows = len(rows)
        by_row = [np.asarray(each, dtype=float) for each in (squares, apart)]
        by_row.append(np.ones(n_rows) if weights is None else np.asarray(weights, dtype=float))
        if rows.ndim != 2 or any(each.shape[-1:] != (n_rows,) for each in by_row):
            raise RatingsError(
                f"labels of panels: found shape {rows.shape}, and {[each.shape for each in by_row]}"
                " beside it; expected labels (P, D) and a number for each row. Give one each."
            )
        object.__setattr__(self, "labels", rows)
        for name, each in zip(("squares", "apart", "weights"), by_row, strict=True):
            object.__setattr__(self, name, each)
        object.__setattr__(self, "of_categories", of_categories)

    @property
    def n_items(self) -> Array:
        """Shape (...)."""
        return np.asarray(self.weights.sum(-1))

    @property
    def mean_apart(self) -> Array:
        """Half of the mean squared distance between two labels of one item; (...)."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray(self.weights @ self.apart / self.n_items)

    @property
    def variance(self) -> Array:
        """Half of the mean squared distance between labels of two different items; (...).

        NaN of one item. Where a label is a category or a single rating, it is larger than that by
        1 / (n - 1) of how far the squared length of an item's mean label is under `squares`.
        """
        n = self.n_items
        with np.errstate(divide="ignore", invalid="ignore"):
            mean = self.weights @ self.labels / n[..., None]
            around = self.weights @ self.squares / n - (mean**2).sum(-1)
            return np.where(n > 1, around * n / (n - 1), np.nan)

    def __add__(self, other: "LabelsOfPanels") -> "LabelsOfPanels":
        """The labels of two rounds together."""
        return LabelsOfPanels(
            np.concatenate([self.labels, other.labels]),
            np.concatenate([self.squares, other.squares]),
            np.concatenate([self.apart, other.apart]),
            np.concatenate([self.weights, other.weights], axis=-1),
            of_categories=self.of_categories,
        )

    def with_weights(self, weights: Array) -> "LabelsOfPanels":
        return LabelsOfPanels(
            self.labels, self.squares, self.apart, weights, of_categories=self.of_categories
        )
