"""A contract that asks for less shows: it has a name, a version and a line in the log."""

from dataclasses import replace
from pathlib import Path
from shutil import copytree

import pandas as pd
import pytest

from agreement_pipeline.cli import main
from agreement_pipeline.contract import Contract, Suite
from agreement_pipeline.errors import ContractError, ReleaseInvalidError, StoreError
from agreement_pipeline.evidence.history import round_table
from agreement_pipeline.integrity import Finding
from agreement_pipeline.policy import Policy, Rule
from agreement_pipeline.ratings import Ratings, Scale
from agreement_pipeline.readers import read_delivered
from agreement_pipeline.release import (
    Checked,
    judge_round,
    reassess,
    release_round,
    verify_release,
)
from agreement_pipeline.store import Store
from agreement_pipeline.yaml_files import Place
from tests.contract.earlier import EARLIER, RECORDS, record_decision
from tests.contract.suites import entry
from tests.release.forging import edit

POLICY = Policy("usual", 1, (Rule("krippendorff_alpha"),), n_resamples=1000)
GOLDEN = Path(__file__).parents[1] / "golden"
ROWS = [
    (f"i{n:03}", rater, ("no", "yes")[n % 2]) for n in range(100) for rater in ("ana", "ben", "chi")
]


NONE = Contract.none()


def asking(severity="critical", name="ours", version=1, column="label"):
    """A contract that asks that a column has no gaps."""
    suite = {
        "expectations": [entry(severity=severity, column=column)],
        "meta": {"version": version},
    }
    return Contract.of_suite(Suite.from_mapping(suite, name, Place(f"{name}.json")))


@pytest.fixture
def store(tmp_path):
    frame = pd.DataFrame(ROWS, columns=["item", "rater", "label"])
    (tmp_path / "export.csv").write_bytes(b"as delivered")
    made = Store(tmp_path / "store", salt=b"a salt for tests")
    ratings, table = Ratings.from_frame(frame, Scale(("no", "yes"))), read_delivered(frame, None)
    made.ingest("r1", ratings, tmp_path / "export.csv", delivered_table=table.to_parquet())
    return made


def test_other_checks_under_one_name_and_version_are_refused(store):
    judge_round(store, "r1", POLICY, asking())
    words = "contract ours, version 1: found other checks than those that round r1 was first"
    with pytest.raises(StoreError, match=words):
        judge_round(store, "r1", POLICY, asking("warning"))
    with pytest.raises(StoreError, match=words):
        list(reassess(store, POLICY, asking("warning")))
    judge_round(store, "r1", POLICY, asking())
    judge_round(store, "r1", POLICY, asking("warning", version=2))


def test_a_contract_stands_in_decision_card_table_and_log_and_none_in_no_table(store):
    judge_round(store, "r1", POLICY, NONE)
    assert round_table(store)["policy"].tolist() == ["usual, version 1"]
    assert store.history("r1")[-1]["contract"] == {"contract": "none", "version": 2}
    careless = asking("warning", "careless", 3)
    judged, _ = judge_round(store, "r1", POLICY, careless)
    assert judged.decision.contract == ("careless", 3)
    named = {"contract": "careless", "version": 3}
    assert judged.decision.to_mapping()["contract"] == named
    assert store.history("r1")[-1]["contract"] == named
    assert round_table(store)["policy"].tolist() == [
        "usual, version 1; contract careless, version 3"
    ]
    made = release_round(store, "r1", POLICY, careless, project="demo")
    words = "contract careless, version 3, where 0 of 1 checks of the delivery can hold a release"
    assert words in (made.path / "README.md").read_text()
    assert verify_release(made.path, store=store).contract == careless


def test_a_release_without_a_contract_says_nothing_of_checks_that_can_hold(store, capsys):
    made = release_round(store, "r1", POLICY, NONE, project="demo")
    assert "data contract" not in (made.path / "README.md").read_text()
    assert verify_release(made.path).contract == NONE
    assert main(["verify", str(made.path)]) == 0
    said = capsys.readouterr().out
    assert "checks" not in said
    assert "contract" not in said


def test_what_another_contract_found_in_a_kept_version_is_not_taken_for_this_ones(store):
    version, ratings = store.present("r1"), store.ratings("r1")
    broken = Finding("raters_known", "integrity", False, "error", "3 raters are unknown")
    for found, admitted in (((), True), ((broken,), False)):
        kept = Checked(version, ratings, (POLICY.digest, NONE.digest), found)
        judged, _ = judge_round(store, "r1", POLICY, NONE, checked=kept)
        assert judged.decision.admitted is admitted
        judged, _ = judge_round(store, "r1", POLICY, asking(), checked=kept)
        assert judged.decision.admitted
        assert "label_not_null" in {finding.check for finding in judged.decision.findings}
        other = replace(POLICY, policy="other", n_resamples=2000)
        judged, _ = judge_round(store, "r1", other, NONE, checked=kept)
        assert judged.decision.admitted


