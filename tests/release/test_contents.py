"""The files of a release: equal bytes, no names, and what a loader finds."""

import json
from base64 import b64decode
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest
import yaml

from agreement_pipeline.contract import Contract
from agreement_pipeline.errors import ReleaseHeldError, ReleaseInvalidError
from agreement_pipeline.estimates import measure_ratings
from agreement_pipeline.evidence import estimate_rows, round_table, rounds_in_words
from agreement_pipeline.evidence.details import interval_figure
from agreement_pipeline.evidence.rounds import build_course_figure
from agreement_pipeline.intervals import Inference
from agreement_pipeline.policy import Policy, Rule
from agreement_pipeline.ratings import Ratings
from agreement_pipeline.release import (
    verify_release,
)
from agreement_pipeline.release.card import card
from agreement_pipeline.report.drawing import svg_data_url
from agreement_pipeline.store import Store
from tests.release.rounds import LENIENT, RATERS, SCALE, bytes_of, make_ratings, released


@pytest.fixture
def load_dataset(tmp_path, monkeypatch):
    """As somebody would load it who has never heard of this package."""
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setenv("HF_HOME", str(tmp_path / "home"))
    datasets = pytest.importorskip("datasets")

    return partial(datasets.load_dataset, cache_dir=str(tmp_path / "cache"))


def test_a_release_loads_with_its_categories_in_order(store, original, load_dataset):
    store.ingest("r1", make_ratings(raters=(*RATERS, "dan"), disagreements=3), original)
    path = str(released(store).path)
    train = load_dataset(path, split="train")
    assert (train.features["label_id"].names, len(train)) == (list(SCALE.names), 90)
    assert train[:3]["label"] == ["no", "yes", "<b>|maybe|</b>"]
    assert train.features["label_id"].int2str(train[:3]["label_id"]) == train[:3]["label"]
    assert train[0]["soft_label"] == [0.75, 0.25, 0]
    assert sorted(load_dataset(path, "annotations", split="train")[:4]["label"]) == [
        "no",
        "no",
        "no",
        "yes",
    ]
    assert load_dataset(
        "parquet", data_files=f"{path}/data/train-*.parquet", split="train"
    ).features["label_id"].names == list(SCALE.names)


def test_unresolved_items_are_a_configuration_of_their_own(store, original, load_dataset):
    store.ingest("r1", make_ratings(raters=("ana", "ben"), disagreements=2), original)
    found = released(store)
    assert set(found.train["id"]) == {f"i{n:03}" for n in range(2, 90)}
    unresolved = load_dataset(str(found.path), "unresolved", split="unresolved")
    assert unresolved[:]["id"] == ["i000", "i001"]
    assert unresolved[:]["label"] == unresolved[:]["label_id"] == [None, None]
    assert unresolved[:]["resolution"] == ["tie", "tie"]


def test_equal_inputs_give_equal_bytes_in_different_stores(tmp_path, original):
    folders = []
    for name, shuffle in (("one", 1), ("other", 2)):
        store = Store(tmp_path / name, salt=b"a salt for tests")
        if name == "other":
            store.ingest("r0", make_ratings(prefix="j"), original)
        store.ingest("r1", make_ratings(shuffle=shuffle), original)
        folders.append(released(store).path)
    assert bytes_of(folders[0]) == bytes_of(folders[1])


def test_a_release_holds_no_name_of_a_rater_and_every_name_of_a_classifier(store, original):
    store.ingest("r1", make_ratings(classifiers=("gpt-x",)), original)
    found = released(
        store,
        Policy(
            "p",
            1,
            (
                Rule("krippendorff_alpha"),
                Rule("krippendorff_alpha", scope="without", effect="warn"),
            ),
            n_resamples=1000,
        ),
    )
    assert set(found.annotations["rater"]) == {*store.pseudonyms(make_ratings()).values(), "gpt-x"}
    assert found.annotations.groupby("kind")["rater"].nunique().to_dict() == {
        "classifier": 1,
        "panel": 3,
    }
    assert found.train["n_raters"].unique().tolist() == [3]
    texts = b"".join(
        data for name, data in bytes_of(found.path).items() if not name.endswith(".parquet")
    )
    assert not any(rater.encode() in texts for rater in RATERS)
    assert b"without rater-" in texts


def test_the_card_says_what_was_found_and_means_nothing_else(store, original):
    store.ingest("r1", make_ratings(disagreements=14), original)
    found = released(store, LENIENT)
    text = (found.path / "README.md").read_text()
    assert found.tentative
    assert "**Tentative.**" in text
    head, _, body = text.removeprefix("---").partition("---")
    assert json.loads(body.split("```json")[1].split("```")[0]) == list(SCALE.names)
    (described,) = yaml.safe_load(head)["dataset_info"]
    (label_id,) = (each for each in described["features"] if each["name"] == "label_id")
    assert [*label_id["dtype"]["class_label"]["names"].values()] == list(SCALE.names)
    assert "<b>" not in body
    verdict = found.decisions["r1"]["verdicts"][0]
    assert (
        f"| {verdict['value']:.3f} | {verdict['low']:.3f} to {verdict['high']:.3f} "
        "| 90 | tentative |" in text
    )
    assert [
        config["config_name"] for config in yaml.safe_load(text.split("---")[1])["configs"]
    ] == ["default", "annotations"]


