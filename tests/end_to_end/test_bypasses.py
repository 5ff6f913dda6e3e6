"""Every way past the gate that was thought of, by name: each is refused, and leaves no release behind.

In process each is tried on a store that holds a round `good`, released, and a round `bad`, held; and again those that a webserver offers, on a live one.
"""

import json
import re
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from urllib.error import HTTPError

import dagster as dg
import pandas as pd
import pytest
import yaml
from dagster._core.storage.tags import ASSET_PARTITION_RANGE_END_TAG, ASSET_PARTITION_RANGE_START_TAG

from agreement_pipeline import files
from agreement_pipeline.errors import AgreementError
from agreement_pipeline.orchestration.assets import build_assets
from agreement_pipeline.orchestration.component import project_definitions
from agreement_pipeline.release import current_release, judge_round, open_release
from tests.end_to_end.conftest import Live, released_rounds, releases_in
from tests.orchestration.conftest import POLICY, Line, ratings_frame

GOOD, BAD = ratings_frame(0.99), ratings_frame(0.55)
ADMITTED = {"decision": "admitted", "policy_digest": "0" * 64, "contract_digest": "0" * 64, "code_version": "0", "waivers": []}
REPORTED = {"check_name": "admitted", "passed": True, "metadata": {}, "partition": "bad"}
KEPT = {"log", "originals", "releases", "rounds", "salt", "seals", ".lock"}

Attempt = Callable[[Line], object]


@dataclass(frozen=True)
class Bypass:
    """What is tried, what the refusal says, and the rounds that can still be opened for training."""

    attempt: Attempt
    refusal: str
    remaining: frozenset[str]


BYPASSES: dict[str, Bypass] = {}


def bypass(name: str, refusal: str, *, remaining: str = "good") -> Callable[[Attempt], Attempt]:
    def registered(attempt: Attempt) -> Attempt:
        BYPASSES[name] = Bypass(attempt, refusal, frozenset(remaining.split()))
        return attempt

    return registered


def store_of(line: Line) -> Path:
    return line.root / ".agreement/store/reviews"


def release_of(line: Line, round_name: str = "good") -> Path:
    (manifest,) = (store_of(line) / "releases" / round_name).rglob("manifest.json")
    return manifest.parent


def table_of(line: Line, round_name: str) -> Path:
    version = line.project.store.present(round_name)
    return store_of(line) / "rounds" / version.ratings_digest / f"{version.table_digest}.parquet"


def job_of(line: Line, name: str) -> dg.JobDefinition:
    return project_definitions(line.settings).resolve_job_def(name)


def entry_of(line: Line, round_name: str, event: str) -> Path:
    entry = [entry for entry in line.project.store.history(round_name) if entry["event"] == event][-1]
    return store_of(line) / "log" / f"{entry['number']:08}.json"


def redeliver(line: Line, round_name: str, frame: pd.DataFrame) -> None:
    line.deliver(round_name, frame)
    for name in ("annotations", "acceptability"):
        line.run(round_name, name)


def edit(path: Path, change: Callable[[dict], object]) -> None:
    said = json.loads(path.read_text())
    change(said)
    path.write_text(json.dumps(said))


@bypass("materialize downstream only", "krippendorff_alpha")
def downstream_only(line):
    return line.run("bad", "training_data")


@bypass("launch with no checks", "krippendorff_alpha")
def no_checks(line):
    key = dg.AssetKey(["reviews", "training_data"])
    job = job_of(line, "reviews_round").get_subset(asset_selection={key}, asset_check_selection=set())
    return job.execute_in_process(instance=line.instance, partition_key="bad", raise_on_error=False)


@bypass("leave out what lies between", "krippendorff_alpha")
def gap(line):
    return line.run("bad", "annotations", "training_data")


@bypass("range backfill in one run", "more than one|multiple|range")
def range_backfill(line):
    key = dg.AssetKey(["reviews", "training_data"])
    tags = {ASSET_PARTITION_RANGE_START_TAG: "good", ASSET_PARTITION_RANGE_END_TAG: "bad"}
    return job_of(line, "reviews_round").execute_in_process(instance=line.instance, tags=tags, asset_selection=[key], raise_on_error=False)


@bypass("fan-in over a round that the log is made to call admitted", "round bad: held")
def fan_in(line):
    digest = line.project.store.present("bad").ratings_digest
    line.project.store.record("decided", "bad", **ADMITTED, ratings_digest=digest, verdicts=[])
    return job_of(line, "reviews_release").execute_in_process(instance=line.instance, raise_on_error=False)


