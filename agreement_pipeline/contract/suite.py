"""A suite of Great Expectations as data: read from a file, never built here.

A release carries the suite that its rounds were checked by. To build it could run code, so whoever
only reads results needs no more than this.
"""

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from agreement_pipeline.contract.regexes import may_be_endless
from agreement_pipeline.errors import ContractError
from agreement_pipeline.large_files import digest_of_plain
from agreement_pipeline.mistakes import value_in_message
from agreement_pipeline.text import listed
from agreement_pipeline.yaml_files import Place, read_yaml

JSON = ".json"
EARLIER_KEYS = ("rows", "items", "round")
NO_TABLES = (
    "A contract is one file now. Move the checks of columns in rows.yaml to a suite in "
    "configs/contracts/NAME.yaml, and those of items.yaml and round.yaml, such as the number of "
    "raters per item, to integrity in the policy (raters_per_item)."
)
SEVERITIES = {"critical": "error", "warning": "warning", "info": "info"}
SUITE_KEYS = ("name", "id", "expectations", "meta", "notes", "suite_parameters")
ENTRY_KEYS = ("type", "kwargs", "meta", "severity", "description")
UNREAD_ENTRY_KEYS = ("id", "notes", "rendered_content", "expectation_context")
PARAMETERS = ("vocabulary", "delivered_at")
MAX_SUITE_BYTES = 1_000_000
MAX_RULE_LENGTH = 200
GX_VERSION = "great_expectations_version"
COLUMN_KEYS = ("column", "column_A", "column_B")
COLUMN_LIST_KEYS = ("column_list", "column_set")
REGEX_KEYS = ("regex", "regex_list")
OF_TABLE_WITHOUT_COLUMNS = (
    "expect_table_row_count_to_be_between",
    "expect_table_row_count_to_equal",
)
NEEDS_A_DATABASE = re.compile(r"unexpected_rows_expectation|expect_query_\w+|\w*_other_table")
COMPARISONS = ("==", "!=", "<", ">", "<=", ">=", "IN", "NOT_IN")
TYPE = re.compile(r"[a-z][a-z0-9_]*")
CHECK_NAME = re.compile(r"[A-Za-z0-9_]{1,100}")
OWN_CHECKS = ("contract_kept", "contract_advice")
TYPE_PREFIX = re.compile(
    r"^expect_(column_values?_to_be_|column_values?_to_|column_pair_values_to_be_|"
    r"column_pair_values_|compound_columns_to_be_|select_column_values_to_be_|"
    r"multicolumn_|column_|table_)?"
)


@dataclass(frozen=True)
class SuiteEntry:
    """One expectation of a suite.

    Attributes
    ----------
    check
        Its name: `meta.check`, or the column and what is asked of it.
    needed_columns
        None if the whole table is needed.
    """

    check: str
    type: str
    kwargs: Mapping[str, Any]
    meta: Mapping[str, Any]
    severity: str = "critical"
    description: str = ""

    @property
    def weight(self) -> str:
        """The severity of a finding: critical holds, warning warns, info is only shown."""
        return SEVERITIES[self.severity]

    @property
    def when(self) -> str | None:
        """The column without which nothing is asked."""
        return self.meta.get("when")

    @property
    def hides_values(self) -> bool:
        return self.meta.get("redact") is True

    @cached_property
    def columns(self) -> tuple[str, ...]:
        """The columns that it names, in order."""
        column_names = [self.kwargs.get(key) for key in COLUMN_KEYS]
        for key in COLUMN_LIST_KEYS:
            columns = self.kwargs.get(key)
            column_names += columns if isinstance(columns, list) else []
        column_names += _columns_of_condition(self.kwargs.get("row_condition"))
        return tuple(dict.fromkeys(name for name in column_names if isinstance(name, str)))

    @property
    def needs_whole_table(self) -> bool:
        """True if it is about all columns, or does not say which one it reads."""
        of_table = self.type.startswith("expect_table_") or not self.columns
        return of_table and self.type not in OF_TABLE_WITHOUT_COLUMNS

    @property
    def parameters(self) -> frozenset[str]:
        return frozenset(
            str(value["$PARAMETER"])
            for value in _values_within(self.kwargs)
            if isinstance(value, Mapping) and "$PARAMETER" in value
        )

    @property
    def question(self) -> str:
        """What it asks, in words: its description, or its rule."""
        if self.description:
            return self.description
        kwargs = json.dumps(dict(self.kwargs), ensure_ascii=False, sort_keys=True)
        rule_in_words = f"{self.type} {kwargs}"
        return (
            rule_in_words
            if len(rule_in_words) <= MAX_RULE_LENGTH
            else f"{rule_in_words[: MAX_RULE_LENGTH - 1]}…"
        )

    @property
    def rule(self) -> dict[str, Any]:
        return {"type": self.type, "kwargs": dict(self.kwargs), "severity": self.severity}

    def to_mapping(self) -> dict[str, Any]:
        """It has no version of Great Expectations, nor an id that differs from run to run."""
        optional = {"description": self.description, "meta": dict(self.meta)}
        return {**self.rule, **{key: value for key, value in optional.items() if value}}


