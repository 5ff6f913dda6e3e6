"""Measure what a round of many raters costs to measure, judge and display.

`python -m benchmarks.many_raters [CSV]` prints one line for each round, in CPU seconds.
A CSV with the columns item, rater and label is a further round.

The simulated rounds have three categories. A rater gives the true one four times in five.
In the crowd, three of a thousand raters rate each item.
"""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd

from agreement_pipeline import Ratings, read_ratings
from agreement_pipeline.contract import Contract
from agreement_pipeline.estimates import ShownRaters, applicable_measures, survey
from agreement_pipeline.evidence import details, disputed, patterns
from agreement_pipeline.intervals import Inference
from agreement_pipeline.measures import Question
from agreement_pipeline.orchestration.metadata import rendered
from agreement_pipeline.policy import Policy, assess
from benchmarks.asked import asked
from benchmarks.measuring import seconds

QUESTIONS: tuple[Question, ...] = ("inter-rater", "intra-rater", "classifier")
POLICY = Policy.from_mapping(
    {"policy": "many-raters", "version": 1, "rules": [{"measure": "krippendorff_alpha"}]}
)
ROUNDS = {
    "123 raters, 350 items": (123, 350, 1.0),
    "300 raters, 2,000 items": (300, 2000, 1.0),
    "crowd of 1,000, 5,000 items": (1000, 5000, 0.003),
}


def simulated(raters: int, items: int, share: float) -> pd.DataFrame:
    """Ratings of a share of all pairs of an item and a rater."""
    rng = np.random.default_rng(0)
    right = rng.random((items, raters)) < 0.8
    labels = np.where(right, rng.integers(0, 3, (items, 1)), rng.integers(0, 3, right.shape))
    item, rater = np.nonzero(rng.random(right.shape) < share)
    return pd.DataFrame(
        {
            "item": [f"i{place}" for place in item],
            "rater": [f"r{place}" for place in rater],
            "label": [f"c{label}" for label in labels[item, rater]],
        }
    )


def measured(ratings: Ratings) -> object:
    """What the command `measure` estimates if no scope is asked for."""
    return survey(
        ratings, applicable_measures(ratings), Inference(), shown=ShownRaters.choose(ratings)
    )


def displayed(ratings: Ratings) -> object:
    """What the assets of a round show."""
    sections = [patterns(ratings), disputed(ratings)]
    for question in QUESTIONS:
        shown = ShownRaters.choose(ratings)
        measures = applicable_measures(ratings, question)
        found = survey(ratings, measures, POLICY.inference, judged=("round",), shown=shown)
        sections.append(details(question, ratings, POLICY, found, shown))
    return [rendered(section) for section in sections]


def line(name: str, frame: pd.DataFrame) -> str:
    """The CPU seconds of one round."""
    read, _, ratings = seconds(lambda: read_ratings(frame))
    spent = {
        "read": read,
        "measure": seconds(lambda: measured(ratings))[0],
        "judge": seconds(lambda: assess(ratings, POLICY, Contract.none()))[0],
        "display": seconds(lambda: displayed(ratings))[0],
    }
    figures = "  ".join(f"{what} {cost:6.1f}" for what, cost in spent.items())
    return f"{name:28}  {len(frame):7} ratings  {figures}"


def main() -> None:
    """Print one line for each round."""
    rounds: dict[str, Callable[[], pd.DataFrame]] = {
        Path(file).stem: lambda file=file: pd.read_csv(file, dtype=str)[["item", "rater", "label"]]
        for file in asked(__doc__, files=[str]).files
    }
    rounds |= {name: lambda size=size: simulated(*size) for name, size in ROUNDS.items()}
    assess(read_ratings(simulated(3, 30, 1.0)), POLICY, Contract.none())
    for name, frame in rounds.items():
        print(line(name, frame()), flush=True)


if __name__ == "__main__":
    main()
