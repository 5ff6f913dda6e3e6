"""Ratings from a table; what is wrong with them is said once, with its place."""

import json

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from agreement_pipeline.errors import RatingsError
from agreement_pipeline.ratings import Ratings, Scale
from agreement_pipeline.readers import Columns, read, read_rounds
from tests.readers.conftest import frame_of
from tests.readers.texts import GOOD, YES_NO

ROUNDS = "week,item,rater,label\nw2,i1,ana,yes\nw1,i1,ana,yes\nw1,i1,ben,perhaps\n"


def test_the_rounds_of_a_table_are_listed_and_rows_keep_their_place_when_one_is_taken_out(
    saved, tmp_path
):
    path = saved(tmp_path, "all.csv", ROUNDS)
    columns = Columns(round="week")
    assert read_rounds(path, columns) == ("w1", "w2")
    frame = frame_of(path, columns)
    with pytest.raises(
        RatingsError, match=r"all.csv: row 4, column 'label': found label 'perhaps'"
    ):
        Ratings.from_frame(frame[frame["round"] == "w1"], YES_NO, source="all.csv", first_row=2)


def test_numbers_of_rounds_are_names_in_parquet_too(tmp_path):
    pq.write_table(
        pa.table(
            {"round": [2.0, 1.0], "item": ["a", "a"], "rater": ["x", "y"], "label": ["l", "m"]}
        ),
        tmp_path / "all.parquet",
    )
    assert read_rounds(tmp_path / "all.parquet", Columns()) == ("1", "2")
    for name, rater in (("1", "y"), ("2", "x")):
        found = read(
            tmp_path / "all.parquet", scale=Scale(("l", "m")), round_name=name, usable=False
        )
        assert found.raters == (rater,)


def test_a_record_of_an_export_without_a_round_is_named(tmp_path):
    record = {"text": "x", "answer": "accept", "accept": ["a"], "options": [{"id": "a"}]}
    ours = {"_annotator_id": "ana", "_input_hash": 1, "_task_hash": 1, "_timestamp": 1}
    path = tmp_path / "prod.jsonl"
    path.write_text(json.dumps({**record, **ours}) + "\n")
    with pytest.raises(
        RatingsError,
        match=r"^prod\.jsonl: row 'prod\.jsonl: record 1', column 'week': found no round; expected "
        r"one in every row\. Fill it in, or name the column or field that holds it\.",
    ):
        read_rounds(path, Columns(round="week"))


def test_several_rounds_are_not_read_as_one(saved, tmp_path):
    path, columns = (
        saved(tmp_path, "all.csv", ROUNDS + "w1,i2,ana,no\nw1,i2,ben,no\n"),
        Columns(round="week"),
    )
    with pytest.raises(
        RatingsError,
        match=r"all.csv: column 'week': found 2 rounds, \['w2', 'w1'\]; expected one for ratings "
        r"that are read as one",
    ):
        read(path, columns)
    assert read(path, columns, round_name="w1").to_pandas()["item"].tolist() == [
        "i1",
        "i1",
        "i2",
        "i2",
    ]
    with pytest.raises(
        RatingsError,
        match=r"column 'week': found no round 'w3' among \['w2', 'w1'\]; expected one of these",
    ):
        read(path, columns, round_name="w3")


def test_a_column_of_one_round_needs_no_name(saved, tmp_path):
    path = saved(tmp_path, "one.csv", "round,item,rater,label\nw1,i,a,l\nw1,i,b,m\n")
    assert len(read(path)) == 2