@bypass("declarative automation", "krippendorff_alpha")
def automation(line):
    eager = dg.AutomationCondition.eager()
    assets = dg.map_asset_specs(lambda spec: spec.replace_attributes(automation_condition=eager), build_assets(line.project))
    definitions = dg.Definitions(assets=assets)
    redeliver(line, "bad", BAD)
    before = dg.evaluate_automation_conditions(definitions, line.instance)
    line.instance.report_runless_asset_event(dg.AssetMaterialization(dg.AssetKey(["reviews", "acceptability"]), partition="bad"))
    asked = dg.evaluate_automation_conditions(definitions, line.instance, cursor=before.cursor)
    assert "bad" in asked.get_requested_partitions(dg.AssetKey(["reviews", "training_data"]))
    return line.run("bad", "training_data")


@bypass("forged check result", "krippendorff_alpha")
def forged_check(line):
    key = dg.AssetKey(["reviews", "acceptability"])
    line.instance.report_runless_asset_event(dg.AssetCheckEvaluation(asset_key=key, check_name="admitted", passed=True, metadata={}, partition="bad"))
    return line.run("bad", "training_data")


@bypass("forged materialization", "krippendorff_alpha")
def forged_materialization(line):
    for name in ("acceptability", "training_data"):
        line.instance.report_runless_asset_event(dg.AssetMaterialization(dg.AssetKey(["reviews", name]), partition="bad"))
    return line.run("bad", "training_data")


@bypass("edited statistics", "krippendorff_alpha")
def edited_statistics(line):
    """None are stored: they are derived from the round each time. What the event log says of them is all there is to edit."""
    assert {path.name for path in store_of(line).iterdir()} <= KEPT
    metadata = {"krippendorff_alpha": 0.99, "krippendorff_alpha low": 0.98}
    line.instance.report_runless_asset_event(dg.AssetMaterialization(dg.AssetKey(["reviews", "inter_rater_agreement"]), metadata=metadata, partition="bad"))
    return line.run("bad", "training_data")


@bypass("edited round", "other bytes than those stored")
def edited_round(line):
    table_of(line, "bad").write_bytes(table_of(line, "good").read_bytes())
    return line.run("bad", "training_data")


@bypass("symlinked round", "other bytes than those stored")
def symlinked_round(line):
    path, target = table_of(line, "bad"), table_of(line, "good")
    path.unlink()
    path.symlink_to(target)
    return line.run("bad", "training_data")


@bypass("symlinked release", "krippendorff_alpha")
def symlinked_release(line):
    releases = store_of(line) / "releases"
    (releases / "bad").symlink_to(releases / "good", target_is_directory=True)
    assert current_release(line.project.store, "bad") is None
    return line.run("bad", "training_data")


@bypass("symlinked store", "krippendorff_alpha")
def symlinked_store(line):
    store = store_of(line)
    shutil.move(store, line.root / "elsewhere")
    store.symlink_to(line.root / "elsewhere", target_is_directory=True)
    return line.run("bad", "training_data")


@bypass("edited decision", "does not follow|not the one that was written")
def edited_decision(line):
    edit(entry_of(line, "bad", "decided"), lambda said: said.update(decision="admitted"))
    return line.run("bad", "training_data")


@bypass("edited decision, sealed anew", "krippendorff_alpha")
def resealed_decision(line):
    """The last entry has none after it, so whoever writes its seal too leaves a whole log; the lock never asks it."""
    path = entry_of(line, "bad", "decided")
    edit(path, lambda said: said.update(decision="admitted"))
    (seal,) = (store_of(line) / "seals").glob(f"{path.stem}-*")
    seal.rename(seal.with_name(f"{path.stem}-{files.digest_of(path.read_bytes())}"))
    return line.run("bad", "training_data")


@bypass("edited log: another round's bytes under its name", "does not follow|not the one that was written")
def edited_arrival(line):
    digest = line.project.store.present("good").ratings_digest
    edit(entry_of(line, "bad", "ingested"), lambda said: said.update(ratings_digest=digest))
    return line.run("bad", "training_data")


@bypass("replayed old decision, copied into the log", "does not follow|not the one that was written")
def copied_decision(line):
    number = len(line.project.store.history()) + 1
    shutil.copy(entry_of(line, "good", "decided"), store_of(line) / "log" / f"{number:08}.json")
    return line.run("bad", "training_data")


