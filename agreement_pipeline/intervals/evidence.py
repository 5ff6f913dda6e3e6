"""The evidence of interval methods: measures under resampled weights, or with parts left out.

Rows that nobody saw, but that could have been, count in two ways.

- Unseen disagreement weighs less the more often it was seen. Once some items show it, resamples of
  these items say how often it occurs.
- Unseen agreement may raise a measure, above all on a rare category. So upper limits count one more
  item of the kind that raises it most, as Clopper and Pearson's (1934) upper limit of a share does.
"""

import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple, TypeVar

import numpy as np

from agreement_pipeline.intervals.draws import (
    BLOCK_CELLS,
    PRIOR_MASS,
    each_in_order,
    one_core_products,
    resampled,
    without_items,
)
from agreement_pipeline.intervals.inference import Inference
from agreement_pipeline.intervals.methods import Evidence
from agreement_pipeline.measures import Coefficient, Measure
from agreement_pipeline.ratings import Array
from agreement_pipeline.statistics import (
    FEWEST_CLUSTERS,
    Beside,
    LabelsByRater,
    SeenRows,
    Statistic,
    effective_raters,
    in_one,
    with_equal_counts_as_one,
)

NOTHING = Coefficient(np.array(np.nan), observed=np.array(np.nan))
OFTEN = 5.0
RAISING_SHARE = 1 / PRIOR_MASS
MOST_CELLS = 8 * BLOCK_CELLS
MOST_ROWS_MOVED = 1_000
"""Beside so many rows of numbers without categories one item more is looked at."""
N_RESAMPLES_OF_EXPENSIVE, N_RESAMPLES_OF_MANY_ROWS = 400, 1_000
MOST_DRAWN_WEIGHTS = 200_000_000
MOST_PRODUCTS = 10_000_000_000

S = TypeVar("S", bound=Statistic)
Values = dict[str, Array]


class Point(NamedTuple):
    record: Measure
    statistic: Any
    basis: Any
    found: Coefficient
    undefined: str | None = None


def points_of(records: Sequence[Measure], statistic: Any) -> list[Point]:
    """A measure may use the whole statistic, only the items that every rater rated, or the labels
    without the raters' names, with equal rows made one. What names raters beside a classifier says
    nothing of other items than the classifier's.
    """
    crossed = statistic.crossed() if any(record.crossed for record in records) else statistic
    unnamed = statistic.unnamed() if any(map(_forgets, records)) else statistic
    forgotten = statistic if unnamed is statistic else unnamed.merged()
    named = statistic.beside_classifier() if isinstance(statistic, LabelsByRater) else statistic

    points = []
    with one_core_products():
        for record in records:
            forgets = _forgets(record)
            spoken_of = crossed if record.crossed else statistic if forgets else named
            basis = split_for(record, forgotten if forgets else spoken_of)
            why = why_without(record, basis)
            found = record.function(basis) if why is None else NOTHING
            points.append(Point(record, spoken_of, basis, found, why))
    return points


def _forgets(record: Measure) -> bool:
    return not record.crossed and (
        record.needs == "counts" or (record.needs == "panel" and record.exchangeable)
    )


def split_for(record: Measure, basis: Any) -> Any:
    return basis if record.split is None else basis.split_between(record.split(basis))


def why_without(record: Measure, statistic: Any) -> str | None:
    """A declared condition holds, or agreement is read in one cluster alone, which cannot show how
    clusters differ.
    """
    n = record.rests_on.clusters(statistic)
    why = record.why_undefined(statistic)
    if why or n is None or n >= FEWEST_CLUSTERS:
        return why
    return (
        f"agreement is read on items of {n} cluster; {FEWEST_CLUSTERS} are required for an interval"
    )


