"""The assets of a project, in the order of the data's way.

In a run of several, `acceptability` takes over what `annotations` read and what the contract found
in it. The lock does neither, and no asset trusts the event log.
"""

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cached_property
from inspect import getdoc
from typing import Any, TypeVar

import dagster as dg
import pandas as pd

from agreement_pipeline.errors import EXPECTED, ProjectError, RatingsError, error_in_a_sentence
from agreement_pipeline.estimates import SCOPE_KINDS, ShownRaters, applicable_measures, survey
from agreement_pipeline.evidence import (
    Content,
    RoundBefore,
    charted,
    delivery,
    describe_health,
    details,
    disputed,
    history,
    patterns,
    round_lines,
    since,
    summarize_anyway,
    table_of_rows,
)
from agreement_pipeline.measures import Question
from agreement_pipeline.models import Draw
from agreement_pipeline.orchestration import checks
from agreement_pipeline.orchestration.compat import (
    DATA_VERSION,
    AnyType,
    metadata_of,
    partitions_of,
    resource_config_of,
)
from agreement_pipeline.orchestration.host import ASSETS, PROJECT, Host
from agreement_pipeline.orchestration.metadata import (
    NOT_KNOWN,
    decision_metadata,
    first_rows,
    link,
    refused,
    release_metadata,
    rendered,
    round_lines_metadata,
    row_count,
    table,
    write_page,
)
from agreement_pipeline.orchestration.metrics import record_decision
from agreement_pipeline.orchestration.runs import (
    ADMITTED,
    DECISION,
    HELD,
    NOT_AGAIN,
    NOT_RELEASED,
    Result,
    begin_step,
    build_failure,
    progress,
    run_or_fail,
    tag_run,
    unreleased_tag,
)
from agreement_pipeline.orchestration.sensors import shown_state
from agreement_pipeline.policy import Decision, check_round, select_judged_ratings
from agreement_pipeline.projects import (
    INDEX,
    Project,
    build_overdue_notice,
    joint_release,
    page_of,
    project_page,
    round_before,
)
from agreement_pipeline.projects import round_page as page_of_one
from agreement_pipeline.ratings import Ratings
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
from agreement_pipeline.text import join_sentences

T = TypeVar("T")
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
    "release": "Whether the training data are released or withdrawn.",
}


def build_assets(host: Host) -> list[dg.AssetsDefinition]:
    """The assets of a round are one step, so a round costs one process on any executor."""
    steps_without_rounds = (agreement_history, release, reassessment, drawn_items, delivered_table)
    return [
        _build_round_assets(host),
        *(
            _build_asset(host, step)
            for step in steps_without_rounds
            if step.__name__ in host.assets
        ),
    ]


def delivered_table(host: Host) -> Result:
    """The latest table from the source of the project. Its rows name their rounds."""
    delivered = host.project.look()
    if delivered.refused:
        raise RatingsError(" ".join(delivered.refused.values()))
    digests = [delivery.digest for delivery in delivered.deliveries.values()]
    return dg.MaterializeResult(
        data_version=dg.DataVersion(digests[0]),
        metadata={"rounds": len(digests), "original_digest": digests[0][:12]},
    )


def annotations(project: Project, round_name: str) -> tuple[Result, Checked]:
    """The round's ratings as delivered. They are checked and stored under their digest."""
    delivered, ratings = project.delivered(round_name)
    policy, contract, settings = project.policy, project.contract, project.settings
    check_findings = check_round(ratings, policy, contract)
    findings = (*check_findings, *project.left_out(delivered))
    version = project.keep(delivered, ratings)
    del delivered  # its table is kept, and is read from there when the suite is asked
    by_suite = check_kept_delivery(project.store, version, contract, ratings.scale.categories)
    result: Result = dg.MaterializeResult(
        data_version=dg.DataVersion(version.ratings_digest),
        check_results=[
            *checks.contract_results(findings),
            *checks.suite_results(contract.suite, by_suite),
        ],
        metadata={
            **row_count(len(ratings), by_round=True),
            **rendered(delivery(ratings, (*settings.classifiers, *settings.optional_classifiers))),
            "source": version.source,
            "ratings_digest": version.ratings_digest[:12],
            "original_digest": version.original_digest[:12],
            **first_rows(ratings.head(20)),
        },
    )
    digests = policy.digest, contract.digest
    return result, Checked(version, ratings, digests, check_findings, by_suite)


