"""Agreement by category, and what lies behind each category."""

from itertools import combinations

import numpy as np

from agreement_pipeline.estimates import Estimate
from agreement_pipeline.ratings import Codes
from agreement_pipeline.report.anchors import category_anchor, pair_anchor
from agreement_pipeline.report.answer import Answer, Cell, Detail, Grid, Row, grid
from agreement_pipeline.report.cells import differ, interval_cell, value_cell
from agreement_pipeline.report.figure import Figure, Mark, Series
from agreement_pipeline.report.items_table import items_table
from agreement_pipeline.report.judged import JudgedRound
from agreement_pipeline.report.sections.record import section
from agreement_pipeline.report.shares import shares_of
from agreement_pipeline.statistics import CategoryCounts
from agreement_pipeline.text import PERCENT, SENTENCE, counted, in_words, number

MOST_DRAWN, MOST_PAIRS, MOST_ITEMS = 20, 8, 8


@section("Categories", "Which categories do raters agree on, and which not?", place=30)
def categories(judged: JudgedRound) -> Answer | None:
    """Agreement on each category against all others, the lowest first."""
    found = judged.categories
    if not found:
        return None
    shown = found[:MOST_DRAWN]
    return Answer(
        (_lowest(found),),
        (_figure(judged, shown),),
        (_table(judged, found),),
        tuple(_detail(judged, each) for each in shown),
    )


def _lowest(found: tuple[Estimate, ...]) -> str:
    first = found[0]
    if len(found) == 2:
        return "There are two categories, so agreement on one is agreement on the other."
    if first.value is None:
        return "Agreement has no value on any category."
    if not differ(found):
        return f"Raters agree alike on every category (α {number(first.value, SENTENCE)})."
    said = f"Raters agree least on {first.scope.name} (α {number(first.value, SENTENCE)})"
    above = [each for each in found[1:] if (each.low or -1.0) > (first.high or 1.0)]
    certain = len(above) == len(found) - 1 and len(found) > 2
    return f"{said}{', and its interval lies under all others' if certain else ''}."


def _figure(judged: JudgedRound, found: tuple[Estimate, ...]) -> Figure:
    ordered = "" if judged.ratings.scale.level == "nominal" else " Their order is left aside here."
    marks = tuple(Mark(each.scope.name, each.value, each.low, each.high) for each in found)
    return Figure(
        "intervals",
        "Agreement by category",
        "Each category is taken against all others together. "
        f"A line that lies further left is a category on which raters agree less.{ordered}",
        (Series("categories", marks),),
        axis="Krippendorff's α of the category",
    )


def _table(judged: JudgedRound, found: tuple[Estimate, ...]) -> Grid:
    shares = shares_of(judged.ratings)
    rows: list[Row] = [
        [
            Cell(each.scope.name, to=category_anchor(judged, each.scope.name)),
            value_cell(each),
            interval_cell(each),
            Cell(in_words(shares[each.scope.name], PERCENT), shares[each.scope.name]),
            each.undefined or "",
        ]
        for each in found
    ]
    columns = ("category", "agreement", "interval", "share of labels", "note")
    return grid("Agreement and share of each category", columns, rows, "categories")


def _detail(judged: JudgedRound, found: Estimate) -> Detail:
    name = found.scope.name
    category = judged.labels.names.index(name)
    value = "no value" if found.value is None else f"α {number(found.value, SENTENCE)}"
    tables = (_pairs(judged, category), _items(judged, category))
    answer = Answer((_instead(judged, category),), tables=tuple(each for each in tables if each))
    return Detail(category_anchor(judged, name), f"{name}: {value}", answer)


def _instead(judged: JudgedRound, category: int) -> str:
    """What raters say instead of a category."""
    _, counts = judged.by_item
    assert isinstance(counts, CategoryCounts)
    own = counts.counts[:, category]
    others = np.where(own[:, None] > 0, counts.counts, 0.0) * own[:, None]
    others[:, category] = 0.0
    instead = others.sum(0)
    if not own.any():
        return "Nobody gave this category to an item that two raters labelled."
    if not instead.any():
        return "Wherever one rater gave this category, all others did."
    most = int(instead.argmax())
    share = in_words(instead[most] / instead.sum(), PERCENT)
    name = judged.labels.names[most]
    return f"Where raters differ on it, the other label is most often {name} ({share})."


def _pairs(judged: JudgedRound, category: int) -> Grid | None:
    """The pairs who differ on a category most often."""
    both, one = judged.labels.on_category(category)
    places = [pair for pair in combinations(range(len(one)), 2) if one[pair]]
    places.sort(key=lambda at: -one[at])
    rows = [_pair(judged, both, one, i, j) for i, j in places]
    columns = ("raters", "only one gave it", "both gave it", "differ")
    title = "Pairs of raters who differ on it most often"
    return grid(title, columns, rows, "pairs", MOST_PAIRS) if rows else None


def _pair(judged: JudgedRound, both: Codes, one: Codes, i: int, j: int) -> Row:
    names = judged.labellers[i], judged.labellers[j]
    apart, together = int(one[i, j]), int(both[i, j])
    share = apart / (apart + together)
    return [
        Cell(" and ".join(names), to=pair_anchor(judged, *names)),
        Cell(str(apart), apart),
        Cell(str(together), together),
        Cell(in_words(share, PERCENT), share),
    ]


def _items(judged: JudgedRound, category: int) -> Grid | None:
    """The most disputed items to which somebody gave a category."""
    _, counts = judged.by_item
    assert isinstance(counts, CategoryCounts)
    gave = counts.counts[:, category] > 0
    places = [at for at in judged.most_disputed if gave[at]]
    name = judged.labels.names[category]
    title = f"Items in dispute that somebody called {name} ({counted(len(places), 'item')})"
    return items_table(judged, places, title, MOST_ITEMS) if places else None
