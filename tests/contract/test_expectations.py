"""A bad entry of a contract is refused."""

from dataclasses import replace

import pandas as pd
import pytest

from agreement_pipeline.contract.expectations import Expectation, Meta
from agreement_pipeline.errors import ContractError
from tests.contract.tables import DEFAULT, contract_of, entry


@pytest.mark.parametrize(
    ("bad", "match"),
    [
        (
            entry(severity="fatal"),
            "severity: found 'fatal'; expected one of critical, warning, info",
        ),
        (entry(severity=["warning"]), "severity: found .*; expected one of critical, warning"),
        (
            entry(severty="warning"),
            r"rows\[0\].severty: found an unknown key; expected one of \['type', 'kwargs', "
            r"'description', 'meta', 'severity'\]. Did you mean 'severity'",
        ),
        (
            entry(meta={"wen": "confidence"}),
            r"meta.wen: found an unknown key; expected one of \['check', 'when', 'redact'\]",
        ),
        (
            entry(meta={"when": "confidance"}),
            "meta.when: found 'confidance'; expected one of confidence, timestamp, cluster",
        ),
        (entry(meta={"when": "label"}), "meta.when: found 'label'; expected one of confidence"),
        (
            entry(meta={"when": "cluster"}),
            "meta.when: found 'cluster'; expected confidence or timestamp in table rows",
        ),
        (entry(meta={"redact": True}), "kwargs: found .*; expected .* since meta.redact is true"),
        (entry(meta={"redact": "yes"}), "meta.redact: found 'yes'; expected true or false"),
        (
            entry(
                type="expect_column_values_to_not_match_regex",
                kwargs={"column": "item", "regex": "("},
                meta={"redact": True},
            ),
            "kwargs: found .*; expected .* with a valid regex, since meta.redact is true",
        ),
        (
            entry(
                type="expect_column_values_to_match_regex",
                kwargs={"column": "item", "regex": "p"},
                meta={"redact": True},
            ),
            "expected expect_column_values_to_not_match_regex .* since meta.redact is true",
        ),
        (
            entry(check="two words"),
            "meta.check: found 'two words'; expected a name of letters, digits and _",
        ),
        (entry(check="newline\n"), "meta.check: found .*; expected a name of letters"),
        (entry(check=3), "meta.check: found 3; expected a name of letters"),
        (entry(description=" "), "description: found ' '; expected a sentence"),
        (entry(type=None), "type: found None; expected an expectation on a table"),
        (
            entry(type="unexpected_rows_expectation"),
            "type: found 'unexpected_rows_expectation'; "
            "expected an expectation on a table or its columns",
        ),
        (entry(type="expect_query_results_to_match_comparison"), "type: found 'expect_query"),
        (entry(type="expect_table_row_count_to_equal_other_table"), "type: found 'expect_table"),
        (entry(type="expect_column_values_to_match_json_schema"), "type: found 'expect_column"),
        (entry(kwargs=["column"]), "kwargs: found .*; expected a mapping"),
        (
            entry(kwargs={"min_value": 1, "row_condition": "@pd.eval('1')"}),
            "kwargs: found .*; expected no key of row_condition",
        ),
        (
            entry(kwargs={"min_value": 1, "severity": "warning"}),
            "kwargs: found .*; expected no key of .* severity",
        ),
        (
            entry(kwargs={"min_value": {"$PARAMETER": "vocabulry"}}),
            "kwargs: found .*vocabulry.*; expected no .PARAMETER other than vocabulary",
        ),
        (
            entry(kwargs={"min_value": float("nan")}),
            "kwargs: found .*; expected a mapping of text, finite numbers, lists and mappings",
        ),
        (entry(kwargs={"min_value": pd.Timestamp(0)}), "Put dates in quotes"),
        (
            {key: value for key, value in entry().items() if key != "meta"},
            "meta: found nothing; expected a value",
        ),
        (entry() | {"meta": {}}, "meta.check: found nothing; expected a value"),
        (entry() | {"meta": "extra"}, "meta: found 'extra'; expected a mapping"),
        (
            "expect_table_row_count_to_be_between",
            r"rows\[0\]: found 'expect_table_row_.*; expected a mapping of keys and values",
        ),
        ({**entry(), "where": "elsewhere"}, r"rows\[0\].where: found an unknown key"),
    ],
)
def test_a_bad_entry_is_refused(bad, match):
    with pytest.raises(ContractError, match=match):
        contract_of(bad)


def test_items_have_no_column_that_may_be_missing():
    with pytest.raises(ContractError, match="when: found 'confidence'; expected cluster in table"):
        contract_of(entry(), items=[entry("on_items", meta={"when": "confidence"})])


def test_an_expectation_made_in_python_is_refused_with_every_mistake():
    with pytest.raises(ContractError) as caught:
        replace(DEFAULT.rows[0], type="pass", kwargs={"meta": 1}, severity="fatal")
    assert str(caught.value).startswith("type: found 'pass'; expected an expectation on a table")
    assert "kwargs: found {'meta': 1}; expected no key of" in str(caught.value)
    assert "severity: found 'fatal'; expected one of critical" in str(caught.value)
    with pytest.raises(ContractError, match=r"check: found 'a b'; .* redact: found 'yes'"):
        Meta("a b", redact="yes")


@pytest.mark.parametrize("key", ["regex", "regex_list"])
def test_r6_a_search_that_may_never_end_is_refused(key):
    pattern = "(a+)+$"
    with pytest.raises(ContractError, match="a regex without repeats inside of repeats"):
        Expectation(
            type=f"expect_column_values_to_not_match_{key}",
            kwargs={"column": "item", key: pattern if key == "regex" else ["ok", pattern]},
            description="d",
            meta=Meta("endless"),
        )
