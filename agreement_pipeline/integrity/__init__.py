"""What a round tells about itself: facts, copies, labels that changed, a chosen overlap."""

from agreement_pipeline.integrity.checks import (
    OF_INTEGRITY,
    REDACTED,
    SEVERITY_BY_EFFECT,
    USUAL_INTEGRITY,
    AtLeast,
    AtMost,
    Check,
    CheckEffect,
    Finding,
    Integrity,
    check_integrity,
)
from agreement_pipeline.integrity.copied_rows import without_copied_rows
from agreement_pipeline.integrity.facts import FACTS, raters_too_near
from agreement_pipeline.integrity.given_again import (
    Changes,
    Dropped,
    SampleComparison,
    changes_of,
    changes_since,
    compare_with_sample,
    count_labels_before,
    count_labels_not_kept,
    dropped_since,
    if_they_had_differed,
)
from agreement_pipeline.integrity.overlap import FALSE_ALARM_RATE, compare_overlap
from agreement_pipeline.integrity.panel import Codes, Panel, take_places

__all__ = [
    "FACTS",
    "FALSE_ALARM_RATE",
    "OF_INTEGRITY",
    "REDACTED",
    "SEVERITY_BY_EFFECT",
    "USUAL_INTEGRITY",
    "AtLeast",
    "AtMost",
    "Changes",
    "Check",
    "CheckEffect",
    "Codes",
    "Dropped",
    "Finding",
    "Integrity",
    "Panel",
    "SampleComparison",
    "changes_of",
    "changes_since",
    "check_integrity",
    "compare_overlap",
    "compare_with_sample",
    "count_labels_before",
    "count_labels_not_kept",
    "dropped_since",
    "if_they_had_differed",
    "raters_too_near",
    "take_places",
    "without_copied_rows",
]
