"""Langfuse's scores: pages of the public interface, and files of scheduled exports.

A score of the source ANNOTATION is a person's. Every other one is a model's, or a program's.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from agreement_pipeline.readers.exports import Export
from agreement_pipeline.readers.submissions import Submission
from agreement_pipeline.readers.times import utc
from agreement_pipeline.readers.tool import Tool

OWN = {
    "trace": ("traceId", "trace_id"),
    "observation": ("observationId", "observation_id"),
    "text": ("stringValue", "string_value"),
    "type": ("dataType", "data_type"),
    "author": ("authorUserId", "author_user_id"),
    "evaluator": ("evaluatorId", "evaluator_id"),
    "created": ("createdAt", "created_at", "timestamp"),
    "updated": ("updatedAt", "updated_at"),
}
"""The names of a field: in the interface, and in exports."""
PERSON = "ANNOTATION"
Data = Mapping[str, Any]


def submissions(export: Export) -> Iterator[Submission]:
    """All scores."""
    for place, record in export.records():
        scores = record["data"] if isinstance(record.get("data"), list) else [record]
        for score in scores:
            yield _score(score, place)


def _score(score: Data, place: str) -> Submission:
    person = score["source"] == PERSON
    trace, observation = _of(score, "trace"), _of(score, "observation")
    numeric = _of(score, "type") == "NUMERIC"
    return Submission(
        observation or trace,
        _of(score, "author") if person else _of(score, "evaluator") or score["source"],
        {score["name"]: score["value"] if numeric else _of(score, "text")},
        f"score {score['id']}",
        kind="human" if person else "model",
        created=utc(_of(score, "created"), place),
        updated=utc(_of(score, "updated"), place),
        fields={"trace": trace, "observation": observation, "source": score["source"]},
    )


def _of(score: Data, name: str) -> Any:
    return next((score[each] for each in OWN[name] if score.get(each) not in (None, "")), None)


def _is_score(record: object) -> bool:
    return isinstance(record, Mapping) and all(
        any(each in record for each in OWN[name]) for name in ("trace", "type")
    )


def _is_langfuse(export: Export) -> bool:
    scores = export.first.get("data")
    first = scores[0] if isinstance(scores, list) and scores else export.first
    return _is_score(first) and "source" in first


LANGFUSE = Tool(
    "langfuse",
    "Langfuse's scores",
    _is_langfuse,
    submissions,
    frozenset({"raters", "times", "predictions"}),
).register()
