"""Great Expectations, and only here: what is asked of it, and what it says."""

import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple, TypeAlias

import pandas as pd

from agreement_pipeline.contract.expectations import Expectation
from agreement_pipeline.contract.lightly import load_as_wanted, refused
from agreement_pipeline.contract.once import made_once
from agreement_pipeline.errors import ContractError
from agreement_pipeline.yaml_files import Place

KEPT = 20
SUMMARY = {"result_format": "SUMMARY", "partial_unexpected_count": KEPT}
Suite: TypeAlias = Mapping[str, Any]
"""Great Expectations' own objects by check."""


class Answer(NamedTuple):
    """What Great Expectations says of one expectation.

    Attributes
    ----------
    success
        True if the expectation holds.
    result
        What was counted or observed.
    raised
        The message of an exception. None if there was none.
    """

    success: bool
    result: Mapping[str, Any]
    raised: str | None = None


def suite_of(expectations: Sequence[Expectation], where: Place) -> dict[str, Any]:
    """Great Expectations' own objects by check, built one by one.

    A suite that is built from plain data silently drops what it does not know.

    Raises
    ------
    ContractError
        Great Expectations cannot be imported here. Or it does not know an expectation, or not its
        keyword arguments.
    """
    load_as_wanted()
    with _without_warnings(), refused():
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


def answers(
    suite: Suite,
    frame: pd.DataFrame,
    parameters: Mapping[str, Any],
    result_format: Mapping[str, Any] = SUMMARY,
) -> dict[str, Answer]:
    """What Great Expectations says of a table, by check, from one run.

    The table is given to its engine. A data context would make a digest of all its cells.
    """
    if not suite:
        return {}
    load_as_wanted()
    with _without_warnings(), refused():
        from great_expectations.execution_engine import PandasExecutionEngine
        from great_expectations.validator.validator import Validator

        engine = PandasExecutionEngine()
        engine.load_batch_data("table", frame)
        validator = Validator(execution_engine=engine)
        validator.metrics_calculator.show_progress_bars = False
        asked = validator.process_expectations_for_validation(
            [built.configuration for built in suite.values()], dict(parameters)
        )
        with made_once():
            results = validator.graph_validate(
                asked, runtime_configuration={"result_format": dict(result_format)}
            )
    return {
        each.expectation_config.meta["check"]: Answer(
            bool(each.success), each.result or {}, _raised(each.exception_info or {})
        )
        for each in results
    }


def answer_from(built: Any, counted: Mapping[str, Any]) -> Answer:
    """What an expectation itself makes of its counts over a whole table.

    Parameters
    ----------
    built
        The expectation.
    counted
        The metrics that it reads. Those of its own begin with a dot.
    """
    metrics = {
        f"{built.map_metric}{name}" if name.startswith(".") else name: count
        for name, count in counted.items()
    }
    said = built._validate(metrics, {"result_format": dict(SUMMARY)})
    return Answer(bool(said["success"]), said["result"])


def one_line(message: object) -> str:
    """A message in one line."""
    return " ".join(str(message).split())


@contextmanager
def _without_warnings() -> Iterator[None]:
    """Hide Great Expectations' warnings, which are about its own insides.

    As errors they would look like failed checks.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def _raised(info: Mapping[str, Any]) -> str | None:
    """The message of an exception, which Great Expectations reports flat or by metric."""
    reports = [info] if "raised_exception" in info else list(info.values())
    return next(
        (str(report["exception_message"]) for report in reports if report["raised_exception"]), None
    )
