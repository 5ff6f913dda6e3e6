"""Tables of vectors, and the measures of them."""

import numpy as np

from agreement_pipeline import Scale
from agreement_pipeline.measures import MEASURES
from agreement_pipeline.statistics import NumbersByRater

um_phi, berry_mielke_r, janson_olsson_iota = (
    MEASURES[name] for name in ("um_phi", "berry_mielke_r", "janson_olsson_iota")
)


def vectors(table, weights=None):
    table = np.asarray(table, dtype=float)
    dimensions = table.shape[2]
    scale = (
        Scale(None, "interval")
        if dimensions == 1
        else Scale(None, "multivariate interval", dimensions=dimensions)
    )
    return NumbersByRater(table, weights, scale=scale, raters=range(table.shape[1]))


def random_table(rng, items, raters, dimensions, *, ties=False):
    table = rng.normal(size=(items, 1, dimensions)) + 0.6 * rng.normal(
        size=(items, raters, dimensions)
    )
    return np.round(table) if ties else table
