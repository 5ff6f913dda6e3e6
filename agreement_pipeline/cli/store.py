"""The command `store`."""

import click

from agreement_pipeline.cli.options import PLACE, OneOf, command
from agreement_pipeline.cli.output import say


@command("agreement-pipeline store migrate .agreement/store/reviews .agreement/store/reviews-2")
@click.argument("action", type=OneOf(("migrate",)), help="What to do.")
@click.argument("old", type=PLACE, help="The folder or the URL of a store of an older version.")
@click.argument("new", type=PLACE, help="A folder or a URL for the new store.")
def store(action: str, old: str, new: str) -> int:
    """Carry a store of an older version over into a new one.

    The old store is only read. Its rounds, decisions, releases and originals are in the new one
    afterwards, and a last entry says so. If it is stopped, run it again: it goes on.
    """
    from agreement_pipeline.store import migrate

    n, waived = migrate(old, new)
    say(f"migrated: {n} entries of {old} are in {new}. Name it in the project: store: {new}")
    for name, before, now in waived:
        say(f"round {name}: a waiver is bound to ratings {before}. Write {now} into its file.")
    return 0
