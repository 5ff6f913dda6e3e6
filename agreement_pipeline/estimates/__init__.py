"""A measure's value with its uncertainty."""

from agreement_pipeline.estimates.comparison import (
    between_classifiers,
    between_raters,
    between_rounds,
)
from agreement_pipeline.estimates.differences import Difference
from agreement_pipeline.estimates.estimates import Estimate
from agreement_pipeline.estimates.estimating import estimate, estimate_each, registered
from agreement_pipeline.estimates.scope import ROUND, SCOPE_KINDS, Scope, ScopeKind
from agreement_pipeline.estimates.scopes import (
    DETAIL_RESAMPLES,
    applicable,
    basis_of,
    measure_ratings,
    survey,
)
from agreement_pipeline.estimates.shrinkage import shrunken_self_agreement

__all__ = [
    "DETAIL_RESAMPLES",
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
    "registered",
    "shrunken_self_agreement",
    "survey",
]
