"""The parts of a round that estimates are about. Each stratum has its own expected disagreement."""

from collections.abc import Callable, Container, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations
from typing import Any, NamedTuple, cast

import numpy as np

from agreement_pipeline.counting import Rated, counting_of, item_column
from agreement_pipeline.estimates.estimates import ROUND, Scope
from agreement_pipeline.estimates.gold import against_gold
from agreement_pipeline.measures import Needs
from agreement_pipeline.ratings import STRATUM, Array, Codes, Ratings
from agreement_pipeline.statistics import (
    CategoryCounts,
    CountsOfStratum,
    Statistic,
    rater_distances,
)

# Everybody is taken to agree on a few items more, since disagreement on one or two says little.
MOST_SHOWN, FEW = 10, 10

Names = tuple[str, ...]
Pair = tuple[str, str]
Parts = Iterator[tuple[Scope, Callable[[], Statistic]]]


@dataclass(frozen=True)
class Shown:
    """The raters and pairs of a large panel that are shown: those who agree least, and met most
    items again.
    """

    raters: Names
    pairs: tuple[Pair, ...]
    again: Names
    n_raters: int
    n_pairs: int
    n_again: int

    @classmethod
    def of(cls, ratings: Rated, most: int = MOST_SHOWN) -> "Shown":
        if len(ratings.raters) <= most:
            return cls.whole(ratings.raters)
        panel = counting_of(ratings).by_rater(ratings)
        shown = cls.whole(tuple(sorted(panel.raters)))
        if shown.n_raters > most:
            apart = rater_distances(panel.only(shown.raters))
            met, met_in_all = apart.met, apart.met.sum(1)
            far = (apart.of_pairs * met / (met + FEW))[np.triu_indices(shown.n_raters, 1)]
            least = _largest(apart.of_raters * met_in_all / (met_in_all + FEW), most)
            raters = tuple(shown.raters[place] for place in least)
            pairs = tuple(shown.pairs[place] for place in _largest(far, most))
            n_pairs = int((met > 0).sum()) // 2
            shown = replace(shown, raters=raters, pairs=pairs[:n_pairs], n_pairs=n_pairs)
        replicates = counting_of(ratings).replicates(ratings)
        times = np.bincount(replicates.rater, minlength=len(replicates.raters)).astype(float)
        items = {name: n for name, n in zip(replicates.raters, times, strict=True) if n}
        again = sorted(items)
        often = _largest(np.array([items[name] for name in again]), most)
        return replace(shown, again=tuple(again[place] for place in often), n_again=len(again))

    @classmethod
    def whole(cls, raters: Names) -> "Shown":
        pairs = tuple(combinations(raters, 2))
        return cls(raters, pairs, raters, len(raters), len(pairs), len(raters))

    def of_both(self) -> "Shown":
        return replace(self, raters=self.again) if self.again else self

    def left_out(self) -> str | None:
        again = "raters who met items again, those who met most"
        kinds = (
            (self.raters, self.n_raters, "raters, those who agree least", "rater without"),
            (self.pairs, self.n_pairs, "pairs of raters, those who agree least", "pair"),
            (self.again, self.n_again, again, "rater"),
        )
        cut = [each for each in kinds if len(each[0]) < each[1]]
        if not cut:
            return None
        said = "; ".join(f"{len(some)} of {n} {what}" for some, n, what, _ in cut)
        scopes = dict.fromkeys(scope for *_, each in cut for scope in each.split())
        return f"shown are {said}. For all, use measure {' '.join(f'--scope {s}' for s in scopes)}"


def _largest(values: Array, most: int) -> Codes:
    """Of equal values the first come first, and nan comes last."""
    return np.argsort(-values, kind="stable")[:most]


class Stratum(NamedTuple):
    scope: Scope
    whole: Ratings
    column: str
    names: Names

    @property
    def ratings(self) -> Ratings:
        return self.whole.within(self.column, self.names)

    def counts(self) -> CountsOfStratum:
        items, counts = counting_of(self.whole).by_item(self.whole)
        if not isinstance(counts, CategoryCounts):
            raise TypeError("numbers on a scale without categories")
        stratum = item_column(self.whole, items, STRATUM + self.column)
        here = np.array([name in self.names for name in stratum.to_pylist()], dtype=bool)
        return CountsOfStratum(counts.with_scale(counts.scale.canonical), here).merged()


def strata_of(ratings: Rated) -> Iterator[Stratum]:
    if any(name.startswith(STRATUM) for name in ratings.has):
        whole = cast(Ratings, ratings)
        for column, names in whole.strata.items():
            for name in names:
                yield Stratum(Scope.of_stratum(column, name), whole, column, (name,))


def together(strata: list[Stratum]) -> Stratum:
    first = strata[0]
    if len(strata) == 1:
        return first
    names = tuple(name for each in strata for name in each.names)
    scope = Scope("stratum", f"{first.column}, {len(names)} small ones as one")
    return first._replace(scope=scope, names=names)


class Asked(NamedTuple):
    """What is asked for. Counts are `named` if they must keep raters' names, for raters at
    large.
    """

    kinds: Container[str]
    shown: Shown | None = None
    named: bool = False

    @property
    def whole(self) -> bool:
        return "round" in self.kinds or "category" in self.kinds

    def raters(self, raters: Iterable[str], *, again: bool = False) -> list[str]:
        here = set(raters)
        if self.shown is None:
            return sorted(here)
        return [name for name in (self.shown.again if again else self.shown.raters) if name in here]

    def classifiers(self, ratings: Rated) -> Names:
        return ratings.classifiers if "classifier" in self.kinds else ()

    def pairs(self, raters: Names) -> list[Pair]:
        if self.shown is None:
            return sorted(combinations(raters, 2), key=sorted)
        place = {name: n for n, name in enumerate(raters)}
        here = [pair for pair in self.shown.pairs if {*pair} <= {*raters}]
        return [(one, other) if place[one] < place[other] else (other, one) for one, other in here]


