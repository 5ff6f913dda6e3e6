"""Scales: the possible labels, and their level of measurement."""

import ast
import json
import re
from collections import Counter
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import cached_property, partial
from operator import eq
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from agreement_pipeline.errors import RatingsError
from agreement_pipeline.mistakes import value_in_message
from agreement_pipeline.text import called, counted, listed

LARGEST = 1e150  # squares of such numbers are finite, and so are sums of many squares
SMALLEST = 1e-100  # squares of the differences of such numbers are not lost
MEMBERS = "|"
NUMBER = re.compile(
    r"[+-]?(?:(?:0|[1-9][0-9]*)(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]{1,3})?", re.ASCII
)
SPELT = "[+-]?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][+-]?[0-9]+)?"
"""How a number may be spelt, so that all engines read it alike."""
WHOLE_NUMBER = re.compile(r"0|-?[1-9][0-9]*", re.ASCII)


def category_text(value: object) -> str:
    """A category as text. Whole numbers have no decimal point, and sets have `|` between.

    >>> category_text(3.0), category_text("yes"), category_text(True)
    ('3', 'yes', 'True')
    >>> category_text({"joy", "anger"}), category_text(frozenset())
    ('anger|joy', '')
    """
    if type(value) is str:
        return value
    if isinstance(value, (set, frozenset)):
        return MEMBERS.join(sorted(map(category_text, value)))
    if isinstance(value, (bool, np.bool_)):
        return str(bool(value))
    if isinstance(value, (float, np.floating)) and float(value).is_integer():
        return str(int(value))
    return str(value)


def meaning_of_label(text: str, *, sets: bool) -> Hashable:
    """What a label means: a number, a set of labels, or the text itself.

    Leading zeros make a name of a number. `sets` says if `|` stands between the labels of a set.

    >>> meaning_of_label("1.0", sets=True) == meaning_of_label("+1", sets=True)
    True
    >>> meaning_of_label("01", sets=True)
    '01'
    >>> meaning_of_label("joy|anger", sets=True) == meaning_of_label("anger|joy", sets=True)
    True
    """
    if sets and (MEMBERS in text or not text):
        members = frozenset(
            meaning_of_label(member, sets=False) for member in text.split(MEMBERS) if member
        )
        return next(iter(members)) if len(members) == 1 else members
    return Decimal(text) if NUMBER.fullmatch(text) else text


class LabelSetError(RatingsError):
    """A cell is no set of labels."""


def set_members(cell: str) -> frozenset[str]:
    """The labels in a cell that may hold several, also of a list as JSON or Python writes it.

    >>> sorted(set_members("a|d")), sorted(set_members('["a", "d"]')), sorted(set_members("['a']"))
    (['a', 'd'], ['a', 'd'], ['a'])
    >>> set_members("|") == set_members("[]") == frozenset(), sorted(set_members("a"))
    (True, ['a'])
    """
    text = cell.strip()
    if not (text.startswith("[") and text.endswith("]")):
        return frozenset(label.strip() for label in cell.split(MEMBERS)) - {""}
    labels = _labels_in_list_text(text)
    texts = [category_text(label).strip() for label in labels or () if label is not None]
    if labels is None or len(texts) < len(labels) or "" in texts:
        raise LabelSetError(
            f"found {value_in_message(cell)}; expected a list of labels, as a|d or "
            '["a", "d"], without empty ones. Correct the cell.'
        )
    return frozenset(texts)


def _labels_in_list_text(text: str) -> list[object] | None:
    """None unless the text is a list of texts, numbers and truth values."""
    try:
        labels = json.loads(text)
    except ValueError:
        try:
            labels = ast.literal_eval(text)
        except (ValueError, SyntaxError, MemoryError, RecursionError):
            return None
    return labels if all(isinstance(label, str | int | float | None) for label in labels) else None


def labels_of_sets(cells: Iterable[str]) -> tuple[str, ...]:
    """The distinct labels in cells if some hold several, and they are not all numbers.

    >>> labels_of_sets(["a", "b|c", "b"]), labels_of_sets(["a", "b"]), labels_of_sets(["1|2"])
    (('a', 'b', 'c'), (), ())
    """
    members = [_members_or_cell(cell) for cell in cells]
    labels = frozenset[str]().union(*members)
    if max(map(len, members), default=0) < 2 or all(map(is_number, labels)):
        return ()
    return tuple(sorted(labels))


