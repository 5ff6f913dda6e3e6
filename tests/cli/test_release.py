"""The product without Dagster: a round of a project is released, or held with its reasons."""

import json
from pathlib import Path

import pandas as pd
import pytest

from agreement_pipeline import ReleaseHeldError, Store, open_release, release_round
from agreement_pipeline.cli import main
from agreement_pipeline.errors import StoreError
from agreement_pipeline.projects import Project, load_project
from tests.cli.rounds import unanimous

PROJECT = """project: labels
inbox: inbox
scale: {level: nominal, categories: ["no", "yes"]}
policy: standard
adjudicated: adjudicated
"""
FILE = "configs/projects/labels.yaml"


@pytest.fixture
def root(tmp_path, monkeypatch):
    """A project with one round that is admitted, and one that is too small."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "configs/projects").mkdir(parents=True)
    (tmp_path / FILE).write_text(PROJECT)
    (tmp_path / "inbox").mkdir()
    (tmp_path / "adjudicated").mkdir()
    for name, n_items in (("w1", 500), ("w2", 12)):
        unanimous(tmp_path, n_items).rename(tmp_path / f"inbox/{name}.csv")
    return tmp_path


def events(root, name=None):
    history = Store(root / ".agreement/store/labels").history(name)
    return [entry["event"] for entry in history]


def test_an_admitted_round_is_released_and_its_folder_is_printed(root, capsys):
    assert main(["release", FILE, "w1"]) == 0
    first, *rest = capsys.readouterr().out.splitlines()
    folder = Path(first.removeprefix("released: "))
    assert len(open_release(folder).train) == 500
    assert rest == [
        "  500 training rows",
        "  The training label is the category that more raters of an item gave than any other (the "
        "project names no other label). 500 of 500 items train.",
        "  round w1; policy standard, version 2",
    ]
    assert events(root) == ["ingested", "decided", "released"]


def test_a_held_round_has_status_1_and_nothing_is_written(root, capsys):
    assert main(["release", FILE, "w2"]) == 1
    said = capsys.readouterr().out
    assert said.startswith("held: round w2: held, since krippendorff_alpha")
    assert f"agreement-pipeline judge {FILE} --of-round w2 says what to do now" in said
    assert events(root) == ["ingested", "decided"]
    assert main(["release", FILE, "w2", "--format", "json"]) == 1
    found = json.loads(capsys.readouterr().out)
    assert (found["released"], found["code"]) == (False, "held")


def test_again_the_same_release_is_printed_and_nothing_is_logged(root, capsys):
    printed = []
    for _ in range(2):
        assert main(["release", FILE, "w1", "--format", "json"]) == 0
        printed.append(json.loads(capsys.readouterr().out))
    assert printed[0] == printed[1]
    assert (printed[0]["training_rows"], printed[0]["without_label"]) == (500, 0)
    assert events(root) == ["ingested", "decided", "released"]


def test_a_held_delivery_withdraws_what_was_released_before(root, capsys):
    release = release_round(FILE, "w1")
    (root / "inbox/w2.csv").rename(root / "inbox/w1.csv")
    with pytest.raises(ReleaseHeldError, match="round w1: held"):
        release_round(FILE, "w1")
    assert events(root)[-1] == "withdrawn"
    assert (release.path / "WITHDRAWN.json").exists()


def test_a_round_that_left_the_inbox_is_released_from_the_store(root, capsys):
    project = Project(load_project(Path(FILE)))
    project.keep(*project.delivered("w1"))
    (root / "inbox/w1.csv").unlink()
    assert len(release_round(project, "w1").train) == 500
    with pytest.raises(StoreError, match="found no round 'w9'"):
        project.store.present("w9")
    assert main(["release", FILE, "w9"]) == 2
    assert "found no round 'w9'" in capsys.readouterr().err


def test_without_a_round_all_admitted_rounds_are_released_together(root, capsys):
    assert main(["release", FILE]) == 1
    assert "found no round; expected at least one admitted round" in capsys.readouterr().out
    more = pd.read_csv(root / "inbox/w1.csv")
    more["item"] = "other-" + more["item"].astype(str)
    more.to_csv(root / "inbox/w3.csv", index=False)
    for name, status in (("w1", 0), ("w2", 1), ("w3", 0)):
        assert main(["release", FILE, name]) == status
    capsys.readouterr()
    assert main(["release", FILE, "--format", "json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["rounds"], found["training_rows"]) == (["w1", "w3"], 1000)


def test_adjudicated_labels_of_the_project_are_read(root):
    frame = pd.read_csv(root / "inbox/w1.csv")
    first = frame["item"].iloc[0]
    frame = frame[~((frame["item"] == first) & (frame.index > 1))]
    frame.loc[frame["item"] == first, "label"] = ["no", "yes"]
    frame.to_csv(root / "inbox/w1.csv", index=False)
    ids = set(release_round(FILE, "w1").train["id"])
    assert (len(ids), str(first) in ids) == (499, False)
    digest = Store(root / ".agreement/store/labels").present("w1").ratings_digest
    answer = {"item": [first], "label": ["yes"], "ratings_digest": [digest]}
    pd.DataFrame(answer).to_csv(root / "adjudicated/w1.csv", index=False)
    train = release_round(FILE, "w1").train.set_index("id")
    assert train.loc[str(first), "resolution"] == "adjudicated"


def test_items_with_one_rating_are_counted_with_the_reason_why_they_do_not_train(root, capsys):
    more = pd.DataFrame({"item": [f"single-{n}" for n in range(40)]}).assign(label="yes")
    frame = pd.read_csv(root / "inbox/w1.csv")
    more["rater"] = frame["rater"].iloc[0]
    pd.concat([frame, more]).to_csv(root / "inbox/w1.csv", index=False)
    assert main(["release", FILE, "w1"]) == 0
    assert (
        "40 of 540 items have one label and do not train, since nothing shows whether another "
        "rater would say the same"
    ) in capsys.readouterr().out


def test_a_round_with_gold_items_of_others_withdraws_their_release_and_makes_another(root, capsys):
    (root / FILE).write_text(f"{PROJECT}columns: {{gold: known}}\ndeliveries: independent\n")
    frame = pd.read_csv(root / "inbox/w1.csv")
    frame.assign(known=False).to_csv(root / "inbox/w1.csv", index=False)
    frame.assign(known=frame["item"] < 20).to_csv(root / "inbox/w3.csv", index=False)
    first = release_round(FILE, "w1").path
    assert main(["release", FILE, "w3"]) == 0
    said = capsys.readouterr().out
    assert "480 training rows" in said
    assert (
        f"withdrawn: 20 items of w1/{first.name} are gold in round w3, so it may not be trained on"
        in said
    )
    anew = Path(said.partition("released anew: round w1: ")[2].splitlines()[0])
    assert anew != first
    assert len(open_release(anew).train) == 480
    assert main(["release", FILE, "w1", "--format", "json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert facts["path"] == str(anew)
    assert "withdrawn" not in facts
    assert facts["what_trains"][-1] == (
        "20 items of round w1 are gold in another round, so they do not train."
    )
    assert main(["verify", str(anew)]) == 0
    assert facts["what_trains"][-1] in capsys.readouterr().out
    assert main(["report", FILE, "w1"]) == 0
    assert "Warning: 20 items are gold in round w3, so they do not train." in (
        capsys.readouterr().out
    )


def test_a_policy_that_refuses_gold_of_others_withdraws_and_says_so(root, capsys):
    (root / "configs/policies").mkdir()
    (root / "configs/policies/strict.yaml").write_text(
        "policy: strict\nversion: 1\nrules: [{measure: krippendorff_alpha}]\n"
        "items_gold_elsewhere: refuse\n"
    )
    text = PROJECT.replace("policy: standard", "policy: strict")
    (root / FILE).write_text(f"{text}columns: {{gold: known}}\ndeliveries: independent\n")
    frame = pd.read_csv(root / "inbox/w1.csv")
    frame.assign(known=False).to_csv(root / "inbox/w1.csv", index=False)
    frame.assign(known=frame["item"] < 20).to_csv(root / "inbox/w3.csv", index=False)
    release_round(FILE, "w1")
    assert main(["release", FILE, "w3", "--format", "json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert len(facts["withdrawn"]) == 1
    assert facts["released_anew"] == {}
    assert facts["not_released_anew"]["w1"].startswith(
        "round w1: found 20 items that another round calls gold"
    )
