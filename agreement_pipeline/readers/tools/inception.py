"""INCEpTION's agreement diagnosis: a row a position, a column a rater.

A position that a rater did not mark is no answer here. So this shows agreement on the label of what
both marked, and not on what to mark.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from agreement_pipeline.readers.exports import Export
from agreement_pipeline.readers.submissions import Submission
from agreement_pipeline.readers.tool import Tool

OWN = ("Type", "Collection", "Document", "Layer", "Feature", "Position", "Flags")
NOTHING = ("<no annotation>", "<no label>", "")


def submissions(export: Export) -> Iterator[Submission]:
    """The labels at all positions."""
    for place, row in export.records():
        question = f"{row['Layer']}.{row['Feature']}"
        for rater in (name for name in row if name not in OWN):
            yield Submission(
                f"{row['Document']} {row['Position']}",
                rater,
                {question: None if row[rater] in NOTHING else row[rater]},
                f"{place}, column {rater!r}",
                fields=_fields(row),
            )


def _fields(row: Mapping[str, Any]) -> dict[str, Any]:
    return {name: row[name] for name in OWN}


INCEPTION = Tool(
    "inception",
    "INCEpTION's agreement diagnosis",
    lambda export: {"Document", "Layer", "Feature", "Position"} <= {*export.first},
    submissions,
    frozenset({"raters"}),
).register()
