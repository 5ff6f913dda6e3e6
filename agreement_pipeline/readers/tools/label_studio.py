"""Label Studio's JSON: of the community edition, of Enterprise, and one file an annotation.

The label before a review counts. After *fix and accept*, `result` is the reviewer's. The rater's
own is in `reviews` or in `history`, if these were exported.
"""

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

from agreement_pipeline.errors import RatingsError
from agreement_pipeline.ratings import CAPABILITIES
from agreement_pipeline.readers.exports import Export
from agreement_pipeline.readers.submissions import Status, Submission
from agreement_pipeline.readers.times import utc
from agreement_pipeline.readers.tool import Tool
from agreement_pipeline.readers.tools.label_studio_objects import objects_in

FIXED = "fixed_and_accepted"
REVIEWED = ("accepted", "rejected", FIXED)
SUGGESTED = ("prediction", "prediction-changed")
COPIED = ("prediction", "propagated_annotation")
AREAS = frozenset({"start", "x", "points", "original_width"})
Data = Mapping[str, Any]
Answers = Callable[[Any, str], dict[str, Any]]
"""From the result of an annotation and its place to the answer to each question."""


def submissions(export: Export) -> Iterator[Submission]:
    """The annotations, drafts and predictions of all tasks."""
    yield from _submissions(export, lambda result, _: answers_in(result))


def draws(export: Export, kind: str) -> Iterator[Submission]:
    """The same with the objects of a kind as the answers."""
    yield from _submissions(export, partial(objects_in, kind=kind))


def _submissions(export: Export, answers: Answers) -> Iterator[Submission]:
    for place, record in export.records():
        if "annotations" in record:
            yield from _of_task(record, place, answers)
        elif isinstance(record.get("task"), Mapping):
            task = record["task"]
            yield _annotation(record, task, place, answers, _fields(task))
        else:
            raise RatingsError(
                f"{place}: found no annotations; expected a task with its annotations. "
                "Export the project again, as JSON."
            )


def answers_in(result: object) -> dict[str, Any]:
    """The answer to each question in the result of an annotation. Areas and spans are left out."""
    found: dict[str, Any] = {}
    for part in result if isinstance(result, list) else ():
        value, kind = part.get("value", {}), part.get("type", "")
        if kind not in value or not AREAS.isdisjoint(value):
            continue
        said, name = value[kind], part.get("from_name", kind)
        answer = ticks(said) if isinstance(said, list) else said
        both = isinstance(answer, tuple) and isinstance(found.get(name), tuple)
        found[name] = (*found[name], *answer) if both else answer
    return found


def ticks(said: list[Any]) -> tuple[str, ...]:
    """Choices, or the paths of a taxonomy."""
    return tuple(" > ".join(map(str, each)) if isinstance(each, list) else each for each in said)


def _of_task(task: Data, place: str, answers: Answers) -> Iterator[Submission]:
    fields = _fields(task)
    for annotation in task["annotations"]:
        yield _annotation(annotation, task, place, answers, fields)
    for draft in task.get("drafts") or ():
        yield Submission(
            task["id"],
            draft.get("user"),
            answers(draft.get("result"), f"{place}, draft {draft.get('id')}"),
            f"{place}, draft {draft.get('id')}",
            status="draft",
            created=utc(draft.get("created_at"), place),
            fields=fields,
        )
    for prediction in task.get("predictions") or ():
        yield _prediction(prediction, task, place, answers, fields)


def _annotation(
    annotation: Data, task: Data, place: str, answers: Answers, fields: Data
) -> Submission:
    where = f"annotation {annotation.get('id')}"
    at = f"{place}, {where}"
    return Submission(
        task.get("id"),
        _rater(annotation.get("completed_by")),
        answers(before_review(annotation, at), at),
        where,
        status=_status(annotation),
        kind="gold" if _says(annotation, "ground_truth") else "human",
        created=utc(annotation.get("created_at"), at),
        updated=utc(annotation.get("updated_at"), at),
        seconds=annotation.get("lead_time"),
        assisted=_is_assisted(annotation),
        fields=fields,
    )


def _prediction(
    prediction: Data, task: Data, place: str, answers: Answers, fields: Data
) -> Submission:
    where = f"prediction {prediction.get('id')}"
    return Submission(
        task.get("id"),
        prediction.get("model_version") or "a model without a version",
        answers(prediction.get("result"), f"{place}, {where}"),
        where,
        kind="model",
        created=utc(prediction.get("created_at"), f"{place}, {where}"),
        confidence=prediction.get("score"),
        fields=fields,
    )


def _fields(task: Data) -> dict[str, Any]:
    return {"task": task.get("id"), **(task.get("meta") or {}), **(task.get("data") or {})}


def _rater(said: object) -> object:
    """A user's number, or the e-mail address that Enterprise gives."""
    return (said.get("email") or said.get("id")) if isinstance(said, Mapping) else said


def _says(annotation: Data, what: str) -> bool:
    """What an annotation says of itself. Label Studio always writes it where it writes a time.

    So there a missing field was renamed, and is no plain no.
    """
    return bool(annotation[what] if "created_at" in annotation else annotation.get(what))


def _status(annotation: Data) -> Status:
    if _says(annotation, "was_cancelled"):
        return "skipped"
    return "rejected" if annotation.get("last_action") == "rejected" else "submitted"


def _is_assisted(annotation: Data) -> bool:
    parents = annotation.get("parent_prediction"), annotation.get("parent_annotation")
    origins = {part.get("origin") for part in annotation.get("result") or ()}
    copied = annotation.get("last_action") in COPIED
    return copied or any(each is not None for each in parents) or bool(origins & {*SUGGESTED})


def before_review(annotation: Data, where: str) -> object:
    """What the rater answered, before a reviewer changed it.

    Raises
    ------
    RatingsError
        A reviewer changed it, and the export does not tell what it was.
    """
    reviews = annotation.get("reviews") or ()
    said = [each for each in reviews if each.get("fixed_annotation_history")]
    fixed = sorted(said, key=lambda each: str(each.get("created_at")))
    if not fixed and annotation.get("last_action") != FIXED:
        return annotation.get("result")
    for review in fixed:
        if review.get("previous_annotation_history_result") is not None:
            return review["previous_annotation_history_result"]
    before = _own_history(annotation)
    if before is None:
        raise RatingsError(
            f"{where}: found an answer that a reviewer changed, and no history; expected the "
            "answer before the review, since the reviewer is no rater. Export a snapshot with "
            "include_annotation_history."
        )
    return before


def _own_history(annotation: Data) -> object:
    steps = sorted(annotation.get("history") or (), key=lambda each: str(each.get("created_at")))
    own = None
    for step in steps:
        if step.get("action") in REVIEWED:
            break
        own = step.get("result", own)
    return own


def _is_json(export: Export) -> bool:
    first = export.first
    task = isinstance(first.get("annotations"), list) and "data" in first
    return task or ("result" in first and isinstance(first.get("task"), Mapping))


LABEL_STUDIO = Tool(
    "label_studio",
    "Label Studio JSON",
    _is_json,
    submissions,
    frozenset(CAPABILITIES),
    omits_none=True,
    draws=draws,
    kinds=("spans", "boxes", "polygons", "rankings", "preferences"),
).register()
