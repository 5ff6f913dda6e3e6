"""The command `compare`."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from agreement_pipeline.cli.grouped import Command
from agreement_pipeline.cli.options import (
    MEASURES,
    TABLE_HELP,
    interval_options,
    measure_option,
    option,
    output_option,
    read_table,
    table_options,
)
from agreement_pipeline.cli.output import say_found
from agreement_pipeline.cli.parameters import FILE
from agreement_pipeline.estimates import OF_NAMES, OF_ROUNDS
from agreement_pipeline.estimates import compare as compare_ratings
from agreement_pipeline.intervals import Inference
from agreement_pipeline.report import difference_rows

EXAMPLES = (
    "agreement-pipeline compare before.csv after.csv --measure alpha",
    "agreement-pipeline compare labels.csv --between ana ben",
)


@click.command(cls=Command, examples=EXAMPLES)
@click.argument("file", type=FILE, help=TABLE_HELP)
@click.argument(
    "other",
    type=FILE,
    required=False,
    help="The table to compare with. Its columns have the same names.",
)
@table_options
@option(
    "--between",
    group=MEASURES,
    nargs=2,
    metavar="NAME NAME",
    help="Two classifiers or two raters of the one table.",
)
@measure_option(f"{OF_ROUNDS} of tables, {OF_NAMES} of names")
@option(
    "--category",
    group=MEASURES,
    metavar="NAME",
    show_default="the lowest",
    help="The category to compare, for measures with a value for each category.",
)
@interval_options
@output_option
def compare(
    file: Path,
    other: Path | None,
    between: tuple[str, str] | None,
    measure: Sequence[str],
    category: str | None,
    confidence_level: float,
    n_resamples: int,
    output: str,
    **reading: Any,
) -> int:
    """Print how far two tables, classifiers or raters differ, with intervals.

    The comparison is paired: it uses the items that both sides share.
    """
    inference = Inference(confidence_level, n_resamples)
    inference.refuse_too_few()
    ratings = read_table(file, reading)
    others = read_table(other, reading) if other else None
    asked: Sequence[str | None] = measure or [None]
    found = [
        compare_ratings(
            ratings,
            others,
            between=between,
            measure=name,
            category=category,
            names=(str(file), str(other)),
            inference=inference,
        )
        for name in asked
    ]
    say_found(found, difference_rows, output)
    return 0