@dataclass(frozen=True, eq=False)
class StoredRound:
    """What is shown of a round is all made from these ratings, which are read once."""

    project: Project
    name: str
    ratings: Ratings


def rating_patterns(stored: StoredRound) -> Result:
    """The combinations of labels that raters gave, and how many items have each.

    Agreement between raters depends on nothing else.
    """
    return dg.MaterializeResult(metadata=rendered(patterns(stored.ratings)))


def inter_rater_agreement(stored: StoredRound) -> Result:
    """Do the raters agree with each other?"""
    name_and_ratings = round_before(stored.name, stored.project.store)
    earlier_round = None if name_and_ratings is None else RoundBefore(*name_and_ratings)
    changes = since(stored.ratings, stored.name, earlier_round, stored.project.policy)
    return _agreement_result(stored, "inter-rater", **changes)


def intra_rater_agreement(stored: StoredRound) -> Result:
    """Does each rater agree with themselves on repeated items?"""
    return _agreement_result(stored, "intra-rater")


def classifier_agreement(stored: StoredRound) -> Result:
    """Does a model agree with the panel?"""
    return _agreement_result(stored, "classifier")


def disputed_items(stored: StoredRound) -> Result:
    """The items on which the panel agrees least. Adjudicate these first."""
    return dg.MaterializeResult(metadata=rendered(disputed(stored.ratings)))


def acceptability(
    project: Project, round_name: str, checked: Checked | None = None
) -> tuple[Judged, bool]:
    """The decision: does the policy admit this round, and why?

    A release that the decision no longer allows is withdrawn.
    """
    return judge_round(project.store, round_name, **project.terms, checked=checked)


def training_data(project: Project, round_name: str) -> Result:
    """The round's training data, which exist only while the policy admits the round.

    If there are none, `acceptability` says why.
    """
    return _release_result(project.release(round_name), [checks.released_result()])


def round_page(stored: StoredRound) -> Result:
    """The page of the round as HTML, for people without this UI."""
    project, round_name = stored.project, stored.name
    today = datetime.now(UTC).date()
    page = page_of_one(project, round_name, on=today, other_rounds=project.store.rounds())
    write_page(project, page_of(round_name), page)
    return dg.MaterializeResult(metadata=link(project, page_of(round_name)))


def agreement_history(host: Host) -> Result:
    """Which rounds may be trained on, and what do the others need?

    A line for each of the latest rounds, the last one first. The bar is the interval; the round
    passes if all of it lies to the right of the longer dashes.
    """
    project = host.project
    due = project.due()
    state, standing = shown_state(project, due), project.statuses.refresh()
    rounds = table_of_rows(standing.rows, project.unjudged(due))
    chart = charted(rounds, project.policy, standing.chart)
    late, unused = build_overdue_notice(project, time.time()), project.unused_waivers()
    late_reasons = "; ".join(late.why) if late else ""
    if project.settings.pages:
        of_store = table_of_rows(standing.rows)
        write_page(project, INDEX, project_page(project, standing.rows, rounds=of_store))
    project.statuses.save(replace(standing, chart=chart))
    return dg.MaterializeResult(
        data_version=dg.DataVersion(state),
        check_results=[
            *checks.history_results(rounds, project.policy, unused, late_reasons, chart),
            *checks.certificates(project),
        ],
        metadata={
            "health": describe_health(rounds, late_reasons),
            **round_lines_metadata(round_lines(rounds), host.key("acceptability")),
            **link(project, INDEX),
            **rendered(history(rounds, project.policy, chart), in_place=False),
            **refused("files_refused", project.look().refused, "file"),
            **refused("waivers_unused", unused, "file"),
        },
    )


