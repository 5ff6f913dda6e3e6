"""Labelbox's NDJSON: one line a data row, with the labels of each project."""

from collections.abc import Iterator, Mapping
from typing import Any

from agreement_pipeline.errors import RatingsError
from agreement_pipeline.readers.exports import Export
from agreement_pipeline.readers.submissions import Kind, Submission
from agreement_pipeline.readers.times import utc
from agreement_pipeline.readers.tool import Tool

Data = Mapping[str, Any]


def submissions(export: Export) -> Iterator[Submission]:
    """The labels of all data rows. A benchmark's reference label is gold."""
    for place, row in export.records():
        data = row["data_row"]
        for project in row["projects"].values():
            fields = _fields(row, project)
            reference = {each.get("benchmark_reference_label") for each in project["labels"]}
            for label in project["labels"]:
                kind: Kind = "gold" if label["id"] in reference else "human"
                item = data.get("global_key") or data.get("external_id") or data["id"]
                yield _submission(label, item, kind, fields, place)


def _submission(label: Data, item: object, kind: Kind, fields: Data, place: str) -> Submission:
    details, work = label.get("label_details"), label.get("performance_details") or {}
    where = f"label {label['id']}"
    if details is None:
        raise RatingsError(
            f"{place}, {where}: found no label_details, so no rater; expected who labelled. "
            "Export again with label_details and performance_details."
        )
    return Submission(
        item,
        details.get("created_by"),
        _answers(label["annotations"].get("classifications") or ()),
        where,
        status="skipped" if work.get("skipped") else "submitted",
        kind=kind,
        created=utc(details.get("created_at"), f"{place}, {where}"),
        updated=utc(details.get("updated_at"), f"{place}, {where}"),
        seconds=work.get("seconds_to_create"),
        fields=fields,
    )


def _answers(classifications: Any) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for each in classifications:
        if "radio_answer" in each:
            found[each["name"]] = (each["radio_answer"] or {}).get("value")
        elif "checklist_answers" in each:
            found[each["name"]] = frozenset(tick["value"] for tick in each["checklist_answers"])
        elif "text_answer" in each:
            found[each["name"]] = (each["text_answer"] or {}).get("content")
    return found


def _fields(row: Data, project: Data) -> dict[str, Any]:
    details = project.get("project_details") or {}
    metadata = {each["schema_name"]: each["value"] for each in row.get("metadata_fields") or ()}
    plain = {name: value for name, value in row["data_row"].items() if isinstance(value, str)}
    return {**plain, "project": project.get("name"), "batch": details.get("batch_name"), **metadata}


LABELBOX = Tool(
    "labelbox",
    "Labelbox NDJSON",
    lambda export: {"data_row", "projects"} <= {*export.first},
    submissions,
    frozenset({"raters", "times", "skips", "drafts", "gold", "none"}),
).register()
