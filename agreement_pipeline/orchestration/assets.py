"""The assets of a project: nouns, in the order of the line. Each reads the round from the store again; none trusts the event log."""

from collections.abc import Callable, Iterable, Sequence
from datetime import timedelta
from functools import partial
from typing import Any, TypeVar

import dagster as dg
import pandas as pd

from agreement_pipeline.engines import engine_for
from agreement_pipeline.errors import AgreementError, MissingExtraError
from agreement_pipeline.estimates import (
    DETAIL_RESAMPLES,
    Estimate,
    applicable,
    measure_ratings,
    shrunken_self_agreement,
    survey,
)
from agreement_pipeline.intervals import Inference
from agreement_pipeline.measures import MEASURES, Question, alternative_annotator_test
from agreement_pipeline.orchestration import checks
from agreement_pipeline.orchestration.metadata import (
    decision_metadata,
    estimate_numbers,
    estimate_table,
    frame_table,
    markdown_text,
)
from agreement_pipeline.policy import Policy
from agreement_pipeline.projects import Project
from agreement_pipeline.ratings import Ratings, described, lookalikes
from agreement_pipeline.release import Release, judge_round, release_dataset, release_round
from agreement_pipeline.report import (
    NOT_JUDGED,
    admitted_rounds,
    compared_by,
    comparisons,
    disputed_rows,
    history_figure,
    interval_figure,
    joint_rows,
    rater_rows,
    round_table,
    round_text,
    standing_rows,
)
from agreement_pipeline.text import listed
from agreement_pipeline.version import __version__

DISPUTED = 50
PLOTTED = ("round", "classifier", "rater", "without")

Result = dg.MaterializeResult[None]
Step = Callable[[Project, str], Result]
T = TypeVar("T")


def partitions_of(project: Project) -> dg.DynamicPartitionsDefinition:
    """The rounds of a project."""
    return dg.DynamicPartitionsDefinition(name=f"{project.name}_rounds")


def key_of(project: Project, name: str) -> dg.AssetKey:
    """The key of one of a project's assets."""
    return dg.AssetKey([project.name, name])


def build_assets(project: Project) -> list[dg.AssetsDefinition]:
    """The assets of one project, with their checks."""
    by_round, overall = partial(_by_round, project), partial(_overall, project)
    return [
        by_round(
            "annotations",
            annotations,
            "The round's ratings as delivered, checked and kept under the digest of their content.",
            specs=checks.contract_specs(
                key_of(project, "annotations"), project.contract, partitions_of(project)
            ),
            freshness_policy=_freshness(project.settings.overdue_after_days),
        ),
        by_round(
            "rating_patterns",
            rating_patterns,
            "The distinct rows of ratings and how many items show each: all that agreement between raters depends on.",
            ["annotations"],
        ),
        _agreement(
            project, "inter_rater_agreement", "inter-rater", "Do the raters agree with each other?"
        ),
        _agreement(
            project,
            "intra_rater_agreement",
            "intra-rater",
            "Does each rater agree with herself on items met again?",
            of_raters,
        ),
        _agreement(
            project,
            "classifier_agreement",
            "classifier",
            "Does a model agree with the panel?",
            standing_in,
        ),
        by_round(
            "disputed_items",
            disputed_items,
            "The items on which the panel agrees least: adjudicate these first.",
            ["annotations"],
        ),
        by_round(
            "acceptability",
            acceptability,
            "The decision: is this round admitted under the policy, and why?",
            ["inter_rater_agreement", "intra_rater_agreement", "classifier_agreement"],
            specs=checks.policy_specs(
                key_of(project, "acceptability"), project.policy, partitions_of(project)
            ),
        ),
        by_round(
            "training_data",
            training_data,
            "The round's training data. It exists only while the policy admits the round.",
            ["acceptability"],
        ),
        overall(
            "agreement_history",
            agreement_history,
            "All rounds with measure, value, interval, verdict and decision: the page to open first.",
            ["acceptability"],
            specs=[
                dg.AssetCheckSpec(
                    "no_round_held",
                    asset=key_of(project, "agreement_history"),
                    description="Every round is admitted.",
                )
            ],
            automation_condition=dg.AutomationCondition.any_deps_updated()
            & ~dg.AutomationCondition.in_progress(),
        ),
        overall(
            "release",
            release,
            "The admitted rounds together, each judged again from its bytes.",
            ["training_data"],
        ),
    ]


