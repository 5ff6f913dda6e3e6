"""Estimates for a table that is only looked at."""

from collections.abc import Sequence

from agreement_pipeline.estimates import DETAIL_RESAMPLES, Estimate, Shown, survey
from agreement_pipeline.intervals import Inference
from agreement_pipeline.policy import Policy, judged_part
from agreement_pipeline.ratings import Ratings

MANY_CATEGORIES = 12
"""With more categories, so many intervals from all resamples would take minutes."""


def measured(
    ratings: Ratings,
    measures: Sequence[str],
    policy: Policy,
    scopes: Sequence[str],
    shown: Shown | None = None,
) -> Sequence[Estimate]:
    """Estimates about the ratings that the policy judges, for people to read.

    They have the policy's number of resamples, so a value has one interval on the whole page.
    Raters and pairs have fewer. So has everything else if there are many categories.
    """
    many = len(ratings.scale.categories or ()) > MANY_CATEGORIES
    n_resamples = min(policy.n_resamples, DETAIL_RESAMPLES) if many else policy.n_resamples
    inference = Inference(policy.confidence_level, n_resamples)
    return survey(judged_part(ratings, policy), measures, inference, scopes=scopes, shown=shown)
