"""Many processes write to one store at once.

The end is that of some serial order, and the log is that order.
"""

import json
import os
import random
import signal
import sys
import traceback
from functools import cache, partial
from itertools import product

import pandas as pd
import pytest

from agreement_pipeline.contract import Contract
from agreement_pipeline.errors import ReleaseHeldError, ReleaseInvalidError, StoreError
from agreement_pipeline.policy import Policy, Rule, assess, decision
from agreement_pipeline.ratings import Ratings, Scale
from agreement_pipeline.release import (
    judge_round,
    release_dataset,
    release_round,
    verify_release,
)
from agreement_pipeline.store import Store
from tests.releases import current_release, withdraw

CONTRACT = Contract.none()
POLICIES = {
    "usual": Policy("usual", 1, (Rule("krippendorff_alpha"),), n_resamples=1000),
    "stricter": Policy(
        "stricter", 1, (Rule("krippendorff_alpha", reliable=0.9, tentative=0.8),), n_resamples=1000
    ),
}
DISAGREEMENTS = {"fine": 0, "fair": 4, "poor": 40}
ROUNDS = [f"r{number}" for number in range(10)]
PROCESSES, OPERATIONS = 8, 25
SALT = b"a salt for tests"
REFUSALS = ("no round", "held, since", "ingested meanwhile", "taken meanwhile", "made meanwhile")


@cache
def make_ratings(round_name, quality):
    """Two raters who agree on 60 items that are no and yes in turn, but for the first few.

    Each quality has raters of its own, so nobody gave labels again in another version.
    """
    rows = [
        (
            f"{round_name}-{item:02}",
            f"{rater} of {quality}",
            ("no", "yes")[(item + (item < DISAGREEMENTS[quality] and rater == "ben")) % 2],
        )
        for item in range(60)
        for rater in ("ana", "ben")
    ]
    return Ratings.from_frame(
        pd.DataFrame(rows, columns=["item", "rater", "label"]), Scale(("no", "yes"))
    )


@pytest.fixture
def assessed(monkeypatch):
    """Every version under every policy, measured once: the processes inherit it."""
    measured, kept = decision.measure_ratings, {}

    def remembered(ratings, measures, inference, scopes, trains=None):
        assert trains is None
        key = ratings.digest, tuple(measures), inference, tuple(sorted(scopes))
        if key not in kept:
            kept[key] = list(measured(ratings, measures, inference, scopes=scopes))
        return iter(kept[key])

    monkeypatch.setattr(decision, "measure_ratings", remembered)
    return {
        (make_ratings(name, quality).digest, policy.digest): assess(
            make_ratings(name, quality), policy, CONTRACT
        )
        for name, quality, policy in product(ROUNDS, DISAGREEMENTS, POLICIES.values())
    }


def operate(store, draw, folder):
    """One operation, drawn, and what it says it did, as what must then be found in the log."""
    name, policy = draw.choice(ROUNDS), POLICIES[draw.choice([*POLICIES, "usual"])]
    kind = draw.choices(["ingest", "judge", "release", "together", "withdraw"], [4, 3, 5, 1, 1])[0]
    try:
        if kind == "ingest":
            quality = draw.choice([*DISAGREEMENTS, "fine"])
            version = store.ingest(name, make_ratings(name, quality), folder / f"{quality}.csv")
            return {"event": "ingested", "round": name, "ratings_digest": version.ratings_digest}
        if kind == "judge":
            judged, _ = judge_round(store, name, policy, CONTRACT)
            return {
                "event": "decided",
                "round": name,
                "ratings_digest": judged.decision.ratings_digest,
                "policy_digest": policy.digest,
            }
        if kind == "release":
            path = release_round(store, name, policy, CONTRACT, project="demo").path
            return {"event": "released", "round": name, "release": f"{name}/{path.name}"}
        if kind == "together":
            path = release_dataset(
                store, draw.sample(ROUNDS, 2), policy, CONTRACT, project="demo"
            ).path
            return {
                "event": "released",
                "round": "demo.dataset",
                "release": f"demo.dataset/{path.name}",
            }
        return (
            {"event": "withdrawn", "round": name} if withdraw(store, name, ["a mistake"]) else None
        )
    except (StoreError, ReleaseHeldError) as refusal:
        said = str(refusal)
        assert any(known in said for known in REFUSALS), said
        return None


def run_together(works):
    """Processes that begin at once, and how each of them ended."""
    start, begin = os.pipe()
    children = [_forked(work, start, begin) for work in works]
    os.close(begin)
    statuses = [os.waitpid(child, 0)[1] for child in children]
    os.close(start)
    return statuses


def _forked(work, start, begin):
    child = os.fork()
    if child:
        return child
    status = 1
    try:
        signal.alarm(120)
        os.close(begin)
        os.read(start, 1)
        work()
        status = 0
    except BaseException:
        traceback.print_exc(file=sys.__stderr__)
    finally:
        os._exit(status)


