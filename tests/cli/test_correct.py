"""A draw, its labels and the corrected shares, from the command line."""

import csv
import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from agreement_pipeline.cli import main
from agreement_pipeline.store import Store
from tests.models.tables import simulated
from tests.projects.test_adjudicated import TOOLS


@pytest.fixture
def place(tmp_path, monkeypatch):
    """A folder with a population that a model labelled, as one row a label and one row an item."""
    monkeypatch.chdir(tmp_path)
    population, _ = simulated(np.random.default_rng(3), n_items=600)
    frame = pd.DataFrame(population, columns=["item", "rater", "label"])
    frame["text"] = "text of " + frame["item"]
    frame.to_csv("march.csv", index=False)
    frame.rename(columns={"label": "said"}).drop(columns="rater").to_csv("items.csv", index=False)
    (tmp_path / ".agreement/store/forum").mkdir(parents=True)
    return tmp_path


def run(capsys, *words):
    status = main([*words])
    said = capsys.readouterr()
    return status, said.out, said.err


def drawn(capsys, *words):
    """The tasks of a draw."""
    status, out, err = run(capsys, "draw", "march.csv", "--n", "80", *words)
    assert status == 0, err
    return list(csv.DictReader(out.splitlines()))


def label(tasks, raters=("ana", "ben", "cleo"), name="labels.csv"):
    """The labels of a panel that nearly always says what the model said."""
    said = pd.read_csv("march.csv").set_index("item")["label"]
    rng = np.random.default_rng(4)
    rows = [
        {**task, "rater": rater, "label": "yes" if rng.random() < 0.1 else said[task["item"]]}
        for task in tasks
        for rater in raters
    ]
    pd.DataFrame(rows).to_csv(name, index=False)


def test_the_tasks_do_not_say_what_the_model_said(place, capsys):
    tasks = drawn(capsys)
    assert len(tasks) == 80
    assert [*tasks[0]] == ["item", "text", "rater", "label", "draw"]
    assert all(task["rater"] == task["label"] == "" for task in tasks)
    assert tasks[0]["text"] == f"text of {tasks[0]['item']}"
    (entry,) = Store(place / ".agreement/store/forum").history()
    assert entry["items"] == [task["item"] for task in tasks]
    assert {task["draw"] for task in tasks} == {entry["seed"]}


def test_the_tasks_carry_the_strata_that_a_round_with_them_needs(place, capsys):
    frame = pd.read_csv("march.csv")
    frame["language"] = frame["item"].str[-1].map({"0": "de"}).fillna("en")
    frame.to_csv("march.csv", index=False)
    tasks = drawn(capsys, "--stratum", "language")
    assert [*tasks[0]] == ["language", "item", "text", "rater", "label", "draw"]
    assert {task["language"] == "de" for task in tasks if task["item"].endswith("0")} == {True}
    label(tasks)
    status, _, err = run(capsys, "correct", "march.csv", "labels.csv", "--stratum", "language")
    assert status == 0, err
    status, _, err = run(capsys, "correct", "march.csv", "labels.csv", "--stratum", "langage")
    assert (status, "Did you mean 'language'?" in err) == (2, True)


def test_what_is_found_is_printed(place, capsys):
    label(drawn(capsys))
    status, out, _ = run(capsys, "correct", "march.csv", "labels.csv")
    assert status == 0
    header, _, *rows, about = out.splitlines()
    assert header.startswith("of   corrected  interval")
    assert [row.split()[0] for row in rows] == ["no", "yes"]
    assert about == (
        "target: pairs of these raters, labelled by model; draw: 80 of 600 items of march, simple"
    )


def test_what_is_found_is_json(place, capsys):
    label(drawn(capsys, "--stratified", "--right", "yes=0.6"))
    status, out, _ = run(capsys, "correct", "march.csv", "labels.csv", "--format", "json")
    found = json.loads(out)
    assert status == 0
    assert found["draw"]["design"] == "stratified"
    assert [each["category"] for each in found["numbers"]] == ["no", "yes"]
    assert found["numbers"][1]["low"] < found["numbers"][1]["value"] < found["numbers"][1]["high"]


def test_a_population_may_have_a_row_an_item(place, capsys):
    label(drawn(capsys))
    one = run(capsys, "correct", "march.csv", "labels.csv", "--majority-of", "3")
    other = run(
        capsys, "correct", "items.csv", "labels.csv", "--majority-of", "3", "--predicted", "said"
    )
    assert one[0] == other[0] == 0
    assert one[1].splitlines()[:-1] == other[1].splitlines()[:-1]
    assert (
        other[1]
        .splitlines()[-1]
        .startswith("target: majority of 3 of these raters, labelled by said;")
    )


def test_a_panel_that_always_says_the_same_has_a_share(place, capsys):
    tasks = drawn(capsys)
    pd.DataFrame([{**task, "rater": "ana", "label": "no"} for task in tasks]).to_csv("labels.csv")
    status, _, err = run(capsys, "correct", "march.csv", "labels.csv")
    assert (status, "--categories" in err) == (2, True)
    named = ("--categories", "no,yes")
    status, out, err = run(capsys, "correct", "march.csv", "labels.csv", *named)
    assert status == 0, err
    assert out.splitlines()[3].split()[:2] == ["yes", "0.00000"]


