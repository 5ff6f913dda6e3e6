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
PRIOR_ITEMS = 10
MAX_SHOWN = 10

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
    def of(cls, ratings: Rated, max_shown: int = MAX_SHOWN) -> "Shown":
        if len(ratings.raters) <= max_shown:
            return cls.whole(ratings.raters)
        panel = counting_of(ratings).by_rater(ratings)
        selection = cls.whole(tuple(sorted(panel.raters)))
        if selection.n_raters > max_shown:
            distances = rater_distances(panel.select_raters(selection.raters))
            n_met, n_met_in_all = distances.met, distances.met.sum(1)
            pair_distances = (distances.of_pairs * n_met / (n_met + PRIOR_ITEMS))[
                np.triu_indices(selection.n_raters, 1)
            ]
            least_agreeing = _largest(
                distances.of_raters * n_met_in_all / (n_met_in_all + PRIOR_ITEMS), max_shown
            )
            raters = tuple(selection.raters[place] for place in least_agreeing)
            pairs = tuple(selection.pairs[place] for place in _largest(pair_distances, max_shown))
            n_pairs = int((n_met > 0).sum()) // 2
            selection = replace(selection, raters=raters, pairs=pairs[:n_pairs], n_pairs=n_pairs)
        replicates = counting_of(ratings).replicates(ratings)
        times = np.bincount(replicates.rater, minlength=len(replicates.raters)).astype(float)
        items = {name: n for name, n in zip(replicates.raters, times, strict=True) if n}
        names_met_again = sorted(items)
        often = _largest(np.array([items[name] for name in names_met_again]), max_shown)
        return replace(
            selection,
            again=tuple(names_met_again[place] for place in often),
            n_again=len(names_met_again),
        )

    @classmethod
    def whole(cls, raters: Names) -> "Shown":
        pairs = tuple(combinations(raters, 2))
        return cls(raters, pairs, raters, len(raters), len(pairs), len(raters))

    def of_both(self) -> "Shown":
        return replace(self, raters=self.again) if self.again else self

    def left_out(self) -> str | None:
        again_words = "raters who met items again, those who met most"
        kinds = (
            (self.raters, self.n_raters, "raters, those who agree least", "rater without"),
            (self.pairs, self.n_pairs, "pairs of raters, those who agree least", "pair"),
            (self.again, self.n_again, again_words, "rater"),
        )
        shortened = [kind for kind in kinds if len(kind[0]) < kind[1]]
        if not shortened:
            return None
        counts = "; ".join(f"{len(names)} of {n} {words}" for names, n, words, _ in shortened)
        scopes = dict.fromkeys(scope for *_, kind in shortened for scope in kind.split())
        options = " ".join(f"--scope {scope}" for scope in scopes)
        return f"shown are {counts}. For all, use measure {options}"


def _largest(values: Array, n_largest: int) -> Codes:
    """Of equal values the first come first, and nan comes last."""
    return np.argsort(-values, kind="stable")[:n_largest]


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
        is_inside = np.array([name in self.names for name in stratum.to_pylist()], dtype=bool)
        return CountsOfStratum(counts.with_scale(counts.scale.canonical), is_inside).merged()


def strata_of(ratings: Rated) -> Iterator[Stratum]:
    if any(name.startswith(STRATUM) for name in ratings.has):
        full_ratings = cast(Ratings, ratings)
        for column, names in full_ratings.strata.items():
            for name in names:
                yield Stratum(Scope.of_stratum(column, name), full_ratings, column, (name,))


def pool_strata(strata: list[Stratum]) -> Stratum:
    first_stratum = strata[0]
    if len(strata) == 1:
        return first_stratum
    names = tuple(name for stratum in strata for name in stratum.names)
    scope = Scope("stratum", f"{first_stratum.column}, {len(names)} small ones as one")
    return first_stratum._replace(scope=scope, names=names)


class ScopeRequest(NamedTuple):
    """The scopes that are asked for. With `keeps_names` counts keep raters' names, for raters at
    large.
    """

    kinds: Container[str]
    shown: Shown | None = None
    keeps_names: bool = False

    @property
    def whole(self) -> bool:
        return "round" in self.kinds or "category" in self.kinds

    def raters(self, raters: Iterable[str], *, of_replicates: bool = False) -> list[str]:
        present = set(raters)
        if self.shown is None:
            return sorted(present)
        return [
            name
            for name in (self.shown.again if of_replicates else self.shown.raters)
            if name in present
        ]

    def classifiers(self, ratings: Rated) -> Names:
        return ratings.classifiers if "classifier" in self.kinds else ()

    def pairs(self, raters: Names) -> list[Pair]:
        if self.shown is None:
            return sorted(combinations(raters, 2), key=sorted)
        place = {name: n for n, name in enumerate(raters)}
        present_pairs = [pair for pair in self.shown.pairs if {*pair} <= {*raters}]
        return [
            (rater, other_rater) if place[rater] < place[other_rater] else (other_rater, rater)
            for rater, other_rater in present_pairs
        ]


