"""Training data as the input of an asset: verified, in the type that it asks for."""

import json
import shutil
from logging import WARNING
from typing import Any

import dagster as dg
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from agreement_pipeline.errors import AgreementError, ReleaseHeldError, ReleaseInvalidError
from agreement_pipeline.orchestration import rounds_of
from agreement_pipeline.orchestration.compat import definitions_around
from agreement_pipeline.orchestration.host import Host
from agreement_pipeline.orchestration.releases import (
    ReleaseIOManager,
    find_items_in_conflict,
    hosts_in,
)
from agreement_pipeline.ratings import Trains
from agreement_pipeline.release import Release, open_release
from tests.orchestration.checks import BAD, GOOD
from tests.orchestration.conftest import CATEGORIES, POLICY, Line, ratings_frame

pytestmark = pytest.mark.slow

TRAINING_DATA, RELEASE = (
    dg.AssetKey(["reviews", "training_data"]),
    dg.AssetKey(["reviews", "release"]),
)
ROUNDS = rounds_of("reviews")


def trainer(
    kind: object, loaded: list[Any], key: dg.AssetKey, partitions: dg.PartitionsDefinition | None
) -> dg.AssetsDefinition:
    def model(data):
        loaded.append(data)

    model.__annotations__ = {"return": None} | ({} if kind is None else {"data": kind})
    return dg.asset(ins={"data": dg.AssetIn(key)}, partitions_def=partitions)(model)


def train(
    line: Line,
    kind: object,
    key: dg.AssetKey = TRAINING_DATA,
    round_name: str | None = "w1",
) -> tuple[dg.ExecuteInProcessResult, list[Any]]:
    """Load the training data of a round, or of all, into an asset of the code location."""
    loaded: list[Any] = []
    model = trainer(kind, loaded, key, ROUNDS if round_name else None)
    own = dg.Definitions(assets=[model], jobs=[dg.define_asset_job("train", selection=[model])])
    result = (
        dg.Definitions.merge(own, line.definitions)
        .resolve_job_def("train")
        .execute_in_process(instance=line.instance, partition_key=round_name, raise_on_error=False)
    )
    return result, loaded


def failure_of(result: dg.ExecuteInProcessResult) -> str:
    (event,) = [event for event in result.all_events if event.is_step_failure]
    failure, error = event.step_failure_data.user_failure_data, event.step_failure_data.error
    assert failure is not None, error
    return f"{failure.metadata['reason_code'].text}: {failure.description}"


def judge(line: Line, **frames: pd.DataFrame) -> None:
    for name, frame in frames.items():
        line.deliver(name, frame)
        line.decide(name)


@pytest.mark.parametrize(
    "kind", [None, pd.DataFrame, pl.DataFrame, pl.LazyFrame, pa.Table, Release]
)
def test_training_data_load_as_the_type_of_the_input(line, kind):
    judge(line, w1=GOOD)
    result, (data,) = train(line, kind)
    assert result.success
    assert isinstance(data, kind or pd.DataFrame)
    (folder,) = line.released()
    released = open_release(folder).train
    if kind is Release:
        assert data.path == folder
        data = data.train
    elif kind in (pl.DataFrame, pl.LazyFrame):
        data = data.lazy().collect().to_arrow()
    if isinstance(data, pa.Table):
        data = data.to_pandas(types_mapper=pd.ArrowDtype)
        assert data["label"].tolist() == released["label"].tolist()
        assert list(data) == list(released)
    else:
        pd.testing.assert_frame_equal(data, released)
    assert len(data) == GOOD["item"].nunique()


@pytest.mark.parametrize("kind", [pd.DataFrame, pl.DataFrame, pa.Table])
def test_many_rounds_load_as_one_table_and_held_ones_are_counted(line, kind):
    judge(line, w1=GOOD, w2=BAD, w3=ratings_frame(0.99, seed=2))
    line.instance.add_dynamic_partitions("reviews_rounds", ["w9"])  # nobody delivered it
    result, (data,) = train(line, kind, round_name=None)
    assert result.success
    frame = data if kind is pd.DataFrame else data.to_pandas()
    assert frame.groupby("round").size().to_dict() == {"w1": 120, "w3": 120}
    (words,) = [
        entry.user_message
        for entry in line.instance.all_logs(result.run_id)
        if "rounds loaded" in entry.user_message
    ]
    assert words.startswith("2 rounds loaded, 2 left out; w2: round w2: held, since krippendorff")
    assert "; w9: no such round was delivered" in words


