"""Rounds of spans and of boxes whose truth is known, as Label Studio exports them.

All random numbers are uniform draws, so a seed gives the same bytes on every machine.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from agreement_pipeline.demo.rounds import write_atomically

SEED = 19
RATERS = ("fay", "gus", "hana")
WORDS = ("the", "patient", "took", "and", "then", "slept", "well", "again", "felt", "no", "pain")
DRUGS = ("aspirin", "ibuprofen", "codeine", "insulin")
DOSES = ("200 mg", "5 ml", "two tablets", "10 units")
IMAGE_PIXELS = 400
CELL_PIXELS = 40
CONFUSED_LABELS = {"DRUG": "DOSE", "DOSE": "DRUG", "cell": "debris", "debris": "cell"}
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


def _draw_note(number: int, draws: Draws) -> tuple[dict[str, str], list[tuple[Part, str]]]:
    text, truth = "", []
    for _ in range(1 + int(draws.random() * 5)):
        text += " ".join(_choose(draws, WORDS) for _ in range(6)) + " "
        for label, names in (("DRUG", DRUGS), ("DOSE", DOSES)):
            if draws.random() < 0.7:
                name = _choose(draws, names)
                value = {"start": len(text), "end": len(text) + len(name)}
                truth.append(({"type": "labels", "from_name": "entity", "value": value}, label))
                text += f"{name} "
    return {"text": text.rstrip(), "note": f"note-{number:03d}"}, truth


def _draw_image(number: int, draws: Draws) -> tuple[dict[str, str], list[tuple[Part, str]]]:
    truth = []
    for x in range(0, IMAGE_PIXELS, 80):
        for y in range(0, IMAGE_PIXELS, 80):
            if draws.random() < 0.25:
                part = {
                    "type": "rectanglelabels",
                    "from_name": "cell",
                    "original_width": IMAGE_PIXELS,
                    "original_height": IMAGE_PIXELS,
                    "value": {"x": 100 * x / IMAGE_PIXELS, "y": 100 * y / IMAGE_PIXELS},
                }
                truth.append((part, "cell" if draws.random() < 0.6 else "debris"))
    return {"image": f"slide-{number:03d}"}, truth


def _choose(draws: Draws, among: Sequence[str]) -> str:
    return among[int(draws.random() * len(among))]


def _mark_object(
    part: Part, label: str, habits: Habits, draws: Draws, is_last_rater: bool
) -> list[Part]:
    overlook_draw, misname_draw, width_draw = draws.random(), draws.random(), draws.random()
    if overlook_draw < (0.5 if is_last_rater and label in habits.careless else habits.overlooks):
        return []
    is_misnamed = misname_draw < (0.5 if is_last_rater and habits.confused else habits.misnames)
    kind, value = part["type"], dict(part["value"])
    if kind == "rectanglelabels":
        value |= {
            "width": 100 * (CELL_PIXELS + int(width_draw * 4)) / IMAGE_PIXELS,
            "height": 100 * CELL_PIXELS / IMAGE_PIXELS,
        }
    return [{**part, "value": {**value, kind: [CONFUSED_LABELS[label] if is_misnamed else label]}}]


def _write_rounds(
    rounds: Mapping[str, Habits],
    n_items: int,
    n_before: int,
    draw_item: Callable[[int, Draws], tuple[dict[str, str], list[tuple[Part, str]]]],
    folder: Path,
) -> tuple[Path, ...]:
    """The number of an item, counted on from `n_before`, seeds its draws."""
    paths = []
    for name, habits in rounds.items():
        tasks = []
        for number in range(1, n_items + 1):
            draws = np.random.default_rng([SEED, *name.encode(), n_before + number])
            data, truth = draw_item(number, draws)
            annotations = [
                {
                    "id": f"{number}-{rater}",
                    "completed_by": {"email": rater},
                    "result": [
                        marked
                        for part, label in truth
                        for marked in _mark_object(part, label, habits, draws, rater == RATERS[-1])
                    ],
                }
                for rater in RATERS
            ]
            tasks.append({"id": number, "data": data, "annotations": annotations})
        paths.append(write_atomically(folder / f"{name}.json", f"{json.dumps(tasks)}\n".encode()))
    return tuple(paths)


WRITE_ROUNDS_BY_PROJECT: dict[str, Callable[[Path], tuple[Path, ...]]] = {
    "entities": partial(_write_rounds, ENTITIES, 120, 0, _draw_note),
    "cells": partial(_write_rounds, CELLS, 90, 1000, _draw_image),
}
