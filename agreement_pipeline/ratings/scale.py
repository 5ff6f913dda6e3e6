"""What a label may be, and its level of measurement."""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from operator import eq
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from agreement_pipeline.errors import RatingsError
from agreement_pipeline.text import listed

Level = Literal["nominal", "ordinal", "interval", "ratio", "multivariate interval"]
LEVELS: tuple[Level, ...] = get_args(Level)
UNIVARIATE: tuple[Level, ...] = LEVELS[:4]
MOST_CATEGORIES = 64
LARGEST = 1e150  # the squares of such numbers, and the sums of many of them, are finite still
Array = NDArray[np.float64]
Codes = NDArray[np.int64]
Category = str | int | float
MISSING = -1  # the code of a missing rating, where codes are positions among the categories


@dataclass(frozen=True)
class Scale:
    """The categories a label may take, in order, and their level of measurement.

    Parameters
    ----------
    categories
        At least two, all different. Text on a nominal or ordinal scale, where an ordinal scale reads them from the
        lowest to the highest; finite numbers up to 1e150 in size on an interval or ratio scale. `None` on any level but the nominal:
        any such number may occur (any vector of them on a multivariate interval scale), and no list of categories exists.
    level
        nominal, ordinal, interval, ratio or multivariate interval.
    dimensions
        How many numbers make a label: two or more on a multivariate interval scale, else one.
    declared
        Did the team name the categories? Where they were read off the ratings, nobody knows which others there could have been, nor how far
        apart the scale's ends are.

    Raises
    ------
    RatingsError
        Fewer than two categories, one twice, a missing one, text or a number beyond 1e150 on an interval or ratio scale, a negative number on a
        ratio scale, a number of dimensions that the level does not have.

    Examples
    --------
    >>> Scale(("no", "yes")).level
    'nominal'
    >>> Scale(("low", "high"), "ordinal").index("high")
    1
    >>> Scale.from_labels([(71, 166), (74, 171)], "multivariate interval").dimensions
    2
    """

    categories: tuple[Category, ...] | None
    level: Level = "nominal"
    dimensions: int = 1
    declared: bool = True

    def __post_init__(self) -> None:
        if self.level not in LEVELS:
            raise RatingsError(
                f"scale: level {self.level!r} found; one of {listed(LEVELS)} is required. Correct the level."
            )
        self._check_dimensions()
        if self.categories is None:
            if self.level == "nominal":
                raise RatingsError(
                    f"scale: no categories found; the {self.level} level requires a list of them. Name the categories."
                )
            return
        object.__setattr__(
            self, "categories", tuple(self._category(value) for value in self.categories)
        )
        if len(set(self.categories)) != len(self.categories):
            twice = [c for i, c in enumerate(self.categories) if c in self.categories[:i]]
            raise RatingsError(
                f"scale: categories {listed(twice)} found twice; each is required once. Remove the repetition."
            )
        if len(self.categories) < 2:
            raise RatingsError(
                f"scale: {len(self.categories)} category found, {listed(self.categories)}; at least two are required, since agreement on "
                "the only possible label says nothing. Name as categories every label that raters could have chosen (--categories yes,no)."
            )

    def _check_dimensions(self) -> None:
        multivariate = self.level == "multivariate interval"
        if self.dimensions < 1 or (self.dimensions > 1) != multivariate:
            need = "two or more are" if multivariate else "one is"
            raise RatingsError(
                f"scale: {self.dimensions} dimensions found on the {self.level} level; {need} required there. Correct the level or the dimensions."
            )
        if multivariate and self.categories is not None:
            raise RatingsError(
                f"scale: categories {listed(self.categories)} found on the {self.level} level; none are possible there. Leave them out."
            )

    def _category(self, value: object) -> Category:
        if not present(value):
            raise RatingsError(
                f"scale: category {value!r} found; a name or a number is required. Leave missing ratings out of the categories."
            )
        if not self.numeric:
            return category_text(value)
        try:
            number = float(value)  # type: ignore[arg-type]
        except (TypeError, ValueError):
            raise RatingsError(
                f"scale: category {value!r} found on the {self.level} level; numbers are required there. Use level nominal or ordinal for names."
            ) from None
        if not abs(number) <= LARGEST or (self.level == "ratio" and number < 0):
            sign = "non-negative " if self.level == "ratio" else ""
            raise RatingsError(
                f"scale: category {value!r} found; the {self.level} level requires finite {sign}numbers up to {LARGEST:g} in size. Correct it."
            )
        return number

    @classmethod
    def from_labels(cls, labels: Iterable[object], level: Level = "nominal") -> "Scale":
        """The scale that the labels themselves suggest, its categories not declared.

        Nominal: the labels in text order. Ordinal: numbers in numeric order; words have no order that could be read off
        them, so they must be named. Interval and ratio: the distinct numbers, or any number where there are more than
        64 of them. Multivariate interval: as many dimensions as the longest label has.
        """
        if level == "multivariate interval":
            return cls(
                None, level, dimensions=max((len(numbers_of(label)) for label in labels), default=0)
            )
        distinct = {
            frozenset(label) if isinstance(label, set) else label
            for label in labels
            if present(label)
        }
        if level in ("interval", "ratio"):
            numbers = sorted({cls(None, level).number(label) for label in distinct})
            return (
                cls(None, level)
                if len(numbers) > MOST_CATEGORIES
                else cls(tuple(numbers), level, declared=False)
            )
        if level == "nominal":
            return cls(
                tuple(sorted({category_text(label) for label in distinct})), level, declared=False
            )
        try:
            ordered = sorted({category_text(label) for label in distinct}, key=_rank)
        except ValueError:
            raise RatingsError(
                f"scale: labels {listed(sorted(map(str, distinct)))} found on the ordinal level; words have no order of their own. "
                "Name the categories from the lowest to the highest (--categories low,middle,high)."
            ) from None
        return cls(tuple(ordered), level, declared=False)

    @property
    def numeric(self) -> bool:
        """Are labels numbers (interval, ratio, and any level without categories) rather than names (nominal, ordinal)?"""
        return self.level in ("interval", "ratio") or self.continuous

    @property
    def continuous(self) -> bool:
        """May any number occur, so that no list of categories exists?"""
        return self.categories is None

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The categories as text, in order; empty on a continuous scale."""
        return tuple(category_text(category) for category in self.categories or ())

    @property
    def scores(self) -> NDArray[np.float64]:
        """A number for each category, shape (K,): its value on an interval or ratio scale, else its rank 1 … K."""
        categories = self.categories or ()
        return np.array(categories if self.numeric else range(1, len(categories) + 1), dtype=float)

    def index(self, label: object) -> int:
        """The position of `label` among the categories.

        Raises
        ------
        RatingsError
            The scale does not hold the label.
        """
        try:
            return (self.categories or ()).index(
                self.number(label) if self.numeric else category_text(label)
            )
        except ValueError:
            raise RatingsError(
                f"scale: label {label!r} found; one of {listed(self.names)} is required. Correct the label or add it to the scale."
            ) from None

    def number(self, label: object) -> float:
        """`label` as the finite number that an interval or ratio scale requires."""
        return float(self._category(label))

    def to_mapping(self) -> dict[str, object]:
        """The scale as plain data."""
        categories = None if self.categories is None else list(self.categories)
        dimensions: dict[str, object] = (
            {"dimensions": self.dimensions} if self.dimensions > 1 else {}
        )
        declared: dict[str, object] = {} if self.declared else {"declared": False}
        return {"level": self.level, "categories": categories, **dimensions, **declared}

    @classmethod
    def from_mapping(cls, data: dict[str, object]) -> "Scale":
        """The scale that `to_mapping` wrote."""
        categories = data["categories"]
        return cls(
            None if categories is None else tuple(categories),  # type: ignore[arg-type]
            data["level"],  # type: ignore[arg-type]
            data.get("dimensions", 1),  # type: ignore[arg-type]
            data.get("declared", True),  # type: ignore[arg-type]
        )


def _rank(text: str) -> tuple[float, str]:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(text)
    return number, text


def present(label: object) -> bool:
    """Is there a label, rather than one of the marks for a missing one?

    >>> present("no"), present(0), present(None), present(float("nan"))
    (True, True, False, False)
    """
    itself = eq(label, label)
    return label is not None and isinstance(itself, (bool, np.bool_)) and bool(itself)


def category_text(value: object) -> str:
    """A category as it is written: whole numbers without a decimal point, the members of a set in order with `|` between them.

    >>> category_text(3.0), category_text("yes"), category_text(True)
    ('3', 'yes', 'True')
    >>> category_text({"joy", "anger"}), category_text(frozenset())
    ('anger|joy', '')
    """
    if isinstance(value, (set, frozenset)):
        return "|".join(sorted(map(category_text, value)))
    if isinstance(value, (bool, np.bool_)):
        return str(bool(value))
    if isinstance(value, (float, np.floating)) and float(value).is_integer():
        return str(int(value))
    return str(value)


def numbers_of(label: object) -> tuple[float, ...]:
    """The numbers of a vector, each finite and up to 1e150 in size: a tuple, a list, an array, or text with `|` between them; none where it is anything else.

    >>> numbers_of("71|166"), numbers_of([71, 166]), numbers_of("71|tall")
    ((71.0, 166.0), (71.0, 166.0), ())
    """
    parts = (
        label.split("|")
        if isinstance(label, str)
        else label
        if isinstance(label, (tuple, list, np.ndarray))
        else ()
    )
    try:
        numbers = tuple(float(part) for part in parts)
    except (TypeError, ValueError):
        return ()
    return numbers if all(abs(number) <= LARGEST for number in numbers) else ()
