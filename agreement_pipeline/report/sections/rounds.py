"""The rounds of a project: which were held, and why."""

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import pandas as pd

from agreement_pipeline.report.answer import MOST_ROWS, Answer, Cell, Grid, Row, grid
from agreement_pipeline.report.cells import title_of, without_numbers
from agreement_pipeline.report.course import course_figure
from agreement_pipeline.report.figure import NAMES_OF_TONES, Figure, Mark, Series
from agreement_pipeline.report.judged import JudgedProject
from agreement_pipeline.report.sections.record import section
from agreement_pipeline.text import SENTENCE, counted, in_words, interval

COLUMNS = ("round", "decision", "release", "measure", "value", "interval", "why")
MOST_NAMED = 8
One = Mapping[Hashable, Any]


@section(
    "Rounds", "Which rounds may be trained on, and why not the others?", place=10, of="project"
)
def rounds(judged: JudgedProject) -> Answer:
    """The last rounds with their decisions, each with what decided."""
    if judged.rounds.empty:
        return Answer(("The store has no round.",))
    deciding = _deciding(judged.rounds)
    rows = [_row(judged, row) for row in deciding]
    shown = rows[::-1][:MOST_ROWS]
    return Answer(
        _said(deciding),
        tables=(grid("Rounds, the last one first", COLUMNS, shown, "rounds", n=len(rows)),),
    )


def _deciding(found: pd.DataFrame) -> Sequence[One]:
    """A row for each round: of a held round the verdict that held it, else the first one."""
    order = {"unreliable": 0, "not_evaluated": 1, "inconclusive": 2, "tentative": 3}
    worst = found.assign(order=found["verdict"].map(order).fillna(4))
    worst = worst.sort_values("order", kind="stable").drop_duplicates("round")
    return worst.sort_values("round", kind="stable").to_dict("records")


def _said(deciding: Sequence[One]) -> tuple[str, ...]:
    admitted = [row for row in deciding if str(row["decision"]).startswith("admitted")]
    others = [str(row["round"]) for row in deciding if row not in admitted]
    withdrawn = [str(row["round"]) for row in deciding if row["release"] == "withdrawn"]
    first = f"{len(admitted)} of {counted(len(deciding), 'round')} may be trained on."
    return (
        first,
        *([f"Held or not judged: {_named(others)}."] if others else []),
        *([f"The release was withdrawn of {_named(withdrawn)}."] if withdrawn else []),
    )


def _named(names: list[str]) -> str:
    """The last names, and how many more there are."""
    more = len(names) - MOST_NAMED
    shown = ", ".join(names[-MOST_NAMED:])
    return shown if more <= 0 else f"{shown}, and {more} earlier ones"


def _row(judged: JudgedProject, row: One) -> Row:
    name, decision, known = str(row["round"]), str(row["decision"]), pd.notna(row["value"])
    limits: str = interval(row["low"], row["high"]) if known else ""
    return [
        Cell(name, page=judged.pages.get(name, "")),
        Cell(decision, tone=NAMES_OF_TONES.get(decision, "unknown")),
        str(row["release"]),
        title_of(row["measure"]) if row["measure"] else "",
        Cell(in_words(row["value"]), row["value"]) if known else "",
        Cell(limits, _known(row["low"])),
        without_numbers(str(row["reason"])) if row["measure"] else str(row["reason"]),
    ]


@section("Agreement over rounds", "Is agreement getting better or worse?", place=20, of="project")
def course(judged: JudgedProject) -> Answer | None:
    """The measures of the rules that can hold a release, round by round, with their limits."""
    holding = [rule for rule in judged.policy.rules if rule.effect == "hold"]
    figures = [
        figure
        for rule in {rule.measure: rule for rule in holding}.values()
        if (figure := course_figure(judged.rounds, rule))
    ]
    if not figures:
        return None
    which = "lower" if "tentative" in judged.policy.admit else "upper"
    said = f"A rule is met if the line of the round stands above its {which} cut-off."
    rest = (
        "The line is the interval. A round needs every rule that can hold a release, enough "
        "evidence for each, and the data contract."
    )
    return Answer((said, rest), tuple(figures), (_numbers(judged.rounds),))


def _known(value: float) -> float | None:
    return None if pd.isna(value) else value


def _numbers(found: pd.DataFrame) -> Grid:
    known = found[found["value"].notna()]
    rows: list[Row] = [
        [
            str(row["round"]),
            title_of(row["measure"]),
            Cell(in_words(row["value"], SENTENCE), row["value"]),
            Cell(interval(row["low"], row["high"]), row["low"]),
            str(row["verdict"]).replace("_", " "),
        ]
        for row in known.sort_values("round", kind="stable").to_dict("records")[::-1]
    ]
    columns = ("round", "measure", "value", "interval", "verdict")
    return grid("The numbers of the figures, the last round first", columns, rows, "values")


@section("Prevalence over rounds", "Do rounds hold the same categories?", place=30, of="project")
def prevalence(judged: JudgedProject) -> Answer | None:
    """The share of each category, round by round."""
    if len(judged.shares) < 2:
        return None
    used: dict[str, float] = {}
    for shares in judged.shares.values():
        for name, share in shares.items():
            used[name] = used.get(name, 0.0) + share
    names = sorted(used, key=lambda name: -used[name])[:MOST_NAMED]
    rows: list[Row] = [
        [each, *(Cell(in_words(shares.get(name, 0.0), ".1%"), shares.get(name)) for name in names)]
        for each, shares in judged.shares.items()
    ]
    said = (
        "Chance agreement depends on the shares. "
        "If they move, a change of alpha may come from the items and not from the raters."
    )
    return Answer(
        (said,),
        (_shares(judged, names),),
        (grid("Share of each category by round", ("round", *names), rows, "rounds"),),
    )


def _shares(judged: JudgedProject, names: list[str]) -> Figure:
    series = tuple(
        Series(
            name,
            tuple(
                Mark(each, shares.get(name, 0.0), across=float(place))
                for place, (each, shares) in enumerate(judged.shares.items())
            ),
        )
        for name in names
    )
    return Figure(
        "lines",
        "Share of each category by round",
        "Labels of the panel are counted, without classifiers and without gold items.",
        series,
        axis="share of labels",
        bounds=(0.0, 1.0),
    )
