"""What starts runs: our sensors, conditions of Dagster's, or nobody."""

from collections.abc import Callable
from pathlib import Path

import dagster as dg
import pandas as pd
import pytest
from pydantic import ValidationError

from agreement_pipeline.errors import ProjectError
from agreement_pipeline.orchestration import definitions, rounds_of
from agreement_pipeline.orchestration.assets import ROUND_ASSETS
from agreement_pipeline.orchestration.host import Host
from agreement_pipeline.orchestration.sensors import find_unjudged
from tests.orchestration.checks import BAD, GOOD
from tests.orchestration.test_rounds_from_asset import WEEKS, Warehouse

pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore:Parameter `include_sources`"),  # of Dagster's own sensor
]

MODEL = dg.AssetKey("model")
WEEK, LATER = "2026-01-11", "2026-01-18"


def is_running(sensor: dg.SensorDefinition | dg.ScheduleDefinition) -> bool:
    return sensor.default_status.value == "RUNNING"


class Automated(Warehouse):
    """Annotations of each week, a project and a model; conditions ask for all after the first."""

    def load_all(self) -> dg.Definitions:
        self.load(WEEKS)
        self.trained: dict[str, int] = {}

        @dg.asset(
            key=MODEL,
            partitions_def=rounds_of("reviews"),
            ins={"training_data": dg.AssetIn(["reviews", "training_data"])},
            automation_condition=dg.AutomationCondition.eager(),
        )
        def model(context: dg.AssetExecutionContext, training_data: pd.DataFrame) -> None:
            self.trained[context.partition_key] = len(training_data)

        self.definitions = dg.Definitions.merge(self.definitions, dg.Definitions(assets=[model]))
        self.cursor = None
        return self.definitions

    def tick_conditions(self) -> dict[str, set[str]]:
        """Run what the conditions ask for now: the partitions by the name of the asset."""
        result = dg.evaluate_automation_conditions(
            self.definitions, self.instance, cursor=self.cursor
        )
        self.cursor = result.cursor
        keys = [MODEL, *(dg.AssetKey(["reviews", name]) for name in ROUND_ASSETS)]
        by_asset = {key: set(result.get_requested_partitions(key)) for key in keys}
        asked = {key: partitions for key, partitions in by_asset.items() if partitions}
        job = self.definitions.resolve_implicit_global_asset_job_def()
        for partition in sorted(set().union(*asked.values())):
            selection = [key for key in keys if partition in asked.get(key, ())]
            job.execute_in_process(
                instance=self.instance,
                partition_key=partition,
                asset_selection=selection,
                raise_on_error=False,
            )
        return {key.path[-1]: partitions for key, partitions in asked.items()}

    def add_partitions(self) -> None:
        """What the sensor does: it adds the new partitions of the upstream asset, and runs none."""
        context = dg.build_sensor_context(self.instance, None, definitions=self.definitions)
        result = self.definitions.resolve_sensor_def("reviews_new_rounds")(context)
        assert not getattr(result, "run_requests", None)
        for request in getattr(result, "dynamic_partitions_requests", None) or ():
            self.instance.add_dynamic_partitions("reviews_rounds", list(request.partition_keys))


@pytest.fixture
def automated(tmp_path: Path, instance: dg.DagsterInstance) -> Automated:
    made = Automated(tmp_path, instance, automation="eager")
    made.load_all()
    return made


def test_weeks_go_from_a_pandas_asset_to_a_model_by_conditions_alone(automated):
    automated.tick_conditions()
    for week in (WEEK, LATER):
        automated.stage(GOOD.assign(item=week + GOOD["item"]), week)
        automated.add_partitions()
        asked = automated.tick_conditions()
        assert {name for name, weeks in asked.items() if weeks == {week}} >= {
            "annotations",
            "acceptability",
            "training_data",
            "model",
        }
    assert automated.trained == {WEEK: 120, LATER: 120}
    assert {path.parent.name for path in automated.released()} == {WEEK, LATER}
    assert automated.tick_conditions() == {}


