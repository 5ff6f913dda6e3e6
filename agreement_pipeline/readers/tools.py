"""From submissions to the rows of one question: the rules that every export needs.

- Drafts and skipped items are no ratings.
- Gold answers and reviewers' answers are no rater's.
- If a rater handed an item in again, the later submission counts.
- A deleted user is like nobody else.
- Models are classifiers, and never part of the panel.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from operator import attrgetter
from typing import Any

import numpy as np
import pandas as pd

from agreement_pipeline.errors import ProjectError, RatingsError
from agreement_pipeline.ratings import TEXT, category_text, coded
from agreement_pipeline.readers.columns import COLUMNS, Columns
from agreement_pipeline.readers.frame_rules import tally
from agreement_pipeline.readers.gathering import ZONED, Growing, hashes_of, plain
from agreement_pipeline.ratings.limits import Limits
from agreement_pipeline.readers.rules import FIELD, LeftOut
from agreement_pipeline.readers.submissions import Submission
from agreement_pipeline.text import called, listed
from agreement_pipeline.text import counted as number_of

OF_ITEMS = ("round", "text", "cluster")
OWN = ("item", "rater")
TICKED = 2
NONE = "|"
"""The label of a rater who ticked nothing: the empty set."""
UNKNOWN = "unknown ("
"""How the name of a rater begins whom the export does not name. The record follows."""
MADE = ("item", "rater", "label")
CANONICAL = (
    *MADE,
    "status",
    "kind",
    "created",
    "updated",
    "seconds",
    "confidence",
    "assisted",
    "record",
)
TEXTS = ("item", "rater", "label", "status", "kind", "record")
TIMES = ("created", "updated")
FLAGS = ("assisted",)


@dataclass
class Gathered:
    """The submissions of an export as a table with one row for each, for one question.

    Attributes
    ----------
    frame
        The columns of `CANONICAL`, and the fields that were asked for.
    questions
        All questions of the export.
    fields
        All fields of its items.
    """

    frame: pd.DataFrame
    questions: tuple[str, ...]
    fields: tuple[str, ...]


@dataclass
class _Ticks:
    """What is seen of the lists of ticks in a question of a source."""

    source: str
    sets: bool = False
    odd: str = ""
    none: list[int] = field(default_factory=list)
    absent: list[int] = field(default_factory=list)

    def text(self, value: Any, row: int, submission: Submission) -> str | None:
        """The label of a row as text. None if there is none yet."""
        if value is None or value == "":
            if submission.status == "submitted" and submission.kind != "model":
                self.absent.append(row)
            return None
        if isinstance(value, (tuple, frozenset)):
            return self._ticked(value, row, submission)
        return category_text(value)

    def _ticked(
        self, value: tuple[Any, ...] | frozenset[Any], row: int, of: Submission
    ) -> str | None:
        self.sets = self.sets or isinstance(value, frozenset) or len(value) >= TICKED
        joined = category_text(frozenset(value))
        if value and (joined.count("|") != len(set(value)) - 1 or "" in value):
            self.odd = self.odd or f"{listed(value)} in record {of.record!r}"
        if self.sets and self.odd:
            raise RatingsError(
                f"{self.source}: found {self.odd}; expected no empty label, and none with |, which "
                "stands between the labels of a set. Rename the label."
            )
        if not value:
            self.none.append(row)
            return None
        return joined


def gather(
    submissions: Iterable[Submission],
    question: str | None,
    wanted: Iterable[str],
    source: str,
    limits: Limits,
    omits_none: bool,
    own: Sequence[str] = CANONICAL,
) -> Gathered:
    """The answers to one question, and the fields that are wanted, of all submissions.

    `own` are the columns of `CANONICAL` that are wanted, in their order. `MADE` are among them.

    Raises
    ------
    RatingsError
        The export is broken or too large, or has several questions and none was chosen.
    """
    of_items = {FIELD + name: name for name in wanted}
    as_told, names = attrgetter(*own[len(MADE) :]), list(of_items.values())
    questions: dict[str, None] = {}
    fields: dict[str, None] = {}
    ticks = _Ticks(source)
    asked = question
    with Growing((*own, *of_items), {*TEXTS, *of_items}, TIMES, FLAGS, ("record",)) as table:
        for row, each in enumerate(submissions):
            if row >= limits.rows:
                limits.refuse_beyond("rows", row + 1, source, "submissions or more")
            _note(questions, each.values)
            _note(fields, each.fields)
            asked = asked or next(iter(questions), None)
            label = ticks.text(each.values.get(asked or ""), row, each)
            said = [_text(each.fields.get(name)) for name in names]
            table.append((*_made(each, label), *as_told(each), *said))
        frame = table.frame()
    _refuse_several(question, list(questions), source)
    if ticks.sets:
        empty = [*ticks.none, *(ticks.absent if omits_none else ())]
        frame["label"] = _with_none(frame["label"], empty)
    return Gathered(frame, tuple(questions), tuple(fields))


def _with_none(labels: pd.Series, rows: list[int]) -> pd.Series:
    """Labels in codes, of which some rows have the empty set."""
    texts = labels.astype(TEXT)
    texts.iloc[rows] = NONE
    return pd.Series(coded(texts).categorical())


def _note(known: dict[str, None], names: Mapping[str, Any]) -> None:
    """Keep names that were not met before."""
    if not known.keys() >= names.keys():
        known.update(dict.fromkeys(names))


def _made(each: Submission, label: str | None) -> tuple[str | None, str, str | None]:
    """The cells of a row that are no values of the submission: item, rater and label."""
    item = None if each.item is None else category_text(each.item)
    known = each.rater not in (None, "")
    return item, category_text(each.rater) if known else f"{UNKNOWN}{each.record})", label


def _text(value: object) -> str | None:
    return None if value in (None, "") else category_text(value)


def _refuse_several(question: str | None, questions: list[str], source: str) -> None:
    if question is None and len(questions) > 1:
        raise RatingsError(
            f"{source}: found {len(questions)} questions, {listed(questions, 12)}; expected one "
            "for a table of ratings. Choose one: --label NAME, or columns: {label: NAME} in a "
            "project for each."
        )
    if question is not None and question not in questions:
        raise RatingsError(
            f"{source}: found no question {question!r} among {listed(questions, 12)}; expected "
            "the name of a question. Correct the column of labels."
        )


def question_of(columns: Columns, questions: Callable[[str], str] = str) -> str | None:
    """The question that is asked for; None if it is the only one."""
    return None if columns.label == COLUMNS.label else questions(columns.label)


def fields_of(columns: Columns) -> dict[str, str]:
    """The fields of the export that a project names, under their canonical names."""
    if columns.raters:
        raise ProjectError(
            f"columns: found raters {listed(columns.raters)}; expected them for a wide table only. "
            "Leave them out: the export names its raters."
        )
    named = {
        name: value
        for name, value in columns.named.items()
        if name != "label" and not (name in OWN and value == getattr(COLUMNS, name))
    }
    return {**{name: name for name in OF_ITEMS if name not in named}, **named}


def refuse_unknown(
    named: Iterable[str], gathered: Gathered, known: Iterable[str], source: str
) -> None:
    """Refuse fields that no item has.

    Raises
    ------
    RatingsError
        There are some.
    """
    there = {*gathered.fields, *known}
    absent = [name for name in named if name not in there]
    if absent:
        raise RatingsError(
            f"{source}: found no {called('field', absent)} among {listed(gathered.fields, 20)}; "
            "expected every field that you name. Correct the names."
        )


def refuse_repeated(frame: pd.DataFrame, source: str) -> None:
    """Refuse a record that is there twice.

    Raises
    ------
    RatingsError
        One is.
    """
    hashes = np.sort(hashes_of(frame["record"]))
    if (hashes[1:] > hashes[:-1]).all():
        return
    records = frame["record"].astype(TEXT)
    twice = records[records.duplicated()]
    if len(twice):
        raise RatingsError(
            f"{source}: found record {twice.iloc[0]!r} more than once "
            f"({number_of(twice.nunique(), 'such record')} in all); expected each once. Export "
            "again, or join the files without the repetition."
        )


def refuse_nameless(people: pd.DataFrame, source: str) -> None:
    """Refuse ratings of people of whom none is named.

    Raises
    ------
    RatingsError
        There are ratings, and all raters are unknown.
    """
    raters = coded(people["rater"]).texts
    if len(raters) and all(str(rater).startswith(UNKNOWN) for rater in raters):
        raise RatingsError(
            f"{source}: {people['record'].iloc[0]}: found no rater, and none in any other record; "
            "expected who gave each answer, since agreement is between raters. "
            "Export again with the raters, and rename no field."
        )


def refuse_mixed_zones(frame: pd.DataFrame, source: str) -> None:
    """Refuse times of which some have a time zone and some have none.

    Raises
    ------
    RatingsError
        There are both.
    """
    zoned, there = frame[ZONED + "created"], frame["created"].notna()
    bare = there & ~zoned
    if zoned.any() and bare.any():
        first = plain(frame[bare].iloc[:1])
        raise RatingsError(
            f"{source}: {first['record'].iloc[0]}: found time {first['created'].iloc[0]!r} without "
            "a time zone, and others have one; expected one of the two in all records. "
            "Add the zone."
        )


def counted(frame: pd.DataFrame, rejected: str) -> tuple[pd.DataFrame, LeftOut]:
    """The rows that are ratings, and how many are none, by reason."""
    status = ["skipped", "draft", *(["rejected"] if rejected == "left out" else ())]
    tests = [*(("status", name) for name in status), ("kind", "gold"), ("kind", "reviewer")]
    reasons = np.zeros(len(frame), dtype=np.int8)
    for number, (column, value) in enumerate(tests, 1):
        reasons[(frame[column] == value).to_numpy()] = number
    reasons[(reasons == 0) & frame["label"].isna().to_numpy()] = len(tests) + 1
    out = reasons > 0
    if not out.any():
        return frame, LeftOut()
    names = np.array(["", *(value for _, value in tests), "no answer"], dtype=object)
    rows = frame[out]
    return frame[~out], tally(rows, pd.Series(names[reasons[out]], index=rows.index))


def latest(frame: pd.DataFrame, keys: list[str]) -> np.ndarray:
    """True for the last submission of each rater for each item."""
    key = np.zeros(len(frame), dtype=np.int64)
    for name in keys:
        found = coded(frame[name])
        key *= len(found.texts) + 1
        key += found.codes
    in_order = np.sort(key)
    if (in_order[1:] > in_order[:-1]).all():
        return np.ones(len(key), dtype=bool)
    time = frame["updated"].fillna(frame["created"]).to_numpy().view(np.int64)
    order = np.lexsort((time, key))
    last = np.zeros(len(key), dtype=bool)
    last[order] = np.append(key[order[1:]] != key[order[:-1]], True)
    return last
