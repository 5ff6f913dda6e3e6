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
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from itertools import chain
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from agreement_pipeline.engine import DuckDB, Relation, Session, duckdb_session
from agreement_pipeline.errors import ProjectError, RatingsError
from agreement_pipeline.large_files import LargeFile
from agreement_pipeline.mistakes import value_in_message
from agreement_pipeline.ratings import (
    CONTENT_PREFIX,
    LIMITS,
    STRATUM,
    Limits,
    category_text,
    is_blank,
    refuse_names_differing_by_capitals,
)
from agreement_pipeline.readers.columns import COLUMNS, Columns
from agreement_pipeline.readers.exports import (
    DeliveredRows,
    Export,
    Reader,
    ReadRequest,
    Source,
    register,
    select_reader,
    select_wanted_columns,
)
from agreement_pipeline.readers.periods import FIELD_PREFIX
from agreement_pipeline.readers.rows import (
    Data,
    ObjectAnswer,
    Rows,
    Submission,
)
from agreement_pipeline.readers.rules import (
    apply_row_rules,
    arrange_ratings,
    use_first_labels,
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

DECIMALS = 3
"""Pixels are kept to a thousandth: some exports write shares of the image."""
UTC_FORM = re.compile(r"\d{4}-\d\d-\d\dT(?:[01]\d|2[0-3]):\d\d:\d\d\.\d{6}Z", re.ASCII)
DRAW_DIGEST = re.compile("[0-9a-f]{64}")
BATCH_ROWS, BATCH_LETTERS = 8_192, 1_000_000
MAX_BYTES_IN_MEMORY = 4_000_000
"""So many bytes of submissions stay in memory. If there are more, all go to a file."""
MODEL_PARAMETERS = (
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
NO_QUESTION_HINT = (
    "Nobody gave a label of a whole item. Labels of a region, as choices with perRegion, are no "
    "labels of items: judge the regions with --units (see `guide units`), or ask the question once "
    "for each item."
)
EMPTY_SET = "|"
"""The empty set: a rater ticked nothing."""
SAVING_SECONDS = 60
"""So many seconds may pass until a tool has written what was handed in."""
UNKNOWN_RATER_PREFIX = "unknown ("
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
TYPE_BY_COLUMN = {"seconds": NUMBER, "confidence": NUMBER, "assisted": FLAG, "ticked": FLAG}


# What the formats of tools have in common


def build_fields_test(*names: str) -> Callable[[Export], bool]:
    """A test whether the first record of an export has these fields."""
    return lambda export: {*names} <= {*export.first_record}


def get_nested(record: Any, *names: str) -> Any:
    """The value under nested names. None if a part of the way is missing."""
    for name in names:
        record = (record or {}).get(name)
    return record


def first_inner_record(record: Data, name: str) -> Data:
    """The first record of a list in a record, or the record itself."""
    values = record.get(name)
    inner_record = values[0] if isinstance(values, list) and values else None
    return inner_record if isinstance(inner_record, Mapping) else record


def select_plain_fields(record: Data, *kinds: type) -> dict[str, Any]:
    """The fields whose values are texts and whole numbers, or of these kinds."""
    return {name: value for name, value in record.items() if isinstance(value, kinds or (str, int))}


def group_values(pairs: Iterable[tuple[Any, Any]]) -> dict[Any, tuple[Any, ...]]:
    """The values of each key, in order.

    >>> group_values([("b", 1), ("a", 2), ("b", 3)])
    {'b': (1, 3), 'a': (2,)}
    """
    values_by_key: dict[Any, list[Any]] = {}
    for key, value in pairs:
        values_by_key.setdefault(key, []).append(value)
    return {key: tuple(values) for key, values in values_by_key.items()}


def build_object_answer(
    parts: Iterable[Any],
    place: str,
    build: Callable[[Any, str], LabelObject],
    extent: tuple[float, ...] = (),
) -> ObjectAnswer:
    """The label objects of a submission, built part by part."""
    objects = (build(part, f"{place}, object {n}") for n, part in enumerate(parts, 1))
    return ObjectAnswer(tuple(objects), extent)


def describe_judge(
    model: object = None, prompt: object = None, rubric: object = None, called_with: object = None
) -> dict[str, Any]:
    """What is known of a model that answered: its texts as digests, and how it is called.

    Of the latter only what tells answers apart, since there may be secrets beside it.

    >>> describe_judge("gpt", called_with={"temperature": 0, "apiKey": "secret"})
    {'model': 'gpt', 'parameters': {'temperature': 0}}
    """
    texts = {"prompt_digest": prompt, "rubric_digest": rubric}
    digests = {
        name: hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()
        for name, text in texts.items()
        if isinstance(text, str) and text
    }
    call_arguments = called_with if isinstance(called_with, Mapping) else {}
    known_arguments = {name: call_arguments.get(name) for name in MODEL_PARAMETERS}
    parameters = {
        name: value
        for name, value in known_arguments.items()
        if isinstance(value, str | int | float)
    }
    model_entry = {"model": model} if isinstance(model, str) and model else {}
    return {**model_entry, **digests, **({"parameters": parameters} if parameters else {})}


def refuse_parts(role: str, value: object, place: str) -> None:
    """Refuse a list or an object where a single value is expected."""
    if isinstance(value, (list, dict)):
        raise RatingsError(
            f"{place}: found the {role} {value_in_message(value)}; expected a text or a number. "
            "Correct the record, or export again."
        )


def read_flag(value: object, name: str, place: str) -> bool:
    """A text is no truth value: "false" would be taken for true."""
    if value is None or value in (0, 1):
        return bool(value)
    raise RatingsError(
        f"{place}: found {name} {value_in_message(value)}; expected true or false. Correct the "
        "record, or "
        "export again."
    )


def read_span(part: Data, place: str) -> Span:
    return Span(part["start"], part["end"], part["label"], place)


def refuse_rotation(degrees: object, place: str) -> None:
    if degrees and float(str(degrees)):
        raise RatingsError(
            f"{place}: found a rotation of {degrees} degrees; expected an upright box. "
            "Draw a polygon instead."
        )


def to_utc(value: object, place: str) -> str | None:
    """A time in UTC, as text that sorts. A time without a zone stays without one.

    >>> to_utc("2026-09-02T11:05:00+02:00", "x"), to_utc("Wed Sep 02 02:05:00 PDT 2026", "x")
    ('2026-09-02T09:05:00.000000Z', '2026-09-02T09:05:00.000000Z')
    """
    if value is None or value == "":
        return None
    try:
        if type(value) is str and UTC_FORM.fullmatch(value) and datetime.fromisoformat(value):
            return value
        time = _parse_time(value)
    except (ValueError, TypeError, OverflowError, OSError):
        raise RatingsError(
            f"{place}: found time {value!r}; expected a date and a time, as "
            "2026-09-02T09:05:00Z. Correct the time, or export again."
        ) from None
    if time.tzinfo is None:
        return time.isoformat(timespec="microseconds")
    return time.astimezone(UTC).replace(tzinfo=None).isoformat(timespec="microseconds") + "Z"


def _parse_time(value: object) -> datetime:
    if isinstance(value, (int, float)):
        seconds = value / 1000 if value > 1e11 else value
        return datetime.fromtimestamp(seconds, UTC)
    text = str(value).strip()
    if not text[:1].isalpha():
        return datetime.fromisoformat(text)
    time = parsedate_to_datetime(text)
    if time.tzinfo is None:
        raise ValueError("a zone that nobody knows")
    return time


# From the submissions of an export to a table of a session


class SubmissionTable:
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
        wanted_fields: Iterable[str],
        source: str,
        limits: Limits,
        session: Session,
        *,
        omits_none: bool = False,
        single: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        self._single = single
        self.columns = {
            name: f"field{number}" for number, name in enumerate(dict.fromkeys(wanted_fields))
        }
        self.fields, self._questions = dict[str, None](), dict[str, None]()
        self._question, self._source = question, source
        self._judges = dict[str, Data]()
        self._sets, self._odd = False, ""
        self.tells_changes = True
        names = [*CANONICAL, "ticked", *self.columns.values()]
        schema = pa.schema([(name, TYPE_BY_COLUMN.get(name, pa.string())) for name in names])
        batches = _record_batches(self._build_rows(submissions, limits), schema)
        rows = Rows(_load_batches(session, schema, batches), source)
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
                f"{step if questions else NO_QUESTION_HINT}"
            )
        # Nothing ticked is the empty set, if anybody ticked several.
        silent = "label IS NULL AND status = 'submitted' AND kind <> 'model'"
        none = f"NOT ticked OR ({silent})" if omits_none else "NOT ticked"
        sql_by_column = {"label": f"CASE WHEN {none} THEN '{EMPTY_SET}' ELSE label END"}
        if not self._sets:
            sql_by_column = {"first_label": f"NULLIF(first_label, '{EMPTY_SET}')"}
        self.rows = rows.with_computed(
            sql_by_column, [name for name in rows.names if name != "ticked"]
        )
        _refuse_repeated_records(self.rows)

    @property
    def judges(self) -> tuple[Data, ...]:
        """Rubrics that differ by item are left out."""
        rubrics: dict[str, set[Any]] = {}
        for judge in self._judges.values():
            rubrics.setdefault(judge["name"], set()).add(judge.get("rubric_digest"))
        judge_by_json: dict[str, Data] = {}
        for judge in self._judges.values():
            several = len(rubrics[judge["name"]]) > 1
            details = {
                part: judge[part] for part in judge if not (several and part == "rubric_digest")
            }
            if len(details) > 1:
                judge_by_json[json.dumps(details, sort_keys=True)] = details
        return tuple(judge_by_json[key] for key in sorted(judge_by_json))

    def column_of(self, name: str) -> str | None:
        """The column with a field of the export. None if it has no such field."""
        if name in self.fields:
            return self.columns[name]
        return self.rows.text_sql(name) if name in CANONICAL else None

    def _build_rows(
        self, submissions: Iterable[Submission], limits: Limits
    ) -> Iterator[tuple[Any, ...]]:
        question = self._question
        for row, submission in enumerate(submissions, 1):
            limits.refuse_beyond("rows", row, self._source, "submissions or more")
            for known_names, names in (
                (self._questions, submission.values),
                (self.fields, submission.fields),
            ):
                if not known_names.keys() >= names.keys():
                    known_names.update(dict.fromkeys(names))
            question = question or next(iter(self._questions), None)
            label, ticked = self._read_label(
                submission.values.get(question or ""), submission.record
            )
            place = self._place_of_record(submission.record)
            created = to_utc(submission.created, place)
            change_time = to_utc(submission.changed, place)
            if (
                submission.kind == "human"
                and submission.status == "submitted"
                and change_time is None
            ):
                self.tells_changes = False
            refuse_parts("rater", submission.rater, place)
            rater = (
                _text_of_value(submission.rater) or f"{UNKNOWN_RATER_PREFIX}{submission.record})"
            )
            if submission.judge:
                judge_record = {"name": rater, **submission.judge}
                self._judges.setdefault(json.dumps(judge_record, sort_keys=True), judge_record)
            # The fields of a task that `draw` wrote tell the item, and which draw it is of.
            is_drawn = "item" in submission.fields and DRAW_DIGEST.fullmatch(
                str(submission.fields.get("draw"))
            )
            item = submission.fields["item"] if is_drawn else submission.item
            refuse_parts("item", item, place)
            for role, name in self._single.items():
                refuse_parts(role, submission.fields.get(name), place)
            first_label = None
            if submission.first is not None:
                first_label = (
                    self._read_label(submission.first.get(question or ""), submission.record)[0]
                    or EMPTY_SET
                )
            yield (
                None if item is None else category_text(item),
                rater,
                label,
                submission.status,
                submission.kind,
                created,
                to_utc(submission.updated, place),
                _parse_number("seconds", submission.seconds, place),
                _parse_number("confidence", submission.confidence, place),
                submission.assisted,
                first_label,
                change_time if _is_later(change_time, created, place) else None,
                submission.record,
                ticked,
                *[_field_text(submission.fields.get(name)) for name in self.columns],
            )

    def _place_of_record(self, record: str) -> str:
        return record if record.startswith(self._source) else f"{self._source}: {record}"

    def _read_label(self, value: Any, record: str) -> tuple[str | None, bool]:
        place = self._place_of_record(record)
        if not isinstance(value, (tuple, frozenset)):
            refuse_parts("label", value, place)
            return _text_of_value(value), True
        for member in value:
            refuse_parts("label", member, place)
        if None in value:
            raise RatingsError(
                f"{place}: found {listed(value)} as the ticked labels; expected a text or a number "
                "for each. Correct the record, or export again."
            )
        self._sets = self._sets or isinstance(value, frozenset) or len(value) > 1
        set_text = category_text(frozenset(value))
        says_nothing = bool(value) and all(
            type(member) is str and is_blank(member) for member in value
        )
        if value and (set_text.count("|") != len(set(value)) - 1 or "" in value or says_nothing):
            self._odd = self._odd or f"{listed(value)} in record {record!r}"
        if self._sets and self._odd:
            raise RatingsError(
                f"{self._source}: found {self._odd}; expected no empty label, and none with |, "
                "which stands between the labels of a set. Rename the label."
            )
        if says_nothing:  # a choice without a value, where nobody ticks several
            return None, True
        return (set_text, True) if value else (None, False)


def _load_batches(
    session: Session, schema: pa.Schema, batches: Iterator[pa.RecordBatch]
) -> Relation:
    """Many batches are on disk, in a file that goes with the table."""
    first_batches, size = list[pa.RecordBatch](), 0
    for batch in batches:
        first_batches.append(batch)
        size += batch.nbytes
        if size >= MAX_BYTES_IN_MEMORY:
            break
    if size < MAX_BYTES_IN_MEMORY or not isinstance(session, DuckDB):
        return session.load_batches(schema, chain(first_batches, batches))

    def write(path: Path) -> None:
        with pq.ParquetWriter(path, schema, compression="zstd", write_statistics=False) as writer:
            for batch in chain(first_batches, batches):
                writer.write_batch(batch)

    file = LargeFile(write)
    return session.scan_parquet(str(file.path), {name: name for name in schema.names}, file)


def _record_batches(rows: Iterable[tuple[Any, ...]], schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    new, letters = list[tuple[Any, ...]](), 0
    for row in rows:
        new.append(row)
        letters += sum([len(cell) for cell in row if type(cell) is str])
        if len(new) >= BATCH_ROWS or letters >= BATCH_LETTERS:
            yield _record_batch(new, schema)
            new, letters = [], 0
    if new:
        yield _record_batch(new, schema)


def _record_batch(rows: list[tuple[Any, ...]], schema: pa.Schema) -> pa.RecordBatch:
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


def _parse_number(name: str, value: Any, place: str) -> float | None:
    try:
        number = math.nan if value in (None, "") else float(value)
    except (TypeError, ValueError, OverflowError):
        raise RatingsError(
            f"{place}: found {name} {value!r}; expected a number, or nothing. Correct the export."
        ) from None
    return None if math.isnan(number) else number


def _is_later(change_time: str | None, creation_time: str | None, place: str) -> bool:
    if change_time is None or creation_time is None or change_time == creation_time:
        return False
    if change_time.endswith("Z") != creation_time.endswith("Z"):
        bare = creation_time if change_time.endswith("Z") else change_time
        raise RatingsError(
            f"{place}: found time {bare!r} without a time zone, and another of the same record "
            "with one; expected one of the two in all records. Add the zone."
        )
    elapsed = datetime.fromisoformat(change_time) - datetime.fromisoformat(creation_time)
    return elapsed.total_seconds() > SAVING_SECONDS


def _text_of_value(value: object) -> str | None:
    is_nan = isinstance(value, float) and math.isnan(value)
    return None if value in (None, "") or is_nan else category_text(value)


def _field_text(value: object) -> str | None:
    """A field of several parts, such as the turns of a dialogue, is written as JSON."""
    if isinstance(value, list | dict):
        return json.dumps(value, ensure_ascii=False, default=str)
    return _text_of_value(value)


# From the table of submissions to ratings

GOLD = "gold"
CHANGES = ("last_label", "changed_at")
LEFT_OUT_SQL_BY_REASON = {
    "reviewer": "kind = 'reviewer'",
    "gold": "kind = 'gold'",
    "skipped": "status = 'skipped'",
    "draft": "status = 'draft'",
    "rejected": "status = 'rejected'",
    "no answer": "label IS NULL",
}
"""What is no rating, by the reason."""
ITEM_FIELDS = ("round", "text", "cluster")
FIELDS_OF_DOCUMENTS = (
    *("prompt", "question", "instruction", "context", "answer", "response"),
    *("image", "audio", "video", TOKENS, ALTERNATIVES),
)
"""Fields that go with the units of a document without being named, beside its text."""
TEXTS_OF_ALTERNATIVES = ("text", "body", "content", "html", "title")
"""Where an alternative of a list has its text: the first of these fields that it has."""
IDENTITY = ("item", "rater")
FindSubmissions = Callable[..., Iterator[Submission]]


@dataclass(frozen=True)
class Tool(Reader):
    """The export of a labelling tool. If it has kinds of objects, `finds` takes one too.

    `omits_none` is true if it writes nothing where a rater ticked nothing. `question` names the
    question of a column. `own_fields` are the tool's own, and say nothing of an item.
    """

    finds: FindSubmissions
    omits_none: bool = False
    question: Callable[[str], str] = str
    own_fields: tuple[str, ...] = ()

    @property
    def submissions(self) -> FindSubmissions:
        return self._iterate_checked_submissions

    def _iterate_checked_submissions(self, export: Export, *kind: str) -> Iterator[Submission]:
        for path in export.files:
            if path.suffix == ".json" and path.stat().st_size == 0:
                raise RatingsError(
                    f"{export.file_name_in_export(path)}: found 0 bytes; expected a JSON document. "
                    "Check that the export is complete."
                )
        try:
            yield from self.finds(export, *kind)
        except RatingsError:
            raise
        except (LookupError, TypeError, AttributeError, ArithmeticError, ValueError) as error:
            finding = f"a value of another kind ({error})"
            if isinstance(error, KeyError):
                finding = f"no {error.args[0]!r}"
            raise RatingsError(
                f"{export.last_place or export.path.name}: found {finding}; expected a record as "
                f"{self.title} writes it. Export again, and rename no field."
            ) from error

    def read_rows(self, source: Source, request: ReadRequest) -> Rows:
        columns, rules = request.columns, request.rules
        if request.layout == "wide":
            raise ProjectError(
                f"layout: found wide for {source}, the export of a tool; expected long. "
                "Leave the layout out."
            )
        field_by_role = _field_by_role(columns)
        extra_fields = request.extra_columns
        question = None if columns.label == COLUMNS.label else self.question(columns.label)
        units, export, objects = rules.units, Export(Path(str(source))), list[ObjectAnswer]()
        submissions, of_documents = self._iterate_checked_submissions(export), list[str]()
        if units is not None:
            submissions = self._iterate_numbered_submissions(
                export, units, columns.text or "text", question, objects
            )
            named_fields = {*rules.keep, *self.own_fields, columns.text}
            of_documents = [name for name in FIELDS_OF_DOCUMENTS if name not in named_fields]
        table = SubmissionTable(
            submissions,
            question,
            (*field_by_role.values(), *extra_fields, *of_documents),
            export.path.name,
            request.limits,
            request.session,
            omits_none=self.omits_none and units is None,
            single={
                name: field_name for name, field_name in field_by_role.items() if name in IDENTITY
            },
        )
        submitted = _select_canonical_columns(
            table, columns, field_by_role, extra_fields, of_documents, self.shows
        )
        ratings = apply_row_rules(submitted, rules)
        for reason, test in LEFT_OUT_SQL_BY_REASON.items():
            if reason != "rejected" or rules.rejected == "left out":
                ratings = ratings.drop_rows(test, reason)
        ratings = _select_first_submissions(
            replace(ratings, classifiers=_find_model_names(ratings))
        )
        if GOLD in (columns.gold, columns.gold_label) and GOLD not in table.fields:
            ratings = _add_gold_labels(ratings, submitted, columns)
        rated = arrange_ratings(ratings, rules, columns.models)
        rating_columns = (
            *IDENTITY,
            "label",
            "timestamp",
            "assisted",
            "occurrence",
            *CHANGES,
            *field_by_role,
        )
        rating_columns = (*rating_columns, "round") if rules.rounds is not None else rating_columns
        prefixes = STRATUM, CONTENT_PREFIX
        names = [
            name for name in rated.names if name in rating_columns or name.startswith(prefixes)
        ]
        source_name_by_column = {"timestamp": "created", **field_by_role, "label": columns.label}
        names_in_source = {name: source_name_by_column.get(name, name) for name in names}
        selected = rated.with_computed({}, (*names, "row", "nth"))
        carried = {
            *field_by_role.values(),
            *request.carried_columns,
            *of_documents,
            columns.item,
            columns.rater,
        }
        unread = tuple(sorted(table.fields.keys() - carried))
        return replace(
            selected,
            columns=names_in_source,
            object_answers=objects,
            classifier_details=table.judges,
            unread=unread,
        )

    def _iterate_numbered_submissions(
        self,
        export: Export,
        units: "UnitSettings",
        text: str,
        question: str | None,
        objects: list[ObjectAnswer],
    ) -> Iterator[Submission]:
        """Who submitted nothing for a question drew nothing there. But a model is asked only what
        it answered.
        """
        kind = units.kind
        alternatives = self._find_alternative_names(export, kind)
        answered = (
            name
            for submission in self._iterate_object_submissions(export, kind)
            for name in submission.values
        )
        questions = (name for name in answered if question in (None, name))
        asked_question = next(questions, kind if question in (None, kind) else None)
        for submission in self._iterate_object_submissions(export, kind):
            numbers: dict[str, Any] = dict.fromkeys(submission.values)
            if asked_question in numbers or (asked_question and submission.kind != "model"):
                item_text = submission.fields.get(text)
                answer = submission.values.get(asked_question, ObjectAnswer())
                if kind == "spans" and not answer.extent and isinstance(item_text, str):
                    answer = replace(answer, extent=(len(item_text),))
                for label_object in answer.objects:
                    category = getattr(label_object, "category", "")
                    if not isinstance(category, str):
                        raise RatingsError(
                            f"{label_object.where}: found the category "
                            f"{value_in_message(category)}; expected "
                            "a text. Correct the record, or export again."
                        )
                numbers[asked_question] = f"#{len(objects)}"
                objects.append(answer)
            fields = submission.fields
            if texts := text_by_alternative(fields, alternatives, units.alternatives or {}):
                fields = {**fields, ALTERNATIVES: texts}
            yield replace(submission, values=numbers, first=None, fields=fields)

    def _find_alternative_names(self, export: Export, kind: str) -> frozenset[str]:
        if kind not in ("rankings", "preferences"):
            return frozenset()
        return frozenset(
            name
            for submission in self._iterate_object_submissions(export, kind)
            for object_answer in submission.values.values()
            for answer in object_answer.objects
            for name in _names_of_compared(answer)
        )

    def _iterate_object_submissions(self, export: Export, kind: str) -> Iterator[Submission]:
        if kind not in ("sets", "rubrics"):
            if not self.kinds:
                raise RatingsError(
                    f"{export.path.name}: found a format whose {kind} are not read; expected one "
                    "of those that `agreement-pipeline guide units` lists. "
                    "Export the objects in one of them."
                )
            yield from self._iterate_checked_submissions(export, kind)
            return
        several = {
            question
            for submission in self._iterate_checked_submissions(export)
            for question, value in submission.values.items()
            if isinstance(value, tuple) and len(value) > 1
        }
        for submission in self._iterate_checked_submissions(export):
            yield replace(
                submission,
                values=_ticks_as_sets(submission)
                if kind == "sets"
                else _ticks_as_rubric(submission, several),
            )

    def read_delivered_rows(
        self, source: Source, request: ReadRequest, names: Collection[str] | None
    ) -> DeliveredRows:
        """A row a submission: also one that was skipped, or that is a draft.

        Units have no cell with a label, so there is no column of labels.
        """
        export, columns = Export(Path(str(source))), request.columns
        is_cells = request.rules.units is None
        fields = dict[str, None]()
        for submission in self._iterate_checked_submissions(export):
            fields.update(dict.fromkeys(submission.fields))
        canonical_names = [
            name for name in CANONICAL if is_cells or name not in ("label", "first_label")
        ]
        header = tuple(dict.fromkeys((*canonical_names, *fields)))
        field_by_role = {
            name: field_name
            for name, field_name in columns.column_by_role.items()
            if field_name in fields and name != field_name
        }
        canonical = {"timestamp": "created", "row": "record", **field_by_role}
        wanted_names = select_wanted_columns(names, header, canonical)
        refuse_names_differing_by_capitals("field", wanted_names, export.path.name)
        rounds = request.rules.rounds
        of_rounds = columns.round or "round" if rounds is None else rounds.column
        identity_fields = {"item": columns.item, "rater": columns.rater}
        has_question = is_cells and columns.label != COLUMNS.label
        question = self.question(columns.label) if has_question else None
        submissions = self._iterate_checked_submissions(export)
        if not is_cells:
            submissions = (replace(submission, values={}) for submission in submissions)
        table = SubmissionTable(
            submissions,
            question,
            [
                name
                for name in (*wanted_names, *identity_fields.values(), of_rounds)
                if name in fields
            ],
            export.path.name,
            request.limits,
            request.session,
            omits_none=self.omits_none and is_cells,
        )
        rows, column_by_field = table.rows, table.columns
        sql_by_column = {
            name: column_by_field.get(field_name, name) if field_name != name else name
            for name, field_name in identity_fields.items()
        }
        sql_by_column |= {"row": "record", "nth": "nth"}
        if of_rounds in column_by_field:
            sql_by_column["round" if rounds is None else FIELD_PREFIX + of_rounds] = (
                column_by_field[of_rounds]
            )
        sql_by_column |= {
            FIELD_PREFIX + name: column_by_field.get(name, name) for name in wanted_names
        }
        columns_of = {name: FIELD_PREFIX + name for name in wanted_names}
        return DeliveredRows(
            rows.with_computed(sql_by_column, sql_by_column), columns_of, header, canonical
        )

    def read_round_column(self, path: Path, request: ReadRequest) -> Iterator[Rows]:
        name = request.columns.round or "round"
        without_values = (
            replace(submission, values={})
            for submission in self._iterate_checked_submissions(Export(path))
        )
        table = SubmissionTable(
            without_values, None, (name,), path.name, request.limits, request.session
        )
        yield table.rows.with_computed({"round": table.columns[name], "row": "record"})


def tool(
    name: str, title: str, recognises: Callable[[Export], bool], **known: Any
) -> Callable[[FindSubmissions], FindSubmissions]:
    def registered(finds: FindSubmissions) -> FindSubmissions:
        register(Tool(name, title, recognises, finds, **known))
        return finds

    return registered


def read_answers(
    path: Path, question: str | None = None, fields: Iterable[str] = ()
) -> "pd.DataFrame":
    """The submissions of a tool's export as a DataFrame, with some fields."""
    import pandas as pd

    from agreement_pipeline.ratings import arrow_to_pandas

    reader = select_reader(path)
    if not isinstance(reader, Tool):
        raise RatingsError(
            f"{path.name}: found a table of ratings; expected the export of a tool. "
            "Read it with read()."
        )
    submission_table = SubmissionTable(
        reader.submissions(Export(path)),
        question,
        fields,
        path.name,
        LIMITS,
        duckdb_session(),
        omits_none=reader.omits_none,
    )
    names = ", ".join((*CANONICAL, *submission_table.columns.values()))
    table = submission_table.rows.relation.query(
        f"SELECT {names} FROM {submission_table.rows} ORDER BY nth"
    )
    frame: pd.DataFrame = arrow_to_pandas(table)
    for name in ("seconds", "confidence", "assisted"):
        frame[name] = pd.Series(table[name].to_pylist(), dtype=object)
    return frame.set_axis([*CANONICAL, *submission_table.columns], axis="columns")


def text_by_alternative(
    fields: Data, names: Collection[str], field_by_name: Mapping[str, str]
) -> dict[str, str]:
    """The texts of what raters compare: in the named fields, in fields of the alternatives' own
    names, or in a list of records whose `id` is the name.

    >>> listed = [{"id": 1, "body": "Yes."}, {"id": 2, "title": "No."}]
    >>> text_by_alternative({"answers": listed, "a": "Hm."}, ["1", "2", "a"], {})
    {'1': 'Yes.', '2': 'No.', 'a': 'Hm.'}
    >>> text_by_alternative({"answer_a": "Hm."}, ["left", "right"], {"left": "answer_a"})
    {'left': 'Hm.'}
    """
    texts = dict[str, str]()
    records = chain.from_iterable(value for value in fields.values() if isinstance(value, list))
    for record in records:
        if isinstance(record, Mapping) and str(record.get("id")) in names:
            candidates = (record.get(name) for name in TEXTS_OF_ALTERNATIVES)
            text = next((value for value in candidates if isinstance(value, str)), None)
            if text is not None:
                texts[str(record["id"])] = text
    for name in names:
        text = fields.get(field_by_name.get(name, name))
        if isinstance(text, str):
            texts[name] = text
    return dict(sorted(texts.items()))


def _names_of_compared(answer: LabelObject) -> Collection[str]:
    if isinstance(answer, Preference):
        return answer.first, answer.second
    return frozenset().union(*answer.groups) if isinstance(answer, Ranking) else ()


def _ticks_as_sets(submission: Submission) -> dict[str, ObjectAnswer]:
    return {
        question: ObjectAnswer(
            (ChosenSet(frozenset(map(category_text, ticks)), submission.record),)
        )
        for question, ticks in submission.values.items()
        if isinstance(ticks, tuple | frozenset)
    }


def _ticks_as_rubric(submission: Submission, several: Collection[str]) -> dict[str, ObjectAnswer]:
    """One tick is a score too, where nobody ticked `several`."""
    value_by_question = {
        question: value[0]
        if isinstance(value, tuple) and value and question not in several
        else value
        for question, value in submission.values.items()
    }
    scores = {
        question: category_text(value)
        for question, value in value_by_question.items()
        if isinstance(value, str | int | float)
    }
    return {"rubrics": ObjectAnswer((Rubric(scores, submission.record),))} if scores else {}


def _field_by_role(columns: Columns) -> dict[str, str]:
    if columns.raters:
        raise ProjectError(
            f"columns: found raters {listed(columns.raters)}; expected them for a wide table only. "
            "Leave them out: the export names its raters."
        )
    field_by_role = {
        name: value
        for name, value in columns.column_by_role.items()
        if name != "label" and not (name in IDENTITY and value == getattr(COLUMNS, name))
    }
    return {**{name: name for name in ITEM_FIELDS if name not in field_by_role}, **field_by_role}


def _select_canonical_columns(
    gathered: SubmissionTable,
    columns: Columns,
    field_by_role: Mapping[str, str],
    extra_fields: list[str],
    of_documents: Iterable[str],
    shows: Collection[str],
) -> Rows:
    """What a rule reads keeps a name of its own."""
    rows, fields = gathered.rows, gathered.fields
    named_fields = [
        value for name, value in columns.column_by_role.items() if name in field_by_role
    ]
    absent = [
        name for name in (*named_fields, *extra_fields) if name not in {*fields, *CANONICAL, GOLD}
    ]
    if absent:
        raise RatingsError(
            f"{rows.source}: found no {called('field', absent)} among {listed(fields, 20)}; "
            "expected every field that you name. Correct the names."
        )
    refuse_names_differing_by_capitals("field", extra_fields, rows.source)
    unread = {"record", "confidence", *({"assisted"} - {*shows})}
    if not gathered.tells_changes:
        unread.add("changed_at")
    if not rows.has_row("first_label IS NOT NULL"):
        unread.add("first_label")
    sql_by_column = {name: name for name in (*CANONICAL, "nth") if name not in unread}
    sql_by_column |= {"row": "record", "timestamp": "created"}
    for name, field_name in field_by_role.items():
        if (column := gathered.column_of(field_name)) is not None:
            sql_by_column[name] = (
                field_name if name == field_name and name not in fields else column
            )
    if not rows.has_row(f"{sql_by_column['timestamp']} IS NOT NULL"):
        del sql_by_column["timestamp"]
    sql_by_column |= {
        FIELD_PREFIX + name: column
        for name in extra_fields
        if (column := gathered.column_of(name)) is not None
    }
    sql_by_column |= {CONTENT_PREFIX + n: gathered.columns[n] for n in of_documents if n in fields}
    return use_first_labels(rows.with_computed(sql_by_column, sql_by_column))


def _find_model_names(rows: Rows) -> tuple[str, ...]:
    """People have names of their own, and one of them is known."""
    models, people = (
        {*rows.relation.query_column(f"SELECT DISTINCT rater FROM {rows} WHERE kind = '{kind}'")}
        - {None}
        for kind in ("model", "human")
    )
    if shared := sorted(models & people):
        raise RatingsError(
            f"{rows.source}: found {listed(shared)} as a rater and as a model; expected different "
            "names, since a model is compared with the raters. Rename the model."
        )
    if people and all(name.startswith(UNKNOWN_RATER_PREFIX) for name in people):
        row = rows.quote_column("row")
        (first_record,) = rows.relation.query_column(
            f"SELECT {row} FROM {rows} WHERE kind = 'human' ORDER BY nth LIMIT 1"
        )
        raise RatingsError(
            f"{rows.source}: {first_record}: found no rater, and none in any other record; "
            "expected who gave each answer, since agreement is between raters. Export again with "
            "the raters, and rename no field."
        )
    return tuple(sorted(models))


def _select_first_submissions(rows: Rows) -> Rows:
    """The first submission of each rater for each item, with the label of the last one. Of a model
    it is the last submission.
    """
    keys = [rows.quote_column(name) for name in ("round", "item", "rater") if name in rows.names]
    if not _may_have_equal_rows(rows, keys):
        return rows
    time, session, key_list = "COALESCE(updated, created)", rows.relation.session, ", ".join(keys)
    change_sql_by_column = {
        name: name if name in rows.names else "CAST(NULL AS STRING)" for name in CHANGES
    }
    last_window = f"OVER (PARTITION BY {key_list} ORDER BY {time} DESC NULLS LAST, nth DESC)"
    first_window = f"OVER (PARTITION BY {key_list} ORDER BY {time} NULLS FIRST, nth)"
    label = rows.text_sql("label")
    turns = session.materialize(
        f"SELECT nth AS of_row, CASE WHEN kind = 'model' THEN ROW_NUMBER() {last_window} "
        f"ELSE ROW_NUMBER() {first_window} END AS turn, ROW_NUMBER() {last_window} AS from_last, "
        f"kind AS who, FIRST_VALUE(COALESCE({change_sql_by_column['last_label']}, {label})) "
        f"{last_window} AS latest, FIRST_VALUE({time}) {last_window} AS latest_at FROM {rows}"
    )
    superseded = f"nth IN (SELECT of_row FROM {turns} WHERE turn > 1)"
    remaining = rows.drop_rows(superseded, "superseded", turns)
    repeated = (
        f"(SELECT * FROM {turns} WHERE turn = 1 AND from_last > 1 AND who <> 'model') AS again"
    )
    sql_by_column = {
        "last_label": f"CASE WHEN of_row IS NULL THEN {change_sql_by_column['last_label']} "
        f"ELSE NULLIF(latest, {label}) END",
        "changed_at": f"CASE WHEN of_row IS NULL THEN {change_sql_by_column['changed_at']} "
        f"WHEN latest <> {label} THEN latest_at END",
    }
    return remaining.create_view(
        f"SELECT {remaining.select_list_sql(sql_by_column)} FROM {remaining} "
        f"LEFT JOIN {repeated} ON nth = of_row",
        turns,
    )


def _add_gold_labels(rows: Rows, submitted: Rows, columns: Columns) -> Rows:
    """An item with several gold answers has no right label."""
    answered = submitted.relation.create_view(
        "SELECT item AS gold_item, CASE WHEN COUNT(DISTINCT label) = 1 THEN MIN(label) END AS "
        f"right_label FROM {submitted} WHERE kind = 'gold' AND item IS NOT NULL GROUP BY item"
    )
    sql_by_column = {"gold": "gold_item IS NOT NULL", "gold_label": "right_label"}
    added_columns = ", ".join(
        f"{sql} AS {name}" for name, sql in sql_by_column.items() if getattr(columns, name) == GOLD
    )
    return rows.create_view(
        f"SELECT {rows}.*, {added_columns} FROM {rows} LEFT JOIN {answered} ON item = gold_item",
        answered,
    )


def _refuse_repeated_records(rows: Rows) -> None:
    """Refuse a record that is there twice, and times of which only some have a zone."""
    if _may_have_equal_rows(rows, ["record"]):
        place_sql = "ROW_NUMBER() OVER (PARTITION BY record ORDER BY nth) AS place"
        if repeated := rows.relation.query_column(
            f"SELECT record FROM (SELECT record, nth, {place_sql} FROM {rows}) AS said "
            "WHERE place = 2 ORDER BY nth"
        ):
            raise RatingsError(
                f"{rows.source}: found record {repeated[0]!r} more than once "
                f"({counted(len(repeated), 'such record')} in all); expected each once. Export "
                "again, or join the files without the repetition."
            )
    zoned = "created LIKE '%Z'"
    bare = rows.relation.query(
        f"SELECT record, created FROM {rows} WHERE NOT {zoned} ORDER BY nth LIMIT 1"
    ).to_pylist()
    if bare and rows.has_row(zoned):
        raise RatingsError(
            f"{rows.source}: {bare[0]['record']}: found time {bare[0]['created']!r} without a "
            "time zone, and others have one; expected one of the two in all records. Add the "
            "zone."
        )


def _may_have_equal_rows(rows: Rows, columns: Iterable[str]) -> bool:
    """False if no two rows are alike. A number a row takes less memory than a group."""
    number = rows.relation.session.hash_sql(*columns)
    hashes = np.sort(
        rows.relation.query(f"SELECT {number} AS number FROM {rows}")["number"].to_numpy()
    )
    return bool((hashes[1:] == hashes[:-1]).any())
