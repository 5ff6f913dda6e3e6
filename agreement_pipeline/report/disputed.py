"""The items on which the panel agrees least, and how much of all disagreement lies in each."""

import numpy as np
import pandas as pd

from agreement_pipeline.engines import engine_for
from agreement_pipeline.measures import disagreement_of_items
from agreement_pipeline.ratings import Ratings, consensus


def disputed_rows(ratings: Ratings) -> pd.DataFrame:
    """The items whose raters differ, the most disagreement first; gold items are not among them.

    Parameters
    ----------
    ratings
        The ratings of a round, on any scale.

    Returns
    -------
    pandas.DataFrame
        Columns

        - `id`;
        - `disagreement`: what the item adds to the observed disagreement D_o of Krippendorff's α, at the scale's own level;
        - `share`: the same as a share of D_o; the shares of all items add up to 1;
        - `resolution` and `entropy_bits`, where the scale has categories: those of `consensus`;
        - a column for each rater, with what she said.
    """
    engine = engine_for(ratings)
    items, table = engine.by_item(ratings)
    disagreement = disagreement_of_items(table)
    found = pd.DataFrame(
        {
            "id": list(items),
            "disagreement": disagreement,
            "share": disagreement / (disagreement.sum() or np.nan),
        }
    )
    found = found[found["disagreement"] > 0].sort_values(
        ["disagreement", "id"], ascending=[False, True]
    )
    if not ratings.scale.continuous:
        found = found.merge(
            consensus(ratings)[["id", "resolution", "entropy_bits"]], on="id", how="left"
        )
    return found.merge(
        engine.said(ratings).reset_index(names="id"), on="id", how="left"
    ).reset_index(drop=True)