def annotations(project: Project, round_name: str) -> Result:
    """Read the delivered round, check it, keep it."""
    delivery, ratings = project.delivered(round_name)
    findings = project.contract.check(ratings)
    version, table = project.keep(delivery, ratings), ratings.table
    return dg.MaterializeResult(
        data_version=dg.DataVersion(version.ratings_digest),
        check_results=list(checks.contract_results(key_of(project, "annotations"), findings)),
        metadata={
            "dagster/row_count": len(table),
            "items": int(table["item"].nunique()),
            "raters": len(ratings.raters),
            "classifiers": len(ratings.classifiers),
            **(
                {}
                if ratings.cluster_of is None
                else {"clusters": int(ratings.cluster_of.nunique())}
            ),
            **_lookalikes(table["rater"].unique()),
            **_without_ratings(project.settings.classifiers, ratings),
            "source": version.source,
            "ratings_digest": version.ratings_digest[:12],
            "original_digest": version.original_digest[:12],
            "preview": frame_table(table.head(20)),
        },
    )


def _lookalikes(names: Iterable[str]) -> dict[str, Any]:
    """Raters who may be one person under two names, for somebody to look at."""
    groups = lookalikes(names)
    return {"raters_that_look_alike": "; ".join(map(described, groups))} if groups else {}


def _without_ratings(classifiers: Iterable[str], ratings: Ratings) -> dict[str, Any]:
    """Named classifiers that rated nothing in the round: a model may have been left out, or be misspelt and stand in the panel."""
    absent = [name for name in classifiers if name not in ratings.classifiers]
    found = f"{listed(absent)}; if one is misspelt, it stands among the panel's raters {listed(ratings.raters)}"
    return {"classifiers_without_ratings": found} if absent else {}


def rating_patterns(project: Project, round_name: str) -> Result:
    """Reduce the round to its distinct rows."""
    ratings = project.store.ratings(round_name)
    engine = engine_for(ratings)
    labels, counts = engine.labels(ratings), engine.counts(ratings)
    shown = pd.DataFrame(counts.counts.astype(int), columns=list(counts.scale.names)).assign(
        items=counts.weights.astype(int)
    )
    return dg.MaterializeResult(
        metadata={
            "items": len(engine.items(ratings)),
            "pairable_items": int(counts.weights[counts.pairable].sum()),
            "ratings": labels.n_ratings,
            "patterns_by_rater": len(labels.codes),
            "patterns_by_category": len(counts.counts),
            "most_common": frame_table(shown.sort_values("items", ascending=False)),
        }
    )


def agreement(
    name: str,
    question: Question,
    more: Callable[[Ratings, Policy], dict[str, Any]],
    project: Project,
    round_name: str,
) -> Result:
    """Estimate every measure of one question, whatever the policy makes of it; `more` gives what else to show."""
    ratings, policy = project.store.ratings(round_name), project.policy
    measures = applicable(ratings, question)
    judged = {rule.scope for rule in policy.rules}
    found = list(survey(ratings, measures, policy.inference, judged=judged))
    return dg.MaterializeResult(
        data_version=dg.DataVersion(ratings.digest),
        check_results=list(checks.defined_results(key_of(project, name), measures, found)),
        metadata={
            **_interval_plot(found),
            **more(ratings, policy),
            "estimates": estimate_table(found),
            **estimate_numbers(found),
        },
    )


def of_raters(ratings: Ratings, policy: Policy) -> dict[str, Any]:
    """What else is shown of the raters, each by herself."""
    return {**herself_and_others(ratings, policy), **towards_the_pool(ratings, policy)}


def towards_the_pool(ratings: Ratings, policy: Policy) -> dict[str, Any]:
    """The raters' agreement with themselves, drawn towards that of all, as metadata; nothing where a scale lists no categories."""
    if ratings.scale.continuous:
        return {}
    replicates, seed = engine_for(ratings).replicated_labels(ratings), int(ratings.digest[:16], 16)
    found = shrunken_self_agreement(
        replicates, Inference(policy.confidence_level, policy.n_resamples, seed=seed)
    )
    return {"self_agreement_towards_the_pool": frame_table(rater_rows(found))}


