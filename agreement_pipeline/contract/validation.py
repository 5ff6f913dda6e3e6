"""The tables of rows and items that are checked, and what is found in them."""

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa

from agreement_pipeline.contract.answers import MAX_FAILING_ROWS, Answer, is_usual
from agreement_pipeline.contract.expectations import Expectation
from agreement_pipeline.contract.gx import answers, suite_of
from agreement_pipeline.integrity import REDACTED, Codes, Finding, Panel, take_at
from agreement_pipeline.ratings import (
    EXTRAS,
    TEXT,
    arrow_to_pandas,
    categorical_from_codes,
    count_codes,
    slices_of_whole_items,
)
from agreement_pipeline.text import listed, one_line
from agreement_pipeline.yaml_files import Place

ROWS_PER_SLICE = 1 << 18
MAX_KEYS_SHOWN = 5
NO_ANSWER_CAME = Answer(False, {}, "no result came back")


class Derived(NamedTuple):
    keys: list[str]
    of: Callable[[Panel, Collection[str]], pd.DataFrame]


def rows_of(panel: Panel, column_names: Collection[str]) -> pd.DataFrame:
    """The ratings as delivered, also those by classifiers, with names in codes.

    Optional columns that are not asked for have no values.
    """
    columns, scale = panel.columns, panel.ratings.scale
    label: Any = columns["label"]
    if not scale.numeric:
        label = categorical_from_codes(label, pd.Index(scale.names, dtype=TEXT))
    elif scale.dimensions > 1:
        distinct, places = panel.distinct_labels_and_codes
        vectors = pd.Index(list(map(tuple, distinct.tolist())), tupleize_cols=False)
        label = categorical_from_codes(places, vectors)
    unasked = categorical_from_codes(
        np.full(len(label), -1, dtype=np.int8), pd.Index([], dtype=TEXT)
    )
    columns_by_name = {
        "item": categorical_from_codes(columns["at"], panel.items),
        "rater": categorical_from_codes(columns["place"], pd.Index(panel.raters, dtype=TEXT)),
        "label": label,
        "occurrence": columns["occurrence"],
        "earlier": columns["earlier"],
    }
    for name in EXTRAS:
        if name in panel.ratings.has:
            is_needed = name in column_names and len(label) > 0
            columns_by_name[name] = _read_extra(panel, name) if is_needed else unasked
    return pd.DataFrame(columns_by_name, copy=False)


def items_of(panel: Panel, column_names: Collection[str]) -> pd.DataFrame:
    rated = panel.places_of_rated_items
    replicated = np.zeros(len(panel.items), dtype=bool)
    replicated[panel.item[panel.replicates]] = True
    frame = pd.DataFrame(
        {
            "item": panel.rated_items,
            "n_raters": panel.n_raters_by_item[rated],
            "n_labels": _count_labels(panel)[rated],
            "replicated": replicated[rated],
        }
    )
    clusters = panel.contents_of_rated_items("cluster")
    return frame if clusters is None else frame.assign(cluster=clusters.array)


def _read_extra(panel: Panel, name: str) -> pd.Series:
    column: pd.Series = arrow_to_pandas(
        pa.Table.from_batches(panel.ratings.iterate_ratings([name]))
    )[name]
    return column.astype("boolean") if name == "assisted" else column


