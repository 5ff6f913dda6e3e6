"""Options that several commands share."""

import sys
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from shutil import copyfileobj
from tempfile import TemporaryDirectory
from typing import Any, TypeVar

import click

from agreement_pipeline.cli.grouped import Option
from agreement_pipeline.cli.output import say_aside
from agreement_pipeline.cli.parameters import (
    FILE,
    LIMIT,
    LIMITED,
    NAMES,
    PLACE,
    REPETITIONS,
    REQUIRES,
    SHARE,
    UNITS,
    WHERE,
    MeasureName,
    OneOf,
)
from agreement_pipeline.intervals import Inference
from agreement_pipeline.ratings import LEVELS, Ratings, Scale
from agreement_pipeline.readers import CHOICES, Columns, Limits, Rules, read, unnamed

F = TypeVar("F", bound=Callable[..., Any])

INPUT, COLUMNS, SCALE = OF_TABLES = ("Input", "Columns", "Scale")
MEASURES, INTERVALS, POLICY, OUTPUT = "Measures", "Intervals", "Policy", "Output"
STANDARD_INPUT = "standard input"
AGGREGATED = ("counts", "contingency")
TABLE_HELP = "A table or a tool's export. - is the standard input."
TABLES_HELP = f"{TABLE_HELP} Or a folder or pattern of tables."

option = partial(click.option, cls=Option)

TABLE = (
    option(
        "--layout",
        group=INPUT,
        type=OneOf(("long", "wide", *AGGREGATED)),
        default="long",
        help="long: one row a rating. wide: one column a rater. Only `measure` reads counts (items "
        "by categories) and contingency (two raters).",
    ),
    option(
        "--of-round",
        group=INPUT,
        metavar="NAME",
        help="The round to read, if the column `round` of the table names several.",
    ),
    option(
        "--limit",
        group=INPUT,
        type=LIMIT,
        multiple=True,
        metavar="NAME=N",
        help=f"Another limit on what is read: {', '.join(LIMITED)}. Repeat for more.",
    ),
    option(
        "--reader",
        group=INPUT,
        metavar="NAME",
        show_default="found by the content",
        help="The format of the export, as docs/guide/tools.md names it.",
    ),
    option(
        "--where",
        group=INPUT,
        type=WHERE,
        multiple=True,
        metavar="FIELD=VALUE",
        help="Only rows with this value count. Repeat for more.",
    ),
    option(
        "--exclude-rater",
        group=INPUT,
        metavar="RATER",
        multiple=True,
        help="A rater whose rows do not count. Repeat for more.",
    ),
    option(
        "--replicate-of",
        group=INPUT,
        metavar="FIELD",
        help="Field that names the item which an item repeats.",
    ),
    option(
        "--requires",
        group=INPUT,
        type=REQUIRES,
        metavar="A,B,…",
        show_default="what the reader needs",
        help="What the export must show, or none.",
    ),
    option(
        "--units",
        group=INPUT,
        type=UNITS,
        metavar="KIND,KEY=VALUE,…",
        show_default="labels are categories",
        help="Label objects, such as spans or boxes,at_least=0.7. See docs/guide/units.md.",
    ),
    option(
        "--all-rounds",
        group=INPUT,
        is_flag=True,
        help="Read the rounds of the file as one.",
    ),
    option("--item", group=COLUMNS, metavar="NAME", default="item", help="Column of items."),
    option(
        "--rater", group=COLUMNS, metavar="NAME", default="rater", help="Column of raters (long)."
    ),
    option(
        "--label",
        group=COLUMNS,
        metavar="NAME",
        default="label",
        help="Column of labels, or a tool's question.",
    ),
    option(
        "--raters",
        group=COLUMNS,
        metavar="NAME",
        multiple=True,
        help="A column that is a rater (wide). Name every one of them.",
    ),
    option(
        "--classifier",
        group=COLUMNS,
        metavar="RATER",
        multiple=True,
        help="A rater that is a model. Repeat for more.",
    ),
    option(
        "--occurrence",
        group=COLUMNS,
        metavar="NAME",
        help="Column that numbers the times a rater met an item.",
    ),
    option(
        "--confidence",
        group=COLUMNS,
        metavar="NAME",
        help="Column of how sure the rater was, from 0 to 1.",
    ),
    option(
        "--cluster",
        group=COLUMNS,
        metavar="NAME",
        help="Column of the document, conversation, patient or batch of an item. "
        "Intervals then resample whole clusters.",
    ),
    option("--gold", group=COLUMNS, metavar="NAME", help="Column that marks gold items."),
    option(
        "--gold-label",
        group=COLUMNS,
        metavar="NAME",
        help="Column with the right label of gold items.",
    ),
    option(
        "--stratum",
        group=COLUMNS,
        metavar="NAME",
        multiple=True,
        help="Column that tells strata of items apart, such as the language. Repeat for more.",
    ),
    option(
        "--level",
        group=SCALE,
        type=OneOf(LEVELS),
        metavar="LEVEL",
        default="nominal",
        help=f"Level of measurement: {', '.join(LEVELS)}.",
    ),
    option(
        "--categories",
        group=SCALE,
        type=NAMES,
        metavar="A,B,…",
        show_default="those that occur",
        help='The categories in order, as a row of CSV: "yes, sure",no.',
    ),
)
ENGINE = (
    option(
        "--engine",
        group=INPUT,
        type=OneOf(CHOICES),
        metavar="NAME",
        default="auto",
        help="Where ratings are counted: auto, duckdb or spark. See docs/proofs/scale.md.",
    ),
    option(
        "--memory-limit",
        group=INPUT,
        metavar="SIZE",
        show_default="80% of the memory; 300MB for a table of 300 MB or more",
        help="The most memory that DuckDB takes, such as 500MB. The rest goes to disk.",
    ),
)
INTERVAL = (
    option(
        "--confidence-level",
        group=INTERVALS,
        type=SHARE,
        metavar="SHARE",
        default=Inference.confidence_level,
        help="Confidence level of the intervals.",
    ),
    option(
        "--n-resamples",
        group=INTERVALS,
        type=REPETITIONS,
        metavar="N",
        default=Inference.n_resamples,
        help="Resamples of an interval.",
    ),
)
output_option = option(
    "--format",
    "output",
    group=OUTPUT,
    type=OneOf(("table", "json")),
    default="table",
    help="How to print what was found.",
)
policy_option = option(
    "--policy",
    group=POLICY,
    type=FILE,
    metavar="FILE",
    required=True,
    help="YAML file of a policy.",
)


