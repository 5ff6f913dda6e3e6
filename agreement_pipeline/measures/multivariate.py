"""Agreement on ratings that are vectors of numbers, in a fixed panel of raters.

A rating is a point. Disagreement is how far apart the points of one item lie. Chance is how far
apart points of different raters lie when their items are drawn anew. Berry and Mielke take the
distance of two points. Janson and Olsson take its square. Um takes the volume of a simplex, which
has as many points as a volume needs.

Distances depend on the units of the dimensions, so put the dimensions in units that compare.
Volumes do not depend on units, but they vanish where the dimensions are linearly dependent. They
also forgive a disagreement if two raters agree against a third.
"""

import numpy as np

from agreement_pipeline.measures._numbers import crossed_unit_free
from agreement_pipeline.measures._simplices import mean_distances, mean_volumes, some_volume
from agreement_pipeline.measures.coefficient import Coefficient, ratio
from agreement_pipeline.measures.conditions import NO_CROSSED_ITEM, ONE_CROSSED_NUMBER, ONE_RATER
from agreement_pipeline.measures.icc import NUMBERS, TWO_WAY
from agreement_pipeline.measures.registry import Condition, register
from agreement_pipeline.ratings import Array, Level
from agreement_pipeline.statistics import NumbersByRater

FLAT = 1e-9
VECTORS: set[Level] = {*NUMBERS, "multivariate interval"}


@register(
    "Janson and Olsson's ι",
    question="inter-rater",
    needs="values",
    bounds=(-1.0, 1.0),
    undefined=(ONE_RATER, NO_CROSSED_ITEM, ONE_CROSSED_NUMBER),
    levels=VECTORS,
    crossed=True,
    convention=TWO_WAY,
    source="Janson, H. & Olsson, U. (2001), doi:10.1177/00131640121971239",
)
def janson_olsson_iota(values: NumbersByRater) -> Coefficient:
    r"""Agreement beyond chance on vectors of numbers, by the squared distance between two ratings.

    .. math:: \iota = 1 - \frac{d_o}{d_e}, \qquad
       d_o = \frac{1}{n \binom{b}{2}} \sum_i \sum_{s<t} \lVert x_{si} - x_{ti} \rVert^2, \qquad
       d_e = \frac{1}{n^2 \binom{b}{2}} \sum_i \sum_j \sum_{s<t} \lVert x_{si} - x_{tj} \rVert^2

    There are b raters of n items. Dimensions are taken in their own units, so one with larger
    numbers counts more. In one dimension ι is `lin_ccc`. On a single item it is 0 because all of
    chance is that item.

    Examples
    --------
    >>> from agreement_pipeline import Scale
    >>> weight = [[71, 74, 76], [73, 80, 80], [86, 101, 93], [59, 62, 66], [71, 83, 77]]
    >>> height = [[166, 171, 171], [160, 170, 165], [187, 174, 185], [161, 163, 162],
    ...           [172, 182, 181]]
    >>> photos = np.stack([weight, height], axis=2)
    >>> values = NumbersByRater(photos, scale=Scale(None, "multivariate interval", dimensions=2),
    ...                       raters=("a", "b", "c"))
    >>> round(float(janson_olsson_iota(values).value), 3)
    0.755
    """
    z, w, unit = crossed_unit_free(values)
    total, b = w.sum(-1), np.asarray(float(z.shape[1]))
    squares = ratio(w @ (z**2).sum((1, 2)), total)
    means = ratio(np.tensordot(w, z, axes=1), total[..., None, None])
    together = (means.sum(-2) ** 2).sum(-1) - (means**2).sum((-2, -1))
    d_o = ratio(w @ ((z - z.mean(1, keepdims=True)) ** 2).sum((1, 2)), total * (b - 1) / 2)
    d_e = ratio((b - 1) * squares - together, b * (b - 1) / 2)
    return Coefficient(1 - ratio(d_o, d_e), observed=d_o * unit * unit, expected=d_e * unit * unit)


@register(
    "Berry and Mielke's R",
    question="inter-rater",
    needs="values",
    bounds=(-1.0, 1.0),
    undefined=(ONE_RATER, NO_CROSSED_ITEM, ONE_CROSSED_NUMBER),
    levels=VECTORS,
    crossed=True,
    expensive=True,
    convention=TWO_WAY,
    source="Berry, K. J. & Mielke, P. W. (1988), doi:10.1177/0013164488484007",
)
def berry_mielke_r(values: NumbersByRater) -> Coefficient:
    r"""Agreement beyond chance on vectors of numbers, by the distance between two ratings.

    .. math:: R = 1 - \frac{\delta}{\mu_\delta}, \qquad
       \delta = \frac{1}{n \binom{b}{2}} \sum_i \sum_{s<t} \lVert x_{si} - x_{ti} \rVert, \qquad
       \mu_\delta = \frac{1}{n^2 \binom{b}{2}} \sum_i \sum_j \sum_{s<t}
       \lVert x_{si} - x_{tj} \rVert

    There are b raters of n items. Dimensions are taken in their own units, so one with larger
    numbers counts more. On a single item R is 0 because all of chance is that item.

    In one dimension R is exact. In more dimensions it is exact up to 20,000 items by three raters.
    Time then grows with the square of n for all resamples together. Memory grows with n.

    Beyond that, :math:`\mu_\delta` comes from a million random pairs of ratings or more, always the
    same ones. `monte_carlo_error` is the standard error that they leave. That error is itself
    estimated from those pairs. It is too small where a few ratings lie far from all others.

    Examples
    --------
    >>> from agreement_pipeline import Scale
    >>> corners = [[(0, 0), (3, 4)], [(3, 4), (0, 0)], [(0, 0), (0, 0)]]
    >>> values = NumbersByRater(corners, scale=Scale(None, "multivariate interval", dimensions=2),
    ...                       raters=("a", "b"))
    >>> round(float(berry_mielke_r(values).value), 4)
    -0.5
    """
    z, w, unit = crossed_unit_free(values)
    delta, mu, error = mean_distances(z, w)
    return Coefficient(
        1 - ratio(delta, mu), observed=delta * unit, expected=mu * unit, monte_carlo_error=error
    )


