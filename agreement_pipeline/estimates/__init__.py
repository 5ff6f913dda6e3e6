"""A measure's value with its uncertainty."""

from agreement_pipeline.estimates.comparison import (
    DEFAULT_OF_NAMES as DEFAULT_OF_NAMES,
    DEFAULT_OF_ROUNDS as DEFAULT_OF_ROUNDS,
    compare as compare,
)
from agreement_pipeline.estimates.control import (
    MIN_EARLIER_ROUNDS as MIN_EARLIER_ROUNDS,
    ChartedRound as ChartedRound,
    RoundReading as RoundReading,
    build_control_chart as build_control_chart,
)
from agreement_pipeline.estimates.differences import (
    Difference as Difference,
)
from agreement_pipeline.estimates.drift import (
    Drift as Drift,
    find_drift as find_drift,
)
from agreement_pipeline.estimates.estimates import (
    Estimate as Estimate,
    estimate as estimate,
    estimate_each as estimate_each,
    estimate_redrawn as estimate_redrawn,
    reestimate as reestimate,
    find_registered_measure as find_registered_measure,
    ROUND as ROUND,
    SCOPE_KINDS as SCOPE_KINDS,
    Scope as Scope,
    ScopeKind as ScopeKind,
    WithLimits as WithLimits,
    quote_if_ambiguous as quote_if_ambiguous,
)
from agreement_pipeline.estimates.scopes import (
    DETAIL_RESAMPLES as DETAIL_RESAMPLES,
    applicable_measures as applicable_measures,
    build_round_statistic as build_round_statistic,
    measure as measure,
    measure_ratings as measure_ratings,
    measure_strata as measure_strata,
    require_defined as require_defined,
    survey as survey,
    value_by_scope as value_by_scope,
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
    estimate_components_of_table as estimate_components_of_table,
    estimate_variance_components as estimate_variance_components,
)
from agreement_pipeline.estimates.parts import (
    MAX_SHOWN as MAX_SHOWN,
    ShownRaters as ShownRaters,
)
from agreement_pipeline.estimates.weak_parts import (
    columns_without_difference as columns_without_difference,
    judge_parts_of_round as judge_parts_of_round,
)
from agreement_pipeline.estimates.standing_out import (
    StandingOut as StandingOut,
    order_raters_by_agreement as order_raters_by_agreement,
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
