"""Label Studio's JSON, of the community edition and of Enterprise, and its CSV, TSV and JSON_MIN.

The label before a review counts. After *fix and accept*, `result` is the reviewer's. The rater's
own is in `reviews` or in `history`, if these were exported.

Places in images are in percent of the image. A region may have several labels, and is then as many
objects.
"""

import json
from collections.abc import Iterator, Mapping
from typing import Any, Literal

from agreement_pipeline.errors import RatingsError
from agreement_pipeline.ratings import CAPABILITIES
from agreement_pipeline.readers.exports import Export
from agreement_pipeline.readers.submissions import (
    DECIMALS,
    Data,
    Drawn,
    Submission,
    flag,
    has,
    refuse_rotation,
    together,
    tool,
)
from agreement_pipeline.units import (
    Box,
    LabelObject,
    Polygon,
    Preference,
    Ranking,
    Segment,
    Span,
)

FIXED = "fixed_and_accepted"
REVIEWED = ("accepted", "rejected", FIXED)
SUGGESTED = {"prediction", "prediction-changed"}
PARENTS = ("parent_prediction", "parent_annotation")
COPIED = ("prediction", "propagated_annotation")
AREAS = frozenset(
    (
        "start",
        "x",
        "points",
        "original_width",
        "rle",
        "ranges",
        "sequence",
        "vertices",
        "imageDataURL",
    )
)
OWN = ("annotation_id", "annotator", "lead_time")
BESIDE = (*OWN, "id", "created_at", "updated_at", "agreement", "history")
PLAIN = ("rating", "number", "datetime")
LABELS = ("choices", "taxonomy", *PLAIN)
TYPES = {
    "spans": ("labels", "hypertextlabels"),
    "segments": ("labels", "timeserieslabels"),
    "boxes": ("rectanglelabels",),
    "polygons": ("polygonlabels",),
    "rankings": ("ranker",),
    "preferences": ("pairwise",),
}
UNLABELLED = {"boxes": "rectangle", "polygons": "polygon"}
CHOSEN: dict[str, Literal["first", "second", "tie"]] = {"left": "first", "right": "second"}


# JSON


def _is_json(export: Export) -> bool:
    first = export.first
    task = isinstance(first.get("annotations"), list) and "data" in first
    return task or ("result" in first and isinstance(first.get("task"), Mapping))


@tool(
    "label_studio",
    "Label Studio JSON",
    _is_json,
    shows={*CAPABILITIES},
    omits_none=True,
    kinds=("spans", "boxes", "polygons", "rankings", "preferences"),
)
def submissions(export: Export, kind: str = "") -> Iterator[Submission]:
    for place, record in export.records():
        is_task = "annotations" in record
        task = record if is_task else record.get("task")
        if not isinstance(task, Mapping):
            raise RatingsError(
                f"{place}: found no annotations; expected a task with its annotations. "
                "Export the project again, as JSON."
            )
        fields = {"task": task.get("id"), **(task.get("meta") or {}), **(task.get("data") or {})}
        work = [("annotation", each) for each in (record["annotations"] if is_task else [record])]
        for what in ("draft", "prediction") if is_task else ():
            # An export without a snapshot has their numbers alone, which say nothing.
            said = (each for each in task.get(f"{what}s") or () if not isinstance(each, int))
            work += [(what, each) for each in said]
        for what, each in work:
            name = f"{what} {each.get('id')}"
            where = f"{place}, {name}"
            result = before_review(each, where) if what == "annotation" else each["result"]
            yield Submission(
                task["id"] if what == "draft" else task.get("id"),
                values=(
                    objects_in(result, where, kind, task.get("data"))
                    if kind
                    else answers_in(result)
                ),
                record=where if what == "draft" else name,
                created=each.get("created_at"),
                fields=fields,
                first=None if kind else first_answers(each.get("history")),
                **_about(what, each, where),
            )


def _about(what: str, said: Data, where: str) -> dict[str, Any]:
    if what == "prediction":
        model = said.get("model_version") or "a model without a version"
        return {"rater": model, "kind": "model", "confidence": said.get("score")}
    if what == "draft":
        return {"rater": said.get("user"), "status": "draft"}
    who = said.get("completed_by")
    reviewed = "rejected" if said.get("last_action") == "rejected" else "submitted"
    return {
        "rater": (who.get("email") or who.get("id")) if isinstance(who, Mapping) else who,
        "status": "skipped" if _says(said, "was_cancelled", where) else reviewed,
        "kind": "gold" if _says(said, "ground_truth", where) else "human",
        "updated": said.get("updated_at"),
        "changed": said.get("updated_at"),
        "seconds": said.get("lead_time"),
        "assisted": said.get("last_action") in COPIED
        or any(said.get(name) is not None for name in PARENTS)
        or not SUGGESTED.isdisjoint(part.get("origin") for part in said.get("result") or ()),
    }


