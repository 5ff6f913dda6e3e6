from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, get_args

import click

from agreement_pipeline.cli.options import (
    AGGREGATED,
    COLUMNS,
    INPUT,
    INTERVALS,
    MEASURES,
    SHARES,
    SOURCE,
    TABLES_HELP,
    OneOf,
    command,
    engine_options,
    given_options,
    interval_options,
    measure_option,
    number_of,
    on_disk,
    on_nominal_level,
    option,
    output_option,
    read_table,
    scale_and_limits,
    table_options,
    tell_models,
)
from agreement_pipeline.cli.output import as_json, say, say_aside, say_results
from agreement_pipeline.counting import Rated, read_contingency, read_counts
from agreement_pipeline.estimates import (
    DEFAULT_OF_ROUNDS,
    MAX_SHOWN,
    SCOPE_KINDS,
    Estimate,
    Shown,
    applicable,
    label_reliability,
    registered,
    require_defined,
    survey,
)
from agreement_pipeline.evidence import estimate_rows
from agreement_pipeline.intervals import DEFAULT_METHOD, METHODS, Inference
from agreement_pipeline.ratings import SAME_LABEL_TWICE, TrainingLabel, Trains
from agreement_pipeline.readers import Columns
from agreement_pipeline.text import counted

OF_POLICIES = "tail_adaptive_bootstrap"
VARIED_SETTINGS = ("at_least", "step")
OF_COUNTS = ("--layout", "--limit", "--item", "--encoding", "--sheet", "--header-row")
HEADLINES = ("round", "classifier", "stratum", "label")


