"""Labelling platforms that export JSON: Dataloop, Encord, Labelbox and SuperAnnotate.

Most of them write the answers of all makers into one record. Each maker has a submission.
"""

from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import Any

from agreement_pipeline.errors import RatingsError
from agreement_pipeline.readers.exports import Export
from agreement_pipeline.readers.rows import (
    Data,
    Status,
    Submission,
)
from agreement_pipeline.readers.submissions import (
    build_fields_test,
    get_nested,
    group_values,
    read_flag,
    select_plain_fields,
    tool,
)
from agreement_pipeline.text import listed

ENCORD_STATUS_BY_NAME: dict[str, Status] = {"NOT_LABELLED": "draft", "LABEL_IN_PROGRESS": "draft"}
SUPERANNOTATE_STATUS_BY_NAME: dict[str, Status] = {
    "Skipped": "skipped",
    "NotStarted": "draft",
    "InProgress": "draft",
    "Returned": "rejected",
}
REVIEWER_ROLES = ("QA", "Quality Assurance")


def _video_error(place: str, finding: str) -> RatingsError:
    return RatingsError(
        f"{place}: found labels of {finding}; expected classifications. Labels of a video stand by "
        "frame: write them as a table with the columns item, rater and label."
    )


@tool(
    "dataloop",
    "Dataloop's items",
    build_fields_test("annotations", "datasetId"),
    column_endings=("datasetId",),
    shows={"raters", "times", "assisted", "rejected"},
)
def read_dataloop(export: Export) -> Iterator[Submission]:
    for place, item in export.records():
        classes = [
            annotation for annotation in item["annotations"] if annotation["type"] == "class"
        ]
        for maker, annotations in group_values(
            (annotation["creator"], annotation) for annotation in classes
        ).items():
            systems = [
                get_nested(annotation, "metadata", "system") or {} for annotation in annotations
            ]
            answers: dict[str, Any] = {
                "class": tuple(annotation["label"] for annotation in annotations)
            }
            for system in systems:
                attributes = {**(system.get("attributes") or {})}
                answers |= {
                    name: _several_values_as_ticks(value) for name, value in attributes.items()
                }
            is_issue = any(system.get("status") == "issue" for system in systems)
            yield Submission(
                item["name"],
                maker,
                answers,
                f"{place}, {maker}",
                status="rejected" if is_issue else "submitted",
                created=annotations[0].get("createdAt"),
                updated=annotations[-1].get("updatedAt"),
                assisted=any(system.get("automated") for system in systems),
                fields={**select_plain_fields(item), "stem": PurePosixPath(item["name"]).stem},
            )


@tool(
    "encord",
    "Encord's label rows",
    build_fields_test("label_hash", "data_units"),
    column_endings=("label_hash",),
    shows={"raters", "times", "drafts", "assisted"},
)
def read_encord(export: Export) -> Iterator[Submission]:
    """A label row is a branch, and a branch a rater."""
    for place, row in export.records():
        for unit in row["data_units"].values():
            labels = unit["labels"] or {"classifications": ()}
            if "classifications" not in labels:
                raise _video_error(place, listed([*labels][:3]))
            classes = labels["classifications"] or ()
            for maker, annotations in group_values(
                (annotation.get("createdBy"), annotation) for annotation in classes
            ).items():
                hashes = [annotation["classificationHash"] for annotation in annotations]
                questions = [row["classification_answers"][answer_hash] for answer_hash in hashes]
                yield Submission(
                    unit["data_title"],
                    maker,
                    {
                        answer["name"]: _option_values(answer["answers"])
                        for question in questions
                        for answer in question["classifications"]
                    },
                    f"label row {row['label_hash']}, unit {unit['data_hash']}, {maker}",
                    status=ENCORD_STATUS_BY_NAME.get(row.get("label_status", ""), "submitted"),
                    created=annotations[0].get("createdAt"),
                    updated=annotations[-1].get("lastEditedAt"),
                    assisted=not all(
                        annotation.get("manualAnnotation", True) for annotation in annotations
                    ),
                    fields=select_plain_fields({**row, **unit}),
                )


