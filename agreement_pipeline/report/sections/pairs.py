"""Raters two by two: who disagrees with whom, and on which items."""

import numpy as np

from agreement_pipeline.ratings import Array
from agreement_pipeline.report.anchors import pair_anchor, told_pairs
from agreement_pipeline.report.answer import Answer, Cell, Detail, Grid, Row, grid
from agreement_pipeline.report.cells import differ, interval_cell, title_of, value_cell
from agreement_pipeline.report.figure import Figure, Mark, Series
from agreement_pipeline.report.judged import JudgedRound
from agreement_pipeline.report.sections.record import section
from agreement_pipeline.text import PERCENT, SENTENCE, counted, in_words, number

MOST_ITEMS = 8


@section("Pairs of raters", "Who disagrees with whom, and on which items?", place=45)
def pairs(judged: JudgedRound) -> Answer | None:
    """The matrix of raters, the pairs who agree least, and the items on which they differ."""
    if len(judged.raters) < 2 or not judged.pairs:
        return None
    return Answer(
        (_lowest(judged),),
        () if judged.ratings.scale.continuous else (_matrix(judged),),
        (_table(judged),),
        tuple(_detail(judged, *pair) for pair in told_pairs(judged)),
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
    n = len(judged.raters)
    same = 1.0 - judged.apart.of_pairs[:n, :n]
    left_out = (
        ""
        if len(judged.raters) == len(judged.ratings.raters)
        else (f" The {len(judged.raters)} raters who agree least are drawn.")
    )
    order = beside_the_alike(same)
    series = tuple(
        Series(
            judged.raters[i],
            tuple(Mark(judged.raters[j], _known(same[i, j])) for j in order),
        )
        for i in order
    )
    return Figure(
        "matrix",
        "Share of items with the same label",
        "Raters who agree stand beside each other, so camps show as blocks. "
        f"Chance is not taken off here; the table does that.{left_out}",
        series,
        axis="share of items with the same label",
        bounds=(_lower_end(same), 1.0),
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


def _lower_end(same: Array) -> float:
    """The tenth under the lowest share, so that shades tell raters apart."""
    known = same[~np.isnan(same)]
    return min(0.9, np.floor(10 * known.min()) / 10) if len(known) else 0.0


def _known(value: float) -> float | None:
    return None if np.isnan(value) else float(value)


def _table(judged: JudgedRound) -> Grid:
    anchors = {" and ".join(sorted(pair)): pair for pair in told_pairs(judged)}
    rows: list[Row] = [
        [
            Cell(each.scope.name, to=pair_anchor(judged, *anchors[each.scope.name]))
            if each.scope.name in anchors
            else each.scope.name,
            value_cell(each),
            interval_cell(each),
            Cell(str(each.n_used), each.n_used),
            each.undefined or "",
        ]
        for each in judged.pairs
    ]
    return grid(
        "Pairs of raters, those who agree least first",
        ("raters", title_of(judged.pairs[0].measure), "interval", "items", "note"),
        rows,
        "pairs who differ less",
        n=max(judged.shown.n_pairs, len(rows)),
    )


def _detail(judged: JudgedRound, one: str, other: str) -> Detail:
    i, j = judged.labellers.index(one), judged.labellers.index(other)
    places = judged.labels.apart(i, j)
    said = f"They differ on {counted(len(places), 'item')}."
    tables = [
        *([_against(judged, i, j)] if judged.labels.numbers is None and len(places) else []),
        *([_items(judged, i, j)] if len(places) else []),
    ]
    return Detail(
        pair_anchor(judged, one, other), f"{one} and {other}", Answer((said,), tables=tuple(tables))
    )


def _against(judged: JudgedRound, i: int, j: int) -> Grid:
    """Which labels the two give to the items on which they differ."""
    labels = judged.labels
    places = labels.apart(i, j)
    first, second = labels.codes[places, i], labels.codes[places, j]
    n = len(labels.names)
    both = np.bincount(first * n + second, minlength=n * n)
    order = [int(at) for at in np.argsort(-both, kind="stable") if both[at]]
    rows: list[Row] = [
        [
            labels.names[at // n],
            labels.names[at % n],
            Cell(str(both[at]), int(both[at])),
            Cell(in_words(both[at] / len(places), PERCENT), both[at] / len(places)),
        ]
        for at in order
    ]
    columns = (labels.raters[i], labels.raters[j], "items", "share")
    return grid("What the two say where they differ", columns, rows, "combinations", 10)


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
