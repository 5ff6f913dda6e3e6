"""What a finding says and in which order findings stand."""

import json

import numpy as np
import pandas as pd
import pytest

from agreement_pipeline.contract import Contract
from agreement_pipeline.ratings import Ratings
from tests.contract.tables import (
    DEFAULT,
    SCALE,
    check,
    check_rows,
    contract_of,
    entry,
    findings_in_rows,
    good_table,
    renamed,
    with_cell,
)

REPLICATED = contract_of(
    entry(),
    items=[
        entry(
            "replicated_items",
            "expect_column_mean_to_be_between",
            {"column": "replicated", "min_value": 0.05},
        )
    ],
)


def test_a_finding_says_how_many_fail_and_where():
    finding = check_rows(with_cell("label", "maybe"))["label_on_scale"]
    assert (
        finding.description == "label_on_scale: 1 of 13 rows fail, first [('i00', 'bob')]; "
        "every label must be a category of the scale"
    )
    assert dict(finding.observed) == {
        "checked": 13,
        "missing": 0,
        "unexpected": 1,
        "failing": (("i00", "bob"),),
    }


def test_failing_keys_are_those_of_the_rows_whatever_the_index_of_the_table():
    table = with_cell("label", "maybe", row=4)
    table.index = pd.Index([7] * len(table))
    assert dict(check_rows(table)["label_on_scale"].observed)["failing"] == (
        (table["item"].iloc[4], table["rater"].iloc[4]),
    )


def test_a_finding_names_five_failing_keys_and_keeps_twenty():
    table = good_table(n_items=30, n_replicated=2).assign(label="maybe")
    finding = check_rows(table)["label_on_scale"]
    assert "92 of 92 rows fail" in finding.description
    assert finding.description.count("('i") == 5
    assert len(dict(finding.observed)["failing"]) == 20


def test_a_finding_on_items_names_items():
    table = good_table()
    table = table[(table["item"] != "i03") | (table["rater"] == "ann")]
    finding = check(table)["raters_per_item"]
    assert (
        finding.description == "raters_per_item: 1 of 4 items fail, first ['i03']; "
        "at least 2 raters are required on 95% of the items"
    )


def test_a_finding_says_how_many_rows_had_no_value_to_check():
    assert (
        "0 of 12 rows fail, 1 without a value"
        in check(with_cell("confidence", np.nan))["confidence_between_0_and_1"].description
    )


def test_an_aggregate_finding_says_what_was_found():
    mean = check(good_table(), REPLICATED)["replicated_items"]
    assert mean.description == "replicated_items: 0.25 found; this must hold"
    assert (
        check(good_table())["rows_present"].description
        == "rows_present: 13 found; at least one rating must be present"
    )


def test_an_aggregate_over_nothing_has_no_value():
    empty = Ratings.from_frame(good_table().assign(assisted=True), SCALE).without_assisted
    finding = next(f for f in REPLICATED.check(empty) if f.check == "replicated_items")
    assert finding.observed == (("observed_value", None),)
    assert "no value reported" in finding.description


@pytest.mark.parametrize(
    ("type_", "kwargs", "found"),
    [
        (
            "expect_column_distinct_values_to_be_in_set",
            {"column": "label", "value_set": ["no"]},
            "no value reported",
        ),
        (
            "expect_column_unique_value_count_to_be_between",
            {"column": "rater", "min_value": 4},
            "3 found",
        ),
        ("expect_column_stdev_to_be_between", {"column": "confidence", "min_value": 1}, "0 found"),
        ("expect_column_to_exist", {"column": "absent"}, "no value reported"),
        (
            "expect_table_columns_to_match_ordered_list",
            {"column_list": ["a"]},
            "['item', 'rater', 'label', 'occurrence', 'earlier', 'confidence'] found",
        ),
        (
            "expect_column_pair_values_a_to_be_greater_than_b",
            {"column_A": "confidence", "column_B": "occurrence"},
            "13 of 13 rows fail, first [('i00', 'ann'), ",
        ),
        (
            "expect_multicolumn_sum_to_equal",
            {"column_list": ["occurrence", "confidence"], "sum_total": 1.5},
            "1 of 13 rows fail, first [('i00', 'ann')]",
        ),
    ],
)
def test_whatever_great_expectations_reports_is_worded(type_, kwargs, found):
    finding = check(
        good_table(), contract=contract_of(entry("odd", type_, kwargs, severity="warning"))
    )["odd"]
    assert (finding.passed, finding.severity) == (False, "warning")
    assert finding.description.startswith(f"odd: {found}")


def test_personal_data_stand_in_no_finding_whichever_check_failed():
    table = renamed("rater", "bob", "bob@example.org")
    table.at[1, "label"] = "maybe"
    findings = findings_in_rows(table)
    assert {f.check for f in findings if not f.passed} == {"label_on_scale", "rater_without_email"}
    assert "bob" not in repr(findings)
    assert dict(next(f for f in findings if f.check == "label_on_scale").observed)["failing"] == (
        ("i00", "(redacted)"),
    )


@pytest.mark.parametrize(
    "table",
    [
        good_table(),
        good_table().assign(label="maybe", confidence=2.0),
        good_table().iloc[:0],
        with_cell("item", None),
    ],
)
def test_observed_values_are_plain_python(table):
    def types(value):
        return (
            set().union(*map(types, value)) if isinstance(value, tuple) and value else {type(value)}
        )

    for finding in findings_in_rows(table):
        assert type(finding.passed) is bool
        for name, value in finding.observed:
            assert types(value) <= {str, int, float, type(None), tuple}, name
        json.dumps(finding.observed, allow_nan=False)


def test_findings_stand_in_the_order_of_the_contract_whatever_it_is():
    backwards = Contract.from_mapping(
        {table: [each.to_mapping() for each in of[::-1]] for table, of in DEFAULT.tables.items()}
    )
    for contract in (DEFAULT, backwards):
        findings = findings_in_rows(with_cell("label", "maybe"), contract=contract)
        assert [(f.check, f.table) for f in findings] == [
            (each.check, table) for table, some in contract.tables.items() for each in some
        ]
    assert backwards.expectations != DEFAULT.expectations


def test_the_same_ratings_give_the_same_findings():
    table = good_table().drop(columns="confidence")
    assert check(table) == check(table.copy())


def test_the_ratings_are_left_as_they_were():
    table = good_table()
    before = table.copy()
    check(table)
    pd.testing.assert_frame_equal(table, before)
