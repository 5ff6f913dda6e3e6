"""Suites as Great Expectations writes them: read as data, refused where they could run code."""

import json
import os

import pandas as pd
import pytest
import yaml

from agreement_pipeline.contract import Contract, Suite, findings_of, validate_delivery
from agreement_pipeline.errors import ContractError
from agreement_pipeline.policy import judge, load_policy
from agreement_pipeline.readers import Columns, read, read_delivered
from tests.contract.suites import DELIVERED_AT, entry, suite_of

IN_SET = "expect_column_values_to_be_in_set"
COMPARISON = {"type": "comparison", "column": {"name": "rater"}, "operator": "==", "parameter": "a"}


def validated(frame, *entries, vocabulary=("no", "yes"), columns=None):
    suite = suite_of(*entries)
    table = read_delivered(frame, suite.needed_columns, columns or Columns())
    result = validate_delivery(suite, table, vocabulary, DELIVERED_AT)
    return {each.check: each for each in findings_of(suite, result)}, result


def frame(**columns):
    return pd.DataFrame(
        {"item": ["i1", "i2"], "rater": ["a", "b"], "label": ["yes", "no"], **columns}
    )


def test_json_and_yaml_are_one_suite_and_its_digest_has_no_version_of_great_expectations(tmp_path):
    said = {
        "name": "x",
        "id": "1",
        "expectations": [entry(), entry(IN_SET, "info", column="lang", value_set=["de", 1e-05])],
        "meta": {"great_expectations_version": "1.24.1"},
        "notes": None,
    }
    (tmp_path / "ours.json").write_text(json.dumps(said, indent="\t"))
    said |= {"id": "2", "meta": {"great_expectations_version": "1.25.0"}}
    (tmp_path / "ours.yaml").write_text(yaml.safe_dump(said))
    one, other = (Suite.load(tmp_path / f"ours.{form}") for form in ("json", "yaml"))
    assert one == other
    assert one.digest == other.digest
    assert [each.check for each in one.entries] == ["label_not_null", "lang_in_set"]
    assert [each.weight for each in one.entries] == ["error", "info"]
    assert one.needed_columns == ("label", "lang")
    assert suite_of(entry()).digest != one.digest


def test_a_contract_with_a_suite_comes_back_from_its_mapping_and_builds_nothing(
    tmp_path, monkeypatch
):
    (tmp_path / "ours.json").write_text(
        json.dumps({"expectations": [entry("expect_anything_new")]})
    )
    contract = Contract.load(tmp_path / "ours.json")
    again = Contract.from_mapping(json.loads(json.dumps(contract.to_mapping())))
    assert again == contract
    assert again.digest == contract.digest
    assert (again.contract, again.version) == ("ours", 1)
    assert contract.digest != Contract.none().digest


@pytest.mark.parametrize(
    "kwargs",
    [
        {"row_condition": "@pd.io.common.os.system('touch {mark}') == 0"},
        {"row_condition": "rater == 'a'", "condition_parser": "pandas"},
        {
            "row_condition": {
                "type": "pass_through",
                "pass_through_filter": "@pd.io.common.os.system('touch {mark}') == 0",
            }
        },
        {
            "row_condition": {
                "type": "and",
                "conditions": ["@pd.io.common.os.system('touch {mark}')"],
            }
        },
        {
            "row_condition": {
                **COMPARISON,
                "column": {"name": "rater` + @pd.io.common.os.system('touch {mark}') + `rater"},
            }
        },
        {"row_condition": {**COMPARISON, "parameter": "` == @pd.io.common.os.system('{mark}') #"}},
        {"row_condition": {**COMPARISON, "operator": "== @pd.io.common.os.system('{mark}') =="}},
        {"row_condition": {**COMPARISON, "more": 1}},
    ],
)
def test_a_condition_that_could_run_code_is_refused(kwargs, tmp_path):
    mark = tmp_path / "ran"
    kwargs = json.loads(json.dumps(kwargs).replace("{mark}", str(mark)))
    with pytest.raises(ContractError, match=r"row_condition .*may run as code"):
        suite_of(entry(IN_SET, column="label", value_set=["yes"], **kwargs))
    assert not mark.exists()


def test_a_condition_of_great_expectations_chooses_rows_and_texts_in_it_are_no_code(tmp_path):
    mark = tmp_path / "ran"
    odd = f"@pd.io.common.os.system('touch {mark}')"
    for parameter, n_rows in (("a", 1), (odd, 0), ("'] or True or ['", 0), ('a" or "1', 0)):
        condition = {**COMPARISON, "parameter": parameter}
        _, result = validated(
            frame(), entry(IN_SET, column="label", value_set=["no"], row_condition=condition)
        )
        assert result["results"][0]["result"]["element_count"] == n_rows
    assert not mark.exists()


@pytest.mark.parametrize(
    ("said", "words"),
    [
        (entry("unexpected_rows_expectation", unexpected_rows_query="SELECT 1"), "asks a database"),
        (entry("expect_table_row_count_to_equal_other_table", other_table_name="x"), "a database"),
        (
            entry(
                "expect_column_values_to_match_json_schema",
                column="label",
                json_schema={"$ref": "http://example.com/s.json"},
            ),
            "would be fetched",
        ),
        (
            entry(column="label", mostly={"$PARAMETER": "now() - timedelta(days=1)"}),
            "the parameter",
        ),
        (entry("expect_column_values_to_match_regex", column="label", regex="(a+)+$"), "never end"),
        (entry(severity="fatal"), "severity: found 'fatal'|found 'fatal'"),
        (entry(meta={"check": "a b"}), "meta.check 'a b'"),
        (entry(meta={"check": "contract_kept"}), "meta.check"),
        ({**entry(), "kwarg": {}}, "keys"),
        ({"kwargs": {}}, "with its type"),
        ("expect_column_to_exist", "with its type"),
    ],
)
def test_what_no_suite_may_ask_is_refused_with_its_place(said, words):
    with pytest.raises(ContractError, match=words):
        suite_of(entry(), said)


