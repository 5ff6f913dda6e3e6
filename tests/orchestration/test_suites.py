"""Suites of Great Expectations on the delivered table, in the line."""

import json
from datetime import date, timedelta

import dagster as dg
import pytest
import yaml

from agreement_pipeline import open_release
from agreement_pipeline.cli import main
from agreement_pipeline.errors import ReleaseInvalidError
from agreement_pipeline.release import reassess
from agreement_pipeline.store import Store, erase, of_event
from tests.orchestration.conftest import ratings_frame
from tests.orchestration.test_sensors import at_rest

N_RATINGS, ODD = 360, [4, 5, 77]
LANGUAGE = {
    "type": "expect_column_values_to_be_in_set",
    "kwargs": {"column": "language", "value_set": ["de", "fr"]},
    "severity": "critical",
    "meta": {},
}
SECONDS = {
    "type": "expect_column_mean_to_be_between",
    "kwargs": {"column": "seconds", "min_value": 1, "max_value": 2},
    "severity": "warning",
    "meta": {},
    "description": "A rating takes a second or two.",
}
SHOWN = {
    "type": "expect_column_values_to_not_be_null",
    "kwargs": {"column": "note"},
    "severity": "info",
    "meta": {"check": "notes"},
}


def write_suite(line, *entries, version=1):
    suite = {
        "name": "whatever",
        "id": "3f0c",
        "expectations": list(entries),
        "meta": {"great_expectations_version": "1.24.1", "version": version},
        "notes": None,
    }
    folder = line.root / "configs/contracts"
    folder.mkdir(exist_ok=True)
    (folder / "listings.json").write_text(json.dumps(suite))


def frame():
    table = ratings_frame(0.99).assign(language="de", seconds=3.0, note="fine")
    table.loc[ODD, "language"] = "x@y.de"
    table.loc[[0], "note"] = None
    return table


@pytest.fixture
def listings(make_line):
    line = make_line(contract="listings.json")
    write_suite(line, LANGUAGE, SECONDS, SHOWN)
    return line


def answers(result):
    return {each.check_name: each for each in result.get_asset_check_evaluations()}


def waive(line, check):
    store = line.project.store
    folder = line.root / "configs/waivers"
    folder.mkdir(exist_ok=True)
    waiver = {
        "project": "reviews",
        "round": "w1",
        "ratings_digest": store.present("w1").ratings_digest,
        "check": check,
        "contract_digest": line.project.contract.digest,
        "who": "Ana Lopez",
        "why": "three rows in a test of the new form",
        "until": str(date.today() + timedelta(days=20)),
    }
    (folder / "w1.yaml").write_text(yaml.safe_dump(waiver))


def test_a_broken_rule_of_an_extra_column_is_shown_and_holds_the_round(listings):
    listings.deliver("w1", frame())
    result = listings.run("w1")
    found = answers(result)
    language = found["language_in_set"]
    assert not language.passed
    assert language.severity == dg.AssetCheckSeverity.ERROR
    assert language.metadata["element_count"].value == N_RATINGS
    assert language.metadata["unexpected_count"].value == len(ODD)
    assert language.metadata["rule"].value["kwargs"] == LANGUAGE["kwargs"]
    rows = [record.data for record in language.metadata["failed_rows"].records]
    assert [row["row"] for row in rows] == [str(at + 2) for at in ODD]
    assert {row["found"] for row in rows} == {"x@y.de"}
    assert not found["seconds_mean_to_be_between"].passed
    assert found["seconds_mean_to_be_between"].severity == dg.AssetCheckSeverity.WARN
    assert found["seconds_mean_to_be_between"].metadata["observed_value"].value == 3.0
    assert not found["notes"].passed
    assert found["notes"].severity == dg.AssetCheckSeverity.WARN
    decided = of_event("decided", listings.project.store.history("w1"))[-1]
    assert decided["codes"] == ["contract:language_in_set"]
    assert "x@y.de" not in json.dumps(decided)
    assert listings.released() == []


