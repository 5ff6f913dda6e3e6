"""Measure how often intervals hold the truth for units of spans, with documents as clusters.

    python benchmarks/units_study.py [rounds] [documents …]

Three raters mark spans of three categories; one category is rare. Documents are of unequal length.
One in five holds nothing to mark, and three in ten are hard: there, raters overlook and misname
more. The true value is that of 20,000 documents.
"""

import sys

import numpy as np

from agreement_pipeline.estimates import measure_ratings
from agreement_pipeline.intervals import Inference
from agreement_pipeline.ratings import Scale
from agreement_pipeline.units import Marked, Span, UnitSettings, units_of

RATERS, NAMES, SHARES = "abc", ("common", "other", "rare"), (0.80, 0.17, 0.03)
EMPTY, HARD = 0.2, 0.3
OVERLOOKS, MISNAMES = (0.05, 0.35), (0.03, 0.25)
EVERY, MANY, N_RESAMPLES = 40, 20_000, 1_000
ASKED = {
    "positions: alpha": ("positions", "all", "krippendorff_alpha", "round"),
    "positions: alpha of naming": ("positions", "naming", "krippendorff_alpha", "round"),
    "positions: alpha of the rare category": ("positions", "all", "alpha_by_category", "rare"),
    "matched: alpha of naming": ("matched", "naming", "krippendorff_alpha", "round"),
    "matched: specific agreement of marked": (
        "matched",
        "marking",
        "specific_agreement",
        "marked",
    ),
}


def documents(rng, n):
    """What the raters marked in `n` documents."""
    for number in range(n):
        length = EVERY * int(np.ceil(2 ** (5 * rng.random())))
        hard, empty = int(rng.random() < HARD), rng.random() < EMPTY
        places = [] if empty else [at for at in range(0, length, EVERY) if rng.random() < 0.6]
        truth = [(at, int(rng.choice(3, p=SHARES))) for at in places]
        for rater in RATERS:
            spans = tuple(
                span(rng, at, name, hard) for at, name in truth if rng.random() >= OVERLOOKS[hard]
            )
            yield Marked(f"d{number:05d}", rater, spans, (length,))


def span(rng, at, name, hard):
    """A span as a rater marks it."""
    said = (name + 1) % 3 if rng.random() < MISNAMES[hard] else name
    start, end = at + int(rng.integers(0, 3)), at + 12 + int(rng.integers(0, 5))
    return Span(start, end, NAMES[said])


def found(marked, inference):
    """The estimate of each question; None where there is none."""
    answers = {}
    for question, (rule, part, measure, what) in ASKED.items():
        scale = {"naming": Scale(NAMES), "marking": None, "all": Scale(("none", *NAMES))}[part]
        ratings = units_of(marked, UnitSettings("spans", rule=rule, part=part), scale).ratings
        kind = "round" if what == "round" else "category"
        each = measure_ratings(ratings, [measure], inference, scopes=(kind,))
        answers[question] = next((e for e in each if e.scope.name in ("", what)), None)
    return answers


def main(rounds=200, *sizes):
    """Print the table of docs/proofs/coverage.md."""
    few = Inference(n_resamples=100)
    truth = {
        question: each.value
        for question, each in found(list(documents(np.random.default_rng(1), MANY)), few).items()
    }
    print("| documents | question | true value | 95 % interval | its lower limit | no interval |")
    print("| ---: | --- | ---: | ---: | ---: | ---: |")
    for n in sizes or (30, 100):
        held = {question: [] for question in ASKED}
        for number in range(rounds):
            rng = np.random.default_rng([n, number])
            inference = Inference(n_resamples=N_RESAMPLES, seed=number)
            for question, each in found(list(documents(rng, n)), inference).items():
                low, high = (
                    (np.nan, np.nan) if each is None or each.interval is None else each.interval
                )
                held[question].append(
                    (low <= truth[question] <= high, low <= truth[question], np.isnan(low))
                )
        for question, each in held.items():
            inside, above, absent = np.array(each).T
            there = ~absent.astype(bool)
            shares = " | ".join(f"{100 * part[there].mean():.1f}" for part in (inside, above))
            print(
                f"| {n} | {question} | {truth[question]:.3f} | {shares} | {absent.sum()} |",
                flush=True,
            )


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
