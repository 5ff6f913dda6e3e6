"""Ratings where they lie are refused in the same words as in memory."""

import json

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from agreement_pipeline.engines import engine_of, read
from agreement_pipeline.engines.duckdb import duckdb_session
from agreement_pipeline.engines.session import Unreadable

from agreement_pipeline import readers
from agreement_pipeline.errors import RatingsError
from agreement_pipeline.ratings import QueriedRatings, Ratings, Scale
from agreement_pipeline.readers import Columns, Limits, Rules
from tests.engines.sources import PLAIN, Made, ratings_of

NUMBERS = ratings_of(labels=(1.5, 2.5))


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
    "two labels": (pd.concat([PLAIN, PLAIN.iloc[[4, 11]]]), {}),
    "two labels of one occurrence": (
        pd.concat([PLAIN.assign(occurrence=2), PLAIN.iloc[[4]].assign(occurrence=2)]),
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


@pytest.mark.parametrize("form", ["parquet", "csv"])
@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_is_refused_in_the_words_of_the_memory(name, form, tmp_path):
    frame, reading = WRONG[name]
    path = tmp_path / f"table.{form}"
    if form == "csv":
        frame.to_csv(path, index=False)
    else:
        mixed = [each for each in frame if frame[each].map(type).nunique() > 2]
        frame.astype(dict.fromkeys(mixed, str)).to_parquet(path, index=False)
    with pytest.raises(RatingsError) as expected:
        readers.read(path, **reading)
    with pytest.raises(RatingsError) as found:
        read(path, engine="duckdb", **reading)
    assert str(found.value) == str(expected.value)


@pytest.mark.parametrize("form", ["parquet", "jsonl"])
@pytest.mark.parametrize("odd", [["a", "b|c"], ["a", ""], ["a", None]])
def test_a_list_with_an_odd_member_is_refused_everywhere(odd, form, tmp_path):
    path = Made(ratings_of(labels=(["a"], ["b"], odd)), form).written(tmp_path)
    refused = r"expected one label, a list of labels \(none empty, none with \|\), or null"
    with pytest.raises(RatingsError, match=refused):
        readers.read(path)
    where = refused if form == "jsonl" else "found a list with a member that is no label"
    with pytest.raises(RatingsError, match=where):
        read(path, engine="duckdb")


def test_a_folder_is_one_table_and_an_error_names_the_file(tmp_path):
    PLAIN.iloc[:50].to_parquet(tmp_path / "a.parquet")
    PLAIN.iloc[50:].to_parquet(tmp_path / "b.parquet")
    whole = read(tmp_path)
    assert isinstance(whole, QueriedRatings)
    assert whole.digest == readers.read(PLAIN).digest
    with_cell(PLAIN.iloc[50:], 3, "rater", " ").to_parquet(tmp_path / "b.parquet")
    with pytest.raises(RatingsError, match=r"row 'b\.parquet:4', column 'rater': found no rater"):
        read(tmp_path)


def test_a_rater_who_comes_late_in_a_long_file_is_found(tmp_path):
    path = tmp_path / "long.csv"
    many = pd.DataFrame({"item": range(110_000), "label": ["no", "yes"] * 55_000})
    table = pd.concat([many.assign(rater=name) for name in ("ana", "ben")])
    late = pd.DataFrame({"item": [0], "rater": ["cid"], "label": ["perhaps"]})
    pd.concat([table, late]).to_csv(path, index=False)
    found = read(path, engine="duckdb")
    assert (found.raters, found.scale.names) == (("ana", "ben", "cid"), ("no", "perhaps", "yes"))


def test_what_the_library_of_an_engine_says_is_told_with_the_next_step():
    with pytest.raises(
        Unreadable,
        match=r"^duckdb: found a source that the engine cannot read \(.*\); expected a plain "
        r"table\. Correct it, or read it in memory \(engine memory\)\.$",
    ):
        duckdb_session().ask("SELECT nothing FROM nowhere")


def test_what_an_engine_cannot_read_is_read_in_memory_if_nobody_named_an_engine(tmp_path):
    path = tmp_path / "table.parquet"
    frame = PLAIN.assign(item=PLAIN["item"].str[1:].astype(int) + 0.5)
    frame.to_parquet(path)
    with pytest.raises(Unreadable, match="engine memory"):
        read(path, engine="duckdb")
    assert isinstance(read(path), Ratings)


def test_the_engine_is_chosen_by_the_source(tmp_path):
    small = tmp_path / "small.csv"
    PLAIN.to_csv(small, index=False)
    assert [engine_of(each) for each in (small, PLAIN, tmp_path, tmp_path / "*.csv")] == [
        "memory",
        "memory",
        "duckdb",
        "duckdb",
    ]


def test_a_memory_limit_that_is_no_size_is_refused():
    with pytest.raises(RatingsError, match="memory limit: found 'much'; expected a size"):
        read("table.csv", engine="duckdb", memory_limit="much")


def test_several_rounds_are_read_as_one_if_that_is_asked(tmp_path):
    path = tmp_path / "table.csv"
    PLAIN.assign(round=["w1", "w2"] * (len(PLAIN) // 2) + ["w1"] * (len(PLAIN) % 2)).to_csv(
        path, index=False
    )
    together = read(path, engine="duckdb", rules=Rules(all_rounds=True))
    assert together.digest == readers.read(PLAIN).digest


def test_a_table_in_memory_is_refused_by_an_engine_for_files():
    with pytest.raises(RatingsError, match=r"^engine duckdb: found DataFrame; expected a file"):
        read(PLAIN, engine="duckdb")


def test_a_file_that_was_corrected_after_an_error_is_looked_at_again(tmp_path):
    path = tmp_path / "table.csv"
    PLAIN.rename(columns={"label": "said"}).to_csv(path, index=False)
    with pytest.raises(RatingsError, match="found no column 'label'"):
        read(path, engine="duckdb")
    PLAIN.to_csv(path, index=False)
    assert read(path, engine="duckdb").digest == readers.read(PLAIN).digest


def test_an_unknown_engine_is_refused():
    with pytest.raises(RatingsError, match="engine: found 'fast'; expected one of"):
        read("table.csv", engine="fast")


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


def test_numbers_of_labels_are_read_as_their_names(numbered):
    expected = PLAIN.assign(label=PLAIN["label"].mask(PLAIN.index == 3))
    assert read(numbered).digest == read(expected).digest


@pytest.mark.parametrize("engine", ["duckdb", "spark"])
def test_numbers_of_labels_are_refused_where_they_lie(numbered, engine, request):
    if engine == "spark":
        request.getfixturevalue("spark")
    with pytest.raises(Unreadable) as refused:
        read(numbered, engine=engine)
    assert str(refused.value) == (
        "x.parquet: found "
        "numbers that stand for names in column 'label', as Hugging Face's library writes labels; "
        "expected the names. Save the names, or read it in memory (engine memory)."
    )


def test_numbers_of_labels_in_a_folder_are_refused_too(numbered):
    (numbered.parent / "y.parquet").write_bytes(numbered.read_bytes())
    with pytest.raises(Unreadable, match="found numbers that stand for names in column 'label'"):
        read(numbered.parent)


def test_numbers_that_other_columns_hold_stop_nobody(tmp_path):
    """Only what is read is asked for."""
    table = pa.Table.from_pandas(PLAIN.assign(mood=1), preserve_index=False)
    mood = json.dumps({"info": {"features": {"mood": LABELS["features"]["label"]}}})
    described = table.replace_schema_metadata({"huggingface": mood})
    pq.write_table(described, tmp_path / "x.parquet")
    assert read(tmp_path / "x.parquet", engine="duckdb").digest == read(PLAIN).digest
