import csv
import io
import os
import re
import shlex
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import fields, replace
from functools import partial
from itertools import pairwise
from pathlib import Path
from shutil import copyfileobj
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import click
from click.core import ParameterSource
from click.shell_completion import CompletionItem
from click.types import FuncParamType

from agreement_pipeline.cli.output import as_json, say, say_aside
from agreement_pipeline.errors import (
    EXPECTED,
    CertificateError,
    DrawError,
    ProjectError,
    StoreError,
    error_in_a_sentence,
)
from agreement_pipeline.intervals import Inference
from agreement_pipeline.measures import MEASURES as NAMED
from agreement_pipeline.measures import SHORT
from agreement_pipeline.progress import progress
from agreement_pipeline.ratings import (
    LEVELS,
    Level,
    Ratings,
    Scale,
    count_set_labels,
    describe_doubtful_labels,
    describe_leaving_out_placeholders,
    find_misspelt,
    guess_level,
    names_like_models,
)
from agreement_pipeline.readers import (
    CHOICES,
    Columns,
    Limits,
    PredictionsFile,
    Rules,
    guess_columns,
    read,
)
from agreement_pipeline.text import called, listed

if TYPE_CHECKING:
    from agreement_pipeline.contract import Suite
    from agreement_pipeline.release import DeliveryCheck
    from agreement_pipeline.units import UnitSettings

F = TypeVar("F", bound=Callable[..., Any])

INPUT, COLUMNS, SCALE = OF_TABLES = ("Input", "Columns", "Scale")
MEASURES, INTERVALS, POLICY, OUTPUT = "Measures", "Intervals", "Policy", "Output"
OTHER_GROUP = "Other"
STANDARD_INPUT = "standard input"
WRITTEN_KEY = "agreement_pipeline.written"
NAMING = ("--raters", "--exclude-rater", "--same-rater", "--different-raters")
STORES = Path(".agreement/store")
OF_PROJECT = (".yaml", ".yml")
OF_MACHINE = "of_the_machine"
REFUSED_STATUS = 1
NUMBER = re.compile(r"[+-]?(0|[1-9]\d*)([.,]\d+)?(\s*%)?")

JSON_FORMAT = 1
"""The version of the schema of answers in JSON that say a decision, or why there is none."""

AGGREGATED = ("counts", "contingency")
TABLE_HELP = "A table or a tool's export. - is the standard input."
TABLES_HELP = f"{TABLE_HELP} Or a folder or pattern of tables."
POLICY_HELP = "YAML file of a policy, or standard, replicated or exploratory."
FEWEST_REPETITIONS, MOST_REPETITIONS = 100, 1_000_000
LIMITED = tuple(each.name for each in fields(Limits))


def why_in_json(error: BaseException) -> dict[str, Any]:
    if isinstance(error, click.UsageError):
        return {"format": JSON_FORMAT, "code": "usage", "why": error.format_message()}
    code = getattr(error, "code", OF_MACHINE)
    return {"format": JSON_FORMAT, "code": code, "why": error_in_a_sentence(error)}


def say_refused(error: CertificateError | DrawError, output: str) -> int:
    if output == "json":
        say(as_json(why_in_json(error)))
    say_aside(f"refused ({error.code}): {error}")
    return REFUSED_STATUS


class Option(click.Option):
    def __init__(self, *declarations: Any, group: str, **settings: Any) -> None:
        super().__init__(*declarations, **settings)
        self.group = group

    @property
    def human_readable_name(self) -> str:
        return max(self.opts, key=len)


