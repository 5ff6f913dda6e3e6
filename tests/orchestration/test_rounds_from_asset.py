"""Rounds that come from another asset: a table of pandas, Polars or Arrow, in parts or whole."""

import json
import pickle
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import dagster as dg
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from agreement_pipeline.errors import ProjectError
from agreement_pipeline.orchestration import project_definitions, rounds_of
from agreement_pipeline.orchestration.host import Host
from agreement_pipeline.orchestration.sensors import find_unjudged
from agreement_pipeline.projects import Project, ProjectSettings
from agreement_pipeline.release import verify_release
from tests.orchestration.checks import BAD, GOOD
from tests.orchestration.conftest import CATEGORIES, POLICY, ratings_frame
from tests.orchestration.test_suites import LANGUAGE, write_suite

pytestmark = pytest.mark.slow

WEEKS = dg.WeeklyPartitionsDefinition(start_date="2026-01-05")
STATIC = dg.StaticPartitionsDefinition(["w1", "w2"])
ANNOTATIONS = dg.AssetKey(["staging", "annotations"])
LINE = ["annotations", "acceptability", "training_data"]


class Warehouse:
    """A code location with an asset `staging/annotations` and the project that reads it."""

    def __init__(self, root: Path, instance: dg.DagsterInstance, **settings: Any) -> None:
        (root / "configs/policies").mkdir(parents=True)
        (root / "configs/policies/strict.yaml").write_text(json.dumps(POLICY))
        self.instance, self.tables = instance, dict[str, Any]()
        self.settings = ProjectSettings(
            project="reviews",
            policy="strict",
            root=str(root),
            scale={"categories": CATEGORIES},
            deliveries="independent",
            **{"rounds_from": {"asset": "staging/annotations"}, **settings},
        )
        self.storage = str(root / "storage")

    @property
    def project(self) -> Project:
        return Project(self.settings)

    def load(self, partitions: dg.PartitionsDefinition | None, **more: Any) -> dg.Definitions:
        @dg.asset(key=ANNOTATIONS, partitions_def=partitions, **more)
        def staged(context: dg.AssetExecutionContext) -> Any:
            return self.tables[context.partition_key if context.has_partition_key else ""]

        self.upstream = staged
        self.definitions = dg.Definitions.merge(
            dg.Definitions(
                assets=[staged],
                resources={"io_manager": dg.FilesystemIOManager(base_dir=self.storage)},
            ),
            project_definitions(self.settings),
        )
        return self.definitions

    def stage(self, table: Any, partition: str | None = None) -> None:
        self.tables[partition or ""] = table
        resources = {"io_manager": dg.FilesystemIOManager(base_dir=self.storage)}
        dg.materialize(
            [self.upstream], instance=self.instance, partition_key=partition, resources=resources
        )

    def run(
        self, job: str = "round", partition: str | None = None, names: list[str] | None = None
    ) -> dg.ExecuteInProcessResult:
        if partition is not None:
            self.instance.add_dynamic_partitions("reviews_rounds", [partition])
        return self.definitions.resolve_job_def(f"reviews_{job}").execute_in_process(
            instance=self.instance,
            partition_key=partition,
            raise_on_error=False,
            asset_selection=[dg.AssetKey(["reviews", name]) for name in names or ()] or None,
        )

    def decide(self, partition: str) -> dg.ExecuteInProcessResult:
        return self.run(partition=partition, names=LINE)

    def tick(self, sensor: str, cursor: str | None = None) -> dg.SensorResult | dg.SkipReason:
        context = dg.build_sensor_context(self.instance, cursor, definitions=self.definitions)
        result: Any = self.definitions.resolve_sensor_def(f"reviews_{sensor}")(context)
        self.cursor = getattr(result, "cursor", None) or context.cursor
        return result

    def run_requests(self, sensor: str, cursor: str | None = None) -> list[dg.RunRequest]:
        result = self.tick(sensor, cursor)
        return list(result.run_requests or []) if isinstance(result, dg.SensorResult) else []

    def released(self) -> list[Path]:
        return sorted(
            path.parent
            for path in self.project.store.root.rglob("manifest.json")
            if not (path.parent / "WITHDRAWN.json").exists()
        )

    def delivered(self) -> list[str]:
        return sorted(path.name for path in self.project.inbox.iterdir())


