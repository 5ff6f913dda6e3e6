"""Columns under the names the file gives them, in long tables and in wide ones."""

import pytest

from agreement_pipeline.errors import ProjectError
from agreement_pipeline.ratings import Scale
from agreement_pipeline.readers import Columns, read_ratings, read_table

GOOD = "item,rater,label\ni1,ana,yes\ni1,ben,no\ni2,ana,no\n"
YES_NO = Scale(("no", "yes"))


def test_columns_are_read_under_the_names_the_file_gives_them(saved, rows_of, tmp_path):
    path = saved(tmp_path, "round.csv", "post,worker,answer,when,sure\ni1,ana,yes,2026-01-05,0.9\n")
    frame = read_table(
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
        "item,rater,label,replicate,confidence,timestamp,text,cluster,shoe_size\ni1,ana,yes,2,0.5,now,hello,d1,44\n",
    )
    frame = read_table(path)
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
    assert "gold" not in read_table(path)
    assert "gold" not in read_ratings(path).contents
    assert rows_of(read_table(path, Columns(gold="gold")), "item", "gold") == [
        ("i1", "yes"),
        ("i1", "yes"),
        ("i2", "no"),
        ("i2", "no"),
    ]
    assert read_ratings(path, Columns(gold="gold")).contents["gold"].to_dict() == {
        "i1": True,
        "i2": False,
    }


def test_a_column_that_was_given_another_part_is_not_taken_under_its_own_name(saved, tmp_path):
    frame = read_table(
        saved(tmp_path, "round.csv", "text,rater,label\nhello,ana,yes\n"), Columns(item="text")
    )
    assert sorted(frame.columns) == ["item", "label", "rater"]


def test_replicates_are_read_as_occurrences(saved, rows_of, tmp_path):
    ratings = read_ratings(
        saved(
            tmp_path,
            "round.csv",
            "item,rater,label,replicate\ni1,ana,yes,1\ni1,ana,no,2\ni1,ben,no,1\n",
        )
    )
    assert rows_of(ratings.table, "rater", "occurrence", "label") == [
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
    assert words.startswith("round.csv: columns ['")
    assert f"not found among {header.split(',')!r}; item, rater, label" in words
    assert words.endswith(f"Did you mean {meant}?")


def test_a_missing_column_that_nothing_resembles_is_named_with_those_there_are(
    saved, refusal, tmp_path
):
    words = refusal(saved(tmp_path, "round.csv", "specimen_7,Q,Z\na,b,c\n"))
    assert "columns ['item', 'rater', 'label'] not found among ['specimen_7', 'Q', 'Z']" in words
    assert words.endswith(
        "Say what the columns are called, or that the layout is wide if each rater has one."
    )


@pytest.mark.parametrize(
    "column", ["answer", "annotation_id", "label_id", "Annotation-ID", "labelId"]
)
def test_a_workflows_status_or_an_id_is_never_taken_for_the_label(saved, refusal, tmp_path, column):
    words = refusal(saved(tmp_path, "round.csv", f"item,rater,{column}\na,b,c\n"))
    assert words.endswith(
        "Say what the columns are called, or that the layout is wide if each rater has one."
    )


def test_a_named_further_column_must_be_there(saved, refusal, tmp_path):
    words = refusal(saved(tmp_path, "round.csv", GOOD), Columns(occurrence="nth"))
    assert "columns ['nth'] not found among ['item', 'rater', 'label']" in words


def test_columns_come_from_plain_data():
    assert Columns.from_mapping({"item": "post", "raters": ["a", "b"]}) == Columns(
        item="post", raters=("a", "b")
    )


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (
            {"items": "post"},
            r"project.yaml:4: unknown key \['items'\] found; item, rater, .* Did you mean 'item'\?",
        ),
        ({"zzz": "post"}, r"unknown key \['zzz'\] found.*nothing is ignored"),
        (["item"], "list found; a mapping such as item: post_id is required"),
        ({"item": 3}, "item 3 found; a column name is required"),
        ({"item": ""}, "item '' found; a column name is required"),
        ({"raters": "ana"}, "raters 'ana' found; a list of column names is required"),
        (
            {"item": "post", "rater": "post"},
            r"\['post'\] found for two of them; one column each is required",
        ),
    ],
)
def test_columns_that_cannot_be_are_refused(data, words):
    with pytest.raises(ProjectError, match=words):
        Columns.from_mapping(data, "project.yaml:4")


