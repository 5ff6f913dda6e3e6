"""Long tables and long lists say how much of them is shown. Nothing is shown where nothing is."""

import pandas as pd
import pytest

from agreement_pipeline.evidence import patterns
from agreement_pipeline.orchestration.metadata import (
    IN_PLACE,
    MAX_ROWS,
    first_of,
    number,
    opened_table,
    rendered,
)
from agreement_pipeline.ratings import TEXT, Ratings, Scale

LABELS = ("why", "place", "items")


def test_a_long_table_says_how_many_of_its_rows_are_shown():
    shown = rendered({"estimates": pd.DataFrame({"value": range(MAX_ROWS + 5)})})
    assert len(shown["estimates"].records) == MAX_ROWS
    assert shown["estimates_left_out"] == f"the first {MAX_ROWS} of {MAX_ROWS + 5} rows are shown"


def test_a_table_that_is_shown_whole_says_nothing():
    assert set(rendered({"estimates": pd.DataFrame({"value": range(MAX_ROWS)})})) == {"estimates"}


def test_a_long_list_says_how_many_more_there_are():
    assert first_of(["a", "b"]) == ["a", "b"]
    assert first_of(["a"] * MAX_ROWS) == ["a"] * MAX_ROWS
    assert first_of(["a"] * (MAX_ROWS + 2))[-2:] == ["a", "and 2 more"]


def test_a_wide_table_opens_by_a_click_and_its_text_stays_text():
    frame = pd.DataFrame([["a|b", "<b>", "[x](y)", *"defg"]], columns=list("ABCDEFG"))
    text = rendered({"estimates": frame})["estimates"].md_str
    assert len(text) > IN_PLACE
    assert text.splitlines()[2].startswith(r"| a\|b | &lt;b&gt; | \[x\]\(y\) |")


@pytest.mark.parametrize(
    ("kind", "missing", "there"),
    [
        *[(object, missing, "a") for missing in (None, float("nan"), pd.NA, pd.NaT)],
        (TEXT, None, "a"),
        ("category", None, "a"),
        ("datetime64[ns, UTC]", None, "2026-11-23"),
        (float, None, 1.5),
    ],
)
def test_what_is_missing_is_an_empty_cell(kind, missing, there):
    frame = pd.DataFrame({"n": [1, 2], "said": pd.Series([missing, there]).astype(kind)})
    first, second = opened_table("t", frame)["t"].md_str.splitlines()[2:]
    assert first.strip() == "| 1 |  |"
    assert second.strip().startswith(f"| 2 | {there}")
    shown = rendered({"t": frame})["t"].records
    assert [each.data["said"][:3] for each in shown] == ["", str(there)[:3]]


def test_numbers_have_as_many_digits_as_people_write():
    frame = pd.DataFrame(
        {"soft_label": [[1 / 3, 2 / 3, 0.0]], "entropy_bits": [0.9182958340544896]}
    )
    text = opened_table("first_rows", frame)["first_rows"].md_str
    assert text.splitlines()[2].strip() == r"| \[0.3333, 0.6667, 0.0\] | 0.9183 |"
    assert number(1 / 3) == 0.3333
    assert number(float("inf")) == "inf"


def test_a_table_tells_first_what_a_row_is_about_and_then_how_it_reads():
    frame = pd.DataFrame([[0.7, "w1", "held"]], columns=["value", "round", "decision"])
    columns = rendered({"decisions": frame})["decisions"].schema.columns
    assert [each.name for each in columns] == ["round", "decision", "value"]


def test_columns_that_the_data_name_keep_their_order_and_mean_what_the_data_say():
    frame = pd.DataFrame(
        [(item, rater, label) for item in "ab" for rater, label in zip("xyz", LABELS, strict=True)],
        columns=["item", "rater", "label"],
    )
    ratings = Ratings.from_frame(frame, Scale(LABELS))
    shown = rendered(patterns(ratings))["most_common"]
    columns = shown.schema.columns
    assert [each.name for each in columns] == [*LABELS, "items in all"]
    assert {each.description for each in columns[:3]} == {"How many raters gave this category."}
    assert [row.data for row in shown.records] == [
        {"why": "1", "place": "1", "items": "1", "items in all": "2"}
    ]


def test_a_long_table_that_opens_by_a_click_says_how_many_rows_are_left_out():
    text = opened_table("t", pd.DataFrame({"n": range(MAX_ROWS + 7)}))["t"].md_str
    assert text.rstrip().endswith("and 7 more rows")
    assert text.count("\n| ") == MAX_ROWS
    one_more = opened_table("t", pd.DataFrame({"n": range(MAX_ROWS + 1)}))["t"].md_str
    assert one_more.rstrip().endswith("and 1 more row")
