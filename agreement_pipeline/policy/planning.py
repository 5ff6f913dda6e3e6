"""Plans: how many items the rules of a policy need before they decide."""

from collections.abc import Sequence
from dataclasses import replace

from agreement_pipeline.errors import PolicyError
from agreement_pipeline.intervals import Inference
from agreement_pipeline.policy.items_needed import (
    N_RESAMPLES,
    N_ROUNDS,
    Judging,
    Plan,
    plan_measure,
)
from agreement_pipeline.policy.looks_planned import plan_looks
from agreement_pipeline.policy.policy import Policy
from agreement_pipeline.policy.populations import (
    assumed,
    population_of,
)
from agreement_pipeline.policy.reasons import risks
from agreement_pipeline.policy.rules import AnyRule, Rule
from agreement_pipeline.ratings import Ratings
from agreement_pipeline.statistics import Statistic
from agreement_pipeline.tables import Table
from agreement_pipeline.text import listed

EXPECTED, PROBABILITY = 0.85, 0.9
PREVALENCE, LABELS_AN_ITEM = (0.5, 0.5), (3,)


def plan(
    policy: Policy,
    earlier: Ratings | None = None,
    *,
    expected: float = EXPECTED,
    prevalence: Sequence[float] = PREVALENCE,
    labels_an_item: Sequence[int] = LABELS_AN_ITEM,
    probability: float = PROBABILITY,
    n_rounds: int = N_ROUNDS,
    where: str = "earlier round",
) -> Table[Plan]:
    """One plan for each rule on the round that can hold a release, judged as the policy says.

    Parameters
    ----------
    policy
        The policy whose rules are planned for, with its confidence level and its other settings.
    earlier
        An earlier round, if the next round will be like it. None: the next round is described by
        the next three parameters.
    expected, prevalence, labels_an_item
        Without an earlier round: the value expected of each measure, the share of each category,
        and how many raters label an item. Each number of raters has plans of its own.
    probability
        The share of rounds that shall decide.
    n_rounds
        How many rounds are simulated for each number of items.
    where
        The name of the earlier round in errors.

    Raises
    ------
    PolicyError
        No rule on the round can hold a release, or the policy's limits are for raters at large. Or
        the policy corrects verdicts together, and their number is unknown before the round.
    """
    rules = [rule for rule in _holding(policy) if isinstance(rule, Rule) and rule.scope == "round"]
    if earlier is not None:
        asked = [(rule, population_of(earlier, rule, where=where)) for rule in rules]
    else:
        asked = [
            (rule, assumed(rule.measure, expected, prevalence, raters))
            for rule in rules
            for raters in labels_an_item
        ]
    _refuse_unplannable(policy)
    if not rules:
        raise PolicyError(
            f"policy {policy.policy}: found no rule of the round that can hold a release; "
            "expected one for a plan. Plan for another policy."
        )
    inference = _inference_for(policy)
    n_together = len(_holding(policy)) if policy.familywise == "holm" else 1
    return Table(
        _of_rule(rule, population, inference, n_together, probability, n_rounds)
        for rule, population in asked
    )


def unplanned_look(policy: Policy) -> str | None:
    """What a second look costs under a policy for rounds that are judged once; else None."""
    if policy.inference.several_looks:
        return None
    return (
        "Each plan is for a round that is judged once. A second look at the same round after more "
        f"items raises the risk of a wrong admission {risks(policy.inference.tail)}. Name the "
        "sizes as looks in the policy, set always_valid_at, or judge a fresh round."
    )


def _of_rule(
    rule: Rule,
    population: Statistic,
    inference: Inference,
    n_together: int,
    probability: float,
    n_rounds: int,
) -> Plan:
    """The plan of one rule, at the looks of the policy if it names them."""
    if inference.looks is None:
        return plan_measure(
            rule.measure,
            population,
            inference,
            reliable=rule.reliable,
            probability=probability,
            min_items=rule.min_items,
            n_rounds=n_rounds,
            n_together=n_together,
        )
    judging = Judging(rule.measure, rule.reliable, rule.min_items, inference, n_together)
    return plan_looks(
        judging, population, inference.looks, probability=probability, n_rounds=n_rounds
    )


def _holding(policy: Policy) -> list[AnyRule]:
    return [rule for rule in policy.rules if rule.effect == "hold"]


def _refuse_unplannable(policy: Policy) -> None:
    """Refuse a policy if one rule and its population do not say how many items it needs."""
    if policy.inference.interval_method.population == "raters at large":
        raise PolicyError(
            f"policy {policy.policy}: found interval_method {policy.interval_method}; expected a "
            "method for these raters, since more items narrow only a part of the limits for raters "
            "at large. Plan for a policy without it, and ask more raters."
        )
    elsewhere = sorted({rule.scope for rule in _holding(policy) if rule.scope != "round"})
    if policy.familywise == "holm" and elsewhere:
        raise PolicyError(
            f"policy {policy.policy}: found familywise: holm with rules that hold on "
            f"{listed(elsewhere)}; expected rules of the round alone, since the number of "
            "verdicts that hold together is unknown otherwise. "
            "Plan for a policy without these rules."
        )


def _inference_for(policy: Policy) -> Inference:
    """The policy's inference, with fewer resamples unless its limits lie far out."""
    inference = policy.inference
    if policy.familywise == "none" and policy.inference.several_looks is None:
        return replace(inference, n_resamples=max(N_RESAMPLES, inference.needed_resamples()))
    return inference
