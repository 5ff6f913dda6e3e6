"""Dataloop: a JSON file an item, with the annotations of all its raters."""

from collections.abc import Iterator
from pathlib import PurePosixPath

from agreement_pipeline.readers.exports import Export, register
from agreement_pipeline.readers.submissions import Submission, Tool, grouped, has, plain

CLASS = "class"


def submissions(export: Export) -> Iterator[Submission]:
    """The classes of all items, one submission for each maker."""
    for place, item in export.records():
        classes = [each for each in item["annotations"] if each.get("type") == CLASS]
        for maker, made in grouped(classes, lambda each: each["creator"]).items():
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
        submissions,
        shows={"raters", "times", "assisted", "rejected"},
    )
)
