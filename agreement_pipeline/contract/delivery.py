"""What a suite finds in a delivered table: run once, kept as Great Expectations says it."""

import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from agreement_pipeline.contract.suite import Suite, SuiteEntry
from agreement_pipeline.errors import ContractError
from agreement_pipeline.integrity import Finding
from agreement_pipeline.text import one_line

if TYPE_CHECKING:
    from agreement_pipeline.readers import DeliveredTable

OF_DELIVERY = "delivered"
"""The table of a finding that a suite made on the delivered table."""
NOT_CHECKED = "contract_not_checked"
NOT_RUN = "agreement_pipeline_not_run"
COUNTS = ("element_count", "missing_count", "unexpected_count")
VALUES_OF_ROWS = (
    "partial_unexpected_list",
    "partial_unexpected_counts",
    "partial_missing_list",
    "unexpected_list",
)
Result = Mapping[str, Any]


def validate_delivery(
    suite: Suite, table: "DeliveredTable", vocabulary: Sequence[Any] | None, delivered_at: datetime
) -> dict[str, Any]:
    """Great Expectations' own result. Rows that fail are named by their row and item.

    What was not asked, and why, stands in its `meta`: whether that passes, and a sentence.
    """
    from agreement_pipeline.contract.gx import refuse_unknown, validate_frame

    not_run: dict[str, tuple[bool, str]] = {}
    entries: list[dict[str, Any]] = []
    for number, entry in enumerate(suite.entries):
        if entry.when and table.source_name(entry.when) not in table.header:
            not_run[entry.check] = (True, idle_words(entry))
        elif "vocabulary" in entry.parameters and vocabulary is None:
            not_run[entry.check] = (
                False,
                "could not be run (the scale has no list of categories)",
            )
        else:
            meta = {**entry.meta, "check": entry.check}
            kwargs = _fill_parameters(entry, table, vocabulary, delivered_at)
            entry_to_run = {**entry.to_mapping(), "kwargs": kwargs, "meta": meta}
            refuse_unknown(entry_to_run, suite.place / "expectations" / number)
            entries.append(entry_to_run)
    result: dict[str, Any] = {}
    try:
        if entries:
            result = validate_frame(suite.name, entries, table.columns.to_pandas())
    except ContractError:
        raise
    except Exception as error:  # whatever it was, nothing was checked, and the release waits
        words = f"could not be run ({type(error).__name__}: {one_line(error)})"
        not_run |= {entry["meta"]["check"]: (False, words) for entry in entries}
    results = result.get("results", ())
    by_check = {
        entry_result["expectation_config"]["meta"]["check"]: entry_result
        for entry_result in results
    }
    result = {"success": True, "suite_name": suite.name, "meta": {}, **result}
    result["results"] = [
        _with_named_rows(by_check[entry.check], entry, table)
        for entry in suite.entries
        if entry.check in by_check
    ]
    result["meta"] = {**result["meta"], NOT_RUN: not_run}
    return result


def findings_of(suite: Suite, result: Result) -> tuple[Finding, ...]:
    """A finding for each expectation, in the order of the suite. They have counts and no values."""
    from agreement_pipeline.contract.gx import raised_message

    by_check = {
        entry_result["expectation_config"]["meta"]["check"]: entry_result
        for entry_result in result["results"]
    }
    not_run = result["meta"][NOT_RUN]
    findings = []
    for entry in suite.entries:
        if entry.check in not_run:
            passed, words = not_run[entry.check]
            findings.append(build_finding(entry, passed, None, words))
        elif entry.check not in by_check:
            findings.append(build_finding(entry, False, None, "could not be run (no result)"))
        elif (message := raised_message(by_check[entry.check])) is not None:
            words = f"could not be run ({one_line(message)}{_hint(entry)})"
            findings.append(build_finding(entry, False, None, words))
        else:
            passed, details = by_check[entry.check]["success"], by_check[entry.check]["result"]
            findings.append(build_finding(entry, passed, _counts(details)))
    return tuple(findings)


def build_finding(
    entry: SuiteEntry, passed: bool, counts: Mapping[str, Any] | None, not_run: str = ""
) -> Finding:
    """What could not be run is an error, whatever the severity. Nobody can waive it."""
    severity = entry.weight if counts is not None or passed else "error"
    words = not_run if counts is None else _in_words(counts)
    observed = () if counts is None else tuple(counts.items())
    description = f"{entry.check}: {words}; {entry.question}"
    return Finding(entry.check, OF_DELIVERY, passed, severity, description, observed)


def idle_words(entry: SuiteEntry) -> str:
    return f"column {entry.when} was not delivered, so nothing was checked"


def not_checked(reason: str) -> Finding:
    """Of a round whose delivery was not kept, or not with all columns of the suite."""
    return Finding(NOT_CHECKED, OF_DELIVERY, False, "error", f"{NOT_CHECKED}: {reason}")


def recorded(findings: Sequence[Finding]) -> list[dict[str, Any]]:
    """Findings as a release carries them: what passed, and counts."""
    return [
        {"check": finding.check, "passed": finding.passed, "counts": dict(finding.observed) or None}
        for finding in findings
    ]


