"""Crowd platforms: Mechanical Turk, SageMaker Ground Truth and Toloka.

Rejected work counts, if nobody says no.
"""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from agreement_pipeline.errors import RatingsError
from agreement_pipeline.readers.exports import Export
from agreement_pipeline.readers.files import detect_kind
from agreement_pipeline.readers.rows import (
    Data,
    Status,
    Submission,
)
from agreement_pipeline.readers.submissions import (
    build_fields_test,
    get_nested,
    select_plain_fields,
    tool,
)

INPUT_PREFIX, ANSWER_PREFIX, TASK_ANSWERS = "Input.", "Answer.", "Answer.taskAnswers"
LABEL_SUFFIX, LABELS_SUFFIX = ".label", ".labels"
MANIFEST = "output.manifest"
GOLDEN, ASSIGNMENT = "GOLDEN:", "ASSIGNMENT:"
TOLOKA_STATUS_BY_NAME: dict[str, Status] = {
    "REJECTED": "rejected",
    "SKIPPED": "skipped",
    "EXPIRED": "skipped",
    "ACTIVE": "draft",
}


def _cell_by_name_after_prefix(row: Data, prefix: str) -> dict[str, Any]:
    return {
        name.removeprefix(prefix): cell for name, cell in row.items() if name.startswith(prefix)
    }


def _answer_of_crowd_element(value: Any) -> Any:
    if not isinstance(value, Mapping):
        return value
    if "label" in value:
        return value["label"]
    if "labels" in value:
        return frozenset(value["labels"])
    return tuple(name for name, on in value.items() if on is True or on == {"on": True})


def question_of_column(column: str) -> str:
    """The question of a column.

    >>> question_of_column("Answer.sentiment.label"), question_of_column("sentiment")
    ('sentiment', 'sentiment')
    """
    return column.removeprefix(ANSWER_PREFIX).removesuffix(LABELS_SUFFIX).removesuffix(LABEL_SUFFIX)


@tool(
    "mturk",
    "Mechanical Turk's batch results",
    build_fields_test("HITId", "AssignmentId", "WorkerId"),
    column_endings=("HITId",),
    shows={"raters", "times", "drafts", "none", "rejected"},
    question=question_of_column,
)
def read_mturk(export: Export) -> Iterator[Submission]:
    for _, row in export.records():
        yield Submission(
            row["HITId"],
            row["WorkerId"],
            _answer_by_question(row),
            f"assignment {row['AssignmentId']}",
            status="rejected" if row["AssignmentStatus"] == "Rejected" else "submitted",
            created=row.get("AcceptTime"),
            updated=row.get("SubmitTime"),
            seconds=row.get("WorkTimeInSeconds"),
            fields={**row, **_cell_by_name_after_prefix(row, INPUT_PREFIX)},
        )


def _answer_by_question(row: Data) -> dict[str, Any]:
    if row.get(TASK_ANSWERS):
        (answers, *_) = json.loads(row[TASK_ANSWERS])
        return {name: _answer_of_crowd_element(value) for name, value in answers.items()}
    answer_by_question: dict[str, Any] = {}
    for name, cell in _cell_by_name_after_prefix(row, ANSWER_PREFIX).items():
        checkbox_question, _, option = name.partition(".")
        if name.endswith(LABELS_SUFFIX):
            answer_by_question[question_of_column(ANSWER_PREFIX + name)] = (
                frozenset(json.loads(cell)) if cell else None
            )
        elif option and not name.endswith(LABEL_SUFFIX) and cell in ("true", "false"):
            answer_by_question[checkbox_question] = (
                *answer_by_question.get(checkbox_question, ()),
                *([option] if cell == "true" else ()),
            )
        else:
            answer_by_question[question_of_column(ANSWER_PREFIX + name)] = cell
    return answer_by_question


