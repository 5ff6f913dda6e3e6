"""Random exports of labelling tools: answers, sets, ratings, spans, boxes, rankings and others."""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tools.comparison.cases import Plain, Reading
from tools.comparison.tables import Rng

Said = dict[tuple[str, str], Any]
RATERS = ("ana", "ben", "chi", "dan")
WORDS = ("Ana", "met", "Ben", "at", "Acme", "in", "Köln", "naïve", "日本", "today", "🙂", "and")
MOODS = ("negative", "neutral", "positive")
TOPICS = ("price", "service", "speed")
TYPES = ("PER", "ORG")
PETS = ("cat", "dog")
SIZE = (200, 100)


@dataclass(frozen=True)
class Answers:
    """What raters said of items, for one kind of answer.

    Parameters
    ----------
    texts
        The text of each item.
    said
        The answer of each (item, rater). A pair that is missing was never opened.
    """

    texts: dict[str, str]
    said: Said

    def of(self, item: str) -> dict[str, Any]:
        """The answers on an item, by rater."""
        return {rater: answer for (name, rater), answer in self.said.items() if name == item}

    @property
    def raters(self) -> list[str]:
        """All who answered, sorted."""
        return sorted({rater for _, rater in self.said})


def answers(rng: Rng, draw: Callable[[Rng, str, Any], Any]) -> Answers:
    """Answers of two to four raters, who start from one draft of each item."""
    n_items, n_raters = int(rng.integers(3, 14)), int(rng.integers(2, 5))
    texts = {
        f"d{at:02}": " ".join(rng.choice(WORDS, int(rng.integers(3, 12)))) for at in range(n_items)
    }
    said: Said = {}
    for item, text in texts.items():
        draft = draw(rng, text, None)
        for rater in RATERS[:n_raters]:
            if rater in RATERS[:2] or rng.random() < 0.8:
                said[item, rater] = draw(rng, text, draft)
    return Answers(texts, said)


def mood(rng: Rng, _: str, draft: Any) -> str:
    """One category."""
    return str(draft if draft and rng.random() < 0.75 else rng.choice(MOODS))


def topics(rng: Rng, _: str, draft: Any) -> list[str]:
    """A set of categories, which may be empty."""
    if draft is not None and rng.random() < 0.6:
        return list(draft)
    return [name for name in TOPICS if rng.random() < 0.5]


def stars(rng: Rng, _: str, draft: Any) -> int:
    """A number from 1 to 5."""
    return int(draft if draft and rng.random() < 0.6 else rng.integers(1, 6))


def spans(rng: Rng, text: str, draft: Any) -> list[tuple[int, int, str]]:
    """Spans of whole words that do not overlap. A rater drops or renames some of the draft."""
    if draft is not None:
        kept = [each for each in draft if rng.random() < 0.85]
        return [
            (s, e, name if rng.random() < 0.9 else str(rng.choice(TYPES))) for s, e, name in kept
        ]
    found, at = [], 0
    for word in text.split(" "):
        if rng.random() < 0.4:
            found.append((at, at + len(word), str(rng.choice(TYPES))))
        at += len(word) + 1
    return found


def boxes(rng: Rng, _: str, draft: Any) -> list[tuple[int, int, int, int, str]]:
    """Boxes in an image. A rater moves or drops some of the draft."""
    if draft is None:
        places = [
            (int(rng.integers(0, 140)), int(rng.integers(0, 60))) for _ in range(rng.integers(0, 4))
        ]
        return [(x, y, 40, 30, str(rng.choice(PETS))) for x, y in dict.fromkeys(places)]
    moved = [(x + int(rng.integers(0, 9)), y, w, h, name) for x, y, w, h, name in draft]
    return [each for each in moved if rng.random() < 0.85]


def segments(rng: Rng, _: str, draft: Any) -> list[tuple[float, float, str]]:
    """Parts of a recording of ten seconds."""
    if draft is not None:
        return [(s, e + int(rng.integers(0, 2)) / 2, name) for s, e, name in draft]
    starts = [0.0, *(float(s) for s in (3, 6) if rng.random() < 0.6)]
    return [(s, s + 1.5, str(rng.choice(TYPES))) for s in starts]


def order(rng: Rng, _: str, draft: Any) -> list[str]:
    """An order of three alternatives."""
    return list(
        draft if draft and rng.random() < 0.6 else map(str, rng.permutation(["x", "y", "z"]))
    )


def preference(rng: Rng, _: str, draft: Any) -> str:
    """The left or the right one."""
    return str(draft if draft and rng.random() < 0.7 else rng.choice(["left", "right"]))