@pytest.fixture
def make_warehouse(tmp_path: Path, instance: dg.DagsterInstance) -> Callable[..., Warehouse]:
    return lambda **settings: Warehouse(tmp_path, instance, **settings)


def failure_of(result: dg.ExecuteInProcessResult) -> tuple[str, str]:
    """The asset that failed, and its first line."""
    (event,) = [event for event in result.all_events if event.is_step_failure]
    data = event.step_failure_data
    return str(event.step_key), str(data.user_failure_data and data.user_failure_data.description)


@pytest.mark.parametrize(
    ("partitions", "name", "kind"),
    [
        (rounds_of("reviews"), "w1", pd.DataFrame),
        (WEEKS, "2026-01-11", pd.DataFrame),
        (STATIC, "w1", pd.DataFrame),
        (STATIC, "w1", pl.DataFrame),
        (STATIC, "w1", pl.LazyFrame),
        (STATIC, "w1", pa.Table.from_pandas),
    ],
    ids=["rounds of the project", "weeks", "static", "polars", "lazy polars", "arrow"],
)
def test_partition_becomes_the_round_of_its_name(make_warehouse, partitions, name, kind):
    warehouse = make_warehouse()
    warehouse.load(partitions)
    warehouse.instance.add_dynamic_partitions("reviews_rounds", [name])
    warehouse.stage(kind(GOOD), name)
    result = warehouse.decide(name)

    assert result.success
    project = warehouse.project
    assert (
        project.store.ratings(name).digest == Project(warehouse.settings).store.ratings(name).digest
    )
    (folder,) = warehouse.released()
    train = pd.read_parquet(folder / "data")
    assert len(train) == GOOD["item"].nunique()
    assert warehouse.delivered() == [f"{name}.parquet"]


def test_equal_tables_of_three_libraries_are_one_version_of_the_round(make_warehouse):
    warehouse = make_warehouse()
    warehouse.load(STATIC)
    digests = set()
    for kind in (pd.DataFrame, pl.DataFrame, pa.Table.from_pandas):
        warehouse.stage(kind(GOOD), "w1")
        assert warehouse.run(partition="w1", names=["annotations"]).success
        digests.add(warehouse.project.store.present("w1").ratings_digest)
    assert len(digests) == 1


def test_annotations_have_the_asset_as_their_parent(make_warehouse):
    warehouse = make_warehouse()
    graph = warehouse.load(STATIC).resolve_asset_graph()
    assert graph.get(dg.AssetKey(["reviews", "annotations"])).parent_keys == {ANNOTATIONS}


def test_upstream_and_its_round_run_together_in_this_order(make_warehouse):
    warehouse = make_warehouse()
    definitions = warehouse.load(rounds_of("reviews"))
    warehouse.tables["w1"] = GOOD
    warehouse.instance.add_dynamic_partitions("reviews_rounds", ["w1"])
    keys = [ANNOTATIONS, *(dg.AssetKey(["reviews", name]) for name in LINE)]
    job = definitions.resolve_implicit_global_asset_job_def()
    result = job.execute_in_process(
        instance=warehouse.instance, partition_key="w1", asset_selection=keys
    )
    done = [event.asset_key for event in result.get_asset_materialization_events()]
    assert done == keys