@dataclass(frozen=True)
class Suite:
    """A suite that is asked of the delivered table.

    Raises
    ------
    ContractError
        It is not in Great Expectations' own form, could run code, or two checks share a name.
    """

    name: str
    version: int
    entries: tuple[SuiteEntry, ...]
    place: Place = field(default=Place("suite"), compare=False, repr=False)

    @classmethod
    def load(cls, path: Path | str) -> "Suite":
        """The suite in a file of JSON or YAML, as `ExpectationSuite.to_json_dict()` gives it.

        It is called as its file, and `meta.version` is its version, which is 1 without one.
        """
        path = Path(path)
        if path.is_dir():
            raise ContractError(
                f"{path}: found a folder; expected a file with a suite of Great Expectations. "
                f"{NO_TABLES}"
            )
        if path.suffix == JSON:
            data, place = _read_json(path), Place(str(path))
        else:
            data, place = read_yaml(path, ContractError)
        return cls.from_mapping(data, path.stem, place)

    @classmethod
    def from_mapping(cls, data: object, name: str, place: Place) -> "Suite":
        if isinstance(data, Mapping) and (tables := [key for key in EARLIER_KEYS if key in data]):
            raise ContractError(
                f"{place}: found keys {listed(tables)}; expected a suite of Great Expectations, "
                f"with a list of expectations. {NO_TABLES}"
            )
        if not isinstance(data, Mapping) or not isinstance(data.get("expectations"), list):
            raise ContractError(
                f"{place}: found {value_in_message(data)}; expected a suite of Great "
                "Expectations, with a "
                "list of expectations. Write what ExpectationSuite.to_json_dict() gives."
            )
        if unknown := sorted({*map(str, data)} - {*SUITE_KEYS}):
            raise ContractError(
                f"{place}: found keys {listed(unknown)}; expected some of {listed(SUITE_KEYS)}. "
                "Correct the spelling, or remove them."
            )
        meta = data.get("meta") or {}
        version = meta.get("version", 1) if isinstance(meta, Mapping) else None
        if type(version) is not int or version < 1:
            raise ContractError(
                f"{place / 'meta'}: found version {value_in_message(version)}; expected a whole "
                "number from "
                "1. Count the versions."
            )
        if not data["expectations"]:
            raise ContractError(f"{place}: found no expectation; expected at least one. Add one.")
        raw_entries = [
            _checked_entry(entry, place / "expectations" / number)
            for number, entry in enumerate(data["expectations"])
        ]
        entries = tuple(_named_entries(raw_entries, place))
        return cls(name, version, entries, place)

    @property
    def digest(self) -> str:
        return digest_of_plain(self.to_list())

    def to_list(self) -> list[dict[str, Any]]:
        """The entries as a release carries them. Each says its check."""
        return [
            {**entry.to_mapping(), "meta": {**entry.meta, "check": entry.check}}
            for entry in self.entries
        ]

    @cached_property
    def needed_columns(self) -> tuple[str, ...] | None:
        """The columns that it names. None if it needs them all."""
        if any(entry.needs_whole_table for entry in self.entries):
            return None
        column_names = (name for entry in self.entries for name in (*entry.columns, entry.when))
        return tuple(dict.fromkeys(name for name in column_names if name))


