"""The command line: demo · measure · compare · judge · plan · verify · history."""

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from agreement_pipeline import __version__
from agreement_pipeline.assessment import applicable, assess, basis_of, survey
from agreement_pipeline.configuration import load_policy, load_waiver
from agreement_pipeline.contract import Contract
from agreement_pipeline.differences import Difference
from agreement_pipeline.errors import AgreementError, PolicyError, ReleaseHeldError, ReleaseInvalidError, StoreError, listed
from agreement_pipeline.estimates import CONFIDENCE_LEVEL, N_RESAMPLES, Estimate, registered
from agreement_pipeline.interval_methods import DEFAULT_METHOD, METHODS
from agreement_pipeline.patterns import Statistic
from agreement_pipeline.planning import N_ROUNDS, assumed
from agreement_pipeline.planning import plan as planned
from agreement_pipeline.policy import TENTATIVE, Policy, Rule
from agreement_pipeline.ratings import Ratings
from agreement_pipeline.readers.table import Columns, read_ratings
from agreement_pipeline.report.figures import plan_figure
from agreement_pipeline.report.tables import difference_rows, estimate_rows, plan_rows, text_table
from agreement_pipeline.scale import LEVELS, Scale
from agreement_pipeline.waivers import Waivers

ADMITTED, HELD, UNJUDGED = 0, 1, 2
FEWEST_DRAWS, MOST_DRAWS = 100, 1_000_000
STORES = Path(".agreement/store")
OF_ROUNDS, OF_NAMES = "krippendorff_alpha", "schouten_kappa"
SHORT = {"alpha": "krippendorff_alpha"}
REFUSED = {
    "release_invalid": 1,
    "release_unfinished": 10,
    "release_withdrawn": 11,
    "release_file_missing": 12,
    "release_file_extra": 13,
    "release_file_changed": 14,
    "release_not_derived": 15,
    "release_not_admitted": 16,
    "release_waiver_ended": 17,
    "release_not_in_log": 18,
    "held": 19,
    "release_reworded": 20,
}


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
    """Print how far two tables differ, or two classifiers or raters of one, measure by measure."""
    found = list(_differences(options, confidence_level=options.confidence_level, n_resamples=options.n_resamples))
    rows = [each.to_mapping() for each in found]
    _say(json.dumps(rows, indent=2, ensure_ascii=False) if options.format == "json" else text_table(difference_rows(found)))
    return ADMITTED


def _differences(options: argparse.Namespace, **settings: Any) -> Iterator[Difference]:
    from agreement_pipeline.comparison import between_classifiers, between_raters, between_rounds

    ratings = _ratings(options)
    if (options.other is None) == (options.between is None):
        found = "neither a second table nor --between" if options.other is None else "a second table and --between"
        raise AgreementError(f"compare: {found} found; one of them is required. Give another table, or two names in this one.")
    if options.other is not None:
        other = _ratings(argparse.Namespace(**vars(options) | {"file": options.other}))
        yield from (between_rounds(ratings, other, name, **settings) for name in options.measure or [OF_ROUNDS])
    else:
        between = between_classifiers if set(options.between) & set(ratings.classifiers) else between_raters
        yield from (between(ratings, name, *options.between, **settings) for name in options.measure or [OF_NAMES])


def judge(options: argparse.Namespace) -> int:
    """Print the decision on a table under a policy."""
    waivers = Waivers(tuple(load_waiver(path) for path in options.waiver), datetime.now(UTC).date())
    decision = assess(_ratings(options), load_policy(options.policy), Contract.default(), waivers).decision
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


def plan(options: argparse.Namespace) -> int:
    """Print how many items a policy's rules need before they decide."""
    rules = [rule for rule in load_policy(options.policy).rules if rule.effect == "hold" and rule.scope == "round"]
    asked = [(rule, population) for rule in rules for population in _populations(options, rule.measure)]
    settings = {"probability": options.probability, "n_rounds": options.rounds, "confidence_level": load_policy(options.policy).confidence_level}
    found = [planned(rule.measure, population, reliable=rule.reliable, min_items=rule.min_items, **settings) for rule, population in asked]
    if not found:
        raise PolicyError(f"{options.policy}: no rule of the round that holds found; one is required for a plan. Plan for another policy.")
    _say(json.dumps([each.to_mapping() for each in found], indent=2) if options.format == "json" else text_table(plan_rows(found)))
    if options.plot:
        options.plot.write_bytes(plan_figure(found) or b"")
    return ADMITTED


