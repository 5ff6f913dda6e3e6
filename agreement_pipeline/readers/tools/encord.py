"""Encord's label rows: a row a branch. Raters of a consensus block are branches."""

from collections.abc import Iterator
from typing import Any

from agreement_pipeline.readers.exports import Export, register
from agreement_pipeline.readers.submissions import (
    Status,
    Submission,
    Tool,
    grouped,
    has,
    plain,
)

STATUSES: dict[str, Status] = {"NOT_LABELLED": "draft", "LABEL_IN_PROGRESS": "draft"}


def submissions(export: Export) -> Iterator[Submission]:
    """The classifications of all label rows, one submission for each maker and data unit."""
    for _, row in export.records():
        for unit in row["data_units"].values():
            classes = unit["labels"].get("classifications") or ()
            for maker, made in grouped(classes, lambda each: each.get("createdBy")).items():
                questions = [
                    question
                    for each in made
                    for question in row["classification_answers"][each["classificationHash"]][
                        "classifications"
                    ]
                ]
                yield Submission(
                    unit["data_title"],
                    maker,
                    {each["name"]: _answer(each["answers"]) for each in questions},
                    f"label row {row['label_hash']}, unit {unit['data_hash']}, {maker}",
                    status=STATUSES.get(row.get("label_status", ""), "submitted"),
                    created=made[0].get("createdAt"),
                    updated=made[-1].get("lastEditedAt"),
                    assisted=not all(each.get("manualAnnotation", True) for each in made),
                    fields=plain({**row, **unit}),
                )


def _answer(said: Any) -> Any:
    return tuple(option["value"] for option in said) if isinstance(said, list) else said


register(
    Tool(
        "encord",
        "Encord's label rows",
        has("label_hash", "data_units"),
        submissions,
        shows={"raters", "times", "drafts", "assisted"},
    )
)
