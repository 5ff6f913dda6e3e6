"""The assets of a project, in the order of the data's way.

Ratings that this process kept or read before are not made again, and `acceptability` takes over
what the contract found in them. The lock does neither, and no asset trusts the event log.
"""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from inspect import getdoc
from typing import Any

import dagster as dg
import pandas as pd

from agreement_pipeline.classifiers import Draw
from agreement_pipeline.errors import EXPECTED, ProjectError, RatingsError, in_a_sentence
from agreement_pipeline.estimates import SCOPE_KINDS, Shown, applicable, survey
from agreement_pipeline.evidence import (
    Before,
    Content,
    charted,
    delivery,
    details,
    disputed,
    history,
    patterns,
    since,
    summarize_anyway,
    table_of_rows,
)
from agreement_pipeline.measures import Question
from agreement_pipeline.orchestration import checks
from agreement_pipeline.orchestration.compat import DATA_VERSION, partitions_of_input
from agreement_pipeline.orchestration.host import ASSETS, Host
from agreement_pipeline.orchestration.metadata import (
    NOT_KNOWN,
    decision_metadata,
    first_rows,
    keep_page,
    link,
    metered,
    refused,
    release_metadata,
    rendered,
    table,
)
from agreement_pipeline.orchestration.runs import (
    ADMITTED,
    DECISION,
    HELD,
    NOT_AGAIN,
    NOT_RELEASED,
    Result,
    decide_as,
    failure,
    or_fail,
    progress,
    tag,
    unreleased_tag,
)
from agreement_pipeline.orchestration.sensors import shown_state
from agreement_pipeline.policy import Decision, judged_part
from agreement_pipeline.projects import (
    INDEX,
    Project,
    joint_release,
    overdue,
    page_of,
    project_page,
    round_before,
)
from agreement_pipeline.projects import round_page as page_of_one
from agreement_pipeline.release import (
    Checked,
    Judged,
    Reassessed,
    Release,
    check_kept_delivery,
    check_table,
    judge_round,
    reassess,
)
from agreement_pipeline.report import printable
from agreement_pipeline.text import called, chained

DRAW_COLUMNS = {
    "file": "The file of the population.",
    "draw": "Which items were drawn, and of how many.",
    "seed": "The first characters of the seed.",
}
CHANGED_COLUMNS = {
    "round": "The round.",
    "before": "The decision until now.",
    "now": "The new decision.",
    "why": "The reason, in words.",
    "release": "What became of the training data of the round.",
}


def build_assets(host: Host) -> list[dg.AssetsDefinition]:
    steps = (
        annotations,
        rating_patterns,
        inter_rater_agreement,
        intra_rater_agreement,
        classifier_agreement,
        disputed_items,
        acceptability,
        training_data,
        agreement_history,
        release,
        reassessment,
        round_page,
        drawn_items,
        delivered_table,
    )
    return [_asset(host, step) for step in steps if step.__name__ in host.assets]


def delivered_table(project: Project) -> Result:
    """What the source of the project gave last: one table, whose rows name their rounds."""
    delivered = project.look()
    if delivered.refused:
        raise RatingsError(" ".join(delivered.refused.values()))
    digests = [each.digest for each in delivered.deliveries.values()]
    return dg.MaterializeResult(
        data_version=dg.DataVersion(digests[0]),
        metadata={"rounds": len(digests), "original_digest": digests[0][:12]},
    )


def annotations(project: Project, round_name: str) -> Result:
    """The round's ratings as delivered. They are checked and stored under their digest."""
    delivered, ratings = project.delivered(round_name)
    contract, said = project.contract, project.settings
    found = tuple(contract.check(ratings))
    findings = (*found, *project.left_out(delivered))
    version = project.keep(delivered, ratings)
    del delivered  # its table is kept, and is read from there when the suite is asked
    by_suite = check_kept_delivery(project.store, version, contract, ratings.scale.categories)
    kept = Checked(version, ratings, contract.digest, found, by_suite)
    project.checked_here[round_name] = kept
    return dg.MaterializeResult(
        data_version=dg.DataVersion(version.ratings_digest),
        check_results=[
            *checks.contract_results(findings),
            *checks.suite_results(contract.suite, by_suite),
        ],
        metadata={
            "dagster/row_count": len(ratings),
            **rendered(delivery(ratings, (*said.classifiers, *said.optional_classifiers))),
            "source": version.source,
            "ratings_digest": version.ratings_digest[:12],
            "original_digest": version.original_digest[:12],
            **first_rows(ratings.head(20)),
        },
    )


