"""Labelbox's NDJSON: one line a data row, with the labels of each project."""

from collections.abc import Iterable, Iterator
from typing import Any

from agreement_pipeline.errors import RatingsError
from agreement_pipeline.readers.exports import Export, register
from agreement_pipeline.readers.submissions import Data, Submission, Tool, has, plain


def submissions(export: Export) -> Iterator[Submission]:
    """The labels of all data rows. A benchmark's reference label is gold."""
    for place, row in export.records():
        data = row["data_row"]
        for project in row["projects"].values():
            details = project.get("project_details") or {}
            fields = {
                **plain(data, str),
                "project": project.get("name"),
                "batch": details.get("batch_name"),
                **{each["schema_name"]: each["value"] for each in row.get("metadata_fields") or ()},
            }
            reference = {each.get("benchmark_reference_label") for each in project["labels"]}
            for label in project["labels"]:
                is_gold = label["id"] in reference
                item = data.get("global_key") or data.get("external_id") or data["id"]
                yield _submission(label, item, is_gold, fields, place)


def _submission(label: Data, item: object, is_gold: bool, fields: Data, place: str) -> Submission:
    details, work = label.get("label_details"), label.get("performance_details") or {}
    record = f"label {label['id']}"
    where = f"{place}, {record}"
    if details is None:
        raise RatingsError(
            f"{where}: found no label_details, so no rater; expected who labelled. "
            "Export again with label_details and performance_details."
        )
    return Submission(
        item,
        details.get("created_by"),
        _answers(label["annotations"].get("classifications") or ()),
        record,
        status="skipped" if work.get("skipped") else "submitted",
        kind="gold" if is_gold else "human",
        created=details.get("created_at"),
        updated=details.get("updated_at"),
        seconds=work.get("seconds_to_create"),
        fields=fields,
    )


def _answers(classifications: Iterable[Data]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for each in classifications:
        if "radio_answer" in each:
            found[each["name"]] = (each["radio_answer"] or {}).get("value")
        elif "checklist_answers" in each:
            found[each["name"]] = frozenset(tick["value"] for tick in each["checklist_answers"])
        elif "text_answer" in each:
            found[each["name"]] = (each["text_answer"] or {}).get("content")
    return found


register(
    Tool(
        "labelbox",
        "Labelbox NDJSON",
        has("data_row", "projects"),
        submissions,
        shows={"raters", "times", "skips", "drafts", "gold", "none"},
    )
)
