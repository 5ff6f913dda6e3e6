from dataclasses import replace
from typing import Any

import numpy as np

from agreement_pipeline.counting import Rated, counting_of, refuse_unread
from agreement_pipeline.errors import AgreementError
from agreement_pipeline.estimates.common_prevalence import at_common_prevalence
from agreement_pipeline.estimates.differences import Difference, Side, difference, prevalences
from agreement_pipeline.estimates.estimates import DEFAULT, registered
from agreement_pipeline.estimates.scopes import basis_of, require_defined
from agreement_pipeline.intervals import Inference
from agreement_pipeline.measures import SUBJECTS, Needs
from agreement_pipeline.ratings import Ratings, Scale
from agreement_pipeline.statistics import Statistic, seed_of
from agreement_pipeline.text import called, counted

OF_ROUNDS, OF_NAMES = "krippendorff_alpha", "schouten_kappa"
Names = tuple[str, str]


def compare(
    ratings: Rated,
    other: Rated | None = None,
    *,
    between: Names | None = None,
    measure: str | None = None,
    category: str | None = None,
    names: Names = ("one round", "the other round"),
    common_prevalence: bool = False,
    inference: Inference = DEFAULT,
) -> Difference:
    """How much greater a measure is on one side than on the other, with its interval.

    Items that both sides share get the same weights on both. Rounds are paired by clusters too. If
    no categories are declared, both rounds are read with all categories that occur in either.

    Parameters
    ----------
    ratings, other
        A round, and another one if two rounds are compared.
    between
        The names of two classifiers, or of two raters, if two of the round are compared.
    measure
        A registered measure. None: `krippendorff_alpha` for rounds, `schouten_kappa` for names.
    category
        For a measure with a value for each category. None: the lowest.
    common_prevalence
        True: items are weighted so that each category is as common in both rounds.

    Raises
    ------
    AgreementError
        The sides do not fit together, the measure cannot compare them, or there is no other round.
    """
    refuse_unread(ratings)
    if other is not None and between is None:
        measure = measure or OF_ROUNDS
        one, other = _on_categories_of_both(ratings, other)
        statistics, shared = _of_rounds(one, other, measure)
        called_so = [f"of {name}" for name in names]
    elif between is not None and other is None:
        if common_prevalence:
            raise AgreementError(
                "compare: found a common prevalence and two names; expected it of two rounds, "
                "since names of one round have one panel. Leave it out."
            )
        measure = measure or OF_NAMES
        models = {*between} & {*ratings.classifiers}
        statistics, shared = _of_names(ratings, measure, between, models)
        called_so = [f"of {'classifier' if models else 'rater'} {name}" for name in between]
    else:
        found = "neither another round nor" if other is None else "both another round and"
        raise AgreementError(
            f"compare: found {found} two names; "
            "expected one of them. Give another round, or two names of this one."
        )
    what = measure if category is None else f"{measure} of category {category}"
    one_side, other_side = (
        Side(f"{what} {so}", measure, statistic, category)
        for so, statistic in zip(called_so, statistics, strict=True)
    )
    sides = one_side, other_side
    seeded = replace(inference, seed=tuple(map(seed_of, statistics)))
    if common_prevalence:
        return _at_common_prevalence(sides, shared, seeded)
    compared = difference(*sides, seeded, shared=shared)
    if between is not None or compared.undefined or not _of_categories(sides):
        return compared
    shares = prevalences(*sides, seeded, paired=shared is not None)
    return replace(compared, prevalences=shares)


def _at_common_prevalence(
    sides: tuple[Side, Side], shared: int | None, inference: Inference
) -> Difference:
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


def _of_categories(sides: tuple[Side, Side]) -> bool:
    one, other = (side.statistic.scale for side in sides)
    return one.categories == other.categories and all(
        side.record.needs in ("counts", "patterns") and side.statistic.holds == "labels"
        for side in sides
    )


