"""doccano: a JSON Lines or CSV file for each rater. The file's name is the rater's.

`[]` stands for never opened, for skipped and for none of them alike. So it is no answer here.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from agreement_pipeline.errors import RatingsError
from agreement_pipeline.readers.exports import Export
from agreement_pipeline.readers.rows import (
    Data,
    Submission,
)
from agreement_pipeline.readers.submissions import (
    build_object_answer,
    group_values,
    tool,
)
from agreement_pipeline.units import Span

OWN_FIELDS = ("label", "Comments", "entities", "relations", "cats")


def _is_doccano(export: Export) -> bool:
    return {"id", "Comments"} <= {*export.first_record} or _is_before_version_1_5(
        export.first_record
    )


def _is_before_version_1_5(row: Data) -> bool:
    """True for the JSON Lines of doccano before version 1.5: labels by number, and their users."""
    parts = row.get("annotations")
    return (
        isinstance(parts, list)
        and bool(parts)
        and all(isinstance(part, Mapping) and {"label", "user"} <= part.keys() for part in parts)
    )


@tool(
    "doccano",
    "doccano's files of raters",
    _is_doccano,
    column_endings=("Comments",),
    shows={"raters"},
    kinds=("spans",),
)
def read_doccano(export: Export, kind: str = "") -> Iterator[Submission]:
    for path in export.files:
        if path.stem == "all":
            raise RatingsError(
                f"{export.file_name_in_export(path)}: found the labels of all raters in one, "
                "which does not say "
                "whose they are; expected a file for each rater. Export from a project that does "
                "not share annotations."
            )
        for place, row in export.records(path):
            if not kind and isinstance(row.get("annotations"), list) and "label" not in row:
                yield from _submissions_by_user_number(row, place)
                continue
            values: Data = {"label": _read_ticked_labels(row)}
            if kind:
                parts = row["entities" if "entities" in row else "label"]
                values = {kind: build_object_answer(parts, place, _read_span)}
            yield Submission(
                row["id"],
                path.stem,
                values,
                f"{path.stem}: {place}",
                fields={name: value for name, value in row.items() if name not in OWN_FIELDS},
            )


def _submissions_by_user_number(row: Data, place: str) -> Iterator[Submission]:
    """Labels are numbers, whose names are not in the export."""
    fields = {
        name: value for name, value in row.items() if name not in (*OWN_FIELDS, "annotations")
    }
    for user, labels in group_values(
        (part["user"], str(part["label"]))
        for part in row["annotations"]
        if "start_offset" not in part
    ).items():
        yield Submission(row["id"], user, {"label": labels}, f"{place}, user {user}", fields=fields)


def _read_span(part: Any, place: str) -> Span:
    names = ("start_offset", "end_offset", "label")
    start, stop, label = (part[name] for name in names) if isinstance(part, Mapping) else part
    return Span(start, stop, label, place)


def _read_ticked_labels(row: Data) -> tuple[str, ...] | None:
    labels = row.get("label")
    ticked = labels.split("#") if isinstance(labels, str) else labels
    are_labels = all(isinstance(label, str) and label for label in ticked or ())
    return tuple(ticked) if ticked and are_labels else None
