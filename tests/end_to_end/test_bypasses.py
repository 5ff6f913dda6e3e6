"""Every known way past the gate, by name: each is refused for the given reason.

No release is left behind. In process, each way is tried on a store with a released round
`good` and a held round `bad`. The ways that a webserver offers are tried again on a live
one, where `worse` is held too. A reason is a code and a sentence. A way that fails for
another reason, such as a misspelt query, does not count as tried.
"""

import datetime
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
from dagster._core.execution.plan.objects import StepFailureData
from dagster._core.storage.tags import (
    ASSET_PARTITION_RANGE_END_TAG,
    ASSET_PARTITION_RANGE_START_TAG,
)

from agreement_pipeline.errors import AgreementError
from agreement_pipeline.orchestration.assets import build_assets
from agreement_pipeline.orchestration.host import Host
from agreement_pipeline.readers import Columns
from agreement_pipeline.release import judge_round, open_release
from agreement_pipeline.release.contents import as_json
from agreement_pipeline.store import digest_of
from tests.end_to_end.conftest import Live, released_rounds, releases_in
from tests.events import record
from tests.orchestration.conftest import POLICY, Line, ratings_frame
from tests.releases import current_release

GOOD, BAD = ratings_frame(0.99), ratings_frame(0.55)
HELD = (
    r"held: round bad: held, since krippendorff_alpha 0\.\d+, 95% interval 0\.5\d+ to 0\.7\d+ "
    r"on 120 items: 0\.667 lies inside the interval, so the data cannot decide"
)
GOOD_HELD = HELD.replace("bad", "good")
REPORTED = {"check_name": "admitted", "passed": True, "metadata": {}, "partition": "bad"}
KEPT = {"current", "log", "originals", "releases", "rounds", "salt", ".lock"}

Attempt = Callable[[Line], object]


@dataclass(frozen=True)
class Bypass:
    """A way, the code and sentence of its refusal, and the rounds that can still be opened."""

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
    return line.definitions.resolve_job_def(name)


def entry_of(line: Line, round_name: str, event: str) -> Path:
    entry = [entry for entry in line.project.store.history(round_name) if entry["event"] == event][
        -1
    ]
    return store_of(line) / "log" / f"{entry['number']:08}.json"


def redeliver(line: Line, round_name: str, frame: pd.DataFrame) -> None:
    line.deliver(round_name, frame)
    line.run(round_name, "annotations", "acceptability")


def edit(path: Path, change: Callable[[dict], object]) -> None:
    said = json.loads(path.read_text())
    change(said)
    path.write_bytes(as_json(said))


def agree(folder: Path, name: str) -> None:
    """Make the manifest of a release say that a file is as it should be."""
    data = (folder / name).read_bytes()
    edit(
        folder / "manifest.json",
        lambda said: said["files"].update({name: {"sha256": digest_of(data), "bytes": len(data)}}),
    )


@bypass("materialize downstream only", HELD)
def downstream_only(line):
    return line.run("bad", "training_data")


@bypass("launch with no checks", HELD)
def no_checks(line):
    key = dg.AssetKey(["reviews", "training_data"])
    job = job_of(line, "reviews_round").get_subset(
        asset_selection={key}, asset_check_selection=set()
    )
    return job.execute_in_process(instance=line.instance, partition_key="bad", raise_on_error=False)


@bypass("all assets of the round without a check", "held: " + HELD.replace("held, since ", ""))
def whole_round_without_checks(line):
    job = job_of(line, "reviews_round")
    keys = job.asset_layer.executable_asset_keys
    job = job.get_subset(asset_selection=keys, asset_check_selection=set())
    return job.execute_in_process(instance=line.instance, partition_key="bad", raise_on_error=False)


@bypass("leave out what lies between", HELD)
def gap(line):
    return line.run("bad", "annotations", "training_data")


@bypass(
    "range backfill in one run",
    "DagsterInvariantViolationError: Cannot access partition_key for a partitioned run "
    "with a range of partitions",
)
def range_backfill(line):
    key = dg.AssetKey(["reviews", "training_data"])
    tags = {ASSET_PARTITION_RANGE_START_TAG: "good", ASSET_PARTITION_RANGE_END_TAG: "bad"}
    return job_of(line, "reviews_round").execute_in_process(
        instance=line.instance, tags=tags, asset_selection=[key], raise_on_error=False
    )


