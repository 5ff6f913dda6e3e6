"""A measure's value with its uncertainty."""

from typing import TYPE_CHECKING

from agreement_pipeline.faces import later

if TYPE_CHECKING:
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
else:
    __getattr__, __dir__ = later(
        __name__,
        {
            "Charted": "control",
            "DETAIL_RESAMPLES": "scopes",
            "Difference": "differences",
            "Drawn": "spread",
            "Drift": "drift",
            "Estimate": "estimates",
            "FEWEST_BEFORE": "control:FEWEST",
            "FEWEST_TO_TELL": "spread",
            "MOST_SHOWN": "shown",
            "OF_NAMES": "compare",
            "OF_ROUNDS": "compare",
            "OfOrder": "order_effect",
            "OrderEffect": "order_effect",
            "ROUND": "scope",
            "Reading": "control",
            "SCOPE_KINDS": "scope",
            "Scope": "scope",
            "ScopeKind": "scope",
            "Shown": "shown",
            "applicable": "scopes",
            "basis_of": "scopes",
            "between_classifiers": "comparison",
            "between_measures": "comparison",
            "between_raters": "comparison",
            "between_rounds": "comparison",
            "compare": "compare",
            "control_chart": "control",
            "drawn_together": "spread",
            "drift": "drift",
            "estimate": "estimating",
            "estimate_each": "estimating",
            "measure": "scopes",
            "measure_ratings": "scopes",
            "measure_strata": "scopes",
            "order_effect": "order_effect",
            "quoted": "scope",
            "registered": "estimating",
            "require_defined": "scopes",
            "shrunken_self_agreement": "shrinkage",
            "survey": "scopes",
            "values_of": "scopes",
        },
    )

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
