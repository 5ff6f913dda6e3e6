"""Each rater beside the others and beside themselves."""

from collections.abc import Iterable

from agreement_pipeline.estimates import Estimate
from agreement_pipeline.report.anchors import pair_anchor, rater_anchor, told_pairs
from agreement_pipeline.report.answer import Answer, Cell, Detail, Grid, Row, grid
from agreement_pipeline.report.cells import differ, interval_cell, value_cell
from agreement_pipeline.report.figure import Figure, Mark, Series
from agreement_pipeline.report.judged import JudgedRound
from agreement_pipeline.report.sections.record import section
from agreement_pipeline.report.shares import shares_of_rater
from agreement_pipeline.report.themselves_and_others import comparisons, joint_rows
from agreement_pipeline.text import PERCENT, SENTENCE, counted, in_words, number

COLUMNS = (
    "rater",
    "with the others",
    "interval",
    "with themselves",
    "interval again",
    "usual label",
    "reading",
)
NEVER_AGAIN = "No rater met an item twice, so agreement with themselves is not known."
LOWEST_BY_CHANCE = "The lowest of many is low by chance too, so read the intervals."
MANY = 6
FAIR = (
    "A low number is a reason to talk, and no verdict on a person. "
    "It can come from the items that a rater got, or from a guideline that allows two readings."
)


@section("Raters", "Who agrees with the others, and with themselves?", place=40)
def raters(judged: JudgedRound) -> Answer | None:
    """Agreement of each rater with the others and with themselves, and what the two say."""
    if not judged.with_others and not judged.with_themselves:
        return None
    return Answer(
        tuple(_said(judged)),
        tuple(_figures(judged)),
        (_table(judged),),
        tuple(_detail(judged, name) for name in judged.raters),
    )


def _said(judged: JudgedRound) -> list[str]:
    return [
        *_lowest(judged),
        FAIR,
        *([LOWEST_BY_CHANCE] if len(judged.ratings.raters) >= MANY else []),
        *([] if _met_again(judged) else [NEVER_AGAIN]),
        *([_of_how_many(judged)] if judged.shown.left_out() else []),
    ]


def _met_again(judged: JudgedRound) -> bool:
    return any(each.value is not None for each in judged.with_themselves.values())


def _of_how_many(judged: JudgedRound) -> str:
    shown = judged.shown
    return (
        f"Shown are {len(judged.raters)} of {shown.n_raters} raters: those who agree least "
        "with the others."
    )


def _lowest(judged: JudgedRound) -> list[str]:
    known = [each for each in judged.with_others.values() if each.value is not None]
    if not known:
        return []
    first = known[0]
    value = number(first.value, SENTENCE)
    if not differ(known):
        return [f"All agree alike with the others (κ {value})."]
    return [f"The lowest agreement of a rater with the others is κ {value}."]


def _figures(judged: JudgedRound) -> list[Figure]:
    """The plane of both numbers; agreement with the others alone if nobody met an item again."""
    others, again = judged.with_others, judged.with_themselves
    both = [name for name in others if name in again and again[name].value is not None]
    made = [_plane(judged, both)] if both else []
    if len(both) < len(others):
        made.append(_intervals(others.values()))
    return made


def _plane(judged: JudgedRound, names: list[str]) -> Figure:
    return Figure(
        "plane",
        "Agreement with the others and with themselves",
        "Upper right: agrees with all. Upper left: sure of a reading that others do not share. "
        "Below: does not agree with themselves. The items may be ambiguous, or the work careless.",
        (Series("raters", tuple(_mark(judged, name) for name in names)),),
        axis="with themselves",
        other_axis="with the others",
        cutoffs=((0.667, "0.667"),),
    )


def _mark(judged: JudgedRound, name: str) -> Mark:
    others, again = judged.with_others[name], judged.with_themselves[name]
    return Mark(
        name,
        again.value,
        again.low,
        again.high,
        across=others.value,
        across_low=others.low,
        across_high=others.high,
    )


def _intervals(found: Iterable[Estimate]) -> Figure:
    marks = tuple(Mark(each.scope.name, each.value, each.low, each.high) for each in found)
    return Figure(
        "intervals",
        "Agreement with the others",
        "Lines that lie far apart point to a difference. Lines that overlap leave it open.",
        (Series("raters", marks),),
        axis="κ of a rater with the others",
    )


def _table(judged: JudgedRound) -> Grid:
    compared = [each for each in comparisons(judged.ratings.scale) if each.kind == "rater"]
    every = [*judged.with_themselves.values(), *judged.with_others.values()]
    rows = joint_rows(every, compared, judged.policy)
    known = rows if _met_again(judged) else rows.head(0)
    readings = dict(zip(known["scope"], known["reading"], strict=True))
    names = list(dict.fromkeys([*judged.with_others, *judged.with_themselves]))
    return grid(
        "Raters, those who agree least with the others first",
        COLUMNS,
        [_row(judged, name, readings.get(f"rater {name}", "")) for name in names],
        "raters",
    )


def _row(judged: JudgedRound, name: str, reading: str) -> Row:
    others, again = judged.with_others.get(name), judged.with_themselves.get(name)
    return [
        Cell(name, to=rater_anchor(judged, name)),
        value_cell(others),
        interval_cell(others),
        value_cell(again),
        interval_cell(again),
        _usual(judged, name),
        reading,
    ]


def _usual(judged: JudgedRound, name: str) -> Cell:
    """The most frequent label of a rater: one label alone tells of somebody who did not look."""
    found = shares_of_rater(judged, name) if name in judged.raters else {}
    if not found:
        return Cell("")
    category = max(found, key=lambda each: found[each][0])
    share = found[category][0]
    return Cell(f"{category} ({in_words(share, PERCENT)})", share)


def _detail(judged: JudgedRound, name: str) -> Detail:
    tables = [each for each in (_shares(judged, name), _pairs(judged, name)) if each]
    place = judged.raters.index(name)
    n = int((judged.labels.codes[:, place] >= 0).sum())
    said = f"{name} labelled {counted(n, 'item')}."
    return Detail(rater_anchor(judged, name), name, Answer((said,), tables=tuple(tables)))


def _shares(judged: JudgedRound, name: str) -> Grid | None:
    """How often a rater gives each category, beside all raters on the same items."""
    found = shares_of_rater(judged, name)
    rows: list[Row] = [
        [category, *(Cell(in_words(share, PERCENT), share) for share in both)]
        for category, both in found.items()
    ]
    columns = ("category", "share of their labels", "share of the others' on the same items")
    title = f"What {name} gives more often than the others"
    return grid(title, columns, rows, "categories") if rows else None


def _pairs(judged: JudgedRound, name: str) -> Grid | None:
    """The pairs of a rater that the page tells of."""
    mine = [pair for pair in told_pairs(judged) if name in pair]
    apart, place = judged.apart.of_pairs, judged.labellers.index
    rows: list[Row] = [
        [
            Cell(one if other == name else other, to=pair_anchor(judged, one, other)),
            Cell(in_words(value, ".3f"), value),
        ]
        for one, other in mine
        if (value := float(apart[place(one), place(other)])) == value
    ]
    what = "mean squared distance" if judged.ratings.scale.continuous else "share of labels apart"
    return grid(f"How far {name} is from others", ("other rater", what), rows) if rows else None
