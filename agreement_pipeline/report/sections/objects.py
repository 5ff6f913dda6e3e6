"""Units of marked objects: where they lie, and who dissents."""

import json
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from agreement_pipeline.report.answer import Answer, Grid, grid
from agreement_pipeline.report.cells import counted
from agreement_pipeline.report.figure import Figure, Mark, Series, Tone
from agreement_pipeline.report.judged import JudgedRound
from agreement_pipeline.report.pictures import picture_of
from agreement_pipeline.report.sections.record import section
from agreement_pipeline.units import NONE, item_of, numbers_named

MOST_ITEMS, MOST_UNITS = 3, 60
"""How many items are drawn, and how many units of each."""
COLUMNS = ("unit", "what raters said", "who dissents")
SAYS = {
    "spans": "A low bar: the rater marks what most do. A tall bar: the rater dissents there.",
    "frames": "A thick edge: raters differ on the box. Beside a label stands how many gave it. "
    "Broken lines: boxes of single raters that lie elsewhere.",
}


class _Unit(NamedTuple):
    name: str
    place: tuple[float, ...]
    said: Mapping[str, str]
    drawn: Mapping[str, tuple[float, ...]]

    @property
    def agreed(self) -> str | None:
        """What more raters said than anything else; None if there is a tie."""
        (label, most), *others = Counter(self.said.values()).most_common()
        return None if others and others[0][1] == most else label

    @property
    def dissenters(self) -> list[str]:
        """The raters who said something else. All of them if there is a tie."""
        return [rater for rater, label in self.said.items() if label != self.agreed]

    @property
    def counts(self) -> str:
        """Each label and how many gave it."""
        counted_labels = Counter(self.said.values()).most_common()
        return ", ".join(f"{label} {times}" for label, times in counted_labels)

    @property
    def words(self) -> str:
        """Each label and who gave it."""
        raters: defaultdict[str, list[str]] = defaultdict(list)
        for rater, label in self.said.items():
            raters[label].append(rater)
        return "; ".join(f"{label}: {', '.join(names)}" for label, names in raters.items())


@section("Marked objects", "Where do raters mark differently?", place=52)
def marked_objects(judged: JudgedRound) -> Answer | None:
    """The most disputed documents or images with their units. None if there are none."""
    contents = judged.ratings.contents
    if "cluster" not in contents:
        return None
    numbers = numbers_named(contents.index)
    disputed = _disputed(judged)
    if not numbers or not disputed:
        return None
    items = _worst_items(disputed, numbers)
    units = _units(judged, numbers, {*items}, {*disputed})
    figures = tuple(_figure(judged, item, units[item], len(numbers)) for item in items)
    every = {unit.name: unit for of_item in units.values() for unit in of_item}
    said = (
        f"Raters differ on {counted(len(disputed), 'unit')}. "
        f"The most disputed {'is' if len(items) == 1 else 'are'} drawn: {', '.join(items)}."
    )
    return Answer((said,), figures, (_table([every[name] for name in disputed if name in every]),))


def _disputed(judged: JudgedRound) -> dict[str, float]:
    """The share of each unit in the disagreement, the worst first. A unit weighs its length."""
    weights = judged.ratings.contents.get("weight")
    names = [judged.by_item[0][place] for place in judged.most_disputed]
    shares = {
        name: float(judged.disagreement[place]) * (1.0 if weights is None else float(weights[name]))
        for name, place in zip(names, judged.most_disputed, strict=True)
    }
    return dict(sorted(shares.items(), key=lambda each: (-each[1], each[0])))


def _worst_items(disputed: Mapping[str, float], numbers: tuple[str, ...]) -> list[str]:
    """The items that hold most of the disagreement, the worst first."""
    share: defaultdict[str, float] = defaultdict(float)
    for unit, of_unit in disputed.items():
        share[item_of(unit, numbers)[0]] += of_unit
    return sorted(share, key=lambda item: (-share[item], item))[:MOST_ITEMS]


def _units(
    judged: JudgedRound, numbers: tuple[str, ...], items: set[str], disputed: set[str]
) -> dict[str, list[_Unit]]:
    """The units of these items that somebody marked, in the order of their places."""
    current = judged.ratings.current
    wanted = [item_of(name, numbers)[0] in items for name in current["item"].cat.categories]
    rows = current[current["item"].cat.codes.map(dict(enumerate(wanted))).to_numpy(bool)]
    said: defaultdict[str, dict[str, str]] = defaultdict(dict)
    drawn: defaultdict[str, dict[str, tuple[float, ...]]] = defaultdict(dict)
    places = rows["drawn"] if "drawn" in rows else [None] * len(rows)
    each_row = zip(rows["item"], rows["rater"], rows["label"], places, strict=True)
    for name, rater, label, at in each_row:
        if rater in judged.raters:
            said[name][rater] = str(label)
            drawn[name] |= {rater: tuple(json.loads(at))} if isinstance(at, str) else {}
    found: dict[str, list[_Unit]] = {item: [] for item in sorted(items)}
    for name, labels in said.items():
        item, place = item_of(name, numbers)
        if name in disputed or {*labels.values()} != {NONE}:
            at = tuple(each or 0.0 for each in place)
            found[item].append(_Unit(name, at, labels, drawn[name]))
    return {item: sorted(each, key=lambda unit: unit.place) for item, each in found.items()}


def _figure(judged: JudgedRound, item: str, units: Sequence[_Unit], n_numbers: int) -> Figure:
    shown = units[:MOST_UNITS]
    more = f" The first {MOST_UNITS} units are drawn." if len(units) > MOST_UNITS else ""
    if n_numbers == len(("start", "end")):
        lines = [(rater, _spans(rater, shown)) for rater in judged.raters]
        series = tuple(Series(rater, marks) for rater, marks in lines)
        return Figure("spans", item, SAYS["spans"] + more, series, axis="position")
    series = (Series("units", tuple(map(_box, shown))), *_elsewhere(judged.raters, shown))
    return Figure(
        "frames",
        item,
        SAYS["frames"] + more,
        series,
        axis="pixels across and down",
        picture=None if judged.images is None else picture_of(item, judged.images),
    )


def _spans(rater: str, units: Sequence[_Unit]) -> tuple[Mark, ...]:
    return tuple(
        Mark(unit.said[rater], None, start, end, tone=_tone(rater in unit.dissenters))
        for unit in units
        for start, end in [unit.place]
        if unit.said.get(rater, NONE) != NONE or rater in unit.dissenters
    )


def _box(unit: _Unit) -> Mark:
    return _mark(unit.counts, unit.place, _tone(bool(unit.dissenters)))


def _elsewhere(raters: Sequence[str], units: Sequence[_Unit]) -> Iterator[Series]:
    """The boxes of each rater that are not where their units are drawn."""
    for rater in raters:
        marks = tuple(
            _mark(f"{rater}: {unit.said[rater]}", unit.drawn[rater], "plain")
            for unit in units
            if unit.drawn.get(rater, unit.place) != unit.place
        )
        if marks:
            yield Series(rater, marks)


def _mark(label: str, place: tuple[float, ...], tone: Tone) -> Mark:
    x, y, width, height = place
    return Mark(label, None, y, y + height, across_low=x, across_high=x + width, tone=tone)


def _tone(differs: bool) -> Tone:
    return "bad" if differs else "good"


def _table(units: Sequence[_Unit]) -> Grid:
    rows = [[unit.name, unit.words, ", ".join(unit.dissenters)] for unit in units]
    return grid("The units on which raters differ most, of these items", COLUMNS, rows, "units")
