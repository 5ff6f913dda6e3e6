"""The assets of a project, in the order of the data's way.

Each asset takes the round from the store, which checks its bytes each time. A process that kept or
read ratings before does not make them again, and `acceptability` takes over what the contract found
in them there. The lock does neither: it reads the stored bytes and derives the decision from them.
No asset trusts the event log.
"""

import time
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial

import dagster as dg

from agreement_pipeline.estimates import SCOPE_KINDS, Shown, applicable, survey
from agreement_pipeline.measures import Question
from agreement_pipeline.orchestration import checks
from agreement_pipeline.orchestration.host import Host
from agreement_pipeline.orchestration.metadata import (
    column_schema,
    decision_metadata,
    opened_table,
    refused_files,
    release_metadata,
    rendered,
)
from agreement_pipeline.orchestration.outcomes import Judged, Result
from agreement_pipeline.orchestration.pages import INDEX, keep_page, link, page_of
from agreement_pipeline.orchestration.reassessment import reassessment
from agreement_pipeline.orchestration.steps import of_all_rounds, of_each_round, of_the_store
from agreement_pipeline.orchestration.trainers import released_dataset, released_round
from agreement_pipeline.orchestration.watching import shown_state
from agreement_pipeline.policy import judged_part
from agreement_pipeline.projects import Project, overdue, project_page, round_before
from agreement_pipeline.projects import round_page as page_of_one
from agreement_pipeline.release import Checked, Release, judge_round
from agreement_pipeline.report import (
    Before,
    Section,
    charted,
    delivery,
    details,
    disputed,
    history,
    patterns,
    since,
    table_of_rows,
)

FIRST = {"dagster/priority": "1"}
"""What leads to a decision comes before what is only shown."""
NOTHING: Section = {}


def build_assets(host: Host) -> list[dg.AssetsDefinition]:
    """The assets of one project, with their checks."""
    by_round, overall = partial(of_each_round, host), partial(of_all_rounds, host)
    check = partial(checks.of_rounds, host.partitions)
    policy = host.project.policy
    return [
        by_round(
            annotations,
            checks=[check(host.key("annotations"), each) for each in checks.CONTRACT],
            op_tags=FIRST,
            freshness_policy=_freshness(host.project.settings.overdue_after_days),
        ),
        by_round(rating_patterns, ["annotations"]),
        by_round(inter_rater_agreement, ["rating_patterns"]),
        by_round(intra_rater_agreement, ["rating_patterns"]),
        by_round(classifier_agreement, ["rating_patterns"]),
        by_round(disputed_items, ["annotations"]),
        by_round(
            acceptability,
            ["annotations"],
            [check(host.key("acceptability"), each) for each in checks.of_policy(policy)],
            op_tags=FIRST,
        ),
        by_round(
            training_data,
            ["acceptability"],
            [check(host.key("training_data"), checks.RELEASED)],
            op_tags=FIRST,
        ),
        overall(
            agreement_history,
            ["acceptability"],
            checks.history_specs(
                host.key("agreement_history"), host.project.settings.overdue_after_days
            ),
        ),
        overall(release, ["training_data"]),
        of_the_store(
            host,
            reassessment,
            ["annotations"],
            [checks.every_round_judged(host.key("reassessment"))],
        ),
        *([by_round(round_page, ["annotations"])] if host.project.settings.pages else []),
    ]


