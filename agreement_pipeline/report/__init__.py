"""What people look at: tables and plots."""

from agreement_pipeline.report.disputed import disputed_rows
from agreement_pipeline.report.figures import history_figure, interval_figure, plan_figure
from agreement_pipeline.report.history import (
    NOT_JUDGED,
    admitted_rounds,
    event_table,
    round_table,
    round_text,
)
from agreement_pipeline.report.standing_in import compared_by, standing_rows
from agreement_pipeline.report.tables import (
    difference_rows,
    estimate_rows,
    note,
    plan_rows,
    printable,
    rater_rows,
    text_table,
)
from agreement_pipeline.report.themselves_and_others import comparisons, joint_rows

__all__ = [
    "NOT_JUDGED",
    "admitted_rounds",
    "compared_by",
    "comparisons",
    "difference_rows",
    "disputed_rows",
    "estimate_rows",
    "event_table",
    "history_figure",
    "interval_figure",
    "joint_rows",
    "note",
    "plan_figure",
    "plan_rows",
    "printable",
    "rater_rows",
    "round_table",
    "round_text",
    "standing_rows",
    "text_table",
]
