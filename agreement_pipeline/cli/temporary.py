"""Stands in until policy has these."""

from collections.abc import Callable, Iterable
from typing import Any

from agreement_pipeline.errors import PolicyError
from agreement_pipeline.estimates import basis_of, registered
from agreement_pipeline.intervals import fewest_draws, interval_method
from agreement_pipeline.policy import N_RESAMPLES, Plan, Policy, Rule, plan
from agreement_pipeline.ratings import Ratings
from agreement_pipeline.statistics import Statistic
from agreement_pipeline.text import listed


def plans_for(
    policy: Policy,
    populations: Callable[[Rule], Iterable[Statistic]],
    *,
    probability: float,
    n_rounds: int,
) -> list[Plan]:
    rules = [rule for rule in policy.rules if rule.effect == "hold" and rule.scope == "round"]
    asked = [(rule, population) for rule in rules for population in populations(rule)]
    settings = {
        "probability": probability,
        "n_rounds": n_rounds,
        "confidence_level": policy.confidence_level,
        **_manner(policy),
    }
    if not rules:
        raise PolicyError(f"policy {policy.policy}: found no rule of the round that can hold")
    return [
        plan(rule.measure, population, reliable=rule.reliable, min_items=rule.min_items, **settings)
        for rule, population in asked
    ]


def _manner(policy: Policy) -> dict[str, Any]:
    if interval_method(policy.interval_method).population == "raters at large":
        need = "a method that speaks of these raters is required, since how many raters there are decides about raters at large, whatever the items"
        raise PolicyError(
            f"interval_method {policy.interval_method} found; {need}. Plan for a policy without it, and ask more raters."
        )
    if policy.familywise == "none" and policy.always_valid_at is None:
        return {"n_resamples": max(N_RESAMPLES, fewest_draws(policy.tail))}
    holding = [rule for rule in policy.rules if rule.effect == "hold"]
    elsewhere = sorted({rule.scope for rule in holding if rule.scope != "round"})
    if policy.familywise == "holm" and elsewhere:
        need = "rules of the round alone are required, since how many verdicts will hold together is not known otherwise"
        raise PolicyError(
            f"familywise: holm with rules that hold on {listed(elsewhere)} found; {need}. Plan for a policy without these rules."
        )
    n_together = len(holding) if policy.familywise == "holm" else 1
    return {
        "n_together": n_together,
        "always_valid_at": policy.always_valid_at,
        "n_resamples": policy.n_resamples,
    }


def population_of(ratings: Ratings, rule: Rule, *, where: str) -> Statistic:
    statistic, record = basis_of(ratings, rule.measure), registered(rule.measure)
    if statistic is None or record.why_undefined(statistic):
        raise PolicyError(
            f"{where}: {rule.measure} has no value on it; one is required to plan from. Plan from another round, or with --expected."
        )
    n_raters, left_out = record.rests_on.raters(statistic), record.raters_left_out(statistic)
    too_few = (
        f"{n_raters} raters found; {rule.min_raters} are" if n_raters < rule.min_raters else ""
    )
    missing = (
        f"nothing to read of raters {listed(left_out)} found; every rater is"
        if rule.every_rater and left_out
        else ""
    )
    if why := too_few or missing:
        raise PolicyError(
            f"{where}: {rule.measure}: {why} required by the policy, whatever the items. Plan from a round in which they are."
        )
    return statistic


def refuse_too_few_resamples(confidence_level: float, n_resamples: int) -> None:
    needed = fewest_draws((1 - confidence_level) / 2)
    if n_resamples < needed:
        raise PolicyError(
            f"n_resamples: found {n_resamples} with "
            f"confidence_level {confidence_level:g}; "
            f"expected {needed} or more, so that ten resamples lie beyond each limit. "
            "Raise n_resamples."
        )