def parts_of(ratings: Rated, needs: Needs, asked: Asked) -> Parts:
    kinds, parts = _PARTS[needs]
    here = [kind for kind in kinds if kind in asked.kinds]
    if here:
        yield from parts(ratings, asked._replace(kinds=here))
    if "stratum" in asked.kinds:
        for stratum in strata_of(ratings):
            yield from parts_of_stratum(stratum, needs, asked.named)


def parts_of_stratum(stratum: Stratum, needs: Needs, named: bool) -> Parts:
    if needs == "strata":
        yield stratum.scope, stratum.counts
    elif "round" in _PARTS[needs][0]:
        for _, made in parts_of(stratum.ratings, needs, Asked(("round",), named=named)):
            yield stratum.scope, made


def _of_raters(
    asked: Asked,
    table: Any,
    *,
    whole: Callable[[], Statistic] | None = None,
    without: Callable[[str], Statistic] | None = None,
    pair: Callable[[Pair], Statistic] | None = None,
) -> Parts:
    if asked.whole:
        yield ROUND, whole or (lambda: table)
    if "without" in asked.kinds and len(table.raters) > 2:
        for rater in asked.raters(table.raters):
            yield Scope("without", rater), partial(without or table.without, rater)
    if "pair" in asked.kinds:
        for both in asked.pairs(table.raters):
            yield Scope.of_pair(*both), partial(pair or table.only, both)


def _of_counts(ratings: Rated, asked: Asked) -> Parts:
    counting = counting_of(ratings)
    if ratings.scale.continuous or asked.named:
        return _of_raters(asked, counting.by_rater(ratings))
    whole = partial(counting.counts, ratings)
    if "without" not in asked.kinds and "pair" not in asked.kinds:
        return iter([(ROUND, whole)])
    labels = counting.labels(ratings)
    return _of_raters(
        asked,
        labels,
        whole=whole,
        without=labels.counts_without,
        pair=lambda pair: labels.only(pair).counts().merged(),
    )


def _of_patterns(ratings: Rated, asked: Asked) -> Parts:
    labels = counting_of(ratings).labels(ratings)
    return _of_raters(asked, labels, pair=lambda pair: labels.only(pair).merged())


def _of_panel(ratings: Rated, asked: Asked) -> Parts:
    counting = counting_of(ratings)

    def beside(classifier: str) -> Statistic:
        found: Statistic = counting.by_rater(ratings, (classifier,)).against(classifier)
        return found

    for classifier in asked.classifiers(ratings):
        yield Scope("classifier", classifier), partial(beside, classifier)
    if "rater" in asked.kinds:
        everybody = counting.by_rater(ratings)
        for rater in asked.raters(everybody.raters) if len(everybody.raters) > 2 else ():
            yield Scope("rater", rater), partial(everybody.against, rater)


def _of_groups(ratings: Rated, asked: Asked) -> Parts:
    counting = counting_of(ratings)

    def in_groups() -> Statistic:
        classifiers = counting.classifiers(ratings)
        found: Statistic = counting.labels(ratings, classifiers).in_groups(classifiers)
        return found

    if ratings.classifiers and asked.whole:
        yield ROUND, in_groups


def _of_replicates(ratings: Rated, asked: Asked) -> Parts:
    counting = counting_of(ratings)
    if asked.whole or "rater" in asked.kinds:
        replicates = counting.replicates(ratings)
        if asked.whole:
            yield ROUND, lambda: replicates
        for rater in asked.raters(replicates.raters, again=True) if "rater" in asked.kinds else ():
            yield Scope("rater", rater), partial(replicates.of, rater)
    for classifier in asked.classifiers(ratings):
        yield Scope("classifier", classifier), partial(counting.replicates, ratings, (classifier,))


def _of_gold(ratings: Rated, asked: Asked) -> Parts:
    if "round" in asked.kinds:
        yield ROUND, partial(against_gold, ratings, ratings.raters)
    for rater in asked.raters(ratings.raters) if "rater" in asked.kinds else ():
        yield Scope("rater", rater), partial(against_gold, ratings, (rater,))
    for classifier in asked.classifiers(ratings):
        yield Scope("classifier", classifier), partial(against_gold, ratings, (classifier,))


_PARTS: dict[Needs, tuple[set[str], Callable[[Rated, Asked], Parts]]] = {
    "counts": ({"round", "category", "without", "pair"}, _of_counts),
    "patterns": ({"round", "category", "pair"}, _of_patterns),
    "panel": ({"classifier", "rater"}, _of_panel),
    "groups": ({"round", "category"}, _of_groups),
    "replicates": ({"round", "category", "rater", "classifier"}, _of_replicates),
    "values": (
        {"round", "category", "without"},
        lambda ratings, asked: _of_raters(asked, counting_of(ratings).numbers(ratings)),
    ),
    "confidence": (
        {"round", "category", "pair"},
        lambda ratings, asked: _of_raters(asked, counting_of(ratings).confident_labels(ratings)),
    ),
    "strata": (set(), lambda ratings, asked: iter(())),
    "gold": ({"round", "rater", "classifier"}, _of_gold),
}
"""Which kinds of scope measures of each statistic have, and the function that finds them.

What has a value for the round has one for each stratum too.
"""
