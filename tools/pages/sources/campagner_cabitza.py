"""Campagner and Cabitza (2020): self-agreement, and agreement less guessing."""

import numpy as np

from agreement_pipeline.measures import MEASURES
from agreement_pipeline.measures.reliability import random_choice_share
from agreement_pipeline.ratings import Scale
from agreement_pipeline.statistics import LabelsByRater, ReplicatedLabels
from tools.pages.sources._figure import Figure, Source

ABNORMAL = Scale(("no", "yes"))
REPETITIONS = 6
NOT_PUBLIC = "the labels are not public"


def self_agreement(yes: int) -> float:
    """SA of one rater who said yes that often to one image in six meetings."""
    first = LabelsByRater([[0]], scale=ABNORMAL, raters=("a",))
    return float(MEASURES["self_agreement"](_met_again([[REPETITIONS - yes, yes]], first)).value)


def least_rho(observed: float) -> float:
    """The robust ρ of two raters on balanced classes who agree that often.

    They guess as much as equation 1 can find.
    """
    agree, differ = observed / 2, (1 - observed) / 2
    first = LabelsByRater(
        [[0, 0], [0, 1], [1, 0], [1, 1]],
        [agree, differ, differ, agree],
        scale=ABNORMAL,
        raters=("a", "b"),
    )
    torn = _met_again([[6, 6], [6, 6]], first)
    return float(MEASURES["campagner_cabitza_rho_robust"](torn).value)


def _met_again(counts: list[list[int]], first: LabelsByRater) -> ReplicatedLabels:
    """Each rater's labels of the first item, which all raters met again."""
    rows = len(counts)
    return ReplicatedLabels(
        np.array(counts, dtype=float), np.zeros(rows, dtype=np.int64), np.arange(rows), first
    )


def _self_agreement() -> list[Figure]:
    possible = sorted({round(self_agreement(yes), 12) for yes in range(REPETITIONS + 1)})
    gini = 1 - (1 / 6) ** 2 - (5 / 6) ** 2
    return [
        Figure(
            "2",
            "SA of five labels against one; its Gini impurity",
            "SA coincides with the Gini impurity",
            (self_agreement(5), gini),
            why="it is one minus the Gini impurity",
            holds=abs(self_agreement(5) - gini) < 1e-12,
        ),
        Figure(
            "3",
            "SA from 6 repetitions of 2 classes: all possible values",
            "0.50, 0.56, 0.72 occur",
            tuple(possible),
            holds=len(possible) == 4,
        ),
        Figure("3, both cases", "SA: least", "0.50", possible[0]),
        Figure("3, first case", "SA: largest", "0.72", possible[2]),
        Figure("3, second case", "SA: largest", "0.56", possible[1]),
        Figure(
            "3, both cases together",
            "SA: largest, the mean of the two above",
            "0.64",
            (possible[1] + possible[2]) / 2,
        ),
        Figure("3, first case", "SA: mean", "0.58", None, why=NOT_PUBLIC),
        Figure("3, second case", "SA: mean", "0.51", None, why=NOT_PUBLIC),
        Figure(
            "3, both cases together", "SA: mean of the two printed means", "0.54", (0.58 + 0.51) / 2
        ),
    ]


def _reliability() -> list[Figure]:
    most = float(
        random_choice_share(
            np.array([[c / 12, 1 - c / 12] for c in range(13)]), np.array([0.5, 0.5])
        ).max()
    )
    least = least_rho(0.82)
    return [
        Figure("3", "Fleiss' κ", "0.63", None, why=NOT_PUBLIC),
        Figure("3", "Krippendorff's α", "0.63", None, why=NOT_PUBLIC),
        Figure(
            "4",
            "κ of two balanced classes at 0.815, the least that rounds to 0.82",
            "0.63",
            (0.815 - 0.5) / (1 - 0.5),
            why="the classes are near balance, as the text says",
        ),
        Figure(
            "4",
            "mean GAE at ρ = 0.63, observed agreement being 0.82",
            "0.75",
            0.63 / 0.82,
            why="the text says *around* 0.75; ρ is observed agreement × mean GAE",
        ),
        Figure(
            "4",
            "the largest x from 12 repetitions of 2 balanced classes",
            "0.5",
            most,
            why="the text says that x was near to 0.5. Equation 1 gives at most a third",
        ),
        Figure(
            "3",
            "ρ: the least that raters who agree on 0.82 of two balanced classes can have",
            "0.46",
            least,
            why=f"{NOT_PUBLIC}. The robust form cannot be lower than this",
        ),
        Figure(
            "4",
            "ρ at perfect self-agreement",
            "0.82",
            None,
            why=f"{NOT_PUBLIC}. By definition, ρ is then the observed agreement",
        ),
    ]


SOURCE = Source(
    "Campagner and Cabitza (2020)",
    "Campagner, A. & Cabitza, F. (2020). Introducing new measures of inter- and intra-rater "
    "agreement to assess the reliability of medical ground truth. Studies in Health Technology and "
    "Informatics 270. https://doi.org/10.3233/SHTI200167",
    (*_self_agreement(), *_reliability()),
    note="The labels of the 13 radiologists of MRNet are not public.",
)
