"""Disputed items as a file that a labelling tool imports, so that somebody can adjudicate them."""

import csv
import io
import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, get_args

import pandas as pd

from agreement_pipeline.ratings import Ratings
from agreement_pipeline.report.disputed import disputed_rows, said
from agreement_pipeline.report.influence import influence_of_items
from agreement_pipeline.report.texts import texts_of
from agreement_pipeline.text import number

Order = Literal["disagreement", "influence"]
ORDERS: tuple[str, ...] = get_args(Order)
COLUMNS = ("item", "text", "label", "said", "share", "influence", "resolution", "ratings_digest")


def tasks(ratings: Ratings, by: Order = "disagreement") -> list[dict[str, str]]:
    """The disputed items, and what an adjudicator must know of each.

    Parameters
    ----------
    ratings
        The ratings of a round.
    by
        What comes first: the item with most disagreement, or the item without which Krippendorff's
        α would rise most.

    Returns
    -------
    list of dict
        Each with the names in `COLUMNS`. `label` is empty: the adjudicator writes it. The digest
        says which version of the round was looked at.
    """
    rows = disputed_rows(ratings)
    influence = influence_of_items(ratings)
    rows = rows.assign(
        influence=None if influence is None else influence.reindex(rows["id"]).values
    )
    if by == "influence" and influence is not None:
        rows = rows.sort_values("influence", ascending=False, kind="stable")
    texts = texts_of(ratings, rows["id"].tolist())
    return [_task(row, texts, ratings) for row in rows.to_dict("records")]


def written_tasks(found: Sequence[Mapping[str, str]], labels: Sequence[str], form: str) -> str:
    """The tasks as the text of a file.

    Parameters
    ----------
    found
        What `tasks` gives.
    labels
        The labels that an adjudicator can choose.
    form
        One of `FORMS`.
    """
    return FORMS[form](found, labels)


def _task(row: Mapping[Any, Any], texts: Mapping[str, str], ratings: Ratings) -> dict[str, str]:
    return {
        "item": row["id"],
        "text": texts[row["id"]],
        "label": "",
        "said": said({name: row[name] for name in ratings.raters}),
        "share": number(row["share"]),
        "influence": "" if pd.isna(row["influence"]) else number(row["influence"]),
        "resolution": str(row.get("resolution", "")),
        "ratings_digest": ratings.digest,
    }


def _csv(found: Sequence[Mapping[str, str]], _: Sequence[str]) -> str:
    """A table with a row for each item, and an empty column for the label."""
    buffer = io.StringIO()
    writer = csv.DictWriter(buffer, COLUMNS, lineterminator="\n")
    writer.writeheader()
    writer.writerows(found)
    return buffer.getvalue()


def _label_studio(found: Sequence[Mapping[str, str]], _: Sequence[str]) -> str:
    """Label Studio's basic JSON. The interface shows `$text`."""
    return _json([{"data": {"text": task["text"], **_about(task)}} for task in found])


def _argilla(found: Sequence[Mapping[str, str]], _: Sequence[str]) -> str:
    """What `dataset.records.from_json` reads: fields that are shown, and metadata."""
    return _json(
        [
            {
                "id": task["item"],
                "fields": {"text": task["text"]},
                "metadata": _about(task),
                "suggestions": {},
                "responses": {},
                "vectors": {},
            }
            for task in found
        ]
    )


def _prodigy(found: Sequence[Mapping[str, str]], labels: Sequence[str]) -> str:
    """JSON lines for the interface `choice`."""
    options = [{"id": label, "text": label} for label in labels]
    lines = (
        {
            "text": task["text"] or task["item"],
            "options": options,
            "meta": _about(task),
        }
        for task in found
    )
    return "".join(f"{json.dumps(line, ensure_ascii=False)}\n" for line in lines)


def _about(task: Mapping[str, str]) -> dict[str, str]:
    """What is known of an item, without its text and the label that is asked for."""
    return {name: value for name, value in task.items() if name not in ("text", "label")}


def _json(found: object) -> str:
    return f"{json.dumps(found, ensure_ascii=False, indent=1)}\n"


FORMS: Mapping[str, Callable[[Sequence[Mapping[str, str]], Sequence[str]], str]] = {
    "csv": _csv,
    "label-studio": _label_studio,
    "argilla": _argilla,
    "prodigy": _prodigy,
}
