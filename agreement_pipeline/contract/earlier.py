"""Contracts of earlier versions, which asked tables of rows and items of the ratings.

They are asked no more. What they found stands in the log and in releases, and is read from there.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from agreement_pipeline.errors import ContractError
from agreement_pipeline.integrity import FACTS, Check, Finding
from agreement_pipeline.mistakes import is_number, is_text, value_in_message
from agreement_pipeline.yaml_files import Place

OF_ROUND = "round"
"""The table with bounds on facts, which are found again in the ratings."""
RECORDED_TABLES = ("rows", "items")
TABLES = (*RECORDED_TABLES, OF_ROUND)
SEVERITIES = {"critical": "error", "warning": "warning", "info": "warning"}

EarlierTables = Mapping[str, Sequence[Mapping[str, Any]]]


def refuse_unreadable_tables(tables: Mapping[str, Any], place: Place) -> None:
    """Refuse what no earlier version has written."""
    for table, entries in tables.items():
        for number, entry in enumerate(entries if isinstance(entries, list) else [None]):
            if not _is_entry(entry) or (table == OF_ROUND and not _is_bound(entry)):
                raise ContractError(
                    f"{place / table / number}: found {value_in_message(entry)}; expected an "
                    "expectation as an earlier version wrote it. Restore the file."
                )


def bounds_of_round(tables: EarlierTables) -> tuple[Check, ...]:
    return tuple(
        Check(
            entry["meta"]["check"],
            entry["kwargs"]["column"],
            entry["description"],
            SEVERITIES[entry["severity"]],
            entry["kwargs"].get("min_value", -math.inf),
            entry["kwargs"].get("max_value", math.inf),
        )
        for entry in tables.get(OF_ROUND, ())
    )


def findings_of_tables(tables: EarlierTables, records: Any) -> tuple[Finding, ...]:
    """The findings in rows and items, as a decision was recorded.

    A KeyError if they are not those of the contract.
    """
    return tuple(_iterate_findings(tables, records))


def _iterate_findings(tables: EarlierTables, records: Any) -> Iterator[Finding]:
    entries = [(table, entry) for table in RECORDED_TABLES for entry in tables.get(table, ())]
    records = [record for record in records if record["table"] in RECORDED_TABLES]
    recorded_checks = [(record["table"], record["check"]) for record in records]
    if recorded_checks != [(table, entry["meta"]["check"]) for table, entry in entries]:
        raise KeyError("findings of the contract")
    for (table, entry), record in zip(entries, records, strict=True):
        check, passed, words = record["check"], record["passed"], record["description"]
        could_run = not words.startswith(f"{check}: could not be run (")
        severity = SEVERITIES[entry["severity"]] if could_run else "error"
        is_possible = type(passed) is bool and not (passed and not could_run)
        if not is_possible or record["severity"] != severity:
            raise KeyError(f"finding {check}")
        observed = (("passed", passed),) if could_run else ()
        yield Finding(check, table, passed, severity, words, observed)


def _is_entry(entry: object) -> bool:
    meta = entry.get("meta") if isinstance(entry, Mapping) else None
    return (
        isinstance(entry, Mapping)
        and isinstance(meta, Mapping)
        and is_text(meta.get("check"))
        and is_text(entry.get("description"))
        and entry.get("severity") in SEVERITIES
    )


def _is_bound(entry: Mapping[str, Any]) -> bool:
    kwargs = entry.get("kwargs")
    if not isinstance(kwargs, Mapping):
        return False
    limits = [kwargs[key] for key in ("min_value", "max_value") if key in kwargs]
    return kwargs.get("column") in FACTS and bool(limits) and all(map(is_number, limits))
