"""What the design needs Dagster to do.

If a new version behaves otherwise, check the gate before you upgrade.
"""

import dagster as dg
import numpy as np
import pytest
from dagster._check import CheckError
from dagster._core.errors import DagsterInvalidSubsetError
from dagster._serdes import serialize_value
from dagster_shared.serdes.errors import SerializationError
from sqlalchemy.exc import IntegrityError

from agreement_pipeline.orchestration.compat import check_spec

ROUNDS = dg.DynamicPartitionsDefinition(name="rounds")
NUMBERS, DATA, REPORT = dg.AssetKey("numbers"), dg.AssetKey("data"), dg.AssetKey("report")


def line(
    *, passed=True, severity=dg.AssetCheckSeverity.ERROR, blocking=True, answer=True, raises=None
):
    """numbers (with the check `admitted`) -> data -> report."""

    @dg.asset(
        key=NUMBERS, check_specs=[dg.AssetCheckSpec("admitted", asset=NUMBERS, blocking=blocking)]
    )
    def numbers() -> dg.MaterializeResult:
        if raises:
            raise raises
        results = (
            [dg.AssetCheckResult(check_name="admitted", passed=passed, severity=severity)]
            if answer
            else []
        )
        return dg.MaterializeResult(check_results=results)

    @dg.asset(key=DATA, deps=[NUMBERS])
    def data() -> None: ...

    @dg.asset(key=REPORT, deps=[DATA])
    def report() -> None: ...

    return dg.Definitions(
        assets=[numbers, data, report], jobs=[dg.define_asset_job("all", selection="*")]
    ).resolve_job_def("all")


def run(job, instance, *keys, **more):
    return job.execute_in_process(
        instance=instance, raise_on_error=False, asset_selection=list(keys) or None, **more
    )


def materialized(result):
    return {event.asset_key.to_user_string() for event in result.get_asset_materialization_events()}


def test_a_blocking_error_stops_what_follows_in_the_same_run_and_keeps_the_numbers(instance):
    result = run(line(passed=False), instance)
    assert not result.success
    assert materialized(result) == {"numbers"}


@pytest.mark.parametrize("slack", [{"severity": dg.AssetCheckSeverity.WARN}, {"blocking": False}])
def test_a_warning_stops_nothing_though_it_blocks_and_an_error_stops_nothing_unless_it_blocks(
    instance, slack
):
    assert materialized(run(line(passed=False, **slack), instance)) == {"numbers", "data", "report"}


def test_a_check_that_gives_no_answer_stops_what_follows(instance):
    assert "data" not in materialized(run(line(answer=False), instance))


def test_an_asset_that_raises_stops_what_follows(instance):
    assert materialized(run(line(raises=dg.Failure("no")), instance)) == set()


def test_a_later_run_of_what_follows_goes_straight_past_a_failed_check(instance):
    run(line(passed=False), instance)
    later = run(line(passed=False), instance, DATA)
    assert later.success
    assert materialized(later) == {"data"}


def test_a_run_that_leaves_out_the_one_between_goes_straight_past_a_failed_check(instance):
    assert materialized(run(line(passed=False), instance, NUMBERS, REPORT)) == {"numbers", "report"}


def test_a_check_inside_its_asset_cannot_be_left_out(instance):
    job = line(passed=False)
    with pytest.raises(DagsterInvalidSubsetError):
        job.get_subset(asset_selection={NUMBERS, DATA}, asset_check_selection=set())


def test_anybody_with_the_instance_can_report_a_check_as_passed_and_an_asset_as_materialized(
    instance,
):
    run(line(passed=False), instance)
    check = dg.AssetCheckKey(NUMBERS, "admitted")
    instance.report_runless_asset_event(
        dg.AssetCheckEvaluation(asset_key=NUMBERS, check_name="admitted", passed=True, metadata={})
    )
    instance.report_runless_asset_event(dg.AssetMaterialization(asset_key=DATA))
    latest = instance.event_log_storage.get_latest_asset_check_execution_by_key([check])[check]
    assert latest.event.asset_check_evaluation.passed
    assert instance.get_latest_materialization_event(DATA) is not None


