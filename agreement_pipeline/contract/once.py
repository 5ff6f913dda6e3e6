"""Great Expectations, which makes each object once while it checks a table.

Great Expectations describes an expectation anew whenever it reads one of its arguments. And it
makes an expectation anew for each metric. That is most of the time that a small table takes.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from importlib import import_module
from typing import Any, TypeAlias

SIMPLE = (str, bool, int, type(None))
"""Values that stand in JSON as they are."""

Made: TypeAlias = dict[tuple[int, str], tuple[Any, Any]]
"""What was made of an object, by its number. The object is kept, so no other gets its number."""

_made: ContextVar[Made | None] = ContextVar("made", default=None)


@contextmanager
def made_once() -> Iterator[None]:
    """Let expectations and their descriptions be made once. Nobody may change them here.

    Other threads see no difference.
    """
    _keep_what_is_made()
    token = _made.set({})
    try:
        yield
    finally:
        _made.reset(token)


@cache
def _keep_what_is_made() -> None:
    """Put methods into Great Expectations that keep what they make, inside `made_once` only."""
    described = import_module("great_expectations.expectations.expectation_configuration")
    expectation = import_module("great_expectations.expectations.expectation").Expectation
    numbers = import_module("great_expectations.core.id_dict")
    expectation.configuration = property(_kept("description", expectation.configuration.fget))
    described.ExpectationConfiguration.to_domain_obj = _kept(
        "expectation", described.ExpectationConfiguration.to_domain_obj
    )
    vars(numbers)["convert_to_json_serializable"] = _quick(numbers.convert_to_json_serializable)


def _kept(what: str, make: Callable[[Any], Any]) -> Callable[[Any], Any]:
    def made(of: Any) -> Any:
        known = _made.get()
        if known is None:
            return make(of)
        key = id(of), what
        if key not in known:
            known[key] = of, make(of)
        return known[key][1]

    return made


def _quick(convert: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """A conversion of a mapping for JSON that gives simple ones back as they are."""

    def converted(data: dict[Any, Any]) -> Any:
        simple = all(type(key) is str and type(held) in SIMPLE for key, held in data.items())
        return data if simple else convert(data)

    return converted
