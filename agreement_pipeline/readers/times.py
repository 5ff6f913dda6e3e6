"""Times of exports in one form: UTC, and sorted as text."""

import re
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from agreement_pipeline.errors import RatingsError

ZONES = {"PDT": "-0700", "PST": "-0800", "UTC": "+0000", "GMT": "+0000"}
IN_FORM = re.compile(r"\d{4}-\d\d-\d\dT(?:[01]\d|2[0-3]):\d\d:\d\d\.\d{6}Z", re.ASCII)
"""A time as `utc` writes it."""
MTURK = re.compile(r"(\w{3}) (\w{3} \d{1,2} \d{2}:\d{2}:\d{2}) ([A-Z]{2,5}) (\d{4})")


def utc(written: object, where: str) -> str | None:
    """A time in UTC, as text. A time without a zone stays without one.

    Raises
    ------
    RatingsError
        The text is no time.

    >>> utc("2026-09-02T11:05:00+02:00", "x"), utc("Wed Sep 02 02:05:00 PDT 2026", "x")
    ('2026-09-02T09:05:00.000000Z', '2026-09-02T09:05:00.000000Z')
    >>> utc(1788339900, "x"), utc("2026-09-02 09:05:00", "x"), utc("", "x")
    ('2026-09-02T09:05:00.000000Z', '2026-09-02T09:05:00.000000', None)
    """
    if written is None or written == "":
        return None
    if type(written) is str and IN_FORM.fullmatch(written) and _is_time(written):
        return written
    try:
        time = _time(written)
    except (ValueError, TypeError, KeyError, OverflowError, OSError):
        raise RatingsError(
            f"{where}: found time {written!r}; expected a date and a time, as "
            "2026-09-02T09:05:00Z. Correct the time, or export again."
        ) from None
    if time.tzinfo is None:
        return time.isoformat(timespec="microseconds")
    return time.astimezone(UTC).replace(tzinfo=None).isoformat(timespec="microseconds") + "Z"


def _is_time(text: str) -> bool:
    try:
        return bool(datetime.fromisoformat(text))
    except ValueError:
        return False


def _time(written: object) -> datetime:
    if isinstance(written, (int, float)):
        seconds = written / 1000 if written > 1e11 else written
        return datetime.fromtimestamp(seconds, UTC)
    text = str(written).strip()
    if found := MTURK.fullmatch(text):
        _, day, zone, year = found.groups()
        return datetime.strptime(f"{day} {year} {ZONES[zone]}", "%b %d %H:%M:%S %Y %z")
    if text[:1].isalpha():
        return parsedate_to_datetime(text)
    return datetime.fromisoformat(text)
