"""The parts of a round that estimates are about, each with its statistic.

With many raters there are many parts. A statistic is made only if its part is asked for.
"""

from collections.abc import Callable, Container, Iterable, Iterator
from functools import partial
from typing import NamedTuple

from agreement_pipeline.counting import Rated, counting_of
from agreement_pipeline.estimates.gold import against_gold
from agreement_pipeline.estimates.scope import ROUND, Scope, ScopeKind
from agreement_pipeline.estimates.shown import Shown, pairs_of
from agreement_pipeline.estimates.strata import Stratum, strata_of
from agreement_pipeline.measures import Needs
from agreement_pipeline.statistics import (
    CountsWithoutEach,
    LabelsByRater,
    NumbersByRater,
    ReplicatedLabels,
    ReplicatedNumbers,
    Statistic,
)

Parts = Iterator[tuple[Scope, Callable[[], Statistic]]]
"""Scopes, each with a function that makes its statistic."""


class Asked(NamedTuple):
    """What is asked for.

    Attributes
    ----------
    kinds
        The kinds of scope.
    shown
        The raters and pairs. None for all of them.
    named
        True if counts must keep the raters' names, as methods for raters at large need them.
    """

    kinds: Container[str]
    shown: Shown | None = None
    named: bool = False

    @property
    def whole(self) -> bool:
        """True if something is asked of the whole round. Its categories are read off it."""
        return "round" in self.kinds or "category" in self.kinds

    def raters(self, kind: ScopeKind, raters: tuple[str, ...]) -> list[str]:
        """The raters of a panel who are asked for. Two raters are a pair and no more."""
        among = None if self.shown is None else self.shown.raters
        return self._some(kind, raters, among) if len(raters) > 2 else []

    def alone(self, raters: Iterable[str]) -> list[str]:
        """The raters who are asked for beside nobody, however few there are."""
        return self._some("rater", raters, None if self.shown is None else self.shown.raters)

    def again(self, raters: Iterable[str]) -> list[str]:
        """The raters who are asked for beside themselves."""
        return self._some("rater", raters, None if self.shown is None else self.shown.again)

    def pairs(self, raters: tuple[str, ...]) -> list[tuple[str, str]]:
        """The pairs that are asked for."""
        return pairs_of(raters, self.shown) if "pair" in self.kinds else []

    def _some(
        self, kind: ScopeKind, raters: Iterable[str], among: tuple[str, ...] | None
    ) -> list[str]:
        if kind not in self.kinds:
            return []
        here = set(raters)
        return sorted(here) if among is None else [name for name in among if name in here]


def parts_of(ratings: Rated, needs: Needs, asked: Asked) -> Parts:
    """The parts that are asked for, with the statistic that some measures need."""
    kinds, parts = _PARTS[needs]
    if any(kind in asked.kinds for kind in kinds):
        yield from parts(ratings, asked)
    if "stratum" in asked.kinds:
        for stratum in strata_of(ratings):
            yield from parts_of_stratum(stratum, needs, asked.named)


def parts_of_stratum(stratum: Stratum, needs: Needs, named: bool) -> Parts:
    """The stratum, if measures that need this statistic have a value for a whole round."""
    if needs == "strata":
        yield stratum.scope, stratum.counts
    elif "round" in _PARTS[needs][0]:
        for _, made in parts_of(stratum.ratings, needs, Asked(("round",), named=named)):
            yield stratum.scope, made


def _of_counts(ratings: Rated, asked: Asked) -> Parts:
    if not (ratings.scale.continuous or asked.named):
        yield from _of_unnamed_counts(ratings, asked)
        return
    table = counting_of(ratings).by_rater(ratings)
    yield from _of_table(table, asked)
    for pair in asked.pairs(table.raters):
        yield Scope.of_pair(*pair), partial(table.only, pair)


def _of_unnamed_counts(ratings: Rated, asked: Asked) -> Parts:
    counting = counting_of(ratings)
    if asked.whole:
        yield ROUND, partial(counting.counts, ratings)
    if "without" not in asked.kinds and "pair" not in asked.kinds:
        return
    labels = counting.labels(ratings)
    without = CountsWithoutEach(labels).without
    for rater in asked.raters("without", labels.raters):
        yield Scope("without", rater), partial(without, rater)
    for pair in asked.pairs(labels.raters):
        yield Scope.of_pair(*pair), partial(_counts_of, labels, pair)


def _of_values(ratings: Rated, asked: Asked) -> Parts:
    yield from _of_table(counting_of(ratings).numbers(ratings), asked)


