"""Inspect's evaluation logs: JSON, or the packed form `.eval`.

An item is an output: a sample of a task, answered by a model in an epoch of a run. A rater is a
scorer.
The log does not say which scorers are models, so a project names them in `classifiers`.
"""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from agreement_pipeline.errors import RatingsError
from agreement_pipeline.readers.exports import Export
from agreement_pipeline.readers.submissions import Submission
from agreement_pipeline.readers.times import utc
from agreement_pipeline.readers.tool import Tool

HEADER, SAMPLES, QUESTION = "header.json", "samples", "score"
Data = Mapping[str, Any]


def submissions(export: Export) -> Iterator[Submission]:
    """The scores of all samples of all logs."""
    packed = {path.parent for path in export.files if path.name == HEADER}
    for folder in sorted(packed):
        header = _json(folder / HEADER, export)
        for path in sorted((folder / SAMPLES).glob("*.json")):
            yield from _sample(_json(path, export), header["eval"], export.place(path))
    for path in export.files:
        if not any(folder in path.parents for folder in packed):
            for place, log in export.records_in(path):
                for sample in log.get("samples") or ():
                    yield from _sample(sample, log["eval"], place)


def _sample(sample: Data, run: Data, place: str) -> Iterator[Submission]:
    epoch = sample.get("epoch", 1)
    name = f"{run['task']}/{run['model']}/{run.get('run_id', place)}/{sample['id']}/{epoch}"
    known = {"task": run["task"], "model": run["model"], "sample": sample["id"], "epoch": epoch}
    fields = {**known, "text": _text(sample.get("input")), **(sample.get("metadata") or {})}
    for scorer, score in (sample.get("scores") or {}).items():
        value = score["value"]
        yield Submission(
            name,
            scorer,
            {**value} if isinstance(value, Mapping) else {QUESTION: value},
            f"{place}: {name}, {scorer}",
            created=utc(run.get("created"), place),
            fields=fields,
        )


def _text(said: object) -> object:
    return said if isinstance(said, str) else None


def _json(path: Path, export: Export) -> Data:
    export.at = export.place(path)
    try:
        found: Data = json.loads(path.read_bytes())
    except (ValueError, RecursionError) as error:
        raise RatingsError(
            f"{export.at}: found text that is not readable as JSON ({error}); expected a part of a "
            "log. Export the log again."
        ) from None
    return found


def _is_log(export: Export) -> bool:
    if any(path.name == HEADER for path in export.files):
        return True
    first = export.first
    return isinstance(first.get("eval"), Mapping) and "task" in first["eval"]


INSPECT = Tool(
    "inspect_ai",
    "Inspect's logs",
    _is_log,
    submissions,
    frozenset({"raters", "times"}),
).register()