HEAD = "item,rater,label\n"
NUMBERED = "item,rater,label,occurrence\n"
AGAIN = Columns(item="task", rater="worker", label="verdict")
MOST = "found ['{}']; expected a whole number from 1 to 2147483647"
WIDE = {"columns": Columns(raters=("ana", "ben")), "layout": "wide"}
REFUSED = {
    "an unknown label": (
        "post,rater,answer\ni1,ana,yes\ni1,ben,maybe\ni2,ana,perhaps\n",
        {"columns": Columns(item="post", label="answer"), "scale": YES_NO},
        "rows [3, 4], column 'answer': found labels ['maybe', 'perhaps']; expected one of "
        "['no', 'yes']. Correct the label",
    ),
    "two labels for one occurrence": (
        GOOD + "i1,ana,no\n",
        {},
        "rows [2, 5], columns ['item', 'rater']: found 2 labels of rater 'ana' for item 'i1' as "
        "occurrence 1 (['yes', 'no'],",
    ),
    "no item": (GOOD + ",ana,yes\n", {}, "row 5, column 'item': found no item; expected one in e"),
    "no rater": (GOOD + "i3,,yes\n", {}, "row 5, column 'rater': found no rater; expected one in"),
    "two files put together (I6)": (
        f"{HEAD}i1,ana,yes\ni1,ben,no\n{HEAD}i2,ana,yes\ni2,ben,no\n",
        {},
        "row 4: found the header again",
    ),
    "two files with names of their own": (
        "task,worker,verdict\ni1,ana,yes\ni1,ben,no\ntask,worker,verdict\ni2,ana,yes\n",
        {"columns": AGAIN},
        "row 4: found the header again",
    ),
    **{
        f"occurrence {number} (I3)": (
            f"{NUMBERED}i1,ana,yes,{number}\ni1,ben,no,1\n",
            {},
            f"row 2, column 'occurrence': {MOST.format(number)}",
        )
        for number in ("1e300", "9223372036854775808", "2147483648")
    },
    "no number of a replicate": (
        "item,rater,label,replicate\ni1,ana,yes,first\ni1,ben,no,1\n",
        {},
        f"row 2, column 'replicate': {MOST.format('first')}",
    ),
    "one rater": (
        HEAD + "i1,ana,yes\ni2,ana,no\n",
        {},
        "found ratings by 1 rater, ['ana']; expected two raters or more",
    ),
    "one rater beside a classifier": (
        GOOD,
        {"classifiers": ("ben",)},
        "found ratings by 1 rater, ['ana'], and the classifier 'ben'; expected two raters or more",
    ),
    "raters who never meet": (
        HEAD + "i1,ana,yes\ni2,ana,no\ni3,ben,no\n",
        {},
        "found no item with ratings by two raters (3 ratings of 3 items by 2 raters); expected at",
    ),
    "a second look of one rater": (
        NUMBERED + "i1,ana,yes,1\ni1,ana,no,2\ni2,ben,no,1\n",
        {},
        "found no item with ratings by two raters (2 ratings of 2 items by 2 raters)",
    ),
    "a classifier beside each of two raters": (
        HEAD + "i1,ana,yes\ni1,model,yes\ni2,ben,no\n",
        {"scale": YES_NO, "classifiers": ("model",)},
        "found no item with ratings by two raters",
    ),
    "one category": (
        HEAD + "i1,ana,yes\ni1,ben,yes\n",
        {},
        "column 'label': scale: found 1 category, ['yes']; expected at least two",
    ),
    "one category of a wide table": (
        "item,ana,ben\ni1,x,x\n",
        WIDE,
        "the columns of raters: scale: found 1 category, ['x']",
    ),
    "words on the ordinal level": (
        GOOD,
        {"level": "ordinal"},
        "column 'label': scale: found labels ['no', 'yes'] on the ordinal level; expected numbers, "
        "since words have no order of their own",
    ),
    "a negative number on the ratio level": (
        HEAD + "i1,ana,1\ni1,ben,-1\n",
        {"level": "ratio"},
        "row 3, column 'label': found label '-1'; expected a finite non-negative number on the "
        "ratio level",
    ),
    "rows without a round beside others": (
        "round,item,rater,label\nw1,i,a,l\n,i,b,m\n",
        {},
        "column 'round': found rows without a round beside round 'w1'; expected",
    ),
    "no round in any row": (
        GOOD,
        {"round_name": "w1"},
        "column 'round': found no round in any row; expected",
    ),
}


@pytest.mark.parametrize(("content", "how", "words"), REFUSED.values(), ids=REFUSED)
def test_ratings_that_cannot_be_are_refused_with_their_place(
    saved, refusal, tmp_path, content, how, words
):
    path = saved(tmp_path, "round.csv", content)
    assert refusal(path, **how).startswith(f"round.csv: {words}")


