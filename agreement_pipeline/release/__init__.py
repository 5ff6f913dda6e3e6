"""Training data are let out here, and releases are verified here."""

from agreement_pipeline.release.auditing import Audit, Auditor
from agreement_pipeline.release.contents import ANY_KEY, Paths, Release, as_json
from agreement_pipeline.release.decisions import (
    Checked,
    Judged,
    OfTheGate,
    Reassessed,
    Terms,
    Under,
    decide,
    found_by_gate,
    is_last_decision,
    judge_delivered,
    judge_version,
    reassess,
    refuse_replaced,
    refuse_reused,
    today,
)
from agreement_pipeline.release.delivery import (
    DeliveryCheck,
    check_delivery,
    check_kept_delivery,
    check_table,
)
from agreement_pipeline.release.folder import difference, foreign_files
from agreement_pipeline.release.gold_elsewhere import warn_of_gold_elsewhere
from agreement_pipeline.release.lock import judge_round, release_dataset, release_round
from agreement_pipeline.release.opening import (
    Demands,
    counts,
    open_release,
    superseded,
    verify_release,
)
from agreement_pipeline.release.publication import Publication
from agreement_pipeline.release.relabelling import (
    find_relabelled_version,
    refuse_stale_sample,
    sample_name,
)
from agreement_pipeline.release.statements import (
    Signed,
    is_unsigned_statement,
    statement,
    statement_of,
)

__all__ = [
    "ANY_KEY",
    "Audit",
    "Auditor",
    "Checked",
    "DeliveryCheck",
    "Demands",
    "Judged",
    "OfTheGate",
    "Paths",
    "Publication",
    "Reassessed",
    "Release",
    "Signed",
    "Terms",
    "Under",
    "as_json",
    "check_delivery",
    "check_kept_delivery",
    "check_table",
    "counts",
    "decide",
    "difference",
    "find_relabelled_version",
    "foreign_files",
    "found_by_gate",
    "is_last_decision",
    "is_unsigned_statement",
    "judge_delivered",
    "judge_round",
    "judge_version",
    "open_release",
    "reassess",
    "refuse_replaced",
    "refuse_reused",
    "refuse_stale_sample",
    "release_dataset",
    "release_round",
    "sample_name",
    "statement",
    "statement_of",
    "superseded",
    "today",
    "verify_release",
    "warn_of_gold_elsewhere",
]
