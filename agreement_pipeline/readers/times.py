"""Times of a table in the forms that people and programs write, as ISO 8601 in UTC or without zone.

A form is read if it is unambiguous over the whole column. Other times stay as they were written, so
that the decision can count them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from agreement_pipeline.errors import RatingsError
from agreement_pipeline.ratings import ISO_TIME
from agreement_pipeline.readers.rows import Rows
from agreement_pipeline.readers.time_forms import (
    NUMERIC,
    UNAMBIGUOUS,
    Order,
    TimeForm,
    parse_time_format,
)
from agreement_pipeline.text import listed

TIME_COLUMNS = ("timestamp", "changed_at")
PARTS_PREFIX, SEPARATOR = "parts of ", "\x1f"

MONTHS = {
    "01": ("jan", "jän"),
    "02": ("feb",),
    "03": ("mar", "mär", "mrz"),
    "04": ("apr",),
    "05": ("may", "mai"),
    "06": ("jun",),
    "07": ("jul",),
    "08": ("aug",),
    "09": ("sep",),
    "10": ("oct", "okt"),
    "11": ("nov",),
    "12": ("dec", "dez"),
}
"""How the names of months begin in English and German."""
ZONES = {
    "Z": ("Z", "UTC", "GMT", "UT"),
    "-04:00": ("EDT",),
    "-05:00": ("EST", "CDT"),
    "-06:00": ("CST", "MDT"),
    "-07:00": ("MST", "PDT"),
    "-08:00": ("PST",),
    "+01:00": ("CET", "MEZ"),
    "+02:00": ("CEST", "MESZ", "EET"),
    "+03:00": ("EEST",),
}
"""Offsets of zones that RFC 2822 and Central Europe name. Others, such as IST, mean several."""

UPPER_CASE_HALF = "[0-9] ?[AP]M"
"""As the United States write it. Others who count hours to twelve write am, a.m. or AM/PM."""

SERIALS = (40_000, 55_000)
"""Days since 30 December 1899, as a workbook counts them, of the years 2009 to 2050."""


def with_iso_times(rows: Rows, time_format: str | None) -> Rows:
    """Rows whose times are ISO 8601, as far as their forms tell them. ISO times stay as they are.

    Raises
    ------
    RatingsError
        No time has the form that `time_format` names.
    """
    names = [name for name in TIME_COLUMNS if name in rows.names]
    if time_format is not None:
        texts = [name for name in names if rows.kind_by_column.get(name) == "text"]
        return _parse_times_as(rows, texts, time_format)
    serials = [name for name in names if _are_serials(rows, name)]
    texts = [name for name in names if name not in serials and _has_other_forms(rows, name)]
    if not serials and not texts:
        return rows
    forms = {name: _find_forms(rows, name) for name in texts}
    split = _split_into_parts(rows, forms, keep_iso=True)
    order = _find_day_month_order(split, forms)
    sql_by_column = {name: _iso_of_serial_sql(rows.number_sql(name)) for name in serials}
    sql_by_column |= {name: _iso_by_form_sql(split, name, forms[name], order) for name in texts}
    return _materialize_times(split, sql_by_column, rows.names)


def find_unread_time(rows: Rows) -> str | None:
    """The first time that has no known form, or one that can be read in several ways."""
    if rows.kind_by_column.get("timestamp") != "text":
        return None
    is_iso = rows.relation.session.matches_sql(rows.quote_column("timestamp"), ISO_TIME)
    unread = (
        f"NOT {rows.is_blank_sql('timestamp')} AND NOT {is_iso} AND NOT "
        f"{rows.is_spelt_as_number_sql('timestamp')}"
    )
    return next(
        iter(
            rows.relation.query_column(
                f"SELECT timestamp FROM {rows} WHERE {unread} ORDER BY nth LIMIT 1"
            )
        ),
        None,
    )


def _parse_times_as(rows: Rows, names: Sequence[str], time_format: str) -> Rows:
    forms = dict.fromkeys(names, (parse_time_format(time_format),))
    split = _split_into_parts(rows, forms, keep_iso=False)
    for name in names:
        is_given = f"NOT {rows.is_blank_sql(name)}"
        is_read = f"{_iso_sql(split, name, forms[name][0])} IS NOT NULL"
        if rows.has_row(is_given) and not split.has_row(is_read):
            raise RatingsError(
                f"{rows.describe_place(is_given, name)}: found "
                f"{listed(rows.values_where(is_given, name))}; expected times as {time_format!r}, "
                "which is the time format. Correct it (--time-format, or time_format among the "
                "columns of a project)."
            )
    sql_by_column = {name: _iso_by_form_sql(split, name, forms[name], None) for name in names}
    return _materialize_times(split, sql_by_column, rows.names) if sql_by_column else rows


def _materialize_times(split: Rows, sql_by_column: Mapping[str, str], names: Sequence[str]) -> Rows:
    """A query that asks for times again does not read their forms again."""
    columns = split.select_list_sql(sql_by_column, names)
    relation = split.relation.session.materialize(f"SELECT {columns} FROM {split}")
    return replace(split, relation=relation)


def _has_other_forms(rows: Rows, name: str) -> bool:
    """Digits of a day and a clock without a mark are no number of seconds."""
    if rows.kind_by_column.get(name) != "text":
        return False
    matches, time = rows.relation.session.matches_sql, rows.quote_column(name)
    is_number = f"{rows.is_spelt_as_number_sql(name)} AND NOT {matches(time, '^[0-9]{14}$')}"
    is_other = (
        f"NOT {matches(time, ISO_TIME)} AND NOT {rows.is_blank_sql(name)} AND NOT ({is_number})"
    )
    return rows.has_row(is_other)


def _are_serials(rows: Rows, name: str) -> bool:
    """True if all times are numbers of days of a workbook, and some have a time of the day."""
    kind = rows.kind_by_column.get(name)
    if kind not in ("whole", "float", "text"):
        return False
    if kind == "text" and rows.has_row(
        f"NOT {rows.is_blank_sql(name)} AND NOT {rows.is_spelt_as_number_sql(name)}"
    ):
        return False
    number = rows.number_sql(name)
    (extent,) = rows.relation.query(
        f"SELECT MIN({number}) AS low, MAX({number}) AS high, "
        f"MAX({number} - FLOOR({number})) AS fraction FROM {rows}"
    ).to_pylist()
    if extent["low"] is None:
        return False
    return bool(
        SERIALS[0] <= extent["low"] and extent["high"] < SERIALS[1] and extent["fraction"] > 0
    )


def _find_forms(rows: Rows, name: str) -> tuple[TimeForm, ...]:
    """The forms that some times of a column have."""
    time, session = _cleaned_text_sql(rows, name), rows.relation.session
    all_forms = (*NUMERIC.values(), *UNAMBIGUOUS)
    cases = [f"WHEN {session.matches_sql(rows.quote_column(name), ISO_TIME)} THEN -1"]
    cases += [
        f"WHEN {session.matches_sql(time, form.pattern)} THEN {n}"
        for n, form in enumerate(all_forms)
    ]
    places = rows.relation.query_column(
        f"SELECT DISTINCT CASE {' '.join(cases)} END AS n FROM {rows}"
    )
    return tuple(all_forms[place] for place in sorted({*places} - {None, -1}))


def _split_into_parts(
    rows: Rows, forms: Mapping[str, Sequence[TimeForm]], *, keep_iso: bool
) -> Rows:
    """Rows with the parts of times beside them, after the place of the form that they have."""
    session, texts, parts = rows.relation.session, dict[str, str](), dict[str, str]()
    separator, is_spark = session.literal_sql(SEPARATOR), session.engine == "spark"
    for name, of_column in forms.items():
        time, cases = _cleaned_text_sql(rows, name), list[str]()
        if keep_iso:
            cases.append(f"WHEN {session.matches_sql(rows.quote_column(name), ISO_TIME)} THEN NULL")
        for place, form in enumerate(of_column):
            captured = session.captured_groups_sql(time, form.pattern, form.n_parts, SEPARATOR)
            captured = f"CONCAT('{place}', {separator}, {captured})"
            cases.append(f"WHEN {session.matches_sql(time, form.pattern)} THEN {captured}")
        parts_text = f"CASE {' '.join(cases)} END" if cases else "CAST(NULL AS STRING)"
        texts[PARTS_PREFIX + name] = f"SPLIT({parts_text}, {separator})"
        pieces = rows.quote_column(PARTS_PREFIX + name)
        parts |= {
            f"{PARTS_PREFIX}{name} {index}": f"GET({pieces}, {index})"
            if is_spark
            else f"{pieces}[{index + 1}]"
            for index in range(1 + max((form.n_parts for form in of_column), default=0))
        }
    if not texts:
        return rows
    return _materialize_times(rows.with_computed(texts), parts, [*rows.names, *parts])


def _time_part_sql(rows: Rows, name: str, place: int) -> str:
    return rows.quote_column(f"{PARTS_PREFIX}{name} {place}")


def _has_form_sql(rows: Rows, name: str, place: int) -> str:
    return f"COALESCE({_time_part_sql(rows, name, 0)} = '{place}', FALSE)"


def _iso_of_serial_sql(days: str) -> str:
    """A serial is exact to some thousandths of a second, so a time is rounded to them."""
    thousandths = f"CAST(ROUND({days} * 86400000) AS BIGINT)"
    day = f"FLOOR({thousandths} / 86400000)"
    remainder = f"({thousandths} - CAST({day} AS BIGINT) * 86400000)"
    parts = {"hour": (3_600_000, 24), "minute": (60_000, 60), "second": (1_000, 60)}
    clock = [
        f"LPAD(CAST(CAST(FLOOR({remainder} / {size}) AS BIGINT) % {modulus} AS STRING), 2, '0')"
        for size, modulus in parts.values()
    ]
    date = f"CAST(DATE '1899-12-30' + CAST({day} AS INTEGER) AS STRING)"
    fraction = f"LPAD(CAST({remainder} % 1000 AS STRING), 3, '0')"
    return (
        f"CONCAT(SUBSTR({date}, 1, 10), ' ', {clock[0]}, ':', {clock[1]}, ':', {clock[2]}, "
        f"CASE WHEN {remainder} % 1000 = 0 THEN '' ELSE CONCAT('.', {fraction}) END)"
    )


def _find_day_month_order(rows: Rows, forms: Mapping[str, Sequence[TimeForm]]) -> Order | None:
    """Which of two numbers is the day, by all times of both columns. None if they cannot tell."""
    session, measured_forms = rows.relation.session, list[Mapping[str, int]]()
    for name, of_column in forms.items():
        is_half = session.matches_sql(rows.quote_column(name), UPPER_CASE_HALF)
        first_number, second_number, year = (
            f"TRY_CAST({_time_part_sql(rows, name, place)} AS INTEGER)" for place in (1, 2, 3)
        )
        measured = {
            "lowest_first": f"MIN({first_number})",
            "highest_first": f"MAX({first_number})",
            "highest_second": f"MAX({second_number})",
            "lowest_year": f"MIN({year})",
            "highest_year": f"MAX({year})",
            "differ": f"SUM(CASE WHEN {first_number} <> {second_number} THEN 1 ELSE 0 END)",
            "half": f"SUM(CASE WHEN {is_half} THEN 1 ELSE 0 END)",
        }
        select_list = ", ".join(f"{sql} AS {measure}" for measure, sql in measured.items())
        for place, form in enumerate(of_column):
            if form.mark:
                (answer,) = rows.relation.query(
                    f"SELECT {select_list} FROM {rows} WHERE {_has_form_sql(rows, name, place)}"
                ).to_pylist()
                measured_forms.append({**answer, "half": answer["half"] if form.mark != "." else 0})
    if any(measures["highest_first"] > 12 for measures in measured_forms):
        # 26/11/28 may begin with the year. Then its days come last, and differ.
        tells_year = all(
            measures["lowest_year"] > 31
            or (
                measures["lowest_first"] < measures["highest_first"]
                and measures["lowest_year"] == measures["highest_year"]
            )
            for measures in measured_forms
        )
        is_day = tells_year and all(measures["highest_second"] <= 12 for measures in measured_forms)
        return "day first" if is_day else None
    if any(measures["highest_second"] > 12 or measures["half"] for measures in measured_forms):
        return "month first"
    return (
        None
        if any(measures["differ"] or measures["lowest_year"] <= 31 for measures in measured_forms)
        else "day first"
    )


def _cleaned_text_sql(rows: Rows, name: str) -> str:
    """Some programs write a narrow or a no-break space before AM and PM."""
    text, session = rows.quote_column(name), rows.relation.session
    return f"TRIM(TRANSLATE({text}, {session.literal_sql(chr(0x202F) + chr(0xA0))}, '  '))"


def _iso_by_form_sql(rows: Rows, name: str, forms: Sequence[TimeForm], order: Order | None) -> str:
    cases = [
        f"WHEN {_has_form_sql(rows, name, place)} THEN {_iso_sql(rows, name, ordered_form)}"
        for place, form in enumerate(forms)
        if (ordered_form := form.with_day_month_order(order)) is not None
    ]
    time = rows.quote_column(name)
    return f"COALESCE(CASE {' '.join(cases)} END, {time})" if cases else time


def _iso_sql(rows: Rows, name: str, form: TimeForm) -> str:
    """The time as ISO 8601 in SQL. NULL if no calendar and no clock has it."""
    part = {kind: _time_part_sql(rows, name, index) for index, kind in enumerate(form.parts, 1)}
    year, month, day = _year_sql(part), _month_sql(rows, part), _two_digits_sql(part["day"])
    date = f"CONCAT({year}, '-', {month}, '-', {day})"
    if "hour" not in part:
        return f"CASE WHEN TRY_CAST({date} AS DATE) IS NOT NULL THEN {date} END"
    minute, second = (_two_digits_sql(part.get(name)) for name in ("minute", "second"))
    clock = f"CONCAT({_hour_sql(part)}, ':', {minute}, ':', {second})"
    fraction = "''"
    if "fraction" in part:
        digits = part["fraction"]
        fraction = f"CASE WHEN {digits} = '' THEN '' ELSE CONCAT('.', {digits}) END"
    zone = _zone_sql(rows, part["zone"]) if "zone" in part else "''"
    full_text = f"CONCAT({date}, ' ', {clock})"
    is_valid_time = f"TRY_CAST({full_text} AS TIMESTAMP) IS NOT NULL"
    iso = f"CONCAT({full_text}, {fraction}, {zone})"
    return (
        f"CASE WHEN {part['hour']} = '' AND TRY_CAST({date} AS DATE) IS NOT NULL THEN {date} "
        f"WHEN {part['hour']} <> '' AND {is_valid_time} AND {zone} IS NOT NULL THEN {iso} END"
    )


def _two_digits_sql(digits: str | None) -> str:
    return "'00'" if digits is None else f"LPAD({digits}, 2, '0')"


def _year_sql(part: Mapping[str, str]) -> str:
    year = part.get("year") or part.get("short year") or part["any year"]
    century = f"CASE WHEN {year} < '69' THEN '20' ELSE '19' END"
    return f"CASE WHEN LENGTH({year}) = 4 THEN {year} ELSE CONCAT({century}, {year}) END"


def _month_sql(rows: Rows, part: Mapping[str, str]) -> str:
    if "month" in part:
        return f"LPAD({part['month']}, 2, '0')"
    begins = f"SUBSTR(LOWER({part['name of month']}), 1, 3)"
    cases = [
        f"WHEN {begins} IN ({', '.join(map(rows.value_sql, names))}) THEN '{number}'"
        for number, names in MONTHS.items()
    ]
    return f"CASE {' '.join(cases)} ELSE '' END"


def _hour_sql(part: Mapping[str, str]) -> str:
    hour = part["hour"]
    if "half" not in part:
        return f"LPAD({hour}, 2, '0')"
    number, half = f"TRY_CAST({hour} AS INTEGER)", f"LOWER({part['half']})"
    of_half = f"{number} % 12 + CASE WHEN {half} = 'p' THEN 12 ELSE 0 END"
    of_twelve = f"CASE WHEN {number} BETWEEN 1 AND 12 THEN CAST({of_half} AS STRING) ELSE '99' END"
    return f"LPAD(CASE WHEN {half} = '' THEN {hour} ELSE {of_twelve} END, 2, '0')"


def _zone_sql(rows: Rows, zone: str) -> str:
    names = [
        f"WHEN {zone} IN ({', '.join(map(rows.value_sql, names))}) THEN '{offset}'"
        for offset, names in ZONES.items()
    ]
    offset = f"REPLACE(REPLACE({zone}, 'GMT', ''), 'UTC', '')"
    minutes = f"CASE WHEN LENGTH({offset}) = 3 THEN '00' ELSE RIGHT({offset}, 2) END"
    is_offset = f"SUBSTR({offset}, 1, 1) IN ('+', '-')"
    offset_text = f"CONCAT(SUBSTR({offset}, 1, 3), ':', {minutes})"
    return (
        f"CASE WHEN {zone} = '' THEN '' {' '.join(names)} WHEN {is_offset} THEN {offset_text} END"
    )
