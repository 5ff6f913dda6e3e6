"""Units of marked objects: where they lie, who dissents, and what other settings would give."""

import base64
import io
import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import Literal, NamedTuple

from agreement_pipeline.errors import RatingsError
from agreement_pipeline.evidence.figure import Figure, Mark, Picture, Series, Tone
from agreement_pipeline.evidence.judged import JudgedRound, measure_scopes
from agreement_pipeline.evidence.section import (
    Answer,
    Row,
    build_grid,
    measure_title,
    value_and_interval,
)
from agreement_pipeline.ratings import TEXT
from agreement_pipeline.text import counted
from agreement_pipeline.units import (
    MARKED,
    NONE,
    Objects,
    Units,
    at_each,
    document_of,
    number_names_of_units,
    objects_of,
    place_numbers_of,
    point_noun_of_units,
)

MOST_ITEMS, MOST_UNITS = 3, 60
MOST_RATINGS = 20_000
"""The units of a larger round are not made again."""

Kind = Literal["spans", "frames", "outlines", "bodies"]
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
FORMATS = ("JPEG", "PNG", "WEBP", "BMP", "TIFF")
WIDEST, TALLEST = 480, 480
MOST_PIXELS, MOST_BYTES = 50_000_000, 80_000
QUALITIES = (70, 45, 20)
SIMILARITIES, STEPS = (0.3, 0.5, 0.7, 0.9), (1.0, 2.0, 5.0, 10.0)
MEASURES, F1 = ("krippendorff_alpha", "percent_agreement"), "specific_agreement"
IN_PAIRS = (
    "F1 of pairs says how often an object of one rater has its like with another rater. It has the "
    "same meaning for any number of raters. The other values rise with it, since more raters find "
    "more objects."
)
SETTING_NOTES = {
    "at_least": "Objects are matched again at each similarity, by the area of both over the area "
    "of either (of keypoints: COCO's similarity). A value that moves much says that raters mark "
    "the same things with other edges.",
    "step": "Positions are taken together by each number of steps of the round. A value that moves "
    "much says that raters mark the same things with other ends.",
}


class ShownUnit(NamedTuple):
    name: str
    place: tuple[float, ...]
    said: Mapping[str, str]
    drawn: Mapping[str, tuple[float, ...]]

    @property
    def counts(self) -> list[tuple[str, int]]:
        return Counter(self.said.values()).most_common()

    @property
    def dissenters(self) -> list[str]:
        (agreed, n_agreed), *runners_up = self.counts
        tied = bool(runners_up) and runners_up[0][1] == n_agreed
        return [rater for rater, label in self.said.items() if tied or label != agreed]

    @property
    def words(self) -> str:
        raters: defaultdict[str, list[str]] = defaultdict(list)
        for rater, label in self.said.items():
            raters[label].append(rater)
        return "; ".join(f"{label}: {', '.join(names)}" for label, names in raters.items())


def answer_about_marked_objects(judged_round: JudgedRound) -> Answer | None:
    if "cluster" not in judged_round.ratings.has:
        return None
    kind, disputed = (
        drawing_kind_of(judged_round.by_item[0].to_pylist()),
        _dispute_by_item(judged_round),
    )
    if kind is None or not disputed:
        return None
    of_item: defaultdict[str, float] = defaultdict(float)
    for name, part in disputed.items():
        of_item[document_of(name)] += part
    items = sorted(of_item, key=lambda item: (-of_item[item], item))[:MOST_ITEMS]
    units = _units_by_item(judged_round, {*items}, {*disputed})
    drawn_items = [item for item in items if any(unit.place for unit in units[item])]
    figures = tuple(_build_figure(judged_round, kind, item, units[item]) for item in drawn_items)
    drawn_note = "None is drawn, since the ratings do not say where objects lie."
    if drawn_items:
        are = "is" if len(drawn_items) == 1 else "are"
        drawn_note = f"The most disputed {are} drawn: {', '.join(drawn_items)}."
    unit_by_name = {unit.name: unit for item_units in units.values() for unit in item_units}
    rows = [
        [name, unit_by_name[name].words, ", ".join(unit_by_name[name].dissenters)]
        for name in disputed
        if name in unit_by_name
    ]
    columns = ("unit", "what raters said", "who dissents")
    title = "The units on which raters differ most, of these items"
    sentence = f"Raters differ on {counted(len(disputed), 'unit')}. {drawn_note}"
    return Answer((sentence,), figures, (build_grid(title, columns, rows, "units"),))