@bypass("fan-in over a round that the log is made to call admitted", HELD)
def fan_in(line):
    version = line.project.store.present("bad")
    digests = {name: getattr(version, name) for name in ("ratings_digest", "settings_digest")}
    record(line.project.store, "decided", "bad", decision="admitted", **digests)
    return job_of(line, "reviews_release").execute_in_process(
        instance=line.instance, raise_on_error=False
    )


@bypass("declarative automation", HELD)
def automation(line):
    """Dagster asks for the training data here without a daemon.

    With a daemon: `test_automation_asks_for_training_data_by_itself_…`.
    """
    eager = dg.AutomationCondition.eager()
    assets = dg.map_asset_specs(
        lambda spec: spec.replace_attributes(automation_condition=eager),
        build_assets(Host(line.project)),
    )
    definitions = dg.Definitions.merge(
        dg.Definitions(assets=assets), dg.Definitions(resources=line.definitions.resources)
    )
    redeliver(line, "bad", BAD)
    before = dg.evaluate_automation_conditions(definitions, line.instance)
    line.instance.report_runless_asset_event(
        dg.AssetMaterialization(dg.AssetKey(["reviews", "acceptability"]), partition="bad")
    )
    asked = dg.evaluate_automation_conditions(definitions, line.instance, cursor=before.cursor)
    assert "bad" in asked.get_requested_partitions(dg.AssetKey(["reviews", "training_data"]))
    return line.run("bad", "training_data")


@bypass("forged check result", HELD)
def forged_check(line):
    key = dg.AssetKey(["reviews", "acceptability"])
    line.instance.report_runless_asset_event(
        dg.AssetCheckEvaluation(
            asset_key=key, check_name="admitted", passed=True, metadata={}, partition="bad"
        )
    )
    return line.run("bad", "training_data")


@bypass("forged materialization", HELD)
def forged_materialization(line):
    for name in ("acceptability", "training_data"):
        line.instance.report_runless_asset_event(
            dg.AssetMaterialization(dg.AssetKey(["reviews", name]), partition="bad")
        )
    return line.run("bad", "training_data")


@bypass("edited statistics", HELD)
def edited_statistics(line):
    """Estimates are not stored, but derived each time. Only the event log can be edited."""
    assert {path.name for path in store_of(line).iterdir()} <= KEPT
    metadata = {"krippendorff_alpha": 0.99, "krippendorff_alpha low": 0.98}
    line.instance.report_runless_asset_event(
        dg.AssetMaterialization(
            dg.AssetKey(["reviews", "inter_rater_agreement"]), metadata=metadata, partition="bad"
        )
    )
    return line.run("bad", "training_data")


@bypass(
    "edited round",
    "store_refused: .*: found other bytes than those stored, so the ratings were edited",
)
def edited_round(line):
    table_of(line, "bad").write_bytes(table_of(line, "good").read_bytes())
    return line.run("bad", "training_data")


@bypass(
    "symlinked round",
    "store_refused: .*: found other bytes than those stored, so the ratings were edited",
)
def symlinked_round(line):
    path, target = table_of(line, "bad"), table_of(line, "good")
    path.unlink()
    path.symlink_to(target)
    return line.run("bad", "training_data")


@bypass("symlinked release", HELD)
def symlinked_release(line):
    releases = store_of(line) / "releases"
    (releases / "bad").symlink_to(releases / "good", target_is_directory=True)
    assert current_release(line.project.store, "bad") is None
    return line.run("bad", "training_data")


@bypass("symlinked store", HELD)
def symlinked_store(line):
    store = store_of(line)
    shutil.move(store, line.root / "elsewhere")
    store.symlink_to(line.root / "elsewhere", target_is_directory=True)
    return line.run("bad", "training_data")


@bypass(
    "edited decision", "store_refused: .*/log: found entry 5, which is not the one that was written"
)
def edited_decision(line):
    edit(entry_of(line, "bad", "decided"), lambda said: said.update(decision="admitted"))
    return line.run("bad", "training_data")


