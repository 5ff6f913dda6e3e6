"""The label objects of an item: what a rater marks, orders or ticks there, and all of one rater.

An object refuses impossible values when it is made. `where` is its place in the source, for errors.
"""

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from math import inf, isfinite
from operator import attrgetter
from typing import Any, ClassVar, Literal, NoReturn

from agreement_pipeline.errors import RatingsError
from agreement_pipeline.ratings import Scale
from agreement_pipeline.text import counted, listed
from agreement_pipeline.units.places import NONE
from agreement_pipeline.units.shapes import first_crossing_sides, frame_of_place, turn_anticlockwise

Choice = Literal["first", "second", "tie"]
Point = tuple[float, float]
SEAT = attrgetter("item", "rater", "occurrence")
ANSWERS = ("no", "yes")
"""Was a label of a set chosen?"""
TOKENS, ALTERNATIVES, POSITION_LENGTH = "tokens", "alternatives", "position_length"
"""Contents of documents: the start and end of each token, the text of each alternative, and the
length of a position, if it is not 1.
"""
ROUNDING = 1e-6
"""How far an object may lie outside its item: exports round the places of objects."""


def _source_place_field(words: str) -> Any:
    """A field that says where in the source an object stands. Objects are equal without it."""
    return field(default=words, compare=False, repr=False)


@dataclass(frozen=True)
class Span:
    """Characters of a text, from `start` to before `end`."""

    start: int
    end: int
    category: str
    where: str = _source_place_field("a span")
    kind: ClassVar[str] = "spans"

    def __post_init__(self) -> None:
        _refuse_unlikely_ends(self)

    @property
    def geometry(self) -> tuple[float, ...]:
        return self.start, self.end

    @property
    def place(self) -> str:
        return f"{self.start}-{self.end}"


@dataclass(frozen=True)
class Segment:
    """A part of a recording, in seconds."""

    start: float
    end: float
    category: str
    where: str = _source_place_field("a segment")
    kind: ClassVar[str] = "segments"

    def __post_init__(self) -> None:
        _refuse_unlikely_ends(self)

    @property
    def geometry(self) -> tuple[float, ...]:
        return self.start, self.end

    @property
    def place(self) -> str:
        return f"{self.start:g}-{self.end:g}"


@dataclass(frozen=True)
class Box:
    """An upright rectangle in an image, in pixels. `x` and `y` are its upper left corner."""

    x: float
    y: float
    width: float
    height: float
    category: str
    where: str = _source_place_field("a box")
    kind: ClassVar[str] = "boxes"

    def __post_init__(self) -> None:
        if not (self.width > 0 and self.height > 0):
            _raise_refusal(
                self.where,
                f"a box of width {self.width:g} and height {self.height:g}",
                "both above 0",
                "Draw the box again, or drop it.",
            )
        if not (self.x >= -ROUNDING and self.y >= -ROUNDING):
            _raise_refusal(
                self.where,
                f"a box that begins at {self.x:g}, {self.y:g}",
                "a corner inside the image",
                "Draw the box again, or drop it.",
            )

    @property
    def geometry(self) -> tuple[float, ...]:
        return self.x, self.y, self.width, self.height

    @property
    def place(self) -> str:
        return f"{self.x:g},{self.y:g} {self.width:g}x{self.height:g}"


@dataclass(frozen=True)
class Polygon:
    """An area in an image, by its corners in pixels. The last corner joins the first.

    The corners are kept one way round, from the smallest on. So one area is one polygon, however
    it was drawn.
    """

    points: tuple[Point, ...]
    category: str
    where: str = _source_place_field("a polygon")
    kind: ClassVar[str] = "polygons"

    def __post_init__(self) -> None:
        points = turn_anticlockwise(self.points)
        step = "Draw the polygon again, or drop it."
        if len(points) < 3:
            finding = f"a polygon of {counted(len({*self.points}), 'corner')}"
            _raise_refusal(self.where, finding, "three or more that differ", step)
        if min(min(point) for point in points) < -ROUNDING:
            _raise_refusal(self.where, "a corner under 0", "all corners inside the image", step)
        meeting_sides = first_crossing_sides(points)
        if meeting_sides is not None:
            first_side, second_side = (_side_text(points, number) for number in meeting_sides)
            finding = f"a polygon whose sides {first_side} and {second_side} meet"
            _raise_refusal(self.where, finding, "sides that meet at common corners alone", step)
        object.__setattr__(self, "points", points)

    @property
    def geometry(self) -> tuple[float, ...]:
        return tuple(number for point in self.points for number in point)

    @property
    def place(self) -> str:
        x, y = self.points[0]
        return f"{x:g},{y:g} with {len(self.points)} corners"


