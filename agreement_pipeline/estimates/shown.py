"""Which raters and pairs are shown where a panel has too many to show all."""

from dataclasses import dataclass
from itertools import combinations

import numpy as np

from agreement_pipeline.counting import Rated, counting_of
from agreement_pipeline.ratings import Array, Codes
from agreement_pipeline.statistics import LabelsByRater, NumbersByRater, raters_apart

MOST_SHOWN = 10
"""A panel of more raters is not shown whole: so many raters, and so many pairs, are shown."""

Names = tuple[str, ...]
Pair = tuple[str, str]


@dataclass(frozen=True)
class Shown:
    """The raters and pairs of a round that are shown.

    Attributes
    ----------
    raters
        Raters who are compared with the others, or left out. Those who agree least come first.
    pairs
        Pairs of raters. Those who agree least come first.
    again
        Raters who are compared with themselves. Those who met most items again come first.
    n_raters, n_pairs, n_again
        How many there are of each.
    """

    raters: Names
    pairs: tuple[Pair, ...]
    again: Names
    n_raters: int
    n_pairs: int
    n_again: int

    @classmethod
    def of(cls, ratings: Rated, most: int = MOST_SHOWN) -> "Shown":
        """The raters and pairs of a round: all of them if the panel has at most so many raters.

        They are then in the order of their names. Of a larger panel so many raters and so many
        pairs are shown.
        """
        if len(ratings.raters) <= most:
            return cls.whole(ratings.raters)
        panel = counting_of(ratings).by_rater(ratings)
        raters, pairs = _compared(panel, most)
        again, n_again = _met_again(ratings, most)
        n = panel.n_raters
        return cls(raters, pairs, again, n, n * (n - 1) // 2, n_again)

    @classmethod
    def whole(cls, raters: Names) -> "Shown":
        """All of some raters and all their pairs."""
        pairs = tuple(combinations(raters, 2))
        return cls(raters, pairs, raters, len(raters), len(pairs), len(raters))

    def of_both(self) -> "Shown":
        """The same raters beside the others as beside themselves."""
        return self if not self.again else Shown(**{**vars(self), "raters": self.again})

    def left_out(self) -> str | None:
        """What is shown of how many, and how to see all. None if all is shown."""
        least = "those who agree least"
        kinds = (
            (self.raters, self.n_raters, "raters", least, ("rater", "without")),
            (self.pairs, self.n_pairs, "pairs of raters", least, ("pair",)),
            (
                self.again,
                self.n_again,
                "raters who met items again",
                "those who met most",
                ("rater",),
            ),
        )
        cut = [each for each in kinds if len(each[0]) < each[1]]
        if not cut:
            return None
        said = "; ".join(f"{len(some)} of {n} {what}, {which}" for some, n, what, which, _ in cut)
        scopes = dict.fromkeys(scope for *_, each in cut for scope in each)
        return f"shown are {said}. For all, use measure {' '.join(f'--scope {s}' for s in scopes)}"


def _compared(panel: LabelsByRater | NumbersByRater, most: int) -> tuple[Names, tuple[Pair, ...]]:
    """The raters and the pairs that agree least. All, if no more raters rated in the round."""
    raters = sorted(panel.raters)
    if len(raters) <= most:
        return tuple(raters), tuple(combinations(raters, 2))
    apart = raters_apart(panel.only(raters))
    one, other = np.triu_indices(len(raters), 1)
    farthest = _largest(apart.of_pairs[one, other], most)
    pairs = tuple((raters[one[place]], raters[other[place]]) for place in farthest)
    return tuple(raters[place] for place in _largest(apart.of_raters, most)), pairs


def _met_again(ratings: Rated, most: int) -> tuple[Names, int]:
    """The raters who met most items again, and how many raters met any."""
    replicates = counting_of(ratings).replicates(ratings)
    times = np.bincount(replicates.rater, minlength=len(replicates.raters)).astype(float)
    items = {name: times[place] for place, name in enumerate(replicates.raters) if times[place]}
    raters = sorted(items)
    often = _largest(np.array([items[name] for name in raters]), most)
    return tuple(raters[place] for place in often), len(raters)


def _largest(values: Array, most: int) -> Codes:
    """The places of the largest values. Of equal ones the first come first, and nan comes last."""
    return np.argsort(-values, kind="stable")[:most]


def pairs_of(raters: Names, shown: Shown | None) -> list[Pair]:
    """The pairs of some raters that are shown. Each pair is in the order of the raters."""
    if shown is None:
        return sorted(combinations(raters, 2), key=sorted)
    place = {name: n for n, name in enumerate(raters)}
    here = [pair for pair in shown.pairs if {*pair} <= {*raters}]
    return [(one, other) if place[one] < place[other] else (other, one) for one, other in here]
