"""The tables and the export that every version reads: small, and drawn from one seed.

`python -m tools.golden.sources tests/golden/sources` writes them.
"""

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

Rng = np.random.Generator
PEOPLE = ("ana", "ben", "chi")
WORDS = ("Ana", "met", "Ben", "at", "Acme", "in", "Köln", "before", "noon")


def write_sources(folder: Path) -> None:
    """Write all sources into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng(4)
    for name, agreement in {
        "forum-1": 0.995,
        "forum-2": 0.55,
        "forum-3": 0.99,
        "forum-3-again": 0.5,
    }.items():
        _write(_forum(rng, name, agreement), folder / f"{name}.csv")
    _write(_lab(rng), folder / "lab-1.csv")
    _write(_sizes(rng), folder / "sizes-1.csv")
    tasks = ",\n".join(json.dumps(task, ensure_ascii=False) for task in _notes(rng))
    (folder / "notes-1.json").write_text(f"[{tasks}]\n", encoding="utf-8")


def _write(frame: pd.DataFrame, path: Path) -> None:
    frame.to_csv(path, index=False, lineterminator="\n")


def _said(rng: Rng, truth: int, n: int, agreement: float) -> int:
    return truth if rng.random() < agreement else int(rng.integers(n))


def _forum(rng: Rng, name: str, agreement: float) -> pd.DataFrame:
    """Posts that three people and a model label, some of them twice, a few of them gold."""
    labels, rows = ("safe", "unsafe"), []
    number = name.removesuffix("-again").removeprefix("forum-")
    for at in range(60):
        truth = int(rng.integers(2))
        about = {
            "post": f"p{number}{at:02}",
            "text": f"Post {at} of week {number}",
            "thread": f"t{number}{at * 5 // 6:02}",
            "language": ("de", "en")[at % 2],
            "known": "yes" if at % 15 == 0 else "no",
            "right": labels[truth] if at % 15 == 0 else None,
        }
        meetings = [(who, 1) for who in (*PEOPLE, "gpt")]
        meetings += [(PEOPLE[at % 3], 2)] if at % 2 else []
        for who, meeting in meetings:
            code = _said(rng, truth, 2, agreement if who != "gpt" else 0.8)
            sure = round(float(rng.uniform(0.5, 1)), 2)
            helped = "yes" if who != "gpt" and rng.random() < 0.2 else "no"
            said = {"label": labels[code], "sure": sure, "helped": helped}
            rows.append({**about, "annotator": who, "meeting": meeting, **said})
    return pd.DataFrame(rows)


def _lab(rng: Rng) -> pd.DataFrame:
    """Specimens that three laboratories and a machine grade from 1 to 4, a row each."""
    rows = []
    for at in range(40):
        truth = int(rng.integers(4))
        grades = [1 + _said(rng, truth, 4, 0.99) for _ in range(4)]
        there = [grade if rng.random() < 0.95 else None for grade in grades]
        rows.append(
            {"specimen": at + 1, **dict(zip(("A", "B", "C", "machine"), there, strict=True))}
        )
    return pd.DataFrame(rows).astype("Int64")


def _sizes(rng: Rng) -> pd.DataFrame:
    """Sizes that three people measure, on an open scale."""
    rows = []
    for at in range(40):
        truth = rng.uniform(1, 20)
        said = {who: round(float(truth + rng.normal(scale=0.4)), 2) for who in PEOPLE}
        rows += [{"item": f"s{at:02}", "rater": who, "label": size} for who, size in said.items()]
    return pd.DataFrame(rows)


def _notes(rng: Rng) -> list[dict[str, Any]]:
    """Spans in short notes, as Label Studio exports them."""
    tasks = []
    for at in range(1, 41):
        text = " ".join(rng.choice(WORDS, 6))
        given = [
            {
                "id": 10 * at + number,
                "completed_by": number,
                "was_cancelled": False,
                "result": [_span(each) for each in _places(text) if rng.random() < 0.985],
            }
            for number in (1, 2, 3)
        ]
        tasks.append({"id": at, "data": {"name": f"n{at:02}", "text": text}, "annotations": given})
    return tasks


def _places(text: str) -> list[tuple[int, int, str]]:
    kinds = {"Ana": "PER", "Ben": "PER", "Acme": "ORG"}
    found, at = [], 0
    for word in text.split(" "):
        if word in kinds:
            found.append((at, at + len(word), kinds[word]))
        at += len(word) + 1
    return found


def _span(place: tuple[int, int, str]) -> dict[str, Any]:
    start, end, name = place
    value = {"start": start, "end": end, "labels": [name]}
    return {"from_name": "who", "to_name": "text", "type": "labels", "value": value}


if __name__ == "__main__":
    write_sources(Path(sys.argv[1]))
