"""How the agreement on units moves with the similarity or the step."""

from collections.abc import Iterator
from dataclasses import replace

from agreement_pipeline.estimates import Estimate
from agreement_pipeline.ratings import TEXT
from agreement_pipeline.report.answer import Answer, Row, grid
from agreement_pipeline.report.cells import interval_cell, title_of, value_cell
from agreement_pipeline.report.judged import JudgedRound
from agreement_pipeline.report.measured import measured
from agreement_pipeline.report.sections.record import section
from agreement_pipeline.units import Objects, at_each, objects_of

SIMILARITIES, STEPS = (0.3, 0.5, 0.7, 0.9), (1.0, 2.0, 5.0, 10.0)
MEASURES = ("krippendorff_alpha", "percent_agreement")
MOST_RATINGS = 20_000
"""The units of a larger round are not made again."""
COLUMNS = tuple(column for name in MEASURES for column in (title_of(name), "interval"))
SAYS = {
    "at_least": "Objects are matched again at each similarity, by the area of both over the area "
    "of either (of keypoints: COCO's similarity). A value that moves much says that raters mark "
    "the same things with other edges.",
    "step": "Positions are taken together by each number of steps of the round. A value that moves "
    "much says that raters mark the same things with other ends.",
}


@section("Other settings of units", "How do values move with the similarity or the step?", place=53)
def other_settings(judged: JudgedRound) -> Answer | None:
    """Agreement on the units made anew with other settings. None if there are no units."""
    if len(judged.ratings) > MOST_RATINGS:
        return None
    found = objects_of(judged.ratings)
    if found is None:
        return None
    name = "step" if found.settings.rule == "positions" else "at_least"
    values = STEPS if name == "step" else SIMILARITIES
    rows: list[Row] = [
        [
            f"{value:g}",
            *(cell for each in of_both for cell in (value_cell(each), interval_cell(each))),
        ]
        for value, of_both in _at_each(judged, found, values)
    ]
    head = "steps" if name == "step" else "similarity"
    caption = f"Agreement by {head}"
    return Answer((SAYS[name],), (), (grid(caption, (head, *COLUMNS), rows, "settings"),))


def _at_each(
    judged: JudgedRound, found: Objects, values: tuple[float, ...]
) -> Iterator[tuple[float, tuple[Estimate, ...]]]:
    scale = judged.ratings.scale
    for value, units in at_each(found.marked, found.settings, values, scale):
        clusters = units.rows["cluster"].astype(TEXT).map(found.clusters)
        moved = replace(units, rows=units.rows.assign(cluster=clusters)).ratings
        yield value, tuple(measured(moved, MEASURES, judged.policy, ["round"]))
