from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import compress
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
    on_nominal_level,
    option,
    output_option,
    read_table,
    scale_and_limits,
    spool_stdin_to_disk,
    table_options,
    warn_of_models,
)
from agreement_pipeline.cli.output import as_json, say, say_aside, say_results
from agreement_pipeline.counting import Rated, read_contingency, read_counts
from agreement_pipeline.estimates import (
    DEFAULT_OF_ROUNDS,
    MAX_SHOWN,
    SCOPE_KINDS,
    Estimate,
    ShownRaters,
    applicable_measures,
    find_registered_measure,
    label_reliability,
    require_defined,
    survey,
)
from agreement_pipeline.evidence import estimate_rows
from agreement_pipeline.intervals import DEFAULT_METHOD, METHODS, Inference
from agreement_pipeline.ratings import SAME_LABEL_TWICE, TrainingLabel, Trains
from agreement_pipeline.readers import Columns
from agreement_pipeline.text import counted, joined

OF_POLICIES = "tail_adaptive_bootstrap"
VARIED_SETTINGS = ("at_least", "step")
OF_COUNTS = ("--layout", "--limit", "--item", "--encoding", "--sheet", "--header-row")
HEADLINES = ("round", "classifier", "stratum", "label")
OF_BUNDLED_POLICIES = (DEFAULT_OF_ROUNDS, "self_agreement_unbiased", "vanbelle_albert_kappa")
USUAL_BESIDE = (
    "percent_agreement",
    "fleiss_kappa",
    "gwet_ac1",
    "gwet_ac2_quadratic",
    "icc_2_1",
    "lin_ccc",
    "specific_agreement",
)
MAX_BESIDE = 3
"""By default, the measures of the bundled policies are printed, and so many beside them: the first
of the usual ones that the table allows."""


@command(
    "agreement-pipeline measure labels.csv --item post_id --rater annotator --measure alpha",
    "agreement-pipeline measure counts.csv --layout counts --measure fleiss_kappa",
    "agreement-pipeline measure labels.csv --panel-label",
)
@click.argument("file", type=SOURCE, help=TABLES_HELP)
@table_options
@engine_options
@measure_option("those of the bundled policies, and three others")
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
    help="Print all measures that the table allows, in every scope: also of categories, raters and "
    f"pairs. {MAX_SHOWN} raters and pairs of a larger panel are shown.",
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
    """Print the agreement in a table, with intervals: the usual measures, or all with --all."""
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
        ratings = _read_ratings_or_counts(spool_stdin_to_disk(file), reading)
        reliability = label_reliability(
            ratings, trains=named_label, panel_size=panel_size, inference=inference
        )
        in_words = "\n".join(reliability.sentences)
        say(as_json(reliability.to_mapping()) if output == "json" else in_words)
        return 0
    source, settings = spool_stdin_to_disk(file), _settings_to_vary(at_each, reading)
    estimates: list[Estimate] = []
    leading_columns: list[dict[str, Any]] = []
    for setting in settings:
        units = replace(reading["units"], **setting) if setting else reading["units"]
        ratings = _read_ratings_or_counts(source, {**reading, "units": units})
        possible = measure or _possible_measures(ratings)
        names = possible if measure or everything else _usual(possible)
        for name in names:
            require_defined(ratings.scale, name)
        shown_raters = ShownRaters.choose(ratings) if everything else None
        scopes = scope or (SCOPE_KINDS if everything else HEADLINES)
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
    if not (measure or everything or scope):
        leading_columns, estimates = _defined(leading_columns, estimates)
    say_results(estimates, estimate_rows, output, leading_columns)
    if n_more := len({*possible} - {*names}):
        say_aside(
            f"{counted(n_more, 'more measure')}, some of them undefined here or another name of "
            "one: --all prints them, and categories, raters and pairs"
        )
    if shown_raters and (left_out := shown_raters.left_out_sentence()):
        say_aside(left_out)
    if ratings.scale.continuous and interval_method == DEFAULT_METHOD:
        say_aside(f"limits are by {DEFAULT_METHOD}, those of bundled policies by {OF_POLICIES}")
    return 0


def _settings_to_vary(
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


def _read_ratings_or_counts(source: str | Path, reading: Mapping[str, Any]) -> Rated:
    layout = reading["layout"]
    if layout not in AGGREGATED:
        ratings = read_table(source, reading)
        warn_of_models(source, ratings)
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


def _usual(possible: Sequence[str]) -> tuple[str, ...]:
    """What is printed unless somebody asks for more. If the table allows none of it, all is."""
    of_policies = [name for name in OF_BUNDLED_POLICIES if name in possible]
    beside = [name for name in USUAL_BESIDE if name in possible]
    return tuple(dict.fromkeys([*of_policies, *beside[:MAX_BESIDE]])) or tuple(possible)


def _defined(
    leading_columns: list[dict[str, Any]], estimates: list[Estimate]
) -> tuple[list[dict[str, Any]], list[Estimate]]:
    """The estimates with a value. A line says which measures have none, and why; if none has one,
    all are kept.
    """
    is_defined = [estimate.undefined is None for estimate in estimates]
    if not any(is_defined):
        return leading_columns, estimates
    measures_by_reason: dict[str, list[str]] = {}
    for estimate in estimates:
        if estimate.undefined is not None:
            measures_by_reason.setdefault(estimate.undefined, []).append(estimate.measure)
    if measures_by_reason:
        reasons = (
            f"{joined(dict.fromkeys(names))}, since {reason}"
            for reason, names in measures_by_reason.items()
        )
        say_aside(f"undefined: {'; '.join(reasons)}")
    return list(compress(leading_columns, is_defined)), list(compress(estimates, is_defined))


def _possible_measures(ratings: Rated) -> tuple[str, ...]:
    """First the measure by which the usual policy decides. Counts have those that need no rater by
    name.
    """
    names = tuple(sorted(applicable_measures(ratings), key=lambda name: name != DEFAULT_OF_ROUNDS))
    if ratings.raters:
        return names
    possible = tuple(name for name in names if find_registered_measure(name).needs == "counts")
    say_aside(f"{len(names) - len(possible)} measures need raters by name, and are left out")
    return possible
