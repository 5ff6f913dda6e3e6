"""From marked items to units, which are ordinary ratings with the item as the cluster; and back."""

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import pandas as pd

from agreement_pipeline.engine import Session
from agreement_pipeline.errors import RatingsError
from agreement_pipeline.ratings import TEXT, Ratings, Scale, in_pandas
from agreement_pipeline.text import listed
from agreement_pipeline.units.marked import Marked, in_order, refuse_unknown
from agreement_pipeline.units.matched import SIGMAS
from agreement_pipeline.units.objects import Area, Box, Keypoints, Polygon, Segment, Span
from agreement_pipeline.units.places import NONE, document_of, item_of, numbers_named
from agreement_pipeline.units.rule import RULES, Part, UnitRule, UnitSettings

MARKED = "marked"


@dataclass(frozen=True, eq=False)
class Units:
    """The units of a round.

    Parameters
    ----------
    rows
        One row a unit and rater: `item` (the unit), `rater`, `occurrence`, `label`, `cluster` (the
        item) and, where a unit stands for many, `weight`.
    part
        The part that was asked for.
    """

    rows: pd.DataFrame
    scale: Scale
    classifiers: tuple[str, ...] = ()
    part: Part = "all"
    source: str = "units"
    session: Session | None = None

    @property
    def ratings(self) -> Ratings:
        if self.part == "marking":
            return self.marking
        return self.naming if self.part == "naming" else self._rated(self.rows, self.scale)

    @property
    def marking(self) -> Ratings:
        """Did they mark it? Each unit has *marked* or *none*."""
        label = self._marked["label"].astype(TEXT).where(self.rows["label"] == NONE, MARKED)
        return self._rated(self.rows.assign(label=label), Scale((NONE, MARKED)))

    @property
    def naming(self) -> Ratings:
        """Did they name it alike? The ratings are of those who marked the unit."""
        rows = self._marked[self.rows["label"] != NONE]
        names = tuple(name for name in self.scale.names if name != NONE)
        return self._rated(rows, Scale(names, declared=self.scale.declared))

    @property
    def _marked(self) -> pd.DataFrame:
        if NONE not in self.scale.names:
            raise RatingsError(
                f"{self.source}: found units with labels {listed(self.scale.names, 12)}; expected "
                "units of objects that raters mark. Read the agreement of the units themselves."
            )
        return self.rows

    def _rated(self, rows: pd.DataFrame, scale: Scale) -> Ratings:
        there = {*rows["rater"]}
        classifiers = [name for name in self.classifiers if name in there]
        return Ratings.from_frame(
            rows, scale, classifiers=classifiers, source=self.source, session=self.session
        )


def units_of(
    marked: Iterable[Marked],
    settings: UnitSettings,
    scale: Scale | None = None,
    *,
    source: str = "units",
) -> Units:
    """The units of marked items under a rule.

    The scale has the labels of units, with *none* where raters mark objects unless the part is
    naming. Without a scale, it is read off the objects.

    Raises
    ------
    RatingsError
        An object is of another kind or category, or an item is there twice by one rater.

    Examples
    --------
    >>> from agreement_pipeline.units import Marked, Span
    >>> ana = Marked("d1", "ana", (Span(0, 3, "PER"),), (10,))
    >>> ben = Marked("d1", "ben", (), (10,))
    >>> units = units_of([ana, ben], UnitSettings("spans"), Scale(("none", "PER", "ORG")))
    >>> units.rows[["item", "rater", "label", "weight"]].to_numpy().tolist()[:2]
    [['d1 0-3', 'ana', 'PER', 3], ['d1 0-3', 'ben', 'none', 3]]
    """
    each = in_order(one for one in marked if not one.is_empty)
    _refuse_others(each, settings.kind)
    rule = RULES[settings.rule]
    whole = _whole(each, settings, scale, source)
    if "part" in rule.settings:
        refuse_unknown(each, [name for name in whole.names if name != NONE])
    elif settings.members:
        refuse_unknown(each, settings.members)
    rows = rule.rows(each, settings, whole.names)
    models = sorted({one.rater for one in each if one.model})
    return Units(rows, whole, tuple(models), settings.part, source)


def _whole(
    marked: Sequence[Marked], settings: UnitSettings, scale: Scale | None, source: str
) -> Scale:
    rule = RULES[settings.rule]
    if scale is None or settings.part == "marking":
        return rule.scale(marked, source)
    if settings.part == "naming":
        return Scale((NONE, *scale.names), declared=scale.declared)
    if "part" in rule.settings and NONE not in scale.names:
        raise RatingsError(
            f"scale: found categories {listed(scale.names, 12)} without {NONE!r}; expected it too, "
            "since it is the label of a rater who marked nothing. Add it to the categories."
        )
    return scale


