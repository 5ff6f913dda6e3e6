"""One annotation project: its settings and its steps from the inbox to the store."""

from agreement_pipeline.projects.inbox import Delivery
from agreement_pipeline.projects.project import round_before
from agreement_pipeline.projects.notices import (
    JOINT_RELEASE_NAME,
    Form,
    Notice,
    NoticeKind,
    notices,
    build_outage_notice,
    build_overdue_notice,
    build_recovery_notice,
    with_who_differs,
)
from agreement_pipeline.projects.pages import (
    INDEX,
    page_of,
    project_page,
    projects_page,
    round_page,
    state_of,
)
from agreement_pipeline.projects.project import Project
from agreement_pipeline.projects.settings import ProjectSettings, load_project, load_projects
from agreement_pipeline.projects.draft import draft_project_files, plain_name, undated_name
from agreement_pipeline.projects.to_date import to_date
from agreement_pipeline.projects.together import JointRelease, joint_release

__all__ = [
    "INDEX",
    "JOINT_RELEASE_NAME",
    "Delivery",
    "Form",
    "JointRelease",
    "Notice",
    "NoticeKind",
    "Project",
    "ProjectSettings",
    "build_outage_notice",
    "build_overdue_notice",
    "build_recovery_notice",
    "draft_project_files",
    "joint_release",
    "load_project",
    "load_projects",
    "notices",
    "page_of",
    "plain_name",
    "project_page",
    "projects_page",
    "round_before",
    "round_page",
    "state_of",
    "to_date",
    "undated_name",
    "with_who_differs",
]