def drawn_items(host: Host) -> Result:
    """The items that people must label, among those that a classifier labelled.

    Each population is drawn from once.
    """
    outcomes = [(file.name, draw_or_reason) for file, draw_or_reason in host.project.draws()]
    draw_by_file = {
        name: draw_or_reason
        for name, draw_or_reason in outcomes
        if isinstance(draw_or_reason, Draw)
    }
    rows = pd.DataFrame(
        {"file": name, "draw": draw.in_words, "seed": draw.seed[:12]}
        for name, draw in draw_by_file.items()
    )
    reason_by_file = {
        name: draw_or_reason for name, draw_or_reason in outcomes if isinstance(draw_or_reason, str)
    }
    items = {"items": sum(len(draw.items) for draw in draw_by_file.values())}
    draws, not_drawn = (
        table("draws", rows, DRAW_COLUMNS),
        refused("populations_refused", reason_by_file, "file"),
    )
    return dg.MaterializeResult(metadata={**items, **draws, **not_drawn})


def release(host: Host) -> Result:
    """All admitted rounds together. Each is judged again from its bytes."""
    return _release_result(
        host.project.release(), [checks.released_together_result()], by_round=False
    )


def reassessment(host: Host, context: dg.AssetExecutionContext) -> Iterator[Result]:
    """Every stored round, judged again if something changed since its last decision.

    Ratings, policy, contract, waivers, settings and code are compared by their digests. A release
    that is no longer admitted is withdrawn, and a round that is admitted and has no release is
    released. A round that fails does not stop the others. If a run is interrupted, or a release
    fails, the next run continues.
    """
    # Thousands of rounds would be thousands of runs. So this one shows what changed on the pages
    # of `acceptability` and `training_data` itself, though it does not own them.
    counts = {"rounds": 0, "decided_anew": 0, "withdrawn": 0}
    changed_rows: list[dict[str, str]] = []
    failed: dict[str, str] = {}
    project = host.project
    looked_at = run_or_fail(context, lambda: reassess(project.store, **project.terms))
    while outcome := run_or_fail(context, lambda: next(looked_at, None)):
        counts["rounds"] += 1
        counts["decided_anew"] += outcome.judged is not None
        counts["withdrawn"] += outcome.withdrawn
        if outcome.changed:
            changed_rows.append(outcome.row)
        if reason := outcome.error or _release_and_show(host, context, outcome):
            failed[outcome.round] = reason
        del outcome  # so the next round is judged without the ratings of this one in memory
    failed |= _release_without_gold(host, context)
    yield dg.MaterializeResult(
        check_results=[checks.reassessed_result(failed)],
        metadata={
            **counts,
            "changed": len(changed_rows),
            **(
                table("decisions_changed", pd.DataFrame(changed_rows), CHANGED_COLUMNS)
                if changed_rows
                else {}
            ),
            **refused("rounds_failed", failed, "round"),
        },
    )
    if failed:
        failures = "; ".join(f"round {name}: {reason}" for name, reason in failed.items())
        raise build_failure(f"not judged again, or not released or shown: {failures}", "not_judged")


def _agreement_result(stored: StoredRound, question: Question, **extra_sections: Content) -> Result:
    ratings, policy = stored.ratings, stored.project.policy
    measures, part = applicable_measures(ratings, question), select_judged_ratings(ratings, policy)
    judged_scopes = {rule.scope for rule in policy.rules}
    scopes = {*SCOPE_KINDS} - {"stratum"}
    shown_raters = ShownRaters.choose(ratings)
    estimates = survey(
        part,
        measures,
        policy.inference,
        scopes=scopes,
        judged=judged_scopes,
        shown=shown_raters,
        trains=stored.project.settings.trains,
    )
    holding = {rule.measure for rule in policy.rules if rule.effect == "hold"}
    # what decides comes before what only warns, and what nobody asks for comes last
    ordered = sorted(
        estimates,
        key=lambda estimate: (
            estimate.measure not in holding,
            estimate.measure not in policy.measures,
        ),
    )
    return dg.MaterializeResult(
        data_version=dg.DataVersion(ratings.digest),
        metadata=rendered(
            {**details(question, ratings, policy, ordered, shown_raters), **extra_sections}
        ),
    )


