"""Mechanical Turk's batch results: a row an assignment. Rejected work counts, if nobody says no."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from agreement_pipeline.readers.exports import Export
from agreement_pipeline.readers.submissions import Submission
from agreement_pipeline.readers.times import utc
from agreement_pipeline.readers.tool import Tool

INPUT, ANSWER, WHOLE = "Input.", "Answer.", "Answer.taskAnswers"
LABEL, LABELS = ".label", ".labels"
Data = Mapping[str, Any]


def submissions(export: Export) -> Iterator[Submission]:
    """The assignments of all HITs."""
    for place, row in export.records():
        inputs = {
            name.removeprefix(INPUT): value for name, value in row.items() if name.startswith(INPUT)
        }
        seconds = row.get("WorkTimeInSeconds")
        yield Submission(
            row["HITId"],
            row["WorkerId"],
            _answers(row),
            f"assignment {row['AssignmentId']}",
            status="rejected" if row["AssignmentStatus"] == "Rejected" else "submitted",
            created=utc(row.get("AcceptTime"), place),
            updated=utc(row.get("SubmitTime"), place),
            seconds=float(seconds) if seconds else None,
            fields={**row, **inputs},
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
    for name, cell in row.items():
        if name.startswith(ANSWER):
            option = name.removeprefix(ANSWER).split(".")
            if name.endswith(LABELS):
                found[question(name)] = frozenset(json.loads(cell)) if cell else None
            elif cell in ("true", "false") and len(option) > 1:
                found.setdefault(option[0], None)
                found[option[0]] = option[1] if cell == "true" else found[option[0]]
            else:
                found[question(name)] = cell
    return found


def _of_element(value: Any) -> Any:
    if isinstance(value, dict) and "label" in value:
        return value["label"]
    if isinstance(value, dict) and "labels" in value:
        return frozenset(value["labels"])
    if isinstance(value, dict):
        return next((name for name, on in value.items() if on is True), None)
    return value


MTURK = Tool(
    "mturk",
    "Mechanical Turk's batch results",
    lambda export: {"HITId", "AssignmentId", "WorkerId"} <= {*export.first},
    submissions,
    frozenset({"raters", "times", "drafts", "none", "rejected"}),
    question=question,
).register()
