"""A measure's value with its uncertainty."""

from agreement_pipeline.estimates.comparison import (
    between_classifiers,
    between_raters,
    between_rounds,
)
from agreement_pipeline.estimates.differences import Difference
from agreement_pipeline.estimates.estimates import (
    CONFIDENCE_LEVEL,
    N_RESAMPLES,
    ROUND,
    SCOPE_KINDS,
    Estimate,
    Scope,
    ScopeKind,
    estimate,
    estimate_each,
    refuse_impossible,
    registered,
)
from agreement_pipeline.estimates.scopes import (
    DETAIL_RESAMPLES,
    applicable,
    basis_of,
    measure_ratings,
    survey,
)
from agreement_pipeline.estimates.shrinkage import shrunken_self_agreement

__all__ = [
    "CONFIDENCE_LEVEL",
    "DETAIL_RESAMPLES",
    "N_RESAMPLES",
    "ROUND",
    "SCOPE_KINDS",
    "Difference",
    "Estimate",
    "Scope",
    "ScopeKind",
    "applicable",
    "basis_of",
    "between_classifiers",
    "between_raters",
    "between_rounds",
    "estimate",
    "estimate_each",
    "measure_ratings",
    "refuse_impossible",
    "registered",
    "shrunken_self_agreement",
    "survey",
]
