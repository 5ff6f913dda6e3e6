"""What is known of a true value if a round is judged once, at planned looks, or at any time."""

from agreement_pipeline.intervals.always_valid import always_valid, mixture
from agreement_pipeline.intervals.distributions import (
    TOO_FEW_DRAWS,
    Bounds,
    BoundsOnly,
    ConfidenceDistribution,
    WiderOf,
)
from agreement_pipeline.intervals.inference import Inference
from agreement_pipeline.intervals.looks import at_look
from agreement_pipeline.intervals.methods import Evidence


def what_is_known(
    evidence: Evidence, inference: Inference, bounds: Bounds, judged_on: int
) -> ConfidenceDistribution:
    """The confidence distribution of the true value.

    `judged_on` is the number of items, or of clusters, of the round that is judged.
    """
    method = inference.interval_method
    if inference.too_few(len(evidence.draws)):
        return BoundsOnly(bounds, TOO_FEW_DRAWS)
    once = method.distribution(evidence, bounds)
    if inference.looks is not None:
        return at_look(once, inference.looks, judged_on, bounds)
    if inference.always_valid_at is None:
        return once
    of_many = (method.distribution_of_many or method.distribution)(evidence, bounds)
    information = evidence.n * mixture(inference.always_valid_at, 1 - inference.confidence_level)
    return WiderOf(always_valid(of_many, information, bounds), once)
