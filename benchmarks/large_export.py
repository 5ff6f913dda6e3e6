"""Ingest a large Label Studio export, and print the time and the most memory that this took.

    python -m benchmarks.large_export 5.0 FOLDER

The export is made first, of the size in decimal gigabytes, and removed at the end.
"""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from random import Random
from shutil import rmtree
from typing import Any

from benchmarks.asked import asked
from benchmarks.measuring import unlimited

RATERS = (11, 12, 13)
SENTIMENTS = ("negative", "neutral", "positive")
WORDS = (
    "the",
    "support",
    "team",
    "answered",
    "in",
    "minutes",
    "and",
    "price",
    "was",
    "too",
    "high",
    "but",
    "service",
    "is",
    "fine",
)


def made(path: Path, size: int, seed: int = 1) -> None:
    """Write an export of about that many bytes, shaped as Label Studio writes one."""
    random, written, number = Random(seed), 0, 0
    with path.open("w") as file:
        file.write("[")
        while written < size:
            text = json.dumps(_task(number, random))
            file.write(f"{',' if number else ''}{text}")
            number, written = number + 1, written + len(text) + 1
        file.write("]")


def _task(number: int, random: Random) -> dict[str, Any]:
    truth = random.randrange(3)
    return {
        "id": number,
        "annotations": [_annotation(number, rater, truth, random) for rater in RATERS],
        "drafts": [],
        "predictions": [_prediction(number, truth)],
        "data": {
            "doc_id": f"doc-{number:08}",
            "text": " ".join(random.choice(WORDS) for _ in range(25)) + f" {number}",
        },
        "meta": {},
        "created_at": "2026-09-01T08:00:00.000000Z",
        "updated_at": "2026-09-04T08:00:00.000000Z",
        "project": 29,
        "total_annotations": 3,
        "total_predictions": 1,
    }


def _annotation(task: int, rater: int, truth: int, random: Random) -> dict[str, Any]:
    said = truth if random.random() < 0.93 else random.randrange(3)
    at = f"2026-09-{random.randrange(1, 29):02}T{random.randrange(24):02}:{random.randrange(60):02}"
    name = f"{task:010}{rater}"
    return {
        "id": 3 * task + rater,
        "completed_by": rater,
        "result": list(_result(name, said, random)),
        "was_cancelled": False,
        "ground_truth": False,
        "created_at": f"{at}:00.{random.randrange(10**6):06}Z",
        "updated_at": f"{at}:59.{random.randrange(10**6):06}Z",
        "draft_created_at": None,
        "lead_time": random.randrange(1, 6000) / 100,
        "prediction": {},
        "result_count": 3,
        "unique_id": f"00000000-0000-4000-8000-{name}",
        "import_id": None,
        "last_action": None,
        "task": task,
        "project": 29,
        "updated_by": rater,
        "parent_prediction": None,
        "parent_annotation": None,
        "last_created_by": None,
    }


def _result(name: str, said: int, random: Random) -> Iterator[dict[str, Any]]:
    around = {"origin": "manual", "to_name": "text"}
    choice = {"choices": [SENTIMENTS[said]]}
    yield {"id": f"{name}a", "type": "choices", "value": choice, **around, "from_name": "sentiment"}
    rating = {"rating": random.randrange(1, 6)}
    yield {"id": f"{name}b", "type": "rating", "value": rating, **around, "from_name": "quality"}
    span = {"start": 4, "end": 16, "text": "support team", "labels": ["ACTOR"]}
    yield {"id": f"{name}c", "type": "labels", "value": span, **around, "from_name": "aspect"}


def _prediction(task: int, truth: int) -> dict[str, Any]:
    choice = {"choices": [SENTIMENTS[truth]]}
    part = {"type": "choices", "value": choice, "to_name": "text", "from_name": "sentiment"}
    return {
        "id": 9_000_000 + task,
        "model_version": "sentiment-v1",
        "score": 0.97,
        "result": [part],
        "created_at": "2026-09-01T09:00:00.000000Z",
        "task": task,
    }


def ingest(path: Path, store: Path) -> None:
    """Read the export as a project does, and keep it."""
    from agreement_pipeline.ratings import Scale
    from agreement_pipeline.readers import Columns, read
    from agreement_pipeline.store import Store

    columns = Columns(item="doc_id", label="sentiment")
    ratings = read(path, columns, scale=Scale(SENTIMENTS))
    Store(store).ingest("round", ratings, path)
    print(f"{len(ratings):,} ratings")


def main() -> None:
    """Make an export, and ingest it in a process of its own."""
    said = asked(__doc__, gigabytes=float, folder=Path)
    path = said.folder.resolve() / "export.json"
    if not said.gigabytes:
        ingest(path, said.folder / "store")
        return
    said.folder.mkdir()
    try:
        made(path, round(said.gigabytes * 1e9))
        found = unlimited((sys.executable, "-m", "benchmarks.large_export", 0, path.parent))
        size = path.stat().st_size / 1e9
        print(f"{size:.2f} GB: {found.note.strip()}, {found.cpu:.0f} CPU s, {found.peak:,.0f} MB")
    finally:
        rmtree(said.folder)


if __name__ == "__main__":
    main()