def table_options(command: F) -> F:
    """Add the options that say how a table is read."""
    return _with(TABLE, command)


def engine_options(command: F) -> F:
    """Add the options that say which engine counts, and in how much memory."""
    return _with(ENGINE, command)


def interval_options(command: F) -> F:
    """Add the confidence level and the number of resamples."""
    return _with(INTERVAL, command)


def measure_option(default: str) -> Callable[[F], F]:
    """Add the option that names measures; `default` says which are usual."""
    return option(
        "--measure",
        group=MEASURES,
        type=MeasureName(),
        multiple=True,
        metavar="NAME",
        show_default=default,
        help="A measure. Repeat for more.",
    )


def store_option(**settings: Any) -> Callable[[F], F]:
    """Add the option that names a store."""
    return option("--store", type=PLACE, metavar="URL", **settings)


def read_table(path: Path, reading: Mapping[str, Any]) -> Ratings:
    """The ratings in a table, read as the shared options say."""
    (found,) = open_tables([path], reading)
    return found


def open_tables(sources: Sequence[str | Path], reading: Mapping[str, Any]) -> list[Ratings]:
    """The ratings in some tables, read as the shared options say."""
    places, settings = [on_disk(each) for each in sources], _settings(reading)
    found = [read(place, **settings) for place in places]
    for place in places:
        _say_unnamed(place, settings)
    return found


def _say_unnamed(source: str | Path, settings: Mapping[str, Any]) -> None:
    """Say which column is read as something else than its name."""
    for name, column in unnamed(source, settings["columns"], settings["rules"]).items():
        told = f"column {column!r} is read as {name}; rename it if it is no {name}"
        say_aside(f"{Path(source).name}: {told}")


def _settings(reading: Mapping[str, Any]) -> dict[str, Any]:
    if reading["layout"] in AGGREGATED:
        raise click.UsageError(
            f"found --layout {reading['layout']}; expected long or wide, since only `measure` "
            "reads tables without raters or items. Give one row a rating."
        )
    long = ("item", "rater", "label", "occurrence", "confidence", "cluster")
    names = (*long, "gold", "gold_label", "raters")
    categories, level = reading["categories"], reading["level"]
    return {
        "columns": Columns(**{name: reading[name] for name in names}),
        "layout": reading["layout"],
        "scale": None if categories is None else Scale(categories, level),
        "level": level,
        "classifiers": reading["classifier"],
        "round_name": reading["of_round"],
        "limits": Limits(**dict(reading["limit"])),
        "rules": _rules(reading),
        "engine": reading.get("engine", "auto"),
        "memory_limit": reading.get("memory_limit"),
    }


def _rules(reading: Mapping[str, Any]) -> Rules:
    where: dict[str, tuple[str, ...]] = {}
    for name, value in reading["where"]:
        where[name] = (*where.get(name, ()), value)
    return Rules(
        reader=reading["reader"],
        where=where,
        exclude_raters=reading["exclude_rater"],
        replicate_of=reading["replicate_of"],
        requires=reading["requires"],
        all_rounds=reading["all_rounds"],
        strata=reading["stratum"],
        units=reading["units"],
    )


def on_disk(source: str | Path) -> str | Path:
    """The source, or the file that the standard input is kept in while the command runs."""
    if str(source) != "-":
        return source
    folder = click.get_current_context().with_resource(TemporaryDirectory())
    path = Path(folder) / STANDARD_INPUT
    with path.open("wb") as file:
        copyfileobj(sys.stdin.buffer, file)
    return path


def _with(options: tuple[Callable[[F], F], ...], command: F) -> F:
    for each in reversed(options):
        command = each(command)
    return command
