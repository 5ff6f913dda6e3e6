import json

from agreement_pipeline.cli import main
from agreement_pipeline.contract import Contract
from agreement_pipeline.policy import load_policy
from agreement_pipeline.readers import read
from agreement_pipeline.release import judge_round
from agreement_pipeline.store import Store
from tests.cli.rounds import unanimous


def test_the_rounds_of_a_store_are_measured_together(tmp_path, capsys):
    store = Store(tmp_path / "store")
    path = unanimous(tmp_path, 500)
    for name in ("r1", "r2"):
        store.ingest(name, read(path), path)
    asked = ["--store", str(store.root), "--measure", "percent_agreement", "--format", "json"]
    assert main(["to-date", *asked]) == 0
    (found,) = json.loads(capsys.readouterr().out)
    assert (found["value"], found["n_items"]) == (1.0, 1000)


def test_an_empty_store_is_refused(tmp_path, capsys):
    assert main(["to-date", "--store", str(tmp_path / "store")]) == 2
    assert "found no round; expected one at least" in capsys.readouterr().err


def test_rounds_that_are_held_are_named(tmp_path, capsys):
    store = Store(tmp_path / "store")
    for name, n_items in (("large", 500), ("small", 4)):
        path = unanimous(tmp_path, n_items)
        store.ingest(name, read(path), path)
        judge_round(store, name, load_policy("standard"), Contract.none())
    assert main(["to-date", "--store", str(store.root), "--measure", "percent_agreement"]) == 0
    assert capsys.readouterr().err == "with 1 held round: ['small']\n"
