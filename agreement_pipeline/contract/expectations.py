"""One expectation of the data contract, as plain data: what Great Expectations is asked, under which name, and how much it weighs."""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from agreement_pipeline.errors import ContractError
from agreement_pipeline.ratings import Ratings
from agreement_pipeline.text import listed
from agreement_pipeline.yaml_files import Place

TABLES = ("rows", "items")
SEVERITIES = {"critical": "error", "warning": "warning", "info": "warning"}
PARAMETERS = ("vocabulary",)
META = ("check", "when", "redact")
DELIVERED = {"rows": ("confidence", "timestamp"), "items": ("cluster",)}
REDACTING = "expect_column_values_to_not_match_regex"

_NAME = re.compile(r"[A-Za-z0-9_]+")
_WORDS = re.compile(r".*\S.*", re.DOTALL)
# These reach beyond the table: to a database, or to an address that a schema names.
_TYPE = re.compile(r"expect_(?!query_|\w*other_table|\w*json_schema)\w+")
# Conditions are evaluated as code; how a check runs is one way for all; what describes it stands beside the keyword arguments.
_REFUSED = (
    "row_condition",
    "condition_parser",
    "result_format",
    "catch_exceptions",
    "windows",
    "batch_id",
    "meta",
    "severity",
    "description",
    "notes",
)


@dataclass(frozen=True)
class Spec:
    """A check as it is announced before anything is checked: its name, table, severity (error or warning) and what it requires."""

    check: str
    table: str
    severity: str
    description: str


@dataclass(frozen=True)
class Expectation:
    """One expectation.

    Parameters
    ----------
    table
        rows or items.
    check
        Its stable name.
    type, kwargs
        What Great Expectations is asked. `{"$PARAMETER": "vocabulary"}` stands for the categories of the scale; on a scale without a list of
        them nothing is checked.
    description
        What is required, in words.
    severity
        critical: a failure holds the release. warning, info: it is shown and holds nothing.
    when
        A column that a round may come without, confidence or timestamp of rows and cluster of items: where it was not delivered nothing is checked.
    redact
        Is what matches its regular expression personal data? No finding of the contract then shows it.
    where
        The file and line it was read from, for error messages.

    Raises
    ------
    ContractError
        A value is impossible; the message names file and line.
    """

    table: str
    check: str
    type: str
    kwargs: Mapping[str, Any]
    description: str
    severity: str = "critical"
    when: str | None = None
    redact: bool = False
    where: Place = field(default=Place("contract"), compare=False, repr=False)

    def __post_init__(self) -> None:
        for name, (met, required) in self._demands().items():
            if not met:
                place = self.where / "meta" / name if name in META else self.where / name
                raise ContractError(
                    f"{place}: {name} {getattr(self, name)!r} found; {required} is required. Correct it: nothing is ignored."
                )

    def _demands(self) -> dict[str, tuple[bool, str]]:
        optional = DELIVERED.get(self.table, ())
        return {
            "check": (_matches(_NAME, self.check), "a name of letters, digits and _"),
            "table": (self.table in TABLES, f"one of {', '.join(TABLES)}"),
            "type": (_matches(_TYPE, self.type), "an expectation on a table or its columns"),
            "kwargs": (
                isinstance(self.kwargs, Mapping) and not set(_REFUSED) & set(self.kwargs),
                f"a mapping without {', '.join(_REFUSED)}",
            ),
            "parameters": (
                set(self.parameters) <= set(PARAMETERS),
                f"no other than {', '.join(PARAMETERS)}",
            ),
            "description": (
                _matches(_WORDS, self.description),
                "a sentence that says what must hold",
            ),
            "severity": (
                isinstance(self.severity, str) and self.severity in SEVERITIES,
                f"one of {', '.join(SEVERITIES)}",
            ),
            "when": (
                self.when in (None, *optional),
                "confidence or timestamp, in table rows, or cluster, in table items,",
            ),
            "redact": (
                self.redact is False or (self.redact is True and self._hides),
                f"false, or true with {REDACTING} and a valid regex,",
            ),
        }

    @property
    def _hides(self) -> bool:
        try:
            return self.type == REDACTING and bool(re.compile(self.kwargs["regex"]))
        except (KeyError, TypeError, re.error):
            return False

    @classmethod
    def from_mapping(cls, data: object, table: str, place: Place) -> "Expectation":
        """The expectation that an entry in Great Expectations' own form spells out.

        Raises
        ------
        ContractError
            A key is unknown or missing, or a value is impossible; the message names file and line.
        """
        entry = keyed(
            data,
            place,
            known=("type", "kwargs", "severity", "description", "meta"),
            required=("type", "kwargs", "description", "meta"),
        )
        meta = keyed(entry["meta"], place / "meta", known=META, required=("check",))
        rest = {key: value for key, value in entry.items() if key != "meta"}
        return cls(
            **{**rest, **meta, "kwargs": _plain(entry["kwargs"], place / "kwargs")},
            table=table,
            where=place,
        )

    def to_mapping(self) -> dict[str, Any]:
        """The entry, from which `from_mapping` makes the expectation again."""
        meta = {
            "check": self.check,
            **({"when": self.when} if self.when else {}),
            **({"redact": True} if self.redact else {}),
        }
        return {
            "type": self.type,
            "kwargs": _plain(self.kwargs, self.where),
            "severity": self.severity,
            "description": self.description,
            "meta": meta,
        }

    @property
    def parameters(self) -> tuple[str, ...]:
        """The names of the parameters that its keyword arguments leave open."""
        return tuple(_parameters(self.kwargs))

    @property
    def spec(self) -> Spec:
        """How its check is announced."""
        return Spec(self.check, self.table, SEVERITIES[self.severity], self.description)

    def idle(self, ratings: Ratings) -> str | None:
        """Why there is nothing to check in these ratings, where there is nothing."""
        if self.when and self.when not in ratings.table and self.when not in ratings.contents:
            return f"column {self.when} was not delivered, so nothing was checked"
        if self.parameters and ratings.scale.continuous:
            return "the scale has no list of categories, so nothing was checked"
        return None


