"""Populations to plan from: an earlier round, or assumptions about the raters."""

from collections.abc import Callable, Sequence
from itertools import combinations_with_replacement, product
from math import comb, factorial, nan, prod
from typing import Any

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
    low, high = 0.0, 1.0
    for _ in range(STEPS_OF_AGREEMENT):
        middle = (low + high) / 2
        low, high = (
            (middle, high)
            if true_value(measure, _clear_or_guessed(measure, middle, shares, n_raters)) < expected
            else (low, middle)
        )
    population = _clear_or_guessed(measure, high, shares, n_raters)
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


def _clear_or_guessed(measure: str, clear: float, prevalence: Array, n_raters: int) -> Statistic:
    scale = Scale(tuple(f"c{k}" for k in range(len(prevalence))))
    makers: dict[str, Callable[..., Any]] = {
        "counts": _as_counts,
        "patterns": _as_patterns,
        "replicates": _as_replicates,
    }
    needs = registered(measure).needs
    if needs not in makers:
        raise PolicyError(
            f"{measure}: found a measure of {SUBJECTS[needs]}; expected a measure of "
            f"{SUBJECTS['counts']}, or of {SUBJECTS['replicates']}. Plan from an earlier "
            "round instead."
        )
    statistic: Statistic = makers[needs](clear, prevalence, n_raters, scale)
    return statistic


def _as_counts(clear: float, prevalence: Array, n_raters: int, scale: Scale) -> CategoryCounts:
    _refuse_too_many(comb(n_raters + len(prevalence) - 1, n_raters))
    counts = np.array(
        [
            np.bincount(given, minlength=len(prevalence))
            for given in combinations_with_replacement(range(len(prevalence)), n_raters)
        ]
    )
    orders = np.array([factorial(n_raters) / prod(map(factorial, row.tolist())) for row in counts])
    guessed = orders * (prevalence**counts).prod(1)
    all_alike = (counts == n_raters) @ prevalence
    return CategoryCounts(
        counts, clear * all_alike + (1 - clear) * guessed, scale=scale, n_raters=n_raters
    )


def _as_patterns(clear: float, prevalence: Array, n_raters: int, scale: Scale) -> LabelsByRater:
    _refuse_too_many(len(prevalence) ** n_raters)
    codes = np.array(list(product(range(len(prevalence)), repeat=n_raters)))
    all_alike = np.where((codes == codes[:, :1]).all(1), prevalence[codes[:, 0]], 0.0)
    return LabelsByRater(
        codes,
        clear * all_alike + (1 - clear) * prevalence[codes].prod(1),
        scale=scale,
        raters=_names(n_raters),
    )


def _as_replicates(
    clear: float, prevalence: Array, n_raters: int, scale: Scale
) -> ReplicatedLabels:
    counts = _as_counts(clear, prevalence, n_raters, scale)
    first = LabelsByRater(
        counts.counts.argmax(1)[:, None], counts.weights, scale=scale, raters=_names(1)
    )
    places = np.arange(len(counts.counts))
    return ReplicatedLabels(counts.counts, places, np.zeros_like(places), first)


def _refuse_too_many(n_ways: int) -> None:
    """Rows are refused before they are made, since they may not fit into memory."""
    if n_ways > MOST_ROWS:
        raise PolicyError(
            f"ways to label an item: found {n_ways}; expected at most {MOST_ROWS}. "
            "Plan for fewer raters or categories."
        )


def _names(n_raters: int) -> tuple[str, ...]:
    return tuple(f"r{number}" for number in range(n_raters))


def mean_labels(population: Statistic) -> float:
    return _whole(population).n_ratings / WHOLE


def _whole(population: Statistic) -> Statistic:
    """The items are so many that each share is a whole number of them."""
    return population.reweighted(population.weights * (WHOLE / population.weights.sum()))
