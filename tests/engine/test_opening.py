"""What is read is a table of a session: a file, several files, a DataFrame. Errors name rows."""

import json
import re

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from agreement_pipeline import read_ratings
from agreement_pipeline.errors import RatingsError
from agreement_pipeline.ratings import Scale
from agreement_pipeline.readers import Columns, Limits, Rules, read
from tests.counting.tables import PLAIN, Made, ratings_of

NUMBERS = ratings_of(labels=(1.5, 2.5))
OTHERWISE = PLAIN.assign(label="yes").where(PLAIN["label"] != "yes", PLAIN.assign(label="no"))


def with_cell(frame, row, column, cell):
    """The frame with one cell changed."""
    changed = frame.astype({column: object}) if column in frame else frame.assign(**{column: None})
    changed = changed.reset_index(drop=True)
    changed.loc[row, column] = cell
    return changed


WRONG = {
    "no item": (with_cell(PLAIN, 5, "item", None), {}),
    "a blank item": (with_cell(PLAIN, 5, "item", " \u3000"), {}),
    "no rater": (with_cell(PLAIN, 7, "rater", None), {}),
    "a blank rater": (with_cell(PLAIN, 7, "rater", "\t"), {}),
    "an unknown label": (with_cell(PLAIN, 9, "label", "nein"), {"scale": Scale(("no", "yes"))}),
    "a label that is no number": (with_cell(PLAIN, 9, "label", "1"), {"level": "interval"}),
    "a negative ratio": (
        with_cell(NUMBERS, 3, "label", -1.0),
        {"level": "ratio", "scale": Scale(None, "ratio")},
    ),
    "two labels": (pd.concat([PLAIN, OTHERWISE.iloc[[4, 11]]]), {}),
    "two labels of one occurrence": (
        pd.concat([PLAIN.assign(occurrence=2), OTHERWISE.iloc[[4]].assign(occurrence=2)]),
        {},
    ),
    "no occurrence": (with_cell(PLAIN.assign(occurrence=1), 6, "occurrence", None), {}),
    "an occurrence of zero": (with_cell(PLAIN.assign(occurrence=1), 6, "occurrence", 0), {}),
    "a confidence above one": (with_cell(PLAIN.assign(confidence=0.5), 8, "confidence", 1.5), {}),
    "a flag that is none": (
        with_cell(PLAIN.assign(known="no"), 2, "known", "perhaps"),
        {"columns": Columns(gold="known")},
    ),
    "an item in two clusters": (
        with_cell(PLAIN.assign(cluster=PLAIN["item"]), 2, "cluster", "other"),
        {},
    ),
    "an item without a cluster": (
        with_cell(PLAIN.assign(cluster=PLAIN["item"]), 2, "cluster", None),
        {},
    ),
    "clusters that print alike": (
        with_cell(PLAIN.assign(cluster="d1", item=range(len(PLAIN))), 2, "cluster", "D1"),
        {},
    ),
    "two texts of an item": (with_cell(PLAIN.assign(text="said"), 2, "text", "other"), {}),
    "a number in two spellings": (ratings_of(labels=("1", "1.0", "none")), {}),
    "an unknown label among spellings": (
        with_cell(ratings_of(labels=("1.0", "2")), 9, "label", "3.0"),
        {"scale": Scale(("1", "2"))},
    ),
    "numbers that are all tiny": (
        ratings_of(labels=(1e-160, 3e-160)),
        {"level": "interval"},
    ),
    "many numbers that are all tiny": (
        PLAIN.assign(label=[1e-160 * (at + 1) for at in range(len(PLAIN))]),
        {"level": "ratio"},
    ),
    "one label": (PLAIN.assign(label="no"), {}),
    "one rater": (PLAIN[PLAIN["rater"] == "r1"], {}),
    "items of one rater each": (PLAIN.drop_duplicates("item"), {}),
    "an unknown classifier": (PLAIN, {"classifiers": ["model"]}),
    "several rounds": (PLAIN.assign(round=PLAIN["rater"]), {}),
    "an unknown round": (PLAIN.assign(round="r1"), {"round_name": "r2"}),
    "a round of a table without rounds": (PLAIN, {"round_name": "r2"}),
    "no label at all": (PLAIN.assign(label=pd.Series([None] * len(PLAIN), dtype="str")), {}),
    "no column of labels": (PLAIN.rename(columns={"label": "said"}), {}),
    "an item with a name that is too long": (
        with_cell(PLAIN, 12, "item", "i" * 1_200),
        {},
    ),
    "too many labels": (ratings_of(labels=range(30)), {"limits": Limits(categories=20)}),
}

