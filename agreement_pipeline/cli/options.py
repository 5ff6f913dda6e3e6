"""What the command line takes."""

import argparse
from dataclasses import fields
from pathlib import Path
from typing import Any

from agreement_pipeline.estimates import SCOPE_KINDS
from agreement_pipeline.intervals import DEFAULT_METHOD, METHODS, Inference
from agreement_pipeline.policy import N_ROUNDS
from agreement_pipeline.ratings import LEVELS
from agreement_pipeline.readers import Limits
from agreement_pipeline.version import __version__

FEWEST_REPETITIONS, MOST_REPETITIONS = 100, 1_000_000
STORES = Path(".agreement/store")
OF_ROUNDS, OF_NAMES = "krippendorff_alpha", "schouten_kappa"
OF_TABLES = (
    "layout",
    "item",
    "rater",
    "label",
    "of_round",
    "occurrence",
    "confidence",
    "cluster",
    "raters",
    "classifier",
    "level",
    "categories",
    "limit",
)
SHORT = {"alpha": "krippendorff_alpha"}
LIMITED = tuple(each.name for each in fields(Limits))


class _Parser(argparse.ArgumentParser):
    """A parser that refuses an option given twice where one value is read: the other would go without a word."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.register("action", None, _Once)


class _Once(argparse.Action):
    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: Any,
        option_string: str | None = None,
    ) -> None:
        given = vars(namespace).setdefault("given", set())
        if option_string and self.dest in given:
            raise argparse.ArgumentError(
                self, "found twice; it is required once at most. Leave one of them out."
            )
        given.add(self.dest)
        setattr(namespace, self.dest, values)


def parser() -> argparse.ArgumentParser:
    """What reads the command line; the command named is `command`."""
    whole = _Parser(
        prog="agreement-pipeline", description="May this version of this dataset be trained on?"
    )
    whole.add_argument("--version", action="version", version=f"agreement-pipeline {__version__}")
    commands = whole.add_subparsers(required=True, dest="command", metavar="command")
    _demo_options(
        commands.add_parser("demo", help="run the projects and print what became of their rounds")
    )
    _measure_options(
        commands.add_parser("measure", help="print the agreement in a table, with intervals")
    )
    _compare_options(
        commands.add_parser(
            "compare",
            help="print how far two tables, classifiers or raters differ, with intervals; paired by the items they share",
        )
    )
    _judge_options(
        commands.add_parser(
            "judge",
            help="print the decision on a table: exit status 0 admitted, 1 held, 2 could not judge",
        )
    )
    _plan_options(
        commands.add_parser("plan", help="print how many items a policy needs before it decides")
    )
    _history_options(
        commands.add_parser(
            "history",
            help="print what was ingested, decided, released and withdrawn, once the log is seen to be whole",
        )
    )
    _verify_options(
        commands.add_parser(
            "verify",
            help="check a release from its own bytes: 0 verified, else why not (docs/reasons.md)",
        )
    )
    return whole


def _demo_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--root",
        type=Path,
        default=Path(),
        help="the folder that holds configs/ (default: this one)",
    )


def _measure_options(parser: argparse.ArgumentParser) -> None:
    _table_options(parser)
    _measure_names(parser, "all that the level allows")
    parser.add_argument(
        "--scope",
        action="append",
        choices=SCOPE_KINDS,
        metavar="KIND",
        help=f"what to measure: {', '.join(SCOPE_KINDS)}; repeat for more (default: all)",
    )
    parser.add_argument(
        "--interval-method",
        choices=sorted(METHODS),
        metavar="NAME",
        default=DEFAULT_METHOD,
        help=f"{', '.join(METHODS)}: see docs/intervals.md (default: {DEFAULT_METHOD})",
    )


def _compare_options(parser: argparse.ArgumentParser) -> None:
    _table_options(parser)
    parser.add_argument(
        "other", type=Path, nargs="?", help="the table to compare with, with the same columns"
    )
    parser.add_argument(
        "--between",
        nargs=2,
        metavar="NAME",
        help="two classifiers, or two raters, of the one table",
    )
    _measure_names(parser, f"{OF_ROUNDS} of tables, {OF_NAMES} of names")
    parser.add_argument(
        "--category",
        metavar="NAME",
        help="of measures that have a value for each category, the one to compare (default: the lowest)",
    )


def _judge_options(parser: argparse.ArgumentParser) -> None:
    _table_options(parser)
    parser.add_argument("--policy", type=Path, required=True, help="a policy's YAML file")
    parser.add_argument(
        "--waiver",
        type=Path,
        action="append",
        default=[],
        help="a waiver's YAML file; repeat for more",
    )


def _measure_names(parser: argparse.ArgumentParser, usual: str) -> None:
    parser.add_argument(
        "--measure",
        action="append",
        type=full_name,
        metavar="NAME",
        help=f"a measure; repeat for more (default: {usual})",
    )
    parser.add_argument(
        "--confidence-level",
        type=_share,
        default=Inference.confidence_level,
        metavar="SHARE",
        help="of the intervals (default: 0.95)",
    )
    parser.add_argument(
        "--n-resamples",
        type=_repetitions,
        default=Inference.n_resamples,
        metavar="N",
        help="draws an interval (default: 10000)",
    )


def full_name(text: str) -> str:
    """The name of a measure that may be written in short."""
    return SHORT.get(text, text)


def _share(text: str) -> float:
    share = _number(text)
    if not 0 < share < 1:
        raise argparse.ArgumentTypeError(
            f"{text} found; a share between 0 and 1 is required. The help says which is usual."
        )
    return share


def _repetitions(text: str) -> int:
    number = _number(text)
    if not (FEWEST_REPETITIONS <= number <= MOST_REPETITIONS and number.is_integer()):
        need = f"a whole number from {FEWEST_REPETITIONS} to {MOST_REPETITIONS} is required"
        raise argparse.ArgumentTypeError(f"{text} found; {need}. The help says which is usual.")
    return int(number)


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(
            f"{text!r} found; a number is required. Correct it."
        ) from None


def _several(text: str) -> int:
    number = _number(text)
    if number < 2 or not number.is_integer():
        raise argparse.ArgumentTypeError(
            f"{text} found; a whole number from 2 is required, since agreement compares labels. 3 is usual."
        )
    return int(number)


def _verify_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("release", help="the folder or the URL of a release")
    parser.add_argument(
        "--require",
        action="append",
        default=[],
        metavar="DEMAND",
        help="a demand of your own, as alpha>=0.8; repeat for more",
    )
    parser.add_argument(
        "--store",
        metavar="URL",
        help="the store it was released in: its log must say that the release is in force",
    )


def _plan_options(parser: argparse.ArgumentParser) -> None:
    _table_options(parser, required=False)
    parser.add_argument("--policy", type=Path, required=True, help="a policy's YAML file")
    parser.add_argument(
        "--expected",
        type=_expected,
        help="without a table: the value expected of each measure (default: 0.85)",
    )
    parser.add_argument(
        "--prevalence",
        type=_shares,
        help="without a table: the share of each category (default: 0.5,0.5)",
    )
    parser.add_argument(
        "--labels-an-item",
        type=_several,
        action="append",
        default=[],
        metavar="N",
        help="without a table: raters of an item, or meetings with it; repeat for more",
    )
    parser.add_argument(
        "--probability",
        type=_share,
        default=0.9,
        metavar="SHARE",
        help="how often a round is to decide (default: 0.9)",
    )
    parser.add_argument(
        "--rounds",
        type=_repetitions,
        default=N_ROUNDS,
        metavar="N",
        help=f"rounds simulated for each number of items (default: {N_ROUNDS})",
    )
    parser.add_argument(
        "--plot", type=_image, metavar="FILE", help="write the curves as a PNG image"
    )


def _expected(text: str) -> float:
    value = _number(text)
    if not value <= 1:
        raise argparse.ArgumentTypeError(
            f"{text} found; a value of 1 at most is required, which is perfect agreement. The help says which is usual."
        )
    return value


def _image(text: str) -> Path:
    path = Path(text)
    if path.suffix != ".png" or not path.parent.is_dir():
        raise argparse.ArgumentTypeError(
            f"{text} found; a name ending in .png, in a folder that is there, is required. Correct it."
        )
    return path


def _shares(text: str) -> tuple[float, ...]:
    return tuple(_number(share) for share in text.split(","))


def _history_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "round", nargs="?", help="a round, or the name of a release of several (default: all)"
    )
    parser.add_argument(
        "--store", metavar="URL", help=f"a folder or a URL (default: the one store in {STORES})"
    )
    parser.add_argument("--format", choices=("table", "json"), default="table")


def _table_options(parser: argparse.ArgumentParser, *, required: bool = True) -> None:
    parser.add_argument(
        "file",
        type=Path,
        nargs=None if required else "?",
        help="a CSV, TSV, JSON Lines or Parquet table",
    )
    parser.add_argument(
        "--layout",
        choices=("long", "wide"),
        default="long",
        help="a row a rating, or a column a rater",
    )
    parser.add_argument("--item", default="item", help="the column of items")
    parser.add_argument("--rater", default="rater", help="the column of raters (long)")
    parser.add_argument("--label", default="label", help="the column of labels (long)")
    parser.add_argument(
        "--of-round",
        metavar="NAME",
        help="the round to read, where the table's column `round` names several",
    )
    parser.add_argument(
        "--occurrence", help="the column that numbers a rater's meetings with an item"
    )
    parser.add_argument(
        "--confidence", help="the column of how sure a rater said she was, from 0 to 1"
    )
    parser.add_argument(
        "--cluster",
        help="the column of the document, conversation, patient or batch that an item is of; intervals then draw these whole",
    )
    parser.add_argument(
        "--raters",
        action="append",
        default=[],
        help="a column that is a rater; repeat for more (wide)",
    )
    parser.add_argument(
        "--classifier",
        action="append",
        default=[],
        metavar="RATER",
        help="a rater that is a model; repeat for more",
    )
    parser.add_argument("--level", choices=LEVELS, default="nominal", help="level of measurement")
    parser.add_argument(
        "--categories",
        help="the categories in order, separated by commas (default: those that occur)",
    )
    parser.add_argument(
        "--limit",
        type=_limit,
        action="append",
        default=[],
        metavar="NAME=N",
        help=f"another most of what is read: {', '.join(LIMITED)}; repeat for more",
    )
    parser.add_argument("--format", choices=("table", "json"), default="table")


def _limit(text: str) -> tuple[str, int]:
    name, _, most = text.partition("=")
    if name not in LIMITED or not most.isdecimal():
        raise argparse.ArgumentTypeError(
            f"{text} found; a limit and a whole number are required, as rows=50000000. The limits are {', '.join(LIMITED)}."
        )
    return name, int(most)
