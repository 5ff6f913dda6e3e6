"""How often honest rounds are held by what a round tells about itself, and how often copies are.

Each line is for one kind of round: how many of the simulated rounds are held by a critical check
of the policy's bounds, or since a verdict does not stand with what was left out or repeated.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np
import pandas as pd

from agreement_pipeline import Ratings, Scale
from agreement_pipeline.contract import Contract
from agreement_pipeline.integrity import Finding, Panel, check_integrity
from agreement_pipeline.policy import assess, load_policy
from agreement_pipeline.policy.decision import RECHECK_BY_FAILED_CHECK
from benchmarks.studies.study import Asked, Cells, percent, seeded, study

N_ITEMS = 300
SCALE = Scale(("a", "b", "c"))
POLICY = replace(load_policy("standard"), n_resamples=1000)
TAKEN_BACK = ("flattered", "dissent_left_out")
Make = Callable[[np.random.Generator], pd.DataFrame]


def panel(
    random: np.random.Generator, errors: list[float], hard: float = 0.0, n_items: int = N_ITEMS
) -> pd.DataFrame:
    """Raters with errors of their own, who all guess on a share of hard items."""
    truth = random.integers(3, size=n_items)
    guessed = random.random(n_items) < hard
    rows = []
    for place, error in enumerate(errors):
        wrong = random.random(n_items) < np.where(guessed, 2 / 3, error)
        label = (truth + wrong * random.integers(1, 3, size=n_items)) % 3
        rows.append(pd.DataFrame({"item": np.arange(n_items), "rater": place, "label": label}))
    frame = pd.concat(rows, ignore_index=True)
    names = frame["item"].map("i{:04}".format), frame["rater"].map("r{:02}".format)
    label = frame["label"].map(dict(enumerate(SCALE.names)))
    return frame.assign(item=names[0], rater=names[1], label=label)


def perfect(random: np.random.Generator) -> pd.DataFrame:
    """Six raters with .5 % of errors at most, and one with 15 %."""
    return panel(random, [*random.choice([0, 0.002, 0.005], size=6), 0.15])


def experts(random: np.random.Generator) -> pd.DataFrame:
    """Three who are always right, and three with 8 % of errors."""
    return panel(random, [0, 0, 0, 0.08, 0.08, 0.08])


def alike(random: np.random.Generator) -> pd.DataFrame:
    """Five with few errors of their own, who guess on the same hard items."""
    return panel(random, [random.choice([0.005, 0.02, 0.05])] * 5, hard=0.08)


def chat(random: np.random.Generator) -> pd.DataFrame:
    """A chat, where 16 % of the messages are greetings and the like."""
    frame = panel(random, [0.02] * 3, hard=0.04, n_items=500)
    said = random.choice(["hi", "ok", "thanks", ""], size=500, p=[0.07, 0.05, 0.04, 0.84])
    texts = dict(zip(frame["item"].unique(), said, strict=True))
    text = frame["item"].map(texts)
    return frame.assign(text=text.where(text != "", "about " + frame["item"]))


def hard_gold(random: np.random.Generator) -> pd.DataFrame:
    """Of 52 gold items among 400, 12 were chosen since they are hard."""
    frame = panel(random, [0.02] * 3, hard=0.03, n_items=400)
    hard = frame["item"] < "i0012"
    label = frame["label"].mask(hard, pd.Series(random.choice(SCALE.names, len(frame))))
    return frame.assign(label=label, gold=frame["item"] < "i0052")


def replicates(random: np.random.Generator) -> pd.DataFrame:
    """One item in five comes again under a new identifier, with the same text."""
    frame = panel(random, [0.02] * 4, hard=0.04, n_items=400)
    frame = frame.assign(text="about " + frame["item"])
    again = frame[frame["item"] < "i0080"]
    other = pd.Series(random.choice(SCALE.names, len(again)), again.index)
    label = again["label"].where(random.random(len(again)) >= 0.04, other)
    return pd.concat([frame, again.assign(item=again["item"] + "x", label=label)])


def joins(random: np.random.Generator) -> pd.DataFrame:
    """A new rater joins for the last fifth of the items."""
    frame = panel(random, [0.03] * 5, hard=0.04)
    return frame[(frame["rater"] != "r04") | (frame["item"] >= f"i{N_ITEMS * 4 // 5:04}")]


def drawn(random: np.random.Generator, weights: np.ndarray) -> pd.DataFrame:
    """Three raters an item, drawn from a pool by their weights."""
    frame = panel(random, [*random.uniform(0, 0.06, size=len(weights))], hard=0.04, n_items=600)
    weight = weights[frame["rater"].str[1:].astype(int)]
    key = pd.Series(random.exponential(size=len(frame)) / weight, frame.index)
    return frame[key.groupby(frame["item"]).rank() <= 3]


def workloads(random: np.random.Generator) -> pd.DataFrame:
    """Twelve raters, of whom the first labels ten times as much as the last."""
    return drawn(random, np.linspace(10, 1, 12))


def by_item(random: np.random.Generator) -> pd.DataFrame:
    """Three of eight raters an item."""
    return drawn(random, np.ones(8))


def missing(random: np.random.Generator) -> pd.DataFrame:
    """A tenth of the ratings is missing at random."""
    frame = panel(random, [0.03] * 5, hard=0.04)
    return frame[random.random(len(frame)) >= 0.1]


def copied(random: np.random.Generator) -> pd.DataFrame:
    """Four raters with 10 % of errors, and a copy of the first."""
    frame = panel(random, [0.1] * 4)
    return pd.concat([frame, frame[frame["rater"] == "r00"].assign(rater="twin")])


def many_copies(random: np.random.Generator) -> pd.DataFrame:
    """Three raters with 10 % of errors, and four copies of the first, on 600 items."""
    frame = panel(random, [0.1] * 3, n_items=600)
    own = frame[frame["rater"] == "r00"]
    return pd.concat([frame, *(own.assign(rater=f"copy{n}") for n in range(4))])


def repeated(random: np.random.Generator) -> pd.DataFrame:
    """Sixty items, delivered five times under other identifiers."""
    frame = panel(random, [0.05] * 3, n_items=60).assign(text=lambda made: "on " + made["item"])
    return pd.concat([frame.assign(item=frame["item"] + f"-{n}") for n in range(5)])


def hidden(random: np.random.Generator) -> pd.DataFrame:
    """All disputed items are called gold."""
    frame = panel(random, [0.05] * 3, hard=0.35)
    return frame.assign(gold=frame.groupby("item")["label"].transform("nunique") > 1)


HONEST: tuple[Make, ...] = (
    perfect,
    experts,
    alike,
    chat,
    hard_gold,
    replicates,
    joins,
    workloads,
    by_item,
    missing,
)
DISHONEST: tuple[Make, ...] = (copied, many_copies, repeated, hidden)


def held(frame: pd.DataFrame) -> bool:
    """True if the contract or a verdict that was taken back holds the round."""
    ratings = Ratings.from_frame(frame, SCALE)
    contract, looked, found = Contract.none(), Panel(ratings), list[Finding]()
    for check in POLICY.integrity.checks:
        (finding,) = check_integrity(looked, [check])
        if finding.holds:
            return True
        found.append(finding)
    if all(each.passed for each in found if each.check in RECHECK_BY_FAILED_CHECK):
        return False
    decision = assess(ratings, POLICY, contract, checked=found).decision
    return any(code in TAKEN_BACK for code in decision.codes)


@study("round | held, %", rounds=100)
def honest_rounds(asked: Asked) -> Iterator[Cells]:
    """How often each kind of round is held: those that are honest, and then the others."""
    for kinds in (HONEST, DISHONEST):
        for number, make in enumerate(kinds):
            yield (
                str(make.__doc__).rstrip("."),
                *percent(np.array([held(each) for each in seeded(make, asked.rounds, number)])),
            )
