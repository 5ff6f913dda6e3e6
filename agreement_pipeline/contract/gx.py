"""Great Expectations, and only here: how it is imported, what it is asked, and what it says.

Its parts for databases, clusters, clouds and plots take most of the time of its import. A DataFrame
needs none of them.
"""

import atexit
import gc
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from contextvars import ContextVar
from copy import copy
from functools import cache
from importlib import import_module
from types import ModuleType
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import pandas as pd

from agreement_pipeline.contract.expectations import Expectation
from agreement_pipeline.errors import ContractError
from agreement_pipeline.yaml_files import Place

LEFT_OUT = ("boto3", "botocore", "pyspark", "sqlalchemy")
"""Libraries that Great Expectations uses if they are installed. Without them it saves .4 CPU s."""
LOADED_LATER = ("altair", "scipy.stats")
"""Libraries that one of its expectations uses. It saves .5 CPU s to import them when it does."""
KEPT = 20
MANY = 10_000
"""From so many rows on, what holds for few rows is not asked of all."""
PRESENT, UNIQUE = "expect_column_values_to_not_be_null", "expect_compound_columns_to_be_unique"
OF_VALUES = frozenset(
    f"expect_column_{what}"
    for what in (
        "value_lengths_to_be_between",
        "value_lengths_to_equal",
        "values_to_be_in_set",
        "values_to_match_regex",
        "values_to_match_regex_list",
        "values_to_not_be_null",
        "values_to_not_match_regex",
        "values_to_not_match_regex_list",
    )
)
"""Expectations that judge each value alone."""
Suite: TypeAlias = Mapping[str, Any]
"""Great Expectations' own objects by check."""

_left_out: list[str] = []
_made: ContextVar[dict[int, tuple[Any, Any]] | None] = ContextVar("made", default=None)


def load_lightly() -> None:
    """Import Great Expectations for this process, for DataFrames only.

    It then sees no database and no cluster. Every expectation on a table gives the same result.
    """
    _load(LEFT_OUT)


def load_lightly_when_needed() -> None:
    """Import Great Expectations as `load_lightly` does, when the first contract is checked.

    This is for a program in which nothing else uses it.
    """
    _left_out.extend(LEFT_OUT)


def load_as_wanted() -> None:
    """Import Great Expectations, if that was not done yet: lightly, if that was asked for."""
    if "great_expectations" not in sys.modules:
        _load(_left_out)


def _load(left_out: Sequence[str]) -> None:
    stand_ins = dict.fromkeys(left_out) | {name: _Later(name) for name in LOADED_LATER}
    with _put_there(stand_ins), _copying_less(), _without_collection(), _using():
        import_module("great_expectations")


@contextmanager
def _using() -> Iterator[None]:
    """Hide Great Expectations' warnings, and refuse what would end the program.

    As errors, the warnings would look like failed checks. PySpark's client ends a program that is
    in no file, and says that all went well. So it is hidden then.
    """
    in_a_file = hasattr(sys.modules["__main__"], "__file__")
    absent = nullcontext() if in_a_file else _put_there({"pyspark.sql.connect": None})
    try:
        with absent, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    except SystemExit as end:
        raise ContractError(
            f"Great Expectations: found that it ends the program (status {end.code}); expected it "
            "to check the table. Run a program in a file, or use an environment without PySpark."
        ) from None


