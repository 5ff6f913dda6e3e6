"""doccano: a JSON Lines or CSV file for each rater. The file's name is the rater's.

`[]` stands for never opened, for skipped and for none of them alike. So it is no answer here.
"""

from collections.abc import Iterator
from typing import Any

from agreement_pipeline.errors import RatingsError
from agreement_pipeline.readers.exports import Export
from agreement_pipeline.readers.submissions import Submission
from agreement_pipeline.readers.tool import Tool

POOLED = "all"
COMMENTS = "Comments"
OWN = ("label", COMMENTS, "entities", "relations", "cats")


def submissions(export: Export) -> Iterator[Submission]:
    """The labels of each rater's file."""
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
                {"label": _label(row.get("label"))},
                f"{path.stem}: {place}",
                fields={name: value for name, value in row.items() if name not in OWN},
            )


def _label(said: Any) -> Any:
    """Labels that were ticked; spans are left out."""
    ticked = said.split("#") if isinstance(said, str) else said
    if not ticked or any(not isinstance(each, str) or not each for each in ticked):
        return None
    return tuple(ticked)


DOCCANO = Tool(
    "doccano",
    "doccano's files of raters",
    lambda export: {"id", COMMENTS} <= {*export.first},
    submissions,
    frozenset({"raters"}),
).register()