def gathered(points: Sequence[Point], statistic: Any, inference: Inference) -> dict[str, Evidence]:
    """Measures share resamples if their bases have the same weights, and as many resamples.

    Slow ones get fewer resamples, and are computed beside the others, on all cores.
    """
    groups: dict[tuple[object, bool, int], list[Point]] = {}
    method = inference.interval_method
    if method.by_tail:
        bases = {id(point.basis): point.basis.with_unseen_by_tail() for point in points}
        points = [point._replace(basis=bases[id(point.basis)]) for point in points]
    if method.scheme is not None and not method.scheme.whole and not method.leaves_out:
        with one_core_products():
            points = [_on_fewer_rows(point) for point in points]
    for point in points:
        if point.undefined is None:
            point.basis.kept(in_one)  # before cores share it
            n = min(inference.n_resamples, affordable(point.record, point.basis))
            drawn_as = _drawn_as(point.basis) if len(points) > 1 else None
            groups.setdefault((drawn_as, point.record.expensive, n), []).append(point)
    some_slow = any(n < inference.n_resamples for *_, n in groups)
    cores = (os.cpu_count() or 1) if some_slow and len(groups) > 1 else 1
    asked = [(some, replace(inference, n_resamples=n)) for (*_, n), some in groups.items()]
    each = each_in_order(_of_group, asked, cores=cores, ahead=cores)
    found = {name: evidence for some in each for name, evidence in some.items()}
    return _with_raters(found, points, statistic) if method.at_large else found


def _on_fewer_rows(point: Point) -> Point:
    record, basis = point.record, point.basis
    fits = point.undefined is None and isinstance(basis, LabelsByRater)
    if not fits or not record.sums_of_raters(basis):
        return point
    return point._replace(basis=with_equal_counts_as_one(basis, record))


def _drawn_as(basis: Statistic) -> object:
    """Equal for bases whose resampled weights are equal.

    Such bases differ in the kind of their unseen items alone. Each basis in clusters stands alone.
    """
    if basis.clusters is not None:
        return id(basis)
    weights = basis.with_unseen(PRIOR_MASS).weights
    return type(basis), weights.tobytes(), basis.normal.tobytes()


def _with_raters(
    found: dict[str, Evidence], points: Sequence[Point], statistic: Any
) -> dict[str, Evidence]:
    defined = [point for point in points if point.record.name in found]
    records = [point.record for point in defined]
    without = [points_of(records, each) for each in statistic.without_each_rater()]
    for place, point in enumerate(defined):
        of_all = found[point.record.name]
        by_rater = point.record.rests_on.of_each_rater(point.statistic)
        values = [
            np.broadcast_to(others[place].found.value, np.shape(of_all.value))
            for others, here in zip(without, by_rater > 0, strict=True)
            if here
        ]
        found[point.record.name] = replace(
            of_all, without_rater=np.array(values), n_raters=effective_raters(by_rater)
        )
    return found


