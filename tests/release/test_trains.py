"""Releases of each label that can train: what stands in them, and that they prove it."""

import json

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow.parquet as pq
import pytest

from agreement_pipeline.contract import Contract
from agreement_pipeline.errors import ReleaseHeldError, ReleaseInvalidError
from agreement_pipeline.policy import Policy, Rule
from agreement_pipeline.ratings import Adjudicated, Ratings, Scale, Trains
from agreement_pipeline.release import judge_round, release_round, verify_release
from agreement_pipeline.release.contents import as_json

WORDS = ("low", "middle", "high")
ORDINAL, NUMBERS = Scale(WORDS, "ordinal"), Scale((1, 2, 3), "interval")
POLICY = Policy("standard", 1, (Rule("krippendorff_alpha"),), n_resamples=1000)
CONTRACT = Contract.none()
SPECIAL = {
    "of three": ("low", "middle", "high"),
    "two to one": ("low", "low", "high"),
    "tie": ("low", "middle"),
    "half": ("low", "low", "middle", "high"),
}
EXPECTED = {
    "plurality": {"two to one": "low", "half": "low"},
    "majority": {"two to one": "low"},
    "median": {"of three": "middle", "two to one": "low"},
    "mean": {"of three": 2.0, "two to one": 5 / 3, "tie": 1.5, "half": 1.75},
    "shares": {"of three": None, "two to one": "low", "tie": None, "half": "low"},
    "one_rater": {"two to one": "low", "half": "low", "single": "high"},
    "adjudicated": {"tie": "high", "single": "middle"},
}
ANSWERS = {"tie": "high", "single": "middle"}
TRAINS = {kind: Trains(kind) for kind in EXPECTED} | {
    "one_rater": Trains("one_rater", "random_sample")
}


def make_round(scale=ORDINAL):
    labels = {f"i{n:03}": (WORDS[n % 3],) * 3 for n in range(120)} | SPECIAL | {"single": ("high",)}
    rows = [
        (item, ("ana", "ben", "cem", "dia")[(place + n) % 4], label)
        for n, (item, values) in enumerate(labels.items())
        for place, label in enumerate(values)
    ]
    frame = pd.DataFrame(rows, columns=["item", "rater", "label"])
    if scale.numeric:
        frame["label"] = [WORDS.index(label) + 1 for label in frame["label"]]
    return Ratings.from_frame(frame, scale)


def release_as(store, original, kind, ratings=None):
    ratings = ratings or make_round(NUMBERS if kind == "mean" else ORDINAL)
    store.ingest("r1", ratings, original)
    adjudicated = {"r1": Adjudicated(ratings.digest, ANSWERS)} if kind == "adjudicated" else {}
    return release_round(
        store,
        "r1",
        POLICY,
        CONTRACT,
        project="demo",
        trains=TRAINS[kind],
        adjudicated=adjudicated,
    )


def readers(path, cache):
    table = str(path / "data/train-00000-of-00001.parquet")
    yield "pandas", pd.read_parquet(table).astype(object).to_dict("records")
    yield "polars", pl.read_parquet(table).to_dicts()
    names = [column[0] for column in duckdb.read_parquet(table).description]
    rows = duckdb.read_parquet(table).fetchall()
    yield "duckdb", [dict(zip(names, row, strict=True)) for row in rows]
    yield "pyarrow", pq.read_table(table).to_pylist()
    datasets = pytest.importorskip("datasets")
    yield "datasets", list(datasets.load_dataset(str(path), split="train", cache_dir=str(cache)))


@pytest.mark.parametrize("kind", EXPECTED)
def test_every_program_reads_the_label_that_is_meant(kind, store, original, tmp_path, monkeypatch):
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    path = release_as(store, original, kind).path
    special = {*SPECIAL, "single"}
    for program, rows in readers(path, tmp_path / "cache"):
        labels = {row["id"]: row["label"] for row in rows}
        found = {
            item: None if pd.isna(label) else label
            for item, label in labels.items()
            if item in special
        }
        assert found == pytest.approx(EXPECTED[kind]), program
        n_plain = 0 if kind == "adjudicated" else 120
        assert len(labels) == n_plain + len(EXPECTED[kind]), program
        if kind == "shares":
            (tie,) = (row for row in rows if row["id"] == "tie")
            assert list(tie["soft_label"]) == [0.5, 0.5, 0], program


def test_a_rule_on_the_label_is_judged_again_for_the_label_that_trains(store, original):
    """Shares are reliable here. A category has no value, since only 41 items have four ratings."""
    rules = (Rule("label_reliability", "label"),)
    policy = Policy("label", 1, rules, n_resamples=1000)
    store.ingest("r1", make_round(), original)
    trains = Trains("shares")
    release = release_round(store, "r1", policy, CONTRACT, project="demo", trains=trains)
    (verdict,) = verify_release(release.path).decisions["r1"]["verdicts"]
    assert (verdict["scope"], verdict["verdict"]) == ("label", "reliable")
    adjudicated = Trains("adjudicated")
    with pytest.raises(ReleaseHeldError, match="undefined, since raters do not show"):
        release_round(store, "r1", policy, CONTRACT, project="demo", trains=adjudicated)


