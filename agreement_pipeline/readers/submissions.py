"""What every export is read as: one submission an answer sheet, with all its answers.

Missing, skipped and "none of them" are three things:

- missing: nobody answered. There is no submission, or no value for the question.
- skipped: the rater refused. The submission has the status `skipped`.
- none of them: the rater ticked nothing. The value is an empty set.
"""

import math
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from itertools import chain
from operator import attrgetter
from pathlib import Path
from tempfile import NamedTemporaryFile
from types import MappingProxyType
from typing import Any, Literal
from weakref import finalize

import pyarrow as pa
import pyarrow.parquet as pq

from agreement_pipeline.engine import Relation, Session
from agreement_pipeline.errors import RatingsError
from agreement_pipeline.ratings import Limits, category_text
from agreement_pipeline.readers.exports import Export
from agreement_pipeline.readers.rows import Rows
from agreement_pipeline.text import listed
from agreement_pipeline.units import LabelObject, Span

Status = Literal["submitted", "skipped", "draft", "rejected"]
Kind = Literal["human", "model", "gold", "reviewer"]
Data = Mapping[str, Any]
Nothing: Data = MappingProxyType({})
DECIMALS = 3
"""Pixels are kept to a thousandth: some exports write shares of the image."""
ZONES = {"PDT": "-0700", "PST": "-0800", "UTC": "+0000", "GMT": "+0000"}
IN_FORM = re.compile(r"\d{4}-\d\d-\d\dT(?:[01]\d|2[0-3]):\d\d:\d\d\.\d{6}Z", re.ASCII)
"""A time as `utc` writes it."""
MTURK = re.compile(r"(\w{3}) (\w{3} \d{1,2} \d{2}:\d{2}:\d{2}) ([A-Z]{2,5}) (\d{4})")
AT_ONCE, LETTERS = 2_048, 1_000_000
"""How many rows are Python objects at once, and of how many letters."""
HERE = "duckdb"
"""The engine that sees the files of this machine."""
IN_MEMORY = 4_000_000
"""The bytes of submissions that stay in memory. More are written to a file, so many at a time."""
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
NUMBER, FLAG = pa.float64(), pa.bool_()
KINDS = {"seconds": NUMBER, "confidence": NUMBER, "assisted": FLAG, "ticked": FLAG}
"""What the columns hold that hold no texts."""


@dataclass(frozen=True, slots=True)
class Submission:
    """What one rater or model handed in for one item.

    Attributes
    ----------
    item
        The tool's own name of the item.
    rater
        The tool's name of the rater. None: a deleted user, who is like nobody else.
    values
        The answer to each question: text, a number, a truth value, or a set of texts. A tuple is a
        list of ticks: a set, if anybody ticked more than one. Label objects are `Drawn`.
    record
        The place in the source, for errors: unique in the export.
    status, kind
        What became of the work, and who did it.
    created, updated
        Times in the form of `utc`.
    seconds
        How long the work took.
    confidence
        How sure the rater or model was, from 0 to 1.
    assisted
        True if the answer began as a suggestion. None: the export does not say.
    fields
        What is known of the item: its text, its round, its other names.
    """

    item: object
    rater: object
    values: Data
    record: str
    status: Status = "submitted"
    kind: Kind = "human"
    created: str | None = None
    updated: str | None = None
    seconds: float | None = None
    confidence: float | None = None
    assisted: bool | None = None
    fields: Data = field(default_factory=lambda: Nothing)


@dataclass(frozen=True)
class Drawn:
    """The label objects in one submission for one question.

    Attributes
    ----------
    objects
        The objects. None is an answer too.
    extent
        As in `Marked`.
    """

    objects: tuple[LabelObject, ...] = ()
    extent: tuple[float, ...] = ()


# What the formats of tools have in common


def has(*names: str) -> Callable[[Export], bool]:
    """What tells an export whose first record has some fields."""
    return lambda export: {*names} <= {*export.first}


def plain(record: Data, *kinds: type) -> dict[str, Any]:
    """The fields of a record that are of some kinds: texts or whole numbers, if none is named."""
    return {name: value for name, value in record.items() if isinstance(value, kinds or (str, int))}


def part(record: Data, prefix: str) -> dict[str, Any]:
    """The fields of a record whose names begin with a prefix, without it."""
    return {
        name.removeprefix(prefix): value
        for name, value in record.items()
        if name.startswith(prefix)
    }


def grouped(parts: Iterable[Data], key: Callable[[Data], Any]) -> dict[Any, list[Data]]:
    """Parts of a record by what a key says of each."""
    found: defaultdict[Any, list[Data]] = defaultdict(list)
    for each in parts:
        found[key(each)].append(each)
    return found


def spans_in(parts: Iterable[Data], where: str) -> tuple[Span, ...]:
    """Spans written with `start`, `end` and `label`."""
    return tuple(
        Span(each["start"], each["end"], each["label"], f"{where}, object {n}")
        for n, each in enumerate(parts, 1)
    )


