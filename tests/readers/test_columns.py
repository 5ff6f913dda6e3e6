"""Columns under the names the file gives them, in long tables and in wide ones."""

import pandas as pd
import pytest

from agreement_pipeline.errors import ProjectError, RatingsError
from agreement_pipeline.ratings import Scale
from agreement_pipeline.readers import Columns, read
from tests.readers.conftest import frame_of
from tests.readers.texts import GOOD, YES_NO

HOW = (
    "Name the columns (--item, --rater, --label), or choose the layout wide (--layout wide) if "
    "each rater has one."
)


def test_columns_are_read_under_the_names_the_file_gives_them(saved, rows_of, tmp_path):
    path = saved(tmp_path, "round.csv", "post,worker,answer,when,sure\ni1,ana,yes,2026-01-05,0.9\n")
    frame = frame_of(
        path,
        Columns(item="post", rater="worker", label="answer", timestamp="when", confidence="sure"),
    )
    assert rows_of(frame, "item", "rater", "label", "timestamp", "confidence") == [
        ("i1", "ana", "yes", "2026-01-05", "0.9")
    ]


def test_further_columns_are_taken_under_their_own_names_and_unknown_ones_left_out(
    saved, rows_of, tmp_path
):
    path = saved(
        tmp_path,
        "round.csv",
        "item,rater,label,replicate,confidence,timestamp,text,cluster,shoe_size\n"
        "i1,ana,yes,2,0.5,now,hello,d1,44\n",
    )
    frame = frame_of(path)
    assert set(frame.columns) == {
        "item",
        "rater",
        "label",
        "occurrence",
        "confidence",
        "timestamp",
        "text",
        "cluster",
    }
    assert rows_of(frame, "occurrence", "cluster") == [("2", "d1")]


def test_a_column_called_gold_is_the_right_label_in_many_a_file_and_is_read_only_when_named(
    saved, rows_of, tmp_path
):
    path = saved(
        tmp_path,
        "round.csv",
        "item,rater,label,gold\ni1,ana,yes,yes\ni1,ben,no,yes\ni2,ana,no,no\ni2,ben,no,no\n",
    )
    assert "gold" not in frame_of(path)
    assert "gold" not in read(path).has
    assert rows_of(frame_of(path, Columns(gold="gold")), "item", "gold") == [
        ("i1", "yes"),
        ("i1", "yes"),
        ("i2", "no"),
        ("i2", "no"),
    ]
    assert read(path, Columns(gold="gold")).gold == {"i1"}


def test_a_column_that_was_given_another_part_is_not_taken_under_its_own_name(saved, tmp_path):
    frame = frame_of(
        saved(tmp_path, "round.csv", "text,rater,label\nhello,ana,yes\n"), Columns(item="text")
    )
    assert sorted(frame.columns) == ["item", "label", "rater"]


def test_replicates_are_read_as_occurrences(saved, rows_of, tmp_path):
    ratings = read(
        saved(
            tmp_path,
            "round.csv",
            "item,rater,label,replicate\ni1,ana,yes,1\ni1,ana,no,2\ni1,ben,no,1\n",
        )
    )
    assert rows_of(ratings.to_pandas(), "rater", "occurrence", "label") == [
        ("ana", 1, "yes"),
        ("ana", 2, "no"),
        ("ben", 1, "no"),
    ]


@pytest.mark.parametrize(
    ("header", "step"),
    [
        ("item,annotator,label", "Did you mean rater: 'annotator'?"),
        ("item,worker_id,label", "Did you mean rater: 'worker_id'?"),
        ("unit,rater,label", "Did you mean item: 'unit'?"),
        ("Task-ID,rater,label", "Did you mean item: 'Task-ID'?"),
        ("item,rater,value", "Did you mean label: 'value'?"),
        ("item,rater, Category ", "Did you mean label: ' Category '?"),
        ("item,rater,lable", "Did you mean label: 'lable'?"),
        ("item,annotation_id,rating", "Did you mean label: 'rating'?"),
        ("Item,Rater,Label", "Did you mean item: 'Item', rater: 'Rater', label: 'Label'?"),
        ("specimen_7,Q,Z", HOW),
        # A status of a workflow or an id is never taken for the label.
        ("item,rater,answer", HOW),
        ("item,rater,annotation_id", HOW),
        ("item,rater,label_id", HOW),
        ("item,rater,Annotation-ID", HOW),
        ("item,rater,labelId", HOW),
    ],
)
def test_a_missing_column_is_named_with_those_there_are_and_the_one_that_was_meant(
    saved, refusal, tmp_path, header, step
):
    words = refusal(saved(tmp_path, "round.csv", f"{header}\na,b,c\n"))
    missing = [name for name in ("item", "rater", "label") if name not in header.split(",")]
    noun = f"column {missing[0]!r}" if len(missing) == 1 else f"columns {missing!r}"
    assert words.startswith(
        f"round.csv: found no {noun} among {header.split(',')!r}; expected item, rater, label"
    )
    assert words.endswith(step)


