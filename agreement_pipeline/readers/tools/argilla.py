"""Argilla 2: flat records (JSON, Parquet, data sets), nested records, and the REST interface.

Argilla's package writes a ranking without its ranks. Only the REST interface gives them.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from agreement_pipeline.errors import RatingsError
from agreement_pipeline.mistakes import shown
from agreement_pipeline.readers.exports import Export
from agreement_pipeline.readers.submissions import (
    Data,
    Drawn,
    Status,
    Submission,
    drawn,
    span,
    together,
    tool,
    within,
)
from agreement_pipeline.text import listed
from agreement_pipeline.units import Ranking

ANSWERS, USERS, STATUS = ".responses", ".responses.users", ".responses.status"
SUGGESTION = ".suggestion"
STATUSES: dict[str, Status] = {
    "submitted": "submitted",
    "discarded": "skipped",
    "draft": "draft",
    "pending": "draft",
}
RANKINGS = "rankings"
MARKS = {"spans": "start", RANKINGS: "rank"}
INSTEAD = "Export records.to_list(flatten=True) as JSON, or records.to_datasets() as Parquet."
Said = Iterable[tuple[str, Any, Any, Any]]
"""Question, user, status and value of responses. Or question, model, score and value."""
Parts = tuple[Data, Said, Said]


def flat(record: Data, place: str) -> Parts:
    own = [name for name in record if ANSWERS in name or SUGGESTION in name]
    fields = {name: value for name, value in record.items() if name not in own}
    responses = (
        (question, *each)
        for question in (name.removesuffix(ANSWERS) for name in own if name.endswith(ANSWERS))
        if record[question + USERS] or record[question + ANSWERS]
        for each in zip(
            *(record[question + column] for column in (USERS, STATUS, ANSWERS)), strict=True
        )
    )
    suggestions = []
    for name in (name for name in own if name.endswith(SUGGESTION)):
        question, said = name.removesuffix(SUGGESTION), record[name]
        answered = record.get(question + ANSWERS) or ()
        # `to_datasets` makes a suggestion a number, of which JSON and CSV tell no name.
        if isinstance(said, int) and any(isinstance(each, str) for each in answered):
            raise RatingsError(
                f"{place}: found {said} as a suggestion, and texts as the responses; expected the "
                "name of a label. Save the data set as Parquet, which has the names."
            )
        model, score = record.get(f"{name}.agent"), record.get(f"{name}.score")
        suggestions.append((question, model, score, said))
    return fields, responses, suggestions


def nested(record: Data, _: str) -> Parts:
    responses = (
        (question, each["user_id"], "submitted", each["value"])
        for question, said in record["responses"].items()
        for each in said
    )
    suggestions = (
        (question, each.get("agent"), each.get("score"), each["value"])
        for question, each in (record.get("suggestions") or {}).items()
    )
    return _fields(record, "status"), responses, suggestions


def of_package(parts: Callable[[Data, str], Parts]) -> Callable[..., Iterator[Submission]]:
    def submissions(export: Export, kind: str = "") -> Iterator[Submission]:
        bare, found = "", False
        for place, record in export.records():
            _refuse_many(record, place)
            for each in _submissions(record["id"], place, *parts(record, place)):
                lists = (said for said in each.values.values() if isinstance(said, list) and said)
                if kind == RANKINGS and any(isinstance(said[-1], str) for said in lists):
                    bare = bare or each.record
                values = _answers(each.values, each.record, kind)
                found = found or bool(values)
                yield replace(each, values=values)
        if bare and not found:
            raise RatingsError(
                f"{bare}: found answers without ranks, as Argilla's package writes rankings; "
                "expected the rank of each. Read the records of the REST interface."
            )

    return submissions


def _is_rest(export: Export) -> bool:
    record = within(export.first, "items")
    return "fields" in record and isinstance(record.get("responses"), list)


@tool(
    "argilla_rest",
    "Argilla's records of the REST interface",
    _is_rest,
    shows={"raters", "times", "skips", "drafts", "none"},
    kinds=("spans", RANKINGS),
)
def rest(export: Export, kind: str = "") -> Iterator[Submission]:
    for place, page in export.records():
        for record in page.get("items", [page]):
            if "id" not in record:
                raise RatingsError(
                    f"{place}: found a record without 'id', as Argilla 1.x writes it; expected "
                    "records of Argilla 2. Load the data set in Argilla 2 (its guide says how to "
                    f"migrate one). {INSTEAD}"
                )
            _refuse_many(record, place)
            fields = _fields(record, "id")
            for each in record.get("responses") or ():
                values = {name: said["value"] for name, said in (each["values"] or {}).items()}
                where = f"{place}, response {each['id']}"
                yield Submission(
                    record.get("external_id") or record["id"],
                    each["user_id"],
                    _answers(values, where, kind),
                    f"response {each['id']}",
                    status=_status(each["status"], where),
                    created=each.get("inserted_at"),
                    updated=each.get("updated_at"),
                    changed=each.get("updated_at"),
                    fields=fields,
                )


def _fields(record: Data, own: str) -> Data:
    return {**record["fields"], **(record.get("metadata") or {}), own: record[own]}


def _submissions(
    item: Any, place: str, fields: Data, responses: Said, suggestions: Said
) -> Iterator[Submission]:
    """Each deleted user has no name, and is another."""
    by_user = together(
        (user or f"{place}, deleted user {number}", (question, status, value))
        for number, (question, user, status, value) in enumerate(responses)
    )
    for user, said in by_user.items():
        where = f"{place}, user {user}"
        values = {question: value for question, _, value in said}
        yield Submission(item, user, values, where, _status(said[-1][1], where), fields=fields)
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


def _answers(values: Data, where: str, kind: str) -> dict[str, Any]:
    if not kind:
        return {
            name: frozenset(value) if isinstance(value, list) else value
            for name, value in values.items()
            if not (isinstance(value, list) and any(isinstance(each, dict) for each in value))
        }
    return {
        name: drawn(value, where, span) if kind == "spans" else Drawn((_ranking(value, where),))
        for name, value in values.items()
        if isinstance(value, list) and value and MARKS[kind] in _keys(value[0], where)
    }


def _keys(part: Any, where: str) -> Iterable[str]:
    if isinstance(part, str):  # a label
        return ()
    if not isinstance(part, dict) or not {*MARKS.values()} & {*part}:
        raise RatingsError(
            f"{where}: found {shown(part)} in an answer; expected labels, spans with their start, "
            "or ranks. Export the records again."
        )
    return part


def _ranking(parts: Iterable[Data], where: str) -> Ranking:
    ranks = together((part["rank"], part["value"]) for part in parts)
    return Ranking(tuple(frozenset(ranks[rank]) for rank in sorted(ranks)), where)


def _status(said: object, where: str) -> Status:
    if said not in STATUSES:
        raise RatingsError(
            f"{where}: found status {said!r}; expected one of {listed(STATUSES)}. "
            "Export the records from Argilla's server, which knows it."
        )
    return STATUSES[str(said)]


def _refuse_many(record: Data, place: str) -> None:
    if isinstance(record["id"], list):
        raise RatingsError(
            f"{place}: found a list of ids, as to_dict writes it; expected one record. {INSTEAD}"
        )
    if any(isinstance(said, str) for name, said in record.items() if name.endswith(USERS)):
        raise RatingsError(
            f"{place}: found a text of several users, as CSV has it; expected a list of them. "
            f"{INSTEAD}"
        )


tool(
    "argilla",
    "Argilla's flat records",
    lambda export: any(name.endswith(USERS) for name in export.first),
    column_endings=(USERS,),
    shows={"raters", "skips", "drafts", "predictions", "confidence", "none"},
    kinds=("spans", RANKINGS),
)(of_package(flat))
tool(
    "argilla_nested",
    "Argilla's nested records",
    lambda export: "fields" in export.first and isinstance(export.first.get("responses"), Mapping),
    shows={"raters", "predictions", "confidence", "none"},
    kinds=("spans", RANKINGS),
    needs={
        "drafts": "Export flat records: records.to_list(flatten=True) or to_datasets(). Or say "
        "requires: [] (--requires none) if nobody left a draft or discarded a record."
    },
)(of_package(nested))
