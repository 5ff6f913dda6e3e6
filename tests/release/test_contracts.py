"""A contract that asks for less shows: it has a name, a version and a line in the log."""

from dataclasses import replace

import pandas as pd
import pytest

from agreement_pipeline.contract import Contract
from agreement_pipeline.errors import StoreError
from agreement_pipeline.evidence.history import round_table
from agreement_pipeline.integrity import Finding
from agreement_pipeline.policy import Policy, Rule
from agreement_pipeline.ratings import Ratings, Scale
from agreement_pipeline.release import (
    Checked,
    judge_round,
    reassess,
    release_round,
    verify_release,
)
from agreement_pipeline.store import Store

BUILT_IN = Contract.default()
POLICY = Policy("usual", 1, (Rule("krippendorff_alpha"),), n_resamples=1000)
ROWS = [
    (f"i{n:03}", rater, ("no", "yes")[n % 2]) for n in range(100) for rater in ("ana", "ben", "chi")
]


def weaker(checks, **more):
    """The contract, in which every check only warns."""
    tables = {
        table: tuple(replace(each, severity="warning") for each in of)
        for table, of in checks.tables.items()
    }
    return replace(checks, **tables, **more)


@pytest.fixture
def store(tmp_path):
    frame = pd.DataFrame(ROWS, columns=["item", "rater", "label"])
    (tmp_path / "export.csv").write_bytes(b"as delivered")
    made = Store(tmp_path / "store", salt=b"a salt for tests")
    made.ingest("r1", Ratings.from_frame(frame, Scale(("no", "yes"))), tmp_path / "export.csv")
    return made


def test_other_checks_under_one_name_and_version_are_refused(store):
    judge_round(store, "r1", POLICY, BUILT_IN)
    words = "contract default, version 5: found other checks than those that round r1 was first"
    with pytest.raises(StoreError, match=words):
        judge_round(store, "r1", POLICY, weaker(BUILT_IN))
    with pytest.raises(StoreError, match=words):
        list(reassess(store, POLICY, weaker(BUILT_IN)))
    judge_round(store, "r1", POLICY, BUILT_IN)


def test_a_new_version_stands_in_decision_card_table_and_log(store):
    judge_round(store, "r1", POLICY, BUILT_IN)
    assert round_table(store)["policy"].tolist() == ["usual, version 1"]
    careless = weaker(BUILT_IN, contract="careless", version=3)
    judged, _ = judge_round(store, "r1", POLICY, careless)
    assert judged.decision.contract == ("careless", 3)
    named = {"contract": "careless", "version": 3}
    assert judged.decision.to_mapping()["contract"] == named
    assert store.history("r1")[-1]["contract"] == named
    assert round_table(store)["policy"].tolist() == [
        "usual, version 1; contract careless, version 3"
    ]
    made = release_round(store, "r1", POLICY, careless, project="demo")
    words = f"contract careless, version 3, where 0 of {len(BUILT_IN.expectations)} checks can hold"
    assert words in (made.path / "README.md").read_text()
    assert verify_release(made.path, store=store).contract == careless


def test_what_another_contract_found_in_a_kept_version_is_not_taken_for_this_ones(store):
    version, ratings = store.present("r1"), store.ratings("r1")
    broken = Finding("labels_known", "rows", False, "error", "3 labels are unknown")
    careful = replace(BUILT_IN, contract="careful")
    for found, admitted in (((), True), ((broken,), False)):
        kept = Checked(version, ratings, (POLICY.digest, BUILT_IN.digest), found)
        judged, _ = judge_round(store, "r1", POLICY, BUILT_IN, checked=kept)
        assert judged.decision.admitted is admitted
        judged, _ = judge_round(store, "r1", POLICY, careful, checked=kept)
        assert judged.decision.admitted
        assert len(judged.decision.findings) >= len(careful.expectations)
        other = replace(POLICY, policy="other", n_resamples=2000)
        judged, _ = judge_round(store, "r1", other, BUILT_IN, checked=kept)
        assert judged.decision.admitted


def test_a_contract_without_a_name_is_not_compared(store):
    judge_round(store, "r1", POLICY, replace(BUILT_IN, contract=""))
    judged, _ = judge_round(store, "r1", POLICY, weaker(BUILT_IN, contract=""))
    assert "contract" not in judged.decision.to_mapping()
