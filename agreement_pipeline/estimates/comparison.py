"""Comparing two rounds, or two classifiers, raters or measures of one round: the statistics of both sides, item by item."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from agreement_pipeline.engines import memory
from agreement_pipeline.errors import AgreementError
from agreement_pipeline.estimates.differences import Difference, Side, difference
from agreement_pipeline.estimates.estimating import DEFAULT, registered
from agreement_pipeline.estimates.scopes import basis_of
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
"""A measure of the first kind that is required, for whoever chose one of another."""
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
    """How much greater a measure of the round is on one set of ratings than on another; paired by the items, and clusters of items, that both hold.

    Of a measure of every category the `category` named is compared, or else the lowest of either round. Rounds whose categories are not declared
    are read on those that occur in either: a category that one of them happens not to show is no part of how they differ.

    Raises
    ------
    AgreementError
        The measure is not one of the whole of both rounds; they share items or clusters, and it rests on replicates, confidence or two groups, or on
        numbers without categories; or they share items, and one has clusters and the other none, or others.
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
        found = f"{shared} shared items found" if shared else f"{clusters} shared clusters found"
        raise AgreementError(
            f"{measure}: {found}; one of first labels on a list of categories is required of a measure that is paired by them. "
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
    """The rounds on one scale, where neither declares its categories."""
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
    """How much greater a classifier's agreement with the panel is than another's.

    Raises
    ------
    AgreementError
        The measure is not one of a classifier, or a name is not that of one.
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
    """How much more a rater agrees with the rest of the panel, or with herself, than another does.

    Of a measure of every category the `category` named is compared, or else the lowest of either rater.

    Raises
    ------
    AgreementError
        The measure is not one of a rater against others or against herself, or a name is not that of a rater.
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
    """How much greater one measure of the round is than another; between raters and of raters with themselves included.

    Raises
    ------
    AgreementError
        One of them speaks of classifiers or of confidence; or, on numbers without categories, one of raters with themselves and the other not.
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
    """One statistic for both measures: what raters say again has other rows than what they say first."""
    again = [need == "replicates" for need in needs]
    if any(again) and not all(again):
        found = f"measures of {' and of '.join(needs)} on numbers without categories found"
        raise AgreementError(
            f"comparison: {found}; both of replicates, or neither, is required. Choose another measure."
        )
    return [memory.replicate_values(ratings) if all(again) else memory.rating_values(ratings)] * 2


def _of_labels(ratings: Ratings, needs: Sequence[str]) -> list[Any]:
    """For each measure a statistic on the same rows."""
    replicates = memory.replicate_counts(ratings) if "replicates" in needs else None
    patterns = memory.rating_patterns(ratings) if replicates is None else replicates.patterns
    of_need = {"patterns": patterns, "counts": patterns, "replicates": replicates}
    return [
        of_need[need] if need in of_need else RatingValues.of_patterns(patterns) for need in needs
    ]


def _of_patterns(needs: str, patterns: RatingPatterns) -> Statistic:
    """A statistic on the rows of the patterns, as many and in their order."""
    if needs == "values":
        return RatingValues.of_patterns(patterns)
    return patterns.counts() if needs == "counts" else patterns


def _apart(
    joint: RatingPatterns | RatingValues, panel: tuple[str, ...], classifier: str
) -> Statistic:
    """The panel and a classifier on the rows of all, as many and in their order."""
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
        found = f"a measure of {'classifiers' if need == 'panel' else need}, and {len(ratings.classifiers)} classifiers, found"
        raise AgreementError(
            f"{measure}: {found}; one of the whole round is required. Compare classifiers within a round."
        )
    return statistic


def _shared(joint: RatingPatterns | RatingValues, one: str, other: str) -> int:
    both = joint.only((one, other))
    rated = both.rated if isinstance(both, RatingValues) else both.codes >= 0
    return round(float(joint.weights[rated.all(1)].sum()))


def _require_defined(ratings: Ratings, measure: str) -> None:
    record = registered(measure)
    if not record.defined_on(ratings.scale):
        found = f"{ratings.scale.level}{' without categories' if ratings.scale.continuous else ''}"
        raise AgreementError(
            f"{measure}: level {found} found; one of {', '.join(sorted(record.levels))} is required. Choose another measure."
        )


def _require(measure: str, *needs: str) -> None:
    found = registered(measure).needs
    if found not in needs:
        raise AgreementError(
            f"{measure}: a measure of {found} found; one of {', '.join(needs)} is required here. Choose another, such as {SUCH_AS[needs[0]]}."
        )


def _require_names(among: tuple[str, ...], *names: str) -> None:
    unknown = [name for name in names if name not in among]
    if unknown or len(set(names)) < len(names):
        raise AgreementError(
            f"comparison: {', '.join(names)} found; two different names of {', '.join(sorted(among))} are required. Correct them."
        )