def test_a_check_is_reported_by_hand_once_a_partition(instance):
    """The database refuses a second report, so a bypass that reports twice tests nothing."""
    bad, worse = (
        dg.AssetCheckEvaluation(
            asset_key=NUMBERS, check_name="admitted", passed=True, metadata={}, partition=name
        )
        for name in ("bad", "worse")
    )
    for once in (bad, worse):
        instance.report_runless_asset_event(once)
    with pytest.raises(IntegrityError, match="UNIQUE constraint failed: asset_check_executions"):
        instance.report_runless_asset_event(bad)


@pytest.mark.parametrize(("allow_retries", "attempts"), [(True, 3), (False, 1)])
def test_a_failure_that_forbids_retries_is_tried_once(instance, allow_retries, attempts):
    tried = []

    @dg.asset(retry_policy=dg.RetryPolicy(max_retries=2))
    def refused() -> None:
        tried.append(1)
        raise dg.Failure("held", allow_retries=allow_retries)

    dg.materialize([refused], instance=instance, raise_on_error=False)
    assert len(tried) == attempts


def partitioned(verdicts, partitions=ROUNDS):
    spec = check_spec(
        "admitted", asset=NUMBERS, description="", partitions=partitions, blocking=True
    )

    @dg.asset(key=NUMBERS, partitions_def=ROUNDS, check_specs=[spec])
    def numbers(context: dg.AssetExecutionContext) -> dg.MaterializeResult:
        return dg.MaterializeResult(
            check_results=[
                dg.AssetCheckResult(check_name="admitted", passed=verdicts[context.partition_key])
            ]
        )

    return dg.Definitions(assets=[numbers], jobs=[dg.define_asset_job("all", selection="*")])


def test_a_check_with_partitions_keeps_one_rounds_failure_apart_from_anothers_pass(instance):
    verdicts = {"good": True, "bad": False}
    instance.add_dynamic_partitions("rounds", list(verdicts))
    job = partitioned(verdicts).resolve_job_def("all")
    for name in ("bad", "good"):
        run(job, instance, partition_key=name)
    found = instance.event_log_storage.get_asset_check_partition_info(
        [dg.AssetCheckKey(NUMBERS, "admitted")], partition_keys=list(verdicts)
    )
    statuses = {each.partition_key: each.latest_execution_status.value for each in found}
    assert statuses == {"good": "SUCCEEDED", "bad": "FAILED"}


def test_a_check_may_not_have_other_partitions_than_its_asset():
    with pytest.raises(dg.DagsterInvalidDefinitionError):
        dg.Definitions.validate_loadable(
            partitioned({}, dg.DynamicPartitionsDefinition(name="others"))
        )


def test_a_partition_may_be_named_like_a_path(instance):
    instance.add_dynamic_partitions("rounds", ["../../etc/passwd"])
    assert instance.get_dynamic_partitions("rounds") == ["../../etc/passwd"]


def test_a_truth_of_numpys_is_refused_as_the_answer_of_a_check():
    with pytest.raises(CheckError):
        dg.AssetCheckResult(asset_key=NUMBERS, check_name="admitted", passed=np.bool_(True))


def test_a_number_of_numpys_cannot_be_stored_as_metadata():
    with pytest.raises(SerializationError):
        serialize_value(dg.AssetMaterialization(NUMBERS, metadata={"value": np.float64(0.8)}))


def test_a_model_refuses_a_key_it_does_not_know():
    class Inner(dg.Model):
        reliable: float = 0.8

    class Outer(dg.Model):
        inner: Inner = Inner()

    with pytest.raises(ValueError, match="relable"):
        Outer(inner={"relable": 0.1})
