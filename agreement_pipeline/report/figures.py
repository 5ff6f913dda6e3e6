"""Plots, as images that Markdown can hold: a plot a function."""

import io
from collections.abc import Sequence
from typing import TYPE_CHECKING

import pandas as pd

from agreement_pipeline.errors import MissingExtraError
from agreement_pipeline.estimates import Estimate
from agreement_pipeline.policy import Plan, Policy
from agreement_pipeline.report.cells import about
from agreement_pipeline.report.course import Cutoffs, course_figure
from agreement_pipeline.report.drawing import image
from agreement_pipeline.report.figure import Figure, Mark, Series
from agreement_pipeline.report.tables import labels_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Sheet

PLOTTED = ("round", "classifier", "rater", "without")
MOST_DRAWN = 40
GOOD, PARTLY, BAD, LINE = "#0b62a8", "#8a5a00", "#b5280f", "#8d99ae"


def interval_figure(estimates: Sequence[Estimate], policy: Policy) -> str | None:
    """The value and interval of each estimate on one axis, with the cut-offs of the policy.

    Pairs and categories are not plotted. None if no estimate has an interval.
    """
    defined = [
        found for found in estimates if found.scope.kind in PLOTTED and found.interval is not None
    ]
    if not defined:
        return None
    marks = tuple(
        Mark(
            f"{found.measure}: {about(found.scope)}",
            found.value,
            found.low,
            found.high,
            cutoffs=_cutoffs(found, policy),
        )
        for found in defined[:MOST_DRAWN]
    )
    more = len(defined) - len(marks)
    rest = f" {more} more stand in the table." if more else ""
    says = f"A long stroke is the reliable cut-off of a rule, a short one the tentative.{rest}"
    return image(Figure("intervals", "Estimates", says, (Series("", marks),), axis="agreement"))


def _cutoffs(found: Estimate, policy: Policy) -> tuple[float, ...]:
    """The cut-offs of the rule that judges an estimate; none if there is no such rule."""
    for rule in policy.rules:
        if (rule.measure, rule.scope) == (found.measure, found.scope.kind):
            return rule.tentative, rule.reliable
    return ()


def history_figure(rounds: pd.DataFrame, rule: Cutoffs) -> str | None:
    """The measure of a rule by round, with its interval and the cut-offs of the rule.

    Colour and shape say what was decided on the round. None if no round has a value.
    """
    figure = course_figure(rounds, rule)
    return None if figure is None else image(figure)


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


def _canvas(*, height: float) -> tuple["Sheet", "Axes"]:
    try:
        from matplotlib.figure import Figure as Sheet
    except ImportError:
        raise MissingExtraError.of("plots", "matplotlib", "plots") from None
    figure = Sheet(figsize=(7.2, height), layout="constrained")
    axes = figure.subplots()
    axes.spines[["top", "right"]].set_visible(False)
    return figure, axes


def _png(figure: "Sheet") -> bytes:
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=110, metadata={"Software": None})
    return buffer.getvalue()