def count_set_labels(count_by_cell: Mapping[str, int]) -> dict[str, int]:
    """How often each label is in a cell, alone or among others.

    >>> count_set_labels({"a|b": 2, "a": 1})
    {'a': 3, 'b': 2}
    """
    counts = Counter[str]()
    for cell, n in count_by_cell.items():
        counts.update(dict.fromkeys(sorted(_members_or_cell(cell)), n))
    return dict(counts)


def _members_or_cell(cell: str) -> frozenset[str]:
    try:
        return set_members(cell)
    except LabelSetError:
        return frozenset({cell})


def set_in_order(text: str) -> str:
    """Each label of a set once, in order.

    >>> set_in_order("joy|anger|joy"), set_in_order("|"), set_in_order("joy")
    ('anger|joy', '', 'joy')
    """
    return category_text(frozenset(text.split(MEMBERS)) - {""}) if MEMBERS in text else text


def require_one_spelling(texts: Iterable[str], means: Callable[[str], Hashable]) -> set[str]:
    """Distinct labels, none of them in two spellings. `1.0` is `1` if all are numbers.

    >>> sorted(require_one_spelling(["1", "1.0", "2.5"], Decimal))
    ['1', '2.5']
    """
    distinct = set(texts)
    if all(
        WHOLE_NUMBER.fullmatch(text) or (NUMBER.fullmatch(text) and text == repr(float(text)))
        for text in distinct
    ):  # as a program writes numbers
        return {
            text if WHOLE_NUMBER.fullmatch(text) else category_text(float(text))
            for text in distinct
        }
    if spellings := find_two_spellings(distinct, means):
        raise RatingsError(
            f"scale: found labels {listed(spellings)}, which are one label in several spellings; "
            "expected one spelling. Write it in one way, or name the categories "
            "(--categories 1,2,other). Then each spelling is the category that it means."
        )
    return distinct


def find_two_spellings(texts: Iterable[str], means: Callable[[str], Hashable]) -> list[str]:
    """The first group of texts with one meaning. Empty if there is none."""
    alike: dict[Hashable, list[str]] = {}
    for text in sorted(texts):
        alike.setdefault(means(text), []).append(text)
    return next((group for group in alike.values() if len(group) > 1), [])


def numbers_of_vector(label: object) -> tuple[float, ...]:
    """The numbers of a vector, each finite and at most 1e150 in size. None of anything else.

    >>> numbers_of_vector("71|166"), numbers_of_vector([71, 166]), numbers_of_vector("71|tall")
    ((71.0, 166.0), (71.0, 166.0), ())
    """
    parts = label.split(MEMBERS) if isinstance(label, str) else label
    if not isinstance(parts, (tuple, list, np.ndarray)):
        return ()
    try:
        numbers = tuple(float(part) for part in parts)
    except (TypeError, ValueError):
        return ()
    return numbers if all(abs(number) <= LARGEST for number in numbers) else ()


def is_number(text: str) -> bool:
    """True for a text that every engine reads as the same number.

    >>> is_number(" 1e3 "), is_number("007"), is_number("1_0"), is_number("nan")
    (True, True, False, False)
    """
    return re.fullmatch(rf"\s*{SPELT}\s*", text, re.ASCII) is not None


def guess_level(labels: Iterable[str]) -> "Level":
    """The level of labels whose level nobody named. Numbers have an order, and distances matter
    where they are many or have decimals. Leading zeros make a name of a number.

    >>> guess_level(["1", "5"]), guess_level(["1", "2.5"]), guess_level(["01", "02"])
    ('ordinal', 'interval', 'nominal')
    """
    distinct = {label.strip() for label in labels}
    if not distinct or not all(map(NUMBER.fullmatch, distinct)):
        return "nominal"
    are_whole = all(float(label).is_integer() for label in distinct)
    return "ordinal" if are_whole and len(distinct) <= MAX_ORDINAL_NUMBERS else "interval"


