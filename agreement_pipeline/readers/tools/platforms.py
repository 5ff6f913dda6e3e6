"""Platforms whose exports have an item in each record: Dataloop, Encord and SuperAnnotate.

What a rater made in an item is one submission.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import PurePosixPath
from typing import Any

from agreement_pipeline.readers.exports import Export, register
from agreement_pipeline.readers.submissions import Data, Status, Submission, Tool, has, plain


def _grouped(parts: Iterable[Data], key: Callable[[Data], Any]) -> dict[Any, list[Data]]:
    """Parts of a record by what a key says of each."""
    found: defaultdict[Any, list[Data]] = defaultdict(list)
    for each in parts:
        found[key(each)].append(each)
    return found


# Dataloop: a JSON file an item, with the annotations of all its raters

CLASS = "class"


def dataloop(export: Export) -> Iterator[Submission]:
    """The classes of all items, one submission for each maker."""
    for place, item in export.records():
        classes = [each for each in item["annotations"] if each.get("type") == CLASS]
        for maker, made in _grouped(classes, lambda each: each["creator"]).items():
            systems = [(each.get("metadata") or {}).get("system") or {} for each in made]
            attributes = {
                name: value
                for system in systems
                for name, value in (system.get("attributes") or {}).items()
            }
            is_issue = "issue" in {system.get("status") for system in systems}
            yield Submission(
                item["name"],
                maker,
                {CLASS: tuple(each["label"] for each in made), **attributes},
                f"{place}, {maker}",
                status="rejected" if is_issue else "submitted",
                created=made[0].get("createdAt"),
                updated=made[-1].get("updatedAt"),
                assisted=any(system.get("automated") for system in systems),
                fields={**plain(item), "stem": PurePosixPath(item["name"]).stem},
            )


register(
    Tool(
        "dataloop",
        "Dataloop's items",
        has("annotations", "datasetId"),
        dataloop,
        shows={"raters", "times", "assisted", "rejected"},
    )
)


# Encord's label rows: a row a branch. Raters of a consensus block are branches

OF_LABEL_ROWS: dict[str, Status] = {"NOT_LABELLED": "draft", "LABEL_IN_PROGRESS": "draft"}


def encord(export: Export) -> Iterator[Submission]:
    """The classifications of all label rows, one submission for each maker and data unit."""
    for _, row in export.records():
        for unit in row["data_units"].values():
            classes = unit["labels"].get("classifications") or ()
            for maker, made in _grouped(classes, lambda each: each.get("createdBy")).items():
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
                    {each["name"]: _option(each["answers"]) for each in questions},
                    f"label row {row['label_hash']}, unit {unit['data_hash']}, {maker}",
                    status=OF_LABEL_ROWS.get(row.get("label_status", ""), "submitted"),
                    created=made[0].get("createdAt"),
                    updated=made[-1].get("lastEditedAt"),
                    assisted=not all(each.get("manualAnnotation", True) for each in made),
                    fields=plain({**row, **unit}),
                )


def _option(said: Any) -> Any:
    return tuple(option["value"] for option in said) if isinstance(said, list) else said


register(
    Tool(
        "encord",
        "Encord's label rows",
        has("label_hash", "data_units"),
        encord,
        shows={"raters", "times", "drafts", "assisted"},
    )
)


# SuperAnnotate: a JSON file an item and rater. Overlap is copies of an item in several folders

TAG = "tag"
OF_ITEMS: dict[str, Status] = {
    "Skipped": "skipped",
    "NotStarted": "draft",
    "InProgress": "draft",
    "Returned": "rejected",
}
REVIEWERS = ("QA", "Quality Assurance")


def superannotate(export: Export) -> Iterator[Submission]:
    """The tags of all items, one submission for each of their makers."""
    for place, record in export.records():
        about = record["metadata"]
        tags = [each for each in record["instances"] if each.get("type") == TAG]
        by_maker = _grouped(tags, _maker) or {(about.get("annotatorEmail"), None): []}
        for (email, role), made in by_maker.items():
            yield Submission(
                about["name"],
                email or about.get("annotatorEmail"),
                _answers(made),
                f"{place}, {email}",
                status=OF_ITEMS.get(about.get("status", ""), "submitted"),
                kind="reviewer" if role in REVIEWERS else "human",
                created=min((each["createdAt"] for each in made), default=None),
                updated=max((each["updatedAt"] for each in made), default=None),
                assisted=any(each.get("creationType", "Manual") != "Manual" for each in made),
                fields=plain(about),
            )


def _maker(tag: Data) -> tuple[Any, Any]:
    maker = tag.get("createdBy") or {}
    return maker.get("email"), maker.get("role")


def _answers(tags: Sequence[Data]) -> dict[str, Any]:
    values: defaultdict[str, list[str]] = defaultdict(list)
    for each in tags:
        values[TAG].append(each["className"])
        for attribute in each.get("attributes") or ():
            values[attribute["groupName"]].append(attribute["name"])
    return {question: tuple(said) for question, said in values.items()}


register(
    Tool(
        "superannotate",
        "SuperAnnotate",
        has("metadata", "instances"),
        superannotate,
        shows={"raters", "times", "skips", "drafts", "assisted", "rejected"},
    )
)
