"""What Great Expectations says of a table, as findings."""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from agreement_pipeline.contract.expectations import Expectation
from agreement_pipeline.contract.gx import KEPT, Answer, answers, one_line, suite_of
from agreement_pipeline.contract.panel import Panel
from agreement_pipeline.contract.tables import Derived, in_words
from agreement_pipeline.text import listed
from agreement_pipeline.yaml_files import Place

SHOWN = 5
REDACTED = "(redacted)"


@dataclass(frozen=True)
class Finding:
    """What a check of the data contract found.

    Attributes
    ----------
    check, table
        The check's name, and its table: rows, items or round.
    passed
        True if the check held.
    severity
        error: a failure holds the release. warning: a failure is shown and holds nothing.
    description
        What was found, in words and numbers.
    observed
        More of what was found, as plain data.
    """

    check: str
    table: str
    passed: bool
    severity: str
    description: str
    observed: tuple[tuple[str, Any], ...] = ()

    @property
    def holds(self) -> bool:
        """True if it holds the release: any failure but a warning does."""
        return not self.passed and self.severity != "warning"

    def to_mapping(self) -> dict[str, Any]:
        """The finding as plain data."""
        return {
            "check": self.check,
            "table": self.table,
            "passed": self.passed,
            "severity": self.severity,
            "description": self.description,
        }


def validate(
    expectations: Sequence[Expectation],
    panel: Panel,
    table: Derived,
    personal: Sequence[str],
    where: Place,
) -> list[Finding]:
    """One finding for each expectation on one table, in order.

    Parameters
    ----------
    expectations
        All on the same table.
    panel, table
        The panel's ratings, and the table that is derived from the round.
    personal
        Regular expressions of personal data. Values that match one are redacted.
    where
        Where the list of expectations was read.

    Raises
    ------
    ContractError
        Great Expectations cannot be imported here. Or it does not know an expectation, or not its
        keyword arguments.
    """
    idle = {expectation.check: expectation.idle(panel.ratings) for expectation in expectations}
    suite = suite_of(expectations, where)
    finds = partial(_finding, table=table, personal=personal)
    try:
        frame = table.of(panel, {name for each in expectations for name in each.columns})
        asked = {check: built for check, built in suite.items() if not idle[check]}
        parameters = {"vocabulary": list(panel.ratings.scale.categories or ())}
        said = answers(asked, frame, parameters)
        return [finds(each, idle[each.check], said.get(each.check), frame) for each in expectations]
    except Exception as error:  # whatever it was, nothing was checked, and the release waits
        why = f"{type(error).__name__}: {error}"
        return [_not_run(each, table.name, why, personal) for each in expectations]


def _finding(
    expectation: Expectation,
    idle: str | None,
    said: Answer | None,
    frame: pd.DataFrame,
    *,
    table: Derived,
    personal: Sequence[str],
) -> Finding:
    """What was found, or why nothing was."""
    if idle:
        return _worded(expectation, table.name, True, idle, {})
    if said is None:
        return _not_run(expectation, table.name, "no result came back", personal)
    if said.raised is not None:
        return _not_run(expectation, table.name, said.raised, personal)
    observed = _observed(said.result, frame, table.keys, personal)
    found = _fact(expectation, frame, personal) or _found(observed, table.name)
    return _worded(expectation, table.name, said.success, found, observed)


def _worded(
    expectation: Expectation, table: str, passed: bool, found: str, observed: Mapping[str, Any]
) -> Finding:
    words = f"{expectation.check}: {found}; {expectation.description}"
    return Finding(
        expectation.check, table, passed, expectation.weight, words, tuple(observed.items())
    )


def _not_run(expectation: Expectation, table: str, why: str, personal: Sequence[str]) -> Finding:
    """An error, whatever severity was declared."""
    said = f"could not be run ({_plain(one_line(why), personal)})"
    return replace(_worded(expectation, table, False, said, {}), severity="error")


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
        "failing": tuple(
            _plain(key, personal) for key in rows.itertuples(index=False, name=None) if key
        ),
    }


def _fact(expectation: Expectation, frame: pd.DataFrame, personal: Sequence[str]) -> str | None:
    """A fact of the round in words, if the expectation is about one."""
    named = [in_words(name) for name in expectation.columns if in_words(name) in frame]
    return "; ".join(str(_plain(frame[name].iloc[0], personal)) for name in named) or None


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