ANA_BEN = Columns(raters=("ana", "ben"))
SPECIMENS = Columns(item="specimen", raters=("T", "Ref-1", "Ref-2"))
WIDE = "specimen,T,Ref-1,Ref-2\ns1,RE,RE,BL\ns2,BL,,NR\n"


def test_a_wide_table_gives_a_row_a_rating_row_by_row_of_the_file(saved, rows_of, tmp_path):
    frame = read_table(saved(tmp_path, "wide.csv", WIDE), SPECIMENS, layout="wide")
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
    ratings = read_ratings(
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
    ratings = read_ratings(path, ANA_BEN, layout="wide")
    assert ratings.raters == ("ana", "ben")
    assert ratings.contents.loc["i1", "text"] == "hello"


def test_a_wide_label_that_is_unknown_is_named_with_its_row_and_its_raters_column(
    saved, refusal, tmp_path
):
    words = refusal(
        saved(tmp_path, "wide.csv", WIDE), SPECIMENS, layout="wide", scale=Scale(("RE", "NR"))
    )
    assert words.startswith(
        "wide.csv: row 2 column 'Ref-2', row 3 column 'T': label ['BL'] found; one of ['RE', 'NR'] is required."
    )


def test_many_bad_cells_of_a_wide_table_are_counted(saved, refusal, tmp_path):
    path = saved(tmp_path, "wide.csv", "item,ana,ben\n" + "".join(f"i{n},x,x\n" for n in range(4)))
    assert "row 4 column 'ana', … 3 more: label ['x'] found" in refusal(
        path, ANA_BEN, layout="wide", scale=YES_NO
    )


def test_an_item_on_two_rows_of_a_wide_table_is_refused_with_both(saved, refusal, tmp_path):
    words = refusal(
        saved(tmp_path, "wide.csv", "item,ana,ben\ni1,yes,no\ni2,no,no\ni1,no,no\n"),
        ANA_BEN,
        layout="wide",
    )
    assert words.startswith(
        "wide.csv: row 2 column 'ana', row 4 column 'ana': rater 'ana' labelled item 'i1' 2 times"
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
            "wide.csv: columns ['chloe'] not found among ['item', 'ana', 'ben']; a named column for each rater",
        ),
        (
            "item,date,ana maria,ben,,final_label",
            Columns(),
            "wide.csv: no column named as a rater's; the columns of raters are required by name in a wide table, since others hold dates or settled labels. "
            'Name those of these that are: columns: {raters: ["date", "ana maria", "ben", "final_label"]} in a project, '
            "or --raters=date --raters='ana maria' --raters=ben --raters=final_label.",
        ),
        ("item,text", Columns(), "wide.csv: no column of a rater found among ['item', 'text']"),
        (
            "item,,ana",
            Columns(raters=("", "ana")),
            "wide.csv: a rater's column without a name found; a named column for each rater is required",
        ),
        (
            "unit,ana,ben",
            ANA_BEN,
            "wide.csv: columns ['item'] not found among ['unit', 'ana', 'ben']; item and every",
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
        match=r"raters \['ana'\] found in the layout long; they belong to a wide table",
    ):
        read_table(saved(tmp_path, "round.csv", GOOD), Columns(raters=("ana",)))


def test_of_very_many_columns_that_may_be_raters_some_are_shown(saved, refusal, tmp_path):
    words = refusal(
        saved(tmp_path, "wide.csv", f"item,{','.join(f'c{n}' for n in range(25))}\n{'a,' * 25}a\n"),
        layout="wide",
    )
    assert (
        'Name those of these that are (5 more columns are not shown): columns: {raters: ["c0", '
        in words
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
        match=f"columns: {found} found in the layout wide; they belong to a long table",
    ):
        read_table(saved(tmp_path, "wide.csv", "item,ana,ben\ni1,yes,no\n"), columns, layout="wide")