def test_the_card_counts_one_item_as_one():
    rows = {"train": 1, "unresolved": 1}
    told = {"rows": {**rows, "relabelled": 9}, "rounds": {}, "gold_in_another_round": {"w1": 1}}
    said = card("p", {}, told, LENIENT, Contract.none(), SCALE)
    assert "1 item has a training label; 1 is unresolved." in said
    assert (
        "Nor does it see ratings that were deleted before they were delivered, if no gap is left."
    ) in said
    assert "1 item of round w1 is left out, since another round calls it gold." in said


def test_the_card_writes_thousands_as_the_pages_do():
    rows = {"train": 3000, "unresolved": 1200}
    told = {"rows": rows, "rounds": {"w1": {"counts": {"items": 4200}}}}
    verdict = {"measure": "m", "scope": "round", "value": None, "n_items": 4200, "effect": "hold"}
    verdicts = [{**verdict, "verdict": "reliable", "reason": "since"}]
    decision = {"findings": [], "waivers": [], "verdicts": verdicts}
    decisions = {"w1": {**decision, "version": 1, "tentative": False}}
    said = card("p", decisions, told, LENIENT, Contract.none(), SCALE)
    assert "3,000 items have a training label; 1,200 are unresolved." in said
    assert said.count("| 4,200 |") == 2


def beside_a_model(n_items):
    """The panel agrees on one of the seven items that the model labelled.

    In many resamples S has nothing to reach.
    """
    rows = [
        (f"i{i:03}", rater, SCALE.names[(i + (place if i < 6 else 0)) % 3])
        for i in range(n_items)
        for place, rater in enumerate(RATERS)
    ]
    rows += [(f"i{i:03}", "model", SCALE.names[i % 3]) for i in range(7)]
    return Ratings.from_frame(
        pd.DataFrame(rows, columns=["item", "rater", "label"]), SCALE, classifiers=("model",)
    )


def test_an_interval_without_limit_is_told_and_a_round_with_one_is_released_held_and_withdrawn(
    store, original
):
    policy = Policy(
        "p",
        1,
        (Rule("krippendorff_alpha"), Rule("shah_s", scope="classifier", effect="warn")),
        n_resamples=1000,
    )
    store.ingest("r1", beside_a_model(400), original)
    found = released(store, policy)
    (said,) = (
        verdict for verdict in found.decisions["r1"]["verdicts"] if verdict["measure"] == "shah_s"
    )
    assert (said["value"], said["low"], said["high"]) == (1.0, None, 1.0)
    assert "interval no limit to 1.000" in said["reason"]
    assert "| 1.000 | no limit to 1.000 |" in (found.path / "README.md").read_text()
    store.ingest("r1", beside_a_model(20), original)
    with pytest.raises(ReleaseHeldError):
        released(store, policy)
    with pytest.raises(ReleaseInvalidError, match="withdrawn"):
        verify_release(found.path)
    assert not any(
        b"Infinity" in entry.read_bytes() for entry in (store.root / "log").glob("*.json")
    )


def test_the_history_and_the_plots_show_that_an_interval_has_no_limit(store, original):
    ratings = beside_a_model(400)
    store.ingest("r1", ratings, original)
    with pytest.raises(ReleaseHeldError, match=r"interval no limit to 1\.000"):
        released(store, Policy("p", 1, (Rule("shah_s", scope="classifier"),), n_resamples=1000))
    rounds = round_table(store)
    assert rounds_in_words(rounds)["interval"].tolist() == ["no limit…1.000"]
    estimates = list(
        measure_ratings(ratings, ["shah_s"], Inference(n_resamples=1000), scopes=("classifier",))
    )
    assert [row["interval"] for row in estimate_rows(estimates)] == ["no limit … 1.00000"]
    rule = Rule("shah_s", scope="classifier")
    for figure in (
        build_course_figure(rounds, rule),
        interval_figure(estimates, Policy("p", 1, (rule,))),
    ):
        kind, _, said = svg_data_url(figure).partition(",")
        assert kind == "data:image/svg+xml;base64"
        assert b"no limit to 1.000" in b64decode(said)


@pytest.mark.filterwarnings("ignore")  # of that package and of what it imports
def test_the_authors_of_croissant_read_every_table_of_a_release(store, original):
    croissant = pytest.importorskip("mlcroissant")
    store.ingest("r1", make_ratings(raters=(*RATERS, "dan"), disagreements=3), original)
    path = Path(released(store).path)
    described = croissant.Dataset(path / "croissant.json")
    assert not described.metadata.ctx.issues.errors
    assert str(described.metadata.ctx.conforms_to.value).endswith("/croissant/1.1")
    tables = {"data_train": "data/train-*", "annotations_train": "annotations/train-*"}
    for record_set, files in tables.items():
        (file,) = path.glob(files)
        expected = pq.read_table(file).to_pylist()
        found = list(described.records(record_set))
        assert len(found) == len(expected)
        for row, other in zip(found, expected, strict=True):
            assert {name.split("/")[1] for name in row} == {*other}
            for name, cell in other.items():
                said = row[f"{record_set}/{name}"]
                said = said.decode() if isinstance(said, bytes) else said
                if isinstance(cell, list) and isinstance(cell[0], str):
                    said = [each.decode() for each in said]
                assert cell is None or np.all(said == np.asarray(cell)), name