@pytest.mark.parametrize(
    ("content", "how", "scale"),
    [
        (HEAD + "i1,ana,yes\ni2,ana,no\n", {"usable": False}, YES_NO),
        (HEAD + "i1,ana,yes\ni1,ben,yes\n", {"scale": YES_NO}, YES_NO),
        (HEAD + "i1,ana,1\ni1,ben,-1\n", {"level": "interval"}, Scale((-1, 1), "interval")),
    ],
)
def test_what_is_said_beforehand_is_not_refused(saved, tmp_path, content, how, scale):
    found = read(saved(tmp_path, "round.csv", content), **how).scale
    assert (found.categories, found.level) == (scale.categories, scale.level)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (
            GOOD,
            r"all.csv: found no column 'week' among \['item', 'rater', 'label'\]; expected the "
            r"round of every row",
        ),
        (
            "week,item,rater,label\nw1,i,a,l\n,i,b,l\n",
            r"all.csv: row 3, column 'week': found no round; expected one in every row",
        ),
    ],
)
def test_a_row_without_a_round_is_refused(saved, tmp_path, content, words):
    with pytest.raises(RatingsError, match=words):
        read_rounds(saved(tmp_path, "all.csv", content), Columns(round="week"))


@pytest.mark.parametrize("level", ["interval", "ratio"])
@pytest.mark.parametrize("label", ["high", "NaN", "inf", "-inf", "1,5", "NA"])
def test_what_is_no_finite_number_is_refused_with_its_row_on_a_level_of_numbers(
    saved, refusal, tmp_path, level, label
):
    path = saved(tmp_path, "round.tsv", f"item\trater\tlabel\ni1\tana\t1.5\ni1\tben\t{label}\n")
    words = refusal(path, level=level)
    assert f"round.tsv: row 3, column 'label': found label '{label}'; expected a finite" in words
    assert f" on the {level} level" in words


def test_an_item_of_parquet_that_is_no_number_is_refused(refusal, tmp_path):
    cells = {
        "item": pa.array([1.0, np.nan, None]),
        "rater": pa.array(["ana", "ben", "ana"]),
        "label": pa.array([1.0, 2.0, None]),
    }
    pq.write_table(pa.table(cells), tmp_path / "round.parquet")
    assert "round.parquet: row 2, column 'item': found nan; expected one value, or null" in refusal(
        tmp_path / "round.parquet", level="interval"
    )


def test_a_label_of_json_that_is_no_number_is_missing_and_an_infinite_one_refused(
    saved, refusal, tmp_path
):
    path = saved(
        tmp_path,
        "round.jsonl",
        '{"item":"i1","rater":"ana","label":1}\n{"item":"i1","rater":"ben","label":NaN}\n'
        '{"item":"i2","rater":"ben","label":-Infinity}\n',
    )
    assert (
        "round.jsonl: row 3, column 'label': found label '-Infinity'; expected a finite number"
        in refusal(path, level="interval")
    )


def test_numbers_make_an_interval_scale_of_their_distinct_values(saved, tmp_path):
    ratings = read(
        saved(tmp_path, "round.csv", "item,rater,label\ni1,ana,1e1\ni1,ben,2.5\ni2,ana,10\n"),
        level="interval",
    )
    assert ratings.scale == Scale((2.5, 10), "interval", declared=False)
    assert ratings.to_pandas()["label"].tolist() == [10.0, 2.5, 10.0]


def test_texts_that_disagree_about_one_item_are_refused_whatever_the_index_of_the_frame():
    frame = pd.DataFrame(
        {"item": ["i", "i"], "rater": ["a", "b"], "label": ["yes", "no"], "text": ["one", "two"]},
        index=["x", "y"],
    )
    with pytest.raises(
        RatingsError,
        match=r"ratings: rows \[1, 2\], column 'text': found 2 different contents of item 'i'; "
        r"expected one",
    ):
        Ratings.from_frame(frame, YES_NO)


@pytest.mark.parametrize("meetings", [["1", "2", "1"], ["1", "1", "1"]])
def test_a_table_that_numbers_meetings_may_have_a_column_for_each_model(tmp_path, meetings):
    frame = pd.DataFrame(
        {
            "item": ["i1", "i1", "i2"],
            "rater": ["ana", "ana" if meetings[1] == "2" else "ben", "ben"],
            "label": ["yes", "no", "no"],
            "occurrence": meetings,
            "gpt": ["yes", "yes", "no"],
        }
    )
    frame.to_csv(tmp_path / "round.csv", index=False)
    for source in (frame, tmp_path / "round.csv"):
        rows = read(source, Columns(models={"gpt_4": "gpt"}), usable=False).to_pandas()
        of_model = rows[rows["rater"] == "gpt_4"]
        assert list(of_model["item"]) == ["i1", "i2"]
        assert list(of_model["occurrence"]) == [1, 1]
