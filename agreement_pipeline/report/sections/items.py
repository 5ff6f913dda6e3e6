"""The items that raters disagree on."""

from collections.abc import Sequence

import numpy as np

from agreement_pipeline.report.figure import bars_of_shares
from agreement_pipeline.report.judged import JudgedRound
from agreement_pipeline.report.section import MOST_ROWS, Answer, Grid, Row, grid, section, share
from agreement_pipeline.statistics import CategoryCounts, NumbersByRater
from agreement_pipeline.text import PERCENT, counted, in_words

FEW, MANY = 0.05, 0.25
SHARES = (0.01, 0.05, 0.1, 0.25, 0.5)


@section("Items", "On which items do raters disagree?", place=50)
def items(judged: JudgedRound) -> Answer:
    """How disagreement is spread over the items, and the most disputed items with their text."""
    places, n = judged.most_disputed, judged.ratings.n_items
    if not places:
        return Answer(("No item has two different labels.",))
    part = in_words(len(places) / n, PERCENT)
    held = np.cumsum(np.sort(judged.disagreement)[::-1])
    half = int(np.searchsorted(held, 0.5)) + 1
    where = ""
    if half <= FEW * n:
        where = " It is held by few items: discuss these."
    elif half >= MANY * n:
        where = " It is spread over the items: look at the guideline and at the raters."
    shares = (
        (f"the most disputed {each:.0%} of items", float(held[max(1, round(each * len(held))) - 1]))
        for each in SHARES
    )
    figure = bars_of_shares(
        "How much of the disagreement few items hold",
        "Long upper bars: few items hold the disagreement. "
        "Short upper bars: it is spread over all items.",
        shares,
        "share of all disagreement",
    )
    table = items_table(judged, places, "The items with the largest share of all disagreement")
    return Answer(
        (
            f"Raters differ on {counted(len(places), 'item')} of {n:,} ({part}).",
            f"Half of all disagreement comes from {counted(half, 'item')} "
            f"({in_words(half / n, PERCENT)} of all).{where}",
        ),
        (figure,),
        (table,),
    )


def items_table(
    judged: JudgedRound, places: Sequence[int], caption: str, most: int = MOST_ROWS
) -> Grid:
    """A table of items: what the panel said, the share in all disagreement, and the text."""
    items, said = judged.by_item
    shown = places[:most]
    texts = judged.texts_of([items[at] for at in shown])
    rows: list[Row] = [
        [items[at], _said(said, at), share(judged.disagreement[at]), text]
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
