"""Opening the one table of a command that also reads what somebody else counted."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from agreement_pipeline.cli.options import AGGREGATED, on_disk, open_tables
from agreement_pipeline.counting import Rated, read_contingency, read_counts
from agreement_pipeline.ratings import Scale
from agreement_pipeline.readers import Limits

OF_RATINGS = (
    "of_round",
    "reader",
    "where",
    "exclude_rater",
    "replicate_of",
    "requires",
    "all_rounds",
    "raters",
    "classifier",
    "occurrence",
    "confidence",
    "cluster",
)
"""Options that say how single ratings are read."""


def open_table(source: str | Path, reading: Mapping[str, Any]) -> Rated:
    """The ratings in a table, or the counts if its layout says so."""
    layout = reading["layout"]
    if layout not in AGGREGATED:
        (ratings,) = open_tables([source], reading)
        return ratings
    given = [name for name in OF_RATINGS if reading[name]]
    if given:
        raise click.UsageError(
            f"found --{given[0].replace('_', '-')} with --layout {layout}; expected it for ratings "
            "only. Leave it out."
        )
    categories, level = reading["categories"], reading["level"]
    read = read_counts if layout == "counts" else read_contingency
    return read(
        Path(on_disk(source)),
        None if reading["item"] == "item" else reading["item"],
        scale=None if categories is None else Scale(categories, level),
        level=level,
        limits=Limits(**dict(reading["limit"])),
    )
