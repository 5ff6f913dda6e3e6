"""The items on which the panel agrees least, and each item's share of all disagreement."""

import numpy as np
import pandas as pd

from agreement_pipeline.engines import engine_for
from agreement_pipeline.estimates import MOST_SHOWN
from agreement_pipeline.measures import disagreement_of_items
from agreement_pipeline.ratings import Ratings, consensus
from agreement_pipeline.report.section import Section
from agreement_pipeline.text import number

MOST = 50
NUMBERS = ("disagreement", "share", "entropy_bits")


def disputed(ratings: Ratings) -> Section:
    """How many items are disputed, how many of them are ties, and the most disputed ones."""
    rows = disputed_rows(ratings)
    ties = int((rows["resolution"] == "tie").sum()) if "resolution" in rows else None
    raters = [name for name in ratings.raters if name in rows]
    return {
        "disputed_items": len(rows),
        "ties": ties,
        "raters_left_out": None
        if len(raters) <= MOST_SHOWN
        else f"the labels of {MOST_SHOWN} of {len(raters)} raters are shown",
        "most_disputed": _in_words(rows.head(MOST).drop(columns=raters[MOST_SHOWN:])),
    }


def _in_words(rows: pd.DataFrame) -> pd.DataFrame:
    numbers = {name: rows[name].map(number) for name in NUMBERS if name in rows}
    text = rows.astype(object).assign(**numbers)
    return text.where(rows.notna(), "")


def disputed_rows(ratings: Ratings) -> pd.DataFrame:
    """The items whose raters differ, the most disagreement first. Gold items are left out.

    Parameters
    ----------
    ratings
        The ratings of a round, on any scale.

    Returns
    -------
    pandas.DataFrame
        Columns

        - `id`;
        - `disagreement`: the item's part of the observed disagreement D_o of Krippendorff's α, at
          the level of the scale;
        - `share`: that part as a share of D_o. The shares of all items add up to 1;
        - `resolution` and `entropy_bits`, if the scale has categories: those of `consensus`;
        - a column for each rater, with the rater's label.
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
