"""The measure of a rule in each round of a project, as a figure."""

from collections.abc import Hashable, Mapping
from typing import Any, Protocol

import pandas as pd

from agreement_pipeline.report.cells import title_of
from agreement_pipeline.report.figure import NAMES_OF_TONES, Figure, Mark, Series, Tone

MOST_ROUNDS = 40
LEGEND: tuple[tuple[Tone, str], ...] = (
    ("good", "admitted"),
    ("partly", "admitted (tentative)"),
    ("bad", "held"),
    ("unknown", "not decided"),
)


class Cutoffs(Protocol):
    """What is read of a rule: its measure and its cut-offs."""

    @property
    def measure(self) -> str:
        """The measure that is drawn."""

    @property
    def reliable(self) -> float:
        """The upper cut-off."""

    @property
    def tentative(self) -> float:
        """The lower cut-off."""


def course_figure(rounds: pd.DataFrame, rule: Cutoffs) -> Figure | None:
    """The measure of a rule by round, with its intervals. None if no round has a value.

    Of many rounds the last 40 are drawn.
    """
    mine = rounds[rounds["measure"] == rule.measure].drop_duplicates("round")
    shown = mine.sort_values("round", kind="stable").tail(MOST_ROUNDS)
    if shown["value"].isna().all():
        return None
    more = len(mine) > len(shown)
    last = f" The last {len(shown)} of {len(mine)} rounds are drawn." if more else ""
    title = title_of(rule.measure)
    return Figure(
        "course",
        f"{title} by round",
        f"Colour and shape say what was decided on the round, by all of its rules.{last}",
        (Series(rule.measure, tuple(_mark(row) for row in shown.to_dict("records"))),),
        axis=title,
        cutoffs=_named(rule),
        legend=LEGEND,
    )


def _named(rule: Cutoffs) -> tuple[tuple[float, str], ...]:
    reliable = (rule.reliable, f"reliable from {rule.reliable:g}")
    if rule.tentative == rule.reliable:
        return (reliable,)
    return reliable, (rule.tentative, f"tentative from {rule.tentative:g}")


def _mark(row: Mapping[Hashable, Any]) -> Mark:
    value, low, high = (
        None if pd.isna(row[name]) else float(row[name]) for name in ("value", "low", "high")
    )
    return Mark(
        str(row["round"]),
        value,
        low,
        high,
        tone=NAMES_OF_TONES.get(str(row["decision"]), "unknown"),
        crossed=row.get("release") == "withdrawn",
    )