@bypass("replayed old decision, entered after a worse delivery", "krippendorff_alpha", remaining="")
def replayed_decision(line):
    store = line.project.store
    old = [entry for entry in store.history("good") if entry["event"] == "decided"][-1]
    redeliver(line, "good", BAD)
    store.record("decided", "good", **{name: value for name, value in old.items() if name not in ("number", "time", "event", "round", "previous")})
    return line.run("good", "training_data")


@bypass("re-delivery", "krippendorff_alpha", remaining="")
def redelivery(line):
    line.deliver("good", BAD)
    line.run("good", "annotations")
    return line.run("good", "training_data")


@bypass("stricter policy", "krippendorff_alpha", remaining="")
def stricter_policy(line):
    line.write_policy({**POLICY, "version": 2, "rules": [{"measure": "krippendorff_alpha", "reliable": 0.999, "tentative": 0.998}]})
    return line.run("good", "training_data")


@bypass("policy below what data may be relied upon", "0.667")
def policy_too_low(line):
    line.write_policy({**POLICY, "rules": [{"measure": "krippendorff_alpha", "reliable": 0.2, "tentative": 0.1}]})
    return line.run("bad", "training_data")


@bypass("policy given with the run", "krippendorff_alpha")
def policy_in_run_config(line):
    config = {"ops": {"reviews__training_data": {"config": {"policy": "none"}}}}
    key = dg.AssetKey(["reviews", "training_data"])
    job = job_of(line, "reviews_round")
    return job.execute_in_process(run_config=config, instance=line.instance, partition_key="bad", asset_selection=[key], raise_on_error=False)


@bypass("edited release", "train", remaining="")
def edited_release(line):
    (path,) = release_of(line).glob("data/train-*.parquet")
    table = pd.read_parquet(path)
    table.assign(label=table["label"].to_numpy()[::-1]).to_parquet(path)
    return line.run("good", "training_data")


@bypass("edited policy after release", "policy", remaining="")
def edited_policy(line):
    """With its digest put right in the manifest, so that only what follows from it is wrong."""
    folder = release_of(line)
    edit(folder / "policy.json", lambda said: said["policy"]["rules"][0].update(min_items=0))
    digest = files.digest_of((folder / "policy.json").read_bytes())
    edit(folder / "manifest.json", lambda said: said["files"].update({"policy.json": digest}))
    return open_release(folder)


@bypass("removed notice of withdrawal", "in the log|no such release in force|withdrawn", remaining="")
def removed_notice(line):
    redeliver(line, "good", BAD)
    (notice,) = (store_of(line) / "releases").rglob("WITHDRAWN.json")
    notice.unlink()
    judge_round(line.project.store, "good", line.project.policy, line.project.contract)
    return open_release(notice.parent)


@bypass("copy of a withdrawn release", "no such release in force", remaining="")
def copied_release(line):
    copy = shutil.copytree(release_of(line), line.root / "copy" / release_of(line).name)
    redeliver(line, "good", BAD)
    return open_release(copy, store=line.project.store)


@bypass("forged waiver", "is refused, since it is bound to ratings")
def forged_waiver(line):
    other = line.project.store.present("good").ratings_digest
    said = {"project": "reviews", "round": "bad", "ratings_digest": other, "measure": "krippendorff_alpha", "who": "Mallory", "why": "soon"}
    (line.root / "configs/waivers").mkdir()
    (line.root / "configs/waivers/bad.yaml").write_text(yaml.safe_dump({**said, "until": "2999-01-01"}))
    return line.run("bad", "training_data")


@bypass("renamed round", "krippendorff_alpha")
def renamed_round(line):
    (line.root / "inbox/bad.csv").rename(line.root / "inbox/better.csv")
    line.run("better", "annotations")
    return line.run("better", "training_data")


@bypass("round named like a path", "a name that could be a path", remaining="good")
def path_as_round(line):
    return line.run("../good", "training_data")


def refusal_of(attempt: Attempt, line: Line) -> str:
    """What was said against it, by a failed run or by an error."""
    try:
        result = attempt(line)
    except AgreementError as error:
        return str(error)
    assert isinstance(result, dg.ExecuteInProcessResult), f"{result} was let through"
    assert not result.success
    return " ".join(str(event.event_specific_data) for event in result.all_events if event.is_failure)


def opened(line: Line) -> set[str]:
    """The rounds of all releases in the store that a trainer could open."""
    found = set()
    for folder in releases_in(line.root):
        try:
            found |= set(open_release(folder).rounds)
        except AgreementError:
            continue
    return found


