"""The command `report`."""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from agreement_pipeline.cli.options import (
    FILE,
    FOLDER,
    OF_TABLES,
    OUTPUT,
    POLICY,
    Command,
    given_options,
    option,
    read_table,
    table_options,
)
from agreement_pipeline.cli.output import say, terminal_width
from agreement_pipeline.contract import load_lightly
from agreement_pipeline.errors import AgreementError, StoreError
from agreement_pipeline.policy import load_policy
from agreement_pipeline.text import listed

if TYPE_CHECKING:
    from agreement_pipeline.projects import Project
    from agreement_pipeline.report import Render

    Page = Callable[[Render], str]

PROJECT, INDEX = (".yaml", ".yml"), "index.html"
EXAMPLES = (
    "agreement-pipeline report labels.csv --policy standard.yaml",
    "agreement-pipeline report configs/projects/moderation.yaml --output pages/",
    "agreement-pipeline report labels.csv --policy standard.yaml --output labels.html",
)


@click.command(cls=Command, examples=EXAMPLES)
@click.argument("file", type=FILE, help="A project's YAML file, or a table or a tool's export.")
@click.argument("round_name", metavar="[ROUND]", required=False, help="A round of the project.")
@table_options
@option(
    "--policy",
    group=POLICY,
    type=FILE,
    metavar="FILE",
    help="YAML file of a policy, for a table. A project has its own.",
)
@option(
    "--names",
    group=OUTPUT,
    is_flag=True,
    help="Show the names of raters. By default, they have pseudonyms.",
)
@option(
    "--output",
    "target",
    group=OUTPUT,
    type=FILE,
    metavar="FILE",
    show_default="text in the terminal",
    help="The page to write. For a folder: a page for the project and for each round.",
)
@option(
    "--images",
    group=OUTPUT,
    type=FOLDER,
    metavar="FOLDER",
    help="A folder with the images that raters marked, for a table. A project names its own.",
)
@click.pass_context
def report(
    ctx: click.Context,
    /,
    file: Path,
    round_name: str | None,
    policy: Path | None,
    names: bool,
    target: Path | None,
    images: Path | None,
    **reading: Any,
) -> int:
    """Write a page that says what was decided, why, and who disagrees on what.

    The page is one HTML file that needs no network. Without a file, it is printed as text. Of a
    project, it shows all rounds, or one round that is named. Of a table, it needs a policy.
    """
    of_project = file.suffix in PROJECT
    given = given_options(ctx, *OF_TABLES, POLICY) if of_project else []
    given += ["--images"] if of_project and images else []
    if given or (not of_project and (round_name or policy is None)):
        raise AgreementError(_misused(file, given, round_name))
    from agreement_pipeline.report import as_html, as_text

    if of_project:
        opened = _opened(file)
        if target and not target.suffix and not round_name:
            say("\n".join(_written_folder(opened, target, names)))
            return 0
        page = _of_project(opened, round_name, names)
    else:
        page = _of_table(file, policy, names, images, reading)
    if target:
        say(_written(target, page(as_html)))
    else:
        say(page(partial(as_text, width=terminal_width())))
    return 0


def _misused(file: Path, given: Sequence[str], round_name: str | None) -> str:
    if given:
        return (
            f"{file}: found a project with {listed(given)}; expected none of them, since the "
            "project names them. Leave them out."
        )
    if round_name:
        return (
            f"{file}: found a table with round {round_name!r}; expected a project's YAML file "
            "with it. Name the round of a table with --of-round."
        )
    return f"{file}: found a table without a policy; expected one. Name it with --policy."


def _of_table(
    file: Path, policy: Path | None, names: bool, images: Path | None, reading: dict[str, Any]
) -> "Page":
    from agreement_pipeline.report import report_page

    ratings = read_table(file, reading)
    load_lightly()
    called: dict[str, str] | None = {} if names else None
    under = load_policy(str(policy))
    return lambda render: report_page(
        ratings, under, name=file.name, names=called, images=images, render=render
    )


def _opened(file: Path) -> "Project":
    from agreement_pipeline.projects import Project, load_project

    project = Project(load_project(file))
    load_lightly()
    return project


def _of_project(project: "Project", round_name: str | None, names: bool) -> "Page":
    """The page of a round that is named, or of all rounds."""
    from agreement_pipeline.projects import project_page, round_page

    if not round_name:
        return lambda render: project_page(project, names=names, render=render)
    today = datetime.now(UTC).date()
    return lambda render: round_page(project, round_name, on=today, names=names, render=render)


def _written_folder(project: "Project", folder: Path, names: bool) -> list[str]:
    """Write the page of all rounds, which leads to a page of each round."""
    from agreement_pipeline.projects import project_page
    from agreement_pipeline.report import as_html

    pages = {name: f"{name}.html" for name in _rounds(project)}
    index = _written(folder / INDEX, project_page(project, pages, names=names))
    of_rounds = [
        _written(folder / page, _of_project(project, name, names)(as_html))
        for name, page in pages.items()
    ]
    return [index, *of_rounds]


def _rounds(project: "Project") -> tuple[str, ...]:
    found = project.store.rounds()
    if not found:
        raise StoreError(
            f"{project.store.root}: found no round; expected one at least. Judge a round first."
        )
    return found


def _written(path: Path, page: str) -> str:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(page, encoding="utf-8")
    return f"wrote {path}"
