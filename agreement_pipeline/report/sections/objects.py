"""Units of marked objects: where they lie, and who dissents."""

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence

from agreement_pipeline.report.answer import Answer, Grid, grid
from agreement_pipeline.report.drawn_units import Kind, Unit, figure_of, kind_of
from agreement_pipeline.report.figure import Figure
from agreement_pipeline.report.judged import JudgedRound
from agreement_pipeline.report.pictures import picture_of
from agreement_pipeline.report.sections.record import section
from agreement_pipeline.text import counted
from agreement_pipeline.units import NONE, document_of, place_of

MOST_ITEMS = 3
"""How many items are drawn."""
COLUMNS = ("unit", "what raters said", "who dissents")


@section("Marked objects", "Where do raters mark differently?", place=52)
def marked_objects(judged: JudgedRound) -> Answer | None:
    """The most disputed documents or images with their units. None if there are none."""
    if "cluster" not in judged.ratings.has:
        return None
    kind, disputed = kind_of(judged.by_item[0]), _disputed(judged)
    if kind is None or not disputed:
        return None
    items = _worst_items(disputed)
    units = _units(judged, {*items}, {*disputed})
    drawn = [item for item in items if any(unit.place for unit in units[item])]
    figures = tuple(_figure(judged, kind, item, units[item]) for item in drawn)
    every = {unit.name: unit for of_item in units.values() for unit in of_item}
    said = f"Raters differ on {counted(len(disputed), 'unit')}. {_which(drawn)}"
    return Answer((said,), figures, (_table([every[name] for name in disputed if name in every]),))


def _which(drawn: Sequence[str]) -> str:
    if not drawn:
        return "None is drawn, since the ratings do not say where objects lie."
    return f"The most disputed {'is' if len(drawn) == 1 else 'are'} drawn: {', '.join(drawn)}."


def _disputed(judged: JudgedRound) -> dict[str, float]:
    """The share of each unit in the disagreement, the worst first. A unit weighs its length."""
    shares = {judged.by_item[0][at]: float(judged.disagreement[at]) for at in judged.most_disputed}
    if "weight" in judged.ratings.has:
        found = judged.ratings.items(["weight"], names=shares)
        for row in found.to_pylist():
            shares[row["item"]] *= row["weight"]
    return dict(sorted(shares.items(), key=lambda each: (-each[1], each[0])))


def _worst_items(disputed: Mapping[str, float]) -> list[str]:
    """The items that hold most of the disagreement, the worst first."""
    share: defaultdict[str, float] = defaultdict(float)
    for unit, of_unit in disputed.items():
        share[document_of(unit)] += of_unit
    return sorted(share, key=lambda item: (-share[item], item))[:MOST_ITEMS]


def _units(judged: JudgedRound, items: set[str], disputed: set[str]) -> dict[str, list[Unit]]:
    """The units of these items that somebody marked, in the order of their places."""
    ratings = judged.ratings
    names = [name for name in ratings.items()["item"].to_pylist() if document_of(name) in items]
    columns = ["item", "rater", "label", *({"drawn"} & ratings.has)]
    rows = ratings.first(columns, items=names, raters=judged.raters, gold=True).to_pylist()
    said: defaultdict[str, dict[str, str]] = defaultdict(dict)
    drawn: defaultdict[str, dict[str, tuple[float, ...]]] = defaultdict(dict)
    for row in rows:
        name, rater, at = row["item"], row["rater"], row.get("drawn")
        said[name][rater] = str(row["label"])
        drawn[name] |= {} if at is None else {rater: tuple(json.loads(at))}
    found: dict[str, list[Unit]] = {item: [] for item in sorted(items)}
    for name, labels in said.items():
        if name in disputed or {*labels.values()} != {NONE}:
            unit = Unit(name, _place(name, drawn[name]), labels, drawn[name])
            found[document_of(name)].append(unit)
    return {item: sorted(each, key=lambda unit: unit.place) for item, each in found.items()}


def _place(name: str, drawn: Mapping[str, tuple[float, ...]]) -> tuple[float, ...]:
    """Where a unit lies: as its name says, or as the first of its objects, by which it is named."""
    return place_of(name) or min(drawn.values(), default=())


def _figure(judged: JudgedRound, kind: Kind, item: str, units: Sequence[Unit]) -> Figure:
    folder = judged.images if kind != "spans" else None
    picture = None if folder is None else picture_of(item, folder)
    return figure_of(kind, item, units, judged.raters, picture)


def _table(units: Sequence[Unit]) -> Grid:
    rows = [[unit.name, unit.words, ", ".join(unit.dissenters)] for unit in units]
    return grid("The units on which raters differ most, of these items", COLUMNS, rows, "units")
