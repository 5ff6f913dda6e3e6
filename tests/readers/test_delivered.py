"""The delivered table: every row and every column as it was written, typed by whole columns."""

import json
import os

import pandas as pd
import pyarrow as pa
import pytest

from agreement_pipeline.errors import ContractError
from agreement_pipeline.ratings import Scale
from agreement_pipeline.readers import (
    Columns,
    DeliveredTable,
    RoundPeriods,
    Rules,
    read,
    read_delivered,
)
from agreement_pipeline.readers.delivered import memory_limit_bytes
from agreement_pipeline.units import UnitSettings

TEXT = pa.large_string()


def write(tmp_path, **columns):
    path = tmp_path / "w1.csv"
    n_rows = len(next(iter(columns.values())))
    keys = {"item": [f"i{at}" for at in range(n_rows)], "rater": "ana", "label": "yes"}
    pd.DataFrame({**keys, **columns}).to_csv(path, index=False)
    return path


@pytest.mark.parametrize(
    ("texts", "kind", "values"),
    [
        (["1", "20"], pa.int64(), [1, 20]),
        (["1", ""], pa.int64(), [1, None]),
        (["0.12", "3"], pa.float64(), [0.12, 3.0]),
        (["-1e3", "+.5"], pa.float64(), [-1000.0, 0.5]),
        (["007", "1"], TEXT, ["007", "1"]),
        (["00.5", "1"], TEXT, ["00.5", "1"]),
        (["NA", "1"], TEXT, ["NA", "1"]),
        (["1234567890123456", ""], TEXT, ["1234567890123456", None]),
        (["1234567890123456789", "1"], TEXT, ["1234567890123456789", "1"]),
        (["true", "False"], pa.bool_(), [True, False]),
        (["yes", "no"], TEXT, ["yes", "no"]),
        (["2026-11-01", "2026-11-01T10:00"], pa.timestamp("us"), None),
        (["2026-11-01T10:00:00Z", "2026-11-01 10:00+02:00"], pa.timestamp("us", "UTC"), None),
        (["2026-11-01T10:00:00Z", "2026-11-01T10:00:00"], TEXT, None),
        (["2026-02-31", "2026-11-01"], TEXT, ["2026-02-31", "2026-11-01"]),
        (["2026-11-01", "soon"], TEXT, ["2026-11-01", "soon"]),
        (["", ""], TEXT, [None, None]),
    ],
)
def test_a_column_is_typed_if_all_its_values_are(texts, kind, values, tmp_path):
    column = read_delivered(write(tmp_path, x=texts), ["x"]).columns["x"]
    assert column.type == kind
    assert values is None or column.to_pylist() == values


def test_keys_and_labels_are_always_text(tmp_path):
    path = tmp_path / "w1.csv"
    path.write_text("post,who,class,cluster,n\n1,7,2,3,4\n")
    table = read_delivered(path, None, Columns(item="post", rater="who", label="class"))
    kinds = dict(zip(table.columns.column_names, table.columns.schema.types, strict=True))
    assert [name for name, kind in kinds.items() if kind != TEXT] == ["n"]
    assert table.source_name("item") == "post"
    assert table.keys.to_pylist() == [{"row": "2", "item": "1", "rater": "7"}]


def test_numbers_with_a_decimal_comma_are_numbers(tmp_path):
    path = tmp_path / "w1.csv"
    path.write_text('item,rater,label,x\ni1,ana,yes,"1,5"\n')
    table = read_delivered(path, ["x"], Columns(decimal=","))
    assert table.columns["x"].to_pylist() == [1.5]


def test_parquet_and_frames_keep_their_types(tmp_path):
    frame = pd.DataFrame(
        {
            "item": ["i1", "i2"],
            "rater": "ana",
            "label": "yes",
            "flag": [True, False],
            "at": pd.to_datetime(["2026-11-01T10:00:00Z", "2026-11-02T10:00:00Z"]),
            "n": [1, 2],
        }
    )
    frame.to_parquet(tmp_path / "w1.parquet")
    for source in (frame, tmp_path / "w1.parquet"):
        kinds = read_delivered(source, ["flag", "at", "n"]).columns.schema.types
        assert kinds == [pa.bool_(), pa.timestamp("us", "UTC"), pa.int64()]


def test_rows_that_no_rule_lets_count_and_rows_without_a_label_are_there(tmp_path):
    path = tmp_path / "w1.csv"
    path.write_text(
        "item,rater,label,lang\ni1,ana,yes,de\ni1,ben,,de\ni2,ana,no,en\ni2,ben,no,en\n"
    )
    rules = Rules(where={"lang": ("de",)}, exclude_raters=("ben",))
    assert len(read_delivered(path, ["lang"], rules=rules)) == 4


def test_the_rows_of_one_round_are_its_own(tmp_path):
    path = tmp_path / "all.csv"
    path.write_text("item,rater,label,round,at\ni1,ana,a,w1,2026-11-02\ni2,ana,b,w2,2026-11-09\n")
    for name, rules in (("w2", Rules()), ("2026-W46", Rules(rounds=RoundPeriods("at", "week")))):
        table = read_delivered(path, ["label"], round_name=name, rules=rules)
        assert table.keys["item"].to_pylist() == ["i2"]
        assert table.columns["label"].to_pylist() == ["b"]


