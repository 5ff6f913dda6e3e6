"""The data contract: is this a round at all?"""

from agreement_pipeline.contract.contract import Contract
from agreement_pipeline.contract.copied_rows import without_copied_rows
from agreement_pipeline.contract.facts import raters_too_near
from agreement_pipeline.contract.given_again import (
    Changes,
    Dropped,
    changes_of,
    changes_since,
    dropped_since,
    if_they_had_differed,
)
from agreement_pipeline.contract.validation import Finding

__all__ = [
    "Changes",
    "Contract",
    "Dropped",
    "Finding",
    "changes_of",
    "changes_since",
    "dropped_since",
    "if_they_had_differed",
    "raters_too_near",
    "without_copied_rows",
]
