"""Plots, as images that Markdown can hold: a plot a function."""

import base64
import io
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from agreement_pipeline.errors import MissingExtraError
from agreement_pipeline.estimates import Estimate
from agreement_pipeline.policy import RELIABLE, TENTATIVE, Plan, Rule
from agreement_pipeline.report.tables import labels_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

PLOTTED = ("round", "classifier", "rater", "without")
ROUNDS_SHOWN = 100
INK, GOOD, PARTLY, BAD, LINE = "#23395b", "#2a7f62", "#c98a1b", "#b3392f", "#8d99ae"
DECIDED = {"admitted": ("o", GOOD), "admitted (tentative)": ("D", PARTLY), "held": ("s", BAD)}
"""The marker and the colour of each decision."""


def interval_figure(estimates: Sequence[Estimate]) -> str | None:
    """The value and interval of each estimate on one axis, with the two cut-offs.

    Pairs and categories are not plotted. None if no estimate has an interval.
    """
    defined = [
        found for found in estimates if found.scope.kind in PLOTTED and found.interval is not None
    ]
    if not defined:
        return None
    figure, axes = _canvas(height=0.9 + 0.26 * len(defined))
    for place, found in enumerate(reversed(defined)):
        axes.plot(
            _drawn(found.low, found.high, found.value), (place, place), color=INK, linewidth=2
        )
        axes.plot(found.value or 0.0, place, "o", color=INK, markersize=5)
    axes.set_yticks(
        range(len(defined)),
        [f"{found.measure} · {found.scope}" for found in reversed(defined)],
        fontsize=8,
    )
    _cutoffs(axes)
    axes.set_xlim(
        max(-1.0, min(found.interval.low for found in defined if found.interval) - 0.05), 1.02
    )
    return _image(figure)


def history_figure(rounds: pd.DataFrame, rule: Rule) -> str | None:
    """The measure of a rule by round, with its interval and the cut-offs of the rule.

    Colour and marker say what was decided on the round. Of many rounds, the last 100 are shown.
    None if no round has a value.
    """
    known = rounds[(rounds["measure"] == rule.measure) & rounds["value"].notna()]
    known = known.drop_duplicates("round")
    shown = known.tail(ROUNDS_SHOWN)
    if shown.empty:
        return None
    figure, axes = _canvas(height=3.2)
    if len(shown) < len(known):
        axes.set_xlabel(f"the last {len(shown)} of {len(known)} rounds", fontsize=9)
    for place, row in enumerate(shown.to_dict("records")):
        low, high = (None if np.isnan(row[limit]) else row[limit] for limit in ("low", "high"))
        decided = str(row["decision"])
        marker, colour = DECIDED.get(decided, DECIDED["held"])
        axes.plot((place, place), _drawn(low, high, row["value"]), color=colour, linewidth=2.5)
        axes.plot([place], [row["value"]], marker, color=colour, markersize=6, label=decided)
    axes.set_xticks(range(len(shown)), list(shown["round"]), fontsize=8)
    axes.set_ylabel(rule.measure, fontsize=9)
    for name, cutoff, dashes in (
        ("reliable", rule.reliable, "--"),
        ("tentative", rule.tentative, ":"),
    ):
        axes.axhline(
            cutoff, color=LINE, linestyle=dashes, zorder=0, label=f"{name} from {cutoff:g}"
        )
    _legend(figure, axes)
    return _image(figure)


def plan_figure(plans: Sequence[Plan]) -> bytes | None:
    """The share of rounds that decide by the number of items, a curve for each plan.

    A PNG image. None if no plan tried a number of items.
    """
    tried = [found for found in plans if found.curve]
    if not tried:
        return None
    figure, axes = _canvas(height=3.6)
    for found in tried:
        axes.plot(
            *zip(*found.curve, strict=True),
            marker="o",
            markersize=3,
            label=f"{found.measure}, {labels_text(found)} labels an item",
        )
    axes.axhline(tried[0].probability, color=LINE, linewidth=1, linestyle="--", zorder=0)
    axes.set_xscale("log")
    axes.set_xlabel("items", fontsize=9)
    axes.set_ylabel("share of rounds that decide", fontsize=9)
    axes.legend(fontsize=8, frameon=False)
    return _png(figure)


def _drawn(low: float | None, high: float | None, value: float | None) -> tuple[float, float]:
    """The ends of the line for an interval. Without a limit the line goes to the axis' end."""
    return (-1.0 if low is None else low, max(1.0, value or 0.0) if high is None else high)


def _cutoffs(axes: "Axes") -> None:
    for cutoff in (RELIABLE, TENTATIVE):
        axes.axvline(cutoff, color=LINE, linewidth=1, linestyle="--", zorder=0)


def _legend(figure: "Figure", axes: "Axes") -> None:
    """A legend above the plot, with each name once."""
    handles = dict(zip(*reversed(axes.get_legend_handles_labels()), strict=True))
    figure.legend(
        handles.values(),
        handles,
        loc="outside upper center",
        ncols=len(handles),
        fontsize=8,
        frameon=False,
    )


def _canvas(*, height: float) -> tuple["Figure", "Axes"]:
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise MissingExtraError.of("plots", "matplotlib", "plots") from None
    figure = Figure(figsize=(7.2, height), layout="constrained")
    axes = figure.subplots()
    axes.spines[["top", "right"]].set_visible(False)
    return figure, axes


def _image(figure: "Figure") -> str:
    return f"data:image/png;base64,{base64.b64encode(_png(figure)).decode()}"


def _png(figure: "Figure") -> bytes:
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=110, metadata={"Software": None})
    return buffer.getvalue()
