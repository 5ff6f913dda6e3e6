import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any

from agreement_pipeline.errors import ContractError
from agreement_pipeline.mistakes import CLOSED, Requirement, Value, one_of_value, refuse_mistakes
from agreement_pipeline.ratings import Ratings

TABLES = ("rows", "items", "round")
SEVERITIES = {"critical": "error", "warning": "warning", "info": "warning"}
PARAMETERS = ("vocabulary",)
DELIVERED = {"rows": ("confidence", "timestamp"), "items": ("cluster",), "round": ()}
REGEXES = ("regex", "regex_list")
REDACTING = "expect_column_values_to_not_match_regex"

TOKEN = re.compile(
    r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|\(\?(?:P<\w+>|P[=>]|<?[=!]|[a-zA-Z-]*[:)]|[^)]*\))?|"
    r"[*+?][?+]?|\{\d*,?\d*\}[?+]?|.",
    re.DOTALL,
)
REPEATED = re.compile(r"[*+]|\{\d*,\}|\{\d*,?\d{2,}\}|\{\d*,?[2-9]\}")
"""A repeat that may come more than once."""
VARIABLE = re.compile(r"[*+?]|\{\d*,\d*\}")
"""A repeat that may come in several numbers."""
_NAME = re.compile(r"[A-Za-z0-9_]+")
_WORDS = re.compile(r".*\S.*", re.DOTALL)
# The others reach beyond the table: to a database, or to an address that a schema names.
_TYPE = re.compile(r"expect_(?!query_|\w*other_table|\w*json_schema)\w+")
# Conditions are evaluated as code. All checks run in one way. A description has its own key.
_REFUSED_KEYS = (
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


def _matching(pattern: re.Pattern[str], expected: str) -> Value:
    return Value(
        expected, lambda text: isinstance(text, str) and pattern.fullmatch(text) is not None
    )


def _is_plain(kwargs: object) -> bool:
    try:
        json.dumps(kwargs, allow_nan=False)
    except (TypeError, ValueError):
        return False
    return isinstance(kwargs, Mapping)


CHECK = _matching(_NAME, "a name of letters, digits and _")
TYPE = _matching(_TYPE, "an expectation on a table or its columns")
DESCRIPTION = _matching(_WORDS, "a sentence that says what must hold")
KWARGS = Value(
    "a mapping of text, finite numbers, lists and mappings", _is_plain, "Put dates in quotes."
)
ALLOWED = Value(
    f"no key of {', '.join(_REFUSED_KEYS)}",
    lambda kwargs: not (isinstance(kwargs, Mapping) and set(_REFUSED_KEYS) & set(kwargs)),
    "Remove it.",
    nested=True,
)
OPEN = Value(
    f"no $PARAMETER other than {', '.join(PARAMETERS)}",
    lambda kwargs: _parameters(kwargs) <= set(PARAMETERS),
    nested=True,
)
COLUMN = Value(
    f"one of {', '.join(name for names in DELIVERED.values() for name in names)}",
    lambda column: any(column in names for names in DELIVERED.values()),
)
FLAG = Value("true or false", lambda flag: isinstance(flag, bool))


@dataclass(frozen=True)
class Meta:
    """What this package adds to an expectation of Great Expectations.

    If the column `when` was not delivered, nothing is checked. If `redact` is true, values that
    match the regular expression are personal data, which no finding shows.
    """

    __pydantic_config__ = CLOSED

    check: Annotated[str, CHECK]
    when: Annotated[str | None, COLUMN] = None
    redact: Annotated[bool, FLAG] = False

    def __post_init__(self) -> None:
        refuse_mistakes(self, ContractError)


@dataclass(frozen=True)
class Expectation:
    """One expectation, in Great Expectations' own form.

    Parameters
    ----------
    type, kwargs
        What is asked of Great Expectations. `{"$PARAMETER": "vocabulary"}` stands for the
        categories of the scale. Nothing is checked if the scale has no list of categories.
    severity
        critical: a failure holds the release. warning, info: it is only shown.

    Raises
    ------
    ContractError
        A value is impossible. The message names every mistake.
    """

    __pydantic_config__ = CLOSED

    type: Annotated[str, TYPE]
    kwargs: Annotated[Mapping[str, Any], KWARGS, ALLOWED, OPEN]
    description: Annotated[str, DESCRIPTION]
    meta: Meta
    severity: Annotated[str, one_of_value(tuple(SEVERITIES))] = "critical"

    def __post_init__(self) -> None:
        refuse_mistakes(self, ContractError, self._needs())
        object.__setattr__(self, "kwargs", _copy(self.kwargs))

    def _needs(self) -> Iterator[Requirement]:
        yield Requirement(
            "kwargs",
            not self.meta.redact or (self.type == REDACTING and _has_regex(self.kwargs)),
            f"{REDACTING} with a valid regex, since meta.redact is true",
        )
        yield Requirement(
            "kwargs",
            not any(map(may_be_endless, _texts([*map(self.kwargs.get, REGEXES)]))),
            "a regex without repeats inside of repeats, since such a search may never end",
            "Write it with one repeat.",
        )

    def to_mapping(self) -> dict[str, Any]:
        meta = {name: value for name, value in vars(self.meta).items() if value}
        return {**vars(self), "kwargs": _copy(self.kwargs), "meta": meta}

    @property
    def check(self) -> str:
        return self.meta.check

    @property
    def weight(self) -> str:
        return SEVERITIES[self.severity]

    @property
    def columns(self) -> frozenset[str]:
        """Every text among the keyword arguments: the columns that are asked for, and more."""
        return frozenset(_texts(self.kwargs))

    def idle(self, ratings: Ratings) -> str | None:
        column = self.meta.when
        if column and column not in ratings.has:
            return f"column {column} was not delivered, so nothing was checked"
        if _parameters(self.kwargs) and ratings.scale.continuous:
            return "the scale has no list of categories, so nothing was checked"
        return None


def _has_regex(kwargs: Mapping[str, Any]) -> bool:
    try:
        return bool(re.compile(kwargs["regex"]))
    except (KeyError, TypeError, re.error):
        return False


def _copy(kwargs: Mapping[str, Any]) -> Any:
    return json.loads(json.dumps(kwargs))


def _nested_values(value: object) -> Iterator[Any]:
    yield value
    if isinstance(value, Mapping | list):
        for inner in value.values() if isinstance(value, Mapping) else value:
            yield from _nested_values(inner)


def _texts(value: object) -> list[str]:
    return [text for text in _nested_values(value) if isinstance(text, str)]


def _parameters(value: object) -> set[str]:
    return {
        str(inner["$PARAMETER"])
        for inner in _nested_values(value)
        if isinstance(inner, Mapping) and "$PARAMETER" in inner
    }


@dataclass
class _Group:
    firsts: list[str] = field(default_factory=list)
    repeats: bool = False
    at_start: bool = True

    @property
    def is_ambiguous(self) -> bool:
        literal = all(token.isalnum() for token in self.firsts)
        are_distinct = literal and len(set(self.firsts)) == len(self.firsts)
        return self.repeats or (len(self.firsts) > 1 and not are_distinct)

    def begin(self, token: str) -> None:
        if self.at_start:
            self.firsts.append(token)
            self.at_start = False


def may_be_endless(pattern: str) -> bool:
    r"""True if a repeated group can take one text in several ways, or may do so.

    Python then tries twice as many ways for each further letter.

    >>> [may_be_endless(each) for each in ("(a+)+$", "(a|ab)*c", r"(\w+\s?)*$", "(?:(a*)b?)*")]
    [True, True, True, True]
    >>> [may_be_endless(each) for each in (r"[^@]+@[^@]+", "(ab|cd)+", r"(\d{2}-)+x", "[(]+[)]+")]
    [False, False, False, False]
    """
    open_groups, closed = [_Group()], None
    for token in TOKEN.findall(pattern):
        inner = open_groups[-1]
        if REPEATED.match(token) and closed is not None and closed.is_ambiguous:
            return True
        inner.repeats |= bool(VARIABLE.match(token))
        if token.startswith("(") and not token.endswith(")"):
            inner.begin("(")
            open_groups.append(_Group())
            continue
        if token == ")" and len(open_groups) > 1:
            closed = open_groups.pop()
            open_groups[-1].repeats |= closed.repeats
            continue
        if token == "|":
            inner.at_start = True
        elif token[0] not in "*+?{":
            inner.begin(token)
        closed = None
    return False
