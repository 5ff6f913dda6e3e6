"""SuperAnnotate: a JSON file an item and rater. Overlap is copies of an item in several folders."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Any

from agreement_pipeline.readers.exports import Export, register
from agreement_pipeline.readers.submissions import (
    Data,
    Status,
    Submission,
    Tool,
    grouped,
    has,
    plain,
)

TAG = "tag"
STATUSES: dict[str, Status] = {
    "Skipped": "skipped",
    "NotStarted": "draft",
    "InProgress": "draft",
    "Returned": "rejected",
}
REVIEWERS = ("QA", "Quality Assurance")


def submissions(export: Export) -> Iterator[Submission]:
    """The tags of all items, one submission for each of their makers."""
    for place, record in export.records():
        about = record["metadata"]
        tags = [each for each in record["instances"] if each.get("type") == TAG]
        by_maker = grouped(tags, _maker) or {(about.get("annotatorEmail"), None): []}
        for (email, role), made in by_maker.items():
            yield Submission(
                about["name"],
                email or about.get("annotatorEmail"),
                _answers(made),
                f"{place}, {email}",
                status=STATUSES.get(about.get("status", ""), "submitted"),
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
        submissions,
        shows={"raters", "times", "skips", "drafts", "assisted", "rejected"},
    )
)
