"""The command `measure`."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from agreement_pipeline.cli.grouped import Command
from agreement_pipeline.cli.options import (
    INTERVALS,
    MEASURES,
    TABLE_HELP,
    interval_options,
    measure_option,
    option,
    output_option,
    read_table,
    table_options,
)
from agreement_pipeline.cli.output import say_aside, say_found
from agreement_pipeline.cli.parameters import FILE, OneOf
from agreement_pipeline.estimates import (
    MOST_SHOWN,
    SCOPE_KINDS,
    Shown,
    applicable,
    require_defined,
    survey,
)
from agreement_pipeline.intervals import DEFAULT_METHOD, METHODS, Inference
from agreement_pipeline.report import estimate_rows

EXAMPLES = (
    "agreement-pipeline measure labels.csv --item post_id --rater annotator --measure alpha",
)


@click.command(cls=Command, examples=EXAMPLES)
@click.argument("file", type=FILE, help=TABLE_HELP)
@table_options
@measure_option("all that the level allows")
@option(
    "--scope",
    group=MEASURES,
    type=OneOf(SCOPE_KINDS),
    multiple=True,
    metavar="KIND",
    show_default="all",
    help=f"What to measure: {', '.join(SCOPE_KINDS)}. Repeat for more. Without it, "
    f"{MOST_SHOWN} raters and pairs of a larger panel are measured.",
)
@interval_options
@option(
    "--interval-method",
    group=INTERVALS,
    type=OneOf(tuple(METHODS)),
    metavar="NAME",
    default=DEFAULT_METHOD,
    help=f"How limits are found: {', '.join(METHODS)}. See docs/intervals.md.",
)
@output_option
def measure(
    file: Path,
    measure: Sequence[str],
    scope: Sequence[str],
    confidence_level: float,
    n_resamples: int,
    interval_method: str,
    output: str,
    **reading: Any,
) -> int:
    """Print the agreement in a table, with intervals."""
    inference = Inference(confidence_level, n_resamples, interval_method)
    if inference.interval_method.scheme is not None:
        inference.refuse_too_few()
    ratings = read_table(file, reading)
    names = measure or applicable(ratings)
    for name in names:
        require_defined(ratings.scale, name)
    shown = None if scope else Shown.of(ratings)
    found = survey(ratings, names, inference, scopes=scope or SCOPE_KINDS, shown=shown)
    say_found(found, estimate_rows, output)
    if shown and (left_out := shown.left_out()):
        say_aside(left_out)
    return 0
