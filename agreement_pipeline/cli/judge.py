from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from functools import partial
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from agreement_pipeline.cli.app import UNJUDGED
from agreement_pipeline.cli.options import (
    FILE,
    JSON_FORMAT,
    OF_TABLES,
    OUTPUT,
    POLICY,
    POLICY_HELP,
    TABLE_HELP,
    as_written,
    check_suite,
    command,
    format_option,
    given_options,
    is_project,
    option,
    read_table,
    read_with_warnings,
    say_warnings,
    table_options,
    why_in_json,
)
from agreement_pipeline.cli.output import as_json, refuse_to_replace, say, say_aside
from agreement_pipeline.contract import NONE, Contract
from agreement_pipeline.errors import (
    EXPECTED,
    AgreementError,
    ProjectError,
    RatingsError,
    error_in_a_sentence,
)
from agreement_pipeline.evidence import Summary, declared_labels_alike, rule_rows, summarize
from agreement_pipeline.policy import (
    BUNDLED,
    Decision,
    Policy,
    Waivers,
    assess,
    describe_first_labels,
    load_policy,
    load_waiver,
)
from agreement_pipeline.policy import judge as judge_ratings
from agreement_pipeline.ratings import (
    EarlierDelivery,
    Ratings,
    mark_first_deliveries,
)
from agreement_pipeline.report import markdown_text, printable, steps_as_markdown, steps_as_text
from agreement_pipeline.text import counted, joined, natural_sort_key

if TYPE_CHECKING:
    from agreement_pipeline.projects import Project

FILES_HELP = f"{TABLE_HELP} Or the YAML file of a project, for the rounds in its inbox."
DATABASE = "Database"
HELD_STATUS, MOST_WARNINGS = 1, 10
ALIKE = "labels_that_look_alike"


class Query(NamedTuple):
    sql: str
    connection_from: str


class JudgeRequest(NamedTuple):
    file: str
    judge: Callable[[], tuple[Ratings, Decision, tuple[str, ...]]]
    policy: Policy
    names_in_commands: tuple[str, str, str]
    left_out: Sequence[str] = ()
    is_stored: bool = True

    def summarized(
        self, ratings: Ratings, decision: Decision, warnings: tuple[str, ...]
    ) -> Summary:
        names_in_commands = self.names_in_commands
        return summarize(
            ratings,
            self.policy,
            decision,
            *names_in_commands,
            is_stored=self.is_stored,
            warnings=warnings,
        )