def answers_in(result: object) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for part in result if isinstance(result, list) else ():
        value, kind = part.get("value", {}), part.get("type", "")
        if _is_answer(kind, value):
            name, said = part.get("from_name", kind), value[kind]
            answer = _ticks(said) if isinstance(said, list) else said
            both = isinstance(answer, tuple) and isinstance(found.get(name), tuple)
            found[name] = (*found[name], *answer) if both else answer
    return found


def _is_answer(kind: str, value: Data) -> bool:
    """A ranking, a message of a chat and what own code writes have several parts. They are no
    labels.
    """
    if not AREAS.isdisjoint(value.keys()) or kind not in value:
        return False
    return kind in LABELS or not (kind == "ranker" or isinstance(value[kind], Mapping))


def _ticks(said: list[Any]) -> tuple[str, ...]:
    """Nothing if there are empty choices only. One among others is refused later."""
    ticks = tuple(" > ".join(map(str, tick)) if isinstance(tick, list) else tick for tick in said)
    has_choice = any(not isinstance(tick, str) or tick.strip() for tick in ticks)
    return ticks if has_choice else ()


def _says(annotation: Data, what: str, where: str) -> bool:
    """Label Studio always writes it where it writes a time. So there a missing field was renamed,
    and is no plain no.
    """
    said = annotation[what] if "created_at" in annotation else annotation.get(what)
    return flag(said, what, where)


def before_review(annotation: Data, where: str) -> object:
    reviews = annotation.get("reviews") or ()
    said = [each for each in reviews if each.get("fixed_annotation_history")]
    fixed = sorted(said, key=_time_of)
    if not fixed and annotation.get("last_action") != FIXED:
        return annotation["result"]
    for review in fixed:
        if review.get("previous_annotation_history_result") is not None:
            return review["previous_annotation_history_result"]
    own = None
    for step in sorted(annotation.get("history") or (), key=_time_of):
        if step.get("action") in REVIEWED:
            break
        own = step.get("result", own)
    if own is None:
        raise RatingsError(
            f"{where}: found an answer that a reviewer changed, and no history; expected the "
            "answer before the review, since the reviewer is no rater. Export a snapshot with "
            "include_annotation_history."
        )
    return own


def first_answers(history: object) -> dict[str, Any] | None:
    steps = sorted(history if isinstance(history, list) else (), key=_time_of)
    handed_in = (step for step in steps if step.get("action") in ("submitted", "updated"))
    first = next(handed_in, None)
    return None if first is None else answers_in(first.get("result"))


def _time_of(step: Data) -> str:
    return str(step.get("created_at"))


# Label objects


def objects_in(result: object, where: str, kind: str, data: object = None) -> dict[str, Drawn]:
    found: list[tuple[str, LabelObject]] = []
    extents: dict[str, tuple[float, ...]] = {}
    for n, part in enumerate(result if isinstance(result, list) else (), 1):
        place = f"{where}, object {n}"
        if part["type"] in TYPES.get(kind, ()):
            name, labels = part.get("from_name", kind), part["value"].get(part["type"])
            labels = labels if isinstance(labels, list) else [""]  # a ranking or a preference
            if not labels:
                raise _without_label(part, kind, place)
            found += [(name, _object(part, kind, each, place, data)) for each in labels]
            extents[name] = _extent(part)
        elif part["type"] == UNLABELLED.get(kind):
            raise _without_label(part, kind, place)
    objects = together(found)
    return {name: Drawn(objects.get(name, ()), extent) for name, extent in extents.items()}


def _without_label(part: Data, kind: str, where: str) -> RatingsError:
    return RatingsError(
        f"{where}: found an object of type {part['type']!r} without a label; expected a label in "
        f"type {' or '.join(TYPES[kind])}. Label the object or delete it."
    )


def _extent(part: Data) -> tuple[float, ...]:
    if "original_width" in part:
        return float(part["original_width"]), float(part["original_height"])
    return (float(part["original_length"]),) if "original_length" in part else ()


