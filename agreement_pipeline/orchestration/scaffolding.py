"""What `dg scaffold defs agreement_pipeline.AnnotationProject NAME` writes."""

from collections.abc import Mapping
from pathlib import Path

import dagster as dg
from pydantic import BaseModel, Field

from agreement_pipeline.errors import ProjectError

YAML = """# Every key: docs/guide/project.md, or the page of this component in `dg docs`.
type: {type}

attributes:
  project: {project}
  inbox: {inbox}  # a folder with one file a round; drop a file, and it is judged
  scale:
    level: nominal  # or ordinal, interval, ratio
    categories: {categories}  # every label that raters can choose
  columns:  # what your export calls them
    item: item
    rater: rater
    label: label
  classifiers: []  # raters that are models; a round without one of them is refused
  policy: standard  # bundled; or the name of a file in configs/policies
"""
PYTHON = """import dagster as dg
from agreement_pipeline import AnnotationProject


@dg.component_instance
def load(context: dg.ComponentLoadContext) -> AnnotationProject:
    return AnnotationProject(
        project="{project}",
        inbox="{inbox}",
        scale={{"level": "nominal", "categories": {categories}}},
        policy="standard",
    )
"""


class ProjectParams(BaseModel):
    """What the command line may say of a new project."""

    project: str | None = Field(None, description="Its name. By default, that of its folder.")
    inbox: str | None = Field(None, description="Where rounds arrive. By default, data/<project>.")
    categories: str = Field("yes,no", description="The labels, separated by commas.")


class ProjectScaffolder(dg.Scaffolder[ProjectParams]):
    """Writes a component that loads as it is, and makes its inbox, unless that is a bucket."""

    @classmethod
    def get_scaffold_params(cls) -> type[ProjectParams]:
        """The options of the command line."""
        return ProjectParams

    def scaffold(self, request: dg.ScaffoldRequest[ProjectParams]) -> None:
        """Write the component's file, and make its inbox."""
        folder = request.target_path.parent if request.append else request.target_path
        project = request.params.project or folder.name
        inbox = request.params.inbox or f"data/{project}"
        said = {
            "type": request.type_name,
            "project": project,
            "inbox": inbox,
            "categories": [each.strip() for each in request.params.categories.split(",")],
        }
        if request.project_root is None:
            raise ProjectError(
                f"{request.target_path}: found no project around it; expected a folder of a "
                "Dagster project. Change into the project."
            )
        if "://" not in inbox:
            (request.project_root / inbox).mkdir(parents=True, exist_ok=True)
        _write(request, said)


def _write(request: dg.ScaffoldRequest[ProjectParams], said: Mapping[str, object]) -> None:
    if request.scaffold_format == "python":
        _text(request.target_path / "component.py", PYTHON.format(**said))
    elif request.append:
        _text(request.target_path, f"---\n{YAML.format(**said)}", mode="a")
    else:
        _text(request.target_path / "defs.yaml", YAML.format(**said))


def _text(path: Path, text: str, mode: str = "w") -> None:
    with path.open(mode, encoding="utf-8") as file:
        file.write(text)
