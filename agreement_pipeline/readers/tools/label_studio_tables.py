"""Label Studio's CSV, TSV and JSON_MIN: a row an annotation, without most of what JSON has."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from agreement_pipeline.errors import RatingsError
from agreement_pipeline.readers.exports import Export
from agreement_pipeline.readers.submissions import Submission
from agreement_pipeline.readers.times import utc
from agreement_pipeline.readers.tool import Tool
from agreement_pipeline.readers.tools.label_studio import FIXED, answers_in, before_review, ticks

OWN = ("annotation_id", "annotator", "lead_time")
BESIDE = (*OWN, "id", "created_at", "updated_at", "agreement", "history")
LISTED = 1
PLAIN = ("rating", "number", "datetime")
NOTHING = (None, "")


def submissions(export: Export) -> Iterator[Submission]:
    """The annotations. Fields of the item and questions look alike, so each column is both.

    A task without an annotation has a row too, which has no rater.
    """
    for place, row in export.records():
        if row["annotation_id"] in NOTHING and row["annotator"] in NOTHING:
            continue
        yield Submission(
            row.get("id"),
            row["annotator"],
            _answers(row, place),
            f"annotation {row['annotation_id']}",
            created=utc(row.get("created_at"), place),
            updated=utc(row.get("updated_at"), place),
            seconds=float(row["lead_time"]) if row["lead_time"] else None,
            fields={name: cell for name, cell in row.items() if not isinstance(cell, (list, dict))},
        )


def _answers(row: Mapping[str, Any], place: str) -> dict[str, Any]:
    """The rater's own answers. CSV and TSV tell them after a review, if they have the history."""
    cells = {name: answer_in(cell) for name, cell in row.items() if name not in BESIDE}
    steps = _steps(row.get("history"), place)
    if not any(step.get("action") == FIXED for step in steps):
        return cells
    own = answers_in(before_review({"history": steps, "last_action": FIXED}, place))
    asked = {part.get("from_name") for step in steps for part in step.get("result") or ()}
    return {**{name: said for name, said in cells.items() if name not in asked}, **own}


def _steps(cell: Any, place: str) -> list[Mapping[str, Any]]:
    """The steps of a history. An item may have a field of that name: a dialogue, for example."""
    said = _plain(cell)
    if isinstance(said, str) and said.startswith("[{"):
        raise RatingsError(
            f"{place}: found a history that is not readable as JSON; expected a list of steps. "
            "Export the table again. A spreadsheet may have cut the cell."
        )
    is_history = isinstance(said, list) and all(isinstance(each, Mapping) for each in said)
    return said if is_history else []


def answer_in(cell: Any) -> Any:
    """What a cell says: one choice, several, a number. A list of spans says nothing here."""
    said = _plain(cell)
    if isinstance(said, dict):
        return tuple(said["choices"]) if "choices" in said else None
    if isinstance(said, list):
        one = said[0] if len(said) == LISTED and isinstance(said[0], dict) else {}
        if "taxonomy" in one:
            return ticks(one["taxonomy"])
        return next((one[kind] for kind in PLAIN if kind in one), None)
    return (said,) if isinstance(said, str) and said else said


def _plain(cell: Any) -> Any:
    if isinstance(cell, str) and cell[:1] in ("{", "["):
        try:
            return json.loads(cell)
        except ValueError:
            return cell
    return cell


LABEL_STUDIO_TABLES = Tool(
    "label_studio_tables",
    "Label Studio CSV or JSON_MIN",
    lambda export: {*OWN} <= {*export.first},
    submissions,
    frozenset({"raters", "times", "drafts", "none"}),
    needs={
        "gold": "Export JSON. Or name who gave the gold answers in exclude_raters, and say "
        "requires: [] (--requires none).",
        "reviews": "Without a column history, a reviewer's answer counts as the rater's: then "
        "export JSON.",
    },
    omits_none=True,
).register()
