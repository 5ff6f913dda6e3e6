"""The log says what happened, and shows when somebody changed what it says."""

import json
from contextlib import nullcontext
from datetime import UTC, datetime

import pytest

from agreement_pipeline import StoreError
from agreement_pipeline.store import Store, files
from agreement_pipeline.store.local import LocalStorage
from tests.events import FACTS, record


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


def test_unknown_events_and_names_that_the_log_uses_itself_are_refused(store):
    with pytest.raises(
        StoreError,
        match="found event 'approved'; expected one of ingested, decided, released, withdrawn",
    ):
        store.record("approved", "r")
    with pytest.raises(StoreError, match=r"found facts called \['time'\]"):
        record(store, "decided", "r", time="yesterday")


WAIVER = {
    "round": "r",
    "ratings_digest": "a",
    "measure": "fleiss_kappa",
    "scope": "round",
    "who": "Dana",
    "why": "read by hand",
    "until": "2027-01-31",
}


@pytest.mark.parametrize(
    ("event", "fact"), [(event, fact) for event, facts in FACTS.items() for fact in facts]
)
def test_an_entry_without_what_it_is_about_is_refused(store, event, fact):
    facts = {name: value for name, value in FACTS[event].items() if name != fact}
    with pytest.raises(StoreError, match=rf"^log: found {event} of r without facts \['{fact}'\];"):
        store.record(event, "r", **facts)
    assert store.history() == ()


@pytest.mark.parametrize("name", WAIVER)
@pytest.mark.parametrize(
    "spoil",
    [lambda waiver, name: waiver.pop(name), lambda waiver, name: waiver.update({name: ""})],
    ids=["absent", "empty"],
)
def test_a_waiver_without_its_subject_is_refused(store, name, spoil):
    second = dict(WAIVER)
    spoil(second, name)
    with pytest.raises(
        StoreError,
        match=f"^log: found decided of r without {name} of waiver 2, which is its subject;",
    ):
        record(store, "decided", "r", waivers=[WAIVER, second])
    assert store.history() == ()


@pytest.mark.parametrize(
    "other", [{"round": "r2"}, {"ratings_digest": "b"}], ids=["another round", "other bytes"]
)
def test_a_waiver_of_something_else_is_refused(store, other):
    with pytest.raises(
        StoreError, match=f"without {next(iter(other))} of waiver 1, which is its subject"
    ):
        record(store, "decided", "r", waivers=[{**WAIVER, **other}])
    record(store, "decided", "r", waivers=[WAIVER])
    assert store.history()[0]["waivers"] == [WAIVER]


@pytest.mark.parametrize("waivers", [None, "Dana", {"who": "Dana"}, ["Dana"], [None]])
def test_waivers_that_are_no_list_of_them_are_refused(store, waivers):
    with pytest.raises(StoreError, match="without a list of waivers;"):
        record(store, "decided", "r", waivers=waivers)


@pytest.mark.parametrize(
    ("spoil", "lacking"),
    [
        (lambda entry: entry.pop("event"), "an event that is known"),
        (lambda entry: entry.update(event="approved"), "an event that is known"),
        (lambda entry: entry.update(event=["decided"]), "an event that is known"),
        (lambda entry: entry.pop("round"), r"facts \['round'\]"),
        (lambda entry: entry.pop("time"), r"facts \['time'\]"),
        (lambda entry: entry.pop("waivers"), r"facts \['waivers'\]"),
    ],
)
def test_an_entry_that_says_too_little_is_refused_when_read_although_it_is_sealed(
    store, spoil, lacking
):
    record(store, "decided", "r")
    sealed(store, spoil)
    with pytest.raises(StoreError, match=f"found entry 1 without {lacking};"):
        store.history()


def sealed(store, spoil):
    """The last entry spoilt, and sealed anew: what whoever can write the store can do."""
    path = max((store.root / "log").iterdir())
    seal = max((store.root / "seals").iterdir())
    entry = json.loads(path.read_text())
    spoil(entry)
    path.write_text(json.dumps(entry))
    seal.rename(seal.with_name(f"{path.stem}-{files.digest_of(path.read_bytes())}"))


VERDICT = {
    "measure": "m",
    "effect": "hold",
    "verdict": "reliable",
    "reason": "so",
    "value": 0.9,
    "low": 0,
    "high": None,
}
FINDING = {"description": "d", "severity": "error", "passed": True}
TEXTLESS = [None, 5, True, ["a"], {"a": "b"}, "\ud800"]
OTHER_KINDS = {
    "a text": TEXTLESS,
    "a list of texts": ["abc", 5, None, {"a": "b"}, [1], [["a"]], ["\ud800"]],
    "true or false": [0, 1, None, "no"],
    "a list of verdicts": [
        None,
        "x",
        {},
        ["x"],
        [{}],
        *(
            [{**VERDICT, name: value}]
            for name, value in [("reason", 5), ("low", "0.8"), ("value", True)]
        ),
    ],
    "a list of findings": [
        None,
        "x",
        {},
        ["x"],
        [{}],
        *([{**FINDING, name: value}] for name, value in [("description", None), ("passed", 1)]),
    ],
    "texts by name": ["x", 5, None, {}, ["r"], {"r": 1}, {"r": ["a"]}, {"\ud800": "a"}],
}
KINDS = {
    ("decided", "tentative"): "true or false",
    ("decided", "verdicts"): "a list of verdicts",
    ("decided", "findings"): "a list of findings",
    ("released", "rounds"): "texts by name",
    ("withdrawn", "releases"): "a list of texts",
    ("withdrawn", "reasons"): "a list of texts",
}
SPOILT = [
    (event, fact, kind, value)
    for event, facts in FACTS.items()
    for fact in ("round", "time", *facts)
    if fact != "waivers"
    for kind in [KINDS.get((event, fact), "a text")]
    for value in OTHER_KINDS[kind]
]


