"""SageMaker Ground Truth: the answers of the workers, and the manifest that names the items.

The output manifest alone has consolidated labels, and no raters.
"""

import json
from collections.abc import Iterator, Mapping
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
    for path in responses or requests:
        for where, record in export.records_in(path):
            known = {"text": (record.get("dataObject") or {}).get("content")}
            item = path.parent.name if responses else str(record["datasetObjectId"])
            fields = plain({**known, **items.get(item, {})}, str)
            fields = {"text": fields["source"], **fields} if "source" in fields else fields
            for number, answer in enumerate(record["answers" if responses else "annotations"], 1):
                content = answer["answerContent"] if responses else _content(answer)
                yield Submission(
                    item,
                    answer["workerId"],
                    {name: _answer(value) for name, value in content.items()},
                    f"{where}, answer {number}",
                    created=answer.get("acceptanceTime"),
                    updated=answer.get("submissionTime"),
                    seconds=answer.get("timeSpentInSeconds"),
                    fields=fields,
                )


def _content(annotation: Data) -> Data:
    """What an annotation of a consolidation request says."""
    said: Data = json.loads(annotation["annotationData"]["content"])
    return said


def _answer(value: Any) -> Any:
    if not isinstance(value, Mapping):
        return value
    if "labels" in value:
        return frozenset(value["labels"])
    on = (name for name, said in value.items() if said is True or said == {"on": True})
    return value["label"] if "label" in value else next(on, None)


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
