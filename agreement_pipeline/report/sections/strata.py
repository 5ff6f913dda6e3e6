"""Agreement in each stratum of the items: each language, source or batch."""

from agreement_pipeline.estimates import Estimate
from agreement_pipeline.report.answer import Answer, Cell, grid
from agreement_pipeline.report.cells import interval_cell, value_cell
from agreement_pipeline.report.figure import Figure, Mark, Series
from agreement_pipeline.report.judged import JudgedRound
from agreement_pipeline.report.sections.record import section
from agreement_pipeline.report.strata import in_strata, lowest_first
from agreement_pipeline.report.tables import note
from agreement_pipeline.text import SENTENCE, interval, number

MOST_DRAWN = 20
COLUMNS = ("stratum", "items", "α", "interval", "α on the round's ruler", "note")
OWN_RULER = "α of a stratum is read as if its items were a round of their own."
ONE_RULER = (
    "On the round's ruler, disagreement is divided by what chance gives in the whole round. "
    "Weighted by their ratings, the strata add up to the round."
)


@section("Strata", "Do raters agree in every language, source or batch?", place=35)
def strata(judged: JudgedRound) -> Answer | None:
    """Each stratum with its interval, the lowest first. None if the items have no strata."""
    names = in_strata(judged.ratings)
    if not names:
        return None
    own, on_ruler = lowest_first(judged.measured(names, "stratum"))
    rows: list[list[Cell | str]] = [
        [
            found.scope.name,
            Cell(f"{found.n_used:,}", found.n_used),
            value_cell(found),
            interval_cell(found),
            value_cell(on_ruler.get(found.scope)),
            note(found),
        ]
        for found in own
    ]
    table = grid("Agreement in each stratum, the lowest first", COLUMNS, rows, "strata")
    said = (_lowest(own), OWN_RULER, *((ONE_RULER,) if on_ruler else ()))
    return Answer(said, tuple(_figure(own)), (table,))


def _lowest(own: list[Estimate]) -> str:
    """Which stratum is the lowest, and how far to believe it."""
    found = own[0]
    if found.value is None or found.interval is None:
        return "No stratum has a value."
    limits = interval(found.low, found.high)
    said = f"{found.scope.name}: {number(found.value, SENTENCE)} ({limits})."
    if len(own) == 1:
        return f"The only stratum is {said}"
    return (
        f"The lowest observed of {len(own)} strata is {said} "
        "The lowest of many is low by chance too."
    )


def _figure(own: list[Estimate]) -> list[Figure]:
    marks = [
        Mark(found.scope.name, found.value, found.low, found.high)
        for found in own[:MOST_DRAWN]
        if found.value is not None
    ]
    if not marks:
        return []
    return [
        Figure(
            "intervals",
            "Agreement in each stratum",
            "Lines that lie far apart point to a difference. Lines that overlap leave it open. "
            "The lowest stands on top.",
            (Series("strata", tuple(marks)),),
            axis="Krippendorff's α",
        )
    ]
