"""Measures under blocks of weights: with unseen rows, without them, and as unseen rows raise them.

- Unseen disagreement weighs less the more often it was seen. Once some items show it, resamples of
  these items say how often it occurs.
- Unseen agreement may raise a measure, above all on a rare category. So upper limits count one more
  item of the kind that raises it most. Clopper and Pearson's (1934) upper limit of a share counts
  one more item too, https://doi.org/10.1093/biomet/26.4.404.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

import numpy as np

from agreement_pipeline.intervals.draws import BLOCK_CELLS, PRIOR_MASS
from agreement_pipeline.intervals.points import Point
from agreement_pipeline.measures import Measure
from agreement_pipeline.ratings import Array
from agreement_pipeline.statistics import Beside, SeenRows, Statistic, times_seen

OFTEN = 5.0
RAISING_SHARE = 1 / PRIOR_MASS
MOST_CELLS = 8 * BLOCK_CELLS
"""Of a table in which each unseen row alone has weight. Measures read little of it."""

MOST_ROWS_MOVED = 1_000
"""Rows of numbers without categories beside which one item more is looked at."""

S = TypeVar("S", bound=Statistic)

Possible = tuple[Point, list[Statistic]]
"""A measure with its forms: its statistic with unseen rows.

A measure of every category has one form for each category. So a category on which raters always
agreed is uncertain too, even a rare one.
"""


class Block:
    """A block of weights. Each view weighs its unseen rows anew.

    Attributes
    ----------
    weights
        Shape (b, P). The weights of unseen rows change.
    unseen
        The weights that were drawn for the unseen rows.
    """

    def __init__(self, weights: Array, n_seen: int) -> None:
        self.weights, self.n_seen = weights, n_seen
        self.unseen = weights[..., n_seen:].copy()
        self._seen: dict[int, SeenRows] = {}

    def alone(self, basis: S) -> S:
        """The rows that were seen, and no others."""
        return basis.reweighted(self.weights[..., : self.n_seen]).beside(Beside(self._rows(basis)))

    def with_unseen(self, basis: Statistic, form: S, shares: Array) -> S:
        """A form of a basis. Each unseen row keeps a share of the weight drawn for it."""
        np.multiply(self.unseen, shares, out=self.weights[..., self.n_seen :])
        return form.reweighted(self.weights).beside(Beside(self._rows(basis)))

    def with_one(self, basis: Statistic, form: S, place: int, mass: Array) -> S:
        """A form of a basis, with all the mass of its unseen rows on one of them."""
        self.weights[..., self.n_seen :] = 0.0
        self.weights[..., self.n_seen + place] = mass
        known = Beside(self._rows(basis), np.array([place]))
        return form.reweighted(self.weights).beside(known)

    def _rows(self, basis: Statistic) -> SeenRows:
        """The seen rows of a basis. Bases of other rows may have the same weights."""
        seen = self._seen.get(id(basis)) or SeenRows(self.weights[..., : self.n_seen])
        return self._seen.setdefault(id(basis), seen)


View = dict[str, Callable[[Block], Array]]
"""For each measure, its values under a block of weights."""


def values_in(
    group: Sequence[Point], views: Sequence[View], blocks: Iterable[Array]
) -> list[dict[str, Array]]:
    """The measures' values in blocks of weights, for each view."""
    seen = group[0].basis.weights.shape[-1]
    values: list[dict[str, list[Array]]] = [{name: [] for name in view} for view in views]
    for block in (Block(weights, seen) for weights in blocks):
        for view, found in zip(views, values, strict=True):
            for name, read in view.items():
                found[name].append(read(block))
    return [{name: np.concatenate(each) for name, each in found.items()} for found in values]


def without_unseen(group: Sequence[Point]) -> View:
    """The measures on the rows that were seen."""

    def reader(point: Point) -> Callable[[Block], Array]:
        return lambda block: np.asarray(point.record(block.alone(point.basis)).value)

    return {point.record.name: reader(point) for point in group}


def with_unseen(possible: Sequence[Possible]) -> View:
    """The measures with unseen rows. Disagreement that was often seen weighs less."""

    def reader(point: Point, forms: Sequence[Statistic]) -> Callable[[Block], Array]:
        shares = [_kept(point.basis, form) for form in forms]
        return lambda block: value_of(
            point.record,
            (
                block.with_unseen(point.basis, form, of_form)
                for form, of_form in zip(forms, shares, strict=True)
            ),
        )

    return {point.record.name: reader(point, forms) for point, forms in possible}


def raised_by_unseen(possible: Sequence[Possible]) -> View:
    """The measures with one item in all on the unseen row that raises each of them most.

    Where no two items need be alike, large rounds are left out: one item more moves no limit there.
    """
    rare = [each for each in possible if _may_move(each[0].basis)]

    def reader(point: Point, forms: Sequence[Statistic], found: Array) -> Callable[[Block], Array]:
        places = _raising(found)

        def read(block: Block) -> Array:
            one_item = RAISING_SHARE * block.unseen.sum(-1)
            return value_of(
                point.record,
                (
                    block.with_one(point.basis, form, place, one_item)
                    for form, place in zip(forms, places, strict=True)
                ),
            )

        return read

    if not rare:
        return {}
    found = with_each_unseen(rare, rare[0][0].basis.weights, 1.0)
    return {
        point.record.name: reader(point, forms, found[point.record.name]) for point, forms in rare
    }


def _may_move(basis: Statistic) -> bool:
    """True if one item more can move a limit, or if rows are too few for it to cost much."""
    return not basis.scale.continuous or len(basis.weights) <= MOST_ROWS_MOVED


def possible_in(group: Sequence[Point]) -> list[Possible]:
    """Each measure with its forms. Measures of one basis share them."""
    forms: dict[tuple[int, bool], list[Statistic]] = {}
    for point in group:
        key = id(point.basis), point.record.per_category
        forms[key] = forms.get(key) or _forms(point)
    return [(point, forms[id(point.basis), point.record.per_category]) for point in group]


def _forms(point: Point) -> list[Statistic]:
    basis = point.basis
    categories = range(len(basis.scale.names)) if point.record.per_category else [None]
    return [basis.with_unseen(PRIOR_MASS, category) for category in categories]


def value_of(record: Measure, forms: Iterable[Statistic]) -> Array:
    """The measure's values from its weighted forms. They are read one after the other."""
    values = (record(form).value for form in forms)
    if not record.per_category:
        return np.asarray(next(values))
    return np.stack([each[..., k] for k, each in enumerate(values)], axis=-1)


def _kept(basis: Statistic, form: Statistic) -> Array:
    """The share of its drawn weight that each unseen row keeps."""
    return OFTEN / np.maximum(times_seen(basis, form), OFTEN)


def _raising(found: Array) -> list[int]:
    """For each form, the place of the unseen row of which one item raises the measure most.

    `found` are the values with one item on each of them.
    """
    best = np.argmax(np.where(np.isnan(found), -np.inf, found), axis=0)
    return [int(place) for place in np.atleast_1d(best)]


def with_each_unseen(possible: Sequence[Possible], seen: Array, mass: float) -> dict[str, Array]:
    """The measures' values with some mass on each unseen row alone. Each has shape (U, ...).

    `seen` are the weights of the seen rows. They are the same beside each.
    """
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
            values[point.record.name].append(value_of(point.record, weighted))
        weights[each, some] = 0.0
    return {name: np.concatenate(found) for name, found in values.items()}
