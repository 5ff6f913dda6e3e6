"""A store with many rounds, made without judging each of them.

One round is ingested, judged and released in earnest. Its entries are then written into the
log again for every other round, under other names, by the log itself. All rounds share the
bytes of the ratings.
"""

from collections.abc import Iterable
from contextlib import nullcontext
from pathlib import Path

import pandas as pd

from agreement_pipeline.contract import Contract
from agreement_pipeline.policy import Policy, Rule
from agreement_pipeline.ratings import Ratings, Scale
from agreement_pipeline.release import judge_round, release_round
from agreement_pipeline.store import Store
from agreement_pipeline.store.entries import LOG_FIELDS
from agreement_pipeline.store.log import Log

POLICY = Policy("standard", 1, (Rule("krippendorff_alpha"),), n_resamples=1000)
CONTRACT = Contract.none()
SALT = b"a salt for measuring"
TEMPLATE = "template"


class Memory:
    """The files of a storage in a dictionary, as far as a log needs them."""

    root = Path("memory")
    alone_seconds = float("inf")

    def __init__(self, files: dict[str, bytes]):
        self.files = files

    def read(self, name):
        return self.files.get(name)

    def fetched(self, names):
        return {name: self.files.get(name) for name in names}

    def names(self, folder=""):
        inside = folder + "/"
        return tuple(name[len(inside) :] for name in self.files if name.startswith(inside))

    def listed(self, folder):
        return dict.fromkeys(self.names(folder), "")

    def keep(self, name, data, *, secret=False):
        return self.files.setdefault(name, data) == data

    def forget(self, names: Iterable[str]):
        for name in names:
            self.files.pop(name, None)

    def locked(self):
        return nullcontext()


def ratings_of(prefix: str) -> Ratings:
    """Three raters on 90 items. They differ on two items."""
    rows = [
        (f"{prefix}{item:02}", rater, ("no", "yes")[(item + (item < 2 and rater == "c")) % 2])
        for item in range(90)
        for rater in "abc"
    ]
    return Ratings.from_frame(
        pd.DataFrame(rows, columns=["item", "rater", "label"]), Scale(("no", "yes"))
    )


def one_more(store: Store, name: str, original: Path):
    """The three steps of a round, each as a function."""
    ratings = ratings_of(f"{name}-")
    return {
        "ingest": lambda: store.ingest(name, ratings, original),
        "judge": lambda: judge_round(store, name, POLICY, CONTRACT),
        "release": lambda: release_round(store, name, POLICY, CONTRACT, project="demo"),
    }


def grown(place: Path | str, n_rounds: int, original: Path) -> Store:
    """A store with this many rounds, each ingested, decided and released."""
    store = Store(place, salt=SALT)
    for step in one_more(store, TEMPLATE, original).values():
        step()
    template = store.history()
    files: dict[str, bytes] = {}
    log = Log(Memory(files))
    with log.hold(writing=True):
        for number in range(n_rounds):
            for entry in template:
                _enter(log, entry, f"round-{number:05}")
    entered = [*store.storage.names("log")]
    store.storage.forget(f"log/{name}" for name in entered if not name.startswith("leases/"))
    for name, data in files.items():
        store.storage.keep(name, data)
    return Store(place, salt=SALT)


def _enter(log: Log, entry, name: str):
    facts = {fact: value for fact, value in entry.items() if fact not in LOG_FIELDS}
    if entry["event"] == "released":
        facts["release"] = facts["release"].replace(TEMPLATE, name)
        facts["rounds"] = dict.fromkeys([name], facts["rounds"][TEMPLATE])
    log.append(entry["event"], name, facts)
