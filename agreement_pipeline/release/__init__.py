"""Training data are let out here, and releases are verified here."""

from agreement_pipeline.release.contents import Release
from agreement_pipeline.release.decisions import Checked, Judged, Reassessed, reassess
from agreement_pipeline.release.lock import judge_round, release_dataset, release_round
from agreement_pipeline.release.opening import (
    Demands,
    counts,
    open_release,
    superseded,
    verify_release,
)

__all__ = [
    "Checked",
    "Demands",
    "Judged",
    "Reassessed",
    "Release",
    "counts",
    "judge_round",
    "open_release",
    "reassess",
    "release_dataset",
    "release_round",
    "superseded",
    "verify_release",
]
