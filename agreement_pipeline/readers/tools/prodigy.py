"""Prodigy's `db-out`: one JSON line an answer.

The item is the task, not the input: a replicate has the same input as its original. The name of a
session is `<data set>-<rater>`, and a data set may belong to one round.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from agreement_pipeline.errors import RatingsError
from agreement_pipeline.mistakes import value_in_message
from agreement_pipeline.readers.exports import Export
from agreement_pipeline.readers.rows import (
    Data,
    ObjectAnswer,
    Submission,
)
from agreement_pipeline.readers.submissions import (
    build_fields_test,
    build_object_answer,
    get_nested,
    read_span,
    refuse_parts,
    select_plain_fields,
    tool,
)
from agreement_pipeline.text import listed
from agreement_pipeline.units import TOKENS, Box, LabelObject, Polygon

ANSWERS = ("accept", "reject", "ignore")
NAMELESS = re.compile(r".*\d{4}-\d{2}-\d{2}_\d{2}-\d{2}-\d{2}")


@tool(
    "prodigy",
    "Prodigy's db-out",
    build_fields_test("_task_hash", "answer"),
    column_endings=("_task_hash",),
    shows={"raters", "times", "skips", "drafts", "none"},
    kinds=("spans",),
    own_fields=("answer",),
)
def read_prodigy(export: Export, kind: str = "") -> Iterator[Submission]:
    sessions = dict.fromkeys(
        _read_session_name(*place_and_record) for place_and_record in export.records()
    )
    shared = Counter(prefix for session in sessions for prefix in _session_prefixes(session))
    raters = {session: _rater_of_session(session, shared) for session in sessions}
    for place, record in export.records():
        if record["answer"] not in ANSWERS:
            raise RatingsError(
                f"{place}: found answer {value_in_message(record['answer'])}; expected one of "
                f"{listed(ANSWERS)}. Correct the record, or export again."
            )
        # Where a rater chooses, to reject is to give no label.
        is_choice = bool(kind) or "accept" in record
        labels = ("accept",) if is_choice else ("accept", "reject")
        yield Submission(
            record["_task_hash"],
            raters[_read_session_name(place, record)],
            {kind: _read_object_answer(record, kind, place)}
            if kind
            else _read_answer(record, place),
            place,
            status="submitted" if record["answer"] in labels else "skipped",
            kind="reviewer" if "versions" in record else "human",
            created=record.get("_timestamp"),
            fields={
                **select_plain_fields(record),
                **_read_token_places(record),
                **(record.get("meta") or {}),
            },
        )


def _read_token_places(record: Data) -> dict[str, list[list[int]]]:
    tokens = record.get("tokens")
    return {TOKENS: [[token["start"], token["end"]] for token in tokens]} if tokens else {}


def _read_object_answer(record: Data, kind: str, place: str) -> ObjectAnswer:
    is_sized = kind != "spans" and "width" in record and "height" in record
    extent = (float(record["width"]), float(record["height"])) if is_sized else ()
    makers: dict[str, Callable[[Data, str], LabelObject]] = {
        "spans": read_span,
        "polygons": _read_polygon,
    }
    return build_object_answer(
        record.get("spans") or (), place, makers.get(kind, _read_box), extent
    )


def _read_polygon(part: Data, place: str) -> Polygon:
    return Polygon(tuple((x, y) for x, y in part["points"]), part["label"], place)


def _read_box(part: Data, place: str) -> Box:
    x, y = zip(*part["points"], strict=True)
    return Box(min(x), min(y), max(x) - min(x), max(y) - min(y), part["label"], place)


def _read_answer(record: Data, place: str) -> dict[str, Any]:
    if "accept" in record:
        ticked = record["accept"]
        if not isinstance(ticked, list):
            raise RatingsError(
                f"{place}: found {value_in_message(ticked)} as what was accepted; expected a list "
                "of "
                "options. Correct the record, or export again."
            )
        is_set = get_nested(record, "config", "choice_style") == "multiple"
        return {"accept": frozenset(ticked) if is_set else tuple(ticked)}
    is_answer = "label" in record and "spans" not in record
    return {"answer": record["answer"]} if is_answer else {}


def _rater_of_session(session: str, shared: Mapping[str, int]) -> str:
    """The session's name after the beginning that most sessions share. One by date names nobody.

    >>> _rater_of_session("news-2-ana-eva", {"news": 2, "news-2": 2, "news-2-ana": 1})
    'ana-eva'
    """
    prefixes = _session_prefixes(session)
    if NAMELESS.fullmatch(session) or not prefixes:
        return session
    longest = max(prefixes, key=lambda prefix: (shared[prefix], len(prefix)))
    return session[len(longest) + 1 :]


def _session_prefixes(session: str) -> list[str]:
    return [session[:index] for index, sign in enumerate(session) if sign == "-" and index]


def _read_session_name(place: str, record: Data) -> str:
    session = record.get("_annotator_id") or record.get("_session_id") or ""
    refuse_parts("rater", session, place)
    return str(session)
