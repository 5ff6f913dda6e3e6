"""From marked items to units, which are ordinary ratings with the item as the cluster; and back.

A rule says how: a project names it and says what it reads.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

import pandas as pd

from agreement_pipeline.engine import Session
from agreement_pipeline.errors import RatingsError
from agreement_pipeline.ratings import (
    CONTENT_PREFIX,
    PART_UNIT_OF,
    TEXT,
    Ratings,
    Scale,
    arrow_to_pandas,
)
from agreement_pipeline.text import listed
from agreement_pipeline.units import answers, matched, positions
from agreement_pipeline.units.objects import (
    ANSWERS,
    POSITION_LENGTH,
    Area,
    Box,
    Keypoints,
    Marked,
    Polygon,
    Segment,
    Span,
    answers_in_order,
    refuse_unknown_categories,
    scale_of_areas,
)
from agreement_pipeline.units.places import NONE, document_of, item_of, number_names_of_units
from agreement_pipeline.units.settings import RULES, Part, UnitSettings

MARKED = "marked"


class UnitMaker(NamedTuple):
    """How a rule makes units of objects."""

    build_rows: Callable[[Sequence[Marked], UnitSettings, Sequence[str]], pd.DataFrame]
    read_scale: Callable[[Sequence[Marked], str], Scale]


MAKERS = {
    "positions": UnitMaker(positions.build_run_rows, scale_of_areas),
    "matched": UnitMaker(matched.build_matched_rows, scale_of_areas),
    "paired": UnitMaker(partial(matched.build_matched_rows, in_pairs=True), scale_of_areas),
    "pairs": UnitMaker(answers.build_pair_rows, lambda marked, source: Scale(answers.CHOICES)),
    "members": UnitMaker(answers.build_member_rows, lambda marked, source: Scale(ANSWERS)),
    "criteria": UnitMaker(answers.build_criterion_rows, answers.scale_of_scores),
}
"""By the name of the rule."""


@dataclass(frozen=True, eq=False)
class Units:
    """The units of a round.

    Parameters
    ----------
    rows
        One row a unit and rater: `item` (the unit), `rater`, `occurrence`, `label`, `cluster` (the
        item) and, where a unit stands for many, `weight`. `part:unit_of` is the item, and what the
        unit is in it stands in `part:member`, `part:criterion`, or `part:first` and `part:second`.
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
        return self.naming if self.part == "naming" else self._build_ratings(self.rows, self.scale)

    @property
    def marking(self) -> Ratings:
        """Did they mark it? Each unit has *marked* or *none*."""
        label = (
            self._rows_of_marked_areas["label"]
            .astype(TEXT)
            .where(self.rows["label"] == NONE, MARKED)
        )
        return self._build_ratings(self.rows.assign(label=label), Scale((NONE, MARKED)))

    @property
    def naming(self) -> Ratings:
        """Did they name it alike? The ratings are of those who marked the unit."""
        rows = self._rows_of_marked_areas[self.rows["label"] != NONE]
        names = tuple(name for name in self.scale.names if name != NONE)
        return self._build_ratings(rows, Scale(names, declared=self.scale.declared))

    @property
    def _rows_of_marked_areas(self) -> pd.DataFrame:
        if NONE not in self.scale.names:
            raise RatingsError(
                f"{self.source}: found units with labels {listed(self.scale.names, 12)}; expected "
                "units of objects that raters mark. Read the agreement of the units themselves."
            )
        return self.rows

    def _build_ratings(self, rows: pd.DataFrame, scale: Scale) -> Ratings:
        present = {*rows["rater"]}
        classifiers = [name for name in self.classifiers if name in present]
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
    ordered = answers_in_order(answer for answer in marked if not answer.is_empty)
    kind, rule = settings.kind, RULES[settings.rule]
    for label_object in (
        label_object
        for answer in ordered
        for label_object in answer.objects
        if label_object.kind != kind
    ):
        raise RatingsError(
            f"{label_object.where}: found {label_object.kind}; expected {kind} only. "
            "Choose the question that holds them, or correct the kind of the units."
        )
    unit_scale = _scale_of_units(ordered, settings, scale, source)
    if "part" in rule.settings:
        refuse_unknown_categories(ordered, [name for name in unit_scale.names if name != NONE])
    elif settings.members:
        refuse_unknown_categories(ordered, settings.members)
    rows = MAKERS[settings.rule].build_rows(ordered, settings, unit_scale.names)
    rows = rows.assign(**{PART_UNIT_OF: rows["cluster"]})
    models = sorted({answer.rater for answer in ordered if answer.model})
    return Units(rows, unit_scale, tuple(models), settings.part, source)


def _scale_of_units(
    marked: Sequence[Marked], settings: UnitSettings, scale: Scale | None, source: str
) -> Scale:
    """The scale of the units' labels: that of the team, or one read off the objects."""
    rule = RULES[settings.rule]
    if scale is None or settings.part == "marking":
        return MAKERS[settings.rule].read_scale(marked, source)
    if settings.part == "naming":
        return Scale((NONE, *scale.names), declared=scale.declared)
    if "part" in rule.settings and NONE not in scale.names:
        raise RatingsError(
            f"scale: found categories {listed(scale.names, 12)} without {NONE!r}; expected it too, "
            "since it is the label of a rater who marked nothing. Add it to the categories."
        )
    return scale


