"""Measures with their values, each on the part of a statistic that it needs."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from agreement_pipeline.intervals.draws import one_core_products
from agreement_pipeline.measures import Coefficient, Measure
from agreement_pipeline.statistics import FEWEST_CLUSTERS

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