def pixels(value: float, size: float) -> float:
    """A share of an image in percent, as pixels."""
    return round(float(value) * size / 100, DECIMALS)


def utc(written: object, where: str) -> str | None:
    """A time in UTC, as text that sorts. A time without a zone stays without one.

    Raises
    ------
    RatingsError
        The text is no time.

    >>> utc("2026-09-02T11:05:00+02:00", "x"), utc("Wed Sep 02 02:05:00 PDT 2026", "x")
    ('2026-09-02T09:05:00.000000Z', '2026-09-02T09:05:00.000000Z')
    >>> utc(1788339900, "x"), utc("2026-09-02 09:05:00", "x"), utc("", "x")
    ('2026-09-02T09:05:00.000000Z', '2026-09-02T09:05:00.000000', None)
    """
    if written is None or written == "":
        return None
    try:
        if type(written) is str and IN_FORM.fullmatch(written) and datetime.fromisoformat(written):
            return written
        time = _time(written)
    except (ValueError, TypeError, KeyError, OverflowError, OSError):
        raise RatingsError(
            f"{where}: found time {written!r}; expected a date and a time, as "
            "2026-09-02T09:05:00Z. Correct the time, or export again."
        ) from None
    if time.tzinfo is None:
        return time.isoformat(timespec="microseconds")
    return time.astimezone(UTC).replace(tzinfo=None).isoformat(timespec="microseconds") + "Z"


def _time(written: object) -> datetime:
    if isinstance(written, (int, float)):
        seconds = written / 1000 if written > 1e11 else written
        return datetime.fromtimestamp(seconds, UTC)
    text = str(written).strip()
    if found := MTURK.fullmatch(text):
        _, day, zone, year = found.groups()
        return datetime.strptime(f"{day} {year} {ZONES[zone]}", "%b %d %H:%M:%S %Y %z")
    if text[:1].isalpha():
        return parsedate_to_datetime(text)
    return datetime.fromisoformat(text)


# From the submissions of an export to a table of a session


class Gathered:
    """The submissions of an export as a table with one row for each, for one question.

    Parameters
    ----------
    submissions
        The submissions. They are read once.
    question
        The question. None: the first one, and there must not be another.
    wanted
        The fields that are wanted.
    own
        The columns of `CANONICAL` that are wanted, in their order. `MADE` are among them.
    omits_none
        True if the export writes nothing where a rater ticked nothing.

    Attributes
    ----------
    rows
        The columns of `own`, and those of fields.
    columns
        The column of each field that was asked for.
    fields
        All fields of the items.

    Raises
    ------
    RatingsError
        The export is broken or too large, or has several questions and none was chosen.
    """

    def __init__(
        self,
        submissions: Iterable[Submission],
        question: str | None,
        wanted: Iterable[str],
        source: str,
        limits: Limits,
        session: Session,
        *,
        omits_none: bool,
        own: Sequence[str] = CANONICAL,
    ) -> None:
        self.columns = {name: f"field{number}" for number, name in enumerate(dict.fromkeys(wanted))}
        self.fields, self._questions = dict[str, None](), dict[str, None]()
        self._question, self._source = question, source
        self._sets, self._odd = False, ""
        names = [*own, "ticked", *self.columns.values()]
        schema = pa.schema([(name, KINDS.get(name, pa.string())) for name in names])
        made = self._made(submissions, own[len(MADE) :], limits)
        rows = Rows(_put(session, schema, _batches(made, schema, source)), source)
        self._refuse_several()
        others = ", ".join(name for name in names if name not in ("label", "ticked"))
        label = self._label_in_sql(omits_none)
        self.rows = rows.view(f"SELECT {others}, {label} AS label, nth FROM {rows}")

    def told(self, name: str) -> str | None:
        """A field in SQL, else what is known of a submission, as text. None if nothing is."""
        if name in self.fields:
            return self.columns[name]
        return self.rows.text(name) if name in CANONICAL else None

    def _made(
        self, submissions: Iterable[Submission], as_told: Sequence[str], limits: Limits
    ) -> Iterator[tuple[Any, ...]]:
        """A row for each submission. The first question counts if none was chosen."""
        told, asked = attrgetter(*as_told), self._question
        for row, each in enumerate(submissions, 1):
            if row > limits.rows:
                limits.refuse_beyond("rows", row, self._source, "submissions or more")
            for known, names in ((self._questions, each.values), (self.fields, each.fields)):
                if not known.keys() >= names.keys():
                    known.update(dict.fromkeys(names))
            asked = asked or next(iter(self._questions), None)
            item = None if each.item is None else category_text(each.item)
            rater = _text(each.rater) or f"{UNKNOWN}{each.record})"
            label, ticked = self._label(each.values.get(asked or ""), each.record)
            said = [_text(each.fields.get(name)) for name in self.columns]
            yield (item, rater, label, *told(each), ticked, *said)

    def _label(self, value: Any, record: str) -> tuple[str | None, bool]:
        """The label as text, and False for a list of ticks without a tick."""
        if not isinstance(value, (tuple, frozenset)):
            return _text(value), True
        self._sets = self._sets or isinstance(value, frozenset) or len(value) > 1
        joined = category_text(frozenset(value))
        if value and (joined.count("|") != len(set(value)) - 1 or "" in value):
            self._odd = self._odd or f"{listed(value)} in record {record!r}"
        if self._sets and self._odd:
            raise RatingsError(
                f"{self._source}: found {self._odd}; expected no empty label, and none with |, "
                "which stands between the labels of a set. Rename the label."
            )
        return (joined, True) if value else (None, False)

    def _label_in_sql(self, omits_none: bool) -> str:
        """The label. Nothing ticked is the empty set, if anybody ticked several."""
        if not self._sets:
            return "label"
        silent = "label IS NULL AND status = 'submitted' AND kind <> 'model'"
        none = f"NOT ticked OR ({silent})" if omits_none else "NOT ticked"
        return f"CASE WHEN {none} THEN '{NONE}' ELSE label END"

    def _refuse_several(self) -> None:
        """Refuse several questions if none was chosen, or a chosen one that is not there."""
        questions = list(self._questions)
        if self._question is None and len(questions) > 1:
            raise RatingsError(
                f"{self._source}: found {len(questions)} questions, {listed(questions, 12)}; "
                "expected one for a table of ratings. Choose one: --label NAME, or columns: "
                "{label: NAME} in a project for each."
            )
        if self._question is not None and self._question not in questions:
            raise RatingsError(
                f"{self._source}: found no question {self._question!r} among "
                f"{listed(questions, 12)}; expected the name of a question. Correct the column of "
                "labels."
            )


