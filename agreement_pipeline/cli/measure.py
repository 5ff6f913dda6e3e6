"""The command `measure`."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import click

from agreement_pipeline.cli.options import (
    AGGREGATED,
    INTERVALS,
    MEASURES,
    SHARES,
    SOURCE,
    TABLES_HELP,
    OneOf,
    command,
    engine_options,
    interval_options,
    measure_option,
    on_disk,
    option,
    output_option,
    read_table,
    scale_and_limits,
    table_options,
)
from agreement_pipeline.cli.output import say_aside, say_found
from agreement_pipeline.counting import Rated, read_contingency, read_counts
from agreement_pipeline.estimates import (
    MOST_SHOWN,
    SCOPE_KINDS,
    Estimate,
    Shown,
    applicable,
    registered,
    require_defined,
    survey,
)
from agreement_pipeline.intervals import DEFAULT_METHOD, METHODS, Inference
from agreement_pipeline.report import estimate_rows

MOVED = ("at_least", "step")
"""The settings of units that a value moves with."""
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
HEADLINES = ("round", "classifier", "stratum")


@command(
    "agreement-pipeline measure labels.csv --item post_id --rater annotator --measure alpha",
    "agreement-pipeline measure counts.csv --layout counts --measure fleiss_kappa",
)
@click.argument("file", type=SOURCE, help=TABLES_HELP)
@table_options
@engine_options
@measure_option("all that the level allows")
@option(
    "--scope",
    group=MEASURES,
    type=OneOf(SCOPE_KINDS),
    multiple=True,
    metavar="KIND",
    show_default="round, classifier, stratum",
    help=f"What to measure: {', '.join(SCOPE_KINDS)}. Repeat for more.",
)
@option(
    "--all",
    "everything",
    group=MEASURES,
    is_flag=True,
    help=f"Measure every scope: also categories, raters and pairs. {MOST_SHOWN} raters and pairs "
    "of a larger panel are shown.",
)
@option(
    "--at-each",
    group=MEASURES,
    type=SHARES,
    metavar="X,Y,…",
    help="With --units: measure at each of these similarities (at_least) or steps.",
)
@interval_options
@option(
    "--interval-method",
    group=INTERVALS,
    type=OneOf(tuple(METHODS)),
    metavar="NAME",
    default=DEFAULT_METHOD,
    help=f"How limits are found: {', '.join(METHODS)}. See docs/proofs/intervals.md.",
)
@output_option
def measure(
    file: str | Path,
    measure: Sequence[str],
    scope: Sequence[str],
    everything: bool,
    at_each: tuple[float, ...] | None,
    confidence_level: float,
    n_resamples: int,
    interval_method: str,
    output: str,
    **reading: Any,
) -> int:
    """Print the agreement in a table, with intervals: a line a measure, or more with --all."""
    if scope and everything:
        raise click.UsageError(f"found --all with --scope {scope[0]}; expected one of them.")
    if "stratum" in scope and not reading["stratum"]:
        raise click.UsageError(
            "found --scope stratum without --stratum; expected the column that tells strata apart."
        )
    inference = Inference(confidence_level, n_resamples, interval_method)
    if inference.interval_method.scheme is not None:
        inference.refuse_too_few()
    if at_each:
        say_found(list(_at_each(file, at_each, measure, scope, inference, reading)), _rows, output)
        return 0
    ratings = _open(file, reading)
    names = measure or _possible(ratings)
    for name in names:
        require_defined(ratings.scale, name)
    shown = Shown.of(ratings) if everything else None
    scopes = SCOPE_KINDS if everything else scope or HEADLINES
    found = survey(ratings, names, inference, scopes=scopes, shown=shown)
    say_found(found, estimate_rows, output)
    if shown and (left_out := shown.left_out()):
        say_aside(left_out)
    return 0


@dataclass(frozen=True)
class _At:
    """An estimate at one setting of the units."""

    setting: str
    at: float
    estimate: Estimate

    def to_mapping(self) -> dict[str, Any]:
        """The estimate as plain data, with the setting."""
        return {self.setting: self.at, **self.estimate.to_mapping()}


def _at_each(
    file: str | Path,
    values: Sequence[float],
    measure: Sequence[str],
    scope: Sequence[str],
    inference: Inference,
    reading: Mapping[str, Any],
) -> Iterator[_At]:
    """The estimates at each value of the setting that the rule of the units reads."""
    from agreement_pipeline.units import RULES

    units, source = reading["units"], on_disk(file)
    moved = [name for name in MOVED if units and name in RULES[units.rule].settings]
    if not moved:
        raise click.UsageError(
            "found --at-each without units that have a similarity or a step; expected --units "
            "with a rule that does, as boxes."
        )
    for value in values:
        ratings = _open(source, {**reading, "units": replace(units, **{moved[0]: value})})
        names = measure or _possible(ratings)
        for found in survey(ratings, names, inference, scopes=scope or HEADLINES, shown=None):
            yield _At(moved[0], value, found)


def _rows(found: Sequence[_At]) -> list[dict[str, str]]:
    rows = estimate_rows([each.estimate for each in found])
    return [{at.setting: f"{at.at:g}", **row} for at, row in zip(found, rows, strict=True)]


def _open(source: str | Path, reading: Mapping[str, Any]) -> Rated:
    """The ratings in a table, or the counts if its layout says so."""
    layout = reading["layout"]
    if layout not in AGGREGATED:
        return read_table(source, reading)
    given = [name for name in OF_RATINGS if reading[name]]
    if given:
        raise click.UsageError(
            f"found --{given[0].replace('_', '-')} with --layout {layout}; expected it for ratings "
            "only. Leave it out."
        )
    name = None if reading["item"] == "item" else reading["item"]
    count = read_counts if layout == "counts" else read_contingency
    return count(Path(on_disk(source)), name, **scale_and_limits(reading))


def _possible(ratings: Rated) -> tuple[str, ...]:
    """The measures of the scale. Counts have those that need no rater by name."""
    names = applicable(ratings)
    if ratings.raters:
        return names
    possible = tuple(name for name in names if registered(name).needs == "counts")
    say_aside(f"{len(names) - len(possible)} measures need raters by name, and are left out")
    return possible
