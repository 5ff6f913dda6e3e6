"""Columns under the names the file gives them, in long tables and in wide ones."""

import pytest

from agreement_pipeline.errors import ProjectError
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
    ("header", "meant"),
    [
        ("item,annotator,label", "rater: 'annotator'"),
        ("item,worker_id,label", "rater: 'worker_id'"),
        ("unit,rater,label", "item: 'unit'"),
        ("Task-ID,rater,label", "item: 'Task-ID'"),
        ("item,rater,value", "label: 'value'"),
        ("item,rater, Category ", "label: ' Category '"),
        ("item,rater,lable", "label: 'lable'"),
        ("item,annotation_id,rating", "label: 'rating'"),
        ("Item,Rater,Label", "item: 'Item', rater: 'Rater', label: 'Label'"),
    ],
)
def test_a_missing_column_is_named_with_those_there_are_and_the_one_that_was_meant(
    saved, refusal, tmp_path, header, meant
):
    words = refusal(saved(tmp_path, "round.csv", f"{header}\na,b,c\n"))
    missing = {"item", "rater", "label"} - set(header.split(","))
    noun = "column '" if len(missing) == 1 else "columns ['"
    assert words.startswith(f"round.csv: found no {noun}")
    assert f" among {header.split(',')!r}; expected item, rater, label" in words
    assert words.endswith(f"Did you mean {meant}?")


def test_a_missing_column_that_nothing_resembles_is_named_with_those_there_are(
    saved, refusal, tmp_path
):
    words = refusal(saved(tmp_path, "round.csv", "specimen_7,Q,Z\na,b,c\n"))
    assert "found no columns ['item', 'rater', 'label'] among ['specimen_7', 'Q', 'Z']" in words
    assert words.endswith(HOW)


@pytest.mark.parametrize(
    "column", ["answer", "annotation_id", "label_id", "Annotation-ID", "labelId"]
)
def test_a_workflows_status_or_an_id_is_never_taken_for_the_label(saved, refusal, tmp_path, column):
    words = refusal(saved(tmp_path, "round.csv", f"item,rater,{column}\na,b,c\n"))
    assert words.endswith(HOW)


def test_a_named_further_column_must_be_there(saved, refusal, tmp_path):
    words = refusal(saved(tmp_path, "round.csv", GOOD), Columns(occurrence="nth"))
    assert "found no column 'nth' among ['item', 'rater', 'label']" in words


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


def test_a_wide_label_that_is_unknown_is_named_with_its_row_and_its_raters_column(
    saved, refusal, tmp_path
):
    words = refusal(
        saved(tmp_path, "wide.csv", WIDE), SPECIMENS, layout="wide", scale=Scale(("RE", "NR"))
    )
    assert words.startswith(
        "wide.csv: row 2 column 'Ref-2', row 3 column 'T': found label 'BL'; expected one of "
        "['RE', 'NR']."
    )


def test_many_bad_cells_of_a_wide_table_are_counted(saved, refusal, tmp_path):
    path = saved(tmp_path, "wide.csv", "item,ana,ben\n" + "".join(f"i{n},x,x\n" for n in range(4)))
    assert "row 4 column 'ana', … 3 more: found label 'x'" in refusal(
        path, ANA_BEN, layout="wide", scale=YES_NO
    )


def test_an_item_on_two_rows_of_a_wide_table_is_refused_with_both(saved, refusal, tmp_path):
    words = refusal(
        saved(tmp_path, "wide.csv", "item,ana,ben\ni1,yes,no\ni2,no,no\ni1,no,no\n"),
        ANA_BEN,
        layout="wide",
    )
    assert words.startswith(
        "wide.csv: row 2 column 'ana', row 4 column 'ana': found 2 labels of rater 'ana' for item "
        "'i1'"
    )


def test_a_wide_row_without_its_item_is_named_once(saved, refusal, tmp_path):
    assert refusal(
        saved(tmp_path, "wide.csv", "item,ana,ben\n,yes,no\n"), ANA_BEN, layout="wide"
    ).startswith("wide.csv: row 2, column 'item'")


@pytest.mark.parametrize(
    ("header", "columns", "words"),
    [
        (
            "item,ana,ben",
            Columns(raters=("ana", "chloe")),
            "wide.csv: found no column 'chloe' among ['item', 'ana', 'ben']; expected a named "
            "column for each rater",
        ),
        (
            "item,date,ana maria,ben,,final_label",
            Columns(),
            "wide.csv: found no column that is named as a rater's; expected the names of the "
            "raters' "
            "columns in a wide table, since other columns can hold dates or settled labels. "
            "Name the raters among these: columns: "
            '{raters: ["date", "ana maria", "ben", "final_label"]} in a project, '
            "or --raters=date --raters='ana maria' --raters=ben --raters=final_label.",
        ),
        ("item,text", Columns(), "wide.csv: found no column of a rater among ['item', 'text']"),
        (
            "item,,ana",
            Columns(raters=("", "ana")),
            "wide.csv: found a rater's column without a name; expected a named column for each "
            "rater",
        ),
        (
            "unit,ana,ben",
            ANA_BEN,
            "wide.csv: found no column 'item' among ['unit', 'ana', 'ben']; expected item and "
            "every",
        ),
    ],
)
def test_a_wide_table_without_its_columns_is_refused(
    saved, refusal, tmp_path, header, columns, words
):
    cells = ",".join("a" for _ in header.split(","))
    assert words in refusal(
        saved(tmp_path, "wide.csv", f"{header}\n{cells}\n"), columns, layout="wide"
    )


def test_raters_named_for_a_long_table_are_refused(saved, tmp_path):
    with pytest.raises(
        ProjectError,
        match=r"found raters \['ana'\] in the layout long; expected raters for a wide table only",
    ):
        frame_of(saved(tmp_path, "round.csv", GOOD), Columns(raters=("ana",)))


def test_of_very_many_columns_that_may_be_raters_some_are_shown(saved, refusal, tmp_path):
    words = refusal(
        saved(tmp_path, "wide.csv", f"item,{','.join(f'c{n}' for n in range(25))}\n{'a,' * 25}a\n"),
        layout="wide",
    )
    assert (
        'Name the raters among these (5 more columns not shown): columns: {raters: ["c0", ' in words
    )
    assert words.endswith("--raters=c18 --raters=c19.")


@pytest.mark.parametrize(
    ("columns", "found"),
    [
        (Columns(rater="who", raters=("ana", "ben")), "rater 'who'"),
        (Columns(label="answer", raters=("ana", "ben")), "label 'answer'"),
        (Columns(rater="who", label="answer"), "rater 'who' and label 'answer'"),
    ],
)
def test_a_column_of_raters_or_of_labels_named_for_a_wide_table_is_refused(
    saved, tmp_path, columns, found
):
    with pytest.raises(
        ProjectError,
        match=f"columns: found {found} in the layout wide; expected them for a long table only",
    ):
        frame_of(saved(tmp_path, "wide.csv", "item,ana,ben\ni1,yes,no\n"), columns, layout="wide")
