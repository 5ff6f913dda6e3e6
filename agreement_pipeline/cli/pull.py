from pathlib import Path

import click

from agreement_pipeline.cli.app import UNJUDGED
from agreement_pipeline.cli.options import FILE, command
from agreement_pipeline.cli.output import say, say_aside
from agreement_pipeline.text import counted, joined


@command("agreement-pipeline pull configs/projects/reviews.yaml")
@click.argument("project", type=FILE, help="A project's YAML file, with rounds_from.")
def pull(project: Path) -> int:
    """Fetch the rounds of a project from its labelling server or database, without judging them.

    Rounds that have not changed are not fetched again. Each round is written completely or not at
    all, into .agreement/deliveries, from where `judge`, `run` and Dagster read it. With
    adjudicate_in, the disputed items of admitted rounds are uploaded to the server, and answers are
    downloaded.

    The exit status is 2 if a round could not be fetched: the last lines say why.
    """
    from agreement_pipeline.projects import Project, load_project

    pulled_from = Project(load_project(project)).checked()
    pull_result, exchange = pulled_from.pull(), pulled_from.exchange_disputed()
    of_all = f"{counted(len(pull_result.pulled), 'delivery')} of {len(pull_result.rounds)} taken"
    say(f"{of_all}: {joined(pull_result.pulled)}" if pull_result.pulled else of_all)
    for adjudicated in exchange.rounds.values():
        items = counted(adjudicated.n_items, "disputed item")
        say(f"{adjudicated.title}: {adjudicated.n_answered} of {items} answered")
    failed = {**pull_result.failed, **exchange.failed}
    for name, reason in failed.items():
        say_aside(f"error: {name}: {reason}")
    return UNJUDGED if failed else 0
