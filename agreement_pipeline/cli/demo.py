from pathlib import Path

import click

from agreement_pipeline.cli.app import UNJUDGED
from agreement_pipeline.cli.options import FILE, FOLDER, command, option
from agreement_pipeline.cli.output import say, terminal_width

OWN_FOLDER = Path("agreement-demo")


@command(
    "agreement-pipeline demo",
    "agreement-pipeline demo --export posts.json",
)
@click.argument(
    "folder",
    type=FOLDER,
    default=OWN_FOLDER,
    help="A new folder for it, or that of an earlier demo. Nothing else is touched.",
)
@option(
    "--export",
    group="Output",
    type=FILE,
    metavar="FILE",
    help="Only write an export of Label Studio here, of a simulated round.",
)
@option(
    "--worse",
    group="Output",
    is_flag=True,
    help="In this export, one rater reads a rule differently.",
)
def demo(folder: Path, export: Path | None, worse: bool) -> int:
    """Run four bundled projects on simulated rounds, in a folder of their own.

    `agreement-pipeline run` runs your own projects. The exit status is 2 if a release could not
    be made.
    """
    from agreement_pipeline.demo import run_demo, write_export
    from agreement_pipeline.orchestration import describe_runs

    if export is not None:
        say(f"wrote {write_export(export, worse=worse)}")
        return 0
    if worse:
        raise click.UsageError("found --worse without --export; expected both. Add --export FILE.")
    runs = run_demo(folder)
    say(describe_runs(runs, terminal_width()))
    say(f"All of it is in {folder}. Your own projects are run by: agreement-pipeline run")
    return UNJUDGED if any(run.unreleased for run in runs) else 0
