"""The decisions of a log as one table, for a warehouse and for a data frame."""

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from typing import Any

import pyarrow as pa

from agreement_pipeline.store.entries import of_event

TEXT, NUMBER, COUNT, FLAG = pa.string(), pa.float64(), pa.int64(), pa.bool_()
DECISION_SCHEMA = pa.schema(
    [
        ("entry", COUNT),
        ("decided_at", pa.timestamp("us", tz="UTC")),
        ("project", TEXT),
        ("round", TEXT),
        ("version", COUNT),
        ("decision", TEXT),
        ("tentative", FLAG),
        ("reasons", pa.list_(TEXT)),
        ("waived", FLAG),
        ("measure", TEXT),
        ("scope", TEXT),
        ("effect", TEXT),
        ("verdict", TEXT),
        ("value", NUMBER),
        ("low", NUMBER),
        ("high", NUMBER),
        ("confidence_level", NUMBER),
        ("n_items", COUNT),
        ("policy", TEXT),
        ("policy_version", COUNT),
        ("policy_digest", TEXT),
        ("contract_digest", TEXT),
        ("ratings_digest", TEXT),
        ("code_version", TEXT),
        ("releases", pa.list_(TEXT)),
        ("what_is_new", TEXT),
    ]
)
"""A column is added at the end, and never changed: a warehouse appends to what it has."""


def decision_table(history: Iterable[Mapping[str, Any]]) -> pa.Table:
    """A row for each rule of each decision, the first decision first.

    A decision without a verdict has one row. `releases` are those of the same ratings that are in
    force today.
    """
    entries = tuple(history)
    releases = _releases_in_force(entries)
    rows = [
        row | {"releases": releases.get((entry["round"], entry["ratings_digest"]), [])}
        for entry in of_event("decided", entries)
        for row in _rule_rows(entry)
    ]
    return pa.Table.from_pylist(rows, schema=DECISION_SCHEMA)


def _releases_in_force(
    entries: Iterable[Mapping[str, Any]],
) -> dict[tuple[str, str], list[str]]:
    """The names of releases by the round and the digest of the ratings that they hold."""
    withdrawn = {name for entry in of_event("withdrawn", entries) for name in entry["releases"]}
    releases = dict[tuple[str, str], list[str]]()
    for entry in of_event("released", entries):
        if entry["release"] not in withdrawn:
            for version in entry["rounds"].items():
                releases.setdefault(version, []).append(entry["release"])
    return releases


def _rule_rows(entry: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    policy = entry["policy"]
    shared = {
        **entry,
        "entry": entry["number"],
        "decided_at": datetime.fromisoformat(entry["time"]),
        "reasons": entry.get("reasons", []),
        "waived": bool(entry["waivers"]),
        "confidence_level": policy.get("confidence_level"),
        "policy": policy["policy"],
        "policy_version": policy["version"],
    }
    verdicts: list[dict[str, Any]] = entry["verdicts"] or [{}]
    for verdict in verdicts:
        row = {**shared, **verdict}
        yield {name: row.get(name) for name in DECISION_SCHEMA.names}
