"""The log says what happened, and shows when somebody changed it."""

from contextlib import nullcontext
from datetime import UTC, datetime
from pathlib import Path

import pytest

from agreement_pipeline.errors import StoreError
from agreement_pipeline.store import Store, digest_of
from agreement_pipeline.store.local import LocalStorage
from tests.events import record


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path / "store")


def test_every_entry_of_the_log_has_a_number_a_time_and_its_facts(store):
    start = datetime.now(UTC)
    record(store, "decided", "r1", decision="held", reasons=("too few",))
    record(store, "released", "r2", release="r2/v")
    one, two = store.history()
    assert (one["number"], one["event"], one["round"], one["reasons"], one["previous"]) == (
        1,
        "decided",
        "r1",
        ["too few"],
        "",
    )
    assert (
        start
        <= datetime.fromisoformat(one["time"])
        <= datetime.fromisoformat(two["time"])
        <= datetime.now(UTC)
    )
    assert store.history("r2") == (two,)


def test_the_same_decision_twice_in_a_row_is_recorded_once(store):
    for decision, words in (
        ("held", "few"),
        ("held", "in other words"),
        ("admitted", ""),
        ("held", "few"),
    ):
        record(store, "decided", "r", decision=decision, ratings_digest="d", reasons=[words])
    record(store, "decided", "r", decision="held", ratings_digest="another", reasons=["few"])
    assert [(entry["decision"], entry["ratings_digest"]) for entry in store.history("r")] == [
        ("held", "d"),
        ("admitted", "d"),
        ("held", "d"),
        ("held", "another"),
    ]


def test_a_release_is_recorded_again_only_after_it_was_withdrawn(store):
    for event in ("released", "released", "withdrawn", "released"):
        record(store, event, "r", release="r/v")
    assert [entry["event"] for entry in store.history()] == ["released", "withdrawn", "released"]


@pytest.mark.parametrize(
    ("edit", "found"),
    [
        (
            lambda lines: [lines[0].replace("held", "admitted"), *lines[1:]],
            "found entry 2, which does not follow",
        ),
        (
            lambda lines: [*lines[:-1], lines[-1].replace("held", "admitted")],
            "found entry 3, which is not the one",
        ),
        (lambda lines: lines[1:], "found entry 1, which does not follow"),
        (lambda lines: [lines[0], lines[2]], "found entry 2, which does not follow"),
        (lambda lines: lines[:-1], "found 2 entries where 3 were written"),
        (lambda lines: lines[:-2], "found 1 entry where 3 were written"),
        (lambda lines: [], "found 0 entries where 3 were written"),
        (lambda lines: [lines[0], lines[2], lines[1]], "found entry 2, which does not follow"),
        (lambda lines: [*lines, lines[-1]], "found entry 4, which does not follow"),
        (lambda lines: [*lines[:-1], "not JSON"], "found entry 3, which does not follow"),
    ],
)
def test_an_edited_moved_or_removed_entry_breaks_the_chain(store, edit, found):
    for digest in "abc":
        record(store, "decided", "r", decision="held", ratings_digest=digest)
    paths = sorted((store.root / "log").glob("*.json"))
    edited = edit([path.read_text() for path in paths])
    for path in paths:
        path.unlink()
    for number, text in enumerate(edited, 1):
        (store.root / "log" / f"{number:08}.json").write_text(text)
    for step in (store.history, lambda: record(store, "decided", "r", decision="admitted")):
        with pytest.raises(StoreError, match=found):
            step()


def test_a_log_that_is_gone_altogether_is_missed(store):
    record(store, "decided", "r", decision="held")
    (store.root / "log" / "00000001.json").unlink()
    with pytest.raises(StoreError, match="found 0 entries where 1 was written"):
        store.history()


