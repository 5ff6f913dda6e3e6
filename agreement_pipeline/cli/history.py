from collections.abc import Collection
from io import BytesIO
from typing import TYPE_CHECKING

import click

from agreement_pipeline.cli.options import (
    INPUT,
    STORES,
    command,
    find_only_store,
    format_option,
    option,
    store_option,
)
from agreement_pipeline.cli.output import as_json, say, say_table, write_binary
from agreement_pipeline.errors import StoreError
from agreement_pipeline.text import listed

if TYPE_CHECKING:
    from agreement_pipeline.store import Store


@command(
    "agreement-pipeline history 2026-W06 --store .agreement/store/moderation",
    "agreement-pipeline history --format parquet",
)
@click.argument(
    "name",
    metavar="[ROUND]",
    required=False,
    help="A round, or the name of a release of several rounds. By default, all.",
)
@store_option(
    group=INPUT,
    show_default=f"the one store in {STORES}",
    help="The folder or the URL of a store.",
)
@option(
    "--since",
    group=INPUT,
    metavar="SEAL",
    help="The name of a seal that you kept. The log must go on from it.",
)
@format_option("table", "json", "parquet")
def history(name: str | None, store: str | None, since: str | None, output: str) -> int:
    """Print what was ingested, decided, released and withdrawn.

    The log is checked first. With --since, only what followed that seal is printed.
    With --format parquet, the decisions are written as a table for a warehouse: a row for each rule
    of each decision, with the releases that are in force.
    """
    from agreement_pipeline.evidence import event_table
    from agreement_pipeline.store import Store

    opened = Store(store or find_only_store())
    entries = opened.history() if since is None else opened.log.since(since)
    if entries is None:
        raise StoreError(
            f"{opened.root}: found a log that does not go on from seal {since}; "
            "expected the entry that was sealed so. Restore the log from a backup."
        )
    shown_entries = [entry for entry in entries if name in (None, entry["round"])]
    of_round = f" of round {name!r}" if name else ""
    if not shown_entries and since is None:
        names = listed(sorted({entry["round"] for entry in entries}))
        expected = f"one of {names}" if entries else "at least one"
        raise StoreError(
            f"{opened.root}: found no entry{of_round} in the log; expected {expected}. "
            f"{'Correct the name, or name' if name else 'Name'} the folder or the URL of a store "
            "with --store."
        )
    if output == "parquet":
        write_binary(_decisions_as_parquet(opened, {entry["number"] for entry in shown_entries}))
    elif output == "json":
        say(as_json(shown_entries))
    elif not shown_entries:
        say(f"no entry{of_round} since seal {since}")
    else:
        say_table(event_table(shown_entries).to_dict("records"), "why")
    return 0


def _decisions_as_parquet(store: "Store", entry_numbers: Collection[int]) -> bytes:
    import pyarrow as pa
    import pyarrow.parquet as pq

    from agreement_pipeline.store import decision_table

    decisions = decision_table(store.history())
    is_shown = [number in entry_numbers for number in decisions["entry"].to_pylist()]
    sink = BytesIO()
    pq.write_table(decisions.filter(pa.array(is_shown, pa.bool_())), sink)
    return sink.getvalue()
