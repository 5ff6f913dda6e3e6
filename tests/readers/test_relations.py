"""The rows of a table in a session: their order, their names, their types, whatever the source."""

import datetime as dt
from decimal import Decimal
from uuid import UUID

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from agreement_pipeline.engine import duckdb_session
from agreement_pipeline.errors import RatingsError
from agreement_pipeline.ratings import Scale, iterate_frame_as_cells
from agreement_pipeline.readers import Columns, Limits, Rules, load_rows, read
from tests.readers.texts import GOOD

TABLE = pa.table(
    {
        "item": ["i1", "i1", "i2"],
        "rater": ["ana", "ben", "ana"],
        "label": pa.array([1.5, None, 2.0]),
    }
)


def cells(rows, *names):
    """Some columns of rows in their order."""
    some = ", ".join(rows.quote_column(name) for name in names)
    found = rows.relation.query(f"SELECT {some} FROM {rows} ORDER BY nth")
    return [tuple(row.values()) for row in found.to_pylist()]


def parquet(folder, name="r.parquet", **columns):
    """A Parquet file of columns, with an item and a rater for each row."""
    n = len(next(iter(columns.values())))
    rest = {"item": [f"i{at}" for at in range(n)], "rater": ["ana"] * n, "label": ["x"] * n}
    pq.write_table(pa.table({**rest, **columns}), folder / name)
    return folder / name


def kinds(path, **keywords):
    return {field.name: field.type for field in load_rows(path, **keywords).relation.schema}


def test_rows_have_an_order_and_a_name(tmp_path):
    (tmp_path / "r.csv").write_text(GOOD)
    found = load_rows(tmp_path / "r.csv")
    assert cells(found, "nth", "row", "item", "rater") == [
        (0, 2, "i1", "ana"),
        (1, 3, "i1", "ben"),
        (2, 4, "i2", "ana"),
    ]
    assert (found.source, found.reader) == ("r.csv", "table")


def test_the_rows_of_a_wide_table_go_from_rater_to_rater(tmp_path):
    (tmp_path / "w.csv").write_text("item,nth,Ana,ana,x\ni1,p,q,r,7\ni2,,s,,8\n")
    columns = Columns(raters=("nth", "Ana", "ana"), models={"gpt": "x"})
    found = load_rows(tmp_path / "w.csv", columns, "wide")
    assert cells(found, "nth", "row", "column", "rater", "label") == [
        (0, 2, "nth", "nth", "p"),
        (1, 2, "Ana", "Ana", "q"),
        (2, 2, "ana", "ana", "r"),
        (3, 3, "nth", "nth", None),
        (4, 3, "Ana", "Ana", "s"),
        (5, 3, "ana", "ana", None),
        (6, 2, "x", "gpt", "7"),
        (9, 3, "x", "gpt", "8"),
    ]
    assert found.classifiers == ("gpt",)


def test_labels_of_several_types_in_a_wide_table_are_texts(tmp_path):
    path = parquet(tmp_path, ana=[1, 2], ben=["x", None], chi=[1.0, 2.5])
    found = load_rows(path, Columns(raters=("ana", "ben", "chi")), "wide")
    assert [label for (label,) in cells(found, "label")] == ["1", "x", "1", "2", None, "2.5"]


def test_a_thousand_raters_have_a_column_each(tmp_path):
    raters = [f"r{at}" for at in range(999)]
    path = parquet(tmp_path, **{name: ["x", "y"] for name in raters})
    found = load_rows(path, Columns(raters=tuple(raters)), "wide", Limits(columns=2_000))
    assert cells(found, "nth", "rater")[-1] == (1997, "r998")


def test_parquet_types_stay_or_become_text(tmp_path):
    path = parquet(
        tmp_path,
        label=pa.array([Decimal("1.00"), None], pa.decimal128(5, 2)),
        occurrence=pa.array([1, 2], pa.int8()),
        confidence=pa.array([0.5, float("nan")], pa.float32()),
        gold=[True, None],
        timestamp=[dt.datetime(2026, 1, 2, 3), None],
        text=[dt.date(2026, 1, 2), None],
    )
    found = load_rows(path, Columns(gold="gold"))
    assert cells(found, "label", "gold", "text") == [("1.00", "True", "2026-01-02"), (None,) * 3]
    assert np.isnan(cells(found, "confidence")[1][0])
    assert cells(found, "timestamp") == [(dt.datetime(2026, 1, 2, 3),), (None,)]
    assert {kinds(path)[name] for name in ("occurrence", "confidence")} == {pa.int8(), pa.float32()}


