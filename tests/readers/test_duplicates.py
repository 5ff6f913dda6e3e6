"""Rows that have the item and rater of another one: counted once, refused, or one of them chosen.

What is expected is found by a loop over the rows.
"""

import random
import re
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from agreement_pipeline.errors import RatingsError
from agreement_pipeline.ratings import DUPLICATE, SAME_LABEL_TWICE, Ratings, Scale
from agreement_pipeline.readers import Columns, Rules, read

SCALE = Scale(("no", "yes"))
CASES = Path(__file__).parents[1] / "cases"


def rows_with_duplicates(seed, *, same_label):
    """(item, rater, label, minute) of 30 items and three raters, in a random order."""
    rng = random.Random(seed)
    rows = []
    for item in range(30):
        for rater in ("ana", "ben", "chi"):
            label = rng.choice(SCALE.names)
            for _ in range(rng.choice([1, 1, 1, 2, 3])):
                again = label if same_label else rng.choice(SCALE.names)
                rows.append((f"i{item:02}", rater, again, rng.randrange(600)))
    rng.shuffle(rows)
    return rows


def timed(rows, form="2026-03-{day:02}T{hour:02}:{minute:02}:00Z"):
    """Rows with a time for each minute, within a day. Equal minutes are made unequal by the row."""
    return [
        (
            item,
            rater,
            label,
            form.format(day=1 + minute // 480, hour=minute // 60 % 8 + 8, minute=minute % 60),
        )
        for item, rater, label, minute in rows
    ]


def chosen_by_loop(rows, which, *, by_time):
    """The label that counts of each item and rater."""
    chosen = {}
    for place, (item, rater, label, time) in enumerate(rows):
        key = (time, place) if by_time else place
        known = chosen.get((item, rater))
        if known is None or (key < known[0] if which == "first" else key > known[0]):
            chosen[item, rater] = (key, label)
    return {key: label for key, (_, label) in chosen.items()}


def labels_of(ratings):
    found = ratings.first_ratings(["item", "rater", "label"]).to_pylist()
    return {(each["item"], each["rater"]): str(each["label"]) for each in found}


def written(rows, folder, form, names=("item", "rater", "label", "timestamp")):
    frame = pd.DataFrame(rows, columns=list(names))
    path = folder / f"r.{form}"
    if form == "csv":
        frame.to_csv(path, index=False)
    elif form == "jsonl":
        frame.to_json(path, orient="records", lines=True)
    elif form == "parquet":
        pq.write_table(pa.Table.from_pandas(frame), path)
    else:
        return frame
    return path


FORMS = ("csv", "jsonl", "parquet", "frame")


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("seed", range(3))
def test_same_label_counts_once(tmp_path, form, seed):
    rows = [row[:3] for row in rows_with_duplicates(seed, same_label=True)]
    ratings = read(written(rows, tmp_path, form, ("item", "rater", "label")), scale=SCALE)
    expected = {(item, rater): label for item, rater, label in rows}
    assert labels_of(ratings) == expected
    assert len(ratings) == len(expected) == sum(ratings.n_by_rater.values()) == 90
    assert ratings.origin.left_out == {SAME_LABEL_TWICE: len(rows) - len(expected)}
    once = pd.DataFrame([(*key, label) for key, label in expected.items()])
    once = read(once.set_axis(["item", "rater", "label"], axis=1), scale=SCALE)
    assert ratings.digest == once.digest


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("which", ["first", "last"])
@pytest.mark.parametrize("by_time", [True, False])
def test_setting_chooses_by_time_or_order(tmp_path, form, which, by_time):
    rows = timed(rows_with_duplicates(7, same_label=False))
    if not by_time:
        rows[11] = (*rows[11][:3], None)
    path = written(rows, tmp_path, form)
    ratings = read(path, scale=SCALE, rules=Rules(duplicates=which))
    expected = chosen_by_loop(rows, which, by_time=by_time)
    assert labels_of(ratings) == expected
    assert ratings.origin.left_out == {DUPLICATE: len(rows) - len(expected)}


@pytest.mark.parametrize("which", ["first", "last"])
def test_times_of_several_zones_are_compared_as_instants(which):
    rows = [
        ("i1", "ana", "no", "2026-03-01T12:00:00+05:00"),
        ("i1", "ana", "yes", "2026-03-01T09:00:00+00:00"),
        ("i1", "ben", "no", "2026-03-01T09:00:00Z"),
    ]
    frame = pd.DataFrame(rows, columns=["item", "rater", "label", "timestamp"])
    found = labels_of(read(frame, scale=SCALE, rules=Rules(duplicates=which)))
    assert found["i1", "ana"] == {"first": "no", "last": "yes"}[which]


def test_a_row_without_a_label_is_no_duplicate():
    rows = [("i1", "ana", None), ("i1", "ana", "yes"), ("i1", "ben", "no"), ("i1", "ben", None)]
    frame = pd.DataFrame(rows, columns=["item", "rater", "label"])
    ratings = read(frame, scale=SCALE, rules=Rules(duplicates="last"))
    assert labels_of(ratings) == {("i1", "ana"): "yes", ("i1", "ben"): "no"}
    assert DUPLICATE not in ratings.origin.left_out


OTHER_LABELS = {
    "words": (["yes", "yes", "no"], {}),
    "numbers in two spellings": ([1.0, 1, 0], {"scale": Scale((0, 1), "interval")}),
    "any numbers": ([0.5, 0.5, 0.25], {"level": "interval"}),
    "vectors": (["1|2.5", "1.0|2.5", "3|4"], {"level": "multivariate interval"}),
    "sets in two orders": (["a|b", "b|a", "c"], {}),
}


@pytest.mark.parametrize(("labels", "how"), OTHER_LABELS.values(), ids=OTHER_LABELS)
def test_labels_are_compared_by_meaning(labels, how):
    frame = pd.DataFrame(
        {"item": ["i1", "i1", "i1", "i2", "i2"], "rater": ["ana", "ana", "ben", "ana", "ben"]}
    )
    rest = labels[-1]
    ratings = read(frame.assign(label=[*labels, rest, rest]), **how)
    assert len(ratings) == 4
    assert ratings.origin.left_out == {SAME_LABEL_TWICE: 1}
    with pytest.raises(RatingsError, match="found 2 labels of rater 'ana' for item 'i2'"):
        read(pd.concat([frame, frame[3:4]]).assign(label=[*labels, rest, rest, labels[0]]), **how)


def test_a_wide_table_counts_each_rater():
    frame = pd.DataFrame({"item": ["i1", "i2", "i1"], "ana": list("xyx"), "ben": ["x", "y", None]})
    wide = {"columns": Columns(raters=("ana", "ben")), "layout": "wide"}
    ratings = read(frame, **wide)
    assert ratings.origin.left_out[SAME_LABEL_TWICE] == 1
    assert len(ratings) == 4
    frame.loc[2, "ben"] = "y"
    with pytest.raises(RatingsError, match=r"row 1 column 'ben', row 3 column 'ben'"):
        read(frame, **wide)
    first = read(frame, **wide, rules=Rules(duplicates="first"))
    assert labels_of(first)["i1", "ben"] == "x"


def test_other_labels_are_refused_with_the_way_on():
    rows = [
        ("i1", "ana", "yes"),
        ("i1", "ana", "no"),
        ("i1", "ben", "no"),
        ("i2", "ben", "no"),
        ("i2", "ben", "no"),
    ]
    frame = pd.DataFrame(rows, columns=["item", "rater", "label"])
    words = (
        "found 2 labels of rater 'ana' for item 'i1' as occurrence 1 (['yes', 'no'], 2 such rows "
        "in all); expected one label for each (item, rater, occurrence). Say which one counts "
        "(--duplicates first or last; duplicates: first in a project)"
    )
    with pytest.raises(RatingsError, match=re.escape(words)):
        read(frame)


def test_a_later_label_is_another_label():
    rows = [("i1", "ana", "yes", "yes"), ("i1", "ana", "no", "yes"), ("i1", "ben", "no", "no")]
    frame = pd.DataFrame(rows, columns=["item", "rater", "label", "before"])
    with pytest.raises(RatingsError, match="found 2 labels of rater 'ana'"):
        read(frame, Columns(first_label="before"))


def test_each_occurrence_and_each_round_is_apart():
    rows = [
        ("i1", "ana", "yes", 1, "w1"),
        ("i1", "ana", "yes", 2, "w1"),
        ("i1", "ana", "yes", 2, "w1"),
        ("i1", "ana", "no", 1, "w2"),
        ("i1", "ben", "yes", 1, "w1"),
    ]
    frame = pd.DataFrame(rows, columns=["item", "rater", "label", "occurrence", "round"])
    for duplicates, reason in ((None, SAME_LABEL_TWICE), ("first", DUPLICATE)):
        found = read(frame, scale=SCALE, round_name="w1", rules=Rules(duplicates=duplicates))
        assert (len(found), found.n_repeated) == (3, 1)
        assert found.origin.left_out == {reason: 1}
    together = read(frame, scale=SCALE, rules=Rules(duplicates="last", all_rounds=True))
    assert labels_of(together) == {("i1", "ana"): "no", ("i1", "ben"): "yes"}


def test_repetitions_by_a_field_leave_no_room_for_duplicates():
    """A row that is there twice would be numbered as a repetition and raise self-agreement."""
    rows = [
        ("i1", "ana", "yes", None),
        ("i1", "ana", "yes", None),
        ("i1b", "ana", "yes", "i1"),
        ("i1", "ben", "no", None),
    ]
    frame = pd.DataFrame(rows, columns=["item", "rater", "label", "again"])
    with pytest.raises(
        RatingsError, match=r"row 1, .*found 2 rows that have item and rater in com"
    ):
        read(frame, rules=Rules(replicate_of="again"))
    once = read(frame, rules=Rules(replicate_of="again", duplicates="first"))
    assert (len(once), once.n_repeated) == (3, 1)
    assert read(frame[1:], rules=Rules(replicate_of="again")).digest == once.digest


def test_a_model_in_a_column_keeps_its_label():
    frame = pd.DataFrame(
        {
            "item": ["i1", "i1", "i1"],
            "rater": ["ana", "ana", "ben"],
            "label": list("xyx"),
            "gpt": list("xxx"),
        }
    )
    ratings = read(frame, Columns(models={"model": "gpt"}), rules=Rules(duplicates="last"))
    assert labels_of(ratings) == {("i1", "ana"): "y", ("i1", "ben"): "x", ("i1", "model"): "x"}


def test_ratings_that_are_stored_already_are_refused():
    rows = [("i1", "ana", "yes"), ("i1", "ana", "yes"), ("i1", "ben", "no")]
    frame = pd.DataFrame(rows, columns=["item", "rater", "label"])
    with pytest.raises(RatingsError, match="found 2 labels of rater 'ana'"):
        Ratings.from_frame(frame, SCALE)


def test_export_with_each_task_twice():
    """A tool numbers its records, so a record that is there twice is no second answer."""
    words = r"found record 'annotation 1' more than once \(120 such records in all\)"
    with pytest.raises(RatingsError, match=words):
        read(CASES / "ls_duplicate_tasks" / "dup_tasks.json", Columns(label="sent"))
