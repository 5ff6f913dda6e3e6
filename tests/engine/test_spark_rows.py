"""The rows of a table in Spark: a DataFrame, or a file."""

import datetime as dt
from decimal import Decimal

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from agreement_pipeline.engine import spark_session
from agreement_pipeline.errors import RatingsError
from agreement_pipeline.readers import Columns, Rules, rows_of

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
    some = ", ".join(rows.cells.session.column(name) for name in names)
    found = rows.cells.ask(f"SELECT {some} FROM {rows.cells}").to_pylist()
    return sorted([tuple(row.values()) for row in found], key=str)


def test_a_dataframe_has_rows_named_by_their_items(spark):
    found = rows_of(spark.createDataFrame(TABLE), COLUMNS, rules=RULES)
    assert found.cells.session.engine == "spark"
    assert found.left_out == {("", "where status"): 1}
    names = ("item", "rater", "label", "occurrence", "gold", "text", "row", "stratum:status")
    assert cells(found, *names) == [
        ("i1", "ana", "x|y", 1, "True", "1.50", "of item i1", "done"),
        ("i1", "ana", None, 2, "False", "1.50", "of item i2", "done"),
        ("i1", "ben", "|", 1, None, "1.50", "of item i1", "done"),
    ]


def test_a_cell_of_several_values_is_refused(spark):
    with pytest.raises(RatingsError, match="DataFrame: column 'label': found list<"):
        rows_of(spark.createDataFrame(TABLE), Columns(item="label", label="item"))


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
    found = rows_of(path, session=spark_session())
    rows = {"csv": [2, 3], "jsonl": [1, 2], "decoded": [1, 2], "parquet": ["of item i1"] * 2}[form]
    expected = [("i1", "ana", "x", rows[0]), ("i1", "ben", None, rows[1])]
    assert cells(found, "item", "rater", "label", "row") == expected


def test_a_wide_table_is_unpivoted(spark):
    wide = pa.table({"item": ["i1", "i2"], "ana": [1, 2], "ben": ["x", None]})
    found = rows_of(spark.createDataFrame(wide), Columns(raters=("ana", "ben")), "wide")
    assert cells(found, "item", "rater", "column", "label") == [
        ("i1", "ana", "ana", "1"),
        ("i1", "ben", "ben", "x"),
        ("i2", "ana", "ana", "2"),
        ("i2", "ben", "ben", None),
    ]


def test_files_of_a_folder_are_one_table(spark, tmp_path):
    (tmp_path / "a.csv").write_text("item,rater,label\ni1,ana,x\n")
    (tmp_path / "b.csv").write_text("item,rater,label\ni1,ben,y\n")
    found = rows_of(f"{tmp_path}/*.csv", session=spark_session())
    assert cells(found, "nth", "row") == [(0, "2 of a.csv"), (1, "2 of b.csv")]
    far = rows_of(f"file://{tmp_path}/a.csv", session=spark_session())
    assert cells(far, "row") == [(2,)]
