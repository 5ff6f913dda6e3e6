"""A part of a round is drawn for a second panel, or for one rating more."""

import csv

import numpy as np
import pandas as pd
import pytest

from agreement_pipeline import Scale, Store, read_ratings
from agreement_pipeline.cli import main
from agreement_pipeline.estimates import label_reliability

SCALE = Scale(("no", "yes"))


def label_items(items, raters, seed, error=0.05):
    rng = np.random.default_rng(seed)
    rows = [
        (item, rater, SCALE.names[(int(item[1:]) + (rng.random() < error)) % 2])
        for item in items
        for rater in raters
    ]
    frame = pd.DataFrame(rows, columns=["item", "rater", "label"])
    return frame.assign(text="text of " + frame["item"])


@pytest.fixture
def store(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    store = Store(tmp_path / ".agreement/store/forum")
    frame = label_items([f"i{number:03}" for number in range(400)], "abc", 0)
    frame.to_csv("w1.csv", index=False)
    store.ingest("w1", read_ratings(frame, scale=SCALE), tmp_path / "w1.csv")
    return store


def draw_tasks(capsys, n_items):
    assert main(["draw", "--second-panel", "w1", "--n", str(n_items)]) == 0
    printed = capsys.readouterr()
    return list(csv.DictReader(printed.out.splitlines())), printed.err


def test_a_longer_draw_begins_with_the_shorter_one(store, capsys):
    short, told = draw_tasks(capsys, 150)
    longer, _ = draw_tasks(capsys, 300)
    assert longer[:150] == short
    assert {(task["rater"], task["label"]) for task in longer} == {("", "")}
    assert short[0]["text"] == f"text of {short[0]['item']}"
    digest = store.present("w1").ratings_digest
    assert {task["draw"] for task in short} == {f"w1-second-panel-{digest[:8]}"}
    assert told == (
        f"drawn: 150 of the items of w1 ({digest[:12]}). Let other raters label them: one for a "
        "rating more, or as many as label an item now for a second panel. Deliver w1 again with "
        "their labels.\n"
    )


@pytest.mark.parametrize("raters", ["d", "def"])
def test_the_drawn_part_gives_a_value_instead_of_a_floor(store, capsys, raters):
    first = pd.read_csv("w1.csv")
    items = [task["item"] for task in draw_tasks(capsys, 300)[0]]
    both = pd.concat([first, label_items(items, raters, 1)])
    floor, value = (label_reliability(read_ratings(frame, scale=SCALE)) for frame in (first, both))
    assert floor.is_floor
    assert not value.is_floor
    # three raters with errors of .05 settle on a wrong label in .00725 of the items
    assert value.reliability.low < 1 - 4 * 0.00725 * (1 - 0.00725) < value.reliability.high
