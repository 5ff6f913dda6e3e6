"""Which categories raters take for each other."""

import numpy as np

from agreement_pipeline.ratings import Array
from agreement_pipeline.report.anchors import category_anchor
from agreement_pipeline.report.answer import Answer, Cell, Grid, Row, grid
from agreement_pipeline.report.figure import Figure, Mark, Series
from agreement_pipeline.report.judged import JudgedRound
from agreement_pipeline.report.sections.record import section
from agreement_pipeline.statistics import CategoryCounts
from agreement_pipeline.text import PERCENT, in_words

MOST = 12


@section("Confusion", "Which categories do raters take for each other?", place=35)
def confusion(judged: JudgedRound) -> Answer | None:
    """How often two raters of an item give two categories, as a share of the first one's labels."""
    _, said = judged.by_item
    if not isinstance(said, CategoryCounts):
        return None
    together = coincidences(said)
    kept = np.sort(np.argsort(-together.sum(1), kind="stable")[:MOST])
    names = [said.scale.names[k] for k in kept]
    shares = _shares(together)[np.ix_(kept, kept)]
    return Answer(
        (_most(judged, together),),
        (_figure(names, shares, len(said.scale.names)),),
        (_table(judged, together),),
    )


def coincidences(said: CategoryCounts) -> Array:
    r"""How often two raters of an item gave two categories.

    Krippendorff's coincidence matrix: an item of m ratings adds each ordered pair of them with the
    weight 1/(m - 1).
    """
    use = said.pairable
    counts, m = said.counts[use], said.sizes[use]
    weighted = counts * (said.weights[use] / (m - 1))[:, None]
    together = counts.T @ weighted
    together[np.diag_indices_from(together)] -= weighted.sum(0)
    return np.asarray(together)


def _shares(together: Array) -> Array:
    whole = together.sum(1, keepdims=True)
    empty = np.full_like(together, np.nan)
    return np.asarray(np.divide(together, whole, out=empty, where=whole > 0))


def _places(together: Array) -> list[tuple[int, int]]:
    """Two categories each, the pair that is confused most first."""
    one, other = np.triu_indices(len(together), 1)
    order = np.argsort(-together[one, other], kind="stable")
    return [(int(one[at]), int(other[at])) for at in order if together[one[at], other[at]] > 0]


def _most(judged: JudgedRound, together: Array) -> str:
    places = _places(together)
    if not places:
        return "No two raters gave an item different categories."
    i, j = places[0]
    names = judged.labels.names
    if len(names) == 2:
        return "There are two categories, so all disagreement is between them."
    share = together[i, j] / sum(together[at] for at in places)
    both = f"{names[i]} and {names[j]}"
    return f"{in_words(share, PERCENT)} of all pairs of differing labels are {both}."


def _figure(names: list[str], shares: Array, n_names: int) -> Figure:
    left_out = "" if n_names <= MOST else f" The {MOST} most frequent of {n_names} are drawn."
    series = tuple(
        Series(
            name,
            tuple(
                Mark(other, None if np.isnan(share) else float(share))
                for other, share in zip(names, row, strict=True)
            ),
        )
        for name, row in zip(names, shares, strict=True)
    )
    return Figure(
        "matrix",
        "What another rater says of the same item",
        "A row is what one rater said, and a column what another said of the same item. "
        f"High numbers off the diagonal are confusions.{left_out}",
        series,
        axis="share of the row",
        bounds=(0.0, 1.0),
    )


def _table(judged: JudgedRound, together: Array) -> Grid:
    total = sum(together[at] for at in _places(together)) or 1.0
    names = judged.labels.names
    rows: list[Row] = [
        [
            Cell(names[i], to=category_anchor(judged, names[i])),
            Cell(names[j], to=category_anchor(judged, names[j])),
            Cell(in_words(together[i, j] / total, PERCENT), float(together[i, j] / total)),
        ]
        for i, j in _places(together)
    ]
    columns = ("one rater", "another rater", "share of pairs of differing labels")
    return grid("Categories that raters take for each other", columns, rows, "pairs of categories")
