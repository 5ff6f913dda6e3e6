"""A contract as files and as plain data."""

import json
from shutil import copytree

import pytest

from agreement_pipeline.contract import Contract
from agreement_pipeline.contract.contract import BUILT_IN
from agreement_pipeline.errors import ContractError
from agreement_pipeline.ratings import Ratings
from tests.contract.tables import DEFAULT, SCALE, contract_of, entry, good_table


@pytest.mark.parametrize(
    ("data", "match"),
    [
        ({}, "^mine: rows: found nothing; .* mine: items: found nothing; expected a value"),
        ({"rows": [entry()]}, "^mine: items: found nothing; expected a value"),
        (
            {"rows": [], "items": [entry()]},
            r"^mine: rows: found \[\]; expected a list of at least one expectation",
        ),
        (
            {"rows": [entry()], "items": None},
            "^mine: items: found None; expected a list",
        ),
        (
            {"rows": [entry()], "items": [entry("b")], "raters": []},
            r"^mine: raters: found an unknown key; expected one of \['rows', 'items', ",
        ),
        ([entry()], "^mine: found .*; expected a mapping of keys and values"),
    ],
)
def test_a_contract_without_both_tables_or_with_another_is_refused(data, match):
    with pytest.raises(ContractError, match=match):
        Contract.from_mapping(data, source="mine")


def test_an_empty_contract_is_refused_however_it_is_made():
    with pytest.raises(ContractError, match=r"^rows: found \[\]; .* items: found \[\]; expected a"):
        Contract((), ())
    with pytest.raises(ContractError, match=r"^items: found \[\]; expected a list of at least one"):
        Contract(DEFAULT.rows, ())


def test_a_name_twice_is_refused_within_a_table_and_across_tables():
    twice = r"rows\[0\].meta.check: found 'extra' more than once; expected a name of its own"
    with pytest.raises(ContractError, match=twice):
        contract_of(entry(), entry())
    with pytest.raises(
        ContractError, match=rf"{twice}.* items\[0\].meta.check: found 'extra' more"
    ):
        contract_of(entry(), items=[entry()])


ONE_CHECK = (
    "- {type: expect_table_row_count_to_be_between, kwargs: {min_value: 1}, "
    "description: some, meta: {check: n}}"
)


def written(
    folder,
    rows,
    items=ONE_CHECK,
):
    (folder / "rows.yaml").write_text(rows)
    (folder / "items.yaml").write_text(items)
    return folder


@pytest.mark.parametrize(
    ("rows", "match"),
    [
        ("- type: [\n- a\n", r"rows.yaml:2: found text that is not readable as YAML"),
        ("", r"rows.yaml: rows: found None; expected a list"),
        ("[]", r"rows.yaml:1: rows: found \[\]; expected a list of at least one expectation"),
        ("expectations: []\n", "rows.yaml:1: rows: found {'expectations': .*; expected a list"),
        (
            "- type: expect_x\n  kwargs: {}\n  description: x\n  severity: fatal\n"
            "  meta: {check: x}\n",
            r"rows.yaml:4: rows\[0\].severity: found 'fatal'",
        ),
        (
            "- type: expect_x\n  kwargs: {}\n  description: x\n  meta:\n    check: x\n    wen: y\n",
            r"rows.yaml:6: rows\[0\].meta.wen: found an unknown key",
        ),
        ("- type: expect_x\n  kwargs: {}\n  kwargs: {}\n", "rows.yaml:3: found key 'kwargs' twice"),
    ],
)
def test_a_bad_file_is_refused_by_name_and_line(tmp_path, rows, match):
    with pytest.raises(ContractError, match=match):
        Contract.load(written(tmp_path, rows))


def test_a_name_in_both_files_is_refused_naming_both(tmp_path):
    both = r"items.yaml:1: items\[0\].meta.check: found 'n' .*rows.yaml:1: rows\[0\].meta.check: fo"
    with pytest.raises(ContractError, match=both):
        Contract.load(written(tmp_path, ONE_CHECK, ONE_CHECK))


def test_every_mistake_of_both_files_is_named(tmp_path):
    rows = "- type: pass\n  kwargs: {}\n  description: x\n  meta: {check: a b}\n- other\n"
    with pytest.raises(ContractError) as caught:
        Contract.load(written(tmp_path, rows, "- {type: expect_x, kwargs: []}\n"))
    for words in (
        "rows.yaml:1: rows[0].type: found 'pass'; expected",
        "rows.yaml:4: rows[0].meta.check: found 'a b'; expected",
        "rows.yaml:5: rows[1]: found 'other'; expected",
        "items.yaml:1: items[0].kwargs: found []; expected",
        "items.yaml:1: items[0].description: found nothing; expected",
    ):
        assert words in str(caught.value)