def are_any_numbers(numbers: Collection[float]) -> bool:
    """Are numbers so many, or of such a kind, that raters may give any number? Else they are those
    that raters choose among.
    """
    return len(numbers) > MAX_NUMBERS_TO_CHOOSE or any(number % 1 for number in numbers)


def refuse_all_tiny(numbers: np.ndarray, place: str) -> None:
    """Refuse numbers that are all so small that their squares are lost."""
    largest = float(np.nanmax(np.abs(numbers), initial=0.0))
    if 0 < largest < SMALLEST:
        raise RatingsError(
            f"{place}: found no number beyond {largest:g} in size; expected one of at least "
            f"{SMALLEST:g}. Multiply all by one number: agreement does not depend on the unit."
        )


Level = Literal["nominal", "ordinal", "interval", "ratio", "multivariate interval"]
LEVELS: tuple[Level, ...] = get_args(Level)
UNIVARIATE: tuple[Level, ...] = LEVELS[:4]
MAX_ORDINAL_NUMBERS = 10
"""Of more different numbers, the distances matter unless somebody names another level."""
MAX_NUMBERS_TO_CHOOSE = 30
MAX_CATEGORIES_READ_OFF = 64
Array = NDArray[np.float64]
Codes = NDArray[np.int64]
Flags = NDArray[np.bool_]
Category = str | int | float
MAX_INT64 = 2**63 - 1
MISSING = -1  # the code of a missing rating, where codes are positions among the categories


