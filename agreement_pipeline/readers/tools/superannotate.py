"""SuperAnnotate: a JSON file an item and rater. Overlap is copies of an item in several folders."""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Any

from agreement_pipeline.readers.exports import Export
from agreement_pipeline.readers.submissions import Kind, Status, Submission
from agreement_pipeline.readers.times import utc
from agreement_pipeline.readers.tool import Tool

TAG = "tag"
STATUSES: dict[str, Status] = {
    "Skipped": "skipped",
    "NotStarted": "draft",
    "InProgress": "draft",
    "Returned": "rejected",
}
Data = Mapping[str, Any]


def submissions(export: Export) -> Iterator[Submission]:
    """The tags of all items, one submission for each of their makers."""
    for place, record in export.records():
        about = record["metadata"]
        by_maker: defaultdict[tuple[Any, Any], list[Data]] = defaultdict(list)
        for each in record["instances"]:
            if each.get("type") == TAG:
                maker = each.get("createdBy") or {}
                by_maker[maker.get("email"), maker.get("role")].append(each)
        if not by_maker:
            by_maker[about.get("annotatorEmail"), None] = []
        for (email, role), tags in by_maker.items():
            yield Submission(
                about["name"],
                email or about.get("annotatorEmail"),
                _answers(tags),
                f"{place}, {email}",
                status=STATUSES.get(about.get("status", ""), "submitted"),
                kind=_kind(role),
                created=utc(min((each["createdAt"] for each in tags), default=None), place),
                updated=utc(max((each["updatedAt"] for each in tags), default=None), place),
                assisted=any(each.get("creationType", "Manual") != "Manual" for each in tags),
                fields={
                    name: value for name, value in about.items() if isinstance(value, (str, int))
                },
            )


def _answers(tags: list[Data]) -> dict[str, Any]:
    values: defaultdict[str, list[str]] = defaultdict(list)
    for each in tags:
        values[TAG].append(each["className"])
        for attribute in each.get("attributes") or ():
            values[attribute["groupName"]].append(attribute["name"])
    return {question: tuple(said) for question, said in values.items()}


def _kind(role: object) -> Kind:
    return "reviewer" if role in ("QA", "Quality Assurance") else "human"


SUPERANNOTATE = Tool(
    "superannotate",
    "SuperAnnotate",
    lambda export: {"metadata", "instances"} <= {*export.first},
    submissions,
    frozenset({"raters", "times", "skips", "drafts", "assisted", "rejected"}),
).register()
