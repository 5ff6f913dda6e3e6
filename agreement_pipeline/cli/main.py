"""The command line: demo · measure · compare · judge · plan · verify · history."""

import argparse
import json
import os
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from agreement_pipeline.cli.options import OF_NAMES, OF_ROUNDS, OF_TABLES, STORES, full_name, parser
from agreement_pipeline.contract import Contract
from agreement_pipeline.errors import (
    AgreementError,
    PolicyError,
    ReleaseHeldError,
    ReleaseInvalidError,
    StoreError,
)
from agreement_pipeline.estimates import (
    SCOPE_KINDS,
    Difference,
    applicable,
    registered,
    survey,
)
from agreement_pipeline.intervals import Inference, interval_method
from agreement_pipeline.policy import (
    TENTATIVE,
    Decision,
    Plan,
    Policy,
    Rule,
    Waivers,
    assess,
    assumed,
    load_policy,
    load_waiver,
    plans_for,
    population_of,
)
from agreement_pipeline.ratings import Ratings, Scale, described, lookalikes
from agreement_pipeline.readers import Columns, Limits, read_ratings
from agreement_pipeline.report import (
    difference_rows,
    estimate_rows,
    plan_figure,
    plan_rows,
    printable,
    text_table,
)
from agreement_pipeline.statistics import Statistic
from agreement_pipeline.text import listed

ADMITTED, HELD, UNJUDGED = 0, 1, 2
EXPECTED, PREVALENCE = 0.85, (0.5, 0.5)
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
    options = parser().parse_args(arguments)
    try:
        return COMMANDS[options.command](options)
    except AgreementError as error:
        return _refused(str(error))
    except BrokenPipeError:
        os.dup2(
            os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno()
        )  # who read it has gone: nothing is left to be said, at the end either
        return UNJUDGED
    except OSError as error:
        return _refused(
            f"{error}; files that can be read and written are required. Check the path, its permissions and the disk."
        )


def demo(options: argparse.Namespace) -> int:
    """Run the projects through Dagster and print what became of their rounds."""
    from agreement_pipeline.demo import run_demo

    _say(run_demo(options.root))
    return ADMITTED


def measure(options: argparse.Namespace) -> int:
    """Print the estimates of a table."""
    if interval_method(options.interval_method).scheme is not None:
        _refuse_too_few_draws(options)
    ratings = _ratings(options)
    names = options.measure or applicable(ratings)
    level = f"{ratings.scale.level}{' without categories' if ratings.scale.continuous else ''}"
    for name in names:
        if not registered(name).defined_on(ratings.scale):
            raise AgreementError(
                f"--measure {name}: level {level} found; one of {', '.join(sorted(registered(name).levels))} is required. Choose another --level."
            )
    inference = replace(_inference(options), method=options.interval_method)
    found = list(survey(ratings, names, inference, scopes=options.scope or SCOPE_KINDS))
    _say(
        _as_json([each.to_mapping() for each in found])
        if options.format == "json"
        else text_table(estimate_rows(found))
    )
    return ADMITTED


def compare(options: argparse.Namespace) -> int:
    """Print how far two tables differ, or two classifiers or raters of one, measure by measure."""
    _refuse_too_few_draws(options)
    found = list(_differences(options, _inference(options)))
    _say(
        _as_json([each.to_mapping() for each in found])
        if options.format == "json"
        else text_table(difference_rows(found))
    )
    return ADMITTED


def _inference(options: argparse.Namespace) -> Inference:
    return Inference(options.confidence_level, options.n_resamples)


def _refuse_too_few_draws(options: argparse.Namespace) -> None:
    needed = _inference(options).needed_resamples()
    if options.n_resamples < needed:
        found = f"--n-resamples {options.n_resamples} with --confidence-level {options.confidence_level:g} found"
        raise AgreementError(
            f"{found}; {needed} or more is required, so that ten draws lie beyond each limit. Raise --n-resamples, or lower --confidence-level."
        )


