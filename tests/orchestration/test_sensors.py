import os
import threading
import time
import weakref
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any

import dagster as dg
import pytest

from agreement_pipeline.errors import PolicyError, ProjectError, StoreError
from agreement_pipeline.orchestration import assets, project_definitions, sensors
from agreement_pipeline.orchestration.sensors import BoundedLook, LookBegunLateError, tags_of
from agreement_pipeline.projects import Project, ProjectSettings
from agreement_pipeline.release import Reassessed
from agreement_pipeline.store import Store
from tests.orchestration.conftest import POLICY, Line, ratings_frame
from tests.releases import withdraw

pytestmark = pytest.mark.slow


def tick(line, cursor: str | None = None) -> dg.SensorResult | dg.SkipReason:
    definitions = line.definitions
    sensor = definitions.resolve_sensor_def("reviews_new_rounds")
    return sensor(
        dg.build_sensor_context(instance=line.instance, definitions=definitions, cursor=cursor)
    )


def at_rest(path) -> None:
    os.utime(path, (time.time() - 60, time.time() - 60))


def test_a_new_file_asks_for_one_run_of_its_round(line):
    at_rest(line.deliver("w1", ratings_frame(0.99)))
    found = tick(line)

    assert [request.partition_key for request in found.run_requests] == ["w1"]
    assert found.dynamic_partitions_requests[0].partition_keys == ["w1"]
    assert isinstance(tick(line, found.cursor), dg.SkipReason)


def test_changed_bytes_ask_for_another_run_under_another_key(line):
    at_rest(line.deliver("w1", ratings_frame(0.99)))
    first = tick(line)
    at_rest(line.deliver("w1", ratings_frame(0.55)))
    second = tick(line, first.cursor)

    assert first.run_requests[0].run_key != second.run_requests[0].run_key


def test_a_round_that_comes_back_as_it_once_was_asks_for_a_run_of_its_own(line):
    keys, cursor = [], None
    for agreement in (0.55, 0.99, 0.55, 0.99, 0.55):
        at_rest(line.deliver("w1", ratings_frame(agreement)))
        found = tick(line, cursor)
        keys += [request.run_key for request in found.run_requests]
        cursor = found.cursor
        line.run("w1", "annotations", "acceptability")

    assert len(set(keys)) == 5
    assert isinstance(tick(line, cursor), dg.SkipReason)


@pytest.mark.parametrize("is_settled", [False, True])
def test_a_look_that_finds_nothing_new_opens_no_instance_of_dagster(line, is_settled):
    """To open one takes a tenth of a second, which was most of what an idle deployment cost."""
    cursors: dict[str, str | None] = {}
    definitions = line.definitions
    sensors = list(definitions.sensors)
    if is_settled:
        at_rest(line.deliver("w1", ratings_frame(0.55)))
        line.run("w1", "annotations", "acceptability")
        for sensor in sensors:
            context = dg.build_sensor_context(line.instance, definitions=definitions)
            result = sensor(context)
            cursors[sensor.name] = getattr(result, "cursor", None) or context.cursor
    for sensor in sensors:
        context = dg.build_sensor_context(definitions=definitions, cursor=cursors.get(sensor.name))
        assert isinstance(sensor(context), dg.SkipReason), sensor.name
    assert {sensor.name for sensor in sensors} >= {
        "reviews_new_rounds",
        "reviews_history_changed",
        "reviews_admitted_rounds",
    }


class Days:
    """Ticks of the sensor at times of our choice. Every run that it asks for is made at once."""

    def __init__(self, line, monkeypatch) -> None:
        self.line, self.cursor, self.now = line, None, time.time()
        self.loaded = line.definitions
        clock = SimpleNamespace(time=lambda: self.now)
        monkeypatch.setattr("agreement_pipeline.orchestration.sensors.time", clock)

    def runs(self, after: float) -> int:
        """How many runs a tick asks for, so many seconds after the tick before."""
        self.now += after
        instance = self.line.instance
        context = dg.build_sensor_context(instance, self.cursor, definitions=self.loaded)
        found = self.loaded.resolve_sensor_def("reviews_new_rounds")(context)
        requests = [] if isinstance(found, dg.SkipReason) else found.run_requests
        self.cursor = context.cursor if isinstance(found, dg.SkipReason) else found.cursor
        for request in requests:
            self.line.run(request.partition_key, "annotations", "acceptability", tags=request.tags)
        return len(requests)