def annotations(project: Project, round_name: str) -> Result:
    """The round's ratings as delivered. They are checked and stored under their digest."""
    delivered, ratings = project.delivered(round_name)
    contract = project.contract
    found = tuple(contract.check(ratings))
    findings = (*found, *project.left_out(delivered))
    version = project.keep(delivered, ratings)
    project.checked_here[round_name] = Checked(version, ratings, contract.digest, found)
    first = ratings.head(20)
    return dg.MaterializeResult(
        data_version=dg.DataVersion(version.ratings_digest),
        check_results=list(checks.contract_results(findings, project.policy)),
        metadata={
            "dagster/row_count": len(ratings),
            **rendered(delivery(ratings, project.settings.every_classifier)),
            "source": version.source,
            "ratings_digest": version.ratings_digest[:12],
            "original_digest": version.original_digest[:12],
            **opened_table("first_rows", first),
            "dagster/column_schema": column_schema(first),
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
    return _agreement(project, round_name, "inter-rater", changed)


def intra_rater_agreement(project: Project, round_name: str) -> Result:
    """Does each rater agree with themselves on items that came back?"""
    return _agreement(project, round_name, "intra-rater")


def classifier_agreement(project: Project, round_name: str) -> Result:
    """Does a model agree with the panel?"""
    return _agreement(project, round_name, "classifier")


def disputed_items(project: Project, round_name: str) -> Result:
    """The items on which the panel agrees least. Adjudicate these first."""
    return dg.MaterializeResult(metadata=rendered(disputed(project.store.ratings(round_name))))


def acceptability(project: Project, round_name: str) -> Judged:
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
        kept=project.checked_here.pop(round_name, None),
    )
    result = dg.MaterializeResult[None](
        data_version=dg.DataVersion(decision.digest),
        check_results=list(checks.policy_results(policy, decision)),
        metadata={
            **decision_metadata(decision, link(project, page_of(round_name))),
            "release_withdrawn": withdrawn,
        },
    )
    return Judged(result, decision.admitted, decision.reasons, withdrawn)


def training_data(project: Project, round_name: str) -> Result:
    """The round's training data. It exists only while the policy admits the round."""
    return _released(released_round(project, round_name), [checks.released_result()])


def round_page(project: Project, round_name: str) -> Result:
    """The page of the round, for people without this UI. Its link opens it."""
    today = datetime.now(UTC).date()
    keep_page(project, page_of(round_name), page_of_one(project, round_name, on=today))
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
        pages = {name: page_of(name) for name in standing.rows}
        of_store = table_of_rows(standing.rows)
        keep_page(project, INDEX, project_page(project, pages, rounds=of_store))
    project.standings.keep(replace(standing, chart=chart))
    return dg.MaterializeResult(
        data_version=dg.DataVersion(state),
        check_results=[
            *checks.history_results(rounds, unused, why),
            checks.like_before(chart),
        ],
        metadata={
            **rendered(history(rounds, project.policy, chart, why)),
            **link(project, INDEX),
            **refused_files("files_refused", project.refused()),
            **refused_files("waivers_unused", unused),
        },
    )


def release(project: Project) -> Result:
    """The admitted rounds together. Each is judged again from its bytes."""
    return _released(released_dataset(project))


def _agreement(
    project: Project, round_name: str, question: Question, more: Section = NOTHING
) -> Result:
    """Estimate every measure of one question, also those that the policy does not judge."""
    ratings, policy = project.store.ratings(round_name), project.policy
    measures, part = applicable(ratings, question), judged_part(ratings, policy)
    judged = {rule.scope for rule in policy.rules}
    scopes = {*SCOPE_KINDS} - {"stratum"}
    shown = Shown.of(ratings)
    found = list(
        survey(part, measures, policy.inference, scopes=scopes, judged=judged, shown=shown)
    )
    return dg.MaterializeResult(
        data_version=dg.DataVersion(ratings.digest),
        metadata=rendered({**details(question, ratings, policy, found, shown), **more}),
    )


def _freshness(days: int) -> dg.FreshnessPolicy:
    return dg.FreshnessPolicy.time_window(
        fail_window=timedelta(days=days), warn_window=timedelta(days=days * 7 / 8)
    )


def _released(released: Release, results: Sequence[dg.AssetCheckResult] = ()) -> Result:
    return dg.MaterializeResult(
        data_version=dg.DataVersion(released.path.name),
        check_results=list(results),
        metadata=release_metadata(released),
    )