def _dispute_by_item(judged_round: JudgedRound) -> dict[str, float]:
    share_by_place = judged_round.share_of_disagreement_by_item
    disputed = judged_round.most_disputed.items()
    shares = {name: float(share_by_place[place]) for name, place in disputed}
    if "weight" in judged_round.ratings.has:
        weights = judged_round.ratings.items(["weight"], names=shares)
        for row in weights.to_pylist():
            shares[row["item"]] *= row["weight"]
    return dict(
        sorted(shares.items(), key=lambda name_and_share: (-name_and_share[1], name_and_share[0]))
    )


def _units_by_item(
    judged_round: JudgedRound, items: set[str], disputed: set[str]
) -> dict[str, list[ShownUnit]]:
    """A unit lies where its name says, or where the first of its objects does."""
    ratings = judged_round.ratings
    names = [name for name in ratings.items()["item"].to_pylist() if document_of(name) in items]
    # The units of positions are parts of what raters drew, so they show where all of it lies.
    own_places = {"drawn"} & ratings.has if "weight" not in ratings.has else set[str]()
    columns = ["item", "rater", "label", *own_places]
    rows = ratings.first_ratings(
        columns, items=names, raters=judged_round.raters, gold=True
    ).to_pylist()
    labels_by_item: defaultdict[str, dict[str, str]] = defaultdict(dict)
    places_by_item: defaultdict[str, dict[str, tuple[float, ...]]] = defaultdict(dict)
    for row in rows:
        labels_by_item[row["item"]][row["rater"]] = str(row["label"])
        if row.get("drawn") is not None:
            places_by_item[row["item"]][row["rater"]] = tuple(json.loads(row["drawn"]))
    units_by_item: dict[str, list[ShownUnit]] = {item: [] for item in sorted(items)}
    for name, labels in labels_by_item.items():
        if name in disputed or {*labels.values()} != {NONE}:
            place = place_numbers_of(name) or min(places_by_item[name].values(), default=())
            units_by_item[document_of(name)].append(
                ShownUnit(name, place, labels, places_by_item[name])
            )
    return {
        item: sorted(item_units, key=lambda unit: unit.place)
        for item, item_units in units_by_item.items()
    }


def drawing_kind_of(units: Iterable[str]) -> Kind | None:
    """How units are drawn, by their names.

    >>> [drawing_kind_of([name]) for name in ("d 0-3", "i 10,20 with 4 corners", "i 4")]
    ['spans', 'outlines', None]
    """
    names = list(units)
    points = point_noun_of_units(names)
    return KINDS_OF_POINTS[points] if points else KINDS.get(number_names_of_units(names))


def _build_figure(
    judged_round: JudgedRound, kind: Kind, item: str, units: Sequence[ShownUnit]
) -> Figure:
    shown_units, raters = units[:MOST_UNITS], judged_round.raters
    overflow_note = f" The first {MOST_UNITS} units are drawn." if len(units) > MOST_UNITS else ""
    says = SAYS[kind] + overflow_note
    if kind == "spans":
        lines = (Series(rater, tuple(_iterate_span_marks(rater, shown_units))) for rater in raters)
        return Figure(kind, item, says, tuple(lines), axis="position")
    marks = []
    for unit in shown_units:
        if unit.place:
            counts = ", ".join(f"{label} {times}" for label, times in unit.counts)
            marks.append(
                _build_mark(kind, counts, unit.place, "bad" if unit.dissenters else "good")
            )
    series = [Series("units", tuple(marks))]
    for rater in raters:
        elsewhere = tuple(
            _build_mark(kind, f"{rater}: {unit.said[rater]}", unit.drawn[rater], "plain")
            for unit in shown_units
            if unit.drawn.get(rater, unit.place) != unit.place
        )
        series += [Series(rater, elsewhere)] if elsewhere else []
    picture = None if judged_round.images is None else load_picture(item, judged_round.images)
    return Figure(kind, item, says, tuple(series), axis="pixels across and down", picture=picture)


def _iterate_span_marks(rater: str, units: Sequence[ShownUnit]) -> Iterator[Mark]:
    for unit in units:
        dissents = rater in unit.dissenters
        start, end = unit.place
        if dissents or unit.said.get(rater, NONE) != NONE:
            tone: Tone = "bad" if dissents else "good"
            yield Mark(unit.said[rater], None, start, end, tone=tone)