def test_a_named_further_column_must_be_there(saved, refusal, tmp_path):
    words = refusal(saved(tmp_path, "round.csv", GOOD), Columns(occurrence="nth"))
    assert "found no column 'nth' among ['item', 'rater', 'label']" in words
    assert words.endswith("Correct what you name as occurrence.")


def test_one_column_named_for_two_parts_is_refused():
    with pytest.raises(
        ProjectError,
        match=r"columns: found \['post'\] for two of them; expected a column for each\. Correct",
    ):
        Columns(item="post", rater="post")


ANA_BEN = Columns(raters=("ana", "ben"))
SPECIMENS = Columns(item="specimen", raters=("T", "Ref-1", "Ref-2"))
WIDE = "specimen,T,Ref-1,Ref-2\ns1,RE,RE,BL\ns2,BL,,NR\n"


def test_a_wide_table_gives_a_row_a_rating_row_by_row_of_the_file(saved, rows_of, tmp_path):
    frame = frame_of(saved(tmp_path, "wide.csv", WIDE), SPECIMENS, layout="wide")
    assert rows_of(frame, "item", "rater", "label") == [
        ("s1", "T", "RE"),
        ("s1", "Ref-1", "RE"),
        ("s1", "Ref-2", "BL"),
        ("s2", "T", "BL"),
        ("s2", "Ref-1", None),
        ("s2", "Ref-2", "NR"),
    ]
    assert frame.index.tolist() == [
        (2, "T"),
        (2, "Ref-1"),
        (2, "Ref-2"),
        (3, "T"),
        (3, "Ref-1"),
        (3, "Ref-2"),
    ]


NINES = "".join(f"i{n},x,x\n" for n in range(4))
MANY = f"item,{','.join(f'c{n}' for n in range(25))}\n{'a,' * 25}a\n"
AMONG = "found no column that is named as a rater's; expected the names of the raters' columns in a"
REFUSED = {
    "an unknown label": (
        WIDE,
        SPECIMENS,
        Scale(("RE", "NR")),
        "row 2 column 'Ref-2', row 3 column 'T': found label 'BL'; expected one of ['RE', 'NR'].",
    ),
    "many bad cells": (
        f"item,ana,ben\n{NINES}",
        ANA_BEN,
        YES_NO,
        "row 4 column 'ana', … 3 more: found label 'x'",
    ),
    "an item on two rows": (
        "item,ana,ben\ni1,yes,no\ni2,no,no\ni1,no,no\n",
        ANA_BEN,
        None,
        "wide.csv: row 2 column 'ana', row 4 column 'ana': found 2 labels of rater 'ana' for item "
        "'i1'",
    ),
    "a row without its item": (
        "item,ana,ben\n,yes,no\n",
        ANA_BEN,
        None,
        "wide.csv: row 2, column 'item'",
    ),
    "a rater who is not there": (
        "item,ana,ben\na,a,a\n",
        Columns(raters=("ana", "chloe")),
        None,
        "wide.csv: found no column 'chloe' among ['item', 'ana', 'ben']; expected a named column "
        "for each rater of a wide table. Correct the name (--raters or --predicted, or `raters` of",
    ),
    "no named raters": (
        "item,date,ana maria,ben,,final_label\na,a,a,a,a,a\n",
        Columns(),
        None,
        f"wide.csv: {AMONG} wide table, since other columns can hold dates or settled labels. "
        "Name the raters among these: columns: "
        '{raters: ["date", "ana maria", "ben", "final_label"]} in a project, '
        "or --raters=date --raters='ana maria' --raters=ben --raters=final_label.",
    ),
    "no column of a rater": (
        "item,text\na,a\n",
        Columns(),
        None,
        "wide.csv: found no column of a rater among ['item', 'text']",
    ),
    "a rater without a name": (
        "item,,ana\na,a,a\n",
        Columns(raters=("", "ana")),
        None,
        "wide.csv: found a rater's column without a name; expected a named column for each rater",
    ),
    "no item": (
        "unit,ana,ben\na,a,a\n",
        ANA_BEN,
        None,
        "wide.csv: found no column 'item' among ['unit', 'ana', 'ben']; expected item and every",
    ),
    "a title above the header": (
        "Sizes of week 12\npart,ana,ben\n",
        ANA_BEN,
        None,
        "Name the columns (--item), or name the row of the header (--header-row) if it is a later",
    ),
    "very many columns": (
        MANY,
        Columns(),
        None,
        'Name the raters among these (5 more columns not shown): columns: {raters: ["c0", ',
    ),
    "the last of many": (MANY, Columns(), None, "--raters=c18 --raters=c19."),
}


