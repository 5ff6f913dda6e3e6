"""The log says what happened, and shows when somebody changed what it says."""

from datetime import UTC, datetime

import pytest

from agreement_pipeline import StoreError
from agreement_pipeline.store import Store


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path / "store")


def test_every_entry_of_the_log_has_a_number_a_time_and_its_facts(store):
    start = datetime.now(UTC)
    store.record("decided", "r1", decision="held", reasons=("too few",))
    store.record("released", "r2", release="r2/v")
    one, two = store.history()
    assert (one["number"], one["event"], one["round"], one["reasons"], one["previous"]) == (1, "decided", "r1", ["too few"], "")
    assert start <= datetime.fromisoformat(one["time"]) <= datetime.fromisoformat(two["time"]) <= datetime.now(UTC)
    assert store.history("r2") == (two,)


def test_the_same_decision_twice_in_a_row_is_recorded_once(store):
    for decision, words in (("held", "few"), ("held", "in other words"), ("admitted", ""), ("held", "few")):
        store.record("decided", "r", decision=decision, ratings_digest="d", reasons=[words])
    store.record("decided", "r", decision="held", ratings_digest="another", reasons=["few"])
    assert [(entry["decision"], entry["ratings_digest"]) for entry in store.history("r")] == [
        ("held", "d"),
        ("admitted", "d"),
        ("held", "d"),
        ("held", "another"),
    ]


def test_a_release_is_recorded_again_only_after_it_was_withdrawn(store):
    for event in ("released", "released", "withdrawn", "released"):
        store.record(event, "r", release="r/v")
    assert [entry["event"] for entry in store.history()] == ["released", "withdrawn", "released"]


def test_unknown_events_and_names_that_the_log_uses_itself_are_refused(store):
    with pytest.raises(StoreError, match="event 'approved' found; one of ingested, decided, released, withdrawn"):
        store.record("approved", "r")
    with pytest.raises(StoreError, match=r"facts called \['time'\] found"):
        store.record("decided", "r", time="yesterday")


@pytest.mark.parametrize(
    ("edit", "found"),
    [
        (lambda lines: [lines[0].replace("held", "admitted"), *lines[1:]], "entry 2 does not follow"),
        (lambda lines: [*lines[:-1], lines[-1].replace("held", "admitted")], "entry 3 is not the one"),
        (lambda lines: lines[1:], "entry 1 does not follow"),
        (lambda lines: [lines[0], lines[2]], "entry 2 does not follow"),
        (lambda lines: lines[:-1], "2 entries found where 3 were written"),
        (lambda lines: [], "0 entries found where 3 were written"),
        (lambda lines: [lines[0], lines[2], lines[1]], "entry 2 does not follow"),
        (lambda lines: [*lines, lines[-1]], "entry 4 does not follow"),
        (lambda lines: [*lines[:-1], "not JSON"], "entry 3 does not follow"),
    ],
)
def test_an_edited_moved_or_removed_entry_breaks_the_chain(store, edit, found):
    for digest in "abc":
        store.record("decided", "r", decision="held", ratings_digest=digest)
    path = store.root / "log.jsonl"
    path.write_text("".join(f"{line}\n" for line in edit(path.read_text().splitlines())))
    for step in (store.history, lambda: store.record("decided", "r", decision="admitted")):
        with pytest.raises(StoreError, match=found):
            step()


def test_a_log_that_is_gone_altogether_is_missed(store):
    store.record("decided", "r", decision="held")
    (store.root / "log.jsonl").unlink()
    with pytest.raises(StoreError, match="0 entries found where 1 were written"):
        store.history()