@dataclass(frozen=True)
class Scale:
    """The possible categories of a label, in order, and their level of measurement.

    Parameters
    ----------
    categories
        At least two, all different:

        - nominal: texts
        - ordinal: texts from the lowest to the highest
        - interval and ratio: finite numbers of at most 1e150 in size, not all under 1e-100

        `None`: any such number can be a label, and on a multivariate interval scale any vector of
        such numbers. A nominal scale needs a list.
    level
        nominal, ordinal, interval, ratio or multivariate interval.
    dimensions
        The numbers in a label: two or more on a multivariate interval scale, else one.
    declared
        True if the team named the categories. False if they were read off the ratings. Then
        other categories are possible, and the ends of the scale are unknown.

    Raises
    ------
    RatingsError
        A value is not one of those described above.

    Examples
    --------
    >>> Scale(("no", "yes")).level, Scale(("low", "high"), "ordinal").position_of_label("high")
    ('nominal', 1)
    >>> Scale.from_labels([(71, 166), (74, 171)], "multivariate interval").dimensions
    2
    """

    categories: tuple[Category, ...] | None = None
    level: Level = "nominal"
    dimensions: int = 1
    declared: bool = True

    def __post_init__(self) -> None:
        if self.level not in LEVELS:
            raise RatingsError(
                f"scale: found level {self.level!r}; expected one of {listed(LEVELS)}. "
                "Correct the level."
            )
        multivariate = self.level == "multivariate interval"
        if self.dimensions < 1 or (self.dimensions > 1) != multivariate:
            raise RatingsError(
                f"scale: found {counted(self.dimensions, 'dimension')} on the {self.level} level; "
                f"expected {'two or more' if multivariate else 'one'} there. "
                "Correct the level or the dimensions."
            )
        if multivariate and self.categories is not None:
            raise RatingsError(
                f"scale: found categories {listed(self.categories)} on the {self.level} level; "
                "expected none there. Leave them out."
            )
        if self.categories is None:
            if self.level == "nominal":
                raise RatingsError(
                    f"scale: found no categories; expected a list of them on the {self.level} "
                    "level. Name the categories."
                )
            return
        categories = tuple(self._read_category(value) for value in self.categories)
        object.__setattr__(self, "categories", categories)
        self._refuse_repeated(categories)
        if self.numeric:
            refuse_all_tiny(np.array(categories, dtype=float), "scale")
        if len(categories) < 2:
            raise RatingsError(
                f"scale: found {counted(len(categories), 'category')}, {listed(categories)}; "
                "expected at least two, since agreement on the only possible label says nothing. "
                "Name as categories every label that raters could have chosen "
                "(--categories yes,no, or scale=Scale(('yes', 'no')) of read_ratings)."
            )

    def _read_category(self, value: object) -> Category:
        if not is_present(value):
            raise RatingsError(
                f"scale: found category {value!r}; expected a name or a number. "
                "Leave missing ratings out of the categories."
            )
        if not self.numeric:
            return category_text(value)
        try:
            number = float(value)  # type: ignore[arg-type]
        except (TypeError, ValueError):
            raise RatingsError(
                f"scale: found category {value!r} on the {self.level} level; "
                "expected numbers there. Use level nominal or ordinal for names."
            ) from None
        if not abs(number) <= LARGEST or (self.level == "ratio" and number < 0):
            sign = "non-negative " if self.level == "ratio" else ""
            raise RatingsError(
                f"scale: found category {value!r}; expected finite {sign}numbers of at most "
                f"{LARGEST:g} in size on the {self.level} level. Correct it."
            )
        return number

    def _refuse_repeated(self, categories: tuple[Category, ...]) -> None:
        repeated = [c for i, c in enumerate(categories) if c in categories[:i]]
        if repeated:
            raise RatingsError(
                f"scale: found {called('category', repeated)} twice; expected each once. "
                "Remove the repetition."
            )
        spellings = (
            [] if self.numeric else find_two_spellings(map(str, categories), self._meaning_of)
        )
        if spellings:
            raise RatingsError(
                f"scale: found categories {listed(spellings)}, which are one label in several "
                "spellings; expected each once. Keep one of them: a label in another spelling is "
                "read as that one."
            )

    def _meaning_of(self, text: str) -> Hashable:
        return meaning_of_label(text, sets=self.level == "nominal")

    @classmethod
    def from_labels(cls, labels: Iterable[object], level: Level = "nominal") -> "Scale":
        """The scale that fits the labels. Its categories are not declared.

        Nominal categories are in text order, and ordinal ones are numbers in their order. Interval
        and ratio scales have the distinct numbers, or no list if these are over 64. Multivariate
        interval scales have no list, and the longest label gives the dimensions.
        """
        if level == "multivariate interval":
            return cls(
                None,
                level,
                dimensions=max((len(numbers_of_vector(label)) for label in labels), default=0),
            )
        distinct = {
            frozenset(label) if isinstance(label, set) else label
            for label in labels
            if is_present(label)
        }
        if level in ("interval", "ratio"):
            # Adding 0 makes -0.0 the 0.0 that it equals, whichever of the two comes first.
            numbers = sorted({cls(None, level).number_of_label(label) + 0.0 for label in distinct})
            return (
                cls(None, level)
                if len(numbers) > MAX_CATEGORIES_READ_OFF
                else cls(tuple(numbers), level, declared=False)
            )
        texts = map(category_text, distinct)
        if level == "nominal":
            single_spellings = require_one_spelling(
                map(set_in_order, texts), partial(meaning_of_label, sets=True)
            )
            return cls(tuple(sorted(single_spellings)), level, declared=False)
        try:
            ranks = {text: _finite_decimal(text) for text in texts}
        except (ArithmeticError, ValueError):
            raise RatingsError(
                f"scale: found labels {listed(sorted(map(str, distinct)))} on the ordinal level; "
                "expected numbers, since words have no order of their own. "
                "Name the categories from the lowest to the highest "
                "(--categories low,middle,high)."
            ) from None
        ordered = sorted(require_one_spelling(ranks, ranks.__getitem__), key=_finite_decimal)
        return cls(tuple(ordered), level, declared=False)

    @property
    def numeric(self) -> bool:
        """True if labels are numbers: on interval and ratio scales, and without categories."""
        return self.level in ("interval", "ratio") or self.continuous

    @property
    def continuous(self) -> bool:
        """True if any number can be a label, so there is no list of categories."""
        return self.categories is None

    @cached_property
    def names(self) -> tuple[str, ...]:
        return tuple(category_text(category) for category in self.categories or ())

    @cached_property
    def label_values(self) -> tuple[str, ...] | tuple[bool, ...] | tuple[int | float, ...]:
        """The categories as data: booleans or numbers where all are spelt so, and texts otherwise.

        A number must have one spelling, or the label could not be given back as it came.

        >>> Scale(("1", "2"), "ordinal").label_values, Scale(("False", "True")).label_values
        ((1, 2), (False, True))
        >>> Scale(("1", "2.5")).label_values, Scale(("01", "2")).label_values
        ((1.0, 2.5), ('01', '2'))
        """
        names = self.names
        if set(names) == {"False", "True"}:
            return tuple(name == "True" for name in names)
        if all(WHOLE_NUMBER.fullmatch(name) and abs(int(name)) <= MAX_INT64 for name in names):
            return tuple(map(int, names))
        if all(NUMBER.fullmatch(name) and name == category_text(float(name)) for name in names):
            return tuple(map(float, names))
        return names

    @property
    def in_words(self) -> str:
        several = f" of {self.dimensions} dimensions" if self.dimensions > 1 else ""
        if self.continuous:
            return f"{self.level}{several} without categories"
        origin_words = "" if self.declared else ", read off the labels"
        return f"{self.level} with categories {listed(self.names, 12)}{origin_words}"

    @property
    def scores(self) -> NDArray[np.float64]:
        """The value of each category, or its rank from 1 to K on other levels; shape (K,)."""
        categories = self.categories or ()
        return np.array(categories if self.numeric else range(1, len(categories) + 1), dtype=float)

    @property
    def canonical(self) -> "Scale":
        """Categories are sorted. On an ordinal scale their order stays."""
        if self.categories is None or self.level == "ordinal":
            return self
        return replace(self, categories=tuple(sorted(self.categories)))

    def positions_of(self, ordered: "Scale") -> Codes:
        """The position on this scale of each category of another one. Shape (K,)."""
        return np.array([self.names.index(name) for name in ordered.names], dtype=np.int64)

    def position_of_label(self, label: object) -> int:
        """The position of a label, however it is spelt."""
        try:
            if self.numeric:
                return (self.categories or ()).index(self.number_of_label(label))
            return self._place_of_meaning[self._meaning_of(category_text(label))]
        except (ValueError, KeyError):
            raise RatingsError(
                f"scale: found label {label!r}; expected one of {listed(self.names)}. "
                "Correct the label or add it to the scale."
            ) from None

    def places_of_labels(self, texts: Iterable[str]) -> Codes:
        """The position of each label among the categories, however it is spelt; -1 if it is none.

        >>> Scale(("1", "joy|anger")).places_of_labels(["1.0", "anger|joy", "2"]).tolist()
        [0, 1, -1]
        """
        places = self._place_of_meaning
        return np.array(
            [places.get(self._meaning_of(text), MISSING) for text in texts], dtype=np.int64
        )

    @cached_property
    def _place_of_meaning(self) -> dict[Hashable, int]:
        return {self._meaning_of(name): place for place, name in enumerate(self.names)}

    def number_of_label(self, label: object) -> float:
        """The number that a label is on this scale."""
        return float(self._read_category(label))

    def to_mapping(self) -> dict[str, object]:
        categories = None if self.categories is None else list(self.categories)
        dimensions: dict[str, object] = (
            {"dimensions": self.dimensions} if self.dimensions > 1 else {}
        )
        declared: dict[str, object] = {} if self.declared else {"declared": False}
        return {"level": self.level, "categories": categories, **dimensions, **declared}

    @classmethod
    def from_mapping(cls, data: dict[str, object]) -> "Scale":
        categories = data["categories"]
        return cls(
            None if categories is None else tuple(categories),  # type: ignore[arg-type]
            data["level"],  # type: ignore[arg-type]
            data.get("dimensions", 1),  # type: ignore[arg-type]
            data.get("declared", True),  # type: ignore[arg-type]
        )


def no_categories_error(scale: Scale) -> RatingsError:
    """The error of who asks for categories where there are none."""
    return RatingsError(
        f"ratings: found the {scale.level} level without categories; expected a list "
        "of them to count labels. Name the categories."
    )


def _finite_decimal(text: str) -> Decimal:
    number = Decimal(text)
    if not number.is_finite():
        raise ValueError(text)
    return number


def is_present(label: object) -> bool:
    """False for a mark of a missing label.

    >>> is_present("no"), is_present(0), is_present(None), is_present(float("nan"))
    (True, True, False, False)
    """
    itself = eq(label, label)
    return label is not None and isinstance(itself, (bool, np.bool_)) and bool(itself)