class Command(click.Command):
    def __init__(self, *arguments: Any, examples: Sequence[str], **settings: Any) -> None:
        super().__init__(*arguments, **settings)
        self.examples = examples

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        in_json = ("--format", "json") in pairwise(args) or "--format=json" in args
        try:
            values, _, params_in_order = (
                ({}, [], []) if ctx.resilient_parsing else self.make_parser(ctx).parse_args([*args])
            )
            ctx.meta[WRITTEN_KEY] = [
                (param, values[param.name]) for param in dict.fromkeys(params_in_order)
            ]
            for param in params_in_order:
                if (
                    isinstance(param, Option)
                    and not param.multiple
                    and params_in_order.count(param) > 1
                ):
                    raise click.BadParameter(
                        "found twice; expected once at most. Leave one of them out.", ctx, param
                    )
            return super().parse_args(ctx, args)
        except click.UsageError as error:
            error.ctx = ctx
            if in_json:
                say(as_json(why_in_json(error)))
            raise

    def invoke(self, ctx: click.Context) -> Any:
        try:
            _refuse_overwriting(ctx)
            with progress(str(ctx.info_name)):
                return super().invoke(ctx)
        except (*EXPECTED, click.UsageError) as error:
            if ctx.params.get("output") == "json":
                say(as_json(why_in_json(error)))
            raise

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        groups: dict[str, list[tuple[str, str]]] = {}
        for param in self.get_params(ctx):
            record = param.get_help_record(ctx)
            if record and isinstance(param, click.Option):
                groups.setdefault(getattr(param, "group", OTHER_GROUP), []).append(record)
        for heading, records in groups.items():
            with formatter.section(heading):
                formatter.write_dl(records)

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Example" if len(self.examples) == 1 else "Examples"):
            for example in self.examples:
                formatter.write(f"{'':{formatter.current_indent}}{example}\n")


def _refuse_overwriting(ctx: click.Context) -> None:
    files: dict[bool, list[tuple[click.Parameter, Path]]] = {False: [], True: []}
    for param in ctx.command.params:
        value_or_values = ctx.params.get(param.name or "")
        for value in value_or_values if isinstance(value_or_values, tuple) else (value_or_values,):
            if isinstance(value, Path) and value.is_file():
                files[getattr(param, "group", None) == OUTPUT].append((param, value))
    for param, target in files[True]:
        if any(target.samefile(source) for _, source in files[False]):
            raise click.BadParameter(
                f"found {target}, which is read; expected another file. Name another one.",
                ctx,
                param,
            )


def command(*examples: str, name: str | None = None) -> Callable[..., click.Command]:
    return click.command(name, cls=Command, examples=examples)


def given_options(ctx: click.Context, *groups: str) -> list[str]:
    return [
        param.human_readable_name
        for param in ctx.command.params
        if isinstance(param, Option)
        and param.group in groups
        and ctx.get_parameter_source(param.name) is ParameterSource.COMMANDLINE
    ]


def is_project(file: Path, typed_options: Sequence[str], but: Collection[str] = ()) -> bool:
    """True for the file of a project. No option that is given may say what the project does."""
    extra_options = [name for name in typed_options if name not in but]
    if file.suffix not in OF_PROJECT:
        return False
    if extra_options:
        hint = " Put the waiver into configs/waivers." if "--waiver" in extra_options else ""
        raise ProjectError(
            f"{file}: found a project with {listed(extra_options)}; expected none of them, since "
            f"the project names them. Leave them out.{hint}"
        )
    return True


def as_written(ctx: click.Context, file: Path, *, names: bool = True) -> str:
    """A shell takes it so. Without names, a mark stands for each rater."""
    words = [shlex.quote(str(file))]
    for param, value in ctx.meta[WRITTEN_KEY]:
        if isinstance(param, Option) and param.group in OF_TABLES:
            for text in value if isinstance(value, list) else [value]:
                hidden = param.human_readable_name in NAMING and not names
                shown_value = [] if param.is_flag else ["…" if hidden else shlex.quote(text)]
                words += [param.human_readable_name, *shown_value]
    return " ".join(words)


class ReadBy(FuncParamType[Any, Any]):
    """Text that a function reads. Its `ValueError` says what was found and what was expected.

    A shell completes the text to files, to folders, or to names.
    """

    def __init__(
        self,
        name: str,
        parse: Callable[[str], Any],
        completes: Literal["file", "dir"] | Collection[str] = (),
    ) -> None:
        super().__init__(parse)
        self.name = name
        self.completes = completes

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        if isinstance(self.completes, str):
            return [CompletionItem(incomplete, type=self.completes)]
        return [
            CompletionItem(choice) for choice in self.completes if choice.startswith(incomplete)
        ]


class OneOf(click.Choice[str]):
    def get_invalid_choice_message(self, value: Any, ctx: click.Context | None) -> str:
        return f"found {value!r}; expected one of {', '.join(self.choices)}."


def full_name(text: str) -> str:
    return SHORT.get(text, text)