def _few_raters(values: NumbersByRater) -> bool:
    return values.n_raters < values.scale.dimensions + 1


def _flat(values: NumbersByRater) -> bool:
    points, unit = _whitened(crossed_unit_free(values)[0])
    return unit == 0 or not some_volume(points)


@register(
    "Um's φ",
    question="inter-rater",
    needs="values",
    bounds=(-np.inf, 1.0),
    undefined=(
        Condition(
            "there are fewer raters than a simplex has corners (the number of dimensions plus one)",
            _few_raters,
        ),
        NO_CROSSED_ITEM,
        Condition(
            "every simplex of ratings by different raters has volume 0, "
            "for example because the dimensions are linearly dependent",
            _flat,
        ),
    ),
    levels=VECTORS,
    crossed=True,
    cannot_hold="it does not see raters who answer at random if they are fewer than the "
    "dimensions and the others agree. Use janson_olsson_iota",
    expensive=True,
    convention=TWO_WAY,
    source="Um, Y. (2004). A new agreement measure for interval multivariate observations. "
    "J. Korean Data & Information Science Society 15(1), 263-271",
)
def um_phi(values: NumbersByRater) -> Coefficient:
    r"""Agreement beyond chance on vectors of numbers, by the volume of the simplex of ratings.

    In c dimensions, up to c - 1 raters may answer at random without lowering φ if the others agree
    exactly. One whole dimension may be noise. Read φ beside `janson_olsson_iota`.

    .. math:: \phi = 1 - \frac{d_o}{d_e}, \qquad
       d_o = \frac{1}{n \binom{b}{w}} \sum_i \sum_{s_1 < \dots < s_w}
       \Delta(x_{s_1 i}, \dots, x_{s_w i}), \qquad
       d_e = \frac{1}{n^w \binom{b}{w}} \sum_{i_1} \cdots \sum_{i_w} \sum_{s_1 < \dots < s_w}
       \Delta(x_{s_1 i_1}, \dots, x_{s_w i_w})

    There are b raters of n items in c dimensions, and :math:`w = c + 1`. The volume of a simplex is
    :math:`\Delta`. In two dimensions the simplex is a triangle. In one dimension the volume is the
    distance, and φ is `berry_mielke_r`. Units do not change φ, and neither does turning or skewing
    the dimensions. Raters who differ along one line only span no volume and count as agreeing. On a
    single item φ is 0 because all of chance is that item.

    In one dimension φ is exact. In two it is exact up to about 11,000 items by three raters. In
    more it is exact up to ten million simplices. Beyond that, it comes from a million random
    simplices, always the same ones. `monte_carlo_error` is the standard error that they leave. That
    error is itself estimated from those simplices. It is too small where a few ratings far from all
    others hold most of the volume.

    There may only be few resamples. In two dimensions they are exact up to 790 items by three
    raters. In more they are exact up to 200,000 simplices. Beyond that, 200,000 random simplices
    serve all resamples.

    Examples
    --------
    >>> from agreement_pipeline import Scale
    >>> weight = [[70, 76, 73], [72, 78, 78], [85, 91, 100], [57, 64, 60], [70, 75, 80],
    ...           [66, 71, 73], [66, 70, 75]]
    >>> height = [[166, 171, 170], [160, 170, 165], [187, 174, 185], [161, 163, 162],
    ...           [172, 182, 181], [175, 179, 180], [175, 178, 180]]
    >>> men = np.stack([weight, height], axis=2)
    >>> values = NumbersByRater(men, scale=Scale(None, "multivariate interval", dimensions=2),
    ...                       raters=("a", "b", "c"))
    >>> round(float(um_phi(values).value), 3)
    0.645
    """
    z, w, unit = crossed_unit_free(values)
    points, unit = _whitened(z, unit)
    d_o, d_e, error = mean_volumes(points, w)
    return Coefficient(
        1 - ratio(d_o, d_e), observed=d_o * unit, expected=d_e * unit, monte_carlo_error=error
    )


def _whitened(z: Array, unit: float = 1.0) -> tuple[Array, float]:
    """Turn and stretch the points to variance 1 in every direction.

    The second value is the volume that 1 then stands for, or 0 if the points have no volume.
    """
    points = z.reshape(-1, z.shape[-1])
    if len(points) < points.shape[1] or not np.ptp(points, axis=0).all():
        return z * 0, 0.0
    spread = points.std(0)
    _, stretch, turn = np.linalg.svd((points - points.mean(0)) / spread, full_matrices=False)
    if stretch[-1] <= stretch[0] * FLAT:
        return z * 0, 0.0
    stretch = stretch / np.sqrt(len(points))
    return (z - points.mean(0)) / spread @ turn.T / stretch, float(np.prod(unit * spread * stretch))
