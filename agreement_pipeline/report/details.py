"""The tables that stand beside the estimates of a question."""

from collections.abc import Callable, Mapping

import pandas as pd

from agreement_pipeline.measures import Question
from agreement_pipeline.policy import Policy
from agreement_pipeline.ratings import Ratings
from agreement_pipeline.report.pool import towards_the_pool
from agreement_pipeline.report.section import Section
from agreement_pipeline.report.standing_in import standing_in
from agreement_pipeline.report.themselves_and_others import themselves_and_others

DETAILS: Mapping[Question, Mapping[str, Callable[[Ratings, Policy], pd.DataFrame | None]]] = {
    "inter-rater": {},
    "intra-rater": {
        "themselves_and_others": themselves_and_others,
        "self_agreement_towards_the_pool": towards_the_pool,
    },
    "classifier": {"standing_in": standing_in},
}


def details(question: Question, ratings: Ratings, policy: Policy) -> Section:
    """The tables of one question. None stands for a table that the ratings do not allow."""
    return {name: table(ratings, policy) for name, table in DETAILS[question].items()}
