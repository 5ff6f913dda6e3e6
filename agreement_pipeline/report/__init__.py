"""What people look at: tables and plots, as plain data."""

from typing import TYPE_CHECKING

from agreement_pipeline.faces import later

if TYPE_CHECKING:
    from agreement_pipeline.report.details import delivery, details, patterns
    from agreement_pipeline.report.disputed import (
        FORMS,
        ORDERS,
        Order,
        disputed,
        tasks,
        written_tasks,
    )
    from agreement_pipeline.report.drawing import file_of
    from agreement_pipeline.report.history import (
        admitted_rounds,
        decision_word,
        event_table,
        health,
        not_admitted,
        round_table,
        round_text,
        rows_by_round,
        table_of_rows,
    )
    from agreement_pipeline.report.judged import Before, JudgedProject, JudgedRound, shares_of
    from agreement_pipeline.report.names import in_text, shortened
    from agreement_pipeline.report.page import (
        Render,
        as_html,
        page_of_project,
        page_of_round,
        report_page,
    )
    from agreement_pipeline.report.section import Content, Grid, Plot, Section
    from agreement_pipeline.report.sections.rounds import charted, fallen_out, history
    from agreement_pipeline.report.sections.since import since
    from agreement_pipeline.report.sections.verdicts import plan_figure, verdict_grid
    from agreement_pipeline.report.tables import (
        aligned,
        difference_rows,
        estimate_rows,
        plan_rows,
        printable,
        rule_rows,
    )
    from agreement_pipeline.report.terminal import as_text
else:
    __getattr__, __dir__ = later(
        __name__,
        {
            "Before": "judged",
            "Content": "section",
            "FORMS": "disputed",
            "Grid": "section",
            "JudgedProject": "judged",
            "JudgedRound": "judged",
            "ORDERS": "disputed",
            "Order": "disputed",
            "Plot": "section",
            "Render": "page",
            "Section": "section",
            "admitted_rounds": "history",
            "aligned": "tables",
            "as_html": "page",
            "as_text": "terminal",
            "charted": "sections.rounds",
            "decision_word": "history",
            "delivery": "details",
            "details": "details",
            "difference_rows": "tables",
            "disputed": "disputed",
            "estimate_rows": "tables",
            "event_table": "history",
            "fallen_out": "sections.rounds",
            "file_of": "drawing",
            "health": "history",
            "history": "sections.rounds",
            "in_text": "names",
            "not_admitted": "history",
            "page_of_project": "page",
            "page_of_round": "page",
            "patterns": "details",
            "plan_figure": "sections.verdicts",
            "plan_rows": "tables",
            "printable": "tables",
            "report_page": "page",
            "round_table": "history",
            "round_text": "history",
            "rows_by_round": "history",
            "rule_rows": "tables",
            "shares_of": "judged",
            "shortened": "names",
            "since": "sections.since",
            "table_of_rows": "history",
            "tasks": "disputed",
            "verdict_grid": "sections.verdicts",
            "written_tasks": "disputed",
        },
    )

__all__ = [
    "FORMS",
    "ORDERS",
    "Before",
    "Content",
    "Grid",
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
    "file_of",
    "health",
    "history",
    "in_text",
    "not_admitted",
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
    "verdict_grid",
    "written_tasks",
]
