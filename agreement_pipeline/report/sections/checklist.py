"""What a report on agreement must state, after Klie, Eckart de Castilho and Gurevych (2024)."""

import numpy as np

from agreement_pipeline.report.answer import Answer, Cell, Row, grid
from agreement_pipeline.report.cells import title_of
from agreement_pipeline.report.figure import Tone
from agreement_pipeline.report.judged import JudgedRound
from agreement_pipeline.report.sections.record import section
from agreement_pipeline.statistics import CategoryCounts
from agreement_pipeline.text import PERCENT, counted, in_words

SOURCE = "Klie, Eckart de Castilho and Gurevych (2024), Computational Linguistics 50(3)."
STATED, MISSING = "stated", "the team must say"
Point = tuple[str, bool, str]


@section("Checklist", "Does this report state what a report on agreement must?", place=95)
def checklist(judged: JudgedRound) -> Answer:
    """Each point that reports on datasets often leave out, and what this one says to it."""
    points = [*_told(judged), *_asked(judged)]
    open_points = [what for what, told, _ in points if not told]
    said = f"{len(points) - len(open_points)} of {len(points)} points are stated here."
    rest = f" The ratings do not show the others: {'; '.join(open_points)}." if open_points else ""
    return Answer(
        (said + rest, f"The points are those of {SOURCE}"),
        tables=(
            grid("Points to state", ("point", "state", "what"), [_row(each) for each in points]),
        ),
    )


def _row(point: Point) -> Row:
    what, told, words = point
    tone: Tone = "good" if told else "unknown"
    return [what, Cell(STATED if told else MISSING, tone=tone), words]


def _told(judged: JudgedRound) -> list[Point]:
    policy, ratings = judged.policy, judged.ratings
    measures = ", ".join(dict.fromkeys(title_of(name) for name in policy.measures))
    level = f"{100 * policy.confidence_level:g}% intervals, by {policy.interval_method}"
    cutoffs = f"cut-offs of policy {policy.policy}, version {policy.version}"
    return [
        ("the measure, and not a percentage alone", True, measures),
        ("the level of measurement", True, ratings.scale.level),
        ("the number of items", True, counted(judged.n_items, "item")),
        ("the number of raters", True, counted(len(ratings.raters), "rater")),
        ("which items the agreement rests on", True, _overlap(judged)),
        ("the uncertainty", True, level),
        ("how to read the number", True, cutoffs),
        ("what was excluded", True, "see What was excluded"),
        ("how labels are adjudicated", True, _adjudication(judged)),
    ]


def _asked(judged: JudgedRound) -> list[Point]:
    why = judged.policy.description
    return [
        ("why these cut-offs", bool(why), why or "write a description into the policy"),
        ("how items were drawn", False, "at random, by search, or by a model?"),
        ("the version of the guideline", False, "name it, and where it can be read"),
        ("who the raters are, and how they were trained", False, "experts, crowd, or students?"),
    ]


def _overlap(judged: JudgedRound) -> str:
    _, said = judged.by_item
    sizes = said.sizes if isinstance(said, CategoryCounts) else np.asarray(said.sizes)
    share = in_words(float((sizes >= 2).mean()), PERCENT)
    return f"{share} of items have two labels or more; {sizes.mean():.1f} labels an item"


def _adjudication(judged: JudgedRound) -> str:
    if judged.ratings.scale.numeric:
        return "the mean of the raters is the label"
    return "the label that most raters gave; a tie has no label"
