"""Argilla 2: flat records (JSON, Parquet, data sets), nested records, and the REST interface.

Argilla's package writes a ranking without its ranks. Only the REST interface gives them.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from typing import Any

from agreement_pipeline.errors import RatingsError
from agreement_pipeline.readers.drawn import Drawn, Draws, spans_in
from agreement_pipeline.readers.exports import Export
from agreement_pipeline.readers.submissions import Status, Submission
from agreement_pipeline.readers.times import utc
from agreement_pipeline.readers.tool import Tool
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
UNNAMED = "a model without a name"
INSTEAD = "Export records.to_list(flatten=True) as JSON, or records.to_datasets() as Parquet."
Data = Mapping[str, Any]
Answers = Callable[[Iterable[tuple[str, Any]], str], dict[str, Any]]
"""From what was said to each question, and its place, to the answers that are read."""
Reads = Callable[[Export], Iterator[Submission]]


def flat(export: Export, answers: Answers) -> Iterator[Submission]:
    """The responses and suggestions of flat records."""
    for place, record in export.records():
        _refuse_many(record, place)
        questions = [
            name.removesuffix(USERS) for name in record if name.endswith(USERS) and record[name]
        ]
        fields = {name: value for name, value in record.items() if _is_field(name)}
        said = (
            (question, *each)
            for question in questions
            for each in zip(
                record[question + USERS],
                record[question + STATUS],
                record[question + ANSWERS],
                strict=True,
            )
        )
        yield from _responses(said, record["id"], place, fields, answers)
        models = (
            (
                name.removesuffix(SUGGESTION),
                _with_a_name(value, record.get(name.removesuffix(SUGGESTION) + ANSWERS), place),
                record.get(f"{name}.score"),
                record.get(f"{name}.agent"),
            )
            for name, value in record.items()
            if name.endswith(SUGGESTION)
        )
        yield from _suggestions(models, record["id"], place, fields, answers)


def nested(export: Export, answers: Answers) -> Iterator[Submission]:
    """The responses and suggestions of nested records, which say no status."""
    for place, record in export.records():
        _refuse_many(record, place)
        fields = {**record["fields"], **(record.get("metadata") or {}), "status": record["status"]}
        said = (
            (question, each["user_id"], "submitted", each["value"])
            for question, responses in record["responses"].items()
            for each in responses
        )
        yield from _responses(said, record["id"], place, fields, answers)
        models = (
            (question, each["value"], each.get("score"), each.get("agent"))
            for question, each in (record.get("suggestions") or {}).items()
        )
        yield from _suggestions(models, record["id"], place, fields, answers)


def rest(export: Export, answers: Answers) -> Iterator[Submission]:
    """The responses of records as the REST interface gives them, which alone have times."""
    for place, page in export.records():
        for record in page.get("items", [page]):
            _refuse_many(record, place)
            fields = {**record["fields"], **(record.get("metadata") or {}), "id": record["id"]}
            for each in record.get("responses") or ():
                values = {name: said["value"] for name, said in (each["values"] or {}).items()}
                yield Submission(
                    record.get("external_id") or record["id"],
                    each["user_id"],
                    answers(values.items(), f"{place}, response {each['id']}"),
                    f"response {each['id']}",
                    status=_status(each["status"], f"{place}, response {each['id']}"),
                    created=utc(each.get("inserted_at"), place),
                    updated=utc(each.get("updated_at"), place),
                    fields=fields,
                )


def _responses(
    said: Iterable[tuple[str, Any, str, Any]],
    item: Any,
    place: str,
    fields: Data,
    answers: Answers,
) -> Iterator[Submission]:
    """One submission a user. Users who were deleted have no name, and each is another."""
    users: dict[Any, dict[str, Any]] = {}
    statuses: dict[Any, str] = {}
    for number, (question, user, status, value) in enumerate(said):
        key = user or f"{place}, deleted user {number}"
        users.setdefault(key, {})[question] = value
        statuses[key] = status
    for user, values in users.items():
        yield Submission(
            item,
            user,
            answers(values.items(), f"{place}, user {user}"),
            f"{place}, user {user}",
            status=_status(statuses[user], f"{place}, user {user}"),
            fields=fields,
        )


def _suggestions(
    said: Iterable[tuple[str, Any, Any, Any]],
    item: Any,
    place: str,
    fields: Data,
    answers: Answers,
) -> Iterator[Submission]:
    for question, value, score, agent in said:
        if value is not None:
            yield Submission(
                item,
                agent or UNNAMED,
                answers([(question, value)], f"{place}, suggestion for {question}"),
                f"{place}, suggestion for {question}",
                kind="model",
                confidence=score if isinstance(score, float) else None,
                fields=fields,
            )


def _status(said: object, where: str) -> Status:
    if said not in STATUSES:
        raise RatingsError(
            f"{where}: found status {said!r}; expected one of {listed(STATUSES)}. "
            "Export the records from Argilla's server, which knows it."
        )
    return STATUSES[str(said)]


def _with_a_name(suggested: Any, responses: Any, place: str) -> Any:
    """A suggestion. `to_datasets` makes it a number, of which JSON and CSV tell no name."""
    if isinstance(suggested, int) and any(isinstance(each, str) for each in responses or ()):
        raise RatingsError(
            f"{place}: found {suggested} as a suggestion, and texts as the responses; expected the "
            "name of a label. Save the data set as Parquet, which has the names."
        )
    return suggested


def _refuse_many(record: Data, place: str) -> None:
    """Refuse what is not one record with lists of responses."""
    if isinstance(record["id"], list):
        raise RatingsError(
            f"{place}: found a list of ids, as to_dict writes it; expected one record. {INSTEAD}"
        )
    if any(isinstance(said, str) for name, said in record.items() if name.endswith(USERS)):
        raise RatingsError(
            f"{place}: found a text of several users, as CSV has it; expected a list of them. "
            f"{INSTEAD}"
        )


def _plainly(read: Callable[[Export, Answers], Iterator[Submission]]) -> Reads:
    """The submissions with labels as their answers."""
    return lambda export: read(export, lambda values, _: _answers(values))


def _drawn(read: Callable[[Export, Answers], Iterator[Submission]]) -> Draws:
    """The submissions with spans or rankings as their answers."""
    return lambda export, kind: read(export, partial(_objects, kind=kind, bare=[]))


def _drawn_by_package(read: Callable[[Export, Answers], Iterator[Submission]]) -> Draws:
    """The same, of what Argilla's package wrote. Rankings without ranks are refused."""

    def draws(export: Export, kind: str) -> Iterator[Submission]:
        bare: list[str] = []
        found = False
        for each in read(export, partial(_objects, kind=kind, bare=bare)):
            found = found or bool(each.values)
            yield each
        if bare and not found:
            raise RatingsError(
                f"{bare[0]}: found answers without ranks, as Argilla's package writes rankings; "
                "expected the rank of each. Read the records of the REST interface."
            )

    return draws


