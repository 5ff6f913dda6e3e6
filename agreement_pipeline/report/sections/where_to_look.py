"""What to talk about first: the category and the item."""

from agreement_pipeline.estimates import Estimate
from agreement_pipeline.report.anchors import category_anchor
from agreement_pipeline.report.answer import Answer, Cell, Row, grid
from agreement_pipeline.report.cells import differ, interval_cell, value_cell
from agreement_pipeline.report.judged import JudgedRound
from agreement_pipeline.report.sections.record import section
from agreement_pipeline.text import PERCENT, in_words

COLUMNS = ("what", "which", "agreement", "interval", "read")


@section("Where to look", "Which category or item should we talk about?", place=15)
def where_to_look(judged: JudgedRound) -> Answer:
    """The lowest of each kind, with a link to what lies behind it."""
    rows = [*_category(judged), *_item(judged)]
    if not rows:
        return Answer(("There is no disagreement to talk about.",))
    said = "These agree least. Each leads to its numbers and its items."
    return Answer((said,), tables=(grid("The lowest of each kind", COLUMNS, rows),))


def _category(judged: JudgedRound) -> list[Row]:
    return [
        _row("category", found, category_anchor(judged, found.scope.name), "against all others")
        for found in judged.categories[:1]
        if found.value is not None and differ(judged.categories)
    ]


def _item(judged: JudgedRound) -> list[Row]:
    return [
        [
            "item",
            Cell(judged.by_item[0][at], to="items"),
            "",
            "",
            f"{in_words(judged.disagreement[at], PERCENT)} of all disagreement. "
            f"{judged.texts_of([judged.by_item[0][at]])[0]}",
        ]
        for at in judged.most_disputed[:1]
    ]


def _row(what: str, found: Estimate, anchor: str, read: str) -> Row:
    return [
        what,
        Cell(found.scope.name, to=anchor),
        value_cell(found),
        interval_cell(found),
        read,
    ]