def rating_patterns(project: Project, round_name: str) -> Result:
    """The distinct rows of ratings, and how many items have each row.

    Agreement between raters depends on nothing else.
    """
    return dg.MaterializeResult(metadata=rendered(patterns(project.store.ratings(round_name))))


def inter_rater_agreement(project: Project, round_name: str) -> Result:
    """Do the raters agree with each other?"""
    store, last = project.store, round_before(round_name, project.store)
    before = None if last is None else Before(*last)
    changed = since(store.ratings(round_name), round_name, before, project.policy)
    return _agreement(project, round_name, "inter-rater", **changed)


def intra_rater_agreement(project: Project, round_name: str) -> Result:
    """Does each rater agree with themselves on items that came back?"""
    return _agreement(project, round_name, "intra-rater")


def classifier_agreement(project: Project, round_name: str) -> Result:
    """Does a model agree with the panel?"""
    return _agreement(project, round_name, "classifier")


def disputed_items(project: Project, round_name: str) -> Result:
    """The items on which the panel agrees least. Adjudicate these first."""
    return dg.MaterializeResult(metadata=rendered(disputed(project.store.ratings(round_name))))


def acceptability(project: Project, round_name: str) -> tuple[Judged, bool]:
    """The decision: does the policy admit this round, and why?

    A release that the decision no longer allows is withdrawn.
    """
    kept = project.checked_here.pop(round_name, None)
    return judge_round(project.store, round_name, **project.terms, kept=kept)


def training_data(project: Project, round_name: str) -> Result:
    """The round's training data, which exist only while the policy admits the round.

    If there are none, `acceptability` says why.
    """
    return _released(project.release(round_name), [checks.released()])


def round_page(project: Project, round_name: str) -> Result:
    """The page of the round, for people without this UI. Its link opens it."""
    today = datetime.now(UTC).date()
    page = page_of_one(project, round_name, on=today, beside=project.store.rounds())
    keep_page(project, page_of(round_name), page)
    return dg.MaterializeResult(metadata=link(project, page_of(round_name)))


def agreement_history(project: Project) -> Result:
    """Which rounds were refused, and why? Open this page first."""
    due = project.due()
    state, standing = shown_state(project, due), project.standings.now()
    rounds = table_of_rows(standing.rows, project.unjudged(due))
    chart = charted(rounds, project.policy, standing.chart)
    late, unused = overdue(project, time.time()), project.unused_waivers()
    why = "; ".join(late.why) if late else ""
    if project.settings.pages:
        of_store = table_of_rows(standing.rows)
        keep_page(project, INDEX, project_page(project, standing.rows, rounds=of_store))
    project.standings.keep(replace(standing, chart=chart))
    return dg.MaterializeResult(
        data_version=dg.DataVersion(state),
        check_results=[
            *checks.history_results(rounds, project.policy, unused, why, chart),
            *checks.certificates(project),
        ],
        metadata={
            **rendered(history(rounds, project.policy, chart, why)),
            **link(project, INDEX),
            **refused("files_refused", project.look().refused, "file"),
            **refused("waivers_unused", unused, "file"),
        },
    )


def drawn_items(project: Project) -> Result:
    """Which items must people label, of those that a classifier labelled? One draw a population."""
    found = [(file.name, each) for file, each in project.draws()]
    drawn = {name: each for name, each in found if isinstance(each, Draw)}
    rows = pd.DataFrame(
        {"file": name, "draw": each.in_words, "seed": each.seed[:12]}
        for name, each in drawn.items()
    )
    why = {name: each for name, each in found if isinstance(each, str)}
    items = {"items": sum(len(each.items) for each in drawn.values())}
    draws, not_drawn = (
        table("draws", rows, DRAW_COLUMNS),
        refused("populations_refused", why, "file"),
    )
    return dg.MaterializeResult(metadata={**items, **draws, **not_drawn})


