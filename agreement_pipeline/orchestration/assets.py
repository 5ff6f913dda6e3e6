"""The assets of a project, in the order of the data's way.

Each asset reads the round from the store again. No asset trusts the event log.
"""

from datetime import timedelta
from functools import partial

import dagster as dg

from agreement_pipeline.estimates import Shown, applicable, survey
from agreement_pipeline.measures import MEASURES, Question
from agreement_pipeline.orchestration import checks
from agreement_pipeline.orchestration.metadata import (
    decision_metadata,
    frame_table,
    refused_files,
    rendered,
)
from agreement_pipeline.orchestration.steps import (
    Result,
    StepOfRound,
    key_of,
    of_all_rounds,
    of_each_round,
    partitions_of,
)
from agreement_pipeline.projects import Project
from agreement_pipeline.release import Release, judge_round, release_dataset, release_round
from agreement_pipeline.report import (
    admitted_rounds,
    delivery,
    details,
    disputed,
    history,
    patterns,
    round_table,
)

FIRST = {"dagster/priority": "1"}
"""What leads to a decision comes before what is only shown."""


def build_assets(project: Project) -> list[dg.AssetsDefinition]:
    """The assets of one project, with their checks."""
    by_round, overall = partial(of_each_round, project), partial(of_all_rounds, project)
    return [
        by_round(
            annotations,
            checks=_contract_checks(project),
            op_tags=FIRST,
            freshness_policy=_freshness(project.settings.overdue_after_days),
        ),
        by_round(rating_patterns, ["annotations"]),
        _of_question(project, inter_rater_agreement, "inter-rater"),
        _of_question(project, intra_rater_agreement, "intra-rater"),
        _of_question(project, classifier_agreement, "classifier"),
        by_round(disputed_items, ["annotations"]),
        by_round(acceptability, ["annotations"], _policy_checks(project), op_tags=FIRST),
        by_round(training_data, ["acceptability"], op_tags=FIRST),
        overall(
            agreement_history,
            ["acceptability"],
            [checks.history_spec(key_of(project, "agreement_history"))],
            automation_condition=dg.AutomationCondition.any_deps_updated()
            & ~dg.AutomationCondition.in_progress(),
        ),
        overall(release, ["training_data"]),
    ]


def annotations(project: Project, round_name: str) -> Result:
    """The round's ratings as delivered. They are checked and stored under their digest."""
    delivered, ratings = project.delivered(round_name)
    findings = project.contract.check(ratings)
    version = project.keep(delivered, ratings)
    return dg.MaterializeResult(
        data_version=dg.DataVersion(version.ratings_digest),
        check_results=list(checks.contract_results(key_of(project, "annotations"), findings)),
        metadata={
            "dagster/row_count": len(ratings.table),
            **rendered(delivery(ratings, project.settings.classifiers)),
            "source": version.source,
            "ratings_digest": version.ratings_digest[:12],
            "original_digest": version.original_digest[:12],
            "preview": frame_table(ratings.table.head(20)),
        },
    )


def rating_patterns(project: Project, round_name: str) -> Result:
    """The distinct rows of ratings, and how many items have each row.

    Agreement between raters depends on nothing else.
    """
    return dg.MaterializeResult(metadata=rendered(patterns(project.store.ratings(round_name))))


def inter_rater_agreement(project: Project, round_name: str) -> Result:
    """Do the raters agree with each other?"""
    return _agreement(project, round_name, "inter_rater_agreement", "inter-rater")


def intra_rater_agreement(project: Project, round_name: str) -> Result:
    """Does each rater agree with themselves on items that came back?"""
    return _agreement(project, round_name, "intra_rater_agreement", "intra-rater")


def classifier_agreement(project: Project, round_name: str) -> Result:
    """Does a model agree with the panel?"""
    return _agreement(project, round_name, "classifier_agreement", "classifier")