@bypass("edited decision, sealed anew", HELD)
def resealed_decision(line):
    """No entry follows the last one, so with its seal the log is whole. The lock never asks it."""
    path = entry_of(line, "bad", "decided")
    edit(path, lambda said: said.update(decision="admitted"))
    (seal,) = (store_of(line) / "log" / "seals").glob(f"{path.stem}-*")
    seal.rename(seal.with_name(f"{path.stem}-{digest_of(path.read_bytes())}"))
    return line.run("bad", "training_data")


@bypass(
    "edited log: another round's bytes under its name",
    "store_refused: .*/log: found entry 5, which does not follow the one before it",
)
def edited_arrival(line):
    digest = line.project.store.present("good").ratings_digest
    edit(entry_of(line, "bad", "ingested"), lambda said: said.update(ratings_digest=digest))
    return line.run("bad", "training_data")


@bypass(
    "replayed old decision, copied into the log",
    "store_refused: .*/log: found entry 6, which does not follow the one before it",
)
def copied_decision(line):
    number = len(line.project.store.history()) + 1
    shutil.copy(entry_of(line, "good", "decided"), store_of(line) / "log" / f"{number:08}.json")
    return line.run("bad", "training_data")


@bypass("replayed old decision, entered after a worse delivery", GOOD_HELD, remaining="")
def replayed_decision(line):
    store = line.project.store
    old = [entry for entry in store.history("good") if entry["event"] == "decided"][-1]
    redeliver(line, "good", BAD)
    store.record(
        "decided",
        "good",
        **{
            name: value
            for name, value in old.items()
            if name not in ("number", "time", "event", "round", "previous", "project", "format")
        },
    )
    return line.run("good", "training_data")


@bypass("re-delivery", GOOD_HELD, remaining="")
def redelivery(line):
    line.deliver("good", BAD)
    line.run("good", "annotations")
    return line.run("good", "training_data")


@bypass(
    "stricter policy",
    r"held: round good: held, since krippendorff_alpha 0\.9\d+, .*: "
    r"the upper limit is under 0\.998",
    remaining="",
)
def stricter_policy(line):
    line.write_policy(
        {
            **POLICY,
            "version": 2,
            "rules": [{"measure": "krippendorff_alpha", "reliable": 0.999, "tentative": 0.998}],
        }
    )
    return line.run("good", "training_data")


@bypass(
    "policy below what data may be relied upon",
    r"policy_unreadable: .*: rules\[0\]\.tentative: found 0\.1; expected 0\.667 to 1 for",
)
def policy_too_low(line):
    line.write_policy(
        {**POLICY, "rules": [{"measure": "krippendorff_alpha", "reliable": 0.2, "tentative": 0.1}]}
    )
    return line.run("bad", "training_data")


@bypass(
    "policy given with the run",
    'DagsterInvalidConfigError: Received unexpected config entry "policy" at path '
    "root:ops:reviews__round:config",
)
def policy_in_run_config(line):
    config = {"ops": {"reviews__round": {"config": {"policy": "none"}}}}
    key = dg.AssetKey(["reviews", "training_data"])
    job = job_of(line, "reviews_round")
    return job.execute_in_process(
        run_config=config,
        instance=line.instance,
        partition_key="bad",
        asset_selection=[key],
        raise_on_error=False,
    )


@bypass(
    "edited release",
    r"release_file_changed: .*: found more bytes in \['data/train-00000-of-00001\.parquet'\]",
    remaining="",
)
def edited_release(line):
    (path,) = release_of(line).glob("data/train-*.parquet")
    table = pd.read_parquet(path)
    table.assign(label=table["label"].to_numpy()[::-1]).to_parquet(path)
    return line.run("good", "training_data")


@bypass(
    "edited policy after release",
    r"release_not_derived: .*: found that manifest\.json, policy_digest is .* and comes out as",
    remaining="",
)
def edited_policy(line):
    """With its digest put right in the manifest, so that only what follows from it is wrong."""
    folder = release_of(line)
    edit(folder / "policy.json", lambda said: said["policy"]["rules"][0].update(min_items=1))
    agree(folder, "policy.json")
    return open_release(folder)


@bypass(
    "reworded release",
    r"release_reworded: .*: found that README\.md is another text when worded again",
    remaining="",
)
def reworded_release(line):
    folder = release_of(line)
    text = (folder / "README.md").read_text()
    (folder / "README.md").write_text(
        text.replace("Admitted under policy strict", "Admitted by the board under policy strict")
    )
    agree(folder, "README.md")
    return open_release(folder)