@pytest.fixture
def days(line, monkeypatch):
    return Days(line, monkeypatch)


WITHOUT_LABELS = ratings_frame(0.99).drop(columns="label")


def test_a_broken_file_is_run_once_and_then_once_a_day(line, days):
    at_rest(line.deliver("w1", WITHOUT_LABELS))
    of_a_day = (15, 15, 15, 15, *[14_400] * 6)
    assert [days.runs(after) for after in of_a_day] == [1, *[0] * 8, 1]
    assert [days.runs(after) for after in of_a_day] == [*[0] * 9, 1]


def test_a_broken_file_is_run_again_when_its_bytes_change(line, days):
    at_rest(line.deliver("w1", WITHOUT_LABELS))
    assert [days.runs(15) for _ in range(4)] == [1, 0, 0, 0]
    at_rest(line.deliver("w1", ratings_frame(0.99)))
    assert [days.runs(15) for _ in range(4)] == [1, 0, 0, 0]
    assert [each["decision"] for each in decisions(line)] == ["admitted"]


def test_a_broken_file_is_run_again_when_it_comes_back(line, days):
    path = line.deliver("w1", WITHOUT_LABELS)
    at_rest(path)
    assert [days.runs(15) for _ in range(4)] == [1, 0, 0, 0]
    content = path.read_bytes()
    path.unlink()
    assert days.runs(15) == 0
    path.write_bytes(content)
    at_rest(path)
    assert [days.runs(15) for _ in range(4)] == [1, 0, 0, 0]


def test_a_broken_file_is_run_again_when_the_policy_or_the_settings_change(line, days):
    at_rest(line.deliver("w1", ratings_frame(0.99).rename(columns={"label": "answer"})))
    assert [days.runs(15) for _ in range(4)] == [1, 0, 0, 0]
    line.write_policy({**POLICY, "version": 2})
    assert [days.runs(15) for _ in range(4)] == [1, 0, 0, 0]
    columns = {"label": "answer"}
    line.settings = ProjectSettings(**{**line.settings.model_dump(), "columns": columns})
    days.loaded = line.definitions
    assert [days.runs(15) for _ in range(4)] == [1, 0, 0, 0]
    assert [each["decision"] for each in decisions(line)] == ["admitted"]


def test_a_round_waits_until_the_policy_can_be_read(line, days):
    at_rest(line.deliver("w1", ratings_frame(0.99)))
    line.write_policy({**POLICY, "rules": []})
    with pytest.raises(PolicyError, match="rules: found no rule"):
        days.runs(15)
    line.write_policy(POLICY)
    assert days.runs(15) == 1


@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), MemoryError()])
def test_a_fault_that_may_pass_is_tried_again_after_twice_as_long_until_it_has_passed(
    line, days, monkeypatch, error
):
    def fails(*_):
        raise error

    at_rest(line.deliver("w1", ratings_frame(0.99)))
    with monkeypatch.context() as broken:
        broken.setattr("agreement_pipeline.projects.Project.keep", fails)
        assert [days.runs(20) for _ in range(8)] == [1, 1, 0, 1, 0, 0, 0, 1]
    assert [days.runs(20) for _ in range(9)] == [0] * 7 + [1, 0]
    assert [each["decision"] for each in decisions(line)] == ["admitted"]


def test_a_run_that_was_killed_is_made_again(line, days):
    """It ended before it could say why."""
    at_rest(line.deliver("w1", ratings_frame(0.99)))
    line.run = lambda *_, **__: None
    assert [days.runs(20) for _ in range(4)] == [1, 1, 0, 1]


def decisions(line) -> list[dict]:
    return [each for each in line.project.store.history() if each["event"] == "decided"]


def test_a_withdrawal_does_not_stand_for_the_decision_that_is_due(line):
    line.deliver("w1", ratings_frame(0.99))
    assert line.decide("w1").success
    at_rest(line.deliver("w1", ratings_frame(0.55)))
    line.run("w1", "annotations")
    withdraw(line.project.store, "w1", ["a mistake in the guideline"])

    assert [request.partition_key for request in tick(line).run_requests] == ["w1"]


def test_a_file_still_being_written_waits(line):
    line.deliver("w1", ratings_frame(0.99))

    assert "still being written" in tick(line).skip_message


