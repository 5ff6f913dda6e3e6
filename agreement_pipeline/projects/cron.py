"""Cron expressions of five fields."""

import re

MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
DAYS = ("sun", "mon", "tue", "wed", "thu", "fri", "sat")
FIELDS: tuple[tuple[int, int, dict[str, int]], ...] = (
    (0, 59, {}),
    (0, 23, {}),
    (1, 31, {}),
    (1, 12, {name: number for number, name in enumerate(MONTHS, 1)}),
    (0, 7, {name: number for number, name in enumerate(DAYS)}),
)
"""The least and the greatest number of each field, and its names."""
LONGEST_MONTH = (31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
PART = re.compile(
    r"(?:\*|(?P<first>[a-z]{3}|[0-9]{1,2})(?:-(?P<last>[a-z]{3}|[0-9]{1,2}))?)"
    r"(?:/(?P<step>[0-9]{1,2}))?"
)


def is_cron_expression(text: str) -> bool:
    """True for five cron fields whose day exists.

    A field holds numbers, names, ranges, steps or a list of these. The fields are minute, hour, day
    of the month, month and day of the week.

    >>> is_cron_expression("0 6 * * 1"), is_cron_expression("*/15 8-18 * jan,jul mon-fri")
    (True, True)
    >>> is_cron_expression("0 6 * *"), is_cron_expression("0 6 30 2 *")
    (False, False)
    """
    fields = text.lower().split()
    if not (text.isascii() and text.isprintable()) or len(fields) != len(FIELDS):
        return False
    numbers = [_numbers(field, *known) for field, known in zip(fields, FIELDS, strict=True)]
    longest = max((LONGEST_MONTH[month - 1] for month in numbers[3]), default=0)
    return all(numbers) and min(numbers[2]) <= longest


def _numbers(field: str, least: int, greatest: int, names: dict[str, int]) -> set[int]:
    """The numbers that a field stands for; none if one of its parts is wrong."""
    parts = [_part(part, least, greatest, names) for part in field.split(",")]
    return set().union(*parts) if all(parts) else set()


def _part(part: str, least: int, greatest: int, names: dict[str, int]) -> range:
    match = PART.fullmatch(part)
    if match is None:
        return range(0)
    first, last, step = match["first"], match["last"], match["step"]
    begin = least if first is None else _number(first, names)
    end = _number(last, names) if last else begin if first and not step else greatest
    if not least <= begin <= end <= greatest or step in ("0", "00"):
        return range(0)
    return range(begin, end + 1, int(step or 1))


def _number(text: str, names: dict[str, int]) -> int:
    """The number of a name or of digits; -1 for an unknown name."""
    return int(text) if text.isdigit() else names.get(text, -1)
