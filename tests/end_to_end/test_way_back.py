"""A held round is labelled again, a drawn sample judges the raters, and its items train."""

import io
from datetime import timedelta
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import yaml

from agreement_pipeline import Store
from agreement_pipeline.cli import main
from agreement_pipeline.errors import RatingsError
from agreement_pipeline.projects import Project, ProjectSettings
from agreement_pipeline.release.decisions import today
from agreement_pipeline.store import draw_items

PROJECT = """project: labels
inbox: inbox
scale: {level: nominal, categories: ["no", "yes"]}
policy: standard
"""
FILE = "configs/projects/labels.yaml"
RATERS = ("ana", "ben", "cleo")
ITEMS = [f"post-{number:03}" for number in range(400)]


def right_label(item):
    return ("no", "yes")[int(item[-3:]) % 2]


def label_items(items, error, rng):
    rows = []
    for item in items:
        right = right_label(item)
        other = {"no": "yes", "yes": "no"}[right]
        rows += [(item, rater, other if rng.random() < error else right) for rater in RATERS]
    frame = pd.DataFrame(rows, columns=["item", "rater", "label"])
    return frame.assign(text="text of " + frame["item"])


def deliver(frame, name="w1"):
    frame.to_csv(f"inbox/{name}.csv", index=False)