def _parse_path(text: str) -> Path:
    """It has a name, so that `.` is called as its folder is."""
    if "://" in text:
        raise ValueError(f"found {text!r}, a URL; expected a file of this machine. Download it.")
    path = Path(text)
    return path if path.name else path.resolve()


def _parse_writable_path(text: str) -> Path:
    path = _parse_path(text)
    is_file = not path.is_dir() and path.parent.is_dir()
    if not (is_file and os.access(path if path.exists() else path.parent, os.W_OK)):
        raise ValueError(
            f"found {text!r}, where no file can be written; expected a file in a folder that is "
            "there. Correct the path, or make the folder."
        )
    return path


def number_of(
    name: str,
    expected: str,
    meets: Callable[[float], bool],
    kind: type[int] | type[float] = float,
) -> ReadBy:
    def read_number(text: str) -> float:
        value = _parse_number(text)
        if not meets(value):
            raise ValueError(f"found {text}; expected {expected}.")
        return kind(value)

    return ReadBy(name, read_number)


def _parse_number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise ValueError(f"found {text!r}; expected a number.") from None


def _parse_shares(text: str) -> tuple[float, ...]:
    return tuple(_parse_number(share) for share in text.split(","))


def _parse_names(text: str) -> tuple[str, ...]:
    """Names between commas, as a row of CSV: a name in quotes may hold a comma."""
    try:
        (names,) = csv.reader([text], strict=True)
    except csv.Error as error:
        raise ValueError(
            f"found {text!r} ({error}); expected names between commas, with quotes around a name "
            "that holds a comma."
        ) from None
    return tuple(names)


def _names_of_a_group(text: str) -> tuple[str, ...]:
    """Names of raters that belong together."""
    names = _parse_names(text)
    if len(names) < 2 or "" in names:
        meant_names = names[0].split("=") if len(names) == 1 else [name for name in names if name]
        row = io.StringIO()
        csv.writer(row, lineterminator="").writerow(
            meant_names if len(meant_names) > 1 else ["Ana", "ana"]
        )
        raise ValueError(
            f"found {text!r}; expected two names or more with commas between them. "
            f"Write them as the ratings have them, as {shlex.quote(row.getvalue())}."
        )
    return names


def _parse_limit(text: str) -> tuple[str, int]:
    name, _, maximum = text.partition("=")
    if name not in LIMITED or not maximum.isdecimal():
        raise ValueError(
            f"found {text}; expected a limit and a whole number, as rows=50000000. "
            f"The limits are {', '.join(LIMITED)}."
        )
    return name, int(maximum)


def _parse_pair(text: str) -> tuple[str, str]:
    name, sign, value = text.partition("=")
    if not name or not sign:
        raise ValueError(f"found {text}; expected a field and a value, as status=submitted.")
    return name, value


def _parse_predictions(text: str) -> tuple[str, PredictionsFile]:
    name, sign, file = text.partition("=")
    if not (name and sign and file):
        raise ValueError(f"found {text}; expected a model and a file, as model_a=predictions.csv.")
    return name, PredictionsFile(file)


def _parse_units(text: str) -> "UnitSettings":
    """The kind comes first, then settings."""
    from agreement_pipeline.units import UnitSettings

    kind, *pairs = _parse_names(text)
    settings: dict[str, Any] = dict(map(_parse_pair, pairs))
    for name, value in settings.items():
        if name in ("at_least", "step"):
            settings[name] = _parse_number(value)
        elif name == "members":
            settings[name] = tuple(value.split("|"))
        elif name == "sigmas":
            settings[name] = tuple(map(_parse_number, value.split("|")))
    unknown = sorted({*settings} - {setting.name for setting in fields(UnitSettings)})
    if unknown or "kind" in settings:
        raise ValueError(
            f"found {', '.join(unknown) or 'kind'}; expected settings of units, as at_least=0.7."
        )
    return UnitSettings(kind, **settings)


SHARE = number_of("share", "a share between 0 and 1", lambda share: 0 < share < 1)
REPETITIONS = number_of(
    "n",
    f"a whole number from {FEWEST_REPETITIONS} to {MOST_REPETITIONS:,}",
    lambda n: FEWEST_REPETITIONS <= n <= MOST_REPETITIONS and n.is_integer(),
    int,
)
SHARES = ReadBy("share,…", _parse_shares)
FILE = ReadBy("file", _parse_path, "file")
SOURCE = ReadBy("file", lambda text: text if "://" in text else _parse_path(text), "file")
FOLDER = ReadBy("folder", Path, "dir")
PLACE = ReadBy("url", str, "dir")