@command(
    "agreement-pipeline judge labels.csv --policy standard",
    "agreement-pipeline judge week-1.csv week-2.csv --policy standard --format json",
    "agreement-pipeline judge configs/projects/moderation.yaml",
    "agreement-pipeline judge --query 'select * from labels' --connection-from DB "
    "--policy standard",
)
@click.argument("files", metavar="[FILE]...", type=FILE, nargs=-1, help=FILES_HELP)
@option("--query", group=DATABASE, metavar="SQL", help="A query that gives the table.")
@option(
    "--connection-from",
    group=DATABASE,
    metavar="VARIABLE",
    help="The environment variable with the URL of the database, such as sqlite:///labels.db.",
)
@table_options
@option("--policy", group=POLICY, type=FILE, help=f"{POLICY_HELP} A project has its own.")
@option(
    "--waiver",
    group=POLICY,
    type=FILE,
    multiple=True,
    help="YAML file of a waiver. Repeat for more.",
)
@option(
    "--earlier",
    group=POLICY,
    type=FILE,
    multiple=True,
    help="A table that was delivered before. Judged is what is new in FILE, or has new ratings "
    "since. Repeat for more, in the order in which they came.",
)
@option(
    "--contract",
    group=POLICY,
    type=FILE,
    help="A suite of Great Expectations, in JSON or YAML, that FILE must meet too. Without it, no "
    "suite runs. The policy's checks of integrity always run.",
)
@format_option("table", "json", "markdown")
@option(
    "--statement",
    "target",
    group=OUTPUT,
    type=FILE,
    help="Write a statement of in-toto on the decisions, ready to be signed. Not of a project.",
)
@click.pass_context
def judge(
    ctx: click.Context,
    /,
    files: Sequence[Path],
    policy: Path | None,
    waiver: Sequence[Path],
    earlier: Sequence[Path],
    contract: Path | None,
    output: str,
    target: Path | None,
    query: str | None,
    connection_from: str | None,
    **reading: Any,
) -> int:
    """Print the decision on tables, or on the rounds in the inbox of a project.

    The exit status is 0 if every round is admitted and 1 if one is held. It is 2 if a round
    could not be judged. Nothing is stored and nothing is released.
    """
    if (query is None) != (connection_from is None):
        raise click.UsageError("found --query or --connection-from alone; expected both.")
    if (query is None) == (not files):
        raise click.UsageError(
            f"found {'files beside --query' if files else 'no table'}; expected files, or a query "
            "with its connection. Name one of them."
        )
    if query is not None and connection_from is not None:
        rows = Query(query, connection_from)
        requests = [_request_of_query(ctx, rows, policy, waiver, earlier, contract, reading)]
    else:
        requests = [*_requests_of_files(ctx, files, policy, waiver, earlier, contract, reading)]
    of_tables = not any(request.names_in_commands[0] for request in requests)
    if target and not (of_tables and files and all(file.is_file() for file in files)):
        raise click.UsageError("found --statement; expected tables in files with it.")
    if target and target.exists() and any(map(target.samefile, files)):
        raise click.UsageError(f"--statement: found {target}, a table; expected another file.")
    if target:
        refuse_to_replace(target)
    several = len(files) > 1 or not of_tables
    digests = _digest_by_file(files) if target else {}
    answers = [_summary_and_decision(request, output, several=several) for request in requests]
    printed = [answer for answer, _ in answers]
    decisions = {
        request.file: decision
        for request, (_, decision) in zip(requests, answers, strict=True)
        if decision
    }
    if target and len(decisions) == len(digests):
        if digests != _digest_by_file(files):
            raise RatingsError("found a table that changed while it was judged. Judge it again.")
        from agreement_pipeline.release import statement

        decision_mappings = {name: decision.to_mapping() for name, decision in decisions.items()}
        read_as = {request.file: request.names_in_commands[1] for request in requests}
        target.write_bytes(
            statement(digests, decision_mappings, requests[0].policy, datetime.now(UTC), read_as)
        )
    if output == "json":
        say(as_json(printed if several else printed[0]))
    elif any(printed):
        say(("\n\n" if output == "markdown" else "\n").join(filter(None, printed)))
    if not all(decision for _, decision in answers):
        return UNJUDGED
    return 0 if all(decision and decision.admitted for _, decision in answers) else HELD_STATUS


def _digest_by_file(files: Iterable[Path]) -> dict[str, str]:
    return {str(file): sha256(file.read_bytes()).hexdigest() for file in files}


def _requests_of_files(
    ctx: click.Context,
    files: Iterable[Path],
    policy: Path | None,
    waiver: Iterable[Path],
    earlier: Sequence[Path],
    contract: Path | None,
    reading: Mapping[str, Any],
) -> Iterator[JudgeRequest]:
    on = datetime.now(UTC).date()
    for file in files:
        if is_project(file, given_options(ctx, *OF_TABLES, POLICY), but=("--of-round",)):
            yield from _requests_of_project(file, reading["of_round"])
        elif policy is None:
            raise click.UsageError(
                f"{file}: found a table without a policy; expected one. "
                "Name it, as --policy standard."
            )
        else:
            waivers = Waivers(tuple(load_waiver(path) for path in waiver), on)
            names_in_commands = "", as_written(ctx, file), str(policy)
            loaded_policy = load_policy(policy)
            terms = None if contract is None else Contract.load(contract)
            judge_file = partial(
                _judge_table, file, earlier, reading, loaded_policy, waivers, terms
            )
            yield JudgeRequest(
                str(file), judge_file, loaded_policy, names_in_commands, reading["exclude_raters"]
            )


