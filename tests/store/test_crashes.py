"""A process killed at any write leaves the old state or the new one.

The next run completes the rest.
"""

import shutil
from functools import cache, partial
from itertools import count

import pandas as pd
import pytest

from agreement_pipeline.contract import Contract
from agreement_pipeline.errors import ReleaseInvalidError
from agreement_pipeline.policy import Policy, Rule, assess
from agreement_pipeline.ratings import Ratings, Scale, parquet
from agreement_pipeline.release import (
    decisions,
    judge_round,
    opening,
    release_dataset,
    release_round,
    tables,
    verify_release,
)
from agreement_pipeline.release.opening import prove_release
from agreement_pipeline.store import Store, local
from agreement_pipeline.store import store as store_module
from agreement_pipeline.store.local import digest_of
from agreement_pipeline.store.store import table_ratings
from tests.killing import killed
from tests.releases import current_release

pytestmark = pytest.mark.slow

POLICY = Policy("standard", 1, (Rule("krippendorff_alpha"),), n_resamples=1000)
CONTRACT = Contract.none()
SALT = b"a salt for tests"
PRIMITIVES = [(local, name) for name in ("put", "copy", "link", "rename", "remove")]


@cache
def make_ratings(disagreements, prefix="i"):
    """Three raters who agree on items that are no and yes in turn, but for the first few."""
    rows = [
        (
            f"{prefix}{item:02}",
            rater,
            ("no", "yes")[(item + (item < disagreements and rater == "c")) % 2],
        )
        for item in range(90)
        for rater in "abc"
    ]
    return Ratings.from_frame(
        pd.DataFrame(rows, columns=["item", "rater", "label"]), Scale(("no", "yes"))
    )


@pytest.fixture
def remembered(monkeypatch):
    """Read and prove equal bytes, and assess equal ratings, once. Forked children inherit that."""
    known = {}

    def once(work, key_of):
        def step(*arguments, **named):
            key = key_of(*arguments), tuple(named.items())
            if key not in known:
                known[key] = work(*arguments, **named)
            return known[key]

        return step

    for module in (decisions, tables):
        monkeypatch.setattr(
            module,
            "assess",
            once(
                assess,
                lambda ratings, policy, contract, *_: (
                    ratings.digest,
                    ratings.raters,
                    policy.digest,
                    contract.digest,
                ),
            ),
        )
    monkeypatch.setattr(
        store_module,
        "table_ratings",
        once(table_ratings, lambda table, source: (digest_of(table), source)),
    )
    monkeypatch.setattr(
        opening,
        "prove_release",
        once(prove_release, lambda data, path, on, *_: (digest_of(data), path, on)),
    )


def ingested(store, original, disagreements=2):
    store.ingest("r1", make_ratings(disagreements), original)


def let_out(store):
    release_round(store, "r1", POLICY, CONTRACT, project="demo")


def nothing(store, original):
    assert not store.rounds()


def round_delivered_again(store, original):
    store.ingest("r0", make_ratings(2, "j"), original)
    ingested(store, original)
    let_out(store)
    release_dataset(store, ["r0", "r1"], POLICY, CONTRACT, project="demo")
    ingested(store, original, disagreements=60)


OPERATIONS = {
    "ingest": (nothing, ingested),
    "decision": (ingested, lambda store, _: judge_round(store, "r1", POLICY, CONTRACT)),
    "release": (ingested, lambda store, _: let_out(store)),
    "withdrawal": (
        round_delivered_again,
        lambda store, _: judge_round(store, "r1", POLICY, CONTRACT),
    ),
}


def standing(path):
    """open, withdrawn or absent: what a reader of the folder meets."""
    try:
        verify_release(path)
    except ReleaseInvalidError as refusal:
        return "withdrawn" if "withdrawn on" in str(refusal) else f"neither: {refusal}"
    return "open"


def seen_in(place):
    """What a reader of a store sees, and the entries of its log.

    A reader sees each round's version and decision, each release, and the current one.
    """
    store = Store(place)
    decided = {
        entry["round"]: entry["decision"]
        for entry in store.history()
        if entry["event"] == "decided"
    }
    seen = {path: standing(path) for path in (place / "releases").glob("*/*")}
    for name in store.rounds():
        seen |= {
            (name, "present"): (store.present(name), store.ratings(name).digest),
            (name, "decided"): decided.get(name),
        }
        seen |= {(name, "release"): current_release(store, name)}
    entries = [
        (entry["event"], entry["round"], called)
        for entry in store.history()
        for called in entry.get("releases", [entry.get("release")])
    ]
    return seen, sorted(entries, key=str)


def copied(before, place):
    shutil.rmtree(place, ignore_errors=True)
    return shutil.copytree(before, place)


def refuse_what_the_log_does_not_know(found, store):
    releases = {
        "/".join(path.parts[-2:]): state
        for path, state in found.items()
        if not isinstance(path, tuple)
    }
    assert releases.keys() <= {
        entry["release"] for entry in store.history() if entry["event"] == "released"
    }
    assert {called for called, state in releases.items() if state == "open"} <= {
        entry["release"] for entry in store.in_force()
    }
    assert all(releases.get(called) == "withdrawn" for called in store.withdrawn())


@pytest.fixture(params=["in memory", "in files"])
def operations(request, monkeypatch):
    """Those that write tables, in memory or too large for it, and once the others."""
    if request.param == "in memory":
        return OPERATIONS
    monkeypatch.setattr(parquet, "ROW_GROUP_ROWS", 50)
    monkeypatch.setattr(local, "MAX_BYTES_IN_MEMORY", 1000)
    return {name: OPERATIONS[name] for name in ("ingest", "release")}


def test_a_process_killed_at_any_write_leaves_the_old_state_or_the_new_one(
    tmp_path, original, remembered, operations
):
    times = dict.fromkeys(operations, 0)
    for name, (prepare, operate) in operations.items():
        before, place = tmp_path / f"before {name}", tmp_path / "store"
        before.mkdir()
        prepare(Store(before, salt=SALT), original)
        old, _ = seen_in(copied(before, place))
        operate(Store(place, salt=SALT), original)
        new, entries = seen_in(place)
        for n in count(1):
            copied(before, place)
            if not killed(partial(operate, Store(place, salt=SALT), original), n, PRIMITIVES):
                break
            times[name] += 1
            found, _ = seen_in(place)
            assert all(
                found.get(key) in (old.get(key), new.get(key)) for key in old | new | found
            ), f"{name}, point {n}"
            refuse_what_the_log_does_not_know(found, Store(place))
            operate(Store(place, salt=SALT), original)
            assert seen_in(place) == (new, entries), f"{name}, point {n}"
            assert not list(place.glob(".partial/*"))
    assert all(times.values())
    assert sum(times.values()) >= 30 * len(operations) / len(OPERATIONS), times
