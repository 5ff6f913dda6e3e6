"""Estimates as if found, and the verdict of a rule on them."""

from agreement_pipeline.estimates import ROUND, Estimate
from agreement_pipeline.intervals import Interval, Percentiles
from agreement_pipeline.policy import Rule

ALPHA = Rule("krippendorff_alpha")


def found(
    low,
    high,
    value=None,
    *,
    scope=ROUND,
    n_items=100,
    n_raters=3,
    draws=None,
    measure="krippendorff_alpha",
    lowest=None,
):
    middle = (max(low, -1.0) + high) / 2 if value is None else value
    known = None if draws is None else Percentiles(draws, middle, (-1.0, 1.0))
    return Estimate(
        measure,
        scope,
        middle,
        Interval(low, high),
        0.95,
        "m",
        n_items,
        n_raters,
        3 * n_items,
        lowest=lowest,
        distribution=known,
    )


def undefined(reason, scope=ROUND):
    return Estimate("krippendorff_alpha", scope, None, None, 0.95, "m", 0, 0, 0, undefined=reason)


def verdict(rule, *estimates):
    (only,) = rule.judge(estimates)
    return only
