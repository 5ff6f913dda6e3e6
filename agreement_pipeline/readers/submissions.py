"""What every export is read as: one submission an answer sheet, with all its answers.

Missing, skipped and "none of them" are three things:

- missing: nobody answered. There is no submission, or no value for the question.
- skipped: the rater refused. The submission has the status `skipped`.
- none of them: the rater ticked nothing. The value is an empty set.
"""

import hashlib
import json
import math
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from itertools import chain
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from agreement_pipeline.engine import DuckDB, Relation, Session, duckdb_session
from agreement_pipeline.errors import ProjectError, RatingsError
from agreement_pipeline.large_files import LargeFile
from agreement_pipeline.mistakes import shown
from agreement_pipeline.ratings import (
    CONTENT_PREFIX,
    LIMITS,
    STRATUM,
    Limits,
    category_text,
    is_blank,
    refuse_capitals,
)
from agreement_pipeline.readers.columns import COLUMNS, Columns
from agreement_pipeline.readers.exports import (
    Asked,
    DeliveredRows,
    Export,
    Reader,
    Source,
    reader_of,
    register,
    wanted_columns,
)
from agreement_pipeline.readers.rules import (
    FIELD,
    Rows,
    arranged,
    kept,
    of_first_labels,
)
from agreement_pipeline.text import called, counted, listed
from agreement_pipeline.units import (
    ALTERNATIVES,
    TOKENS,
    ChosenSet,
    LabelObject,
    Preference,
    Ranking,
    Rubric,
    Span,
)

if TYPE_CHECKING:
    import pandas as pd

    from agreement_pipeline.units import UnitSettings

Status = Literal["submitted", "skipped", "draft", "rejected"]
Kind = Literal["human", "model", "gold", "reviewer"]
Data = Mapping[str, Any]
Nothing: Data = MappingProxyType({})
DECIMALS = 3
"""Pixels are kept to a thousandth: some exports write shares of the image."""
IN_FORM = re.compile(r"\d{4}-\d\d-\d\dT(?:[01]\d|2[0-3]):\d\d:\d\d\.\d{6}Z", re.ASCII)
DRAW = re.compile("[0-9a-f]{64}")
AT_ONCE, LETTERS = 8_192, 1_000_000
IN_MEMORY = 4_000_000
"""So many bytes of submissions stay in memory. If there are more, all go to a file."""
CALLED_WITH = (
    "temperature",
    "top_p",
    "top_k",
    "seed",
    "max_tokens",
    "max_completion_tokens",
    "reasoning_effort",
    "frequency_penalty",
    "presence_penalty",
)
NO_QUESTION = (
    "Nobody gave a label of a whole item. Labels of a region, as choices with perRegion, are no "
    "labels of items: judge the regions with --units (see `guide units`), or ask the question once "
    "for each item."
)
NONE = "|"
"""The empty set: a rater ticked nothing."""
SAVING = 60
"""So many seconds may pass until a tool has written what was handed in."""
UNKNOWN = "unknown ("
"""How the name of a rater begins whom the export does not name. The record follows."""
CANONICAL = (
    "item",
    "rater",
    "label",
    "status",
    "kind",
    "created",
    "updated",
    "seconds",
    "confidence",
    "assisted",
    "first_label",
    "changed_at",
    "record",
)
NUMBER, FLAG = pa.float64(), pa.bool_()
KINDS = {"seconds": NUMBER, "confidence": NUMBER, "assisted": FLAG, "ticked": FLAG}


@dataclass(frozen=True, slots=True)
class Submission:
    """What one rater or model handed in for one item, as the tool writes it.

    Attributes
    ----------
    rater
        None: a deleted user, who is like nobody else.
    values
        The answer to each question: text, a number, a truth value, or a set of texts. A tuple is a
        list of ticks: a set, if anybody ticked more than one. Label objects are `Drawn`.
    record
        The place in the source, for errors: unique in the export.
    created, updated, seconds
        When the work began and ended, and how long it took.
    assisted
        True if the answer began as a suggestion. None: the export does not say.
    first
        The answers that were given first, if the export has the history of the work.
    changed
        When handed-in work was last written. It was changed if that is later than `created` by over
        `SAVING` seconds.
    fields
        What is known of the item: its text, its round, its other names.
    judge
        What the export says of the model that answered, as `judge_of` gives it.
    """

    item: object
    rater: object
    values: Data
    record: str
    status: Status = "submitted"
    kind: Kind = "human"
    created: object = None
    updated: object = None
    seconds: Any = None
    confidence: Any = None
    assisted: bool | None = None
    first: Data | None = None
    changed: object = None
    fields: Data = field(default_factory=lambda: Nothing)
    judge: Data = field(default_factory=lambda: Nothing)


