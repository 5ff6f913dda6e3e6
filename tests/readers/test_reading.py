"""One way in: a path or a DataFrame, read by a registered reader."""

import sys
from dataclasses import replace
from zipfile import ZipFile

import pandas as pd
import pytest

from agreement_pipeline.errors import MissingExtraError, RatingsError
from agreement_pipeline.ratings import TEXT, Scale
from agreement_pipeline.readers import READERS, Columns, Limits, Rules, read
from agreement_pipeline.readers.exports import register

ROWS = [("i1", "ana", "yes"), ("i1", "ben", "no"), ("i2", "ana", "no"), ("i2", "ben", None)]
FRAME = pd.DataFrame(ROWS, columns=["item", "rater", "label"])


def test_a_frame_gives_the_ratings_of_the_file_that_it_is_written_to(tmp_path):
    FRAME.to_csv(tmp_path / "r.csv", index=False)
    of_file = read(tmp_path / "r.csv")
    assert read(str(tmp_path / "r.csv")).digest == of_file.digest == read(FRAME).digest


@pytest.mark.parametrize(
    "missing", [None, float("nan"), pd.NA, pd.NaT], ids=["None", "NaN", "NA", "NaT"]
)
def test_what_pandas_calls_missing_is_no_rating(missing):
    labels = pd.Series(["yes", "no", "no", missing], dtype=object)
    assert len(read(FRAME.assign(label=labels))) == 3


@pytest.mark.parametrize("name", ["r.csv", "r.parquet", "r.jsonl"])
def test_rows_of_raters_without_a_label_are_counted_as_in_exports(tmp_path, name):
    """The item i3 is there without a rater, and who left out a cell of a wide table is unknown."""
    rows = [*ROWS, ("i3", None, None), ("i4", "ana", None), ("i4", "gus", "no")]
    frame = pd.DataFrame(rows, columns=["item", "rater", "label"])
    path = tmp_path / name
    {
        "r.csv": lambda: frame.to_csv(path, index=False),
        "r.parquet": lambda: frame.to_parquet(path, index=False),
        "r.jsonl": lambda: frame.to_json(path, orient="records", lines=True),
    }[name]()
    assert (
        read(path).origin.left_out_in_words == read(frame).origin.left_out_in_words == "no answer 2"
    )
    found = read(path, rules=Rules(exclude_raters=("gus",)))
    assert dict(found.origin.left_out) == {"excluded rater": 1, "no answer": 2}
    wide = pd.DataFrame({"item": ["p1", "p2"], "ana": ["yes", None], "ben": ["no", "yes"]})
    assert read(wide, Columns(raters=("ana", "ben")), layout="wide").origin.left_out_in_words == ""


@pytest.mark.parametrize("kind", ["category", "string", "object"])
def test_a_frame_is_read_whatever_its_columns_are_kept_as(kind):
    assert read(FRAME.astype(kind)).digest == read(FRAME).digest


def test_numbers_of_a_frame_stay_numbers_and_an_index_does_not_matter():
    frame = FRAME.assign(label=[1.5, 2.0, 3.0, float("nan")]).set_index(pd.Index(list("wxyz")))
    assert read(frame, level="interval").to_pandas()["label"].tolist() == [1.5, 2.0, 3.0]


def test_a_frame_is_not_changed():
    frame = FRAME.copy()
    read(frame)
    pd.testing.assert_frame_equal(frame, FRAME)


def test_a_wide_frame_and_the_columns_of_a_frame_are_named_like_those_of_a_file():
    wide = pd.DataFrame({"post": ["p1", "p2"], 1: ["yes", "no"], 2: ["yes", "yes"]})
    found = read(wide, Columns(item="post", raters=("1", "2")), layout="wide")
    assert found.raters == ("1", "2")


@pytest.mark.parametrize(
    ("frame", "words"),
    [
        (FRAME.iloc[:0], "DataFrame: found no row of data; expected at least one rating. Check"),
        (
            pd.concat([FRAME, FRAME["label"]], axis=1),
            "DataFrame: found column 'label' twice; expected each once. Rename or remove one.",
        ),
        (FRAME.assign(label=["yes", "no", "eh", None]), "DataFrame: row 3, column 'label': found"),
        (FRAME.assign(label=[[["yes"]], "no", "no", None]), "column 'label': found [['yes']]; ex"),
        (FRAME.drop(columns="rater"), "DataFrame: found no column 'rater' among ['item', 'la"),
    ],
)
def test_a_frame_is_refused_with_its_place(frame, words, refusal):
    assert words in refusal(frame, scale=Scale(("no", "yes")))


def test_the_limits_hold_for_a_frame(refusal):
    assert "DataFrame: found 4 rows; expected at most 3. " in refusal(FRAME, limits=Limits(rows=3))
    assert "DataFrame: found 3 columns; expected at most 2. " in refusal(
        FRAME, limits=Limits(columns=2)
    )


@pytest.mark.parametrize("kind", [object, TEXT])
def test_classifiers_may_be_chosen_among_the_raters_as_they_are_written(kind):
    asked = []

    def last(raters, source):
        asked.append((sorted(raters), source))
        return [str(max(raters))]

    frame = FRAME.assign(rater=["ana", "ben", "ana", "cat"], label=["yes", "no", "no", "no"])
    frame = frame.astype({"rater": kind})
    assert read(frame, classifiers=last).classifiers == ("cat",)
    assert asked == [(["ana", "ben", "cat"], "DataFrame")]


