"""The evidence of interval methods: measures under resampled weights, or with parts left out."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any, NamedTuple, TypeVar

import numpy as np

from agreement_pipeline.intervals.draws import PRIOR_MASS, one_core_products, resampled
from agreement_pipeline.intervals.inference import Inference
from agreement_pipeline.intervals.jackknife import without_items
from agreement_pipeline.intervals.methods import Evidence
from agreement_pipeline.measures import Coefficient, Measure
from agreement_pipeline.ratings import Array
from agreement_pipeline.statistics import (
    FEWEST_CLUSTERS,
    Statistic,
    effective_raters,
)

RAISING_SHARE = 1 / 3
N_RESAMPLES_OF_EXPENSIVE = 400
N_RESAMPLES_OF_MANY_ROWS = 1_000
MOST_DRAWN_WEIGHTS = 200_000_000
MOST_PRODUCTS = 10_000_000_000

T = TypeVar("T")

NOTHING = Coefficient(np.array(np.nan), observed=np.array(np.nan))
"""The value of a measure that is not computed, since a declared condition makes it undefined."""


class Point(NamedTuple):
    """A measure with its value on a statistic, or the reason why it has none.

    `basis` is the part of the statistic from which the measure is computed.
    """

    record: Measure
    statistic: Any
    basis: Any
    found: Coefficient
    undefined: str | None = None


def points_of(records: Sequence[Measure], statistic: Any) -> list[Point]:
    """The measures, each with its value on its own part of the statistic.

    A measure may use the whole statistic, only the items that every rater rated, or the labels
    without the raters' names.
    """
    crossed = statistic.crossed() if any(record.crossed for record in records) else statistic
    forgotten = _forgotten(statistic) if any(map(_forgets, records)) else statistic
    spoken_of = [crossed if record.crossed else statistic for record in records]
    bases = [
        split_for(record, forgotten if _forgets(record) else each)
        for record, each in zip(records, spoken_of, strict=True)
    ]
    with one_core_products():
        return [_point(*each) for each in zip(records, spoken_of, bases, strict=True)]


def split_for(record: Measure, basis: Any) -> Any:
    """The statistic with unseen items of the kind that the measure needs."""
    return basis if record.split is None else basis.split_between(record.split(basis))


def _point(record: Measure, statistic: Any, basis: Any) -> Point:
    """The measure on its basis; not computed if a declared condition makes it undefined."""
    why = why_without(record, basis)
    return Point(record, statistic, basis, record(basis) if why is None else NOTHING, why)


def why_without(record: Measure, statistic: Any) -> str | None:
    """Why there is no value with an interval; None if there is one.

    Either a declared condition makes the measure undefined, or agreement is read in one cluster
    alone. One cluster cannot show how clusters differ.
    """
    n = record.rests_on.clusters(statistic)
    too_few = (
        f"agreement is read on items of {n} cluster; {FEWEST_CLUSTERS} are required for an interval"
    )
    return record.why_undefined(statistic) or (
        None if n is None or n >= FEWEST_CLUSTERS else too_few
    )


def _forgets(record: Measure) -> bool:
    """True if the measure does not ask who gave which label."""
    return not record.crossed and (
        record.needs == "counts" or (record.needs == "panel" and record.exchangeable)
    )


def _forgotten(statistic: Any) -> Any:
    """The statistic without who gave which label, with equal rows made one."""
    unnamed = statistic.unnamed()
    return statistic if unnamed is statistic else unnamed.merged()


def gathered(points: Sequence[Point], statistic: Any, inference: Inference) -> dict[str, Evidence]:
    """The evidence on each measure that is defined.

    Measures share the same resamples if their bases have the same weights, and as many resamples.
    """
    groups: dict[tuple[object, bool, int], list[Point]] = {}
    for point in points:
        if point.undefined is None:
            n = min(inference.n_resamples, affordable(point.record, point.basis))
            groups.setdefault((_drawn_as(point.basis), point.record.expensive, n), []).append(point)
    found: dict[str, Evidence] = {}
    with one_core_products():
        for (*_, n), group in groups.items():
            found |= _of_group(group, replace(inference, n_resamples=n))
    return (
        _with_raters(found, points, statistic)
        if inference.interval_method.population == "raters at large"
        else found
    )


def _drawn_as(basis: Statistic) -> object:
    """Equal for bases whose resampled weights are equal.

    Such bases differ in the kind of their unseen items alone. How much an unseen row of a cluster
    weighs depends on more, so each basis in clusters stands alone.
    """
    if basis.clusters is not None:
        return id(basis)
    return type(basis), basis.with_unseen(PRIOR_MASS).weights.tobytes()


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
    base, method = group[0].basis, inference.interval_method
    splits = _splits(group)
    nothing = {point.record.name: np.empty((0, *np.shape(point.found.value))) for point in group}
    drawn, seen, raised, left, times = nothing, nothing, nothing, nothing, np.empty(0)
    if method.scheme is not None:
        mass = method.scheme.prior_mass
        blocks = resampled(base, inference.n_resamples, inference.seed, scheme=method.scheme)
        views = [
            _View(_of_bases(group, lambda each: each.with_unseen(mass)), splits),
            _View(_of_bases(group, lambda each: each), {}),
        ]
        raising = _raising(group, views[0], mass)
        drawn, seen, raised = _values(group, views, (block.weights for block in blocks), raising)
    if method.leaves_out:
        most = 0 if any(point.record.expensive for point in group) else MOST_DRAWN_WEIGHTS
        behind: list[Array] = []
        views = [_View(_of_bases(group, lambda each: each), {})]
        (left,) = _values(group, views, _without_items(base, most, inference.seed, behind))
        times = np.concatenate(behind)
    found = {}
    for point in group:
        name, rests_on = point.record.name, point.record.rests_on
        n, deciding = rests_on.units(point.statistic), rests_on.deciding(point.statistic)
        found[name] = Evidence(
            point.found.value,
            drawn[name],
            seen[name],
            raised[name],
            left[name],
            times,
            _unlike(point.record, point.basis, splits.get(id(point.basis), ()), n),
            nothing[name],
            n,
            deciding,
        )
    return found


def _of_bases(group: Sequence[Point], made: Callable[[Any], T]) -> dict[int, T]:
    """What is made of each basis of a group, under the identity of the basis."""
    bases = {id(point.basis): point.basis for point in group}
    return {key: made(basis) for key, basis in bases.items()}


def _splits(group: Sequence[Point]) -> dict[int, list[Statistic]]:
    """The bases of measures of every category, with the unseen items of each category."""
    return _of_bases([each for each in group if each.record.per_category], _split_by_category)


def _without_items(
    base: Statistic, most_weights: int, seed: int | tuple[int, ...], behind: list[Array]
) -> Iterator[Array]:
    """The weights without each item, in blocks.

    The number of items that each value stands for is appended to `behind`.
    """
    for block in without_items(base, most_weights, seed):
        behind.append(block.times)
        yield block.weights


class _View(NamedTuple):
    """Bases of measures under weights. Of measures of every category, also those by category."""

    bases: dict[int, Any]
    splits: dict[int, list[Statistic]]


class _Raising(NamedTuple):
    """The view with unseen rows, and of each measure the unseen row that raises it most.

    It is one row of a measure, or one row for each category of a measure of every category.
    """

    view: _View
    rows: dict[str, Array]


def _raising(group: Sequence[Point], view: _View, mass: float) -> _Raising:
    """The unseen rows on which a little mass raises the measures most."""
    rows = {}
    for point in group:
        key = id(point.basis)
        seen, possible = point.basis.weights, view.bases[key]
        n = possible.weights.shape[-1] - len(seen)
        weights = np.hstack([np.tile(seen, (n, 1)), mass * RAISING_SHARE * np.eye(n)])
        found = _value(point.record, view.splits.get(key, ()), possible.reweighted(weights))
        rows[point.record.name] = len(seen) + np.argmax(
            np.where(np.isnan(found), -np.inf, found), axis=0
        )
    return _Raising(view, rows)


def _raised(point: Point, raising: _Raising, weights: Array) -> Array:
    """The measure with a share of the drawn unseen mass on the rows that raise it most."""
    key, row = id(point.basis), raising.rows[point.record.name]
    split, basis = raising.view.splits.get(key, ()), raising.view.bases[key]
    if not np.ndim(row):
        return _value(point.record, split, basis.reweighted(_moved(point, weights, int(row))))
    return np.stack(
        [
            point.record(each.reweighted(_moved(point, weights, int(place)))).value[..., k]
            for k, (each, place) in enumerate(zip(split or [basis] * len(row), row, strict=True))
        ],
        axis=-1,
    )


def _moved(point: Point, weights: Array, row: int) -> Array:
    """The weights with a share of their unseen mass on one unseen row, and nothing on others."""
    n = point.basis.weights.shape[-1]
    moved = np.zeros_like(weights)
    moved[..., :n] = weights[..., :n]
    moved[..., row] = weights[..., n:].sum(-1) * RAISING_SHARE
    return moved


def _values(
    group: Sequence[Point],
    views: Sequence[_View],
    blocks: Iterable[Array],
    raising: _Raising | None = None,
) -> list[dict[str, Array]]:
    """The measures' values in blocks of weights, for each view, and as they are raised.

    A view without unseen rows uses the weights of the first rows, which are those that were seen.
    """
    values: list[dict[str, list[Array]]] = [
        {point.record.name: [] for point in group} for _ in range(len(views) + bool(raising))
    ]
    for weights in blocks:
        for view, found in zip(views, values[: len(views)], strict=True):
            block = {
                key: basis.reweighted(weights[..., : basis.weights.shape[-1]])
                for key, basis in view.bases.items()
            }
            for point in group:
                key = id(point.basis)
                value = _value(point.record, view.splits.get(key, ()), block[key])
                found[point.record.name].append(value)
        if raising is not None:
            for point in group:
                values[-1][point.record.name].append(_raised(point, raising, weights))
    return [{name: np.concatenate(each) for name, each in found.items()} for found in values]


def _value(record: Measure, split: Sequence[Statistic], block: Statistic) -> Array:
    """The measure's values in a block of weights.

    If a measure of every category has unseen items, each category has its own.
    """
    if not record.per_category or not split:
        return np.asarray(record(block).value)
    return np.stack(
        [
            record(possible.reweighted(block.weights)).value[..., k]
            for k, possible in enumerate(split)
        ],
        axis=-1,
    )


def _split_by_category(statistic: Statistic) -> list[Statistic]:
    """For each category, the statistic with the unseen items of that category.

    So a category on which raters always agreed is uncertain too, even a rare one.
    """
    return [
        statistic.with_unseen(PRIOR_MASS, category)
        for category in range(len(statistic.scale.names))
    ]


def _unlike(
    record: Measure, statistic: Statistic, split: Sequence[Statistic], n: float
) -> Callable[[float], Array]:
    """From a tail to the measure's values with as many unlike items as `n` items can miss.

    The share of unlike items is the largest of which `n` items show none with that probability. It
    is Clopper and Pearson's (1934) limit at none of n, https://doi.org/10.1093/biomet/26.4.404.
    """

    def unlike(tail: float) -> Array:
        with one_core_products():
            return _value(
                record, split, _with_unlike(statistic, share(1 - tail ** (1 / max(n, 1))))
            )

    def share(unlike: float) -> float:
        """The share of all items that is this share of the items that are spoken of."""
        if record.needs != "strata":
            return unlike
        part = record.rests_on.items(statistic) / float(statistic.weights.sum())
        return unlike * part / (1 - unlike + unlike * part)

    return unlike


def _with_unlike(statistic: Statistic, share: float) -> Statistic:
    """For each kind of item, the statistic with that share of items of the kind."""
    possible = statistic.with_unseen(PRIOR_MASS)
    rows, seen = possible.weights.shape[-1], statistic.weights.shape[-1]
    weights = np.zeros((rows - seen, rows))
    weights[:, :seen] = (1 - share) * statistic.weights
    weights[np.arange(rows - seen), np.arange(seen, rows)] = share * statistic.weights.sum()
    return possible.reweighted(weights)
