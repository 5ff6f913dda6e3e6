"""How many items would have decided."""

import math
from collections.abc import Sequence

from agreement_pipeline.errors import AgreementError
from agreement_pipeline.policy import Plan, Policy, plan, unplanned_look
from agreement_pipeline.report.answer import Answer, Cell, Row, grid
from agreement_pipeline.report.cells import title_of
from agreement_pipeline.report.figure import Figure, Mark, Series
from agreement_pipeline.report.judged import JudgedRound
from agreement_pipeline.report.sections.record import section
from agreement_pipeline.text import PERCENT, SENTENCE, in_words, number

N_ROUNDS = 60
TAKEN = (
    "This takes the value here for the true one, and rests on few simulated rounds. "
    "The command plan simulates more."
)
COLUMNS = ("measure", "value here", "cut-off", "items that decide", "decides", "note")


@section("Items needed", "How many items would have decided?", place=75)
def power(judged: JudgedRound) -> Answer | None:
    """The share of rounds like this one that would be admitted, by the number of items."""
    try:
        found = plan(judged.policy, judged.ratings, n_rounds=N_ROUNDS, where=judged.name)
    except AgreementError as why:
        return Answer((f"This cannot be said. {why}",))
    return Answer(
        (*(_said(judged, each) for each in found), *_cautions(judged.policy)),
        tuple(_figure(judged, found)),
        (grid("Items that would decide", COLUMNS, [_row(each) for each in found], "rules"),),
    )


def _said(judged: JudgedRound, found: Plan) -> str:
    title = title_of(found.measure)
    if found.n_items is None:
        return f"{title}: too few rounds like this one would decide, since {found.impossible}."
    share = in_words(found.probability, PERCENT)
    return (
        f"{title}: about {found.n_items:,} items decide in {share} of rounds like this one. "
        f"This round has {_used(judged, found.measure):,} that the measure can use."
    )


def _cautions(policy: Policy) -> tuple[str, ...]:
    """What a plan from this round takes for granted, and what a second look at it costs."""
    cost = unplanned_look(policy)
    return (TAKEN, cost) if cost else (TAKEN,)


def _used(judged: JudgedRound, measure: str) -> int:
    """The items on which a measure of the round is read."""
    estimates = judged.assessment.estimates
    mine = [each.n_used for each in estimates if each.measure == measure]
    return mine[0] if mine else judged.n_items


def _figure(judged: JudgedRound, plans: Sequence[Plan]) -> list[Figure]:
    series = tuple(
        Series(
            title_of(found.measure),
            tuple(Mark("", share, across=math.log10(n_items)) for n_items, share in found.curve),
        )
        for found in plans
        if found.curve
    )
    if not series:
        return []
    return [
        Figure(
            "lines",
            "What number of items would have decided",
            "Each point is a simulation of rounds like this one: "
            "the share of them whose lower limit reaches the cut-off.",
            series,
            axis="share of rounds that decide",
            other_axis="items",
            cutoffs=((plans[0].probability, f"{plans[0].probability:.0%}"),),
            bounds=(0.0, 1.0),
            by_powers=True,
        )
    ]


def _row(found: Plan) -> Row:
    needed = "" if found.n_items is None else f"{found.n_items:,}"
    return [
        title_of(found.measure),
        Cell(number(found.expected, SENTENCE), found.expected),
        Cell(f"{found.reliable:g}", found.reliable),
        Cell(needed or "none would do", found.n_items),
        Cell(number(found.decided, PERCENT), found.decided),
        found.impossible or "",
    ]