WORDS = {
    "no item": (
        "row <6>, column 'item': found no item; expected one in every row. Fill it in or drop"
        " the row."
    ),
    "a blank item": (
        "row <6>, column 'item': found no item; expected one in every row. Fill it in or drop"
        " the row."
    ),
    "no rater": (
        "row <8>, column 'rater': found no rater; expected one in every row. Fill it in or "
        "drop the row."
    ),
    "a blank rater": (
        "row <8>, column 'rater': found no rater; expected one in every row. Fill it in or "
        "drop the row."
    ),
    "an unknown label": (
        "rows [<2>, <3>, <8>, <10>, <12>, … 59 more], column 'label': found labels ['maybe', "
        "'nein']; expected one of ['no', 'yes']. Correct the label or add it to the scale."
    ),
    "a label that is no number": (
        "rows [<1>, <2>, <3>, <4>, <5>, … 192 more], column 'label': found labels ['no', "
        "'maybe', 'maybe', 'yes', 'no', … 192 more]; expected a finite number on the interval"
        " level, none beyond 1e+150 in size. Correct the label, or use level nominal or "
        "ordinal for names."
    ),
    "a negative ratio": (
        "row <4>, column 'label': found label «-1.0»; expected a finite non-negative number on "
        "the ratio level, none beyond 1e+150 in size. Correct the label, or use level nominal"
        " or ordinal for names."
    ),
    "two labels": (
        "rows [<5>, <199>], columns ['item', 'rater']: found 2 labels of rater 'r2' for item "
        "'i004' as occurrence 1 (['no', 'yes'], 4 such rows in all); expected one label for "
        "each (item, rater, occurrence). Say which one counts "
        "(--duplicates first or last; duplicates: first in a project), name the column that "
        "numbers repetitions (--occurrence COLUMN; columns: {occurrence: COLUMN} in a project), "
        "or give each round a table of its own."
    ),
    "two labels of one occurrence": (
        "rows [<5>, <199>], columns ['item', 'rater']: found 2 labels of rater 'r2' for item "
        "'i004' as occurrence 2 (['no', 'yes'], 2 such rows in all); expected one label for "
        "each (item, rater, occurrence). Say which one counts "
        "(--duplicates first or last; duplicates: first in a project), name the column that "
        "numbers repetitions (--occurrence COLUMN; columns: {occurrence: COLUMN} in a project), "
        "or give each round a table of its own."
    ),
    "no occurrence": (
        "row <7>, column 'occurrence': found nothing; expected a whole number from 1 to "
        "2147483647. Number a rater's meetings with an item from 1."
    ),
    "an occurrence of zero": (
        "row <7>, column 'occurrence': found [«0»]; expected a whole number from 1 to "
        "2147483647. Number a rater's meetings with an item from 1."
    ),
    "a confidence above one": (
        "row <9>, column 'confidence': found [«1.5»]; expected a number from 0 to 1, or "
        "nothing. Divide by the highest confidence that could be stated, or leave the column "
        "out."
    ),
    "a flag that is none": (
        "row <3>, column 'known': found ['perhaps']; expected yes or no (true, false, 1, 0). "
        "Correct it."
    ),
    "an item in two clusters": (
        "rows [<3>, <30>], column 'cluster': found item 'i044' in clusters ['other', 'i044'];"
        " expected one of each item. Correct the cluster, or give each its own item."
    ),
    "an item without a cluster": (
        "row <3>, column 'cluster': found no cluster; expected one for every item. Fill it "
        "in: an item that belongs to no other is a cluster of its own. Or leave the column "
        "out, if no items belong together."
    ),
    "clusters that print alike": (
        "rows [<1>, <2>, <3>, <4>, <5>, … 193 more], column 'cluster': found clusters 'D1' "
        "and 'd1', which print alike; expected names that do not. Write the cluster in one "
        "way, or rename one of them."
    ),
    "two texts of an item": (
        "rows [<3>, <30>], column 'text': found 2 different contents of item 'i044'; expected"
        " one. Give each content its own item."
    ),
    "a number in two spellings": (
        "column 'label': scale: found labels ['1', '1.0'], which are one label in several "
        "spellings; expected one spelling. Write it in one way, or name the categories "
        "(--categories 1,2,other). Then each spelling is the category that it means."
    ),
    "an unknown label among spellings": (
        "row <10>, column 'label': found label '3.0'; expected one of ['1', '2']. Correct the"
        " label or add it to the scale."
    ),
    "numbers that are all tiny": (
        "column 'label': found no number beyond 3e-160 in size; expected one of at least "
        "1e-100. Multiply all by one number: agreement does not depend on the unit."
    ),
    "many numbers that are all tiny": (
        "column 'label': found no number beyond 1.98e-158 in size; expected one of at least "
        "1e-100. Multiply all by one number: agreement does not depend on the unit."
    ),
    "one label": (
        "column 'label': scale: found 1 category, ['no']; expected at least two, since "
        "agreement on the only possible label says nothing. Name as categories every label "
        "that raters could have chosen (--categories yes,no, or "
        "scale=Scale(('yes', 'no')) of read_ratings)."
    ),
    "one rater": (
        "found ratings by 1 rater, ['r1']; expected two raters or more, since agreement "
        "compares them. Add the other raters' ratings, or name the column that tells the "
        "raters apart."
    ),
    "items of one rater each": (
        "found no item with ratings by two raters (59 ratings of 59 items by 4 raters); "
        "expected at least one. Let raters overlap on some items, and check that their "
        "exports name the items alike."
    ),
    "an unknown classifier": (
        "found no rating by classifier 'model'; expected some by every named classifier. "
        "Correct the classifiers' names."
    ),
    "several rounds": (
        "column 'round': found 4 rounds, ['r0', 'r3', 'r1', 'r2']; expected one for ratings "
        "that are read as one. Choose one (--of-round NAME, or columns: {round: …} in a "
        "project for a round each), or read them together (--all-rounds, or all_rounds: "
        "true)."
    ),
    "an unknown round": (
        "column 'round': found no round 'r2' among ['r1']; expected one of these. Correct its name."
    ),
    "a round of a table without rounds": (
        "column 'round': found no round in any row; expected rows of round 'r2'. Name the "
        "column of rounds, or no round."
    ),
    "no label at all": (
        "column 'label': found no label in any row; expected at least one rating. Check that "
        "the export is complete."
    ),
    "no column of labels": (
        "found no column 'label' among ['item', 'rater', 'said']; expected item, rater, label"
        " and every column that you name. Name the columns (--item, --rater, --label), or choose"
        " the layout wide (--layout wide) if each rater has one."
    ),
    "an item with a name that is too long": (
        "row <13>, column 'item': found 1200 characters; expected at most 1000. Check that "
        "the export is the right one, or raise the limit name_length."
    ),
    "too many labels": (
        "column 'label': found 30 different labels; expected at most 20. Check that the "
        "export is the right one, or raise the limit categories."
    ),
}
"""What is said of each in Parquet. CSV has a header, so <6> is row 7 there. All its cells are text,
so «1.5» is quoted there.
"""


