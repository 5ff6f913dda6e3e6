"""How often a part without agreement holds a round, and how often it does so without a reason.

Each line is for one kind of round: how many of the simulated rounds the policy `standard` admits
or, if they are honest, how many it takes back for a weak part (`weak_part`).
"""

from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np
import pandas as pd

from agreement_pipeline import Ratings, Scale
from agreement_pipeline.contract import Contract
from agreement_pipeline.policy import Decision, assess, load_policy
from agreement_pipeline.units import (
    ChosenSet,
    Marked,
    Preference,
    Ranking,
    Rubric,
    Span,
    UnitSettings,
    units_of,
)
from benchmarks.studies.study import Asked, Cells, percent, seeded, study

POLICY = replace(load_policy("standard"), n_resamples=1000)
CONTRACT = Contract.none()
RATERS = ("ana", "ben", "chi")
LABELS = Scale(("a", "b", "c"))
Random = np.random.Generator
Made = Callable[[Random], Ratings]


def decided(ratings: Ratings) -> Decision:
    return assess(ratings, POLICY, CONTRACT, checked=()).decision


def _said(random: Random, truth: int, error: float, n: int = 3) -> int:
    return int(random.integers(n)) if random.random() < error else truth


def plain(random: Random, sizes: dict[str, int], errors: dict[str, float]) -> Ratings:
    """Items in strata of these sizes, on which raters guess so often."""
    rows = [
        (f"{name}{at:04}", rater, LABELS.names[_said(random, truth, errors[name])], name)
        for name, size in sizes.items()
        for at, truth in enumerate(random.integers(3, size=size).tolist())
        for rater in RATERS
    ]
    columns = ["item", "rater", "label", "stratum:language"]
    return Ratings.from_frame(pd.DataFrame(rows, columns=columns), LABELS)


def rubric(random: Random, errors: list[float], n_items: int = 200) -> Ratings:
    """A score of five for each criterion, on which raters guess so often."""
    marked = [
        Marked(
            f"e{at:03}",
            rater,
            (Rubric({f"c{c}": str(_said(random, truth[c], e, 5)) for c, e in enumerate(errors)}),),
        )
        for at in range(n_items)
        for truth in [random.integers(5, size=len(errors)).tolist()]
        for rater in RATERS
    ]
    return units_of(marked, UnitSettings("rubrics")).ratings


def ticks(random: Random, shares: list[float], errors: list[float], n_items: int) -> Ratings:
    """Sets, in which each label is right as often as its share says, and raters guess so often."""
    names = [f"l{at:02}" for at in range(len(shares))]
    marked = []
    for at in range(n_items):
        right = random.random(len(shares)) < shares
        for rater in RATERS:
            guessed = random.random(len(shares)) < errors
            said = np.where(guessed, random.random(len(shares)) < shares, right)
            ticked = frozenset(np.array(names)[said].tolist())
            marked.append(Marked(f"e{at:03}", rater, (ChosenSet(ticked),)))
    return units_of(marked, UnitSettings("sets", members=tuple(names))).ratings


def ranked(random: Random, moved: float, *, as_shown: bool, n_items: int = 60) -> Ratings:
    """Rankings of six, as they were shown or as they are, in which two neighbours are exchanged."""
    marked = []
    for at in range(n_items):
        shown, best = (random.permutation(list("abcdef")).tolist() for _ in range(2))
        for rater in RATERS:
            order = list(shown if as_shown else best)
            if random.random() < moved:
                place = int(random.integers(5))
                order[place], order[place + 1] = order[place + 1], order[place]
            groups = tuple(frozenset({name}) for name in order)
            marked.append(Marked(f"q{at:03}", rater, (Ranking(groups, shown=tuple(shown)),)))
    return units_of(marked, UnitSettings("rankings")).ratings


def preferred(random: Random, first: float, error: float, n_items: int = 300) -> Ratings:
    """Preferences, of which so many are for the first shown whatever it is."""
    marked = []
    for at in range(n_items):
        shown = random.permutation(["x", "y"]).tolist()
        taken = "first" if random.random() < first else str(random.choice(["first", "second"]))
        for rater in RATERS:
            other = str(random.choice(["first", "second"]))
            said = other if random.random() < error else taken
            marked.append(Marked(f"q{at:03}", rater, (Preference(*shown, said),)))  # type: ignore[arg-type]
    return units_of(marked, UnitSettings("preferences")).ratings


def documents(random: Random, n_short: int, n_long: int, guessed: float) -> Ratings:
    """Spans in long documents, where raters agree, and in short ones, where they guess."""
    marked = []
    for at in range(n_short + n_long):
        length = int(random.integers(8, 20) if at < n_short else random.integers(150, 400))
        starts = [start for start in range(0, length - 5, 9) if random.random() < 0.6]
        guesses = at < n_short and random.random() < guessed
        for rater in RATERS:
            own = [int(random.integers(0, 4))] if random.random() < 0.6 else []
            spans = tuple(
                Span(start, start + 4, "PER")
                for start in (own if guesses else starts)
                if random.random() > 0.02
            )
            marked.append(Marked(f"d{at:03}", rater, spans, (length,)))
    return units_of(marked, UnitSettings("spans"), Scale(("none", "PER"))).ratings