@bypass(
    "rows put beside the released ones",
    r"release_file_extra: .*: found files \['data/train-00001-of-00001\.parquet'\] in the manifest",
    remaining="",
)
def added_rows(line):
    """In a file that whoever loads data/train-* would train on."""
    folder = release_of(line)
    shutil.copy(
        folder / "data/train-00000-of-00001.parquet", folder / "data/train-00001-of-00001.parquet"
    )
    agree(folder, "data/train-00001-of-00001.parquet")
    return open_release(folder)


@bypass(
    "removed notice of withdrawal",
    "release_withdrawn: .*, for round good .*; expected a release in force",
    remaining="",
)
def removed_notice(line):
    redeliver(line, "good", BAD)
    (notice,) = (store_of(line) / "releases").rglob("WITHDRAWN.json")
    notice.unlink()
    judge_round(line.project.store, "good", line.project.policy, line.project.contract)
    return open_release(notice.parent)


@bypass(
    "folder in the place of the notice of withdrawal",
    r"release_invalid: .*: found links, or things of another kind, \['WITHDRAWN\.json'\]",
    remaining="",
)
def folder_as_notice(line):
    """It is made before there is something to notice."""
    (release_of(line) / "WITHDRAWN.json").mkdir()
    redeliver(line, "good", BAD)
    return open_release(release_of(line))


@bypass(
    "copy of a withdrawn release",
    "release_not_in_log: .*: found no such release in force in the log",
    remaining="",
)
def copied_release(line):
    copy = shutil.copytree(release_of(line), line.root / "copy" / release_of(line).name)
    redeliver(line, "good", BAD)
    return open_release(copy, store=line.project.store)


@bypass("forged waiver", HELD + ".*waiver by Mallory .* is refused, since it is bound to ratings")
def forged_waiver(line):
    other = line.project.store.present("good").ratings_digest
    said = {
        "project": "reviews",
        "round": "bad",
        "ratings_digest": other,
        "measure": "krippendorff_alpha",
        "who": "Mallory",
        "why": "adjudicated by hand",
    }
    (line.root / "configs/waivers").mkdir()
    (line.root / "configs/waivers/bad.yaml").write_text(
        yaml.safe_dump({**said, "until": str(datetime.date.today() + datetime.timedelta(30))})
    )
    return line.run("bad", "training_data")


@bypass(
    "gold items on which everybody agrees",
    r"held: round bad: held, since krippendorff_alpha 0\.\d+, .* on 120 items: "
    r"0\.667 lies inside the interval",
)
def gold_that_agrees(line):
    """Three times as many gold items. If they counted, alpha would be over 0.8."""
    line.settings = line.settings.model_copy(update={"columns": Columns(gold="gold")})
    gold = pd.concat(
        [
            ratings_frame(1.0).assign(item=lambda frame, n=n: f"g{n}" + frame["item"], gold="yes")
            for n in range(3)
        ]
    )
    redeliver(line, "bad", pd.concat([BAD.assign(gold="no"), gold]))
    return line.run("bad", "training_data")


@bypass("renamed round", HELD.replace("bad", "better"))
def renamed_round(line):
    (line.root / "inbox/bad.csv").rename(line.root / "inbox/better.csv")
    line.run("better", "annotations")
    return line.run("better", "training_data")


@bypass(
    "round named like a path",
    r"store_refused: round '\.\./good': found a name that is not allowed",
)
def path_as_round(line):
    return line.run("../good", "training_data")


def refusal_of(attempt: Attempt, line: Line) -> str:
    """The code and sentence of each refusal, by the steps of a failed run or by an error."""
    try:
        result = attempt(line)
    except AgreementError as error:
        return f"{error.code}: {error}"
    except dg.DagsterInvalidConfigError as error:
        return f"DagsterInvalidConfigError: {error.errors[0].message}"
    assert isinstance(result, dg.ExecuteInProcessResult), f"{result} was let through"
    assert not result.success
    return "; ".join(
        told(event.step_failure_data) for event in result.all_events if event.is_step_failure
    )


