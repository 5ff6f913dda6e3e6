"""Adding two tables of labels by rater: the rows of both under the raters of both."""

from collections.abc import Sequence
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from agreement_pipeline.ratings import MISSING
from agreement_pipeline.statistics.clusters import refuse_sum
from agreement_pipeline.statistics.parts import WHAT
from agreement_pipeline.statistics.weighted import changed, joint_raters, refuse_other_scale

T = TypeVar("T", bound=np.generic)
Labels = TypeVar("Labels")


def stacked(own: Labels, others: Labels) -> Labels:
    """Put the rows of two tables of labels under the raters of both, one column a rater."""
    one: Any = own
    other: Any = others
    refuse_other_scale(WHAT, one.scale, other.scale)
    refuse_sum(WHAT, one.clusters, other.clusters)
    raters = joint_raters(one.raters, other.raters)
    codes = [placed(each.codes, each.raters, raters, MISSING) for each in (one, other)]
    sure = [placed(each.sure, each.raters, raters, np.nan) for each in (one, other)]
    return changed(
        own,
        codes=np.vstack(codes),
        weights=np.concatenate([one.weights, other.weights]),
        raters=raters,
        labels=np.concatenate([one.labels, other.labels]),
        confidence=None if one.confidence is None else np.vstack(sure),
    )


def placed(
    cells: NDArray[T], own: Sequence[str], raters: Sequence[str], missing: float
) -> NDArray[T]:
    """Cells with a column for each of `raters`. Raters without one of their own get `missing`."""
    columns = np.full((len(cells), len(raters), *cells.shape[2:]), missing, dtype=cells.dtype)
    columns[:, [raters.index(name) for name in own]] = cells
    return columns


__all__ = ["placed", "stacked"]
