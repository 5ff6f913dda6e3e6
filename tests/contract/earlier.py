"""A contract as the versions before it was a suite wrote it into logs and releases."""

from agreement_pipeline.contract import Contract
from agreement_pipeline.release import judge_round

PRESENT = {
    "type": "expect_column_values_to_not_be_null",
    "kwargs": {"column": "label"},
    "description": "every rating must have a label",
    "meta": {"check": "label_present"},
    "severity": "critical",
}
RATERS = {
    "type": "expect_column_values_to_be_between",
    "kwargs": {"column": "n_raters", "min_value": 3},
    "description": "at least 3 raters are required on every item",
    "meta": {"check": "three_raters_per_item"},
    "severity": "critical",
}
FEW_GOLD = {
    "type": "expect_column_values_to_be_between",
    "kwargs": {"column": "share_of_gold", "max_value": 0.9},
    "description": "few items may be gold",
    "meta": {"check": "few_gold"},
    "severity": "warning",
}
MAPPING = {"contract": "careful", "version": 3, "rows": [PRESENT], "items": [RATERS]}
EARLIER = Contract.from_mapping(MAPPING)
OF_ROUND = Contract.from_mapping({"rows": [], "items": [], "round": [FEW_GOLD]})
"""It has one bound of its own, which stands in the place of those of the policy."""


def record(entry, table, passed=True, words="0 of 12 fail"):
    """A finding as the log and a release have it."""
    check = entry["meta"]["check"]
    return {
        "check": check,
        "table": table,
        "passed": passed,
        "severity": {"critical": "error"}.get(entry["severity"], "warning"),
        "description": f"{check}: {words}; {entry['description']}",
    }


RECORDS = [record(PRESENT, "rows"), record(RATERS, "items")]


def record_decision(store, name, policy, records=RECORDS, **changed):
    """Enter into the log how an earlier version judged a round by the tables of its contract."""
    judged, _ = judge_round(store, name, policy, Contract.none())
    facts = {
        **judged.facts,
        "contract": EARLIER.named,
        "contract_digest": EARLIER.digest,
        "findings": [*records, *judged.facts["findings"]],
    }
    store.record("decided", name, **{**facts, **changed})