def at_each(
    marked: Sequence[Marked],
    settings: UnitSettings,
    values: Iterable[float],
    scale: Scale | None = None,
) -> Iterator[tuple[float, Units]]:
    """The units at several similarities or steps, to show how a value moves with them.

    >>> from agreement_pipeline.units import Box, Marked
    >>> boxes = Box(0, 0, 4, 4, "cat"), Box(1, 0, 4, 4, "cat")
    >>> drawn = [Marked("i", name, (box,), (9, 9)) for name, box in zip("ab", boxes, strict=True)]
    >>> found = at_each(drawn, UnitSettings("boxes"), [0.5, 0.7])
    >>> [(least, len(units.rows)) for least, units in found]
    [(0.5, 2), (0.7, 4)]
    """
    name = "step" if "step" in RULES[settings.rule].settings else "at_least"
    for value in values:
        changed: dict[str, Any] = {name: value}
        yield value, units_of(marked, replace(settings, **changed), scale)


def _refuse_others(marked: Sequence[Marked], kind: str) -> None:
    for each in marked:
        for said in each.objects:
            if said.kind != kind:
                raise RatingsError(
                    f"{said.where}: found {said.kind}; expected {kind} only. "
                    "Choose the question that holds them, or correct the kind of the units."
                )


KINDS = {2: "segments", 4: "boxes"}
SPAN = ("start", "end")


class Objects(NamedTuple):
    marked: list[Marked]
    settings: UnitSettings
    clusters: dict[str, str]


def objects_of(ratings: Ratings) -> Objects | None:
    """The objects of the units of a round, without its gold items.

    So units can be made again with another similarity or step. None if the ratings are no units,
    or if the units say too little.

    >>> from agreement_pipeline.units import units_of
    >>> boxes = [Marked("i", name, (Box(0, 0, 3, 4.5, "A"),), (9, 9)) for name in ("ana", "ben")]
    >>> found = objects_of(units_of(boxes, UnitSettings("boxes")).ratings)
    >>> found.settings.kind, found.marked[0].objects == boxes[0].objects
    ('boxes', True)
    """
    settings = _settings_of(ratings)
    if settings is None:
        return None
    found = ratings.first(["item", "rater", "label", *({"drawn"} & ratings.has)])
    said = in_pandas(found).astype(TEXT).rename(columns={"item": "unit"})
    said["item"] = said["unit"].map(document_of)
    known = ratings.items(["cluster"])
    units = zip(known["item"].to_pylist(), known["cluster"].to_pylist(), strict=True)
    clusters = {document_of(unit): cluster for unit, cluster in units}
    return Objects(list(_marked(said, settings, {*ratings.classifiers})), settings, clusters)


def _settings_of(ratings: Ratings) -> UnitSettings | None:
    names = ratings.scale.names
    part: Part = "all" if NONE in names else "naming"
    if "cluster" not in ratings.has:
        return None
    if "drawn" in ratings.has:
        kind = _kind_of(ratings) if MARKED not in names else None
        return None if kind is None else UnitSettings(kind, rule="matched", part=part)
    if "weight" in ratings.has and numbers_named(ratings.items()["item"].to_pylist()) == SPAN:
        return UnitSettings("spans", part=part)
    return None


def _kind_of(ratings: Ratings) -> str | None:
    drawn = ratings.first(["drawn"])["drawn"].drop_null()
    numbers = len(json.loads(drawn[0].as_py())) if len(drawn) else 0
    if numbers == 2 * len(SIGMAS) + 1:
        return "keypoints"
    return KINDS.get(numbers, "polygons" if numbers and numbers % 2 == 0 else None)


def _marked(said: pd.DataFrame, settings: UnitSettings, models: set[str]) -> Iterator[Marked]:
    at_positions, lengths = settings.rule == "positions", dict[str, float]()
    if at_positions:
        # An item is as long as the place where its last run ends.
        ends = said["unit"].map(lambda unit: item_of(unit, SPAN)[1][1])
        lengths = dict(ends.groupby(said["item"]).max())
    for key, rows in said.groupby(["item", "rater"], sort=False):
        item, rater = map(str, key)
        there = rows[rows["label"] != NONE]
        areas: list[Area] = (
            [_span(*each) for each in zip(there["unit"], there["label"], strict=True)]
            if at_positions
            else [
                _area(json.loads(drawn), label, settings.kind)
                for drawn, label in zip(there["drawn"], there["label"], strict=True)
            ]
        )
        extent = (lengths[item],) if at_positions else ()
        # An object stands in several units if raters were matched in pairs.
        once = tuple(dict.fromkeys(areas))
        yield Marked(item, rater, once, extent, model=rater in models)


def _span(unit: str, label: str) -> Span:
    start, end = item_of(unit, SPAN)[1]
    return Span(int(start or 0), int(end or 0), label)


def _area(numbers: list[float], label: str, kind: str) -> Area:
    if kind == "segments":
        return Segment(numbers[0], numbers[1], label)
    if kind == "boxes":
        x, y, width, height = numbers
        return Box(x, y, width, height, label)
    if kind == "polygons":
        return Polygon(tuple(_points(numbers)), label)
    points = (None if min(point) < 0 else point for point in _points(numbers[:-1]))
    return Keypoints(tuple(points), numbers[-1], label)


def _points(numbers: list[float]) -> Iterable[tuple[float, float]]:
    return zip(numbers[::2], numbers[1::2], strict=True)


__all__ = [
    "RULES",
    "Objects",
    "UnitRule",
    "UnitSettings",
    "Units",
    "at_each",
    "objects_of",
    "units_of",
]
