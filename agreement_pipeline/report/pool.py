"""Each rater's agreement with themselves, drawn towards the agreement of all raters."""

import pandas as pd

from agreement_pipeline.counting import counting_of
from agreement_pipeline.estimates import Shown, shrunken_self_agreement
from agreement_pipeline.intervals import Inference
from agreement_pipeline.policy import Policy
from agreement_pipeline.ratings import Ratings
from agreement_pipeline.report.tables import rater_rows
from agreement_pipeline.statistics import seed_of


def towards_the_pool(
    ratings: Ratings, policy: Policy, shown: Shown | None = None
) -> pd.DataFrame | None:
    """A row for each rater who met an item twice; None if the scale lists no categories."""
    if ratings.scale.continuous:
        return None
    replicates = counting_of(ratings).replicated_labels(ratings)
    inference = Inference(policy.confidence_level, policy.n_resamples, seed=seed_of(replicates))
    found = shrunken_self_agreement(replicates, inference)
    return rater_rows([each for each in found if shown is None or each.scope.name in shown.again])
