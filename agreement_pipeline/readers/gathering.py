"""From the submissions of an export to a table of a session, with the answers to one question."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from operator import attrgetter
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any
from weakref import finalize

import pyarrow as pa
import pyarrow.parquet as pq

from agreement_pipeline.engine import Relation, Session
from agreement_pipeline.errors import RatingsError
from agreement_pipeline.ratings import Limits, category_text
from agreement_pipeline.readers.rules import text_of
from agreement_pipeline.readers.submissions import Submission
from agreement_pipeline.text import listed

AT_ONCE, LETTERS = 2_048, 1_000_000
"""How many rows are Python objects at once, and of how many letters."""
HERE = "duckdb"
"""The engine that sees the files of this machine."""
IN_MEMORY = 4_000_000
"""The bytes of submissions that stay in memory. More are written to a file, so many at a time."""
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
NUMBER, FLAG = pa.float64(), pa.bool_()
KINDS = {"seconds": NUMBER, "confidence": NUMBER, "assisted": FLAG, "ticked": FLAG}
"""What the columns hold that hold no texts."""


@dataclass
class Gathered:
    """The submissions of an export as a table with one row for each, for one question.

    Attributes
    ----------
    cells
        The columns of `CANONICAL` that were asked for, and those of fields.
    columns
        The column of each field that was asked for.
    questions
        All questions of the export.
    fields
        All fields of its items.
    """

    cells: Relation
    columns: Mapping[str, str]
    questions: tuple[str, ...]
    fields: tuple[str, ...]

    def told(self, name: str) -> str | None:
        """A field in SQL, else what is known of a submission, as text. None if nothing is."""
        if name in self.fields:
            return self.columns[name]
        if name == "assisted":
            return "CASE WHEN assisted THEN 'True' WHEN NOT assisted THEN 'False' END"
        return text_of(self.cells, name) if name in CANONICAL else None


def gather(
    submissions: Iterable[Submission],
    question: str | None,
    wanted: Iterable[str],
    source: str,
    limits: Limits,
    session: Session,
    *,
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
    columns = {name: f"field{number}" for number, name in enumerate(dict.fromkeys(wanted))}
    names = [*own, "ticked", *columns.values()]
    schema = pa.schema([(name, KINDS.get(name, pa.string())) for name in names])
    seen = _Seen(question, source)
    rows = seen.rows(submissions, own[len(MADE) :], list(columns), limits)
    cells = _put(session, schema, _batches(rows, schema, source))
    seen.refuse_several()
    label = seen.label(omits_none)
    others = ", ".join(name for name in (*own, *columns.values()) if name != "label")
    cells = cells.view(f"SELECT {others}, {label} AS label, nth FROM {cells}")
    return Gathered(cells, columns, tuple(seen.questions), tuple(seen.fields))


@dataclass
class _Seen:
    """What is seen of the questions and fields of a source, and of its lists of ticks."""

    question: str | None
    source: str
    questions: dict[str, None] = field(default_factory=dict)
    fields: dict[str, None] = field(default_factory=dict)
    sets: bool = False
    odd: str = ""

    def rows(
        self,
        submissions: Iterable[Submission],
        as_told: Sequence[str],
        fields: Sequence[str],
        limits: Limits,
    ) -> Iterator[tuple[Any, ...]]:
        """A row for each submission. The first question counts if none was chosen."""
        told = attrgetter(*as_told)
        asked = self.question
        for row, each in enumerate(submissions, 1):
            if row > limits.rows:
                limits.refuse_beyond("rows", row, self.source, "submissions or more")
            _note(self.questions, each.values)
            _note(self.fields, each.fields)
            asked = asked or next(iter(self.questions), None)
            label, ticked = self._label(each.values.get(asked or ""), each.record)
            said = [_text(each.fields.get(name)) for name in fields]
            yield (_item(each), _rater(each), label, *told(each), ticked, *said)

    def _label(self, value: Any, record: str) -> tuple[str | None, bool]:
        """The label as text, and False for a list of ticks without a tick."""
        if not isinstance(value, (tuple, frozenset)):
            return _text(value), True
        self.sets = self.sets or isinstance(value, frozenset) or len(value) >= TICKED
        joined = category_text(frozenset(value))
        if value and (joined.count("|") != len(set(value)) - 1 or "" in value):
            self.odd = self.odd or f"{listed(value)} in record {record!r}"
        if self.sets and self.odd:
            raise RatingsError(
                f"{self.source}: found {self.odd}; expected no empty label, and none with |, which "
                "stands between the labels of a set. Rename the label."
            )
        return (joined, True) if value else (None, False)

    def label(self, omits_none: bool) -> str:
        """The label in SQL. Nothing ticked is the empty set, if anybody ticked several."""
        if not self.sets:
            return "label"
        silent = "label IS NULL AND status = 'submitted' AND kind <> 'model'"
        none = f"NOT ticked OR ({silent})" if omits_none else "NOT ticked"
        return f"CASE WHEN {none} THEN '{NONE}' ELSE label END"

    def refuse_several(self) -> None:
        """Refuse several questions if none was chosen, or a chosen one that is not there."""
        questions = list(self.questions)
        if self.question is None and len(questions) > 1:
            raise RatingsError(
                f"{self.source}: found {len(questions)} questions, {listed(questions, 12)}; "
                "expected one for a table of ratings. Choose one: --label NAME, or columns: "
                "{label: NAME} in a project for each."
            )
        if self.question is not None and self.question not in questions:
            raise RatingsError(
                f"{self.source}: found no question {self.question!r} among "
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
    for name in columns:
        if KINDS.get(name) == NUMBER:
            columns[name] = _numbers(name, columns, source)
    try:
        return pa.record_batch(columns, schema)
    except UnicodeEncodeError as error:
        half = error.object[error.start]
        raise RatingsError(
            f"an export: found half a character (\\u{ord(half):04x}) in "
            f"{error.object.replace(half, '?')[:40]!r}; expected whole characters. "
            "Export the file again."
        ) from None


def _numbers(
    name: str, columns: Mapping[str, tuple[Any, ...]], source: str
) -> tuple[float | None, ...]:
    found: list[float | None] = []
    for value, record in zip(columns[name], columns["record"], strict=True):
        try:
            number = math.nan if value is None else float(value)
        except (TypeError, ValueError, OverflowError):
            raise RatingsError(
                f"{source}: {record}: found {name} {value!r}; expected a number, or nothing. "
                "Correct the export."
            ) from None
        found.append(None if math.isnan(number) else number)
    return tuple(found)


def _note(known: dict[str, None], names: Mapping[str, Any]) -> None:
    """Keep names that were not met before."""
    if not known.keys() >= names.keys():
        known.update(dict.fromkeys(names))


def _item(each: Submission) -> str | None:
    return None if each.item is None else category_text(each.item)


def _rater(each: Submission) -> str:
    unknown = each.rater in (None, "")
    return f"{UNKNOWN}{each.record})" if unknown else category_text(each.rater)


def _text(value: object) -> str | None:
    return None if value in (None, "") else category_text(value)