def test_sensor_asks_for_each_new_partition_once_and_again_when_it_changes(make_warehouse):
    warehouse = make_warehouse()
    warehouse.load(WEEKS)
    name = "2026-01-11"
    assert warehouse.run_requests("new_rounds") == []
    warehouse.stage(GOOD, name)
    (request,) = warehouse.run_requests("new_rounds")
    assert request.partition_key == name
    cursor = warehouse.cursor

    warehouse.instance.add_dynamic_partitions("reviews_rounds", [name])
    job = warehouse.definitions.resolve_job_def("reviews_round")
    job.execute_in_process(
        instance=warehouse.instance, partition_key=name, tags=request.tags, raise_on_error=False
    )
    assert warehouse.run_requests("new_rounds", cursor) == []
    assert warehouse.run_requests("new_rounds") == []  # also if the cursor is lost
    arrivals = warehouse.project.times_arrived(name)

    warehouse.stage(BAD, name)
    (request,) = warehouse.run_requests("new_rounds", warehouse.cursor)
    result = job.execute_in_process(
        instance=warehouse.instance, partition_key=name, tags=request.tags, raise_on_error=False
    )
    assert not result.success
    assert warehouse.project.times_arrived(name) == arrivals + 1
    assert warehouse.released() == []
    # A held round is decided, and is not asked for again.
    assert warehouse.run_requests("new_rounds") == []


def test_round_whose_run_was_lost_is_asked_for_again(make_warehouse, monkeypatch):
    warehouse = make_warehouse()
    warehouse.load(STATIC)
    warehouse.stage(GOOD, "w1")
    assert len(warehouse.run_requests("new_rounds")) == 1
    now = time.time()
    assert warehouse.run_requests("new_rounds", warehouse.cursor) == []
    monkeypatch.setattr("agreement_pipeline.orchestration.sensors.time.time", lambda: now + 60)
    assert len(warehouse.run_requests("new_rounds", warehouse.cursor)) == 1


def test_one_table_is_cut_into_rounds(make_warehouse):
    warehouse = make_warehouse(rounds={"column": "labelled", "every": "week"})
    definitions = warehouse.load(None)
    graph = definitions.resolve_asset_graph()
    table = dg.AssetKey(["reviews", "delivered_table"])
    assert graph.get(table).parent_keys == {ANNOTATIONS}
    assert graph.get(dg.AssetKey(["reviews", "annotations"])).parent_keys == {table}

    later = ratings_frame(1.0, seed=2).assign(labelled="2026-01-12T10:00:00Z")
    later["item"] = "later " + later["item"]
    both = pd.concat([GOOD.assign(labelled="2026-01-05T10:00:00Z"), later])
    warehouse.stage(both)
    (request,) = warehouse.run_requests("new_delivery")
    assert request.partition_key is None
    job = definitions.resolve_job_def("reviews_delivery")
    assert job.execute_in_process(instance=warehouse.instance, tags=request.tags).success
    assert warehouse.run_requests("new_delivery") == []

    rounds = [delivery.round for delivery in warehouse.project.due()]
    assert rounds == ["2026-W02", "2026-W03"]
    for name in rounds:
        assert warehouse.decide(name).success
    assert warehouse.project.due() == ()
    _, ratings = warehouse.project.delivered("2026-W03")
    assert set(ratings.to_pandas()["item"]) == set(later["item"])

    # Only a new materialization is a new delivery.
    warehouse.stage(both)
    (request,) = warehouse.run_requests("new_delivery")
    job.execute_in_process(instance=warehouse.instance, tags=request.tags)
    assert warehouse.project.due() == ()


@pytest.mark.parametrize(
    ("table", "words"),
    [
        ({"item": ["i1"]}, "a value of type dict"),
        (None, "None"),
        ("labels", "a value of type str"),
        (pd.Series(["yes"]), "a Series that Arrow cannot read"),
        (pl.Series(["yes"]), "Series"),
        (GOOD.iloc[:0], "a table without rows"),
        (GOOD.drop(columns="rater"), "rater"),
    ],
    ids=["dict", "none", "text", "series", "polars series", "empty", "column"],
)
def test_what_is_no_table_of_ratings_is_one_clear_error(make_warehouse, table, words):
    warehouse = make_warehouse()
    # Dagster materializes no value that is None.
    warehouse.load(STATIC)
    if table is None:
        table_or_none: Any = pd.DataFrame()
        warehouse.stage(table_or_none, "w1")
        Path(warehouse.storage, "staging/annotations/w1").write_bytes(pickle.dumps(None))
    else:
        warehouse.stage(table, "w1")
    step, message = failure_of(warehouse.decide("w1"))
    assert step == "reviews__round"
    assert message.startswith("asset staging/annotations, round w1: found ")
    assert words in message
    assert "expected" in message
    assert str(warehouse.settings.root) not in message
    assert warehouse.project.store.rounds() == ()


