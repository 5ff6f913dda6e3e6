"""A round that is admitted, one that is not, and the results of checks."""

import dagster as dg

from tests.orchestration.conftest import ratings_frame

GOOD, BAD = ratings_frame(0.99), ratings_frame(0.55)


def check(result: dg.ExecuteInProcessResult, name: str) -> dg.AssetCheckEvaluation:
    return next(
        evaluation
        for evaluation in result.get_asset_check_evaluations()
        if evaluation.check_name == name
    )
