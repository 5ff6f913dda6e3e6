"""Training data are let out here, and releases are verified here."""

from agreement_pipeline.release.deciding import Checked
from agreement_pipeline.release.demands import Demands, counts
from agreement_pipeline.release.lock import judge_round, release_dataset, release_round
from agreement_pipeline.release.opening import open_release, superseded, verify_release
from agreement_pipeline.release.proof import Release
from agreement_pipeline.release.reassessment import Reassessed, reassess

__all__ = [
    "Checked",
    "Demands",
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
