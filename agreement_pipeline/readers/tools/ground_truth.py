"""SageMaker Ground Truth: the answers of the workers, and the manifest that names the items.

The output manifest alone has consolidated labels, and no raters.
"""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from agreement_pipeline.errors import RatingsError
from agreement_pipeline.readers.exports import Export, register
from agreement_pipeline.readers.files import kind_of
from agreement_pipeline.readers.submissions import Data, Submission, Tool, plain

MANIFEST = "output.manifest"


def submissions(export: Export) -> Iterator[Submission]:
    """The workers' answers: of the worker responses, else of the consolidation requests."""
    first = {
        path: next((record.value for record in export.records_in(path)), {})
        for path in export.files
        if kind_of(path) == "json"
    }
    responses = [path for path, record in first.items() if "answers" in record]
    requests = [path for path, record in first.items() if "datasetObjectId" in record]
    manifests = [path for path in export.files if path.name == MANIFEST]
    rows = (row for path in manifests for _, row in export.records_in(path))
    items = {str(number): row for number, row in enumerate(rows)}
    if not responses and not requests:
        raise RatingsError(
            f"{export.name}: found consolidated labels, and no worker; expected who answered. "
            "Copy the folder annotations/worker-response of the job too."
        )
    for path in responses:
        yield from _responses(path, export, items)
    for path in requests if not responses else ():
        yield from _requests(path, export, items)


def _responses(path: Path, export: Export, items: Mapping[str, Data]) -> Iterator[Submission]:
    item, place = path.parent.name, export.place(path)
    for _, record in export.records_in(path):
        for number, answer in enumerate(record["answers"], 1):
            yield Submission(
                item,
                answer["workerId"],
                _answers(answer["answerContent"]),
                f"{place}, answer {number}",
                created=answer.get("acceptanceTime"),
                updated=answer.get("submissionTime"),
                seconds=answer.get("timeSpentInSeconds"),
                fields=_fields(items.get(item, {})),
            )


def _requests(path: Path, export: Export, items: Mapping[str, Data]) -> Iterator[Submission]:
    for where, record in export.records_in(path):
        item = str(record["datasetObjectId"])
        known = {"text": (record.get("dataObject") or {}).get("content"), **items.get(item, {})}
        for number, answer in enumerate(record["annotations"], 1):
            yield Submission(
                item,
                answer["workerId"],
                _answers(json.loads(answer["annotationData"]["content"])),
                f"{where}, answer {number}",
                fields=_fields(known),
            )


def _answers(content: Data) -> dict[str, Any]:
    return {name: _answer(value) for name, value in content.items()}


def _answer(value: Any) -> Any:
    if not isinstance(value, Mapping):
        return value
    if "labels" in value:
        return frozenset(value["labels"])
    on = (name for name, said in value.items() if said is True or said == {"on": True})
    return value["label"] if "label" in value else next(on, None)


def _fields(row: Data) -> dict[str, Any]:
    named = plain(row, str)
    return {**({"text": named["source"]} if "source" in named else {}), **named}


def _is_job(export: Export) -> bool:
    first = export.first
    answers = first.get("answers")
    return (
        (isinstance(answers, list) and "workerId" in (answers or [{}])[0])
        or "datasetObjectId" in first
        or any(
            isinstance(value, Mapping) and "human-annotated" in value for value in first.values()
        )
    )


register(
    Tool(
        "ground_truth",
        "SageMaker Ground Truth",
        _is_job,
        submissions,
        shows={"raters", "times", "drafts", "none"},
    )
)
