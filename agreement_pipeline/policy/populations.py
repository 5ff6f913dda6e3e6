"""Populations to plan from: an earlier round, or assumptions about the raters."""

from collections.abc import Sequence
from itertools import combinations_with_replacement, product
from math import comb, factorial, nan, prod

import numpy as np

from agreement_pipeline.counting import Rated
from agreement_pipeline.errors import PolicyError
from agreement_pipeline.estimates import basis_of, registered
from agreement_pipeline.measures import SUBJECTS
from agreement_pipeline.policy.rules import Rule
from agreement_pipeline.ratings import Array, Scale
from agreement_pipeline.statistics import (
    CategoryCounts,
    LabelsByRater,
    ReplicatedLabels,
    Statistic,
)
from agreement_pipeline.text import listed

MOST_ROWS = 50_000
MOST_LABELS = 1_000
STEPS_OF_AGREEMENT = 60
WHOLE = 1e9


def population_of(ratings: Rated, rule: Rule, *, where: str = "earlier round") -> Statistic:
    statistic, record = basis_of(ratings, rule.measure), registered(rule.measure)
    if statistic is None or record.why_undefined(statistic):
        raise PolicyError(
            f"{where}: found no value of {rule.measure}; expected one to plan from. "
            "Plan from another round, or from the value expected."
        )
    n_raters, left_out = record.rests_on.raters(statistic), record.raters_left_out(statistic)
    if n_raters < rule.min_raters:
        why = f"found {n_raters} raters; expected {rule.min_raters}"
    elif rule.every_rater and left_out:
        why = f"found nothing to read of raters {listed(left_out)}; expected every rater"
    else:
        return statistic
    raise PolicyError(
        f"{where}: {rule.measure}: {why}, as the rule asks. "
        "More items do not help: plan from a round in which these raters are read."
    )


def assumed(measure: str, expected: float, prevalence: Sequence[float], n_raters: int) -> Statistic:
    """All raters of a clear item give its category, and those of an unclear one guess by the
    prevalence.

    Other populations with the same agreement may need fewer items, or more.
    """
    shares = np.asarray(prevalence, dtype=float)
    if (
        shares.ndim != 1
        or len(shares) < 2
        or not (shares > 0).all()
        or not np.isclose(shares.sum(), 1)
    ):
        raise PolicyError(
            f"prevalence: found {list(prevalence)}; expected two shares or more, above 0, with sum "
            "1. Give one for each category."
        )
    if not 2 <= n_raters <= MOST_LABELS:
        raise PolicyError(
            f"labels an item: found {n_raters}; expected 2 to {MOST_LABELS}. "
            "Plan for as many as an item will have."
        )
    ways, known, guessed = _clear_or_guessed(measure, shares, n_raters)

    def with_clear(share: float) -> Statistic:
        return ways.reweighted(share * known + (1 - share) * guessed)

    low, high = 0.0, 1.0
    for _ in range(STEPS_OF_AGREEMENT):
        middle = (low + high) / 2
        too_few = true_value(measure, with_clear(middle)) < expected
        low, high = (middle, high) if too_few else (low, middle)
    population = with_clear(high)
    if not np.isclose(true_value(measure, population), expected, atol=1e-6):
        raise PolicyError(
            f"{measure}: found {expected:g}; expected a value that raters who know or guess can "
            "have. Expect more agreement, or less."
        )
    return population


def true_value(measure: str, population: Statistic) -> float:
    """Very many items are used because some measures have a correction for few items. A category
    that is declared and does not occur leaves the lowest value undefined.
    """
    values = np.atleast_1d(registered(measure)(_whole(population)).value)
    known = values if population.scale.declared else values[~np.isnan(values)]
    return float(known.min()) if known.size else nan


def _clear_or_guessed(
    measure: str, prevalence: Array, n_raters: int
) -> tuple[Statistic, Array, Array]:
    """The ways to label an item, and how often a clear and an unclear item is labelled so."""
    n, needs = len(prevalence), registered(measure).needs
    if needs not in ("counts", "patterns", "replicates"):
        raise PolicyError(
            f"{measure}: found a measure of {SUBJECTS[needs]}; expected a measure of "
            f"{SUBJECTS['counts']}, or of {SUBJECTS['replicates']}. Plan from an earlier "
            "round instead."
        )
    n_ways = n**n_raters if needs == "patterns" else comb(n_raters + n - 1, n_raters)
    if n_ways > MOST_ROWS:  # before they are made, since they may not fit into memory
        raise PolicyError(
            f"ways to label an item: found {n_ways}; expected at most {MOST_ROWS}. "
            "Plan for fewer raters or categories."
        )
    scale = Scale(tuple(f"c{k}" for k in range(n)))
    raters = tuple(f"r{number}" for number in range(n_raters))
    if needs == "patterns":
        codes = np.array(list(product(range(n), repeat=n_raters)))
        known = np.where((codes == codes[:, :1]).all(1), prevalence[codes[:, 0]], 0.0)
        guessed = prevalence[codes].prod(1)
        return LabelsByRater(codes, guessed, scale=scale, raters=raters), known, guessed
    given = combinations_with_replacement(range(n), n_raters)
    counts = np.array([np.bincount(labels, minlength=n) for labels in given])
    orders = np.array([factorial(n_raters) / prod(map(factorial, row.tolist())) for row in counts])
    guessed = orders * (prevalence**counts).prod(1)
    known = (counts == n_raters) @ prevalence
    if needs == "counts":
        counted = CategoryCounts(counts, guessed, scale=scale, n_raters=n_raters)
        return counted, known, guessed
    first = LabelsByRater(counts.argmax(1)[:, None], guessed, scale=scale, raters=raters[:1])
    places = np.arange(len(counts))
    return ReplicatedLabels(counts, places, np.zeros_like(places), first), known, guessed


def mean_labels(population: Statistic) -> float:
    return _whole(population).n_ratings / WHOLE


def _whole(population: Statistic) -> Statistic:
    """The items are so many that each share is a whole number of them."""
    return population.reweighted(population.weights * (WHOLE / population.weights.sum()))