@dataclass(frozen=True)
class Keypoints:
    """Points of one body, in the order of its skeleton, in pixels.

    None stands for a point that was not set. `size` is the area of the body in pixels.
    """

    points: tuple[Point | None, ...]
    size: float
    category: str
    where: str = _source_place_field("a body of keypoints")
    kind: ClassVar[str] = "keypoints"

    def __post_init__(self) -> None:
        step = "Set the points again, or drop the object."
        if not self.set_points:
            finding = f"a body of {counted(len(self.points), 'keypoint')} of which none is set"
            _raise_refusal(self.where, finding, "one that is", step)
        if min(min(point) for point in self.set_points) < -ROUNDING:
            _raise_refusal(self.where, "a keypoint under 0", "all inside the image", step)
        if not self.size > 0:
            _raise_refusal(self.where, f"a body of area {self.size:g}", "an area above 0", step)

    @property
    def set_points(self) -> tuple[Point, ...]:
        return tuple(point for point in self.points if point is not None)

    @property
    def geometry(self) -> tuple[float, ...]:
        """A point that was not set is at -1."""
        return *(number for point in self.points for number in point or (-1, -1)), self.size

    @property
    def place(self) -> str:
        x, y = self.set_points[0]
        return f"{x:g},{y:g} with {len(self.set_points)} keypoints"


@dataclass(frozen=True)
class Ranking:
    """Alternatives from the best to the worst. Those of one group are tied.

    `shown` are the alternatives in the order in which they were displayed, if it is known.
    """

    groups: tuple[frozenset[str], ...]
    where: str = _source_place_field("a ranking")
    shown: tuple[str, ...] = ()
    kind: ClassVar[str] = "rankings"

    def __post_init__(self) -> None:
        names = [name for group in self.groups for name in group]
        if len(set(names)) != len(names) or len(names) < 2:
            _raise_refusal(
                self.where,
                f"a ranking of {listed(sorted(names))}",
                "two alternatives or more, each once",
                "Correct the ranking.",
            )
        if self.shown and not {*names} <= {*self.shown}:
            _raise_refusal(
                self.where,
                f"alternatives {listed(sorted({*names} - {*self.shown}))} that were not displayed",
                "the order of all that are ranked",
                "Correct the order, or leave it out.",
            )


@dataclass(frozen=True)
class Preference:
    """Which of two alternatives is better. The first was shown first."""

    first: str
    second: str
    choice: Choice
    where: str = _source_place_field("a preference")
    kind: ClassVar[str] = "preferences"

    def __post_init__(self) -> None:
        if self.first == self.second or self.choice not in ("first", "second", "tie"):
            _raise_refusal(
                self.where,
                f"choice {self.choice!r} between {self.first!r} and {self.second!r}",
                "first, second or tie, of two alternatives",
                "Correct the preference.",
            )


@dataclass(frozen=True)
class ChosenSet:
    """None ticked is an empty set."""

    members: frozenset[str]
    where: str = _source_place_field("a set")
    kind: ClassVar[str] = "sets"


@dataclass(frozen=True)
class Rubric:
    scores: Mapping[str, str]
    where: str = _source_place_field("a rubric")
    kind: ClassVar[str] = "rubrics"


Area = Span | Segment | Box | Polygon | Keypoints
LabelObject = Area | Ranking | Preference | ChosenSet | Rubric
AREAS = (Span, Segment, Box, Polygon, Keypoints)
KINDS = tuple(each.kind for each in (*AREAS, Ranking, Preference, ChosenSet, Rubric))


def written_geometry(area: Area) -> str:
    """The numbers of a place as a JSON list, whole ones without a decimal point.

    >>> written_geometry(Box(10, 20, 30, 40.5, "cat"))
    '[10, 20, 30, 40.5]'
    """
    numbers = [int(number) if number == int(number) else number for number in area.geometry]
    return json.dumps(numbers)


def frame_of(area: Area) -> tuple[float, float, float, float]:
    """The least and greatest x, and the least and greatest y. An interval has the height 1."""
    return frame_of_place(area.geometry)


