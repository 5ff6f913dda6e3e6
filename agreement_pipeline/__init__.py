"""May this version of this dataset be trained on?

These are the names of the product. Statistics stand in `agreement_pipeline.statistics`, measures in
`agreement_pipeline.measures`, and all errors in `agreement_pipeline.errors`. Each name is
loaded when it is first asked for, so importing this package loads no other library.
"""

from typing import TYPE_CHECKING

from agreement_pipeline.faces import later
from agreement_pipeline.version import __version__

if TYPE_CHECKING:
    from agreement_pipeline.contract import Contract
    from agreement_pipeline.counting import read_contingency, read_counts
    from agreement_pipeline.errors import AgreementError, ReleaseHeldError, ReleaseInvalidError
    from agreement_pipeline.estimates import Difference, Estimate, compare, measure, survey
    from agreement_pipeline.intervals import Inference, Interval
    from agreement_pipeline.orchestration import AnnotationProject, release_of, rounds_of
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
    from agreement_pipeline.readers import Columns, Limits, read_marked
    from agreement_pipeline.readers import read as read_ratings
    from agreement_pipeline.release import open_release, verify_release
    from agreement_pipeline.report import report_page
    from agreement_pipeline.store import Store
else:
    __getattr__, __dir__ = later(
        __name__,
        {
            "AgreementError": "errors",
            "AnnotationProject": "orchestration",
            "Columns": "readers",
            "Contract": "contract",
            "Decision": "policy",
            "Difference": "estimates",
            "Estimate": "estimates",
            "Inference": "intervals",
            "Interval": "intervals",
            "Limits": "readers",
            "Plan": "policy",
            "Policy": "policy",
            "Ratings": "ratings",
            "ReleaseHeldError": "errors",
            "ReleaseInvalidError": "errors",
            "Rule": "policy",
            "Scale": "ratings",
            "Store": "store",
            "Verdict": "policy",
            "Waiver": "policy",
            "Waivers": "policy",
            "compare": "estimates",
            "judge": "policy",
            "load_policy": "policy",
            "load_waiver": "policy",
            "measure": "estimates",
            "open_release": "release",
            "plan": "policy",
            "read_contingency": "counting",
            "read_counts": "counting",
            "read_marked": "readers",
            "read_ratings": "readers:read",
            "release_of": "orchestration",
            "report_page": "report",
            "rounds_of": "orchestration",
            "survey": "estimates",
            "verify_release": "release",
        },
    )

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
    "open_release",
    "plan",
    "read_contingency",
    "read_counts",
    "read_marked",
    "read_ratings",
    "release_of",
    "report_page",
    "rounds_of",
    "survey",
    "verify_release",
]