def test_a_wide_table_has_a_row_for_each_cell_with_a_label(tmp_path):
    path = tmp_path / "w1.csv"
    path.write_text("item,ana,ben,lang\ni1,yes,,de\ni2,no,yes,en\n")
    columns = Columns(raters=("ana", "ben"))
    table = read_delivered(path, None, columns, layout="wide")
    assert table.columns.to_pylist() == [
        {"item": "i1", "lang": "de", "rater": "ana", "label": "yes"},
        {"item": "i2", "lang": "en", "rater": "ana", "label": "no"},
        {"item": "i2", "lang": "en", "rater": "ben", "label": "yes"},
    ]
    assert table.header == ("item", "lang", "rater", "label")


def test_a_tool_shows_skipped_work_seconds_and_every_field(tmp_path):
    def annotation(number, rater, value, **more):
        result = [{"type": "choices", "from_name": "q", "value": {"choices": [value]}}]
        return {
            "id": number,
            "completed_by": rater,
            "result": result if value else [],
            "created_at": "2026-11-01T10:00:00.000000Z",
            "updated_at": "2026-11-01T10:00:00.000000Z",
            "was_cancelled": False,
            "ground_truth": False,
            "lead_time": 3.5,
            **more,
        }

    task = {
        "id": 1,
        "data": {"text": "a", "lang": "de", "turns": [{"who": "x"}]},
        "annotations": [
            annotation(1, 1, "yes"),
            annotation(2, 2, "", was_cancelled=True),
        ],
    }
    path = tmp_path / "export.json"
    path.write_text(json.dumps([task]))
    table = read_delivered(path, ["status", "seconds", "lang", "turns", "label", "timestamp"])
    assert table.columns.to_pylist()[1] | {"created": None} == {
        "status": "skipped",
        "seconds": 3.5,
        "lang": "de",
        "turns": '[{"who": "x"}]',
        "label": None,
        "created": None,
    }
    assert {"text", "lang", "turns", "kind"} <= {*table.header}
    units = read_delivered(path, None, rules=Rules(units=UnitSettings("sets")))
    assert "label" not in units.header


def test_the_files_of_a_folder_are_one_table(tmp_path):
    for name, value in (("a", "1"), ("b", "x")):
        (tmp_path / f"{name}.csv").write_text(f"item,rater,label,n\ni{name},ana,yes,{value}\n")
    table = read_delivered(tmp_path, ["n"])
    assert table.columns["n"].to_pylist() == ["1", "x"]
    assert table.keys["row"].to_pylist() == ["2 of a.csv", "2 of b.csv"]


def test_names_of_one_rater_are_one_in_the_keys_and_as_written_in_the_columns(tmp_path):
    path = tmp_path / "w1.csv"
    path.write_text("item,rater,label\ni1,Ana,yes\ni2,ana,no\ni2,ben,no\n")
    table = read_delivered(path, ["rater"], rules=Rules(same_rater=(("Ana", "ana"),)))
    assert table.columns["rater"].to_pylist() == ["Ana", "ana", "ben"]
    left = DeliveredTable.from_parquet(table.to_parquet(), without_rater="Ana")
    assert left.columns["rater"].to_pylist() == ["ben"]


def test_it_comes_back_from_its_parquet_and_equal_tables_give_equal_bytes(tmp_path):
    path = write(tmp_path, n=["1", ""], at=["2026-11-01T10:00:00Z"] * 2, item=["a", "b"])
    one, other = (read_delivered(path, ["n", "at", "rater"]) for _ in range(2))
    content = one.to_parquet()
    assert content == other.to_parquet()
    again = DeliveredTable.from_parquet(content)
    assert again.columns.equals(one.columns)
    assert again.keys.equals(one.keys)
    assert (again.header, again.own_name_by_canonical) == (one.header, one.own_name_by_canonical)
    assert one.missing_columns(["n", "label", "nowhere"]) == ["label"]
    assert one.missing_columns(None) == ["item", "label"]


def test_what_needs_more_memory_than_there_is_is_refused_before_it_is_typed(tmp_path, monkeypatch):
    path = write(tmp_path, n=["1"] * 100)
    monkeypatch.setattr("agreement_pipeline.readers.delivered.column_as_typed", None)
    bound = "agreement_pipeline.readers.delivered.memory_limit_bytes"
    needed = 350_000_000 + 100 * 4 * 45
    monkeypatch.setattr(bound, lambda _: needed - 1)
    words = r"w1.csv: found 100 rows of 4 columns, which need about 0.4 GB .* contract: none"
    with pytest.raises(ContractError, match=words):
        read_delivered(path, ["n"])
    monkeypatch.undo()
    monkeypatch.setattr(bound, lambda _: needed)
    assert len(read_delivered(path, ["n"])) == 100


def test_the_bound_of_memory_is_the_project_s_own_or_most_of_the_machine_s():
    assert [memory_limit_bytes(size) for size in ("500MB", "1.5 GiB", "12")] == [
        5e8,
        1.5 * 2**30,
        12,
    ]
    assert 0 < memory_limit_bytes(None) < os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def test_a_source_of_another_machine_has_no_delivered_table():
    with pytest.raises(ContractError, match="outside this process"):
        read_delivered("s3://bucket/w1.parquet", ["n"])


def test_no_rating_is_lost_and_none_is_made(tmp_path):
    path = write(tmp_path, rater=["ana", "ben"] * 10, item=[f"i{at // 2}" for at in range(20)])
    ratings = read(path, scale=Scale(("no", "yes")))
    assert len(read_delivered(path, [])) == len(ratings) == 20
