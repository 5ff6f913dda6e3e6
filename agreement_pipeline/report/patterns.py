"""The distinct rows of ratings: all that agreement between raters depends on."""

import pandas as pd

from agreement_pipeline.engines import engine_for
from agreement_pipeline.ratings import Ratings
from agreement_pipeline.report.section import Section


def patterns(ratings: Ratings) -> Section:
    """How many patterns a round has, and the most common ones.

    A pattern by rater is a row of labels, one for each rater. A pattern by category is the number
    of raters in each category.
    """
    by_rater = engine_for(ratings).labels(ratings)
    by_category = by_rater.with_scale(ratings.scale).counts().merged()
    names = list(by_category.scale.names)
    rows = pd.DataFrame(by_category.counts.astype(int), columns=names).assign(
        items=by_category.weights.astype(int)
    )
    return {
        "items": ratings.n_items,
        "pairable_items": int(by_category.weights[by_category.pairable].sum()),
        "ratings": by_rater.n_ratings,
        "patterns_by_rater": len(by_rater.codes),
        "patterns_by_category": len(by_category.counts),
        "most_common": rows.sort_values("items", ascending=False),
    }