def told(failure: StepFailureData) -> str:
    """The package's own code and sentence, or the kind of Dagster's error and its message."""
    if failure.user_failure_data is None:
        return f"{failure.error.cls_name}: {failure.error.message.partition(': ')[2].strip()}"
    said = failure.user_failure_data
    return f"{said.metadata['reason_code'].text}: {said.description}"


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
def line(judged: Path, tmp_path: Path, instance: dg.DagsterInstance) -> Line:
    made = Line(tmp_path, instance)
    shutil.copytree(judged, tmp_path, dirs_exist_ok=True)
    instance.add_dynamic_partitions("reviews_rounds", ["good", "bad"])
    return made


@pytest.mark.filterwarnings(
    "ignore:Parameter `include_sources`"
)  # of Dagster's own sensor for automation
@pytest.mark.parametrize("name", BYPASSES)
def test_in_process_it_is_refused_and_leaves_no_release_behind(name, line):
    tried = BYPASSES[name]
    assert re.match(tried.refusal, refusal_of(tried.attempt, line))
    assert opened(line) == tried.remaining
    assert "bad" not in released_rounds(line.root)


def forged_by_rest(live: Live) -> str:
    """The result of a check and a materialization of the verdict."""
    live.post("/report_asset_check/reviews/acceptability", REPORTED)
    live.post("/report_asset_materialization/reviews/acceptability", {"partition": "bad"})
    assert live.checks("acceptability", "bad")[0] == TAKEN_FOR_TRUE
    assert live.materializations("acceptability", "bad")[0] == ""
    return live.launch("training_data", "bad")


def forged_by_graphql(live: Live) -> str:
    """The result of a check and the training data themselves.

    Of another round than by REST, since Dagster takes one report of a check and a round.
    """
    assert live.report_check("worse") == "ReportAssetCheckEvaluationsSuccess"
    assert live.report_asset("worse", "training_data") == "ReportRunlessAssetEventsSuccess"
    assert live.checks("acceptability", "worse")[0] == TAKEN_FOR_TRUE
    assert live.materializations("training_data", "worse") == [""]
    return live.launch("training_data", "worse")


TAKEN_FOR_TRUE = {"run": "", "success": True, "description": None}
PATH_REFUSED = r"store_refused: round '\.\./good': found a name that is not allowed"
NOT_DELIVERED = (
    r"store_refused: .*/store/reviews: found no round 'better' among \['bad', 'good', 'worse'\]"
)
RANGE = {ASSET_PARTITION_RANGE_START_TAG: "bad", ASSET_PARTITION_RANGE_END_TAG: "good"}

FROM_OUTSIDE: dict[str, tuple[Callable[[Live], str], str]] = {
    "forged check result and materialization by REST": (forged_by_rest, HELD),
    "forged check result and materialization by GraphQL": (
        forged_by_graphql,
        HELD.replace("bad", "worse"),
    ),
    "re-execute selected step": (
        lambda live: live.reexecute("bad"),
        "held: " + HELD.replace("held, since ", ""),
    ),
    "re-execute one asset of the step": (
        lambda live: live.reexecute("bad", "training_data"),
        HELD,
    ),
    "range in one run": (
        lambda live: live.launch("training_data", None, **RANGE),
        BYPASSES["range backfill in one run"].refusal,
    ),
    "renamed round": (lambda live: live.launch("training_data", "better"), NOT_DELIVERED),
}
"""Each launch asks for the training data only, with no checks."""
BACKFILLS: dict[str, tuple[Callable[[Live], str], list[str]]] = {
    "range backfill": (
        lambda live: live.backfill(["bad", "../good"], "training_data"),
        [HELD, PATH_REFUSED],
    ),
    "fan-in backfill": (
        lambda live: live.backfill(["bad"], "acceptability", "training_data", "release"),
        ["held: held: round bad: krippendorff_alpha 0."],
    ),
}


@pytest.fixture(scope="module")
def tried(live: Live) -> dict[str, str]:
    """The run or backfill of each way. All are started before the first is waited for.

    Each forgery is first seen to be taken for true.
    """
    for name in ("../good", "better"):
        assert live.add_round(name) == "AddDynamicPartitionSuccess"
    return {name: attempt(live) for name, (attempt, _) in {**FROM_OUTSIDE, **BACKFILLS}.items()}