def release(project: Project) -> Result:
    """The admitted rounds together. Each is judged again from its bytes."""
    return _released(project.release(), [checks.released_together()])


def reassessment(host: Host, context: dg.AssetExecutionContext) -> Iterator[Result]:
    """Every stored round, judged again where something changed since its last decision.

    Ratings, policy, contract, waivers, settings and code are compared by their digests. A release
    that is no longer admitted is withdrawn, and a round that is admitted and has no release is
    released. What fails for one round ends nothing. A run that is ended in the middle, or a release
    that fails, is gone on with by the next run.
    """
    counts = {"rounds": 0, "decided_anew": 0, "withdrawn": 0}
    changed: list[dict[str, str]] = []
    failed: dict[str, str] = {}
    project = host.project
    looked_at = or_fail(context, lambda: reassess(project.store, **project.terms))
    while each := or_fail(context, lambda: next(looked_at, None)):
        counts["rounds"] += 1
        counts["decided_anew"] += each.judged is not None
        counts["withdrawn"] += each.withdrawn
        if each.changed:
            changed.append(each.row)
        if why := each.error or _released_and_shown(host, context, each):
            failed[each.round] = why
        del each  # so the next round is judged without the ratings of this one in memory
    yield dg.MaterializeResult(
        check_results=[checks.reassessed(failed)],
        metadata={
            **counts,
            "changed": len(changed),
            **(
                table("decisions_changed", pd.DataFrame(changed), CHANGED_COLUMNS)
                if changed
                else {}
            ),
            **refused("rounds_failed", failed, "round"),
        },
    )
    if failed:
        said = "; ".join(f"round {name}: {why}" for name, why in failed.items())
        raise failure(f"not judged again, or not released or shown: {said}", "not_judged")


def _agreement(project: Project, round_name: str, question: Question, **more: Content) -> Result:
    ratings, policy = project.store.ratings(round_name), project.policy
    measures, part = applicable(ratings, question), judged_part(ratings, policy)
    judged = {rule.scope for rule in policy.rules}
    scopes = {*SCOPE_KINDS} - {"stratum"}
    shown = Shown.of(ratings)
    every = survey(part, measures, policy.inference, scopes=scopes, judged=judged, shown=shown)
    holding = {rule.measure for rule in policy.rules if rule.effect == "hold"}
    # what decides comes before what only warns, and what nobody asks for comes last
    found = sorted(
        every, key=lambda each: (each.measure not in holding, each.measure not in policy.measures)
    )
    return dg.MaterializeResult(
        data_version=dg.DataVersion(ratings.digest),
        metadata=rendered({**details(question, ratings, policy, found, shown), **more}),
    )


def _released(released: Release, results: Sequence[dg.AssetCheckResult] = ()) -> Result:
    return dg.MaterializeResult(
        data_version=dg.DataVersion(released.path.name),
        check_results=list(results),
        metadata=release_metadata(released),
    )


def _shown(project: Project, judged: Judged, withdrawn: bool) -> Result:
    name, decision = judged.version.round, judged.decision
    summary = summarize_anyway(judged.ratings, judged.policy, decision, project.name, name)
    shown = decision_metadata(summary, link(project, page_of(name)))
    return dg.MaterializeResult(
        metadata={**shown, "release_withdrawn": withdrawn, **metered(summary)},
        check_results=list(checks.policy_results(summary, judged.gate.silver[0])),
        data_version=dg.DataVersion(decision.digest),
    )


