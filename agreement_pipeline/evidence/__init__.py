"""What is said of a judged round, a project or a table, as plain data that `report` renders."""

from agreement_pipeline.evidence.advice import (
    Step as Step,
    ask_whether_models as ask_whether_models,
    command_of_report as command_of_report,
    find_measure_that_holds as find_measure_that_holds,
    describe_who_differs as describe_who_differs,
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
    write_tasks_as_text as write_tasks_as_text,
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
    axis_bounds as axis_bounds,
    cut_text as cut_text,
    least_and_greatest as least_and_greatest,
    tick_text as tick_text,
)
from agreement_pipeline.evidence.history import (
    NOT_JUDGED as NOT_JUDGED,
    admitted_rounds as admitted_rounds,
    decisions_by_round as decisions_by_round,
    event_table as event_table,
    describe_health as describe_health,
    rounds_not_admitted as rounds_not_admitted,
    describe_policy_change as describe_policy_change,
    round_lines as round_lines,
    round_table as round_table,
    rounds_in_words as rounds_in_words,
    rows_by_round as rows_by_round,
    table_of_rows as table_of_rows,
)
from agreement_pipeline.evidence.judged import (
    RoundBefore as RoundBefore,
    JudgedProject as JudgedProject,
    JudgedRound as JudgedRound,
    ProjectState as ProjectState,
    rename_raters as rename_raters,
    share_by_category as share_by_category,
    shorten_pseudonyms as shorten_pseudonyms,
)
from agreement_pipeline.evidence.page import (
    PSEUDONYMS as PSEUDONYMS,
    Page as Page,
    judge_page as judge_page,
    build_project_page as build_project_page,
    build_projects_page as build_projects_page,
    build_round_page as build_round_page,
)
from agreement_pipeline.evidence.rounds import (
    charted as charted,
    rounds_out_of_limits as rounds_out_of_limits,
    history as history,
    in_order_of_need as in_order_of_need,
    describe_last_round_on_chart as describe_last_round_on_chart,
    since as since,
    build_state_grid as build_state_grid,
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
    build_plan_figure as build_plan_figure,
    build_verdict_grid as build_verdict_grid,
)
