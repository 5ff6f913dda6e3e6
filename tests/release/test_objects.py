"""A release of spans or boxes says where each unit lies, and what each rater marked there."""

import json
from functools import partial

import pytest

from agreement_pipeline.policy import Policy, Rule
from agreement_pipeline.ratings import Scale
from agreement_pipeline.release import verify_release
from agreement_pipeline.units import Box, Marked, Span, UnitSettings, units_of
from tests.release.rounds import released

POLICY = Policy("objects", 1, (Rule("krippendorff_alpha"),), n_resamples=1000)
SCALE = Scale(("none", "PER", "ORG"))


@pytest.fixture
def load(tmp_path, monkeypatch):
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setenv("HF_HOME", str(tmp_path / "home"))
    datasets = pytest.importorskip("datasets")

    return partial(datasets.load_dataset, cache_dir=str(tmp_path / "cache"), split="train")


def spans(item, rater):
    more = (Span(20, 25, "ORG"),) if (item, rater) == ("d 00", "ana") else ()
    return Marked(item, rater, (Span(0, 3, "PER"), Span(8, 12, "ORG"), *more), (30,))


def boxes(item, rater):
    if item == "d 01":
        return Marked(item, rater, (), (99, 99))
    shift = 1 if rater == "ben" else 0
    first = Box(10 + shift, 20, 30, 40.5, "PER")
    return Marked(item, rater, (first, Box(60, 60, 9, 9, "ORG")), (99, 99))


def release_of(store, original, kind, drawn):
    raters = ("ana", "ben", "chi")
    marked = [drawn(f"d {n:02}", rater) for n in range(40) for rater in raters]
    units = units_of(marked, UnitSettings(kind), SCALE)
    store.ingest("r1", units.ratings, original)
    return released(store, policy=POLICY)


def test_spans_have_a_start_and_an_end_and_load(store, original, load):
    found = release_of(store, original, "spans", spans)
    verify_release(found.path)
    train = load(str(found.path)).to_pandas()
    agreed = train[train["label"] != "none"]
    assert {*zip(agreed["start"], agreed["end"], agreed["label"], strict=True)} == {
        (0, 3, "PER"),
        (8, 12, "ORG"),
    }
    assert {*agreed["unit_of"]} == {f"d {n:02}" for n in range(40)}
    said = load(str(found.path), "annotations").to_pandas()
    alone = said[(said["start"] == 20) & (said["label"] == "ORG")]
    assert alone[["item", "start", "end"]].to_numpy().tolist() == [["d 00 20-25", 20, 25]]
    per = said[said["label"] == "PER"]
    assert per.groupby("rater").size().tolist() == [40, 40, 40]
    assert {*zip(per["start"], per["end"], strict=True)} == {(0, 3)}


def test_boxes_have_corners_and_an_empty_image_has_none(store, original, load):
    found = release_of(store, original, "boxes", boxes)
    verify_release(found.path)
    train = load(str(found.path)).to_pandas()
    columns = ["x", "y", "width", "height"]
    assert train.loc[train["unit_of"] == "d 00", columns].to_numpy().tolist() == [
        [10, 20, 30, 40.5],
        [60, 60, 9, 9],
    ]
    said = load(str(found.path), "annotations").to_pandas()
    first = said[said["item"] == "d 00 10,20 30x40.5"].sort_values("drawn")
    assert [json.loads(each) for each in first["drawn"]] == [
        [10, 20, 30, 40.5],
        [10, 20, 30, 40.5],
        [11, 20, 30, 40.5],
    ]
    assert said.loc[said["label"] == "none", "drawn"].isna().all()
    empty = train[train["unit_of"] == "d 01"]
    assert empty["id"].tolist() == ["d 01 nothing marked"]
    assert empty[columns].isna().all(axis=None)