def test_a_contract_of_an_earlier_version_judges_no_round_that_it_never_judged(store):
    words = "contract careful, version 3: found one of an earlier version, which is asked no more"
    with pytest.raises(ContractError, match=words):
        judge_round(store, "r1", POLICY, EARLIER)
    with pytest.raises(ContractError, match=words):
        release_round(store, "r1", POLICY, EARLIER, project="demo")
    assert [each["event"] for each in store.history()] == ["ingested"]


@pytest.fixture
def recorded_earlier(store):
    """The log of a store in which an earlier version judged the round by its tables."""
    record_decision(store, "r1", POLICY)
    return store


def test_what_it_found_is_taken_from_the_log(recorded_earlier):
    judged, withdrawn = judge_round(recorded_earlier, "r1", POLICY, EARLIER)
    assert [finding.to_mapping() for finding in judged.decision.findings[:2]] == RECORDS
    assert judged.decision.admitted
    assert not withdrawn


def test_other_tables_than_the_log_has_find_nothing_there(recorded_earlier):
    weaker = Contract.from_mapping({**EARLIER.to_mapping(), "items": []})
    with pytest.raises((ContractError, StoreError), match="contract careful, version 3: found"):
        judge_round(recorded_earlier, "r1", POLICY, weaker)


def as_an_earlier_version(path):
    """A release that says that it was let out under a contract of tables."""
    edit(path, "policy.json", lambda said: said.update(contract=EARLIER.to_mapping()))

    def change(said):
        said["r1"]["findings"] = [*RECORDS, *said["r1"]["findings"]]
        said["r1"] |= {"contract": EARLIER.named, "contract_digest": EARLIER.digest}

    edit(path, "decision.json", change)

    def of_manifest(said):
        said["contract_digest"] = EARLIER.digest
        said["written_by"]["agreement_pipeline"] = "0.6.0.dev9"

    edit(path, "manifest.json", of_manifest)


@pytest.mark.parametrize("with_store", [False, True])
def test_a_release_under_tables_that_no_log_has_is_refused(store, with_store):
    made = release_round(store, "r1", POLICY, NONE, project="demo")
    as_an_earlier_version(made.path)
    code = "release_not_in_log" if with_store else "release_not_derived"
    with pytest.raises(ReleaseInvalidError) as refused:
        verify_release(made.path, store=store if with_store else None)
    assert refused.value.code == code


def forged_golden(tmp_path, change):
    """A release of an earlier version in its store, in which the decision was changed since."""
    store = Store(str(copytree(GOLDEN / "bcac661" / "forum", tmp_path / "forum")))
    (entry,) = store.in_force()
    path = Path(str(store.root)) / "releases" / entry["release"]
    edit(path, "decision.json", change)
    return path, store


def fail_a_check(said):
    said["forum-1"]["findings"][0]["passed"] = False


def pass_a_check(said):
    finding = next(each for each in said["forum-1"]["findings"] if not each["passed"])
    finding["passed"] = True


def drop_a_finding(said):
    said["forum-1"]["findings"].pop(0)


def admit(said):
    said["forum-1"]["codes"] = []
    said["forum-1"]["reasons"] = ["krippendorff_alpha 0.99"]


@pytest.mark.parametrize("change", [fail_a_check, pass_a_check, drop_a_finding, admit])
@pytest.mark.parametrize("with_store", [False, True])
def test_a_forged_decision_of_an_earlier_version_does_not_pass(tmp_path, change, with_store):
    path, store = forged_golden(tmp_path, change)
    with pytest.raises(ReleaseInvalidError):
        verify_release(path, store=store if with_store else None)


def test_the_same_release_unchanged_passes_with_its_store_alone(tmp_path, capsys):
    path, store = forged_golden(tmp_path, lambda said: None)
    release = verify_release(path, store=store)
    assert release.rounds == ("forum-1",)
    assert release.held_today == {}
    words = "under contract default, version 5, which agreement_pipeline 0.6.0.dev9 wrote; expected"
    with pytest.raises(ReleaseInvalidError, match=words):
        verify_release(path)
    assert main(["verify", str(path), "--store", str(store.root), "--today"]) == 0
    assert "checks can hold" not in capsys.readouterr().out
