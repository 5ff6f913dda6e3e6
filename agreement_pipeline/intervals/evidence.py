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
    CELLS_PER_BLOCK,
    PRIOR_MASS,
    draw_reweighted,
    leave_out_each_item,
    limit_products_to_one_core,
    map_in_order,
)
from agreement_pipeline.intervals.inference import Inference
from agreement_pipeline.intervals.methods import Evidence
from agreement_pipeline.measures import Coefficient, Measure
from agreement_pipeline.ratings import Array
from agreement_pipeline.statistics import (
    FEWEST_CLUSTERS,
    KnownWeights,
    LabelsByRater,
    SeenRows,
    Statistic,
    effective_number_of_raters,
    merge_rows_of_equal_counts,
    stack_known_sums,
)

UNDEFINED_COEFFICIENT = Coefficient(np.array(np.nan), observed=np.array(np.nan))
OFTEN_SEEN_TIMES = 5.0
RAISING_SHARE = 1 / PRIOR_MASS
MAX_CELLS = 8 * CELLS_PER_BLOCK
MAX_ROWS_FOR_RAISING = 1_000
"""Beside so many rows of numbers without categories one item more is looked at."""
N_RESAMPLES_OF_EXPENSIVE = 400
N_RESAMPLES_OF_MANY_ROWS = 1_000
MAX_DRAWN_WEIGHTS = 200_000_000
MAX_PRODUCTS = 10_000_000_000

S = TypeVar("S", bound=Statistic)
Values = dict[str, Array]


class Point(NamedTuple):
    record: Measure
    statistic: Any
    basis: Any
    coefficient: Coefficient
    undefined: str | None = None


def compute_points(records: Sequence[Measure], statistic: Any) -> list[Point]:
    """A measure may use the whole statistic, only the items that every rater rated, or the labels
    without the raters' names, with equal rows made one. What names raters beside a classifier says
    nothing of other items than the classifier's.
    """
    crossed = (
        statistic.items_rated_by_all() if any(record.crossed for record in records) else statistic
    )
    unnamed = (
        statistic.without_rater_names() if any(map(_ignores_rater_names, records)) else statistic
    )
    forgotten = statistic if unnamed is statistic else unnamed.merged()
    with_names = (
        statistic.rows_of_classifier() if isinstance(statistic, LabelsByRater) else statistic
    )

    points = []
    with limit_products_to_one_core():
        for record in records:
            forgets = _ignores_rater_names(record)
            described_statistic = (
                crossed if record.crossed else statistic if forgets else with_names
            )
            basis = split_basis(record, forgotten if forgets else described_statistic)
            reason = find_undefined_reason(record, basis)
            coefficient = record.function(basis) if reason is None else UNDEFINED_COEFFICIENT
            points.append(Point(record, described_statistic, basis, coefficient, reason))
    return points


def _ignores_rater_names(record: Measure) -> bool:
    return not record.crossed and (
        record.needs == "counts" or (record.needs == "panel" and record.exchangeable)
    )


def split_basis(record: Measure, basis: Any) -> Any:
    return basis if record.split is None else basis.with_split_between(record.split(basis))


def find_undefined_reason(record: Measure, statistic: Any) -> str | None:
    """A declared condition holds, or agreement is read in one cluster alone, which cannot show how
    clusters differ.
    """
    n = record.rests_on.n_clusters(statistic)
    reason = record.why_undefined(statistic)
    if reason or n is None or n >= FEWEST_CLUSTERS:
        return reason
    return (
        f"agreement is read on items of {n} cluster; {FEWEST_CLUSTERS} are required for an interval"
    )


