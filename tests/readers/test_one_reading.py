"""Neither folder names nor bounds in a footer change what is read of a delivered Parquet file."""

import duckdb
import pandas as pd
import pytest

from agreement_pipeline.errors import RatingsError
from agreement_pipeline.readers import read
from tests.footers import forged, text, written

ROWS = [(f"i{item:02}", rater, "ny"[item % 2]) for item in range(40) for rater in "abc"]
TABLE = pd.DataFrame(ROWS, columns=["item", "rater", "label"])


@pytest.mark.parametrize("folder", ["label=y", "rater=a", "item=i00", "nth=3"])
def test_the_name_of_a_folder_says_nothing_of_its_files(tmp_path, folder):
    path = tmp_path / folder / "round.parquet"
    path.parent.mkdir()
    path.write_bytes(written(TABLE.to_dict("list")))
    found = read(path).to_pandas()[["item", "rater", "label"]].astype(str)
    assert found.to_numpy().tolist() == TABLE.to_numpy().tolist()


def test_false_bounds_of_values_hide_no_rows(tmp_path):
    path = tmp_path / "round.parquet"
    path.write_bytes(written(TABLE.to_dict("list"), row_group_size=60))
    expected = read(path).digest
    bounds = {(4, 0, 1, column, 3, 12, end): text(b"zz") for column in range(3) for end in (5, 6)}
    path.write_bytes(forged(path.read_bytes(), bounds))
    hidden = duckdb.sql(f"SELECT COUNT(*) FROM '{path}' WHERE label = 'n'").fetchall()
    assert hidden == [(30,)]
    assert read(path).digest == expected


def test_false_bounds_of_rounds_hide_no_rows_of_a_round(tmp_path):
    path = tmp_path / "round.parquet"
    rounds = TABLE.assign(round=["w1", "w2"] * 60, item=[f"i{at // 6:02}" for at in range(120)])
    path.write_bytes(written(rounds.to_dict("list"), row_group_size=60))
    expected = read(path, round_name="w1").digest
    bounds = {(4, 0, 1, 3, 3, 12, end): text(b"w2") for end in (5, 6)}
    path.write_bytes(forged(path.read_bytes(), bounds))
    hidden = duckdb.sql(f"SELECT COUNT(*) FROM '{path}' WHERE round = 'w1'").fetchall()
    assert hidden == [(30,)]
    assert read(path, round_name="w1").digest == expected


@pytest.mark.parametrize("other", ["LABEL", "Label"])
def test_a_name_in_capitals_and_small_letters_is_refused(tmp_path, other):
    path = tmp_path / "round.parquet"
    path.write_bytes(written({**TABLE.to_dict("list"), other: ["n"] * len(TABLE)}))
    with pytest.raises(RatingsError, match=f"found column '{other}' twice, or in capitals"):
        read(path)