def test_items_that_rounds_settle_otherwise_are_left_out_of_many_rounds(line):
    """As in the release of all rounds together, where they have no label."""
    other = GOOD.assign(rater=GOOD["rater"] + "2")
    few = other["item"].isin([f"i{number:03d}" for number in range(5)])
    turned = dict(zip(CATEGORIES, CATEGORIES[1:] + CATEGORIES[:1], strict=True))
    other["label"] = other["label"].where(~few, other["label"].map(turned))
    judge(line, w1=GOOD, w2=other)
    result, (frame,) = train(line, pd.DataFrame, round_name=None)
    assert result.success
    assert len(frame) == 2 * (120 - 5)
    assert frame.groupby("id")["label"].nunique().eq(1).all()
    _, (joint,) = train(line, pd.DataFrame, RELEASE, None)
    assert sorted(joint["id"]) == sorted(frame["id"].unique())
    messages = [entry.user_message for entry in line.instance.all_logs(result.run_id)]
    words = (
        "found 5 items with different labels in different rounds (['i000', 'i001', 'i002', 'i003', "
    )
    assert sum(words in message for message in messages) == 1

    line.write_policy({**POLICY, "version": 2, "items_in_conflict": "refuse"})
    result, loaded = train(line, pd.DataFrame, round_name=None)
    assert loaded == []
    assert "expected one label of each item" in failure_of(result)


def test_rounds_settle_an_item_alike_if_its_label_is_the_same_and_not_its_place():
    """Rounds that an older version read may have another order of the categories."""
    rows = [
        {"id": "same", "label": "yes", "label_id": 1},
        {"id": "same", "label": "yes", "label_id": 0},
        {"id": "other", "label": "yes", "label_id": 1},
        {"id": "other", "label": "no", "label_id": 1},
    ]
    assert find_items_in_conflict(pa.Table.from_pylist(rows), None) == ["other"]
    assert find_items_in_conflict(pa.Table.from_pylist(rows), Trains("shares")) == []


def test_release_of_all_rounds_loads_as_one(line):
    judge(line, w1=GOOD, w2=BAD)
    result, (data,) = train(line, pd.DataFrame, RELEASE, None)
    assert result.success
    assert len(data) == 120
    _, (release,) = train(line, Release, RELEASE, None)
    assert release.rounds == ("w1",)


def test_held_round_is_not_loaded_though_its_release_was_there_before(line):
    judge(line, w1=GOOD)
    line.instance.report_runless_asset_event(
        dg.AssetMaterialization(TRAINING_DATA, partition="w1", metadata={"path": "/elsewhere"})
    )
    judge(line, w1=BAD)
    result, loaded = train(line, pd.DataFrame)
    assert loaded == []
    assert failure_of(result).startswith("held: round w1: held, since krippendorff_alpha 0.")


def test_rounds_that_are_all_held_are_no_empty_table(line):
    judge(line, w1=BAD)
    result, loaded = train(line, pd.DataFrame, round_name=None)
    assert loaded == []
    assert "found no admitted round among ['w1']" in failure_of(result)


def edit_rows(folder):
    (path,) = folder.glob("data/train-*.parquet")
    table = pd.read_parquet(path)
    table.assign(label=table["label"].to_numpy()[::-1]).to_parquet(path)


def edit_manifest(folder):
    manifest = folder / "manifest.json"
    content = json.loads(manifest.read_text())
    content["files"]["README.md"]["bytes"] += 1
    manifest.write_text(json.dumps(content))


def add_rows(folder):
    (path,) = folder.glob("data/train-*.parquet")
    shutil.copy(path, path.with_name("train-00001-of-00001.parquet"))


@pytest.mark.parametrize("tamper", [edit_rows, edit_manifest, add_rows])
@pytest.mark.parametrize("round_name", ["w1", None], ids=["one round", "all rounds"])
def test_release_that_was_tampered_with_loads_nothing(line, tamper, round_name):
    judge(line, w1=GOOD)
    tamper(line.released()[0])
    result, loaded = train(line, pd.DataFrame, round_name=round_name)
    assert loaded == []
    assert failure_of(result).startswith("release_")