def test_labels_without_a_draw_are_refused(place, capsys):
    label([{"item": f"i{n:04}"} for n in range(40)])
    status, _, err = run(capsys, "correct", "march.csv", "labels.csv")
    assert status == 1
    assert err.startswith("refused (draw_absent): ")
    assert "agreement-pipeline draw POPULATION --n N --store STORE --output TASKS.csv." in err
    status, out, _ = run(capsys, "correct", "march.csv", "labels.csv", "--format", "json")
    assert (status, json.loads(out)["code"]) == (1, "draw_absent")


def test_a_column_of_predictions_that_is_not_there_names_its_option(place, capsys):
    status, _, err = run(capsys, "draw", "items.csv", "--predicted", "siad", "--n", "80")
    assert status == 2
    assert "items.csv: found no column 'siad' among" in err
    assert "--predicted" in err


def test_a_second_draw_needs_a_reason_that_is_shown(place, capsys):
    drawn(capsys)
    status, _, err = run(capsys, "draw", "items.csv", "--predicted", "said", "--n", "80")
    assert status == 2
    assert "expected one draw of a population" in err
    label(drawn(capsys, "--reason", "the texts were cut off"))
    _, out, _ = run(capsys, "correct", "march.csv", "labels.csv")
    assert out.splitlines()[-1].endswith("after 1 earlier draw: the texts were cut off")


@pytest.mark.parametrize("word", ["yes", "yes=2", "=0.5", "yes=often"])
def test_an_expected_share_is_a_label_and_a_share(place, capsys, word):
    status, _, err = run(capsys, "draw", "march.csv", "--n", "80", "--stratified", "--right", word)
    assert status == 2
    assert "expected a label and a share, as offensive=0.7" in err


def test_the_tasks_go_into_a_file(place, capsys):
    status, out, err = run(capsys, "draw", "march.csv", "--n", "80", "--output", "tasks.csv")
    assert (status, out) == (0, "")
    assert err == "written: tasks.csv\ndrawn: 80 of 600 items of march, simple\n"
    assert len(pd.read_csv("tasks.csv")) == 80


@pytest.mark.parametrize("output", ["missing/tasks.csv", ".", "march.csv/tasks.csv"])
def test_nothing_is_drawn_if_no_tasks_can_be_written(place, capsys, output):
    status, _, err = run(capsys, "draw", "march.csv", "--n", "80", "--output", output)
    assert status == 2
    assert "expected a file in a folder that is there. Correct the path" in err
    drawn(capsys)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is always full")
def test_the_tasks_of_a_draw_can_be_written_again(place, capsys):
    asked = ["draw", "march.csv", "--n", "80"]
    status, _, err = run(capsys, *asked, "--output", "/dev/full")
    assert (status, "error: " in err) == (2, True)
    status, _, err = run(capsys, *asked, "--output", "tasks.csv")
    assert status == 0
    assert err.endswith("drawn before: 80 of 600 items of march, simple\n")
    assert Path("tasks.csv").read_text() == run(capsys, *asked)[1]
    for other in (["81"], ["80", "--name", "april"], ["80", "--stratified"]):
        assert "found an earlier draw of 80 items, of march" in run(capsys, *asked[:3], *other)[2]
    _, again, err = run(capsys, *asked, "--reason", "the texts were cut off")
    assert err.startswith("drawn: ")
    assert run(capsys, *asked)[1] == again != Path("tasks.csv").read_text()


def test_the_intervals_may_be_about_other_raters(place, capsys):
    label(drawn(capsys))
    _, these, _ = run(capsys, "correct", "march.csv", "labels.csv", "--format", "json")
    asked = ("--format", "json", "--raters-at-large")
    _, others, _ = run(capsys, "correct", "march.csv", "labels.csv", *asked)
    these, others = (json.loads(said)["numbers"][1] for said in (these, others))
    assert (these["raters"], others["raters"]) == ("these raters", "raters at large")
    assert others["low"] < these["low"] < these["high"] < others["high"]


def test_a_reason_moves_no_cursor(place, capsys):
    drawn(capsys)
    label(drawn(capsys, "--reason", "a\x1b[2Jb"))
    _, out, _ = run(capsys, "correct", "march.csv", "labels.csv")
    assert out.endswith("after 1 earlier draw: a\\x1b[2Jb\n")


def test_tasks_have_the_names_of_the_population(place, capsys):
    names = {"item": "id", "rater": "who", "label": "said"}
    pd.read_csv("march.csv").rename(columns=names).to_csv("named.csv", index=False)
    how = ("--item", "id", "--rater", "who", "--label", "said")
    status, out, err = run(capsys, "draw", "named.csv", "--n", "80", *how)
    assert status == 0, err
    tasks = list(csv.DictReader(out.splitlines()))
    assert [*tasks[0]] == ["id", "text", "who", "said", "draw"]
    label([{"item": task["id"]} for task in tasks])
    pd.read_csv("labels.csv").rename(columns=names).to_csv("labels.csv", index=False)
    status, out, err = run(capsys, "correct", "named.csv", "labels.csv", *how)
    assert status == 0, err
    assert out.splitlines()[-1].endswith("80 of 600 items of named, simple")