@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
@pytest.mark.parametrize("name", ["round.csv", "round.tsv", "round.txt", "round"])
def test_a_table_is_found_by_its_content_and_so_is_its_separator(tmp_path, name, separator):
    FRAME.to_csv(tmp_path / name, sep=separator, index=False)
    assert read(tmp_path / name).digest == read(FRAME).digest


@pytest.mark.parametrize("name", ["round", "round.json"])
def test_lines_of_json_and_parquet_are_found_by_their_content(tmp_path, name):
    FRAME.to_json(tmp_path / name, orient="records", lines=True)
    assert read(tmp_path / name).digest == read(FRAME).digest
    FRAME.to_parquet(tmp_path / name)
    assert read(tmp_path / name).digest == read(FRAME).digest


def test_a_workbook_is_read_if_its_library_is_installed(tmp_path):
    pytest.importorskip("openpyxl")
    FRAME.to_excel(tmp_path / "round.xlsx", index=False)
    assert read(tmp_path / "round.xlsx").digest == read(FRAME).digest


def test_a_column_of_a_workbook_without_a_name_moves_no_other(tmp_path):
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    book.active.append([None, *FRAME.columns])
    for number, cells in enumerate(FRAME.itertuples(index=False)):
        book.active.append([f"note {number}", *cells])
    book.save(tmp_path / "round.xlsx")
    assert read(tmp_path / "round.xlsx").digest == read(FRAME).digest


def test_rows_of_a_workbook_may_end_before_the_last_column(tmp_path):
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook(write_only=True)
    sheet = book.create_sheet()
    sheet.append([*FRAME.columns, "text"])
    for cells in FRAME.itertuples(index=False):
        sheet.append([*cells])
    book.save(tmp_path / "round.xlsx")
    assert read(tmp_path / "round.xlsx").digest == read(FRAME.assign(text=None)).digest


def test_a_workbook_without_its_library_says_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    with ZipFile(tmp_path / "round.xlsx", "w") as packed:
        packed.writestr("[Content_Types].xml", "<Types/>")
    with pytest.raises(MissingExtraError, match=r"Install agreement-pipeline\[excel\]"):
        read(tmp_path / "round.xlsx")


def test_two_readers_of_one_name_are_refused_and_so_is_an_unknown_capability():
    table = READERS["table"]
    with pytest.raises(ValueError, match="expected a name of its own"):
        register(table)
    with pytest.raises(ValueError, match=r"reader x: found \['smells'\]; expected some of"):
        register(replace(table, name="x", shows=frozenset({"smells"})))
    assert "x" not in READERS


def test_a_reader_may_be_named(tmp_path):
    FRAME.to_csv(tmp_path / "round.csv", index=False)
    table, prodigy = Rules(reader="table"), Rules(reader="prodigi")
    assert read(tmp_path / "round.csv", rules=table).digest == read(FRAME).digest
    with pytest.raises(RatingsError, match="reader: found 'prodigi'; expected one of"):
        read(tmp_path / "round.csv", rules=prodigy)


RULES_AND_WORDS = {
    "a field that is empty": (
        {"of": [None] * 4},
        Rules(where={"of": ("x",)}),
        "DataFrame: field 'of': found nothing in any row; expected ['x'], as `where` says",
    ),
    "all raters left out": (
        {},
        Rules(exclude_raters=("ana", "ben")),
        "column 'label': found no label in any row (left out: excluded rater 4); expected at least "
        "one rating. Check that the export is complete, and what is left out.",
    ),
    "its own repetition": (
        {"of": ["i1", "i1", None, None]},
        Rules(replicate_of="of"),
        "DataFrame: field 'of': found item 'i1' as its own repetition; expected a first one",
    ),
    "a circle beyond the first": (
        {"item": list("abca"), "of": list("bcbb")},
        Rules(replicate_of="of"),
        "field 'of': found items ['b', 'c'] that repeat each other in a circle; expected a first",
    ),
    "three originals": (
        {"item": ["x", "x", "x", "y"], "of": ["a", "b", "c", None]},
        Rules(replicate_of="of"),
        "field 'of': found item 'x' as a repetition of several items, ['a', 'b', 'c']; expected o",
    ),
    "no content": (
        {"of": [None] * 4},
        Rules(replicates_share="of"),
        "DataFrame: field 'of': found nothing in any row; expected the content of the items. Cor",
    ),
    "rows of no round": (
        {"round": ["w1", "w1", None, "w1"]},
        Rules(),
        "DataFrame: column 'round': found rows without a round beside round 'w1'; expected a round",
    ),
    "one rating alone": (
        {"label": ["yes", None, None, "no"]},
        Rules(),
        "found no item with ratings by two raters (2 ratings of 2 items by 2 raters); expected",
    ),
}


@pytest.mark.parametrize(("said", "rules", "words"), RULES_AND_WORDS.values(), ids=RULES_AND_WORDS)
def test_a_rule_that_cannot_hold_says_of_which_field_and_rows(refusal, said, rules, words):
    assert words in refusal(FRAME.assign(**said), rules=rules)


def test_a_wide_table_without_a_label_is_refused_without_a_count_of_cells(refusal):
    wide = pd.DataFrame({"item": ["i1", "i2", "i3"], "ana": None, "ben": None})
    words = refusal(wide, Columns(raters=("ana", "ben")), layout="wide")
    assert "the columns of raters: found no label in any row; expected" in words


def test_ratings_by_models_alone_are_by_0_raters(refusal):
    words = refusal(FRAME, classifiers=("ana", "ben"))
    assert "found ratings by 0 raters, [], and the classifiers ['ana', 'ben']; expected" in words