def herself_and_others(ratings: Ratings, policy: Policy) -> dict[str, Any]:
    """The raters' agreement with themselves beside their agreement with each other, as metadata; nothing where no measure compares them."""
    compared = comparisons(ratings.scale)
    measures = [measure for each in compared for measure in each[1:]]
    found = measure_ratings(ratings, measures, _of_details(policy), scopes=("rater", "category"))
    return (
        {"herself_and_others": frame_table(joint_rows(found, compared, policy))} if compared else {}
    )


def standing_in(ratings: Ratings, policy: Policy) -> dict[str, Any]:
    """Each classifier's place among the raters and the alternative-annotator test, as metadata; nothing where no measure compares them."""
    measure = compared_by(ratings.scale)
    if measure is None or not ratings.classifiers:
        return {}
    found = measure_ratings(ratings, [measure], _of_details(policy), scopes=("rater", "classifier"))
    tests = {
        name: alternative_annotator_test(engine_for(ratings).labels(ratings, (name,)).against(name))
        for name in ratings.classifiers
    }
    return {"standing_in": frame_table(standing_rows(found, measure, tests))}


def _of_details(policy: Policy) -> Inference:
    """Fewer resamples than the policy's own, since no verdict rests on them."""
    return Inference(policy.confidence_level, min(policy.n_resamples, DETAIL_RESAMPLES))


def disputed_items(project: Project, round_name: str) -> Result:
    """List the items by how far the panel is from one mind."""
    disputed = disputed_rows(project.store.ratings(round_name))
    ties = (
        {"ties": int((disputed["resolution"] == "tie").sum())} if "resolution" in disputed else {}
    )
    shown = (
        disputed.head(DISPUTED)
        .round({"disagreement": 5, "share": 5, "entropy_bits": 5})
        .astype(object)
    )
    return dg.MaterializeResult(
        metadata={
            "disputed_items": len(disputed),
            **ties,
            "most_disputed": frame_table(shown.where(shown.notna(), "")),
        },
    )


def acceptability(project: Project, round_name: str) -> Result:
    """Decide, and withdraw what the decision and the present policy do not bear."""
    policy = project.policy
    decision, withdrawn = judge_round(
        project.store, round_name, policy, project.contract, waivers=project.waivers
    )
    return dg.MaterializeResult(
        data_version=dg.DataVersion(decision.digest),
        check_results=list(
            checks.policy_results(key_of(project, "acceptability"), policy, decision)
        ),
        metadata={**decision_metadata(decision), "release_withdrawn": withdrawn},
    )


def training_data(project: Project, round_name: str) -> Result:
    """Ask the lock for the round's training data."""
    released = release_round(
        project.store,
        round_name,
        project.policy,
        project.contract,
        project=project.name,
        waivers=project.waivers,
    )
    return _released(released)


def agreement_history(project: Project) -> Result:
    """Gather what the store remembers of every round, and name those delivered that it was never given."""
    rounds = round_table(project.store, [delivery.round for delivery in project.due()])
    unjudged = rounds[rounds["decision"] == NOT_JUDGED]["round"].unique().tolist()
    held = (
        rounds[~rounds["decision"].str.startswith("admitted") & (rounds["decision"] != NOT_JUDGED)][
            "round"
        ]
        .unique()
        .tolist()
    )
    found = [f"held: {', '.join(held)}"] if held else []
    found += (
        [f"not judged: {listed(unjudged)}; where the round's run failed, it says why"]
        if unjudged
        else []
    )
    result = dg.AssetCheckResult(
        asset_key=key_of(project, "agreement_history"),
        check_name="no_round_held",
        passed=not found,
        severity=dg.AssetCheckSeverity.WARN,
        description="; ".join(found) or "every round is admitted",
    )
    return dg.MaterializeResult(
        check_results=[result],
        metadata={
            "rounds": rounds["round"].nunique(),
            "held_rounds": len(held),
            "rounds_not_judged": len(unjudged),
            **_plot("plot", lambda: history_figure(rounds)),
            "history": frame_table(round_text(rounds)),
        },
    )


