"""Great Expectations without its parts for databases, clusters, clouds and plots.

These parts take most of the time of its import. A DataFrame needs none of them.
"""

import atexit
import gc
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from copy import copy
from importlib import import_module
from types import ModuleType
from typing import Any

from agreement_pipeline.errors import ContractError

LEFT_OUT = ("boto3", "botocore", "pyspark", "sqlalchemy")
"""Libraries that Great Expectations uses if they are installed."""

LOADED_LATER = ("altair", "scipy.stats")
"""Libraries that Great Expectations imports, and that one of its expectations uses."""

_wanted: list[Callable[[], None]] = []


def load_lightly() -> None:
    """Import Great Expectations for this process, for DataFrames only.

    This is for a program that does nothing else with it: Great Expectations then sees no
    database and no cluster. Every expectation on a table gives the same result.
    """
    _load(LEFT_OUT)


def load_lightly_when_needed() -> None:
    """Import Great Expectations as `load_lightly` does, when the first contract is checked.

    This is for a program in which nothing else uses it.
    """
    _wanted.append(load_lightly)


def load_as_wanted() -> None:
    """Import Great Expectations, if that was not done yet: lightly, if that was asked for.

    Else it is whole. Only the libraries that it seldom uses are imported when they are used.
    """
    while _wanted:
        _wanted.pop()()
    if "great_expectations" not in sys.modules:
        _load(())


def _load(left_out: Sequence[str]) -> None:
    stood_in, quiet = _stood_in(left_out), warnings.catch_warnings()
    with refused(), stood_in, _copying_less(), _without_collection(), quiet:
        warnings.simplefilter("ignore")
        import_module("great_expectations")


@contextmanager
def refused() -> Iterator[None]:
    """Refuse what would end the program.

    A library may end the program while it is imported, and say that all went well. PySpark's client
    does so in a program that is in no file. Great Expectations then goes without that client.

    Raises
    ------
    ContractError
        The program would have ended.
    """
    in_a_file = hasattr(sys.modules["__main__"], "__file__")
    try:
        with nullcontext() if in_a_file else _put_there({"pyspark.sql.connect": None}):
            yield
    except SystemExit as end:
        raise ContractError(
            f"Great Expectations: found that it ends the program (status {end.code}); expected it "
            "to check the table. Run a program in a file, or use an environment without PySpark."
        ) from None


class _Later(ModuleType):
    """A module that is imported when something in it is first used."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        _take_away(self.__name__, self)
        return getattr(import_module(self.__name__), name)


@contextmanager
def _stood_in(left_out: Sequence[str]) -> Iterator[None]:
    """Hide libraries that are not loaded yet, or put a stand-in there."""
    later = {name: _Later(name) for name in LOADED_LATER}
    with _put_there(dict.fromkeys(left_out) | later):
        yield


@contextmanager
def _put_there(stand_ins: dict[str, Any]) -> Iterator[None]:
    """Put stand-ins where modules are not loaded yet. None hides a module."""
    absent = {name: module for name, module in stand_ins.items() if name not in sys.modules}
    sys.modules.update(absent)
    try:
        yield
    finally:
        for name, module in absent.items():
            _take_away(name, module)


def _take_away(name: str, stand_in: ModuleType | None) -> None:
    if name in sys.modules and sys.modules[name] is stand_in:
        del sys.modules[name]


@contextmanager
def _copying_less() -> Iterator[None]:
    """Let a class share what its fields inherit, down to what a class changes in them.

    Great Expectations is made of hundreds of pydantic classes. Each copies all that it inherits.
    """
    pydantic = import_module("pydantic.v1.main")
    deeply = pydantic.smart_deepcopy
    vars(pydantic)["smart_deepcopy"] = _copied
    try:
        yield
    finally:
        vars(pydantic)["smart_deepcopy"] = deeply


def _copied(fields: dict[str, Any]) -> dict[str, Any]:
    found = {name: copy(field) for name, field in fields.items()}
    for field in found.values():
        field.field_info = copy(field.field_info)
        field.class_validators = dict(field.class_validators)
    return found


@contextmanager
def _without_collection() -> Iterator[None]:
    """Keep the collector still, now and later: what an import makes is no garbage.

    At the end it looks at all again, or DuckDB would warn of what it left.
    """
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()
        atexit.register(gc.unfreeze)
