"""Rounds of spans and of boxes whose truth is known, as Label Studio exports them.

All random numbers are uniform draws, so a seed gives the same bytes on every machine.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

SEED = 19
RATERS = ("fay", "gus", "hana")
WORDS = ("the", "patient", "took", "and", "then", "slept", "well", "again", "felt", "no", "pain")
DRUGS = ("aspirin", "ibuprofen", "codeine", "insulin")
DOSES = ("200 mg", "5 ml", "two tablets", "10 units")
IMAGE = 400
CELL = 40
Draws = np.random.Generator


class Habits(NamedTuple):
    """How raters differ from the truth.

    Attributes
    ----------
    overlooks
        The probability that a rater does not mark an object.
    misnames
        The probability that a rater names an object wrongly.
    careless
        Categories that the last rater overlooks every other time.
    confused
        True if the last rater names every other object wrongly.
    """

    overlooks: float = 0.01
    misnames: float = 0.01
    careless: tuple[str, ...] = ()
    confused: bool = False


ENTITIES: dict[str, Habits] = {"2026-W01": Habits(), "2026-W02": Habits(careless=("DOSE",))}
"""The rounds of spans: a clean one, and one in which a rater overlooks doses."""
CELLS: dict[str, Habits] = {"2026-W01": Habits(), "2026-W02": Habits(confused=True)}
"""The rounds of boxes: a clean one, and one in which a rater takes debris for cells."""


def write_entities(folder: Path) -> tuple[Path, ...]:
    """Write the rounds of spans. Each file is written completely or not at all."""
    return tuple(_written(folder, name, _notes(name, said)) for name, said in ENTITIES.items())


def write_cells(folder: Path) -> tuple[Path, ...]:
    """Write the rounds of boxes. Each file is written completely or not at all."""
    return tuple(_written(folder, name, _images(name, said)) for name, said in CELLS.items())


def _notes(name: str, habits: Habits, n_items: int = 120) -> Iterator[dict[str, Any]]:
    for number in range(1, n_items + 1):
        draws = np.random.default_rng([SEED, *name.encode(), number])
        text, truth = _note(draws)
        result = [
            {"type": "labels", "from_name": "entity", "value": {"start": start, "end": end}}
            for start, end, _ in truth
        ]
        data = {"text": text, "note": f"note-{number:03d}"}
        yield _task(number, data, result, [label for *_, label in truth], habits, draws)


def _note(draws: Draws) -> tuple[str, list[tuple[int, int, str]]]:
    """A text, and the places of its drugs and doses."""
    text, truth = "", []
    for _ in range(1 + int(draws.random() * 5)):
        text += " ".join(_chosen(draws, WORDS) for _ in range(6)) + " "
        for label, names in (("DRUG", DRUGS), ("DOSE", DOSES)):
            if draws.random() < 0.7:
                said = _chosen(draws, names)
                truth.append((len(text), len(text) + len(said), label))
                text += f"{said} "
    return text.rstrip(), truth


def _images(name: str, habits: Habits, n_items: int = 90) -> Iterator[dict[str, Any]]:
    for number in range(1, n_items + 1):
        draws = np.random.default_rng([SEED, *name.encode(), 1000 + number])
        places = [(x, y) for x in range(0, IMAGE, 80) for y in range(0, IMAGE, 80)]
        truth = [(x, y, _label(draws)) for x, y in places if draws.random() < 0.25]
        result = [
            {
                "type": "rectanglelabels",
                "from_name": "cell",
                "original_width": IMAGE,
                "original_height": IMAGE,
                "value": {"x": _percent(x), "y": _percent(y)},
            }
            for x, y, _ in truth
        ]
        data = {"image": f"slide-{number:03d}"}
        yield _task(number, data, result, [label for *_, label in truth], habits, draws)


def _label(draws: Draws) -> str:
    return "cell" if draws.random() < 0.6 else "debris"


def _percent(pixels: float) -> float:
    return 100 * pixels / IMAGE


def _task(
    number: int,
    data: Mapping[str, Any],
    result: Sequence[Mapping[str, Any]],
    labels: Sequence[str],
    habits: Habits,
    draws: Draws,
) -> dict[str, Any]:
    """A task with the annotation of each rater."""
    annotations = []
    for rater in RATERS:
        last = rater == RATERS[-1]
        marked = [
            _marked(part, label, habits, draws, last)
            for part, label in zip(result, labels, strict=True)
        ]
        annotations.append(
            {
                "id": f"{number}-{rater}",
                "completed_by": {"email": rater},
                "result": [part for part in marked if part is not None],
            }
        )
    return {"id": number, "data": data, "annotations": annotations}


def _marked(
    part: Mapping[str, Any], label: str, habits: Habits, draws: Draws, last: bool
) -> dict[str, Any] | None:
    """What a rater marks of one object; None if the rater overlooks it."""
    missed, named, moved = draws.random(), draws.random(), draws.random()
    if missed < (0.5 if last and label in habits.careless else habits.overlooks):
        return None
    wrong = named < (0.5 if last and habits.confused else habits.misnames)
    kind, value = part["type"], dict(part["value"])
    if kind == "rectanglelabels":
        value |= {"width": _percent(CELL + int(moved * 4)), "height": _percent(CELL)}
    return {**part, "value": {**value, kind: [OTHER[label] if wrong else label]}}


OTHER = {"DRUG": "DOSE", "DOSE": "DRUG", "cell": "debris", "debris": "cell"}


def _chosen(draws: Draws, among: Sequence[str]) -> str:
    return among[int(draws.random() * len(among))]


def _written(folder: Path, name: str, tasks: Iterator[dict[str, Any]]) -> Path:
    path = folder / f"{name}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(f".{path.name}")
    partial.write_text(json.dumps(list(tasks)) + "\n", encoding="utf-8")
    partial.replace(path)
    return path


WRITTEN: dict[str, Callable[[Path], object]] = {"entities": write_entities, "cells": write_cells}
"""The bundled projects of objects, and what writes their rounds."""
