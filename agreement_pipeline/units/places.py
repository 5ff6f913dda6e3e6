"""Where the units of marked objects lie: their names say it, of polygons and keypoints in part."""

import re
from collections.abc import Iterable, Sequence
from typing import Literal, cast

Points = Literal["corners", "keypoints"]

NUMBER = r"(\d+(?:\.\d+)?(?:e[+-]\d+)?)"
REPEAT_SUFFIX = r"(?: \(\d+\))?"
FORMS: dict[tuple[str, ...], re.Pattern[str]] = {
    ("start", "end"): re.compile(rf"(.*) {NUMBER}-{NUMBER}{REPEAT_SUFFIX}", re.DOTALL),
    ("x", "y", "width", "height"): re.compile(
        rf"(.*) {NUMBER},{NUMBER} {NUMBER}x{NUMBER}{REPEAT_SUFFIX}", re.DOTALL
    ),
}
OF_POINTS = re.compile(
    rf"(.*) {NUMBER},{NUMBER} with \d+ (corners|keypoints){REPEAT_SUFFIX}", re.DOTALL
)
NOTHING = " nothing marked"
NONE = "none"
"""The label of a rater who saw a unit and marked nothing there."""


def number_names_of_units(units: Iterable[str]) -> tuple[str, ...]:
    """The numbers that the names of units have, if they are the same.

    >>> number_names_of_units(["d 0-3", "e nothing marked"]), number_names_of_units(["d 0-3", "e"])
    (('start', 'end'), ())
    """
    names = list(units)
    for numbers, form in FORMS.items():
        if all(form.fullmatch(name) or name.endswith(NOTHING) for name in names):
            return numbers if any(map(form.fullmatch, names)) else ()
    return ()


def point_noun_of_units(units: Iterable[str]) -> Points | None:
    """What points the names of units count, if it is the same.

    >>> point_noun_of_units(["i 10,20 with 4 corners", "j nothing marked"])
    'corners'
    """
    marked = [name for name in units if not name.endswith(NOTHING)]
    kinds = {match[4] if match else None for match in map(OF_POINTS.fullmatch, marked)}
    return cast(Points | None, kinds.pop()) if len(kinds) == 1 else None


def item_of(unit: str, numbers: Sequence[str]) -> tuple[str, tuple[float | None, ...]]:
    """The item of a unit, and its numbers: None if nothing was marked in the item.

    >>> item_of("i 1.png 10,20 30x40.5 (2)", ("x", "y", "width", "height"))
    ('i 1.png', (10.0, 20.0, 30.0, 40.5))
    """
    match = FORMS[tuple(numbers)].fullmatch(unit)
    if match is None:
        return unit.removesuffix(NOTHING), (None,) * len(numbers)
    item, *number_texts = match.groups()
    return item, tuple(map(float, number_texts))


def document_of(unit: str) -> str:
    """The item of a unit of any kind of object.

    >>> document_of("i 1.png 10,20 with 4 corners (2)"), document_of("d 0-3")
    ('i 1.png', 'd')
    """
    matches = (form.fullmatch(unit) for form in (*FORMS.values(), OF_POINTS))
    return next((match[1] for match in matches if match), unit.removesuffix(NOTHING))


def place_numbers_of(unit: str) -> tuple[float, ...]:
    """The numbers of a unit of any kind of object. None of polygons and keypoints.

    >>> place_numbers_of("d 0-3"), place_numbers_of("i 1.png 10,20 with 4 corners")
    ((0.0, 3.0), ())
    """
    matches = (form.fullmatch(unit) for form in FORMS.values())
    return next((tuple(map(float, match.groups()[1:])) for match in matches if match), ())
