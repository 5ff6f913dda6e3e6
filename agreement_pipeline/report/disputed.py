"""The items on which the panel agrees least, and each item's share of all disagreement."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from agreement_pipeline.counting import counting_of
from agreement_pipeline.measures import disagreement_of_items
from agreement_pipeline.ratings import RESOLUTIONS, TEXT, PanelLabels, Ratings
from agreement_pipeline.report.differing import differing_raters
from agreement_pipeline.report.section import Section
from agreement_pipeline.report.texts import cut, texts_of
from agreement_pipeline.text import PERCENT, number

MOST, MOST_NAMED, LONGEST_TEXT = 40, 5, 200


def disputed(ratings: Ratings) -> Section:
    """Who differs most from the others, and the most disputed items with what was said of each.

    Before them: how many items are disputed, and how many of them are ties.
    """
    rows = _disagreeing(ratings)
    ties = int((rows["resolution"] == "tie").sum()) if "resolution" in rows else None
    return {
        "disputed_items": len(rows),
        "ties": ties,
        "raters_who_differ": differing_raters(ratings),
        "most_disputed": _in_words(ratings, rows.head(MOST)),
    }


def _in_words(ratings: Ratings, rows: pd.DataFrame) -> pd.DataFrame:
    """The items with their text, what the raters said, and the share of all disagreement."""
    shown = _with_labels(ratings, rows)
    texts = texts_of(ratings, rows["id"].tolist()).values()
    text = {"text": [cut(each, LONGEST_TEXT) for each in texts]} if "text" in ratings.has else {}
    return pd.DataFrame(
        {
            "id": rows["id"],
            **text,
            "said": [
                said({name: row[name] for name in ratings.raters})
                for row in shown.to_dict("records")
            ],
            "share": rows["share"].map(lambda share: number(share, PERCENT)),
            **({"resolution": rows["resolution"]} if "resolution" in rows else {}),
        }
    )


def said(labels: Mapping[str, Any]) -> str:
    """Each label with the raters who gave it, the most frequent first.

    >>> said({"ana": "yes", "ben": "no", "cleo": "no", "dan": None})
    'no: ben, cleo; yes: ana'
    """
    by_label: dict[str, list[str]] = {}
    for name, label in labels.items():
        if pd.notna(label):
            by_label.setdefault(str(label), []).append(name)
    most = sorted(by_label.items(), key=lambda each: (-len(each[1]), each[0]))
    return "; ".join(f"{label}: {_names(names)}" for label, names in most)


def _names(names: list[str]) -> str:
    more = len(names) - MOST_NAMED
    return ", ".join(names) if more <= 0 else f"{len(names)} raters"


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
    items, table = counting_of(ratings).by_item(ratings)
    disagreement = disagreement_of_items(table)
    order = np.argsort(-disagreement, kind="stable")
    order = order[: np.count_nonzero(disagreement > 0)]
    found = {
        "id": pd.Index(items, dtype=TEXT)[order],
        "disagreement": disagreement[order],
        "share": disagreement[order] / (disagreement.sum() or np.nan),
    }
    if not ratings.scale.continuous:
        labels = PanelLabels.of(ratings, among=found["id"].tolist())
        labels = labels.take(labels.items.get_indexer(found["id"]))
        found["resolution"] = np.array(RESOLUTIONS, dtype=object)[labels.resolution]
        found["entropy_bits"] = labels.entropy_bits
    return pd.DataFrame(found)


def _with_labels(ratings: Ratings, rows: pd.DataFrame) -> pd.DataFrame:
    """The rows with a column for each rater, and the label that the rater gave."""
    found = ratings.first(["item", "rater", "label"], items=rows["id"].tolist()).to_pydict()
    if ratings.scale.dimensions > 1:
        found["label"] = list(map(tuple, found["label"]))
    given = pd.DataFrame(found, dtype=object)
    said = given.pivot(index="item", columns="rater", values="label").reindex(rows["id"])
    labels = {name: said[name].to_numpy() if name in said else np.nan for name in ratings.raters}
    return pd.concat([rows, pd.DataFrame(labels, index=rows.index)], axis=1)
