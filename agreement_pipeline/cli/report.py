"""The command `report`."""

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from agreement_pipeline.cli.grouped import Command, given_options
from agreement_pipeline.cli.options import (
    OF_TABLES,
    OUTPUT,
    POLICY,
    option,
    read_table,
    table_options,
)
from agreement_pipeline.cli.output import say
from agreement_pipeline.cli.parameters import FILE
from agreement_pipeline.contract import load_lightly
from agreement_pipeline.errors import AgreementError, StoreError
from agreement_pipeline.policy import load_policy
from agreement_pipeline.text import listed

if TYPE_CHECKING:
    from agreement_pipeline.projects import Project

PROJECT, INDEX = (".yaml", ".yml"), "index.html"
EXAMPLES = (
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
    required=True,
    help="The page to write. For a folder: a page for the project and for each round.",
)
@click.pass_context
def report(
    ctx: click.Context,
    /,
    file: Path,
    round_name: str | None,
    policy: Path | None,
    names: bool,
    target: Path,
    **reading: Any,
) -> int:
    """Write a page that says what was decided, why, and who disagrees on what.

    The page is one HTML file that needs no network. Of a project, it shows all rounds, or one
    round that is named. Of a table, it needs a policy.
    """
    of_project = file.suffix in PROJECT
    given = given_options(ctx, *OF_TABLES, POLICY) if of_project else []
    if given or (not of_project and (round_name or policy is None)):
        raise AgreementError(_misused(file, given, round_name))
    if of_project:
        written = _of_project(file, round_name, target, names)
    else:
        written = [_write(target, _of_table(file, policy, names, reading))]
    say("\n".join(f"wrote {path}" for path in written))
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


def _of_table(file: Path, policy: Path | None, names: bool, reading: dict[str, Any]) -> str:
    from agreement_pipeline.report import report_page

    ratings = read_table(file, reading)
    load_lightly()
    called: dict[str, str] | None = {} if names else None
    return report_page(ratings, load_policy(str(policy)), name=file.name, names=called)


def _of_project(file: Path, round_name: str | None, target: Path, names: bool) -> list[Path]:
    from agreement_pipeline.projects import Project, load_project, project_page, round_page

    project = Project(load_project(file))
    load_lightly()
    today = datetime.now(UTC).date()
    if round_name:
        return [_write(target, round_page(project, round_name, on=today, names=names))]
    if target.suffix:
        return [_write(target, project_page(project, names=names))]
    rounds = _rounds(project)
    pages = {name: f"{name}.html" for name in rounds}
    index = _write(target / INDEX, project_page(project, pages, names=names))
    of_rounds = [
        _write(target / pages[name], round_page(project, name, on=today, names=names))
        for name in rounds
    ]
    return [index, *of_rounds]


def _rounds(project: "Project") -> tuple[str, ...]:
    found = project.store.rounds()
    if not found:
        raise StoreError(
            f"{project.store.root}: found no round; expected one at least. Judge a round first."
        )
    return found


def _write(path: Path, page: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(page, encoding="utf-8")
    return path
