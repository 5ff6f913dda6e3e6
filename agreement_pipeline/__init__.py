"""May this version of this dataset be trained on?

The public names of the core. Importing this package imports neither Dagster nor Great Expectations nor any engine;
the Dagster component is loaded when it is first asked for.
"""

from typing import TYPE_CHECKING, Any

from agreement_pipeline.errors import (
    AgreementError,
    ContractError,
    MissingExtraError,
    PolicyError,
    ProjectError,
    RatingsError,
    ReleaseHeldError,
    ReleaseInvalidError,
    StoreError,
    WaiverError,
)
from agreement_pipeline.estimates import Estimate, Scope, estimate
from agreement_pipeline.intervals import Inference, Interval
from agreement_pipeline.measures import MEASURES, Coefficient, Measure, measure
from agreement_pipeline.policy import Decision, Policy, Rule, Verdict, Waiver, decide
from agreement_pipeline.ratings import Ratings, Scale
from agreement_pipeline.statistics import (
    CategoryCounts,
    LabelsByRater,
    NumbersByRater,
    ReplicatedLabels,
    ReplicatedNumbers,
)
from agreement_pipeline.version import __version__

if TYPE_CHECKING:
    from agreement_pipeline.orchestration.component import AnnotationProject
    from agreement_pipeline.release import open_release, verify_release

_LATER = {
    "AnnotationProject": "agreement_pipeline.orchestration.component",
    "open_release": "agreement_pipeline.release",
    "verify_release": "agreement_pipeline.release",
}

__all__ = [
    "MEASURES",
    "AgreementError",
    "AnnotationProject",
    "CategoryCounts",
    "Coefficient",
    "ContractError",
    "Decision",
    "Estimate",
    "Inference",
    "Interval",
    "LabelsByRater",
    "Measure",
    "MissingExtraError",
    "NumbersByRater",
    "Policy",
    "PolicyError",
    "ProjectError",
    "Ratings",
    "RatingsError",
    "ReleaseHeldError",
    "ReleaseInvalidError",
    "ReplicatedLabels",
    "ReplicatedNumbers",
    "Rule",
    "Scale",
    "Scope",
    "StoreError",
    "Verdict",
    "Waiver",
    "WaiverError",
    "__version__",
    "decide",
    "estimate",
    "measure",
    "open_release",
    "verify_release",
]


def __getattr__(name: str) -> Any:
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_LATER[name]), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *_LATER])
