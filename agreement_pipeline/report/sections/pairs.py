"""Raters two by two: who disagrees with whom, and on which items."""

import numpy as np

from agreement_pipeline.ratings import Array
from agreement_pipeline.report.figure import Figure, matrix
from agreement_pipeline.report.judged import JudgedRound, differ
from agreement_pipeline.report.section import (
    Answer,
    Cell,
    Detail,
    Grid,
    Row,
    grid,
    section,
    share,
    title_of,
    value_and_interval,
)
from agreement_pipeline.text import SENTENCE, counted, number

MOST_ITEMS, MOST_COMBINATIONS = 8, 10


@section("Pairs of raters", "Who disagrees with whom, and on which items?", place=45)
def pairs(judged: JudgedRound) -> Answer | None:
    """The matrix of raters, the pairs who agree least, and the items on which they differ."""
    if len(judged.raters) < 2 or not judged.pairs:
        return None
    return Answer(
        (_lowest(judged),),
        () if judged.ratings.scale.continuous else (_matrix(judged),),
        (_table(judged),),
        tuple(_detail(judged, *pair) for pair in judged.told_pairs),
    )


def _lowest(judged: JudgedRound) -> str:
    first = judged.pairs[0]
    if first.value is None:
        return "No pair of raters has a value."
    value = f"{title_of(first.measure)} {number(first.value, SENTENCE)}"
    if len(judged.pairs) == 1:
        return f"{first.scope.name} are the only pair ({value})."
    if not differ(judged.pairs):
        return f"All pairs agree alike ({value})."
    return f"The lowest agreement of a pair is {value}."


def _matrix(judged: JudgedRound) -> Figure:
    names, n = judged.raters, len(judged.raters)
    same = 1.0 - judged.apart.of_pairs[:n, :n]
    known = same[~np.isnan(same)]
    # The tenth under the lowest share, so that shades tell raters apart.
    lowest = min(0.9, np.floor(10 * known.min()) / 10) if len(known) else 0.0
    left_out = ""
    if n < len(judged.ratings.raters):
        left_out = f" The {n} raters who agree least are drawn."
    order = beside_the_alike(same)
    return matrix(
        "Share of items with the same label",
        "Raters who agree stand beside each other, so camps show as blocks. "
        f"Chance is not taken off here; the table does that.{left_out}",
        [names[i] for i in order],
        same[np.ix_(order, order)],
        "share of items with the same label",
        lowest,
    )


def beside_the_alike(same: Array) -> list[int]:
    """An order of raters in which those who agree stand beside each other.

    They are put in the order of the main component of their agreement.
    """
    known = np.where(np.isnan(same), np.nanmean(same) if (~np.isnan(same)).any() else 0.0, same)
    np.fill_diagonal(known, 1.0)
    centred = known - known.mean(0) - known.mean(1)[:, None] + known.mean()
    main = np.linalg.eigh(centred)[1][:, -1]
    main = main if main[np.argmax(np.abs(main))] > 0 else -main
    return [int(at) for at in np.argsort(-main, kind="stable")]


def _table(judged: JudgedRound) -> Grid:
    anchors = {" and ".join(sorted(pair)): pair for pair in judged.told_pairs}
    rows: list[Row] = []
    for found in judged.pairs:
        pair = anchors.get(found.scope.name)
        anchor = judged.anchor_of_pair(*pair) if pair else ""
        numbers = value_and_interval(found)
        name = Cell(found.scope.name, to=anchor)
        rows.append([name, *numbers, found.n_used, found.undefined])
    return grid(
        "Pairs of raters, those who agree least first",
        ("raters", title_of(judged.pairs[0].measure), "interval", "items", "note"),
        rows,
        "pairs who differ less",
        n=max(judged.shown.n_pairs, len(rows)),
    )


def _detail(judged: JudgedRound, one: str, other: str) -> Detail:
    labels, i, j = judged.labels, judged.labellers.index(one), judged.labellers.index(other)
    places = labels.apart(i, j)
    said = f"They differ on {counted(len(places), 'item')}."
    against = [_against(judged, i, j)] if labels.numbers is None else []
    tables = (*against, _items(judged, i, j)) if len(places) else ()
    anchor = judged.anchor_of_pair(one, other)
    return Detail(anchor, f"{one} and {other}", Answer((said,), tables=tables))


def _against(judged: JudgedRound, i: int, j: int) -> Grid:
    """Which labels the two give to the items on which they differ."""
    labels = judged.labels
    places, n = labels.apart(i, j), len(labels.names)
    both = np.bincount(labels.codes[places, i] * n + labels.codes[places, j], minlength=n * n)
    order = [int(at) for at in np.argsort(-both, kind="stable") if both[at]]
    rows: list[Row] = [
        [labels.names[at // n], labels.names[at % n], int(both[at]), share(both[at] / len(places))]
        for at in order
    ]
    columns = (labels.raters[i], labels.raters[j], "items", "share")
    title = "What the two say where they differ"
    return grid(title, columns, rows, "combinations", MOST_COMBINATIONS)


def _items(judged: JudgedRound, i: int, j: int) -> Grid:
    labels = judged.labels
    places = labels.apart(i, j)
    shown = places[:MOST_ITEMS]
    names = [labels.items[at] for at in shown]
    rows = [
        [name, labels.said(at, i), labels.said(at, j), text]
        for at, name, text in zip(shown, names, judged.texts_of(names), strict=True)
    ]
    columns = ("item", labels.raters[i], labels.raters[j], "text")
    return grid("Items on which they differ", columns, rows, "items", n=len(places))
