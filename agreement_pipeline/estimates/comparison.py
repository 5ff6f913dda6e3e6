"""A comparison of two rounds or two names, perhaps at a common prevalence.

There, items are weighted by direct standardisation (Fleiss, Levin and Paik 2003, chapter 19): only
the share of each class of items is replaced by the mean of both sides. The classes are those of
Dawid and Skene (1979, doi:10.2307/2346806), for raters who are alike. Each item belongs to one
class, and each category has a class. Given the class, ratings are independent. With fewer than
three ratings an item, ratings do not tell prevalence from errors.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from agreement_pipeline.counting import Rated, counting_for, require_ratings
from agreement_pipeline.errors import AgreementError
from agreement_pipeline.estimates.differences import (
    Difference,
    Side,
    category_shares,
    compare_prevalences,
    estimate_difference,
)
from agreement_pipeline.estimates.estimates import DEFAULT, find_registered_measure
from agreement_pipeline.estimates.scopes import build_round_statistic, require_defined
from agreement_pipeline.intervals import Inference
from agreement_pipeline.measures import SUBJECTS, Needs
from agreement_pipeline.ratings import Array, Flags, Ratings, Scale
from agreement_pipeline.statistics import CategoryCounts, Statistic, seed_from_arrays
from agreement_pipeline.text import called, counted, listed

DEFAULT_OF_ROUNDS = "krippendorff_alpha"
DEFAULT_OF_NAMES = "schouten_kappa"
"""The measures by which rounds, and names of a round, are compared unless another is asked for."""
Names = tuple[str, str]

MAX_STEPS = 1000
CONVERGENCE_TOLERANCE = 1e-6
CELLS_PER_BLOCK = 2_000_000
MIN_RATINGS_PER_ITEM = 3
TOO_FEW_RATINGS = (
    "fewer than half of its rated items have three ratings, and fewer ratings do not tell "
    "prevalence from errors"
)


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
    """Compare a measure between two rounds, raters or models: the difference and its interval.

    Items that both sides share are resampled together, and so are shared clusters. If no
    categories are declared, both rounds are read with all categories that occur in either.

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
    require_ratings(ratings)
    if other is not None and between is None:
        measure = measure or DEFAULT_OF_ROUNDS
        first_round, other = _restrict_to_common_scale(ratings, other)
        statistics, shared = _statistics_of_rounds(first_round, other, measure)
        side_names = [f"of {name}" for name in names]
    elif between is not None and other is None:
        if common_prevalence:
            raise AgreementError(
                "compare: found a common prevalence and two names; expected it of two rounds, "
                "since names of one round have one panel. Leave it out."
            )
        measure = measure or DEFAULT_OF_NAMES
        models = {*between} & {*ratings.classifiers}
        statistics, shared = _statistics_of_two_names(ratings, measure, between, models)
        side_names = [f"of {'classifier' if models else 'rater'} {name}" for name in between]
    else:
        problem = "neither another round nor" if other is None else "both another round and"
        raise AgreementError(
            f"compare: found {problem} two names; "
            "expected one of them. Give another round, or two names of this one."
        )
    compared_measure = measure if category is None else f"{measure} of category {category}"
    one_side, other_side = (
        Side(f"{compared_measure} {side_name}", measure, statistic, category)
        for side_name, statistic in zip(side_names, statistics, strict=True)
    )
    sides = one_side, other_side
    seeded = replace(inference, seed=tuple(map(seed_from_arrays, statistics)))
    if common_prevalence:
        return _compare_at_common_prevalence(sides, shared, seeded)
    comparison = estimate_difference(*sides, seeded, shared=shared)
    if between is not None or comparison.undefined or not _have_same_categories(sides):
        return comparison
    shares = compare_prevalences(*sides, seeded, paired=shared is not None)
    return replace(comparison, prevalences=shares)