def _put(session: Session, schema: pa.Schema, batches: Iterable[pa.RecordBatch]) -> Relation:
    """Batches as a table of a session. Many of them are on disk, in a file that goes with it."""
    groups = _groups(batches, schema)
    first = next(groups, pa.Table.from_batches([], schema))
    if first.nbytes < IN_MEMORY or session.engine != HERE:
        rest = (batch for group in chain([first], groups) for batch in group.to_batches())
        return session.load(schema, rest)
    with NamedTemporaryFile(suffix=".parquet", delete=False) as file:
        path = Path(file.name)
        left = finalize(file, path.unlink, missing_ok=True)
        with pq.ParquetWriter(file, schema, compression="zstd", write_statistics=False) as writer:
            for group in chain([first], groups):
                writer.write_table(group)
    relation = session.parquet(str(path), {name: name for name in schema.names})
    left.detach()
    finalize(relation, path.unlink, missing_ok=True)
    return relation


def _groups(batches: Iterable[pa.RecordBatch], schema: pa.Schema) -> Iterator[pa.Table]:
    """Batches together, so many that a file has few groups of rows."""
    some, size = list[pa.RecordBatch](), 0
    for batch in batches:
        some.append(batch)
        size += batch.nbytes
        if size >= IN_MEMORY:
            yield pa.Table.from_batches(some, schema)
            some, size = [], 0
    if some:
        yield pa.Table.from_batches(some, schema)


def _batches(
    rows: Iterable[tuple[Any, ...]], schema: pa.Schema, source: str
) -> Iterator[pa.RecordBatch]:
    """Rows in batches. So few of them are Python objects at once."""
    new: list[tuple[Any, ...]] = []
    letters = 0
    for row in rows:
        new.append(row)
        letters += sum([len(each) for each in row if type(each) is str])
        if len(new) >= AT_ONCE or letters >= LETTERS:
            yield _batch(new, schema, source)
            new.clear()
            letters = 0
    if new:
        yield _batch(new, schema, source)


def _batch(rows: list[tuple[Any, ...]], schema: pa.Schema, source: str) -> pa.RecordBatch:
    columns = dict(zip(schema.names, zip(*rows, strict=True), strict=True))
    for name, values in columns.items():
        if KINDS.get(name) == NUMBER:
            places = (f"{source}: {record}: found {name}" for record in columns["record"])
            columns[name] = tuple(map(_number, values, places))
    try:
        return pa.record_batch(columns, schema)
    except UnicodeEncodeError as error:
        half = error.object[error.start]
        raise RatingsError(
            f"an export: found half a character (\\u{ord(half):04x}) in "
            f"{error.object.replace(half, '?')[:40]!r}; expected whole characters. "
            "Export the file again."
        ) from None


def _number(value: Any, found: str) -> float | None:
    try:
        number = math.nan if value is None else float(value)
    except (TypeError, ValueError, OverflowError):
        raise RatingsError(
            f"{found} {value!r}; expected a number, or nothing. Correct the export."
        ) from None
    return None if math.isnan(number) else number


def _text(value: object) -> str | None:
    return None if value in (None, "") else category_text(value)
