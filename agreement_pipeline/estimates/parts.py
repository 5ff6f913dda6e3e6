"""The parts of a round that estimates are about. Each stratum has its own expected disagreement."""

from collections.abc import Callable, Container, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations
from typing import Any, NamedTuple, cast

import numpy as np

from agreement_pipeline.counting import Rated, counting_for, item_column
from agreement_pipeline.estimates.estimates import ROUND, Scope
from agreement_pipeline.estimates.gold import labels_beside_gold
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
class ShownRaters:
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
    def choose(cls, ratings: Rated, max_shown: int = MAX_SHOWN) -> "ShownRaters":
        if len(ratings.raters) <= max_shown:
            return cls.show_all(ratings.raters)
        panel = counting_for(ratings).by_rater(ratings)
        selection = cls.show_all(tuple(sorted(panel.raters)))
        if selection.n_raters > max_shown:
            distances = rater_distances(panel.select_raters(selection.raters))
            n_met, n_met_in_all = distances.met, distances.met.sum(1)
            pair_distances = (distances.of_pairs * n_met / (n_met + PRIOR_ITEMS))[
                np.triu_indices(selection.n_raters, 1)
            ]
            least_agreeing = _places_of_largest(
                distances.of_raters * n_met_in_all / (n_met_in_all + PRIOR_ITEMS), max_shown
            )
            raters = tuple(selection.raters[place] for place in least_agreeing)
            pairs = tuple(
                selection.pairs[place] for place in _places_of_largest(pair_distances, max_shown)
            )
            n_pairs = int((n_met > 0).sum()) // 2
            selection = replace(selection, raters=raters, pairs=pairs[:n_pairs], n_pairs=n_pairs)
        replicates = counting_for(ratings).replicates(ratings)
        times = np.bincount(replicates.rater, minlength=len(replicates.raters)).astype(float)
        items = {name: n for name, n in zip(replicates.raters, times, strict=True) if n}
        names_met_again = sorted(items)
        often = _places_of_largest(np.array([items[name] for name in names_met_again]), max_shown)
        return replace(
            selection,
            again=tuple(names_met_again[place] for place in often),
            n_again=len(names_met_again),
        )

    @classmethod
    def show_all(cls, raters: Names) -> "ShownRaters":
        pairs = tuple(combinations(raters, 2))
        return cls(raters, pairs, raters, len(raters), len(pairs), len(raters))

    def of_raters_with_replicates(self) -> "ShownRaters":
        return replace(self, raters=self.again) if self.again else self

    def left_out_sentence(self) -> str | None:
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


def _places_of_largest(values: Array, n_largest: int) -> Codes:
    """Of equal values the first come first, and nan comes last."""
    return np.argsort(-values, kind="stable")[:n_largest]


class StratumOfRatings(NamedTuple):
    scope: Scope
    whole: Ratings
    column: str
    names: Names

    @property
    def ratings(self) -> Ratings:
        return self.whole.select_strata(self.column, self.names)

    def counts(self) -> CountsOfStratum:
        items, counts = counting_for(self.whole).by_item(self.whole)
        if not isinstance(counts, CategoryCounts):
            raise TypeError("numbers on a scale without categories")
        stratum = item_column(self.whole, items, STRATUM + self.column)
        is_inside = np.array([name in self.names for name in stratum.to_pylist()], dtype=bool)
        return CountsOfStratum(counts.with_scale(counts.scale.canonical), is_inside).merged()


def iterate_strata(ratings: Rated) -> Iterator[StratumOfRatings]:
    if any(name.startswith(STRATUM) for name in ratings.has):
        full_ratings = cast(Ratings, ratings)
        for column, names in full_ratings.strata.items():
            for name in names:
                yield StratumOfRatings(
                    Scope.of_stratum(column, name), full_ratings, column, (name,)
                )


def pool_small_strata(strata: list[StratumOfRatings]) -> StratumOfRatings:
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
    shown: ShownRaters | None = None
    keeps_names: bool = False

    @property
    def asks_for_round(self) -> bool:
        return "round" in self.kinds or "category" in self.kinds

    def choose_raters(self, raters: Iterable[str], *, of_replicates: bool = False) -> list[str]:
        present = set(raters)
        if self.shown is None:
            return sorted(present)
        return [
            name
            for name in (self.shown.again if of_replicates else self.shown.raters)
            if name in present
        ]

    def choose_classifiers(self, ratings: Rated) -> Names:
        return ratings.classifiers if "classifier" in self.kinds else ()

    def choose_pairs(self, raters: Names) -> list[Pair]:
        if self.shown is None:
            return sorted(combinations(raters, 2), key=sorted)
        place = {name: n for n, name in enumerate(raters)}
        present_pairs = [pair for pair in self.shown.pairs if {*pair} <= {*raters}]
        return [
            (rater, other_rater) if place[rater] < place[other_rater] else (other_rater, rater)
            for rater, other_rater in present_pairs
        ]


def iterate_parts(ratings: Rated, needs: Needs, request: ScopeRequest) -> Parts:
    kinds, parts = _PARTS[needs]
    asked_kinds = [kind for kind in kinds if kind in request.kinds]
    if asked_kinds:
        yield from parts(ratings, request._replace(kinds=asked_kinds))
    if "stratum" in request.kinds:
        for stratum in iterate_strata(ratings):
            yield from iterate_parts_of_stratum(stratum, needs, request.keeps_names)