@pytest.mark.parametrize("form", ["label-studio", "argilla", "prodigy"])
def test_tasks_of_tools_have_the_name_of_the_item(place, capsys, form):
    pd.read_csv("march.csv").rename(columns={"item": "id"}).to_csv("named.csv", index=False)
    how = ("--n", "80", "--item", "id", "--format", form)
    _, out, _ = run(capsys, "draw", "named.csv", *how)
    task = json.loads(out.splitlines()[0]) if form == "prodigy" else json.loads(out)[0]
    about = {"label-studio": "data", "argilla": "metadata", "prodigy": "meta"}[form]
    assert {*task[about]} - {"text"} == {"id", "draw"}


@pytest.mark.parametrize("form", TOOLS)
def test_what_a_tool_exports_is_corrected_as_it_is(place, capsys, form):
    status, written, err = run(capsys, "draw", "march.csv", "--n", "80", "--format", form)
    assert status == 0, err
    (entry,) = Store(place / ".agreement/store/forum").history()
    said = pd.read_csv("march.csv").set_index("item")["label"]
    exported, name = TOOLS[form]
    given = {item: [(rater, said[item]) for rater in ("ana", "ben")] for item in entry["items"]}
    found = exported(written, given)
    lines = "\n".join(map(json.dumps, found)) if name.endswith("l") else json.dumps(found)
    (place / name).write_text(lines)
    status, out, err = run(capsys, "correct", "march.csv", name)
    assert status == 0, err
    assert "80 of 600 items of march" in out


def test_items_may_be_called_by_their_text(place, capsys):
    how = ("--item", "text", "--predicted", "said")
    status, out, err = run(capsys, "draw", "items.csv", "--n", "80", *how)
    assert status == 0, err
    tasks = list(csv.DictReader(out.splitlines()))
    assert [*tasks[0]] == ["text", "rater", "label", "draw"]
    assert tasks[0]["text"].startswith("text of i")


def test_rows_are_chosen_in_the_population_alone(place, capsys):
    model = pd.read_csv("march.csv")
    pd.concat([model, model.assign(rater="other")]).to_csv("march.csv", index=False)
    where = ("--where", "rater=model")
    tasks = drawn(capsys, *where)
    model.to_csv("march.csv", index=False)
    label(tasks)
    pd.concat([model, model.assign(rater="other")]).to_csv("march.csv", index=False)
    status, out, err = run(capsys, "correct", "march.csv", "labels.csv", *where)
    assert status == 0, err
    assert "labelled by model;" in out


def test_the_column_with_the_models_labels_may_be_called_label(place, capsys):
    pd.read_csv("items.csv").rename(columns={"said": "label"}).to_csv("items.csv", index=False)
    how = ("--predicted", "label")
    status, out, err = run(capsys, "draw", "items.csv", "--n", "80", *how)
    assert status == 0, err
    label(list(csv.DictReader(out.splitlines())))
    status, out, err = run(capsys, "correct", "items.csv", "labels.csv", *how)
    assert status == 0, err
    assert "labelled by label;" in out


def test_only_the_panels_table_has_raters_where_a_row_is_an_item(place, capsys):
    how = ("--predicted", "said", "--rater", "who", "--label", "answer")
    status, out, err = run(capsys, "draw", "items.csv", "--n", "80", *how)
    assert status == 0, err
    tasks = list(csv.DictReader(out.splitlines()))
    assert [*tasks[0]] == ["item", "text", "who", "answer", "draw"]
    label(tasks)
    panel = pd.read_csv("labels.csv").drop(columns=["who", "answer"])
    panel.rename(columns={"rater": "who", "label": "answer"}).to_csv("labels.csv", index=False)
    status, _, err = run(capsys, "correct", "items.csv", "labels.csv", *how)
    assert status == 0, err


def test_whole_clusters_are_drawn_and_corrected(place, capsys):
    frame = pd.read_csv("march.csv")
    frame["thread"] = frame["item"].str[1:].astype(int) // 4
    frame.to_csv("threads.csv", index=False)
    by = ["--cluster", "thread"]
    status, out, err = run(capsys, "draw", "threads.csv", "--n", "40", "--clusters", *by)
    assert status == 0
    assert err == "drawn: 160 of 600 items of threads, clustered (40 clusters)\n"
    label(csv.DictReader(out.splitlines()))
    status, out, err = run(capsys, "correct", "threads.csv", "labels.csv", *by)
    assert status == 0, err
    assert "clustered (40 clusters)" in out
    assert run(capsys, "draw", "threads.csv", "--n", "9", "--clusters", "--stratified")[0] == 2
