"""Great Expectations without its parts for databases, clusters, clouds and plots.

These parts take most of the time of its import. A table in memory needs none of them.
"""

import gc
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from types import ModuleType
from typing import Any

from agreement_pipeline.errors import ContractError

LEFT_OUT = ("boto3", "botocore", "pyspark", "sqlalchemy")
"""Libraries that Great Expectations uses if they are installed."""

LOADED_LATER = ("altair", "scipy.stats")
"""Libraries that Great Expectations imports, and that one of its expectations uses."""


def load_lightly() -> None:
    """Import Great Expectations for this process, for tables in memory only.

    This is for a program that does nothing else with it: Great Expectations then sees no
    database and no cluster. Every expectation on a table gives the same result.
    """
    with refused(), _stood_in(), _without_collection(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import_module("great_expectations")


@contextmanager
def refused() -> Iterator[None]:
    """Refuse what would end the program.

    A library may end the program while it is imported, and say that all went well.

    Raises
    ------
    ContractError
        The program would have ended.
    """
    try:
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
def _stood_in() -> Iterator[None]:
    """Hide the libraries that are not loaded yet, or put a stand-in there."""
    stand_ins: dict[str, Any] = dict.fromkeys(LEFT_OUT) | {n: _Later(n) for n in LOADED_LATER}
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
def _without_collection() -> Iterator[None]:
    """Keep the collector still, now and later: what an import makes is no garbage."""
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()
