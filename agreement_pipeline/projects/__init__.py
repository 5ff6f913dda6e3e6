"""What a team says about one annotation project."""

from agreement_pipeline.projects.files import load_projects
from agreement_pipeline.projects.project import Delivery, Project
from agreement_pipeline.projects.settings import ProjectSettings

__all__ = ["Delivery", "Project", "ProjectSettings", "load_projects"]