def _build_mark(kind: Kind, label: str, place: tuple[float, ...], tone: Tone) -> Mark:
    if kind == "frames":
        x, y, width, height = place
        return Mark(label, None, y, y + height, across_low=x, across_high=x + width, tone=tone)
    numbers = place[:-1] if kind == "bodies" else place
    pairs = zip(numbers[::2], numbers[1::2], strict=True)
    points = tuple(point for point in pairs if point != NOT_SET)
    (left, right), (top, foot) = (
        (min(coordinates), max(coordinates)) for coordinates in zip(*points, strict=True)
    )
    return Mark(
        label, None, top, foot, across_low=left, across_high=right, tone=tone, points=points
    )


def load_picture(item: str, folder: Path) -> Picture | None:
    """A small picture of an item, from the image in a folder that has its name.

    It is drawn anew from the pixels, so nothing else of the file comes with it, such as its place.
    """
    path = _find_image_file(item, folder)
    if path is None:
        return None
    try:
        from PIL import Image, ImageOps, UnidentifiedImageError
    except ImportError as cause:
        raise RatingsError(
            "images: found no Pillow, which reads images; expected it. "
            "Install agreement-pipeline[images], or leave the images out."
        ) from cause
    try:
        with Image.open(path, formats=FORMATS) as image:
            if image.width * image.height > MOST_PIXELS:
                return None
            upright = ImageOps.exif_transpose(image)
            width, height = upright.size
            upright.thumbnail((WIDEST, TALLEST))
            small = upright.convert("RGB")
            bare = Image.frombytes("RGB", small.size, small.tobytes())
            for quality in QUALITIES:
                jpeg = io.BytesIO()
                bare.save(jpeg, "JPEG", quality=quality)
                if jpeg.tell() <= MOST_BYTES:
                    coded = base64.b64encode(jpeg.getvalue()).decode()
                    return Picture(f"data:image/jpeg;base64,{coded}", width, height)
    except (OSError, SyntaxError, ValueError, UnidentifiedImageError, Image.DecompressionBombError):
        pass
    return None


def _find_image_file(item: str, folder: Path) -> Path | None:
    """The file of the item's whole name or last name. No name leads out of the folder."""
    home = folder.resolve()
    for name in (item, PurePosixPath(item).name):
        try:
            path = (home / name).resolve()
            if path.is_relative_to(home) and path.is_file():
                return path
        except (OSError, ValueError):
            continue
    return None


def answer_about_other_settings(judged_round: JudgedRound) -> Answer | None:
    if len(judged_round.ratings) > MOST_RATINGS:
        return None
    objects = objects_of(judged_round.ratings)
    if objects is None:
        return None
    name, head, values = "at_least", "similarity", SIMILARITIES
    if objects.settings.rule == "positions":
        name, head, values = "step", "steps", STEPS
    rows: list[Row] = []
    scale, policy, marked = judged_round.ratings.scale, judged_round.policy, objects.marked
    for value, units in at_each(marked, objects.settings, values, scale):
        estimates = measure_scopes(
            _add_clusters(units, objects).ratings, MEASURES, policy, ["round"]
        )
        rows.append(
            [f"{value:g}", *(c for estimate in estimates for c in value_and_interval(estimate))]
        )
    columns = [column for name in MEASURES for column in (measure_title(name), "interval")]
    sentences = [SETTING_NOTES[name]]
    if objects.settings.rule == "matched" and NONE in scale.names:
        in_pairs = at_each(marked, replace(objects.settings, rule="paired"), values, scale)
        for place, (_, units) in enumerate(in_pairs):
            by_category = measure_scopes(
                _add_clusters(units, objects).marking, [F1], policy, ["category"]
            )
            of_marked = next(
                (estimate for estimate in by_category if estimate.scope.name == MARKED), None
            )
            rows[place] = [*rows[place], *value_and_interval(of_marked)]
        columns += ["F1 of pairs", "interval"]
        sentences.append(IN_PAIRS)
    table = build_grid(f"Agreement by {head}", (head, *columns), rows, "settings")
    return Answer(tuple(sentences), (), (table,))


def _add_clusters(units: Units, objects: Objects) -> Units:
    clusters = units.rows["cluster"].astype(TEXT).map(objects.clusters)
    return replace(units, rows=units.rows.assign(cluster=clusters))
