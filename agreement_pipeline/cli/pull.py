from pathlib import Path

import click

from agreement_pipeline.cli.app import UNJUDGED
from agreement_pipeline.cli.options import FILE, command
from agreement_pipeline.cli.output import say, say_aside
from agreement_pipeline.text import counted, joined


@command("agreement-pipeline pull configs/projects/reviews.yaml")
@click.argument("project", type=FILE, help="A project's YAML file, with rounds_from.")
def pull(project: Path) -> int:
    """Take the rounds of a project from its labelling server or database, and judge nothing.

    A round that has not changed since is left alone. Each is written whole or not at all, into
    .agreement/deliveries, from where `judge`, `run` and Dagster read it.

    The exit status is 2 if a round could not be taken: the last lines say why.
    """
    from agreement_pipeline.projects import Project, load_project

    taken = Project(load_project(project)).checked().pull()
    of_all = f"{counted(len(taken.pulled), 'delivery')} of {len(taken.rounds)} taken"
    say(f"{of_all}: {joined(taken.pulled)}" if taken.pulled else of_all)
    for name, reason in taken.failed.items():
        say_aside(f"error: {name}: {reason}")
    return UNJUDGED if taken.failed else 0
