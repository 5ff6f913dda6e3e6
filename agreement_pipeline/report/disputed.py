"""The items on which the panel agrees least, and each item's share of all disagreement."""

from dataclasses import replace

import numpy as np
import pandas as pd

from agreement_pipeline.engines import engine_for
from agreement_pipeline.estimates import MOST_SHOWN
from agreement_pipeline.measures import disagreement_of_items
from agreement_pipeline.ratings import RESOLUTIONS, PanelLabels, Ratings
from agreement_pipeline.report.section import Section
from agreement_pipeline.text import number

MOST = 50
NUMBERS = ("disagreement", "share", "entropy_bits")


def disputed(ratings: Ratings) -> Section:
    """How many items are disputed, how many of them are ties, and the most disputed ones."""
    rows = _disagreeing(ratings)
    ties = int((rows["resolution"] == "tie").sum()) if "resolution" in rows else None
    shown = _with_labels(ratings, rows.head(MOST))
    raters = [name for name in ratings.raters if name in shown]
    return {
        "disputed_items": len(rows),
        "ties": ties,
        "raters_left_out": None
        if len(raters) <= MOST_SHOWN
        else f"the labels of {MOST_SHOWN} of {len(raters)} raters are shown",
        "most_disputed": _in_words(shown.drop(columns=raters[MOST_SHOWN:])),
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
    return _with_labels(ratings, _disagreeing(ratings))


def _disagreeing(ratings: Ratings) -> pd.DataFrame:
    """The columns of `disputed_rows` but for those of the raters."""
    items, table = engine_for(ratings).by_item(ratings)
    disagreement = disagreement_of_items(table)
    order = np.argsort(-disagreement, kind="stable")
    order = order[: np.count_nonzero(disagreement > 0)]
    found = {
        "id": pd.Index(items, dtype="str")[order],
        "disagreement": disagreement[order],
        "share": disagreement[order] / (disagreement.sum() or np.nan),
    }
    if not ratings.scale.continuous:
        labels = PanelLabels.of(ratings).take(order)
        found["resolution"] = np.array(RESOLUTIONS, dtype=object)[labels.resolution]
        found["entropy_bits"] = labels.entropy_bits
    return pd.DataFrame(found)


def _with_labels(ratings: Ratings, rows: pd.DataFrame) -> pd.DataFrame:
    """The rows with a column for each rater, and the label that the rater gave."""
    item = ratings.table["item"].cat
    wanted = item.categories.isin(rows["id"])[item.codes]
    some = replace(ratings, table=ratings.table[wanted].reset_index(drop=True))
    said = engine_for(ratings).said(some).reindex(rows["id"])
    labels = {name: said[name].to_numpy() if name in said else np.nan for name in ratings.raters}
    return pd.concat([rows, pd.DataFrame(labels, index=rows.index)], axis=1)
