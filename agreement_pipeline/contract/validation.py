import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from agreement_pipeline.contract.answers import KEPT, Answer
from agreement_pipeline.contract.expectations import Expectation
from agreement_pipeline.contract.gx import answers, one_line, suite_of
from agreement_pipeline.contract.panel import Panel
from agreement_pipeline.contract.tables import DERIVED, in_words
from agreement_pipeline.text import listed
from agreement_pipeline.yaml_files import Place

SHOWN = 5
REDACTED = "(redacted)"
NOTHING = Answer(False, {}, "no result came back")


@dataclass(frozen=True)
class Finding:
    """What a check found. `description` says it in words and numbers, and `observed` more as plain
    data.
    """

    check: str
    table: str
    passed: bool
    severity: str
    description: str
    observed: tuple[tuple[str, Any], ...] = ()

    @property
    def holds(self) -> bool:
        return not self.passed and self.severity != "warning"

    def to_mapping(self) -> dict[str, Any]:
        return {name: said for name, said in vars(self).items() if name != "observed"}


def validate(
    expectations: Sequence[Expectation],
    panel: Panel,
    table: str,
    personal: Sequence[str],
    where: Place,
) -> list[Finding]:
    idle = {expectation.check: expectation.idle(panel.ratings) for expectation in expectations}
    suite = suite_of(expectations, where)
    plain = partial(_plain, personal=personal)
    try:
        frame = DERIVED[table].of(panel, {name for each in expectations for name in each.columns})
        asked = {check: each for check, each in suite.items() if not idle[check]}
        said = answers(asked, frame, list(panel.ratings.scale.categories or ()))
        return [
            _finding(each, table, idle[each.check], said.get(each.check, NOTHING), frame, plain)
            for each in expectations
        ]
    except Exception as error:  # whatever it was, nothing was checked, and the release waits
        failed = Answer(False, {}, f"{type(error).__name__}: {error}")
        return [_finding(each, table, None, failed, pd.DataFrame(), plain) for each in expectations]


def _finding(
    expectation: Expectation,
    table: str,
    idle: str | None,
    said: Answer,
    frame: pd.DataFrame,
    plain: Callable[[Any], Any],
) -> Finding:
    passed, severity = said.success, expectation.weight
    observed: dict[str, Any] = {}
    if idle:
        passed, found = True, idle
    elif said.raised is not None:
        found, severity = f"could not be run ({plain(one_line(said.raised))})", "error"
    else:
        observed = _observed(said.result, frame, DERIVED[table].keys, plain)
        facts = [in_words(name) for name in expectation.columns if in_words(name) in frame]
        words = "; ".join(str(plain(frame[name].iloc[0])) for name in facts)
        found = words or _found(observed, table)
    words = f"{expectation.check}: {found}; {expectation.description}"
    return Finding(expectation.check, table, passed, severity, words, tuple(observed.items()))


def _observed(
    result: Mapping[str, Any], frame: pd.DataFrame, keys: Sequence[str], plain: Callable[[Any], Any]
) -> dict[str, Any]:
    if "element_count" not in result:
        return {name: plain(result[name]) for name in ("observed_value",) if name in result}
    failing = result.get("partial_unexpected_index_list") or []
    rows = frame.loc[failing, [key for key in keys if key in frame]]
    missing = int(result.get("missing_count", 0))
    return {
        "checked": int(result["element_count"]) - missing,
        "missing": missing,
        "unexpected": int(result["unexpected_count"]),
        "failing": tuple(plain(key) for key in rows.itertuples(index=False, name=None) if key),
    }


def _found(observed: Mapping[str, Any], noun: str) -> str:
    if "unexpected" in observed:
        missing = f", {observed['missing']} without a value" if observed["missing"] else ""
        failing = [key[0] if len(key) == 1 else key for key in observed["failing"][:SHOWN]]
        first = f", first {listed(failing)}" if failing else ""
        return f"{observed['unexpected']} of {observed['checked']} {noun} fail{missing}{first}"
    value = observed.get("observed_value")
    if value is None:
        return "no value reported"
    if isinstance(value, tuple):
        return f"{listed(value, KEPT)} found"
    return f"{value:.4g} found" if isinstance(value, float) else f"{value} found"


def _plain(value: Any, personal: Sequence[str]) -> Any:
    if isinstance(value, (list, tuple)):
        return tuple(_plain(inner, personal) for inner in value)
    value = value.item() if isinstance(value, np.generic) else value
    if pd.api.types.is_scalar(value) and pd.isna(value):
        return None
    if isinstance(value, (bool, int, float)):
        return value
    return REDACTED if any(re.search(pattern, str(value)) for pattern in personal) else str(value)
