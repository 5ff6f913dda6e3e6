"""The strata of a round: parts of its items, such as those of one language.

Each stratum is a round of its own, with its own expected disagreement. That is the usual reading,
for two reasons. Every measure has it. And it asks what a team asks: could these items alone be
trained on? A stratum where nearly all labels are one category is then hard to pass, as such a round
is. The measure `stratum_alpha` reads all strata by the expected disagreement of the whole round.
"""

from collections.abc import Iterator
from typing import NamedTuple, cast

import numpy as np

from agreement_pipeline.counting import Rated, counting_of
from agreement_pipeline.estimates.scope import Scope
from agreement_pipeline.ratings import STRATUM, Ratings
from agreement_pipeline.statistics import CategoryCounts, CountsOfStratum


class Stratum(NamedTuple):
    """A stratum of a round, or some small ones of a column together.

    Attributes
    ----------
    scope
        What estimates of it are about.
    whole
        The ratings of the round.
    column, names
        The column of strata, and the strata of it that are spoken of.
    """

    scope: Scope
    whole: Ratings
    column: str
    names: tuple[str, ...]

    @property
    def ratings(self) -> Ratings:
        """The ratings of its items alone."""
        return self.whole.within(self.column, self.names)

    def counts(self) -> CountsOfStratum:
        """The counts of the round, and which rows are of the stratum."""
        items, counts = counting_of(self.whole).by_item(self.whole)
        if not isinstance(counts, CategoryCounts):
            raise TypeError("numbers on a scale without categories")
        column = STRATUM + self.column
        stratum = self.whole.items([column], names=items)[column]
        counts = counts.with_scale(counts.scale.canonical)
        here = np.array([name in self.names for name in stratum.to_pylist()], dtype=bool)
        return CountsOfStratum(counts, here).merged()


def strata_of(ratings: Rated) -> Iterator[Stratum]:
    """The strata of a round, one by one, if the ratings know any."""
    if not any(name.startswith(STRATUM) for name in ratings.has):
        return
    whole = cast(Ratings, ratings)
    for column, names in whole.strata.items():
        for name in names:
            yield Stratum(Scope.of_stratum(column, name), whole, column, (name,))


def together(strata: list[Stratum]) -> Stratum:
    """Some strata of one column as one."""
    first = strata[0]
    if len(strata) == 1:
        return first
    names = tuple(name for each in strata for name in each.names)
    scope = Scope.of_small_strata(first.column, len(names))
    return first._replace(scope=scope, names=names)
