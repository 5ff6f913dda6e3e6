"""Training data are let out here, and releases are verified here."""

from agreement_pipeline.release.lock import judge_round, release_dataset, release_round
from agreement_pipeline.release.opening import open_release, verify_release
from agreement_pipeline.release.proof import Release

__all__ = [
    "Release",
    "judge_round",
    "open_release",
    "release_dataset",
    "release_round",
    "verify_release",
]
