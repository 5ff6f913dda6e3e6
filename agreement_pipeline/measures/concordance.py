"""Lin's concordance correlation: whether raters give the same numbers.

Correlation asks whether ratings lie on a line. Concordance asks whether they lie on the line of
equal ratings. It falls when one rater is always higher than another, or spreads their ratings more.
Correlation does not see this.
"""

import numpy as np

from agreement_pipeline.measures._numbers import crossed_unit_free
from agreement_pipeline.measures.coefficient import Coefficient, ratio
from agreement_pipeline.measures.conditions import NO_CROSSED_ITEM, ONE_CROSSED_NUMBER, ONE_RATER
from agreement_pipeline.measures.icc import NUMBERS, TWO_WAY
from agreement_pipeline.measures.registry import register
from agreement_pipeline.statistics import NumbersByRater


@register(
    "Lin's concordance correlation",
    question="inter-rater",
    needs="values",
    bounds=(-1.0, 1.0),
    undefined=(ONE_RATER, NO_CROSSED_ITEM, ONE_CROSSED_NUMBER),
    levels=NUMBERS,
    crossed=True,
    convention=TWO_WAY,
    source="Lin, L. I.-K. (1989), doi:10.2307/2532051; more than two raters after "
    "Barnhart, H. X., Haber, M. & Song, J. (2002), doi:10.1111/j.0006-341X.2002.01020.x",
)
def lin_ccc(values: NumbersByRater) -> Coefficient:
    r"""How near ratings lie to the line on which two raters give the same number, over all pairs.

    .. math:: \rho_c = \frac{2 \sum_{s<t} \sigma_{st}}{\sum_{s<t} \left( \sigma_s^2 + \sigma_t^2 +
       (\mu_s - \mu_t)^2 \right)}

    The means, variances and covariances are those of the raters' numbers over items. They are
    divided by n as Lin does. For more than two raters, this is the overall coefficient of Barnhart,
    Haber and Song. It equals King and Chinchilli's coefficient under squared distance. In one
    dimension it also equals `janson_olsson_iota`. On a single item the covariance is 0, and so is
    the coefficient.

    Examples
    --------
    >>> from agreement_pipeline import Scale
    >>> values = NumbersByRater([[1, 2], [2, 3], [3, 4]], scale=Scale(None, "interval"),
    ...                       raters=("a", "b"))
    >>> round(float(lin_ccc(values).value), 4)
    0.5714
    """
    z, w, unit = crossed_unit_free(values)
    z, n, r = z[:, :, 0], w.sum(-1)[..., None], np.float64(z.shape[1])
    mu = ratio(w @ z, n)
    variances = (ratio(w @ z**2, n) - mu**2).sum(-1)
    twice_covariances = ratio(w @ z.sum(1) ** 2, n[..., 0]) - mu.sum(-1) ** 2 - variances
    apart = (r - 1) * variances + r * (mu**2).sum(-1) - mu.sum(-1) ** 2
    pairs = unit * unit / (r * (r - 1) / 2) if r > 1 else np.nan
    return Coefficient(
        ratio(twice_covariances, apart),
        observed=(apart - twice_covariances) * pairs,
        expected=apart * pairs,
    )