def _compare_at_common_prevalence(
    sides: tuple[Side, Side], shared: int | None, inference: Inference
) -> Difference:
    if not _have_same_categories(sides):
        raise AgreementError(
            f"{sides[0].measure}: found a measure of {SUBJECTS[sides[0].record.needs]} "
            f"beside a common prevalence; expected one of {SUBJECTS['counts']}, on one list of "
            "categories for both rounds. Choose another such as krippendorff_alpha, or compare "
            "without it."
        )
    weighted, common = weight_to_common_prevalence(sides)
    comparison = estimate_difference(*weighted, inference, shared=shared)
    return replace(
        comparison, common_prevalence=common, method=f"{comparison.method}; at a common prevalence"
    )


def _have_same_categories(sides: tuple[Side, Side]) -> bool:
    first_scale, second_scale = (side.statistic.scale for side in sides)
    return first_scale.categories == second_scale.categories and all(
        side.record.needs in ("counts", "patterns") and side.statistic.holds == "labels"
        for side in sides
    )


def _statistics_of_rounds(
    first_round: Rated, second_round: Rated, measure: str
) -> tuple[list[Any], int | None]:
    needs = find_registered_measure(measure).needs
    for ratings in (first_round, second_round):
        require_defined(ratings.scale, measure)
    shared = len(
        set(counting_for(first_round).items(first_round))
        & set(counting_for(second_round).items(second_round))
    )
    clusters = len(first_round.cluster_names & second_round.cluster_names)
    if not shared and not clusters:
        return [
            _statistic_of_round(ratings, measure) for ratings in (first_round, second_round)
        ], None
    if needs in ("replicates", "confidence", "groups"):
        shared_words = (
            counted(shared, "shared item") if shared else counted(clusters, "shared cluster")
        )
        raise AgreementError(
            f"{measure}: found {shared_words}; expected a measure of first labels, since the "
            "rounds are paired. Choose another such as krippendorff_alpha, or rounds of other "
            "items."
        )
    continuous = first_round.scale.continuous or second_round.scale.continuous
    if continuous and first_round.scale.level != second_round.scale.level:
        raise AgreementError(
            f"{measure}: found levels {first_round.scale.level} and {second_round.scale.level}; "
            "expected one level, since the rounds are paired. Read both rounds on one level."
        )
    if needs not in ("counts", "patterns", "values"):
        return [
            _statistic_of_round(ratings, measure) for ratings in (first_round, second_round)
        ], shared
    # With exactly the rows of the labels, in their order.
    aligned = counting_for(first_round).align_rounds(first_round, second_round)
    if continuous:
        return list(aligned), shared
    if needs == "counts":
        return [labels.counts() for labels in aligned], shared
    return [labels.as_numbers() if needs == "values" else labels for labels in aligned], shared


def _statistic_of_round(ratings: Rated, measure: str) -> Statistic:
    statistic = build_round_statistic(ratings, measure)
    if statistic is None:
        raise AgreementError(
            f"{measure}: found a measure of {SUBJECTS[find_registered_measure(measure).needs]}, "
            "and "
            f"{counted(len(ratings.classifiers), 'classifier')}; expected one of the whole round. "
            "Compare classifiers within a round."
        )
    return statistic


def _restrict_to_common_scale(first_round: Rated, second_round: Rated) -> tuple[Rated, Rated]:
    """The rounds on one scale, if neither declares its categories.

    Those that were counted before keep their own.
    """
    first_scale, second_scale = first_round.scale, second_round.scale
    if (
        first_scale == second_scale
        or first_scale.level != second_scale.level
        or first_scale.declared
        or second_scale.declared
    ):
        return first_round, second_round
    scale = Scale.from_labels(
        [*(first_scale.categories or ()), *(second_scale.categories or ())], first_scale.level
    )
    on_both = [
        replace(round_ratings, scale=scale) if isinstance(round_ratings, Ratings) else round_ratings
        for round_ratings in (first_round, second_round)
    ]
    return on_both[0], on_both[1]


