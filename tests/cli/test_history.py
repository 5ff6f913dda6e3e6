import json
import shutil
from io import BytesIO
from pathlib import Path

import pandas as pd
import pytest

from agreement_pipeline.cli import main
from agreement_pipeline.contract import Contract
from agreement_pipeline.policy import load_policy
from agreement_pipeline.readers import Columns, read
from agreement_pipeline.release import judge_round, release_round
from agreement_pipeline.store import Store
from tests.cli.rounds import policy, unanimous
from tests.releases import withdraw


@pytest.fixture
def stored(tmp_path, monkeypatch):
    """A store where projects keep theirs. Its round was admitted, released and withdrawn."""
    monkeypatch.chdir(tmp_path)
    store = Store(tmp_path / ".agreement/store/demo")
    store.ingest("r1", read(unanimous(tmp_path, 500), Columns()), tmp_path / "table.csv")
    release_round(store, "r1", load_policy(policy(tmp_path)), Contract.none(), project="demo")
    withdraw(store, "r1", ["a mistake in the guideline"])
    return store


def test_history_prints_every_entry(stored, capsys):
    assert main(["history"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == ["entry", "time", "event", "round", "what", "why"]
    assert [line.split()[:5:3] for line in lines[2:] if line[0] != " "] == [
        ["1", "ingested"],
        ["2", "decided"],
        ["3", "released"],
        ["4", "withdrawn"],
    ]
    assert "table.csv" in lines[2]
    assert lines[-1].endswith("a mistake in the guideline")


def test_history_of_one_round_as_json_is_what_the_log_says(stored, capsys):
    stored.ingest("r2", stored.ratings("r1"), Path("table.csv"))
    for name, numbers in (("r1", [1, 2, 3, 4]), ("r2", [5])):
        assert main(["history", name, "--store", str(stored.root), "--format", "json"]) == 0
        assert [entry["number"] for entry in json.loads(capsys.readouterr().out)] == numbers


def test_a_log_that_was_cut_does_not_go_on_from_a_seal_that_was_kept(stored, capsys):
    seals = sorted(path.name for path in (stored.root / "log" / "seals").iterdir())
    for seal in seals:
        assert main(["history", "--since", seal]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == f"no entry since seal {seals[-1]}"
    for path in (*stored.root.glob("log/00000004.json"), *stored.root.glob("log/seals/00000004-*")):
        path.unlink()
    assert main(["history", "--since", seals[2]]) == 0
    stored.record("withdrawn", "r1", releases=["r1/v"], reasons=["another"])
    for seal in (seals[3], "00000001-0", ""):
        capsys.readouterr()
        assert main(["history", "--since", seal]) == 2
        assert f"does not go on from seal {seal}" in capsys.readouterr().err


def test_history_of_an_edited_log_is_refused(stored, capsys):
    path = stored.root / "log" / "00000004.json"
    path.write_text(path.read_text().replace("mistake", "success"))
    assert main(["history"]) == 2
    said = capsys.readouterr()
    assert "found entry 4, which is not the one that was written" in said.err
    assert not said.out


def test_history_names_what_is_missing(stored, tmp_path, capsys):
    for arguments, found in (
        (["history", "r9"], "of round 'r9' in the log; expected one of ['r1']"),
        (["history", "--store", str(tmp_path / "nothing")], "found no entry in the log"),
    ):
        assert main(arguments) == 2
        assert found in capsys.readouterr().err
    stores = tmp_path / ".agreement/store"
    (stores / "another").mkdir()
    assert main(["history"]) == 2
    assert "another" in capsys.readouterr().err
    shutil.rmtree(stores)
    assert main(["history"]) == 2
    assert "found no store; expected one." in capsys.readouterr().err


def test_decisions_are_a_table_with_a_row_for_each_rule(stored, tmp_path, capfdbinary):
    other = [
        {"item": f"i{n}", "rater": rater, "label": "yn"[n % 2]} for n in range(9) for rater in "ab"
    ]
    pd.DataFrame(other).to_csv(tmp_path / "few.csv", index=False)
    stored.ingest("r2", read(tmp_path / "few.csv", Columns()), tmp_path / "few.csv")
    judge_round(stored, "r2", load_policy(policy(tmp_path)), Contract.none())
    release_round(stored, "r1", load_policy(policy(tmp_path)), Contract.none(), project="demo")

    frame = stored.decisions()
    expected = [
        (entry["number"], entry["round"], entry["decision"], verdict["measure"], verdict["low"])
        for entry in stored.history()
        if entry["event"] == "decided"
        for verdict in entry["verdicts"]
    ]
    columns = ["entry", "round", "decision", "measure", "low"]
    assert list(frame[columns].itertuples(index=False, name=None)) == [
        tuple(None if value is None else value for value in row) for row in expected
    ]
    assert {(row.round, len(row.releases)) for row in frame.itertuples()} == {("r1", 1), ("r2", 0)}

    assert main(["history", "r1", "--format", "parquet"]) == 0
    written = pd.read_parquet(BytesIO(capfdbinary.readouterr().out))
    pd.testing.assert_frame_equal(written, frame[frame["round"] == "r1"].reset_index(drop=True))