option = partial(click.option, cls=Option)
column = partial(option, group=COLUMNS, metavar="NAME")


def combine_options(*options: Callable[[F], F]) -> Callable[[F], F]:
    def add(command: F) -> F:
        for decorate in reversed(options):
            command = decorate(command)
        return command

    return add


table_options = combine_options(
    option(
        "--layout",
        group=INPUT,
        type=OneOf(("long", "wide", *AGGREGATED)),
        default="long",
        help="long: one row a rating. wide: one column a rater. Only `measure` reads counts (items "
        "by categories) and contingency (two raters).",
    ),
    option(
        "--encoding",
        group=INPUT,
        metavar="NAME",
        default=Columns.encoding,
        help="Encoding of delimited text, such as cp1252 or utf-16.",
    ),
    option(
        "--decimal",
        group=INPUT,
        type=OneOf((".", ",")),
        metavar="SIGN",
        default=Columns.decimal,
        help="Decimal sign of labels and confidences: a point or a comma.",
    ),
    option(
        "--sheet",
        group=INPUT,
        metavar="NAME",
        show_default="the only one",
        help="Sheet of a workbook.",
    ),
    option(
        "--header-row",
        group=INPUT,
        type=number_of(
            "n",
            "a whole number from 1 to 1,048,576",
            lambda n: 1 <= n <= 1 << 20 and n.is_integer(),
            int,
        ),
        default=Columns.header_row,
        help="Row of delimited text or a sheet that names the columns. Rows above are not read.",
    ),
    option(
        "--time-format",
        group=INPUT,
        metavar="FORMAT",
        show_default="told by the column",
        help="How times are written, such as %d/%m/%Y %H:%M, if days and months look alike.",
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
        type=ReadBy("name=n", _parse_limit),
        multiple=True,
        help=f"Another limit on what is read: {', '.join(LIMITED)}. Repeat for more.",
    ),
    option(
        "--reader",
        group=INPUT,
        metavar="NAME",
        show_default="found by the content",
        help="The format of the export, as `guide tools` names it.",
    ),
    option(
        "--where",
        group=INPUT,
        type=ReadBy("field=value", _parse_pair),
        multiple=True,
        help="Only rows with this value count. Repeat for more.",
    ),
    option(
        "--exclude-rater",
        "exclude_raters",
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
        "--duplicates",
        group=INPUT,
        type=OneOf(("first", "last")),
        metavar="first|last",
        help="The row that counts where several have one item and one rater: by time, if each "
        "row has one.",
    ),
    option(
        "--same-rater",
        group=INPUT,
        type=ReadBy("a,b,…", _names_of_a_group),
        multiple=True,
        help="Names of the same rater. The first one is used. Repeat for more.",
    ),
    option(
        "--different-raters",
        group=INPUT,
        type=ReadBy("a,b,…", _names_of_a_group),
        multiple=True,
        help="Names that look alike but are different raters. Repeat for more.",
    ),
    option(
        "--requires",
        group=INPUT,
        type=ReadBy("a,b,…", lambda text: () if text == "none" else tuple(text.split(","))),
        show_default="what the reader needs",
        help="What the export must show, or none.",
    ),
    option(
        "--units",
        group=INPUT,
        type=ReadBy("kind,key=value,…", _parse_units),
        show_default="labels are categories",
        help="Label objects, such as spans or boxes,at_least=0.7. See `guide units`.",
    ),
    option(
        "--predictions",
        group=INPUT,
        type=ReadBy("model=file", _parse_predictions),
        multiple=True,
        help="A table with the label that a model gave each item (columns item and label). Repeat "
        "for more.",
    ),
    option(
        "--all-rounds",
        group=INPUT,
        is_flag=True,
        help="Read the rounds of the file as one.",
    ),
    column("--item", default="item", help="Column of items."),
    column("--rater", default="rater", help="Column of raters (long)."),
    column(
        "--label",
        default="label",
        help="Column of labels, or a tool's question.",
    ),
    column(
        "--raters",
        multiple=True,
        help="A column that is a rater (wide). Name every one of them.",
    ),
    column(
        "--classifier",
        "classifiers",
        metavar="RATER",
        multiple=True,
        help="A rater that is a model. Repeat for more.",
    ),
    column(
        "--occurrence",
        help="Column that says for which time the rater sees the item: 1, 2 and so on.",
    ),
    column(
        "--timestamp",
        help="Column of when the rating was given.",
    ),
    column(
        "--confidence",
        help="Column of how sure the rater was, from 0 to 1.",
    ),
    column(
        "--cluster",
        help="Column of the document, conversation, patient or batch of an item. "
        "Intervals then resample whole clusters.",
    ),
    column(
        "--first-label",
        help="Column of the label that a rater gave first, if they changed it. Agreement rests on "
        "it, and the last label only trains.",
    ),
    column("--changed-at", help="Column of the time when a rater last changed the label."),
    column("--gold", help="Column that marks gold items."),
    column(
        "--gold-label",
        help="Column with the right label of gold items.",
    ),
    column(
        "--stratum",
        "strata",
        multiple=True,
        help="Column that divides items into strata, such as the language. Repeat for more.",
    ),
    option(
        "--level",
        group=SCALE,
        type=OneOf(LEVELS),
        metavar="LEVEL",
        show_default="that of the labels; of a population, nominal",
        help=f"Level of measurement: {', '.join(LEVELS)}.",
    ),
    option(
        "--categories",
        group=SCALE,
        type=ReadBy("a,b,…", _parse_names),
        show_default="those that occur",
        help='The categories in order, as a row of CSV: "yes, sure",no.',
    ),
    option(
        "--same-label",
        group=SCALE,
        type=ReadBy("name=other", _parse_pair),
        multiple=True,
        help="Another word for a label, as yes=1. Repeat for more.",
    ),
    option(
        "--missing",
        group=SCALE,
        metavar="LABEL",
        multiple=True,
        help="A label that says that nobody gave one, such as n/a. Repeat for more.",
    ),
)
engine_options = combine_options(
    option(
        "--engine",
        group=INPUT,
        type=OneOf(CHOICES),
        metavar="NAME",
        default="auto",
        help="Where ratings are counted: auto, duckdb or spark. See `guide scale`.",
    ),
    option(
        "--memory-limit",
        group=INPUT,
        metavar="SIZE",
        show_default="80% of the memory; 300MB for a table of 300 MB or more",
        help="The most memory that DuckDB takes, such as 500MB. The rest goes to disk.",
    ),
)
confidence_option = option(
    "--confidence-level",
    group=INTERVALS,
    type=SHARE,
    default=Inference.confidence_level,
    help="Confidence level of the intervals.",
)
interval_options = combine_options(
    confidence_option,
    option(
        "--n-resamples",
        group=INTERVALS,
        type=REPETITIONS,
        default=Inference.n_resamples,
        help="Resamples of an interval.",
    ),
)