def _released_and_shown(host: Host, context: dg.AssetExecutionContext, each: Reassessed) -> str:
    """Release an admitted round that has no release, and show what changed as its own run would.

    What failed, in words.
    """
    failed, release = list[str](), None
    if each.unreleased:
        try:
            release = host.project.release(each.round)
        except EXPECTED as error:
            failed.append(in_a_sentence(error))
    if (judged := each.judged) is not None and each.changed:
        shown = _shown(host.project, judged, each.withdrawn)
        _log(context, host.key("acceptability"), each.round, shown)
        if not judged.decision.admitted:
            _show_held(host, context, each.round, judged.decision, each.withdrawn)
        failed += [str(said)] if (said := (shown.metadata or {}).get(NOT_KNOWN)) else []
    if release is not None:
        shown = _released(release, [checks.released()])
        _log(context, host.key("training_data"), each.round, shown)
    return "; ".join(failed)


def _log(
    context: dg.AssetExecutionContext, asset: dg.AssetKey, round_name: str, shown: Result
) -> None:
    tags = {DATA_VERSION: shown.data_version.value} if shown.data_version else {}
    context.log_event(dg.AssetMaterialization(asset, None, shown.metadata, round_name, tags))
    for result in shown.check_results:
        _answered(context, asset, round_name, result)


def _asset(host: Host, step: Callable[..., Any]) -> dg.AssetsDefinition:
    """A step as an asset. Its name is the function's, and its description the docstring."""
    name, days = step.__name__, timedelta(days=host.project.settings.overdue_after_days)
    spec, asset, asked = host.spec(name, getdoc(step)), ASSETS[name], checks.specs(host, name)
    overdue_after = (
        None
        if asset.after or not asset.by_round
        else dg.FreshnessPolicy.time_window(fail_window=days, warn_window=days * 7 / 8)
    )

    @dg.asset(
        key=spec.key,
        description=spec.description,
        deps=host.parents(name),
        ins=host.inputs(name),
        check_specs=asked,
        group_name=spec.group_name,
        owners=spec.owners,
        tags=spec.tags,
        metadata=spec.metadata,
        code_version=spec.code_version,
        # An instance may limit how many steps of a pool run at a time.
        pool=str(host.partitions.name),
        partitions_def=host.partitions if asset.by_round else None,
        op_tags={"dagster/priority": "1"} if asset.first else None,
        freshness_policy=overdue_after,
    )
    def compute(context: dg.AssetExecutionContext, **inputs: Any) -> Iterator[dg.MaterializeResult]:  # type: ignore[type-arg]  # Dagster reads the bare class
        of_round = [context.partition_key] if asset.by_round else []
        to_decision = host.to_decision(context.partition_key if asset.by_round else None)
        or_fail(context, lambda: decide_as(context, host.project.store), to_decision)
        with progress(context.log.info, " of ".join([name, *of_round])):
            if step is reassessment:
                yield from reassessment(host, context)
                return
            if name == host.taking_upstream:
                or_fail(context, lambda: take_delivery(host, context, inputs, *of_round))
            try:
                found = or_fail(context, lambda: step(host.project, *of_round), to_decision)
            except dg.Failure as error:
                if step in (training_data, release):
                    result = _show_unreleased(host, context, name, error, *of_round)
                    yield result  # type: ignore[misc]  # Dagster reads the annotation
                if step is annotations:
                    of_suite = _suite_results_of_refused(host.project, *of_round)
                    loaded = [each for each in asked if each.name in of_suite]
                    for each in checks.of_loaded(of_suite.values(), loaded):
                        yield each._replace(asset_key=host.key(name))  # type: ignore[misc]
                raise
            if step is annotations:
                yield found._replace(check_results=checks.of_loaded(found.check_results, asked))
            elif step is acceptability:
                yield from _judged(host, context, found, {each.name for each in asked})
            else:
                yield found

    return compute


def take_delivery(
    host: Host,
    context: dg.AssetExecutionContext,
    inputs: Mapping[str, Any],
    round_name: str | None = None,
) -> None:
    """Write what the source of the project gives into its deliveries. An inbox has its files."""
    if host.project.source is not None:
        host.project.pull_round(round_name)
    if host.upstream is None:
        return
    if round_name is not None:
        _require_partition_of_round(host, context, round_name)
    host.project.deliver_table(inputs["table"], round_name)


