"""Long tables and long lists say how much of them is shown."""

import pandas as pd

from agreement_pipeline.orchestration.metadata import MAX_ROWS, first_of, rendered


def test_a_long_table_says_how_many_of_its_rows_are_shown():
    shown = rendered({"estimates": pd.DataFrame({"value": range(MAX_ROWS + 5)})})
    assert len(shown["estimates"].records) == MAX_ROWS
    assert shown["estimates_left_out"] == f"the first {MAX_ROWS} of {MAX_ROWS + 5} rows are shown"


def test_a_table_that_is_shown_whole_says_nothing():
    assert set(rendered({"estimates": pd.DataFrame({"value": range(MAX_ROWS)})})) == {"estimates"}


def test_a_long_list_says_how_many_more_there_are():
    assert first_of(["a", "b"]) == ["a", "b"]
    assert first_of(["a"] * (MAX_ROWS + 2))[-2:] == ["a", "and 2 more"]