def format_option(*forms: str) -> Callable[[F], F]:
    return option(
        "--format",
        "output",
        group=OUTPUT,
        type=OneOf(forms),
        default=forms[0],
        help="How to print what was found.",
    )


output_option = format_option("table", "json")


def tasks_options(forms: Iterable[str]) -> Callable[[F], F]:
    return combine_options(
        option(
            "--format",
            "form",
            group=OUTPUT,
            type=OneOf(tuple(forms)),
            default="csv",
            help="Whose tasks to write.",
        ),
        option(
            "--output",
            group=OUTPUT,
            type=ReadBy("file", _parse_writable_path, "file"),
            show_default="the standard output",
            help="The file to write.",
        ),
    )


root_option = option(
    "--root",
    group=INPUT,
    type=FOLDER,
    default=Path(),
    help="The folder that contains configs/.",
)
policy_option = option(
    "--policy",
    group=POLICY,
    type=FILE,
    required=True,
    help=POLICY_HELP,
)


population_options = combine_options(
    option(
        "--predicted",
        group=COLUMNS,
        metavar="NAME",
        help="The column of the population with the classifier's labels, if a row is an item.",
    ),
    option(
        "--store",
        group=INPUT,
        type=PLACE,
        show_default=f"the one store in {STORES}",
        help="The folder or the URL of the store whose log has the draw.",
    ),
)