def _release_result(
    released: Release, results: Sequence[dg.AssetCheckResult] = (), *, by_round: bool = True
) -> Result:
    return dg.MaterializeResult(
        data_version=dg.DataVersion(released.path.name),
        check_results=list(results),
        metadata=release_metadata(released, by_round=by_round),
    )


def _decision_result(project: Project, judged_round: Judged, withdrawn: bool) -> Result:
    name, decision = judged_round.version.round, judged_round.decision
    summary = summarize_anyway(
        judged_round.ratings, judged_round.policy, decision, project.name, name
    )
    metadata = decision_metadata(summary, link(project, page_of(name)))
    fault = record_decision(summary)
    return dg.MaterializeResult(
        metadata={
            **metadata,
            "release_withdrawn": withdrawn,
            **({"metrics": fault} if fault else {}),
        },
        check_results=list(checks.policy_results(summary, judged_round.gate.audit.of_labels)),
        data_version=dg.DataVersion(decision.digest),
    )


def _release_and_show(host: Host, context: dg.AssetExecutionContext, outcome: Reassessed) -> str:
    """Release an admitted round that has no release, and show what changed as its own run would.

    What failed, in words.
    """
    failed, release = list[str](), None
    if outcome.unreleased:
        try:
            release = host.project.release(outcome.round)
        except EXPECTED as error:
            failed.append(error_in_a_sentence(error))
    if (judged_round := outcome.judged) is not None and outcome.changed:
        result = _decision_result(host.project, judged_round, outcome.withdrawn)
        _log_materialization(context, host.key("acceptability"), outcome.round, result)
        if not judged_round.decision.admitted:
            _log_held_round(host, context, outcome.round, judged_round.decision, outcome.withdrawn)
        failed += [str(not_known)] if (not_known := (result.metadata or {}).get(NOT_KNOWN)) else []
    if release is not None:
        result = _release_result(release, [checks.released_result()])
        _log_materialization(context, host.key("training_data"), outcome.round, result)
    return "; ".join(failed)


def _log_materialization(
    context: dg.AssetExecutionContext, asset: dg.AssetKey, round_name: str, materialization: Result
) -> None:
    tags = (
        {DATA_VERSION: materialization.data_version.value} if materialization.data_version else {}
    )
    # It has no code version: beside one, Dagster expects the event of each parent, which is
    # written only after this one. Without it, Dagster compares the times of both.
    context.log_event(
        dg.AssetMaterialization(asset, None, materialization.metadata, round_name, tags)
    )
    for result in materialization.check_results:
        _log_check_result(context, asset, round_name, result)


EVIDENCE: Mapping[str, Callable[[StoredRound], Result]] = {
    step.__name__: step
    for step in (
        rating_patterns,
        inter_rater_agreement,
        intra_rater_agreement,
        classifier_agreement,
        disputed_items,
        round_page,
    )
}
ROUND_ASSETS = {
    step.__name__: getdoc(step) for step in (annotations, acceptability, training_data)
} | {name: getdoc(step) for name, step in EVIDENCE.items()}
"""With their descriptions. What decides comes before what is only shown."""


def _build_round_assets(host: Host) -> dg.AssetsDefinition:
    """The assets of a round as one step, of which a run may select some.

    Each asset rests on the store and the lock alone, so a run of one of them does what it does in
    a run of all.
    """
    project, names = host.project, [name for name in ROUND_ASSETS if name in host.assets]
    source = project.settings.rounds_from

    @dg.multi_asset(
        name=host.round_step,
        description="One round from its export to its training data.",
        specs=[
            host.spec(name, ROUND_ASSETS[name]).replace_attributes(
                deps=host.parents(name), freshness_policy=host.freshness_policy(name)
            )
            for name in names
        ],
        check_specs=[spec for name in names for spec in checks.build_check_specs(host, name)],
        can_subset=True,
        partitions_def=host.partitions,
        # An instance may limit how many steps of a pool run at a time.
        pool=str(host.partitions.name),
        required_resource_keys={source.io_manager} if source and source.io_manager else set(),
    )
    def compute(context: dg.AssetExecutionContext) -> Iterator[dg.MaterializeResult]:  # type: ignore[type-arg]  # Dagster reads the bare class
        round_run = RoundRun(host, context)
        yield from round_run.results()  # type: ignore[misc]  # Dagster reads the annotation

    return compute


