"""The command `init`."""

from pathlib import Path

import click

from agreement_pipeline.cli.options import FILE, FOLDER, OUTPUT, command, option
from agreement_pipeline.cli.output import say
from agreement_pipeline.errors import ProjectError


@command(
    "agreement-pipeline init export.json",
)
@click.argument("export", type=FILE, help="A tool's export, or a table.")
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
def init(export: Path, root: Path, name: str | None) -> int:
    """Write a project file and a policy for an export, one project for each question.

    Lines that begin with `# Please check` or `# FILL IN` say what is not sure.
    """
    from agreement_pipeline.projects import first_files, plain_name
    from agreement_pipeline.readers import without_ending

    called = plain_name(name or Path(without_ending(export.name)).stem)
    inbox, beside = export.resolve(), root.resolve()
    if export.is_dir():
        inbox = Path("data", called)
    elif inbox.is_relative_to(beside):
        inbox = inbox.relative_to(beside)
    files = first_files(export, called, str(inbox))
    places = {root / "configs" / path: text for path, text in files.items()}
    there = [path for path in places if path.exists()]
    if there:
        raise ProjectError(
            f"{there[0]}: found a file; expected none, since init overwrites nothing. "
            "Give another --name, or remove the file."
        )
    for path, text in places.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        doubts = [line for line in text.splitlines() if line.startswith(("# Please", "# FILL"))]
        say("\n  ".join([f"wrote {path}", *(line.removeprefix("# ") for line in doubts)]))
    if export.is_dir():
        say(f"Put each round into the folder data/{called}, as a folder of its own.")
    return 0
