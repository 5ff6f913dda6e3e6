"""The answers of adjudicators, as they come back in a folder."""

import json
import os
from pathlib import Path

import pandas as pd
import pytest

from agreement_pipeline.errors import ProjectError, RatingsError
from agreement_pipeline.evidence import tasks, write_tasks_as_text
from agreement_pipeline.projects.adjudicated import read_adjudicated, refuse_as_round
from agreement_pipeline.ratings import Ratings, Scale

HEAD = "item,label,ratings_digest,said\n"


def test_answers_are_read_by_round_and_empty_ones_are_left_out(tmp_path):
    (tmp_path / "w1.csv").write_text(f"\ufeff{HEAD}i1,yes,d1,x\ni2,,d1,x\ni1,yes,d1,y\n")
    (tmp_path / "w2.csv").write_text(HEAD)
    found = read_adjudicated(tmp_path)
    assert {name: (each.ratings_digest, each.labels) for name, each in found.items()} == {
        "w1": ("d1", {"i1": "yes"}),
        "w2": ("", {}),
    }


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (
            "item,label\n",
            r"found no column 'ratings_digest'; expected each of \['item'",
        ),
        ("", r"found no columns \['item', 'label', 'ratings_digest'\]; expected each of"),
        (f"{HEAD}i1,yes,d,\ni1,no,d,\n", "row 3: found label 'no' of item 'i1'; expected 'yes'"),
        (f"{HEAD}i1,yes,d,\ni2,no,e,\n", "row 2; row 3: found 2 digests of ratings"),
    ],
)
def test_a_mistake_is_named_with_file_and_row(tmp_path, text, words):
    (tmp_path / "w1.csv").write_text(text)
    with pytest.raises(ProjectError, match=f"w1.csv: {words}"):
        read_adjudicated(tmp_path)


def test_a_folder_that_is_not_there_is_an_error(tmp_path):
    with pytest.raises(ProjectError, match="found no such folder"):
        read_adjudicated(tmp_path / "nowhere")


SCALE = Scale(("yes", "no"))
TIME = "2026-01-01T10:00:00.000000Z"


def the_tasks():
    """The disputed items `i1` and `i2`, as the command writes them for each tool."""
    rows = [
        (f"i{n}", rater, label)
        for n in (1, 2)
        for rater, label in zip("ab", SCALE.names, strict=True)
    ]
    frame = pd.DataFrame(rows, columns=["item", "rater", "label"])
    ratings = Ratings.from_frame(frame.assign(text="words of " + frame["item"]), SCALE)
    return ratings.digest, {
        form: write_tasks_as_text(tasks(ratings), SCALE.names, form)
        for form in ("label-studio", "argilla", "prodigy")
    }


def label_studio(written, answers):
    """Label Studio's JSON export: the task comes back with its annotations."""
    return [
        {
            "id": 40 + n,
            **task,
            "annotations": [
                {
                    "id": n * 10 + place,
                    "completed_by": {"id": 1, "email": rater},
                    "was_cancelled": False,
                    "ground_truth": False,
                    "created_at": TIME,
                    "updated_at": TIME,
                    "lead_time": 3.0,
                    "result": [
                        {
                            "id": "a",
                            "type": "choices",
                            "from_name": "label",
                            "to_name": "text",
                            "value": {"choices": [label]},
                        }
                    ],
                }
                for place, (rater, label) in enumerate(answers[task["data"]["item"]])
            ],
        }
        for n, task in enumerate(json.loads(written), 1)
    ]


def argilla(written, answers):
    """Argilla's flat records: `dataset.records.to_list(flatten=True)`."""
    return [
        {
            "id": record["id"],
            "status": "completed",
            "_server_id": f"s{n}",
            "text": record["fields"]["text"],
            **record["metadata"],
            "label.responses": [label for _, label in answers[record["id"]]],
            "label.responses.users": [rater for rater, _ in answers[record["id"]]],
            "label.responses.status": ["submitted" for _ in answers[record["id"]]],
        }
        for n, record in enumerate(json.loads(written))
    ]


def prodigy(written, answers):
    """Prodigy's `db-out`: the task comes back once for each answer."""
    lines = [json.loads(line) for line in written.splitlines()]
    return [
        {
            **line,
            "_input_hash": n,
            "_task_hash": 100 + n,
            "_view_id": "choice",
            "accept": [label],
            "answer": "accept",
            "_timestamp": 1767261600 + n,
            "_annotator_id": f"round-{rater}",
            "_session_id": f"round-{rater}",
        }
        for n, line in enumerate(lines)
        for rater, label in answers[line["meta"]["item"]]
    ]


