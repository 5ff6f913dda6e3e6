"""Cron expressions of five fields, and their nicknames."""

import re
from typing import NamedTuple

NICKNAMES = ("@hourly", "@daily", "@midnight", "@weekly", "@monthly", "@yearly", "@annually")
MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
DAYS = ("sun", "mon", "tue", "wed", "thu", "fri", "sat")
LONGEST_MONTH = (31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
LAST_DAY = range(28, 32)
PART = re.compile(
    r"(?:\*|(?P<first>[a-z]{3}|[0-9]{1,2})(?:-(?P<last>[a-z]{3}|[0-9]{1,2}))?)"
    r"(?:/(?P<step>[0-9]{1,2}))?"
)


class Field(NamedTuple):
    """The least and the greatest number of a field, its names, and signs for some numbers."""

    least: int
    greatest: int
    names: dict[str, int]
    signs: dict[str, range]


FIELDS = (
    Field(0, 59, {}, {}),
    Field(0, 23, {}, {}),
    Field(1, 31, {}, {"?": range(1, 32), "l": LAST_DAY}),
    Field(1, 12, {name: number for number, name in enumerate(MONTHS, 1)}, {}),
    Field(0, 7, {name: number for number, name in enumerate(DAYS)}, {"?": range(8)}),
)


def is_cron_expression(text: str) -> bool:
    """True for five cron fields whose day exists, and for a nickname.

    A field holds numbers, names, ranges, steps or a list of these. The fields are minute, hour, day
    of the month, month and day of the week. A range may pass the end of its field. Instead of a
    day, `?` stands for any day. `L` stands for the last day of the month.

    >>> is_cron_expression("0 6 * * 1"), is_cron_expression("*/15 8-18 L jan,jul fri-mon")
    (True, True)
    >>> is_cron_expression("@daily"), is_cron_expression("0 6 30 2 *")
    (True, False)
    """
    if text.lower() in NICKNAMES:
        return True
    fields = text.lower().split()
    if not (text.isascii() and text.isprintable()) or len(fields) != len(FIELDS):
        return False
    numbers = [_numbers(text, field) for text, field in zip(fields, FIELDS, strict=True)]
    longest = max((LONGEST_MONTH[month - 1] for month in numbers[3]), default=0)
    return all(numbers) and min(numbers[2]) <= longest


def _numbers(text: str, field: Field) -> set[int]:
    """The numbers that the text of a field stands for; none if one of its parts is wrong."""
    parts = [_part(part, field) for part in text.split(",")]
    return set().union(*parts) if all(parts) else set()


def _part(part: str, field: Field) -> set[int]:
    match = PART.fullmatch(part)
    if match is None:
        return set(field.signs.get(part, ()))
    first, last, step = match["first"], match["last"], match["step"]
    begin = field.least if first is None else _number(first, field)
    end = _number(last, field) if last else begin if first and not step else field.greatest
    known = field.least <= min(begin, end) and max(begin, end) <= field.greatest
    if not known or step in ("0", "00"):
        return set()
    beyond = 0 if begin <= end else field.greatest + 1 - field.least
    numbers = range(begin, end + beyond + 1, int(step or 1))
    return {
        (each - field.least) % (field.greatest + 1 - field.least) + field.least for each in numbers
    }


def _number(text: str, field: Field) -> int:
    """The number of a name or of digits; -1 for an unknown name."""
    return int(text) if text.isdigit() else field.names.get(text, -1)