def test_a_parquet_file_of_texts_and_numbers_stays_where_it_is(tmp_path):
    path = parquet(tmp_path, label=[1, 2], gold=[True, False])
    found = load_rows(path, Columns(gold="gold"))
    assert cells(found, "nth", "row", "label", "gold") == [(0, 1, 1, "True"), (1, 2, 2, "False")]
    path.unlink()
    with pytest.raises(RatingsError):
        cells(found, "label")


def test_a_packed_parquet_file_may_be_gone(tmp_path):
    path = parquet(tmp_path, label=[1, 2])
    with pa.output_stream(str(tmp_path / "r.parquet.gz"), compression="gzip") as packed:
        packed.write(path.read_bytes())
    path.unlink()
    assert cells(load_rows(tmp_path / "r.parquet.gz"), "nth", "row", "label") == [
        (0, 1, 1),
        (1, 2, 2),
    ]


def test_numbers_of_a_folder_go_on_and_rows_name_their_file(tmp_path):
    folder = tmp_path / "round"
    folder.mkdir()
    parquet(folder, "a.parquet", label=[1, 2])
    parquet(folder, "b.parquet", label=["x", "y"])
    (folder / "c.csv").write_text("rater,label,item\nben,z,i9\n")
    expected = [
        (0, "1 of a.parquet", "1"),
        (1, "2 of a.parquet", "2"),
        (2, "1 of b.parquet", "x"),
        (3, "2 of b.parquet", "y"),
        (4, "2 of c.csv", "z"),
    ]
    assert cells(load_rows(folder), "nth", "row", "label") == expected
    assert cells(load_rows(f"{tmp_path}/r*/*.parquet"), "nth", "row", "label") == expected[:4]
    assert cells(load_rows(f"file://{folder}/a.parquet"), "label") == [(1,), (2,)]
    with pytest.raises(RatingsError, match=r"\*\.tsv: found no table; expected files"):
        load_rows(folder / "*.tsv")
    with pytest.raises(RatingsError, match="limit rows"):
        load_rows(folder, limits=Limits(rows=4))


@pytest.mark.parametrize("name", ["duckdb", "polars", "arrow", "pandas"])
def test_whatever_gives_arrow_batches_is_a_table(name):
    source = {
        "duckdb": lambda: duckdb_session().connection.cursor().from_arrow(TABLE),
        "polars": lambda: pytest.importorskip("polars").from_arrow(TABLE),
        "arrow": lambda: pa.RecordBatchReader.from_batches(TABLE.schema, TABLE.to_batches()),
        "pandas": TABLE.to_pandas,
    }[name]()
    found = load_rows(source, rules=Rules(exclude_raters=("ben",)))
    assert cells(found, "row", "item", "rater", "label") == [
        (1, "i1", "ana", 1.5),
        (3, "i2", "ana", 2.0),
    ]
    assert found.left_out == {("", "excluded rater"): 1}


def test_what_is_no_table_is_refused():
    with pytest.raises(RatingsError, match="a table: found int; expected a path, a DataFrame, or"):
        read(3)


@pytest.mark.parametrize(
    ("column", "words"),
    [
        (pa.array([["x"], None]), r"row 1, column 'item': found \['x'\]; expected one value"),
        (pa.array([None, {"a": 1}]), "row 2, column 'item': found {'a': 1}; expected one value"),
        (pa.array([b"x", b"y"]), "row 1, column 'item': found b'x'; expected text, or null"),
        (
            pa.array([None, b"y"]).dictionary_encode(),
            "row 2, column 'item': found b'y'; expected t",
        ),
    ],
)
def test_what_is_no_single_value_is_refused_in_parquet_and_arrow(tmp_path, column, words):
    path = parquet(tmp_path, item=column)
    for source in (path, pq.read_table(path)):
        with pytest.raises(RatingsError, match=words):
            load_rows(source)


@pytest.mark.parametrize("labels", [[["a", "b"], [], None], [[1, 2], [3], None]])
def test_lists_of_labels_are_joined(tmp_path, labels):
    path = parquet(tmp_path, label=labels)
    joined = [None if each is None else "|".join(map(str, each)) or "|" for each in labels]
    for source in (path, pq.read_table(path), pq.read_table(path).to_pandas()):
        assert [label for (label,) in cells(load_rows(source), "label")] == joined


