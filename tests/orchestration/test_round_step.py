"""The assets of a round are one step: what a run of all of them does, and one of some."""

from collections.abc import Collection

import dagster as dg
import pytest
from dagster._core.storage.partition_status_cache import get_and_update_asset_status_cache_value

from agreement_pipeline.orchestration import assets
from agreement_pipeline.orchestration.assets import ROUND_ASSETS, build_assets
from agreement_pipeline.orchestration.host import Host
from agreement_pipeline.orchestration.runs import DECISION
from agreement_pipeline.store import Store
from tests.orchestration.checks import BAD, GOOD, materialized
from tests.orchestration.conftest import Line, ratings_frame

pytestmark = pytest.mark.slow

EVIDENCE = {
    "rating_patterns",
    "inter_rater_agreement",
    "intra_rater_agreement",
    "classifier_agreement",
    "disputed_items",
}


def made_by(result: dg.ExecuteInProcessResult) -> set[str]:
    events = result.get_asset_materialization_events()
    return {event.asset_key.path[-1] for event in events if event.asset_key}


def failed_partitions(line: Line, name: str) -> Collection[str]:
    """The partitions that the UI shows as failed, in red."""
    key = dg.AssetKey(["reviews", name])
    definition = dg.DynamicPartitionsDefinition(name="reviews_rounds")
    status = get_and_update_asset_status_cache_value(line.instance, key, definition, line.instance)
    failed = status.deserialize_failed_partition_subsets(definition)
    return set(failed.get_partition_keys())


def first_line(result: dg.ExecuteInProcessResult) -> str:
    (event,) = [event for event in result.all_events if event.is_step_failure]
    return event.step_failure_data.user_failure_data.description


def test_run_of_a_round_is_one_step(line):
    line.deliver("w1", GOOD)
    result = line.run("w1")
    started = [event.step_key for event in result.all_events if event.is_step_start]
    assert started == ["reviews__round"]
    assert made_by(result) == {*ROUND_ASSETS} - {"round_page"}


def test_weeks_tell_held_from_admitted_in_the_list_of_partitions(line):
    weeks = [f"2026-W{week:02}" for week in range(1, 5)]
    held = {"2026-W03", "2026-W04"}
    for week in weeks:
        line.deliver(week, ratings_frame(0.55 if week in held else 0.99))
        result = line.decide(week)
        assert result.success == (week not in held)
        if week in held:
            assert first_line(result).startswith(f"held: round {week}: krippendorff_alpha 0.")
    assert failed_partitions(line, "training_data") == held
    assert failed_partitions(line, "acceptability") == set()
    assert {path.parent.name for path in line.released()} == {*weeks} - held

    # A week that was held, and is admitted after a new delivery, is no longer red.
    line.deliver("2026-W03", GOOD)
    assert line.decide("2026-W03").success
    assert failed_partitions(line, "training_data") == {"2026-W04"}


def test_held_round_is_shown_before_its_run_fails(line):
    line.deliver("w1", BAD)
    result = line.run("w1")
    assert made_by(result) == {"annotations", "acceptability", *EVIDENCE}
    assert materialized(result, "acceptability").metadata["decision"].text == "held"
    assert len([event for event in result.all_events if event.is_step_failure]) == 1
    assert not [event for event in result.all_events if event.is_step_up_for_retry]


@pytest.mark.parametrize("frame", [GOOD, BAD], ids=["admitted", "held"])
@pytest.mark.parametrize("name", ["acceptability", "training_data", "disputed_items"])
def test_one_asset_made_again_does_what_it_did_in_the_run_of_all(line, monkeypatch, name, frame):
    line.deliver("w1", frame)
    whole = line.run("w1")
    line.deliver("w1", ratings_frame(0.8))  # a delivery that nobody has taken in
    again = line.run("w1", name)
    assert made_by(again) == made_by(whole) & {name}
    if made_by(again):
        shown, before = (materialized(result, name).metadata for result in (again, whole))
        if name == "acceptability":
            assert shown["why"] == before["why"]
        elif name == "training_data":
            assert shown["path"] == before["path"]
        else:
            assert shown == before


def test_run_of_all_reads_the_stored_ratings_for_the_lock_alone(line, monkeypatch):
    read, stored = Store.ratings_of, list[str]()

    def counted(store, version):
        stored.append(version.round)
        return read(store, version)

    monkeypatch.setattr(Store, "ratings_of", counted)
    line.deliver("w1", GOOD)
    assert line.run("w1").success
    assert stored == ["w1"]


def test_display_that_crashes_leaves_a_held_round_held(line, monkeypatch):
    def crash(*_, **__):
        raise ZeroDivisionError("a display")

    monkeypatch.setattr(assets, "disputed", crash)
    line.deliver("w1", BAD)
    result = line.run("w1")
    assert first_line(result).startswith("held: round w1: ")
    assert made_by(result) == {"annotations", "acceptability", *EVIDENCE} - {"disputed_items"}
    assert line.instance.get_run_by_id(result.run_id).tags[DECISION] == "held"


def test_retried_run_of_a_round_that_met_a_passing_fault_releases_it(line, monkeypatch):
    def full(*_, **__):
        raise OSError(28, "No space left on device")

    line.deliver("w1", GOOD)
    with monkeypatch.context() as patched:
        patched.setattr(Store, "ratings_of", full)  # the lock reads what was stored
        failed = line.decide("w1")
    assert not failed.success
    assert line.released() == []
    assert failed_partitions(line, "training_data") == {"w1"}

    job = line.definitions.resolve_job_def("reviews_round")
    names = ("annotations", "acceptability", "training_data")
    retried = job.execute_in_process(
        instance=line.instance,
        partition_key="w1",
        tags={"dagster/parent_run_id": failed.run_id, "dagster/root_run_id": failed.run_id},
        asset_selection=[dg.AssetKey(["reviews", name]) for name in names],
    )
    assert made_by(retried) == {*names}
    assert len(line.released()) == 1
    assert failed_partitions(line, "training_data") == set()


def test_run_without_checks_answers_none_and_decides_the_same(line):
    line.deliver("w1", BAD)
    line.instance.add_dynamic_partitions("reviews_rounds", ["w1"])
    job = line.definitions.resolve_job_def("reviews_round")
    keys = {dg.AssetKey(["reviews", name]) for name in ROUND_ASSETS if name != "round_page"}
    result = job.get_subset(asset_selection=keys, asset_check_selection=set()).execute_in_process(
        instance=line.instance, partition_key="w1", raise_on_error=False
    )
    assert result.get_asset_check_evaluations() == []
    assert first_line(result).startswith("held: round w1: ")
    assert line.released() == []


def test_step_can_be_subset_and_has_every_asset_of_the_round(line):
    of_round, *others = build_assets(Host(line.project))
    assert of_round.can_subset
    assert {key.path[-1] for key in of_round.keys} == {*ROUND_ASSETS} - {"round_page"}
    assert not any(definition.can_subset for definition in others)
