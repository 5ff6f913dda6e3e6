"""The store is judged again: what stands, what is decided anew, and what a killed run leaves."""

from dataclasses import replace
from datetime import date, timedelta
from shutil import copytree

import pytest

from agreement_pipeline.contract import Contract
from agreement_pipeline.errors import StoreError
from agreement_pipeline.policy import Waiver
from agreement_pipeline.release import (
    decisions,
    judge_round,
    reassess,
    release_dataset,
    release_round,
)
from agreement_pipeline.release.decisions import today
from agreement_pipeline.store import Store, local
from tests.contract.suites import entry, suite_of
from tests.killing import killed
from tests.release.rounds import CONTRACT, POLICY, STRICTER, make_ratings, released
from tests.releases import current_release

NAMES = ("r1", "r2", "r3")


@pytest.fixture(scope="module")
def three_once(tmp_path_factory):
    folder = tmp_path_factory.mktemp("three")
    (folder / "export.csv").write_bytes(b"as delivered")
    store = Store(folder / "store", salt=b"a salt for tests")
    for name, disagreements in zip(NAMES, (0, 3, 60), strict=True):
        store.ingest(name, make_ratings(disagreements, prefix=name), folder / "export.csv")
        judge_round(store, name, POLICY, CONTRACT)
    for name in NAMES[:2]:
        released(store, name=name)
    return store.root


@pytest.fixture
def three(three_once, tmp_path):
    """Two rounds that are released, and one that is held."""
    return Store(copytree(three_once, tmp_path / "store"), salt=b"a salt for tests")


def anew(store, policy=POLICY, by=CONTRACT, **more):
    """The rounds that are decided anew, each with the new decision."""
    found = list(reassess(store, policy, by, **more))
    assert [each.round for each in found] == list(NAMES)
    assert not [each.error for each in found if each.error]
    return {
        each.round: "admitted" if each.judged.decision.admitted else "held"
        for each in found
        if each.judged is not None
    }


def test_where_nothing_changed_every_decision_stands_and_the_log_too(three):
    head = three.log.head
    assert anew(three) == {}
    assert three.log.head == head


def test_another_policy_decides_all_anew_and_withdraws_what_it_does_not_admit(three):
    release_dataset(three, ["r1", "r2"], POLICY, CONTRACT, project="demo")
    assert anew(three, STRICTER) == {"r1": "admitted", "r2": "held", "r3": "held"}
    found = {name: current_release(three, name) for name in ("r1", "r2", "demo.dataset")}
    assert [name for name, path in found.items() if path] == ["r1"]
    assert anew(three, STRICTER) == {}


def test_it_decides_as_judging_each_round_does(three, original, tmp_path):
    other = Store(tmp_path / "other", salt=b"a salt for tests")
    for name, disagreements in zip(NAMES, (0, 3, 60), strict=True):
        other.ingest(name, make_ratings(disagreements, prefix=name), original)
        judge_round(other, name, STRICTER, CONTRACT)
    anew(three, STRICTER)
    for name in NAMES:
        one, two = (
            [each for each in store.history(name) if each["event"] == "decided"][-1]
            for store in (three, other)
        )
        told = {"number", "time", "previous", "index", "project"}
        assert {key: one[key] for key in one.keys() - told} == {
            key: two[key] for key in two.keys() - told
        }


@pytest.mark.parametrize(
    "terms",
    [
        {"by": Contract.of_suite(suite_of(entry()))},
        {"settings_digest": "of other settings"},
    ],
    ids=["a contract", "settings"],
)
def test_other_terms_decide_all_anew(three, terms):
    assert anew(three, **terms).keys() == {*NAMES}


def test_another_version_of_the_code_decides_all_anew(three, monkeypatch):
    monkeypatch.setattr(decisions, "__version__", "another")
    assert anew(three).keys() == {*NAMES}


def test_new_ratings_of_one_round_decide_it_anew_and_withdraw_its_release(three, original):
    three.ingest("r2", make_ratings(50, prefix="r2"), original)
    assert anew(three) == {"r2": "held"}
    assert current_release(three, "r2") is None


def test_a_round_that_was_never_decided_is_decided(store, original):
    for name in NAMES:
        store.ingest(name, make_ratings(prefix=name), original)
    assert anew(store) == dict.fromkeys(NAMES, "admitted")


def test_settings_that_are_those_of_before_again_decide_anew_what_they_held(store, original):
    for name in NAMES:
        store.ingest(name, make_ratings(prefix=name), original, settings_digest="own")
        judge_round(store, name, POLICY, CONTRACT, settings_digest="own")
    assert anew(store, settings_digest="own") == {}
    assert anew(store, settings_digest="others") == dict.fromkeys(NAMES, "held")
    assert anew(store, settings_digest="own") == dict.fromkeys(NAMES, "admitted")