def test_results_are_kept_in_the_form_of_great_expectations_under_the_digest_in_the_log(listings):
    from great_expectations.core.expectation_validation_result import (
        ExpectationSuiteValidationResultSchema,
    )

    listings.deliver("w1", frame())
    listings.decide("w1")
    store = listings.project.store
    said = of_event("decided", store.history("w1"))[-1]["delivery"]
    place = f"contracts/{said['suite_digest']}/{said['delivery_digest']}-{said['results_digest']}"
    content = store.storage.read(f"{place}.json")
    loaded = ExpectationSuiteValidationResultSchema().load(json.loads(content))
    counts = {
        each.expectation_config.meta["check"]: each.result.get("unexpected_count")
        for each in loaded.results
    }
    assert counts == {"language_in_set": 3, "seconds_mean_to_be_between": None, "notes": 1}
    assert said["delivery_digest"] == store.present("w1").delivery_digest


def test_a_round_is_waived_released_verified_and_held_again_when_the_suite_changes(
    listings, monkeypatch, capsys
):
    listings.deliver("w1", frame())
    listings.decide("w1")
    waive(listings, "language_in_set")
    listings.decide("w1")
    (folder,) = listings.released()
    monkeypatch.setattr("agreement_pipeline.contract.gx.validate_frame", _never)
    release = open_release(folder, store=listings.project.store)
    recorded = release.members[0].delivery["findings"]
    assert [(each["check"], each["passed"]) for each in recorded] == [
        ("language_in_set", False),
        ("seconds_mean_to_be_between", False),
        ("notes", False),
    ]
    capsys.readouterr()
    assert main(["verify", str(folder)]) == 0
    printed = capsys.readouterr().out
    assert "recorded, and not derived again: 3 checks of the delivery, of which 3 failed" in printed
    assert "\n      error: language_in_set: 3 of 360 rows fail" in printed
    assert "waived by Ana Lopez" in printed
    texts = [path.read_bytes() for path in folder.rglob("*") if path.is_file()]
    assert not any(b"x@y.de" in text for text in texts)
    monkeypatch.undo()

    allowed = {**LANGUAGE, "kwargs": {"column": "language", "value_set": ["de", "x@y.de"]}}
    write_suite(listings, allowed, version=2)
    (again,) = reassess(listings.project.store, **listings.project.terms)
    assert again.judged.decision.admitted
    write_suite(listings, LANGUAGE, version=3)
    (again,) = reassess(listings.project.store, **listings.project.terms)
    assert again.judged.decision.codes == ("contract:language_in_set",)
    assert listings.released() == []


def _never(*_):
    raise AssertionError("a suite was run")


def test_what_the_log_names_is_trusted_and_a_result_of_other_bytes_is_found_again(
    listings, monkeypatch
):
    table = frame().assign(language="de")
    listings.deliver("w1", table)
    listings.decide("w1")
    monkeypatch.setattr("agreement_pipeline.contract.gx.validate_frame", _never)
    assert listings.project.release("w1").rounds == ("w1",)
    monkeypatch.undo()
    (kept,) = (listings.project.store.root / "contracts").rglob("*.json")
    kept.chmod(0o644)
    kept.write_text(kept.read_text().replace('"success": false', '"success": true'))
    calls = []
    from agreement_pipeline.contract import gx

    run = gx.validate_frame
    monkeypatch.setattr(gx, "validate_frame", lambda *of: calls.append(of) or run(*of))
    listings.project.release("w1")
    assert len(calls) == 1


def test_a_suite_that_names_a_column_later_holds_until_the_delivery_is_read_again(listings):
    listings.deliver("w1", frame().assign(language="de", origin="web"))
    listings.decide("w1")
    origin = {**SHOWN, "kwargs": {"column": "origin"}, "meta": {}, "severity": "critical"}
    write_suite(listings, LANGUAGE, origin, version=2)
    (again,) = reassess(listings.project.store, **listings.project.terms)
    assert again.judged.decision.codes == ("contract:contract_not_checked",)
    assert "column 'origin'" in str(again.judged.decision)
    listings._loaded = None
    assert listings.decide("w1").success