@pytest.fixture(scope="module")
def judged(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a round that was released and one that is held."""
    with dg.DagsterInstance.ephemeral() as instance:
        line = Line(tmp_path_factory.mktemp("judged"), instance)
        for name, frame in (("good", GOOD), ("bad", BAD)):
            redeliver(line, name, frame)
            line.run(name, "training_data")
        assert opened(line) == {"good"}
        return line.root


@pytest.fixture
def line(judged: Path, tmp_path: Path):
    with dg.DagsterInstance.ephemeral() as instance:
        made = Line(tmp_path, instance)
        shutil.copytree(judged, tmp_path, dirs_exist_ok=True)
        instance.add_dynamic_partitions("reviews_rounds", ["good", "bad"])
        yield made


@pytest.mark.filterwarnings("ignore:Parameter `include_sources`")  # of Dagster's own sensor for automation
@pytest.mark.parametrize("name", BYPASSES)
def test_in_process_it_is_refused_and_leaves_no_release_behind(name, line):
    tried = BYPASSES[name]
    assert re.search(tried.refusal, refusal_of(tried.attempt, line))
    assert opened(line) == tried.remaining
    assert "bad" not in released_rounds(line.root)


def launched(*forge: Callable[[Live], object], asset: str = "training_data", round_name: str | None = "bad", **tags: str) -> Callable[[Live], str]:
    """A run of one asset, after what was forged; how it ended."""

    def tried(live: Live) -> str:
        for each in forge:
            each(live)
        return live.launch(asset, round_name, **tags)

    return tried


FROM_OUTSIDE = {
    "materialize downstream only, launch with no checks": launched(),
    "re-execute selected step": lambda live: live.reexecute("bad", "reviews__training_data"),
    "range in one run": launched(round_name=None, **{ASSET_PARTITION_RANGE_START_TAG: "bad", ASSET_PARTITION_RANGE_END_TAG: "good"}),
    "range backfill": lambda live: live.backfill(["bad", "../good"], "training_data"),
    "fan-in backfill": lambda live: live.backfill(["bad"], "acceptability", "training_data", "release"),
    "forged check result by REST": launched(lambda live: live.post("/report_asset_check/reviews/acceptability", REPORTED)),
    "forged materialization by REST": launched(lambda live: live.post("/report_asset_materialization/reviews/acceptability", {"partition": "bad"})),
    "forged materialization by GraphQL": launched(lambda live: live.report_asset("bad", "training_data")),
    "renamed round": launched(lambda live: live.add_round("better"), round_name="better"),
    "round named like a path": launched(lambda live: live.add_round("../good"), round_name="../good"),
}


@pytest.fixture(scope="module")
def tried(live: Live) -> dict[str, str]:
    """The run or backfill of each, all of them started before the first is waited for."""
    live.add_round("../good")
    return {name: attempt(live) for name, attempt in FROM_OUTSIDE.items()}


@pytest.mark.slow
@pytest.mark.parametrize("name", FROM_OUTSIDE)
def test_by_the_webserver_it_is_refused_and_leaves_no_release_behind(name, live, tried):
    ended = live.backfill_ended(tried[name]) if "backfill" in name else live.ended(tried[name])
    assert ended in ("FAILURE", "COMPLETED_FAILED")
    assert live.released() == {"good"}


@pytest.mark.slow
def test_the_admitted_rounds_together_leave_out_the_one_that_is_held(live, tried):
    assert live.ended(live.launch("release", None)) == "SUCCESS"
    assert live.released() == {"good"}


@pytest.mark.slow
@pytest.mark.parametrize(
    "attempt",
    [
        lambda live: live.launch("training_data", "good"),
        lambda live: live.backfill(["good"], "training_data"),
        lambda live: live.reexecute("bad", "reviews__training_data"),
        lambda live: live.post("/report_asset_check/reviews/acceptability", REPORTED),
        lambda live: live.post("/report_asset_materialization/reviews/acceptability", {"partition": "bad"}),
        lambda live: live.report_check("bad"),
        lambda live: live.report_asset("bad", "training_data"),
        lambda live: live.add_round("other"),
    ],
    ids=["launch", "backfill", "re-execution", "check by REST", "materialization by REST", "check by GraphQL", "materialization by GraphQL", "new round"],
)
def test_a_webserver_for_viewers_shows_everything_and_does_nothing(attempt, read_only):
    before = [run["runId"] for run in read_only.runs()]
    assert before
    with pytest.raises((PermissionError, HTTPError), match=r"UnauthorizedError|401"):
        attempt(read_only)
    assert [run["runId"] for run in read_only.runs()] == before
