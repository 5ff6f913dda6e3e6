"""The estimates that speak of the whole round: those of the round and of each classifier."""

from collections.abc import Collection, Iterable

from agreement_pipeline.estimates import Estimate
from agreement_pipeline.report.section import Section
from agreement_pipeline.text import NO_LIMIT


def headlines(estimates: Iterable[Estimate]) -> tuple[Estimate, ...]:
    """The estimates of the round and of each classifier."""
    return tuple(found for found in estimates if found.scope.kind in ("round", "classifier"))


def headline_numbers(estimates: Iterable[Estimate], measures: Collection[str]) -> Section:
    """The value and the limits of the headlines of some measures.

    The names are the same in every round. Sorted, they keep a value beside its limits.
    """
    numbers: Section = {}
    for found in headlines(estimates):
        if found.value is None or found.interval is None or found.measure not in measures:
            continue
        name = f"{found.measure} {found.scope.name}".strip()
        numbers |= {
            f"{name} high": _limit(found.high),
            f"{name} low": _limit(found.low),
            f"{name} value": found.value,
        }
    return numbers


def _limit(limit: float | None) -> float | str:
    return NO_LIMIT if limit is None else limit
