"""Prodigy's `db-out`: one JSON line an answer.

The item is the task, not the input: a replicate has the same input as its original. The name of a
session is `<data set>-<rater>`, and a data set may belong to one round.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from agreement_pipeline.readers.drawn import Drawn, spans_in
from agreement_pipeline.readers.exports import Export
from agreement_pipeline.readers.submissions import Kind, Submission
from agreement_pipeline.readers.times import utc
from agreement_pipeline.readers.tool import Tool
from agreement_pipeline.units import Box, LabelObject, Polygon

NAMELESS = re.compile(r".*\d{4}-\d{2}-\d{2}_\d{2}-\d{2}-\d{2}")
Data = Mapping[str, Any]


def submissions(export: Export) -> Iterator[Submission]:
    """The answers of all sessions."""
    raters = _raters(export)
    for place, record in export.records():
        meta = record.get("meta") or {}
        plain = {name: value for name, value in record.items() if isinstance(value, (str, int))}
        yield Submission(
            record["_task_hash"],
            raters[_session(record)],
            _answer(record),
            place,
            status="submitted" if record["answer"] in _submitting(record) else "skipped",
            kind=_kind(record),
            created=utc(record.get("_timestamp"), place),
            fields={**plain, **meta},
        )


def draws(export: Export, kind: str) -> Iterator[Submission]:
    """The spans of texts, and the boxes and polygons of images."""
    raters = _raters(export)
    for place, record in export.records():
        meta = record.get("meta") or {}
        plain = {name: value for name, value in record.items() if isinstance(value, (str, int))}
        yield Submission(
            record["_task_hash"],
            raters[_session(record)],
            {kind: Drawn(_objects(record.get("spans") or (), kind, place), _extent(record, kind))},
            place,
            status="submitted" if record["answer"] == "accept" else "skipped",
            kind=_kind(record),
            created=utc(record.get("_timestamp"), place),
            fields={**plain, **meta},
        )


def _objects(parts: Iterable[Data], kind: str, place: str) -> tuple[LabelObject, ...]:
    if kind == "spans":
        return spans_in(parts, place)
    found: list[LabelObject] = []
    for n, part in enumerate(parts, 1):
        where, points = f"{place}, object {n}", part["points"]
        if kind == "polygons":
            found.append(Polygon(tuple((x, y) for x, y in points), part["label"], where))
        else:
            left, top = (min(each) for each in zip(*points, strict=True))
            right, bottom = (max(each) for each in zip(*points, strict=True))
            found.append(Box(left, top, right - left, bottom - top, part["label"], where))
    return tuple(found)


def _extent(record: Data, kind: str) -> tuple[float, ...]:
    sized = kind != "spans" and "width" in record and "height" in record
    return (record["width"], record["height"]) if sized else ()


def _answer(record: Data) -> dict[str, Any]:
    if "accept" in record:
        several = (record.get("config") or {}).get("choice_style") == "multiple"
        ticked = record["accept"]
        return {"accept": frozenset(ticked) if several else tuple(ticked)}
    if "spans" in record or "label" not in record:
        return {}
    return {"answer": record["answer"]}


def _submitting(record: Data) -> tuple[str, ...]:
    """The answers that are labels. Where a rater chooses, to reject is to give no label."""
    return ("accept",) if "accept" in record else ("accept", "reject")


def _kind(record: Data) -> Kind:
    return "reviewer" if "versions" in record else "human"


def _raters(export: Export) -> dict[str, str]:
    """The rater of each session. Sessions of one data set begin alike."""
    sessions = dict.fromkeys(_session(record) for _, record in export.records())
    shared = Counter(prefix for session in sessions for prefix in _prefixes(session))
    return {session: _rater(session, shared) for session in sessions}


def _rater(session: str, shared: Mapping[str, int]) -> str:
    """The session's name after the beginning that most sessions share.

    A session by date names nobody.

    >>> _rater("news-2-ana-eva", {"news": 2, "news-2": 2, "news-2-ana": 1})
    'ana-eva'
    """
    prefixes = _prefixes(session)
    if NAMELESS.fullmatch(session) or not prefixes:
        return session
    longest = max(prefixes, key=lambda prefix: (shared[prefix], len(prefix)))
    return session[len(longest) + 1 :]


def _prefixes(session: str) -> list[str]:
    return [session[:at] for at, sign in enumerate(session) if sign == "-" and at]


def _session(record: Data) -> str:
    return str(record.get("_annotator_id") or record.get("_session_id") or "")


PRODIGY = Tool(
    "prodigy",
    "Prodigy's db-out",
    lambda export: {"_task_hash", "answer"} <= {*export.first},
    submissions,
    frozenset({"raters", "times", "skips", "drafts", "none"}),
    draws=draws,
    kinds=("spans",),
).register()
