"""Rows by their times: bounds, and the days, weeks, months and years that rounds are cut into.

Times are read in UTC. One without a zone is in UTC, and a day is its beginning.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_args

from agreement_pipeline.errors import ProjectError, RatingsError
from agreement_pipeline.mistakes import (
    CLOSED,
    Value,
    is_number,
    is_text,
    one_of_value,
    refuse_mistakes,
)
from agreement_pipeline.ratings import category_text

if TYPE_CHECKING:
    from agreement_pipeline.readers.rows import Rows

Period = Literal["day", "week", "month", "quarter", "year"]
Bound = str | int | float | date
Bounds = dict[str, Bound]
"""`from` this value on, and `before` that one. Texts are times, and numbers are numbers."""
OPERATORS = {"from": ">=", "before": "<"}
FIELD_PREFIX = "field:"
ZONE = "(Z|[+-][0-9]{2}(:?[0-9]{2})?)$"
START = "^[0-9]{4}-[0-9]{2}-[0-9]{2}"
COLUMN = Value("the name of a column", is_text)


@dataclass(frozen=True)
class RoundPeriods:
    """Which column tells the round of each row.

    Parameters
    ----------
    column
        Its values are the names of rounds. With `every`, they are times.
    every
        The period of a round: day, week (of ISO 8601), month, quarter or year, in UTC. An item is
        in the round of its first time, so it stays whole.
    """

    __pydantic_config__ = CLOSED

    column: Annotated[str, COLUMN]
    every: Annotated[Period | None, one_of_value(get_args(Period))] = None

    def __post_init__(self) -> None:
        refuse_mistakes(self, ProjectError)


def cut_into_rounds(rows: "Rows", rounds: RoundPeriods) -> "Rows":
    """The rows with their rounds, in the column `round`."""
    field, place = FIELD_PREFIX + rounds.column, f"{rows.source}: field {rounds.column!r}"
    text = rows.text_sql(field)
    if rows.has_row(rows.is_blank_sql(field)):
        raise RatingsError(
            f"{place}: found rows without a value; expected the round, or the time, of every row. "
            "Fill it in, or leave these rows out with `where`."
        )
    if rounds.every is None:
        return rows.with_computed({"round": text}, [*rows.names, "round"])
    instant = _instant_sql(rows, field)
    _refuse_no_time(rows, field, instant, rounds.column)
    first_instant = f"MIN({instant}) OVER (PARTITION BY {rows.text_sql('item')})"
    return rows.with_computed(
        {"round": _PERIODS[rounds.every].format(at=first_instant)}, [*rows.names, "round"]
    )


_YEAR = "CAST(EXTRACT(YEAR FROM {at}) AS STRING)"
_MONTH = "LPAD(CAST(EXTRACT(MONTH FROM {at}) AS STRING), 2, '0')"
_DAY = "LPAD(CAST(EXTRACT(DAY FROM {at}) AS STRING), 2, '0')"
_WEEK = "LPAD(CAST(EXTRACT(WEEK FROM {at}) AS STRING), 2, '0')"
# Week 1 of ISO 8601 may begin in December, and the last week of a year may end in January. Engines
# have no name in common for its year.
_YEAR_OF_WEEK = (
    "CAST(EXTRACT(YEAR FROM {at}) + CASE "
    "WHEN EXTRACT(WEEK FROM {at}) = 1 AND EXTRACT(MONTH FROM {at}) = 12 THEN 1 "
    "WHEN EXTRACT(WEEK FROM {at}) > 50 AND EXTRACT(MONTH FROM {at}) = 1 THEN -1 "
    "ELSE 0 END AS STRING)"
)
_PERIODS: Mapping[Period, str] = {
    "day": f"CONCAT({_YEAR}, '-', {_MONTH}, '-', {_DAY})",
    "week": f"CONCAT({_YEAR_OF_WEEK}, '-W', {_WEEK})",
    "month": f"CONCAT({_YEAR}, '-', {_MONTH})",
    "quarter": f"CONCAT({_YEAR}, '-Q', CAST(EXTRACT(QUARTER FROM {{at}}) AS STRING))",
    "year": _YEAR,
}


def _instant_sql(rows: "Rows", field: str) -> str:
    """The time of a field as SQL, in UTC. None where it is no time.

    An engine reads a text without a zone in a zone of its own, so UTC is written behind it.
    """
    session, text = rows.relation.session, f"TRIM({rows.text_sql(field)})"
    is_spark = session.engine == "spark"
    is_day = session.matches_sql(text, f"{START}$")
    has_zone = session.matches_sql(text, f"[0-9:]{ZONE}")
    full_text = f"CASE WHEN {is_day} THEN CONCAT({text}, ' 00:00:00Z') WHEN {has_zone} THEN {text} "
    full_text += f"ELSE CONCAT({text}, 'Z') END"
    instant = f"TRY_CAST({full_text} AS {'TIMESTAMP_LTZ' if is_spark else 'TIMESTAMPTZ'})"
    return f"CASE WHEN {session.matches_sql(text, START)} THEN {instant} END"


def _refuse_no_time(rows: "Rows", field: str, instant: str, name: str) -> None:
    no_time = f"NOT {rows.is_blank_sql(field)} AND {instant} IS NULL"
    if rows.has_row(no_time):
        (text,) = rows.relation.query_column(
            f"SELECT {rows.text_sql(field)} FROM {rows} WHERE {no_time} ORDER BY nth LIMIT 1"
        )
        raise RatingsError(
            f"{rows.source}: field {name!r}: found {text!r}; expected a time as 2026-11-03 or "
            "2026-11-03T10:00:00Z. Write the times in this form."
        )


def is_in_bounds_sql(rows: "Rows", name: str, bounds: Bounds) -> str:
    """The test of SQL whether a field lies in bounds. It does not where it is blank."""
    field, tests = FIELD_PREFIX + name, list[str]()
    for key, bound in bounds.items():
        operator = OPERATORS[key]
        if is_number(bound):
            number = rows.number_sql(field)
            no_number = f"NOT {rows.is_blank_sql(field)} AND {number} IS NULL"
            if rows.has_row(no_number):
                raise RatingsError(
                    f"{rows.source}: field {name!r}: found a value that is no number; expected "
                    f"numbers, since `where` says {key}: {bound}. Correct the bound or the rows."
                )
            tests.append(f"{number} {operator} {float(bound)!r}")  # type: ignore[arg-type]
        else:
            instant = _instant_sql(rows, field)
            _refuse_no_time(rows, field, instant, name)
            limit = rows.value_sql(parse_bound(bound).strftime("%Y-%m-%d %H:%M:%S.%fZ"))
            kind = "TIMESTAMP_LTZ" if rows.relation.session.engine == "spark" else "TIMESTAMPTZ"
            tests.append(f"{instant} {operator} CAST({limit} AS {kind})")
    return f"COALESCE({' AND '.join(tests)}, FALSE)"


def parse_bound(bound: Any) -> datetime:
    """A bound as a time in UTC.

    >>> parse_bound("2026-11-03T12:00:00+02:00").isoformat(), parse_bound("2026-11-03").isoformat()
    ('2026-11-03T10:00:00+00:00', '2026-11-03T00:00:00+00:00')
    """
    time = datetime.fromisoformat(str(bound))
    return time.astimezone(UTC) if time.tzinfo else time.replace(tzinfo=UTC)


def refuse_wrong_bounds(conditions: Mapping[str, Any]) -> None:
    """Refuse bounds that are neither numbers nor times."""
    for name, bounds in conditions.items():
        if not isinstance(bounds, Mapping):
            continue
        bounds_text = ", ".join(f"{key}: {category_text(value)}" for key, value in bounds.items())
        if not bounds or not {*bounds} <= {*OPERATORS}:
            raise ProjectError(
                f"where: {name}: found {bounds_text or 'nothing'}; expected `from`, `before` or "
                "both. Correct the bounds."
            )
        if len({is_number(bound) for bound in bounds.values()}) > 1:
            raise ProjectError(
                f"where: {name}: found {bounds_text}; expected two numbers or two times. Correct "
                "them."
            )
        for bound in bounds.values():
            try:
                _ = is_number(bound) or parse_bound(bound)
            except ValueError:
                raise ProjectError(
                    f"where: {name}: found {category_text(bound)!r}; expected a number, or a time "
                    "as 2026-11-03 or 2026-11-03T10:00:00Z. Correct the bound."
                ) from None