def _read_json(path: Path) -> Any:
    try:
        content = path.read_bytes()
        if len(content) > MAX_SUITE_BYTES:
            raise ContractError(
                f"{path}: found {len(content)} bytes; expected at most {MAX_SUITE_BYTES}. "
                "Keep data out of this file."
            )
        return json.loads(content, object_pairs_hook=_unique_keys)
    except FileNotFoundError:
        raise ContractError(
            f"{path}: found no such file; expected a suite. Check the path."
        ) from None
    except (OSError, ValueError, RecursionError) as cause:
        if isinstance(cause, ContractError):
            raise
        raise ContractError(
            f"{path}: found text that is not readable as JSON ({cause}); expected what "
            "ExpectationSuite.to_json_dict() gives. Correct the file."
        ) from None


def _unique_keys(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    repeated = [key for key, count in Counter(key for key, _ in pairs).items() if count > 1]
    if repeated:
        raise ValueError(f"key {repeated[0]!r} twice")
    return dict(pairs)


def _checked_entry(entry: object, place: Place) -> dict[str, Any]:
    if not isinstance(entry, Mapping) or not TYPE.fullmatch(str(entry.get("type"))):
        raise ContractError(
            f"{place}: found {value_in_message(entry)}; expected an expectation with its type, as "
            "expect_column_values_to_be_in_set. Correct the entry."
        )
    if unknown := sorted({*map(str, entry)} - {*ENTRY_KEYS, *UNREAD_ENTRY_KEYS}):
        raise ContractError(
            f"{place}: found keys {listed(unknown)}; expected some of {listed(ENTRY_KEYS)}. "
            "Correct the spelling, or remove them."
        )
    checked = {key: entry[key] for key in ENTRY_KEYS if entry.get(key) is not None}
    kwargs, meta = checked.setdefault("kwargs", {}), checked.setdefault("meta", {})
    for key, value in (("kwargs", kwargs), ("meta", meta)):
        if not isinstance(value, Mapping) or not _is_plain(value):
            raise ContractError(
                f"{place / key}: found {value_in_message(value)}; expected keys with texts, "
                "numbers, flags "
                "and lists of them. Put times into quotes."
            )
    checked["meta"] = {key: value for key, value in meta.items() if key != GX_VERSION}
    if checked.setdefault("severity", "critical") not in SEVERITIES:
        raise ContractError(
            f"{place / 'severity'}: found {value_in_message(checked['severity'])}; expected "
            f"{listed(SEVERITIES)}. Correct it."
        )
    if not isinstance(checked.setdefault("description", ""), str):
        raise ContractError(f"{place / 'description'}: found no text; expected one. Correct it.")
    for reason, expected in _refusals(checked["type"], kwargs, checked["meta"]):
        raise ContractError(f"{place}: {checked['type']}: found {reason}; expected {expected}")
    return checked


def _refusals(
    type_: str, kwargs: Mapping[str, Any], meta: Mapping[str, Any]
) -> Iterator[tuple[str, str]]:
    """What is found and what is expected, for all that could run code or never end."""
    if NEEDS_A_DATABASE.fullmatch(type_):
        yield "an expectation that asks a database", "one of a table. Leave it out."
    condition = kwargs.get("row_condition")
    if condition is not None and not _is_condition(condition):
        yield (
            f"row_condition {value_in_message(condition)}, which may run as code",
            "a condition as Great Expectations writes it: a comparison with column, operator and "
            "parameter, a nullity, or an and or an or of such ones, without backticks. Write it "
            'in Python as Column("language") == "de", and save the suite again.',
        )
    parser = kwargs.get("condition_parser")
    if parser not in (None, "great_expectations"):
        yield (
            f"condition_parser {value_in_message(parser)}, which runs a text as code",
            "none beside a condition as Great Expectations writes it. Leave it out.",
        )
    regexes = [kwargs[key] for key in REGEX_KEYS if key in kwargs]
    if any(isinstance(text, str) and may_be_endless(text) for text in _values_within(regexes)):
        yield (
            "a regex with repeats inside of repeats, of which a search may never end",
            "one without. Write it with one repeat.",
        )
    for value in _values_within(kwargs):
        if not isinstance(value, Mapping):
            continue
        reference = value.get("$ref", "#")
        if not isinstance(reference, str) or not reference.startswith("#"):
            yield (
                f"a reference to {value_in_message(reference)}, which would be fetched",
                "the schema itself. Write it out.",
            )
        parameter = value.get("$PARAMETER", PARAMETERS[0])
        if parameter not in PARAMETERS:
            yield (
                f"the parameter {value_in_message(parameter)}",
                f"{listed(PARAMETERS)}. Write the value instead.",
            )
    check, needed_column = meta.get("check", "check"), meta.get("when", "column")
    if not isinstance(check, str) or not CHECK_NAME.fullmatch(check) or check in OWN_CHECKS:
        yield (
            f"meta.check {value_in_message(check)}",
            f"a name of letters, digits and _ that is none of {listed(OWN_CHECKS)}. Rename it.",
        )
    if not isinstance(needed_column, str) or not isinstance(meta.get("redact", False), bool):
        yield "meta.when or meta.redact of another kind", "a column, and true or false. Correct it."


def _named_entries(entries: Sequence[dict[str, Any]], place: Place) -> Iterator[SuiteEntry]:
    uses_by_name = Counter(
        str(entry["meta"]["check"]) for entry in entries if "check" in entry["meta"]
    )
    if repeated := [name for name, count in uses_by_name.items() if count > 1]:
        raise ContractError(
            f"{place}: found meta.check {listed(repeated)} twice; expected a name of its own for "
            "each expectation. Rename one."
        )
    for entry in entries:
        meta = {key: value for key, value in entry["meta"].items() if key != "check"}
        unnamed = SuiteEntry("", **{**entry, "meta": meta})
        check = entry["meta"].get("check")
        if check is None:
            check = _short_name(unnamed)
            uses_by_name[check] += 1
            number = uses_by_name[check]
            while number > 1 and f"{check}_{number}" in uses_by_name:
                number += 1
            if number > 1:
                check = f"{check}_{number}"
                uses_by_name[check] += 1
        yield SuiteEntry(check, **{**entry, "meta": meta})


def _short_name(entry: SuiteEntry) -> str:
    """The column first, since Dagster's page cuts names in the middle.

    >>> _short_name(SuiteEntry("", "expect_column_values_to_be_in_set", {"column": "lang"}, {}))
    'lang_in_set'
    """
    condition = (TYPE_PREFIX.sub("", entry.type) or entry.type).replace("not_be_", "not_")
    column_names = [entry.kwargs[key] for key in COLUMN_KEYS if key in entry.kwargs][:1]
    column_names = column_names or list(entry.kwargs.get("column_list") or ())[:1]
    name = re.sub(r"[^A-Za-z0-9]+", "_", "_".join([*map(str, column_names), condition])).strip("_")
    return name[:80]


def _is_plain(value: object) -> bool:
    try:
        json.dumps(value, allow_nan=False)
    except (TypeError, ValueError):
        return False
    return True


def _values_within(value: object) -> Iterator[Any]:
    yield value
    if isinstance(value, Mapping | list | tuple):
        for inner in value.values() if isinstance(value, Mapping) else value:
            yield from _values_within(inner)


def _is_condition(value: object) -> bool:
    """Only these forms. Great Expectations hands any other text to pandas, which evaluates it.

    >>> _is_condition({"type": "pass_through", "pass_through_filter": "@pd.io"})
    False
    """
    if not isinstance(value, Mapping):
        return False
    kind = value.get("type")
    if kind in ("and", "or"):
        parts = value.get("conditions")
        allowed_keys = {"type", "conditions"}
        return (
            value.keys() <= allowed_keys
            and isinstance(parts, list)
            and all(map(_is_condition, parts))
        )
    column = value.get("column")
    name = column.get("name") if isinstance(column, Mapping) else None
    if not isinstance(column, Mapping) or {*column} != {"name"} or not _is_unquoted_text(name):
        return False
    if kind == "nullity":
        return value.keys() <= {"type", "column", "is_null"} and type(value.get("is_null")) is bool
    parameter = value.get("parameter")
    parameters = parameter if isinstance(parameter, list) else [parameter]
    return (
        kind == "comparison"
        and value.keys() <= {"type", "column", "operator", "parameter"}
        and value.get("operator") in COMPARISONS
        and all(
            isinstance(value_compared, int | float) or _is_unquoted_text(value_compared)
            for value_compared in parameters
        )
    )


def _is_unquoted_text(value: object) -> bool:
    """A backtick would end the quoted name of a column."""
    return isinstance(value, str) and "`" not in value


def _columns_of_condition(condition: object) -> list[str]:
    return [
        str(value["column"]["name"])
        for value in _values_within(condition)
        if isinstance(value, Mapping)
        and isinstance(value.get("column"), Mapping)
        and "name" in value["column"]
    ]
