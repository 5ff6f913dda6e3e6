"""The command `demo`."""

from pathlib import Path

from agreement_pipeline.cli.options import FOLDER, INPUT, command, option
from agreement_pipeline.cli.output import say, terminal_width


@command(
    "agreement-pipeline demo",
)
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