def parts_of(ratings: Rated, needs: Needs, request: ScopeRequest) -> Parts:
    kinds, parts = _PARTS[needs]
    asked_kinds = [kind for kind in kinds if kind in request.kinds]
    if asked_kinds:
        yield from parts(ratings, request._replace(kinds=asked_kinds))
    if "stratum" in request.kinds:
        for stratum in strata_of(ratings):
            yield from parts_of_stratum(stratum, needs, request.keeps_names)


def parts_of_stratum(stratum: Stratum, needs: Needs, keeps_names: bool) -> Parts:
    if needs == "strata":
        yield stratum.scope, stratum.counts
    elif "round" in _PARTS[needs][0]:
        for _, build_statistic in parts_of(
            stratum.ratings, needs, ScopeRequest(("round",), keeps_names=keeps_names)
        ):
            yield stratum.scope, build_statistic


def _of_raters(
    request: ScopeRequest,
    table: Any,
    *,
    build_round: Callable[[], Statistic] | None = None,
    without: Callable[[str], Statistic] | None = None,
    pair: Callable[[Pair], Statistic] | None = None,
) -> Parts:
    if request.whole:
        yield ROUND, build_round or (lambda: table)
    if "without" in request.kinds and len(table.raters) > 2:
        for rater in request.raters(table.raters):
            yield Scope("without", rater), partial(without or table.without, rater)
    if "pair" in request.kinds:
        for rater_pair in request.pairs(table.raters):
            yield Scope.of_pair(*rater_pair), partial(pair or table.select_raters, rater_pair)


def _of_counts(ratings: Rated, request: ScopeRequest) -> Parts:
    counting = counting_of(ratings)
    if ratings.scale.continuous or request.keeps_names:
        return _of_raters(request, counting.by_rater(ratings))
    build_counts = partial(counting.counts, ratings)
    if "without" not in request.kinds and "pair" not in request.kinds:
        return iter([(ROUND, build_counts)])
    labels = counting.labels(ratings)
    return _of_raters(
        request,
        labels,
        build_round=build_counts,
        without=labels.counts_without,
        pair=lambda pair: labels.select_raters(pair).counts().merged(),
    )


def _of_patterns(ratings: Rated, request: ScopeRequest) -> Parts:
    labels = counting_of(ratings).labels(ratings)
    return _of_raters(request, labels, pair=lambda pair: labels.select_raters(pair).merged())


def _of_panel(ratings: Rated, request: ScopeRequest) -> Parts:
    counting = counting_of(ratings)

    def build_panel(classifier: str) -> Statistic:
        statistic: Statistic = counting.by_rater(ratings, (classifier,)).against(classifier)
        return statistic

    for classifier in request.classifiers(ratings):
        yield Scope("classifier", classifier), partial(build_panel, classifier)
    if "rater" in request.kinds:
        everybody = counting.by_rater(ratings)
        for rater in request.raters(everybody.raters) if len(everybody.raters) > 2 else ():
            yield Scope("rater", rater), partial(everybody.against, rater)


def _of_groups(ratings: Rated, request: ScopeRequest) -> Parts:
    counting = counting_of(ratings)

    def build_groups() -> Statistic:
        classifiers = counting.classifiers(ratings)
        statistic: Statistic = counting.labels(ratings, classifiers).in_groups(classifiers)
        return statistic

    if ratings.classifiers and request.whole:
        yield ROUND, build_groups


def _of_replicates(ratings: Rated, request: ScopeRequest) -> Parts:
    counting = counting_of(ratings)
    if request.whole or "rater" in request.kinds:
        replicates = counting.replicates(ratings)
        if request.whole:
            yield ROUND, lambda: replicates
        for rater in (
            request.raters(replicates.raters, of_replicates=True)
            if "rater" in request.kinds
            else ()
        ):
            yield Scope("rater", rater), partial(replicates.of, rater)
    for classifier in request.classifiers(ratings):
        yield Scope("classifier", classifier), partial(counting.replicates, ratings, (classifier,))


def _of_gold(ratings: Rated, request: ScopeRequest) -> Parts:
    if "round" in request.kinds:
        yield ROUND, partial(against_gold, ratings, ratings.raters)
    for rater in request.raters(ratings.raters) if "rater" in request.kinds else ():
        yield Scope("rater", rater), partial(against_gold, ratings, (rater,))
    for classifier in request.classifiers(ratings):
        yield Scope("classifier", classifier), partial(against_gold, ratings, (classifier,))


_PARTS: dict[Needs, tuple[set[str], Callable[[Rated, ScopeRequest], Parts]]] = {
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
    "label": (set(), lambda ratings, asked: iter(())),
}
"""Which kinds of scope measures of each statistic have, and the function that finds them.

What has a value for the round has one for each stratum too.
"""