def test_400_items_of_a_held_round_train_after_all(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    for folder in ("configs/projects", "configs/waivers", "inbox"):
        Path(folder).mkdir(parents=True)
    Path(FILE).write_text(PROJECT)
    rng = np.random.default_rng(1)
    store = Store(tmp_path / ".agreement/store/labels")

    first = label_items(ITEMS, 0.2, rng)
    deliver(first)
    assert main(["release", FILE, "w1"]) == 1
    held = store.present("w1")

    differ = first.groupby("item")["label"].transform("nunique") > 1
    settled = differ & (rng.random(len(first)) < 0.9)
    deliver(first.assign(label=first["label"].where(~settled, first["item"].map(right_label))))
    capsys.readouterr()
    assert main(["release", FILE, "w1"]) == 1
    assert "agreement-pipeline draw --relabelled ROUND" in capsys.readouterr().out
    relabelled = store.present("w1")

    assert main(["draw", "--relabelled", "w1", "--n", "150"]) == 0
    tasks, told = capsys.readouterr()
    tasks = pd.read_csv(io.StringIO(tasks))
    assert tasks["label"].isna().all()
    assert tasks["text"].tolist() == ("text of " + tasks["item"]).tolist()
    name = f"w1-sample-{relabelled.ratings_digest[:8]}"
    assert set(tasks["draw"]) == {name}
    assert told.endswith(f"Let the same raters label them, and deliver them as {name}.\n")
    deliver(label_items(tasks["item"], 0.02, rng), name)
    assert main(["release", FILE, name]) == 0
    sample = store.present(name)

    remedy = {
        "project": "labels",
        "round": "w1",
        "ratings_digest": held.ratings_digest,
        "remedied_by": {"round": "w1", "ratings_digest": relabelled.ratings_digest},
        "sample": {"round": name, "ratings_digest": sample.ratings_digest},
        "who": "Dana Okoye, head of data",
        "why": "All raters were trained with a new guideline.",
        "until": str(today() + timedelta(days=90)),
    }
    Path("configs/waivers/w1.yaml").write_text(yaml.safe_dump(remedy))
    capsys.readouterr()
    assert main(["release", FILE, "w1"]) == 0
    printed = capsys.readouterr().out
    folder = printed.splitlines()[0].removeprefix("released: ")
    assert "400 training rows" in printed

    assert main(["judge", FILE, "--of-round", "w1"]) == 0
    assert f"{name} ({sample.ratings_digest[:12]}), was labelled once" in capsys.readouterr().out
    for among in ([], ["--store", str(store.root)]):
        assert main(["verify", folder, *among]) == 0
        assert f"remedied by Dana Okoye, head of data until {remedy['until']}: check " in (
            capsys.readouterr().out
        )
    assert main(["verify", folder, "--no-waivers"]) == 21
    # one more label of the sample that is another, and nothing of it stands
    changed = label_items(tasks["item"], 0.02, rng)
    deliver(changed, name)
    assert main(["run", FILE]) != 0
    assert main(["verify", folder, "--store", str(store.root)]) != 0


def test_labels_of_before_do_not_pass_under_the_name_of_their_sample(tmp_path):
    """A sample counts as if its items had not come before, whatever the project says of that."""
    Path(tmp_path / "inbox").mkdir()
    settings = {
        "project": "labels",
        "inbox": "inbox",
        "policy": "exploratory",
        "root": str(tmp_path),
        "scale": {"categories": ["no", "yes"]},
    }

    def ingest(name, frame, **more):
        frame.to_csv(tmp_path / "inbox" / f"{name}.csv", index=False)
        project = Project(ProjectSettings(**settings, **more))
        project.ingest(name)
        return project.store.present(name).ratings_digest

    rng = np.random.default_rng(1)
    first, fresh = label_items(ITEMS[:150], 0.2, rng), label_items(ITEMS[:150], 0.02, rng)
    ingest("w1", first)
    settled = first["label"].where(rng.random(len(first)) > 0.9, first["item"].map(right_label))
    agreed = first.assign(label=first["item"].map(right_label))
    for labels, problem in (
        (first.assign(label=settled), "two raters differ on about"),
        (agreed, "not each label has a time of its own after the draw"),
    ):
        name = f"w1-sample-{ingest('w1', labels)[:8]}"
        for deliveries in (None, "independent", "cumulative"):
            with pytest.raises(
                RatingsError, match=f"raters changed 0 of 450 labels .* sample, and {problem}"
            ):
                ingest(name, labels, deliveries=deliveries)
    # some of the drawn items are as much of a copy
    store = Store(tmp_path / ".agreement/store/labels")
    some = draw_items(store, store.present("w1"), store.ratings("w1"), 149)
    with pytest.raises(RatingsError, match="deliver the time of each label too"):
        ingest(name, agreed[agreed["item"].isin(some)])
    early = fresh.assign(created_at="2020-01-01T00:00:00Z")
    with pytest.raises(RatingsError, match="450 labels are dated before the draw"):
        ingest(name, early, columns={"timestamp": "created_at"})
    # a sample may be of all items, and nearly the same, if raters looked again and times show it
    with pytest.raises(RatingsError, match=r"raters changed 8 of 450 labels .* time of its own"):
        ingest(name, fresh)
    times = pd.date_range(pd.Timestamp.now("UTC").floor("s"), periods=len(fresh), freq="s")
    late = fresh.assign(created_at=times.strftime("%Y-%m-%dT%H:%M:%SZ"))
    ingest(name, late, columns={"timestamp": "created_at"})


def test_labels_of_a_second_look_need_no_times_if_many_are_others(tmp_path):
    Path(tmp_path / "inbox").mkdir()
    settings = {"project": "labels", "inbox": "inbox", "policy": "standard", "root": str(tmp_path)}
    project = Project(ProjectSettings(**settings, scale={"categories": ["no", "yes"]}))

    def ingest(name, frame):
        frame.to_csv(tmp_path / "inbox" / f"{name}.csv", index=False)
        project.ingest(name)
        return project.store.present(name)

    rng = np.random.default_rng(1)
    version = ingest("w1", label_items(ITEMS[:150], 0, rng))
    ingest(f"w1-sample-{version.ratings_digest[:8]}", label_items(ITEMS[:150], 0.05, rng))


def test_a_round_of_the_store_is_drawn_from_without_other_options(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    for words, told in (
        (["--n", "9"], "found 0 of a population, --relabelled and --second-panel"),
        (["x.csv", "--n", "9", "--relabelled", "w1"], "found 2 of a population"),
        (["--n", "9", "--second-panel", "w2", "--relabelled", "w1"], "found 2 of a population"),
        (["--n", "9", "--relabelled", "w1", "--text", "t"], "--text with a round of the store"),
    ):
        Path("x.csv").write_text("item,rater,label\n")
        assert main(["draw", *words]) == 2
        assert told in capsys.readouterr().err