@dataclass(frozen=True)
class Drawn:
    """The label objects in one submission, perhaps none, and the extent as in `Marked`."""

    objects: tuple[LabelObject, ...] = ()
    extent: tuple[float, ...] = ()


# What the formats of tools have in common


def has(*names: str) -> Callable[[Export], bool]:
    return lambda export: {*names} <= {*export.first}


def at(record: Any, *names: str) -> Any:
    for name in names:
        record = (record or {}).get(name)
    return record


def within(record: Data, name: str) -> Data:
    said = record.get(name)
    inside = said[0] if isinstance(said, list) and said else None
    return inside if isinstance(inside, Mapping) else record


def plain(record: Data, *kinds: type) -> dict[str, Any]:
    return {name: value for name, value in record.items() if isinstance(value, kinds or (str, int))}


def together(pairs: Iterable[tuple[Any, Any]]) -> dict[Any, tuple[Any, ...]]:
    """The values of each key, in order.

    >>> together([("b", 1), ("a", 2), ("b", 3)])
    {'b': (1, 3), 'a': (2,)}
    """
    found: dict[Any, list[Any]] = {}
    for key, value in pairs:
        found.setdefault(key, []).append(value)
    return {key: tuple(values) for key, values in found.items()}


def drawn(
    parts: Iterable[Any],
    where: str,
    made: Callable[[Any, str], LabelObject],
    extent: tuple[float, ...] = (),
) -> Drawn:
    objects = (made(part, f"{where}, object {n}") for n, part in enumerate(parts, 1))
    return Drawn(tuple(objects), extent)


def judge_of(
    model: object = None, prompt: object = None, rubric: object = None, called_with: object = None
) -> dict[str, Any]:
    """What is known of a model that answered: its texts as digests, and how it is called.

    Of the latter only what tells answers apart, since there may be secrets beside it.

    >>> judge_of("gpt", called_with={"temperature": 0, "apiKey": "secret"})
    {'model': 'gpt', 'parameters': {'temperature': 0}}
    """
    texts = {"prompt_digest": prompt, "rubric_digest": rubric}
    digests = {
        name: hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()
        for name, text in texts.items()
        if isinstance(text, str) and text
    }
    given = called_with if isinstance(called_with, Mapping) else {}
    asked = {name: given.get(name) for name in CALLED_WITH}
    told = {name: value for name, value in asked.items() if isinstance(value, str | int | float)}
    named = {"model": model} if isinstance(model, str) and model else {}
    return {**named, **digests, **({"parameters": told} if told else {})}


def refuse_parts(what: str, said: object, where: str) -> None:
    if isinstance(said, (list, dict)):
        raise RatingsError(
            f"{where}: found the {what} {shown(said)}; expected a text or a number. "
            "Correct the record, or export again."
        )


def flag(said: object, name: str, where: str) -> bool:
    """A text is no truth value: "false" would be taken for true."""
    if said is None or said in (0, 1):
        return bool(said)
    raise RatingsError(
        f"{where}: found {name} {shown(said)}; expected true or false. Correct the record, or "
        "export again."
    )


def span(part: Data, where: str) -> Span:
    return Span(part["start"], part["end"], part["label"], where)


def refuse_rotation(degrees: object, where: str) -> None:
    if degrees and float(str(degrees)):
        raise RatingsError(
            f"{where}: found a rotation of {degrees} degrees; expected an upright box. "
            "Draw a polygon instead."
        )


def utc(written: object, where: str) -> str | None:
    """A time in UTC, as text that sorts. A time without a zone stays without one.

    >>> utc("2026-09-02T11:05:00+02:00", "x"), utc("Wed Sep 02 02:05:00 PDT 2026", "x")
    ('2026-09-02T09:05:00.000000Z', '2026-09-02T09:05:00.000000Z')
    """
    if written is None or written == "":
        return None
    try:
        if type(written) is str and IN_FORM.fullmatch(written) and datetime.fromisoformat(written):
            return written
        time = _time(written)
    except (ValueError, TypeError, OverflowError, OSError):
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
    if not text[:1].isalpha():
        return datetime.fromisoformat(text)
    time = parsedate_to_datetime(text)
    if time.tzinfo is None:
        raise ValueError("a zone that nobody knows")
    return time


# From the submissions of an export to a table of a session