def _count_labels(panel: Panel) -> Codes:
    item, label = (
        take_at(panel.item, panel.first_places),
        take_at(panel.label, panel.first_places),
    )
    codes = pd.factorize(label)[0] if panel.ratings.scale.numeric else label
    n_codes, distinct_items = np.int64(codes.max(initial=0) + 1), []
    for part in slices_of_whole_items(item, ROWS_PER_SLICE):
        keys = np.sort(item[part] * n_codes + codes[part])
        distinct_items.append((keys[np.diff(keys, prepend=-1) > 0] // n_codes).astype(item.dtype))
    return count_codes(np.concatenate(distinct_items), len(panel.items))


DERIVED = {
    "rows": Derived(["item", "rater"], rows_of),
    "items": Derived(["item"], items_of),
}


def validate(
    expectations: Sequence[Expectation],
    panel: Panel,
    table: str,
    personal: Sequence[str],
    place: Place,
    earlier_findings: Sequence[Finding] = (),
) -> list[Finding]:
    finding_by_check = {
        finding.check: finding for finding in earlier_findings if finding.table == table
    }
    standing_by_check = {
        expectation.check: finding_by_check[expectation.check]
        for expectation in expectations
        if expectation.check in finding_by_check
        and _is_of_any_raters(expectation, finding_by_check[expectation.check])
    }
    if len(standing_by_check) == len(expectations):
        return list(standing_by_check.values())
    idle = {expectation.check: expectation.idle(panel.ratings) for expectation in expectations}
    suite = suite_of(expectations, place)
    plain = partial(_plain, personal=personal)
    try:
        frame = DERIVED[table].of(
            panel, {name for expectation in expectations for name in expectation.columns}
        )
        suite_to_run = {
            check: entry
            for check, entry in suite.items()
            if not idle[check] and check not in standing_by_check
        }
        answer_by_check = answers(suite_to_run, frame, list(panel.ratings.scale.categories or ()))
        return [
            standing_by_check.get(expectation.check)
            or _finding(
                expectation,
                table,
                idle[expectation.check],
                answer_by_check.get(expectation.check, NO_ANSWER_CAME),
                frame,
                plain,
            )
            for expectation in expectations
        ]
    except Exception as error:  # whatever it was, nothing was checked, and the release waits
        failed = Answer(False, {}, f"{type(error).__name__}: {error}")
        return [
            _finding(expectation, table, None, failed, pd.DataFrame(), plain)
            for expectation in expectations
        ]


def _is_of_any_raters(expectation: Expectation, finding: Finding) -> bool:
    """True if the names of raters do not matter for what was found: not to items, nor to a column
    in which no rating fails.
    """
    if finding.table == "items":
        return True
    column, failing = expectation.kwargs.get("column"), dict(finding.observed).get("unexpected")
    return is_usual(expectation) and column not in (None, "rater") and failing == 0


def _finding(
    expectation: Expectation,
    table: str,
    idle: str | None,
    answer: Answer,
    frame: pd.DataFrame,
    plain: Callable[[Any], Any],
) -> Finding:
    passed, severity = answer.success, expectation.weight
    observed: dict[str, Any] = {}
    if idle:
        passed, outcome = True, idle
    elif answer.raised is not None:
        outcome, severity = f"could not be run ({plain(one_line(answer.raised))})", "error"
    else:
        observed = _observed(answer.result, frame, DERIVED[table].keys, plain)
        outcome = _outcome_words(observed, table)
    words = f"{expectation.check}: {outcome}; {expectation.description}"
    return Finding(expectation.check, table, passed, severity, words, tuple(observed.items()))


def _observed(
    result: Mapping[str, Any], frame: pd.DataFrame, keys: Sequence[str], plain: Callable[[Any], Any]
) -> dict[str, Any]:
    if "element_count" not in result:
        return {name: plain(result[name]) for name in ("observed_value",) if name in result}
    failing: Sequence[Any] = ()
    if places := result.get("partial_unexpected_index_list"):
        rows = frame.loc[places, [key for key in keys if key in frame]]
        failing = [plain(key) for key in rows.itertuples(index=False, name=None) if key]
    missing = int(result.get("missing_count", 0))
    return {
        "checked": int(result["element_count"]) - missing,
        "missing": missing,
        "unexpected": int(result["unexpected_count"]),
        "failing": tuple(failing),
    }


def _outcome_words(observed: Mapping[str, Any], noun: str) -> str:
    if "unexpected" in observed:
        missing = f", {observed['missing']} without a value" if observed["missing"] else ""
        failing = [key[0] if len(key) == 1 else key for key in observed["failing"][:MAX_KEYS_SHOWN]]
        examples = f", first {listed(failing)}" if failing else ""
        return f"{observed['unexpected']} of {observed['checked']} {noun} fail{missing}{examples}"
    value = observed.get("observed_value")
    if value is None:
        return "no value reported"
    if isinstance(value, tuple):
        return f"{listed(value, MAX_FAILING_ROWS)} found"
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
