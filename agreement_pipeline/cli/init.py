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
    settings_for,
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
    help="The folder that contains configs/, or will contain it.",
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

    Everything is guessed that you do not set with an option. The options are those of `judge`.
    In the files, check lines that begin with `# Please check` or `# FILL IN`.
    """
    from agreement_pipeline.projects import draft_project_files, plain_name, undated_name

    project_name = plain_name(name or undated_name(export))
    inbox, root_path = export.resolve(), root.resolve()
    if export.is_dir():
        inbox = Path("data", project_name)
    elif inbox.is_relative_to(root_path):
        inbox = inbox.relative_to(root_path)
    files = draft_project_files(export, project_name, str(inbox), _given_settings(ctx, reading))
    places = {root / "configs" / path: text for path, text in files.items()}
    existing = [path for path in places if path.exists()]
    if existing:
        raise ProjectError(
            f"{existing[0]}: found a file; expected none, since init overwrites nothing. "
            "Give another --name, or remove the file."
        )
    for path, text in places.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        doubts = [line for line in text.splitlines() if line.startswith(("# Please", "# FILL"))]
        say("\n  ".join([f"wrote {path}", *(line.removeprefix("# ") for line in doubts)]))
    if export.is_dir():
        say(f"Put each round into the folder data/{project_name}, as a folder of its own.")
    project_files = shlex.join(str(path) for path in places if path.parent.name == "projects")
    say(f"Then see what is decided: agreement-pipeline judge {project_files}")
    return 0


def _given_settings(ctx: click.Context, reading: Mapping[str, Any]) -> dict[str, Any]:
    if reading["layout"] in AGGREGATED or reading["of_round"]:
        option = "--of-round" if reading["of_round"] else f"--layout {reading['layout']}"
        raise click.UsageError(
            f"found {option}; expected none, since a project reads every round of its inbox, with "
            "one row a rating or one column a rater. Leave it out."
        )
    typed_options = {
        str(param.name): reading[str(param.name)]
        for param in ctx.command.params
        if isinstance(param, Option)
        and param.group in OF_TABLES
        and ctx.get_parameter_source(str(param.name)) is ParameterSource.COMMANDLINE
    }
    scale = {
        name: typed_options.pop(name) for name in ("level", "categories") if name in typed_options
    }
    columns = settings_for(Columns, typed_options)
    layout_settings = {
        name: typed_options[name] for name in typed_options if name in ("layout", "classifiers")
    }
    rules = {
        name: value
        for name, value in settings_for(Rules, typed_options).items()
        if name in typed_options
    }
    settings = {**layout_settings, **rules, "columns": columns, "scale": scale}
    if "limit" in typed_options:
        settings["limits"] = dict(typed_options["limit"])
    return {name: value for name, value in settings.items() if value not in ({}, ())}
