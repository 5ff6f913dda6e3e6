"""Gold items of other rounds: no release trains on them, or shows their texts or answers."""

import json
import re

import pandas as pd
import pytest

from agreement_pipeline import open_release
from agreement_pipeline.errors import ReleaseHeldError, ReleaseInvalidError, StoreError
from agreement_pipeline.policy import Policy
from agreement_pipeline.ratings import Ratings, Scale
from agreement_pipeline.readers import Columns, Rules, read
from agreement_pipeline.release import (
    judge_round,
    lock,
    release_dataset,
    verify_release,
)
from agreement_pipeline.store import Store, erase
from agreement_pipeline.units import UnitSettings
from tests.release.forging import edit
from tests.release.rounds import CONTRACT, released
from tests.release.test_gold import GOLD, POLICY_ALPHA, SCALES, all_bytes, gold_frame

SCALE, VALUES = SCALES["nominal"]
LATER = GOLD[:20]
REFUSES = Policy.from_mapping(
    {**POLICY_ALPHA.to_mapping(), "policy": "refuses", "items_gold_elsewhere": "refuse"}
)


def ingest(store, original, name, **more):
    return store.ingest(name, Ratings.from_frame(gold_frame(VALUES, **more), SCALE), original)


@pytest.fixture
def two_rounds(store, original):
    """Round r1 without gold items. Round r2 calls its first twenty items gold."""
    ingest(store, original, "r1", is_gold=False)
    version = ingest(store, original, "r2", gold=LATER, n_items=100)
    judge(store, "r2")
    return version


def judge(store, name, policy=POLICY_ALPHA):
    return judge_round(store, name, policy, CONTRACT)


def assert_leaves_out(path, items):
    """No file has a text of these items or their labels, and no row of them trains."""
    numbers = {int(item[1:]) for item in items}
    for name, data in all_bytes(path):
        assert not numbers & {int(n) for n in re.findall(rb"secret-(\d+)-text", data)}, name
    annotations = pd.read_parquet(path / "annotations")
    of_gold = annotations[annotations["item"].isin(items)]
    assert of_gold["label"].isna().all()
    assert len(of_gold) == 3 * len(items)
    assert not {*items} & {*pd.read_parquet(path / "data")["id"]}


def test_a_round_trains_on_nothing_that_another_round_calls_gold(store, two_rounds):
    release = released(store, POLICY_ALPHA)
    assert_leaves_out(release.path, LATER)
    assert len(release.train) == 140
    manifest = json.loads((release.path / "manifest.json").read_text())
    assert manifest["rounds"][0]["gold_elsewhere"] == {
        "r2": {"ratings_digest": two_rounds.ratings_digest, "items": LATER}
    }
    report = json.loads((release.path / "agreement_report.json").read_text())
    assert report["gold_in_another_round"] == {"r1": 20}
    card = (release.path / "README.md").read_text()
    assert "20 items of round r1 are left out, since another round calls them gold." in card
    assert verify_release(release.path).train.equals(release.train)
    assert open_release(release.path, store=store).n_gold_elsewhere == {"r1": 20}
    assert released(store, POLICY_ALPHA).path == release.path


def test_a_release_is_withdrawn_when_a_later_round_calls_its_items_gold(store, original):
    ingest(store, original, "r1", is_gold=False)
    first = released(store, POLICY_ALPHA)
    alone = release_dataset(store, ["r1"], POLICY_ALPHA, CONTRACT, project="demo")
    assert len(first.train) == len(alone.train) == 160
    ingest(store, original, "r2", gold=LATER, n_items=100)
    judged, withdrawn = judge(store, "r2")
    assert judged.decision.admitted
    assert not withdrawn, "no release of round r2 itself"
    entries = [entry for entry in store.history("r1") if entry["event"] == "withdrawn"]
    assert [entry["gold_in"] for entry in entries] == [["r2"], ["r2"]]
    called = f"r1/{first.path.name}"
    assert entries[0]["reasons"] == [
        f"20 items of {called} are gold in round r2, so it may not be trained on"
    ]
    assert (
        json.loads((first.path / "WITHDRAWN.json").read_text())["reasons"]
        == (entries[0]["reasons"])
    )
    assert not store.in_force()
    assert not (store.root / "current" / "r1.json").exists()
    with pytest.raises(ReleaseInvalidError, match="withdrawn"):
        verify_release(first.path)
    anew = released(store, POLICY_ALPHA)
    assert anew.path != first.path
    assert_leaves_out(anew.path, LATER)
    assert open_release(anew.path, store=store).train.equals(anew.train)
    both = release_dataset(store, ["r1", "r2"], POLICY_ALPHA, CONTRACT, project="demo")
    n_entries = len(store.history())
    judge(store, "r2")
    judge(store, "r1")
    assert len(store.history()) == n_entries
    assert {entry["release"].partition("/")[0] for entry in store.in_force()} == {
        "r1",
        "demo.dataset",
    }
    assert verify_release(both.path).n_gold_elsewhere == {"r1": 20}


