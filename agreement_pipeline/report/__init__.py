"""What people look at: tables and plots, as plain data."""

from agreement_pipeline.report.control import charted, fallen_out
from agreement_pipeline.report.decisions import health
from agreement_pipeline.report.delivery import delivery
from agreement_pipeline.report.details import details
from agreement_pipeline.report.disputed import disputed
from agreement_pipeline.report.figures import plan_figure
from agreement_pipeline.report.headlines import headlines
from agreement_pipeline.report.history import (
    admitted_rounds,
    decision_word,
    event_table,
    history,
    not_admitted,
    round_table,
    round_text,
    rows_by_round,
    table_of_rows,
)
from agreement_pipeline.report.html import as_html
from agreement_pipeline.report.judged import JudgedProject, JudgedRound
from agreement_pipeline.report.names import in_text, shortened
from agreement_pipeline.report.page import Render
from agreement_pipeline.report.pages import page_of_project, page_of_round, report_page
from agreement_pipeline.report.patterns import patterns
from agreement_pipeline.report.plain import as_text
from agreement_pipeline.report.rules import rule_rows
from agreement_pipeline.report.section import Content, Plot, Section
from agreement_pipeline.report.shares import shares_of
from agreement_pipeline.report.since import Before, since
from agreement_pipeline.report.tables import (
    difference_rows,
    estimate_rows,
    note,
    plan_rows,
    printable,
    text_table,
    verdict_rows,
)
from agreement_pipeline.report.tasks import FORMS, ORDERS, Order, tasks, written_tasks

__all__ = [
    "FORMS",
    "ORDERS",
    "Before",
    "Content",
    "JudgedProject",
    "JudgedRound",
    "Order",
    "Plot",
    "Render",
    "Section",
    "admitted_rounds",
    "as_html",
    "as_text",
    "charted",
    "decision_word",
    "delivery",
    "details",
    "difference_rows",
    "disputed",
    "estimate_rows",
    "event_table",
    "fallen_out",
    "headlines",
    "health",
    "history",
    "in_text",
    "not_admitted",
    "note",
    "page_of_project",
    "page_of_round",
    "patterns",
    "plan_figure",
    "plan_rows",
    "printable",
    "report_page",
    "round_table",
    "round_text",
    "rows_by_round",
    "rule_rows",
    "shares_of",
    "shortened",
    "since",
    "table_of_rows",
    "tasks",
    "text_table",
    "verdict_rows",
    "written_tasks",
]
