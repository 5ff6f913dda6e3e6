"""What people look at: tables and plots, as plain data."""

from typing import TYPE_CHECKING

from agreement_pipeline.faces import later

if TYPE_CHECKING:
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
        aligned,
        difference_rows,
        estimate_rows,
        note,
        plan_rows,
        printable,
        text_table,
        verdict_rows,
    )
    from agreement_pipeline.report.tasks import FORMS, ORDERS, Order, tasks, written_tasks
else:
    __getattr__, __dir__ = later(
        __name__,
        {
            "Before": "since",
            "Content": "section",
            "FORMS": "tasks",
            "JudgedProject": "judged",
            "JudgedRound": "judged",
            "ORDERS": "tasks",
            "Order": "tasks",
            "Plot": "section",
            "Render": "page",
            "Section": "section",
            "admitted_rounds": "history",
            "aligned": "tables",
            "as_html": "html",
            "as_text": "plain",
            "charted": "control",
            "decision_word": "history",
            "delivery": "delivery",
            "details": "details",
            "difference_rows": "tables",
            "disputed": "disputed",
            "estimate_rows": "tables",
            "event_table": "history",
            "fallen_out": "control",
            "headlines": "headlines",
            "health": "decisions",
            "history": "history",
            "in_text": "names",
            "not_admitted": "history",
            "note": "tables",
            "page_of_project": "pages",
            "page_of_round": "pages",
            "patterns": "patterns",
            "plan_figure": "figures",
            "plan_rows": "tables",
            "printable": "tables",
            "report_page": "pages",
            "round_table": "history",
            "round_text": "history",
            "rows_by_round": "history",
            "rule_rows": "rules",
            "shares_of": "shares",
            "shortened": "names",
            "since": "since",
            "table_of_rows": "history",
            "tasks": "tasks",
            "text_table": "tables",
            "verdict_rows": "tables",
            "written_tasks": "tasks",
        },
    )

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
    "aligned",
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
