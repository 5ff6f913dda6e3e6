"""doccano: a JSON Lines or CSV file for each rater. The file's name is the rater's.

`[]` stands for never opened, for skipped and for none of them alike. So it is no answer here.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from agreement_pipeline.errors import RatingsError
from agreement_pipeline.readers.exports import Export, register
from agreement_pipeline.readers.submissions import Drawn, Submission, Tool, has, spans_in
from agreement_pipeline.units import Span

POOLED = "all"
OWN = ("label", "Comments", "entities", "relations", "cats")


def submissions(export: Export, kind: str = "") -> Iterator[Submission]:
    """The labels of each rater's file, or the spans."""
    for path in export.files:
        if path.stem == POOLED:
            raise RatingsError(
                f"{export.place(path)}: found the labels of all raters in one, which does not say "
                "whose they are; expected a file for each rater. Export from a project that does "
                "not share annotations."
            )
        for place, row in export.records_in(path):
            yield Submission(
                row["id"],
                path.stem,
                {kind: Drawn(_spans(row, place))} if kind else {"label": _label(row.get("label"))},
                f"{path.stem}: {place}",
                fields={name: value for name, value in row.items() if name not in OWN},
            )


def _spans(row: Mapping[str, Any], place: str) -> tuple[Span, ...]:
    """Spans are written as lists, or as entities where a project has relations."""
    if "entities" in row:
        parts = [
            {"start": each["start_offset"], "end": each["end_offset"], "label": each["label"]}
            for each in row["entities"]
        ]
    else:
        parts = [dict(zip(("start", "end", "label"), each, strict=True)) for each in row["label"]]
    return spans_in(parts, place)


def _label(said: Any) -> tuple[str, ...] | None:
    """Labels that were ticked; spans are left out."""
    ticked = said.split("#") if isinstance(said, str) else said
    if not ticked or any(not isinstance(each, str) or not each for each in ticked):
        return None
    return tuple(ticked)


register(
    Tool(
        "doccano",
        "doccano's files of raters",
        has("id", "Comments"),
        submissions,
        shows={"raters"},
        kinds=("spans",),
    )
)
