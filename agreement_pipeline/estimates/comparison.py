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

from agreement_pipeline.counting import Rated, counting_of, require_ratings
from agreement_pipeline.errors import AgreementError
from agreement_pipeline.estimates.differences import (
    Difference,
    Side,
    difference,
    prevalences,
    shares_of,
)
from agreement_pipeline.estimates.estimates import DEFAULT, registered
from agreement_pipeline.estimates.scopes import basis_of, require_defined
from agreement_pipeline.intervals import Inference
from agreement_pipeline.measures import SUBJECTS, Needs
from agreement_pipeline.ratings import Array, Flags, Ratings, Scale
from agreement_pipeline.statistics import CategoryCounts, Statistic, seed_of
from agreement_pipeline.text import called, counted, listed

OF_ROUNDS, OF_NAMES = "krippendorff_alpha", "schouten_kappa"
Names = tuple[str, str]

MOST_STEPS = 1000
SETTLED = 1e-6
CELLS = 2_000_000
FEWEST_RATINGS = 3
FEW_RATINGS = (
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
    require_ratings(ratings)
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


class Latent(NamedTuple):
    """What the ratings say of the classes.

    `shares` are how common each class is (..., T). `labels` are how raters label items of each
    class (..., T, K). `settled` is True where the search came to its end (...).
    """

    shares: Array
    labels: Array
    settled: Flags

    def classes(self, rows: Array) -> Array:
        """How probable each class is for each row of counts. Shape (..., P, T)."""
        with np.errstate(divide="ignore"):
            # A label that a class never gets rules the class out; 0 · ln 0 is 0.
            logs = np.maximum(np.log(self.labels), -1e9)
            likely = rows @ logs.swapaxes(-1, -2) + np.log(self.shares)[..., None, :]
        likely = np.exp(likely - likely.max(-1, keepdims=True))
        return np.asarray(likely / likely.sum(-1, keepdims=True))


def latent_classes(rows: Array, weights: Array) -> Latent:
    most = rows == rows.max(1, keepdims=True)
    return _settled(rows, weights, _explained(rows, weights, most / most.sum(1, keepdims=True)))


def _settled(rows: Array, weights: Array, found: Latent) -> Latent:
    for _ in range(MOST_STEPS):
        before, found = found, _explained(rows, weights, found.classes(rows))
        moved = np.maximum(
            abs(found.shares - before.shares).max(-1),
            abs(found.labels - before.labels).max((-1, -2)),
        )
        if (moved < SETTLED).all():
            break
    return found._replace(settled=np.asarray(moved < SETTLED))


def _explained(rows: Array, weights: Array, classes: Array) -> Latent:
    held = classes * weights[..., None]
    mass = held.sum(-2)
    given = held.swapaxes(-1, -2) @ rows
    with np.errstate(invalid="ignore"):
        shares = mass / mass.sum(-1, keepdims=True)
        labels = given / given.sum(-1, keepdims=True)
    return Latent(shares, np.nan_to_num(labels), np.zeros(weights.shape[:-1], dtype=bool))


def at_common_prevalence(sides: tuple[Side, Side]) -> tuple[tuple[Side, Side], dict[str, float]]:
    if any(side.find_undefined_reason() for side in sides):
        return sides, {}
    one, other = sides
    shares = [shares_of(side.statistic) for side in sides]
    used = np.flatnonzero((shares[0] > 0) | (shares[1] > 0))
    names = [one.statistic.scale.names[k] for k in used]
    why, why_other = (_why_not(side.statistic, names, used) for side in sides)
    if why or why_other:
        return (one._replace(impossible=why), other._replace(impossible=why_other)), {}
    of_one, of_other = (
        latent_classes(side.statistic.unnamed().counts[:, used], side.statistic.weights)
        for side in sides
    )
    target = (of_one.shares + of_other.shares) / 2
    weighted = (
        _weighted(one, of_one, used, target, names),
        _weighted(other, of_other, used, target, names),
    )
    return weighted, dict(zip(names, map(float, target), strict=True))


def _weighted(
    side: Side, latent: Latent, used: NDArray[np.intp], target: Array, names: Sequence[str]
) -> Side:
    """A resample without one of the classes has no weights, so its value is undefined."""

    def standard(statistic: Any) -> Any:
        rows, weights, found = statistic.unnamed().counts[:, used], statistic.weights, latent
        if weights.ndim > 1:
            size = max(1, CELLS // rows.size)
            blocks = (weights[first : first + size] for first in range(0, len(weights), size))
            parts = [_settled(rows, block, latent) for block in blocks]
            found = Latent(*(np.concatenate(each) for each in zip(*parts, strict=True)))
        with np.errstate(divide="ignore", invalid="ignore"):
            factors = target / found.shares
            times = (found.classes(rows) * factors[..., None, :]).sum(-1)
        known = found.settled & (found.shares > 0).all(-1)
        return statistic.reweighted(np.where(known[..., None], times, np.nan) * weights)

    return side._replace(standard=standard, impossible=_unclear(latent, names))


def _why_not(statistic: Any, names: Sequence[str], used: NDArray[np.intp]) -> str | None:
    counts: CategoryCounts = statistic.unnamed()
    shares = shares_of(counts)[used]
    unused = [name for name, share in zip(names, shares, strict=True) if share == 0]
    if unused:
        return f"nobody gave {listed(unused)}, so there is no prevalence that both sides can have"
    enough = counts.weights[counts.sizes >= FEWEST_RATINGS].sum()
    return FEW_RATINGS if 2 * enough < counts.weights[counts.sizes > 0].sum() else None


def _unclear(latent: Latent, names: Sequence[str]) -> str | None:
    lost = [
        name
        for place, name in enumerate(names)
        if latent.shares[place] == 0 or latent.labels[place].argmax() != place
    ]
    if lost:
        return f"ratings do not tell which items are truly {listed(lost)}"
    return None if latent.settled else "the shares of the true categories were not found"
