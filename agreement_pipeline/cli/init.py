import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from agreement_pipeline.cli.options import (
    AGGREGATED,
    FILE,
    FOLDER,
    OF_TABLES,
    OUTPUT,
    Option,
    command,
    option,
    said_of,
    table_options,
)
from agreement_pipeline.cli.output import say
from agreement_pipeline.errors import ProjectError
from agreement_pipeline.readers import Columns, Rules


@command(
    "agreement-pipeline init export.json",
    "agreement-pipeline init labels.csv --item post_id --rater annotator --label verdict",
    "agreement-pipeline init labels.csv --layout wide --item post_id --raters ana --raters ben",
)
@click.argument("export", type=FILE, help="A tool's export, or a table.")
@table_options
@option(
    "--root",
    group=OUTPUT,
    type=FOLDER,
    default=Path(),
    help="The folder that holds configs/, or will hold it.",
)
@option(
    "--name",
    group=OUTPUT,
    metavar="NAME",
    show_default="of the export",
    help="The project's name.",
)
@click.pass_context
def init(ctx: click.Context, /, export: Path, root: Path, name: str | None, **reading: Any) -> int:
    """Write a project file and a policy for an export, one project for each question.

    Options say what is not to be guessed, as for `judge`. Lines that begin with
    `# Please check` or `# FILL IN` say what is not sure.
    """
    from agreement_pipeline.projects import first_files, plain_name, undated_name

    called = plain_name(name or undated_name(export))
    inbox, beside = export.resolve(), root.resolve()
    if export.is_dir():
        inbox = Path("data", called)
    elif inbox.is_relative_to(beside):
        inbox = inbox.relative_to(beside)
    files = first_files(export, called, str(inbox), _settings(ctx, reading))
    places = {root / "configs" / path: text for path, text in files.items()}
    there = [path for path in places if path.exists()]
    if there:
        raise ProjectError(
            f"{there[0]}: found a file; expected none, since init overwrites nothing. "
            "Give another --name, or remove the file."
        )
    for path, text in places.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        doubts = [line for line in text.splitlines() if line.startswith(("# Please", "# FILL"))]
        say("\n  ".join([f"wrote {path}", *(line.removeprefix("# ") for line in doubts)]))
    if export.is_dir():
        say(f"Put each round into the folder data/{called}, as a folder of its own.")
    made = shlex.join(str(path) for path in places if path.parent.name == "projects")
    say(f"Then see what is decided: agreement-pipeline judge {made}")
    return 0


def _settings(ctx: click.Context, reading: Mapping[str, Any]) -> dict[str, Any]:
    if reading["layout"] in AGGREGATED or reading["of_round"]:
        option = "--of-round" if reading["of_round"] else f"--layout {reading['layout']}"
        raise click.UsageError(
            f"found {option}; expected none, since a project reads every round of its inbox, with "
            "one row a rating or one column a rater. Leave it out."
        )
    given = {
        str(param.name): reading[str(param.name)]
        for param in ctx.command.params
        if isinstance(param, Option)
        and param.group in OF_TABLES
        and ctx.get_parameter_source(str(param.name)) is ParameterSource.COMMANDLINE
    }
    scale = {name: given.pop(name) for name in ("level", "categories") if name in given}
    columns = said_of(Columns, given)
    others = {name: given[name] for name in given if name in ("layout", "classifiers")}
    rules = {name: value for name, value in said_of(Rules, given).items() if name in given}
    said = {**others, **rules, "columns": columns, "scale": scale}
    if "limit" in given:
        said["limits"] = dict(given["limit"])
    return {name: value for name, value in said.items() if value not in ({}, ())}