class _Later(ModuleType):
    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        _take_away(self.__name__, self)
        return getattr(import_module(self.__name__), name)


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

    Great Expectations is made of hundreds of pydantic classes. Each copies all that it inherits,
    which takes .2 CPU s.
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

    It saves .2 CPU s. At the end it looks at all again, or DuckDB would warn of what it left.
    """
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()
        atexit.register(gc.unfreeze)


class Answer(NamedTuple):
    """What Great Expectations says of one expectation; `raised` is the message of an exception."""

    success: bool
    result: Mapping[str, Any]
    raised: str | None = None


def suite_of(expectations: Sequence[Expectation], where: Place) -> dict[str, Any]:
    """Great Expectations' own objects by check, built one by one.

    A suite that is built from plain data silently drops what it does not know.
    """
    load_as_wanted()
    with _using():
        from great_expectations.expectations.expectation_configuration import (
            ExpectationConfiguration,
        )

        suite = {}
        for number, expectation in enumerate(expectations):
            entry = expectation.to_mapping() | {"meta": {"check": expectation.check}}
            try:
                suite[expectation.check] = ExpectationConfiguration(**entry).to_domain_obj()
            except Exception as error:
                raise ContractError(
                    f"{where / number}: found {expectation.type} with {entry['kwargs']} "
                    f"({one_line(error)}); expected an expectation that Great Expectations knows, "
                    "with its keyword arguments. Correct the spelling."
                ) from None
        return suite


def answers(suite: Suite, frame: pd.DataFrame, parameters: Mapping[str, Any]) -> dict[str, Answer]:
    """What Great Expectations says of a table, by check.

    What holds for each distinct value holds for each row, and rows that increase are unique. Of a
    large table, such expectations are first asked of few rows, which saves a quarter of the memory.
    """
    known: dict[str, Answer] = {}
    for check, built in suite.items() if len(frame) > MANY else ():
        some, n_missing = _telling(built, frame)
        if some is not None:
            said = _asked({check: built}, some, parameters)[check]
            if said.raised is None and not said.result["unexpected_count"]:
                counted = {"element_count": len(frame), "missing_count": n_missing}
                known[check] = Answer(True, {**said.result, **counted})
    rest = {check: built for check, built in suite.items() if check not in known}
    return known | _asked(rest, frame, parameters)


def _telling(built: Any, frame: pd.DataFrame) -> tuple[pd.DataFrame | None, int]:
    """Rows of which an expectation holds only if it holds of all, and how many lack a value."""
    if built.expectation_type == UNIQUE:
        return (frame.iloc[:1] if _increase(frame, built.column_list) else None), 0
    if built.expectation_type not in OF_VALUES or not _is_coded(frame, built.column):
        return None, 0
    column = frame[built.column].cat
    n_missing = int((column.codes < 0).sum())
    if n_missing and built.expectation_type == PRESENT:
        return None, n_missing
    return pd.DataFrame({built.column: column.categories}), n_missing


def _increase(frame: pd.DataFrame, names: Sequence[str]) -> bool:
    """True if each row comes after the row above it, by some columns without missing values."""
    equal = np.ones(len(frame) - 1, dtype=bool)
    for name in names:
        codes = frame[name].cat.codes if _is_coded(frame, name) else frame.get(name)
        if codes is None or codes.dtype.kind != "i" or (codes < 0).any():
            return False
        values = codes.to_numpy()
        if (values[1:] < values[:-1])[equal].any():
            return False
        equal &= values[1:] == values[:-1]
    return not equal.any()


def _is_coded(frame: pd.DataFrame, name: object) -> bool:
    return name in frame and isinstance(frame[name].dtype, pd.CategoricalDtype)


def _asked(suite: Suite, frame: pd.DataFrame, parameters: Mapping[str, Any]) -> dict[str, Answer]:
    """What it says from one run.

    The table is given to its engine. A data context would make a digest of all its cells.
    """
    if not suite:
        return {}
    load_as_wanted()
    with _using():
        from great_expectations.execution_engine import PandasExecutionEngine
        from great_expectations.validator.validator import Validator

        engine = PandasExecutionEngine()
        engine.load_batch_data("table", frame)
        validator = Validator(execution_engine=engine)
        validator.metrics_calculator.show_progress_bars = False
        asked = validator.process_expectations_for_validation(
            [built.configuration for built in suite.values()], dict(parameters)
        )
        summary = {"result_format": "SUMMARY", "partial_unexpected_count": KEPT}
        with _made_once():
            results = validator.graph_validate(
                asked, runtime_configuration={"result_format": summary}
            )
    return {
        each.expectation_config.meta["check"]: Answer(
            bool(each.success), each.result or {}, _raised(each.exception_info or {})
        )
        for each in results
    }


@contextmanager
def _made_once() -> Iterator[None]:
    """Let each expectation, and its description, be made once here, and not for each argument.

    It saves .09 of the 1.4 CPU s that `judge` takes for a small file. Other threads see no
    difference.
    """
    _make_once()
    token = _made.set({})
    try:
        yield
    finally:
        _made.reset(token)


@cache
def _make_once() -> None:
    expectations = "great_expectations.expectations"
    expectation = import_module(f"{expectations}.expectation").Expectation
    described = import_module(f"{expectations}.expectation_configuration").ExpectationConfiguration
    expectation.configuration = property(_kept(expectation.configuration.fget))
    described.to_domain_obj = _kept(described.to_domain_obj)


def _kept(make: Callable[[Any], Any]) -> Callable[[Any], Any]:
    def made(of: Any) -> Any:
        known = _made.get()
        if known is None:
            return make(of)
        if id(of) not in known:
            known[id(of)] = of, make(of)  # it is kept, so no other gets its number
        return known[id(of)][1]

    return made


def one_line(message: object) -> str:
    """A message in one line."""
    return " ".join(str(message).split())


def _raised(info: Mapping[str, Any]) -> str | None:
    reports = [info] if "raised_exception" in info else list(info.values())
    return next(
        (str(report["exception_message"]) for report in reports if report["raised_exception"]), None
    )