def test_round_that_cannot_be_judged_is_told_and_let_rest(make_warehouse, monkeypatch):
    warehouse = make_warehouse()
    warehouse.load(STATIC)
    warehouse.stage(GOOD.drop(columns="rater"), "w1")
    (request,) = warehouse.run_requests("new_rounds")
    warehouse.instance.add_dynamic_partitions("reviews_rounds", ["w1"])
    warehouse.definitions.resolve_job_def("reviews_round").execute_in_process(
        instance=warehouse.instance, partition_key="w1", tags=request.tags, raise_on_error=False
    )
    broken = find_unjudged(warehouse, Host(Project(warehouse.settings)))
    assert "rater" in broken.pop("w1")
    assert broken == {}
    now = time.time()
    monkeypatch.setattr("agreement_pipeline.orchestration.sensors.time.time", lambda: now + 60)
    assert warehouse.run_requests("new_rounds", warehouse.cursor) == []


def test_table_without_partitions_is_no_round(make_warehouse):
    warehouse = make_warehouse()
    warehouse.load(None)
    warehouse.stage(GOOD)
    with pytest.raises(ProjectError, match=r"rounds: \{column: week\}"):
        warehouse.tick("new_rounds")
    step, message = failure_of(warehouse.decide("w1"))
    assert step == "reviews__round"
    assert message.startswith("asset staging/annotations: found no partitions; expected")
    assert warehouse.project.store.rounds() == ()


def test_io_manager_of_the_settings_loads_the_table(make_warehouse):
    class Tables(dg.IOManager):
        def load_input(self, context: dg.InputContext) -> pd.DataFrame:
            assert context.asset_key == ANNOTATIONS
            assert context.partition_key == "w1"
            # as IO managers of warehouses look them up
            assert context.dagster_type.typing_type is Any
            assert context.resource_config["database"] == "ratings.duckdb"
            assert context.upstream_output.definition_metadata == {"partition_expr": "week"}
            return GOOD

        def handle_output(self, context: dg.OutputContext, obj: object) -> None:
            raise AssertionError

    class TablesOf(dg.ConfigurableIOManagerFactory[Tables]):
        database: str

        def create_io_manager(self, context: dg.InitResourceContext) -> Tables:
            return Tables()

    warehouse = make_warehouse(
        rounds_from={"asset": "staging/annotations", "io_manager": "warehouse"}
    )
    spec = dg.AssetSpec(ANNOTATIONS, partitions_def=STATIC, metadata={"partition_expr": "week"})
    warehouse.definitions = dg.Definitions.merge(
        dg.Definitions(assets=[spec], resources={"warehouse": TablesOf(database="ratings.duckdb")}),
        project_definitions(warehouse.settings),
    )
    assert warehouse.decide("w1").success


def test_lost_table_answers_no_check_for_the_delivery_before_it(make_warehouse):
    warehouse = make_warehouse(contract="listings.json")
    write_suite(warehouse.project, LANGUAGE)
    warehouse.load(STATIC)
    warehouse.stage(GOOD.assign(language="de"), "w1")
    result = warehouse.decide("w1")
    assert "language_in_set" in {each.check_name for each in result.get_asset_check_evaluations()}

    (stored,) = (path for path in Path(warehouse.storage).rglob("w1") if path.is_file())
    stored.unlink()
    result = warehouse.decide("w1")
    assert "No such file" in failure_of(result)[1]
    assert result.get_asset_check_evaluations() == []