def _require_partition_of_round(
    host: Host, context: dg.AssetExecutionContext, round_name: str
) -> None:
    """Else a table without partitions would be every round."""
    partitions = partitions_of_input(context, "table")
    if list(partitions) != [round_name]:
        raise ProjectError(
            f"{host.project.settings.rounds_from}: found "
            f"{called('partition', partitions) if partitions else 'no partitions'}; expected the "
            f"partition {round_name!r}, since the partitions are the rounds. If one table has "
            "all rounds, say which column names them, as rounds: {column: week}."
        )


def _suite_results_of_refused(project: Project, round_name: str) -> dict[str, dg.AssetCheckResult]:
    """What the suite finds in a delivery that is no round. Nothing, if it cannot be read at all."""
    try:
        contract, table = project.contract, project.delivered_table(round_name)
        if contract.suite is None or table is None:
            return {}
        check = check_table(contract.suite, table, project.settings.scale.categories)
    except EXPECTED:  # the run fails with what the reading of the round says
        return {}
    return {str(each.check_name): each for each in checks.suite_results(contract.suite, check)}


def _judged(
    host: Host, context: dg.AssetExecutionContext, found: tuple[Judged, bool], asked: set[str]
) -> Iterator[Result]:
    """If the round is held, the run ends, and its first line says why.

    Each check that was loaded is answered, and no other: the policy may have other rules by now.
    """
    judged, withdrawn = found
    decision, shown = judged.decision, _shown(host.project, judged, withdrawn)
    answered = [each for each in shown.check_results if each.check_name in asked]
    gone = sorted(asked - {each.check_name for each in answered})
    yield dg.MaterializeResult(
        metadata=shown.metadata,
        check_results=[*answered, *map(checks.without_rule, gone)],
        data_version=shown.data_version,
    )
    if decision.admitted:
        tag(context, ADMITTED)
        return
    _show_held(host, context, context.partition_key, decision, withdrawn)
    why = chained(decision.reasons)
    tag(context, HELD, why, **NOT_AGAIN)
    to_decision = host.to_decision(context.partition_key)
    raise failure(f"held: round {context.partition_key}: {why}", "held", to_decision)


def _show_held(
    host: Host,
    context: dg.AssetExecutionContext,
    round_name: str,
    decision: Decision,
    withdrawn: bool,
) -> None:
    asset, why = host.key("training_data"), printable(chained(decision.reasons))
    said = f"{'withdrawn' if withdrawn else 'held'}: {why}"
    if withdrawn:
        _answered(context, asset, round_name, checks.not_released("training_data", said))
        if not joint_release(host.project).is_made:
            because = f"round {round_name} is {said}"
            result = checks.not_released("release", because)
            _answered(context, host.key("release"), None, result)
    shown = {"release": said, **host.to_decision(round_name)}
    context.log_event(dg.AssetObservation(asset, partition=round_name, metadata=shown))


def _show_unreleased(
    host: Host,
    context: dg.AssetExecutionContext,
    asset: str,
    error: dg.Failure,
    round_name: str | None = None,
) -> dg.AssetCheckResult:
    """The page of the asset says why there is no release, and so does the check that comes back.

    What is logged before a step fails is lost, unless the step yields something after it. A run
    that only looks for the training data of a round that is held stays tagged as held.
    """
    why, key = str(error.description), host.key(asset)
    mark = unreleased_tag(host.project.name, round_name)
    run = context.instance.get_run_by_id(context.run.run_id)
    if round_name and run and run.tags.get(DECISION) == HELD:
        context.instance.add_run_tags(context.run.run_id, mark)
    else:
        tag(context, NOT_RELEASED, why, **mark)
    said = f"not released: {why}"
    shown = {"release": said, **host.to_decision(round_name)}
    context.log_event(dg.AssetObservation(key, partition=round_name, metadata=shown))
    return checks.not_released(asset, said)


def _answered(
    context: dg.AssetExecutionContext,
    asset: dg.AssetKey,
    round_name: str | None,
    result: dg.AssetCheckResult,
) -> None:
    context.log_event(
        dg.AssetCheckEvaluation(
            asset_key=asset,
            check_name=str(result.check_name),
            passed=result.passed,
            metadata=result.metadata,
            severity=result.severity,
            description=result.description,
            partition=round_name,
        )
    )