def _request_of_query(
    ctx: click.Context,
    query: Query,
    policy: Path | None,
    waiver: Iterable[Path],
    earlier: Sequence[Path],
    contract: Path | None,
    reading: Mapping[str, Any],
) -> JudgeRequest:
    if policy is None:
        raise click.UsageError(
            "found a query without a policy; expected one. Name it, as --policy standard."
        )
    waivers = Waivers(tuple(load_waiver(path) for path in waiver), datetime.now(UTC).date())
    loaded_policy = load_policy(policy)
    terms = None if contract is None else Contract.load(contract)

    def judge_rows() -> tuple[Ratings, Decision, tuple[str, ...]]:
        from agreement_pipeline.sources import write_query

        with TemporaryDirectory(prefix="agreement-") as folder:
            table = Path(folder, "query.parquet")
            write_query(query.sql, query.connection_from, table)
            try:
                return _judge_table(table, earlier, reading, loaded_policy, waivers, terms)
            except AgreementError as error:
                message = str(error).replace(str(table), "query").replace(table.name, "query")
                error.args = (message,)
                raise

    # Commands of other steps need the rows in a file.
    names_in_commands = "", as_written(ctx, Path("TABLE")), str(policy)
    return JudgeRequest(
        "query", judge_rows, loaded_policy, names_in_commands, reading["exclude_raters"]
    )


def _judge_table(
    file: Path,
    earlier: Sequence[Path],
    reading: Mapping[str, Any],
    policy: Policy,
    waivers: Waivers,
    contract: Contract | None,
) -> tuple[Ratings, Decision, tuple[str, ...]]:
    ratings, warnings = read_with_warnings(file, {**reading, "in_order": True})
    say_warnings(file, ratings, warnings)
    if earlier:
        same_level = {**reading, "usable": False, "level": ratings.scale.level}
        earlier_deliveries = [
            EarlierDelivery(path.name, read_table(path, same_level)) for path in earlier
        ]
        ratings = mark_first_deliveries(
            ratings,
            earlier_deliveries,
            file.name,
            "cumulative",
            times_tell=True,
            whole_clusters=reading.get("units") is not None,
        )
    if contract is None or contract.suite is None:
        return ratings, judge_ratings(ratings, policy, contract, waivers), warnings
    check = check_suite(file, reading, contract.suite, ratings)
    decision = assess(ratings, policy, contract, waivers, check.findings).decision
    return ratings, decision, warnings


def _requests_of_project(file: Path, of_round: str | None) -> Iterator[JudgeRequest]:
    from agreement_pipeline.projects import Project, load_project

    project = Project(load_project(file)).checked()
    inbox_state = project.look()
    names = (
        [of_round]
        if of_round
        else sorted({*inbox_state.deliveries, *inbox_state.refused}, key=natural_sort_key)
    )
    if not names:
        raise ProjectError(f"{project.inbox}: found no round; expected one. Put a file into it.")
    if not project.store.rounds():
        store_phrase = f"{project.name}: found no round in {project.store.root}"
        say_aside(f"{store_phrase}, so rounds come in the order of their names")
    by, policy_name = project.terms, project.settings.policy
    in_commands = policy_name if policy_name in BUNDLED else f"configs/policies/{policy_name}.yaml"
    due = {delivery.round for delivery in project.due(contents=inbox_state)}
    stored = {*project.store.rounds()}
    pending = [
        name for name in sorted(inbox_state.deliveries, key=natural_sort_key) if name not in stored
    ]
    not_stored: dict[str, Ratings] = {}
    for name in names:
        names_in_commands = project.name, name, in_commands
        rounds_before = pending[: pending.index(name)] if name in pending else []
        judge_round = partial(_judge_delivered, project, name, by, rounds_before, not_stored)
        left_out = project.settings.exclude_raters
        is_stored = name not in due
        yield JudgeRequest(
            f"{project.name}/{name}",
            judge_round,
            by["policy"],
            names_in_commands,
            left_out,
            is_stored,
        )


def _judge_delivered(
    project: "Project",
    name: str,
    by: Mapping[str, Any],
    rounds_before: Sequence[str],
    not_stored: dict[str, Ratings],
) -> tuple[Ratings, Decision, tuple[str, ...]]:
    """`rounds_before` this one come first, as they will when they are judged. They are read once,
    into `not_stored`.
    """
    from agreement_pipeline.release import judge_delivered

    for earlier in rounds_before:
        if earlier not in not_stored:
            with suppress(*EXPECTED):  # a round that cannot be read is told when its turn comes
                _, not_stored[earlier] = project.delivered(earlier, not_stored)
    delivery, ratings = project.delivered(name, not_stored)
    not_stored[name] = ratings
    judged_round = judge_delivered(project.store, name, ratings, delivered=delivery.table, **by)
    return ratings, judged_round.decision, ()