def words_of(name, form):
    """What is said of a table of this form."""
    more, mark = (1, "'") if form == "csv" else (0, "")
    said = re.sub(r"<(\d+)>", lambda found: str(int(found[1]) + more), WORDS[name])
    return f"table.{form}: " + re.sub("[«»]", mark, said)


@pytest.mark.parametrize("form", ["parquet", "csv"])
@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_is_refused_with_its_rows(name, form, tmp_path):
    frame, reading = WRONG[name]
    path = tmp_path / f"table.{form}"
    if form == "csv":
        frame.to_csv(path, index=False)
    else:
        mixed = [each for each in frame if frame[each].map(type).nunique() > 2]
        frame.astype(dict.fromkeys(mixed, str)).to_parquet(path, index=False)
    with pytest.raises(RatingsError) as refused:
        read(path, **reading)
    assert str(refused.value) == words_of(name, form)


@pytest.mark.parametrize("form", ["parquet", "jsonl", "DataFrame"])
@pytest.mark.parametrize("odd", [["a", "b|c"], ["a", ""], ["a", None]])
def test_a_list_with_an_odd_member_is_refused_everywhere(odd, form, tmp_path):
    made = Made(ratings_of(labels=(["a"], ["b"], odd)), form)
    refused = (
        r"row \d+, .*expected one label, a list of labels \(none empty, none with \|\), or null"
    )
    with pytest.raises(RatingsError, match=refused):
        read(made.source(tmp_path))