def _differences(options: argparse.Namespace, inference: Inference) -> Iterator[Difference]:
    from agreement_pipeline.estimates import between_classifiers, between_raters, between_rounds

    ratings = _ratings(options)
    if (options.other is None) == (options.between is None):
        found = (
            "neither a second table nor --between"
            if options.other is None
            else "a second table and --between"
        )
        raise AgreementError(
            f"compare: {found} found; one of them is required. Give another table, or two names in this one."
        )
    if options.other is not None:
        other, names = (
            _ratings(argparse.Namespace(**vars(options) | {"file": options.other})),
            (str(options.file), str(options.other)),
        )
        yield from (
            between_rounds(ratings, other, name, inference, category=options.category, names=names)
            for name in options.measure or [OF_ROUNDS]
        )
    elif (
        len(models := set(options.between) & set(ratings.classifiers))
        == 1
        < len(set(options.between))
    ):
        found = f"--between: classifier {listed(models)} beside {listed(set(options.between) - models)}, which is none, found"
        raise AgreementError(
            f"{found}; two classifiers, or two raters of the panel, are required. Name every model with --classifier."
        )
    elif not models:
        one, another = options.between
        yield from (
            between_raters(ratings, name, one, another, inference, category=options.category)
            for name in options.measure or [OF_NAMES]
        )
    elif options.category is None:
        one, another = options.between
        yield from (
            between_classifiers(ratings, name, one, another, inference)
            for name in options.measure or [OF_NAMES]
        )
    else:
        raise AgreementError(
            "--category: two classifiers found; two tables or raters are required to compare a category. Leave it out."
        )


def judge(options: argparse.Namespace) -> int:
    """Print the decision on a table under a policy."""
    waivers = Waivers(tuple(load_waiver(path) for path in options.waiver), datetime.now(UTC).date())
    ratings = _ratings(options)
    decision = assess(ratings, load_policy(options.policy), Contract.default(), waivers).decision
    if options.format == "json":
        _say(_as_json(decision.to_mapping()))
    else:
        warnings = (f"warning: {what}" for what in _warnings(decision, ratings))
        said = "".join(
            f"\n  {printable(line)}" for line in (*decision.reasons, decision.manner, *warnings)
        )
        _say(
            f"{'admitted' if decision.admitted else 'held'}{' (tentative)' if decision.tentative else ''}{said}"
        )
    return ADMITTED if decision.admitted else HELD


def _warnings(decision: Decision, ratings: Ratings) -> Iterator[str]:
    """What holds nothing, and its reader must know: failed warnings of the contract, and raters or labels that may be one under two names."""
    yield from (
        finding.description
        for finding in decision.findings
        if not finding.passed and not finding.holds
    )
    yield from (
        f"raters_that_look_alike: {described(group)}"
        for group in lookalikes(ratings.table["rater"].unique())
    )
    yield from (
        f"labels_that_look_alike: {described(group)}"
        for group in lookalikes(map(str, ratings.scale.categories or ()))
    )


def plan(options: argparse.Namespace) -> int:
    """Print how many items a policy's rules need before they decide."""
    policy = load_policy(options.policy)
    found = plans_for(
        policy,
        lambda rule: _populations(options, rule),
        probability=options.probability,
        n_rounds=options.rounds,
    )
    _say(
        _as_json([each.to_mapping() for each in found])
        if options.format == "json"
        else text_table(plan_rows(found))
    )
    if options.plot:
        _draw(options.plot, found)
    return ADMITTED


def _draw(path: Path, plans: Sequence[Plan]) -> None:
    figure = plan_figure(plans)
    if figure is None:
        print(f"{path}: not written, since no rounds were simulated", file=sys.stderr)  # noqa: T201 - the command line's own voice
    else:
        path.write_bytes(figure)


def _populations(options: argparse.Namespace, rule: Rule) -> Iterator[Statistic]:
    """What rounds will be like: as an earlier one was, or as is expected of so many raters."""
    assumptions = {
        "--expected": options.expected,
        "--prevalence": options.prevalence,
        "--labels-an-item": options.labels_an_item or None,
    }
    given = [name for name, value in assumptions.items() if value is not None]
    if options.file is None:
        _refuse_options_of_tables(options)
        expected, prevalence = (
            (EXPECTED if options.expected is None else options.expected),
            options.prevalence or PREVALENCE,
        )
        yield from (
            assumed(rule.measure, expected, prevalence, raters)
            for raters in options.labels_an_item or (3,)
        )
        return
    if given:
        raise PolicyError(
            f"{options.file} with {listed(given)} found; a table, or what to expect without one, is required. Leave one of them out."
        )
    yield population_of(_ratings(options), rule, where=str(options.file))


