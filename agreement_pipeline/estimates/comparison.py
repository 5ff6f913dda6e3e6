"""Comparing two rounds, or two classifiers, raters or measures of one round."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from agreement_pipeline.counting import Rated, counting_of
from agreement_pipeline.errors import AgreementError
from agreement_pipeline.estimates.common_prevalence import at_common_prevalence
from agreement_pipeline.estimates.differences import Difference, difference
from agreement_pipeline.estimates.estimating import DEFAULT, registered
from agreement_pipeline.estimates.prevalences import prevalences
from agreement_pipeline.estimates.scopes import basis_of, require_defined
from agreement_pipeline.estimates.sides import Side
from agreement_pipeline.intervals import Inference
from agreement_pipeline.measures import SUBJECTS, Needs
from agreement_pipeline.ratings import Ratings, Scale
from agreement_pipeline.statistics import (
    LabelsByRater,
    NumbersByRater,
    Statistic,
    seed_of,
)
from agreement_pipeline.text import counted

SUCH_AS = {"counts": "krippendorff_alpha", "panel": "schouten_kappa"}
"""A measure to name in errors, for each kind of measure that a comparison may require."""
Sides = tuple[Side, Side]
FIRST_LABELS: tuple[Needs, ...] = ("counts", "patterns", "values")


def between_rounds(
    one: Rated,
    other: Rated,
    measure: str,
    inference: Inference = DEFAULT,
    *,
    category: str | None = None,
    names: tuple[str, str] = ("one round", "the other round"),
    common_prevalence: bool = False,
) -> Difference:
    """How much greater a measure is on one round than on another.

    The rounds are paired by the items and the clusters that both have. A measure of every category
    is compared on `category`. If `category` is None, the lowest category of each round is compared.
    If no categories are declared, both rounds are read with all categories that occur in either.
    With `common_prevalence`, items are weighted so that each category is as common in both rounds.

    Raises
    ------
    AgreementError
        The measure has no value for a whole round. Or the rounds share items or clusters, and the
        measure uses replicates, confidence, two groups, or numbers without categories. Or the
        rounds share items that come in different clusters. Or a common prevalence is asked of a
        measure that does not read labels of categories.
    """
    needs = registered(measure).needs
    one, other = _on_categories_of_both(one, other)
    for ratings in (one, other):
        require_defined(ratings.scale, measure)
    shared = len(set(counting_of(one).items(one)) & set(counting_of(other).items(other)))
    clusters = len(one.cluster_names & other.cluster_names)
    paired = shared > 0 or clusters > 0
    continuous = one.scale.continuous or other.scale.continuous
    if paired and (continuous or needs in ("replicates", "confidence", "groups")):
        raise _not_paired(measure, shared, clusters)
    if paired and needs in FIRST_LABELS:
        statistics = [
            _of_labels_alone(needs, labels) for labels in counting_of(one).aligned(one, other)
        ]
    else:
        statistics = [_of_round(ratings, measure) for ratings in (one, other)]
    what = _of_category(measure, category)
    one_side, other_side = (
        Side(f"{what} of {name}", measure, statistic, category)
        for name, statistic in zip(names, statistics, strict=True)
    )
    sides = one_side, other_side
    compared = _at_common_prevalence if common_prevalence else _at_their_own
    return compared(sides, shared if paired else None, _seeded(inference, sides))


def _not_paired(measure: str, shared: int, clusters: int) -> AgreementError:
    found = counted(shared, "shared item") if shared else counted(clusters, "shared cluster")
    return AgreementError(
        f"{measure}: found {found}; expected a measure of first labels on a list of categories, "
        "since the rounds are paired. Choose another such as krippendorff_alpha, or rounds of "
        "other items."
    )


def _at_their_own(sides: Sides, shared: int | None, inference: Inference) -> Difference:
    """The difference, and the prevalences of both sides if labels have categories."""
    found = difference(*sides, inference, shared=shared)
    if found.undefined or not _of_categories(sides):
        return found
    return replace(found, prevalences=prevalences(*sides, inference, paired=shared is not None))


def _at_common_prevalence(sides: Sides, shared: int | None, inference: Inference) -> Difference:
    """The difference of sides whose items are weighted to one prevalence."""
    if not _of_categories(sides):
        raise AgreementError(
            f"{sides[0].measure}: found a measure of {SUBJECTS[sides[0].record.needs]} "
            f"beside a common prevalence; expected one of {SUBJECTS['counts']}, on one list of "
            "categories for both rounds. Choose another such as krippendorff_alpha, or compare "
            "without it."
        )
    weighted, common = at_common_prevalence(sides)
    found = difference(*weighted, inference, shared=shared)
    return replace(
        found, common_prevalence=common, method=f"{found.method}; at a common prevalence"
    )


def _of_categories(sides: Sides) -> bool:
    """True if both sides are first labels of the same categories."""
    one, other = (side.statistic.scale for side in sides)
    return one.categories == other.categories and all(
        side.record.needs in ("counts", "patterns") and side.statistic.holds == "labels"
        for side in sides
    )


def _on_categories_of_both(one: Rated, other: Rated) -> tuple[Rated, Rated]:
    """The rounds on one scale, if neither declares its categories."""
    first, second = one.scale, other.scale
    if first == second or first.level != second.level or first.declared or second.declared:
        return one, other
    scale = Scale.from_labels([*(first.categories or ()), *(second.categories or ())], first.level)
    return _on(one, scale), _on(other, scale)


def _on(ratings: Rated, scale: Scale) -> Rated:
    """Ratings on another scale. Those that were counted before keep their own."""
    return replace(ratings, scale=scale) if isinstance(ratings, Ratings) else ratings


def _of_category(measure: str, category: str | None) -> str:
    return measure if category is None else f"{measure} of category {category}"


def between_classifiers(
    ratings: Rated,
    measure: str,
    one: str,
    other: str,
    inference: Inference = DEFAULT,
    *,
    category: str | None = None,
) -> Difference:
    """How much greater one classifier's agreement with the panel is than another's.

    A measure of every category is compared on `category`. If `category` is None, the lowest
    category of each classifier is compared.

    Raises
    ------
    AgreementError
        The measure does not compare a classifier with the panel, or a name is no classifier.
    """
    _require(measure, "panel")
    require_defined(ratings.scale, measure)
    _require_names(ratings.classifiers, one, other)
    joint = counting_of(ratings).by_rater(ratings, ratings.classifiers)
    panel = [name for name in joint.raters if name not in ratings.classifiers]
    statistics = [joint.only((*panel, name)).against(name) for name in (one, other)]
    what = _of_category(measure, category)
    sides = [
        Side(f"{what} of classifier {name}", measure, statistic, category)
        for name, statistic in zip((one, other), statistics, strict=True)
    ]
    return _difference(sides, _shared(joint, one, other), inference)


def between_raters(
    ratings: Rated,
    measure: str,
    one: str,
    other: str,
    inference: Inference = DEFAULT,
    *,
    category: str | None = None,
) -> Difference:
    """How much more one rater agrees with the rest of the panel, or with themselves, than another.

    A measure of every category is compared on `category`. If `category` is None, the lowest
    category of each rater is compared.

    Raises
    ------
    AgreementError
        The measure has no value for single raters, or a name is not that of a rater.
    """
    _require(measure, "panel", "replicates")
    require_defined(ratings.scale, measure)
    statistics: list[Any]
    if registered(measure).needs == "panel":
        everybody = counting_of(ratings).by_rater(ratings)
        _require_names(everybody.raters, one, other)
        statistics = [everybody.against(name) for name in (one, other)]
        shared = _shared(everybody, one, other)
    else:
        replicates = counting_of(ratings).replicates(ratings)
        _require_names(replicates.raters, one, other)
        statistics = [replicates.of(name) for name in (one, other)]
        shared = len(np.intersect1d(*(each.item for each in statistics)))
    what = _of_category(measure, category)
    sides = [
        Side(f"{what} of rater {name}", measure, statistic, category)
        for name, statistic in zip((one, other), statistics, strict=True)
    ]
    return _difference(sides, shared, inference)


def between_measures(
    ratings: Rated,
    one: str,
    other: str,
    inference: Inference = DEFAULT,
) -> Difference:
    """How much greater one measure of the round is than another.

    Agreement between raters can be compared with the agreement of raters with themselves.

    Raises
    ------
    AgreementError
        One of the measures is about classifiers or confidence. Or the labels are numbers without
        categories, and only one of the measures is about raters with themselves.
    """
    for name in (one, other):
        _require(name, *FIRST_LABELS, "replicates")
        require_defined(ratings.scale, name)
    needs = [registered(name).needs for name in (one, other)]
    statistics = (
        _of_numbers(ratings, needs) if ratings.scale.continuous else _of_labels(ratings, needs)
    )
    sides = [
        Side(name, name, statistic)
        for name, statistic in zip((one, other), statistics, strict=True)
    ]
    return _difference(sides, min(statistic.n_items for statistic in statistics), inference)


def _difference(sides: list[Side], shared: int, inference: Inference) -> Difference:
    one, other = sides
    return difference(one, other, _seeded(inference, sides), shared=shared)


def _seeded(inference: Inference, sides: Sequence[Side]) -> Inference:
    """The inference with a seed that the statistics of both sides fix."""
    return replace(inference, seed=tuple(seed_of(side.statistic) for side in sides))


def _of_numbers(ratings: Rated, needs: Sequence[Needs]) -> list[Any]:
    """One statistic for both measures, since repeated and first ratings have different rows."""
    again = [need == "replicates" for need in needs]
    if any(again) and not all(again):
        subjects = " and of ".join(SUBJECTS[need] for need in needs)
        raise AgreementError(
            f"comparison: found measures of {subjects}, on numbers without categories; expected "
            f"both of {SUBJECTS['replicates']}, or neither. Choose another measure."
        )
    counting = counting_of(ratings)
    return [counting.replicates(ratings) if all(again) else counting.numbers(ratings)] * 2


def _of_labels(ratings: Rated, needs: Sequence[str]) -> list[Any]:
    """One statistic for each measure, on the same rows."""
    counting = counting_of(ratings)
    replicates = counting.replicated_labels(ratings) if "replicates" in needs else None
    labels = counting.labels(ratings) if replicates is None else replicates.first
    return [replicates if need == "replicates" else _as_needed(need, labels) for need in needs]


def _of_labels_alone(needs: str, labels: LabelsByRater) -> Statistic:
    """The statistic that a measure needs, with exactly the rows of the labels, in their order."""
    return labels.counts() if needs == "counts" else _as_needed(needs, labels)


def _as_needed(needs: str, labels: LabelsByRater) -> Statistic:
    """The labels, or the numbers that they stand for if a measure needs numbers."""
    return labels.in_numbers() if needs == "values" else labels


def _of_round(ratings: Rated, measure: str) -> Statistic:
    statistic = basis_of(ratings, measure)
    if statistic is None:
        need = registered(measure).needs
        raise AgreementError(
            f"{measure}: found a measure of {SUBJECTS[need]}, and "
            f"{counted(len(ratings.classifiers), 'classifier')}; expected one of the whole round. "
            "Compare classifiers within a round."
        )
    return statistic


def _shared(joint: LabelsByRater | NumbersByRater, one: str, other: str) -> int:
    both = joint.only((one, other))
    return round(float(joint.weights[both.given.all(1)].sum()))


def _require(measure: str, *needs: Needs) -> None:
    found = registered(measure).needs
    if found not in needs:
        subjects = dict.fromkeys(SUBJECTS[need] for need in needs)
        raise AgreementError(
            f"{measure}: found a measure of {SUBJECTS[found]}; expected a measure of "
            f"{', or of '.join(subjects)}. Choose another, such as {SUCH_AS[needs[0]]}."
        )


def _require_names(among: tuple[str, ...], *names: str) -> None:
    unknown = [name for name in names if name not in among]
    if unknown or len(set(names)) < len(names):
        raise AgreementError(
            f"comparison: found {', '.join(names)}; "
            f"expected two different names of {', '.join(sorted(among))}. Correct them."
        )
