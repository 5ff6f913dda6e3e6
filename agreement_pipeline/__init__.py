"""May this version of this dataset be trained on?

These are the names of the product. Statistics stand in `agreement_pipeline.statistics`, measures in
`agreement_pipeline.measures`, and all errors in `agreement_pipeline.errors`. Each name is
loaded when it is first asked for, so importing this package loads no other library.
"""

from typing import TYPE_CHECKING

from agreement_pipeline.faces import face
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
        plan as plan,
        release_round as release_round,
        report_page as report_page,
        survey as survey,
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
        read,
        read_marked as read_marked,
    )
    from agreement_pipeline.release import (
        check_delivery as check_delivery,
        open_release as open_release,
        verify_release as verify_release,
    )
    from agreement_pipeline.store import Store as Store

    read_ratings = read
else:
    __getattr__, __dir__, __all__ = face(__name__)
