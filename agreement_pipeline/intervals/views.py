"""Measures under blocks of weights: with unseen rows, without them, and as unseen rows raise them.

- Unseen disagreement weighs less the more often it was seen. Once some items show it, resamples of
  these items say how often it occurs.
- Unseen agreement may raise a measure, above all on a rare category. So upper limits count one more
  item of the kind that raises it most. Clopper and Pearson's (1934) upper limit of a share counts
  one more item too, https://doi.org/10.1093/biomet/26.4.404.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence

import numpy as np

from agreement_pipeline.intervals.draws import PRIOR_MASS
from agreement_pipeline.intervals.points import Point
from agreement_pipeline.measures import Measure
from agreement_pipeline.ratings import Array
from agreement_pipeline.statistics import Statistic, times_seen

OFTEN = 5.0
RAISING_SHARE = 1 / PRIOR_MASS

Possible = tuple[Point, list[Statistic]]
"""A measure with its forms: its statistic with unseen rows.

A measure of every category has one form for each category. So a category on which raters always
agreed is uncertain too, even a rare one.
"""
View = dict[str, Callable[[Array, Array], Array]]
"""For each measure, its values from a block of weights and the weights drawn for unseen rows.

The block is used up: the weights of its unseen rows change.
"""


def values_in(
    group: Sequence[Point], views: Sequence[View], blocks: Iterable[Array]
) -> list[dict[str, Array]]:
    """The measures' values in blocks of weights, for each view."""
    seen = group[0].basis.weights.shape[-1]
    values: list[dict[str, list[Array]]] = [{name: [] for name in view} for view in views]
    for weights in blocks:
        unseen = weights[..., seen:].copy()
        for view, found in zip(views, values, strict=True):
            for name, read in view.items():
                found[name].append(read(weights, unseen))
    return [{name: np.concatenate(each) for name, each in found.items()} for found in values]


def without_unseen(group: Sequence[Point]) -> View:
    """The measures on the rows that were seen."""

    def reader(point: Point) -> Callable[[Array, Array], Array]:
        rows = point.basis.weights.shape[-1]
        return lambda weights, _: np.asarray(
            point.record(point.basis.reweighted(weights[..., :rows])).value
        )

    return {point.record.name: reader(point) for point in group}


def with_unseen(possible: Sequence[Possible]) -> View:
    """The measures with unseen rows. Disagreement that was often seen weighs less."""

    def reader(point: Point, forms: Sequence[Statistic]) -> Callable[[Array, Array], Array]:
        kept = [_kept(point.basis, form) for form in forms]
        return lambda weights, unseen: value_of(
            point.record, _weighted(forms, weights, [unseen * share for share in kept])
        )

    return {point.record.name: reader(point, forms) for point, forms in possible}


def raised_by_unseen(possible: Sequence[Possible]) -> View:
    """The measures with one item in all on the unseen row that raises each of them most.

    Measures of numbers without categories are left out, since no category is rare there.
    """

    def reader(point: Point, forms: Sequence[Statistic]) -> Callable[[Array, Array], Array]:
        rows = _raising(point, forms)

        def read(weights: Array, unseen: Array) -> Array:
            one_item = RAISING_SHARE * unseen.sum(-1, keepdims=True)
            return value_of(point.record, _weighted(forms, weights, [one_item * r for r in rows]))

        return read

    return {
        point.record.name: reader(point, forms)
        for point, forms in possible
        if not point.basis.scale.continuous
    }


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


def _weighted(
    forms: Sequence[Statistic], weights: Array, unseen: Sequence[Array]
) -> Iterator[Statistic]:
    """The forms under the weights, with these weights of their unseen rows. All use one array."""
    for form, of_unseen in zip(forms, unseen, strict=True):
        weights[..., weights.shape[-1] - of_unseen.shape[-1] :] = of_unseen
        yield form.reweighted(weights)


def _kept(basis: Statistic, form: Statistic) -> Array:
    """The share of its drawn weight that each unseen row keeps."""
    return OFTEN / np.maximum(times_seen(basis, form), OFTEN)


def _raising(point: Point, forms: Sequence[Statistic]) -> Array:
    """For each form, 1 for the unseen row of which one item raises the measure most, else 0."""
    seen = point.basis.weights
    unseen = forms[0].weights.shape[-1] - len(seen)
    one_more = np.hstack([np.tile(seen, (unseen, 1)), np.eye(unseen)])
    found = value_of(point.record, (form.reweighted(one_more) for form in forms))
    best = np.argmax(np.where(np.isnan(found), -np.inf, found), axis=0)
    return np.asarray(np.eye(unseen)[np.atleast_1d(best)])
