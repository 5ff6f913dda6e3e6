from collections.abc import Callable, Iterator, Mapping
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
    POLICY_HELP,
    as_written,
    command,
    given_options,
    is_project,
    option,
    read_with_warnings,
    say_warnings,
    table_options,
)
from agreement_pipeline.cli.output import say, terminal_width
from agreement_pipeline.errors import EXPECTED, AgreementError, StoreError, error_in_a_sentence
from agreement_pipeline.policy import load_policy

if TYPE_CHECKING:
    from agreement_pipeline.projects import Project


@command(
    "agreement-pipeline report labels.csv --policy standard",
    "agreement-pipeline report configs/projects",
    "agreement-pipeline report configs/projects/moderation.yaml --output pages/",
    "agreement-pipeline report labels.csv --policy standard --output labels.html",
)
@click.argument(
    "file",
    type=FILE,
    help="A project's YAML file, a folder of them, or a table or a tool's export.",
)
@click.argument("round_name", metavar="[ROUND]", required=False, help="A round of the project.")
@table_options
@option(
    "--policy",
    group=POLICY,
    type=FILE,
    help=f"{POLICY_HELP} A project has its own.",
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
    show_default="text in the terminal",
    help="The page to write. For a folder: a page for the project and for each round.",
)
@option(
    "--images",
    group=OUTPUT,
    type=FOLDER,
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
    project, it shows all rounds, or one round that is named. Of a folder of projects, it shows
    which rounds are held, waiting or overdue. Of a table, it needs a policy.
    """
    if target is not None and target.suffix and not (_is_page(target) or target.is_dir()):
        raise click.UsageError(
            f"--output: found {target}; expected a name ending in .html, or a folder."
        )
    typed_options = given_options(ctx, *OF_TABLES, POLICY) + (["--images"] if images else [])
    several = [] if typed_options else sorted(file.glob("*.yaml"))
    if several or is_project(file, typed_options):
        if several and round_name:
            raise AgreementError(
                f"{file}: found projects with round {round_name!r}; expected no round. "
                "Name the YAML file of one project with it."
            )
        write_pages = (
            _write_projects_pages
            if several
            else partial(_write_project_pages, round_name=round_name)
        )
        say("\n".join(write_pages(file, names=names, target=target)))
        return 0
    if round_name:
        raise AgreementError(
            f"{file}: found a table with round {round_name!r}; expected a project's YAML file "
            "with it. Name the round of a table with --of-round."
        )
    if policy is None:
        raise AgreementError(
            f"{file}: found a table without a policy; expected one. Name it, as --policy standard."
        )
    from agreement_pipeline.report import report_page

    ratings, warnings = read_with_warnings(file, {**reading, "in_order": True})
    if target:  # else they stand in the text that is printed
        say_warnings(file, ratings, warnings)
    shown_names: dict[str, str] | None = {} if names else None
    page = partial(report_page, ratings, load_policy(policy), name=file.name, names=shown_names)
    in_commands = as_written(ctx, file, names=names), str(policy)
    build_page = partial(page, images=images, in_commands=in_commands, warnings=warnings)
    say(_print_or_write(build_page, target))
    return 0


def _is_page(target: Path) -> bool:
    return target.suffix.lower() in (".html", ".htm")


def _write_projects_pages(folder: Path, *, names: bool, target: Path | None) -> Iterator[str]:
    from agreement_pipeline.projects import INDEX, Project, load_projects, projects_page

    projects = [Project(settings) for settings in load_projects(folder)]
    of_all = partial(projects_page, projects, datetime.now(UTC).timestamp(), names=names)
    if target is None or _is_page(target):
        yield _print_or_write(of_all, target)
        return
    pages: dict[str, str] = {}
    for project in projects:
        try:
            yield from _write_round_pages(
                project, target / project.name, names, {"All projects": f"../{INDEX}"}
            )
            pages[project.name] = f"{project.name}/{INDEX}"
        except EXPECTED as error:
            yield f"{project.name}: no page, since {error_in_a_sentence(error)}"
    yield _print_or_write(partial(of_all, pages), target / INDEX)


def _write_project_pages(
    file: Path, *, round_name: str | None, names: bool, target: Path | None
) -> Iterator[str]:
    from agreement_pipeline.projects import Project, load_project, project_page, round_page

    project = Project(load_project(file))
    if round_name:
        today = datetime.now(UTC).date()
        yield _print_or_write(
            partial(round_page, project, round_name, on=today, names=names), target
        )
    elif target is None or _is_page(target):
        yield _print_or_write(partial(project_page, project, names=names), target)
    else:
        yield from _write_round_pages(project, target, names, {})


def _write_round_pages(
    project: "Project", folder: Path, names: bool, links: Mapping[str, str]
) -> Iterator[str]:
    from agreement_pipeline.projects import INDEX, page_of, project_page, round_page

    rounds = project.store.rounds()
    if not rounds:
        raise StoreError(
            f"{project.store.root}: found no round; expected one that was judged and stored. Run "
            "`agreement-pipeline run`, or let Dagster judge it: `judge` stores nothing."
        )
    of_all = partial(project_page, project, rounds, names=names, links=links)
    yield _print_or_write(of_all, folder / INDEX)
    today = datetime.now(UTC).date()
    for name in rounds:
        of_round = partial(round_page, project, name, on=today, names=names, other_rounds=rounds)
        yield _print_or_write(of_round, folder / page_of(name))


def _print_or_write(page: Callable[..., str], target: Path | None) -> str:
    if target is None:
        from agreement_pipeline.report import render_text

        return page(render=partial(render_text, width=terminal_width()))
    text = page()
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(text, encoding="utf-8")
    return f"wrote {target}"
