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

LONGEST = 60
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

    def check(self, value: Any) -> Any:
        if not self.meets(value):
            raise ValueError(f"found {shown(value)}; expected {self.expected}. {self.step}")
        return value

    def of_kind(self, kind: Any) -> "Value":
        if type(None) not in get_args(kind):
            return self
        return replace(self, meets=lambda value: value is None or self.meets(value))

    def __get_pydantic_core_schema__(self, source: Any, handler: Callable[[Any], Any]) -> Any:
        value = self.of_kind(source)
        return {
            "type": "function-after",
            "function": {"type": "no-info", "function": lambda said: value.check(self.read(said))},
            "schema": handler(source) if self.nested else {"type": "any"},
        }


KeyPath = tuple[str | int, ...]


class Need(NamedTuple):
    where: str | KeyPath
    met: bool
    expected: str
    step: str = "Correct the value."
    found: str | None = None


def refuse_mistakes(
    settings: object, error: type[AgreementError], needs: Iterable[Need] = ()
) -> None:
    """The error names every field with its mistake.

    The `needs` of several fields are asked only if each field is right on its own.
    """
    mistakes = tuple(_wrong_fields(settings)) or tuple(_unmet(settings, needs))
    if mistakes:
        refusal = error(" ".join(f"{dotted(path)}: {words}" for path, words in mistakes))
        refusal.mistakes = mistakes
        raise refusal


def refuse_unfit(
    expected: Mapping[str, Value], given: Mapping[str, object], error: type[AgreementError]
) -> None:
    for name in filter(given.__contains__, expected):
        try:
            expected[name].check(given[name])
        except ValueError as cause:
            raise error(f"{name}: {cause}") from None


def shown(value: object) -> str:
    """A long value is cut. A tuple is shown as the list of a file.

    >>> shown("a"), len(shown("a" * 1000))
    ("'a'", 61)
    """
    text = repr(list(value) if isinstance(value, tuple) else value)
    return f"{text[:LONGEST]}{'…' * (len(text) > LONGEST)}"


def whole(least: float = -inf, most: float = inf) -> Callable[[Any], bool]:
    """`True` is no number."""
    return lambda value: is_number(value) and isinstance(value, int) and least <= value <= most


def is_a(*kinds: type) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, kinds)


def is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def is_text(value: object) -> bool:
    return isinstance(value, str) and bool(value.strip())


def _day(said: object) -> object:
    try:
        return date.fromisoformat(said) if isinstance(said, str) else said
    except ValueError:
        return said


def day(step: str = "Correct the value.") -> Value:
    is_day = "a day, as 2027-01-31", lambda value: type(value) is date
    return Value(*is_day, step, read=_day)


def one_of(among: tuple[Any, ...]) -> Value:
    return Value(f"one of {', '.join(map(str, among))}", lambda value: value in among)


def dotted(path: KeyPath) -> str:
    """The last key of a path, with the list that it stands in.

    >>> dotted(("scale", "level")), dotted(("rules", 1, "scope"))
    ('level', 'rules[1].scope')
    """
    *around, last = path
    if isinstance(last, int) and around:
        return f"{dotted(tuple(around))}[{last}]"
    in_list = any(isinstance(step, int) for step in around)
    return f"{dotted(tuple(around))}.{last}" if in_list else str(last)


def _wrong_fields(settings: Any) -> Iterator[tuple[KeyPath, str]]:
    kind: Any = type(settings)
    for name, values in _values(kind).items():
        try:
            for value in values:
                value.check(getattr(settings, name))
        except ValueError as cause:
            yield (name,), str(cause).removeprefix(f"{name}: ")


@cache
def _values(kind: type) -> dict[str, tuple[Value, ...]]:
    hints = get_type_hints(kind, include_extras=True)
    found: dict[str, tuple[Value, ...]] = {}
    for name, hint in hints.items():
        of, *asked = get_args(hint) or (hint,)
        found[name] = tuple(each.of_kind(of) for each in asked if isinstance(each, Value))
    return found


def _unmet(settings: object, needs: Iterable[Need]) -> Iterator[tuple[KeyPath, str]]:
    for need in needs:
        if not need.met:
            path = (need.where,) if isinstance(need.where, str) else need.where
            found = need.found or shown(getattr(settings, str(path[-1])))
            yield path, f"found {found}; expected {need.expected}. {need.step}".rstrip()
