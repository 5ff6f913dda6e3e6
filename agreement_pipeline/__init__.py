"""May this version of this dataset be trained on?

Import what you need from here. Statistics are in `agreement_pipeline.statistics`, measures in
`agreement_pipeline.measures`, and all errors in `agreement_pipeline.errors`. Each name is loaded
when it is first used, so importing this package loads no other library.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from agreement_pipeline.version import __version__ as __version__

if TYPE_CHECKING:
    from agreement_pipeline.contract import Contract as Contract
    from agreement_pipeline.counting import (
        read_contingency as read_contingency,
        read_counts as read_counts,
    )
    from agreement_pipeline.errors import (
        AgreementError as AgreementError,
        ReleaseHeldError as ReleaseHeldError,
        ReleaseInvalidError as ReleaseInvalidError,
    )
    from agreement_pipeline.estimates import Difference as Difference, Estimate as Estimate
    from agreement_pipeline.intervals import Inference as Inference, Interval as Interval
    from agreement_pipeline.notebook import (
        compare as compare,
        judge as judge,
        label_reliability as label_reliability,
        measure as measure,
        open_release as open_release,
        plan as plan,
        read_ratings as read_ratings,
        release_round as release_round,
        report_page as report_page,
        survey as survey,
        verify_release as verify_release,
    )
    from agreement_pipeline.orchestration import (
        AllProjects as AllProjects,
        AnnotationProject as AnnotationProject,
        release_of as release_of,
        rounds_of as rounds_of,
    )
    from agreement_pipeline.policy import (
        Decision as Decision,
        Plan as Plan,
        Policy as Policy,
        Rule as Rule,
        Verdict as Verdict,
        Waiver as Waiver,
        Waivers as Waivers,
        load_policy as load_policy,
        load_waiver as load_waiver,
    )
    from agreement_pipeline.ratings import Ratings as Ratings, Scale as Scale
    from agreement_pipeline.readers import (
        Columns as Columns,
        Limits as Limits,
        read_marked as read_marked,
    )
    from agreement_pipeline.release import check_delivery as check_delivery
    from agreement_pipeline.store import Store as Store

ROOM_BY_NAME = {
    "AgreementError": "errors",
    "AllProjects": "orchestration",
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
    "check_delivery": "release",
    "compare": "notebook",
    "judge": "notebook",
    "label_reliability": "notebook",
    "load_policy": "policy",
    "load_waiver": "policy",
    "measure": "notebook",
    "open_release": "notebook",
    "plan": "notebook",
    "read_contingency": "counting",
    "read_counts": "counting",
    "read_marked": "readers",
    "read_ratings": "notebook",
    "release_of": "orchestration",
    "release_round": "notebook",
    "report_page": "notebook",
    "rounds_of": "orchestration",
    "survey": "notebook",
    "verify_release": "notebook",
}
__all__ = ["__version__", *ROOM_BY_NAME]  # noqa: PLE0604 - its keys are strings


def __getattr__(name: str) -> Any:
    """Load a public name from its room when it is first asked for (PEP 562)."""
    if name not in ROOM_BY_NAME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{ROOM_BY_NAME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return list(__all__)
