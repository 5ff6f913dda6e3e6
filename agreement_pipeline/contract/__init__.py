"""The data contract: is this a round at all?"""

from agreement_pipeline.contract.contract import Contract
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
from agreement_pipeline.contract.suite import Suite, SuiteEntry

__all__ = [
    "OF_DELIVERY",
    "Contract",
    "Suite",
    "SuiteEntry",
    "as_json",
    "failed_rows",
    "findings_of",
    "findings_recorded",
    "not_checked",
    "recorded",
    "validate_delivery",
]
