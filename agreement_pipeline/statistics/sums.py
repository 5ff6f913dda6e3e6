"""Adding two tables of labels by rater: the rows of both, under the raters of both."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, TypeVar

import numpy as np
from numpy.typing import NDArray

from agreement_pipeline.errors import RatingsError
from agreement_pipeline.ratings import MISSING
from agreement_pipeline.statistics.clusters import refuse_sum
from agreement_pipeline.statistics.weighted import changed, joint_raters, refuse_other_scale
from agreement_pipeline.text import listed

if TYPE_CHECKING:
    from agreement_pipeline.statistics.labels import LabelsByRater

WHAT = "labels by rater"
T = TypeVar("T", bound=np.generic)


def stacked(one: "LabelsByRater", other: "LabelsByRater") -> "LabelsByRater":
    """Put the rows of both under the raters of both, each rater once."""
    refuse_other_scale(WHAT, one.scale, other.scale)
    refuse_sum(WHAT, one.clusters, other.clusters)
    raters = joint_raters(one.raters, other.raters)
    codes = [placed(each.codes, each.raters, raters, MISSING) for each in (one, other)]
    sure = [placed(each.sure, each.raters, raters, np.nan) for each in (one, other)]
    return changed(
        one,
        codes=np.vstack(codes),
        weights=np.concatenate([one.weights, other.weights]),
        raters=raters,
        labels=np.concatenate([one.labels, other.labels]),
        confidence=None if one.confidence is None else np.vstack(sure),
    )


def placed(
    cells: NDArray[T], own: Sequence[str], raters: Sequence[str], missing: float
) -> NDArray[T]:
    """Cells with a column for each of `raters`, `missing` where there is none of their own."""
    columns = np.full((len(cells), len(raters), *cells.shape[2:]), missing, dtype=cells.dtype)
    columns[:, [raters.index(name) for name in own]] = cells
    return columns


def refuse_other_parts(one: "LabelsByRater", other: "LabelsByRater") -> None:
    """Refuse to add statistics whose raters have other parts.

    Raises
    ------
    RatingsError
        The classifiers differ, one side alone has groups or confidence, or a rater changes groups.
    """
    refuse_other_classifier(WHAT, one.classifier, other.classifier)
    parts = [(each.second is None, each.confidence is None) for each in (one, other)]
    if parts[0] != parts[1]:
        raise RatingsError(
            f"{WHAT}: groups or confidence found on one side alone; both sides or neither are "
            "required. Add statistics of the same kind."
        )
    moved = {*one.first} & {*(other.second or ())} | {*(one.second or ())} & {*other.first}
    if moved:
        raise RatingsError(
            f"{WHAT}: {listed(sorted(moved), 12)} found in both groups; one is required of each "
            "rater. Add statistics of the same groups."
        )


def refuse_other_classifier(what: str, one: str | None, other: str | None) -> None:
    """Refuse to add the statistics of two classifiers."""
    if one != other:
        raise RatingsError(
            f"{what}: classifiers {one!r} and {other!r} found; one is required. "
            "Add the statistics of one classifier."
        )
