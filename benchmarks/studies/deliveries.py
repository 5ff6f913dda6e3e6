"""Does a bad week hide behind the good weeks of a cumulative export, and are good weeks held?

Eight weekly exports of one project are simulated, each with all items before it. Three raters give
one of three labels. Each knows an item's label with a chance that is the root of the true α, and
otherwise guesses. The fifth week is bad, and all others have a true α of .9.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
import pandas as pd

from agreement_pipeline import Ratings, Scale, load_policy
from agreement_pipeline.contract import Contract
from agreement_pipeline.policy import Decision, assess
from agreement_pipeline.ratings import EarlierDelivery, mark_first_deliveries
from benchmarks.studies.study import Asked, Cells, percent, study

SCALE = Scale(("negative", "neutral", "positive"))
POLICY = replace(load_policy("standard"), n_resamples=1_000)
CONTRACT = Contract.none()
RATERS = np.array(["kim", "lee", "noa"])
GOOD_ALPHA, BAD_ALPHAS = 0.9, (0.2, 0.5, 0.7)
NEW_SHARES = (0.05, 0.1, 0.2, 0.3)
WEEKS, BAD_WEEK, ITEMS_A_WEEK = 8, 5, 150
GOOD_ALPHAS = (0.95, 0.9, 0.87)
Labels = np.ndarray


def labelled(rng: np.random.Generator, n_items: int, alpha: float) -> Labels:
    """Labels of shape (items, raters), as places on the scale."""
    truths = rng.integers(3, size=(n_items, 1))
    guesses = rng.integers(3, size=(n_items, len(RATERS)))
    return np.where(rng.random(guesses.shape) < np.sqrt(alpha), truths, guesses)


def ratings_of(weeks: Sequence[Labels]) -> Ratings:
    """An export that holds these weeks."""
    labels = np.concatenate(weeks)
    items = np.repeat([f"t{item}" for item in range(len(labels))], len(RATERS))
    names = np.array(SCALE.names)[labels.ravel()]
    columns = {"item": items, "rater": np.tile(RATERS, len(labels)), "label": names}
    return Ratings.from_frame(pd.DataFrame(columns), SCALE)


def decided(ratings: Ratings) -> Decision:
    return assess(ratings, POLICY, CONTRACT).decision


def project(rng: np.random.Generator, new_share: float, bad_alpha: float) -> list[Labels]:
    """The new items of each week. At the bad week, they are the share of its export that is new."""
    n_before = round(ITEMS_A_WEEK * (1 - new_share) / new_share / (BAD_WEEK - 1))
    return [
        labelled(rng, n_before, GOOD_ALPHA)
        if week < BAD_WEEK
        else labelled(rng, ITEMS_A_WEEK, bad_alpha if week == BAD_WEEK else GOOD_ALPHA)
        for week in range(1, WEEKS + 1)
    ]


def bad_week_is_released(weeks: Sequence[Labels], said: str) -> bool:
    """Is an export with the bad week admitted, in its own week or in a later one?

    A round of a cumulative project holds what is new, so no later week has the bad items.
    """
    exports = [ratings_of(weeks[:week]) for week in range(1, BAD_WEEK)]
    for week in range(BAD_WEEK, WEEKS + 1):
        exports.append(export := ratings_of(weeks[:week]))
        earlier = [
            EarlierDelivery(f"week {before}", exports[before - 1]) for before in range(1, week)
        ]
        if said == "cumulative":
            new = mark_first_deliveries(export, earlier, f"week {week}", "cumulative")
            return decided(new).admitted
        if said == "independent":
            export = mark_first_deliveries(export, earlier, f"week {week}", "independent")
        if decided(export).admitted:
            return True
    return False


@study(
    "α of the bad week | new items | nothing compared | independent | cumulative",
    rounds=100,
)
def bad_weeks(asked: Asked) -> Iterator[Cells]:
    """How often the items of a bad week are released.

    A project that says nothing releases none of these exports, since over half of each came before.
    The first two ways of it are simulated a fifth as often, as they judge whole exports.
    """
    for bad_alpha in reversed(BAD_ALPHAS):
        for new_share in NEW_SHARES:
            released: dict[str, list[bool]] = {}
            for number in range(asked.rounds):
                rng = np.random.default_rng((59, round(100 * bad_alpha), number))
                weeks = project(rng, new_share, bad_alpha)
                for said in ("nothing compared", "independent", "cumulative"):
                    if said == "cumulative" or number % 5 == 0:
                        found = bad_week_is_released(weeks, said)
                        released.setdefault(said, []).append(found)
            yield bad_alpha, f"{new_share:.0%}", *percent(*map(np.array, released.values()))


@study(
    "α of all weeks | a delivery of the new items alone | cumulative | half of it came before",
    rounds=400,
)
def good_weeks(asked: Asked) -> Iterator[Cells]:
    """How often a good week is held, of new items alone and beside those that came before.

    The last column is of a project that says nothing, whose second delivery holds the first one.
    """
    for alpha in GOOD_ALPHAS:
        held: list[list[bool]] = []
        for number in range(asked.rounds):
            rng = np.random.default_rng((60, round(100 * alpha), number))
            weeks = [labelled(rng, ITEMS_A_WEEK, alpha) for _ in range(2)]
            both = ratings_of(weeks)
            earlier = [EarlierDelivery("week 1", ratings_of(weeks[:1]))]
            rounds = (
                ratings_of(weeks[1:]),
                mark_first_deliveries(both, earlier, "week 2", "cumulative"),
                mark_first_deliveries(both, earlier, "week 2"),
            )
            held.append([not decided(each).admitted for each in rounds])
        yield alpha, *percent(*np.array(held).T)
