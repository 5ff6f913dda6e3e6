"""A measure's value with its uncertainty."""

from agreement_pipeline.estimates.compare import OF_NAMES, OF_ROUNDS, compare
from agreement_pipeline.estimates.comparison import (
    between_classifiers,
    between_measures,
    between_raters,
    between_rounds,
)
from agreement_pipeline.estimates.control import FEWEST as FEWEST_BEFORE
from agreement_pipeline.estimates.control import Charted, Reading, control_chart
from agreement_pipeline.estimates.differences import Difference
from agreement_pipeline.estimates.drift import Drift, drift
from agreement_pipeline.estimates.estimates import Estimate
from agreement_pipeline.estimates.estimating import estimate, estimate_each, registered
from agreement_pipeline.estimates.order_effect import OfOrder, OrderEffect, order_effect
from agreement_pipeline.estimates.scope import ROUND, SCOPE_KINDS, Scope, ScopeKind, quoted
from agreement_pipeline.estimates.scopes import (
    DETAIL_RESAMPLES,
    applicable,
    basis_of,
    measure,
    measure_ratings,
    measure_strata,
    require_defined,
    survey,
    values_of,
)
from agreement_pipeline.estimates.shown import MOST_SHOWN, Shown
from agreement_pipeline.estimates.shrinkage import shrunken_self_agreement
from agreement_pipeline.estimates.spread import FEWEST_TO_TELL, Drawn, drawn_together

__all__ = [
    "DETAIL_RESAMPLES",
    "FEWEST_BEFORE",
    "FEWEST_TO_TELL",
    "MOST_SHOWN",
    "OF_NAMES",
    "OF_ROUNDS",
    "ROUND",
    "SCOPE_KINDS",
    "Charted",
    "Difference",
    "Drawn",
    "Drift",
    "Estimate",
    "OfOrder",
    "OrderEffect",
    "Reading",
    "Scope",
    "ScopeKind",
    "Shown",
    "applicable",
    "basis_of",
    "between_classifiers",
    "between_measures",
    "between_raters",
    "between_rounds",
    "compare",
    "control_chart",
    "drawn_together",
    "drift",
    "estimate",
    "estimate_each",
    "measure",
    "measure_ratings",
    "measure_strata",
    "order_effect",
    "quoted",
    "registered",
    "require_defined",
    "shrunken_self_agreement",
    "survey",
    "values_of",
]
