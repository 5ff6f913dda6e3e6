"""A run says what became of its round: in its first line, in its tags, on the training data."""

import gzip
import os
import re
from types import SimpleNamespace

import dagster as dg
import pytest
from dagster._core.events import RunFailureReason
from dagster._core.execution.retries import auto_reexecution_should_retry_run

from agreement_pipeline.errors import StoreError
from agreement_pipeline.orchestration.runs import build_failure, run_or_fail
from agreement_pipeline.readers.files import StableFile
from tests.orchestration.checks import BAD, GOOD, materialized
from tests.orchestration.conftest import POLICY

pytestmark = pytest.mark.slow

DECISION, WHY = "agreement_pipeline/decision", "agreement_pipeline/why"
FAULT = "agreement_pipeline/fault"


def tags(line, result: dg.ExecuteInProcessResult) -> dict[str, str]:
    return line.instance.get_run_by_id(result.run_id).tags


def first_line(result: dg.ExecuteInProcessResult) -> str:
    """What the first failure of a run says."""
    failed = next(event for event in result.all_events if event.is_step_failure)
    return failed.event_specific_data.user_failure_data.description


def test_the_run_of_a_held_round_says_held_and_why(line):
    line.deliver("w1", BAD)
    result = line.decide("w1")

    assert not result.success
    assert first_line(result).startswith("held: round w1: krippendorff_alpha 0.")
    assert tags(line, result)[DECISION] == "held"
    assert tags(line, result)[WHY].startswith("krippendorff_alpha 0.")


@pytest.mark.parametrize("error", [StoreError("edited"), OSError(5, "Input/output error")])
def test_what_cannot_be_told_of_the_ratings_hides_no_decision(line, monkeypatch, error):
    def unreadable(*_):
        raise error

    line.deliver("w1", BAD)
    line.run("w1", "annotations")
    monkeypatch.setattr("agreement_pipeline.evidence.summary.describe_who_rated", unreadable)
    result = line.run("w1", "acceptability")

    assert first_line(result).startswith("held: round w1: krippendorff_alpha 0.")
    assert tags(line, result)[DECISION] == "held"
    event = materialized(result, "acceptability")
    assert event.metadata["decision"].text == "held"
    assert event.metadata["why"].md_str.startswith("- krippendorff\\_alpha ")
    said = event.metadata["not_known"].text
    assert said.startswith("who rated, who differs and what to do: ")
    assert str(error) in said


def may_be_made_again(line, result: dg.ExecuteInProcessResult) -> bool:
    """True if an instance that makes failed runs again would do so after a step that failed."""
    run = line.instance.get_run_by_id(result.run_id)
    return auto_reexecution_should_retry_run(line.instance, run, RunFailureReason.STEP_FAILURE)


def test_a_held_round_looks_like_no_crash_and_is_not_tried_again(line):
    often = {"dagster/max_retries": "3"}
    line.deliver("w1", BAD)
    runs = [line.run("w1", *asked, tags=often) for asked in ((), ("training_data",))]
    for result in runs:
        failed = next(event for event in result.all_events if event.is_step_failure)
        assert failed.event_specific_data.error.cause is None
        assert failed.event_specific_data.error.context is None
        assert "\n" not in first_line(result)
        assert not may_be_made_again(line, result)


def test_a_round_that_meets_a_fault_that_may_pass_may_be_made_again(line, monkeypatch):
    def full(*_, **__):
        raise OSError(28, "No space left on device")

    line.deliver("w1", GOOD)
    monkeypatch.setattr("pyarrow.input_stream", full)
    monkeypatch.setattr("agreement_pipeline.projects.project.read", full)
    assert may_be_made_again(line, line.decide("w1", tags={"dagster/max_retries": "3"}))


def test_the_training_data_of_a_held_round_say_why_and_lead_to_the_decision(make_line):
    line = make_line(pages="pages", pages_url="https://pages.example/reviews")
    line.deliver("w1", BAD)
    line.decide("w1")
    key, decision = (dg.AssetKey(["reviews", name]) for name in ("training_data", "acceptability"))
    observed = line.instance.fetch_observations(key, limit=1)
    shown = observed.records[0].asset_observation.metadata
    result = line.run("w1", "training_data")
    failed = next(event for event in result.all_events if event.is_step_failure)

    assert shown["release"].value.startswith("held: krippendorff_alpha 0.")
    for told in (shown, failed.event_specific_data.user_failure_data.metadata):
        assert told["acceptability"].asset_key == decision
        assert told["page"].value == "https://pages.example/reviews/w1.html"


def test_the_run_of_a_broken_file_looks_different(line):
    line.deliver("w1", GOOD.assign(label=GOOD["label"].replace("hateful", "hatefull")))
    result = line.decide("w1")

    assert first_line(result).startswith("w1.csv: ")
    assert "hatefull" in first_line(result)
    assert tags(line, result)[DECISION] == "not judged"
    assert tags(line, result)[FAULT] == "lasts"
    assert "hatefull" in tags(line, result)[WHY]


def test_a_long_reason_is_cut_in_the_tag_alone(line):
    line.deliver("w1", GOOD.assign(label="x" * 900))
    result = line.decide("w1")

    assert len(tags(line, result)[WHY]) == 300
    assert tags(line, result)[WHY].endswith("…")
    assert len(first_line(result)) > 300