@pytest.mark.parametrize("round_name", ["w1", None], ids=["one round", "all rounds"])
def test_release_beside_one_of_another_project_is_told(line, round_name):
    """A manifest that names another project is no release of this one, so the lock writes anew."""
    judge(line, w1=GOOD)
    (folder,) = line.released()
    rows = open_release(folder).train
    manifest = folder / "manifest.json"
    manifest.write_text(manifest.read_text().replace('"reviews"', '"posts"'))
    with pytest.raises(ReleaseInvalidError):
        open_release(folder)

    result, (data,) = train(line, pd.DataFrame, round_name=round_name)
    assert result.success
    pd.testing.assert_frame_equal(data, rows)
    anew = folder.with_name(f"{folder.name}-2")
    assert line.released() == [folder, anew]
    pd.testing.assert_frame_equal(open_release(anew).train, rows)
    warning = f"w1/{anew.name}: released as it was loaded, beside ['w1/{folder.name}']. If nothing"
    assert warnings_of(line, result) == [warning]

    result, _ = train(line, pd.DataFrame, round_name=round_name)
    assert (result.success, warnings_of(line, result)) == (True, [])


def warnings_of(line: Line, result: dg.ExecuteInProcessResult) -> list[str]:
    """What a run warns of, up to where advice begins."""
    entries = [entry for entry in line.instance.all_logs(result.run_id) if entry.level == WARNING]
    return [entry.user_message.partition(" that decides")[0] for entry in entries]


def test_path_in_the_event_log_is_never_followed(line):
    """A forged materialization with another path changes nothing of what is loaded."""
    judge(line, w1=GOOD)
    forged = {"path": dg.MetadataValue.path(str(line.root / "forged"))}
    (line.root / "forged").mkdir()
    line.instance.report_runless_asset_event(
        dg.AssetMaterialization(TRAINING_DATA, partition="w1", metadata=forged)
    )
    result, (data,) = train(line, pd.DataFrame)
    assert result.success
    pd.testing.assert_frame_equal(data, open_release(line.released()[0]).train)


def test_type_that_cannot_be_made_is_refused(line):
    judge(line, w1=GOOD)
    result, loaded = train(line, dict)
    assert loaded == []
    assert "found an input of type builtins.dict; expected one of" in failure_of(result)
    result, _ = train(line, Release, round_name=None)
    assert "found several rounds for one Release" in failure_of(result)


def test_definitions_load_training_data_outside_of_a_run(line, capsys):
    judge(line, w1=GOOD, w2=BAD)
    repository = line.definitions.get_repository_def()
    how = {"python_type": pd.DataFrame, "instance": line.instance}
    one = repository.load_asset_value(TRAINING_DATA, partition_key="w1", **how)
    every = repository.load_asset_value(TRAINING_DATA, **how)
    assert len(one) == len(every) == 120
    assert "1 round loaded, 1 left out; w2: round w2: held, since" in capsys.readouterr().err
    with pytest.raises(ReleaseHeldError):
        repository.load_asset_value(TRAINING_DATA, partition_key="w2", **how)


def test_value_is_never_written_as_training_data(line):
    io_manager = ReleaseIOManager(Host(line.project))
    with pytest.raises(AgreementError, match="expected none, since only the lock"):
        io_manager.handle_output(dg.build_output_context(asset_key=TRAINING_DATA), GOOD)


def test_two_projects_of_one_location_are_told_apart(tmp_path, instance):
    lines = {name: Line(tmp_path / name, instance) for name in ("reviews", "posts")}
    lines["posts"].settings = lines["posts"].settings.model_copy(update={"project": "posts"})
    found: dict[str, Any] = {}

    @dg.asset(deps=[TRAINING_DATA, dg.AssetKey(["posts", "training_data"])])
    def model(context: dg.AssetExecutionContext) -> None:
        found.update(hosts_in(definitions_around(context)))

    own = dg.Definitions(assets=[model], jobs=[dg.define_asset_job("train", selection=[model])])
    both = dg.Definitions.merge(own, *(line.definitions for line in lines.values()))
    assert both.resolve_job_def("train").execute_in_process(instance=instance).success
    assert {name: host.project.root for name, host in found.items()} == {
        name: line.project.root for name, line in lines.items()
    }
