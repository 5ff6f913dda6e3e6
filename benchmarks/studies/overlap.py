"""How often an overlap sample is refused, where it is random and where it was chosen.

A round has items with one rating, and an overlap: items with three. Random overlaps differ from the
rest by chance alone. Where the overlap was chosen, single labels are worse by some points, which
the agreement of the overlap does not show.
"""

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from agreement_pipeline import Ratings, Scale
from agreement_pipeline.integrity import compare_overlap
from benchmarks.studies.study import Asked, Cells, percent, study

Random = np.random.Generator
Array = np.ndarray
LANGUAGES = ("en", "de", "fr")
ERROR = 0.08
PANEL = 3


@dataclass(frozen=True)
class Design:
    """A round before anybody labels.

    Attributes
    ----------
    shares
        The share of the single labels that each rater gives, and of those in the overlap.
    choose
        The positions of the overlap.
    is_worse
        Of each item, how likely it is that its only rater errs more. It is scaled so that single
        labels are worse by the points of the line.
    """

    n_items: int = 2_000
    n_overlap: int = 300
    categories: tuple[float, ...] = (0.6, 0.3, 0.1)
    single_shares: Array = field(default_factory=lambda: np.full(8, 1 / 8))
    overlap_shares: Array | None = None
    items_a_cluster: int = 1
    by_language: bool = False
    in_order_of_time: bool = False
    choose: Callable[["Design", Random, pd.DataFrame], Array] | None = None
    is_worse: Callable[[pd.DataFrame], Array] = lambda items: np.ones(len(items))

    def draw_items(self, random: Random) -> pd.DataFrame:
        n = self.n_items
        cluster = np.arange(n) // self.items_a_cluster
        of_cluster = random.choice(len(self.categories), size=n, p=self.categories)[cluster]
        own = random.choice(len(self.categories), size=n, p=self.categories)
        truth = np.where(random.random(n) < 0.5, of_cluster, own)
        if self.items_a_cluster == 1:
            truth = own
        return pd.DataFrame(
            {
                "truth": truth,
                "cluster": cluster,
                "language": random.choice(len(LANGUAGES), size=n, p=(0.5, 0.3, 0.2)),
                "is_hard": random.random(n) < 0.5,
                "time": random.permutation(n),
            }
        )

    def round(self, random: Random, points: float) -> Ratings:
        items = self.draw_items(random)
        n, n_categories = self.n_items, len(self.categories)
        if self.choose is None:
            drawn = random.permutation(n // self.items_a_cluster)
            chosen = np.flatnonzero(
                np.isin(items["cluster"], drawn[: self.n_overlap // self.items_a_cluster])
            )
        else:
            chosen = self.choose(self, random, items)
        is_chosen = np.isin(np.arange(n), chosen)
        if self.in_order_of_time:  # the overlap was labelled first
            order = np.argsort(np.argsort(np.where(is_chosen, 0, n) + items["time"]))
            items["time"] = order
        worse = self.is_worse(items) * ~is_chosen
        more = worse * points / max(worse[~is_chosen].mean(), 1e-9)
        languages = items["language"].to_numpy()
        shares = np.where(is_chosen[:, None], self._overlap_shares, self.single_shares)
        if self.by_language:
            shares = shares * (np.arange(shares.shape[1]) % len(LANGUAGES) == languages[:, None])
        with np.errstate(divide="ignore"):  # so many raters without replacement, by their shares
            order = np.argsort(-np.log(shares) - random.gumbel(size=shares.shape), axis=1)
        size = np.where(is_chosen, PANEL, 1)
        at = np.repeat(np.arange(n), size)
        rater = order[np.arange(shares.shape[1]) < size[:, None]]
        truth = items["truth"].to_numpy()[at]
        is_wrong = random.random(len(at)) < ERROR + more[at]
        away = random.integers(1, n_categories, size=len(at))
        names = np.array([f"c{k}" for k in range(n_categories)])
        frame = pd.DataFrame(
            {
                "item": np.array([f"i{each:05d}" for each in range(n)])[at],
                "rater": np.array([f"r{each:02d}" for each in range(shares.shape[1])])[rater],
                "label": names[np.where(is_wrong, (truth + away) % n_categories, truth)],
                "timestamp": 1.7e9 + 60.0 * items["time"].to_numpy()[at] + random.random(len(at)),
                "stratum:language": np.array(LANGUAGES)[languages[at]],
            }
        )
        if self.items_a_cluster > 1:
            clusters = items["cluster"].to_numpy()[at]
            frame["cluster"] = [f"d{cluster:05d}" for cluster in clusters]
        return Ratings.from_frame(frame, Scale(tuple(names)))

    @property
    def _overlap_shares(self) -> Array:
        return self.single_shares if self.overlap_shares is None else self.overlap_shares


def of_those(column: str, value: object = True) -> Callable[[Design, Random, pd.DataFrame], Array]:
    """The overlap is drawn from items of one kind."""

    def choose(design: Design, random: Random, items: pd.DataFrame) -> Array:
        here = np.flatnonzero(items[column] == value)
        return random.choice(here, size=design.n_overlap, replace=False)

    return choose


THREE = np.array([1, 1, 1, 0, 0, 0, 0, 0]) / 3
CROWD = 1 / np.arange(3, 63) / (1 / np.arange(3, 63)).sum()
HONEST = {
    "any three of eight raters": Design(),
    "the same three raters, who share the rest alike": Design(single_shares=THREE),
    "the same three raters, with 60, 30 and 10 % of the rest": Design(
        single_shares=np.array([0.6, 0.3, 0.1]), overlap_shares=np.full(3, 1 / 3)
    ),
    "a crowd of 60, of whom some do far more": Design(single_shares=CROWD),
    "raters of their own for each language": Design(
        single_shares=np.full(12, 1 / 12), by_language=True
    ),
    "whole documents of ten items": Design(items_a_cluster=10),
    "two categories, one of them rare (4 %)": Design(categories=(0.96, 0.04)),
    "50 of 500 items": Design(n_items=500, n_overlap=50),
    "1,000 of 4,000 items": Design(n_items=4_000, n_overlap=1_000),
}
CHOSEN = {
    "raters are more careful in the overlap": Design(),
    "the same, with categories alike common": Design(categories=(1 / 3, 1 / 3, 1 / 3)),
    "easy items": Design(
        choose=of_those("is_hard", value=False), is_worse=lambda items: items["is_hard"] * 1.0
    ),
    "easy items, which are mostly of one category": Design(
        choose=lambda design, random, items: random.choice(
            len(items),
            size=design.n_overlap,
            replace=False,
            p=np.where(items["truth"] == 0, 2, 1) / np.where(items["truth"] == 0, 2, 1).sum(),
        ),
        is_worse=lambda items: (items["truth"] > 0) * 1.0,
    ),
    "one rater, who is not in it, gave a third of the rest": Design(
        single_shares=np.array([1 / 3, *np.full(7, 2 / 21)]),
        overlap_shares=np.array([0, *np.full(7, 1 / 7)]),
    ),
    "one stratum (English)": Design(
        choose=of_those("language", 0), is_worse=lambda items: (items["language"] > 0) * 1.0
    ),
    "earlier days": Design(in_order_of_time=True),
}
POINTS = (5, 10, 20)


@study("overlap, random | refused of rounds, % | by what", rounds=50)
def honest_overlaps(asked: Asked) -> Iterator[Cells]:
    for name, design in HONEST.items():
        refused, subjects = _refused(design, asked, 0)
        yield [name, *percent(refused), subjects]


@study("overlap, chosen | 5 points worse | 10 points | 20 points | by what", rounds=20)
def chosen_overlaps(asked: Asked) -> Iterator[Cells]:
    for name, design in CHOSEN.items():
        outcomes = [_refused(design, asked, points / 100) for points in POINTS]
        yield [name, *percent(*(refused for refused, _ in outcomes)), outcomes[-1][1]]


def _refused(design: Design, asked: Asked, points: float) -> tuple[Array, str]:
    found, subjects = [], Counter[str]()
    for number in range(asked.rounds):
        random = np.random.default_rng((asked.seed, number, round(100 * points)))
        differences = compare_overlap(design.round(random, points)).differences
        found.append(bool(differences))
        subjects.update({difference.subject for difference in differences})
    return np.array(found), ", ".join(f"{name} ({n})" for name, n in subjects.most_common())
