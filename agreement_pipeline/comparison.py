"""Comparing two rounds, or two classifiers, raters or measures of one round: the statistics of both sides, item by item."""

from typing import Any

import numpy as np

from agreement_pipeline.differences import Difference, Side, difference
from agreement_pipeline.engines import memory
from agreement_pipeline.errors import AgreementError
from agreement_pipeline.estimates import CONFIDENCE_LEVEL, N_RESAMPLES, registered
from agreement_pipeline.patterns import PanelPatterns, RatingPatterns, Statistic
from agreement_pipeline.ratings import Ratings
from agreement_pipeline.values import RatingValues


def between_rounds(one: Ratings, other: Ratings, measure: str, *, confidence_level: float = CONFIDENCE_LEVEL, n_resamples: int = N_RESAMPLES) -> Difference:
    """How much greater a measure of the round is on one set of ratings than on another; paired by the items that both hold.

    Raises
    ------
    AgreementError
        The measure speaks of a classifier; or the rounds share items, and it rests on replicates or on numbers without categories.
    """
    needs = registered(measure).needs
    if needs == "panel":
        raise AgreementError(f"{measure}: a measure of classifiers found; one of the whole round is required. Compare classifiers within a round.")
    shared = len(set(one.current["item"]) & set(other.current["item"]))
    if shared and (needs == "replicates" or one.scale.continuous or other.scale.continuous):
        raise AgreementError(f"{measure}: {shared} shared items found; a measure of first labels on a list of categories is required. Choose another.")
    if shared:
        first, second = memory.aligned_patterns(one, other)
        statistics = _of_patterns(needs, first, first.raters), _of_patterns(needs, second, second.raters)
    else:
        statistics = _of_round(one, needs), _of_round(other, needs)
    sides = [Side(f"{measure} of {which} round", measure, statistic) for which, statistic in zip(("one", "the other"), statistics, strict=True)]
    seed = [int(each.digest[:16], 16) for each in (one, other)]
    return difference(*sides, shared=shared or None, seed=seed, confidence_level=confidence_level, n_resamples=n_resamples)


def between_classifiers(
    ratings: Ratings, measure: str, one: str, other: str, *, confidence_level: float = CONFIDENCE_LEVEL, n_resamples: int = N_RESAMPLES
) -> Difference:
    """How much greater a classifier's agreement with the panel is than another's.

    Raises
    ------
    AgreementError
        The measure is not one of a classifier, or a name is not that of one.
    """
    _require(measure, "panel")
    _require_names(ratings.classifiers, one, other)
    joint, panel = memory.joint_patterns(ratings), memory.current_panel(ratings)
    sides = [Side(f"{measure} of classifier {name}", measure, _of_patterns("panel", joint, panel, name)) for name in (one, other)]
    return _difference(ratings, sides, _shared(joint, one, other), confidence_level, n_resamples)


def between_raters(
    ratings: Ratings, measure: str, one: str, other: str, *, confidence_level: float = CONFIDENCE_LEVEL, n_resamples: int = N_RESAMPLES
) -> Difference:
    """How much more a rater agrees with the rest of the panel, or with herself, than another does.

    Raises
    ------
    AgreementError
        The measure is not one of a rater against others or against herself, or a name is not that of a rater.
    """
    _require(measure, "panel", "replicates")
    statistics: list[Any]
    if registered(measure).needs == "panel":
        patterns = memory.rating_patterns(ratings)
        _require_names(patterns.raters, one, other)
        statistics = [patterns.against_the_rest(name) for name in (one, other)]
        shared = _shared(patterns, one, other)
    else:
        replicates = memory.replicate_counts(ratings)
        _require_names(replicates.raters, one, other)
        statistics = [replicates.of(name) for name in (one, other)]
        shared = len(np.intersect1d(*(each.item for each in statistics)))
    sides = [Side(f"{measure} of rater {name}", measure, statistic) for name, statistic in zip((one, other), statistics, strict=True)]
    return _difference(ratings, sides, shared, confidence_level, n_resamples)


def between_measures(ratings: Ratings, one: str, other: str, *, confidence_level: float = CONFIDENCE_LEVEL, n_resamples: int = N_RESAMPLES) -> Difference:
    """How much greater one measure of the round is than another; between raters and of raters with themselves included.

    Raises
    ------
    AgreementError
        One of them speaks of a classifier.
    """
    needs = [registered(name).needs for name in (one, other)]
    for name in (one, other):
        _require(name, "counts", "patterns", "values", "replicates")
    if ratings.scale.continuous:
        values = memory.rating_values(ratings)
        statistics: list[Any] = [values, values]
    else:
        replicates = memory.replicate_counts(ratings) if "replicates" in needs else None
        patterns = memory.rating_patterns(ratings) if replicates is None else replicates.patterns
        of_need = {"counts": patterns, "patterns": patterns, "replicates": replicates}
        statistics = [of_need[need] if need in of_need else RatingValues.of_patterns(patterns) for need in needs]
    sides = [Side(name, name, statistic) for name, statistic in zip((one, other), statistics, strict=True)]
    return _difference(ratings, sides, min(statistic.n_items for statistic in statistics), confidence_level, n_resamples)


def _difference(ratings: Ratings, sides: list[Side], shared: int, confidence_level: float, n_resamples: int) -> Difference:
    return difference(*sides, shared=shared, seed=int(ratings.digest[:16], 16), confidence_level=confidence_level, n_resamples=n_resamples)


def _of_patterns(needs: str, joint: RatingPatterns, panel: tuple[str, ...], classifier: str = "") -> Statistic:
    """A statistic on the rows of the patterns, as many and in their order."""
    patterns = joint.only(panel)
    if needs == "panel":
        return PanelPatterns(patterns, joint.codes[:, joint.raters.index(classifier)], classifier)
    if needs == "values":
        return RatingValues.of_patterns(patterns)
    return patterns.counts() if needs == "counts" else patterns


def _of_round(ratings: Ratings, needs: str) -> Statistic:
    if needs == "replicates":
        return memory.replicate_counts(ratings)
    if needs == "values" or ratings.scale.continuous:
        return memory.rating_values(ratings)
    return memory.category_counts(ratings) if needs == "counts" else memory.rating_patterns(ratings)


def _shared(patterns: RatingPatterns, one: str, other: str) -> int:
    both = (patterns.only((one, other)).codes >= 0).all(1)
    return round(float(patterns.weights[both].sum()))


def _require(measure: str, *needs: str) -> None:
    found = registered(measure).needs
    if found not in needs:
        raise AgreementError(f"{measure}: a measure of {found} found; one of {', '.join(needs)} is required here. Choose another measure.")


def _require_names(among: tuple[str, ...], *names: str) -> None:
    unknown = [name for name in names if name not in among]
    if unknown or len(set(names)) < len(names):
        raise AgreementError(f"comparison: {', '.join(names)} found; two different names of {', '.join(sorted(among))} are required. Correct them.")