def _populations(options: argparse.Namespace, measure: str) -> Iterator[Statistic]:
    """What rounds will be like: as an earlier one was, or as is expected of so many raters."""
    if options.file is None:
        yield from (assumed(measure, options.expected, options.prevalence, raters) for raters in options.labels_an_item or (3,))
        return
    statistic = basis_of(_ratings(options), measure)
    if statistic is None or registered(measure).why_undefined(statistic):
        raise PolicyError(f"{options.file}: {measure} has no value on it; one is required to plan from. Plan from another round, or with --expected.")
    yield statistic


def verify(options: argparse.Namespace) -> int:
    """Say whether a release proves, from its own bytes, that it deserves to exist."""
    from agreement_pipeline.release import open_release
    from agreement_pipeline.store import Store

    try:
        release = open_release(options.release, require=_required(options.require), store=Store(options.store) if options.store else None)
    except (ReleaseInvalidError, ReleaseHeldError) as error:
        _say(f"refused ({error.code}): {error}")
        return REFUSED[error.code]
    _say(f"verified: rounds {', '.join(release.rounds)}; {len(release.train)} training rows{'; admitted as tentative' if release.tentative else ''}")
    return ADMITTED


def _required(demands: Sequence[str]) -> Policy | None:
    """The policy that demands of the form MEASURE>=CUT-OFF spell out."""
    rules = [_demand(text) for text in demands]
    return Policy("required of the trainer", 1, tuple(rules)) if rules else None


def _demand(text: str) -> Rule:
    name, _, cutoff = text.partition(">=")
    try:
        reliable = float(cutoff)
    except ValueError:
        raise PolicyError(f"--require {text}: no cut-off found; MEASURE>=NUMBER is required, as alpha>=0.8. Correct it.") from None
    return Rule(SHORT.get(name.strip(), name.strip()), reliable=reliable, tentative=min(reliable, TENTATIVE))


def history(options: argparse.Namespace) -> int:
    """Print what happened in a store, once the chain of its log is seen to be whole."""
    from agreement_pipeline.report.history import event_table
    from agreement_pipeline.store import Store

    store = Store(options.store or _only_store())
    found = store.history(options.round)
    if not found:
        of_round = f" of round {options.round!r}" if options.round else ""
        raise StoreError(f"{store.root}: no entry{of_round} found in the log; a store with one is required. Name its folder or URL with --store.")
    _say(json.dumps(found, indent=2, ensure_ascii=False) if options.format == "json" else text_table(event_table(found), wrapped="why"))
    return ADMITTED


def _only_store() -> Path:
    """The store of the projects here, when there is one only."""
    stores = sorted(str(path) for path in STORES.glob("*") if path.is_dir())
    if len(stores) != 1:
        raise StoreError(f"{STORES}: stores {listed(stores)} found; one is required. Name a folder or URL with --store.")
    return Path(stores[0])


def _ratings(options: argparse.Namespace) -> Ratings:
    named = {name: getattr(options, name) for name in ("item", "rater", "label", "occurrence", "confidence")}
    columns = Columns(**named, raters=tuple(options.raters))
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
    _compare_options(
        commands.add_parser("compare", help="print how far two tables, classifiers or raters differ, with intervals; paired by the items they share")
    )
    _judge_options(commands.add_parser("judge", help="print the decision on a table: exit status 0 admitted, 1 held, 2 could not judge"))
    _plan_options(commands.add_parser("plan", help="print how many items a policy needs before it decides"))
    _history_options(commands.add_parser("history", help="print what was ingested, decided, released and withdrawn, once the log is seen to be whole"))
    _verify_options(commands.add_parser("verify", help="check a release from its own bytes: 0 verified, else why not (docs/reasons.md)"))
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
    parser.add_argument("other", type=Path, nargs="?", help="the table to compare with, with the same columns")
    parser.add_argument("--between", nargs=2, metavar="NAME", help="two classifiers, or two raters, of the one table")
    _measure_names(parser, f"{OF_ROUNDS} of tables, {OF_NAMES} of names")
    parser.set_defaults(run=compare)