@pytest.mark.slow
def test_a_dropped_file_is_run_by_the_sensor_and_judged(live):
    assert set(live.finished("good")) == {"SUCCESS"}
    assert set(live.finished("bad")) == {"FAILURE"}
    assert live.released() == {"good"}


@pytest.mark.slow
@pytest.mark.parametrize("name", FROM_OUTSIDE)
def test_by_the_webserver_it_is_refused_with_the_reason_and_leaves_no_release_behind(
    name, live, tried
):
    assert live.ended(tried[name]) == "FAILURE"
    (said,) = live.why(tried[name])
    assert re.match(FROM_OUTSIDE[name][1], said)
    assert (live.decision("bad"), live.decision("worse"), live.released()) == (
        "held",
        "held",
        {"good"},
    )


@pytest.mark.slow
@pytest.mark.parametrize("name", BACKFILLS)
def test_every_run_of_a_backfill_is_refused_with_the_reason_and_leaves_no_release_behind(
    name, live, tried
):
    assert live.backfill_ended(tried[name]) == "COMPLETED_FAILED"
    said = [reason for run in live.runs_of(tried[name]) for reason in live.why(run)]
    reasons = BACKFILLS[name][1]
    assert len(said) == len(reasons)
    assert all(any(re.match(reason, each) for each in said) for reason in reasons)
    assert (live.decision("bad"), live.released()) == ("held", {"good"})


@pytest.mark.slow
def test_a_backfill_that_judges_again_takes_the_forged_check_result_back(live, tried):
    live.backfill_ended(tried["fan-in backfill"])
    last = live.checks("acceptability", "bad")[0]
    assert (last["run"], last["success"]) == (live.runs_of(tried["fan-in backfill"])[0], False)
    assert re.match(HELD.replace("held: round bad: held, since ", "No: "), last["description"])


@pytest.mark.slow
def test_automation_asks_for_training_data_by_itself_and_is_refused(live):
    """An automation condition asks, and the daemon launches the run, whatever checks said."""
    run = live.automated("later")
    assert run["assetSelection"] == [{"path": ["automated", "training_data"]}]
    assert live.ended(run["runId"]) == "FAILURE"
    (said,) = live.why(run["runId"])
    assert re.match(HELD.replace("bad", "later"), said)
    assert released_rounds(live.root / "elsewhere") == set()


@pytest.mark.slow
def test_the_admitted_rounds_together_leave_out_the_one_that_is_held(live, tried):
    assert live.ended(live.launch("release", None)) == "SUCCESS"
    assert live.released() == {"good"}


FOR_VIEWERS = {
    "launch": (
        lambda live: live.launch("training_data", "good"),
        PermissionError,
        "^UnauthorizedError$",
    ),
    "backfill": (
        lambda live: live.backfill(["good"], "training_data"),
        PermissionError,
        "^UnauthorizedError$",
    ),
    "re-execution": (
        lambda live: live.reexecute("bad", "training_data"),
        PermissionError,
        "^UnauthorizedError$",
    ),
    "check by REST": (
        lambda live: live.post("/report_asset_check/reviews/acceptability", REPORTED),
        HTTPError,
        "^HTTP Error 401: ",
    ),
    "materialization by REST": (
        lambda live: live.post(
            "/report_asset_materialization/reviews/acceptability", {"partition": "bad"}
        ),
        HTTPError,
        "^HTTP Error 401: ",
    ),
    "check by GraphQL": (
        lambda live: live.report_check("bad"),
        PermissionError,
        "^UnauthorizedError$",
    ),
    "materialization by GraphQL": (
        lambda live: live.report_asset("bad", "training_data"),
        PermissionError,
        "^UnauthorizedError$",
    ),
    "new round": (lambda live: live.add_round("other"), PermissionError, "^UnauthorizedError$"),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", FOR_VIEWERS)
def test_a_webserver_for_viewers_shows_everything_and_does_nothing(name, read_only):
    attempt, kind, said = FOR_VIEWERS[name]
    before = [run["runId"] for run in read_only.runs()]
    assert before
    with pytest.raises(kind, match=said):
        attempt(read_only)
    assert [run["runId"] for run in read_only.runs()] == before
