"""Measure what the page of a large round costs, in CPU seconds and in bytes.

`python benchmarks/report_page.py [ITEMS]` prints a line for each step.

The simulated round has five raters and a model, who label each item, and each item has a text.
Each rater meets one item in a hundred again. With 167,000 items, these are a million ratings.
The page comes after the decision. Its sections count items, estimate and simulate.
"""

import sys
import time
from collections.abc import Callable
from typing import TypeVar

import numpy as np
import pandas as pd

from agreement_pipeline import Ratings, Scale, load_policy
from agreement_pipeline.contract import Contract
from agreement_pipeline.policy import assess
from agreement_pipeline.report import JudgedRound, page_of_round
from agreement_pipeline.report.page import OF_ROUND

T = TypeVar("T")
RATERS = ("ana", "ben", "cyd", "dan", "eve", "model")
NAMES = ("safe", "rude", "hateful", "spam")


def simulated(n_items: int) -> Ratings:
    """Ratings of which three in four are right."""
    rng = np.random.default_rng(0)
    true = rng.integers(0, len(NAMES), (n_items, 1))
    right = rng.random((n_items, len(RATERS))) < 0.75
    labels = np.where(right, true, rng.integers(0, len(NAMES), right.shape))
    names = [f"i{place:07}" for place in range(n_items)]
    frame = pd.DataFrame(
        {
            "item": np.repeat(names, len(RATERS)),
            "rater": np.tile(RATERS, n_items),
            "label": np.array(NAMES)[labels.ravel()],
            "text": np.repeat([f"The text of {name}." for name in names], len(RATERS)),
            "occurrence": 1,
        }
    )
    again = frame[: len(frame) // 100].assign(occurrence=2)
    every = pd.concat([frame, again], ignore_index=True)
    return Ratings.from_frame(every, Scale(NAMES), classifiers=["model"])


def seconds(work: Callable[[], T]) -> tuple[float, T]:
    """The CPU seconds of some work on all threads, and its result."""
    start = time.process_time()
    done = work()
    return time.process_time() - start, done


def main() -> None:
    ratings = simulated(int(sys.argv[1]) if len(sys.argv) > 1 else 167_000)
    policy = load_policy("standard")
    took, found = seconds(lambda: assess(ratings, policy, Contract.default()))
    print(f"{'ratings':24} {len(ratings):12,}")
    print(f"{'decision':24} {took:12.2f} s")
    judged = JudgedRound("", "a large round", ratings, policy, found)
    for name, answer in OF_ROUND.items():
        took, _ = seconds(lambda answer=answer: answer(judged))
        print(f"  {name:22} {took:12.2f} s")
    took, page = seconds(lambda: page_of_round(JudgedRound("", "again", ratings, policy, found)))
    print(f"{'page':24} {took:12.2f} s")
    print(f"{'bytes':24} {len(page.encode()):12,}")


if __name__ == "__main__":
    main()