def _judge_options(parser: argparse.ArgumentParser) -> None:
    _table_options(parser)
    parser.add_argument("--policy", type=Path, required=True, help="a policy's YAML file")
    parser.add_argument("--waiver", type=Path, action="append", default=[], help="a waiver's YAML file; repeat for more")
    parser.set_defaults(run=judge)


def _measure_names(parser: argparse.ArgumentParser, usual: str) -> None:
    parser.add_argument("--measure", action="append", metavar="NAME", help=f"a measure; repeat for more (default: {usual})")
    parser.add_argument("--confidence-level", type=_confidence_level, default=CONFIDENCE_LEVEL, metavar="SHARE", help="of the intervals (default: 0.95)")
    parser.add_argument("--n-resamples", type=_draws, default=N_RESAMPLES, metavar="N", help="draws an interval (default: 10000)")


def _confidence_level(text: str) -> float:
    share = float(text)
    if not 0 < share < 1:
        raise argparse.ArgumentTypeError(f"{text} found; a share between 0 and 1 is required. 0.95 is usual.")
    return share


def _draws(text: str) -> int:
    number = int(text)
    if not FEWEST_DRAWS <= number <= MOST_DRAWS:
        raise argparse.ArgumentTypeError(f"{text} found; a whole number from {FEWEST_DRAWS} to {MOST_DRAWS} is required. 10000 is usual.")
    return number


def _verify_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("release", help="the folder or the URL of a release")
    parser.add_argument("--require", action="append", default=[], metavar="DEMAND", help="a demand of your own, as alpha>=0.8; repeat for more")
    parser.add_argument("--store", metavar="URL", help="the store it was released in: its log must say that the release is in force")
    parser.set_defaults(run=verify)


def _plan_options(parser: argparse.ArgumentParser) -> None:
    _table_options(parser, required=False)
    parser.add_argument("--policy", type=Path, required=True, help="a policy's YAML file")
    parser.add_argument("--expected", type=float, default=0.85, help="without a table: the value expected of each measure (default: 0.85)")
    parser.add_argument("--prevalence", type=_shares, default=(0.5, 0.5), help="without a table: the share of each category (default: 0.5,0.5)")
    parser.add_argument(
        "--labels-an-item", type=int, action="append", default=[], metavar="N", help="without a table: raters of an item, or meetings with it; repeat for more"
    )
    parser.add_argument("--probability", type=_confidence_level, default=0.9, metavar="SHARE", help="how often a round is to decide (default: 0.9)")
    parser.add_argument("--rounds", type=_draws, default=N_ROUNDS, metavar="N", help=f"rounds simulated for each number of items (default: {N_ROUNDS})")
    parser.add_argument("--plot", type=Path, metavar="FILE", help="write the curves as a PNG image")
    parser.set_defaults(run=plan)


def _shares(text: str) -> tuple[float, ...]:
    return tuple(float(share) for share in text.split(","))


def _history_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("round", nargs="?", help="a round, or the name of a release of several (default: all)")
    parser.add_argument("--store", metavar="URL", help=f"a folder or a URL (default: the one store in {STORES})")
    parser.add_argument("--format", choices=("table", "json"), default="table")
    parser.set_defaults(run=history)


def _table_options(parser: argparse.ArgumentParser, *, required: bool = True) -> None:
    parser.add_argument("file", type=Path, nargs=None if required else "?", help="a CSV, TSV, JSON Lines or Parquet table")
    parser.add_argument("--layout", choices=("long", "wide"), default="long", help="a row a rating, or a column a rater")
    parser.add_argument("--item", default="item", help="the column of items")
    parser.add_argument("--rater", default="rater", help="the column of raters (long)")
    parser.add_argument("--label", default="label", help="the column of labels (long)")
    parser.add_argument("--occurrence", help="the column that numbers a rater's meetings with an item")
    parser.add_argument("--confidence", help="the column of how sure a rater said she was, from 0 to 1")
    parser.add_argument("--raters", action="append", default=[], help="a column that is a rater; repeat for more (wide; default: every other column)")
    parser.add_argument("--classifier", action="append", default=[], metavar="RATER", help="a rater that is a model; repeat for more")
    parser.add_argument("--level", choices=LEVELS, default="nominal", help="level of measurement")
    parser.add_argument("--categories", help="the categories in order, separated by commas (default: those that occur)")
    parser.add_argument("--format", choices=("table", "json"), default="table")


if __name__ == "__main__":
    sys.exit(main())