def _several_values_as_ticks(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def _option_values(value: Any) -> Any:
    return tuple(option["value"] for option in value) if isinstance(value, list) else value


@tool(
    "labelbox",
    "Labelbox NDJSON",
    build_fields_test("data_row", "projects"),
    column_endings=("data_row",),
    shows={"raters", "times", "skips", "drafts", "gold", "none"},
)
def read_labelbox(export: Export) -> Iterator[Submission]:
    """A benchmark's reference label is gold."""
    for place, row in export.records():
        data = row["data_row"]
        item = data.get("global_key") or data.get("external_id") or data["id"]
        for project in row["projects"].values():
            fields = {
                **select_plain_fields(data, str),
                "project": project.get("name"),
                "batch": get_nested(project, "project_details", "batch_name"),
                **{
                    metadata_field["schema_name"]: metadata_field["value"]
                    for metadata_field in row.get("metadata_fields") or ()
                },
            }
            reference_labels = (
                label_record.get("benchmark_reference_label") for label_record in project["labels"]
            )
            reference = {*reference_labels} - {None}
            for label in project["labels"]:
                record, details = f"label {label['id']}", label.get("label_details")
                if details is None:
                    raise RatingsError(
                        f"{place}, {record}: found no label_details, so no rater; expected who "
                        "labelled. Export again with label_details and performance_details."
                    )
                classes = label["annotations"].get("classifications") or ()
                frames = label["annotations"].get("frames") or {}
                if not classes and any(
                    get_nested(frame, "classifications") for frame in frames.values()
                ):
                    raise _video_error(f"{place}, {record}", "frames")
                work = label.get("performance_details") or {}
                is_skipped = read_flag(work.get("skipped"), "skipped", f"{place}, {record}")
                yield Submission(
                    item,
                    details.get("created_by"),
                    {
                        name: answer
                        for classification in classes
                        for name, answer in _iterate_classification_answers(classification)
                    },
                    record,
                    status="skipped" if is_skipped else "submitted",
                    kind="gold" if label["id"] in reference else "human",
                    created=details.get("created_at"),
                    updated=details.get("updated_at"),
                    changed=details.get("content_last_updated_at", details.get("updated_at")),
                    seconds=work.get("seconds_to_create"),
                    fields=fields,
                )


def _iterate_classification_answers(classification: Data) -> Iterator[tuple[str, Any]]:
    if "radio_answer" in classification:
        yield classification["name"], get_nested(classification, "radio_answer", "value")
    elif "checklist_answers" in classification:
        yield (
            classification["name"],
            frozenset(tick["value"] for tick in classification["checklist_answers"]),
        )
    elif "text_answer" in classification:
        yield classification["name"], get_nested(classification, "text_answer", "content")


@tool(
    "superannotate",
    "SuperAnnotate",
    build_fields_test("metadata", "instances"),
    column_endings=("instances",),
    shows={"raters", "times", "skips", "drafts", "assisted", "rejected"},
)
def read_superannotate(export: Export) -> Iterator[Submission]:
    """Overlap is copies of an item in several folders."""
    for place, record in export.records():
        about = record["metadata"]
        tags = [tag for tag in record["instances"] if tag.get("type") == "tag"]
        makers = [
            (get_nested(tag, "createdBy", "email"), get_nested(tag, "createdBy", "role"))
            for tag in tags
        ]
        by_maker = group_values(zip(makers, tags, strict=True))
        for (email, role), instances in (
            by_maker or {(about.get("annotatorEmail"), None): ()}
        ).items():
            answers = [
                pair
                for instance in instances
                for pair in (
                    ("tag", instance["className"]),
                    *(
                        (attribute["groupName"], attribute["name"])
                        for attribute in instance.get("attributes") or ()
                    ),
                )
            ]
            yield Submission(
                about["name"],
                email or about.get("annotatorEmail"),
                group_values(answers),
                f"{place}, {email}",
                status=SUPERANNOTATE_STATUS_BY_NAME.get(about.get("status", ""), "submitted"),
                kind="reviewer" if role in REVIEWER_ROLES else "human",
                created=min((instance["createdAt"] for instance in instances), default=None),
                updated=max((instance["updatedAt"] for instance in instances), default=None),
                assisted=any(
                    instance.get("creationType", "Manual") != "Manual" for instance in instances
                ),
                fields=select_plain_fields(about),
            )