def _summary_and_decision(
    request: JudgeRequest, output: str, *, several: bool
) -> tuple[Any, Decision | None]:
    try:
        ratings, decision, warnings = request.judge()
    except EXPECTED as error:
        message = error_in_a_sentence(error)
        say_aside(f"error: {message}")
        answer = {
            "table": "",
            "json": {**why_in_json(error), "file": request.file},
            "markdown": (
                f"### not judged: {markdown_text(request.file)}\n\n- {markdown_text(message)}"
            ),
        }
        return answer[output], None
    if output == "json":
        head = {"format": JSON_FORMAT, "file": request.file}
        alike = (f"{ALIKE}: {group}" for group in declared_labels_alike(ratings))
        extras = {"first_labels": describe_first_labels(ratings), "warnings": [*warnings, *alike]}
        return {**head, **decision.to_mapping(), **extras}, decision
    summary = request.summarized(ratings, decision, warnings)
    if output == "markdown":
        return summary_as_markdown(summary, request.file, request.left_out), decision
    decided, *lines = map(printable, summary_lines(summary, request.left_out))
    file_suffix = f": {printable(request.file)}" if several else ""
    return "\n  ".join([f"{decided}{file_suffix}", *lines]), decision


def summary_as_markdown(summary: Summary, file: str, left_out: Sequence[str]) -> str:
    rules = rule_rows(summary.results)
    head = list(rules.columns)
    cells = [head, ["---"] * len(head), *rules.to_numpy().tolist()]
    return "\n".join(
        [
            f"### {summary.decision.word}: {markdown_text(file)}",
            "",
            *(f"- {markdown_text(line)}" for line in _summary_sentences(summary, left_out)),
            *(f"- {markdown_text(f'warning: {warning}')}" for warning in summary.warnings),
            "",
            *(f"| {' | '.join(markdown_text(str(cell)) for cell in row)} |" for row in cells),
            *(["", "What to do now:", ""] if summary.steps else []),
            *steps_as_markdown(summary.steps),
        ]
    )


def summary_lines(summary: Summary, left_out: Sequence[str]) -> Iterator[str]:
    yield summary.decision.word
    yield from _summary_sentences(summary, left_out)
    if summary.steps:
        yield "what to do now:"
        yield from "\n".join(steps_as_text(summary.steps)).splitlines()


def _summary_sentences(summary: Summary, left_out: Sequence[str]) -> Iterator[str]:
    decision = summary.decision
    yield from decision.reasons
    if not decision.admitted:  # then the reasons name no waiver that is in force
        yield from map(str, decision.waived)
    if summary.who_differs:
        yield summary.who_differs
    yield summary.who_rated
    if summary.what_is_new:
        yield summary.what_is_new
    if left_out:
        yield f"Raters left out: {joined(sorted(left_out))}."
    yield summary.first_labels
    if decision.contract and decision.contract[0] == NONE:
        yield "No suite of Great Expectations was run."
    yield decision.manner
    if decision.repeat_rate_sentence:
        yield decision.repeat_rate_sentence
    yield from _iterate_warnings(summary)


def _iterate_warnings(summary: Summary) -> Iterator[str]:
    if summary.no_ratings:
        yield f"no ratings: {summary.no_ratings}"
    for line in _iterate_verdicts_that_only_warn(summary, is_met=True):
        yield f"met: {line}"
    for line in _iterate_verdicts_that_only_warn(summary, is_met=False):
        yield f"warning: {line}"
    for finding in summary.decision.findings:
        if not finding.passed and not finding.holds:
            yield f"warning: {finding.description}"
    for group in summary.labels_alike:
        yield f"warning: {ALIKE}: {group}"


def _iterate_verdicts_that_only_warn(summary: Summary, *, is_met: bool) -> Iterator[str]:
    reasons = [
        result.reason
        for result in summary.results
        if not result.holds and (result.kind in summary.policy.admit) is is_met
    ]
    yield from reasons[:MOST_WARNINGS]
    if n_more := len(reasons[MOST_WARNINGS:]):
        phrase = f"{counted(n_more, 'more rule')} {'is' if n_more == 1 else 'are'}"
        yield f"{phrase} {'' if is_met else 'not '}met; --format json has them all"
