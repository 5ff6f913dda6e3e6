"""Toloka's assignments: a row for each task of an assignment, with control tasks as gold."""

import json
from collections.abc import Iterator
from typing import Any

from agreement_pipeline.readers.exports import Export, register
from agreement_pipeline.readers.submissions import Status, Submission, Tool, has, part

INPUT, OUTPUT, GOLDEN, OWN = "INPUT:", "OUTPUT:", "GOLDEN:", "ASSIGNMENT:"
STATUSES: dict[str, Status] = {
    "REJECTED": "rejected",
    "SKIPPED": "skipped",
    "EXPIRED": "skipped",
    "ACTIVE": "draft",
}


def submissions(export: Export) -> Iterator[Submission]:
    """The tasks of all assignments, and the known answers of control tasks once each."""
    known: set[object] = set()
    for _, row in export.records():
        task = row.get(f"{OWN}task_id") or row[f"{OWN}assignment_id"]
        fields = {**row, **part(row, INPUT)}
        golden = {name: value for name, value in part(row, GOLDEN).items() if value}
        if golden and task not in known:
            known.add(task)
            yield Submission(task, GOLDEN, golden, f"golden {task}", kind="gold", fields=fields)
        yield Submission(
            task,
            row[f"{OWN}worker_id"],
            {name: _answer(cell) for name, cell in part(row, OUTPUT).items()},
            f"assignment {row[f'{OWN}assignment_id']}, task {task}",
            status=STATUSES.get(row.get(f"{OWN}status", ""), "submitted"),
            created=row.get(f"{OWN}started"),
            updated=row.get(f"{OWN}submitted"),
            fields=fields,
        )


def question(column: str) -> str:
    """The question of a column of answers.

    >>> question("OUTPUT:sentiment"), question("sentiment")
    ('sentiment', 'sentiment')
    """
    return column.removeprefix(OUTPUT)


def _answer(cell: str) -> Any:
    return frozenset(json.loads(cell)) if cell.startswith("[") else cell


register(
    Tool(
        "toloka",
        "Toloka's assignments",
        has(f"{OWN}worker_id"),
        submissions,
        shows={"raters", "times", "skips", "drafts", "gold", "rejected", "none"},
        question=question,
    )
)