class Serial:
    """The state after each entry of a log, by a slow loop that knows nothing of the store.

    The loop refuses an entry that could not have followed.
    """

    def __init__(self, assessed):
        self.assessed, self.present, self.decided, self.in_force, self.withdrawn, self.due = (
            assessed,
            {},
            {},
            {},
            set(),
            set(),
        )

    def ingest(self, name, entry):
        assert not self.due
        assert self.present.get(name) != entry["ratings_digest"]
        self.present[name] = entry["ratings_digest"]

    def decide(self, name, entry):
        judged = (entry["ratings_digest"], entry["policy_digest"])
        assert entry["ratings_digest"] == self.present[name]
        assert entry["decision"] == ("admitted" if self.admits(*judged) else "held")
        self.decided[name] = judged
        self.due |= {
            called
            for called, rounds in self.in_force.items()
            if name in rounds and not self.admits(rounds[name], judged[1])
        }
        self.due |= {
            called
            for called, rounds in self.in_force.items()
            if name in rounds and not self.admits(*judged)
        }

    def release(self, name, entry):
        assert not self.due
        assert entry["release"] not in self.withdrawn
        assert entry["release"].startswith(f"{name}/")
        for member, digest in entry["rounds"].items():
            assert digest == self.present[member]
            assert self.decided[member][0] == digest
            assert self.admits(*self.decided[member])
        self.in_force[entry["release"]] = entry["rounds"]

    def withdraw(self, name, entry):
        assert all(name in self.in_force.pop(called) for called in entry["releases"])
        self.withdrawn |= set(entry["releases"])
        self.due -= set(entry["releases"])

    def admits(self, ratings_digest, policy_digest):
        return self.assessed[ratings_digest, policy_digest].decision.admitted

    def run(self, entries):
        steps = {
            "ingested": self.ingest,
            "decided": self.decide,
            "released": self.release,
            "withdrawn": self.withdraw,
        }
        for entry in entries:
            steps[entry["event"]](entry["round"], entry)
        assert not self.due, "a decision that holds without the withdrawal that goes with it"


def refuse_another_state(store, serial):
    """The store holds what the serial order gives, to the last folder."""
    assert {name: store.present(name).ratings_digest for name in store.rounds()} == serial.present
    assert {entry["release"] for entry in store.in_force()} == set(serial.in_force)
    assert {"/".join(path.parts[-2:]) for path in (store.root / "releases").glob("*/*")} == set(
        serial.in_force
    ) | serial.withdrawn
    for called in serial.withdrawn:
        with pytest.raises(ReleaseInvalidError, match="withdrawn on"):
            verify_release(store.root / "releases" / called)
    for called, rounds in serial.in_force.items():
        assert {
            name: ratings.digest
            for name, ratings in verify_release(store.root / "releases" / called).ratings.items()
        } == rounds


def test_two_hundred_operations_at_once_end_as_some_serial_order_would(tmp_path, assessed):
    for quality in DISAGREEMENTS:
        (tmp_path / f"{quality}.csv").write_text(quality)

    def work(writer):
        store, draw = Store(tmp_path / "store", salt=SALT), random.Random(writer)
        said = [operate(store, draw, tmp_path) for _ in range(OPERATIONS)]
        (tmp_path / f"said{writer}.json").write_text(json.dumps(said))

    assert run_together([partial(work, writer) for writer in range(PROCESSES)]) == [0] * PROCESSES
    store, serial = Store(tmp_path / "store", salt=SALT), Serial(assessed)
    history = store.history()
    serial.run(history)
    refuse_another_state(store, serial)
    said = [
        each
        for writer in range(PROCESSES)
        for each in json.loads((tmp_path / f"said{writer}.json").read_text())
    ]
    assert len(said) == PROCESSES * OPERATIONS
    entered = {
        tuple(entry[name] for name in each)
        for each in said
        if each
        for entry in history
        if each.keys() <= entry.keys()
    }
    assert {tuple(each.values()) for each in said if each} <= entered, (
        "something that was said to be done is not in the log"
    )
    assert {entry["event"] for entry in history} == {"ingested", "decided", "released", "withdrawn"}
    assert not list((tmp_path / "store").glob(".partial/*"))


def test_two_runs_of_one_round_give_one_release(tmp_path, assessed):
    (tmp_path / "export.csv").write_text("as delivered")

    def work():
        store = Store(tmp_path / "store", salt=SALT)
        store.ingest("r0", make_ratings("r0", "fine"), tmp_path / "export.csv")
        release_round(store, "r0", POLICIES["usual"], CONTRACT, project="demo")

    assert run_together([work] * 4) == [0] * 4
    store = Store(tmp_path / "store", salt=SALT)
    assert [entry["event"] for entry in store.history()] == ["ingested", "decided", "released"]
    assert len(list((store.root / "releases").glob("*/*"))) == 1
    assert verify_release(current_release(store, "r0")).rounds == ("r0",)