SIZES = {
    "segments": ("duration_seconds",),
    **dict.fromkeys(("boxes", "polygons", "keypoints"), ("image_width", "image_height")),
}
"""Contents of documents that say how large they are, in the order of `Marked.extent`."""


def size_columns_of(marked: Sequence[Marked], settings: UnitSettings) -> dict[str, dict[str, str]]:
    """The sizes of images, recordings and positions, as texts: by the name of the column, then by
    item.
    """
    sizes: dict[str, dict[str, str]] = {}
    for answer in marked:
        for name, size in zip(SIZES.get(settings.kind, ()), answer.extent, strict=False):
            sizes.setdefault(f"{CONTENT_PREFIX}{name}", {})[answer.item] = f"{size:.15g}"
    if settings.rule == "positions" and settings.step != 1:
        length = f"{settings.step:.15g}"
        sizes[f"{CONTENT_PREFIX}{POSITION_LENGTH}"] = dict.fromkeys(
            (m.item for m in marked), length
        )
    return sizes


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
        settings_change: dict[str, Any] = {name: value}
        yield value, units_of(marked, replace(settings, **settings_change), scale)


OF_NUMBERS = {2: "segments", 4: "boxes", 2 * len(matched.SIGMAS) + 1: "keypoints"}
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
    table = ratings.first_ratings(["item", "rater", "label", *({"drawn"} & ratings.has)])
    frame = arrow_to_pandas(table).astype(TEXT).rename(columns={"item": "unit"})
    frame["item"] = frame["unit"].map(document_of)
    clusters_table = ratings.items(["cluster"])
    units = zip(
        clusters_table["item"].to_pylist(), clusters_table["cluster"].to_pylist(), strict=True
    )
    clusters = {document_of(unit): cluster for unit, cluster in units}
    return Objects(
        list(_iterate_marked_items(frame, settings, {*ratings.classifiers})), settings, clusters
    )


def _settings_of(ratings: Ratings) -> UnitSettings | None:
    """The settings under which units were made. None if their names do not tell."""
    names = ratings.scale.names
    part: Part = "all" if NONE in names else "naming"
    if "cluster" not in ratings.has:
        return None
    if (
        "weight" in ratings.has
        and number_names_of_units(ratings.items()["item"].to_pylist()) == SPAN
    ):
        return UnitSettings("spans", part=part)
    if "drawn" in ratings.has:
        places = ratings.first_ratings(["drawn"])["drawn"].drop_null()
        numbers = len(json.loads(places[0].as_py())) if len(places) and MARKED not in names else 0
        kind = OF_NUMBERS.get(numbers, "polygons" if numbers and numbers % 2 == 0 else None)
        return None if kind is None else UnitSettings(kind, rule="matched", part=part)
    return None


def _iterate_marked_items(
    frame: pd.DataFrame, settings: UnitSettings, models: set[str]
) -> Iterator[Marked]:
    at_positions, lengths = settings.rule == "positions", dict[str, float]()
    if at_positions:
        # An item is as long as the place where its last run ends.
        run_ends = frame["unit"].map(lambda unit: item_of(unit, SPAN)[1][1])
        lengths = dict(run_ends.groupby(frame["item"]).max())
    for key, rows in frame.groupby(["item", "rater"], sort=False):
        item, rater = map(str, key)
        marked_rows = rows[rows["label"] != NONE]
        if at_positions:
            areas = _areas_of_runs(marked_rows)
        else:
            places = zip(map(json.loads, marked_rows["drawn"]), marked_rows["label"], strict=True)
            areas = [_build_area(numbers, label, settings.kind) for numbers, label in places]
        extent = (lengths[item],) if at_positions else ()
        # An object stands in several units if raters were matched in pairs.
        distinct_areas = tuple(dict.fromkeys(areas))
        yield Marked(item, rater, distinct_areas, extent, model=rater in models)


def _areas_of_runs(runs: pd.DataFrame) -> list[Area]:
    """The spans of one rater in one item. One of them may be cut into several runs."""
    # A round that was stored by an older version does not say which runs are of one span.
    places = runs["drawn"] if "drawn" in runs else runs["unit"]
    ends_by_span: dict[tuple[str, str], list[float]] = {}
    for unit, place, label in zip(runs["unit"], places, runs["label"], strict=True):
        numbers = item_of(unit, SPAN)[1]
        ends_by_span.setdefault((place, label), []).extend(n for n in numbers if n is not None)
    return [
        Span(int(min(coordinates)), int(max(coordinates)), label)
        for (_, label), coordinates in ends_by_span.items()
    ]


def _build_area(numbers: Sequence[Any], label: str, kind: str) -> Area:
    if kind == "segments":
        return Segment(numbers[0], numbers[1], label)
    if kind == "boxes":
        x, y, width, height = numbers
        return Box(x, y, width, height, label)
    if kind == "polygons":
        return Polygon(tuple(_pair_up_coordinates(numbers)), label)
    points = (None if min(point) < 0 else point for point in _pair_up_coordinates(numbers[:-1]))
    return Keypoints(tuple(points), numbers[-1], label)


def _pair_up_coordinates(numbers: Sequence[float]) -> Iterable[tuple[float, float]]:
    return zip(numbers[::2], numbers[1::2], strict=True)
