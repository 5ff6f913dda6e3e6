"""What people look at: tables and plots, as plain data."""

from agreement_pipeline.report.advice import (
    Round as Round,
    Step as Step,
    asked_of_models as asked_of_models,
    command_of_report as command_of_report,
    held_for_disagreement as held_for_disagreement,
    who_differs as who_differs,
    who_rated as who_rated,
)
from agreement_pipeline.report.details import (
    delivery as delivery,
    details as details,
    patterns as patterns,
)
from agreement_pipeline.report.disputed import (
    COMES_BACK as COMES_BACK,
    FORMS as FORMS,
    ORDERS as ORDERS,
    Order as Order,
    blind_tasks as blind_tasks,
    disputed as disputed,
    tasks as tasks,
    written_tasks as written_tasks,
)
from agreement_pipeline.report.drawing import (
    file_of as file_of,
)
from agreement_pipeline.report.history import (
    NOT_JUDGED as NOT_JUDGED,
    admitted_rounds as admitted_rounds,
    decisions as decisions,
    event_table as event_table,
    health as health,
    not_admitted as not_admitted,
    policy_changed as policy_changed,
    round_table as round_table,
    round_text as round_text,
    rows_by_round as rows_by_round,
    table_of_rows as table_of_rows,
)
from agreement_pipeline.report.judged import (
    Before as Before,
    JudgedProject as JudgedProject,
    JudgedRound as JudgedRound,
    ProjectState as ProjectState,
    in_text as in_text,
    shares_of as shares_of,
    shortened as shortened,
)
from agreement_pipeline.report.page import (
    Render as Render,
    as_html as as_html,
    page_of_project as page_of_project,
    page_of_projects as page_of_projects,
    page_of_round as page_of_round,
    report_page as report_page,
)
from agreement_pipeline.report.rounds import (
    charted as charted,
    fallen_out as fallen_out,
    history as history,
    like_before as like_before,
    since as since,
    state_grid as state_grid,
)
from agreement_pipeline.report.section import (
    Content as Content,
    Grid as Grid,
    Plot as Plot,
    Section as Section,
)
from agreement_pipeline.report.tables import (
    aligned as aligned,
    difference_rows as difference_rows,
    corrected_rows as corrected_rows,
    estimate_rows as estimate_rows,
    markdown_text as markdown_text,
    plan_rows as plan_rows,
    printable as printable,
    rule_rows as rule_rows,
)
from agreement_pipeline.report.terminal import (
    as_text as as_text,
    steps_as_markdown as steps_as_markdown,
    steps_as_text as steps_as_text,
)
from agreement_pipeline.report.verdicts import (
    plan_figure as plan_figure,
    verdict_grid as verdict_grid,
)
