"""How often the halves of real rounds get the same decision, and how often one half says so.

The items of the largest round of each data set are cut at random into two halves. No data set lies
at 0.8, so each cut has a cut-off of its own: any within four standard errors of the limit of a
half.
"""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from agreement_pipeline.estimates import build_round_statistic, estimate
from agreement_pipeline.intervals import Inference
from agreement_pipeline.statistics import Statistic
from benchmarks.studies.real_rounds import ratings_of, rounds_in
from benchmarks.studies.repeats import METHOD, Repeat, repeat, shares
from benchmarks.studies.study import ALPHA, Asked, Cells, study

REACH = 4.0
INFERENCE = Inference(n_resamples=1000, method=METHOD, lower_only=True)


def halves(whole: Statistic, rng: np.random.Generator) -> list[Statistic]:
    """The statistics of two random halves of the items."""
    weights = whole.weights.round().astype(int)
    items = rng.permutation(np.repeat(np.arange(len(weights)), weights))
    return [
        whole.with_weights(np.bincount(some, minlength=len(weights)).astype(float))
        for some in (items[::2], items[1::2])
    ]


def cuts(whole: Statistic, name: str, n_cuts: int) -> list[Repeat | None]:
    """What became of the halves, for each cut."""
    of_all, found = estimate(ALPHA, whole, INFERENCE), list[Repeat | None]()
    if of_all.value is None or of_all.interval is None:
        raise ValueError(f"{name}: found no value of {ALPHA}; expected one.")
    error = np.sqrt(2) * (of_all.value - of_all.interval.low) / 2
    for number in range(n_cuts):
        rng = np.random.default_rng(number)
        first, second = (
            estimate(ALPHA, half, replace(INFERENCE, seed=(number, place)))
            for place, half in enumerate(halves(whole, rng))
        )
        cutoff = of_all.value - 2 * error + REACH * error * rng.uniform(-1, 1)
        found.append(repeat(first, second, cutoff, INFERENCE.tail))
    return found


@study("data set | items | cuts | all | first admitted | first held", rounds=400, real=True)
def real_halves(asked: Asked) -> Iterator[Cells]:
    """The same decision of both halves, as found and as said, for each data set of the folder."""
    for path in sorted(asked.folder.glob("*.csv")):
        _, rows, scale = max(rounds_in(path), key=lambda each: len(each[1]))
        whole = build_round_statistic(ratings_of(rows, scale), ALPHA)
        if whole is not None:
            yield path.stem, f"{whole.n_used:,}", *shares(cuts(whole, path.stem, asked.rounds))