def gather_evidence(
    points: Sequence[Point], statistic: Any, inference: Inference
) -> dict[str, Evidence]:
    """Measures share resamples if their bases have the same weights, and as many resamples.

    Slow ones get fewer resamples, and are computed beside the others, on all cores.
    """
    groups: dict[tuple[object, bool, int], list[Point]] = {}
    method = inference.interval_method
    if method.by_tail:
        bases = {id(point.basis): point.basis.with_unseen_by_tail() for point in points}
        points = [point._replace(basis=bases[id(point.basis)]) for point in points]
    if method.scheme is not None and not method.scheme.whole_items and not method.leaves_out:
        with limit_products_to_one_core():
            points = [_merge_rows_if_allowed(point) for point in points]
    for point in points:
        if point.undefined is None:
            point.basis.read_once(stack_known_sums)  # before cores share it
            n = min(inference.n_resamples, affordable_resamples(point.record, point.basis))
            drawn_as = _resampling_key(point.basis) if len(points) > 1 else None
            groups.setdefault((drawn_as, point.record.expensive, n), []).append(point)
    some_slow = any(n < inference.n_resamples for *_, n in groups)
    cores = (os.cpu_count() or 1) if some_slow and len(groups) > 1 else 1
    tasks = [(group, replace(inference, n_resamples=n)) for (*_, n), group in groups.items()]
    results = map_in_order(_gather_group_evidence, tasks, cores=cores, ahead=cores)
    evidence_by_measure = {name: evidence for group in results for name, evidence in group.items()}
    return (
        _add_values_without_raters(evidence_by_measure, points, statistic)
        if method.is_of_raters_at_large
        else evidence_by_measure
    )


def _merge_rows_if_allowed(point: Point) -> Point:
    record, basis = point.record, point.basis
    fits = point.undefined is None and isinstance(basis, LabelsByRater)
    if not fits or not record.sums_of_raters(basis):
        return point
    return point._replace(basis=merge_rows_of_equal_counts(basis, record))


def _resampling_key(basis: Statistic) -> object:
    """Equal for bases whose resampled weights are equal.

    Such bases differ in the kind of their unseen items alone. Each basis in clusters stands alone.
    """
    if basis.clusters is not None:
        return id(basis)
    weights = basis.with_unseen(PRIOR_MASS).weights
    return type(basis), weights.tobytes(), basis.places_of_normal_rows.tobytes()


def _add_values_without_raters(
    evidence_by_measure: dict[str, Evidence], points: Sequence[Point], statistic: Any
) -> dict[str, Evidence]:
    defined = [point for point in points if point.record.name in evidence_by_measure]
    records = [point.record for point in defined]
    without = [
        compute_points(records, statistic_without_rater)
        for statistic_without_rater in statistic.without_each_rater()
    ]
    for place, point in enumerate(defined):
        evidence = evidence_by_measure[point.record.name]
        by_rater = point.record.rests_on.n_items_by_rater(point.statistic)
        values = [
            np.broadcast_to(other_points[place].coefficient.value, np.shape(evidence.value))
            for other_points, has_items in zip(without, by_rater > 0, strict=True)
            if has_items
        ]
        evidence_by_measure[point.record.name] = replace(
            evidence, without_rater=np.array(values), n_raters=effective_number_of_raters(by_rater)
        )
    return evidence_by_measure


