from getpass import getuser

import click

from agreement_pipeline.cli.options import INPUT, PLACE, OneOf, command, option
from agreement_pipeline.cli.output import say
from agreement_pipeline.errors import StoreError
from agreement_pipeline.text import listed


@command(
    "agreement-pipeline store adopt .agreement/store/reviews reviews_location",
    "agreement-pipeline store erase old-store new-store --rater anna --why 'request 12'",
)
@click.argument("action", type=OneOf(("adopt", "erase")), help="What to do.")
@click.argument("old", type=PLACE, metavar="STORE", help="The folder or the URL of a store.")
@click.argument(
    "new",
    type=PLACE,
    help="To erase: a place for the new store. To adopt: a Dagster code location.",
)
@option("--rater", group=INPUT, help="To erase: the name of a rater.")
@option("--item", group=INPUT, help="To erase: the name of an item.")
@option(
    "--by",
    group=INPUT,
    default=getuser,
    show_default="the account",
    help="Who asks for it. The log says so.",
)
@option("--why", group=INPUT, help="To erase: the reason, which stays in the log.")
def store(
    action: str,
    old: str,
    new: str,
    rater: str | None,
    item: str | None,
    by: str,
    why: str | None,
) -> int:
    """Give a store to another code location, or erase a rater or an item.

    Only one Dagster code location may write to a store. With adopt, another one may from now on,
    and the log says since when.

    With erase, a new store is made without one rater or item. The old one is only read. Releases
    that contain the erased ratings are withdrawn. If the command is interrupted, run it again.
    """
    from agreement_pipeline.store import Store, erase

    if action == "erase":
        candidates = [("rater", rater), ("item", item)]
        subjects = [(kind, name) for kind, name in candidates if name]
        if len(subjects) != 1 or not why:
            raise click.UsageError("to erase, give one of --rater and --item, and --why.")
        [(kind, name)] = subjects
        erasure = erase(old, new, kind, name, by, why)
        say(f"erased: {erasure.subject} is not in {new}. Name it in the project: store: {new}")
        if erasure.rounds:
            say(f"Judge again: {listed(erasure.rounds, 50)}.")
        if erasure.releases:
            say(f"Withdrawn, so delete their copies: {listed(erasure.releases, 50)}.")
        say(f"Then delete {old}, its backups, and the delivered files with what was erased.")
        return 0
    adopted = Store(old)
    if not new.strip() or not new.isprintable():
        raise StoreError(f"found code location {new!r}; expected its name in visible letters.")
    if not adopted.history():
        raise StoreError(f"{old}: found no store; expected one with entries. Correct the place.")
    adopted.record("adopted", "log", by=new, who=by)
    say(f"adopted: code location {new} decides for {old} from now on.")
    return 0