def _result(kind: str, answer: Any) -> list[Plain]:
    """An answer as Label Studio writes it."""
    one = {"from_name": kind, "to_name": "text"}
    width, height = SIZE
    if kind in ("mood", "topics"):
        ticked = [answer] if kind == "mood" else answer
        return [{**one, "type": "choices", "value": {"choices": ticked}}]
    if kind == "stars":
        return [{**one, "type": "rating", "value": {"rating": answer}}]
    if kind in ("spans", "segments"):
        more = {} if kind == "spans" else {"original_length": 10.0}
        values = [{"start": s, "end": e, "labels": [name]} for s, e, name in answer]
        return [{**one, **more, "type": "labels", "value": value} for value in values]
    if kind == "boxes":
        shape = {"type": "rectanglelabels", "original_width": width, "original_height": height}
        values = [
            {
                "x": x * 100 / width,
                "y": y * 100 / height,
                "width": w * 100 / width,
                "height": h * 100 / height,
                "rotation": 0,
                "rectanglelabels": [name],
            }
            for x, y, w, h, name in answer
        ]
        return [{**one, **shape, "value": value} for value in values]
    if kind == "order":
        return [{**one, "type": "ranker", "value": {"ranker": {"_": answer}}}]
    return [{**one, "type": "pairwise", "value": {"selected": answer}}]


def label_studio(kind: str, found: Answers, path: Path) -> Path:
    """Label Studio's JSON."""
    tasks = []
    for number, (item, text) in enumerate(found.texts.items(), 1):
        given = [
            {
                "id": 100 * number + at,
                "completed_by": RATERS.index(rater) + 1,
                "was_cancelled": False,
                "result": _result(kind, answer),
            }
            for at, (rater, answer) in enumerate(found.of(item).items())
        ]
        data = {"name": item, "text": text}
        tasks.append({"id": number, "data": data, "annotations": given})
    return _whole(path.with_suffix(".json"), tasks)


def prodigy(kind: str, found: Answers, path: Path) -> Path:
    """Prodigy's JSON Lines."""
    records = []
    for (item, rater), answer in found.said.items():
        said: Plain = {"accept": answer if kind == "topics" else [answer]}
        if kind == "spans":
            said = {"spans": [{"start": s, "end": e, "label": name} for s, e, name in answer]}
        elif kind in ("mood", "topics"):
            names = MOODS if kind == "mood" else TOPICS
            said |= {"options": [{"id": name, "text": name} for name in names]}
        records.append(
            {
                "text": found.texts[item],
                "meta": {"name": item},
                **said,
                "answer": "accept",
                "_task_hash": int(item[1:]),
                "_session_id": f"news-{rater}",
            }
        )
    return _lines(path.with_suffix(".jsonl"), records)


def argilla(kind: str, found: Answers, path: Path) -> Path:
    """The records of Argilla, as its package writes them."""
    records = []
    for item, text in found.texts.items():
        given = found.of(item)
        said = list(given.values())
        if kind == "spans":
            said = [[{"start": s, "end": e, "label": name} for s, e, name in each] for each in said]
        records.append(
            {
                "id": item,
                "text": text,
                "name": item,
                f"{kind}.responses": said,
                f"{kind}.responses.users": list(given),
                f"{kind}.responses.status": ["submitted"] * len(given),
            }
        )
    return _whole(path.with_suffix(".json"), records)


def doccano(kind: str, found: Answers, path: Path) -> Path:
    """The folder of doccano with a file of each rater."""
    for rater in found.raters:
        records = [
            {
                "id": number,
                "text": text,
                "name": item,
                "label": [found.said[item, rater]] if kind == "mood" else found.said[item, rater],
                "Comments": [],
            }
            for number, (item, text) in enumerate(found.texts.items(), 1)
            if (item, rater) in found.said
        ]
        path.mkdir(exist_ok=True)
        _lines(path / f"{rater}.jsonl", records)
    return path


def conll(_: str, found: Answers, path: Path) -> Path:
    """CoNLL's files, one a rater."""
    path.mkdir()
    for rater in found.raters:
        lines: list[str] = []
        for item, text in found.texts.items():
            if (item, rater) in found.said:
                lines += [f"# newdoc id = {item}", *_tags(text, found.said[item, rater]), ""]
        (path / f"{rater}.conll").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def _tags(text: str, said: list[tuple[int, int, str]]) -> Iterator[str]:
    names, at = {start: name for start, _, name in said}, 0
    for token in text.split(" "):
        yield f"{token} _ {f'B-{names[at]}' if at in names else 'O'}"
        at += len(token) + 1


