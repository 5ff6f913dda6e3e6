"""Measure how often strata at the cut-off are called reliable, and their round is admitted.

    python benchmarks/strata.py [rounds]

All strata of a round are of one size, and the true α of each is exactly the cut-off, 0.8. So every
stratum that is called reliable is called so wrongly. Three raters label an item with yes or no. One
item in five is hard: every label is a guess. All labels of other items are right.
"""

import sys

import numpy as np

from agreement_pipeline.estimates import Scope, estimate
from agreement_pipeline.intervals import Inference
from agreement_pipeline.policy import Policy, Rule
from agreement_pipeline.ratings import Scale
from agreement_pipeline.statistics import CategoryCounts, CountsOfStratum

CUTOFF, N_RATERS, N_RESAMPLES = 0.8, 3, 5_000
DESIGNS = ((1, 200), (2, 200), (4, 200), (8, 200), (8, 100), (8, 50))
OWN, OF_ROUND = "krippendorff_alpha", "stratum_alpha"


def drawn(rng, n_items):
    """How many raters said no and yes of each item of a stratum."""
    right = rng.integers(2, size=(n_items, 1))
    guessed = rng.integers(2, size=(n_items, N_RATERS))
    yes = np.where(rng.random((n_items, 1)) < CUTOFF, right, guessed).sum(1)
    return np.column_stack([N_RATERS - yes, yes])


def counts_of(rows):
    """Rows of counts as a statistic."""
    return CategoryCounts(rows, scale=Scale(("no", "yes")), n_raters=N_RATERS)


def estimated(measure, strata, seed):
    """The estimate of each stratum, with its own expected disagreement or that of the round."""
    inference = Inference(n_resamples=N_RESAMPLES, seed=seed)
    whole = counts_of(np.vstack(strata))
    place = np.repeat(np.arange(len(strata)), [len(each) for each in strata])
    for number, rows in enumerate(strata):
        here = CountsOfStratum(whole, place == number) if measure == OF_ROUND else counts_of(rows)
        scope = Scope.of_stratum("part", str(number))
        yield estimate(measure, here.merged(), inference, scope=scope)


def judged(measure, k, n_items, rounds):
    """The shares of rounds with a stratum called reliable by itself, by Holm, and admitted."""
    rng, found = np.random.default_rng([k, n_items]), np.zeros(3)
    rule = Rule(measure, scope="stratum")
    policy = Policy("strata", 1, (rule,), admit=("reliable",))
    for number in range(rounds):
        estimates = list(estimated(measure, [drawn(rng, n_items) for _ in range(k)], number))
        alone, together = (
            [each.kind == "reliable" for each in judge(estimates)]
            for judge in (rule.judge, policy.judge)
        )
        found += (any(alone), any(together), all(together))
    return found / rounds


def main(rounds=600):
    """Print the table of docs/proofs/intervals.md."""
    print(
        "| strata | items in each | expected disagreement | one is called reliable, no correction "
        "| one is called reliable | round admitted |"
    )
    print("| ---: | ---: | --- | ---: | ---: | ---: |")
    for k, n_items in DESIGNS:
        for measure, words in ((OWN, "own"), (OF_ROUND, "the round's")):
            shares = " | ".join(
                f"{100 * share:.1f}" for share in judged(measure, k, n_items, rounds)
            )
            print(f"| {k} | {n_items} | {words} | {shares} |", flush=True)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