def test_an_inbox_that_is_not_there_is_an_error_before_and_after_the_project_was_loaded(line):
    words = "inbox: .*found no such folder or file; expected the inbox of reviews"
    assert tick(line).skip_message == f"nothing new in {line.root / 'inbox'}"
    loaded = line.definitions
    (line.root / "inbox").rmdir()
    with pytest.raises(ProjectError, match=words):
        project_definitions(line.settings)
    context = dg.build_sensor_context(instance=line.instance, definitions=loaded)
    with pytest.raises(ProjectError, match="found no such folder or file; expected the inbox"):
        loaded.resolve_sensor_def("reviews_new_rounds").evaluate_tick(context)


def history_tick(line, cursor: str | None) -> dg.SensorResult | dg.SkipReason:
    definitions = line.definitions
    sensor = definitions.resolve_sensor_def("reviews_history_changed")
    return sensor(
        dg.build_sensor_context(instance=line.instance, definitions=definitions, cursor=cursor)
    )


@pytest.mark.parametrize(
    "change",
    [
        lambda line: line.deliver("w2", ratings_frame(0.99)),
        lambda line: line.deliver("w2", ratings_frame(0.99).drop(columns="label")),
        lambda line: line.decide("w1"),
        lambda line: withdraw(line.project.store, "w1", ["a mistake in the guideline"]),
    ],
    ids=["a file", "a broken file", "a decision", "a withdrawal"],
)
def test_the_table_of_all_rounds_is_written_again_after_every_change_and_only_then(line, change):
    line.deliver("w1", ratings_frame(0.99))
    line.decide("w1")
    line.deliver("w1", ratings_frame(0.98))
    before = history_tick(line, None).cursor
    assert isinstance(history_tick(line, before), dg.SkipReason)
    change(line)
    found = history_tick(line, before)
    assert len(found.run_requests) == 1
    assert isinstance(history_tick(line, found.cursor), dg.SkipReason)


def test_while_a_run_of_the_table_waits_no_other_one_is_asked_for(line):
    line.deliver("w1", ratings_frame(0.99))
    line.decide("w1")
    assert len(history_tick(line, None).run_requests) == 1
    job = line.definitions.resolve_job_def("reviews_history")
    run = line.instance.create_run_for_job(job)
    assert "about to be written" in history_tick(line, None).skip_message
    line.instance.report_run_canceled(run)
    assert len(history_tick(line, None).run_requests) == 1


def test_what_the_table_shows_already_is_not_asked_for(line):
    line.deliver("w1", ratings_frame(0.99))
    line.decide("w1")
    definitions = line.definitions
    table = definitions.resolve_job_def("reviews_history")
    assert table.execute_in_process(instance=line.instance).success
    assert isinstance(history_tick(line, None), dg.SkipReason)
    line.run("w1", "training_data")
    assert isinstance(history_tick(line, None), dg.SkipReason)
    line.deliver("w2", ratings_frame(0.99))
    assert len(history_tick(line, None).run_requests) == 1


def test_a_table_of_no_round_says_that_there_is_none(line):
    job = line.definitions.resolve_job_def("reviews_history")
    result = job.execute_in_process(instance=line.instance)
    said = {each.check_name: each for each in result.get_asset_check_evaluations()}
    assert said["no_round_held"].description == "no round yet"


def test_before_the_first_round_there_is_no_table(line):
    assert history_tick(line, None).skip_message == "no round of reviews has arrived yet"
    line.deliver("w1", ratings_frame(0.99).drop(columns="label"))
    assert history_tick(line, None).skip_message == "no round of reviews has arrived yet"
    (delivery,) = line.project.due()
    line.decide("w1", tags=tags_of(line.project, delivery))
    assert len(history_tick(line, None).run_requests) == 1


def test_partitions_come_back_from_the_store_after_the_database_was_lost(line):
    for name in ("w1", "w2"):
        line.deliver(name, ratings_frame(0.99))
        line.decide(name)
    with dg.DagsterInstance.ephemeral() as made_anew:
        sensor = line.definitions.resolve_sensor_def("reviews_history_changed")
        with dg.build_sensor_context(instance=made_anew) as context:
            (request,) = sensor(context).dynamic_partitions_requests
    assert request.partitions_def_name == "reviews_rounds"
    assert request.partition_keys == ["w1", "w2"]