def test_what_is_no_suite_or_names_two_checks_alike_is_refused(tmp_path):
    for data in (
        [],
        {"expectations": {}},
        {"expectations": []},
        {"expectations": [entry()], "x": 1},
    ):
        with pytest.raises(ContractError, match="expected"):
            Suite.from_mapping(data, "ours", suite_of(entry()).place)
    with pytest.raises(ContractError, match=r"meta.check \['same'\] twice"):
        suite_of(entry(meta={"check": "same"}), entry(column="item", meta={"check": "same"}))
    with pytest.raises(ContractError, match="version 'x'"):
        suite_of(entry(), version="x")
    assert [each.check for each in suite_of(entry(), entry()).entries] == [
        "label_not_null",
        "label_not_null_2",
    ]
    path = tmp_path / "ours.json"
    path.write_text('{"expectations": [], "expectations": []}')
    with pytest.raises(ContractError, match="key 'expectations' twice"):
        Suite.load(path)
    with pytest.raises(ContractError, match="raters_not_copied"):
        Contract.of_suite(suite_of(entry(meta={"check": "raters_not_copied"})))


def test_ratings_alone_cannot_meet_a_suite():
    contract = Contract.of_suite(suite_of(entry()))
    decision = judge(read(frame(), usable=False), load_policy("standard"), contract)
    assert "contract:contract_not_checked" in decision.codes


def test_an_expectation_that_nobody_knows_is_refused_when_it_is_asked():
    with pytest.raises(ContractError, match=r"ours.json.*expect_anything_new"):
        validated(frame(), entry("expect_anything_new", column="label"))
    with pytest.raises(ContractError, match=r"ours.json.*value_sets"):
        validated(frame(), entry(IN_SET, column="label", value_sets=["yes"]))


def test_canonical_names_stand_for_the_delivery_s_own_columns_where_it_has_none_of_that_name():
    own = frame().rename(columns={"item": "post"}).assign(rater=["a", "b"])
    condition = {**COMPARISON, "column": {"name": "item"}, "parameter": "i1"}
    found, result = validated(
        own,
        entry(IN_SET, column="item", value_set=["i1"]),
        entry(IN_SET, column="label", value_set=["no"], row_condition=condition),
        entry("expect_compound_columns_to_be_unique", column_list=["item", "rater"]),
        columns=Columns(item="post"),
    )
    assert found["item_in_set"].description.startswith("item_in_set: 1 of 2 rows fail")
    assert found["label_in_set"].description.startswith("label_in_set: 1 of 1 rows fail")
    assert found["item_unique"].passed
    configs = [each["expectation_config"]["kwargs"] for each in result["results"]]
    assert [each.get("column") for each in configs] == ["post", "label", None]


def test_parameters_stand_for_the_categories_and_for_the_time_of_delivery():
    vocabulary = {"$PARAMETER": "vocabulary"}
    until = {"$PARAMETER": "delivered_at"}
    for at in (["2026-11-01T00:00:00Z", "2099-01-01T00:00:00Z"], ["2026-11-01", "2099-01-01"]):
        found, _ = validated(
            frame(at=at),
            entry(IN_SET, column="label", value_set=vocabulary),
            entry("expect_column_values_to_be_between", column="at", max_value=until),
        )
        assert found["label_in_set"].passed
        assert dict(found["at_between"].observed)["unexpected_count"] == 1
    found, _ = validated(
        frame(), entry(IN_SET, column="label", value_set=vocabulary), vocabulary=None
    )
    assert found["label_in_set"].holds
    assert not found["label_in_set"].observed


def test_what_could_not_be_run_is_an_error_whatever_its_severity_and_says_how_to_write_times():
    found, _ = validated(
        frame(at=["2026-11-01T00:00:00Z"] * 2),
        entry("expect_column_values_to_be_between", "info", column="at", max_value="2026-11-02"),
        entry("expect_column_mean_to_be_between", "warning", column="nowhere", min_value=1),
        entry(column="nowhere", meta={"when": "nowhere"}),
    )
    assert found["at_between"].severity == "error"
    assert found["at_between"].holds
    assert "Write a bound of times as 2026-11-01T00:00:00+00:00" in found["at_between"].description
    assert found["nowhere_mean_to_be_between"].holds
    assert found["nowhere_not_null"].passed
    assert "was not delivered" in found["nowhere_not_null"].description


def test_findings_have_counts_and_no_values_and_redacted_ones_are_in_no_result():
    mails = frame(mail=["x@y.de", "z"])
    rule = {"column": "mail", "regex": "@"}
    for redact in (True, False):
        found, result = validated(
            mails, entry("expect_column_values_to_not_match_regex", meta={"redact": redact}, **rule)
        )
        assert "x@y.de" not in found["mail_not_match_regex"].description
        assert ("x@y.de" in json.dumps(result)) is not redact
    assert str(os.getcwd()) not in json.dumps(result)


def test_expectations_that_are_alike_are_each_asked():
    found, _ = validated(frame(), entry(), entry(), entry(severity="info"))
    assert [(each.passed, each.severity) for each in found.values()] == [
        (True, "error"),
        (True, "error"),
        (True, "info"),
    ]


def test_what_is_no_name_of_a_column_is_refused_by_great_expectations():
    for column in ({"$PARAMETER": "vocabulary"}, 3, ["label"]):
        with pytest.raises(ContractError, match=r"ours.json.*expect_column_values_to_not_be_null"):
            validated(frame(), entry(column=column))