def disputed_items(project: Project, round_name: str) -> Result:
    """The items on which the panel agrees least. Adjudicate these first."""
    return dg.MaterializeResult(metadata=rendered(disputed(project.store.ratings(round_name))))


def acceptability(project: Project, round_name: str) -> Result:
    """The decision: does the policy admit this round, and why?

    A release that the decision no longer allows is withdrawn.
    """
    policy = project.policy
    decision, withdrawn = judge_round(
        project.store,
        round_name,
        policy,
        project.contract,
        waivers=project.waivers,
        settings_digest=project.settings.reading_digest,
    )
    results = checks.policy_results(key_of(project, "acceptability"), policy, decision)
    return dg.MaterializeResult(
        data_version=dg.DataVersion(decision.digest),
        check_results=list(results),
        metadata={**decision_metadata(decision), "release_withdrawn": withdrawn},
    )


def training_data(project: Project, round_name: str) -> Result:
    """The round's training data. It exists only while the policy admits the round."""
    return _released(
        release_round(
            project.store,
            round_name,
            project.policy,
            project.contract,
            project=project.name,
            waivers=project.waivers,
            settings_digest=project.settings.reading_digest,
        )
    )


def agreement_history(project: Project) -> Result:
    """All rounds, with measure, value, interval, verdict and decision. Open this page first."""
    rounds = round_table(project.store, [delivered.round for delivered in project.due()])
    return dg.MaterializeResult(
        check_results=[checks.history_result(key_of(project, "agreement_history"), rounds)],
        metadata={**rendered(history(rounds)), **refused_files(project.refused())},
    )


def release(project: Project) -> Result:
    """The admitted rounds together. Each is judged again from its bytes."""
    return _released(
        release_dataset(
            project.store,
            admitted_rounds(project.store),
            project.policy,
            project.contract,
            project=project.name,
            waivers=project.waivers,
            settings_digest=project.settings.reading_digest,
        )
    )


def _agreement(project: Project, round_name: str, name: str, question: Question) -> Result:
    """Estimate every measure of one question, also those that the policy does not judge."""
    ratings, policy = project.store.ratings(round_name), project.policy
    measures = applicable(ratings, question)
    judged = {rule.scope for rule in policy.rules}
    shown = Shown.of(ratings)
    found = list(survey(ratings, measures, policy.inference, judged=judged, shown=shown))
    return dg.MaterializeResult(
        data_version=dg.DataVersion(ratings.digest),
        check_results=list(checks.defined_results(key_of(project, name), measures, found)),
        metadata=rendered(details(question, ratings, policy, found, shown)),
    )


def _of_question(project: Project, step: StepOfRound, question: Question) -> dg.AssetsDefinition:
    measures = [
        measure
        for measure, record in MEASURES.items()
        if record.question == question and record.defined_on(project.scale)
    ]
    specs = checks.defined_specs(key_of(project, step.__name__), measures, partitions_of(project))
    return of_each_round(project, step, ["rating_patterns"], specs)


def _contract_checks(project: Project) -> list[dg.AssetCheckSpec]:
    asset = key_of(project, "annotations")
    return checks.contract_specs(asset, project.contract, partitions_of(project))


def _policy_checks(project: Project) -> list[dg.AssetCheckSpec]:
    asset = key_of(project, "acceptability")
    return checks.policy_specs(asset, project.policy, partitions_of(project))


def _freshness(days: int) -> dg.FreshnessPolicy:
    return dg.FreshnessPolicy.time_window(
        fail_window=timedelta(days=days), warn_window=timedelta(days=days * 7 / 8)
    )


def _released(released: Release) -> Result:
    rows = released.labels.resolved
    return dg.MaterializeResult(
        data_version=dg.DataVersion(released.path.name),
        metadata={
            "path": dg.MetadataValue.path(str(released.path)),
            "rounds": ", ".join(released.rounds),
            "dagster/row_count": len(rows),
            "tentative": released.tentative,
            "rows": frame_table(released.labels.take(rows[:20]).frame()),
        },
    )
