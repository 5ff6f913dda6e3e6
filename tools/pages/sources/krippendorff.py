"""Krippendorff (1995): the kappas of positions in which two raters mark units."""

from collections.abc import Mapping, Sequence

from agreement_pipeline.counting import RatingsCounting
from agreement_pipeline.measures import MEASURES
from agreement_pipeline.ratings import Ratings
from agreement_pipeline.units import Marked, Span, UnitSettings, units_of
from tools.pages.sources._figure import Figure, Source

Unit = tuple[int, int, str]
"""Start, length and category."""
TOKENS: dict[str, tuple[Sequence[tuple[int, int]], Sequence[tuple[int, int]]]] = {
    "A": ([(2, 8), (14, 6)], [(4, 4), (15, 2)]),
    "C": ([(2, 6), (10, 2), (14, 4), (20, 2)], [(0, 2), (4, 4), (10, 4), (16, 2), (20, 2)]),
}


def _marked(raters: Mapping[str, Sequence[Unit]], length: int) -> list[Marked]:
    return [
        Marked("d", rater, tuple(Span(at, at + size, name) for at, size, name in units), (length,))
        for rater, units in raters.items()
    ]


def _tokens(example: str) -> list[Marked]:
    raters = zip("ij", TOKENS[example], strict=True)
    return _marked({name: [(*unit, "unit") for unit in units] for name, units in raters}, 24)


def _positions(example: str) -> Ratings:
    return units_of(_tokens(example), UnitSettings("spans")).ratings


def _of_1995() -> tuple[Figure, ...]:
    printed = (
        ("A", "cohen_kappa", "0.385"),
        ("A", "scott_pi", "0.314"),
        ("C", "cohen_kappa", "0.314"),
        ("C", "scott_pi", "0.314"),
    )
    return tuple(
        Figure(
            "tests of dkpro-statistics",
            f"`{name}` of the 24 tokens of example {example}",
            figure,
            float(MEASURES[name](_statistic(example, name)).value),
        )
        for example, name, figure in printed
    )


def _statistic(example: str, name: str) -> object:
    labels = RatingsCounting().labels(_positions(example))
    return labels.counts() if MEASURES[name].needs == "counts" else labels


SOURCES = (
    Source(
        "Krippendorff (1995)",
        "Krippendorff, K. (1995). On the reliability of unitizing continuous data. Sociological "
        "Methodology 25, 47-76.",
        _of_1995(),
        "The units are those that the tests of dkpro-statistics have for page 57.",
    ),
)
