"""What is shown of a question: a plot of the estimates, and tables."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial

import pandas as pd

from agreement_pipeline.estimates import Estimate, Shown
from agreement_pipeline.measures import Question
from agreement_pipeline.policy import Policy
from agreement_pipeline.ratings import Ratings
from agreement_pipeline.report.figures import interval_figure
from agreement_pipeline.report.headlines import headline_numbers
from agreement_pipeline.report.pool import towards_the_pool
from agreement_pipeline.report.profiles import profiles
from agreement_pipeline.report.section import Section
from agreement_pipeline.report.standing_in import standing_in
from agreement_pipeline.report.strata import strata
from agreement_pipeline.report.tables import estimate_rows
from agreement_pipeline.report.themselves_and_others import themselves_and_others

Detail = Callable[[Ratings, Policy, Shown | None], pd.DataFrame | None]

DETAILS: Mapping[Question, Mapping[str, Detail]] = {
    "inter-rater": {"strata": strata, "rater_profiles": profiles},
    "intra-rater": {
        "themselves_and_others": themselves_and_others,
        "self_agreement_towards_the_pool": towards_the_pool,
    },
    "classifier": {"standing_in": standing_in},
}


def details(
    question: Question,
    ratings: Ratings,
    policy: Policy,
    estimates: Sequence[Estimate],
    shown: Shown | None = None,
) -> Section:
    """The plot, the tables and the headline numbers of one question.

    None stands for a table that the ratings do not allow. With `shown`, some raters and pairs are
    shown, and `left_out` says of how many.
    """
    tables = {name: table(ratings, policy, shown) for name, table in DETAILS[question].items()}
    return {
        "left_out": None if shown is None else shown.left_out(),
        "intervals": partial(interval_figure, estimates, policy),
        **tables,
        "estimates": pd.DataFrame(estimate_rows(estimates)),
        **headline_numbers(estimates, policy.measures),
    }
