"""A contract is a suite or nothing. One of earlier versions is read where it was recorded."""

import json
from copy import deepcopy

import pandas as pd
import pytest

from agreement_pipeline.contract import Contract, findings_of_tables
from agreement_pipeline.errors import ContractError
from agreement_pipeline.policy import assess, check_round, judge, load_policy
from agreement_pipeline.ratings import Ratings, Scale
from tests.contract.earlier import (
    EARLIER,
    FEW_GOLD,
    MAPPING,
    OF_ROUND,
    PRESENT,
    RATERS,
    RECORDS,
    record,
)
from tests.contract.suites import entry, suite_of

POLICY = load_policy("standard")


def ratings():
    rows = [(f"i{n:02}", rater, ["no", "yes"][n % 2]) for n in range(40) for rater in "abc"]
    return Ratings.from_frame(
        pd.DataFrame(rows, columns=["item", "rater", "label"]), Scale(("no", "yes"))
    )


def test_a_decision_without_a_contract_says_so_and_has_the_checks_of_the_policy():
    decision = judge(ratings(), POLICY)
    assert decision.admitted
    assert decision.to_mapping()["contract"] == {"contract": "none", "version": 2}
    assert {finding.table for finding in decision.findings} == {"integrity"}
    assert Contract.from_mapping(Contract.none().to_mapping()) == Contract.none()


@pytest.mark.parametrize("contract", [Contract.none(), Contract.of_suite(suite_of(entry()))])
def test_a_contract_survives_json(contract):
    again = Contract.from_mapping(json.loads(json.dumps(contract.to_mapping())))
    assert (again, again.digest) == (contract, contract.digest)


@pytest.mark.parametrize("name", ["none", "default"])
def test_a_suite_may_not_have_a_name_that_decisions_use_otherwise(tmp_path, name):
    path = tmp_path / f"{name}.json"
    path.write_text(json.dumps({"expectations": [entry()]}))
    with pytest.raises(ContractError, match=f"found a suite of the name {name}; expected another"):
        Contract.load(path)


def test_a_folder_of_tables_is_refused_with_what_to_write_instead(tmp_path):
    (tmp_path / "rows.yaml").write_text("- type: x\n")
    with pytest.raises(ContractError) as refused:
        Contract.load(tmp_path)
    assert str(refused.value) == (
        f"{tmp_path}: found a folder; expected a file with a suite of Great Expectations. "
        "A contract is one file now. Move the checks of columns in rows.yaml to a suite in "
        "configs/contracts/NAME.yaml, and those of items.yaml and round.yaml, such as the number "
        "of raters per item, to integrity in the policy (raters_per_item)."
    )


@pytest.mark.parametrize("tables", [["rows", "items"], ["round"], ["items"]])
def test_a_file_with_tables_is_refused_with_what_to_write_instead(tmp_path, tables):
    path = tmp_path / "ours.json"
    path.write_text(json.dumps({"version": 1, **{table: [] for table in tables}}))
    with pytest.raises(ContractError) as refused:
        Contract.load(path)
    assert f"ours.json: found keys {tables}; expected a suite" in str(refused.value)
    assert "to integrity in the policy (raters_per_item)" in str(refused.value)


@pytest.mark.parametrize(
    ("data", "words"),
    [
        ([], r"found \[\]; expected a mapping"),
        ({"contract": "x", "checks": []}, "expected a mapping with some of"),
        ({"contract": 3}, "found the name 3"),
        ({"contract": "x", "version": True}, "the version True; expected"),
        ({"contract": "x", "version": 1}, "found x, version 1, without a suite"),
        ({"contract": "none", "version": 1, "suite": [entry()]}, "of the name none"),
        ({"rows": "all", "items": []}, "expected an expectation as an earlier version wrote it"),
        ({"rows": [{**PRESENT, "severity": "fatal"}], "items": []}, "as an earlier version"),
        ({"rows": [{**PRESENT, "meta": {}}], "items": []}, "as an earlier version"),
        ({"round": [{**FEW_GOLD, "kwargs": {"column": "odd"}}]}, "as an earlier version"),
    ],
)
def test_what_no_version_has_written_is_refused(data, words):
    with pytest.raises(ContractError, match=words):
        Contract.from_mapping(data)


def test_a_contract_of_an_earlier_version_keeps_its_digest_and_is_of_earlier_version():
    assert EARLIER.to_mapping() == MAPPING
    assert Contract.from_mapping(EARLIER.to_mapping()).digest == EARLIER.digest
    assert EARLIER.is_of_earlier_version
    with pytest.raises(ContractError, match=r"contract careful, version 3: found one of an earl"):
        check_round(ratings(), POLICY, EARLIER)
    with pytest.raises(ContractError, match="expected a suite of Great Expectations, or none"):
        judge(ratings(), POLICY, EARLIER)


def test_its_findings_are_those_that_were_recorded_and_a_failed_one_still_holds():
    recorded = findings_of_tables(EARLIER.earlier_tables, RECORDS)
    found = check_round(ratings(), POLICY, EARLIER, recorded)
    assert [finding.check for finding in found[:3]] == [
        "label_present",
        "three_raters_per_item",
        "item_without_email",
    ]
    assert [finding.to_mapping() for finding in recorded] == RECORDS
    failed = [RECORDS[0], record(RATERS, "items", passed=False)]
    broken = findings_of_tables(EARLIER.earlier_tables, failed)
    decision = assess(ratings(), POLICY, EARLIER, checked=broken).decision
    assert decision.codes == ("contract:three_raters_per_item",)


def test_a_recorded_finding_that_could_not_be_run_is_an_error_whatever_its_severity():
    tables = {"rows": [{**PRESENT, "severity": "warning"}], "items": []}
    words = "could not be run (KeyError: label)"
    failed = {**record(PRESENT, "rows", passed=False, words=words), "severity": "error"}
    (finding,) = findings_of_tables(tables, [failed])
    assert finding.holds
    assert not finding.observed


def edited(change):
    records = deepcopy(RECORDS)
    change(records)
    return records


@pytest.mark.parametrize(
    "change",
    [
        lambda records: records.pop(),
        lambda records: records.reverse(),
        lambda records: records.append(records[0]),
        lambda records: records[0].update(check="other"),
        lambda records: records[1].update(table="rows"),
        lambda records: records[1].update(passed=1),
        lambda records: records[1].update(passed=False, severity="warning"),
        lambda records: records[0].pop("passed"),
    ],
)
def test_findings_of_another_contract_are_not_its_own(change):
    with pytest.raises(KeyError):
        findings_of_tables(EARLIER.earlier_tables, edited(change))


def test_bounds_of_its_own_are_found_again_in_the_place_of_those_of_the_policy():
    found = check_round(ratings(), POLICY, OF_ROUND, ())
    assert [(each.check, each.table, each.passed) for each in found] == [
        ("few_gold", "round", True)
    ]