@pytest.mark.parametrize(
    ("values", "kind", "expected"),
    [
        ([1, None], pa.int64(), [1, None]),
        ([1, "a", 2.0, True, np.nan, pd.NA], None, ["1", "a", "2", "True", None, None]),
        ([2**70, 1], None, [str(2**70), "1"]),
        ([True, None], None, ["True", None]),
        ([1.5, None], pa.float64(), [1.5, None]),
        ([np.float32(0.1), None], None, ["0.1", None]),
        ([Decimal("1.00"), dt.date(2026, 1, 2)], None, ["1.00", "2026-01-02"]),
        ([{"b", "a"}, frozenset()], None, ["a|b", "|"]),
        ([(71, 166), [0.1, 2], np.array([1, 2])], None, ["71.0|166.0", "0.1|2.0", "1.0|2.0"]),
        ([None, None], None, [None, None]),
    ],
)
def test_the_objects_of_a_frame_stay_or_become_text(values, kind, expected):
    column = pd.Series(values, index=["z"] * len(values), dtype=object)
    schema, batches = iterate_frame_as_cells(pd.DataFrame({3: column}))
    assert schema.names == ["3"]
    assert schema.field(0).type == (kind or pa.large_string())
    assert next(batches)["3"].to_pylist() == expected


@pytest.mark.parametrize(
    ("column", "expected"),
    [
        (pd.Series(["b", None, "a"], dtype="category"), ["b", None, "a"]),
        (pd.Series([1.0, None, 2.0], dtype="category"), [1.0, None, 2.0]),
        (pd.Series([1, None], dtype="Int64"), [1, None]),
        (pd.Series([True, None], dtype="boolean"), ["True", None]),
        (pd.Series([2**64 - 1], dtype="uint64"), [str(2**64 - 1)]),
        (pd.Series([0.5], dtype="float16"), [0.5]),
        (pd.Series(pd.period_range("2026", periods=1, freq="D")), ["2026-01-01"]),
        (pd.Series(pd.to_timedelta([1], unit="s")), ["0 days 00:00:01"]),
        (pd.Series(pd.to_datetime(["2026-01-02"])), [dt.datetime(2026, 1, 2)]),
    ],
)
def test_the_types_of_pandas_stay_or_become_text(column, expected):
    _, batches = iterate_frame_as_cells(pd.DataFrame({"x": column}))
    assert next(batches)["x"].to_pylist() == expected


def test_a_label_that_is_no_number_does_not_become_text(tmp_path):
    nan = [1.0, float("nan")]
    path = parquet(tmp_path, label=nan, ana=nan, gpt=["x", "y"], ben=["x", "y"])
    long = load_rows(path, Columns(models={"gpt": "gpt"}))
    assert [label for (label,) in cells(long, "label")][:2] == ["1", None]
    wide = load_rows(path, Columns(raters=("ana", "ben")), "wide")
    assert [label for (label,) in cells(wide, "label")] == ["1", "x", None, "y"]
    parquet(tmp_path, "s.parquet", label=["x"], ana=["x"], gpt=["x"], ben=["x"])
    assert [label for (label,) in cells(load_rows(tmp_path), "label")] == ["1", None, "x"]


def test_another_cell_that_is_no_number_is_refused_before_it_becomes_text(tmp_path):
    path = parquet(tmp_path, label=["x", "y"], confidence=[1.0, float("nan")], gpt=["x", "y"])
    words = "row 2, column 'confidence': found nan; expected one value, or null"
    with pytest.raises(RatingsError, match=words):
        load_rows(path, Columns(models={"gpt": "gpt"}))


@pytest.mark.parametrize(
    ("name", "columns"), [("~x.parquet", {}), ("x.parquet", {"File_Row_Number": [7, 7]})]
)
def test_what_a_file_and_its_columns_are_called_does_not_matter(
    tmp_path, monkeypatch, name, columns
):
    parquet(tmp_path, name, label=["x", "y"], **columns)
    monkeypatch.chdir(tmp_path)
    assert cells(load_rows(name), "label", "nth") == [("x", 0), ("y", 1)]


PAIRS = {"item": ["i", "i", "j", "j"], "rater": ["a", "b", "a", "b"], "label": list("uvuu")}
HALVES = [Decimal("0.5"), Decimal("1.5"), Decimal("0.5"), None]
NUMBERS = [UUID(int=number) for number in (1, 1, 2, 2)]


def coded(cells):
    return pa.DictionaryArray.from_arrays(pa.array(range(len(cells)), pa.int8()), cells)


