"""The command `compare`."""

from collections.abc import Mapping, Sequence
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
from agreement_pipeline.errors import AgreementError
from agreement_pipeline.estimates import (
    Difference,
    between_classifiers,
    between_raters,
    between_rounds,
)
from agreement_pipeline.intervals import Inference
from agreement_pipeline.ratings import Ratings
from agreement_pipeline.report import difference_rows
from agreement_pipeline.text import listed

OF_ROUNDS, OF_NAMES = "krippendorff_alpha", "schouten_kappa"
EXAMPLES = (
    "agreement-pipeline compare before.csv after.csv --measure alpha",
    "agreement-pipeline compare labels.csv --between ana ben",
)


@click.command(
    cls=Command,
    short_help="Print how far two tables, classifiers or raters differ, with intervals.",
    examples=EXAMPLES,
)
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
    match other, between:
        case Path() as second, None:
            names = measure or [OF_ROUNDS]
            found = _of_tables((file, second), reading, names, inference, category)
        case None, (one, another):
            names = measure or [OF_NAMES]
            found = _of_names(read_table(file, reading), one, another, names, inference, category)
        case _:
            raise _unclear(other)
    say_found(found, difference_rows, output)
    return 0


def _unclear(other: Path | None) -> AgreementError:
    both = "a second table and --between"
    found = "neither a second table nor --between" if other is None else both
    return AgreementError(
        f"compare: found {found}; expected one of them. "
        "Give another table, or two names in this one."
    )


def _of_tables(
    files: tuple[Path, Path],
    reading: Mapping[str, Any],
    names: Sequence[str],
    inference: Inference,
    category: str | None,
) -> list[Difference]:
    """How far two tables differ."""
    ratings, others = (read_table(path, reading) for path in files)
    called = (str(files[0]), str(files[1]))
    return [
        between_rounds(ratings, others, name, inference, category=category, names=called)
        for name in names
    ]


def _of_names(
    ratings: Ratings,
    one: str,
    other: str,
    names: Sequence[str],
    inference: Inference,
    category: str | None,
) -> list[Difference]:
    """How far two classifiers or two raters of one table differ."""
    models = {one, other} & set(ratings.classifiers)
    if not models:
        return [
            between_raters(ratings, name, one, other, inference, category=category)
            for name in names
        ]
    _refuse_other(models, {one, other})
    if category is not None:
        raise AgreementError(
            "--category: found two classifiers; expected two tables or raters. Leave it out."
        )
    return [between_classifiers(ratings, name, one, other, inference) for name in names]


def _refuse_other(models: set[str], between: set[str]) -> None:
    """Refuse to compare a classifier with a rater."""
    if others := between - models:
        raise AgreementError(
            f"--between: found classifier {listed(models)} beside {listed(others)}, which is none; "
            "expected two classifiers, or two raters of the panel. "
            "Name every model with --classifier."
        )