@pytest.mark.parametrize("n_removed", [1, 2])
def test_an_end_removed_with_its_seals_is_shown_by_the_name_of_the_last_seal_alone(
    store, n_removed
):
    for digest in "abc":
        record(store, "decided", "r", ratings_digest=digest)
    kept = max((store.root / "log" / "seals").iterdir())
    for folder in ("log", "log/seals"):
        for path in sorted(filter(Path.is_file, (store.root / folder).iterdir()))[-n_removed:]:
            path.unlink()
    assert [entry["ratings_digest"] for entry in store.history()] == list("abc")[:-n_removed]
    assert not kept.exists()
    for digest in "xyz":
        record(store, "decided", "r", ratings_digest=digest)
    assert not kept.exists(), "a log that goes on otherwise has other seals"
    kept.touch()
    with pytest.raises(StoreError, match="found entry 3, which is not the one that was written"):
        store.history()


def test_a_hole_in_the_log_is_seen(store):
    for digest in "abc":
        record(store, "decided", "r", ratings_digest=digest)
    (store.root / "log" / "00000002.json").unlink()
    with pytest.raises(StoreError, match="found entry 2, which does not follow"):
        store.history()


def test_an_edited_entry_is_seen_even_where_its_seal_was_edited_with_it(store):
    for digest in "abc":
        record(store, "decided", "r", decision="held", ratings_digest=digest)
    path, seal = store.root / "log" / "00000001.json", next(store.root.glob("log/seals/00000001-*"))
    path.write_text(path.read_text().replace("held", "admitted"))
    seal.rename(seal.with_name(f"00000001-{digest_of(path.read_bytes())}"))
    with pytest.raises(StoreError, match="found entry 2, which does not follow"):
        store.history()


def test_the_last_seal_may_be_missing_and_no_other(store):
    for digest in "abc":
        record(store, "decided", "r", ratings_digest=digest)
    first, _, last = sorted((store.root / "log" / "seals").iterdir())
    last.unlink()
    assert len(store.history()) == 3
    record(store, "decided", "r", ratings_digest="d")
    assert last.exists()
    first.unlink()
    with pytest.raises(StoreError, match="found entry 1, which is not the one that was written"):
        store.history()


def test_no_entry_is_ever_written_over(store, monkeypatch):
    """Where locks do not hold, say on a network disk, one writer only gets the next number."""
    monkeypatch.setattr(LocalStorage, "locked", lambda _: nullcontext())
    other = Store(store.root)
    record(store, "decided", "r", ratings_digest="a")
    with other.locked():
        record(store, "decided", "r", ratings_digest="b")
        with pytest.raises(StoreError, match="found entry 2, written by another writer meanwhile"):
            record(other, "decided", "r", ratings_digest="c")
    assert [entry["ratings_digest"] for entry in store.history()] == ["a", "b"]


def test_readers_see_what_other_stores_write(store):
    other = Store(store.root)
    for number in range(3):
        record((store, other)[number % 2], "decided", "r", ratings_digest=str(number))
        assert len(store.history()) == len(other.history()) == number + 1


def test_an_entry_that_a_listing_missed_is_found_by_its_name(store, monkeypatch):
    for digest in "abc":
        record(store, "decided", "r", ratings_digest=digest)
    found = store.storage.listed("log")
    del found["00000002.json"]
    monkeypatch.setattr(type(store.storage), "listed", lambda *_: found)
    assert [entry["ratings_digest"] for entry in store.history()] == ["a", "b", "c"]


def test_other_files_beside_the_log_are_in_nobodys_way(store):
    record(store, "decided", "r", ratings_digest="a")
    for name in (
        "log/.DS_Store",
        "log/00000009.json~",
        "log/seals/00000009",
        "log/seals/desktop.ini",
    ):
        (store.root / name).write_text("")
    record(store, "decided", "r", ratings_digest="b")
    assert len(store.history()) == 2


@pytest.mark.parametrize("text", ["[" * 100_000, "[]", "1", "\ud800", '{"number": 1e999}'])
def test_an_entry_that_is_none_is_refused(store, text):
    record(store, "decided", "r", ratings_digest="a")
    (store.root / "log" / "00000001.json").write_bytes(text.encode(errors="surrogatepass"))
    with pytest.raises(StoreError, match="found entry 1, which does not follow"):
        store.history()
