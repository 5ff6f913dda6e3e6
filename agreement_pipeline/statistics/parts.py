"""The parts of a table of labels: checks of who stands apart from the panel."""

from collections.abc import Sequence
from typing import NamedTuple

from numpy.typing import ArrayLike

from agreement_pipeline.errors import RatingsError
from agreement_pipeline.ratings import Codes, Scale
from agreement_pipeline.statistics.weighted import checked_codes
from agreement_pipeline.text import listed

WHAT = "labels by rater"


class Parts(NamedTuple):
    """Who stands apart in a table of labels, and whether confidence counts."""

    first: tuple[str, ...]
    second: tuple[str, ...] | None
    classifier: str | None
    confident: bool


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
            f"{WHAT}: classifier's labels of shape {found.shape} found; "
            f"{(n_rows,)} is required. Give one label a row."
        )
    if classifier in raters:
        raise RatingsError(
            f"{WHAT}: {classifier!r} found as classifier and in the panel; a name of its own is "
            "required. Name them apart."
        )
    return found


def checked_second(second: Sequence[str], raters: Sequence[str]) -> tuple[str, ...]:
    """The names of a second group among the raters.

    Raises
    ------
    RatingsError
        A name is unknown or there twice.
    """
    names = tuple(second)
    if set(names) - set(raters) or len(set(names)) != len(names):
        raise RatingsError(
            f"{WHAT}: second group {listed(sorted(names), 12)} found; raters of the columns, "
            "each once, are required. Correct the names."
        )
    return names


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


__all__ = [
    "WHAT",
    "Parts",
    "checked_beside",
    "checked_second",
    "refuse_other_classifier",
    "refuse_other_parts",
]
