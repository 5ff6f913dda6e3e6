"""How labels are spelt. One number is one label, and so is one set of labels."""

import re
from collections.abc import Callable, Hashable, Iterable
from decimal import Decimal

import numpy as np

from agreement_pipeline.errors import RatingsError
from agreement_pipeline.text import listed

LARGEST = 1e150  # squares of such numbers are finite, and so are sums of many squares
SMALLEST = 1e-100  # squares of the differences of such numbers are not lost
MEMBERS = "|"
NUMBER = re.compile(
    r"[+-]?(?:(?:0|[1-9][0-9]*)(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]{1,3})?", re.ASCII
)
SPELT = re.compile(r"\s*[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?\s*", re.ASCII)
WHOLE = re.compile(r"0|-?[1-9][0-9]*", re.ASCII)


def category_text(value: object) -> str:
    """A category as text.

    A whole number has no decimal point. The members of a set are sorted and joined with `|`.

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


def meaning(text: str, *, sets: bool) -> Hashable:
    """What a label means: a number, a set of labels, or the text itself.

    Leading zeros make a name of a number. `sets` says if `|` stands between the labels of a set.

    >>> meaning("1.0", sets=True) == meaning("+1", sets=True), meaning("01", sets=True)
    (True, '01')
    >>> meaning("joy|anger", sets=True) == meaning("anger|joy", sets=True)
    True
    """
    if sets and (MEMBERS in text or not text):
        members = frozenset(meaning(each, sets=False) for each in text.split(MEMBERS) if each)
        return next(iter(members)) if len(members) == 1 else members
    return Decimal(text) if NUMBER.fullmatch(text) else text


def set_in_order(text: str) -> str:
    """A set of labels as text: each label once, in order. The empty text is the empty set.

    >>> set_in_order("joy|anger|joy"), set_in_order("|"), set_in_order("joy")
    ('anger|joy', '', 'joy')
    """
    return category_text(frozenset(text.split(MEMBERS)) - {""}) if MEMBERS in text else text


def spelt_once(texts: Iterable[str], means: Callable[[str], Hashable]) -> set[str]:
    """Distinct labels, none of them in two spellings.

    If a program wrote all of them as numbers, they are numbers: `1.0` is `1`.

    Raises
    ------
    RatingsError
        Two labels mean the same.

    >>> sorted(spelt_once(["1", "1.0", "2.5"], Decimal))
    ['1', '2.5']
    """
    distinct = set(texts)
    if all(map(_written_by_a_program, distinct)):
        return {text if WHOLE.fullmatch(text) else category_text(float(text)) for text in distinct}
    if same := in_two_spellings(distinct, means):
        raise RatingsError(
            f"scale: found labels {listed(same)}, which are one label in several spellings; "
            "expected one spelling. Write it in one way, or name the categories "
            "(--categories 1,2,other). Then each spelling is the category that it means."
        )
    return distinct


def in_two_spellings(texts: Iterable[str], means: Callable[[str], Hashable]) -> list[str]:
    """The first texts that mean the same."""
    alike: dict[Hashable, list[str]] = {}
    for text in sorted(texts):
        alike.setdefault(means(text), []).append(text)
    return next((group for group in alike.values() if len(group) > 1), [])


def numbers_of(label: object) -> tuple[float, ...]:
    """The numbers of a vector, each finite and at most 1e150 in size.

    A vector is a tuple, a list, an array, or a text of numbers joined with `|`. Anything else
    gives no numbers.

    >>> numbers_of("71|166"), numbers_of([71, 166]), numbers_of("71|tall")
    ((71.0, 166.0), (71.0, 166.0), ())
    """
    parts = (
        label.split(MEMBERS)
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


def is_number(text: str) -> bool:
    """True for a text that every engine reads as the same number.

    >>> is_number(" 1e3 "), is_number("007"), is_number("1_0"), is_number("nan")
    (True, True, False, False)
    """
    return SPELT.fullmatch(text) is not None


def refuse_all_tiny(numbers: np.ndarray, where: str) -> None:
    """Refuse numbers that are all so small that their squares are lost.

    Raises
    ------
    RatingsError
        The largest of them is under 1e-100 in size, and is not 0.
    """
    largest = float(np.nanmax(np.abs(numbers), initial=0.0))
    if 0 < largest < SMALLEST:
        raise RatingsError(
            f"{where}: found no number beyond {largest:g} in size; expected one of at least "
            f"{SMALLEST:g}. Multiply all by one number: agreement does not depend on the unit."
        )


def _written_by_a_program(text: str) -> bool:
    """True for a number as Python and pandas write it."""
    if WHOLE.fullmatch(text):
        return True
    return bool(NUMBER.fullmatch(text)) and text == repr(float(text))


__all__ = [
    "LARGEST",
    "SMALLEST",
    "category_text",
    "in_two_spellings",
    "is_number",
    "meaning",
    "numbers_of",
    "refuse_all_tiny",
    "set_in_order",
    "spelt_once",
]
