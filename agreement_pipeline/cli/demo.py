from pathlib import Path

import click

from agreement_pipeline.cli.options import FILE, FOLDER, INPUT, command, option
from agreement_pipeline.cli.output import say, terminal_width


@command(
    "agreement-pipeline demo",
    "agreement-pipeline demo --export posts.json",
)
@option(
    "--root",
    group=INPUT,
    type=FOLDER,
    default=Path(),
    help="The folder that holds configs/.",
)
@option(
    "--export",
    group="Output",
    type=FILE,
    metavar="FILE",
    help="Only write an export of Label Studio here, of a simulated round.",
)
@option(
    "--worse", group="Output", is_flag=True, help="One in which a rater reads a rule otherwise."
)
def demo(root: Path, export: Path | None, worse: bool) -> int:
    """Run the projects of a folder through Dagster and print what became of their rounds."""
    from agreement_pipeline.demo import run_demo, write_export

    if export is not None:
        say(f"wrote {write_export(export, worse=worse)}")
        return 0
    if worse:
        raise click.UsageError("found --worse without --export; expected both. Add --export FILE.")
    say(run_demo(root, terminal_width()))
    return 0
