"""doccano: a JSON Lines or CSV file for each rater. The file's name is the rater's.

`[]` stands for never opened, for skipped and for none of them alike. So it is no answer here.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from agreement_pipeline.errors import RatingsError
from agreement_pipeline.readers.exports import Export
from agreement_pipeline.readers.submissions import Data, Submission, drawn, has, tool
from agreement_pipeline.units import Span

OWN = ("label", "Comments", "entities", "relations", "cats")


@tool(
    "doccano",
    "doccano's files of raters",
    has("id", "Comments"),
    shows={"raters"},
    kinds=("spans",),
)
def submissions(export: Export, kind: str = "") -> Iterator[Submission]:
    for path in export.files:
        if path.stem == "all":
            raise RatingsError(
                f"{export.place(path)}: found the labels of all raters in one, which does not say "
                "whose they are; expected a file for each rater. Export from a project that does "
                "not share annotations."
            )
        for place, row in export.records(path):
            values: Data = {"label": _ticked(row)}
            if kind:
                parts = row["entities" if "entities" in row else "label"]
                values = {kind: drawn(parts, place, _span)}
            yield Submission(
                row["id"],
                path.stem,
                values,
                f"{path.stem}: {place}",
                fields={name: value for name, value in row.items() if name not in OWN},
            )


def _span(part: Any, where: str) -> Span:
    names = ("start_offset", "end_offset", "label")
    start, end, label = (part[name] for name in names) if isinstance(part, Mapping) else part
    return Span(start, end, label, where)


def _ticked(row: Data) -> tuple[str, ...] | None:
    said = row.get("label")
    ticked = said.split("#") if isinstance(said, str) else said
    are_labels = all(isinstance(each, str) and each for each in ticked or ())
    return tuple(ticked) if ticked and are_labels else None