def measure_option(default: str) -> Callable[[F], F]:
    return option(
        "--measure",
        group=MEASURES,
        type=ReadBy("name", full_name, sorted({*NAMED, *SHORT})),
        multiple=True,
        show_default=default,
        help="A measure. Repeat for more.",
    )


def store_option(**settings: Any) -> Callable[[F], F]:
    return option("--store", type=PLACE, **settings)


def find_only_store() -> Path:
    stores = sorted(str(path) for path in STORES.glob("*") if path.is_dir())
    if len(stores) != 1:
        raise StoreError(
            f"{STORES}: found {called('store', stores) if stores else 'no store'}; expected one. "
            "Name a folder or a URL with --store."
        )
    return Path(stores[0])


def read_table(source: str | Path, reading: Mapping[str, Any]) -> Ratings:
    """What may be a mistake is told on the standard error."""
    ratings, warnings = read_with_warnings(source, reading)
    say_warnings(source, ratings, warnings)
    return ratings


def say_warnings(source: str | Path, ratings: Ratings, warnings: Iterable[str]) -> None:
    """Words that do not meet are among the findings of a decision, and no warnings there."""
    name = STANDARD_INPUT if str(source) == "-" else Path(source).name
    for sentence in (*(words.sentence for words in ratings.foreign_words), *warnings):
        say_aside(f"warning: {name}: {sentence}")


def read_with_warnings(
    source: str | Path, reading: Mapping[str, Any]
) -> tuple[Ratings, tuple[str, ...]]:
    """The ratings, and what may be a mistake: a column that is read as something else than its
    name, a level that nobody named, or a seldom label that resembles a common one.
    """
    place = spool_stdin_to_disk(source)
    if reading["layout"] in AGGREGATED:
        raise click.UsageError(
            f"found --layout {reading['layout']}; expected long or wide, since only `measure` "
            "reads tables without raters or items. Give one row a rating."
        )
    columns, rules = (
        Columns(**settings_for(Columns, reading)),
        Rules(**settings_for(Rules, reading)),
    )
    scale_settings = scale_and_limits(reading)
    guessed = guess_columns(place, columns, reading["layout"], rules, scale_settings["limits"])
    read_options = ("layout", "classifiers", "engine", "memory_limit", "usable", "in_order")
    ratings = read(
        place,
        replace(columns, **guessed),
        round_name=reading["of_round"],
        rules=rules,
        **{name: reading[name] for name in read_options if name in reading},
        **scale_settings,
    )
    of_columns = (
        f"column {column!r} is read as {name}; if it is none, name another with --{name}"
        for name, column in guessed.items()
    )
    return ratings, (*of_columns, *_iterate_doubts(ratings, reading["level"]))


def check_suite(
    source: str | Path, reading: Mapping[str, Any], suite: "Suite", ratings: Ratings
) -> "DeliveryCheck":
    """What the suite finds in a table that is read as `read_table` reads it."""
    from agreement_pipeline.release import check_delivery

    place = spool_stdin_to_disk(source)
    columns, rules = (
        Columns(**settings_for(Columns, reading)),
        Rules(**settings_for(Rules, reading)),
    )
    limits = scale_and_limits(reading)["limits"]
    guessed = guess_columns(place, columns, reading["layout"], rules, limits)
    return check_delivery(
        place,
        suite,
        replace(columns, **guessed),
        layout=reading["layout"],
        scale=ratings.scale,
        round_name=reading["of_round"],
        limits=limits,
        rules=rules,
        memory_limit=reading.get("memory_limit"),
    )


def _iterate_doubts(ratings: Ratings, level: Level | None) -> Iterator[str]:
    """What may be a mistake in labels that nobody declared, or on a level that nobody named."""
    scale, names = ratings.scale, ratings.scale.names
    if not scale.declared or scale.continuous:
        slips = find_misspelt(count_set_labels(ratings.n_by_category)) if names else {}
        for words in slips.values():
            yield f"{words}; correct it, or name all labels with --categories"
        if scale.level == "nominal":
            yield from describe_doubtful_labels(names, slips)
        if placeholders := ratings.undeclared_placeholders:
            count = "count as labels" if len(placeholders) > 1 else "counts as a label"
            yield (
                f"{called('label', placeholders)} "
                f"{count}.{describe_leaving_out_placeholders(placeholders)}"
            )
    if level is None:
        yield from _iterate_level_doubts(scale)


