"""The forms in which people and programs write times, as regexes that all engines read alike."""

import re
from dataclasses import dataclass
from typing import Literal

Order = Literal["day first", "month first"]
DAY, MONTH, YEAR, SHORT_YEAR = "([0-9]{1,2})", "([0-9]{1,2})", "([0-9]{4})", "([0-9]{2})"
YEAR_OF_ANY_LENGTH = "([0-9]{4}|[0-9]{2})"
NAME_OF_MONTH = "([A-Za-zäÄ]{3,9})[.]?"
WEEKDAY = "(?:[A-Za-zäÄ]{2,10}[.]?,? +)?"
HOURS = "([0-9]{1,2}):([0-9]{2})(?::([0-9]{2})(?:[.,]([0-9]{1,9}))?)?(?: ?([AaPp])[.]?[Mm][.]?)?"
ZONE = "((?:GMT|UTC)?[+-][0-9]{2}:?[0-9]{2}|[+-][0-9]{2}|[A-Z]{1,4})"
CLOCK = f"(?:(?:,? +(?:at +|um +)?|T|:){HOURS}(?: ?Uhr)?(?: ?{ZONE}(?: [(].*[)])?)?)?"
CLOCK_PARTS = ("hour", "minute", "second", "fraction", "half", "zone")
ORDERS: dict[Order, tuple[str, str]] = {
    "day first": ("day", "month"),
    "month first": ("month", "day"),
}
DIRECTIVES = {
    "Y": ("year", YEAR),
    "y": ("short year", SHORT_YEAR),
    "m": ("month", MONTH),
    "d": ("day", DAY),
    "b": ("name of month", NAME_OF_MONTH),
    "B": ("name of month", NAME_OF_MONTH),
    "a": ("", "[A-Za-zäÄ]{2,10}[.]?"),
    "A": ("", "[A-Za-zäÄ]{2,10}[.]?"),
    "H": ("hour", "([0-9]{1,2})"),
    "I": ("hour", "([0-9]{1,2})"),
    "M": ("minute", "([0-9]{1,2})"),
    "S": ("second", "([0-9]{1,2})"),
    "f": ("fraction", "([0-9]{1,9})"),
    "p": ("half", "([AaPp])[.]?[Mm][.]?"),
    "z": ("zone", ZONE),
    "Z": ("zone", ZONE),
    "%": ("", "%"),
}
"""The directives of `strptime` that a time format may have: the part of a time and its regex."""


@dataclass(frozen=True)
class TimeForm:
    """How a time may be written: a regex, and the part of the time that each of its groups is.

    With a `mark` between them, the first two groups are a day and a month in one of two orders.
    """

    regex: str
    parts: tuple[str, ...]

    mark: str = ""

    @property
    def pattern(self) -> str:
        return f"^{self.regex}$"

    @property
    def n_parts(self) -> int:
        return len(self.parts)

    def with_day_month_order(self, order: Order | None) -> "TimeForm | None":
        """The form once it is known which number is the day. None if it is not.

        Nobody is known to write a month first before a point, but where the days show it.
        """
        if not self.mark:
            return self
        known_order = order or ("day first" if self.mark == "." else None)
        return known_order and TimeForm(self.regex, (*ORDERS[known_order], *self.parts[2:]))


def has_parts_of_a_day(time_format: object) -> bool:
    """True if a time format has year, month and day, each once, and no unknown directive.

    >>> has_parts_of_a_day("%d/%m/%Y %H:%M"), has_parts_of_a_day("%H:%M"), has_parts_of_a_day("d/m")
    (True, False, False)
    """
    if not isinstance(time_format, str):
        return False
    names = re.findall("%(.?)", time_format)
    if any(name not in DIRECTIVES for name in names):
        return False
    parts = [DIRECTIVES[name][0] for name in names if DIRECTIVES[name][0]]
    kinds = [part.split()[-1] for part in parts]
    return len({*kinds}) == len(kinds) and {"year", "month", "day"} <= {*kinds}


def parse_time_format(time_format: str) -> TimeForm:
    """The form that a format of `strptime` names. Numbers need no leading zeros."""
    regex, parts = "", []
    for directive, text in re.findall(r"%(.)|([^%]+)", time_format):
        if directive:
            part, pattern = DIRECTIVES[directive]
            regex += pattern
            parts += [part] if part else []
        else:
            regex += "".join(
                " +"
                if character == " "
                else character
                if character.isalnum()
                else f"[{_escape_in_character_class(character)}]"
                for character in text
            )
    return TimeForm(regex, tuple(parts))


def _escape_in_character_class(mark: str) -> str:
    return f"\\{mark}" if mark in "^]\\" else mark


OF_NUMBERS = ("first number", "second number", "any year", *CLOCK_PARTS)
NUMERIC = {
    "/": TimeForm(f"{DAY}/{MONTH}/{YEAR_OF_ANY_LENGTH}{CLOCK}", OF_NUMBERS, "/"),
    "-": TimeForm(f"{DAY}-{MONTH}-{YEAR}{CLOCK}", OF_NUMBERS, "-"),
    ".": TimeForm(f"{DAY}[.] ?{MONTH}[.] ?{YEAR_OF_ANY_LENGTH}{CLOCK}", OF_NUMBERS, "."),
}
"""Days of two numbers and a year, by the mark between them. A column tells which is the month."""

UNAMBIGUOUS = (
    TimeForm(f"{YEAR}[-/.]{MONTH}[-/.]{DAY}{CLOCK}", ("year", "month", "day", *CLOCK_PARTS)),
    TimeForm(
        f"{WEEKDAY}{DAY}(?:st|nd|rd|th|[.])?[ /-]{NAME_OF_MONTH}[ ,/-]+{YEAR_OF_ANY_LENGTH}{CLOCK}",
        ("day", "name of month", "any year", *CLOCK_PARTS),
    ),
    TimeForm(
        f"{WEEKDAY}{NAME_OF_MONTH} +{DAY}(?:st|nd|rd|th)?,? +{YEAR}{CLOCK}",
        ("name of month", "day", "year", *CLOCK_PARTS),
    ),
    TimeForm(
        f"{WEEKDAY}{NAME_OF_MONTH} +{DAY} +{HOURS}(?: {ZONE})? +{YEAR}",
        ("name of month", "day", *CLOCK_PARTS, "year"),
    ),
    TimeForm(
        f"{YEAR}(0[1-9]|1[0-2])([0-3][0-9])([0-2][0-9])([0-5][0-9])([0-5][0-9])",
        ("year", "month", "day", "hour", "minute", "second"),
    ),
)
