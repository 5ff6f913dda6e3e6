"""The evidence of interval methods: measures under resampled weights, or with parts left out."""

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np

from agreement_pipeline.intervals.draws import (
    PRIOR_MASS,
    each_in_order,
    one_core_products,
    resampled,
)
from agreement_pipeline.intervals.inference import Inference
from agreement_pipeline.intervals.jackknife import without_items
from agreement_pipeline.intervals.methods import Evidence, IntervalMethod
from agreement_pipeline.intervals.points import Point, points_of
from agreement_pipeline.intervals.views import (
    possible_in,
    raised_by_unseen,
    values_in,
    with_each_unseen,
    with_unseen,
    without_unseen,
)
from agreement_pipeline.measures import Measure
from agreement_pipeline.ratings import Array
from agreement_pipeline.statistics import (
    LabelsByRater,
    Statistic,
    effective_raters,
    with_equal_counts_as_one,
)

N_RESAMPLES_OF_EXPENSIVE = 400
N_RESAMPLES_OF_MANY_ROWS = 1_000
MOST_DRAWN_WEIGHTS = 200_000_000
MOST_PRODUCTS = 10_000_000_000

T = TypeVar("T")


def gathered(points: Sequence[Point], statistic: Any, inference: Inference) -> dict[str, Evidence]:
    """The evidence on each measure that is defined.

    Measures share the same resamples if their bases have the same weights, and as many resamples.
    Slow ones get fewer resamples, and are computed beside the others, on all cores.
    """
    groups: dict[tuple[object, bool, int], list[Point]] = {}
    with one_core_products():
        points = [_on_fewer_rows(point, inference.interval_method) for point in points]
    for point in points:
        if point.undefined is None:
            n = min(inference.n_resamples, affordable(point.record, point.basis))
            drawn_as = _drawn_as(point.basis) if len(points) > 1 else None
            groups.setdefault((drawn_as, point.record.expensive, n), []).append(point)
    some_slow = any(n < inference.n_resamples for *_, n in groups)
    cores = (os.cpu_count() or 1) if some_slow and len(groups) > 1 else 1

    def of_group(drawn_as: tuple[object, bool, int]) -> dict[str, Evidence]:
        return _of_group(groups[drawn_as], replace(inference, n_resamples=drawn_as[-1]))

    each = each_in_order(of_group, groups, cores=cores, ahead=cores)
    found = {name: evidence for some in each for name, evidence in some.items()}
    return (
        _with_raters(found, points, statistic)
        if inference.interval_method.population == "raters at large"
        else found
    )


def _on_fewer_rows(point: Point, method: IntervalMethod) -> Point:
    """The measure, on rows of equal counts if it is drawn and needs no more of each row."""
    drawn = method.scheme is not None and not method.scheme.whole and not method.leaves_out
    fits = drawn and point.undefined is None and isinstance(point.basis, LabelsByRater)
    if not fits or not point.record.sums_of_raters(point.basis):
        return point
    return point._replace(basis=with_equal_counts_as_one(point.basis, point.record))


def _drawn_as(basis: Statistic) -> object:
    """Equal for bases whose resampled weights are equal.

    Such bases differ in the kind of their unseen items alone. How much an unseen row of a cluster
    weighs depends on more, so each basis in clusters stands alone.
    """
    if basis.clusters is not None:
        return id(basis)
    weights = basis.with_unseen(PRIOR_MASS).weights
    return type(basis), weights.tobytes(), basis.normal.tobytes()


def _with_raters(
    found: dict[str, Evidence], points: Sequence[Point], statistic: Any
) -> dict[str, Evidence]:
    """The evidence with the values without each rater of an item on which agreement is read."""
    defined = [point for point in points if point.record.name in found]
    records = [point.record for point in defined]
    values = zip(
        *(
            [other.found.value for other in points_of(records, each)]
            for each in statistic.without_each_rater()
        ),
        strict=True,
    )
    return {
        point.record.name: _without_each(found[point.record.name], point, each)
        for point, each in zip(defined, values, strict=True)
    }


