"""Items with their text and what was said of them."""

from collections.abc import Sequence

import numpy as np

from agreement_pipeline.report.answer import MOST_ROWS, Cell, Grid, Row, grid
from agreement_pipeline.report.judged import JudgedRound
from agreement_pipeline.statistics import CategoryCounts, NumbersByRater
from agreement_pipeline.text import PERCENT, in_words


def items_table(
    judged: JudgedRound, places: Sequence[int], caption: str, most: int = MOST_ROWS
) -> Grid:
    """A table of items: what the panel said, the share in all disagreement, and the text."""
    items, said = judged.by_item
    shares = judged.disagreement
    shown = places[:most]
    texts = judged.texts_of([items[at] for at in shown])
    rows: list[Row] = [
        [
            items[at],
            _said(said, at),
            Cell(in_words(shares[at], PERCENT), float(shares[at])),
            text,
        ]
        for at, text in zip(shown, texts, strict=True)
    ]
    columns = ("item", "labels", "share of disagreement", "text")
    return grid(caption, columns, rows, "items", most, len(places))


def _said(said: CategoryCounts | NumbersByRater, at: int) -> str:
    """What the panel said of an item: each label with its count, or all numbers."""
    if isinstance(said, CategoryCounts):
        counts = said.counts[at]
        given = sorted(np.flatnonzero(counts), key=lambda k: -counts[k])
        return ", ".join(f"{counts[k]:g} × {said.scale.names[k]}" for k in given)
    known = said.values[at][~np.isnan(said.values[at]).any(-1)]
    return ", ".join("|".join(f"{x:g}" for x in row) for row in known)