class RoundRun:
    """A run of some assets of a round, in one process.

    What fails ends only what comes after it. A round that is held is shown before the run fails.
    """

    def __init__(self, host: Host, context: dg.AssetExecutionContext) -> None:
        self.host, self.project, self.context = host, host.project, context
        self.round_name = context.partition_key
        self.checked: Checked | None = None
        self.is_decided = False
        self.errors: dict[str, Exception] = {}

    def results(self) -> Iterator[Result | dg.AssetCheckResult]:
        self._or_fail(lambda: begin_step(self.context, self.project.store))
        self.context.instance.add_run_tags(self.context.run.run_id, {PROJECT: self.project.name})
        selected = [
            name
            for name in ROUND_ASSETS
            if name in self.host.assets and self.host.key(name) in self.context.selected_asset_keys
        ]
        for name in selected:
            if self._has_failed_predecessor(name):
                continue
            try:
                with progress(self.context.log.info, f"{name} of {self.round_name}"):
                    yield from self._iterate_results_of(name)
            except Exception as error:  # whatever it is: what comes after other assets is shown
                self.errors[name] = error
        if self.errors:
            first_name, *other_names = self.errors
            for name in other_names:
                self.context.log.error(f"{name}: {self.errors[name]}")
            raise self.errors[first_name]

    def _has_failed_predecessor(self, name: str) -> bool:
        """True if an asset that this one comes after was ended by an error in this run."""
        while name := ASSETS[name].after:
            if name in self.errors:
                return True
        return False

    def _iterate_results_of(self, name: str) -> Iterator[Result | dg.AssetCheckResult]:
        if name == "annotations":
            return self._store_delivery()
        if name == "acceptability":
            return self._judge()
        if name == "training_data":
            return self._release()
        return self._materialize_view(name)

    def _store_delivery(self) -> Iterator[Result | dg.AssetCheckResult]:
        # before what answers the suite, which else would be asked of an earlier delivery
        if not self.project.delivers_whole:
            self._or_fail(lambda: take_delivery(self.host, self.context, self.round_name))
        loaded = self._names_of_loaded_checks("annotations")
        try:
            result, self.checked = self._or_fail(lambda: annotations(self.project, self.round_name))
        except dg.Failure:
            of_suite = _suite_results_of_refused(self.project, self.round_name)
            suite_checks = [check for check in loaded if check in of_suite]
            for answer in checks.results_of_loaded_checks(of_suite.values(), suite_checks):
                yield answer._replace(asset_key=self.host.key("annotations"))
            raise
        yield self._with_check_results(
            "annotations", result, checks.results_of_loaded_checks(result.check_results, loaded)
        )

    def _judge(self) -> Iterator[Result | dg.AssetCheckResult]:
        """If the round is held, the run ends, and its first line says why.

        Each check that was loaded is answered, and no other: the policy may have other rules now.
        """
        judged_round, withdrawn = self._or_fail(
            lambda: acceptability(self.project, self.round_name, self.checked)
        )
        decision, result = (
            judged_round.decision,
            _decision_result(self.project, judged_round, withdrawn),
        )
        loaded = self._names_of_loaded_checks("acceptability")
        answered = [
            check_result
            for check_result in result.check_results
            if check_result.check_name in loaded
        ]
        removed_checks = sorted({*loaded} - {check_result.check_name for check_result in answered})
        answers = [*answered, *map(checks.result_without_rule, removed_checks)]
        self.is_decided = True
        self._or_fail(lambda: _release_without_gold(self.host, self.context))
        if decision.admitted:
            tag_run(self.context, ADMITTED)
            yield self._with_check_results("acceptability", result, answers)
            return
        _log_held_round(self.host, self.context, self.round_name, decision, withdrawn)
        reasons = join_sentences(decision.reasons)
        tag_run(self.context, HELD, reasons, **NOT_AGAIN)
        # What is logged before a step fails is lost, unless the step yields something after it.
        yield self._with_check_results("acceptability", result, answers)
        if not withdrawn and checks.IN_FORCE in self._names_of_loaded_checks("training_data"):
            answer = checks.not_released_result("training_data", f"held: {printable(reasons)}")
            yield answer._replace(asset_key=self.host.key("training_data"))
        raise build_failure(
            f"held: round {self.round_name}: {reasons}", "held", self._tags_to_decision
        )

    def _release(self) -> Iterator[Result | dg.AssetCheckResult]:
        """The lock: it trusts nothing of this run, and judges the round from its stored bytes."""
        loaded = self._names_of_loaded_checks("training_data")
        try:
            result = self._or_fail(lambda: training_data(self.project, self.round_name))
        except Exception as error:
            answer = _log_unreleased(
                self.host, self.context, "training_data", error, self.round_name
            )
            if answer.check_name in loaded:
                yield answer
            raise
        answers = [
            check_result
            for check_result in result.check_results
            if check_result.check_name in loaded
        ]
        yield self._with_check_results("training_data", result, answers)

    def _materialize_view(self, name: str) -> Iterator[Result]:
        yield self._with_check_results(name, self._or_fail(lambda: EVIDENCE[name](self._stored)))

    @cached_property
    def _stored(self) -> StoredRound:
        ratings = self.project.store.ratings(self.round_name)
        return StoredRound(self.project, self.round_name, ratings)

    def _names_of_loaded_checks(self, name: str) -> list[str]:
        """The checks that this run answers. A run may leave some out, which changes no decision."""
        selected, asset = self.context.selected_asset_check_keys, self.host.key(name)
        return sorted(check.name for check in selected if check.asset_key == asset)

    def _with_check_results(
        self, name: str, result: Result, answers: Iterable[dg.AssetCheckResult] = ()
    ) -> Result:
        key = self.host.key(name)
        of_asset = [answer._replace(asset_key=key) for answer in answers]
        return result._replace(asset_key=key, check_results=of_asset)

    @property
    def _tags_to_decision(self) -> dict[str, Any]:
        return self.host.to_decision(self.round_name)

    def _or_fail(self, step: Callable[[], T]) -> T:
        return run_or_fail(self.context, step, self._tags_to_decision, is_decided=self.is_decided)


