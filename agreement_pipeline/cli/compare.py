from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from agreement_pipeline.cli.options import (
    MEASURES,
    SOURCE,
    TABLES_HELP,
    command,
    engine_options,
    interval_options,
    measure_option,
    option,
    output_option,
    read_table,
    table_options,
    warn_of_models,
)
from agreement_pipeline.cli.output import say_results
from agreement_pipeline.estimates import DEFAULT_OF_NAMES, DEFAULT_OF_ROUNDS
from agreement_pipeline.estimates import compare as compare_ratings
from agreement_pipeline.evidence import difference_rows
from agreement_pipeline.intervals import Inference


def _both_after_one(
    ctx: click.Context, param: click.Parameter, names: tuple[str, str] | None
) -> tuple[str, str] | None:
    """The option before each name is refused: the second name would be taken for a table."""
    if names and "--between" in names:
        raise click.BadParameter(
            "found it before each name; expected both names after one, as --between ana ben.",
            ctx,
            param,
        )
    return names


@command(
    "agreement-pipeline compare before.csv after.csv --measure alpha",
    "agreement-pipeline compare before.csv after.csv --common-prevalence",
    "agreement-pipeline compare labels.csv --between ana ben",
)
@click.argument("file", type=SOURCE, help=TABLES_HELP)
@click.argument(
    "other",
    type=SOURCE,
    required=False,
    help="The table to compare with. Its columns have the same names.",
)
@table_options
@engine_options
@option(
    "--between",
    group=MEASURES,
    nargs=2,
    metavar="NAME NAME",
    callback=_both_after_one,
    help="Two classifiers or two raters of the one table: --between ana ben.",
)
@measure_option(f"{DEFAULT_OF_ROUNDS} of tables, {DEFAULT_OF_NAMES} of names")
@option(
    "--category",
    group=MEASURES,
    metavar="NAME",
    show_default="the lowest",
    help="The category to compare, for measures with a value for each category.",
)
@option(
    "--common-prevalence",
    group=MEASURES,
    is_flag=True,
    help="Compare also with items weighted so that categories are as common in both tables.",
)
@interval_options
@output_option
def compare(
    file: str | Path,
    other: str | Path | None,
    between: tuple[str, str] | None,
    measure: Sequence[str],
    category: str | None,
    common_prevalence: bool,
    confidence_level: float,
    n_resamples: int,
    output: str,
    **reading: Any,
) -> int:
    """Print how far two tables, classifiers or raters differ, with intervals.

    Items that both sides share are paired. All other items count too.
    """
    inference = Inference(confidence_level, n_resamples)
    inference.require_enough_resamples()
    ratings = read_table(file, reading)
    against = read_table(other, {**reading, "level": ratings.scale.level}) if other else None
    warn_of_models(file, ratings)
    if other and against:
        warn_of_models(other, against)
    measures: Sequence[str | None] = measure or [None]
    differences = [
        compare_ratings(
            ratings,
            against,
            between=between,
            measure=name,
            category=category,
            names=(str(file), str(other)),
            common_prevalence=common,
            inference=inference,
        )
        for name in measures
        for common in ([False, True] if common_prevalence else [False])
    ]
    say_results(differences, difference_rows, output)
    return 0
