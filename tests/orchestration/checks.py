"""A round that is admitted, one that is not, and what a run made and checked."""

import dagster as dg

from tests.orchestration.conftest import ratings_frame

GOOD, BAD = ratings_frame(0.99), ratings_frame(0.55)


def check(result: dg.ExecuteInProcessResult, name: str) -> dg.AssetCheckEvaluation:
    return next(
        evaluation
        for evaluation in result.get_asset_check_evaluations()
        if evaluation.check_name == name
    )


def materialized(result: dg.ExecuteInProcessResult, name: str) -> dg.AssetMaterialization:
    """What a run says of an asset that it made."""
    (event,) = [
        event
        for event in result.get_asset_materialization_events()
        if event.asset_key and event.asset_key.path[-1] == name
    ]
    return event.materialization
