"""The command line: demo · measure · compare · judge · verify."""

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path

from agreement_pipeline import __version__
from agreement_pipeline.assessment import applicable, assess, survey
from agreement_pipeline.configuration import load_policy
from agreement_pipeline.contract import Contract
from agreement_pipeline.errors import AgreementError
from agreement_pipeline.estimates import CONFIDENCE_LEVEL, N_RESAMPLES, Estimate, registered
from agreement_pipeline.interval_methods import DEFAULT_METHOD, METHODS
from agreement_pipeline.measures import MEASURES
from agreement_pipeline.ratings import Ratings
from agreement_pipeline.readers.table import Columns, read_ratings
from agreement_pipeline.report.tables import difference_rows, estimate_rows, text_table
from agreement_pipeline.scale import LEVELS, Scale

ADMITTED, HELD, UNJUDGED = 0, 1, 2


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; its exit status is 0 when all is well, 1 when a round is held or a release refused, 2 when nothing could be judged."""
    options = _parser().parse_args(arguments)
    try:
        return int(options.run(options))
    except AgreementError as error:
        print(f"error: {error}", file=sys.stderr)  # noqa: T201 - the command line's own voice
        return UNJUDGED


def demo(options: argparse.Namespace) -> int:
    """Run the bundled projects through Dagster and print what became of their rounds."""
    from agreement_pipeline.orchestration.demo import run_demo

    _say(run_demo(options.root))
    return ADMITTED


def measure(options: argparse.Namespace) -> int:
    """Print the estimates of a table."""
    ratings = _ratings(options)
    names = options.measure or applicable(ratings)
    level = f"{ratings.scale.level}{' without categories' if ratings.scale.continuous else ''}"
    for name in names:
        if not registered(name).defined_on(ratings.scale):
            raise AgreementError(
                f"--measure {name}: level {level} found; one of {', '.join(sorted(registered(name).levels))} is required. Choose another --level."
            )
    found = list(survey(ratings, names, confidence_level=options.confidence_level, n_resamples=options.n_resamples, method=options.interval_method))
    _say(_as_json(found) if options.format == "json" else text_table(estimate_rows(found)))
    return ADMITTED


def compare(options: argparse.Namespace) -> int:
    """Print how far two tables differ, measure by measure."""
    from agreement_pipeline.comparison import between_rounds

    one, other = _ratings(options), _ratings(argparse.Namespace(**vars(options) | {"file": options.other}))
    level = {"confidence_level": options.confidence_level, "n_resamples": options.n_resamples}
    found = [between_rounds(one, other, name, **level) for name in options.measure or ["krippendorff_alpha"]]
    rows = [each.to_mapping() for each in found]
    _say(json.dumps(rows, indent=2, ensure_ascii=False) if options.format == "json" else text_table(difference_rows(found)))
    return ADMITTED


def judge(options: argparse.Namespace) -> int:
    """Print the decision on a table under a policy."""
    decision = assess(_ratings(options), load_policy(options.policy), Contract.default()).decision
    if options.format == "json":
        _say(json.dumps(decision.to_mapping(), indent=2, ensure_ascii=False))
    else:
        _say(
            "\n".join(
                [
                    f"{'admitted' if decision.admitted else 'held'}{' (tentative)' if decision.tentative else ''}",
                    *(f"  {reason}" for reason in decision.reasons),
                ]
            )
        )
    return ADMITTED if decision.admitted else HELD


def verify(options: argparse.Namespace) -> int:
    """Say whether a release proves, from its own bytes, that it deserves to exist."""
    from agreement_pipeline.errors import ReleaseInvalidError
    from agreement_pipeline.release import verify_release

    try:
        release = verify_release(options.release)
    except ReleaseInvalidError as error:
        _say(f"refused: {error}")
        return HELD
    _say(f"verified: rounds {', '.join(release.rounds)}; {len(release.train)} training rows{'; admitted as tentative' if release.tentative else ''}")
    return ADMITTED


def _ratings(options: argparse.Namespace) -> Ratings:
    columns = Columns(item=options.item, rater=options.rater, label=options.label, occurrence=options.occurrence, raters=tuple(options.raters))
    scale = Scale(tuple(options.categories.split(",")), options.level) if options.categories else None
    return read_ratings(options.file, columns, layout=options.layout, scale=scale, level=options.level, classifiers=tuple(options.classifier))


def _as_json(found: Sequence[Estimate]) -> str:
    return json.dumps([each.to_mapping() for each in found], indent=2, ensure_ascii=False)


def _say(text: str) -> None:
    print(text)  # noqa: T201 - the command line's own voice


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="agreement-pipeline", description="May this version of this dataset be trained on?")
    parser.add_argument("--version", action="version", version=f"agreement-pipeline {__version__}")
    commands = parser.add_subparsers(required=True, metavar="command")
    _demo_options(commands.add_parser("demo", help="run the bundled projects and print what became of their rounds"))
    _measure_options(commands.add_parser("measure", help="print the agreement in a table, with intervals"))
    _compare_options(commands.add_parser("compare", help="print how far the agreement in two tables differs, with intervals; paired by the items they share"))
    _judge_options(commands.add_parser("judge", help="print the decision on a table: exit status 0 admitted, 1 held, 2 could not judge"))
    _verify_options(commands.add_parser("verify", help="check a release from its own bytes: exit status 0 verified, 1 refused"))
    return parser


def _demo_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--root", type=Path, default=Path(), help="the folder that holds configs/ (default: this one)")
    parser.set_defaults(run=demo)


def _measure_options(parser: argparse.ArgumentParser) -> None:
    _table_options(parser)
    _measure_names(parser, "all that the level allows")
    parser.add_argument("--interval-method", choices=sorted(METHODS), metavar="NAME", default=DEFAULT_METHOD, help="see docs/intervals.md")
    parser.set_defaults(run=measure)


def _compare_options(parser: argparse.ArgumentParser) -> None:
    _table_options(parser)
    parser.add_argument("other", type=Path, help="the table to compare with, with the same columns")
    _measure_names(parser, "krippendorff_alpha")
    parser.set_defaults(run=compare)


def _judge_options(parser: argparse.ArgumentParser) -> None:
    _table_options(parser)
    parser.add_argument("--policy", type=Path, required=True, help="a policy's YAML file")
    parser.set_defaults(run=judge)


def _measure_names(parser: argparse.ArgumentParser, usual: str) -> None:
    parser.add_argument("--measure", action="append", choices=sorted(MEASURES), metavar="NAME", help=f"a measure; repeat for more (default: {usual})")
    parser.add_argument("--confidence-level", type=float, default=CONFIDENCE_LEVEL)
    parser.add_argument("--n-resamples", type=int, default=N_RESAMPLES)


def _verify_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("release", type=Path, help="the folder of a release")
    parser.set_defaults(run=verify)


def _table_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", type=Path, help="a CSV, TSV, JSON Lines or Parquet table")
    parser.add_argument("--layout", choices=("long", "wide"), default="long", help="a row a rating, or a column a rater")
    parser.add_argument("--item", default="item", help="the column of items")
    parser.add_argument("--rater", default="rater", help="the column of raters (long)")
    parser.add_argument("--label", default="label", help="the column of labels (long)")
    parser.add_argument("--occurrence", help="the column that numbers a rater's meetings with an item")
    parser.add_argument("--raters", action="append", default=[], help="a column that is a rater; repeat for more (wide; default: every other column)")
    parser.add_argument("--classifier", action="append", default=[], metavar="RATER", help="a rater that is a model; repeat for more")
    parser.add_argument("--level", choices=LEVELS, default="nominal", help="level of measurement")
    parser.add_argument("--categories", help="the categories in order, separated by commas (default: those that occur)")
    parser.add_argument("--format", choices=("table", "json"), default="table")


if __name__ == "__main__":
    sys.exit(main())
