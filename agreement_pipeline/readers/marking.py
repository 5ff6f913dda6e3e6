"""The label objects of an export, and what is known of their items."""

from pathlib import Path

import pandas as pd

from agreement_pipeline.errors import RatingsError
from agreement_pipeline.ratings import TEXT
from agreement_pipeline.ratings.limits import Limits
from agreement_pipeline.readers.columns import Columns
from agreement_pipeline.readers.files import refuse_unfinished
from agreement_pipeline.readers.packed import unpacked
from agreement_pipeline.readers.registry import MarkedRows, Reader, Source, reader_of
from agreement_pipeline.readers.rules import Rules


def marked_rows(
    source: str | Source, kind: str, columns: Columns, limits: Limits, rules: Rules
) -> tuple[Reader, MarkedRows]:
    """The label objects of one kind in an export, and its reader.

    Raises
    ------
    RatingsError
        The source is no export of a tool, or cannot be read.
    """
    if isinstance(source, pd.DataFrame):
        raise RatingsError(
            f"a DataFrame: found a table for units of {kind}; expected the export of a tool. Make "
            "units of it with agreement_pipeline.units."
        )
    refuse_unfinished(Path(source))
    with unpacked(Path(source), limits) as path:
        reader = reader_of(path, rules.reader)
        if reader.marked is None:
            raise RatingsError(
                f"{path.name}: found {reader.title} for units of {kind}; expected the export of a "
                "tool. Leave `units` out, or export the objects."
            )
        return reader, reader.marked(path, kind, columns, limits, rules)


def with_contents(units: pd.DataFrame, frame: pd.DataFrame) -> pd.DataFrame:
    """The units with what is known of their items: whether they are gold, and their cluster."""
    items = frame.drop_duplicates("item").set_index("item")
    known = {name: items[name] for name in ("gold", "cluster") if name in items}
    of_item = units["cluster"].astype(TEXT)
    return units.assign(**{name: of_item.map(each) for name, each in known.items()})
