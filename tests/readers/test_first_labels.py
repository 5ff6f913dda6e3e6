"""First and last labels, and times of changes, as exports and tables carry them."""

import json

import pandas as pd
import pytest

from agreement_pipeline.errors import ProjectError, RatingsError
from agreement_pipeline.readers import Columns, Rules, read
from tests.readers.exports_of_tools import CASES

AGAIN, LATER = "2026-09-05T08:00:00.000000Z", "2026-09-04T08:00:00.000000Z"


def choice(label):
    value = {"choices": [label]}
    return [{"type": "choices", "value": value, "from_name": "sentiment", "to_name": "text"}]


def annotated(path, change=lambda annotation: None):
    """Label Studio's JSON of one question, in which nothing was changed, and then a change."""
    tasks = json.loads(CASES["label_studio"].file.read_text())
    for task in tasks:
        for annotation in task["annotations"]:
            annotation["updated_at"] = annotation["created_at"]
    change(tasks[0]["annotations"][0])
    path.write_text(json.dumps(tasks))
    case = CASES["label_studio"]
    return read(path, case.columns, rules=case.rules)


def rating(ratings):
    frame = ratings.to_pandas().set_index(["item", "rater"])
    return frame.loc[("doc-001", "11")]


def test_label_studio_tells_that_nothing_was_changed(tmp_path):
    ratings = annotated(tmp_path / "export.json")
    assert ratings.are_first_labels_known
    assert ratings.n_edited_labels == (0, 0)


def test_label_studios_history_tells_the_first_label(tmp_path):
    def change(annotation):
        was = annotation["result"][0]["value"]["choices"][0]
        assert was == "positive"
        annotation["updated_at"] = AGAIN
        annotation["history"] = [
            {"action": "updated", "created_at": AGAIN, "result": choice("positive")},
            {"action": "submitted", "created_at": LATER, "result": choice("negative")},
        ]

    ratings = annotated(tmp_path / "export.json", change)
    found = rating(ratings)
    assert (found["label"], found["last_label"]) == ("negative", "positive")
    assert found["changed_at"] == AGAIN
    assert ratings.are_first_labels_known
    assert ratings.n_edited_labels == (1, 0)


def test_label_studio_without_a_history_tells_that_a_label_was_changed(tmp_path):
    ratings = annotated(tmp_path / "export.json", lambda each: each.update(updated_at=AGAIN))
    assert "last_label" not in ratings.has
    assert rating(ratings)["changed_at"] == AGAIN
    assert ratings.n_edited_labels == (0, 1)
    assert not ratings.are_first_labels_known


def test_what_is_written_within_a_minute_was_not_changed(tmp_path):
    def change(annotation):
        annotation["created_at"] = "2026-09-05T07:59:00.000000Z"
        annotation["updated_at"] = AGAIN

    assert annotated(tmp_path / "export.json", change).are_first_labels_known


def test_an_answer_to_another_question_that_was_changed_is_no_change(tmp_path):
    def change(annotation):
        annotation["updated_at"] = AGAIN
        annotation["history"] = [
            {"action": "submitted", "created_at": LATER, "result": choice("positive")}
        ]

    ratings = annotated(tmp_path / "export.json", change)
    assert ratings.are_first_labels_known
    assert ratings.n_edited_labels == (0, 0)


@pytest.mark.parametrize("name", ["prodigy", "mturk", "doccano"])
def test_other_tools_tell_nothing_and_their_ratings_are_what_they_were(name):
    found = next(each for key, each in CASES.items() if key.startswith(name))
    ratings = read(
        found.file, found.columns, rules=Rules(all_rounds=True, requires=()), usable=False
    )
    assert not {"last_label", "changed_at"} & ratings.has
    assert not ratings.are_first_labels_known


FRAME = pd.DataFrame(
    [
        ("i1", "a", "no", None, None),
        ("i1", "b", "no", "yes", "2026-01-01 10:00:00"),
        ("i2", "a", "yes", "yes", "2026-01-01 10:00:00"),
        ("i2", "b", "yes", "no", None),
        ("i3", "a", None, "no", None),
    ],
    columns=["item", "rater", "label", "was", "edited"],
)
NAMED = Columns(first_label="was", changed_at="edited")


@pytest.mark.parametrize("form", ["csv", "parquet", "frame"])
def test_a_table_tells_them_by_named_columns(tmp_path, form):
    source = {"csv": tmp_path / "t.csv", "parquet": tmp_path / "t.parquet", "frame": FRAME}[form]
    if form == "csv":
        FRAME.to_csv(source, index=False)
    elif form == "parquet":
        FRAME.to_parquet(source)
    ratings = read(source, NAMED)
    found = ratings.to_pandas()
    assert found["label"].tolist() == ["no", "yes", "yes", "no", "no"]
    assert found["last_label"].fillna("").tolist() == ["", "no", "", "yes", ""]
    assert found["changed_at"].fillna("").tolist() == ["", "2026-01-01 10:00:00", "", "", ""]
    assert ratings.n_edited_labels == (2, 0)


def test_columns_that_nobody_names_are_not_read():
    frame = FRAME.rename(columns={"was": "first_label", "edited": "changed_at"})
    plain = frame[["item", "rater", "label"]]
    assert read(frame).digest == read(plain).digest


def test_times_and_numbers_are_read_as_those_of_other_columns(tmp_path):
    table = tmp_path / "t.csv"
    table.write_text("item;rater;label;was\ni1;a;1,5;\ni1;b;2,0;2,5\ni2;a;1;1,0\ni2;b;2;\n")
    columns = Columns(first_label="was", decimal=",")
    ratings = read(table, columns, level="interval")
    assert ratings.to_pandas()["label"].tolist() == [1.5, 2.5, 1, 2]
    assert ratings.n_edited_labels == (1, 0)
    frame = FRAME.assign(edited=pd.to_datetime(FRAME["edited"]))
    said = read(frame, NAMED).to_pandas()["changed_at"].dropna()
    assert said.str.startswith("2026-01-01 10:00:00").all()


def test_a_wide_table_has_no_first_labels():
    with pytest.raises(ProjectError, match="found first_label 'was' in the layout wide"):
        read(FRAME, Columns(first_label="was", raters=("a",)), layout="wide")
    with pytest.raises(RatingsError, match="found no column 'then'"):
        read(FRAME, Columns(first_label="then"))


@pytest.mark.parametrize(
    ("times", "n"),
    [
        (["1", "2", "3", "4"], 0),
        (["1", "2", "3", "9"], 1),
        (["1", "2", "", "9"], 3),
        (["", "2", "", ""], 1),
        (["", "", " ", ""], 0),
    ],
)
def test_a_time_of_change_is_no_change_if_each_label_has_one_and_it_is_when_it_was_given(times, n):
    frame = FRAME[["item", "rater", "label"]][:4].assign(timestamp=list("1234"), edited=times)
    found = read(frame, Columns(changed_at="edited"), usable=False)
    assert found.n_edited_labels == (0, n)
    same = read(frame, Columns(changed_at="timestamp"), usable=False)
    assert same.n_edited_labels == (0, 4)


def test_a_blank_first_label_says_nothing():
    blank = read(FRAME.fillna({"was": "", "edited": " "}), NAMED, usable=False)
    assert blank.digest == read(FRAME, NAMED, usable=False).digest
