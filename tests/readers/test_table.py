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
    with pytest.raises(RatingsError, match="column 'round': found no round in any row; expected"):
        read(saved(tmp_path, "none.csv", GOOD), round_name="w1")


def test_rows_without_a_round_are_not_read_with_those_of_one(saved, tmp_path):
    path = saved(tmp_path, "all.csv", "round,item,rater,label\nw1,i,a,l\n,i,b,m\n")
    with pytest.raises(
        RatingsError, match="column 'round': found rows without a round beside round 'w1'; e"
    ):
        read(path)


def test_a_column_of_one_round_needs_no_name(saved, tmp_path):
    path = saved(tmp_path, "one.csv", "round,item,rater,label\nw1,i,a,l\nw1,i,b,m\n")
    assert len(read(path)) == 2


def test_an_unknown_label_is_named_with_its_rows_and_what_is_allowed(saved, refusal, tmp_path):
    path = saved(
        tmp_path, "round.csv", "post,rater,answer\ni1,ana,yes\ni1,ben,maybe\ni2,ana,perhaps\n"
    )
    words = refusal(path, Columns(item="post", label="answer"), scale=YES_NO)
    assert words.startswith(
        "round.csv: rows [3, 4], column 'answer': found labels ['maybe', 'perhaps']; expected one "
        "of ['no', 'yes']. Correct the label"
    )


def test_two_labels_for_one_item_rater_and_occurrence_are_named_with_their_rows(
    saved, refusal, tmp_path
):
    words = refusal(saved(tmp_path, "round.csv", GOOD + "i1,ana,no\n"))
    assert words.startswith(
        "round.csv: rows [2, 5], columns ['item', 'rater']: found 2 labels of rater 'ana' for item "
        "'i1' as occurrence 1 (['yes', 'no'],"
    )


@pytest.mark.parametrize(
    ("row", "words"),
    [(",ana,yes", "column 'item': found no item"), ("i3,,yes", "column 'rater': found no rater")],
)
def test_a_rating_without_item_or_rater_is_refused(saved, refusal, tmp_path, row, words):
    assert f"round.csv: row 5, {words}; expected one in every row" in refusal(
        saved(tmp_path, "round.csv", f"{GOOD}{row}\n")
    )


@pytest.mark.parametrize("header", ["item,rater,label", "task,worker,verdict"])
def test_i6_two_files_put_together_with_the_second_header_are_refused(saved, tmp_path, header):
    rows = "i1,ana,yes\ni1,ben,no\n"
    path = saved(tmp_path, "round.csv", f"{header}\n{rows}{header}\n{rows.replace('i1', 'i2')}")
    columns = Columns(**dict(zip(("item", "rater", "label"), header.split(","), strict=True)))
    with pytest.raises(RatingsError, match=r"round\.csv: row 4: found the header again"):
        read(path, columns)


@pytest.mark.parametrize("number", ["1e300", "9223372036854775808", "2147483648"])
def test_i3_an_occurrence_that_no_number_can_hold_is_refused(saved, refusal, tmp_path, number):
    rows = f"i1,ana,yes,{number}\ni1,ben,no,1\n"
    path = saved(tmp_path, "round.csv", f"item,rater,label,occurrence\n{rows}")
    assert "expected a whole number from 1 to 2147483647" in refusal(path)


def test_an_occurrence_that_is_no_whole_number_is_named_under_the_files_own_column(
    saved, refusal, tmp_path
):
    path = saved(
        tmp_path, "round.csv", "item,rater,label,replicate\ni1,ana,yes,first\ni1,ben,no,1\n"
    )
    assert (
        "round.csv: row 2, column 'replicate': found ['first']; expected a whole number from 1"
        in refusal(path)
    )


def test_one_rater_is_refused_with_her_name_unless_that_is_wanted(saved, refusal, tmp_path):
    path = saved(tmp_path, "round.csv", "item,rater,label\ni1,ana,yes\ni2,ana,no\n")
    assert "round.csv: found ratings by 1 rater, ['ana']; expected two raters or more" in refusal(
        path
    )
    assert read(path, usable=False).raters == ("ana",)


def test_a_classifier_does_not_count_as_a_rater(saved, refusal, tmp_path):
    path = saved(tmp_path, "round.csv", GOOD)
    assert (
        "found ratings by 1 rater, ['ana'], and the classifier 'ben'; expected two raters or "
        "more" in refusal(path, classifiers=("ben",))
    )


