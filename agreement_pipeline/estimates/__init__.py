"""A measure's value with its uncertainty."""

from agreement_pipeline.estimates.comparison import (
    DEFAULT_OF_NAMES as DEFAULT_OF_NAMES,
    DEFAULT_OF_ROUNDS as DEFAULT_OF_ROUNDS,
    compare as compare,
)
from agreement_pipeline.estimates.control import (
    MIN_EARLIER_ROUNDS as MIN_EARLIER_ROUNDS,
    Charted as Charted,
    Reading as Reading,
    control_chart as control_chart,
)
from agreement_pipeline.estimates.differences import (
    Difference as Difference,
)
from agreement_pipeline.estimates.drift import (
    Drift as Drift,
    drift as drift,
)
from agreement_pipeline.estimates.estimates import (
    Estimate as Estimate,
    estimate as estimate,
    estimate_each as estimate_each,
    registered as registered,
    ROUND as ROUND,
    SCOPE_KINDS as SCOPE_KINDS,
    Scope as Scope,
    ScopeKind as ScopeKind,
    WithLimits as WithLimits,
    quoted as quoted,
)
from agreement_pipeline.estimates.scopes import (
    DETAIL_RESAMPLES as DETAIL_RESAMPLES,
    applicable as applicable,
    basis_of as basis_of,
    measure as measure,
    measure_ratings as measure_ratings,
    measure_strata as measure_strata,
    require_defined as require_defined,
    survey as survey,
    values_of as values_of,
)
from agreement_pipeline.estimates.panel_labels import (
    Bounds as Bounds,
    LabelReliability as LabelReliability,
    estimate_label as estimate_label,
    label_reliability as label_reliability,
    usual_panel_size as usual_panel_size,
)
from agreement_pipeline.estimates.variance_components import (
    VarianceComponents as VarianceComponents,
    components_of as components_of,
    variance_components as variance_components,
)
from agreement_pipeline.estimates.parts import (
    MAX_SHOWN as MAX_SHOWN,
    Shown as Shown,
)
from agreement_pipeline.estimates.weak_parts import (
    explained_by as explained_by,
    parts_beside as parts_beside,
)
from agreement_pipeline.estimates.standing_out import (
    StandingOut as StandingOut,
    alike_first as alike_first,
    standing_out as standing_out,
)
from agreement_pipeline.estimates.rater_bias import (
    CategoryUse as CategoryUse,
    LimitsOfAgreement as LimitsOfAgreement,
    MarginalHomogeneity as MarginalHomogeneity,
    MeasurementError as MeasurementError,
    limits_of_agreement as limits_of_agreement,
    marginal_homogeneity as marginal_homogeneity,
    measurement_error as measurement_error,
    use_of_categories as use_of_categories,
)
