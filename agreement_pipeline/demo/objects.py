"""Rounds of spans and of boxes whose truth is known, as Label Studio exports them.

All random numbers are uniform draws, so a seed gives the same bytes on every machine.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from agreement_pipeline.demo.rounds import write_whole

SEED = 19
RATERS = ("fay", "gus", "hana")
WORDS = ("the", "patient", "took", "and", "then", "slept", "well", "again", "felt", "no", "pain")
DRUGS = ("aspirin", "ibuprofen", "codeine", "insulin")
DOSES = ("200 mg", "5 ml", "two tablets", "10 units")
IMAGE = 400
CELL = 40
OTHER = {"DRUG": "DOSE", "DOSE": "DRUG", "cell": "debris", "debris": "cell"}
Draws = np.random.Generator
Part = dict[str, Any]


class Habits(NamedTuple):
    """How raters differ from the truth.

    A rater overlooks an object, or names it wrongly, with these probabilities. The last rater
    overlooks every other object of the `careless` categories, and if `confused`, names every other
    one wrongly.
    """

    overlooks: float = 0.01
    misnames: float = 0.01
    careless: tuple[str, ...] = ()
    confused: bool = False


ENTITIES: dict[str, Habits] = {"2026-W01": Habits(), "2026-W02": Habits(careless=("DOSE",))}
"""A clean round, and one in which a rater overlooks doses."""
CELLS: dict[str, Habits] = {"2026-W01": Habits(), "2026-W02": Habits(confused=True)}
"""A clean round, and one in which a rater takes debris for cells."""


def _note(number: int, draws: Draws) -> tuple[dict[str, str], list[tuple[Part, str]]]:
    text, truth = "", []
    for _ in range(1 + int(draws.random() * 5)):
        text += " ".join(_chosen(draws, WORDS) for _ in range(6)) + " "
        for label, names in (("DRUG", DRUGS), ("DOSE", DOSES)):
            if draws.random() < 0.7:
                said = _chosen(draws, names)
                value = {"start": len(text), "end": len(text) + len(said)}
                truth.append(({"type": "labels", "from_name": "entity", "value": value}, label))
                text += f"{said} "
    return {"text": text.rstrip(), "note": f"note-{number:03d}"}, truth


def _image(number: int, draws: Draws) -> tuple[dict[str, str], list[tuple[Part, str]]]:
    truth = []
    for x in range(0, IMAGE, 80):
        for y in range(0, IMAGE, 80):
            if draws.random() < 0.25:
                part = {
                    "type": "rectanglelabels",
                    "from_name": "cell",
                    "original_width": IMAGE,
                    "original_height": IMAGE,
                    "value": {"x": 100 * x / IMAGE, "y": 100 * y / IMAGE},
                }
                truth.append((part, "cell" if draws.random() < 0.6 else "debris"))
    return {"image": f"slide-{number:03d}"}, truth


def _chosen(draws: Draws, among: Sequence[str]) -> str:
    return among[int(draws.random() * len(among))]


def _marked(part: Part, label: str, habits: Habits, draws: Draws, last: bool) -> list[Part]:
    missed, named, moved = draws.random(), draws.random(), draws.random()
    if missed < (0.5 if last and label in habits.careless else habits.overlooks):
        return []
    wrong = named < (0.5 if last and habits.confused else habits.misnames)
    kind, value = part["type"], dict(part["value"])
    if kind == "rectanglelabels":
        value |= {"width": 100 * (CELL + int(moved * 4)) / IMAGE, "height": 100 * CELL / IMAGE}
    return [{**part, "value": {**value, kind: [OTHER[label] if wrong else label]}}]


def _write(
    rounds: Mapping[str, Habits],
    n_items: int,
    before: int,
    drawn: Callable[[int, Draws], tuple[dict[str, str], list[tuple[Part, str]]]],
    folder: Path,
) -> tuple[Path, ...]:
    """The number of an item is a seed of its draws, with the numbers `before` it."""
    written = []
    for name, habits in rounds.items():
        tasks = []
        for number in range(1, n_items + 1):
            draws = np.random.default_rng([SEED, *name.encode(), before + number])
            data, truth = drawn(number, draws)
            annotations = [
                {
                    "id": f"{number}-{rater}",
                    "completed_by": {"email": rater},
                    "result": [
                        marked
                        for part, label in truth
                        for marked in _marked(part, label, habits, draws, rater == RATERS[-1])
                    ],
                }
                for rater in RATERS
            ]
            tasks.append({"id": number, "data": data, "annotations": annotations})
        written.append(write_whole(folder / f"{name}.json", f"{json.dumps(tasks)}\n".encode()))
    return tuple(written)


WRITTEN: dict[str, Callable[[Path], tuple[Path, ...]]] = {
    "entities": partial(_write, ENTITIES, 120, 0, _note),
    "cells": partial(_write, CELLS, 90, 1000, _image),
}
