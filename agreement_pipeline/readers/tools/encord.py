"""Encord's label rows: a row a branch. Raters of a consensus block are branches."""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Any

from agreement_pipeline.readers.exports import Export
from agreement_pipeline.readers.submissions import Status, Submission
from agreement_pipeline.readers.times import utc
from agreement_pipeline.readers.tool import Tool

STATUSES: dict[str, Status] = {"NOT_LABELLED": "draft", "LABEL_IN_PROGRESS": "draft"}
Data = Mapping[str, Any]


def submissions(export: Export) -> Iterator[Submission]:
    """The classifications of all label rows, one submission for each maker and data unit."""
    for place, row in export.records():
        for unit in row["data_units"].values():
            by_maker: defaultdict[str, list[Data]] = defaultdict(list)
            for each in unit["labels"].get("classifications") or ():
                by_maker[each.get("createdBy")].append(each)
            for maker, made in by_maker.items():
                yield Submission(
                    unit["data_title"],
                    maker,
                    _answers(made, row["classification_answers"]),
                    f"label row {row['label_hash']}, unit {unit['data_hash']}, {maker}",
                    status=STATUSES.get(row.get("label_status", ""), "submitted"),
                    created=utc(made[0].get("createdAt"), place),
                    updated=utc(made[-1].get("lastEditedAt"), place),
                    assisted=not all(each.get("manualAnnotation", True) for each in made),
                    fields={
                        name: value
                        for name, value in {**row, **unit}.items()
                        if isinstance(value, (str, int))
                    },
                )


def _answers(made: list[Data], answered: Data) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for each in made:
        for question in answered[each["classificationHash"]]["classifications"]:
            said = question["answers"]
            found[question["name"]] = (
                tuple(option["value"] for option in said) if isinstance(said, list) else said
            )
    return found


ENCORD = Tool(
    "encord",
    "Encord's label rows",
    lambda export: {"label_hash", "data_units"} <= {*export.first},
    submissions,
    frozenset({"raters", "times", "drafts", "assisted"}),
).register()
