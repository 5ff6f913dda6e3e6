"""Comparing two rounds, or two classifiers, raters or measures of one round."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from agreement_pipeline.engines import memory
from agreement_pipeline.errors import AgreementError
from agreement_pipeline.estimates.differences import Difference, difference
from agreement_pipeline.estimates.estimating import DEFAULT, registered
from agreement_pipeline.estimates.scopes import basis_of
from agreement_pipeline.estimates.sides import Side
from agreement_pipeline.intervals import Inference
from agreement_pipeline.ratings import Ratings, Scale
from agreement_pipeline.statistics import (
    PanelPatterns,
    PanelValues,
    RatingPatterns,
    RatingValues,
    Statistic,
    against_the_rest,
    value_against_the_rest,
)

SUCH_AS = {"counts": "krippendorff_alpha", "panel": "schouten_kappa"}
"""A measure to name in errors, for each kind of measure that a comparison may require."""
FIRST_LABELS = ("counts", "patterns", "values")


def between_rounds(
    one: Ratings,
    other: Ratings,
    measure: str,
    inference: Inference = DEFAULT,
    *,
    category: str | None = None,
    names: tuple[str, str] = ("one round", "the other round"),
) -> Difference:
    """How much greater a measure is on one round than on another.

    The rounds are paired by the items and the clusters that both hold. A measure of every category
    is compared on the `category` named. If none is named, the lowest category of each round is
    taken. If no categories are declared, both rounds are read with the categories of either.

    Raises
    ------
    AgreementError
        The measure does not speak of whole rounds. Or the rounds share items or clusters, and the
        measure uses replicates, confidence, two groups, or numbers without categories. Or the
        rounds share items that come in different clusters.
    """
    needs = registered(measure).needs
    seed = tuple(int(each.digest[:16], 16) for each in (one, other))
    one, other = _on_categories_of_both(one, other)
    for ratings in (one, other):
        _require_defined(ratings, measure)
    shared = len(set(one.without_gold.current["item"]) & set(other.without_gold.current["item"]))
    clusters = len(_cluster_names(one) & _cluster_names(other))
    paired = shared > 0 or clusters > 0
    if paired and (
        needs in ("replicates", "confidence", "groups")
        or one.scale.continuous
        or other.scale.continuous
    ):
        found = f"found {shared} shared items" if shared else f"found {clusters} shared clusters"
        raise AgreementError(
            f"{measure}: {found}; expected a measure of first labels on a list of categories, "
            "since the rounds are paired. "
            "Choose another such as krippendorff_alpha, or rounds of other items."
        )
    if paired and needs in FIRST_LABELS:
        statistics = [
            _of_patterns(needs, patterns) for patterns in memory.aligned_patterns(one, other)
        ]
    else:
        statistics = [_of_round(ratings, measure) for ratings in (one, other)]
    what = _of_category(measure, category)
    sides = [
        Side(f"{what} of {name}", measure, statistic, category)
        for name, statistic in zip(names, statistics, strict=True)
    ]
    first, second = sides
    seeded = replace(inference, seed=seed)
    return difference(first, second, seeded, shared=shared if paired else None)


def _on_categories_of_both(one: Ratings, other: Ratings) -> tuple[Ratings, Ratings]:
    """The rounds on one scale, if neither declares its categories."""
    first, second = one.scale, other.scale
    if first == second or first.level != second.level or first.declared or second.declared:
        return one, other
    scale = Scale.from_labels([*(first.categories or ()), *(second.categories or ())], first.level)
    return replace(one, scale=scale), replace(other, scale=scale)


def _of_category(measure: str, category: str | None) -> str:
    return measure if category is None else f"{measure} of category {category}"


def _cluster_names(ratings: Ratings) -> set[str]:
    known = ratings.without_gold.contents
    return set(known["cluster"]) if "cluster" in known else set()


def between_classifiers(
    ratings: Ratings,
    measure: str,
    one: str,
    other: str,
    inference: Inference = DEFAULT,
) -> Difference:
    """How much greater one classifier's agreement with the panel is than another's.

    Raises
    ------
    AgreementError
        The measure is not one of a classifier, or a name is not that of a classifier.
    """
    _require(measure, "panel")
    _require_defined(ratings, measure)
    _require_names(ratings.classifiers, one, other)
    panel = memory.current_panel(ratings)
    joint = (
        memory.joint_values(ratings) if ratings.scale.continuous else memory.joint_patterns(ratings)
    )
    statistics = [_apart(joint, panel, name) for name in (one, other)]
    sides = [
        Side(f"{measure} of classifier {name}", measure, statistic)
        for name, statistic in zip((one, other), statistics, strict=True)
    ]
    return _difference(ratings, sides, _shared(joint, one, other), inference)


def between_raters(
    ratings: Ratings,
    measure: str,
    one: str,
    other: str,
    inference: Inference = DEFAULT,
    *,
    category: str | None = None,
) -> Difference:
    """How much more one rater agrees with the rest of the panel, or with themselves, than another.

    A measure of every category is compared on the `category` named. If none is named, the lowest
    category of each rater is taken.

    Raises
    ------
    AgreementError
        The measure is not one of single raters, or a name is not that of a rater.
    """
    _require(measure, "panel", "replicates")
    _require_defined(ratings, measure)
    statistics: list[Any]
    if registered(measure).needs == "panel":
        everybody = (
            memory.rating_values(ratings)
            if ratings.scale.continuous
            else memory.rating_patterns(ratings)
        )
        _require_names(everybody.raters, one, other)
        statistics = [_against_the_rest(everybody, name) for name in (one, other)]
        shared = _shared(everybody, one, other)
    else:
        replicates = (
            memory.replicate_values(ratings)
            if ratings.scale.continuous
            else memory.replicate_counts(ratings)
        )
        _require_names(replicates.raters, one, other)
        statistics = [replicates.of(name) for name in (one, other)]
        shared = len(np.intersect1d(*(each.item for each in statistics)))
    what = _of_category(measure, category)
    sides = [
        Side(f"{what} of rater {name}", measure, statistic, category)
        for name, statistic in zip((one, other), statistics, strict=True)
    ]
    return _difference(ratings, sides, shared, inference)


def between_measures(
    ratings: Ratings,
    one: str,
    other: str,
    inference: Inference = DEFAULT,
) -> Difference:
    """How much greater one measure of the round is than another.

    A measure between raters can be compared with one of raters with themselves.

    Raises
    ------
    AgreementError
        One of the measures speaks of classifiers or of confidence. Or on numbers without
        categories, only one of the measures speaks of raters with themselves.
    """
    for name in (one, other):
        _require(name, *FIRST_LABELS, "replicates")
        _require_defined(ratings, name)
    needs = [registered(name).needs for name in (one, other)]
    statistics = (
        _of_numbers(ratings, needs) if ratings.scale.continuous else _of_labels(ratings, needs)
    )
    sides = [
        Side(name, name, statistic)
        for name, statistic in zip((one, other), statistics, strict=True)
    ]
    return _difference(
        ratings,
        sides,
        min(statistic.n_items for statistic in statistics),
        inference,
    )


def _difference(
    ratings: Ratings, sides: list[Side], shared: int, inference: Inference
) -> Difference:
    one, other = sides
    seeded = replace(inference, seed=int(ratings.digest[:16], 16))
    return difference(one, other, seeded, shared=shared)


def _of_numbers(ratings: Ratings, needs: Sequence[str]) -> list[Any]:
    """One statistic for both measures, since repeated and first ratings have different rows."""
    again = [need == "replicates" for need in needs]
    if any(again) and not all(again):
        raise AgreementError(
            f"comparison: found measures of {' and of '.join(needs)} on numbers without "
            "categories; expected both of replicates, or neither. Choose another measure."
        )
    return [memory.replicate_values(ratings) if all(again) else memory.rating_values(ratings)] * 2


def _of_labels(ratings: Ratings, needs: Sequence[str]) -> list[Any]:
    """For each measure, a statistic on the same rows."""
    replicates = memory.replicate_counts(ratings) if "replicates" in needs else None
    patterns = memory.rating_patterns(ratings) if replicates is None else replicates.patterns
    of_need = {"patterns": patterns, "counts": patterns, "replicates": replicates}
    return [
        of_need[need] if need in of_need else RatingValues.of_patterns(patterns) for need in needs
    ]


def _of_patterns(needs: str, patterns: RatingPatterns) -> Statistic:
    """A statistic on the rows of the patterns, in their order."""
    if needs == "values":
        return RatingValues.of_patterns(patterns)
    return patterns.counts() if needs == "counts" else patterns


def _apart(
    joint: RatingPatterns | RatingValues, panel: tuple[str, ...], classifier: str
) -> Statistic:
    """The panel and a classifier on the rows of all classifiers, in their order."""
    column = joint.raters.index(classifier)
    if isinstance(joint, RatingValues):
        return PanelValues(joint.only(panel), joint.values[:, column], classifier)
    return PanelPatterns(joint.only(panel), joint.codes[:, column], classifier)


def _against_the_rest(everybody: RatingPatterns | RatingValues, rater: str) -> Statistic:
    return (
        value_against_the_rest(everybody, rater)
        if isinstance(everybody, RatingValues)
        else against_the_rest(everybody, rater)
    )


def _of_round(ratings: Ratings, measure: str) -> Statistic:
    statistic = basis_of(ratings, measure)
    if statistic is None:
        need = registered(measure).needs
        raise AgreementError(
            f"{measure}: found a measure of {'classifiers' if need == 'panel' else need}, and "
            f"{len(ratings.classifiers)} classifiers; expected one of the whole round. "
            "Compare classifiers within a round."
        )
    return statistic


def _shared(joint: RatingPatterns | RatingValues, one: str, other: str) -> int:
    both = joint.only((one, other))
    rated = both.rated if isinstance(both, RatingValues) else both.codes >= 0
    return round(float(joint.weights[rated.all(1)].sum()))


def _require_defined(ratings: Ratings, measure: str) -> None:
    record = registered(measure)
    if not record.defined_on(ratings.scale):
        without = " without categories" if ratings.scale.continuous else ""
        raise AgreementError(
            f"{measure}: found level {ratings.scale.level}{without}; "
            f"expected one of {', '.join(sorted(record.levels))}. Choose another measure."
        )


def _require(measure: str, *needs: str) -> None:
    found = registered(measure).needs
    if found not in needs:
        raise AgreementError(
            f"{measure}: found a measure of {found}; expected one of {', '.join(needs)}. "
            f"Choose another, such as {SUCH_AS[needs[0]]}."
        )


def _require_names(among: tuple[str, ...], *names: str) -> None:
    unknown = [name for name in names if name not in among]
    if unknown or len(set(names)) < len(names):
        raise AgreementError(
            f"comparison: found {', '.join(names)}; "
            f"expected two different names of {', '.join(sorted(among))}. Correct them."
        )
