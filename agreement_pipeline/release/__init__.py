"""The lock, and what stands in a release."""

from agreement_pipeline.release.lock import (
    judge_round,
    open_release,
    release_dataset,
    release_round,
    verify_release,
)
from agreement_pipeline.release.proof import Release

__all__ = [
    "Release",
    "judge_round",
    "open_release",
    "release_dataset",
    "release_round",
    "verify_release",
]
