"""The rows of a table in Spark: a DataFrame, or a file."""

import datetime as dt
from decimal import Decimal

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from agreement_pipeline.engine import spark_session
from agreement_pipeline.errors import RatingsError
from agreement_pipeline.readers import Columns, Rules, load_rows, read

pytestmark = pytest.mark.slow

TABLE = pa.table(
    {
        "item": ["i1", "i1", "i2", "i3"],
        "rater": ["ana", "ben", "ana", "cho"],
        "label": [["x", "y"], [], None, ["y"]],
        "gold": [True, None, False, True],
        "timestamp": [dt.datetime(2026, 1, 2, 3)] * 4,
        "text": pa.array([Decimal("1.50")] * 4, pa.decimal128(5, 2)),
        "status": ["done", "done", "done", "draft"],
        "of": ["", None, "i1", "i9"],
    }
)
COLUMNS = Columns(gold="gold")
RULES = Rules(where={"status": ("done",)}, replicate_of="of", strata=("status",))


def cells(rows, *names):
    """Some columns of rows, sorted."""
    some = ", ".join(rows.quote_column(name) for name in names)
    found = rows.relation.query(f"SELECT {some} FROM {rows}").to_pylist()
    return sorted([tuple(row.values()) for row in found], key=str)


def test_a_dataframe_has_rows_named_by_their_items(spark):
    found = load_rows(spark.createDataFrame(TABLE), COLUMNS, rules=RULES)
    assert found.relation.session.engine == "spark"
    assert found.left_out == {("", "where status"): 1}
    names = ("item", "rater", "label", "occurrence", "gold", "text", "row", "stratum:status")
    assert cells(found, *names) == [
        ("i1", "ana", "x|y", 1, "True", "1.50", "of item i1", "done"),
        ("i1", "ana", None, 2, "False", "1.50", "of item i2", "done"),
        ("i1", "ben", "|", 1, None, "1.50", "of item i1", "done"),
    ]


def test_a_cell_of_several_values_is_refused(spark):
    with pytest.raises(RatingsError, match="DataFrame: column 'label': found list<"):
        load_rows(spark.createDataFrame(TABLE), Columns(item="label", label="item"))


@pytest.mark.parametrize("form", ["csv", "jsonl", "parquet", "decoded"])
def test_a_file_is_read_into_spark(spark, form, tmp_path):
    path = tmp_path / f"r.{form.replace('decoded', 'parquet')}"
    if form == "csv":
        path.write_text("item,rater,label\ni1,ana,x\ni1,ben,\n")
    elif form == "jsonl":
        path.write_text('{"item":"i1","rater":"ana","label":"x"}\n{"item":"i1","rater":"ben"}\n')
    else:
        label = pa.array(["x", None])
        label = label.dictionary_encode() if form == "decoded" else label
        pq.write_table(
            pa.table({"item": ["i1"] * 2, "rater": ["ana", "ben"], "label": label}), path
        )
    found = load_rows(path, session=spark_session())
    rows = {"csv": [2, 3], "jsonl": [1, 2], "decoded": [1, 2], "parquet": ["of item i1"] * 2}[form]
    expected = [("i1", "ana", "x", rows[0]), ("i1", "ben", None, rows[1])]
    assert cells(found, "item", "rater", "label", "row") == expected


def test_a_wide_table_is_unpivoted(spark):
    wide = pa.table({"item": ["i1", "i2"], "ana": [1, 2], "ben": ["x", None]})
    found = load_rows(spark.createDataFrame(wide), Columns(raters=("ana", "ben")), "wide")
    assert cells(found, "item", "rater", "column", "label") == [
        ("i1", "ana", "ana", "1"),
        ("i1", "ben", "ben", "x"),
        ("i2", "ana", "ana", "2"),
        ("i2", "ben", "ben", None),
    ]


def test_files_of_a_folder_are_one_table(spark, tmp_path):
    (tmp_path / "a.csv").write_text("item,rater,label\ni1,ana,x\n")
    (tmp_path / "b.csv").write_text("item,rater,label\ni1,ben,y\n")
    found = load_rows(f"{tmp_path}/*.csv", session=spark_session())
    assert cells(found, "nth", "row") == [(0, "2 of a.csv"), (1, "2 of b.csv")]
    far = load_rows(f"file://{tmp_path}/a.csv", session=spark_session())
    assert cells(far, "row") == [(2,)]


@pytest.mark.parametrize("of", ["label", "Label"])
def test_a_column_that_is_read_beside_one_in_other_capital_letters_is_refused(spark, of):
    """As in a file, since the same table must be read alike by each engine."""
    rows = {"item": ["i1"], "rater": ["ana"], "small": ["x"], "large": ["z"]}
    frame = spark.createDataFrame(pa.table(rows)).toDF("item", "rater", "label", "Label")
    with pytest.raises(RatingsError, match=r"DataFrame: found columns \['label', 'Label'\], which"):
        load_rows(frame, Columns(label=of))


@pytest.mark.parametrize(("of", "kept"), [("note", "ana"), ("Note", "ben")])
def test_other_columns_that_differ_in_capital_letters_are_two(spark, of, kept):
    """As in a file of text, whose columns no engine names."""
    rows = {"item": ["i1", "i1"], "rater": ["ana", "ben"], "label": ["x", "z"]}
    rows |= {"small": ["yes", "no"], "large": ["no", "yes"]}
    names = ("item", "rater", "label", "note", "Note")
    frame = spark.createDataFrame(pa.table(rows)).toDF(*names)
    assert len(cells(load_rows(frame), "item", "rater", "label")) == 2
    found = load_rows(frame, rules=Rules(where={of: ("yes",)}))
    assert cells(found, "rater") == [(kept,)]


NAMES = ["${env:HOME}", "${system:user.name}", "${spark.app.name}", "o'n", "a\\b", "\\'", "\\"]


@pytest.mark.parametrize("escaped", ["false", "true"])
def test_no_setting_of_spark_reads_a_text_otherwise(spark, escaped):
    """Spark puts values of variables into a query, also into its texts."""
    rows = [(f"i{i}", who, f"{1 + (i + n) % 3}") for i in range(4) for n, who in enumerate(NAMES)]
    frame = pd.DataFrame(rows, columns=["item", "rater", "label"])
    before = spark.conf.get("spark.sql.parser.escapedStringLiterals")
    spark.conf.set("spark.sql.parser.escapedStringLiterals", escaped)
    try:
        found, expected = (
            read(frame, level="interval", classifiers=("${env:HOME}",), engine=engine)
            for engine in ("spark", "duckdb")
        )
        assert found.digest == expected.digest
        assert found.raters == expected.raters
        assert found.n_by_rater == expected.n_by_rater
        again = pd.concat([frame, frame.tail(1).assign(label="9")])
        with pytest.raises(RatingsError, match="found 2 labels of rater"):
            read(again, level="interval", engine="spark")
    finally:
        spark.conf.set("spark.sql.parser.escapedStringLiterals", before)
