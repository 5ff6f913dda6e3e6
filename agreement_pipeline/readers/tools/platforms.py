"""Labelling platforms that export JSON: Dataloop, Encord, Labelbox and SuperAnnotate.

Most of them write the answers of all makers into one record. Each maker has a submission.
"""

from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import Any

from agreement_pipeline.errors import RatingsError
from agreement_pipeline.readers.exports import Export
from agreement_pipeline.readers.submissions import (
    Data,
    Status,
    Submission,
    at,
    flag,
    has,
    plain,
    together,
    tool,
)
from agreement_pipeline.text import listed

ENCORD: dict[str, Status] = {"NOT_LABELLED": "draft", "LABEL_IN_PROGRESS": "draft"}
SUPERANNOTATE: dict[str, Status] = {
    "Skipped": "skipped",
    "NotStarted": "draft",
    "InProgress": "draft",
    "Returned": "rejected",
}
REVIEWERS = ("QA", "Quality Assurance")


def _of_a_video(where: str, found: str) -> RatingsError:
    return RatingsError(
        f"{where}: found labels of {found}; expected classifications. Labels of a video stand by "
        "frame: write them as a table with the columns item, rater and label."
    )


@tool(
    "dataloop",
    "Dataloop's items",
    has("annotations", "datasetId"),
    column_endings=("datasetId",),
    shows={"raters", "times", "assisted", "rejected"},
)
def dataloop(export: Export) -> Iterator[Submission]:
    for place, item in export.records():
        classes = [each for each in item["annotations"] if each["type"] == "class"]
        for maker, made in together((each["creator"], each) for each in classes).items():
            systems = [at(each, "metadata", "system") or {} for each in made]
            answers: dict[str, Any] = {"class": tuple(each["label"] for each in made)}
            for system in systems:
                said = {**(system.get("attributes") or {})}
                answers |= {name: _several(each) for name, each in said.items()}
            is_issue = any(system.get("status") == "issue" for system in systems)
            yield Submission(
                item["name"],
                maker,
                answers,
                f"{place}, {maker}",
                status="rejected" if is_issue else "submitted",
                created=made[0].get("createdAt"),
                updated=made[-1].get("updatedAt"),
                assisted=any(system.get("automated") for system in systems),
                fields={**plain(item), "stem": PurePosixPath(item["name"]).stem},
            )


@tool(
    "encord",
    "Encord's label rows",
    has("label_hash", "data_units"),
    column_endings=("label_hash",),
    shows={"raters", "times", "drafts", "assisted"},
)
def encord(export: Export) -> Iterator[Submission]:
    """A label row is a branch, and a branch a rater."""
    for place, row in export.records():
        for unit in row["data_units"].values():
            labels = unit["labels"] or {"classifications": ()}
            if "classifications" not in labels:
                raise _of_a_video(place, listed([*labels][:3]))
            classes = labels["classifications"] or ()
            for maker, made in together((each.get("createdBy"), each) for each in classes).items():
                hashes = [each["classificationHash"] for each in made]
                questions = [row["classification_answers"][each] for each in hashes]
                yield Submission(
                    unit["data_title"],
                    maker,
                    {
                        each["name"]: _options(each["answers"])
                        for question in questions
                        for each in question["classifications"]
                    },
                    f"label row {row['label_hash']}, unit {unit['data_hash']}, {maker}",
                    status=ENCORD.get(row.get("label_status", ""), "submitted"),
                    created=made[0].get("createdAt"),
                    updated=made[-1].get("lastEditedAt"),
                    assisted=not all(each.get("manualAnnotation", True) for each in made),
                    fields=plain({**row, **unit}),
                )


def _several(said: Any) -> Any:
    return tuple(said) if isinstance(said, list) else said


def _options(said: Any) -> Any:
    return tuple(option["value"] for option in said) if isinstance(said, list) else said


@tool(
    "labelbox",
    "Labelbox NDJSON",
    has("data_row", "projects"),
    column_endings=("data_row",),
    shows={"raters", "times", "skips", "drafts", "gold", "none"},
)
def labelbox(export: Export) -> Iterator[Submission]:
    """A benchmark's reference label is gold."""
    for place, row in export.records():
        data = row["data_row"]
        item = data.get("global_key") or data.get("external_id") or data["id"]
        for project in row["projects"].values():
            fields = {
                **plain(data, str),
                "project": project.get("name"),
                "batch": at(project, "project_details", "batch_name"),
                **{each["schema_name"]: each["value"] for each in row.get("metadata_fields") or ()},
            }
            said = (each.get("benchmark_reference_label") for each in project["labels"])
            reference = {*said} - {None}
            for label in project["labels"]:
                record, details = f"label {label['id']}", label.get("label_details")
                if details is None:
                    raise RatingsError(
                        f"{place}, {record}: found no label_details, so no rater; expected who "
                        "labelled. Export again with label_details and performance_details."
                    )
                classes = label["annotations"].get("classifications") or ()
                frames = label["annotations"].get("frames") or {}
                if not classes and any(at(each, "classifications") for each in frames.values()):
                    raise _of_a_video(f"{place}, {record}", "frames")
                work = label.get("performance_details") or {}
                is_skipped = flag(work.get("skipped"), "skipped", f"{place}, {record}")
                yield Submission(
                    item,
                    details.get("created_by"),
                    {name: said for each in classes for name, said in _of_class(each)},
                    record,
                    status="skipped" if is_skipped else "submitted",
                    kind="gold" if label["id"] in reference else "human",
                    created=details.get("created_at"),
                    updated=details.get("updated_at"),
                    changed=details.get("content_last_updated_at", details.get("updated_at")),
                    seconds=work.get("seconds_to_create"),
                    fields=fields,
                )


def _of_class(said: Data) -> Iterator[tuple[str, Any]]:
    if "radio_answer" in said:
        yield said["name"], at(said, "radio_answer", "value")
    elif "checklist_answers" in said:
        yield said["name"], frozenset(tick["value"] for tick in said["checklist_answers"])
    elif "text_answer" in said:
        yield said["name"], at(said, "text_answer", "content")


@tool(
    "superannotate",
    "SuperAnnotate",
    has("metadata", "instances"),
    column_endings=("instances",),
    shows={"raters", "times", "skips", "drafts", "assisted", "rejected"},
)
def superannotate(export: Export) -> Iterator[Submission]:
    """Overlap is copies of an item in several folders."""
    for place, record in export.records():
        about = record["metadata"]
        tags = [each for each in record["instances"] if each.get("type") == "tag"]
        makers = [(at(each, "createdBy", "email"), at(each, "createdBy", "role")) for each in tags]
        by_maker = together(zip(makers, tags, strict=True))
        for (email, role), made in (by_maker or {(about.get("annotatorEmail"), None): ()}).items():
            said = [
                pair
                for each in made
                for pair in (
                    ("tag", each["className"]),
                    *((of["groupName"], of["name"]) for of in each.get("attributes") or ()),
                )
            ]
            yield Submission(
                about["name"],
                email or about.get("annotatorEmail"),
                together(said),
                f"{place}, {email}",
                status=SUPERANNOTATE.get(about.get("status", ""), "submitted"),
                kind="reviewer" if role in REVIEWERS else "human",
                created=min((each["createdAt"] for each in made), default=None),
                updated=max((each["updatedAt"] for each in made), default=None),
                assisted=any(each.get("creationType", "Manual") != "Manual" for each in made),
                fields=plain(about),
            )
