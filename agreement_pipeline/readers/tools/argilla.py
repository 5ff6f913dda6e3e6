"""Argilla 2: flat records (JSON, Parquet, data sets), nested records, and the REST interface.

Argilla's package writes a ranking without its ranks. Only the REST interface gives them.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from agreement_pipeline.errors import RatingsError
from agreement_pipeline.mistakes import value_in_message
from agreement_pipeline.readers.exports import Export
from agreement_pipeline.readers.rows import (
    Data,
    ObjectAnswer,
    Status,
    Submission,
)
from agreement_pipeline.readers.submissions import (
    build_object_answer,
    first_inner_record,
    group_values,
    read_span,
    tool,
)
from agreement_pipeline.text import listed
from agreement_pipeline.units import Ranking

ANSWERS_SUFFIX, USERS_SUFFIX, STATUS_SUFFIX = ".responses", ".responses.users", ".responses.status"
SUGGESTION_SUFFIX = ".suggestion"
STATUS_BY_NAME: dict[str, Status] = {
    "submitted": "submitted",
    "discarded": "skipped",
    "draft": "draft",
    "pending": "draft",
}
RANKINGS = "rankings"
MARKS = {"spans": "start", RANKINGS: "rank"}
EXPORT_HINT = "Export records.to_list(flatten=True) as JSON, or records.to_datasets() as Parquet."
Responses = Iterable[tuple[str, Any, Any, Any]]
"""Question, user, status and value of responses. Or question, model, score and value."""
RecordParts = tuple[Data, Responses, Responses]


def split_flat_record(record: Data, place: str) -> RecordParts:
    answer_columns = [
        name for name in record if ANSWERS_SUFFIX in name or SUGGESTION_SUFFIX in name
    ]
    fields = {name: value for name, value in record.items() if name not in answer_columns}
    responses = (
        (question, *response)
        for question in (
            name.removesuffix(ANSWERS_SUFFIX)
            for name in answer_columns
            if name.endswith(ANSWERS_SUFFIX)
        )
        if record[question + USERS_SUFFIX] or record[question + ANSWERS_SUFFIX]
        for response in zip(
            *(
                record[question + column]
                for column in (USERS_SUFFIX, STATUS_SUFFIX, ANSWERS_SUFFIX)
            ),
            strict=True,
        )
    )
    suggestions = []
    for name in (name for name in answer_columns if name.endswith(SUGGESTION_SUFFIX)):
        question, suggestion = name.removesuffix(SUGGESTION_SUFFIX), record[name]
        answered = record.get(question + ANSWERS_SUFFIX) or ()
        # `to_datasets` makes a suggestion a number, of which JSON and CSV tell no name.
        if isinstance(suggestion, int) and any(isinstance(answer, str) for answer in answered):
            raise RatingsError(
                f"{place}: found {suggestion} as a suggestion, and texts as the responses; "
                "expected the name of a label. Save the data set as Parquet, which has the names."
            )
        model, score = record.get(f"{name}.agent"), record.get(f"{name}.score")
        suggestions.append((question, model, score, suggestion))
    return fields, responses, suggestions


def split_nested_record(record: Data, _: str) -> RecordParts:
    responses = (
        (question, response["user_id"], "submitted", response["value"])
        for question, responses in record["responses"].items()
        for response in responses
    )
    suggestions = (
        (question, suggestion.get("agent"), suggestion.get("score"), suggestion["value"])
        for question, suggestion in (record.get("suggestions") or {}).items()
    )
    return _read_fields(record, "status"), responses, suggestions


def read_package(parts: Callable[[Data, str], RecordParts]) -> Callable[..., Iterator[Submission]]:
    def submissions(export: Export, kind: str = "") -> Iterator[Submission]:
        bare, has_answers = "", False
        for place, record in export.records():
            _refuse_several_records(record, place)
            for submission in _iterate_submissions(record["id"], place, *parts(record, place)):
                lists = (
                    value
                    for value in submission.values.values()
                    if isinstance(value, list) and value
                )
                if kind == RANKINGS and any(isinstance(value[-1], str) for value in lists):
                    bare = bare or submission.record
                values = _answer_by_question(submission.values, submission.record, kind)
                has_answers = has_answers or bool(values)
                yield replace(submission, values=values)
        if bare and not has_answers:
            raise RatingsError(
                f"{bare}: found answers without ranks, as Argilla's package writes rankings; "
                "expected the rank of each. Read the records of the REST interface."
            )

    return submissions


def _is_rest_export(export: Export) -> bool:
    record = first_inner_record(export.first_record, "items")
    return "fields" in record and isinstance(record.get("responses"), list)


@tool(
    "argilla_rest",
    "Argilla's records of the REST interface",
    _is_rest_export,
    shows={"raters", "times", "skips", "drafts", "none"},
    kinds=("spans", RANKINGS),
)
def read_rest(export: Export, kind: str = "") -> Iterator[Submission]:
    for place, page in export.records():
        for record in page.get("items", [page]):
            if "id" not in record:
                raise RatingsError(
                    f"{place}: found a record without 'id', as Argilla 1.x writes it; expected "
                    "records of Argilla 2. Load the data set in Argilla 2 (its guide says how to "
                    f"migrate one). {EXPORT_HINT}"
                )
            _refuse_several_records(record, place)
            fields = _read_fields(record, "id")
            for response in record.get("responses") or ():
                values = {
                    name: value["value"] for name, value in (response["values"] or {}).items()
                }
                response_place = f"{place}, response {response['id']}"
                yield Submission(
                    record.get("external_id") or record["id"],
                    response["user_id"],
                    _answer_by_question(values, response_place, kind),
                    f"response {response['id']}",
                    status=_read_status(response["status"], response_place),
                    created=response.get("inserted_at"),
                    updated=response.get("updated_at"),
                    changed=response.get("updated_at"),
                    fields=fields,
                )


def _read_fields(record: Data, identity: str) -> Data:
    return {**record["fields"], **(record.get("metadata") or {}), identity: record[identity]}


def _iterate_submissions(
    item: Any, place: str, fields: Data, responses: Responses, suggestions: Responses
) -> Iterator[Submission]:
    """Each deleted user has no name, and is another."""
    by_user = group_values(
        (user or f"{place}, deleted user {number}", (question, status, value))
        for number, (question, user, status, value) in enumerate(responses)
    )
    for user, answers in by_user.items():
        rater_place = f"{place}, user {user}"
        values = {question: value for question, _, value in answers}
        yield Submission(
            item,
            user,
            values,
            rater_place,
            _read_status(answers[-1][1], rater_place),
            fields=fields,
        )
    for question, model, score, value in suggestions:
        if value is not None:
            yield Submission(
                item,
                model or "a model without a name",
                {question: value},
                f"{place}, suggestion for {question}",
                kind="model",
                confidence=score if isinstance(score, float) else None,
                fields=fields,
            )


def _answer_by_question(values: Data, place: str, kind: str) -> dict[str, Any]:
    if not kind:
        return {
            name: frozenset(value) if isinstance(value, list) else value
            for name, value in values.items()
            if not (isinstance(value, list) and any(isinstance(member, dict) for member in value))
        }
    return {
        name: build_object_answer(value, place, read_span)
        if kind == "spans"
        else ObjectAnswer((_read_ranking(value, place),))
        for name, value in values.items()
        if isinstance(value, list) and value and MARKS[kind] in _question_names(value[0], place)
    }


def _question_names(part: Any, place: str) -> Iterable[str]:
    if isinstance(part, str):  # a label
        return ()
    if not isinstance(part, dict) or not {*MARKS.values()} & {*part}:
        raise RatingsError(
            f"{place}: found {value_in_message(part)} in an answer; expected labels, spans with "
            "their start, "
            "or ranks. Export the records again."
        )
    return part


def _read_ranking(parts: Iterable[Data], place: str) -> Ranking:
    ranks = group_values((part["rank"], part["value"]) for part in parts)
    return Ranking(tuple(frozenset(ranks[rank]) for rank in sorted(ranks)), place)


def _read_status(status: object, place: str) -> Status:
    if status not in STATUS_BY_NAME:
        raise RatingsError(
            f"{place}: found status {status!r}; expected one of {listed(STATUS_BY_NAME)}. "
            "Export the records from Argilla's server, which knows it."
        )
    return STATUS_BY_NAME[str(status)]


def _refuse_several_records(record: Data, place: str) -> None:
    if isinstance(record["id"], list):
        raise RatingsError(
            f"{place}: found a list of ids, as to_dict writes it; expected one record. "
            f"{EXPORT_HINT}"
        )
    if any(isinstance(users, str) for name, users in record.items() if name.endswith(USERS_SUFFIX)):
        raise RatingsError(
            f"{place}: found a text of several users, as CSV has it; expected a list of them. "
            f"{EXPORT_HINT}"
        )


tool(
    "argilla",
    "Argilla's flat records",
    lambda export: any(name.endswith(USERS_SUFFIX) for name in export.first_record),
    column_endings=(USERS_SUFFIX,),
    shows={"raters", "skips", "drafts", "predictions", "confidence", "none"},
    kinds=("spans", RANKINGS),
)(read_package(split_flat_record))
tool(
    "argilla_nested",
    "Argilla's nested records",
    lambda export: (
        "fields" in export.first_record
        and isinstance(export.first_record.get("responses"), Mapping)
    ),
    shows={"raters", "predictions", "confidence", "none"},
    kinds=("spans", RANKINGS),
    needs={
        "drafts": "Export flat records: records.to_list(flatten=True) or to_datasets(). Or say "
        "requires: [] (--requires none) if nobody left a draft or discarded a record."
    },
)(read_package(split_nested_record))