def test_held_week_trains_nothing_and_is_not_asked_for_again(automated):
    automated.tick_conditions()
    automated.stage(BAD, WEEK)
    automated.add_partitions()
    assert "training_data" in automated.tick_conditions()
    assert automated.tick_conditions() == {}
    assert (automated.trained, automated.released()) == ({}, [])

    # A better delivery of the same week is seen as an update of the upstream asset.
    automated.stage(GOOD, WEEK)
    assert "training_data" in automated.tick_conditions()
    assert automated.trained == {WEEK: 120}


def test_week_that_cannot_be_judged_is_told(automated):
    automated.tick_conditions()
    automated.stage(GOOD.drop(columns="rater"), WEEK)
    automated.add_partitions()
    automated.tick_conditions()
    host = Host(automated.project)
    assert "rater" in find_unjudged(automated, host)[WEEK]
    assert automated.tick_conditions() == {}
    automated.stage(GOOD, WEEK)
    automated.tick_conditions()
    assert find_unjudged(automated, host) == {}


def test_table_of_all_rounds_is_taken_by_a_condition_and_its_rounds_by_the_sensor(
    tmp_path, instance
):
    warehouse = Warehouse(
        tmp_path, instance, automation="eager", rounds={"column": "day", "every": "week"}
    )
    graph = warehouse.load(None).resolve_asset_graph()
    conditions = {
        key.path[-1] for key in graph.get_all_asset_keys() if graph.get(key).automation_condition
    }
    assert conditions == {"delivered_table"}
    before = dg.evaluate_automation_conditions(warehouse.definitions, instance)
    warehouse.stage(GOOD.assign(day="2026-01-05T10:00:00Z"))
    result = dg.evaluate_automation_conditions(
        warehouse.definitions, instance, cursor=before.cursor
    )
    assert result.total_requested == 1
    job = warehouse.definitions.resolve_job_def("reviews_delivery")
    assert job.execute_in_process(instance=instance).success
    (delivery,) = warehouse.project.due()
    assert delivery.round == "2026-W02"
    names = {sensor.name for sensor in warehouse.definitions.sensors}
    assert "reviews_new_delivery" not in names
    assert "reviews_new_rounds" in names


@pytest.mark.parametrize("automation", ["sensor", "stopped"])
def test_sensors_and_schedule_are_started_unless_the_project_stops_them(make_line, automation):
    line = make_line(
        automation=automation, alerts_url_from="REVIEWS_WEBHOOK", adjudicated="answers"
    )
    loaded = line.definitions
    statuses = {each.name: is_running(each) for each in (*loaded.sensors, *loaded.schedules)}
    assert len(statuses) == 6
    assert set(statuses.values()) == {automation == "sensor"}
    graph = loaded.resolve_asset_graph()
    assert not any(graph.get(key).automation_condition for key in graph.get_all_asset_keys())


def test_conditions_need_an_upstream_asset(make_line):
    with pytest.raises(ValidationError, match=r"automation.*\n.*found eager without rounds_from"):
        make_line(automation="eager")


def test_automation_changes_no_reading(make_line):
    settings = make_line().settings
    stopped = settings.model_copy(update={"automation": "stopped"})
    assert settings.reading_digest == stopped.reading_digest


@pytest.fixture
def load_location(tmp_path, monkeypatch) -> Callable[[], dg.Definitions]:
    (tmp_path / "configs/projects").mkdir(parents=True)
    (tmp_path / "inbox").mkdir()
    (tmp_path / "configs/projects/posts.yaml").write_text(
        "project: posts\ninbox: inbox\npolicy: exploratory\nscale: {categories: [bad, good]}\n"
    )
    monkeypatch.setenv("AGREEMENT_ROOT", str(tmp_path))
    return definitions.defs


def test_environment_stops_every_project_of_a_laptop(load_location, monkeypatch):
    def running() -> set[bool]:
        loaded = load_location()
        return {is_running(each) for each in (*loaded.sensors, *loaded.schedules)}

    assert running() == {True}
    monkeypatch.setenv("AGREEMENT_AUTOMATION", "stopped")
    assert running() == {False}
    monkeypatch.setenv("AGREEMENT_AUTOMATION", "off")
    with pytest.raises(ProjectError, match="AGREEMENT_AUTOMATION: found 'off'; expected 'stopped'"):
        running()