def iterate_parts_of_stratum(stratum: StratumOfRatings, needs: Needs, keeps_names: bool) -> Parts:
    if needs == "strata":
        yield stratum.scope, stratum.counts
    elif "round" in _PARTS[needs][0]:
        for _, build_statistic in iterate_parts(
            stratum.ratings, needs, ScopeRequest(("round",), keeps_names=keeps_names)
        ):
            yield stratum.scope, build_statistic


def _parts_of_raters(
    request: ScopeRequest,
    table: Any,
    *,
    build_round: Callable[[], Statistic] | None = None,
    without: Callable[[str], Statistic] | None = None,
    pair: Callable[[Pair], Statistic] | None = None,
) -> Parts:
    if request.asks_for_round:
        yield ROUND, build_round or (lambda: table)
    if "without" in request.kinds and len(table.raters) > 2:
        for rater in request.choose_raters(table.raters):
            yield Scope("without", rater), partial(without or table.without, rater)
    if "pair" in request.kinds:
        for rater_pair in request.choose_pairs(table.raters):
            yield Scope.of_pair(*rater_pair), partial(pair or table.select_raters, rater_pair)


def _parts_of_counts(ratings: Rated, request: ScopeRequest) -> Parts:
    counting = counting_for(ratings)
    if ratings.scale.continuous or request.keeps_names:
        return _parts_of_raters(request, counting.by_rater(ratings))
    build_counts = partial(counting.counts, ratings)
    if "without" not in request.kinds and "pair" not in request.kinds:
        return iter([(ROUND, build_counts)])
    labels = counting.labels(ratings)
    return _parts_of_raters(
        request,
        labels,
        build_round=build_counts,
        without=labels.counts_without,
        pair=lambda pair: labels.select_raters(pair).counts().merged(),
    )


def _parts_of_patterns(ratings: Rated, request: ScopeRequest) -> Parts:
    labels = counting_for(ratings).labels(ratings)
    return _parts_of_raters(request, labels, pair=lambda pair: labels.select_raters(pair).merged())


def _parts_of_panel(ratings: Rated, request: ScopeRequest) -> Parts:
    counting = counting_for(ratings)

    def build_panel(classifier: str) -> Statistic:
        statistic: Statistic = counting.by_rater(ratings, (classifier,)).with_rater_apart(
            classifier
        )
        return statistic

    for classifier in request.choose_classifiers(ratings):
        yield Scope("classifier", classifier), partial(build_panel, classifier)
    if "rater" in request.kinds:
        everybody = counting.by_rater(ratings)
        for rater in request.choose_raters(everybody.raters) if len(everybody.raters) > 2 else ():
            yield Scope("rater", rater), partial(everybody.with_rater_apart, rater)


def _parts_of_groups(ratings: Rated, request: ScopeRequest) -> Parts:
    counting = counting_for(ratings)

    def build_groups() -> Statistic:
        classifiers = counting.classifiers(ratings)
        statistic: Statistic = counting.labels(ratings, classifiers).in_groups(classifiers)
        return statistic

    if ratings.classifiers and request.asks_for_round:
        yield ROUND, build_groups


def _parts_of_replicates(ratings: Rated, request: ScopeRequest) -> Parts:
    counting = counting_for(ratings)
    if request.asks_for_round or "rater" in request.kinds:
        replicates = counting.replicates(ratings)
        if request.asks_for_round:
            yield ROUND, lambda: replicates
        for rater in (
            request.choose_raters(replicates.raters, of_replicates=True)
            if "rater" in request.kinds
            else ()
        ):
            yield Scope("rater", rater), partial(replicates.cells_of_rater, rater)
    for classifier in request.choose_classifiers(ratings):
        yield Scope("classifier", classifier), partial(counting.replicates, ratings, (classifier,))


def _parts_of_gold(ratings: Rated, request: ScopeRequest) -> Parts:
    if "round" in request.kinds:
        yield ROUND, partial(labels_beside_gold, ratings, ratings.raters)
    for rater in request.choose_raters(ratings.raters) if "rater" in request.kinds else ():
        yield Scope("rater", rater), partial(labels_beside_gold, ratings, (rater,))
    for classifier in request.choose_classifiers(ratings):
        yield Scope("classifier", classifier), partial(labels_beside_gold, ratings, (classifier,))


_PARTS: dict[Needs, tuple[set[str], Callable[[Rated, ScopeRequest], Parts]]] = {
    "counts": ({"round", "category", "without", "pair"}, _parts_of_counts),
    "patterns": ({"round", "category", "pair"}, _parts_of_patterns),
    "panel": ({"classifier", "rater"}, _parts_of_panel),
    "groups": ({"round", "category"}, _parts_of_groups),
    "replicates": ({"round", "category", "rater", "classifier"}, _parts_of_replicates),
    "values": (
        {"round", "category", "without"},
        lambda ratings, asked: _parts_of_raters(asked, counting_for(ratings).numbers(ratings)),
    ),
    "confidence": (
        {"round", "category", "pair"},
        lambda ratings, asked: _parts_of_raters(
            asked, counting_for(ratings).confident_labels(ratings)
        ),
    ),
    "strata": (set(), lambda ratings, asked: iter(())),
    "gold": ({"round", "rater", "classifier"}, _parts_of_gold),
    "label": (set(), lambda ratings, asked: iter(())),
}
"""Which kinds of scope measures of each statistic have, and the function that finds them.

What has a value for the round has one for each stratum too.
"""
