"""What an entry of the log must say, when it is written and when it is read."""

import pytest

from agreement_pipeline.errors import StoreError
from agreement_pipeline.store import Store, log
from tests.events import FACTS, record, sealed


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path / "store")


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
    "a policy with its name and version": [
        *("x", 5, None, [], {}),
        *({"policy": "p"}, {"policy": 1, "version": 1}, {"policy": "p", "version": "1"}),
    ],
    "a whole number from 1": [0, -1, True, 1.0, "1", None],
    "whole numbers by name": [
        "x",
        5,
        None,
        ["a"],
        {"a": 0},
        {"a": True},
        {"a": "1"},
        {"\ud800": 1},
    ],
    "texts by name": ["x", 5, None, {}, ["r"], {"r": 1}, {"r": ["a"]}, {"\ud800": "a"}],
}
KINDS = {
    ("decided", "tentative"): "true or false",
    ("decided", "version"): "a whole number from 1",
    ("decided", "verdicts"): "a list of verdicts",
    ("decided", "findings"): "a list of findings",
    ("decided", "policy"): "a policy with its name and version",
    ("released", "rounds"): "texts by name",
    ("withdrawn", "releases"): "a list of texts",
    ("withdrawn", "reasons"): "a list of texts",
    ("drawn", "population_items"): "a whole number from 1",
    ("drawn", "strata"): "whole numbers by name",
    ("drawn", "items"): "a list of texts",
    ("drawn", "earlier"): "a list of texts",
    ("drawn", "reasons"): "a list of texts",
    ("certified", "reasons"): "a list of texts",
    ("certified", "rounds"): "texts by name",
    ("certified", "policy"): "a policy with its name and version",
    ("anchored", "drifted"): "true or false",
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


def test_an_entry_without_its_facts_is_no_entry(store):
    record(store, "released", "r")
    sealed(store, lambda entry: entry.pop("manifest_digest"))
    with pytest.raises(StoreError, match=r"without facts \['manifest_digest'\]"):
        store.history()


@pytest.mark.parametrize("n_entries", [1, 40])
def test_a_store_of_a_newer_version_asks_for_an_upgrade(store, monkeypatch, n_entries):
    monkeypatch.setattr(log, "STORE_FORMAT", 1)
    for number in range(n_entries):
        record(store, "decided", "r", ratings_digest=str(number))
    assert {entry["format"] for entry in Store(store.root).history()} == {1}
    monkeypatch.setattr(log, "STORE_FORMAT", 0)
    with pytest.raises(StoreError, match=r"format 1, which a newer version .* Upgrade") as refused:
        Store(store.root).history()
    assert "backup" not in str(refused.value)


def test_a_store_of_an_older_form_is_read_and_goes_on(store, monkeypatch):
    monkeypatch.setattr(log, "STORE_FORMAT", 0)
    record(store, "decided", "r", ratings_digest="a")
    monkeypatch.setattr(log, "STORE_FORMAT", 1)
    record(store, "decided", "r", ratings_digest="b")
    assert [entry.get("format") for entry in Store(store.root).history()] == [None, 1]