TOOLS = {
    "label-studio": (label_studio, "w1.json"),
    "argilla": (argilla, "w1.json"),
    "prodigy": (prodigy, "w1.jsonl"),
}
every_tool = pytest.mark.parametrize("form", TOOLS)


def put(folder, form, answers):
    """Hand the tasks to a tool, and its export to the folder."""
    digest, written = the_tasks()
    exported, name = TOOLS[form]
    found = exported(written[form], answers)
    text = "\n".join(map(json.dumps, found)) if name.endswith("l") else json.dumps(found)
    (folder / name).write_text(text)
    return digest


@every_tool
def test_what_a_tool_exports_is_read_as_it_is(tmp_path, form):
    digest = put(tmp_path, form, {"i1": [("chief", "yes")], "i2": [("chief", "no")]})
    found = read_adjudicated(tmp_path, SCALE)["w1"]
    assert (found.ratings_digest, found.labels) == (digest, {"i1": "yes", "i2": "no"})


@every_tool
def test_two_adjudicators_who_differ_are_an_error(tmp_path, form):
    put(tmp_path, form, {"i1": [("chief", "yes"), ("deputy", "no")], "i2": [("chief", "no")]})
    words = "task .*, answer of deputy: found label 'no' of item 'i1'; expected 'yes'"
    with pytest.raises(ProjectError, match=words):
        read_adjudicated(tmp_path, SCALE)


@every_tool
def test_a_label_that_is_not_on_the_scale_is_an_error(tmp_path, form):
    put(tmp_path, form, {"i1": [("chief", "maybe")], "i2": [("chief", "no")]})
    with pytest.raises(RatingsError, match=r"found label.*maybe"):
        read_adjudicated(tmp_path, SCALE)


def test_a_round_in_two_files_is_an_error(tmp_path):
    (tmp_path / "w1.csv").write_text(f"{HEAD}i1,yes,d,\n")
    (tmp_path / "w1.json").write_text("[]")
    with pytest.raises(ProjectError, match=r"w1\.json: found a second file of the round beside"):
        read_adjudicated(tmp_path, SCALE)


@pytest.mark.parametrize(
    ("data", "words"),
    [
        ("item,label,ratings_digest\ni1,a,d\n".encode("utf-16"), "found no readable table"),
        (b"item,label,ratings_digest\n\xff,a,d\n", "found no readable table"),
        (b'item,label,ratings_digest\n"i1,a,d\n', "found no readable table"),
        (b"item,label,ratings_digest\ni1," + b"x" * 200_000 + b",d\n", "found no readable table"),
        (b"item,label,ratings_digest\ni1,a\n", "row 2: found 2 cells; expected 3"),
        (b"item,label,ratings_digest\ni1,a,d,e\n", "row 2: found 4 cells; expected 3"),
        (
            b"item,item,label,ratings_digest\ni1,i2,a,d\n",
            r"found column 'item' twice; expected each of",
        ),
    ],
)
def test_a_file_that_is_no_whole_table_is_refused_with_its_name(tmp_path, data, words):
    (tmp_path / "r1.csv").write_bytes(data)
    with pytest.raises(ProjectError, match=rf"r1\.csv: .*{words}"):
        read_adjudicated(tmp_path)


@pytest.mark.parametrize("make", [Path.mkdir, os.mkfifo], ids=["folder", "pipe"])
def test_what_is_no_file_is_refused_and_not_waited_for(tmp_path, make):
    make(tmp_path / "r1.csv")
    with pytest.raises(ProjectError, match=r"r1\.csv: found no readable table \(no file\)"):
        read_adjudicated(tmp_path)


def test_answers_to_a_list_are_refused_as_a_round(tmp_path):
    _, written = the_tasks()
    answered = {"i1": [("eva", "yes")], "i2": [("eva", "no")]}
    export = tmp_path / "export.json"
    export.write_text(json.dumps(label_studio(written["label-studio"], answered)))
    table = tmp_path / "table.csv"
    table.write_text(f"{HEAD}i1,yes,d1,x\n")
    for path in (export, table):
        with pytest.raises(ProjectError, match="found answers to a list of disputed items; expect"):
            refuse_as_round(path)
    table.write_text("item,rater,label\ni1,ana,yes\n")
    refuse_as_round(table)