def _objects(
    values: Iterable[tuple[str, Any]], where: str, kind: str, bare: list[str]
) -> dict[str, Drawn]:
    """The spans or the rankings; an empty list is found to be one of them later.

    `bare` gets the first place with a list that may be a ranking without ranks.
    """
    mark = {"spans": "start", "rankings": "rank"}.get(kind)
    lists = {name: value for name, value in values if isinstance(value, list) and value}
    if kind == "rankings" and not bare:
        bare.extend(where for value in lists.values() if isinstance(value[-1], str))
    return {
        name: Drawn(spans_in(value, where) if kind == "spans" else (_ranking(value, where),))
        for name, value in lists.items()
        if isinstance(value[0], dict) and mark in value[0]
    }


def _ranking(parts: Iterable[Data], where: str) -> Ranking:
    ranks: dict[int, set[str]] = {}
    for part in parts:
        ranks.setdefault(part["rank"], set()).add(part["value"])
    return Ranking(tuple(frozenset(ranks[rank]) for rank in sorted(ranks)), where)


def _answers(values: Iterable[tuple[str, Any]]) -> dict[str, Any]:
    """Answers without spans and rankings; a list of labels is a set."""
    return {
        name: frozenset(value) if isinstance(value, list) else value
        for name, value in values
        if not (isinstance(value, list) and any(isinstance(each, dict) for each in value))
    }


def _is_field(name: str) -> bool:
    return not any(mark in name for mark in (ANSWERS, SUGGESTION))


def _is_flat(export: Export) -> bool:
    return any(name.endswith(USERS) for name in export.first)


def _is_nested(export: Export) -> bool:
    return "fields" in export.first and isinstance(export.first.get("responses"), Mapping)


def _is_rest(export: Export) -> bool:
    items = export.first.get("items", [export.first])
    first = items[0] if isinstance(items, list) and items else {}
    return (
        isinstance(first, Mapping)
        and "fields" in first
        and isinstance(first.get("responses"), list)
    )


ARGILLA = Tool(
    "argilla",
    "Argilla's flat records",
    _is_flat,
    _plainly(flat),
    frozenset({"raters", "skips", "drafts", "predictions", "confidence", "none"}),
    draws=_drawn_by_package(flat),
    kinds=("spans", "rankings"),
).register()
ARGILLA_NESTED = Tool(
    "argilla_nested",
    "Argilla's nested records",
    _is_nested,
    _plainly(nested),
    frozenset({"raters", "predictions", "confidence", "none"}),
    draws=_drawn_by_package(nested),
    kinds=("spans", "rankings"),
    needs={
        "drafts": "Export flat records: records.to_list(flatten=True) or to_datasets(). Or say "
        "requires: [] (--requires none) if nobody left a draft or discarded a record."
    },
).register()
ARGILLA_REST = Tool(
    "argilla_rest",
    "Argilla's records of the REST interface",
    _is_rest,
    _plainly(rest),
    frozenset({"raters", "times", "skips", "drafts", "none"}),
    draws=_drawn(rest),
    kinds=("spans", "rankings"),
).register()