def findings_recorded(suite: Suite, records: Any) -> tuple[Finding, ...]:
    """The findings of a release, which nobody can derive again.

    A KeyError if they are not those of the suite, or if one says what no release can.
    """
    if [record["check"] for record in records] != [entry.check for entry in suite.entries]:
        raise KeyError("findings of the suite")
    findings = []
    for entry, record in zip(suite.entries, records, strict=True):
        passed, counts = record["passed"], record["counts"]
        is_idle = counts is None and entry.when is not None and passed is True
        is_counted = isinstance(counts, dict) and all(
            value is None or (isinstance(value, int | float) and not isinstance(value, bool))
            for value in counts.values()
        )
        if type(passed) is not bool or not (is_idle or (is_counted and counts)):
            raise KeyError(f"finding {entry.check}")
        words = idle_words(entry) if is_idle else ""
        findings.append(build_finding(entry, passed, counts, words))
    return tuple(findings)


def failed_rows(suite: Suite, result: Result) -> dict[str, list[dict[str, Any]]]:
    """The first rows that fail each expectation: their row, their item and what they have."""
    hidden = {entry.check for entry in suite.entries if entry.hides_values}
    rows = {}
    for entry_result in result["results"]:
        check, details = entry_result["expectation_config"]["meta"]["check"], entry_result["result"]
        row_names = details.get("partial_unexpected_index_list") or []
        values = details.get("partial_unexpected_list") or [None] * len(row_names)
        rows[check] = [
            row if check in hidden or value is None else {**row, "found": str(value)}
            for row, value in zip(row_names, values, strict=False)
        ]
    return rows


def as_json(result: Result) -> bytes:
    return json.dumps(result, ensure_ascii=False, allow_nan=False, sort_keys=True).encode()


def _fill_parameters(
    entry: SuiteEntry,
    table: "DeliveredTable",
    vocabulary: Sequence[Any] | None,
    delivered_at: datetime,
) -> dict[str, Any]:
    """The keyword arguments with the delivery's own names of columns, and with what parameters
    stand for.
    """
    kwargs = json.loads(json.dumps(entry.kwargs))
    for key in ("column", "column_A", "column_B"):
        if isinstance(kwargs.get(key), str):
            kwargs[key] = table.source_name(kwargs[key])
    for key in ("column_list", "column_set"):
        if isinstance(kwargs.get(key), list):
            kwargs[key] = [table.source_name(str(name)) for name in kwargs[key]]
    if "row_condition" in kwargs and kwargs["row_condition"] is not None:
        kwargs["row_condition"] = _in_own_names(kwargs["row_condition"], table)
    column = kwargs.get("column")
    has_column = isinstance(column, str) and column in table.columns.column_names
    column_type = table.columns.schema.field(column).type if has_column else None
    is_naive = (
        column_type is not None and pa.types.is_timestamp(column_type) and column_type.tz is None
    )
    moment = delivered_at.replace(tzinfo=None) if is_naive else delivered_at
    values = {"vocabulary": list(vocabulary or ()), "delivered_at": moment.isoformat()}
    filled_kwargs: dict[str, Any] = _with_parameters(kwargs, values)
    return filled_kwargs


def _with_parameters(value: Any, values: Mapping[str, Any]) -> Any:
    if isinstance(value, dict):
        if "$PARAMETER" in value:
            return values[value["$PARAMETER"]]
        return {key: _with_parameters(inner, values) for key, inner in value.items()}
    return (
        [_with_parameters(inner, values) for inner in value] if isinstance(value, list) else value
    )


def _in_own_names(condition: Any, table: "DeliveredTable") -> Any:
    if isinstance(condition, list):
        return [_in_own_names(part, table) for part in condition]
    if not isinstance(condition, dict):
        return condition
    return {
        key: {"name": table.source_name(inner["name"])}
        if key == "column"
        else _in_own_names(inner, table)
        for key, inner in condition.items()
    }


def _with_named_rows(result: Result, entry: SuiteEntry, table: "DeliveredTable") -> dict[str, Any]:
    """The places of rows become their names, as `unexpected_index_column_names` would give them.

    Values that the suite wants hidden go.
    """
    details = dict(result["result"])
    places = [
        place for place in details.get("partial_unexpected_index_list") or [] if type(place) is int
    ]
    if places:
        row_names = table.keys.take(places).select(["row", "item"]).to_pylist()
        details["partial_unexpected_index_list"] = row_names
        if entry.hides_values:
            rows = [{"row": row["row"]} for row in row_names]
            details["partial_unexpected_index_list"] = rows
    if entry.hides_values:
        details = {key: value for key, value in details.items() if key not in VALUES_OF_ROWS}
        if not isinstance(details.get("observed_value"), int | float):
            details.pop("observed_value", None)
            details.pop("details", None)
    return {**result, "result": details}


def _counts(details: Mapping[str, Any]) -> dict[str, Any]:
    """Counts alone: a release carries them, and a value could be a person's."""
    counts = {key: int(details[key]) for key in COUNTS if isinstance(details.get(key), int)}
    if "unexpected_count" in counts:
        return counts
    value = details.get("observed_value")
    is_number = isinstance(value, int | float)
    return {**counts, "observed_value": value if is_number else None}


def _in_words(counts: Mapping[str, Any]) -> str:
    if "unexpected_count" not in counts:
        value = counts.get("observed_value")
        return "asked of the whole" if value is None else f"{value:,.6g} found"
    missing = counts.get("missing_count", 0)
    checked = counts.get("element_count", 0) - missing
    gaps = f", {missing:,} without a value" if missing else ""
    return f"{counts['unexpected_count']:,} of {checked:,} rows fail{gaps}"


def _hint(entry: SuiteEntry) -> str:
    bounds = [entry.kwargs.get(key) for key in ("min_value", "max_value")]
    if not any(isinstance(bound, str) for bound in bounds):
        return ""
    return (
        ". Write a bound of times as 2026-11-01T00:00:00+00:00 if the column has time zones, and "
        "as 2026-11-01T00:00:00 if it has none"
    )
