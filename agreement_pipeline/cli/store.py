"""The command `store`."""

import click

from agreement_pipeline.cli.options import PLACE, OneOf, command
from agreement_pipeline.cli.output import say
from agreement_pipeline.errors import StoreError


@command(
    "agreement-pipeline store migrate .agreement/store/reviews .agreement/store/reviews-2",
    "agreement-pipeline store adopt .agreement/store/reviews reviews_location",
)
@click.argument("action", type=OneOf(("migrate", "adopt")), help="What to do.")
@click.argument("old", type=PLACE, metavar="STORE", help="The folder or the URL of a store.")
@click.argument(
    "new",
    type=PLACE,
    help="To migrate: a folder or a URL for the new store. To adopt: a Dagster code location.",
)
def store(action: str, old: str, new: str) -> int:
    """Carry a store of an older version over into a new one, or hand a store over.

    To migrate, the old store is only read. Its rounds, decisions, releases and originals are in the
    new one afterwards, and a last entry says so. If it is stopped, run it again: it goes on.

    One code location decides for a store. Adopting it lets another decide from now on, and the log
    says since when.
    """
    from agreement_pipeline.store import Store, migrate

    if action == "adopt":
        adopted = Store(old)
        if not new.strip() or not new.isprintable():
            raise StoreError(f"found code location {new!r}; expected its name in visible letters.")
        if not adopted.history():
            raise StoreError(
                f"{old}: found no store; expected one with entries. Correct the place."
            )
        adopted.record("adopted", "log", by=new)
        say(f"adopted: code location {new} decides for {old} from now on.")
        return 0
    n, waived = migrate(old, new)
    say(f"migrated: {n} entries of {old} are in {new}. Name it in the project: store: {new}")
    for name, before, now in waived:
        say(f"round {name}: a waiver is bound to ratings {before}. Write {now} into its file.")
    return 0
