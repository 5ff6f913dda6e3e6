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
    count_to_one_decimal,
    counted,
    in_words,
    interval,
    number_in_table,
)

if TYPE_CHECKING:
    import pandas as pd

    from agreement_pipeline.estimates import Difference, Estimate
    from agreement_pipeline.evidence.summary import RuleResult
    from agreement_pipeline.intervals import Interval
    from agreement_pipeline.policy import Plan

MAX_RATERS_NAMED = 10
LOWEST = re.compile(r" \(lowest: [^)]*\)")


def estimate_rows(estimates: Sequence["Estimate"]) -> list[dict[str, str]]:
    return [
        {
            "measure": estimate.measure,
            "scope": str(estimate.scope),
            "value": number_in_table(estimate.value),
            "interval": interval_text(estimate.interval),
            "items": str(estimate.n_used)
            if not estimate.n_dropped
            else f"{estimate.n_used} of {estimate.n_items}",
            "raters": str(estimate.n_raters),
            "ratings": str(estimate.n_ratings),
            "note": estimate_note(estimate),
        }
        for estimate in estimates
    ]


def estimate_note(estimate: "Estimate") -> str:
    left_out = estimate.raters_left_out
    n_more = len(left_out) - MAX_RATERS_NAMED
    names = ", ".join(left_out[:MAX_RATERS_NAMED]) + (f" and {n_more} more" if n_more > 0 else "")
    notes = {
        "undefined": estimate.undefined,
        "no limits": estimate.without_limits,
        "ratings chosen": estimate.misled,
        "at least": estimate.at_least,
        "lowest": estimate.lowest,
        "leaves out": names,
        "clusters": estimate.n_clusters,
    }
    return "; ".join(f"{title}: {text}" for title, text in notes.items() if text)


def plan_rows(plans: Sequence["Plan"]) -> list[dict[str, str]]:
    rows = []
    for plan in plans:
        items = "none would do"
        if plan.n_items is not None:
            items = _clusters_in_words(plan, plan.n_items)
        elif plan.over is not None and not plan.curve:
            items = "not known"
        row = {
            "measure": plan.measure,
            "expected": in_words(plan.expected),
            "cut-off": f"{plan.reliable:g}",
            "labels an item": count_to_one_decimal(plan.labels_an_item),
            "at least": "" if plan.least is None else _clusters_in_words(plan, plan.least),
            "items": items,
            "labels": "" if plan.n_ratings is None else str(plan.n_ratings),
            "decides": number_in_table(plan.decided, PERCENT),
            "note": plan.impossible or _open_question_in_words(plan),
        }
        rows.append(row)
    return rows


def _clusters_in_words(plan: "Plan", n_items: int) -> str:
    clusters = plan.items_to_clusters(n_items)
    return str(n_items) if clusters is None else f"{n_items} in {counted(clusters, 'cluster')}"


def _open_question_in_words(plan: "Plan") -> str:
    if plan.over is None or plan.between is None:
        return ""
    low, high = plan.between
    sentence = f"{low} {'or more' if high is None else f'to {high}'} items may be needed"
    if plan.over == 1:
        return sentence
    share_below = number_in_table(1 - plan.over, WHOLE_PERCENT)
    return f"{sentence}; perhaps agreement is not over {plan.reliable:g} ({share_below})"


def difference_rows(differences: Sequence["Difference"]) -> list[dict[str, str]]:
    return [
        {
            "one": difference.one,
            "other": difference.other,
            "values": ""
            if difference.values is None
            else " and ".join(map(number_in_table, difference.values)),
            "difference": number_in_table(difference.value),
            "interval": interval_text(difference.interval),
            "shared items": "none" if difference.n_shared is None else str(difference.n_shared),
            "prevalence": difference.prevalence or "",
            "note": difference.note or "",
        }
        for difference in differences
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
    return f"{in_words(value)} ({interval(low, high, separator=' … ')})"


def reason_without_numbers(reason: str) -> str:
    """A reason without its beginning, which repeats what stands in other columns.

    >>> reason_without_numbers("alpha (lowest: DOSE, 90% on marking) 0.58 on 9 items: the limit")
    'lowest: DOSE, 90% on marking; the limit'
    """
    lowest = LOWEST.search(reason)
    text = LOWEST.sub("", reason).partition(": ")[2] or reason
    return text if lowest is None or "," not in lowest[0] else f"{lowest[0][2:-1]}; {text}"


def interval_text(limits: "Interval | None") -> str:
    return "" if limits is None else interval(*limits, TABLE, " … ")