def coco(_: str, found: Answers, path: Path) -> Path:
    """COCO's files, one a rater."""
    path.mkdir()
    numbers = {item: number for number, item in enumerate(found.texts, 1)}
    images = [
        {"id": number, "file_name": item, "width": SIZE[0], "height": SIZE[1]}
        for item, number in numbers.items()
    ]
    for rater in found.raters:
        objects = [
            {"image_id": numbers[item], "category_id": PETS.index(name) + 1, "bbox": [x, y, w, h]}
            for (item, who), said in found.said.items()
            if who == rater
            for x, y, w, h, name in said
        ]
        whole = {
            "images": images,
            "annotations": [{"id": at, **each} for at, each in enumerate(objects, 1)],
            "categories": [{"id": at, "name": name} for at, name in enumerate(PETS, 1)],
        }
        _whole(path / f"{rater}.json", whole)
    return path


def mturk(kind: str, found: Answers, path: Path) -> Path:
    """The results of a batch of Mechanical Turk."""
    header = ["HITId", "AssignmentId", "WorkerId", "AssignmentStatus", "SubmitTime"]
    header += ["Input.name", f"Answer.{kind}"]
    time = "Wed Sep 02 09:06:00 PDT 2026"
    rows = [
        [f"H{item}", f"A{item}{rater}", rater, "Approved", time, item, str(answer)]
        for (item, rater), answer in found.said.items()
    ]
    text = "".join(",".join(f'"{cell}"' for cell in row) + "\n" for row in [header, *rows])
    path = path.with_suffix(".csv")
    path.write_text(text, encoding="utf-8")
    return path


def _whole(path: Path, data: Any) -> Path:
    path.write_text(json.dumps(data), encoding="utf-8")
    return path


def _lines(path: Path, records: list[Plain]) -> Path:
    text = "".join(json.dumps(each, ensure_ascii=False) + "\n" for each in records)
    path.write_text(text, encoding="utf-8")
    return path


DRAWN: dict[str, Callable[[Rng, str, Any], Any]] = {
    "mood": mood,
    "topics": topics,
    "stars": stars,
    "spans": spans,
    "boxes": boxes,
    "segments": segments,
    "order": order,
    "preference": preference,
}
TOOLS: tuple[tuple[Callable[[str, Answers, Path], Path], tuple[str, ...]], ...] = (
    (label_studio, tuple(DRAWN)),
    (prodigy, ("mood", "topics", "spans")),
    (argilla, ("mood", "topics", "stars", "spans")),
    (doccano, ("mood", "spans")),
    (conll, ("spans",)),
    (coco, ("boxes",)),
    (mturk, ("mood", "stars")),
)
UNITS: dict[str, tuple[Plain, ...]] = {
    "mood": ({},),
    "topics": ({}, {"kind": "sets"}, {"kind": "sets", "members": list(TOPICS)}),
    "stars": ({}, {"kind": "rubrics"}),
    "spans": (
        {"kind": "spans"},
        {"kind": "spans", "rule": "matched"},
        {"kind": "spans", "part": "naming"},
        {"kind": "spans", "part": "marking"},
        {"kind": "spans", "step": 2},
    ),
    "boxes": (
        {"kind": "boxes"},
        {"kind": "boxes", "at_least": 0.8},
        {"kind": "boxes", "similarity": "overlap", "part": "marking"},
    ),
    "segments": ({"kind": "segments"}, {"kind": "segments", "step": 0.5}),
    "order": ({"kind": "rankings"},),
    "preference": ({"kind": "preferences"},),
}
CATEGORIES = {"mood": list(MOODS), "spans": ["none", *TYPES], "boxes": ["none", *PETS]}
PAIRS = [(tool, kind) for tool, kinds in TOOLS for kind in kinds]


def random_export(rng: Rng, at: int, path: Path) -> tuple[str, str, Reading]:
    """The words for an export, the name of its file or folder, and how it is read."""
    tool, kind = PAIRS[at % len(PAIRS)]
    settings = UNITS[kind][at // len(PAIRS) % len(UNITS[kind])]
    written = tool(kind, answers(rng, DRAWN[kind]), path)
    rules: Plain = {"requires": [], "all_rounds": True}
    if settings:
        rules["units"] = settings
    columns = {"item": "name"} if tool not in (conll, coco) else {}
    plain = not settings or settings["kind"] in ("spans", "boxes")
    declared = rng.random() < 0.5 and plain and "part" not in settings
    categories = CATEGORIES.get(kind) if declared else None
    level = "ordinal" if kind == "stars" and not settings else "nominal"
    if kind in ("mood", "topics", "stars") and not settings:
        columns["label"] = "label" if tool in (prodigy, doccano) else kind
    words = f"{tool.__name__} {kind} {' '.join(map(str, settings.values()))}".strip()
    reading = Reading(columns=columns, rules=rules, categories=categories, level=level)
    return words, written.name, reading