def test_training_data_alone_is_held_in_the_same_words(line):
    line.deliver("w1", BAD)
    line.decide("w1")
    result = line.run("w1", "training_data")

    assert "round w1: " in first_line(result)
    assert "held" in first_line(result).split("krippendorff_alpha")[0]
    assert tags(line, result)[DECISION] == "held"


def in_force(line) -> list[tuple[bool, str]]:
    """What the check of the training data says of round w1, the latest first."""
    key = dg.AssetCheckKey(dg.AssetKey(["reviews", "training_data"]), "in_force")
    found = line.instance.event_log_storage.get_asset_check_execution_history(key, limit=10)
    evaluated = [each.event.asset_check_evaluation for each in found if each.event]
    return [(each.passed, each.description) for each in evaluated if each]


def test_held_round_answers_the_check_of_its_training_data_with_its_reason(line):
    line.deliver("w1", BAD)
    line.run("w1")
    passed, said = in_force(line)[0]
    assert not passed
    assert said.startswith("held: krippendorff_alpha 0.")


def test_a_withdrawn_release_is_shown_as_withdrawn_on_the_training_data_each_time(line):
    for _ in range(2):
        line.deliver("w1", GOOD)
        line.decide("w1")
        assert in_force(line)[0] == (True, "Yes: released, and not withdrawn.")
        line.deliver("w1", BAD)
        line.decide("w1")
        passed, said = in_force(line)[0]
        assert not passed
        assert said.startswith("withdrawn: krippendorff_alpha 0.")
    observed = line.instance.fetch_observations(dg.AssetKey(["reviews", "training_data"]), limit=1)
    said = observed.records[0].asset_observation.metadata["release"].value
    assert said.startswith("withdrawn: krippendorff_alpha 0.")


@pytest.mark.parametrize(
    ("error", "words", "fault"),
    [
        (
            OSError(28, "No space left on device"),
            r"found \[Errno 28\] No space left on device;",
            "may pass",
        ),
        (MemoryError(), "found too little memory; expected enough", "may pass"),
        (RecursionError(), "found data that are nested too deeply", "lasts"),
    ],
)
def test_d4_what_the_machine_did_not_give_is_one_sentence(error, words, fault):
    given: dict[str, str] = {}
    instance = SimpleNamespace(add_run_tags=lambda _, added: given.update(added))
    context = SimpleNamespace(instance=instance, run=SimpleNamespace(run_id="r"))

    def step():
        raise error

    with pytest.raises(dg.Failure) as failed:
        run_or_fail(context, step)
    assert re.match(words, failed.value.description)
    assert failed.value.allow_retries
    assert given[DECISION] == "not judged"
    assert given[FAULT] == fault


def test_a_file_that_changed_while_it_was_read_may_be_sound_later(line, monkeypatch):
    line.deliver("w1", GOOD)
    at = StableFile.at_path

    def at_and_change(path, *how, **more):
        found = at(path, *how, **more)
        os.utime(path, ns=(1, found.modified_ns + 1))
        return found

    monkeypatch.setattr(StableFile, "at_path", at_and_change)
    assert tags(line, line.decide("w1"))[FAULT] == "may pass"


def test_a_packed_file_is_damaged_for_good_but_a_disk_may_have_room_later(line, monkeypatch):
    path = line.root / "inbox/w1.csv.gz"
    packed = gzip.compress(GOOD.to_csv(index=False).encode())
    path.write_bytes(packed[: len(packed) // 2])
    assert tags(line, line.decide("w1"))[FAULT] == "lasts"

    def full(*_, **__):
        raise OSError(28, "No space left on device")

    path.write_bytes(packed)
    with monkeypatch.context() as broken:
        broken.setattr("pyarrow.input_stream", full)
        assert tags(line, line.decide("w1"))[FAULT] == "may pass"
    assert tags(line, line.decide("w1"))[DECISION] == "admitted"


def test_a_failure_for_a_reason_of_the_bytes_is_not_tried_again():
    assert not build_failure("held", "held").allow_retries


def test_p11_a_policy_edited_after_the_definitions_were_loaded_still_decides(line):
    """The webserver has the checks of the old rules; the decision is by the new ones."""
    loaded = line.definitions
    line.deliver("w1", GOOD)
    rules = [{"measure": "fleiss_kappa", "min_items": 20}]
    line.write_policy({**POLICY, "version": 2, "rules": rules})
    line.instance.add_dynamic_partitions("reviews_rounds", ["w1"])
    names = ("annotations", "acceptability", "training_data")
    result = loaded.resolve_job_def("reviews_round").execute_in_process(
        instance=line.instance,
        partition_key="w1",
        raise_on_error=False,
        asset_selection=[dg.AssetKey(["reviews", name]) for name in names],
    )
    assert result.success
    assert len(line.released()) == 1
    answers = {each.check_name: each for each in result.get_asset_check_evaluations()}
    assert "fleiss_kappa_of_round" not in answers
    assert answers["admitted"].passed
    assert "Reload the definitions" in answers["krippendorff_alpha_of_round"].description
