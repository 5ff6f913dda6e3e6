"""The command `judge`."""

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click

from agreement_pipeline.cli.options import (
    FILE,
    POLICY,
    TABLE_HELP,
    as_written,
    command,
    format_option,
    option,
    policy_option,
    read_table,
    table_options,
)
from agreement_pipeline.cli.output import as_json, say
from agreement_pipeline.contract import load_lightly
from agreement_pipeline.policy import (
    Decision,
    Policy,
    Waivers,
    first_labels,
    load_policy,
    load_waiver,
)
from agreement_pipeline.policy import judge as judge_ratings
from agreement_pipeline.ratings import described, lookalikes
from agreement_pipeline.report import (
    Round,
    decision_word,
    markdown_text,
    printable,
    rule_rows,
    steps_as_text,
    who_rated,
)

HELD, MOST_WARNINGS = 1, 10


@command(
    "agreement-pipeline judge labels.csv --policy standard",
)
@click.argument("file", type=FILE, help=TABLE_HELP)
@table_options
@policy_option
@option(
    "--waiver",
    group=POLICY,
    type=FILE,
    multiple=True,
    help="YAML file of a waiver. Repeat for more.",
)
@format_option("table", "json", "markdown")
@click.pass_context
def judge(
    ctx: click.Context,
    /,
    file: Path,
    policy: Path,
    waiver: Sequence[Path],
    output: str,
    **reading: Any,
) -> int:
    """Print the decision on a table under a policy.

    The exit status is 0 if the round is admitted and 1 if it is held. It is 2 if the round
    could not be judged.
    """
    waivers = Waivers(tuple(load_waiver(path) for path in waiver), datetime.now(UTC).date())
    ratings = read_table(file, reading)
    load_lightly()
    under = load_policy(policy)
    decision = judge_ratings(ratings, under, waivers=waivers)
    if output == "json":
        say(as_json({**decision.to_mapping(), "first_labels": first_labels(ratings)}))
    else:
        table = as_written(ctx, file)
        found = Round(ratings, under, decision, name=table, policy_name=str(policy))
        if output == "markdown":
            say(_in_markdown(found, str(file)))
        else:
            say("\n  ".join(map(printable, _in_words(found))))
    return 0 if decision.admitted else HELD


def _in_markdown(found: Round, called: str) -> str:
    """The decision as a summary of a step in a pipeline shows it."""
    decision, who = found.decision, found.who_differs
    word = decision_word("admitted" if decision.admitted else "held", decision.tentative)
    who_did = who_rated(found.ratings), first_labels(found.ratings)
    again = [decision.repeated] if decision.repeated else []
    said = [*decision.reasons, *([who] if who else []), *who_did, *again]
    rules = rule_rows(decision)
    head = list(rules.columns)
    cells = [head, ["---"] * len(head), *rules.to_numpy().tolist()]
    return "\n".join(
        [
            f"### {word}: {markdown_text(called)}",
            "",
            *(f"- {markdown_text(each)}" for each in said),
            "",
            *(f"| {' | '.join(markdown_text(str(cell)) for cell in row)} |" for row in cells),
            *(["", "What to do now:", ""] if found.steps else []),
            *(
                f"{nth}. {markdown_text(f'{step.what} {step.why}')} `{printable(step.by)}`"
                for nth, step in enumerate(found.steps, 1)
            ),
        ]
    )


def _in_words(found: Round) -> Iterator[str]:
    """The decision with its reasons, who rated, what to do, and then what only warns."""
    decision = found.decision
    decided = "admitted" if decision.admitted else "held"
    yield f"{decided} (tentative)" if decision.tentative else decided
    yield from decision.reasons
    if who := found.who_differs:
        yield who
    yield who_rated(found.ratings)
    yield first_labels(found.ratings)
    yield decision.manner
    if decision.repeated:
        yield decision.repeated
    yield from _warnings(found)
    if found.steps:
        yield "what to do now:"
        yield from "\n".join(steps_as_text(found.steps)).splitlines()


def _warnings(found: Round) -> Iterator[str]:
    """What does not count, the rules that only warn, and what else deserves a look."""
    decision, ratings, policy = found.decision, found.ratings, found.policy
    if ratings.origin and ratings.origin.words:
        yield f"no ratings: {ratings.origin.words}"
    for line in _only_warning(decision, policy, met=True):
        yield f"met: {line}"
    for line in _only_warning(decision, policy, met=False):
        yield f"warning: {line}"
    for finding in decision.findings:
        if not finding.passed and not finding.holds:
            yield f"warning: {finding.description}"
    for group in lookalikes(map(str, ratings.scale.categories or ())):
        yield f"warning: labels_that_look_alike: {described(group)}"


def _only_warning(decision: Decision, policy: Policy, *, met: bool) -> Iterator[str]:
    """What the rules say that hold nothing, if they are met or if they are not."""
    said = [
        verdict.reason
        for verdict in decision.verdicts
        if verdict.rule.effect == "warn" and (verdict.kind in policy.admit) is met
    ]
    yield from said[:MOST_WARNINGS]
    if len(said) > MOST_WARNINGS:
        more = f"{len(said) - MOST_WARNINGS} more rules are {'' if met else 'not '}met"
        yield f"{more}; --format json has them all"
