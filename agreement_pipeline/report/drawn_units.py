"""Units of marked objects as figures: where they lie, and who dissents."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Literal, NamedTuple

from agreement_pipeline.report.figure import Figure, Mark, Series, Tone
from agreement_pipeline.report.pictures import Picture
from agreement_pipeline.units import NONE, numbers_named, points_named

Kind = Literal["spans", "frames", "outlines", "bodies"]
MOST_UNITS = 60
"""How many units of an item are drawn."""
KINDS: Mapping[tuple[str, ...], Kind] = {
    ("start", "end"): "spans",
    ("x", "y", "width", "height"): "frames",
}
KINDS_OF_POINTS: Mapping[str, Kind] = {"corners": "outlines", "keypoints": "bodies"}
IN_IMAGE = (
    "A thick edge: raters differ on the {one}. Beside a label stands how many gave it. "
    "Broken lines: {many} of single raters that lie elsewhere."
)
SAYS: Mapping[Kind, str] = {
    "spans": "A low bar: the rater marks what most do. A tall bar: the rater dissents there.",
    "frames": IN_IMAGE.format(one="box", many="boxes"),
    "outlines": IN_IMAGE.format(one="polygon", many="polygons"),
    "bodies": IN_IMAGE.format(one="body", many="bodies"),
}
NOT_SET = (-1, -1)


class Unit(NamedTuple):
    """A unit, what its raters said, and where each of them drew it."""

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


def kind_of(units: Iterable[str]) -> Kind | None:
    """How units are drawn, by their names. None if the names say too little.

    >>> kind_of(["d 0-3"]), kind_of(["i 10,20 with 4 corners"]), kind_of(["i 4"])
    ('spans', 'outlines', None)
    """
    names = list(units)
    points = points_named(names)
    return KINDS_OF_POINTS[points] if points else KINDS.get(numbers_named(names))


def figure_of(
    kind: Kind, item: str, units: Sequence[Unit], raters: Sequence[str], picture: Picture | None
) -> Figure:
    """The figure of an item."""
    shown = units[:MOST_UNITS]
    more = f" The first {MOST_UNITS} units are drawn." if len(units) > MOST_UNITS else ""
    says = SAYS[kind] + more
    if kind == "spans":
        lines = tuple(Series(rater, _spans(rater, shown)) for rater in raters)
        return Figure(kind, item, says, lines, axis="position")
    drawn = (Series("units", tuple(_unit(kind, unit) for unit in shown if unit.place)),)
    series = (*drawn, *_elsewhere(kind, raters, shown))
    return Figure(kind, item, says, series, axis="pixels across and down", picture=picture)


def _spans(rater: str, units: Sequence[Unit]) -> tuple[Mark, ...]:
    return tuple(
        Mark(unit.said[rater], None, start, end, tone=_tone(rater in unit.dissenters))
        for unit in units
        for start, end in [unit.place]
        if unit.said.get(rater, NONE) != NONE or rater in unit.dissenters
    )


def _unit(kind: Kind, unit: Unit) -> Mark:
    return _mark(kind, unit.counts, unit.place, _tone(bool(unit.dissenters)))


def _elsewhere(kind: Kind, raters: Sequence[str], units: Sequence[Unit]) -> Iterator[Series]:
    """The objects of each rater that are not where their units are drawn."""
    for rater in raters:
        marks = tuple(
            _mark(kind, f"{rater}: {unit.said[rater]}", unit.drawn[rater], "plain")
            for unit in units
            if unit.drawn.get(rater, unit.place) != unit.place
        )
        if marks:
            yield Series(rater, marks)


def _mark(kind: Kind, label: str, place: tuple[float, ...], tone: Tone) -> Mark:
    if kind == "frames":
        x, y, width, height = place
        return Mark(label, None, y, y + height, across_low=x, across_high=x + width, tone=tone)
    numbers = place[:-1] if kind == "bodies" else place
    each = zip(numbers[::2], numbers[1::2], strict=True)
    points = tuple(point for point in each if point != NOT_SET)
    (left, right), (top, foot) = ((min(ends), max(ends)) for ends in zip(*points, strict=True))
    return Mark(
        label, None, top, foot, across_low=left, across_high=right, tone=tone, points=points
    )


def _tone(differs: bool) -> Tone:
    return "bad" if differs else "good"
