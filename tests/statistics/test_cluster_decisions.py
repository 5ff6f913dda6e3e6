"""Decisions and releases of rounds in clusters, and the command line."""

import json

import pytest

from agreement_pipeline.cli import main as cli
from agreement_pipeline.contract import Contract
from agreement_pipeline.policy import Policy, Rule, assess
from agreement_pipeline.release import open_release, release_round
from agreement_pipeline.store import Store
from tests.statistics.documents import NOTHING_BOUNDED, documents, ratings, without_clusters


def strict(**rule):
    return Policy(
        "p", 1, (Rule("krippendorff_alpha", **rule),), n_resamples=2000, integrity=NOTHING_BOUNDED
    )


def test_the_reason_says_how_many_clusters_and_that_they_are_too_few_to_plan_from():
    found = assess(ratings(documents(14, hard=0.15)), strict(), Contract.none()).decision
    assert not found.admitted
    assert "on 240 items in 30 clusters: " in found.reasons[0]
    assert found.verdicts[0].fresh_round.n_now == 30
    assert found.verdicts[0].fresh_round.is_too_small


def test_a_round_that_items_one_by_one_would_admit_waits_for_more_documents():
    frame = documents(17, n=40, sentences=20, hard=0.09)
    single, whole = (
        assess(ratings(each), strict(), Contract.none()).decision
        for each in (without_clusters(frame), frame)
    )
    assert single.admitted
    assert not whole.admitted
    assert "in 40 clusters" in whole.reasons[0]


@pytest.fixture
def clustered_release(tmp_path):
    """Where a round of whole documents was released to, and its ratings."""
    frame = documents(16, n=40, hard=0)
    frame.to_csv(tmp_path / "export.csv", index=False)
    store, released = (
        Store(tmp_path / "store", salt=b"a salt for tests"),
        ratings(frame, classifiers=()),
    )
    store.ingest("r1", released, tmp_path / "export.csv")
    return release_round(store, "r1", strict(), Contract.none(), project="demo").path, released


def test_a_release_carries_its_clusters_and_derives_its_decision_from_them(clustered_release):
    path, released = clustered_release
    found = open_release(path)
    assert found.ratings["r1"].digest == released.digest
    assert found.annotations.groupby("item")["cluster"].first().loc["007-0"] == "document 7"
    report = json.loads((path / "agreement_report.json").read_text())
    assert report["rounds"]["r1"]["estimates"][0]["n_clusters"] == 40
    assert json.loads((path / "manifest.json").read_text())["rounds"][0]["columns"] == [
        "confidence",
        "cluster",
    ]


# The command line


def test_the_command_line_takes_the_column_of_clusters(tmp_path, capsys):
    documents(17).rename(columns={"cluster": "document"}).to_csv(
        tmp_path / "labels.csv", index=False
    )
    asked = [
        "measure",
        str(tmp_path / "labels.csv"),
        "--measure",
        "krippendorff_alpha",
        "--n-resamples",
        "500",
    ]
    widths = []
    for more in ([], ["--cluster", "document"]):
        assert cli([*asked, *more, "--format", "json"]) == 0
        found = json.loads(capsys.readouterr().out)[0]
        widths.append((found["n_clusters"], found["high"] - found["low"]))
    assert [n for n, _ in widths] == [None, 30]
    assert widths[1][1] > 1.5 * widths[0][1]
    assert cli([*asked, "--cluster", "document"]) == 0
    assert "clusters: 30" in capsys.readouterr().out