def _of_table(table: LabelsByRater | NumbersByRater, asked: Asked) -> Parts:
    """A table that names its raters, and the same without each of them."""
    if asked.whole:
        yield ROUND, partial(_itself, table)
    for rater in asked.raters("without", table.raters):
        yield Scope("without", rater), partial(table.without, rater)


def _of_patterns(ratings: Rated, asked: Asked) -> Parts:
    labels = counting_of(ratings).labels(ratings)
    if asked.whole:
        yield ROUND, partial(_itself, labels)
    for pair in asked.pairs(labels.raters):
        yield Scope.of_pair(*pair), partial(_labels_of, labels, pair)


def _of_confidence(ratings: Rated, asked: Asked) -> Parts:
    confident = counting_of(ratings).confident_labels(ratings)
    if asked.whole:
        yield ROUND, partial(_itself, confident)
    for pair in asked.pairs(confident.raters):
        yield Scope.of_pair(*pair), partial(confident.only, pair)


def _of_panel(ratings: Rated, asked: Asked) -> Parts:
    for classifier in ratings.classifiers if "classifier" in asked.kinds else ():
        yield Scope("classifier", classifier), partial(_beside, ratings, classifier)
    if "rater" in asked.kinds:
        everybody = counting_of(ratings).by_rater(ratings)
        for rater in asked.raters("rater", everybody.raters):
            yield Scope("rater", rater), partial(everybody.against, rater)


def _of_groups(ratings: Rated, asked: Asked) -> Parts:
    if ratings.classifiers and asked.whole:
        yield ROUND, partial(_in_groups, ratings)


def _of_replicates(ratings: Rated, asked: Asked) -> Parts:
    counting = counting_of(ratings)
    if asked.whole or "rater" in asked.kinds:
        yield from _of_panel_again(counting.replicates(ratings), asked)
    for classifier in ratings.classifiers if "classifier" in asked.kinds else ():
        yield Scope("classifier", classifier), partial(counting.replicates, ratings, (classifier,))


def _of_panel_again(replicates: ReplicatedLabels | ReplicatedNumbers, asked: Asked) -> Parts:
    if asked.whole:
        yield ROUND, partial(_itself, replicates)
    for rater in asked.again(replicates.raters):
        yield Scope("rater", rater), partial(replicates.of, rater)


def _beside(ratings: Rated, classifier: str) -> Statistic:
    found: Statistic = counting_of(ratings).by_rater(ratings, (classifier,)).against(classifier)
    return found


def _in_groups(ratings: Rated) -> Statistic:
    counting = counting_of(ratings)
    classifiers = counting.classifiers(ratings)
    found: Statistic = counting.labels(ratings, classifiers).in_groups(classifiers)
    return found


def _labels_of(labels: LabelsByRater, pair: tuple[str, str]) -> Statistic:
    return labels.only(pair).merged()


def _counts_of(labels: LabelsByRater, pair: tuple[str, str]) -> Statistic:
    return labels.only(pair).counts().merged()


def _of_gold(ratings: Rated, asked: Asked) -> Parts:
    """All raters, each rater and each classifier beside the right labels of gold items."""
    if "round" in asked.kinds:
        yield ROUND, partial(against_gold, ratings, ratings.raters)
    for rater in asked.alone(ratings.raters):
        yield Scope("rater", rater), partial(against_gold, ratings, (rater,))
    for classifier in ratings.classifiers if "classifier" in asked.kinds else ():
        yield Scope("classifier", classifier), partial(against_gold, ratings, (classifier,))


def _nothing(ratings: Rated, asked: Asked) -> Parts:
    """No part but the strata, which are found for all measures alike."""
    yield from ()


def _itself(statistic: Statistic) -> Statistic:
    return statistic


_PARTS: dict[Needs, tuple[frozenset[str], Callable[[Rated, Asked], Parts]]] = {
    "counts": (frozenset({"round", "category", "without", "pair"}), _of_counts),
    "patterns": (frozenset({"round", "category", "pair"}), _of_patterns),
    "panel": (frozenset({"classifier", "rater"}), _of_panel),
    "groups": (frozenset({"round", "category"}), _of_groups),
    "replicates": (frozenset({"round", "category", "rater", "classifier"}), _of_replicates),
    "values": (frozenset({"round", "category", "without"}), _of_values),
    "confidence": (frozenset({"round", "category", "pair"}), _of_confidence),
    "strata": (frozenset(), _nothing),
    "gold": (frozenset({"round", "rater", "classifier"}), _of_gold),
}
"""Which kinds of scope measures of each statistic have, and the function that finds them.

What has a value for the round has one for each stratum too.
"""
