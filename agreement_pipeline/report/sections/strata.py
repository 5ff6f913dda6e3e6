"""Agreement in each stratum of the items: each language, source or batch."""

from collections.abc import Sequence

from agreement_pipeline.estimates import Estimate, Scope, Shown
from agreement_pipeline.policy import Policy
from agreement_pipeline.ratings import Ratings
from agreement_pipeline.report.figure import Figure, Mark, intervals
from agreement_pipeline.report.judged import JudgedRound, lowest_first, measured
from agreement_pipeline.report.section import (
    Answer,
    Grid,
    Row,
    grid,
    section,
    value_and_interval,
)
from agreement_pipeline.report.tables import note

MOST_DRAWN = 20
OWN, OF_ROUND = "krippendorff_alpha", "stratum_alpha"
OWN_RULER = "α of a stratum is read as if its items were a round of their own."
ONE_RULER = (
    "On the round's ruler, disagreement is divided by what chance gives in the whole round. "
    "Weighted by their ratings, the strata add up to the round."
)
OnRuler = dict[Scope, Estimate]


@section("Strata", "Do raters agree in every language, source or batch?", place=35)
def strata(judged: JudgedRound) -> Answer | None:
    """Each stratum with its interval, the lowest first. None if the items have no strata."""
    own, on_ruler = _in_strata(judged.ratings, judged.policy)
    if not own:
        return None
    said = (_lowest(own), OWN_RULER, *((ONE_RULER,) if on_ruler else ()))
    return Answer(said, tuple(_figure(own)), (_grid(own, on_ruler),))


def strata_grid(ratings: Ratings, policy: Policy, _: Shown | None = None) -> Grid | None:
    """A row for each stratum, the lowest first; None if the items have no strata."""
    own, on_ruler = _in_strata(ratings, policy)
    return _grid(own, on_ruler) if own else None


def _in_strata(ratings: Ratings, policy: Policy) -> tuple[Sequence[Estimate], OnRuler]:
    """The strata's own alphas, the lowest first, and those on the ruler of the round by scope."""
    if not ratings.strata:
        return (), {}
    measures = (OWN,) if ratings.scale.continuous else (OWN, OF_ROUND)
    found = measured(ratings, measures, policy, ("stratum",))
    on_ruler = {each.scope: each for each in found if each.measure == OF_ROUND}
    return lowest_first([each for each in found if each.measure == OWN]), on_ruler


def _grid(own: Sequence[Estimate], on_ruler: OnRuler) -> Grid:
    """The lowest of many strata is low by chance too. So its interval stands beside it."""
    rows: list[Row] = [
        [
            found.scope.name,
            found.n_used,
            *value_and_interval(found),
            value_and_interval(on_ruler.get(found.scope))[0],
            "; ".join(filter(None, [_of_the_lowest(found, own), note(found)])),
        ]
        for found in own
    ]
    columns = ("stratum", "items", "α", "interval", "on the round's ruler", "note")
    return grid("Agreement in each stratum, the lowest first", columns, rows, "strata")


def _of_the_lowest(found: Estimate, own: Sequence[Estimate]) -> str:
    return "lowest observed" if found is own[0] and found.value is not None else ""


def _lowest(own: Sequence[Estimate]) -> str:
    """Which stratum is the lowest, and how far to believe it."""
    found = own[0]
    if found.value is None:
        return "No stratum has a value."
    said = f"{found.scope.name}: {Mark.of(found).said}."
    if len(own) == 1:
        return f"The only stratum is {said}"
    return (
        f"The lowest observed of {len(own)} strata is {said} "
        "The lowest of many is low by chance too."
    )


def _figure(own: Sequence[Estimate]) -> list[Figure]:
    marks = [Mark.of(found) for found in own[:MOST_DRAWN] if found.value is not None]
    says = (
        "Lines that lie far apart point to a difference. Lines that overlap leave it open. "
        "The lowest stands on top."
    )
    return (
        [intervals("Agreement in each stratum", says, marks, "Krippendorff's α")] if marks else []
    )