def _of_rounds(one: Rated, other: Rated, measure: str) -> tuple[list[Any], int | None]:
    needs = registered(measure).needs
    for ratings in (one, other):
        require_defined(ratings.scale, measure)
    shared = len(set(counting_of(one).items(one)) & set(counting_of(other).items(other)))
    clusters = len(one.cluster_names & other.cluster_names)
    if not shared and not clusters:
        return [_of_round(ratings, measure) for ratings in (one, other)], None
    if needs in ("replicates", "confidence", "groups"):
        found = counted(shared, "shared item") if shared else counted(clusters, "shared cluster")
        raise AgreementError(
            f"{measure}: found {found}; expected a measure of first labels, since the rounds are "
            "paired. Choose another such as krippendorff_alpha, or rounds of other items."
        )
    continuous = one.scale.continuous or other.scale.continuous
    if continuous and one.scale.level != other.scale.level:
        raise AgreementError(
            f"{measure}: found levels {one.scale.level} and {other.scale.level}; expected one "
            "level, since the rounds are paired. Read both rounds on one level."
        )
    if needs not in ("counts", "patterns", "values"):
        return [_of_round(ratings, measure) for ratings in (one, other)], shared
    # With exactly the rows of the labels, in their order.
    aligned = counting_of(one).aligned(one, other)
    if continuous:
        return list(aligned), shared
    if needs == "counts":
        return [labels.counts() for labels in aligned], shared
    return [labels.in_numbers() if needs == "values" else labels for labels in aligned], shared


def _of_round(ratings: Rated, measure: str) -> Statistic:
    statistic = basis_of(ratings, measure)
    if statistic is None:
        raise AgreementError(
            f"{measure}: found a measure of {SUBJECTS[registered(measure).needs]}, and "
            f"{counted(len(ratings.classifiers), 'classifier')}; expected one of the whole round. "
            "Compare classifiers within a round."
        )
    return statistic


def _on_categories_of_both(one: Rated, other: Rated) -> tuple[Rated, Rated]:
    """The rounds on one scale, if neither declares its categories.

    Those that were counted before keep their own.
    """
    first, second = one.scale, other.scale
    if first == second or first.level != second.level or first.declared or second.declared:
        return one, other
    scale = Scale.from_labels([*(first.categories or ()), *(second.categories or ())], first.level)
    on_both = [
        replace(each, scale=scale) if isinstance(each, Ratings) else each for each in (one, other)
    ]
    return on_both[0], on_both[1]


def _of_names(
    ratings: Rated, measure: str, between: Names, models: set[str]
) -> tuple[list[Any], int]:
    if models and (others := {*between} - models):
        raise AgreementError(
            f"compare: found {called('classifier', models)} beside {min(others)!r}, which is none; "
            "expected two classifiers, or two raters of the panel. "
            "Name every model as a classifier when the ratings are read."
        )
    needs: tuple[Needs, ...] = ("panel",) if models else ("panel", "replicates")
    found = registered(measure).needs
    if found not in needs:
        raise AgreementError(
            f"{measure}: found a measure of {SUBJECTS[found]}; expected a measure of "
            f"{', or of '.join(SUBJECTS[need] for need in needs)}. "
            f"Choose another, such as {OF_NAMES}."
        )
    require_defined(ratings.scale, measure)
    engine = counting_of(ratings)
    if registered(measure).needs == "replicates":
        replicates = engine.replicates(ratings)
        _require_names(replicates.raters, between)
        each = [replicates.of(name) for name in between]
        return each, len(np.intersect1d(*(own.item for own in each)))
    everybody: Any = engine.by_rater(ratings, ratings.classifiers if models else ())
    panel = [name for name in everybody.raters if name not in ratings.classifiers]
    _require_names(ratings.classifiers if models else everybody.raters, between)
    both = everybody.only(between).given.all(1)
    return [
        (everybody.only((*panel, name)) if models else everybody).against(name) for name in between
    ], round(float(everybody.weights[both].sum()))


def _require_names(among: tuple[str, ...], names: Names) -> None:
    if not {*names} <= {*among} or names[0] == names[1]:
        raise AgreementError(
            f"comparison: found {', '.join(names)}; "
            f"expected two different names of {', '.join(sorted(among))}. Correct them."
        )
