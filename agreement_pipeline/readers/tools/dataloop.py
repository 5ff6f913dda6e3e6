"""Dataloop: a JSON file an item, with the annotations of all its raters."""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath
from typing import Any

from agreement_pipeline.readers.exports import Export
from agreement_pipeline.readers.submissions import Submission
from agreement_pipeline.readers.times import utc
from agreement_pipeline.readers.tool import Tool

CLASS = "class"
Data = Mapping[str, Any]


def submissions(export: Export) -> Iterator[Submission]:
    """The classes of all items, one submission for each maker."""
    for place, item in export.records():
        by_maker: defaultdict[str, list[Data]] = defaultdict(list)
        for each in item["annotations"]:
            if each.get("type") == CLASS:
                by_maker[each["creator"]].append(each)
        for maker, made in by_maker.items():
            systems = [(each.get("metadata") or {}).get("system") or {} for each in made]
            status = {system.get("status") for system in systems}
            yield Submission(
                item["name"],
                maker,
                _answers(made, systems),
                f"{place}, {maker}",
                status="rejected" if "issue" in status else "submitted",
                created=utc(made[0].get("createdAt"), place),
                updated=utc(made[-1].get("updatedAt"), place),
                assisted=any(system.get("automated") for system in systems),
                fields=_fields(item),
            )


def _answers(made: list[Data], systems: list[Data]) -> dict[str, Any]:
    attributes = {
        name: value
        for system in systems
        for name, value in (system.get("attributes") or {}).items()
    }
    return {CLASS: tuple(each["label"] for each in made), **attributes}


def _fields(item: Data) -> dict[str, Any]:
    plain = {name: value for name, value in item.items() if isinstance(value, (str, int))}
    return {**plain, "stem": PurePosixPath(item["name"]).stem}


DATALOOP = Tool(
    "dataloop",
    "Dataloop's items",
    lambda export: {"annotations", "datasetId"} <= {*export.first},
    submissions,
    frozenset({"raters", "times", "assisted", "rejected"}),
).register()