class Gathered:
    """The submissions of an export as a table with one row for each, for one question.

    Without a question it is the first one, and there must not be another. `single` names the fields
    that have one part, by what they tell.

    `columns` has the column of each field that was wanted. `tells_changes` is true if it is known
    of all that was handed in when it was last written.
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
        omits_none: bool = False,
        single: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        self._single = single
        self.columns = {name: f"field{number}" for number, name in enumerate(dict.fromkeys(wanted))}
        self.fields, self._questions = dict[str, None](), dict[str, None]()
        self._question, self._source = question, source
        self._judges = dict[str, Data]()
        self._sets, self._odd = False, ""
        self.tells_changes = True
        names = [*CANONICAL, "ticked", *self.columns.values()]
        schema = pa.schema([(name, KINDS.get(name, pa.string())) for name in names])
        made = _batches(self._made(submissions, limits), schema)
        rows = Rows(_put(session, schema, made), source)
        questions = list(self._questions)
        if question is None and len(questions) > 1:
            raise RatingsError(
                f"{source}: found {len(questions)} questions, {listed(questions, 12)}; expected "
                "one for a table of ratings. Choose one: --label NAME, or columns: "
                "{label: NAME} in a project for each."
            )
        if question is not None and question not in questions:
            step = "Correct the column of labels."
            raise RatingsError(
                f"{source}: found no question {question!r} among {listed(questions, 12)}; expected "
                "the name of a question. "
                f"{step if questions else NO_QUESTION}"
            )
        # Nothing ticked is the empty set, if anybody ticked several.
        silent = "label IS NULL AND status = 'submitted' AND kind <> 'model'"
        none = f"NOT ticked OR ({silent})" if omits_none else "NOT ticked"
        anew = {"label": f"CASE WHEN {none} THEN '{NONE}' ELSE label END"}
        if not self._sets:
            anew = {"first_label": f"NULLIF(first_label, '{NONE}')"}
        self.rows = rows.made(anew, [name for name in rows.names if name != "ticked"])
        _refuse_unlike(self.rows)

    @property
    def judges(self) -> tuple[Data, ...]:
        """Rubrics that differ by item are left out."""
        rubrics: dict[str, set[Any]] = {}
        for each in self._judges.values():
            rubrics.setdefault(each["name"], set()).add(each.get("rubric_digest"))
        found: dict[str, Data] = {}
        for each in self._judges.values():
            several = len(rubrics[each["name"]]) > 1
            said = {part: each[part] for part in each if not (several and part == "rubric_digest")}
            if len(said) > 1:
                found[json.dumps(said, sort_keys=True)] = said
        return tuple(found[key] for key in sorted(found))

    def told(self, name: str) -> str | None:
        if name in self.fields:
            return self.columns[name]
        return self.rows.text(name) if name in CANONICAL else None

    def _made(self, submissions: Iterable[Submission], limits: Limits) -> Iterator[tuple[Any, ...]]:
        asked = self._question
        for row, each in enumerate(submissions, 1):
            limits.refuse_beyond("rows", row, self._source, "submissions or more")
            for seen, names in ((self._questions, each.values), (self.fields, each.fields)):
                if not seen.keys() >= names.keys():
                    seen.update(dict.fromkeys(names))
            asked = asked or next(iter(self._questions), None)
            label, ticked = self._label(each.values.get(asked or ""), each.record)
            where = self._place(each.record)
            created, changed = utc(each.created, where), utc(each.changed, where)
            if each.kind == "human" and each.status == "submitted" and changed is None:
                self.tells_changes = False
            refuse_parts("rater", each.rater, where)
            rater = _text(each.rater) or f"{UNKNOWN}{each.record})"
            if each.judge:
                said = {"name": rater, **each.judge}
                self._judges.setdefault(json.dumps(said, sort_keys=True), said)
            # The fields of a task that `draw` wrote tell the item, and which draw it is of.
            is_drawn = "item" in each.fields and DRAW.fullmatch(str(each.fields.get("draw")))
            item = each.fields["item"] if is_drawn else each.item
            refuse_parts("item", item, where)
            for what, name in self._single.items():
                refuse_parts(what, each.fields.get(name), where)
            first = None
            if each.first is not None:
                first = self._label(each.first.get(asked or ""), each.record)[0] or NONE
            yield (
                None if item is None else category_text(item),
                rater,
                label,
                each.status,
                each.kind,
                created,
                utc(each.updated, where),
                _number("seconds", each.seconds, where),
                _number("confidence", each.confidence, where),
                each.assisted,
                first,
                changed if _is_later(changed, created, where) else None,
                each.record,
                ticked,
                *[_field_text(each.fields.get(name)) for name in self.columns],
            )

    def _place(self, record: str) -> str:
        return record if record.startswith(self._source) else f"{self._source}: {record}"

    def _label(self, value: Any, record: str) -> tuple[str | None, bool]:
        where = self._place(record)
        if not isinstance(value, (tuple, frozenset)):
            refuse_parts("label", value, where)
            return _text(value), True
        for each in value:
            refuse_parts("label", each, where)
        if None in value:
            raise RatingsError(
                f"{where}: found {listed(value)} as the ticked labels; expected a text or a number "
                "for each. Correct the record, or export again."
            )
        self._sets = self._sets or isinstance(value, frozenset) or len(value) > 1
        joined = category_text(frozenset(value))
        says_nothing = bool(value) and all(type(each) is str and is_blank(each) for each in value)
        if value and (joined.count("|") != len(set(value)) - 1 or "" in value or says_nothing):
            self._odd = self._odd or f"{listed(value)} in record {record!r}"
        if self._sets and self._odd:
            raise RatingsError(
                f"{self._source}: found {self._odd}; expected no empty label, and none with |, "
                "which stands between the labels of a set. Rename the label."
            )
        if says_nothing:  # a choice without a value, where nobody ticks several
            return None, True
        return (joined, True) if value else (None, False)


def _put(session: Session, schema: pa.Schema, batches: Iterator[pa.RecordBatch]) -> Relation:
    """Many batches are on disk, in a file that goes with the table."""
    first, size = list[pa.RecordBatch](), 0
    for batch in batches:
        first.append(batch)
        size += batch.nbytes
        if size >= IN_MEMORY:
            break
    if size < IN_MEMORY or not isinstance(session, DuckDB):
        return session.load(schema, chain(first, batches))

    def write(path: Path) -> None:
        with pq.ParquetWriter(path, schema, compression="zstd", write_statistics=False) as writer:
            for batch in chain(first, batches):
                writer.write_batch(batch)

    file = LargeFile(write)
    return session.parquet(str(file.path), {name: name for name in schema.names}, file)


def _batches(rows: Iterable[tuple[Any, ...]], schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    new, letters = list[tuple[Any, ...]](), 0
    for row in rows:
        new.append(row)
        letters += sum([len(each) for each in row if type(each) is str])
        if len(new) >= AT_ONCE or letters >= LETTERS:
            yield _batch(new, schema)
            new, letters = [], 0
    if new:
        yield _batch(new, schema)


def _batch(rows: list[tuple[Any, ...]], schema: pa.Schema) -> pa.RecordBatch:
    columns = dict(zip(schema.names, zip(*rows, strict=True), strict=True))
    try:
        return pa.record_batch(columns, schema)
    except UnicodeEncodeError as error:
        half = error.object[error.start]
        raise RatingsError(
            f"an export: found half a character (\\u{ord(half):04x}) in "
            f"{error.object.replace(half, '?')[:40]!r}; expected whole characters. "
            "Export the file again."
        ) from None


def _number(name: str, value: Any, where: str) -> float | None:
    try:
        number = math.nan if value in (None, "") else float(value)
    except (TypeError, ValueError, OverflowError):
        raise RatingsError(
            f"{where}: found {name} {value!r}; expected a number, or nothing. Correct the export."
        ) from None
    return None if math.isnan(number) else number


def _is_later(changed: str | None, created: str | None, where: str) -> bool:
    if changed is None or created is None or changed == created:
        return False
    if changed.endswith("Z") != created.endswith("Z"):
        bare = created if changed.endswith("Z") else changed
        raise RatingsError(
            f"{where}: found time {bare!r} without a time zone, and another of the same record "
            "with one; expected one of the two in all records. Add the zone."
        )
    passed = datetime.fromisoformat(changed) - datetime.fromisoformat(created)
    return passed.total_seconds() > SAVING


def _text(value: object) -> str | None:
    is_nan = isinstance(value, float) and math.isnan(value)
    return None if value in (None, "") or is_nan else category_text(value)


def _field_text(value: object) -> str | None:
    """A field of several parts, such as the turns of a dialogue, is written as JSON."""
    if isinstance(value, list | dict):
        return json.dumps(value, ensure_ascii=False, default=str)
    return _text(value)


# From the table of submissions to ratings

GOLD = "gold"
CHANGES = ("last_label", "changed_at")
LEFT_OUT = {
    "reviewer": "kind = 'reviewer'",
    "gold": "kind = 'gold'",
    "skipped": "status = 'skipped'",
    "draft": "status = 'draft'",
    "rejected": "status = 'rejected'",
    "no answer": "label IS NULL",
}
"""What is no rating, by the reason."""
OF_ITEMS = ("round", "text", "cluster")
FIELDS_OF_DOCUMENTS = (
    *("prompt", "question", "instruction", "context", "answer", "response"),
    *("image", "audio", "video", TOKENS, ALTERNATIVES),
)
"""Fields that go with the units of a document without being named, beside its text."""
TEXTS_OF_ALTERNATIVES = ("text", "body", "content", "html", "title")
"""Where an alternative of a list has its text: the first of these fields that it has."""
OWN = ("item", "rater")
Finds = Callable[..., Iterator[Submission]]


@dataclass(frozen=True)
class Tool(Reader):
    """The export of a labelling tool. If it has kinds of objects, `finds` takes one too.

    `omits_none` is true if it writes nothing where a rater ticked nothing. `question` names the
    question of a column. `own_fields` are the tool's own, and say nothing of an item.
    """

    finds: Finds
    omits_none: bool = False
    question: Callable[[str], str] = str
    own_fields: tuple[str, ...] = ()

    @property
    def submissions(self) -> Finds:
        return self._checked

    def _checked(self, export: Export, *kind: str) -> Iterator[Submission]:
        for path in export.files:
            if path.suffix == ".json" and path.stat().st_size == 0:
                raise RatingsError(
                    f"{export.place(path)}: found 0 bytes; expected a JSON document. "
                    "Check that the export is complete."
                )
        try:
            yield from self.finds(export, *kind)
        except RatingsError:
            raise
        except (LookupError, TypeError, AttributeError, ArithmeticError, ValueError) as error:
            found = f"a value of another kind ({error})"
            if isinstance(error, KeyError):
                found = f"no {error.args[0]!r}"
            raise RatingsError(
                f"{export.at or export.path.name}: found {found}; expected a record as "
                f"{self.title} writes it. Export again, and rename no field."
            ) from error

    def rows(self, source: Source, asked: Asked) -> Rows:
        columns, rules = asked.columns, asked.rules
        if asked.layout == "wide":
            raise ProjectError(
                f"layout: found wide for {source}, the export of a tool; expected long. "
                "Leave the layout out."
            )
        named = _fields_of(columns)
        others = asked.others
        question = None if columns.label == COLUMNS.label else self.question(columns.label)
        units, export, objects = rules.units, Export(Path(str(source))), list[Drawn]()
        said, of_documents = self._checked(export), list[str]()
        if units is not None:
            said = self._numbered(export, units, columns.text or "text", question, objects)
            named_already = {*rules.keep, *self.own_fields, columns.text}
            of_documents = [name for name in FIELDS_OF_DOCUMENTS if name not in named_already]
        found = Gathered(
            said,
            question,
            (*named.values(), *others, *of_documents),
            export.path.name,
            asked.limits,
            asked.session,
            omits_none=self.omits_none and units is None,
            single={name: of for name, of in named.items() if name in OWN},
        )
        submitted = _canonical(found, columns, named, others, of_documents, self.shows)
        ratings = kept(submitted, rules)
        for reason, test in LEFT_OUT.items():
            if reason != "rejected" or rules.rejected == "left out":
                ratings = ratings.without(test, reason)
        ratings = _one_each(replace(ratings, classifiers=_models(ratings)))
        if GOLD in (columns.gold, columns.gold_label) and GOLD not in found.fields:
            ratings = _with_gold(ratings, submitted, columns)
        rated = arranged(ratings, rules, columns.models)
        own = (*OWN, "label", "timestamp", "assisted", "occurrence", *CHANGES, *named)
        own = (*own, "round") if rules.rounds is not None else own
        prefixes = STRATUM, CONTENT_PREFIX
        names = [name for name in rated.names if name in own or name.startswith(prefixes)]
        told = {"timestamp": "created", **named, "label": columns.label}
        called = {name: told.get(name, name) for name in names}
        read = rated.made({}, (*names, "row", "nth"))
        carried = {*named.values(), *asked.carried, *of_documents, columns.item, columns.rater}
        unread = tuple(sorted(found.fields.keys() - carried))
        return replace(read, columns=called, drawn=objects, told=found.judges, unread=unread)

    def _numbered(
        self,
        export: Export,
        units: "UnitSettings",
        text: str,
        question: str | None,
        objects: list[Drawn],
    ) -> Iterator[Submission]:
        """Who submitted nothing for a question drew nothing there. But a model is asked only what
        it answered.
        """
        kind = units.kind
        alternatives = self._alternatives(export, kind)
        answered = (name for each in self._objects(export, kind) for name in each.values)
        some = (name for name in answered if question in (None, name))
        asked = next(some, kind if question in (None, kind) else None)
        for each in self._objects(export, kind):
            numbers: dict[str, Any] = dict.fromkeys(each.values)
            if asked in numbers or (asked and each.kind != "model"):
                said, one = each.fields.get(text), each.values.get(asked, Drawn())
                if kind == "spans" and not one.extent and isinstance(said, str):
                    one = replace(one, extent=(len(said),))
                for thing in one.objects:
                    category = getattr(thing, "category", "")
                    if not isinstance(category, str):
                        raise RatingsError(
                            f"{thing.where}: found the category {shown(category)}; expected a "
                            "text. Correct the record, or export again."
                        )
                numbers[asked] = f"#{len(objects)}"
                objects.append(one)
            fields = each.fields
            if texts := texts_of_alternatives(fields, alternatives, units.alternatives or {}):
                fields = {**fields, ALTERNATIVES: texts}
            yield replace(each, values=numbers, first=None, fields=fields)

    def _alternatives(self, export: Export, kind: str) -> frozenset[str]:
        if kind not in ("rankings", "preferences"):
            return frozenset()
        return frozenset(
            name
            for submission in self._objects(export, kind)
            for drawn in submission.values.values()
            for answer in drawn.objects
            for name in _names_compared(answer)
        )

    def _objects(self, export: Export, kind: str) -> Iterator[Submission]:
        if kind not in ("sets", "rubrics"):
            if not self.kinds:
                raise RatingsError(
                    f"{export.path.name}: found a format whose {kind} are not read; expected one "
                    "of those that `agreement-pipeline guide units` lists. "
                    "Export the objects in one of them."
                )
            yield from self._checked(export, kind)
            return
        several = {
            question
            for each in self._checked(export)
            for question, said in each.values.items()
            if isinstance(said, tuple) and len(said) > 1
        }
        for each in self._checked(export):
            yield replace(each, values=_sets(each) if kind == "sets" else _rubric(each, several))

    def delivered(
        self, source: Source, asked: Asked, names: Collection[str] | None
    ) -> DeliveredRows:
        """A row a submission: also one that was skipped, or that is a draft.

        Units have no cell with a label, so there is no column of labels.
        """
        export, columns = Export(Path(str(source))), asked.columns
        is_cells = asked.rules.units is None
        fields = dict[str, None]()
        for submission in self._checked(export):
            fields.update(dict.fromkeys(submission.fields))
        known = [name for name in CANONICAL if is_cells or name not in ("label", "first_label")]
        header = tuple(dict.fromkeys((*known, *fields)))
        named = {name: of for name, of in columns.named.items() if of in fields and name != of}
        canonical = {"timestamp": "created", "row": "record", **named}
        wanted = wanted_columns(names, header, canonical)
        refuse_capitals("field", wanted, export.path.name)
        rounds = asked.rules.rounds
        of_rounds = columns.round or "round" if rounds is None else rounds.column
        own = {"item": columns.item, "rater": columns.rater}
        has_question = is_cells and columns.label != COLUMNS.label
        question = self.question(columns.label) if has_question else None
        submissions = self._checked(export)
        if not is_cells:
            submissions = (replace(each, values={}) for each in submissions)
        found = Gathered(
            submissions,
            question,
            [name for name in (*wanted, *own.values(), of_rounds) if name in fields],
            export.path.name,
            asked.limits,
            asked.session,
            omits_none=self.omits_none and is_cells,
        )
        rows, told = found.rows, found.columns
        made = {name: told.get(of, name) if of != name else name for name, of in own.items()}
        made |= {"row": "record", "nth": "nth"}
        if of_rounds in told:
            made["round" if rounds is None else FIELD + of_rounds] = told[of_rounds]
        made |= {FIELD + name: told.get(name, name) for name in wanted}
        columns_of = {name: FIELD + name for name in wanted}
        return DeliveredRows(rows.made(made, made), columns_of, header, canonical)

    def rounds(self, path: Path, asked: Asked) -> Iterator[Rows]:
        name = asked.columns.round or "round"
        bare = (replace(each, values={}) for each in self._checked(Export(path)))
        found = Gathered(bare, None, (name,), path.name, asked.limits, asked.session)
        yield found.rows.made({"round": found.columns[name], "row": "record"})


def tool(
    name: str, title: str, recognises: Callable[[Export], bool], **known: Any
) -> Callable[[Finds], Finds]:
    def registered(finds: Finds) -> Finds:
        register(Tool(name, title, recognises, finds, **known))
        return finds

    return registered


def answers(path: Path, question: str | None = None, fields: Iterable[str] = ()) -> "pd.DataFrame":
    import pandas as pd

    from agreement_pipeline.ratings import in_pandas

    reader = reader_of(path)
    if not isinstance(reader, Tool):
        raise RatingsError(
            f"{path.name}: found a table of ratings; expected the export of a tool. "
            "Read it with read()."
        )
    found = Gathered(
        reader.submissions(Export(path)),
        question,
        fields,
        path.name,
        LIMITS,
        duckdb_session(),
        omits_none=reader.omits_none,
    )
    names = ", ".join((*CANONICAL, *found.columns.values()))
    table = found.rows.relation.ask(f"SELECT {names} FROM {found.rows} ORDER BY nth")
    frame: pd.DataFrame = in_pandas(table)
    for name in ("seconds", "confidence", "assisted"):
        frame[name] = pd.Series(table[name].to_pylist(), dtype=object)
    return frame.set_axis([*CANONICAL, *found.columns], axis="columns")


def texts_of_alternatives(
    fields: Data, names: Collection[str], field_by_name: Mapping[str, str]
) -> dict[str, str]:
    """The texts of what raters compare: in the named fields, in fields of the alternatives' own
    names, or in a list of records whose `id` is the name.

    >>> listed = [{"id": 1, "body": "Yes."}, {"id": 2, "title": "No."}]
    >>> texts_of_alternatives({"answers": listed, "a": "Hm."}, ["1", "2", "a"], {})
    {'1': 'Yes.', '2': 'No.', 'a': 'Hm.'}
    >>> texts_of_alternatives({"answer_a": "Hm."}, ["left", "right"], {"left": "answer_a"})
    {'left': 'Hm.'}
    """
    texts = dict[str, str]()
    records = chain.from_iterable(value for value in fields.values() if isinstance(value, list))
    for record in records:
        if isinstance(record, Mapping) and str(record.get("id")) in names:
            written = (record.get(name) for name in TEXTS_OF_ALTERNATIVES)
            text = next((value for value in written if isinstance(value, str)), None)
            if text is not None:
                texts[str(record["id"])] = text
    for name in names:
        text = fields.get(field_by_name.get(name, name))
        if isinstance(text, str):
            texts[name] = text
    return dict(sorted(texts.items()))


def _names_compared(answer: LabelObject) -> Collection[str]:
    if isinstance(answer, Preference):
        return answer.first, answer.second
    return frozenset().union(*answer.groups) if isinstance(answer, Ranking) else ()


def _sets(submission: Submission) -> dict[str, Drawn]:
    return {
        question: Drawn((ChosenSet(frozenset(map(category_text, said)), submission.record),))
        for question, said in submission.values.items()
        if isinstance(said, tuple | frozenset)
    }


def _rubric(submission: Submission, several: Collection[str]) -> dict[str, Drawn]:
    """One tick is a score too, where nobody ticked `several`."""
    plain = {
        question: said[0] if isinstance(said, tuple) and said and question not in several else said
        for question, said in submission.values.items()
    }
    scores = {
        question: category_text(said)
        for question, said in plain.items()
        if isinstance(said, str | int | float)
    }
    return {"rubrics": Drawn((Rubric(scores, submission.record),))} if scores else {}


def _fields_of(columns: Columns) -> dict[str, str]:
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


def _canonical(
    gathered: Gathered,
    columns: Columns,
    named: Mapping[str, str],
    others: list[str],
    of_documents: Iterable[str],
    shows: Collection[str],
) -> Rows:
    """What a rule reads keeps a name of its own."""
    rows, fields = gathered.rows, gathered.fields
    said = [value for name, value in columns.named.items() if name in named]
    absent = [name for name in (*said, *others) if name not in {*fields, *CANONICAL, GOLD}]
    if absent:
        raise RatingsError(
            f"{rows.source}: found no {called('field', absent)} among {listed(fields, 20)}; "
            "expected every field that you name. Correct the names."
        )
    refuse_capitals("field", others, rows.source)
    unread = {"record", "confidence", *({"assisted"} - {*shows})}
    if not gathered.tells_changes:
        unread.add("changed_at")
    if not rows.any("first_label IS NOT NULL"):
        unread.add("first_label")
    made = {name: name for name in (*CANONICAL, "nth") if name not in unread}
    made |= {"row": "record", "timestamp": "created"}
    for name, of in named.items():
        if (told := gathered.told(of)) is not None:
            made[name] = of if name == of and name not in fields else told
    if not rows.any(f"{made['timestamp']} IS NOT NULL"):
        del made["timestamp"]
    made |= {FIELD + name: told for name in others if (told := gathered.told(name)) is not None}
    made |= {CONTENT_PREFIX + n: gathered.columns[n] for n in of_documents if n in fields}
    return of_first_labels(rows.made(made, made))


def _models(rows: Rows) -> tuple[str, ...]:
    """People have names of their own, and one of them is known."""
    models, people = (
        {*rows.relation.values(f"SELECT DISTINCT rater FROM {rows} WHERE kind = '{kind}'")} - {None}
        for kind in ("model", "human")
    )
    if both := sorted(models & people):
        raise RatingsError(
            f"{rows.source}: found {listed(both)} as a rater and as a model; expected different "
            "names, since a model is compared with the raters. Rename the model."
        )
    if people and all(name.startswith(UNKNOWN) for name in people):
        row = rows.quoted("row")
        (first,) = rows.relation.values(
            f"SELECT {row} FROM {rows} WHERE kind = 'human' ORDER BY nth LIMIT 1"
        )
        raise RatingsError(
            f"{rows.source}: {first}: found no rater, and none in any other record; expected who "
            "gave each answer, since agreement is between raters. Export again with the raters, "
            "and rename no field."
        )
    return tuple(sorted(models))


def _one_each(rows: Rows) -> Rows:
    """The first submission of each rater for each item, with the label of the last one. Of a model
    it is the last submission.
    """
    keys = [rows.quoted(name) for name in ("round", "item", "rater") if name in rows.names]
    if not _may_repeat(rows, keys):
        return rows
    time, session, own = "COALESCE(updated, created)", rows.relation.session, ", ".join(keys)
    there = {name: name if name in rows.names else "CAST(NULL AS STRING)" for name in CHANGES}
    last = f"OVER (PARTITION BY {own} ORDER BY {time} DESC NULLS LAST, nth DESC)"
    first = f"OVER (PARTITION BY {own} ORDER BY {time} NULLS FIRST, nth)"
    label = rows.text("label")
    said = session.keep(
        f"SELECT nth AS of_row, CASE WHEN kind = 'model' THEN ROW_NUMBER() {last} "
        f"ELSE ROW_NUMBER() {first} END AS turn, ROW_NUMBER() {last} AS from_last, kind AS who, "
        f"FIRST_VALUE(COALESCE({there['last_label']}, {label})) {last} AS latest, "
        f"FIRST_VALUE({time}) {last} AS latest_at FROM {rows}"
    )
    others = f"nth IN (SELECT of_row FROM {said} WHERE turn > 1)"
    kept = rows.without(others, "superseded", said)
    again = f"(SELECT * FROM {said} WHERE turn = 1 AND from_last > 1 AND who <> 'model') AS again"
    made = {
        "last_label": f"CASE WHEN of_row IS NULL THEN {there['last_label']} "
        f"ELSE NULLIF(latest, {label}) END",
        "changed_at": f"CASE WHEN of_row IS NULL THEN {there['changed_at']} "
        f"WHEN latest <> {label} THEN latest_at END",
    }
    return kept.view(
        f"SELECT {kept.with_columns(made)} FROM {kept} LEFT JOIN {again} ON nth = of_row", said
    )


def _with_gold(rows: Rows, submitted: Rows, columns: Columns) -> Rows:
    """An item with several gold answers has no right label."""
    answered = submitted.relation.view(
        "SELECT item AS gold_item, CASE WHEN COUNT(DISTINCT label) = 1 THEN MIN(label) END AS "
        f"right_label FROM {submitted} WHERE kind = 'gold' AND item IS NOT NULL GROUP BY item"
    )
    asked = {"gold": "gold_item IS NOT NULL", "gold_label": "right_label"}
    made = ", ".join(
        f"{sql} AS {name}" for name, sql in asked.items() if getattr(columns, name) == GOLD
    )
    return rows.view(
        f"SELECT {rows}.*, {made} FROM {rows} LEFT JOIN {answered} ON item = gold_item", answered
    )


def _refuse_unlike(rows: Rows) -> None:
    """Refuse a record that is there twice, and times of which only some have a zone."""
    if _may_repeat(rows, ["record"]):
        placed = "ROW_NUMBER() OVER (PARTITION BY record ORDER BY nth) AS place"
        if twice := rows.relation.values(
            f"SELECT record FROM (SELECT record, nth, {placed} FROM {rows}) AS said "
            "WHERE place = 2 ORDER BY nth"
        ):
            raise RatingsError(
                f"{rows.source}: found record {twice[0]!r} more than once "
                f"({counted(len(twice), 'such record')} in all); expected each once. Export "
                "again, or join the files without the repetition."
            )
    zoned = "created LIKE '%Z'"
    bare = rows.relation.ask(
        f"SELECT record, created FROM {rows} WHERE NOT {zoned} ORDER BY nth LIMIT 1"
    ).to_pylist()
    if bare and rows.any(zoned):
        raise RatingsError(
            f"{rows.source}: {bare[0]['record']}: found time {bare[0]['created']!r} without a "
            "time zone, and others have one; expected one of the two in all records. Add the "
            "zone."
        )


def _may_repeat(rows: Rows, columns: Iterable[str]) -> bool:
    """False if no two rows are alike. A number a row takes less memory than a group."""
    number = rows.relation.session.hashed(*columns)
    found = np.sort(
        rows.relation.ask(f"SELECT {number} AS number FROM {rows}")["number"].to_numpy()
    )
    return bool((found[1:] == found[:-1]).any())