@command(
    "agreement-pipeline measure labels.csv --item post_id --rater annotator --measure alpha",
    "agreement-pipeline measure counts.csv --layout counts --measure fleiss_kappa",
    "agreement-pipeline measure labels.csv --panel-label",
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
    show_default="round, classifier, stratum, label",
    help=f"What to measure: {', '.join(SCOPE_KINDS)}. Repeat for more.",
)
@option(
    "--all",
    "everything",
    group=MEASURES,
    is_flag=True,
    help=f"Measure every scope: also categories, raters and pairs. {MAX_SHOWN} raters and pairs "
    "of a larger panel are shown.",
)
@option(
    "--panel-label",
    group=MEASURES,
    is_flag=True,
    help="Print instead whether another panel would give the same labels, which are what trains.",
)
@option(
    "--trains",
    group=MEASURES,
    type=OneOf(get_args(TrainingLabel)),
    metavar="LABEL",
    show_default="plurality, or mean of numbers",
    help="The label that trains: of it --panel-label and the measures of the label speak. "
    f"{', '.join(get_args(TrainingLabel))}.",
)
@option(
    "--panel-size",
    group=MEASURES,
    type=number_of(
        "n", "a whole number from 1 to 1,000", lambda n: 1 <= n <= 1000 and n.is_integer(), int
    ),
    show_default="as many raters as most items have",
    help="With --panel-label: how many raters give a label.",
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
    help=f"How limits are found: {', '.join(METHODS)}. See `guide intervals`.",
)
@output_option
def measure(
    file: str | Path,
    measure: Sequence[str],
    scope: Sequence[str],
    everything: bool,
    panel_label: bool,
    trains: TrainingLabel | None,
    panel_size: int | None,
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
    if "stratum" in scope and not (reading["strata"] or reading["units"]):
        raise click.UsageError(
            "found --scope stratum without --stratum; expected the column that tells strata apart."
        )
    if panel_size is not None and not panel_label:
        raise click.UsageError("found --panel-size without --panel-label; expected both or none.")
    if panel_label and (scope or everything or at_each or measure):
        raise click.UsageError(
            "found --panel-label with --measure, --scope, --all or --at-each; expected it alone."
        )
    named_label = Trains(trains) if trains else None
    inference = Inference(confidence_level, n_resamples, interval_method)
    if inference.interval_method.scheme is not None:
        inference.require_enough_resamples()
    if panel_label:
        ratings = _open(on_disk(file), reading)
        reliability = label_reliability(
            ratings, trains=named_label, panel_size=panel_size, inference=inference
        )
        in_words = "\n".join(reliability.sentences)
        say(as_json(reliability.to_mapping()) if output == "json" else in_words)
        return 0
    source, settings = on_disk(file), _settings(at_each, reading)
    estimates: list[Estimate] = []
    leading_columns: list[dict[str, Any]] = []
    for setting in settings:
        units = replace(reading["units"], **setting) if setting else reading["units"]
        ratings = _open(source, {**reading, "units": units})
        names = measure or _possible(ratings)
        for name in names:
            require_defined(ratings.scale, name)
        shown_raters = Shown.of(ratings) if everything else None
        scopes = SCOPE_KINDS if everything else scope or HEADLINES
        new_estimates = survey(
            ratings, names, inference, scopes=scopes, shown=shown_raters, trains=named_label
        )
        estimates += sorted(
            new_estimates, key=lambda estimate: estimate.scope.kind == "classifier"
        )  # people first
        setting_cells = {
            name: value if output == "json" else f"{value:g}" for name, value in setting.items()
        }
        leading_columns += [setting_cells] * (len(estimates) - len(leading_columns))
    say_results(estimates, estimate_rows, output, leading_columns)
    if shown_raters and (left_out := shown_raters.left_out()):
        say_aside(left_out)
    if ratings.scale.continuous and interval_method == DEFAULT_METHOD:
        say_aside(f"limits are by {DEFAULT_METHOD}, those of bundled policies by {OF_POLICIES}")
    return 0


def _settings(
    values: Sequence[float] | None, reading: Mapping[str, Any]
) -> Sequence[dict[str, float]]:
    if not values:
        return [{}]
    from agreement_pipeline.units import RULES

    units = reading["units"]
    setting_names = [
        name for name in VARIED_SETTINGS if units and name in RULES[units.rule].settings
    ]
    if not setting_names:
        raise click.UsageError(
            "found --at-each without units that have a similarity or a step; expected --units "
            "with a rule that does, as boxes."
        )
    return [{setting_names[0]: value} for value in values]


def _open(source: str | Path, reading: Mapping[str, Any]) -> Rated:
    layout = reading["layout"]
    if layout not in AGGREGATED:
        ratings = read_table(source, reading)
        tell_models(source, ratings)
        if ratings.origin and (n_same := ratings.origin.left_out.get(SAME_LABEL_TWICE)):
            note = f"{counted(n_same, 'rating')} had the item, rater and label of another one"
            say_aside(f"{Path(source).name}: {note}, and each such label counts once")
        return ratings
    typed_options = given_options(click.get_current_context(), INPUT, COLUMNS)
    if of_ratings := [name for name in typed_options if name not in OF_COUNTS]:
        raise click.UsageError(
            f"found {of_ratings[0]} with --layout {layout}; expected it for ratings only. "
            "Leave it out."
        )
    name = None if reading["item"] == "item" else reading["item"]
    count = read_counts if layout == "counts" else read_contingency
    columns = Columns(**{key: reading[key] for key in ("encoding", "sheet", "header_row")})
    scale_settings = scale_and_limits(on_nominal_level(reading))
    return count(Path(source), name, columns=columns, **scale_settings)


def _possible(ratings: Rated) -> tuple[str, ...]:
    """First the measure by which the usual policy decides. Counts have those that need no rater by
    name.
    """
    names = tuple(sorted(applicable(ratings), key=lambda name: name != DEFAULT_OF_ROUNDS))
    if ratings.raters:
        return names
    possible = tuple(name for name in names if registered(name).needs == "counts")
    say_aside(f"{len(names) - len(possible)} measures need raters by name, and are left out")
    return possible
