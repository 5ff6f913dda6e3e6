"""Great Expectations, and only here: how it is imported, what it is asked, and what it says."""

import gc
import math
import sys
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from os import getpid
from typing import Any

import numpy as np
import pandas as pd

from agreement_pipeline.errors import ContractError
from agreement_pipeline.text import one_line

PYSPARK_CLIENT = "pyspark.sql.connect"
MIN_ROWS_TO_COLLECT = 10_000
"""From so many rows on, memory is given back at once."""
MAX_ROWS_NAMED = 20


@contextmanager
def using_great_expectations() -> Iterator[None]:
    """Hide Great Expectations' warnings, and refuse what would end the program.

    As errors, the warnings would look like failed checks. Great Expectations imports PySpark's
    client, which takes a program in no file, such as `python -c` or a worker of pytest, for its own
    tests. If it lacks a library or meets a warning as an error, it ends the program, and says that
    all went well. So it is hidden then: Great Expectations goes on without what it does not find.
    """
    is_in_no_file = not hasattr(sys.modules["__main__"], "__file__")
    hides_pyspark = is_in_no_file and PYSPARK_CLIENT not in sys.modules
    if hides_pyspark:
        sys.modules[PYSPARK_CLIENT] = None  # type: ignore[assignment]  # Python's own way to hide one
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    except SystemExit as end:
        raise ContractError(
            f"Great Expectations: found that it ends the program (status {end.code}); expected it "
            "to check the table. Run a program in a file, or use an environment without PySpark."
        ) from None
    finally:
        if hides_pyspark:
            del sys.modules[PYSPARK_CLIENT]


def validate_frame(
    name: str, entries: Sequence[Mapping[str, Any]], frame: pd.DataFrame
) -> dict[str, Any]:
    """What Great Expectations says of a table, in its own form and in plain values.

    Of each expectation it names the places of the first rows that fail. What it says would not be
    written as JSON by itself if an answer is a truth value of NumPy.
    """
    with using_great_expectations():
        import great_expectations
        from great_expectations.expectations.expectation_configuration import (
            ExpectationConfiguration,
        )

        context = _context_of_process(getpid())
        # `add_expectation` would leave out one that is like another, but for its severity.
        expectations = [ExpectationConfiguration(**entry).to_domain_obj() for entry in entries]
        suite = great_expectations.ExpectationSuite(name=name, expectations=expectations)
        source = context.data_sources.add_or_update_pandas("delivery")
        batch_definition = source.add_dataframe_asset("table").add_batch_definition_whole_dataframe(
            "whole"
        )
        batch = batch_definition.get_batch(batch_parameters={"dataframe": frame})
        summary = {"result_format": "SUMMARY", "partial_unexpected_count": MAX_ROWS_NAMED}
        result = batch.validate(suite, result_format=summary)
        mapping = {
            "success": bool(result.success),
            "suite_name": name,
            "suite_parameters": {},
            "statistics": plain_value(result.statistics),
            "meta": {"great_expectations_version": great_expectations.__version__},
            "id": None,
            "results": [_plain_result(expectation_result) for expectation_result in result.results],
        }
        context.data_sources.delete("delivery")
    if len(frame) > MIN_ROWS_TO_COLLECT:  # it leaves the table in cycles
        del batch, batch_definition, source, result
        gc.collect()
    return mapping


@cache
def _context_of_process(_process: int) -> Any:
    """In memory alone. Each one would make a temporary folder of its own."""
    import great_expectations

    context = great_expectations.get_context(mode="ephemeral")
    context.variables.progress_bars = {"globally": False}
    return context


def refuse_unknown(entry: Mapping[str, Any], place: object) -> None:
    """Refuse what Great Expectations does not know, or keyword arguments that do not fit."""
    with using_great_expectations():
        from great_expectations.expectations.expectation_configuration import (
            ExpectationConfiguration,
        )

        _context_of_process(getpid())
        try:
            ExpectationConfiguration(**entry).to_domain_obj()
        except Exception as error:
            raise ContractError(
                f"{place}: found {entry['type']} with {entry['kwargs']} ({one_line(error)}); "
                "expected an expectation that Great Expectations knows, with its keyword "
                "arguments. Correct the spelling, or import the module of your own class first."
            ) from None


def _plain_result(result: Any) -> dict[str, Any]:
    report = plain_value(result.exception_info or {})
    for inner in (report, *(value for value in report.values() if isinstance(value, dict))):
        if "exception_traceback" in inner:  # it has paths of this machine
            inner["exception_traceback"] = None
    return {
        "success": bool(result.success),
        "expectation_config": plain_value(result.expectation_config.to_json_dict()),
        "result": plain_value(result.result or {}),
        "meta": plain_value(result.meta or {}),
        "exception_info": report,
    }


def raised_message(result: Mapping[str, Any]) -> str | None:
    """Why an expectation could not be run, of a result in Great Expectations' own form."""
    info = result.get("exception_info") or {}
    reports = [info] if "raised_exception" in info else list(info.values())
    return next(
        (str(report["exception_message"]) for report in reports if report["raised_exception"]), None
    )


def plain_value(value: Any) -> Any:
    """Texts, numbers, flags, lists and mappings for JSON. What is no number is null."""
    if isinstance(value, Mapping):
        return {str(key): plain_value(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple | set | frozenset | np.ndarray | pd.Series | pd.Index):
        return [plain_value(inner) for inner in value]
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or value is pd.NaT or value is pd.NA:
        return None
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value if isinstance(value, str | int) else str(value)
