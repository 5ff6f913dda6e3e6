"""The estimates that speak of the whole round: those of the round and of each classifier."""

from collections.abc import Iterable

from agreement_pipeline.estimates import Estimate
from agreement_pipeline.report.section import Section
from agreement_pipeline.text import NO_LIMIT


def headlines(estimates: Iterable[Estimate]) -> tuple[Estimate, ...]:
    """The estimates of the round and of each classifier."""
    return tuple(found for found in estimates if found.scope.kind in ("round", "classifier"))


def headline_numbers(estimates: Iterable[Estimate]) -> Section:
    """The value and the limits of each headline, under names that are the same in every round."""
    numbers: Section = {}
    for found in headlines(estimates):
        if found.value is None or found.interval is None:
            continue
        of = "" if found.scope.kind == "round" else f" {found.scope.name}"
        numbers |= {
            f"{found.measure}{of}": found.value,
            f"{found.measure}{of} low": _limit(found.low),
            f"{found.measure}{of} high": _limit(found.high),
        }
    return numbers


def _limit(limit: float | None) -> float | str:
    return NO_LIMIT if limit is None else limit