def test_a_rater_is_erased_from_the_delivered_table_too(listings, tmp_path):
    listings.deliver("w1", frame().assign(language="de"))
    listings.decide("w1")
    store = listings.project.store
    erase(store.root, tmp_path / "new", "rater", "ana", by="Dana Lopez", reason="on request 7")
    new = Store(tmp_path / "new")
    from agreement_pipeline.readers import DeliveredTable

    table = DeliveredTable.from_parquet(new.kept_delivery(new.present("w1")))
    assert set(table.keys["rater"].to_pylist()) == {"ben", "chi"}
    assert len(table) == 240
    assert not (tmp_path / "new/contracts").exists()
    (again,) = reassess(new, **listings.project.terms)
    assert again.judged.gate.delivery.facts["delivery_digest"] == new.present("w1").delivery_digest


def test_great_expectations_is_asked_once_in_a_run_of_a_round(listings, monkeypatch):
    from agreement_pipeline.contract import gx

    calls, run = [], gx.validate_frame
    monkeypatch.setattr(gx, "validate_frame", lambda *of: calls.append(of) or run(*of))
    listings.deliver("w1", frame().assign(language="de"))
    assert listings.run("w1").success
    assert len(calls) == 1


def test_annotations_with_a_suite_are_of_the_kind_great_expectations(listings):
    specs = listings.definitions.resolve_all_asset_specs()
    kinds = {spec.key.path[-1]: spec.kinds for spec in specs}
    assert kinds["annotations"] == {"parquet", "greatexpectations"}


def test_a_delivery_that_is_no_round_shows_what_the_suite_finds(listings):
    twice = frame()
    twice.loc[1, ["item", "rater", "label"]] = ["i000", "ana", "hateful"]
    listings.deliver("w1", twice)
    result = listings.decide("w1")
    assert not result.success
    assert {name: each.passed for name, each in answers(result).items()} == {
        "language_in_set": False,
        "seconds_mean_to_be_between": False,
        "notes": False,
    }
    assert listings.project.store.rounds() == ()


@pytest.mark.parametrize(
    "change",
    [
        lambda findings: findings[0].update(passed=True),
        lambda findings: findings[1]["counts"].update(observed_value=1.5),
        lambda findings: findings[0].update(counts=None),
        lambda findings: findings.pop(),
        lambda findings: findings[0].update(check="other"),
    ],
)
def test_a_release_whose_recorded_findings_were_changed_is_refused(listings, change):
    listings.deliver("w1", frame())
    listings.decide("w1")
    waive(listings, "language_in_set")
    listings.decide("w1")
    (folder,) = listings.released()
    manifest = folder / "manifest.json"
    said = json.loads(manifest.read_text())
    change(said["rounds"][0]["delivery"]["findings"])
    manifest.chmod(0o644)
    manifest.write_text(json.dumps(said))
    with pytest.raises(ReleaseInvalidError):
        open_release(folder)


def test_the_sensor_and_a_backfill_judge_deliveries_by_the_suite(listings):
    for name in ("w1", "w2"):
        table = frame().assign(language="de") if name == "w2" else frame()
        at_rest(listings.deliver(name, table))
    definitions = listings.definitions
    sensor = definitions.resolve_sensor_def("reviews_new_rounds")
    asked = sensor(dg.build_sensor_context(instance=listings.instance, definitions=definitions))
    keys = [request.partition_key for request in asked.run_requests]
    assert keys == ["w1", "w2"]
    # a backfill launches a run for each partition with these tags
    tags = {"dagster/backfill": "b1"}
    assert [listings.run(key, tags=tags).success for key in keys] == [False, True]
    assert [path.parts[-2] for path in listings.released()] == ["w2"]
