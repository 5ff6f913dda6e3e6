"""Settings that are checked when they are made, in Python or from a file.

A dataclass checks its fields at birth, and pydantic runs the same checks when it reads a file, so
that one error lists every mistake.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import date
from functools import cache
from math import inf
from typing import Any, NamedTuple, get_args, get_type_hints

from agreement_pipeline.errors import AgreementError

MAX_SHOWN_CHARACTERS = 60
CLOSED = {"extra": "forbid"}


@dataclass(frozen=True)
class Value:
    """What the value of a field must be, unless its annotation allows None. Use it there.

    `step` says what to do about a wrong value. If it is `nested`, pydantic must first read the
    value as the rest of the annotation says, for example as a tuple of other settings. `read` gives
    the value of what a file says.
    """

    expected: str
    meets: Callable[[Any], bool]
    step: str = "Correct the value."
    nested: bool = False
    read: Callable[[Any], Any] = lambda value: value

    def checked_value(self, value: Any) -> Any:
        if not self.meets(value):
            raise ValueError(
                f"found {value_in_message(value)}; expected {self.expected}. {self.step}"
            )
        return value

    def or_none_if_optional(self, kind: Any) -> "Value":
        if type(None) not in get_args(kind):
            return self
        return replace(self, meets=lambda value: value is None or self.meets(value))

    def __get_pydantic_core_schema__(self, source: Any, handler: Callable[[Any], Any]) -> Any:
        value = self.or_none_if_optional(source)
        return {
            "type": "function-after",
            "function": {"type": "no-info", "function": value.checked_value},
            "schema": {
                "type": "function-before",
                "function": {"type": "no-info", "function": self.read},
                "schema": handler(source) if self.nested else {"type": "any"},
            },
        }


KeyPath = tuple[str | int, ...]


class Requirement(NamedTuple):
    where: str | KeyPath
    met: bool
    expected: str
    step: str = "Correct the value."
    found: str | None = None


def refuse_mistakes(
    settings: object, error: type[AgreementError], needs: Iterable[Requirement] = ()
) -> None:
    """The error names every field with its mistake.

    The `needs` of several fields are asked only if each field is right on its own.
    """
    mistakes = tuple(_iterate_wrong_fields(settings)) or tuple(
        _iterate_unmet_needs(settings, needs)
    )
    if mistakes:
        refusal = error(" ".join(f"{key_in_message(path)}: {words}" for path, words in mistakes))
        refusal.mistakes = mistakes
        raise refusal


def refuse_unfit_values(
    expected: Mapping[str, Value], values: Mapping[str, object], error: type[AgreementError]
) -> None:
    for name in filter(values.__contains__, expected):
        try:
            expected[name].checked_value(values[name])
        except ValueError as cause:
            raise error(f"{name}: {cause}") from None


def value_in_message(value: object) -> str:
    """A long value is cut. A tuple is shown as the list of a file.

    >>> value_in_message("a"), len(value_in_message("a" * 1000))
    ("'a'", 61)
    """
    text = repr(list(value) if isinstance(value, tuple) else value)
    return f"{text[:MAX_SHOWN_CHARACTERS]}{'…' * (len(text) > MAX_SHOWN_CHARACTERS)}"


def is_whole_number_between(minimum: float = -inf, maximum: float = inf) -> Callable[[Any], bool]:
    """`True` is no number."""
    return lambda value: is_number(value) and isinstance(value, int) and minimum <= value <= maximum


def is_instance_of(*kinds: type) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, kinds)


def is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def is_text(value: object) -> bool:
    return isinstance(value, str) and bool(value.strip())


def _parse_day(value: object) -> object:
    try:
        return date.fromisoformat(value) if isinstance(value, str) else value
    except ValueError:
        return value


def day_value(step: str = "Correct the value.") -> Value:
    is_day = "a day, as 2027-01-31", lambda value: type(value) is date
    return Value(*is_day, step, read=_parse_day)


def one_of_value(among: tuple[Any, ...]) -> Value:
    return Value(f"one of {', '.join(map(str, among))}", lambda value: value in among)


def key_in_message(path: KeyPath) -> str:
    """The last key of a path, with the list that it stands in.

    >>> key_in_message(("scale", "level")), key_in_message(("rules", 1, "scope"))
    ('level', 'rules[1].scope')
    """
    *parents, last_key = path
    if isinstance(last_key, int) and parents:
        return f"{key_in_message(tuple(parents))}[{last_key}]"
    in_list = any(isinstance(step, int) for step in parents)
    return f"{key_in_message(tuple(parents))}.{last_key}" if in_list else str(last_key)


def _iterate_wrong_fields(settings: Any) -> Iterator[tuple[KeyPath, str]]:
    kind: Any = type(settings)
    for name, values in _list_values_by_field(kind).items():
        try:
            for value in values:
                value.checked_value(getattr(settings, name))
        except ValueError as cause:
            yield (name,), str(cause).removeprefix(f"{name}: ")


@cache
def _list_values_by_field(kind: type) -> dict[str, tuple[Value, ...]]:
    hints = get_type_hints(kind, include_extras=True)
    values_by_field: dict[str, tuple[Value, ...]] = {}
    for name, hint in hints.items():
        annotation, *constraints = get_args(hint) or (hint,)
        values_by_field[name] = tuple(
            constraint.or_none_if_optional(annotation)
            for constraint in constraints
            if isinstance(constraint, Value)
        )
    return values_by_field


def _iterate_unmet_needs(
    settings: object, needs: Iterable[Requirement]
) -> Iterator[tuple[KeyPath, str]]:
    for need in needs:
        if not need.met:
            path = (need.where,) if isinstance(need.where, str) else need.where
            found_phrase = need.found or value_in_message(getattr(settings, str(path[-1])))
            yield path, f"found {found_phrase}; expected {need.expected}. {need.step}".rstrip()
