"""measures.rst: the formulas as printed, computed on a table, beside the measures.

measures.rst is the documentation of a package for two raters.
"""

import numpy as np

from agreement_pipeline.measures import MEASURES
from agreement_pipeline.ratings import Array, Scale
from agreement_pipeline.statistics import LabelsByRater
from tools.pages.sources._figure import Figure, Source

A = np.array([[400.0, 60.0], [90.0, 450.0]])  # two annotators in Siegel (2018), A in the rows
PERFECT = np.array([[50.0, 0.0], [0.0, 50.0]])
SHOWN = "on 400, 60 / 90, 450"
LIMITS = "$1 - m/k$ where $H(X) = 0$, $1 - l/k$ where $H(Y) = 0$"
DEGENERATE = {
    "3, 7 / 0, 0": np.array([[3.0, 7], [0, 0]]),
    "3, 0 / 7, 0": np.array([[3.0, 0], [7, 0]]),
    "one cell of three by three": np.array([[0.0, 0, 0], [0, 9, 0], [0, 0, 0]]),
    "one row of three by three": np.array([[0.0, 0, 0], [5, 0, 1], [0, 0, 0]]),
    "one column of three by three": np.array([[2.0, 0, 0], [5, 0, 0], [1, 0, 0]]),
}


def value(name: str, table: Array) -> float:
    """A measure on an agreement matrix."""
    k = len(table)
    patterns = LabelsByRater(
        list(np.ndindex(k, k)),
        np.ravel(table),
        scale=Scale(tuple("abc"[:k])),
        raters=("row", "column"),
    )
    record = MEASURES[name]
    return float(record(patterns.counts() if record.needs == "counts" else patterns).value)


def _chance_corrected(p_0: float, p_e: float) -> float:
    return (p_0 - p_e) / (1 - p_e)


def _entropy(p: Array) -> float:
    p = p[p > 0]
    return float(-(p * np.log2(p)).sum())


def _printed_ia_c(table: Array) -> float:
    """The printed limits of `information_agreement_c`.

    The value is 1 - m/k where the columns' entropy is 0. It is 1 - l/k where the rows' entropy is
    0. l columns and m rows are not null.
    """
    k, columns, rows = len(table), table.sum(0), table.sum(1)
    if (columns > 0).sum() == 1:
        return float(1 - (rows > 0).sum() / k)
    return float(1 - (columns > 0).sum() / k)


def _formula(
    section: str, formula: str, name: str, as_printed: float, table: Array = A, why: str = ""
) -> Figure:
    """A formula as printed, computed on a table, beside the measure by the definition."""
    return _beside(
        section,
        f"`{name}` {SHOWN if table is A else 'on 50, 0 / 0, 50'}, {formula}",
        as_printed,
        value(name, table),
        why,
    )


def _beside(section: str, what: str, as_printed: float, ours: float, why: str = "") -> Figure:
    return Figure(
        section,
        what,
        f"{as_printed:.5f}",
        ours,
        slip=("the formula as printed", as_printed),
        why=why,
    )


def _two_raters() -> list[Figure]:
    n, rows, columns = A.sum(), A.sum(1), A.sum(0)
    p_0 = float(np.trace(A) / n)
    mean = (rows + columns) / (2 * n)
    p_i = [((row**2).sum() - 2) / 2 for row in np.array([[2, 0], [1, 1], [0, 2]])]
    p_bar = float(np.dot(p_i, [A[0, 0], A[0, 1] + A[1, 0], A[1, 1]]) / n)
    root = float(np.sqrt(A[0, 0] * A[1, 1] / (A[1, 0] * A[0, 1])))
    b = float(np.trace(PERFECT) / (PERFECT.sum(1) @ PERFECT.sum(0)))
    return [
        _formula("Bennett's S", "$(k P_0 - 1) / (k - 1)$", "bennett_s", 2 * p_0 - 1),
        _formula(
            "Bangdiwala's B",
            r"$\sum_i A_{ii} / \sum_i A_{i \cdot} A_{\cdot i}$",
            "bangdiwala_b",
            b,
            PERFECT,
            r"The numerator should be $\sum_i A_{ii}^2$. Without the square, B would fall with the "
            "number of items.",
        ),
        _formula(
            "Cohen's kappa",
            "$(P_0 - P_e) / (1 - P_e)$",
            "cohen_kappa",
            _chance_corrected(p_0, float(rows @ columns / n**2)),
        ),
        _formula(
            "Scott's pi",
            "$P_e$ the sum of the squared arithmetic means of the marginal proportions",
            "scott_pi",
            _chance_corrected(p_0, float(mean @ mean)),
        ),
        _formula(
            "Yule's Y", r"$(\sqrt{OR} - 1) / (\sqrt{OR} + 1)$", "yule_y", (root - 1) / (root + 1)
        ),
        _formula(
            "Fleiss's kappa",
            r"$\bar{P_e}$ the square sum, as the words have it",
            "fleiss_kappa",
            _chance_corrected(p_bar, float(mean @ mean)),
        ),
        _beside(
            "Fleiss's kappa",
            rf"chance {SHOWN}, $\bar{{P_e}} = \sum_j p_j$",
            float(mean.sum()),
            float(mean @ mean),
            "The square is missing in the formula, and present in the words above it.",
        ),
    ]


def _information() -> list[Figure]:
    p = A / A.sum()
    x, y, xy = _entropy(p.sum(0)), _entropy(p.sum(1)), _entropy(p)
    return [
        _formula(
            "Information agreement",
            r"$I(X, Y) / \min(H(X), H(Y))$",
            "information_agreement",
            (x + y - xy) / min(x, y),
        ),
        _beside(
            "Information agreement",
            rf"the joint distribution's sum {SHOWN}, over $\sum_i \sum_i A_{{ij}}$",
            float((A / np.trace(A)).sum()),
            float(p.sum()),
            r"It should be $\sum_i \sum_j$, since probabilities must add up to 1.",
        ),
        *(
            _beside(
                "Extension by continuity",
                f"`information_agreement_c` on {name}, {LIMITS}",
                _printed_ia_c(table),
                value("information_agreement_c", table),
            )
            for name, table in DEGENERATE.items()
        ),
    ]


SOURCE = Source(
    "measures.rst",
    "Documentation of a package of agreement measures for two raters, "
    "General notions and measures.",
    (*_two_raters(), *_information()),
    note="The source prints formulas and no figures. Each formula is computed as printed, and by "
    "the measure. Of $k$ rows and columns, $m$ and $l$ are not null.",
)