@pytest.mark.parametrize("made", [pa.array, lambda *told: coded(pa.array(*told))])
@pytest.mark.parametrize(
    ("name", "values", "kind", "texts"),
    [
        ("label", HALVES, pa.decimal32(5, 1), ["0.5", "1.5", "0.5", None]),
        ("label", HALVES, pa.decimal64(9, 1), ["0.5", "1.5", "0.5", None]),
        ("label", list("uvuu"), pa.json_(pa.string()), list("uvuu")),
        ("item", [each.bytes for each in NUMBERS], pa.uuid(), list(map(str, NUMBERS))),
    ],
)
def test_a_seldom_type_of_arrow_is_its_text(tmp_path, made, name, values, kind, texts):
    table = pa.table({**PAIRS, name: made(values, kind)})
    expected = read(pd.DataFrame({**PAIRS, name: texts})).digest
    assert read(table).digest == expected
    assert read(table.to_pandas(types_mapper=pd.ArrowDtype)).digest == expected
    # Before version 22, Arrow does not write such decimals into Parquet.
    in_parquet = not pa.types.is_decimal(kind) or int(pa.__version__.split(".")[0]) >= 22
    if made is pa.array and in_parquet:
        pq.write_table(table, tmp_path / "r.parquet")
        assert read(tmp_path / "r.parquet").digest == expected


@pytest.mark.parametrize(
    "labels",
    [
        pd.Series([["u"], ["v", "u"], ["u"], []], dtype=pd.ArrowDtype(pa.list_(pa.string()))),
        pd.Categorical([("u",), ("v", "u"), ("u",), ()]),
    ],
)
def test_lists_of_labels_are_sets_in_any_type_of_pandas(labels):
    expected = read(pd.DataFrame({**PAIRS, "label": ["u", "u|v", "u", "|"]})).digest
    assert read(pd.DataFrame(PAIRS).assign(label=labels)).digest == expected


@pytest.mark.parametrize(
    ("labels", "found"),
    [
        (pd.Series([b"u"] * 4, dtype=pd.ArrowDtype(pa.binary())), "b'u'"),
        (pd.Categorical([b"u"] * 4), "b'u'"),
        (pd.Series([{"a": 1}] * 4, dtype=pd.ArrowDtype(pa.struct({"a": pa.int8()}))), "{'a': 1}"),
    ],
)
def test_what_is_no_label_is_refused_in_any_type_of_pandas(labels, found):
    with pytest.raises(RatingsError, match=rf"row 1, column 'label': found {found}; expected"):
        read(pd.DataFrame(PAIRS).assign(label=labels))


BEYOND = (
    pa.array([10**15, 1, 1, None], pa.timestamp("ms")),
    pa.array([2**63 - 1, 1, 1, None], pa.timestamp("us")),
    pa.array([10**12, 1, 1, None], pa.timestamp("s", "UTC")),
    pa.array([10**7, 1, 1, None], pa.date32()),
    pa.array([1, 1, 1, None], pa.timestamp("s", "No/Where")),
)


@pytest.mark.parametrize("name", ["item", "label", "timestamp"])
@pytest.mark.parametrize("times", BEYOND, ids=lambda times: str(times.type))
def test_a_time_that_no_calendar_has_is_refused_with_its_column(tmp_path, name, times):
    table = pa.table({**PAIRS, name: times})
    pq.write_table(table, tmp_path / "r.parquet")
    for source in (table, tmp_path / "r.parquet"):
        with pytest.raises(RatingsError, match=rf"{name}': found .*; expected .*\. Correct"):
            read(source)


def test_a_table_that_arrow_cannot_read_is_refused():
    texts = pl.Series(["u", "v"])
    with pytest.raises(RatingsError, match=r"a table: found Series that Arrow cannot read .*; e"):
        read(texts)


@pytest.mark.parametrize(
    ("columns", "place"),
    [
        ({"label": ["u", "q", "u", "u"]}, "row 2, column 'label': found label 'q'"),
        ({"m": ["u", "u", "q", "q"]}, "row 3 column 'm': found label 'q'"),
        ({"label": list("uuuq"), "m": list("qquu")}, "row 4 column 'label', row 1 column 'm': f"),
        ({"m": list("uvuu")}, "row 1 column 'm', row 2 column 'm': found 2 labels of rater 'gpt'"),
        ({"m": ["u", "u", "u" * 1001, "u"]}, "row 3 column 'm': found 1001 characters"),
    ],
)
def test_a_wrong_label_of_a_model_is_told_in_its_own_column(columns, place):
    known = "u" * 1001 not in columns.get("m", ())
    scale = Scale(("u", "v")) if known else None
    table = pd.DataFrame({**PAIRS, "m": list("uuvv"), **columns})
    with pytest.raises(RatingsError, match=f"^DataFrame: {place}"):
        read(table, Columns(models={"gpt": "m"}), scale=scale)


def test_a_long_label_of_a_wide_table_is_told_in_its_raters_column():
    table = pd.DataFrame({"item": ["i", "j"], "a": ["u", "v"], "b": ["u", "v" * 1001]})
    with pytest.raises(RatingsError, match=r"^DataFrame: row 2 column 'b': found 1001 characters"):
        read(table, Columns(raters=("a", "b")), layout="wide")
