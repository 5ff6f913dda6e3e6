"""Mechanical Turk's batch results: a row an assignment. Rejected work counts, if nobody says no."""

import json
from collections.abc import Iterator
from typing import Any

from agreement_pipeline.readers.exports import Export, register
from agreement_pipeline.readers.submissions import Data, Submission, Tool, has, part

INPUT, ANSWER, WHOLE = "Input.", "Answer.", "Answer.taskAnswers"
LABEL, LABELS = ".label", ".labels"


def submissions(export: Export) -> Iterator[Submission]:
    """The assignments of all HITs."""
    for _, row in export.records():
        yield Submission(
            row["HITId"],
            row["WorkerId"],
            _answers(row),
            f"assignment {row['AssignmentId']}",
            status="rejected" if row["AssignmentStatus"] == "Rejected" else "submitted",
            created=row.get("AcceptTime"),
            updated=row.get("SubmitTime"),
            seconds=row.get("WorkTimeInSeconds"),
            fields={**row, **part(row, INPUT)},
        )


def question(column: str) -> str:
    """The question of a column of answers.

    >>> question("Answer.sentiment.label"), question("sentiment")
    ('sentiment', 'sentiment')
    """
    return column.removeprefix(ANSWER).removesuffix(LABELS).removesuffix(LABEL)


def _answers(row: Data) -> dict[str, Any]:
    if row.get(WHOLE):
        (said, *_) = json.loads(row[WHOLE])
        return {name: _of_element(value) for name, value in said.items()}
    found: dict[str, Any] = {}
    for name, cell in part(row, ANSWER).items():
        option = name.split(".")
        if name.endswith(LABELS):
            found[question(ANSWER + name)] = frozenset(json.loads(cell)) if cell else None
        elif cell in ("true", "false") and len(option) > 1:
            found.setdefault(option[0], None)
            found[option[0]] = option[1] if cell == "true" else found[option[0]]
        else:
            found[question(ANSWER + name)] = cell
    return found


def _of_element(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    if "label" in value:
        return value["label"]
    if "labels" in value:
        return frozenset(value["labels"])
    return next((name for name, on in value.items() if on is True), None)


register(
    Tool(
        "mturk",
        "Mechanical Turk's batch results",
        has("HITId", "AssignmentId", "WorkerId"),
        submissions,
        shows={"raters", "times", "drafts", "none", "rejected"},
        question=question,
    )
)
