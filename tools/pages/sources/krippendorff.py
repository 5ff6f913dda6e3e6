"""Krippendorff (1995 to 2019): alphas of continua in which raters mark units."""

from collections.abc import Mapping, Sequence

from agreement_pipeline.counting import OfRatings
from agreement_pipeline.measures import MEASURES, unitizing_alpha, unitizing_alphas
from agreement_pipeline.ratings import Ratings
from agreement_pipeline.units import Marked, Span, UnitSettings, units_of
from tools.pages.sources._figure import Figure, Source, parts

Unit = tuple[int, int, str]
"""Start, length and category."""
TOKENS: dict[str, tuple[Sequence[tuple[int, int]], Sequence[tuple[int, int]]]] = {
    "A": ([(2, 8), (14, 6)], [(4, 4), (15, 2)]),
    "B": ([(0, 18)], [(0, 2), (2, 1), (3, 1), (4, 1), (5, 1), (6, 3), (9, 1)]),
    "C": ([(2, 6), (10, 2), (14, 4), (20, 2)], [(0, 2), (4, 4), (10, 4), (16, 2), (20, 2)]),
    "D": (
        [(0, 2), (2, 8), (10, 4), (14, 6), (20, 4)],
        [(0, 4), (4, 4), (8, 7), (15, 2), (17, 7)],
    ),
}
STUDY = {
    "i": [(75, 70, "c"), (220, 30, "c"), (30, 60, "k"), (150, 50, "k")],
    "j": [(70, 80, "c"), (205, 20, "c"), (250, 20, "c"), (30, 60, "k"), (150, 50, "k")],
}
FIGURES_2016 = {
    "Alex": [(2, 3, "1"), (9, 2, "1"), (12, 8, "2")],
    "Paul": [(2, 3, "1"), (7, 8, "2")],
    "Susan": [(2, 3, "1"), (10, 5, "2")],
}
FIGURE_12_11 = {
    "Alex": [(0, 7, "1"), (7, 6, "2"), (30, 2, "5"), (32, 5, "6"), (37, 7, "6"), (44, 16, "7")],
    "Paul": [(0, 7, "1"), (7, 6, "3"), (13, 8, "5"), (32, 12, "6")],
    "Suzan": [(0, 7, "1"), (7, 6, "4"), (13, 8, "5"), (32, 5, "6"), (37, 4, "6"), (41, 3, "6")],
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
    printed = {"A": "0.03125", "B": "2.26736", "C": "0.02777", "D": "0.38715"}
    cut = {"C": ("cutting the digits off instead of rounding them", 0.02777)}
    of_tokens = (
        ("A", "cohen_kappa", "0.385"),
        ("A", "scott_pi", "0.314"),
        ("C", "cohen_kappa", "0.314"),
        ("C", "scott_pi", "0.314"),
    )
    return (
        *(
            Figure(
                "page 57",
                f"observed disagreement of example {name}",
                figure,
                parts(unitizing_alpha(_tokens(name)))["observed"],
                slip=cut.get(name),
            )
            for name, figure in printed.items()
        ),
        *(
            Figure(
                "tests of dkpro-statistics",
                f"`{name}` of the 24 tokens of example {example}",
                figure,
                float(MEASURES[name](_statistic(example, name)).value),
            )
            for example, name, figure in of_tokens
        ),
    )


def _statistic(example: str, name: str) -> object:
    labels = OfRatings().labels(_positions(example))
    return labels.counts() if MEASURES[name].needs == "counts" else labels


def _of_2004() -> tuple[Figure, ...]:
    marked, where = _marked(STUDY, 300), "page 254, and tests of dkpro-statistics"
    c, k, both = (unitizing_alpha(marked, name) for name in ("c", "k", None))
    rounded = 1 - (0.0144 + 0) / (0.0532 + 0.0490)
    return (
        Figure(where, "category c: D_o", "0.0144", parts(c)["observed"]),
        Figure(where, "category c: D_e", "0.0532", parts(c)["expected"]),
        Figure(where, "category c: α", "0.7286", float(c.value)),
        Figure(where, "category k: D_e", "0.0490", parts(k)["expected"]),
        Figure(where, "category k: α", "1.0", float(k.value)),
        Figure(
            where,
            "both categories: α",
            "0.8591",
            float(both.value),
            slip=("taking the rounded disagreements", rounded),
        ),
    )


def _of_2016() -> tuple[Figure, ...]:
    found = unitizing_alphas(_marked(FIGURES_2016, 20))
    printed = {
        "uα": ("0.474", found.nominal),
        "uα, binary": ("0.433", found.binary),
        "cuα": ("0.779", found.coding),
        "(1)uα": ("0.769", found.by_category["1"]),
        "(2)uα": ("0.787", found.by_category["2"]),
    }
    return tuple(
        Figure("README of lindanna/unitized_alpha", name, figure, float(ours.value))
        for name, (figure, ours) in printed.items()
    )


def _of_2019() -> tuple[Figure, ...]:
    found, where = unitizing_alphas(_marked(FIGURE_12_11, 60)), "figure 12.11"
    return (
        Figure(where, "uα", "0.510", float(found.nominal.value)),
        Figure(
            where,
            "uα, binary",
            "0.413",
            float(found.binary.value),
            slip=("cutting the digits off instead of rounding them", 0.413),
        ),
        Figure(where, "cuα", "0.724", float(found.coding.value)),
        *(
            Figure(where, f"({name})uα", value, float(found.by_category[name].value))
            for name, value in {"1": "1", "2": "0", "3": "0", "4": "0", "5": "1", "6": "1"}.items()
        ),
    )


SOURCES = (
    Source(
        "Krippendorff (1995)",
        "Krippendorff, K. (1995). On the reliability of unitizing continuous data. Sociological "
        "Methodology 25, 47-76.",
        _of_1995(),
        "The units are those that the tests of dkpro-statistics have for page 57.",
    ),
    Source(
        "Krippendorff (2004)",
        "Krippendorff, K. (2004). Measuring the reliability of qualitative text analysis data. "
        "Quality & Quantity 38, 787-800. https://doi.org/10.1007/s11135-004-8107-7",
        _of_2004(),
        "The continuum is that of the tests of dkpro-statistics. It begins at 0 here.",
    ),
    Source(
        "Krippendorff, Mathet, Bouvry and Widlöcher (2016)",
        "Krippendorff, K., Mathet, Y., Bouvry, S. & Widlöcher, A. (2016). On the reliability of "
        "unitizing textual continua: Further developments. Quality & Quantity 50, 2347-2364. "
        "https://doi.org/10.1007/s11135-015-0266-1",
        _of_2016(),
        "We do not have the paper. The continuum is the example in the program of "
        "lindanna/unitized_alpha, which follows it, and its README prints these figures. For the "
        "chance of cuα, the program squares what a unit shares with each rater. Here what it "
        "shares with all of them is squared, and only that gives the printed cuα of figure 12.11.",
    ),
    Source(
        "Krippendorff (2019)",
        "Krippendorff, K. (2019). Content Analysis: An Introduction to Its Methodology (4th ed.), "
        "section 12.6. Sage.",
        _of_2019(),
        "The units and the printed figures are those that the tests of the R package quallmer "
        "have. Category 7 meets no other unit, so (7)uα has no value.",
    ),
)
