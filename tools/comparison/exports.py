"""Exports of labelling tools: those of the tests of the readers, and spans and boxes drawn anew."""

from dataclasses import fields
from pathlib import Path
from shutil import copy, copytree
from typing import Any

from tests.readers import drawings
from tests.readers.exports_of_tools import CASES
from tools.comparison.cases import Plain, Reading
from tools.comparison.tables import Rng

NAMES = {"spans": ("PER", "ORG"), "boxes": ("cat", "dog")}
TOOLS = {
    "spans": ("label_studio", "prodigy", "doccano", "argilla", "conll", "inception", "webanno"),
    "boxes": ("label_studio", "coco", "cvat", "pascal_voc"),
}
UNITS: dict[str, tuple[Plain, ...]] = {
    "spans": (
        {},
        {"rule": "matched"},
        {"part": "naming"},
        {"part": "marking"},
        {"step": 2},
    ),
    "boxes": ({}, {"at_least": 0.8}, {"similarity": "overlap", "part": "marking"}),
}
STORED = [(name, question) for name, case in CASES.items() for question in case.questions]
DRAWN = [(tool, kind) for kind, tools in TOOLS.items() for tool in tools]


def random_export(rng: Rng, at: int, path: Path) -> tuple[str, str, Reading]:
    """The words for an export, the name of its file or folder, and how it is read."""
    if at % 2:
        return _drawn(rng, at // 2, path)
    return _stored(*STORED[at // 2 % len(STORED)], path)


def _stored(name: str, question: str, path: Path) -> tuple[str, str, Reading]:
    """An export that the tests keep, read for one of its questions."""
    case, path = CASES[name], path.with_name(path.name + CASES[name].file.suffix)
    (copytree if case.file.is_dir() else copy)(case.file, path)
    columns = _said(case.columns)
    if len(case.questions) > 1:
        columns["label"] = question
    return f"{name} {question}", path.name, Reading(columns=columns, rules=_said(case.rules))


def _said(settings: Any) -> Plain:
    """The settings that are not those of everybody."""
    every = {each.name: getattr(settings, each.name) for each in fields(settings)}
    usual = type(settings)()
    return {name: value for name, value in every.items() if value != getattr(usual, name)}


def _drawn(rng: Rng, at: int, path: Path) -> tuple[str, str, Reading]:
    """Random objects of two raters, as a tool exports them."""
    tool, kind = DRAWN[at % len(DRAWN)]
    settings = {"kind": kind, **UNITS[kind][at // len(DRAWN) % len(UNITS[kind])]}
    objects = {"spans": _spans, "boxes": _boxes}[kind](rng)
    written: Path = getattr(drawings, f"{tool}_{kind}")(path, objects)
    categories = ["none", *NAMES[kind]] if rng.random() < 0.5 and "part" not in settings else None
    reading = Reading(
        columns={"item": "name"},
        rules={"requires": [], "units": settings},
        categories=categories,
    )
    source = written.relative_to(path.parent).as_posix()
    return f"{tool} {' '.join(map(str, settings.values()))}", source, reading


def _spans(rng: Rng) -> dict[tuple[str, str], list[tuple[int, int, str]]]:
    """Some words of each text, by each of two raters."""
    found: dict[tuple[str, str], list[tuple[int, int, str]]] = {}
    for item, text in drawings.TEXTS.items():
        for rater in drawings.RATERS:
            at, spans = 0, found.setdefault((item, rater), [])
            for word in text.split(" "):
                if rng.random() < 0.4:
                    spans.append((at, at + len(word), str(rng.choice(NAMES["spans"]))))
                at += len(word) + 1
    return found


def _boxes(rng: Rng) -> dict[tuple[str, str], list[tuple[int, int, int, int, str]]]:
    """Up to three boxes of each of four images, which each of two raters moves a little."""
    found = {}
    for item in (f"i{at}.png" for at in range(4)):
        places = rng.integers((0, 0), (130, 60), size=(rng.integers(0, 4), 2))
        for rater in drawings.RATERS:
            moved = places + rng.integers(0, 9, size=places.shape)
            found[item, rater] = [
                (x, y, 40, 30, str(rng.choice(NAMES["boxes"]))) for x, y in moved.tolist()
            ]
    return found