def test_a_round_with_a_waiver_is_decided_anew_each_time_and_when_it_is_gone(three):
    ratings = three.present("r3").ratings_digest
    waiver = Waiver(
        project="demo",
        round="r3",
        ratings_digest=ratings,
        measure="krippendorff_alpha",
        scope="round",
        who="eva",
        why="the labels were read again by two people",
        until=today() + timedelta(days=1),
    )
    assert anew(three, waivers=[waiver]) == {"r3": "admitted"}
    assert anew(three, waivers=[waiver]) == {"r3": "admitted"}
    ended = replace(waiver, until=date(2020, 1, 1))
    assert anew(three, waivers=[ended]) == {"r3": "held"}
    assert anew(three) == {}


def test_a_clock_that_was_put_back_withdraws_nothing(three, monkeypatch):
    """By such a clock, a waiver of some days seems to last longer than a policy allows."""
    waiver = Waiver(
        project="demo",
        round="r3",
        ratings_digest=three.present("r3").ratings_digest,
        measure="krippendorff_alpha",
        scope="round",
        who="eva",
        why="the labels were read again by two people",
        until=today() + timedelta(days=1),
    )
    assert anew(three, waivers=[waiver]) == {"r3": "admitted"}
    release_round(three, "r3", POLICY, CONTRACT, project="demo", waivers=[waiver])
    releases = three.in_force("r3")
    day = today()
    monkeypatch.setattr(decisions, "today", lambda: day - timedelta(400))
    found = {each.round: each for each in reassess(three, POLICY, CONTRACT, waivers=[waiver])}
    assert "expected a clock that does not stand before the log" in found["r3"].error
    assert three.in_force("r3") == releases


def test_a_notice_that_was_removed_is_written_again(three):
    anew(three, STRICTER)
    (notice,) = three.root.glob("releases/r2/*/WITHDRAWN.json")
    notice.unlink()
    assert anew(three, STRICTER) == {"r2": "held"}
    assert notice.exists()


def test_edited_bytes_of_one_round_keep_no_other_from_being_judged(three):
    path = three.root / f"rounds/{three.present('r1').ratings_digest}"
    (table,) = path.iterdir()
    table.chmod(0o644)
    table.write_bytes(table.read_bytes()[:-1] + b"x")
    for policy in (POLICY, STRICTER):
        found = {each.round: each for each in reassess(three, policy, CONTRACT)}
        assert "the ratings were edited" in found["r1"].error
        assert [name for name, each in found.items() if each.error] == ["r1"]


def test_a_table_that_the_disk_does_not_give_keeps_no_other_from_being_judged(three, monkeypatch):
    kept, broken = Store.kept_table, three.present("r1")

    def read(store, version):
        if version == broken:
            raise OSError(5, "Input/output error")
        return kept(store, version)

    monkeypatch.setattr(Store, "kept_table", read)
    for policy in (POLICY, STRICTER):
        found = {each.round: each for each in reassess(three, policy, CONTRACT)}
        assert found["r1"].error.startswith("found [Errno 5] Input/output error; expected")
        assert [name for name, each in found.items() if each.error] == ["r1"]


def test_a_policy_of_a_used_name_is_refused_before_any_round(three):
    other = replace(STRICTER, policy=POLICY.policy)
    with pytest.raises(StoreError, match="found other rules than those"):
        next(reassess(three, other, CONTRACT))


@pytest.mark.parametrize("n", [3, 8, 14, 20])
def test_a_run_that_is_killed_leaves_what_it_decided_and_the_next_one_goes_on(three, n):
    points = [(local, name) for name in ("put", "link", "rename", "remove")]

    def work():
        for _ in reassess(Store(three.root, salt=b"a salt for tests"), STRICTER, CONTRACT):
            pass

    died = killed(work, n, points)
    again = Store(three.root, salt=b"a salt for tests")
    decided = {
        entry["round"]
        for entry in again.history()
        if entry["event"] == "decided" and entry["policy_digest"] == STRICTER.digest
    }
    assert died or decided == {*NAMES}
    finished = {"r1": "admitted", "r2": "held", "r3": "held"}
    rest = anew(again, STRICTER)
    assert rest.keys() <= {*NAMES} - decided | {"r2"}
    assert {**finished, **rest} == finished
    assert current_release(again, "r2") is None
    assert anew(again, STRICTER) == {}


def test_a_round_that_becomes_tentative_has_changed(three):
    policy = replace(STRICTER, admit=("reliable", "tentative"))
    rows = {each.round: each.row for each in reassess(three, policy, CONTRACT) if each.changed}
    assert {name: (row["before"], row["now"]) for name, row in rows.items()} == {
        "r2": ("admitted", "admitted (tentative)")
    }
    (found,) = (each for each in reassess(three, policy, CONTRACT) if each.round == "r2")
    assert found.row["before"] == "admitted (tentative)"