@pytest.mark.parametrize(("content", "columns", "scale", "words"), REFUSED.values(), ids=REFUSED)
def test_a_wide_table_is_refused_with_its_place(
    saved, refusal, tmp_path, content, columns, scale, words
):
    path = saved(tmp_path, "wide.csv", content)
    assert words in refusal(path, columns, layout="wide", scale=scale)


@pytest.mark.parametrize(
    ("layout", "columns", "words"),
    [
        ("long", Columns(raters=("ana",)), r"raters \['ana'\] in the layout long; expected raters"),
        ("wide", Columns(rater="who", raters=("ana", "ben")), "rater 'who' in the layout wide; e"),
        ("wide", Columns(label="answer", raters=("ana",)), "label 'answer' in the layout wide; e"),
        ("wide", Columns(rater="who", label="answer"), "rater 'who' and label 'answer' in the lay"),
    ],
)
def test_a_column_of_the_other_layout_is_refused(saved, tmp_path, layout, columns, words):
    with pytest.raises(ProjectError, match=f"columns: found {words}"):
        frame_of(saved(tmp_path, "round.csv", GOOD), columns, layout=layout)


def test_columns_that_are_not_named_as_raters_of_a_wide_table_are_left_out(saved, tmp_path):
    path = saved(tmp_path, "wide.csv", WIDE)
    ratings = read(
        path,
        Columns(item="specimen", raters=("T", "Ref-2")),
        layout="wide",
        classifiers=("T",),
        usable=False,
    )
    assert ratings.raters == ("Ref-2",)
    assert ratings.classifiers == ("T",)


def test_text_beside_a_wide_table_is_text_and_no_rater(saved, tmp_path):
    path = saved(tmp_path, "wide.csv", "item,text,ana,ben\ni1,hello,yes,no\n")
    ratings = read(path, ANA_BEN, layout="wide")
    assert ratings.raters == ("ana", "ben")
    assert ratings.items(["text"], names=["i1"])["text"].to_pylist() == ["hello"]


def test_an_error_about_a_frame_names_the_call_that_reads_it_and_no_option_of_a_command():
    frame = pd.DataFrame([["i1", "x", "y"]], columns=["post", "Änne", "ben"])
    known = frame.rename(columns={"post": "item"})
    refused = {
        "Read it with read_ratings(frame, Columns(item='post', rater='who')).": (
            pd.DataFrame([["i1", "ana", "x"]], columns=["post", "who", "label"]),
            {"columns": Columns(rater="Who")},
        ),
        "Read it with read_ratings(frame, Columns(rater='…', label='…')), or with "
        "read_ratings(frame, Columns(raters=('…', '…')), layout=\"wide\") if each rater has a "
        "column.": (known, {}),
        "Name the raters among these: read_ratings(frame, Columns(raters=('Änne', 'ben')), "
        'layout="wide").': (known, {"layout": "wide"}),
        "Read it with read_ratings(frame, Columns(item='post', raters=('Änne', 'ben')), "
        'layout="wide").': (
            frame,
            {"layout": "wide", "columns": Columns(raters=("Änne", "ben"))},
        ),
    }
    for words, (table, how) in refused.items():
        with pytest.raises(RatingsError) as refusal:
            read(table, **how)
        assert str(refusal.value).endswith(words)
        assert "--" not in str(refusal.value)


def test_a_frame_whose_items_are_its_index_says_how_to_bring_them_back():
    frame = pd.DataFrame(
        [["i1", "ana", "x"], ["i1", "ben", "y"]], columns=["item", "rater", "label"]
    )
    for inside, words in ((["item"], "'item'"), (["item", "rater"], "s ['item', 'rater']")):
        with pytest.raises(RatingsError, match=r"Call frame\.reset_index\(\)") as error:
            read(frame.set_index(inside))
        assert f"column{' ' * (words[0] != 's')}{words} in the index" in str(error.value)
    assert read(frame.set_index("item").reset_index()).n_items == 1


def test_a_header_with_several_empty_cells_may_be_a_title_above_the_header(
    saved, refusal, tmp_path
):
    path = saved(tmp_path, "round.csv", "Round 3,,\nitem,rater,label\ni1,ana,yes\n")
    assert refusal(path) == (
        "round.csv: row 1: found column '' twice; expected each once. Rename or remove one, or "
        "name the row of the header (--header-row) if it is a later one."
    )
