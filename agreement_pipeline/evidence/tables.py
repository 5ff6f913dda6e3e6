"""Estimates, plans, differences and verdicts as rows of tables."""

import math
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from agreement_pipeline.evidence.section import VERDICT
from agreement_pipeline.text import (
    PERCENT,
    TABLE,
    WHOLE_PERCENT,
    counted,
    in_words,
    interval,
    number,
    tenths,
)

if TYPE_CHECKING:
    import pandas as pd

    from agreement_pipeline.estimates import Difference, Estimate
    from agreement_pipeline.evidence.summary import RuleResult
    from agreement_pipeline.intervals import Interval
    from agreement_pipeline.policy import Plan

MOST_NAMED = 10
LOWEST = re.compile(r" \(lowest: [^)]*\)")


def estimate_rows(estimates: Sequence["Estimate"]) -> list[dict[str, str]]:
    return [
        {
            "measure": found.measure,
            "scope": str(found.scope),
            "value": number(found.value),
            "interval": interval_text(found.interval),
            "items": str(found.n_used)
            if not found.n_dropped
            else f"{found.n_used} of {found.n_items}",
            "raters": str(found.n_raters),
            "ratings": str(found.n_ratings),
            "note": note(found),
        }
        for found in estimates
    ]


def note(found: "Estimate") -> str:
    left_out = found.raters_left_out
    more = len(left_out) - MOST_NAMED
    names = ", ".join(left_out[:MOST_NAMED]) + (f" and {more} more" if more > 0 else "")
    said = {
        "undefined": found.undefined,
        "no limits": found.without_limits,
        "ratings chosen": found.misled,
        "at least": found.at_least,
        "lowest": found.lowest,
        "leaves out": names,
        "clusters": found.n_clusters,
    }
    return "; ".join(f"{what}: {text}" for what, text in said.items() if text)


def plan_rows(plans: Sequence["Plan"]) -> list[dict[str, str]]:
    rows = []
    for found in plans:
        items = "none would do"
        if found.n_items is not None:
            items = _in_clusters(found, found.n_items)
        elif found.over is not None and not found.curve:
            items = "not known"
        row = {
            "measure": found.measure,
            "expected": in_words(found.expected),
            "cut-off": f"{found.reliable:g}",
            "labels an item": tenths(found.labels_an_item),
            "at least": "" if found.least is None else _in_clusters(found, found.least),
            "items": items,
            "labels": "" if found.n_ratings is None else str(found.n_ratings),
            "decides": number(found.decided, PERCENT),
            "note": found.impossible or _left_open(found),
        }
        rows.append(row)
    return rows


def _in_clusters(found: "Plan", n_items: int) -> str:
    clusters = found.in_clusters(n_items)
    return str(n_items) if clusters is None else f"{n_items} in {counted(clusters, 'cluster')}"


def _left_open(found: "Plan") -> str:
    if found.over is None or found.between is None:
        return ""
    few, many = found.between
    said = f"{few} {'or more' if many is None else f'to {many}'} items may be needed"
    if found.over == 1:
        return said
    under = number(1 - found.over, WHOLE_PERCENT)
    return f"{said}; perhaps agreement is not over {found.reliable:g} ({under})"


def difference_rows(differences: Sequence["Difference"]) -> list[dict[str, str]]:
    return [
        {
            "one": found.one,
            "other": found.other,
            "values": "" if found.values is None else " and ".join(map(number, found.values)),
            "difference": number(found.value),
            "interval": interval_text(found.interval),
            "shared items": "none" if found.n_shared is None else str(found.n_shared),
            "prevalence": found.prevalence or "",
            "note": found.note or "",
        }
        for found in differences
    ]


RULE_COLUMNS = {
    "rule": "The measure that the rule asks for, and what it is about.",
    "value": "The value, and its interval.",
    "verdict": VERDICT,
    "effect": "Whether the rule can hold a release, or only warns.",
}


def rule_rows(results: Sequence["RuleResult"]) -> "pd.DataFrame":
    """What each rule says, those first that hold the release."""
    import pandas as pd

    return pd.DataFrame(
        {
            "rule": f"{result.measure}, {result.scope}",
            "value": value_in_words(result.value, result.low, result.high),
            "verdict": result.kind.replace("_", " "),
            "effect": "holds" if result.holds else "warns",
        }
        for result in sorted(results, key=lambda result: (not result.is_unmet, not result.holds))
    )


def value_in_words(value: float | None, low: float | None, high: float | None) -> str:
    """A value and its interval, or nothing.

    >>> value_in_words(0.9, 0.85, 0.94), value_in_words(None, None, None)
    ('0.900 (0.850 … 0.940)', '')
    """
    if value is None or math.isnan(value):
        return ""
    return f"{in_words(value)} ({interval(low, high, between=' … ')})"


def without_numbers(reason: str) -> str:
    """A reason without its beginning, which repeats what stands in other columns.

    >>> without_numbers("alpha (lowest: DOSE, 90% on marking) 0.58 on 90 items: the upper limit")
    'lowest: DOSE, 90% on marking; the upper limit'
    """
    lowest = LOWEST.search(reason)
    said = LOWEST.sub("", reason).partition(": ")[2] or reason
    return said if lowest is None or "," not in lowest[0] else f"{lowest[0][2:-1]}; {said}"


def interval_text(limits: "Interval | None") -> str:
    return "" if limits is None else interval(*limits, TABLE, " … ")
