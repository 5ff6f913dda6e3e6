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
from agreement_pipeline.readers.rows import (
    Data,
    ObjectAnswer,
    Submission,
)
from agreement_pipeline.readers.submissions import (
    DECIMALS,
    build_fields_test,
    group_values,
    read_flag,
    refuse_rotation,
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

FIXED_AND_ACCEPTED = "fixed_and_accepted"
REVIEW_ACTIONS = ("accepted", "rejected", FIXED_AND_ACCEPTED)
SUGGESTED_ORIGINS = {"prediction", "prediction-changed"}
PARENT_FIELDS = ("parent_prediction", "parent_annotation")
COPYING_ACTIONS = ("prediction", "propagated_annotation")
REGION_FIELDS = frozenset(
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
OWN_COLUMNS = ("annotation_id", "annotator", "lead_time")
COLUMNS_OUTSIDE_ANSWERS = (*OWN_COLUMNS, "id", "created_at", "updated_at", "agreement", "history")
SCALAR_TYPES = ("rating", "number", "datetime")
LABEL_TYPES = ("choices", "taxonomy", *SCALAR_TYPES)
RESULT_TYPES_BY_KIND = {
    "spans": ("labels", "hypertextlabels"),
    "segments": ("labels", "timeserieslabels"),
    "boxes": ("rectanglelabels",),
    "polygons": ("polygonlabels",),
    "rankings": ("ranker",),
    "preferences": ("pairwise",),
}
UNLABELLED_TYPE_BY_KIND = {"boxes": "rectangle", "polygons": "polygon"}
CHOICE_BY_SIDE: dict[str, Literal["first", "second", "tie"]] = {"left": "first", "right": "second"}


# JSON


def _is_json(export: Export) -> bool:
    record = export.first_record
    task = isinstance(record.get("annotations"), list) and "data" in record
    return task or ("result" in record and isinstance(record.get("task"), Mapping))


@tool(
    "label_studio",
    "Label Studio JSON",
    _is_json,
    shows={*CAPABILITIES},
    omits_none=True,
    kinds=("spans", "boxes", "polygons", "rankings", "preferences"),
)
def read_label_studio(export: Export, kind: str = "") -> Iterator[Submission]:
    for place, record in export.records():
        is_task = "annotations" in record
        task = record if is_task else record.get("task")
        if not isinstance(task, Mapping):
            raise RatingsError(
                f"{place}: found no annotations; expected a task with its annotations. "
                "Export the project again, as JSON."
            )
        fields = {"task": task.get("id"), **(task.get("meta") or {}), **(task.get("data") or {})}
        work = [
            ("annotation", work_record)
            for work_record in (record["annotations"] if is_task else [record])
        ]
        for work_kind in ("draft", "prediction") if is_task else ():
            # An export without a snapshot has their numbers alone, which say nothing.
            work_records = (
                work_record
                for work_record in task.get(f"{work_kind}s") or ()
                if not isinstance(work_record, int)
            )
            work += [(work_kind, work_record) for work_record in work_records]
        for work_kind, work_record in work:
            name = f"{work_kind} {work_record.get('id')}"
            work_place = f"{place}, {name}"
            result = (
                answers_before_review(work_record, work_place)
                if work_kind == "annotation"
                else work_record["result"]
            )
            yield Submission(
                task["id"] if work_kind == "draft" else task.get("id"),
                values=(
                    object_answer_by_question(result, work_place, kind, task.get("data"))
                    if kind
                    else read_answer_by_question(result)
                ),
                record=work_place if work_kind == "draft" else name,
                created=work_record.get("created_at"),
                fields=fields,
                first=None if kind else first_answer_by_question(work_record.get("history")),
                **_submission_details(work_kind, work_record, work_place),
            )


def _submission_details(work_kind: str, work_record: Data, place: str) -> dict[str, Any]:
    if work_kind == "prediction":
        model = work_record.get("model_version") or "a model without a version"
        return {"rater": model, "kind": "model", "confidence": work_record.get("score")}
    if work_kind == "draft":
        return {"rater": work_record.get("user"), "status": "draft"}
    user = work_record.get("completed_by")
    reviewed = "rejected" if work_record.get("last_action") == "rejected" else "submitted"
    return {
        "rater": (user.get("email") or user.get("id")) if isinstance(user, Mapping) else user,
        "status": "skipped" if _read_strict_flag(work_record, "was_cancelled", place) else reviewed,
        "kind": "gold" if _read_strict_flag(work_record, "ground_truth", place) else "human",
        "updated": work_record.get("updated_at"),
        "changed": work_record.get("updated_at"),
        "seconds": work_record.get("lead_time"),
        "assisted": work_record.get("last_action") in COPYING_ACTIONS
        or any(work_record.get(name) is not None for name in PARENT_FIELDS)
        or not SUGGESTED_ORIGINS.isdisjoint(
            part.get("origin") for part in work_record.get("result") or ()
        ),
    }


def read_answer_by_question(result: object) -> dict[str, Any]:
    answer_by_question: dict[str, Any] = {}
    for part in result if isinstance(result, list) else ():
        value, kind = part.get("value", {}), part.get("type", "")
        if _is_answer(kind, value):
            name, value_of_kind = part.get("from_name", kind), value[kind]
            answer = (
                _tick_texts(value_of_kind) if isinstance(value_of_kind, list) else value_of_kind
            )
            are_both_ticks = isinstance(answer, tuple) and isinstance(
                answer_by_question.get(name), tuple
            )
            answer_by_question[name] = (
                (*answer_by_question[name], *answer) if are_both_ticks else answer
            )
    return answer_by_question


def _is_answer(kind: str, value: Data) -> bool:
    """A ranking, a message of a chat and what own code writes have several parts. They are no
    labels.
    """
    if not REGION_FIELDS.isdisjoint(value.keys()) or kind not in value:
        return False
    return kind in LABEL_TYPES or not (kind == "ranker" or isinstance(value[kind], Mapping))


def _tick_texts(choices: list[Any]) -> tuple[str, ...]:
    """Nothing if there are empty choices only. One among others is refused later."""
    ticks = tuple(
        " > ".join(map(str, tick)) if isinstance(tick, list) else tick for tick in choices
    )
    has_choice = any(not isinstance(tick, str) or tick.strip() for tick in ticks)
    return ticks if has_choice else ()


def _read_strict_flag(annotation: Data, field_name: str, place: str) -> bool:
    """Label Studio always writes it where it writes a time. So there a missing field was renamed,
    and is no plain no.
    """
    value = annotation[field_name] if "created_at" in annotation else annotation.get(field_name)
    return read_flag(value, field_name, place)


def answers_before_review(annotation: Data, place: str) -> object:
    reviews = annotation.get("reviews") or ()
    fixing_reviews = [
        fixing_review for fixing_review in reviews if fixing_review.get("fixed_annotation_history")
    ]
    fixed = sorted(fixing_reviews, key=_time_of_step)
    if not fixed and annotation.get("last_action") != FIXED_AND_ACCEPTED:
        return annotation["result"]
    for review in fixed:
        if review.get("previous_annotation_history_result") is not None:
            return review["previous_annotation_history_result"]
    own_result = None
    for step in sorted(annotation.get("history") or (), key=_time_of_step):
        if step.get("action") in REVIEW_ACTIONS:
            break
        own_result = step.get("result", own_result)
    if own_result is None:
        raise RatingsError(
            f"{place}: found an answer that a reviewer changed, and no history; expected the "
            "answer before the review, since the reviewer is no rater. Export a snapshot with "
            "include_annotation_history."
        )
    return own_result


def first_answer_by_question(history: object) -> dict[str, Any] | None:
    steps = sorted(history if isinstance(history, list) else (), key=_time_of_step)
    handed_in = (step for step in steps if step.get("action") in ("submitted", "updated"))
    first_step = next(handed_in, None)
    return None if first_step is None else read_answer_by_question(first_step.get("result"))


def _time_of_step(step: Data) -> str:
    return str(step.get("created_at"))


# Label objects


def object_answer_by_question(
    result: object, annotation_place: str, kind: str, data: object = None
) -> dict[str, ObjectAnswer]:
    named_objects: list[tuple[str, LabelObject]] = []
    extents: dict[str, tuple[float, ...]] = {}
    for n, part in enumerate(result if isinstance(result, list) else (), 1):
        object_place = f"{annotation_place}, object {n}"
        if part["type"] in RESULT_TYPES_BY_KIND.get(kind, ()):
            name, labels = part.get("from_name", kind), part["value"].get(part["type"])
            labels = labels if isinstance(labels, list) else [""]  # a ranking or a preference
            if not labels:
                raise _no_label_error(part, kind, object_place)
            named_objects += [
                (name, _read_object(part, kind, label, object_place, data)) for label in labels
            ]
            extents[name] = _extent_of_part(part)
        elif part["type"] == UNLABELLED_TYPE_BY_KIND.get(kind):
            raise _no_label_error(part, kind, object_place)
    objects = group_values(named_objects)
    return {name: ObjectAnswer(objects.get(name, ()), extent) for name, extent in extents.items()}


def _no_label_error(part: Data, kind: str, place: str) -> RatingsError:
    return RatingsError(
        f"{place}: found an object of type {part['type']!r} without a label; expected a label in "
        f"type {' or '.join(RESULT_TYPES_BY_KIND[kind])}. Label the object or delete it."
    )


def _extent_of_part(part: Data) -> tuple[float, ...]:
    if "original_width" in part:
        return float(part["original_width"]), float(part["original_height"])
    return (float(part["original_length"]),) if "original_length" in part else ()


def _read_object(part: Data, kind: str, label: str, place: str, data: object) -> LabelObject:
    value = part["value"]
    if kind == "spans":
        offsets = value.get("globalOffsets") or value
        return Span(int(offsets["start"]), int(offsets["end"]), label, place)
    if kind == "segments":
        return Segment(float(value["start"]), float(value["end"]), label, place)
    if kind == "rankings":
        ranked = value["ranker"]
        order = next(iter(ranked.values())) if isinstance(ranked, Mapping) else ranked
        # A list of alternatives in the data of the task is displayed in its order.
        lists = (
            [str(record.get("id")) for record in alternatives]
            for alternatives in (data.values() if isinstance(data, Mapping) else ())
            if isinstance(alternatives, list)
            and all(isinstance(record, Mapping) for record in alternatives)
        )
        displayed = tuple(next((names for names in lists if {*order} <= {*names}), ()))
        return Ranking(tuple(frozenset({name}) for name in order), place, displayed)
    if kind == "preferences":
        return Preference("left", "right", CHOICE_BY_SIDE.get(value["selected"], "tie"), place)
    size = _extent_of_part(part)
    if kind == "polygons":
        return Polygon(
            tuple(_percent_to_pixels(x, y, size) for x, y in value["points"]), label, place
        )
    refuse_rotation(value.get("rotation"), place)
    corner = _percent_to_pixels(value["x"], value["y"], size)
    return Box(*corner, *_percent_to_pixels(value["width"], value["height"], size), label, place)


def _percent_to_pixels(
    x_percent: Any, y_percent: Any, size: tuple[float, ...]
) -> tuple[float, float]:
    width, height = size
    return (
        round(float(x_percent) * width / 100, DECIMALS),
        round(float(y_percent) * height / 100, DECIMALS),
    )


# CSV, TSV and JSON_MIN: a row an annotation, without most of what JSON has


@tool(
    "label_studio_tables",
    "Label Studio CSV or JSON_MIN",
    build_fields_test(*OWN_COLUMNS),
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
def read_label_studio_table(export: Export) -> Iterator[Submission]:
    """Fields of the item and questions look alike, so each column is both. A task without an
    annotation has a row without a rater.
    """
    for place, row in export.records():
        if row["annotation_id"] in (None, "") and row["annotator"] in (None, ""):
            continue
        steps = _history_steps(row.get("history"), place)
        answers = {
            name: _answer_in_cell(cell)
            for name, cell in row.items()
            if name not in COLUMNS_OUTSIDE_ANSWERS
        }
        if any(step.get("action") == FIXED_AND_ACCEPTED for step in steps):
            for part in (part for step in steps for part in step.get("result") or ()):
                answers.pop(part.get("from_name"), None)
            answers |= read_answer_by_question(
                answers_before_review({"history": steps, "last_action": FIXED_AND_ACCEPTED}, place)
            )
        yield Submission(
            row.get("id"),
            row["annotator"],
            answers,
            f"annotation {row['annotation_id']}",
            created=row.get("created_at"),
            updated=row.get("updated_at"),
            changed=row.get("updated_at"),
            first=first_answer_by_question(steps),
            seconds=row["lead_time"],
            fields={name: cell for name, cell in row.items() if not isinstance(cell, (list, dict))},
        )


def _history_steps(cell: Any, place: str) -> list[Data]:
    """An item may have a field of the name `history` as well: a dialogue, for example."""
    steps = _parse_json_cell(cell)
    if isinstance(steps, str) and steps.startswith("[{"):
        raise RatingsError(
            f"{place}: found a history that is not readable as JSON; expected a list of steps. "
            "Export the table again. A spreadsheet may have cut the cell."
        )
    is_history = isinstance(steps, list) and all(isinstance(step, Mapping) for step in steps)
    return steps if is_history else []


def _answer_in_cell(cell: Any) -> Any:
    value = _parse_json_cell(cell)
    if isinstance(value, dict):
        return tuple(value["choices"]) if "choices" in value else None
    if isinstance(value, list):
        single_part = value[0] if len(value) == 1 and isinstance(value[0], dict) else {}
        if not REGION_FIELDS.isdisjoint(single_part):
            return None
        if "taxonomy" in single_part:
            return _tick_texts(single_part["taxonomy"])
        return next((single_part[kind] for kind in SCALAR_TYPES if kind in single_part), None)
    return (value,) if isinstance(value, str) and value else value


def _parse_json_cell(cell: Any) -> Any:
    if isinstance(cell, str) and cell[:1] in ("{", "["):
        try:
            return json.loads(cell)
        except ValueError:
            return cell
    return cell
