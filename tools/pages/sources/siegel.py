"""Siegel (2018): agreement category by category."""

from agreement_pipeline.measures import MEASURES
from agreement_pipeline.ratings import Scale
from agreement_pipeline.statistics import CategoryCounts, LabelsByRater
from tools.pages.sources._figure import Figure, Source

SANDWICH = Scale(("does not contain", "contains"))
TABLE = {(0, 0): 400, (1, 0): 90, (0, 1): 60, (1, 1): 450}  # annotator A, annotator B


def images() -> CategoryCounts:
    """A thousand images by two annotators."""
    return LabelsByRater(
        list(TABLE), list(TABLE.values()), scale=SANDWICH, raters=("A", "B")
    ).counts()


def _figures() -> tuple[Figure, ...]:
    neither, contains = (float(value) for value in MEASURES["category_agreement"](images()).value)
    dice = tuple(float(value) for value in MEASURES["specific_agreement"](images()).value)
    swapped = "taking the other category (the text exchanges the names)"
    where = "Calculations, example"
    return (
        Figure(
            "Table of the two annotators",
            "observed agreement",
            "0.85",
            float(MEASURES["percent_agreement"](images()).value),
        ),
        Figure(where, "R_0", "0.73", neither, why="category 0 is *does not contain a sandwich*"),
        Figure(where, "R_1", "0.75", contains, why="category 1 is *contains a sandwich*"),
        Figure(
            where,
            "rate of agreement on *contains a sandwich*",
            "0.73",
            contains,
            slip=(swapped, neither),
        ),
        Figure(
            where,
            "rate of agreement on *does not contain a sandwich*",
            "0.75",
            neither,
            slip=(swapped, contains),
        ),
        Figure(
            "Calculations",
            "Uebersax's proportions of specific agreement on the same images",
            "these definitions do not agree precisely with those of Uebersax",
            dice,
            why="R_j is Jaccard's share (`category_agreement`), and Uebersax's proportion is "
            "Dice's (`specific_agreement`)",
            holds=dice != (neither, contains),
        ),
    )


SOURCE = Source(
    "Siegel (2018)",
    "Siegel, P. (2018). Annotator agreement in machine learning experiments.",
    _figures(),
)