def _is_ground_truth_job(export: Export) -> bool:
    record = export.first_record
    answers = record.get("answers")
    if isinstance(answers, list) and answers and "workerId" in answers[0]:
        return True
    values = [value for value in record.values() if isinstance(value, Mapping)]
    return "datasetObjectId" in record or any("human-annotated" in value for value in values)


@tool(
    "ground_truth",
    "SageMaker Ground Truth",
    _is_ground_truth_job,
    column_endings=("datasetObjectId",),
    shows={"raters", "times", "drafts", "none"},
)
def read_ground_truth(export: Export) -> Iterator[Submission]:
    """They are read from the worker responses, else from the consolidation requests.

    The manifest names the items. It alone has consolidated labels, and no raters.
    """
    first_record_by_path = {
        path: next((record for _, record in export.records(path)), {})
        for path in export.files
        if detect_kind(path) == "json"
    }
    answered = [path for path, record in first_record_by_path.items() if "answers" in record]
    answered = answered or [
        path for path, record in first_record_by_path.items() if "datasetObjectId" in record
    ]
    manifests = [path for path in export.files if path.name == MANIFEST]
    rows = (row for path in manifests for _, row in export.records(path))
    items = {str(number): row for number, row in enumerate(rows)}
    if not answered:
        raise RatingsError(
            f"{export.path.name}: found consolidated labels, and no worker; expected who answered. "
            "Copy the folder annotations/worker-response of the job too."
        )
    for path in answered:
        for record_place, record in export.records(path):
            is_response = "answers" in record
            item = path.parent.name if is_response else str(record["datasetObjectId"])
            text = get_nested(record, "dataObject", "content")
            fields = select_plain_fields({"text": text, **items.get(item, {})}, str)
            if "source" in fields:
                fields = {"text": fields["source"], **fields}
            answers = record["answers" if is_response else "annotations"]
            for number, answer in enumerate(answers, 1):
                value_by_element: Data = (
                    answer["answerContent"]
                    if is_response
                    else json.loads(answer["annotationData"]["content"])
                )
                yield Submission(
                    item,
                    answer["workerId"],
                    {
                        name: _answer_of_crowd_element(value)
                        for name, value in value_by_element.items()
                    },
                    f"{record_place}, answer {number}",
                    created=answer.get("acceptanceTime"),
                    updated=answer.get("submissionTime"),
                    seconds=answer.get("timeSpentInSeconds"),
                    fields=fields,
                )


@tool(
    "toloka",
    "Toloka's assignments",
    build_fields_test(f"{ASSIGNMENT}worker_id"),
    column_endings=("ASSIGNMENT:worker_id",),
    shows={"raters", "times", "skips", "drafts", "gold", "rejected", "none"},
    question=lambda column: column.removeprefix("OUTPUT:"),
)
def read_toloka(export: Export) -> Iterator[Submission]:
    """The known answers of control tasks are gold."""
    golden_tasks: set[object] = set()
    for _, row in export.records():
        assignment = _cell_by_name_after_prefix(row, ASSIGNMENT)
        task = assignment.get("task_id") or row[f"{ASSIGNMENT}assignment_id"]
        fields = {**row, **_cell_by_name_after_prefix(row, "INPUT:")}
        golden = {
            name: value for name, value in _cell_by_name_after_prefix(row, GOLDEN).items() if value
        }
        if golden and task not in golden_tasks:
            golden_tasks.add(task)
            yield Submission(task, GOLDEN, golden, f"golden {task}", kind="gold", fields=fields)
        yield Submission(
            task,
            row[f"{ASSIGNMENT}worker_id"],
            {
                name: frozenset(json.loads(cell)) if cell.startswith("[") else cell
                for name, cell in _cell_by_name_after_prefix(row, "OUTPUT:").items()
            },
            f"assignment {row[f'{ASSIGNMENT}assignment_id']}, task {task}",
            status=TOLOKA_STATUS_BY_NAME.get(assignment.get("status", ""), "submitted"),
            created=assignment.get("started"),
            updated=assignment.get("submitted"),
            fields=fields,
        )
