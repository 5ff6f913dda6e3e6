"""Classifiers beside the human raters."""

from collections.abc import Sequence

import pandas as pd

from agreement_pipeline.estimates import Estimate, values_of
from agreement_pipeline.report.answer import Answer, Row, grid
from agreement_pipeline.report.cells import interval_cell, title_of, value_cell
from agreement_pipeline.report.figure import Figure, Mark, Series
from agreement_pipeline.report.judged import JudgedRound
from agreement_pipeline.report.sections.record import section
from agreement_pipeline.report.standing_in import compared_by, standing_in
from agreement_pipeline.text import SENTENCE, listed, number

KEPT = ["classifier", "place", "winning rate", "alternative-annotator test"]
COLUMNS = ("classifier", "agreement", "interval", *KEPT[1:])

TOLD = {"among the raters": ", as far as these items can tell"}


@section("Classifiers", "Do classifiers agree with the raters as raters do?", place=60)
def classifiers(judged: JudgedRound) -> Answer | None:
    """Each classifier's agreement with the panel, inside or outside the band of the raters."""
    table = standing_in(judged.ratings, judged.policy)
    measure = compared_by(judged.ratings.scale)
    if table is None or measure is None:
        return None
    found = judged.measured([measure], "classifier")
    said = tuple(
        f"{row.classifier} is {row.place}{TOLD.get(str(row.place), '')}."
        for row in table.itertuples()
        if str(row.place)
    )
    return Answer(
        said or (f"The place of {listed(table['classifier'])} cannot be told.",),
        tuple(_figures(judged, measure, found)),
        (grid("Classifiers beside the raters", COLUMNS, _rows(table, found), "classifiers"),),
    )


def _rows(table: pd.DataFrame, found: Sequence[Estimate]) -> list[Row]:
    by_name = {each.scope.name: each for each in found}
    return [
        [name, value_cell(by_name.get(name)), interval_cell(by_name.get(name)), *map(str, rest)]
        for name, *rest in table[KEPT].itertuples(index=False)
    ]


def _figures(judged: JudgedRound, measure: str, found: Sequence[Estimate]) -> list[Figure]:
    band = sorted(values_of(judged.ratings, measure, "rater").values())
    if not band or not found:
        return []
    lowest, highest = (number(each, SENTENCE) for each in (band[0], band[-1]))
    return [
        Figure(
            "intervals",
            "Classifiers inside the band of the raters",
            f"The strokes are the lowest ({lowest}) and the highest ({highest}) of the raters. "
            "A line between them is a model that agrees with the panel as a rater does.",
            (
                Series(
                    "classifiers",
                    tuple(Mark(each.scope.name, each.value, each.low, each.high) for each in found),
                ),
            ),
            axis=title_of(measure),
            cutoffs=((band[0], "lowest rater"), (band[-1], "highest rater")),
        )
    ]