def test_forged_upstream_is_judged_like_any_other_table(make_warehouse):
    """Whoever writes into the IO manager's folder delivers, and the lock judges what was stored."""
    warehouse = make_warehouse()
    warehouse.load(STATIC)
    warehouse.stage(GOOD, "w1")
    assert warehouse.decide("w1").success
    pickled = Path(warehouse.storage, "staging/annotations/w1")
    pickled.write_bytes(pickle.dumps(BAD))
    # The stored round is what training data are made of.
    assert warehouse.run(partition="w1", names=["training_data"]).success
    assert not warehouse.decide("w1").success
    assert warehouse.released() == []
    result = warehouse.run(partition="w1", names=["training_data"])
    assert not result.success


def test_reported_materialization_delivers_nothing(make_warehouse):
    warehouse = make_warehouse()
    warehouse.load(STATIC)
    warehouse.instance.report_runless_asset_event(
        dg.AssetMaterialization(ANNOTATIONS, partition="w1")
    )
    (request,) = warehouse.run_requests("new_rounds")
    assert request.partition_key == "w1"
    assert not warehouse.decide("w1").success
    assert warehouse.project.store.rounds() == ()


def test_launchpad_has_no_place_for_a_value(make_warehouse):
    warehouse = make_warehouse()
    definitions = warehouse.load(STATIC)
    warehouse.stage(BAD, "w1")
    warehouse.instance.add_dynamic_partitions("reviews_rounds", ["w1"])
    job = definitions.resolve_job_def("reviews_round")
    with pytest.raises(dg.DagsterInvalidConfigError):
        job.execute_in_process(
            instance=warehouse.instance,
            partition_key="w1",
            run_config={"ops": {"reviews__round": {"inputs": {"table": {"value": 1}}}}},
        )
    assert warehouse.project.store.rounds() == ()


def test_subset_without_acceptability_is_held_by_the_lock(make_warehouse):
    warehouse = make_warehouse()
    warehouse.load(STATIC)
    warehouse.stage(BAD, "w1")
    result = warehouse.run(partition="w1", names=["annotations", "training_data"])
    step, message = failure_of(result)
    assert step == "reviews__round"
    assert message.startswith("round w1: held, since krippendorff_alpha 0.")
    assert warehouse.released() == []


def test_value_in_the_folder_of_the_io_manager_is_no_training_data(make_warehouse):
    """Other assets are loaded from this folder. Training data come from the lock alone."""
    warehouse = make_warehouse()
    trained: list[pd.DataFrame] = []

    @dg.asset(
        partitions_def=rounds_of("reviews"),
        ins={"training_data": dg.AssetIn(["reviews", "training_data"])},
    )
    def model(training_data: pd.DataFrame) -> None:
        trained.append(training_data)

    jobs = [dg.define_asset_job("train", selection=[model])]
    definitions = dg.Definitions.merge(
        warehouse.load(STATIC), dg.Definitions(assets=[model], jobs=jobs)
    )
    for name, table in {"w1": GOOD, "w2": BAD}.items():
        warehouse.stage(table, name)
        warehouse.decide(name)
        forged = Path(warehouse.storage, "reviews/training_data", name)
        forged.parent.mkdir(parents=True, exist_ok=True)
        forged.write_bytes(pickle.dumps(pd.DataFrame({"item": ["forged"]})))
        definitions.resolve_job_def("train").execute_in_process(
            instance=warehouse.instance, partition_key=name, raise_on_error=False
        )
    (table,) = trained
    assert set(table["id"]) == set(GOOD["item"])


def test_release_verifies_and_binds_the_bytes_of_the_delivery(make_warehouse):
    warehouse = make_warehouse()
    warehouse.load(STATIC)
    warehouse.stage(GOOD, "w1")
    assert warehouse.decide("w1").success
    (folder,) = warehouse.released()
    assert verify_release(folder).rounds == ("w1",)
    (delivery,) = warehouse.project.look().deliveries.values()
    assert warehouse.project.store.present("w1").original_digest == delivery.digest
