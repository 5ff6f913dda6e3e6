"""SageMaker Ground Truth: the answers of the workers, and the manifest that names the items.

The output manifest alone has consolidated labels, and no raters.
"""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from agreement_pipeline.errors import RatingsError
from agreement_pipeline.readers.exports import Export, kind_of
from agreement_pipeline.readers.submissions import Submission
from agreement_pipeline.readers.times import utc
from agreement_pipeline.readers.tool import Tool

MANIFEST, CONSOLIDATED = "output.manifest", "-metadata"
Data = Mapping[str, Any]


def submissions(export: Export) -> Iterator[Submission]:
    """The workers' answers: of the worker responses, else of the consolidation requests."""
    first = {path: _first(path, export) for path in export.files if kind_of(path) == "json"}
    responses = [path for path, record in first.items() if "answers" in record]
    requests = [path for path, record in first.items() if "datasetObjectId" in record]
    fields = _items(export)
    if not responses and not requests:
        raise RatingsError(
            f"{export.name}: found consolidated labels, and no worker; expected who answered. "
            "Copy the folder annotations/worker-response of the job too."
        )
    for path in responses:
        yield from _responses(path, export, fields)
    for path in requests if not responses else ():
        yield from _requests(path, export, fields)


def _first(path: Path, export: Export) -> Data:
    """The first record of a file. One that cannot be read is an error: it may hold answers."""
    return next((record.value for record in export.records_in(path)), {})


def _items(export: Export) -> dict[str, Data]:
    """What the output manifest says of each item, by the number of its row."""
    manifests = [path for path in export.files if path.name == MANIFEST]
    rows = (each for path in manifests for each in export.records_in(path))
    return {str(number): row for number, (_, row) in enumerate(rows)}


def _responses(path: Path, export: Export, fields: Mapping[str, Data]) -> Iterator[Submission]:
    item, place = path.parent.name, export.place(path)
    for _, record in export.records_in(path):
        for number, answer in enumerate(record["answers"], 1):
            yield Submission(
                item,
                answer["workerId"],
                _answers(answer["answerContent"]),
                f"{place}, answer {number}",
                created=utc(answer.get("acceptanceTime"), place),
                updated=utc(answer.get("submissionTime"), place),
                seconds=answer.get("timeSpentInSeconds"),
                fields=_plain(fields.get(item, {})),
            )


def _requests(path: Path, export: Export, fields: Mapping[str, Data]) -> Iterator[Submission]:
    for where, record in export.records_in(path):
        item = str(record["datasetObjectId"])
        known = {"text": (record.get("dataObject") or {}).get("content"), **fields.get(item, {})}
        for number, answer in enumerate(record["annotations"], 1):
            yield Submission(
                item,
                answer["workerId"],
                _answers(json.loads(answer["annotationData"]["content"])),
                f"{where}, answer {number}",
                fields=_plain(known),
            )


def _answers(content: Data) -> dict[str, Any]:
    return {name: _answer(value) for name, value in content.items()}


def _answer(value: Any) -> Any:
    if isinstance(value, Mapping):
        if "labels" in value:
            return frozenset(value["labels"])
        on = (name for name, said in value.items() if said is True or said == {"on": True})
        return value["label"] if "label" in value else next(on, None)
    return value


def _plain(row: Data) -> dict[str, Any]:
    named = {name: value for name, value in row.items() if isinstance(value, str)}
    return {**({"text": named["source"]} if "source" in named else {}), **named}


def _is_job(export: Export) -> bool:
    first = export.first
    answers = first.get("answers")
    worked = isinstance(answers, list) and "workerId" in (answers or [{}])[0]
    return (
        worked
        or "datasetObjectId" in first
        or any(
            isinstance(value, Mapping) and "human-annotated" in value for value in first.values()
        )
    )


GROUND_TRUTH = Tool(
    "ground_truth",
    "SageMaker Ground Truth",
    _is_job,
    submissions,
    frozenset({"raters", "times", "drafts", "none"}),
).register()
