"""Tables as text."""

from collections.abc import Iterable, Sequence
from textwrap import wrap

import pandas as pd

from agreement_pipeline.estimates import Difference, Estimate
from agreement_pipeline.policy import Plan, Verdict
from agreement_pipeline.text import PERCENT, TABLE, in_words, interval, number, tenths

REASON_WIDTH = 78


def estimate_rows(estimates: Sequence[Estimate]) -> pd.DataFrame:
    """Estimates as a table of text, one row each."""
    return pd.DataFrame(
        {
            "measure": found.measure,
            "scope": str(found.scope),
            "value": number(found.value),
            "interval": interval_text(found),
            "items": str(found.n_used)
            if not found.n_dropped
            else f"{found.n_used} of {found.n_items}",
            "raters": str(found.n_raters),
            "ratings": str(found.n_ratings),
            "note": note(found),
        }
        for found in estimates
    )


def note(found: Estimate) -> str:
    """What else a reader of the estimate must know.

    - Why it has no value, or no limits.
    - Which category is the lowest.
    - Which raters it leaves out.
    - How many clusters its items come from.
    """
    clusters = None if found.n_clusters is None else str(found.n_clusters)
    said = {
        "undefined": found.undefined,
        "no limits": found.without_limits,
        "lowest": found.lowest,
        "leaves out": ", ".join(found.raters_left_out),
        "clusters": clusters,
    }
    return "; ".join(f"{what}: {text}" for what, text in said.items() if text)


def rater_rows(estimates: Sequence[Estimate]) -> pd.DataFrame:
    """Estimates of raters as a table of text, one row each, with their method."""
    return pd.DataFrame(
        {
            "rater": found.scope.name,
            "value": number(found.value),
            "interval": interval_text(found),
            "items": str(found.n_used),
            "how": found.method,
            "note": note(found),
        }
        for found in estimates
    )


def plan_rows(plans: Sequence[Plan]) -> pd.DataFrame:
    """Plans as a table of text, one row each."""
    return pd.DataFrame(
        {
            "measure": found.measure,
            "expected": in_words(found.expected),
            "cut-off": f"{found.reliable:g}",
            "labels an item": labels_text(found),
            "items": "none would do" if found.n_items is None else str(found.n_items),
            "labels": "" if found.n_ratings is None else str(found.n_ratings),
            "decides": number(found.decided, PERCENT),
            "note": found.impossible or "",
        }
        for found in plans
    )


def labels_text(found: Plan) -> str:
    """How many labels each item gets, on average."""
    return tenths(found.labels_an_item)


def difference_rows(differences: Sequence[Difference]) -> pd.DataFrame:
    """Differences as a table of text, one row each."""
    return pd.DataFrame(
        {
            "one": found.one,
            "other": found.other,
            "values": "" if found.values is None else " and ".join(map(number, found.values)),
            "difference": number(found.value),
            "interval": interval_text(found),
            "shared items": "none" if found.n_shared is None else str(found.n_shared),
            "note": f"undefined: {found.undefined}" if found.undefined else "",
        }
        for found in differences
    )


def verdict_rows(verdicts: Iterable[Verdict]) -> pd.DataFrame:
    """Verdicts as a table of text, one row each."""
    return pd.DataFrame(
        {
            "measure": found.rule.measure,
            "scope": str(found.scope),
            "verdict": found.kind,
            "effect": found.rule.effect,
            "reason": found.reason,
        }
        for found in verdicts
    )


def interval_text(found: Estimate | Difference) -> str:
    """An interval as `low … high`; empty if undefined."""
    return "" if found.interval is None else interval(*found.interval, TABLE, " … ")


def printable(text: str) -> str:
    r"""The text on one line. Characters that move the cursor or start a line are escaped.

    >>> print(printable("\x1b[2J caf\u00e9"))
    \x1b[2J café
    """
    return "".join(
        character if character.isprintable() else character.encode("unicode_escape").decode()
        for character in text
    )


def text_table(frame: pd.DataFrame, *, wrapped: str | None = None) -> str:
    """A frame of text as aligned columns.

    Lines of the column `wrapped` are at most `REASON_WIDTH` characters wide.

    >>> print(text_table(pd.DataFrame({"round": ["W1"], "decision": ["held"]})))
    round  decision
    -----  --------
    W1     held
    """
    rows = [[printable(str(cell)) for cell in row] for row in frame.itertuples(index=False)]
    header = [str(name) for name in frame.columns]
    lines = [line for row in rows for line in _lines(row, header, wrapped)]
    widths = [max(map(len, column)) for column in zip(header, *lines, strict=True)]
    rule = ["-" * width for width in widths]
    return "\n".join(
        "  ".join(map(str.ljust, line, widths)).rstrip() for line in (header, rule, *lines)
    )


def _lines(row: list[str], names: list[str], wrapped: str | None) -> list[list[str]]:
    if wrapped is None:
        return [row]
    column = names.index(wrapped)
    parts = wrap(row[column], REASON_WIDTH) or [""]
    return [
        [*row[:column], parts[0], *row[column + 1 :]],
        *([""] * column + [part] + [""] * (len(row) - column - 1) for part in parts[1:]),
    ]