@pytest.mark.parametrize("kind", EXPECTED)
def test_a_release_proves_its_label_again(kind, store, original):
    release = release_as(store, original, kind)
    manifest = json.loads((release.path / "manifest.json").read_bytes())
    assert manifest["trains"] == TRAINS[kind].to_mapping()
    found = verify_release(release.path)
    assert found.trains == TRAINS[kind]
    assert found.what_trains == release.what_trains
    assert f"(`trains: {kind}` in the project)" in found.what_trains[0]
    card = (release.path / "README.md").read_text()
    assert all(sentence in card for sentence in release.what_trains)


@pytest.mark.parametrize("other", ["plurality", "shares", None])
def test_another_label_in_the_manifest_is_refused(other, store, original):
    path = release_as(store, original, "majority").path
    manifest = json.loads((path / "manifest.json").read_bytes())
    del manifest["trains"]
    if other:
        manifest["trains"] = {"label": other}
    (path / "manifest.json").chmod(0o600)
    (path / "manifest.json").write_bytes(as_json(manifest))
    with pytest.raises(ReleaseInvalidError, match="expected"):
        verify_release(path)


def test_a_label_that_nobody_knows_is_refused(store, original):
    path = release_as(store, original, "majority").path
    manifest = json.loads((path / "manifest.json").read_bytes())
    manifest["trains"] = {"label": "best"}
    (path / "manifest.json").chmod(0o600)
    (path / "manifest.json").write_bytes(as_json(manifest))
    with pytest.raises(ReleaseInvalidError, match="'best'"):
        verify_release(path)


def test_without_the_key_nothing_changes(store, original):
    store.ingest("r1", make_round(), original)
    release = release_round(store, "r1", POLICY, CONTRACT, project="demo")
    assert "trains" not in json.loads((release.path / "manifest.json").read_bytes())
    decided = [entry for entry in store.history("r1") if entry["event"] == "decided"][-1]
    assert "trains" not in decided
    assert {row["id"]: row["label"] for row in release.train.to_dict("records")} == {
        **{f"i{n:03}": WORDS[n % 3] for n in range(120)},
        **EXPECTED["plurality"],
    }
    assert (
        "1 of 125 items has one label, which does not train, since nothing shows"
        in (release.path / "README.md").read_text()
    )


def test_another_label_makes_another_decision_and_release(store, original):
    first = release_as(store, original, "majority")
    second = release_as(store, original, "median")
    assert first.path != second.path
    assert verify_release(first.path).trains == Trains("majority")
    assert verify_release(second.path).trains == Trains("median")
    decided = [entry["trains"] for entry in store.history("r1") if entry["event"] == "decided"]
    assert decided == [{"label": "majority"}, {"label": "median"}]
    assert release_as(store, original, "median").path == second.path


def overlap_round(*, of_yes):
    """Of 800 items, 200 have three raters: random ones, or more of those that are yes."""
    random = np.random.default_rng(3)
    is_yes = np.arange(800) % 2 > 0
    weight = np.where(is_yes, of_yes, 1.0)
    drawn = random.choice(800, size=200, replace=False, p=weight / weight.sum())
    rows = []
    for item in range(800):
        size = 3 if item in drawn else 1
        for rater in random.choice(["ana", "ben", "cem", "dia"], size=size, replace=False):
            label = is_yes[item] ^ (random.random() < 0.02)
            rows.append((f"i{item:03}", rater, ("no", "yes")[int(label)]))
    frame = pd.DataFrame(rows, columns=["item", "rater", "label"])
    return Ratings.from_frame(frame, Scale(("no", "yes")))


def test_single_labels_train_where_the_overlap_is_random(store, original):
    release = release_as(store, original, "one_rater", overlap_round(of_yes=1.0))
    assert len(release.train) == 800
    assert (release.train["resolution"] == "one_rater").sum() == 600
    assert "600 of 800 items have one label and train" in (release.path / "README.md").read_text()
    found = verify_release(release.path)
    decision = found.decisions["r1"]
    assert [each["check"] for each in decision["findings"] if each["check"] == "overlap_random"]


def test_a_round_with_a_chosen_overlap_is_held_and_its_release_withdrawn(store, original):
    ratings = overlap_round(of_yes=2.0)
    store.ingest("r1", ratings, original)
    before = release_round(store, "r1", POLICY, CONTRACT, project="demo")
    with pytest.raises(ReleaseHeldError, match="no random sample of the round"):
        release_as(store, original, "one_rater", ratings)
    judged, _ = judge_round(store, "r1", POLICY, CONTRACT, trains=TRAINS["one_rater"])
    assert judged.decision.codes == ("overlap_not_random",)
    assert (before.path / "WITHDRAWN.json").exists()
    judged, _ = judge_round(store, "r1", POLICY, CONTRACT, trains=Trains("one_rater"))
    assert judged.decision.codes == ("overlap_not_declared",)
    judged, _ = judge_round(store, "r1", POLICY, CONTRACT, trains=Trains("plurality"))
    assert judged.decision.admitted