@pytest.mark.parametrize("name", ["history_changed", "new_rounds"])
def test_a_tick_fails_if_the_policy_cannot_be_read(line, name):
    definitions = line.definitions
    line.write_policy({**POLICY, "rules": []})
    sensor = definitions.resolve_sensor_def(f"reviews_{name}")
    context = dg.build_sensor_context(instance=line.instance, definitions=definitions)
    with pytest.raises(PolicyError, match=r"strict\.yaml"):
        sensor(context)


def test_all_sensors_and_schedules_run_from_the_start(line):
    definitions = line.definitions
    repository = definitions.get_repository_def()
    assert {each.name for each in repository.sensor_defs} == {
        "reviews_new_rounds",
        "reviews_history_changed",
        "reviews_admitted_rounds",
    }
    assert {each.default_status.value for each in repository.sensor_defs} == {"RUNNING"}
    assert {each.default_status.value for each in repository.schedule_defs} == {"RUNNING"}


def test_a_round_name_that_is_a_path_is_refused_aloud(make_line):
    line = make_line(columns={"round": "week"})
    ratings_frame(0.99).assign(week="../../etc").to_csv(
        line.root / "inbox" / "all.csv", index=False
    )
    at_rest(line.root / "inbox" / "all.csv")

    assert "../../etc" in tick(line).skip_message


STRICTER = {
    **POLICY,
    "version": 2,
    "rules": [{"measure": "krippendorff_alpha", "reliable": 0.999, "tentative": 0.998}],
}


def asked_again(line, instance: dg.DagsterInstance) -> list[str | None]:
    """The partitions of the runs that the schedule asks for."""
    definitions = line.definitions
    at = datetime(2026, 1, 5, 6, tzinfo=UTC)
    context = dg.build_schedule_context(
        instance=instance,
        repository_def=definitions.get_repository_def(),
        scheduled_execution_time=at,
    )
    requests = (
        definitions.resolve_schedule_def("reviews_schedule").evaluate_tick(context).run_requests
    )
    return [request.partition_key for request in requests]


def reassessed(line, instance: dg.DagsterInstance) -> dg.ExecuteInProcessResult:
    job = line.definitions.resolve_job_def("reviews_reassessment")
    return job.execute_in_process(instance=instance, raise_on_error=False)


def numbers(result: dg.ExecuteInProcessResult) -> dict[str, int]:
    (own,) = (
        each.metadata
        for each in result.asset_materializations_for_node("reviews__reassessment")
        if each.asset_key == dg.AssetKey(["reviews", "reassessment"])
    )
    return {name: own[name].value for name in ("rounds", "decided_anew", "withdrawn", "changed")}


def shown_on(result: dg.ExecuteInProcessResult, asset: str, check: str) -> dict[str, bool]:
    """What a check of an asset says of each round."""
    key = dg.AssetKey(["reviews", asset])
    return {
        each.partition: each.passed
        for each in result.get_asset_check_evaluations()
        if (each.asset_key, each.check_name) == (key, check)
    }


def test_the_schedule_asks_for_one_run_whatever_the_number_of_rounds(line):
    for name in ("w1", "w2"):
        line.deliver(name, ratings_frame(0.55))
        line.run(name, "annotations")
    with dg.instance_for_test() as instance:
        instance.add_dynamic_partitions("reviews_rounds", ["../w1", "never"])
        assert asked_again(line, instance) == [None]
        added = {*instance.get_dynamic_partitions("reviews_rounds")}
        assert added == {"../w1", "never", "w1", "w2"}


def test_the_store_is_judged_again_in_one_run_that_shows_each_changed_decision(line):
    for name, agreement in (("w1", 1.0), ("w2", 0.97), ("w3", 0.55)):
        line.deliver(name, ratings_frame(agreement))
        line.decide(name)
    assert len(line.released()) == 2
    nothing = reassessed(line, line.instance)
    assert nothing.success
    assert numbers(nothing) == {"rounds": 3, "decided_anew": 0, "withdrawn": 0, "changed": 0}

    rule = {"measure": "krippendorff_alpha", "reliable": 0.96, "tentative": 0.95}
    line.write_policy({**POLICY, "version": 2, "rules": [rule]})
    line.instance.delete_dynamic_partition("reviews_rounds", "w2")
    result = reassessed(line, line.instance)
    assert result.success
    assert numbers(result) == {"rounds": 3, "decided_anew": 3, "withdrawn": 1, "changed": 1}
    assert shown_on(result, "acceptability", "admitted") == {"w2": False}
    assert shown_on(result, "training_data", "in_force") == {"w2": False}
    assert [path.parent.name for path in line.released()] == ["w1"]


