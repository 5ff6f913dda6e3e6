"""Counts by category without one rater: the counts of all, less what that rater gave."""

from functools import cached_property

import numpy as np

from agreement_pipeline.ratings import Array
from agreement_pipeline.statistics.counts import CategoryCounts
from agreement_pipeline.statistics.labels import LabelsByRater


class CountsWithoutEach:
    """The counts of a panel without each of its raters.

    What all raters gave is counted once. Then no rater costs more than one column of the labels.

    Examples
    --------
    >>> from agreement_pipeline import Scale
    >>> codes, raters = [[0, 0, 1], [1, 1, -1]], ("ana", "ben", "cy")
    >>> labels = LabelsByRater(codes, scale=Scale(("no", "yes")), raters=raters)
    >>> CountsWithoutEach(labels).without("cy").counts.tolist()
    [[0.0, 2.0], [2.0, 0.0]]
    """

    def __init__(self, labels: LabelsByRater) -> None:
        self.labels = labels

    def without(self, rater: str) -> CategoryCounts:
        """The counts without a rater. Equal rows are made one."""
        place = self.labels.raters.index(rater)
        column = self.labels.codes[:, place]
        rows = np.flatnonzero(column >= 0)
        counts = np.array(self._all.counts)
        counts[rows, column[rows]] -= 1
        return CategoryCounts(
            counts,
            self.labels.weights,
            scale=self.labels.scale,
            n_raters=int((np.delete(self._meetings[place], place) > 0).sum()),
            clusters=self.labels.clusters,
        ).merged()

    @cached_property
    def _all(self) -> CategoryCounts:
        return self.labels.counts()

    @cached_property
    def _meetings(self) -> Array:
        """On how many rows each rater meets another if one is left out. Shape (R, R).

        The first place is the rater who is left out. Rows of three ratings or more always count.
        A row of two counts if the rater who is left out did not rate it.
        """
        given, sizes = self.labels.given, self._all.sizes
        of_two = given[sizes == 2].astype(float)
        return np.asarray(given[sizes >= 2].sum(0) - of_two.T @ of_two)
