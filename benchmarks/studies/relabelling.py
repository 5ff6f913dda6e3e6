"""What becomes of rounds whose labels were given again.

Rounds of 400 items and three labels are simulated. A quarter of the items are hard. The labels of
some rounds are given again where raters had differed: their true α is about .75, so none of them
should be admitted. Other rounds are honest, and none of them should be held for such labels. The
contract is not asked, since it looks at other things.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from agreement_pipeline import Ratings, Scale, load_policy
from agreement_pipeline.contract import Contract
from agreement_pipeline.integrity import LabelChanges, find_changes_since
from agreement_pipeline.integrity.facts import FACTS
from agreement_pipeline.integrity.panel import Panel
from agreement_pipeline.policy import Decision, assess, build_given_again_finding
from benchmarks.studies.study import Asked, Cells, seeded, study

SCALE = Scale(("safe", "rude", "hateful"))
SHARES, N_ITEMS, HARD, SEED = (0.45, 0.3, 0.25), 400, 0.25, 2026
POLICY = replace(load_policy("standard"), n_resamples=1_000)
DAY = 86_400.0
START = 1.79e9
NAMES = np.array(SCALE.names)
Codes = np.ndarray
CARRIED = ("nothing", "times", "first labels", "two deliveries")
HOLDING = ("times", "two deliveries")
"""What can hold a round for its changes. Nothing else does so."""


@dataclass(frozen=True)
class Round:
    """The first and last labels of a round, when they were given and changed; -1 is no label.

    All have the shape (items, raters). A time of change is nan where nothing was written again.
    """

    first: Codes
    last: Codes
    given: Codes
    changed: Codes

    def ratings(self, carried: str, *, deliver: str = "last") -> Ratings:
        """What an export carries of it."""
        item, rater = np.nonzero(self.first >= 0)
        # What was changed before all labels were given stands in the first delivery already.
        early = np.where(self.changed <= self.given.max(), self.last, self.first)
        labels = {"first": self.first, "early": early, "last": self.last}
        if carried == "first labels":
            deliver = "first"
        columns: dict[str, object] = {
            "item": [f"i{at:03}" for at in item],
            "rater": [f"r{at}" for at in rater],
            "label": NAMES[labels[deliver][item, rater]],
        }
        if carried in ("times", "first labels"):
            columns["timestamp"] = self.given[item, rater]
            again = self.changed[item, rater]
            if carried == "first labels":
                again = np.where((self.first != self.last)[item, rater], again, np.nan)
            columns["changed_at"] = [None if np.isnan(at) else repr(float(at)) for at in again]
        if carried == "first labels":
            other = (self.first != self.last)[item, rater]
            said = NAMES[self.last[item, rater]]
            columns["last_label"] = np.where(other, said, None)
        return Ratings.from_frame(pd.DataFrame(columns), SCALE)


def labelled(rng: np.random.Generator, n_raters: int, easy: float, hard: float) -> Round:
    """Independent labels of all raters. Each works through the items on a day of their own."""
    true = rng.choice(len(SHARES), N_ITEMS, p=SHARES)[:, None]
    errors = np.where(rng.random(N_ITEMS) < HARD, hard, easy)[:, None]
    said = _said(rng, true, np.broadcast_to(errors, (N_ITEMS, n_raters)))
    at = START + DAY * np.arange(n_raters) + 30 * np.arange(N_ITEMS)[:, None]
    return Round(said, said, at, np.full(said.shape, np.nan))


def _said(rng: np.random.Generator, true: Codes, errors: Codes) -> Codes:
    other = (true + rng.integers(1, len(SHARES), errors.shape)) % len(SHARES)
    return np.where(rng.random(errors.shape) < errors, other, true)


def written_again(of: Round, which: Codes, said: Codes, at: float | Codes | None = None) -> Round:
    """The round in which some labels were written again, a day after all were given."""
    late = of.given.max() + DAY if at is None else at
    changed = np.where(which & (of.first >= 0), late, of.changed)
    return replace(of, last=np.where(which & (of.first >= 0), said, of.last), changed=changed)


def disputed(of: Round) -> Codes:
    least = np.where(of.first < 0, 9, of.first).min(1)
    return (least != of.first.max(1))[:, None]


def most(of: Round) -> Codes:
    """The label that most raters gave first, or the least of several."""
    counts = (of.first[:, :, None] == np.arange(len(SHARES))).sum(1)
    return counts.argmax(1)[:, None]


# Labels that are given again where raters differed


def looked_again(rng: np.random.Generator) -> Round:
    """Who differs from most others looks again, and half of them join the others."""
    of = labelled(rng, 3, 0.05, 0.35)
    which = disputed(of) & (of.first != most(of)) & (rng.random(of.first.shape) < 0.5)
    return written_again(of, which, most(of))


def overwritten(rng: np.random.Generator) -> Round:
    """A lead settles half of the disputed items, and the label goes into all answers."""
    of = labelled(rng, 3, 0.05, 0.35)
    settled = disputed(of) & (rng.random((N_ITEMS, 1)) < 0.5)
    return written_again(of, settled & (of.first != most(of)), most(of))


def guessed_anew(rng: np.random.Generator) -> Round:
    """Two raters look again at all items on which they differ, and guess where it is hard."""
    of = labelled(rng, 2, 0.05, 0.35)
    anew = rng.integers(0, 2, of.first.shape)
    said = np.where(anew == 0, of.first[:, :1], of.first[:, 1:])
    return written_again(of, np.broadcast_to(disputed(of), of.first.shape), said)


def third_where_disputed(rng: np.random.Generator) -> Round:
    """A third rater labels only the items on which two differ."""
    of = labelled(rng, 3, 0.05, 0.35)
    two = replace(of, first=of.first[:, :2])
    third = np.where(disputed(two), of.first[:, 2:], -1)
    said = np.hstack([two.first, third])
    return replace(of, first=said, last=said)


# Honest rounds


def _good(rng: np.random.Generator, n_raters: int = 3) -> Round:
    return labelled(rng, n_raters, 0.02, 0.1)


def plain(rng: np.random.Generator) -> Round:
    """Nothing was changed."""
    return _good(rng)


def slips(rng: np.random.Generator, share: float = 0.01, of: Round | None = None) -> Round:
    """So many labels were slips, and each was corrected a day after all were given."""
    of = of or _good(rng)
    which = (rng.random(of.first.shape) < share) & (of.first >= 0)
    slipped = (of.first + rng.integers(1, len(SHARES), of.first.shape)) % len(SHARES)
    first = np.where(which, slipped, of.first)
    return written_again(replace(of, first=first), which, of.last)


def more_slips(rng: np.random.Generator) -> Round:
    """2 % of slips."""
    return slips(rng, 0.02)


def most_slips(rng: np.random.Generator) -> Round:
    """5 % of slips, of which four in five were corrected."""
    of = slips(rng, 0.05)
    stays = (of.first != of.last) & (rng.random(of.first.shape) < 0.2)
    changed = np.where(stays, np.nan, of.changed)
    return replace(of, last=np.where(stays, of.first, of.last), changed=changed)


def swapped(rng: np.random.Generator) -> Round:
    """A bug had swapped 60 labels of one rater, which were corrected."""
    of = _good(rng)
    which = np.zeros(of.first.shape, dtype=bool)
    which[rng.choice(N_ITEMS, 60, replace=False), 0] = True
    first = np.where(which, (of.first + 1) % len(SHARES), of.first)
    return written_again(replace(of, first=first), which, of.last)


def third_and_audit(rng: np.random.Generator) -> Round:
    """A third rater where two differ, and on 70 % of the other items too."""
    of = _good(rng)
    labelled_too = disputed(replace(of, first=of.first[:, :2])) | (rng.random((N_ITEMS, 1)) < 0.7)
    said = np.hstack([of.first[:, :2], np.where(labelled_too, of.first[:, 2:], -1)])
    return replace(of, first=said, last=said)


def uneven(rng: np.random.Generator) -> Round:
    """Five raters of uneven workloads, and 1 % of slips."""
    of = _good(rng, 5)
    kept = rng.random(of.first.shape) < np.array([1, 0.9, 0.6, 0.3, 0.15])
    said = np.where(kept, of.first, -1)
    return slips(rng, 0.01, replace(of, first=said, last=said))


def third_by_design(rng: np.random.Generator) -> Round:
    """A third rater labels a third of the items, drawn at random."""
    of = _good(rng)
    said = of.first.copy()
    said[rng.random(N_ITEMS) > 1 / 3, 2] = -1
    return replace(of, first=said, last=said)


def all_written_again(rng: np.random.Generator) -> Round:
    """The tool wrote every answer again, and no label changed."""
    of = _good(rng)
    return written_again(of, of.first >= 0, of.first)


def reviewed(rng: np.random.Generator) -> Round:
    """A reviewer opened and saved 15 % of the items, drawn at random."""
    of = _good(rng)
    drawn = np.broadcast_to(rng.random((N_ITEMS, 1)) < 0.15, of.first.shape)
    return written_again(of, drawn, of.first)


def exchanged(rng: np.random.Generator) -> Round:
    """One rater had exchanged two labels throughout, and their file was corrected."""
    of = _good(rng)
    first = of.first.copy()
    first[:, 0] = np.array([1, 0, 2])[first[:, 0]]
    return written_again(replace(of, first=first), first != of.first, of.last)


def redone(rng: np.random.Generator) -> Round:
    """The guideline changed, and all labelled the first fifth of the items once more."""
    of = _good(rng, 4)
    fifth = np.broadcast_to((np.arange(N_ITEMS) < N_ITEMS // 5)[:, None], of.first.shape)
    said = _said(rng, most(of), np.full(of.first.shape, 0.04))
    return written_again(of, fifth, said)


def before_others(rng: np.random.Generator) -> Round:
    """The first rater changed 8 % of their labels, an hour before the others began."""
    of = _good(rng)
    which = np.zeros(of.first.shape, dtype=bool)
    which[:, 0] = rng.random(N_ITEMS) < 0.08
    said, at = (of.first + 1) % len(SHARES), START + DAY - 3_600
    return written_again(replace(of, first=np.where(which, said, of.first)), which, of.last, at)


RELABELLED = {
    "those who differ look again, and half of them join the others": looked_again,
    "a lead settles half of the disputed items, in all answers": overwritten,
    "two raters look again where they differ, and guess": guessed_anew,
    "a third rater only where two differ": third_where_disputed,
}
HONEST = {
    "nothing was changed": plain,
    "1 % of slips, corrected late": slips,
    "2 % of slips, corrected late": more_slips,
    "five raters of uneven workloads, 1 % of slips": uneven,
    "a third rater on a third of the items, at random": third_by_design,
    "the tool wrote all answers again": all_written_again,
    "a reviewer saved 15 % of the items, at random": reviewed,
    "a rater had exchanged two labels, and was corrected": exchanged,
    "a fifth of the items was labelled once more by all": redone,
    "the first rater changed 8 % before the others began": before_others,
}
CORRECTED = {
    "5 % of slips, four in five corrected late": most_slips,
    "a bug had swapped 60 labels of a rater, and was corrected": swapped,
    "a third rater where two differ, and on 70 % of the others": third_and_audit,
}
Made = Callable[[np.random.Generator], Round]


def decided(of: Round, carried: str) -> Decision:
    """The decision on what an export carries of a round."""
    changes = _since(of) if carried == "two deliveries" else None
    also = [build_given_again_finding(changes, "hold")] if _is_aimed(changes) else []
    ratings = of.ratings(carried)
    return assess(ratings, POLICY, Contract.none(), gate_findings=also, checked=()).decision


def _since(of: Round) -> LabelChanges | None:
    """What changed between two deliveries of a round."""
    return find_changes_since(of.ratings("nothing"), [of.ratings("nothing", deliver="early")])


def _is_aimed(changes: LabelChanges | None) -> bool:
    return changes is not None and changes.is_aimed


def is_told(decision: Decision, of: Round, carried: str) -> bool:
    """True if the decision or a fact says that disputed items were treated apart."""
    times = carried in ("times", "first labels")
    third = times and FACTS["dispute_before_further_raters"](Panel(of.ratings("times"))).value
    return bool(third) or any(each.check == "labels_given_again" for each in decision.findings)


def rounds(made: Made, n: int) -> Iterator[Round]:
    every = [*RELABELLED.values(), *HONEST.values(), *CORRECTED.values()]
    return seeded(made, n, SEED, every.index(made))


def held(made: Made, carried: str, n: int) -> float:
    """In how many of a hundred rounds changes hold it, whatever agreement is."""
    if carried == "two deliveries":
        return 100 * np.mean([_is_aimed(changed) for changed in map(_since, rounds(made, n))])
    decisions = (decided(each, carried) for each in rounds(made, n))
    return 100 * np.mean(["labels_given_again" in each.codes for each in decisions])


@study(f"round: admitted / told, % | {' | '.join(CARRIED)}", rounds=40)
def relabelled(asked: Asked) -> Iterator[Cells]:
    """How often a round is admitted whose labels were given again, and how often it is told."""
    for name, made in RELABELLED.items():
        cells = []
        for carried in CARRIED:
            found = [(decided(each, carried), each) for each in rounds(made, asked.rounds)]
            admitted = np.mean([decision.admitted for decision, _ in found])
            told = np.mean([is_told(decision, each, carried) for decision, each in found])
            cells.append(f"{100 * admitted:.0f} / {100 * told:.0f}")
        yield name, *cells


@study(f"round: held for changes, % | {' | '.join(HOLDING)}", rounds=200)
def honest_changes(asked: Asked) -> Iterator[Cells]:
    """How often an honest round is held for its changes."""
    for name, made in HONEST.items():
        yield name, *(f"{held(made, carried, asked.rounds):.1f}" for carried in HOLDING)


@study(f"round: held for changes, % | {' | '.join(HOLDING)}", rounds=100)
def larger_corrections(asked: Asked) -> Iterator[Cells]:
    """How often an honest round is held that was corrected on many labels."""
    for name, made in CORRECTED.items():
        yield name, *(f"{held(made, carried, asked.rounds):.0f}" for carried in HOLDING)