def test_a_policy_may_refuse_rounds_with_items_that_are_gold_elsewhere(store, original):
    assert "items_gold_elsewhere" not in POLICY_ALPHA.to_mapping()
    ingest(store, original, "r1", is_gold=False)
    first = released(store, REFUSES)
    ingest(store, original, "r2", gold=LATER, n_items=100)
    judge(store, "r2", REFUSES)
    for release in (
        lambda: released(store, REFUSES),
        lambda: release_dataset(store, ["r1", "r2"], REFUSES, CONTRACT, project="demo"),
    ):
        with pytest.raises(ReleaseHeldError, match=r"round r1: found 20 items that another round"):
            release()
    assert (first.path / "WITHDRAWN.json").exists()
    assert not store.in_force()
    assert len(released(store, REFUSES, "r2").train) == 80


def test_a_former_version_trains_on_nothing_that_the_present_one_calls_gold(store, original):
    ingest(store, original, "r1", is_gold=False)
    first = released(store, POLICY_ALPHA)
    ingest(store, original, "r1", gold=LATER)
    judge(store, "r1")
    assert (first.path / "WITHDRAWN.json").exists()


def test_a_round_that_comes_meanwhile_is_known_before_anything_is_released(
    store, original, monkeypatch
):
    ingest(store, original, "r1", is_gold=False)
    make = lock._build_release

    def make_late(*arguments):
        made = make(*arguments)
        ingest(store, original, "r2", gold=LATER, n_items=100)
        judge(store, "r2")
        return made

    monkeypatch.setattr(lock, "_build_release", make_late)
    with pytest.raises(
        StoreError, match="a round with gold items that was judged meanwhile"
    ) as refusal:
        released(store, POLICY_ALPHA)
    assert refusal.value.may_pass
    assert not store.in_force()


@pytest.mark.parametrize(
    "change",
    [
        lambda gold: gold["r2"]["items"].append("i050"),
        lambda gold: gold["r2"]["items"].append("i999"),
        lambda gold: gold["r2"]["items"].pop(),
        lambda gold: gold.update(r1=gold.pop("r2")),
        lambda gold: gold["r2"].update(ratings_digest="none"),
        lambda gold: gold.clear(),
    ],
)
def test_items_that_are_left_out_otherwise_than_listed_are_refused(store, two_rounds, change):
    path = released(store, POLICY_ALPHA).path
    edit(path, "manifest.json", lambda said: change(said["rounds"][0]["gold_elsewhere"]))
    with pytest.raises(ReleaseInvalidError):
        verify_release(path)


def read_spans(folder, name, end, *, is_gold=False):
    """Sixty documents in which three raters mark the first characters. Twenty are gold."""
    tasks = [
        {
            "id": n,
            "data": {"name": f"d{n:02}", "text": f"secret-{n}-text of", "gold": is_gold and n < 20},
            "annotations": [
                {
                    "id": 10 * n + k,
                    "completed_by": {"email": rater},
                    "result": [
                        {
                            "type": "labels",
                            "from_name": "ner",
                            "value": {"start": 0, "end": end, "labels": ["PER"]},
                        }
                    ],
                }
                for k, rater in enumerate(("ana", "ben", "chi"))
            ],
        }
        for n in range(60)
    ]
    file = folder / f"{name}.json"
    file.write_text(json.dumps(tasks))
    rules = Rules(units=UnitSettings("spans"), requires=())
    columns = Columns(item="name", gold="gold")
    return read(file, columns, scale=Scale(("none", "PER")), rules=rules)


def test_units_of_a_document_that_is_gold_elsewhere_do_not_train(store, original, tmp_path):
    store.ingest("r1", read_spans(tmp_path, "r1", 6), original)
    first = released(store, POLICY_ALPHA)
    assert first.train["unit_of"].nunique() == 60
    store.ingest("r2", read_spans(tmp_path, "r2", 9, is_gold=True), original)
    judge(store, "r2")
    assert (first.path / "WITHDRAWN.json").exists()
    release = released(store, POLICY_ALPHA)
    assert {*release.train["unit_of"]} == {f"d{n:02}" for n in range(20, 60)}
    for name, data in all_bytes(release.path):
        texts = {int(n) for n in re.findall(rb"secret-(\d+)-text", data)}
        assert not texts & {*range(20)}, name
    verify_release(release.path)


def test_gold_of_a_round_is_known_after_an_erasure(store, two_rounds, tmp_path):
    erase(store.root, tmp_path / "erased", "item", "i099", "Kim", "it names a person")
    after = Store(tmp_path / "erased")
    with pytest.raises(
        StoreError, match=r"round r2: found no version \w{12}, that its last decision was taken on"
    ):
        released(after, POLICY_ALPHA)
    assert not after.in_force()
    judge(after, "r2")
    assert_leaves_out(released(after, POLICY_ALPHA).path, LATER)
