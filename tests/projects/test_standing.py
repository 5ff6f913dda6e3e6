"""What is kept of all rounds, brought up to date, against the whole log read anew."""

import random
from dataclasses import replace

import pandas as pd
import pytest

from agreement_pipeline.evidence import charted, round_table, table_of_rows
from agreement_pipeline.policy import Policy, Rule
from agreement_pipeline.projects.standing import (
    FOLDER,
    STATUSES_ADAPTER,
    RoundStatuses,
    RoundStatusIndex,
)
from agreement_pipeline.store import Store, digest_of
from tests.events import record

POLICY = Policy("standard", 1, (Rule("krippendorff_alpha"),), n_resamples=1000)


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path / "store")


def verdicts(drawn):
    value = drawn.uniform(0.5, 0.99)
    said = {"measure": "krippendorff_alpha", "scope": "round", "verdict": "reliable"}
    numbers = {"value": value, "low": value - 0.03, "high": value + 0.02}
    told = {**said, **numbers, "reason": f"alpha is {value}"}
    return [{**told, "effect": effect} for effect in ("hold", "advise")]


def something_happens(store, drawn):
    """A round arrives, is decided on, is released alone or with others, or is withdrawn."""
    name, digest = f"week-{drawn.randrange(12)}", str(drawn.randrange(4))
    match drawn.choice(("ingested", "decided", "decided", "released", "dataset", "withdrawn")):
        case "ingested":
            record(store, "ingested", name, ratings_digest=digest, original_digest=f"file {digest}")
        case "decided":
            decision = drawn.choice(("admitted", "held"))
            said = {"decision": decision, "ratings_digest": digest, "tentative": digest == "3"}
            policy = {**POLICY.to_mapping(), "confidence_level": 0.95}
            record(store, "decided", name, **said, verdicts=verdicts(drawn), policy=policy)
        case "released":
            called = f"{name}/{digest}-{drawn.randrange(3)}"
            record(store, "released", name, release=called, rounds={name: digest})
        case "dataset":
            called = f"reviews.dataset/{drawn.randrange(5)}"
            rounds = {name: digest, "week-0": "0"}
            record(store, "released", "reviews.dataset", release=called, rounds=rounds)
        case "withdrawn":
            called = [entry["release"] for entry in store.in_force()]
            chosen = drawn.sample(called, min(len(called), 2))
            if chosen:
                record(store, "withdrawn", name, releases=chosen)


@pytest.mark.parametrize("seed", range(3))
def test_what_is_brought_up_to_date_is_what_the_whole_log_gives(store, seed):
    drawn, known = random.Random(seed), None
    for _ in range(30):
        for _ in range(drawn.randrange(1, 9)):
            something_happens(store, drawn)
        known = RoundStatuses.of(store, known)
        anew = RoundStatuses.of(Store(store.root))
        assert (known.mark, known.rows, known.decided) == (anew.mark, anew.rows, anew.decided)
        pd.testing.assert_frame_equal(table_of_rows(known.rows), round_table(store))
        chart = charted(table_of_rows(known.rows), POLICY, known.chart)
        assert chart == charted(round_table(store), POLICY)
        known = STATUSES_ADAPTER.validate_json(
            STATUSES_ADAPTER.dump_json(replace(known, chart=chart))
        )
    assert len(store.history()) > 96


def test_only_the_latest_standing_is_kept_and_another_process_goes_on_from_it(store, monkeypatch):
    drawn = random.Random(1)
    for _ in range(40):
        something_happens(store, drawn)
        seen = RoundStatusIndex(Store(store.root))
        seen.save(seen.refresh())
    assert len(store.storage.names(FOLDER)) == 1
    something_happens(store, drawn)
    wanted = round_table(store)
    of_rounds = Store.history
    monkeypatch.setattr(
        Store,
        "history",
        lambda seen, name=None: (
            of_rounds(seen, name) if name else pytest.fail("the whole log was read")
        ),
    )
    pd.testing.assert_frame_equal(
        table_of_rows(RoundStatusIndex(Store(store.root)).refresh().rows), wanted
    )


@pytest.mark.parametrize("spoil", [lambda data: data[:-1], lambda _: b"", lambda _: b"{}"])
def test_a_standing_with_other_bytes_is_made_anew(store, spoil):
    record(store, "ingested", "w1")
    seen = RoundStatusIndex(store)
    seen.save(seen.refresh())
    (path,) = (store.root / FOLDER).iterdir()
    path.write_bytes(spoil(path.read_bytes()))
    assert RoundStatusIndex(Store(store.root)).refresh().rows.keys() == {"w1"}


def test_the_standing_of_another_log_is_not_gone_on_from(store, tmp_path):
    other = Store(tmp_path / "other")
    for name in ("w1", "w2"):
        record(other, "ingested", name)
    record(store, "ingested", "w3")
    assert RoundStatuses.of(store, RoundStatuses.of(other)).rows.keys() == {"w3"}


def test_what_was_kept_in_another_form_is_looked_up_anew(store):
    """As a build did whose charts were lists: the digest in the name is right."""
    record(store, "ingested", "w1", ratings_digest="1", original_digest="file 1")
    standings = RoundStatusIndex(store)
    standing = standings.refresh()
    data = (
        b'{"mark": "1-x", "rows": {}, "decided": {}, "chart": [["w1", 0.9, 0.8, 1.0, 0.9, null]]}'
    )
    with store.locked():
        store.storage.keep(f"{FOLDER}/9-x-{digest_of(data)}", data)
    assert RoundStatusIndex(store).refresh().rows.keys() == standing.rows.keys() == {"w1"}
    RoundStatusIndex(store).save(standing)
    assert len(store.storage.names(FOLDER)) == 1