def _statistics_of_two_names(
    ratings: Rated, measure: str, pair_of_names: Names, models: set[str]
) -> tuple[list[Any], int]:
    if models and (not_classifiers := {*pair_of_names} - models):
        raise AgreementError(
            f"compare: found {called('classifier', models)} beside {min(not_classifiers)!r}, which "
            "is none; expected two classifiers, or two raters of the panel. "
            "Name every model as a classifier when the ratings are read."
        )
    needs: tuple[Needs, ...] = ("panel",) if models else ("panel", "replicates")
    measure_needs = find_registered_measure(measure).needs
    if measure_needs not in needs:
        raise AgreementError(
            f"{measure}: found a measure of {SUBJECTS[measure_needs]}; expected a measure of "
            f"{', or of '.join(SUBJECTS[need] for need in needs)}. "
            f"Choose another, such as {DEFAULT_OF_NAMES}."
        )
    require_defined(ratings.scale, measure)
    engine = counting_for(ratings)
    if find_registered_measure(measure).needs == "replicates":
        replicates = engine.replicates(ratings)
        _raise_if_names_unknown(replicates.raters, pair_of_names)
        replicates_by_name = [replicates.cells_of_rater(name) for name in pair_of_names]
        return replicates_by_name, len(
            np.intersect1d(*(own_replicates.item for own_replicates in replicates_by_name))
        )
    everybody: Any = engine.by_rater(ratings, ratings.classifiers if models else ())
    panel = [name for name in everybody.raters if name not in ratings.classifiers]
    _raise_if_names_unknown(ratings.classifiers if models else everybody.raters, pair_of_names)
    rated_by_both = everybody.select_raters(pair_of_names).given.all(1)
    return [
        (everybody.select_raters((*panel, name)) if models else everybody).with_rater_apart(name)
        for name in pair_of_names
    ], round(float(everybody.weights[rated_by_both].sum()))


def _raise_if_names_unknown(among: tuple[str, ...], names: Names) -> None:
    if not {*names} <= {*among} or names[0] == names[1]:
        raise AgreementError(
            f"comparison: found {', '.join(names)}; "
            f"expected two different names of {', '.join(sorted(among))}. Correct them."
        )


class LatentClasses(NamedTuple):
    """What the ratings say of the classes.

    `shares` are how common each class is (..., T). `labels` are how raters label items of each
    class (..., T, K). `settled` is True where the search came to its end (...).
    """

    shares: Array
    labels: Array
    settled: Flags

    def class_probabilities(self, rows: Array) -> Array:
        """How probable each class is for each row of counts. Shape (..., P, T)."""
        with np.errstate(divide="ignore"):
            # A label that a class never gets rules the class out; 0 · ln 0 is 0.
            logs = np.maximum(np.log(self.labels), -1e9)
            likelihoods = rows @ logs.swapaxes(-1, -2) + np.log(self.shares)[..., None, :]
        likelihoods = np.exp(likelihoods - likelihoods.max(-1, keepdims=True))
        return np.asarray(likelihoods / likelihoods.sum(-1, keepdims=True))


def estimate_latent_classes(rows: Array, weights: Array) -> LatentClasses:
    is_most_frequent = rows == rows.max(1, keepdims=True)
    return _iterate_until_settled(
        rows,
        weights,
        _maximize_likelihood(
            rows, weights, is_most_frequent / is_most_frequent.sum(1, keepdims=True)
        ),
    )


def _iterate_until_settled(rows: Array, weights: Array, latent: LatentClasses) -> LatentClasses:
    for _ in range(MAX_STEPS):
        previous, latent = (
            latent,
            _maximize_likelihood(rows, weights, latent.class_probabilities(rows)),
        )
        change = np.maximum(
            abs(latent.shares - previous.shares).max(-1),
            abs(latent.labels - previous.labels).max((-1, -2)),
        )
        if (change < CONVERGENCE_TOLERANCE).all():
            break
    return latent._replace(settled=np.asarray(change < CONVERGENCE_TOLERANCE))


