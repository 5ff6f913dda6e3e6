from pathlib import Path

import click

from agreement_pipeline.cli.options import OUTPUT, command, option, tasks_options
from agreement_pipeline.cli.output import say_aside, write_tasks
from agreement_pipeline.evidence import FORMS, ORDERS, Order

PROJECTS = Path("configs/projects")


@command(
    "agreement-pipeline disputed moderation 2026-W03",
    "agreement-pipeline disputed moderation 2026-W03 --format label-studio --output tasks.json",
)
@click.argument("project", help=f"The name of a project in {PROJECTS}, or its file.")
@click.argument("round_name", metavar="ROUND", help="A round that is in the store.")
@tasks_options(FORMS)
@option(
    "--by",
    group=OUTPUT,
    type=click.Choice(list(ORDERS)),
    default="disagreement",
    help="What comes first: most disagreement, or most influence on alpha.",
)
def disputed(project: str, round_name: str, form: str, by: Order, output: Path | None) -> int:
    """Write the items on which raters differ as tasks for an adjudicator.

    Each task has the text, the labels of the raters, and the digest of the ratings. An answer sets
    the training label of its item. It does not change the measured agreement.
    """
    from agreement_pipeline.evidence import COMES_BACK, tasks, write_tasks_as_text
    from agreement_pipeline.projects import Project, load_project

    path = PROJECTS / f"{project}.yaml"
    opened_project = Project(load_project(path if path.exists() else Path(project)))
    ratings = opened_project.store.ratings(round_name)
    tasks_of_round = tasks(ratings, by)
    text = write_tasks_as_text(tasks_of_round, ratings.scale.names, form)
    write_tasks(tasks_of_round, text, form, output)
    say_aside(COMES_BACK)
    return 0
