from pathlib import Path

import click

from agreement_pipeline.cli.app import UNJUDGED
from agreement_pipeline.cli.options import FILE, command
from agreement_pipeline.cli.output import say, say_table
from agreement_pipeline.report import printable
from agreement_pipeline.text import counted, join_sentences, listed


@command("agreement-pipeline reassess configs/projects/moderation.yaml")
@click.argument("file", type=FILE, help="A project's YAML file.")
def reassess(file: Path) -> int:
    """Judge the stored rounds of a project again if something changed since their last decision.

    Ratings, policy, contract, waivers, settings and code are compared. A release whose round is no
    longer admitted is withdrawn. Nothing is released: for that, materialize the asset reassessment.

    The exit status is 2 if a round could not be judged.
    """
    from agreement_pipeline.projects import Project, load_project
    from agreement_pipeline.release import reassess as judge_again

    project = Project(load_project(file))
    terms = project.terms
    n_withdrawals = len(project.gold_withdrawals())
    looked_at = judge_again(project.store, **terms)
    n, anew, failed, unreleased = 0, 0, False, list[str]()
    rows: list[dict[str, str]] = []
    for outcome in looked_at:
        n, anew, failed = n + 1, anew + (outcome.judged is not None), failed or bool(outcome.error)
        unreleased += [outcome.round] if outcome.unreleased else []
        rows += [outcome.row] if outcome.changed or outcome.error else []
        del outcome  # so the next round is judged without the ratings of this one in memory
    policy = terms["policy"]
    say(
        f"{counted(n, 'round')} looked at, {anew} decided anew, {len(rows)} changed or failed, by "
        f"policy {policy.policy}, version {policy.version}."
    )
    if rows:
        say_table(rows, "why")
    for withdrawal in project.gold_withdrawals()[n_withdrawals:]:
        say(printable(f"withdrawn: {join_sentences(withdrawal['reasons'])}"))
    if unreleased:
        say(
            f"Admitted and not released: {listed(unreleased, 50)}. Run the asset reassessment in "
            "Dagster, or agreement-pipeline run."
        )
    return UNJUDGED if failed else 0
