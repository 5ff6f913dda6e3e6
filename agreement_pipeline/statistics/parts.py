"""The parts of a table of labels: checks of who stands apart from the panel."""

from collections.abc import Sequence
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from agreement_pipeline.errors import RatingsError
from agreement_pipeline.ratings import MISSING, Codes, Scale
from agreement_pipeline.statistics.weighted import changed, checked_codes
from agreement_pipeline.text import listed

WHAT = "labels by rater"
T = TypeVar("T")


class Parts(NamedTuple):
    """Who stands apart in a table of labels, and whether confidence counts."""

    first: tuple[str, ...]
    second: tuple[str, ...] | None
    classifier: str | None
    confident: bool


def parts_of(labels: Any) -> Parts:
    """The parts of labels by rater."""
    return Parts(labels.first, labels.second, labels.classifier, labels.confidence is not None)


def plain(labels: T) -> T:
    """The columns of labels by rater alone, with nobody apart."""
    nobody = np.full_like(labels.labels, MISSING)  # type: ignore[attr-defined]
    return changed(labels, classifier=None, labels=nobody, second=None)


def checked_beside(
    codes: ArrayLike, classifier: str, scale: Scale, raters: Sequence[str], n_rows: int
) -> Codes:
    """The codes of a classifier beside the panel. One for each row.

    Raises
    ------
    RatingsError
        The codes are of other rows or off the scale, or the classifier has a rater's name.
    """
    found = checked_codes(f"{WHAT}: classifier's labels", codes, len(scale.names))
    if found.shape != (n_rows,):
        raise RatingsError(
            f"{WHAT}: classifier's labels: found shape {found.shape}; "
            f"expected {(n_rows,)}. Give one label a row."
        )
    if classifier in raters:
        raise RatingsError(
            f"{WHAT}: found {classifier!r} as classifier and in the panel; "
            "expected a name of its own. Name them apart."
        )
    return found


def checked_second(second: Sequence[str], raters: Sequence[str]) -> tuple[str, ...]:
    """The names of a second group, in the order of the raters.

    Raises
    ------
    RatingsError
        A name is unknown or there twice.
    """
    names = tuple(second)
    if set(names) - set(raters) or len(set(names)) != len(names):
        raise RatingsError(
            f"{WHAT}: second group: found {listed(sorted(names), 12)}; "
            "expected raters of the columns, each once. Correct the names."
        )
    return tuple(name for name in raters if name in names)


def refuse_other_parts(one: Parts, other: Parts) -> None:
    """Refuse to add statistics whose raters have other parts.

    Raises
    ------
    RatingsError
        The classifiers differ, one side alone has groups or confidence, or a rater changes groups.
    """
    refuse_other_classifier(WHAT, one.classifier, other.classifier)
    if (one.second is None, one.confident) != (other.second is None, other.confident):
        raise RatingsError(
            f"{WHAT}: found groups or confidence on one side alone; "
            "expected both sides or neither. Add statistics of the same kind."
        )
    moved = {*one.first} & {*(other.second or ())} | {*(one.second or ())} & {*other.first}
    if moved:
        raise RatingsError(
            f"{WHAT}: found {listed(sorted(moved), 12)} in both groups; "
            "expected one group for each rater. Add statistics of the same groups."
        )


def refuse_other_classifier(what: str, one: str | None, other: str | None) -> None:
    """Refuse to add the statistics of two classifiers."""
    if one != other:
        raise RatingsError(
            f"{what}: found classifiers {one!r} and {other!r}; expected one. "
            "Add the statistics of one classifier."
        )


__all__ = [
    "WHAT",
    "Parts",
    "checked_beside",
    "checked_second",
    "refuse_other_classifier",
    "refuse_other_parts",
]