def test_a_folder_is_one_table_and_an_error_names_the_file(tmp_path):
    PLAIN.iloc[:50].to_parquet(tmp_path / "a.parquet")
    PLAIN.iloc[50:].to_parquet(tmp_path / "b.parquet")
    assert read(tmp_path).digest == read(PLAIN).digest
    with_cell(PLAIN.iloc[50:], 3, "rater", " ").to_parquet(tmp_path / "b.parquet")
    with pytest.raises(
        RatingsError, match=r"row '4 of b\.parquet', column 'rater': found no rater"
    ):
        read(tmp_path)


@pytest.mark.parametrize("form", ["csv", "jsonl", "parquet"])
def test_a_pattern_is_one_table_of_the_files_with_such_names(form, tmp_path):
    for at in range(3):
        Made(PLAIN.iloc[at::3], form).source(tmp_path).rename(tmp_path / f"w{at}.{form}")
    (tmp_path / f"other.{form}").write_text("no table")
    pattern = tmp_path / f"w*.{form}"
    assert read(pattern).digest == read(str(pattern)).digest == read(PLAIN).digest
    with pytest.raises(RatingsError, match=r"x\*\.csv: found no table; expected files with names"):
        read(tmp_path / "x*.csv")


def test_files_of_one_folder_whose_columns_are_not_of_one_kind_are_one_table(tmp_path):
    numbers = ratings_of(labels=("1", "2"))
    numbers.iloc[:50].to_parquet(tmp_path / "a.parquet")
    numbers.iloc[50:].astype({"label": int}).to_parquet(tmp_path / "b.parquet")
    assert read(tmp_path).digest == read(numbers).digest


def test_files_of_one_folder_have_the_same_columns(tmp_path):
    PLAIN.iloc[:50].to_csv(tmp_path / "a.csv", index=False)
    PLAIN.iloc[50:].assign(cluster="c").to_csv(tmp_path / "b.csv", index=False)
    with pytest.raises(
        RatingsError, match=r"in b\.csv, and .* in a\.csv; expected the same in each"
    ):
        read(tmp_path)


def test_a_rater_who_comes_late_in_a_long_file_is_found(tmp_path):
    path = tmp_path / "long.csv"
    many = pd.DataFrame({"item": range(110_000), "label": ["no", "yes"] * 55_000})
    table = pd.concat([many.assign(rater=name) for name in ("ana", "ben")])
    late = pd.DataFrame({"item": [0], "rater": ["cid"], "label": ["perhaps"]})
    pd.concat([table, late]).to_csv(path, index=False)
    found = read(path)
    assert (found.raters, found.scale.names) == (("ana", "ben", "cid"), ("no", "perhaps", "yes"))


def test_fractions_may_be_names_of_items(tmp_path):
    frame = PLAIN.assign(item=PLAIN["item"].str[1:].astype(int) + 0.5)
    files = [Made(frame, form).source(tmp_path) for form in ("parquet", "csv", "jsonl")]
    digests = {read(each).digest for each in [*files, frame]}
    assert len(digests) == 1
    assert read(frame).rated_items()[0].as_py() == "0.5"


@pytest.mark.parametrize("form", ["csv", "parquet", "jsonl", "DataFrame"])
def test_a_source_of_any_kind_is_read_into_duckdb(form, tmp_path):
    source = Made(PLAIN, form).source(tmp_path)
    usual, named = read(source), read(source, engine="duckdb", memory_limit="300MB")
    assert [each.engine for each in (usual, named)] == ["duckdb", "duckdb"]
    assert usual.session is not named.session
    assert usual.digest == named.digest
    assert read_ratings(source).digest == usual.digest


@pytest.mark.slow
@pytest.mark.parametrize("form", ["csv", "parquet", "jsonl", "DataFrame"])
def test_a_source_of_any_kind_is_read_into_spark_if_that_is_asked(form, tmp_path, spark):
    source = Made(PLAIN, form).source(tmp_path)
    found = read(source, engine="spark")
    assert (found.engine, found.digest) == ("spark", read(source).digest)