def test_raters_who_never_meet_are_refused_with_the_numbers(saved, refusal, tmp_path):
    path = saved(tmp_path, "round.csv", "item,rater,label\ni1,ana,yes\ni2,ana,no\ni3,ben,no\n")
    assert (
        "round.csv: found no item with ratings by two raters (3 ratings of 3 items by 2 raters); "
        "expected at least one" in refusal(path)
    )


def test_a_raters_second_look_is_no_second_rater(saved, refusal, tmp_path):
    path = saved(
        tmp_path,
        "round.csv",
        "item,rater,label,occurrence\ni1,ana,yes,1\ni1,ana,no,2\ni2,ben,no,1\n",
    )
    assert "found no item with ratings by two raters (2 ratings of 2 items by 2 raters)" in refusal(
        path
    )


def test_a_classifier_beside_one_rater_makes_no_pair():
    frame = pd.DataFrame(
        {
            "item": ["i1", "i1", "i2"],
            "rater": ["ana", "model", "ben"],
            "label": ["yes", "yes", "no"],
        }
    )
    with pytest.raises(RatingsError, match="found no item with ratings by two raters"):
        read(frame, scale=YES_NO, classifiers=("model",))


def test_one_category_is_refused_when_the_scale_is_read_off_the_labels_and_taken_when_it_is_named(
    saved, refusal, tmp_path
):
    path = saved(tmp_path, "round.csv", "item,rater,label\ni1,ana,yes\ni1,ben,yes\n")
    assert (
        "round.csv: column 'label': scale: found 1 category, ['yes']; expected at least two"
        in refusal(path)
    )
    assert read(path, scale=YES_NO).scale == YES_NO


def test_one_category_of_a_wide_table_is_told_of_the_raters_columns(saved, refusal, tmp_path):
    words = refusal(
        saved(tmp_path, "wide.csv", "item,ana,ben\ni1,x,x\n"),
        Columns(raters=("ana", "ben")),
        layout="wide",
    )
    assert words.startswith("wide.csv: the columns of raters: scale: found 1 category, ['x']")


def test_words_on_the_ordinal_level_need_an_order(saved, refusal, tmp_path):
    assert "words have no order of their own" in refusal(
        saved(tmp_path, "round.csv", GOOD), level="ordinal"
    )


@pytest.mark.parametrize("level", ["interval", "ratio"])
@pytest.mark.parametrize("label", ["high", "NaN", "inf", "-inf", "1,5", "NA"])
def test_what_is_no_finite_number_is_refused_with_its_row_on_a_level_of_numbers(
    saved, refusal, tmp_path, level, label
):
    path = saved(tmp_path, "round.tsv", f"item\trater\tlabel\ni1\tana\t1.5\ni1\tben\t{label}\n")
    words = refusal(path, level=level)
    assert f"round.tsv: row 3, column 'label': found label '{label}'; expected a finite" in words
    assert f" on the {level} level" in words


def test_a_negative_number_is_refused_on_the_ratio_level_only(saved, refusal, tmp_path):
    path = saved(tmp_path, "round.csv", "item,rater,label\ni1,ana,1\ni1,ben,-1\n")
    assert (
        "row 3, column 'label': found label '-1'; expected a finite non-negative number on the "
        "ratio level" in refusal(path, level="ratio")
    )
    assert read(path, level="interval").scale == Scale((-1, 1), "interval", declared=False)


@pytest.mark.parametrize("column", ["label", "item"])
def test_a_number_that_went_wrong_in_parquet_is_not_taken_for_a_missing_one(
    refusal, tmp_path, column
):
    cells = {
        "item": pa.array([1.0, 1.0, 2.0]),
        "rater": pa.array(["ana", "ben", "ana"]),
        "label": pa.array([1.0, 2.0, None]),
    }
    cells[column] = pa.array([1.0, np.nan, None])
    pq.write_table(pa.table(cells), tmp_path / "round.parquet")
    assert (
        f"round.parquet: row 2, column '{column}': found nan; expected one value, or null"
        in refusal(tmp_path / "round.parquet", level="interval")
    )


def test_json_has_no_infinite_or_undefined_labels(saved, refusal, tmp_path):
    path = saved(
        tmp_path,
        "round.jsonl",
        '{"item":"i1","rater":"ana","label":1}\n{"item":"i1","rater":"ben","label":NaN}\n'
        '{"item":"i2","rater":"ben","label":-Infinity}\n',
    )
    assert (
        "round.jsonl: rows [2, 3], column 'label': found labels ['NaN', '-Infinity']; expected a "
        "finite number" in refusal(path, level="interval")
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