def test_a_round_that_is_admitted_now_is_released_by_the_run_that_judges_the_store(line):
    line.write_policy(STRICTER)
    line.deliver("w1", ratings_frame(0.99))
    assert not line.decide("w1").success
    line.write_policy({**POLICY, "version": 3})
    result = reassessed(line, line.instance)
    assert shown_on(result, "acceptability", "admitted") == {"w1": True}
    key = dg.AssetKey(["reviews", "training_data"])
    event = line.instance.get_latest_materialization_event(key)
    assert event.asset_materialization.partition == "w1"
    assert [path.parent.name for path in line.released()] == ["w1"]


def test_a_round_that_cannot_be_judged_fails_the_run_after_all_others(line):
    for name in ("w1", "w2"):
        line.deliver(name, ratings_frame(0.99))
        line.decide(name)
    line.deliver("w1", ratings_frame(0.98))
    line.run("w1", "annotations")
    broken = line.project.store.present("w1").ratings_digest
    for path in (line.root / ".agreement/store/reviews/rounds" / broken).iterdir():
        path.chmod(0o644)
        path.write_bytes(b"edited")
    line.write_policy(STRICTER)
    result = reassessed(line, line.instance)
    assert not result.success
    assert numbers(result)["rounds"] == 2
    check = {each.check_name: each for each in result.get_asset_check_evaluations()}
    assert "round w1: " in check["every_round_judged"].description
    assert shown_on(result, "acceptability", "admitted") == {"w2": False}


def test_a_decision_that_cannot_be_shown_whole_is_released_and_shown_and_said_to_fail(
    line, monkeypatch
):
    line.write_policy(STRICTER)
    for name in ("w1", "w2"):
        line.deliver(name, ratings_frame(0.99))
        line.decide(name)
    line.write_policy({**POLICY, "version": 3})

    def unreadable(*_: object) -> None:
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(Store, "ratings", unreadable)
    monkeypatch.setattr("agreement_pipeline.evidence.summary.describe_who_rated", unreadable)
    result = reassessed(line, line.instance)
    assert [path.parent.name for path in line.released()] == ["w1", "w2"]
    assert shown_on(result, "acceptability", "admitted") == {"w1": True, "w2": True}
    assert not result.success
    check = {each.check_name: each for each in result.get_asset_check_evaluations()}
    said = check["every_round_judged"].description
    why = "who rated, who differs and what to do: found [Errno 5] Input/output error; expected"
    assert said.startswith(f"No: round w1: {why}")
    assert f"round w2: {why}" in said


def test_a_round_that_cannot_be_released_ends_nothing(line, monkeypatch):
    line.write_policy(STRICTER)
    for name in ("w1", "w2"):
        line.deliver(name, ratings_frame(0.99))
        line.decide(name)
    line.write_policy({**POLICY, "version": 3})
    release = Project.release

    def release_on_full_disk(project, name):
        if name == "w1":
            raise OSError(28, "No space left on device")
        return release(project, name)

    monkeypatch.setattr(Project, "release", release_on_full_disk)
    result = reassessed(line, line.instance)
    assert not result.success
    assert [path.parent.name for path in line.released()] == ["w2"]
    assert shown_on(result, "acceptability", "admitted") == {"w1": True, "w2": True}


def test_the_ratings_of_a_round_are_let_go_before_the_next_is_judged(line, monkeypatch):
    for name in ("w1", "w2", "w3"):
        line.deliver(name, ratings_frame(0.99))
        line.decide(name)
    line.write_policy({**POLICY, "version": 2})
    judge_again, seen, alive = assets.reassess, [], []

    def watched(*terms: object, **more: object) -> Iterator[Reassessed]:
        found = judge_again(*terms, **more)

        def following() -> Reassessed | None:
            alive.append(sum(each() is not None for each in seen))
            each = next(found, None)
            seen.extend([] if each is None else [weakref.ref(each)])
            return each

        return iter(following, None)

    monkeypatch.setattr(assets, "reassess", watched)
    assert reassessed(line, line.instance).success
    assert alive == [0, 0, 0, 0]


