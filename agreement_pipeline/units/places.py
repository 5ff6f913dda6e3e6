"""Where the units of spans, segments and boxes lie: their names say it."""

import re
from collections.abc import Iterable, Sequence

NUMBER = r"(\d+(?:\.\d+)?(?:e[+-]\d+)?)"
AGAIN = r"(?: \(\d+\))?"
FORMS: dict[tuple[str, ...], re.Pattern[str]] = {
    ("start", "end"): re.compile(rf"(.*) {NUMBER}-{NUMBER}{AGAIN}", re.DOTALL),
    ("x", "y", "width", "height"): re.compile(
        rf"(.*) {NUMBER},{NUMBER} {NUMBER}x{NUMBER}{AGAIN}", re.DOTALL
    ),
}
"""What the names of units say, by the numbers in them."""
OF_POINTS = re.compile(rf"(.*) {NUMBER},{NUMBER} with \d+ (?:corners|keypoints){AGAIN}", re.DOTALL)
NOTHING = " nothing marked"


def numbers_named(units: Iterable[str]) -> tuple[str, ...]:
    """The numbers that the names of units have. None if a name has others, or has none.

    >>> numbers_named(["d1 0-3", "d2 nothing marked"]), numbers_named(["d1 0-3", "d2"])
    (('start', 'end'), ())
    """
    names = list(units)
    for numbers, form in FORMS.items():
        if all(form.fullmatch(name) or name.endswith(NOTHING) for name in names):
            return numbers if any(map(form.fullmatch, names)) else ()
    return ()


def item_of(unit: str, numbers: Sequence[str]) -> tuple[str, tuple[float | None, ...]]:
    """The item of a unit, and its numbers. They are None if nothing was marked in the item.

    >>> item_of("i 1.png 10,20 30x40.5 (2)", ("x", "y", "width", "height"))
    ('i 1.png', (10.0, 20.0, 30.0, 40.5))
    """
    found = FORMS[tuple(numbers)].fullmatch(unit)
    if found is None:
        return unit.removesuffix(NOTHING), (None,) * len(numbers)
    item, *said = found.groups()
    return item, tuple(map(float, said))


def document_of(unit: str) -> str:
    """The item of a unit of any kind of object.

    >>> document_of("i 1.png 10,20 with 4 corners (2)"), document_of("d 0-3")
    ('i 1.png', 'd')
    """
    found = (form.fullmatch(unit) for form in (*FORMS.values(), OF_POINTS))
    return next((each[1] for each in found if each), unit.removesuffix(NOTHING))
