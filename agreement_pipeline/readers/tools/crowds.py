"""Crowds of workers: Mechanical Turk, Toloka and SageMaker Ground Truth.

Rejected work counts, if nobody says no. Control tasks of Toloka are gold. Of Ground Truth, the
output manifest alone has consolidated labels, and no raters.
"""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from agreement_pipeline.errors import RatingsError
from agreement_pipeline.readers.exports import Export, register
from agreement_pipeline.readers.files import kind_of
from agreement_pipeline.readers.submissions import Data, Status, Submission, Tool, has, plain


def _part(record: Data, prefix: str) -> dict[str, Any]:
    """The fields of a record whose names begin with a prefix, without it."""
    return {
        name.removeprefix(prefix): value
        for name, value in record.items()
        if name.startswith(prefix)
    }


def _of_element(value: Any) -> Any:
    """The answer of a form's element: its label, its labels, or the option that is on."""
    if not isinstance(value, Mapping):
        return value
    if "label" in value:
        return value["label"]
    if "labels" in value:
        return frozenset(value["labels"])
    return next((name for name, on in value.items() if on is True or on == {"on": True}), None)


# Mechanical Turk's batch results: a row an assignment

TURK_INPUT, ANSWER, WHOLE = "Input.", "Answer.", "Answer.taskAnswers"
LABEL, LABELS = ".label", ".labels"


def mechanical_turk(export: Export) -> Iterator[Submission]:
    """The assignments of all HITs."""
    for _, row in export.records():
        yield Submission(
            row["HITId"],
            row["WorkerId"],
            _turk_answers(row),
            f"assignment {row['AssignmentId']}",
            status="rejected" if row["AssignmentStatus"] == "Rejected" else "submitted",
            created=row.get("AcceptTime"),
            updated=row.get("SubmitTime"),
            seconds=row.get("WorkTimeInSeconds"),
            fields={**row, **_part(row, TURK_INPUT)},
        )


def turk_question(column: str) -> str:
    """The question of a column of answers.

    >>> turk_question("Answer.sentiment.label"), turk_question("sentiment")
    ('sentiment', 'sentiment')
    """
    return column.removeprefix(ANSWER).removesuffix(LABELS).removesuffix(LABEL)


def _turk_answers(row: Data) -> dict[str, Any]:
    if row.get(WHOLE):
        (said, *_) = json.loads(row[WHOLE])
        return {name: _of_element(value) for name, value in said.items()}
    found: dict[str, Any] = {}
    for name, cell in _part(row, ANSWER).items():
        option = name.split(".")
        if name.endswith(LABELS):
            found[turk_question(ANSWER + name)] = frozenset(json.loads(cell)) if cell else None
        elif cell in ("true", "false") and len(option) > 1:
            found.setdefault(option[0], None)
            found[option[0]] = option[1] if cell == "true" else found[option[0]]
        else:
            found[turk_question(ANSWER + name)] = cell
    return found


register(
    Tool(
        "mturk",
        "Mechanical Turk's batch results",
        has("HITId", "AssignmentId", "WorkerId"),
        mechanical_turk,
        shows={"raters", "times", "drafts", "none", "rejected"},
        question=turk_question,
    )
)


# Toloka's assignments: a row for each task of an assignment

INPUT, OUTPUT, GOLDEN, OWN = "INPUT:", "OUTPUT:", "GOLDEN:", "ASSIGNMENT:"
STATUSES: dict[str, Status] = {
    "REJECTED": "rejected",
    "SKIPPED": "skipped",
    "EXPIRED": "skipped",
    "ACTIVE": "draft",
}


def toloka(export: Export) -> Iterator[Submission]:
    """The tasks of all assignments, and the known answers of control tasks once each."""
    known: set[object] = set()
    for _, row in export.records():
        task = row.get(f"{OWN}task_id") or row[f"{OWN}assignment_id"]
        fields = {**row, **_part(row, INPUT)}
        golden = {name: value for name, value in _part(row, GOLDEN).items() if value}
        if golden and task not in known:
            known.add(task)
            yield Submission(task, GOLDEN, golden, f"golden {task}", kind="gold", fields=fields)
        yield Submission(
            task,
            row[f"{OWN}worker_id"],
            {name: _toloka_answer(cell) for name, cell in _part(row, OUTPUT).items()},
            f"assignment {row[f'{OWN}assignment_id']}, task {task}",
            status=STATUSES.get(row.get(f"{OWN}status", ""), "submitted"),
            created=row.get(f"{OWN}started"),
            updated=row.get(f"{OWN}submitted"),
            fields=fields,
        )


def toloka_question(column: str) -> str:
    """The question of a column of answers.

    >>> toloka_question("OUTPUT:sentiment"), toloka_question("sentiment")
    ('sentiment', 'sentiment')
    """
    return column.removeprefix(OUTPUT)


def _toloka_answer(cell: str) -> Any:
    return frozenset(json.loads(cell)) if cell.startswith("[") else cell


register(
    Tool(
        "toloka",
        "Toloka's assignments",
        has(f"{OWN}worker_id"),
        toloka,
        shows={"raters", "times", "skips", "drafts", "gold", "rejected", "none"},
        question=toloka_question,
    )
)


# SageMaker Ground Truth: the answers of the workers, and the manifest that names the items

MANIFEST = "output.manifest"


def ground_truth(export: Export) -> Iterator[Submission]:
    """The workers' answers: of the worker responses, else of the consolidation requests."""
    first = {
        path: next((record.value for record in export.records_in(path)), {})
        for path in export.files
        if kind_of(path) == "json"
    }
    responses = [path for path, record in first.items() if "answers" in record]
    requests = [path for path, record in first.items() if "datasetObjectId" in record]
    manifests = [path for path in export.files if path.name == MANIFEST]
    rows = (row for path in manifests for _, row in export.records_in(path))
    items = {str(number): row for number, row in enumerate(rows)}
    if not responses and not requests:
        raise RatingsError(
            f"{export.name}: found consolidated labels, and no worker; expected who answered. "
            "Copy the folder annotations/worker-response of the job too."
        )
    for path in responses or requests:
        for where, record in export.records_in(path):
            known = {"text": (record.get("dataObject") or {}).get("content")}
            item = path.parent.name if responses else str(record["datasetObjectId"])
            fields = plain({**known, **items.get(item, {})}, str)
            fields = {"text": fields["source"], **fields} if "source" in fields else fields
            for number, answer in enumerate(record["answers" if responses else "annotations"], 1):
                content = answer["answerContent"] if responses else _content(answer)
                yield Submission(
                    item,
                    answer["workerId"],
                    {name: _of_element(value) for name, value in content.items()},
                    f"{where}, answer {number}",
                    created=answer.get("acceptanceTime"),
                    updated=answer.get("submissionTime"),
                    seconds=answer.get("timeSpentInSeconds"),
                    fields=fields,
                )


def _content(annotation: Data) -> Data:
    """What an annotation of a consolidation request says."""
    said: Data = json.loads(annotation["annotationData"]["content"])
    return said


def _is_job(export: Export) -> bool:
    first = export.first
    answers = first.get("answers")
    return (
        (isinstance(answers, list) and "workerId" in (answers or [{}])[0])
        or "datasetObjectId" in first
        or any(
            isinstance(value, Mapping) and "human-annotated" in value for value in first.values()
        )
    )


register(
    Tool(
        "ground_truth",
        "SageMaker Ground Truth",
        _is_job,
        ground_truth,
        shows={"raters", "times", "drafts", "none"},
    )
)