def _build_asset(host: Host, step: Callable[..., Any]) -> dg.AssetsDefinition:
    """A step without rounds as an asset. Its name is the function's."""
    name = step.__name__
    spec = host.spec(name, getdoc(step))

    @dg.asset(
        key=spec.key,
        description=spec.description,
        deps=host.parents(name),
        check_specs=checks.build_check_specs(host, name),
        group_name=spec.group_name,
        owners=spec.owners,
        tags=spec.tags,
        metadata=spec.metadata,
        io_manager_key=host.io_manager_key if ASSETS[name].is_loaded else None,
        automation_condition=spec.automation_condition,
        code_version=spec.code_version,
        pool=str(host.partitions.name),
    )
    def compute(context: dg.AssetExecutionContext) -> Iterator[dg.MaterializeResult]:  # type: ignore[type-arg]  # Dagster reads the bare class
        run_or_fail(context, lambda: begin_step(context, host.project.store))
        with progress(context.log.info, name):
            if step is reassessment:
                yield from reassessment(host, context)
                return
            if step is delivered_table:
                run_or_fail(context, lambda: take_delivery(host, context))
            try:
                result = run_or_fail(context, lambda: step(host), host.to_decision(None))
            except Exception as error:
                if step is release:
                    yield _log_unreleased(host, context, name, error)  # type: ignore[misc]  # Dagster reads the annotation
                raise
            yield result

    return compute


def take_delivery(
    host: Host, context: dg.AssetExecutionContext, round_name: str | None = None
) -> None:
    """Write what the source of the project gives into its deliveries. An inbox has its files."""
    if host.project.source is not None:
        host.project.pull_round(round_name)
    elif host.upstream is not None:
        table = _load_upstream(host, context, round_name)
        host.project.deliver_table(table, round_name)


