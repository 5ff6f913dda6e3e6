"""The command `demo`."""

from pathlib import Path

import click

from agreement_pipeline.cli.options import FOLDER, INPUT, Command, option
from agreement_pipeline.cli.output import say, terminal_width

EXAMPLES = ("agreement-pipeline demo",)


@click.command(cls=Command, examples=EXAMPLES)
@option(
    "--root",
    group=INPUT,
    type=FOLDER,
    default=Path(),
    help="The folder that holds configs/.",
)
def demo(root: Path) -> int:
    """Run the projects of a folder through Dagster and print what became of their rounds."""
    from agreement_pipeline.demo import run_demo

    say(run_demo(root, terminal_width()))
    return 0
