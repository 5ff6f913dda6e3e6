"""What is said of a judged round, a project or a table, as plain data that `report` renders."""

from agreement_pipeline.evidence.advice import (
    Step as Step,
    asked_of_models as asked_of_models,
    command_of_report as command_of_report,
    held_for_disagreement as held_for_disagreement,
    who_differs as who_differs,
)
from agreement_pipeline.evidence.details import (
    delivery as delivery,
    details as details,
    patterns as patterns,
)
from agreement_pipeline.evidence.disputed import (
    COMES_BACK as COMES_BACK,
    FORMS as FORMS,
    ORDERS as ORDERS,
    Order as Order,
    blind_tasks as blind_tasks,
    disputed as disputed,
    tasks as tasks,
    formula_items as formula_items,
    written_tasks as written_tasks,
)
from agreement_pipeline.evidence.figure import (
    COLOURS as COLOURS,
    SHADES as SHADES,
    Axis as Axis,
    Figure as Figure,
    Kind as Kind,
    Mark as Mark,
    RoundLine as RoundLine,
    Point as Point,
    Series as Series,
    Tone as Tone,
    bounds_of as bounds_of,
    cut as cut,
    spread as spread,
    tick_text as tick_text,
)
from agreement_pipeline.evidence.history import (
    NOT_JUDGED as NOT_JUDGED,
    admitted_rounds as admitted_rounds,
    decisions as decisions,
    event_table as event_table,
    health as health,
    not_admitted as not_admitted,
    policy_changed as policy_changed,
    round_lines as round_lines,
    round_table as round_table,
    round_text as round_text,
    rows_by_round as rows_by_round,
    table_of_rows as table_of_rows,
)
from agreement_pipeline.evidence.judged import (
    Before as Before,
    JudgedProject as JudgedProject,
    JudgedRound as JudgedRound,
    ProjectState as ProjectState,
    in_text as in_text,
    shares_of as shares_of,
    shortened as shortened,
)
from agreement_pipeline.evidence.page import (
    Page as Page,
    judge_page as judge_page,
    page_of_project as page_of_project,
    page_of_projects as page_of_projects,
    page_of_round as page_of_round,
)
from agreement_pipeline.evidence.rounds import (
    charted as charted,
    fallen_out as fallen_out,
    history as history,
    in_order_of_need as in_order_of_need,
    like_before as like_before,
    since as since,
    state_grid as state_grid,
    trend as trend,
)
from agreement_pipeline.evidence.section import (
    Answer as Answer,
    Content as Content,
    Grid as Grid,
    Section as Section,
)
from agreement_pipeline.evidence.summary import (
    NUMBERS as NUMBERS,
    RuleResult as RuleResult,
    Summary as Summary,
    declared_labels_alike as declared_labels_alike,
    summarize as summarize,
    summarize_anyway as summarize_anyway,
)
from agreement_pipeline.evidence.tables import (
    difference_rows as difference_rows,
    estimate_rows as estimate_rows,
    interval_text as interval_text,
    plan_rows as plan_rows,
    RULE_COLUMNS as RULE_COLUMNS,
    rule_rows as rule_rows,
)
from agreement_pipeline.evidence.verdicts import (
    plan_figure as plan_figure,
    verdict_grid as verdict_grid,
)
