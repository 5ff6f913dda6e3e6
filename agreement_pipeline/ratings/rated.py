"""What the middle reads of ratings, wherever they lie."""

from typing import Any, ClassVar, Protocol

from agreement_pipeline.errors import RatingsError
from agreement_pipeline.ratings.origin import Origin
from agreement_pipeline.ratings.scale import Scale


class Rated(Protocol):
    """Checked ratings in memory, or where an engine queries them."""

    __dataclass_fields__: ClassVar[dict[str, Any]]

    @property
    def engine(self) -> str:
        """The name of the engine that counts them."""

    @property
    def scale(self) -> Scale:
        """What the labels may be."""

    @property
    def classifiers(self) -> tuple[str, ...]:
        """The raters that are models."""

    @property
    def raters(self) -> tuple[str, ...]:
        """The raters of the panel, by name."""

    @property
    def has(self) -> frozenset[str]:
        """The optional columns that are known, of ratings and of items."""

    @property
    def gold(self) -> frozenset[str]:
        """The items whose label was known before."""

    @property
    def cluster_names(self) -> frozenset[str]:
        """The names of the clusters of all items that are not gold."""

    @property
    def origin(self) -> Origin | None:
        """Where they came from, if it is known."""

    @property
    def digest(self) -> str:
        """SHA-256 of what was rated and how."""


def refuse_unread(given: object) -> None:
    """Refuse a table or a path in the place of ratings.

    Raises
    ------
    RatingsError
        It has not been read as ratings.

    >>> refuse_unread(1)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    agreement_pipeline.errors.RatingsError: ratings: found int; expected what read_ratings gives...
    """
    if not hasattr(type(given), "cluster_names"):
        raise RatingsError(
            f"ratings: found {type(given).__name__}; expected what read_ratings gives. "
            "Read the ratings first."
        )


__all__ = ["Rated", "refuse_unread"]
