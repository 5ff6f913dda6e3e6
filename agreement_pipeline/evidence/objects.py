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
from agreement_pipeline.evidence.judged import JudgedRound, measured
from agreement_pipeline.evidence.section import (
    Answer,
    Row,
    grid,
    title_of,
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
    numbers_named,
    objects_of,
    place_of,
    points_named,
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
MOVED = {
    "at_least": "Objects are matched again at each similarity, by the area of both over the area "
    "of either (of keypoints: COCO's similarity). A value that moves much says that raters mark "
    "the same things with other edges.",
    "step": "Positions are taken together by each number of steps of the round. A value that moves "
    "much says that raters mark the same things with other ends.",
}


class Unit(NamedTuple):
    name: str
    place: tuple[float, ...]
    said: Mapping[str, str]
    drawn: Mapping[str, tuple[float, ...]]

    @property
    def counts(self) -> list[tuple[str, int]]:
        return Counter(self.said.values()).most_common()

    @property
    def dissenters(self) -> list[str]:
        (agreed, most), *others = self.counts
        tied = bool(others) and others[0][1] == most
        return [rater for rater, label in self.said.items() if tied or label != agreed]

    @property
    def words(self) -> str:
        raters: defaultdict[str, list[str]] = defaultdict(list)
        for rater, label in self.said.items():
            raters[label].append(rater)
        return "; ".join(f"{label}: {', '.join(names)}" for label, names in raters.items())


def marked_objects(judged: JudgedRound) -> Answer | None:
    if "cluster" not in judged.ratings.has:
        return None
    kind, disputed = kind_of(judged.by_item[0].to_pylist()), _disputed(judged)
    if kind is None or not disputed:
        return None
    of_item: defaultdict[str, float] = defaultdict(float)
    for name, part in disputed.items():
        of_item[document_of(name)] += part
    items = sorted(of_item, key=lambda item: (-of_item[item], item))[:MOST_ITEMS]
    units = _units(judged, {*items}, {*disputed})
    drawn = [item for item in items if any(unit.place for unit in units[item])]
    figures = tuple(_figure(judged, kind, item, units[item]) for item in drawn)
    which = "None is drawn, since the ratings do not say where objects lie."
    if drawn:
        are = "is" if len(drawn) == 1 else "are"
        which = f"The most disputed {are} drawn: {', '.join(drawn)}."
    every = {unit.name: unit for found in units.values() for unit in found}
    rows = [
        [name, every[name].words, ", ".join(every[name].dissenters)]
        for name in disputed
        if name in every
    ]
    columns = ("unit", "what raters said", "who dissents")
    title = "The units on which raters differ most, of these items"
    said = f"Raters differ on {counted(len(disputed), 'unit')}. {which}"
    return Answer((said,), figures, (grid(title, columns, rows, "units"),))


def _disputed(judged: JudgedRound) -> dict[str, float]:
    disputed = judged.most_disputed.items()
    shares = {name: float(judged.disagreement[at]) for name, at in disputed}
    if "weight" in judged.ratings.has:
        found = judged.ratings.items(["weight"], names=shares)
        for row in found.to_pylist():
            shares[row["item"]] *= row["weight"]
    return dict(sorted(shares.items(), key=lambda each: (-each[1], each[0])))


def _units(judged: JudgedRound, items: set[str], disputed: set[str]) -> dict[str, list[Unit]]:
    """A unit lies where its name says, or where the first of its objects does."""
    ratings = judged.ratings
    names = [name for name in ratings.items()["item"].to_pylist() if document_of(name) in items]
    # The units of positions are parts of what raters drew, so they show where all of it lies.
    own_places = {"drawn"} & ratings.has if "weight" not in ratings.has else set[str]()
    columns = ["item", "rater", "label", *own_places]
    rows = ratings.first(columns, items=names, raters=judged.raters, gold=True).to_pylist()
    said: defaultdict[str, dict[str, str]] = defaultdict(dict)
    drawn: defaultdict[str, dict[str, tuple[float, ...]]] = defaultdict(dict)
    for row in rows:
        said[row["item"]][row["rater"]] = str(row["label"])
        if row.get("drawn") is not None:
            drawn[row["item"]][row["rater"]] = tuple(json.loads(row["drawn"]))
    found: dict[str, list[Unit]] = {item: [] for item in sorted(items)}
    for name, labels in said.items():
        if name in disputed or {*labels.values()} != {NONE}:
            place = place_of(name) or min(drawn[name].values(), default=())
            found[document_of(name)].append(Unit(name, place, labels, drawn[name]))
    return {item: sorted(each, key=lambda unit: unit.place) for item, each in found.items()}


def kind_of(units: Iterable[str]) -> Kind | None:
    """How units are drawn, by their names.

    >>> kind_of(["d 0-3"]), kind_of(["i 10,20 with 4 corners"]), kind_of(["i 4"])
    ('spans', 'outlines', None)
    """
    names = list(units)
    points = points_named(names)
    return KINDS_OF_POINTS[points] if points else KINDS.get(numbers_named(names))


def _figure(judged: JudgedRound, kind: Kind, item: str, units: Sequence[Unit]) -> Figure:
    shown, raters = units[:MOST_UNITS], judged.raters
    more = f" The first {MOST_UNITS} units are drawn." if len(units) > MOST_UNITS else ""
    says = SAYS[kind] + more
    if kind == "spans":
        lines = (Series(rater, tuple(_spans(rater, shown))) for rater in raters)
        return Figure(kind, item, says, tuple(lines), axis="position")
    drawn = []
    for unit in shown:
        if unit.place:
            counts = ", ".join(f"{label} {times}" for label, times in unit.counts)
            drawn.append(_mark(kind, counts, unit.place, "bad" if unit.dissenters else "good"))
    series = [Series("units", tuple(drawn))]
    for rater in raters:
        elsewhere = tuple(
            _mark(kind, f"{rater}: {unit.said[rater]}", unit.drawn[rater], "plain")
            for unit in shown
            if unit.drawn.get(rater, unit.place) != unit.place
        )
        series += [Series(rater, elsewhere)] if elsewhere else []
    picture = None if judged.images is None else picture_of(item, judged.images)
    return Figure(kind, item, says, tuple(series), axis="pixels across and down", picture=picture)


def _spans(rater: str, units: Sequence[Unit]) -> Iterator[Mark]:
    for unit in units:
        dissents = rater in unit.dissenters
        start, end = unit.place
        if dissents or unit.said.get(rater, NONE) != NONE:
            tone: Tone = "bad" if dissents else "good"
            yield Mark(unit.said[rater], None, start, end, tone=tone)


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


def picture_of(item: str, folder: Path) -> Picture | None:
    """A small picture of an item, from the image in a folder that has its name.

    It is drawn anew from the pixels, so nothing else of the file comes with it, such as its place.
    """
    path = _image(item, folder)
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
                written = io.BytesIO()
                bare.save(written, "JPEG", quality=quality)
                if written.tell() <= MOST_BYTES:
                    coded = base64.b64encode(written.getvalue()).decode()
                    return Picture(f"data:image/jpeg;base64,{coded}", width, height)
    except (OSError, SyntaxError, ValueError, UnidentifiedImageError, Image.DecompressionBombError):
        pass
    return None


def _image(item: str, folder: Path) -> Path | None:
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


def other_settings(judged: JudgedRound) -> Answer | None:
    if len(judged.ratings) > MOST_RATINGS:
        return None
    found = objects_of(judged.ratings)
    if found is None:
        return None
    name, head, values = "at_least", "similarity", SIMILARITIES
    if found.settings.rule == "positions":
        name, head, values = "step", "steps", STEPS
    rows: list[Row] = []
    scale, policy, marked = judged.ratings.scale, judged.policy, found.marked
    for value, units in at_each(marked, found.settings, values, scale):
        estimates = measured(_in_clusters(units, found).ratings, MEASURES, policy, ["round"])
        rows.append([f"{value:g}", *(c for each in estimates for c in value_and_interval(each))])
    columns = [column for name in MEASURES for column in (title_of(name), "interval")]
    said = [MOVED[name]]
    if found.settings.rule == "matched" and NONE in scale.names:
        in_pairs = at_each(marked, replace(found.settings, rule="paired"), values, scale)
        for place, (_, units) in enumerate(in_pairs):
            every = measured(_in_clusters(units, found).marking, [F1], policy, ["category"])
            of_marked = next((each for each in every if each.scope.name == MARKED), None)
            rows[place] = [*rows[place], *value_and_interval(of_marked)]
        columns += ["F1 of pairs", "interval"]
        said.append(IN_PAIRS)
    table = grid(f"Agreement by {head}", (head, *columns), rows, "settings")
    return Answer(tuple(said), (), (table,))


def _in_clusters(units: Units, found: Objects) -> Units:
    clusters = units.rows["cluster"].astype(TEXT).map(found.clusters)
    return replace(units, rows=units.rows.assign(cluster=clusters))