def affordable_resamples(record: Measure, statistic: Statistic) -> int:
    if record.expensive:
        return N_RESAMPLES_OF_EXPENSIVE
    rows = max(1, int(statistic.weights.shape[-1]))
    max_resamples = max(N_RESAMPLES_OF_MANY_ROWS, MAX_DRAWN_WEIGHTS // rows)
    if not record.by_pair:
        return max_resamples
    raters = len(statistic.raters or ())
    pairs = max(1, raters * (raters - 1) // 2)
    return min(max_resamples, max(N_RESAMPLES_OF_EXPENSIVE, MAX_PRODUCTS // (rows * pairs)))


def _gather_group_evidence(task: tuple[Sequence[Point], Inference]) -> dict[str, Evidence]:
    group, inference = task
    base, method, possible = group[0].basis, inference.interval_method, build_possible_forms(group)
    no_values = {
        point.record.name: np.empty((0, *np.shape(point.coefficient.value))) for point in group
    }
    drawn_values, seen_values, raised_values, left_out_values, times = (
        no_values,
        no_values,
        no_values,
        no_values,
        np.empty(0),
    )
    if method.scheme is not None:
        blocks = draw_reweighted(base, inference.n_resamples, inference.seed, scheme=method.scheme)
        weights = (block.weights for block in blocks)
        drawn_values, seen_values, raised_values = compute_drawn_values(
            possible, weights, upper=not inference.lower_only
        )
    if method.leaves_out:
        left_out_values, times = _values_without_each_item(group, inference.seed)
    evidence_by_measure = {}
    for point, forms in possible:
        name, rests_on = point.record.name, point.record.rests_on
        n = rests_on.n_independent_units(point.statistic)
        evidence_by_measure[name] = Evidence(
            value=point.coefficient.value,
            draws=drawn_values[name],
            seen_draws=seen_values[name],
            raised_draws=raised_values[name],
            left_out=left_out_values[name],
            times=times,
            unlike=_values_with_unlike_items(point, forms, n),
            without_rater=no_values[name],
            n=n,
            n_deciding=rests_on.n_deciding_units(point.statistic),
        )
    return evidence_by_measure


def _values_without_each_item(
    group: Sequence[Point], seed: int | tuple[int, ...]
) -> tuple[Values, Array]:
    max_weights = 0 if any(point.record.expensive for point in group) else MAX_DRAWN_WEIGHTS
    values_by_measure: dict[str, list[Array]] = {point.record.name: [] for point in group}
    times = []
    for weights, stands_for in leave_out_each_item(group[0].basis, max_weights, seed):
        block = _Block(weights, weights.shape[-1])
        times.append(stands_for)
        for point in group:
            values_by_measure[point.record.name].append(block.value_without_unseen(point))
    return _concatenate_blocks(values_by_measure), np.concatenate(times)


def _concatenate_blocks(values: dict[str, list[Array]]) -> Values:
    return {name: np.concatenate(blocks) for name, blocks in values.items()}


def _values_with_unlike_items(
    point: Point, forms: list[Statistic], n: float
) -> Callable[[float], Array]:
    """The share of unlike items is the largest of which `n` items show none with that probability.

    It is Clopper and Pearson's (1934) limit at none of n, https://doi.org/10.1093/biomet/26.4.404.
    """
    record, basis, seen_weights = point.record, point.basis, point.basis.weights

    def unlike(tail: float) -> Array:
        share = 1 - tail ** (1 / max(n, 1))
        if record.needs == "strata":
            # Of all items, and not of the stratum that the measure speaks of alone.
            part = record.rests_on.n_items(basis) / float(seen_weights.sum())
            share = share * part / (1 - share + share * part)
        with limit_products_to_one_core():
            unlike_values = compute_with_each_unseen(
                [(point, forms)], (1 - share) * seen_weights, share * seen_weights.sum()
            )
        return unlike_values[record.name]

    return unlike


PossibleForms = tuple[Point, list[Statistic]]
"""A measure with its statistic with unseen rows: of every category, once for each.

So a category on which raters always agreed is uncertain too, even a rare one.
"""


def build_possible_forms(group: Sequence[Point]) -> list[PossibleForms]:
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

    def value_without_unseen(self, point: Point) -> Array:
        basis = point.basis
        weighted = basis.with_weights(self.seen)
        return np.asarray(
            point.record.function(
                weighted.with_known_weights(KnownWeights(self._seen_rows_of(basis)))
            ).value
        )

    def with_unseen(self, basis: Statistic, form: S, shares: Array) -> S:
        """Each unseen row keeps a share of the weight drawn for it."""
        np.multiply(self.unseen, shares, out=self.weights[..., self.n_seen :])
        return form.with_weights(self.weights).with_known_weights(
            KnownWeights(self._seen_rows_of(basis))
        )

    def with_one_unseen_item(self, basis: Statistic, form: S, place: int) -> S:
        self.weights[..., self.n_seen :] = 0.0
        self.weights[..., self.n_seen + place] = self.mass
        raising_row = KnownWeights(self._seen_rows_of(basis), np.array([place]))
        return form.with_weights(self.weights).with_known_weights(raising_row)

    def _seen_rows_of(self, basis: Statistic) -> SeenRows:
        """Bases of other rows may have the same weights."""
        if id(basis) not in self._rows_of:
            self._rows_of[id(basis)] = SeenRows(self.seen, basis.read_once(stack_known_sums))
        return self._rows_of[id(basis)]


def compute_drawn_values(
    possible: Sequence[PossibleForms], blocks: Iterable[Array], *, upper: bool
) -> tuple[Values, Values, Values]:
    """The values with unseen rows, without them, and with one item in all on the unseen row that
    raises the measure most.

    Disagreement that was often seen weighs less. Where the last moves no limit, it is the second.
    It is undefined unless `upper` asks.
    """
    drawn_blocks: dict[str, list[Array]] = {point.record.name: [] for point, _ in possible}
    seen_blocks: dict[str, list[Array]] = {name: [] for name in drawn_blocks}
    places = _find_most_raising_rows(possible) if upper else {}
    raised_blocks: dict[str, list[Array]] = {name: [] for name in places}
    shares = [
        [
            OFTEN_SEEN_TIMES / np.maximum(point.basis.times_seen(form), OFTEN_SEEN_TIMES)
            for form in forms
        ]
        for point, forms in possible
    ]
    n_seen = possible[0][0].basis.weights.shape[-1]
    for block in (_Block(weights, n_seen) for weights in blocks):
        for (point, forms), form_shares in zip(possible, shares, strict=True):
            name, basis = point.record.name, point.basis
            unseen = (
                block.with_unseen(basis, form, share)
                for form, share in zip(forms, form_shares, strict=True)
            )
            drawn_blocks[name].append(_compute_value(point.record, unseen))
            seen_blocks[name].append(block.value_without_unseen(point))
            if name in places:
                with_raising_row = (
                    block.with_one_unseen_item(basis, form, place)
                    for form, place in zip(forms, places[name], strict=True)
                )
                raised_blocks[name].append(_compute_value(point.record, with_raising_row))
    seen_values = _concatenate_blocks(seen_blocks)
    without_raising = seen_values
    if not upper:
        without_raising = {
            name: np.full_like(values, np.nan) for name, values in seen_values.items()
        }
    return (
        _concatenate_blocks(drawn_blocks),
        seen_values,
        without_raising | _concatenate_blocks(raised_blocks),
    )


def _find_most_raising_rows(possible: Sequence[PossibleForms]) -> dict[str, list[int]]:
    """For each form of a measure, the place of the unseen row that raises the measure most.

    Where no two items need be alike, large rounds are left out: one item more moves no limit there.
    """
    rare = [
        (point, forms)
        for point, forms in possible
        if not point.basis.scale.continuous or len(point.basis.weights) <= MAX_ROWS_FOR_RAISING
    ]
    if not rare:
        return {}
    values_by_measure = compute_with_each_unseen(rare, rare[0][0].basis.weights, 1.0)
    best = {
        name: np.argmax(np.where(np.isnan(values), -np.inf, values), axis=0)
        for name, values in values_by_measure.items()
    }
    return {name: np.atleast_1d(places).tolist() for name, places in best.items()}


def _compute_value(record: Measure, forms: Iterable[Statistic]) -> Array:
    values = []
    for place, form in enumerate(forms):
        value = record.function(form).value
        values.append(value[..., place] if record.per_category else np.asarray(value))
    return np.stack(values, axis=-1) if record.per_category else values[0]


def compute_with_each_unseen(
    possible: Sequence[PossibleForms], seen_weights: Array, mass: float
) -> Values:
    rows, n = possible[0][1][0].weights.shape[-1], len(seen_weights)
    size = min(max(1, MAX_CELLS // rows), rows - n)
    rows_by_basis = {id(point.basis): SeenRows(seen_weights) for point, _ in possible}
    values: dict[str, list[Array]] = {point.record.name: [] for point, _ in possible}
    table = np.zeros((size, rows))
    table[:, :n] = seen_weights
    for start in range(n, rows, size):
        places = np.arange(start, min(start + size, rows))
        weights, positions = table[: len(places)], np.arange(len(places))
        weights[positions, places] = mass
        for point, forms in possible:
            unseen_rows = KnownWeights(rows_by_basis[id(point.basis)], places - n)
            weighted = (
                form.with_weights(weights).with_known_weights(unseen_rows) for form in forms
            )
            values[point.record.name].append(_compute_value(point.record, weighted))
        weights[positions, places] = 0.0
    return _concatenate_blocks(values)