def _without_each(found: Evidence, point: Point, values: Sequence[Array]) -> Evidence:
    """The evidence on one measure with its values without each rater.

    Raters who rated nothing that the measure uses are passed over.
    """
    by_rater, shape = point.record.rests_on.of_each_rater(point.statistic), np.shape(found.value)
    without = [
        np.broadcast_to(value, shape)
        for value, here in zip(values, by_rater > 0, strict=True)
        if here
    ]
    return replace(found, without_rater=np.array(without), n_raters=effective_raters(by_rater))


def affordable(record: Measure, statistic: Statistic) -> int:
    """How many resamples a measure may use: fewer if each of them takes long."""
    if record.expensive:
        return N_RESAMPLES_OF_EXPENSIVE
    rows = max(1, int(statistic.weights.shape[-1]))
    most = max(N_RESAMPLES_OF_MANY_ROWS, MOST_DRAWN_WEIGHTS // rows)
    if not record.by_pair:
        return most
    raters = len(statistic.raters or ())
    pairs = max(1, raters * (raters - 1) // 2)
    return min(most, max(N_RESAMPLES_OF_EXPENSIVE, MOST_PRODUCTS // (rows * pairs)))


def _of_group(group: Sequence[Point], inference: Inference) -> dict[str, Evidence]:
    """The evidence on measures that share resamples, with nothing yet about raters left out."""
    base, method, possible = group[0].basis, inference.interval_method, possible_in(group)
    nothing = {point.record.name: np.empty((0, *np.shape(point.found.value))) for point in group}
    drawn, seen, raised, left, times = nothing, nothing, nothing, nothing, np.empty(0)
    if method.scheme is not None:
        blocks = resampled(base, inference.n_resamples, inference.seed, scheme=method.scheme)
        raising = raised_by_unseen([] if inference.lower_only else possible)
        views = with_unseen(possible), without_unseen(group), raising
        drawn, seen, raised = values_in(group, views, (block.weights for block in blocks))
    if method.leaves_out:
        most = 0 if any(point.record.expensive for point in group) else MOST_DRAWN_WEIGHTS
        behind: list[Array] = []
        weights = _without_items(base, most, inference.seed, behind)
        (left,) = values_in(group, [without_unseen(group)], weights)
        times = np.concatenate(behind)
    found = {}
    for point, forms in possible:
        name, rests_on = point.record.name, point.record.rests_on
        n, deciding = rests_on.units(point.statistic), rests_on.deciding(point.statistic)
        found[name] = Evidence(
            point.found.value,
            drawn[name],
            seen[name],
            _for_upper(raised.get(name), seen[name], inference),
            left[name],
            times,
            _unlike(point, forms, n),
            nothing[name],
            n,
            deciding,
        )
    return found


def _for_upper(raised: Array | None, seen: Array, inference: Inference) -> Array:
    """The values that only the upper limit reads; undefined if nobody reads this limit."""
    if inference.lower_only:
        return np.full_like(seen, np.nan)
    return seen if raised is None else raised


def _without_items(
    base: Statistic, most_weights: int, seed: int | tuple[int, ...], behind: list[Array]
) -> Iterator[Array]:
    """The weights without each item, in blocks.

    The number of items that each value stands for is appended to `behind`.
    """
    for block in without_items(base, most_weights, seed):
        behind.append(block.times)
        yield block.weights


def _unlike(point: Point, forms: list[Statistic], n: float) -> Callable[[float], Array]:
    """From a tail to the measure's values with as many unlike items as `n` items can miss.

    The share of unlike items is the largest of which `n` items show none with that probability. It
    is Clopper and Pearson's (1934) limit at none of n, https://doi.org/10.1093/biomet/26.4.404.
    """
    record, statistic = point.record, point.basis

    def unlike(tail: float) -> Array:
        part, seen = share(1 - tail ** (1 / max(n, 1))), statistic.weights
        with one_core_products():
            found = with_each_unseen([(point, forms)], (1 - part) * seen, part * seen.sum())
        return found[record.name]

    def share(unlike: float) -> float:
        """The share of all items that is this share of the items that are spoken of."""
        if record.needs != "strata":
            return unlike
        part = record.rests_on.items(statistic) / float(statistic.weights.sum())
        return unlike * part / (1 - unlike + unlike * part)

    return unlike
