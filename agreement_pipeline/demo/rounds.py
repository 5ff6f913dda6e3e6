"""Rounds of ratings whose truth is known, for the bundled moderation project and for tests.

All random numbers are uniform draws, so a seed gives the same bytes on every machine.
"""

import json
from collections.abc import Collection, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from agreement_pipeline.ratings import Codes

CATEGORIES = ("safe", "offensive", "hateful")
SAFE, OFFENSIVE = 0, 1
PREVALENCE = (0.50, 0.35, 0.15)
RATERS = ("ana", "ben", "chloe", "dmitri", "esra")
CLASSIFIERS = {"model_a": 0.95, "model_b": 0.80}
CARELESS = 0.73

TOPICS = (
    "gardening",
    "football",
    "baking",
    "trains",
    "chess",
    "the weather",
    "cats",
    "cycling",
    "music",
    "astronomy",
    "knitting",
)
REMARKS = (
    "somebody asks where to begin",
    "a photograph from last weekend",
    "two neighbours compare notes",
    "a long story with a happy end",
    "three questions and one answer",
    "the same advice as every spring",
    "a list of five things to try",
)

SEED = 11
MODERATION: dict[str, dict[str, Any]] = {
    "2026-W01": {},
    "2026-W02": {"careless": ("dmitri",)},
    "2026-W03": {"split": ("ben", "esra")},
    "2026-W04": {"missing": 0.97, "accuracy": 0.91},
    "2026-W05": {"replicated": 0.0},
    "2026-W06": {},
}
"""Only the first and the last weekly rounds are clean."""
WORSE: dict[str, dict[str, Any]] = {"2026-W06": {"careless": ("ana", "chloe", "esra")}}


def simulate_round(
    name: str,
    *,
    seed: int,
    n_items: int = 400,
    raters: Sequence[str] = RATERS,
    careless: Collection[str] = (),
    split: Collection[str] = (),
    missing: float = 0.1,
    replicated: float = 0.08,
    occurrences: int = 3,
    classifiers: Mapping[str, float] | None = None,
    accuracy: float = 0.97,
    prevalence: Sequence[float] = PREVALENCE,
) -> pd.DataFrame:
    """A round of ratings of items whose true categories are known: those of a rater of accuracy 1.

    A change to one rater leaves the others as they are.
    """
    truth_draws = _named_generator(seed, name, "truth").random(n_items)
    truth = np.searchsorted(np.cumsum(prevalence)[:-1], truth_draws, side="right").astype(np.int64)
    times = np.where(
        _named_generator(seed, name, "replicated").random(n_items).argsort(kind="stable")
        < round(replicated * n_items),
        occurrences,
        1,
    )
    ratings = []
    for turn, rater in enumerate(raters):
        draws = _named_generator(seed, name, rater)
        rated = (draws.random(n_items) >= missing) | (np.arange(n_items) % len(raters) == turn)
        meant = np.where(truth == OFFENSIVE, SAFE, truth) if rater in split else truth
        labels = _draw_labels(
            draws, meant, CARELESS if rater in careless else accuracy, occurrences
        )
        ratings.append(_build_rows(name, rater, labels, np.where(rated, times, 0)))
    for model, skill in (CLASSIFIERS if classifiers is None else classifiers).items():
        labels = _draw_labels(_named_generator(seed, name, model), truth, skill, 1)
        ratings.append(_build_rows(name, model, labels, np.ones(n_items, dtype=np.int64)))
    return pd.concat(ratings).sort_values("item", kind="stable", ignore_index=True)


def write_moderation_rounds(folder: Path, delivery: int) -> tuple[Path, ...]:
    """The second `delivery` has the same rounds as the first, but 2026-W06 is worse."""
    if delivery not in (1, 2):
        raise ValueError(f"delivery: found {delivery!r}; expected 1 or 2.")
    rounds = MODERATION | WORSE if delivery == 2 else MODERATION
    return tuple(
        write_atomically(
            folder / f"{name}.csv", frame.to_csv(index=False, lineterminator="\n").encode()
        )
        for name, settings in rounds.items()
        for frame in [simulate_round(name, seed=SEED, **settings)]
    )


def write_export(path: Path, *, worse: bool = False) -> Path:
    """A simulated round of 200 posts and three raters, as Label Studio exports it.

    In a worse one, the second rater takes offensive posts for safe.
    """
    raters, start = RATERS[:3], datetime(2026, 1, 5, 9, tzinfo=UTC)
    ratings = simulate_round(
        "post",
        seed=SEED,
        n_items=200,
        raters=raters,
        split=raters[1:2] if worse else (),
        missing=0,
        replicated=0,
        classifiers={},
    )
    tasks = []
    for number, (item, rows) in enumerate(ratings.groupby("item"), 1):
        annotations = []
        for rater, label in zip(rows["rater"], rows["label"], strict=True):
            minutes = number + 480 * raters.index(rater)
            time = (start + timedelta(minutes=minutes)).isoformat().replace("+00:00", "Z")
            choice = {"type": "choices", "from_name": "label", "value": {"choices": [label]}}
            annotations.append(
                {
                    "id": number * 10 + raters.index(rater),
                    "completed_by": {"email": rater},
                    "created_at": time,
                    "updated_at": time,
                    "was_cancelled": False,
                    "ground_truth": False,
                    "result": [choice],
                }
            )
        data = {"post": item, "text": rows["text"].iloc[0]}
        tasks.append({"id": number, "data": data, "annotations": annotations})
    return write_atomically(path, (json.dumps(tasks, indent=1) + "\n").encode())


def _named_generator(seed: int, *names: str) -> np.random.Generator:
    return np.random.default_rng([seed, *"/".join(names).encode()])


def _draw_labels(
    draws: np.random.Generator, meant: Codes, accuracy: float, occurrences: int
) -> Codes:
    shape = (len(meant), occurrences)
    slip = 1 + (draws.random(shape) * (len(CATEGORIES) - 1)).astype(np.int64)
    wrong = draws.random(shape) >= accuracy
    return (meant[:, None] + np.where(wrong, slip, 0)) % len(CATEGORIES)


def _build_rows(name: str, rater: str, labels: Codes, times: Codes) -> pd.DataFrame:
    item, occurrence = np.nonzero(np.arange(labels.shape[1]) < times[:, None])
    numbers = [int(position) + 1 for position in item]
    items = [f"{name}-{number:03d}" for number in numbers]
    # A post of one round is no post of another, so its text names the round.
    texts = [
        f"Post {item.removeprefix('post-')} about {TOPICS[number % len(TOPICS)]}: "
        f"{REMARKS[number % len(REMARKS)]}."
        for item, number in zip(items, numbers, strict=True)
    ]
    return pd.DataFrame(
        {
            "item": items,
            "rater": rater,
            "label": np.array(CATEGORIES)[labels[item, occurrence]],
            "occurrence": occurrence + 1,
            "text": texts,
        }
    )


def write_atomically(path: Path, data: bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(f".{path.name}")
    partial.write_bytes(data)
    partial.replace(path)
    return path