def affordable(record: Measure, statistic: Statistic) -> int:
    if record.expensive:
        return N_RESAMPLES_OF_EXPENSIVE
    rows = max(1, int(statistic.weights.shape[-1]))
    most = max(N_RESAMPLES_OF_MANY_ROWS, MOST_DRAWN_WEIGHTS // rows)
    if not record.by_pair:
        return most
    raters = len(statistic.raters or ())
    pairs = max(1, raters * (raters - 1) // 2)
    return min(most, max(N_RESAMPLES_OF_EXPENSIVE, MOST_PRODUCTS // (rows * pairs)))


def _of_group(asked: tuple[Sequence[Point], Inference]) -> dict[str, Evidence]:
    group, inference = asked
    base, method, possible = group[0].basis, inference.interval_method, possible_in(group)
    nothing = {point.record.name: np.empty((0, *np.shape(point.found.value))) for point in group}
    drawn, seen, raised, left, times = nothing, nothing, nothing, nothing, np.empty(0)
    if method.scheme is not None:
        blocks = resampled(base, inference.n_resamples, inference.seed, scheme=method.scheme)
        weights = (block.weights for block in blocks)
        drawn, seen, raised = values_drawn(possible, weights, upper=not inference.lower_only)
    if method.leaves_out:
        left, times = _left_out(group, inference.seed)
    found = {}
    for point, forms in possible:
        name, rests_on = point.record.name, point.record.rests_on
        n = rests_on.units(point.statistic)
        found[name] = Evidence(
            value=point.found.value,
            draws=drawn[name],
            seen=seen[name],
            raised=raised[name],
            left_out=left[name],
            times=times,
            unlike=_unlike(point, forms, n),
            without_rater=nothing[name],
            n=n,
            n_deciding=rests_on.deciding(point.statistic),
        )
    return found


def _left_out(group: Sequence[Point], seed: int | tuple[int, ...]) -> tuple[Values, Array]:
    most = 0 if any(point.record.expensive for point in group) else MOST_DRAWN_WEIGHTS
    left: dict[str, list[Array]] = {point.record.name: [] for point in group}
    times = []
    for weights, stands_for in without_items(group[0].basis, most, seed):
        block = _Block(weights, weights.shape[-1])
        times.append(stands_for)
        for point in group:
            left[point.record.name].append(block.alone(point))
    return _joined(left), np.concatenate(times)


def _joined(values: dict[str, list[Array]]) -> Values:
    return {name: np.concatenate(found) for name, found in values.items()}


def _unlike(point: Point, forms: list[Statistic], n: float) -> Callable[[float], Array]:
    """The share of unlike items is the largest of which `n` items show none with that probability.

    It is Clopper and Pearson's (1934) limit at none of n, https://doi.org/10.1093/biomet/26.4.404.
    """
    record, basis, seen = point.record, point.basis, point.basis.weights

    def unlike(tail: float) -> Array:
        share = 1 - tail ** (1 / max(n, 1))
        if record.needs == "strata":
            # Of all items, and not of the stratum that the measure speaks of alone.
            part = record.rests_on.items(basis) / float(seen.sum())
            share = share * part / (1 - share + share * part)
        with one_core_products():
            found = with_each_unseen([(point, forms)], (1 - share) * seen, share * seen.sum())
        return found[record.name]

    return unlike


Possible = tuple[Point, list[Statistic]]
"""A measure with its statistic with unseen rows: of every category, once for each.

So a category on which raters always agreed is uncertain too, even a rare one.
"""


def possible_in(group: Sequence[Point]) -> list[Possible]:
    forms: dict[tuple[int, bool], list[Statistic]] = {}
    possible = []
    for point in group:
        basis, per_category = point.basis, point.record.per_category
        key = id(basis), per_category
        if key not in forms:
            categories = range(len(basis.scale.names)) if per_category else [None]
            forms[key] = [basis.with_unseen(PRIOR_MASS, category) for category in categories]
        possible.append((point, forms[key]))
    return possible


class _Block:
    """A block of weights (b, P). The weights of its unseen rows are set anew for each reading."""

    def __init__(self, weights: Array, n_seen: int) -> None:
        self.weights, self.n_seen = weights, n_seen
        self.seen, self.unseen = weights[..., :n_seen].copy(), weights[..., n_seen:].copy()
        self.mass = RAISING_SHARE * self.unseen.sum(-1)
        self._rows_of: dict[int, SeenRows] = {}

    def alone(self, point: Point) -> Array:
        basis = point.basis
        weighted = basis.reweighted(self.seen)
        return np.asarray(point.record.function(weighted.beside(Beside(self._rows(basis)))).value)

    def with_unseen(self, basis: Statistic, form: S, shares: Array) -> S:
        """Each unseen row keeps a share of the weight drawn for it."""
        np.multiply(self.unseen, shares, out=self.weights[..., self.n_seen :])
        return form.reweighted(self.weights).beside(Beside(self._rows(basis)))

    def with_one(self, basis: Statistic, form: S, place: int) -> S:
        self.weights[..., self.n_seen :] = 0.0
        self.weights[..., self.n_seen + place] = self.mass
        known = Beside(self._rows(basis), np.array([place]))
        return form.reweighted(self.weights).beside(known)

    def _rows(self, basis: Statistic) -> SeenRows:
        """Bases of other rows may have the same weights."""
        if id(basis) not in self._rows_of:
            self._rows_of[id(basis)] = SeenRows(self.seen, basis.kept(in_one))
        return self._rows_of[id(basis)]


def values_drawn(
    possible: Sequence[Possible], blocks: Iterable[Array], *, upper: bool
) -> tuple[Values, Values, Values]:
    """The values with unseen rows, without them, and with one item in all on the unseen row that
    raises the measure most.

    Disagreement that was often seen weighs less. Where the last moves no limit, it is the second.
    It is undefined unless `upper` asks.
    """
    drawn: dict[str, list[Array]] = {point.record.name: [] for point, _ in possible}
    seen: dict[str, list[Array]] = {name: [] for name in drawn}
    places = _raising(possible) if upper else {}
    raised: dict[str, list[Array]] = {name: [] for name in places}
    shares = [
        [OFTEN / np.maximum(point.basis.times_seen(form), OFTEN) for form in forms]
        for point, forms in possible
    ]
    n_seen = possible[0][0].basis.weights.shape[-1]
    for block in (_Block(weights, n_seen) for weights in blocks):
        for (point, forms), kept in zip(possible, shares, strict=True):
            name, basis = point.record.name, point.basis
            each = zip(forms, kept, strict=True)
            unseen = (block.with_unseen(basis, form, share) for form, share in each)
            drawn[name].append(_value_of(point.record, unseen))
            seen[name].append(block.alone(point))
            if name in places:
                rising = zip(forms, places[name], strict=True)
                one_more = (block.with_one(basis, form, place) for form, place in rising)
                raised[name].append(_value_of(point.record, one_more))
    alone = _joined(seen)
    others = alone if upper else {name: np.full_like(each, np.nan) for name, each in alone.items()}
    return _joined(drawn), alone, others | _joined(raised)


def _raising(possible: Sequence[Possible]) -> dict[str, list[int]]:
    """For each form of a measure, the place of the unseen row that raises the measure most.

    Where no two items need be alike, large rounds are left out: one item more moves no limit there.
    """
    rare = [
        (point, forms)
        for point, forms in possible
        if not point.basis.scale.continuous or len(point.basis.weights) <= MOST_ROWS_MOVED
    ]
    if not rare:
        return {}
    found = with_each_unseen(rare, rare[0][0].basis.weights, 1.0)
    best = {
        name: np.argmax(np.where(np.isnan(values), -np.inf, values), axis=0)
        for name, values in found.items()
    }
    return {name: np.atleast_1d(places).tolist() for name, places in best.items()}


def _value_of(record: Measure, forms: Iterable[Statistic]) -> Array:
    values = []
    for place, form in enumerate(forms):
        value = record.function(form).value
        values.append(value[..., place] if record.per_category else np.asarray(value))
    return np.stack(values, axis=-1) if record.per_category else values[0]


def with_each_unseen(possible: Sequence[Possible], seen: Array, mass: float) -> Values:
    rows, n = possible[0][1][0].weights.shape[-1], len(seen)
    size = min(max(1, MOST_CELLS // rows), rows - n)
    known = {id(point.basis): SeenRows(seen) for point, _ in possible}
    values: dict[str, list[Array]] = {point.record.name: [] for point, _ in possible}
    table = np.zeros((size, rows))
    table[:, :n] = seen
    for start in range(n, rows, size):
        some = np.arange(start, min(start + size, rows))
        weights, each = table[: len(some)], np.arange(len(some))
        weights[each, some] = mass
        for point, forms in possible:
            beside = Beside(known[id(point.basis)], some - n)
            weighted = (form.reweighted(weights).beside(beside) for form in forms)
            values[point.record.name].append(_value_of(point.record, weighted))
        weights[each, some] = 0.0
    return _joined(values)
