"""The data contract: is this what was agreed on?"""

from agreement_pipeline.contract.contract import NONE, RESERVED_NAMES, Contract
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
from agreement_pipeline.contract.earlier import OF_ROUND, findings_of_tables
from agreement_pipeline.contract.suite import Suite, SuiteEntry

__all__ = [
    "NONE",
    "OF_DELIVERY",
    "OF_ROUND",
    "RESERVED_NAMES",
    "Contract",
    "Suite",
    "SuiteEntry",
    "as_json",
    "failed_rows",
    "findings_of",
    "findings_of_tables",
    "findings_recorded",
    "not_checked",
    "recorded",
    "validate_delivery",
]
