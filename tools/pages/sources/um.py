"""Um (2004): agreement on vectors of numbers by the volume of simplices."""

import numpy as np

from agreement_pipeline.measures import MEASURES
from agreement_pipeline.ratings import Array, Scale
from agreement_pipeline.statistics import NumbersByRater
from tools.pages.sources._figure import Figure, Source, parts

PLANE = Scale(None, "multivariate interval", dimensions=2)
OBSERVERS = ("1", "2", "3")
TABLE_2 = np.array(  # seven men's weight and height, item by observer by dimension
    [
        [(70, 166), (76, 171), (73, 170)],
        [(72, 160), (78, 170), (78, 165)],
        [(85, 187), (91, 174), (100, 185)],
        [(57, 161), (64, 163), (60, 162)],
        [(70, 172), (75, 182), (80, 181)],
        [(66, 175), (71, 179), (73, 180)],
        [(66, 175), (70, 178), (75, 180)],
    ],
    dtype=float,
)
TABLE_3 = np.array(  # eight children's positive and negative attitude
    [
        [(26, 14), (24, 16), (25, 15)],
        [(33, 7), (25, 15), (35, 15)],
        [(17, 23), (16, 24), (15, 25)],
        [(37, 3), (38, 2), (39, 1)],
        [(33, 7), (35, 5), (36, 4)],
        [(4, 36), (3, 37), (5, 35)],
        [(39, 1), (40, 0), (38, 2)],
        [(1, 39), (2, 38), (0, 40)],
    ],
    dtype=float,
)
FIGURE_1 = np.array([(65, 170), (70, 175), (75, 178), (80, 182), (85, 187)], dtype=float)


def of(name: str, table: Array) -> dict[str, float]:
    """A measure of vectors and its parts; the table has shape (items, observers, dimensions)."""
    return parts(MEASURES[name](NumbersByRater(table, scale=PLANE, raters=OBSERVERS)))


def figure_1(m: int) -> Array:
    """Section 4: observer 2 adds a difference to the weight, and observer 3 to the height.

    The difference is 3 on the first m of five objects, and 1 on the others.
    """
    apart = np.where(np.arange(len(FIGURE_1)) < m, 3.0, 1.0)[:, None]
    return np.stack([FIGURE_1, FIGURE_1 + apart * [1, 0], FIGURE_1 + apart * [0, 1]], axis=1)


def _compared() -> list[Figure]:
    phi, r = (
        [of(name, figure_1(m))["value"] for m in range(6)] for name in ("um_phi", "berry_mielke_r")
    )
    apart = np.abs(np.subtract(phi, r))
    where = "4, figure 1(a)"
    return [
        Figure(
            where,
            "φ at m = 0 … 5",
            "φ steadily decreases",
            tuple(phi),
            holds=bool((np.diff(phi) < 0).all()),
        ),
        Figure(
            where,
            "R at m = 0 … 5",
            "R increases when the disagreement increases to m = 1",
            tuple(r),
            why="R falls at every step, as φ does",
            holds=r[1] > r[0],
        ),
        Figure(
            where,
            "φ - R at m = 0 … 5",
            "φ and R are similar at m = 3",
            tuple(np.subtract(phi, r)),
            why="φ and R are nearest at m = 1",
            holds=int(apart.argmin()) == 3,
        ),
        Figure(
            where,
            "fall of φ, of R from m = 3 to 5",
            "R reflects large disagreement better (m = 4 and 5)",
            (phi[3] - phi[5], r[3] - r[5]),
            why="R falls further there",
            holds=phi[3] - phi[5] < r[3] - r[5],
        ),
    ]


def _tables() -> list[Figure]:
    men, children = of("um_phi", TABLE_2), of("um_phi", TABLE_3)
    without = "leaving out the 1/2! of equation 5"
    on_a_line = TABLE_3.copy()
    on_a_line[1, 2, 1] = 5
    why = MEASURES["um_phi"].why_undefined(NumbersByRater(on_a_line, scale=PLANE, raters=OBSERVERS))
    units = [of("um_phi", table)["value"] for table in (TABLE_2, TABLE_2 * [0.45359237, 1 / 2.54])]
    return [
        Figure(
            "5, table 2",
            "d_0",
            "41.143",
            men["observed"],
            slip=(without, 2 * men["observed"]),
            why="It cancels in φ.",
        ),
        Figure(
            "5, table 2", "d_e", "115.960", men["expected"], slip=(without, 2 * men["expected"])
        ),
        Figure("5, table 2", "φ", "0.645", men["value"]),
        Figure(
            "5, table 3",
            "φ",
            "0.859",
            children["value"],
            why=f"d_0 is {children['observed']:.5g}, and d_e is {children['expected']:.5g}. All "
            "ratings but one sum to 40. With (35, 5) instead of (35, 15) of observer 3 on child 2, "
            f"φ would have no value: {why}. "
            f"Berry and Mielke's R is {of('berry_mielke_r', TABLE_3)['value']:.5f}",
        ),
        Figure(
            "3, after equation 9",
            "φ of table 2, and in other units of weight and height",
            "φ is independent of the units of variables",
            (units[0], units[1]),
            holds=abs(units[0] - units[1]) < 1e-12,
        ),
    ]


SOURCE = Source(
    "Um (2004)",
    "Um, Y. (2004). A new agreement measure for interval multivariate observations. Journal of the "
    "Korean Data & Information Science Society 15(1), 263-271.",
    (*_compared(), *_tables()),
    note="Figure 1 has curves without numbers. The text gives the data of panel (a) only.",
)