@dataclass(frozen=True)
class Marked:
    """The label objects of one rater in one item that the rater opened.

    Parameters
    ----------
    objects
        What the rater marked. Nothing is an answer too.
    extent
        The length of a text or recording, or the width and height of an image. Empty if unknown.
    occurrence
        1, 2, … if the rater met the item again.

    Raises
    ------
    RatingsError
        An object lies outside the item, or is there twice.
    """

    item: str
    rater: str
    objects: tuple[LabelObject, ...]
    extent: tuple[float, ...] = ()
    where: str = "marked objects"
    occurrence: int = 1
    model: bool = False

    @property
    def is_empty(self) -> bool:
        """True if the item is known to have nothing to mark: it is no unit and no cluster."""
        return bool(self.extent) and not all(self.extent)

    def __post_init__(self) -> None:
        seen_areas = set()
        if len(self.extent) > 2 or not all(0 <= number < inf for number in self.extent):
            _raise_refusal(
                self.where,
                f"an item of size {listed(self.extent)}",
                "a length, or a width and a height",
                "Correct it, or leave it out.",
            )
        for area in self.areas:
            if not all(map(isfinite, area.geometry)):
                finding = f"{area.category!r} at {listed(area.geometry, 12)}"
                _raise_refusal(area.where, finding, "finite numbers", "Mark it again, or drop it.")
            _, right, _, bottom = frame_of(area)
            far_corner = (right,) if isinstance(area, Span | Segment) else (right, bottom)
            if self.extent and (
                len(far_corner) != len(self.extent)
                or any(
                    coordinate > limit + ROUNDING
                    for coordinate, limit in zip(far_corner, self.extent, strict=True)
                )
            ):
                size, reach = (
                    " by ".join(f"{number:.10g}" for number in numbers)
                    for numbers in (self.extent, far_corner)
                )
                _raise_refusal(
                    area.where,
                    f"{area.category!r} at {area.place}, which reaches to {reach} in an item of "
                    f"{size}",
                    "an object inside it",
                    "Mark it again, or export the item with it.",
                )
            if (area.geometry, area.category) in seen_areas:
                _raise_refusal(
                    area.where,
                    f"{area.category!r} at {area.place} twice by rater {self.rater!r}",
                    "each object once",
                    "Drop the repetition.",
                )
            seen_areas.add((area.geometry, area.category))

    @property
    def areas(self) -> tuple[Area, ...]:
        return tuple(
            label_object for label_object in self.objects if isinstance(label_object, AREAS)
        )


def answers_in_order(marked: Iterable[Marked]) -> list[Marked]:
    """The answers by item, rater and occurrence. No two may be of one."""
    ordered = sorted(marked, key=SEAT)
    for previous, current in pairwise(ordered):
        if SEAT(previous) == SEAT(current):
            raise RatingsError(
                f"{current.where}: found item {current.item!r} twice by rater {current.rater!r}; "
                "expected it once. Number the occurrences, or drop the repetition."
            )
    return ordered


def refuse_unknown_categories(marked: Iterable[Marked], categories: Collection[str]) -> None:
    for answer in marked:
        for label_object in answer.objects:
            used_categories = set[str]()
            if isinstance(label_object, AREAS):
                used_categories = {label_object.category}
            elif isinstance(label_object, ChosenSet):
                used_categories = {*label_object.members}
            if unknown := sorted(used_categories - {*categories}):
                _raise_refusal(
                    label_object.where,
                    f"category {unknown[0]!r}",
                    f"one of {listed(categories, 12)}",
                    "Correct it, or add it to the scale.",
                )


def extent_by_item_of(marked: Sequence[Marked]) -> dict[str, tuple[float, ...]]:
    """The size of each item, as far as an answer tells it."""
    extent_by_item: dict[str, tuple[float, ...]] = {}
    for answer in marked:
        extent = extent_by_item.get(answer.item) or answer.extent
        extent_by_item[answer.item] = extent
        if answer.extent and extent != answer.extent:
            raise RatingsError(
                f"{answer.where}: found item {answer.item!r} of size {listed(answer.extent)}, and "
                f"{listed(extent)} elsewhere; expected one size. "
                "Give every content an item of its own."
            )
    return extent_by_item


def scale_of_areas(marked: Sequence[Marked], source: str) -> Scale:
    """The categories that raters marked, and none."""
    names = sorted({area.category for answer in marked for area in answer.areas})
    if not names:
        raise RatingsError(
            f"{source}: found no marked object in {counted(len(marked), 'answer')}; expected one, "
            "to know the categories. Name the categories."
        )
    return Scale((NONE, *names), declared=False)


def _refuse_unlikely_ends(span: Span | Segment) -> None:
    step = "Mark it again, or drop it."
    if not span.start >= 0:
        _raise_refusal(span.where, f"start {span.start}", "0 or more", step)
    if not span.end > span.start:
        finding = f"start {span.start} and end {span.end}"
        _raise_refusal(span.where, finding, "an end after the start", step)


def _side_text(points: tuple[Point, ...], number: int) -> str:
    """The two ends of a side of a polygon, as errors write them."""
    corners = points[number], points[(number + 1) % len(points)]
    return " to ".join(f"{x:.10g},{y:.10g}" for x, y in corners)


def _raise_refusal(place: str, finding: str, expected: str, step: str) -> NoReturn:
    raise RatingsError(f"{place}: found {finding}; expected {expected}. {step}")