@pytest.mark.slow
def test_parquet_with_a_type_that_spark_lacks_is_one_clear_error(spark, tmp_path):
    """The column of times is one that nobody reads, and Spark refuses the whole file for it."""
    path = tmp_path / "ratings.parquet"
    table = pa.Table.from_pandas(PLAIN, preserve_index=False)
    ticks = pa.array(range(len(table)), pa.int64()).cast(pa.time64("ns"))
    pq.write_table(table.append_column("ticks", ticks), path)
    with pytest.raises(
        RatingsError, match=r"^spark: .*the engine cannot read \(\[UNSUPPORTED_TIME_TYPE"
    ):
        read(path, engine="spark")


@pytest.mark.slow
def test_a_dataframe_of_spark_is_read_where_it_lies(spark):
    frame = spark.createDataFrame(pa.Table.from_pandas(PLAIN, preserve_index=False))
    found = read(frame)
    assert (found.engine, found.digest) == ("spark", read(PLAIN).digest)


def test_a_memory_limit_that_is_no_size_is_refused():
    with pytest.raises(RatingsError, match="memory limit: found 'much'; expected a size"):
        read("table.csv", memory_limit="much")


def test_several_rounds_are_read_as_one_if_that_is_asked(tmp_path):
    path = tmp_path / "table.csv"
    PLAIN.assign(round=["w1", "w2"] * (len(PLAIN) // 2) + ["w1"] * (len(PLAIN) % 2)).to_csv(
        path, index=False
    )
    together = read(path, rules=Rules(all_rounds=True))
    assert together.digest == read(PLAIN).digest


def test_a_file_that_was_corrected_after_an_error_is_looked_at_again(tmp_path):
    path = tmp_path / "table.csv"
    PLAIN.rename(columns={"label": "said"}).to_csv(path, index=False)
    with pytest.raises(RatingsError, match="found no column 'label'"):
        read(path)
    PLAIN.to_csv(path, index=False)
    assert read(path).digest == read(PLAIN).digest


@pytest.mark.parametrize("engine", ["fast", "memory"])
def test_an_unknown_engine_is_refused(engine):
    with pytest.raises(RatingsError, match=f"engine: found '{engine}'; expected one of"):
        read("table.csv", engine=engine)


LABELS = {"features": {"label": {"_type": "ClassLabel", "names": ["no", "yes", "maybe"]}}}


@pytest.fixture
def numbered(tmp_path):
    """A Parquet file with numbers for its labels, as Hugging Face's library writes it."""
    names = LABELS["features"]["label"]["names"]
    frame = PLAIN.assign(label=PLAIN["label"].map(names.index))
    frame.loc[3, "label"] = -1
    table = pa.Table.from_pandas(frame, preserve_index=False)
    described = table.replace_schema_metadata({"huggingface": json.dumps({"info": LABELS})})
    pq.write_table(described, tmp_path / "x.parquet")
    return tmp_path / "x.parquet"


@pytest.mark.parametrize("engine", ["duckdb", pytest.param("spark", marks=pytest.mark.slow)])
def test_numbers_of_labels_are_read_as_their_names(numbered, engine, request):
    if engine == "spark":
        request.getfixturevalue("spark")
    expected = PLAIN.assign(label=PLAIN["label"].mask(PLAIN.index == 3))
    assert read(numbered, engine=engine).digest == read(expected).digest


def test_numbers_of_labels_in_a_folder_are_read_as_their_names_too(numbered):
    other = PLAIN.assign(item="other " + PLAIN["item"])
    other.to_parquet(numbered.parent / "y.parquet")
    first = PLAIN.assign(label=PLAIN["label"].mask(PLAIN.index == 3))
    assert read(numbered.parent).digest == read(pd.concat([first, other])).digest


def test_numbers_that_other_columns_hold_stop_nobody(tmp_path):
    """Only what is read is asked for."""
    table = pa.Table.from_pandas(PLAIN.assign(mood=1), preserve_index=False)
    mood = json.dumps({"info": {"features": {"mood": LABELS["features"]["label"]}}})
    described = table.replace_schema_metadata({"huggingface": mood})
    pq.write_table(described, tmp_path / "x.parquet")
    assert read(tmp_path / "x.parquet").digest == read(PLAIN).digest