@pytest.mark.parametrize(
    ("event", "fact", "kind", "value"), [*SPOILT, ("decided", "reasons", "a list of texts", 5)]
)
def test_a_fact_of_another_kind_is_refused_when_written_and_when_read(
    store, event, fact, kind, value
):
    if fact not in ("round", "time"):
        with pytest.raises(StoreError, match=f"^log: found {event} of r without {kind} as {fact};"):
            record(store, event, "r", **{fact: value})
    record(store, event, "r")
    sealed(store, lambda entry: entry.update({fact: value}))
    for step in (
        store.history,
        store.in_force,
        store.withdrawn,
        lambda: record(store, "decided", "r"),
    ):
        with pytest.raises(StoreError, match=f"found entry 1 without {kind} as {fact};"):
            step()


@pytest.mark.parametrize(("fact", "whole"), [("verdicts", VERDICT), ("findings", FINDING)])
def test_a_decision_says_all_that_is_read_of_its_verdicts_and_findings(store, fact, whole):
    record(store, "decided", "r", **{fact: [whole]})
    for name in whole:
        with pytest.raises(
            StoreError, match=f"^log: found decided of r without a list of {fact} as {fact};"
        ):
            record(
                store,
                "decided",
                "r",
                **{
                    fact: [whole, {other: value for other, value in whole.items() if other != name}]
                },
            )


def test_a_log_of_an_older_version_is_told_what_to_do(store):
    record(store, "released", "r")
    sealed(store, lambda entry: entry.pop("manifest_digest"))
    with pytest.raises(
        StoreError,
        match=r"without facts \['manifest_digest'\].* If an older version of this package "
        "wrote it, start a new store, and ingest",
    ):
        store.history()


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
        (lambda lines: [], "found 0 entries where 3 were written"),
        (lambda lines: [lines[0], lines[2], lines[1]], "found entry 2, which does not follow"),
        (lambda lines: [*lines, lines[-1]], "found entry 4, which does not follow"),
        (lambda lines: [*lines[:-1], "not JSON"], "found entry 3, which does not follow"),
    ],
)
def test_an_edited_moved_or_removed_entry_breaks_the_chain(store, edit, found):
    for digest in "abc":
        record(store, "decided", "r", decision="held", ratings_digest=digest)
    paths = sorted((store.root / "log").iterdir())
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
    with pytest.raises(StoreError, match="found 0 entries where 1 were written"):
        store.history()


@pytest.mark.parametrize("n_removed", [1, 2])
def test_an_end_removed_with_its_seals_is_shown_by_the_name_of_the_last_seal_alone(
    store, n_removed
):
    for digest in "abc":
        record(store, "decided", "r", ratings_digest=digest)
    kept = max((store.root / "seals").iterdir())
    for folder in ("log", "seals"):
        for path in sorted((store.root / folder).iterdir())[-n_removed:]:
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
    path, seal = store.root / "log" / "00000001.json", next(store.root.glob("seals/00000001-*"))
    path.write_text(path.read_text().replace("held", "admitted"))
    seal.rename(seal.with_name(f"00000001-{files.digest_of(path.read_bytes())}"))
    with pytest.raises(StoreError, match="found entry 2, which does not follow"):
        store.history()


def test_the_last_seal_may_be_missing_and_no_other(store):
    for digest in "abc":
        record(store, "decided", "r", ratings_digest=digest)
    first, _, last = sorted((store.root / "seals").iterdir())
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
    found = store.storage.contents("log")
    del found["00000002.json"]
    monkeypatch.setattr(type(store.storage), "contents", lambda *_: found)
    assert [entry["ratings_digest"] for entry in store.history()] == ["a", "b", "c"]


def test_other_files_beside_the_log_are_in_nobodys_way(store):
    record(store, "decided", "r", ratings_digest="a")
    for name in ("log/.DS_Store", "log/00000009.json~", "seals/00000009", "seals/desktop.ini"):
        (store.root / name).write_text("")
    record(store, "decided", "r", ratings_digest="b")
    assert len(store.history()) == 2


@pytest.mark.parametrize("text", ["[" * 100_000, "[]", "1", "\ud800", '{"number": 1e999}'])
def test_an_entry_that_is_none_is_refused(store, text):
    record(store, "decided", "r", ratings_digest="a")
    (store.root / "log" / "00000001.json").write_bytes(text.encode(errors="surrogatepass"))
    with pytest.raises(StoreError, match="found entry 1, which does not follow"):
        store.history()
