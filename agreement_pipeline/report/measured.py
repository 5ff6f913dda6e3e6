"""Estimates for a table that is only looked at."""

from collections.abc import Iterator, Sequence

from agreement_pipeline.estimates import DETAIL_RESAMPLES, Estimate, Shown, measure_ratings
from agreement_pipeline.intervals import Inference
from agreement_pipeline.policy import Policy, judged_part
from agreement_pipeline.ratings import Ratings


def measured(
    ratings: Ratings,
    measures: Sequence[str],
    policy: Policy,
    scopes: Sequence[str],
    shown: Shown | None = None,
) -> Iterator[Estimate]:
    """Estimates from fewer resamples than the policy asks for, since no verdict rests on them.

    They are about the ratings that the policy judges.
    """
    fewer = min(policy.n_resamples, DETAIL_RESAMPLES)
    inference = Inference(policy.confidence_level, fewer)
    return measure_ratings(
        judged_part(ratings, policy), measures, inference, scopes=scopes, shown=shown
    )