def _object(part: Data, kind: str, label: str, where: str, data: object) -> LabelObject:
    value = part["value"]
    if kind == "spans":
        offsets = value.get("globalOffsets") or value
        return Span(int(offsets["start"]), int(offsets["end"]), label, where)
    if kind == "segments":
        return Segment(float(value["start"]), float(value["end"]), label, where)
    if kind == "rankings":
        said = value["ranker"]
        order = next(iter(said.values())) if isinstance(said, Mapping) else said
        # A list of alternatives in the data of the task is displayed in its order.
        lists = (
            [str(each.get("id")) for each in said]
            for said in (data.values() if isinstance(data, Mapping) else ())
            if isinstance(said, list) and all(isinstance(each, Mapping) for each in said)
        )
        shown = tuple(next((names for names in lists if {*order} <= {*names}), ()))
        return Ranking(tuple(frozenset({name}) for name in order), where, shown)
    if kind == "preferences":
        return Preference("left", "right", CHOSEN.get(value["selected"], "tie"), where)
    size = _extent(part)
    if kind == "polygons":
        return Polygon(tuple(_pixels(x, y, size) for x, y in value["points"]), label, where)
    refuse_rotation(value.get("rotation"), where)
    corner = _pixels(value["x"], value["y"], size)
    return Box(*corner, *_pixels(value["width"], value["height"], size), label, where)


def _pixels(across: Any, down: Any, size: tuple[float, ...]) -> tuple[float, float]:
    width, height = size
    return (
        round(float(across) * width / 100, DECIMALS),
        round(float(down) * height / 100, DECIMALS),
    )


# CSV, TSV and JSON_MIN: a row an annotation, without most of what JSON has


@tool(
    "label_studio_tables",
    "Label Studio CSV or JSON_MIN",
    has(*OWN),
    column_endings=("annotation_id",),
    shows={"raters", "times", "drafts", "none"},
    needs={
        "gold": "Export JSON. Or name who gave the gold answers in exclude_raters, and say "
        "requires: [] (--requires none).",
        "reviews": "Without a column history, a reviewer's answer counts as the rater's: then "
        "export JSON.",
    },
    omits_none=True,
)
def of_tables(export: Export) -> Iterator[Submission]:
    """Fields of the item and questions look alike, so each column is both. A task without an
    annotation has a row without a rater.
    """
    for place, row in export.records():
        if row["annotation_id"] in (None, "") and row["annotator"] in (None, ""):
            continue
        steps = _steps(row.get("history"), place)
        answers = {name: _answer_in(cell) for name, cell in row.items() if name not in BESIDE}
        if any(step.get("action") == FIXED for step in steps):
            for part in (part for step in steps for part in step.get("result") or ()):
                answers.pop(part.get("from_name"), None)
            answers |= answers_in(before_review({"history": steps, "last_action": FIXED}, place))
        yield Submission(
            row.get("id"),
            row["annotator"],
            answers,
            f"annotation {row['annotation_id']}",
            created=row.get("created_at"),
            updated=row.get("updated_at"),
            changed=row.get("updated_at"),
            first=first_answers(steps),
            seconds=row["lead_time"],
            fields={name: cell for name, cell in row.items() if not isinstance(cell, (list, dict))},
        )


def _steps(cell: Any, place: str) -> list[Data]:
    """An item may have a field of the name `history` as well: a dialogue, for example."""
    said = _parsed(cell)
    if isinstance(said, str) and said.startswith("[{"):
        raise RatingsError(
            f"{place}: found a history that is not readable as JSON; expected a list of steps. "
            "Export the table again. A spreadsheet may have cut the cell."
        )
    is_history = isinstance(said, list) and all(isinstance(each, Mapping) for each in said)
    return said if is_history else []


def _answer_in(cell: Any) -> Any:
    said = _parsed(cell)
    if isinstance(said, dict):
        return tuple(said["choices"]) if "choices" in said else None
    if isinstance(said, list):
        one = said[0] if len(said) == 1 and isinstance(said[0], dict) else {}
        if not AREAS.isdisjoint(one):
            return None
        if "taxonomy" in one:
            return _ticks(one["taxonomy"])
        return next((one[kind] for kind in PLAIN if kind in one), None)
    return (said,) if isinstance(said, str) and said else said


def _parsed(cell: Any) -> Any:
    if isinstance(cell, str) and cell[:1] in ("{", "["):
        try:
            return json.loads(cell)
        except ValueError:
            return cell
    return cell
