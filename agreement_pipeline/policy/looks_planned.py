"""How often a rule decides at the looks of a policy, on simulated rounds that grow."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from agreement_pipeline.errors import PolicyError
from agreement_pipeline.estimates import Estimate, estimate, registered
from agreement_pipeline.intervals import Looks, drawn_masses
from agreement_pipeline.policy.items_needed import Judging, Plan, asked_of, drawn_round
from agreement_pipeline.statistics import Statistic


def plan_looks(
    judging: Judging,
    population: Statistic,
    looks: Looks,
    *,
    probability: float,
    n_rounds: int,
    seed: int = 0,
) -> Plan:
    """At which look enough simulated rounds have decided.

    Each round grows from look to look, and stops at the first look that decides. The curve holds
    the share of rounds that decided by each look.

    Raises
    ------
    PolicyError
        The measure has no value in the population. Or it is one of replicates: how many of the
        items of a round have them is unknown.
    """
    if registered(judging.measure).needs == "replicates":
        raise PolicyError(
            f"{judging.measure}: found looks at {looks} with a measure of replicates; expected a "
            "measure that reads all items, since a look counts the items of the round. "
            "Plan for a policy without looks."
        )
    asked = asked_of(judging, population, probability)
    if asked.impossible:
        return asked
    rng = np.random.default_rng(seed)
    decided = np.zeros(len(looks.at))
    for number in range(n_rounds):
        for place, found in enumerate(_looked_at(judging, population, looks, rng, number)):
            if judging.decides(found):
                decided[place:] += 1
                break
    curve = tuple(zip(looks.at, (decided / n_rounds).tolist(), strict=True))
    enough = next((point for point in curve if point[1] >= probability), None)
    if enough is None:
        why = f"by the last look, at {looks.at[-1]}, {100 * curve[-1][1]:.1f}% decide"
        return replace(asked, curve=curve, impossible=why)
    return replace(asked, curve=curve, n_items=enough[0], decided=enough[1])


def _looked_at(
    judging: Judging, population: Statistic, looks: Looks, rng: np.random.Generator, number: int
) -> Iterator[Estimate]:
    """The estimates of one growing round, look by look."""
    masses = drawn_masses(population)
    times, before = np.zeros(len(masses)), 0
    for size in looks.at:
        times, before = times + rng.multinomial(size - before, masses / masses.sum()), size
        inference = replace(judging.inference_of(number), judged_on=size)
        yield estimate(judging.measure, drawn_round(population, times), inference)
