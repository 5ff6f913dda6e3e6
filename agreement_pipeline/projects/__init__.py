"""One annotation project: its settings and its steps from the inbox to the store."""

from agreement_pipeline.projects.inbox import (
    Delivery as Delivery,
)
from agreement_pipeline.projects.project import (
    round_before as round_before,
)
from agreement_pipeline.projects.notices import (
    Form as Form,
    Notice as Notice,
    notices as notices,
    overdue as overdue,
    with_who_differs as with_who_differs,
)
from agreement_pipeline.projects.pages import (
    INDEX as INDEX,
    page_of as page_of,
    project_page as project_page,
    projects_page as projects_page,
    round_page as round_page,
    state_of as state_of,
)
from agreement_pipeline.projects.project import (
    Project as Project,
)
from agreement_pipeline.projects.settings import (
    ProjectSettings as ProjectSettings,
    load_project as load_project,
    load_projects as load_projects,
)
from agreement_pipeline.projects.draft import (
    first_files as first_files,
    plain_name as plain_name,
)
from agreement_pipeline.projects.to_date import (
    to_date as to_date,
)