def _iterate_level_doubts(scale: Scale) -> Iterator[str]:
    """What is told of a level that nobody named. Two labels agree alike on each level."""
    parts = [part for name in scale.names for part in name.split("|")]
    if scale.level == "ordinal" and len(parts) > 2:
        yield (
            "labels are whole numbers, and their order counts; if they are names, give "
            "--level nominal; if their distances matter, --level interval; else --level ordinal"
        )
    elif scale.level == "interval":
        yield (
            "labels are numbers, and their distances count; if they are names, give "
            "--level nominal; if only their order matters, --level ordinal; else --level interval"
        )
    elif scale.level == "nominal" and _look_like_numbers(parts):
        if len(parts) > len(scale.names):
            words = "labels of several numbers count as sets of names, whose order is lost"
            step = "if they are measures, give --level 'multivariate interval'"
        else:
            levels = "--level ordinal or interval"
            if any("," in name for name in scale.names):
                levels += ", and --decimal , for a comma"
            if any("%" in name for name in scale.names):
                levels += ", and take off the sign %"
            words = "labels are numbers but count as names, all equally far apart"
            step = f"if they have an order, give {levels}"
        yield f"{words}; {step}; else --level nominal"


def warn_of_models(source: str | Path, ratings: Ratings) -> None:
    if likely_models := names_like_models(ratings.raters):
        from agreement_pipeline.evidence import ask_whether_models

        options_text = " ".join(f"--classifier {shlex.quote(name)}" for name in likely_models)
        question = f"{ask_whether_models(likely_models)} Then give {options_text}."
        say_aside(f"warning: {Path(source).name}: the raters are taken for people. {question}")


def _look_like_numbers(labels: Collection[str]) -> bool:
    # A few may be others, such as n/a. Two labels agree alike on each level.
    return len(labels) > 2 and sum(map(bool, map(NUMBER.fullmatch, labels))) >= 0.9 * len(labels)


def read_population(
    source: str | Path, reading: Mapping[str, Any], predicted: str | None
) -> Ratings:
    """The labels that classifiers gave to a population. Without a name, every rater is one.

    `predicted` is the column with the classifier's labels of a table that has a row an item. Such a
    table has no columns of raters and labels, so their names are those of the panel's table.
    """
    names = reading["classifiers"]
    reading = on_nominal_level(reading)
    wide = {"layout": "wide", "raters": (predicted,), "classifiers": (predicted,)}
    wide |= {"rater": Columns.rater, "label": Columns.label}
    long = {"classifiers": names or (lambda raters, _: raters)}
    return read_table(source, {**reading, **(wide if predicted else long), "usable": False})


def settings_for(record: type[Columns] | type[Rules], reading: Mapping[str, Any]) -> dict[str, Any]:
    values_by_column: dict[str, tuple[str, ...]] = {}
    for name, value in reading.get("where", ()):
        values_by_column[name] = (*values_by_column.get(name, ()), value)
    values = {**reading, "where": values_by_column}
    if "predictions" in reading:
        values["predictions"] = dict(reading["predictions"])
    return {field.name: values[field.name] for field in fields(record) if field.name in values}


def on_nominal_level(reading: Mapping[str, Any]) -> dict[str, Any]:
    """Where shares or counts of categories are read, numbers are names unless somebody says so."""
    return {**reading, "level": reading["level"] or "nominal"}


def scale_and_limits(reading: Mapping[str, Any]) -> dict[str, Any]:
    """Categories whose level nobody named are on their probable one."""
    categories, level = reading["categories"], reading["level"]
    scale = None if categories is None else Scale(categories, level or guess_level(categories))
    return {
        "scale": scale,
        "level": level,
        "limits": Limits(**dict(reading["limit"])),
    }


def spool_stdin_to_disk(source: str | Path) -> str | Path:
    if str(source) != "-":
        return source
    context = click.get_current_context()
    if STANDARD_INPUT not in context.meta:  # it can be read only once
        path = Path(context.with_resource(TemporaryDirectory())) / STANDARD_INPUT
        with path.open("wb") as file:
            copyfileobj(sys.stdin.buffer, file)
        context.meta[STANDARD_INPUT] = path
    return Path(context.meta[STANDARD_INPUT])
