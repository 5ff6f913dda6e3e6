"""Great Expectations, and only here.

This module says what is asked of it, runs it, and turns what it says into findings.
"""

import math
import re
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from agreement_pipeline.contract.expectations import Expectation
from agreement_pipeline.contract.finding import Finding
from agreement_pipeline.errors import ContractError
from agreement_pipeline.ratings import Ratings, Scale
from agreement_pipeline.text import listed
from agreement_pipeline.yaml_files import Place

SHOWN, KEPT = 5, 20
REDACTED = "(redacted)"


class Derived(NamedTuple):
    """A table that is derived from ratings: its name, its keys, and how it is made."""

    name: str
    keys: list[str]
    of: Callable[[Ratings], pd.DataFrame]


def validate(
    expectations: Sequence[Expectation],
    ratings: Ratings,
    table: Derived,
    personal: Sequence[str],
    where: Place,
) -> list[Finding]:
    """One finding for each expectation on one table, in order, from one run of Great Expectations.

    Parameters
    ----------
    expectations
        All on the same table.
    ratings, table
        The ratings, and the table that is derived from them.
    personal
        Regular expressions of personal data. Values that match one are redacted.
    where
        Where the list of expectations was read.

    Raises
    ------
    ContractError
        Great Expectations does not know an expectation, or not its keyword arguments.
    """
    idle = {expectation.check: expectation.idle(ratings) for expectation in expectations}
    suite = _suite(expectations, where)
    finds = partial(_finding, table=table, personal=personal)
    try:
        frame = table.of(ratings)
        asked = [built for check, built in suite.items() if not idle[check]]
        results = _results(asked, frame, ratings.scale)
        return [
            finds(each, idle[each.check], results.get(each.check), frame) for each in expectations
        ]
    except Exception as error:  # whatever it was, nothing was checked, and the release waits
        why = f"{type(error).__name__}: {error}"
        return [_not_run(each, table.name, why, personal) for each in expectations]


def _suite(expectations: Sequence[Expectation], where: Place) -> dict[str, Any]:
    """Great Expectations' own objects by check, built one by one.

    A suite that is built from plain data silently drops what it does not know.
    """
    with _without_warnings():
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
                    f"({_line(error)}); expected an expectation that Great Expectations knows, "
                    "with its keyword arguments. Correct the spelling."
                ) from None
        return suite


def _results(suite: Sequence[Any], frame: pd.DataFrame, scale: Scale) -> dict[str, Any]:
    """What Great Expectations says of a table, by check, in a context in memory."""
    if not suite:
        return {}
    with _without_warnings():
        import great_expectations as gx
        from great_expectations.data_context.types.base import (
            DataContextConfig,
            InMemoryStoreBackendDefaults,
        )

        config = DataContextConfig(
            store_backend_defaults=InMemoryStoreBackendDefaults(), progress_bars={"globally": False}
        )
        context = gx.get_context(mode="ephemeral", project_config=config)
        batch = (
            context.data_sources.add_pandas("ratings")
            .add_dataframe_asset("table")
            .add_batch_definition_whole_dataframe("whole")
        )
        expected = context.suites.add(
            gx.ExpectationSuite(name="contract", expectations=list(suite))
        )
        run = gx.ValidationDefinition(name="contract", data=batch, suite=expected).run(
            batch_parameters={"dataframe": frame},
            expectation_parameters={"vocabulary": list(scale.categories or ())},
            result_format={"result_format": "SUMMARY", "partial_unexpected_count": KEPT},
        )
    return {result.expectation_config.meta["check"]: result for result in run.results}


@contextmanager
def _without_warnings() -> Iterator[None]:
    """Hide Great Expectations' warnings, which are about its own insides.

    As errors they would look like failed checks.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def _finding(
    expectation: Expectation,
    idle: str | None,
    result: Any,
    frame: pd.DataFrame,
    *,
    table: Derived,
    personal: Sequence[str],
) -> Finding:
    """What was found, or why nothing was."""
    if idle:
        return _worded(expectation, table.name, True, idle, {})
    if result is None:
        return _not_run(expectation, table.name, "no result came back", personal)
    raised = _raised(result.exception_info or {})
    if raised:
        return _not_run(expectation, table.name, raised, personal)
    observed = _observed(result.result, frame, table.keys, personal)
    found = _found(observed, table.name)
    return _worded(expectation, table.name, bool(result.success), found, observed)


def _worded(
    expectation: Expectation, table: str, passed: bool, found: str, observed: Mapping[str, Any]
) -> Finding:
    words = f"{expectation.check}: {found}; {expectation.description}"
    return Finding(
        expectation.check, table, passed, expectation.weight, words, tuple(observed.items())
    )


def _not_run(expectation: Expectation, table: str, why: str, personal: Sequence[str]) -> Finding:
    """An error, whatever severity was declared."""
    said = f"could not be run ({_plain(_line(why), personal)})"
    return replace(_worded(expectation, table, False, said, {}), severity="error")


def _raised(info: Mapping[str, Any]) -> str | None:
    """The message of an exception, which Great Expectations reports flat or by metric."""
    reports = [info] if "raised_exception" in info else list(info.values())
    return next(
        (str(report["exception_message"]) for report in reports if report["raised_exception"]), None
    )


def _observed(
    result: Mapping[str, Any], frame: pd.DataFrame, keys: Sequence[str], personal: Sequence[str]
) -> dict[str, Any]:
    """What Great Expectations reports as plain data, with the keys of the failing rows."""
    if "element_count" not in result:
        return (
            {"observed_value": _plain(result["observed_value"], personal)}
            if "observed_value" in result
            else {}
        )
    rows = frame.loc[
        result.get("partial_unexpected_index_list") or [], [key for key in keys if key in frame]
    ]
    missing = int(result.get("missing_count", 0))
    return {
        "checked": int(result["element_count"]) - missing,
        "missing": missing,
        "unexpected": int(result["unexpected_count"]),
        "failing": tuple(_plain(key, personal) for key in rows.itertuples(index=False, name=None)),
    }


def _found(observed: Mapping[str, Any], noun: str) -> str:
    if "unexpected" not in observed:
        return _shown(observed.get("observed_value"))
    missing = f", {observed['missing']} without a value" if observed["missing"] else ""
    failing = [key[0] if len(key) == 1 else key for key in observed["failing"][:SHOWN]]
    first = f", first {listed(failing)}" if failing else ""
    return f"{observed['unexpected']} of {observed['checked']} {noun} fail{missing}{first}"


def _shown(value: object) -> str:
    if value is None:
        return "no value reported"
    if isinstance(value, tuple):
        return f"{listed(value, KEPT)} found"
    return f"{value:.4g} found" if isinstance(value, float) else f"{value} found"


def _plain(value: Any, personal: Sequence[str]) -> Any:
    """A value as Python's own. NaN is None, and personal data are redacted."""
    if isinstance(value, (list, tuple)):
        return tuple(_plain(inner, personal) for inner in value)
    value = value.item() if isinstance(value, np.generic) else value
    if (
        value is None
        or value is pd.NA
        or value is pd.NaT
        or (isinstance(value, float) and math.isnan(value))
    ):
        return None
    if isinstance(value, (bool, int, float)):
        return value
    return REDACTED if any(re.search(pattern, str(value)) for pattern in personal) else str(value)


def _line(message: object) -> str:
    return " ".join(str(message).split())