def _maximize_likelihood(rows: Array, weights: Array, classes: Array) -> LatentClasses:
    class_weights = classes * weights[..., None]
    mass = class_weights.sum(-2)
    label_counts = class_weights.swapaxes(-1, -2) @ rows
    with np.errstate(invalid="ignore"):
        shares = mass / mass.sum(-1, keepdims=True)
        labels = label_counts / label_counts.sum(-1, keepdims=True)
    return LatentClasses(shares, np.nan_to_num(labels), np.zeros(weights.shape[:-1], dtype=bool))


def weight_to_common_prevalence(
    sides: tuple[Side, Side],
) -> tuple[tuple[Side, Side], dict[str, float]]:
    if any(side.find_undefined_reason() for side in sides):
        return sides, {}
    first_side, second_side = sides
    shares = [category_shares(side.statistic) for side in sides]
    used = np.flatnonzero((shares[0] > 0) | (shares[1] > 0))
    names = [first_side.statistic.scale.names[k] for k in used]
    first_reason, second_reason = (
        _no_common_prevalence_reason(side.statistic, names, used) for side in sides
    )
    if first_reason or second_reason:
        return (
            first_side._replace(impossible=first_reason),
            second_side._replace(impossible=second_reason),
        ), {}
    first_latent, second_latent = (
        estimate_latent_classes(
            side.statistic.without_rater_names().counts[:, used], side.statistic.weights
        )
        for side in sides
    )
    target = (first_latent.shares + second_latent.shares) / 2
    weighted = (
        _weight_side(first_side, first_latent, used, target, names),
        _weight_side(second_side, second_latent, used, target, names),
    )
    return weighted, dict(zip(names, map(float, target), strict=True))


def _weight_side(
    side: Side, latent: LatentClasses, used: NDArray[np.intp], target: Array, names: Sequence[str]
) -> Side:
    """A resample without one of the classes has no weights, so its value is undefined."""

    def standard(statistic: Any) -> Any:
        rows, weights, resampled_latent = (
            statistic.without_rater_names().counts[:, used],
            statistic.weights,
            latent,
        )
        if weights.ndim > 1:
            size = max(1, CELLS_PER_BLOCK // rows.size)
            blocks = (weights[start : start + size] for start in range(0, len(weights), size))
            parts = [_iterate_until_settled(rows, block, latent) for block in blocks]
            resampled_latent = LatentClasses(
                *(np.concatenate(field_blocks) for field_blocks in zip(*parts, strict=True))
            )
        with np.errstate(divide="ignore", invalid="ignore"):
            factors = target / resampled_latent.shares
            times = (resampled_latent.class_probabilities(rows) * factors[..., None, :]).sum(-1)
        is_known = resampled_latent.settled & (resampled_latent.shares > 0).all(-1)
        return statistic.with_weights(np.where(is_known[..., None], times, np.nan) * weights)

    return side._replace(standard=standard, impossible=_unclear_classes_reason(latent, names))


def _no_common_prevalence_reason(
    statistic: Any, names: Sequence[str], used: NDArray[np.intp]
) -> str | None:
    counts: CategoryCounts = statistic.without_rater_names()
    shares = category_shares(counts)[used]
    unused = [name for name, share in zip(names, shares, strict=True) if share == 0]
    if unused:
        return f"nobody gave {listed(unused)}, so there is no prevalence that both sides can have"
    enough = counts.weights[counts.sizes >= MIN_RATINGS_PER_ITEM].sum()
    return TOO_FEW_RATINGS if 2 * enough < counts.weights[counts.sizes > 0].sum() else None


def _unclear_classes_reason(latent: LatentClasses, names: Sequence[str]) -> str | None:
    lost = [
        name
        for place, name in enumerate(names)
        if latent.shares[place] == 0 or latent.labels[place].argmax() != place
    ]
    if lost:
        return f"ratings do not tell which items are truly {listed(lost)}"
    return None if latent.settled else "the shares of the true categories were not found"
