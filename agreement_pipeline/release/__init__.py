"""Training data are let out here, and releases are verified here."""

from agreement_pipeline.release.demands import Demands, counts
from agreement_pipeline.release.lock import judge_round, release_dataset, release_round
from agreement_pipeline.release.opening import open_release, superseded, verify_release
from agreement_pipeline.release.proof import Release

__all__ = [
    "Demands",
    "Release",
    "counts",
    "judge_round",
    "open_release",
    "release_dataset",
    "release_round",
    "superseded",
    "verify_release",
]
