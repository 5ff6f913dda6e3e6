"""The data contract: is this a round at all?"""

from agreement_pipeline.contract.contract import Contract
from agreement_pipeline.contract.copied_rows import without_copied_rows
from agreement_pipeline.contract.delivery import (
    OF_DELIVERY,
    as_json,
    failed_rows,
    findings_of,
    findings_recorded,
    not_checked,
    recorded,
    validate_delivery,
)
from agreement_pipeline.contract.facts import raters_too_near
from agreement_pipeline.contract.given_again import (
    Changes,
    Dropped,
    changes_of,
    changes_since,
    dropped_since,
    if_they_had_differed,
)
from agreement_pipeline.contract.overlap import FALSE_ALARM_RATE, compare_overlap
from agreement_pipeline.contract.suite import Suite, SuiteEntry
from agreement_pipeline.contract.validation import Finding

__all__ = [
    "FALSE_ALARM_RATE",
    "OF_DELIVERY",
    "Changes",
    "Contract",
    "Dropped",
    "Finding",
    "Suite",
    "SuiteEntry",
    "as_json",
    "changes_of",
    "changes_since",
    "compare_overlap",
    "dropped_since",
    "failed_rows",
    "findings_of",
    "findings_recorded",
    "if_they_had_differed",
    "not_checked",
    "raters_too_near",
    "recorded",
    "validate_delivery",
    "without_copied_rows",
]