def test_before_the_first_round_the_schedule_has_nothing_to_do(line):
    with dg.instance_for_test() as instance:
        assert asked_again(line, instance) == []


def test_judging_again_needs_no_file_and_withdraws_what_a_stricter_policy_does_not_admit(line):
    path = line.deliver("w1", ratings_frame(0.99))
    assert line.decide("w1").success
    line.write_policy(STRICTER)
    definitions = line.definitions
    for spoil in (path.unlink, lambda: path.write_text("no table at all")):
        spoil()
        definitions.resolve_job_def("reviews_again").execute_in_process(
            instance=line.instance, partition_key="w1", raise_on_error=False
        )
        assert line.released() == []
        assert line.project.store.present("w1").source == "w1.csv"


def test_equal_files_of_two_projects_do_not_wait_for_each_other(tmp_path, instance):
    lines = [Line(tmp_path / name, instance) for name in ("reviews", "posts")]
    lines[1].settings = lines[1].settings.model_copy(update={"project": "posts"})
    requests = []
    for line in lines:
        at_rest(line.deliver("w1", ratings_frame(0.99)))
        name = line.settings.project
        context = dg.build_sensor_context(instance, definitions=line.definitions)
        (request,) = line.definitions.resolve_sensor_def(f"{name}_new_rounds")(context).run_requests
        requests.append(request)
        instance.create_run_for_job(
            line.definitions.resolve_job_def(f"{name}_round"),
            tags={**request.tags, "dagster/partition": "w1"},
            status=dg.DagsterRunStatus.STARTED,
        )
    first, second = requests
    assert first.run_key != second.run_key
    assert first.tags["agreement_pipeline/original"] == second.tags["agreement_pipeline/original"]


def begin_look(bounded_look: BoundedLook[str]) -> threading.Event:
    """Somebody else's look, which answers after the event."""
    begun, answers = threading.Event(), threading.Event()

    def look() -> str:
        begun.set()
        assert answers.wait(60)
        return "theirs"

    ThreadPoolExecutor(1).submit(bounded_look.take, look)
    assert begun.wait(60)
    return answers


def test_who_looks_while_another_look_has_just_begun_waits_for_its_end():
    """As if a sensor is tried in the UI while the daemon ticks. No outage is told of it."""
    bounded_look = BoundedLook[str](60.0)
    answers = begin_look(bounded_look)
    with ThreadPoolExecutor() as pool:
        mine = pool.submit(bounded_look.take, lambda: "mine")
        assert wait([mine], 0.2).not_done
        answers.set()
        assert mine.result(60) == "mine"


def test_a_look_that_has_not_answered_in_time_is_an_outage_at_once(monkeypatch):
    now = 1000.0
    monkeypatch.setattr(sensors, "monotonic", lambda: now)
    bounded_look = BoundedLook[str](45.0)
    answers = begin_look(bounded_look)
    now += 46
    with pytest.raises(StoreError, match="found no answer within 45 s"):
        bounded_look.take(lambda: "mine")
    answers.set()


def test_a_look_that_began_late_is_no_outage_where_no_time_is_left(monkeypatch):
    now, bounded_look = 1000.0, BoundedLook[str](45.0)
    monkeypatch.setattr(sensors, "monotonic", lambda: now)
    answers, never = begin_look(bounded_look), threading.Event()

    def wait_in_vain(futures: list[Future[str]], seconds: float) -> Any:
        nonlocal now
        if threading.current_thread() is not threading.main_thread():
            return wait(futures, 60)
        if answers.is_set():
            now += seconds
            return wait(futures, 0)
        now += seconds - 1
        answers.set()
        return wait(futures, 60)

    now += 40
    monkeypatch.setattr(sensors, "wait", wait_in_vain)
    with pytest.raises(LookBegunLateError, match="no answer yet, 41 s after another look ended"):
        bounded_look.take(lambda: str(never.wait(60)))
    never.set()


def test_a_tick_whose_look_began_late_is_skipped(line, monkeypatch):
    def begin_late(*_: object) -> None:
        raise LookBegunLateError("found no answer yet")

    monkeypatch.setattr(BoundedLook, "take", begin_late)
    skipped = tick(line)
    assert isinstance(skipped, dg.SkipReason)
    assert skipped.skip_message == "found no answer yet"