def _refuse_options_of_tables(options: argparse.Namespace) -> None:
    """Refuse what says how to read a table where there is none: a plan that left out the level, say, would be another one."""
    usual = parser().parse_args(["plan", "--policy", str(options.policy)])
    given = [
        f"--{name.replace('_', '-')}"
        for name in OF_TABLES
        if getattr(options, name) != getattr(usual, name)
    ]
    if given:
        need = "a table to read with it is required, since a plan without one takes categories without order, as many as --prevalence has shares"
        raise PolicyError(
            f"plan without a table: {listed(given)} found; {need}. Name an earlier round's file, or leave it out."
        )


def verify(options: argparse.Namespace) -> int:
    """Say whether a release proves, from its own bytes, that it deserves to exist."""
    from agreement_pipeline.release import open_release
    from agreement_pipeline.store import Store

    try:
        release = open_release(
            options.release,
            require=_required(options.require),
            store=Store(options.store) if options.store else None,
        )
    except (ReleaseInvalidError, ReleaseHeldError) as error:
        _say(printable(f"refused ({error.code}): {error}"))
        return REFUSED[error.code]
    tentative = "; admitted as tentative" if release.tentative else ""
    _say(
        printable(
            f"verified: rounds {', '.join(release.rounds)}; {len(release.train)} training rows{tentative}"
        )
    )
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
        raise PolicyError(
            f"--require {text}: no cut-off found; MEASURE>=NUMBER is required, as alpha>=0.8. Correct it."
        ) from None
    try:
        return Rule(full_name(name.strip()), reliable=reliable, tentative=min(reliable, TENTATIVE))
    except PolicyError as error:
        raise PolicyError(f"--require {text}: {error}") from None


def history(options: argparse.Namespace) -> int:
    """Print what happened in a store, once the chain of its log is seen to be whole."""
    from agreement_pipeline.report import event_table
    from agreement_pipeline.store import Store

    store = Store(options.store or _only_store())
    found = store.history(options.round)
    if not found:
        of_round = f" of round {options.round!r}" if options.round else ""
        raise StoreError(
            f"{store.root}: no entry{of_round} found in the log; a store with one is required. Name its folder or URL with --store."
        )
    _say(
        _as_json(found)
        if options.format == "json"
        else text_table(event_table(found), wrapped="why")
    )
    return ADMITTED


def _only_store() -> Path:
    """The store of the projects here, when there is one only."""
    stores = sorted(str(path) for path in STORES.glob("*") if path.is_dir())
    if len(stores) != 1:
        raise StoreError(
            f"{STORES}: stores {listed(stores)} found; one is required. Name a folder or URL with --store."
        )
    return Path(stores[0])


def _ratings(options: argparse.Namespace) -> Ratings:
    named = {
        name: getattr(options, name)
        for name in ("item", "rater", "label", "occurrence", "confidence", "cluster")
    }
    columns = Columns(**named, raters=tuple(options.raters))
    scale = (
        Scale(tuple(options.categories.split(",")), options.level) if options.categories else None
    )
    how = {
        "layout": options.layout,
        "scale": scale,
        "level": options.level,
        "round_name": options.of_round,
        "limits": Limits(**dict(options.limit)),
    }
    return read_ratings(options.file, columns, classifiers=tuple(options.classifier), **how)


def _as_json(data: object) -> str:
    """JSON in which ordinary characters stand as they are, and those that do not print are escaped."""
    written = json.dumps(data, indent=2, ensure_ascii=False)
    return "".join(
        character if character.isprintable() or character == "\n" else json.dumps(character)[1:-1]
        for character in written
    )


def _refused(why: str) -> int:
    print(f"error: {printable(why)}", file=sys.stderr)  # noqa: T201 - the command line's own voice
    return UNJUDGED


def _say(text: str) -> None:
    print(text, flush=True)  # noqa: T201 - the command line's own voice


COMMANDS = {each.__name__: each for each in (demo, measure, compare, judge, plan, history, verify)}