def test_a_missing_file_is_refused_by_name(tmp_path):
    written(tmp_path, "[]")
    (tmp_path / "rows.yaml").unlink()
    with pytest.raises(ContractError, match=r"rows.yaml: found no such file; expected a YAML file"):
        Contract.load(tmp_path)


def test_a_contract_survives_json():
    again = Contract.from_mapping(json.loads(json.dumps(DEFAULT.to_mapping())))
    assert again == DEFAULT
    assert again.digest == DEFAULT.digest


def test_changing_what_to_mapping_gave_changes_no_contract():
    before = DEFAULT.digest
    DEFAULT.to_mapping()["rows"][0]["kwargs"]["min_value"] = 0
    assert DEFAULT.digest == before


@pytest.mark.parametrize(
    "change",
    [
        lambda e: e["kwargs"].update(min_value=2),
        lambda e: e.update(severity="warning"),
        lambda e: e.update(description="other"),
        lambda e: e["meta"].update(check="other"),
        lambda e: e["meta"].update(when="confidence"),
    ],
)
def test_the_digest_changes_with_the_contract(change):
    mapping = DEFAULT.to_mapping()
    change(mapping["rows"][0])
    assert Contract.from_mapping(mapping).digest != DEFAULT.digest


def test_expectations_weigh_as_severities_of_the_gate():
    contract = contract_of(
        entry("a"),
        entry("b", severity="critical"),
        entry("c", severity="warning"),
        entry("d", severity="info"),
    )
    assert [each.weight for each in contract.expectations] == [
        "error",
        "error",
        "warning",
        "warning",
        "error",
    ]


def test_default_findings_have_the_weight_of_their_expectation():
    assert [f.severity for f in DEFAULT.check(Ratings.from_frame(good_table(), SCALE))] == [
        each.weight for each in DEFAULT.expectations
    ]


def test_the_built_in_contract_has_a_new_version_where_its_checks_change():
    """A store refuses other checks under one name and version."""
    assert (DEFAULT.contract, DEFAULT.version, DEFAULT.digest[:12]) == (
        "default",
        5,
        "b34808792164",
    )


def test_a_contract_with_the_name_and_version_of_the_built_in_one_has_its_checks(tmp_path):
    own = copytree(BUILT_IN, tmp_path / "default")
    assert Contract.load(own) == DEFAULT
    items = (own / "items.yaml").read_text()
    (own / "items.yaml").write_text(items.replace("0.95", "0.9"))
    with pytest.raises(ContractError) as refused:
        Contract.load(own)
    assert str(refused.value) == (
        f"{own}: found other checks under the name and version of the built-in contract, default "
        "5; expected a name of its own, since pages name a contract. Rename the folder."
    )
    assert Contract.load(own.rename(tmp_path / "own")).contract == "own"


def test_a_contract_is_called_as_its_folder_and_has_a_version(tmp_path):
    (tmp_path / "careful").mkdir()
    written(tmp_path / "careful", ONE_CHECK, ONE_CHECK.replace("check: n", "check: m"))
    first = Contract.load(tmp_path / "careful")
    assert first.named == {"contract": "careful", "version": 1}
    (tmp_path / "careful" / "contract.yaml").write_text("version: 3\n")
    third = Contract.load(tmp_path / "careful")
    assert third.named == {"contract": "careful", "version": 3}
    assert third.digest != first.digest
    assert Contract.from_mapping(third.to_mapping()) == third
    assert Contract.from_mapping({"rows": [entry()], "items": [entry("b")]}).named == {}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("version: 0\n", "contract.yaml:1: version: found 0; expected a whole number from 1"),
        ("name: x\n", "contract.yaml:1: found .*; expected `version: 1` or higher"),
        ("- 1\n", "contract.yaml:1: found .*; expected `version: 1` or higher"),
    ],
)
def test_mistakes_in_the_version_of_a_contract_are_named(tmp_path, text, words):
    written(tmp_path, ONE_CHECK, ONE_CHECK.replace("check: n", "check: m"))
    (tmp_path / "contract.yaml").write_text(text)
    with pytest.raises(ContractError, match=words):
        Contract.load(tmp_path)