def keyed(
    data: object, place: Place, *, known: tuple[str, ...], required: tuple[str, ...]
) -> Mapping[str, Any]:
    """`data`, if it is a mapping with the known keys only and the required ones all."""
    if not isinstance(data, Mapping):
        raise ContractError(
            f"{place}: {type(data).__name__} found; a mapping with {', '.join(required)} is required. Write it as keys and values."
        )
    unknown = [key for key in data if key not in known]
    if unknown:
        raise ContractError(
            f"{place / unknown[0]}: unknown key {listed(unknown)} found; one of {', '.join(known)} is required. Correct it: nothing is ignored."
        )
    missing = [key for key in required if key not in data]
    if missing:
        raise ContractError(
            f"{place}: no {listed(missing)} found; {', '.join(required)} are required. Add what is missing."
        )
    return data


def _matches(pattern: re.Pattern[str], value: object) -> bool:
    return isinstance(value, str) and pattern.fullmatch(value) is not None


def _plain(value: Any, place: Place) -> Any:
    """A copy that JSON can hold."""
    try:
        return json.loads(json.dumps(value, allow_nan=False))
    except (TypeError, ValueError) as cause:
        raise ContractError(
            f"{place}: {value!r} found ({cause}); text, finite numbers, lists and mappings are required. Put dates in quotes."
        ) from None


def _parameters(value: object) -> Iterator[str]:
    if isinstance(value, Mapping) and "$PARAMETER" in value:
        yield str(value["$PARAMETER"])
    elif isinstance(value, Mapping):
        for inner in value.values():
            yield from _parameters(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _parameters(inner)
