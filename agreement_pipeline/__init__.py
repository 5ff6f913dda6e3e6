"""May this version of this dataset be trained on?

These are the names of the product. Statistics stand in `agreement_pipeline.statistics`, measures in
`agreement_pipeline.measures`, and all errors in `agreement_pipeline.errors`. Importing this package
imports no Dagster and no Great Expectations.
"""

from typing import TYPE_CHECKING, Any

from agreement_pipeline.contract import Contract
from agreement_pipeline.engines import read as open_ratings
from agreement_pipeline.errors import AgreementError, ReleaseHeldError, ReleaseInvalidError
from agreement_pipeline.estimates import Difference, Estimate, compare, measure, survey
from agreement_pipeline.intervals import Inference, Interval
from agreement_pipeline.policy import (
    Decision,
    Plan,
    Policy,
    Rule,
    Verdict,
    Waiver,
    Waivers,
    judge,
    load_policy,
    load_waiver,
    plan,
)
from agreement_pipeline.ratings import Ratings, Scale
from agreement_pipeline.readers import Columns, Limits
from agreement_pipeline.readers import read as read_ratings
from agreement_pipeline.version import __version__

if TYPE_CHECKING:
    from agreement_pipeline.orchestration import AnnotationProject
    from agreement_pipeline.release import open_release, verify_release
    from agreement_pipeline.store import Store

_LATER = {
    "AnnotationProject": "agreement_pipeline.orchestration",
    "Store": "agreement_pipeline.store",
    "open_release": "agreement_pipeline.release",
    "verify_release": "agreement_pipeline.release",
}

__all__ = [
    "AgreementError",
    "AnnotationProject",
    "Columns",
    "Contract",
    "Decision",
    "Difference",
    "Estimate",
    "Inference",
    "Interval",
    "Limits",
    "Plan",
    "Policy",
    "Ratings",
    "ReleaseHeldError",
    "ReleaseInvalidError",
    "Rule",
    "Scale",
    "Store",
    "Verdict",
    "Waiver",
    "Waivers",
    "__version__",
    "compare",
    "judge",
    "load_policy",
    "load_waiver",
    "measure",
    "open_ratings",
    "open_release",
    "plan",
    "read_ratings",
    "survey",
    "verify_release",
]


def __getattr__(name: str) -> Any:
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_LATER[name]), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *_LATER])