def _load_upstream(host: Host, context: dg.AssetExecutionContext, round_name: str | None) -> object:
    """The value of the upstream asset: its partition of the round, or all of it.

    It is no input, since Dagster would load an input for every subset of the round's assets, also
    for those that are made from the store.
    """
    source, upstream = host.project.settings.rounds_from, host.upstream
    assert source is not None
    assert upstream is not None
    partitions = partitions_of(context, upstream)
    if round_name is not None and partitions is None:
        # else a table without partitions would be every round
        raise ProjectError(
            f"{source}: found no partitions; expected the partition {round_name!r}, since the "
            "partitions are the rounds. If one table has all rounds, say which column names them, "
            "as rounds: {column: week}."
        )
    if source.io_manager is None:
        return context.load_asset_value(upstream, partition_key=round_name)
    io_manager = context.resources.original_resource_dict[source.io_manager]
    return io_manager.load_input(
        dg.build_input_context(
            asset_key=upstream,
            partition_key=round_name,
            asset_partitions_def=partitions,
            dagster_type=AnyType,
            resource_config=resource_config_of(context, source.io_manager),
            upstream_output=dg.build_output_context(
                asset_key=upstream,
                partition_key=round_name,
                # says to those of a warehouse which column names the partition
                definition_metadata=dict(metadata_of(context, upstream)),
            ),
            instance=context.instance,
        )
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
    return {
        str(check_result.check_name): check_result
        for check_result in checks.suite_results(contract.suite, check)
    }


def _log_held_round(
    host: Host,
    context: dg.AssetExecutionContext,
    round_name: str,
    decision: Decision,
    withdrawn: bool,
) -> None:
    asset, reasons = host.key("training_data"), printable(join_sentences(decision.reasons))
    outcome = f"{'withdrawn' if withdrawn else 'held'}: {reasons}"
    if withdrawn:
        _log_check_result(
            context, asset, round_name, checks.not_released_result("training_data", outcome)
        )
        if not joint_release(host.project).is_made:
            because = f"round {round_name} is {outcome}"
            result = checks.not_released_result("release", because)
            _log_check_result(context, host.key("release"), None, result)
    metadata = {"release": outcome, **host.to_decision(round_name)}
    context.log_event(dg.AssetObservation(asset, partition=round_name, metadata=metadata))


def _release_without_gold(host: Host, context: dg.AssetExecutionContext) -> dict[str, str]:
    """Release rounds anew whose release was withdrawn since it trained on gold items of another
    round, and show both. What failed, by round.
    """
    asset, failed = host.key("training_data"), dict[str, str]()
    for name, release in host.project.release_without_gold().items():
        if isinstance(release, Release):
            context.log.warning(f"round {name}: released anew, without gold items of other rounds")
            _log_materialization(
                context, asset, name, _release_result(release, [checks.released_result()])
            )
            continue
        failed[name] = release
        outcome = (
            "withdrawn: it trained on items that are gold in another round; "
            f"not released anew: {release}"
        )
        context.log.warning(f"round {name}: {outcome}")
        _log_check_result(
            context, asset, name, checks.not_released_result("training_data", outcome)
        )
        context.log_event(dg.AssetObservation(asset, partition=name, metadata={"release": outcome}))
    return failed


def _log_unreleased(
    host: Host,
    context: dg.AssetExecutionContext,
    asset: str,
    error: Exception,
    round_name: str | None = None,
) -> dg.AssetCheckResult:
    """The page of the asset says why there is no release, and so does the check that comes back.

    What is logged before a step fails is lost, unless the step yields something after it. A run
    that only looks for the training data of a round that is held stays tagged as held.
    """
    by_us = error.description if isinstance(error, dg.Failure) else None
    reason, key = by_us or error_in_a_sentence(error), host.key(asset)
    mark = unreleased_tag(host.project.name, round_name)
    run = context.instance.get_run_by_id(context.run.run_id)
    if round_name and run and run.tags.get(DECISION) == HELD:
        context.instance.add_run_tags(context.run.run_id, mark)
    else:
        tag_run(context, NOT_RELEASED, reason, **mark)
    outcome = f"not released: {reason}"
    metadata = {"release": outcome, **host.to_decision(round_name)}
    context.log_event(dg.AssetObservation(key, partition=round_name, metadata=metadata))
    return checks.not_released_result(asset, outcome)._replace(asset_key=key)


def _log_check_result(
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