def assisted(random: Random, error: float) -> Ratings:
    """Nine labels in ten began as a suggestion, which raters keep; they guess so often alone."""
    rows = [
        (f"i{at:04}", rater, LABELS.names[said], began)
        for at, truth in enumerate(random.integers(3, size=800).tolist())
        for began in [at % 10 > 0]
        for rater in RATERS
        for said in [_said(random, truth, 0.02 if began else error)]
    ]
    columns = ["item", "rater", "label", "assisted"]
    return Ratings.from_frame(pd.DataFrame(rows, columns=columns), LABELS)


def teams(random: Random, errors: dict[str, float], n_items: int = 200) -> Ratings:
    """Teams of two raters, who share no item with other teams and guess so often."""
    rows = [
        (f"{team}{at:04}", f"{team} {number}", LABELS.names[_said(random, truth, error)])
        for team, error in errors.items()
        for at, truth in enumerate(random.integers(3, size=n_items).tolist())
        for number in range(2)
    ]
    return Ratings.from_frame(pd.DataFrame(rows, columns=["item", "rater", "label"]), LABELS)


SIX = dict.fromkeys(("de", "en", "es", "fr", "it", "pt"), 100)
EIGHT = [0.25, 0.2, 0.3, 0.4, 0.15, 0.2, 0.3, 0.1]
DISHONEST: dict[str, Made] = {
    "a rubric of six criteria, one of them noise": lambda r: rubric(r, [0] * 5 + [1], 400),
    "sets where two labels are always ticked, 17 never, and one is a coin": lambda r: ticks(
        r, [1, 1, *[0] * 17, 0.5], [*[0] * 19, 1], 400
    ),
    "everybody takes the first shown of two": lambda r: preferred(r, 1, 0),
    "all take the first shown, but for 4 % of guesses": lambda r: preferred(r, 1, 0.04),
    "rankings left as they were shown": lambda r: ranked(r, 0, as_shown=True),
    "60 short documents of noise, and 60 long ones that agree": lambda r: documents(r, 60, 60, 1),
    "one language in ten is noise": lambda r: plain(
        r, {**SIX, "xx": 50}, {**dict.fromkeys(SIX, 0.03), "xx": 1}
    ),
    "labels without a suggestion are noise, one in ten": lambda r: assisted(r, 1),
    "one of ten teams that share no item guesses": lambda r: teams(
        r, {**dict.fromkeys("abcdefghi", 0.02), "j": 1}
    ),
}
HONEST: dict[str, Made] = {
    "six languages alike": lambda r: plain(r, SIX, dict.fromkeys(SIX, 0.05)),
    "six languages, of which some are harder": lambda r: plain(
        r, SIX, dict(zip(SIX, (0.02, 0.03, 0.04, 0.06, 0.07, 0.09), strict=True))
    ),
    "forty small strata": lambda r: plain(
        r,
        {f"s{at:02}": 20 for at in range(40)},
        {f"s{at:02}": 0.05 for at in range(40)},
    ),
    "a rubric of six criteria": lambda r: rubric(r, [0.02, 0.03, 0.04, 0.05, 0.06, 0.08]),
    "sets of eight labels": lambda r: ticks(r, EIGHT, [0.05] * 8, 200),
    "sets of twenty labels, half of them rare": lambda r: ticks(
        r, [*EIGHT, 0.1, 0.2, *[0.02] * 10], [0.05] * 20, 200
    ),
    "sets of thirty rare labels": lambda r: ticks(r, [0.03] * 30, [0.02] * 30, 200),
    "preferences, of which six in ten are for the first shown": lambda r: preferred(r, 0.2, 0.08),
    "rankings": lambda r: ranked(r, 0.3, as_shown=False),
    "short and long documents": lambda r: documents(r, 60, 60, 0.02),
    "nine labels in ten began as a suggestion": lambda r: assisted(r, 0.06),
    "ten teams that share no item": lambda r: teams(r, dict.fromkeys("abcdefghij", 0.06)),
    "two teams, of which one has harder items": lambda r: teams(r, {"a": 0.02, "b": 0.08}),
}


def rounds(made: Made, n: int) -> Iterator[Decision]:
    number = [*DISHONEST.values(), *HONEST.values()].index(made)
    return map(decided, seeded(made, n, 35, number))


@study("round | admitted, % | admitted but for a part, %", rounds=40)
def weak_parts(asked: Asked) -> Iterator[Cells]:
    """How often a round is admitted that has a part without agreement."""
    for name, made in DISHONEST.items():
        found = list(rounds(made, asked.rounds))
        admitted = np.array([each.admitted for each in found])
        but_for = np.array([each.codes == ("weak_part",) for each in found])
        yield name, *percent(admitted, admitted | but_for)


@study("round | held for a part, %", rounds=200)
def honest_parts(asked: Asked) -> Iterator[Cells]:
    """How often an honest round is held for a part."""
    for name, made in HONEST.items():
        held = ["weak_part" in each.codes for each in rounds(made, asked.rounds)]
        yield name, *percent(held)
