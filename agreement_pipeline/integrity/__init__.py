"""What a round tells about itself: facts, copies, labels that changed, a chosen overlap."""

from agreement_pipeline.integrity.checks import (
    OF_INTEGRITY,
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
from agreement_pipeline.integrity.copied_rows import drop_copied_rows
from agreement_pipeline.integrity.facts import FACTS, find_raters_too_near
from agreement_pipeline.integrity.given_again import (
    LabelChanges,
    DroppedLabels,
    SampleComparison,
    are_dated_anew,
    are_nearly_the_same,
    find_late_changes,
    find_changes_since,
    compare_with_sample,
    count_labels_before,
    count_labels_not_kept,
    find_dropped_since,
    relabel_late_changes,
)
from agreement_pipeline.integrity.overlap import FALSE_ALARM_RATE, compare_overlap
from agreement_pipeline.integrity.panel import Codes, Panel, take_at

__all__ = [
    "FACTS",
    "FALSE_ALARM_RATE",
    "OF_INTEGRITY",
    "SEVERITY_BY_EFFECT",
    "USUAL_INTEGRITY",
    "AtLeast",
    "AtMost",
    "Check",
    "CheckEffect",
    "Codes",
    "DroppedLabels",
    "Finding",
    "Integrity",
    "LabelChanges",
    "Panel",
    "SampleComparison",
    "are_dated_anew",
    "are_nearly_the_same",
    "check_integrity",
    "compare_overlap",
    "compare_with_sample",
    "count_labels_before",
    "count_labels_not_kept",
    "drop_copied_rows",
    "find_changes_since",
    "find_dropped_since",
    "find_late_changes",
    "find_raters_too_near",
    "relabel_late_changes",
    "take_at",
]
