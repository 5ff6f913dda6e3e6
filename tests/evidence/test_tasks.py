"""Tasks for an adjudicator: the formats of the tools, and influence against a slow loop."""

import csv
import io
import json
from operator import ne

import numpy as np
import pandas as pd
import pytest

from agreement_pipeline.cli import main
from agreement_pipeline.evidence.disputed import (
    COMES_BACK,
    FORMS,
    alpha_rise_without_each_item,
    tasks,
    write_tasks_as_text,
)
from agreement_pipeline.ratings import Ratings, Scale
from tests.measures.loops import slow_alpha

SCALE = Scale(("bad", "good"))


def ratings_of(rows, scale=SCALE):
    frame = pd.DataFrame(rows, columns=["item", "rater", "label"])
    return Ratings.from_frame(
        frame.assign(text=[f"text of {i}, \n<{i}>" for i in frame["item"]]), scale
    )


@pytest.fixture(scope="module")
def ratings():
    rng = np.random.default_rng(3)
    return ratings_of(
        [
            (f"i{i:02}", rater, ("bad", "good")[int(rng.random() < (0.2, 0.9)[i % 2])])
            for i in range(16)
            for rater in ("ana", "ben", "chi")
            if rng.random() < 0.9
        ]
    )


def alpha_of(frame):
    return slow_alpha([list(each) for _, each in frame.groupby("item")["label"]], ne)[0]


def test_influence_is_what_alpha_gains_when_the_item_is_gone(ratings):
    frame = ratings.to_pandas()[["item", "rater", "label"]].astype(str)
    whole = alpha_of(frame)
    found = alpha_rise_without_each_item(ratings)
    expected = {item: alpha_of(frame[frame["item"] != item]) - whole for item in found.index}
    assert found.to_dict() == pytest.approx(expected, abs=1e-12)


def test_tasks_come_by_disagreement_or_by_influence(ratings):
    for by, column in (("disagreement", "share"), ("influence", "influence")):
        values = [float(each[column]) for each in tasks(ratings, by)]
        assert values == sorted(values, reverse=True)
        assert len(values) > 3


def test_an_item_without_which_alpha_is_undefined_has_no_influence():
    (task,) = tasks(ratings_of([("i", "a", "bad"), ("i", "b", "good"), ("j", "a", "bad")]))
    assert task["influence"] == ""


def test_numbers_without_categories_are_ranked_by_disagreement_alone():
    frame = pd.DataFrame(
        {"item": list("iijj"), "rater": list("abab"), "label": [1.0, 2.5, 1.0, 9.0]}
    )
    found = tasks(Ratings.from_frame(frame, Scale(None, "interval")), "influence")
    assert [(each["item"], each["influence"], each["text"]) for each in found] == [
        ("j", "", ""),
        ("i", "", ""),
    ]


def test_each_format_is_what_its_tool_imports(ratings):
    found = tasks(ratings)
    files = {form: write_tasks_as_text(found, SCALE.names, form) for form in FORMS}
    rows = list(csv.DictReader(io.StringIO(files["csv"])))
    assert rows == found
    assert {row["label"] for row in rows} == {""}

    studio = json.loads(files["label-studio"])
    assert [set(each) for each in studio] == [{"data"}] * len(found)
    assert studio[0]["data"]["text"] == found[0]["text"]

    argilla = json.loads(files["argilla"])
    assert set(argilla[0]) == {"id", "fields", "metadata", "suggestions", "responses", "vectors"}
    assert argilla[0]["fields"] == {"text": found[0]["text"]}

    prodigy = [json.loads(line) for line in files["prodigy"].splitlines()]
    assert prodigy[0]["options"] == [{"id": "bad", "text": "bad"}, {"id": "good", "text": "good"}]
    for about in (studio[0]["data"], argilla[0]["metadata"], prodigy[0]["meta"]):
        assert about["item"] == found[0]["item"]
        assert about["ratings_digest"] == ratings.digest
        assert "label" not in about


@pytest.fixture
def project(tmp_path, monkeypatch, ratings):
    """A project folder with one round in its store."""
    from agreement_pipeline.store import Store

    (tmp_path / "configs/projects").mkdir(parents=True)
    (tmp_path / "inbox").mkdir()
    (tmp_path / "configs/projects/posts.yaml").write_text(
        "project: posts\ninbox: inbox\nscale: {categories: [bad, good]}\npolicy: standard\n"
    )
    source = tmp_path / "inbox/w1.csv"
    source.write_text("item\n")
    Store(tmp_path / ".agreement/store/posts", project="posts").ingest("w1", ratings, source)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_command_writes_a_file_or_prints(project, ratings, capsys):
    assert main(["disputed", "posts", "w1"]) == 0
    said = capsys.readouterr()
    assert list(csv.DictReader(io.StringIO(said.out))) == tasks(ratings)
    assert said.err == f"{COMES_BACK}\n"
    words = [
        "disputed",
        "configs/projects/posts.yaml",
        "w1",
        "--format",
        "prodigy",
        "--by",
        "influence",
    ]
    assert main([*words, "--output", "tasks.jsonl"]) == 0
    assert capsys.readouterr().out == ""
    lines = (project / "tasks.jsonl").read_text().splitlines()
    assert [json.loads(line)["meta"]["item"] for line in lines] == [
        each["item"] for each in tasks(ratings, "influence")
    ]


@pytest.mark.parametrize("start", ["=", "\t=", " +", "-", "\r\n@"])
def test_texts_that_a_spreadsheet_would_compute_are_named_and_stay(start, tmp_path, capsys):
    rows = [("i1", "model", "yes"), ("i2", "model", "no"), ("i3", "model", "no")]
    frame = pd.DataFrame(rows, columns=["item", "rater", "label"])
    frame["text"] = ["fine", f"{start}HYPERLINK(1)", "fine = too"]
    frame.to_parquet(tmp_path / "table.parquet")
    tasks_file = tmp_path / "tasks.csv"
    asked = ["draw", str(tmp_path / "table.parquet"), "--n", "3", "--store", str(tmp_path / "s")]
    assert main([*asked, "--output", str(tasks_file)]) == 0
    assert "1 task would be read as formulas, ['i2']. Import the file" in capsys.readouterr().err
    with tasks_file.open(newline="") as file:
        assert [row["text"] for row in csv.DictReader(file)] == frame["text"].tolist()
    assert main([*asked, "--format", "label-studio"]) == 0
    assert "formulas" not in capsys.readouterr().err


@pytest.mark.parametrize(("words", "said"), [(["posts", "w9"], "w9"), (["other", "w1"], "other")])
def test_an_unknown_project_or_round_is_an_error(project, capsys, words, said):
    assert main(["disputed", *words]) == 2
    assert said in capsys.readouterr().err