def release(project: Project) -> Result:
    """Ask the lock for the admitted rounds together."""
    rounds = admitted_rounds(project.store)
    return _released(
        release_dataset(
            project.store,
            rounds,
            project.policy,
            project.contract,
            project=project.name,
            waivers=project.waivers,
        )
    )


def _agreement(
    project: Project,
    name: str,
    question: Question,
    description: str,
    more: Callable[[Ratings, Policy], dict[str, Any]] = lambda ratings, policy: {},
) -> dg.AssetsDefinition:
    measures = [
        measure
        for measure, record in MEASURES.items()
        if record.question == question and record.defined_on(project.scale)
    ]
    specs = checks.defined_specs(key_of(project, name), measures, partitions_of(project))
    return _by_round(
        project,
        name,
        partial(agreement, name, question, more),
        description,
        ["rating_patterns"],
        specs=specs,
    )


def _by_round(
    project: Project,
    name: str,
    step: Step,
    description: str,
    deps: Sequence[str] = (),
    *,
    specs: Sequence[dg.AssetCheckSpec] = (),
    **more: Any,
) -> dg.AssetsDefinition:
    """An asset with a partition for every round."""

    def of_round(context: dg.AssetExecutionContext) -> dg.MaterializeResult:  # type: ignore[type-arg]  # Dagster reads the bare class
        return _or_fail(lambda: step(project, context.partition_key))

    return _asset(
        of_round,
        project,
        name,
        description,
        deps,
        specs,
        partitions_def=partitions_of(project),
        **more,
    )


def _overall(
    project: Project,
    name: str,
    step: Callable[[Project], Result],
    description: str,
    deps: Sequence[str],
    *,
    specs: Sequence[dg.AssetCheckSpec] = (),
    **more: Any,
) -> dg.AssetsDefinition:
    """An asset over all rounds."""

    def of_all() -> dg.MaterializeResult:  # type: ignore[type-arg]  # Dagster reads the bare class
        return _or_fail(lambda: step(project))

    return _asset(of_all, project, name, description, deps, specs, **more)


def _asset(
    compute: Callable[..., Result],
    project: Project,
    name: str,
    description: str,
    deps: Sequence[str],
    specs: Sequence[dg.AssetCheckSpec],
    **more: Any,
) -> dg.AssetsDefinition:
    decorate = dg.asset(
        key=key_of(project, name),
        description=description,
        deps=[key_of(project, dep) for dep in deps],
        check_specs=list(specs),
        group_name=project.name,
        owners=list(project.settings.owners),
        code_version=__version__,
        kinds={"python"},
        **more,
    )
    asset: dg.AssetsDefinition = decorate(compute)
    return asset


def _or_fail(step: Callable[[], T]) -> T:
    """Run a step; what it refuses fails the asset at once and for good, with the reason."""
    try:
        return step()
    except AgreementError as error:
        raise dg.Failure(
            description=str(error), metadata={"reason_code": error.code}, allow_retries=False
        ) from error


def _freshness(days: int) -> dg.FreshnessPolicy:
    return dg.FreshnessPolicy.time_window(
        fail_window=timedelta(days=days), warn_window=timedelta(days=days * 7 / 8)
    )


def _released(released: Release) -> Result:
    return dg.MaterializeResult(
        data_version=dg.DataVersion(released.path.name),
        metadata={
            "path": dg.MetadataValue.path(str(released.path)),
            "rounds": ", ".join(released.rounds),
            "dagster/row_count": len(released.train),
            "tentative": released.tentative,
            "rows": frame_table(released.train.head(20)),
        },
    )


def _interval_plot(found: Sequence[Estimate]) -> dict[str, Any]:
    return _plot(
        "intervals", lambda: interval_figure([each for each in found if each.scope.kind in PLOTTED])
    )


def _plot(name: str, draw: Callable[[], str | None]) -> dict[str, Any]:
    """An image as metadata; where plotting is not installed, how to install it."""
    try:
        image = draw()
    except MissingExtraError as error:
        return {name: str(error)}
    return (
        {} if image is None else {name: dg.MetadataValue.md(f"![{markdown_text(name)}]({image})")}
    )
