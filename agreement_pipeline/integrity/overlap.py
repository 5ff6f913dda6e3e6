"""Are the items with several ratings a random sample of the round?

Only then does their agreement speak of the items with one rating. Chance alone can make the two
differ, so all comparisons share one rate of false alarms (Holm).
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from agreement_pipeline.ratings import (
    STRATUM,
    Ratings,
    arrow_to_pandas,
    as_whole_numbers_or_missing,
    times_as_seconds,
)
from agreement_pipeline.text import in_words, joined

Array = np.ndarray[Any, Any]

FALSE_ALARM_RATE = 0.005
"""So large a share of random samples is refused at most, over all comparisons of a round."""
MIN_RATINGS_OF_KNOWN_RATER = 30
"""A rater with so many ratings in the overlap is known there, whatever the share of the singles."""
MIN_EXPECTED_RATINGS = 10
"""Rarer categories are compared together, since few ratings are not normally distributed."""
MAX_CATEGORIES_OF_NUMBERS = 8
MAX_LOSS_OF_AGREEMENT = 0.02
"""So much less may raters of single labels agree than others, weighted by their single labels."""
N_SIMULATED, MAX_RATERS_SIMULATED_OFTEN = 9_999, 1_000
N_PARTS = 4


class SubjectComparison(NamedTuple):
    """A comparison of the items with several ratings with the others.

    `p_value` is the chance of so large a difference between a random sample and the rest.
    """

    subject: str
    in_words: str
    p_value: float


@dataclass(frozen=True, eq=False)
class OverlapComparison:
    """How the items with several ratings differ from those with one.

    Attributes
    ----------
    n_items, n_single
        Items with ratings of the panel, and those with one.
    comparisons
        All of them, by subject.
    """

    n_items: int
    n_single: int
    comparisons: tuple[SubjectComparison, ...]

    @property
    def subjects(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(comparison.subject for comparison in self.comparisons))

    @cached_property
    def differences(self) -> tuple[SubjectComparison, ...]:
        """The comparisons that chance does not explain, the clearest first (Holm)."""
        ordered = sorted(self.comparisons, key=lambda comparison: comparison.p_value)
        for place, comparison in enumerate(ordered):
            if comparison.p_value * (len(ordered) - place) > FALSE_ALARM_RATE:
                return tuple(ordered[:place])
        return tuple(ordered)


def compare_overlap(ratings: Ratings) -> OverlapComparison:
    """Compare the items with several ratings of the panel with those with one.

    Labels and times are compared within raters, since raters may differ from each other and rate
    singles in unequal numbers. Gold items and classifiers do not count.
    """
    return _Comparer.of(ratings).compare()


@dataclass(frozen=True, eq=False)
class _Comparer:
    """Ratings in the order of items: positions of items, raters and categories.

    `units` are the positions of what was drawn: items, or whole clusters.
    """

    item: Array
    rater: Array
    category: Array
    category_names: tuple[str, ...]
    rater_names: tuple[str, ...]
    time: Array | None
    columns: Mapping[str, Array]
    clusters: Array | None

    @classmethod
    def of(cls, ratings: Ratings) -> "_Comparer":
        scale = ratings.scale
        kind = "number" if scale.numeric else "code"
        timed = [*({"timestamp"} & ratings.has)]
        table = ratings.first_ratings(["at", "item", "place", kind, *timed], raters=ratings.raters)
        item = as_whole_numbers_or_missing(table["at"])
        category, names = (
            as_whole_numbers_or_missing(table[kind]) if not scale.numeric else None,
            scale.names,
        )
        if category is None:
            category, names = _cut_numbers_into_parts(table[kind].to_numpy(zero_copy_only=False))
        time = np.asarray(times_as_seconds(arrow_to_pandas(table["timestamp"]))) if timed else None
        rated = table["item"].take(np.flatnonzero(np.diff(item, prepend=-1))).to_pylist()
        strata = sorted(name for name in ratings.has if name.startswith(STRATUM))
        item_columns = [*strata, *({"text", "cluster"} & ratings.has)]
        frame = arrow_to_pandas(ratings.items(item_columns)).set_index("item").reindex(rated)
        columns = {
            f"the {name.removeprefix(STRATUM)}": frame[name].astype(object).fillna("").to_numpy()
            for name in strata
        }
        if "text" in frame:
            lengths = frame["text"].astype(object).fillna("").str.len().to_numpy(dtype=float)
            parts, labels = _cut_numbers_into_parts(lengths)
            columns["the length of the text"] = np.array(labels, dtype=object)[parts]
        clusters = None
        if "cluster" in frame:
            cluster_names = (
                frame["cluster"].astype(object).where(frame["cluster"].notna(), frame.index)
            )
            clusters = np.unique(cluster_names.map(str).to_numpy(), return_inverse=True)[1]
        return cls(
            item,
            as_whole_numbers_or_missing(table["place"]),
            category,
            tuple(names),
            ratings.everyone,
            time,
            columns,
            clusters,
        )

    @cached_property
    def n_ratings_by_item(self) -> Array:
        return np.bincount(self.item)

    @cached_property
    def is_item_in_overlap(self) -> Array:
        """By item, whether it has several ratings."""
        return self.n_ratings_by_item > 1

    @cached_property
    def is_rating_in_overlap(self) -> Array:
        """By rating, whether its item has several."""
        return self.is_item_in_overlap[self.item]

    @cached_property
    def unit_by_item(self) -> Array:
        """By item, what was drawn: its cluster, if clusters were drawn as a whole."""
        items = np.arange(len(self.n_ratings_by_item))
        if self.clusters is None:
            return items
        sizes = np.bincount(self.clusters)
        n_overlap = np.bincount(self.clusters, self.is_item_in_overlap)
        are_whole = np.all((n_overlap == 0) | (n_overlap == sizes))
        return self.clusters if are_whole and (sizes > 1).any() else items

    @property
    def draws_items(self) -> bool:
        return len(np.unique(self.unit_by_item)) == len(self.n_ratings_by_item)

    @cached_property
    def n_ratings_by_rater(self) -> tuple[Array, Array]:
        """How many single ratings, and ratings in the overlap, each rater has."""
        size = len(self.rater_names)
        return (
            np.bincount(self.rater[~self.is_rating_in_overlap], minlength=size),
            np.bincount(self.rater[self.is_rating_in_overlap], minlength=size),
        )

    def compare(self) -> OverlapComparison:
        comparisons = (
            *self._compare_raters(),
            *self._compare_columns(),
            *self._compare_categories(),
            *self._compare_times(),
        )
        n_single = int((~self.is_item_in_overlap).sum())
        return OverlapComparison(len(self.n_ratings_by_item), n_single, comparisons)

    def _compare_raters(self) -> Iterator[SubjectComparison]:
        """Do the raters of single labels rate in the overlap, and agree there as others do?"""
        n_single, n_overlap = self.n_ratings_by_rater
        is_unknown = (n_single > 0) & (n_overlap < MIN_RATINGS_OF_KNOWN_RATER)
        p_value, words = 1.0, "all raters of single labels have ratings in the overlap"
        if is_unknown.any():
            p_value = _chance_of_fewer(n_single, n_overlap)
            share = n_single[is_unknown].sum() / n_single.sum()
            share_in_overlap = n_overlap[is_unknown].sum() / n_overlap.sum()
            names = [self.rater_names[place] for place in np.flatnonzero(is_unknown)]
            words = (
                f"{joined(names, 3)} gave {in_words(share, '.0%')} of the single labels, and "
                f"{in_words(share_in_overlap, '.0%')} of those of the other items"
            )
        yield SubjectComparison("raters", words, p_value)
        yield self._compare_agreement()

    def _compare_agreement(self) -> SubjectComparison:
        """How often raters agree with the others of an item: all alike, or each weighted by the
        number of single labels.
        """
        is_in_overlap = self.is_rating_in_overlap
        item, rater = self.item[is_in_overlap], self.rater[is_in_overlap]
        category = self.category[is_in_overlap]
        votes = np.zeros((len(self.n_ratings_by_item), len(self.category_names)), dtype=np.int32)
        np.add.at(votes, (item, category), 1)
        agreed = (votes[item, category] - 1) / (self.n_ratings_by_item[item] - 1)
        n_single, n_overlap = self.n_ratings_by_rater
        share = np.where(n_overlap > 0, n_single, 0).astype(float)
        if not share.sum():
            return SubjectComparison("raters", "no rater of single labels is in the overlap", 1.0)
        share /= share.sum()
        weight = 1 / len(agreed) - (share / np.maximum(n_overlap, 1))[rater]
        loss = float((weight * agreed).sum())
        of_units = np.bincount(self.unit_by_item[item], weight * (agreed - agreed.mean()))
        error = float(np.sqrt((of_units**2).sum()))
        p_value = _normal_upper_tail((loss - MAX_LOSS_OF_AGREEMENT) / error) if error > 0 else 1.0
        words = (
            "weighted by their numbers of single labels, raters agree with others on "
            f"{in_words(agreed.mean() - loss, '.0%')} of the other items, and else on "
            f"{in_words(agreed.mean(), '.0%')}"
        )
        return SubjectComparison("raters", words, p_value)

    def _compare_columns(self) -> Iterator[SubjectComparison]:
        share = min(self.is_item_in_overlap.mean(), 1 - self.is_item_in_overlap.mean())
        for subject, values in self.columns.items():
            names, codes = np.unique([str(value) for value in values], return_inverse=True)
            codes, labels = _pool_rare(codes, tuple(map(str, names)), share)
            for place, label in enumerate(labels):
                has_label = codes == place
                if has_label.all():
                    continue
                shares = (
                    has_label[self.is_item_in_overlap].mean(),
                    has_label[~self.is_item_in_overlap].mean(),
                )
                words = (
                    f"{subject} is {label!r} in {in_words(shares[1], '.0%')} of the items with one "
                    f"label and in {in_words(shares[0], '.0%')} of the others"
                )
                yield SubjectComparison(subject, words, self._chance_of_items(has_label))

    def _chance_of_items(self, has_label: Array) -> float:
        """Two-sided, if the overlap was drawn by chance: exact for items, normal for clusters."""
        if self.draws_items:
            from scipy.stats import hypergeom

            n, n_with_label = len(has_label), int(has_label.sum())
            n_drawn = int(self.is_item_in_overlap.sum())
            n_drawn_with_label = int((has_label & self.is_item_in_overlap).sum())
            law = hypergeom(n, n_with_label, n_drawn)
            return min(
                1.0, 2 * float(min(law.cdf(n_drawn_with_label), law.sf(n_drawn_with_label - 1)))
            )
        by_unit = np.bincount(self.unit_by_item, has_label - has_label.mean())
        is_drawn = np.bincount(self.unit_by_item, self.is_item_in_overlap) > 0
        n, share = len(by_unit), is_drawn.mean()
        variance = share * (1 - share) * n * by_unit.var(ddof=1)
        return _two_sided_p_value(((is_drawn - share) * by_unit).sum(), variance)

    def _compare_categories(self) -> Iterator[SubjectComparison]:
        share = min(self.is_rating_in_overlap.mean(), 1 - self.is_rating_in_overlap.mean())
        codes, labels = _pool_rare(self.category, self.category_names, share)
        for place, label in enumerate(labels):
            has_label = (codes == place).astype(float)
            if has_label.all():
                continue
            single, overlap = self._means_within_raters(has_label)
            words = (
                f"the same raters give {label!r} on {in_words(single, '.0%')} of the items with "
                f"one label and on {in_words(overlap, '.0%')} of the others"
            )
            yield SubjectComparison("categories", words, self._chance_within_raters(has_label))

    def _compare_times(self) -> Iterator[SubjectComparison]:
        """When raters rated, as the place among their own ratings from 0 to 1."""
        if self.time is None or not (is_told := np.isfinite(self.time)).any():
            return
        from scipy.stats import rankdata

        place = np.full(len(self.time), 0.5)
        for rater in np.unique(self.rater[is_told]):
            is_of_rater = is_told & (self.rater == rater)
            place[is_of_rater] = (rankdata(self.time[is_of_rater]) - 0.5) / is_of_rater.sum()
        single, overlap = self._means_within_raters(place)
        words = (
            f"raters gave single labels after {in_words(single, '.0%')} of their ratings on "
            f"average, and those of the other items after {in_words(overlap, '.0%')}"
        )
        yield SubjectComparison("times", words, self._chance_within_raters(place))
        off_middle = np.where(is_told, np.abs(2 * place - 1), 0.5)
        single, overlap = self._means_within_raters(off_middle)
        words = (
            "raters gave single labels nearer to the "
            f"{'middle' if single < overlap else 'ends'} of their work than those of other items"
        )
        yield SubjectComparison("times", words, self._chance_within_raters(off_middle))

    def _weights_by_rater(self) -> tuple[Array, Array]:
        """The weight of a rating, by rater: of single ones, and of those in the overlap.

        As Mantel and Haenszel weigh tables: a rater counts by the smaller number.
        """
        n_single, n_overlap = self.n_ratings_by_rater
        total = np.maximum(n_single + n_overlap, 1)
        return n_overlap / total, n_single / total

    def _means_within_raters(self, value: Array) -> tuple[float, float]:
        means = []
        for weights, mask in zip(
            self._weights_by_rater(),
            (~self.is_rating_in_overlap, self.is_rating_in_overlap),
            strict=True,
        ):
            weight = weights[self.rater[mask]]
            total = weight.sum()
            means.append(float((weight * value[mask]).sum() / total) if total else float("nan"))
        return means[0], means[1]

    def _chance_within_raters(self, value: Array) -> float:
        """Two-sided, by the normal distribution. The variance is that of ratings of one item which
        all depend on each other, so it is rather too large.
        """
        size = len(self.rater_names)
        n = np.maximum(np.bincount(self.rater, minlength=size), 1)
        mean = np.bincount(self.rater, value, minlength=size) / n
        residual = value - mean[self.rater]
        spread = np.sqrt(
            np.bincount(self.rater, residual**2, minlength=size) / np.maximum(n - 1, 1)
        )
        of_single, of_overlap = self._weights_by_rater()
        weight = np.where(self.is_rating_in_overlap, -of_overlap[self.rater], of_single[self.rater])
        difference = float((weight * residual).sum())
        of_items = np.bincount(self.item, np.abs(weight) * spread[self.rater])
        variance = float((of_items**2).sum())
        if not self.draws_items:
            of_units = np.bincount(self.unit_by_item[self.item], weight * residual)
            variance = max(variance, float((of_units**2).sum()))
        return _two_sided_p_value(difference, variance)


def _chance_of_fewer(n_single: Array, n_overlap: Array) -> float:
    """The chance that raters who are hardly in the overlap miss as many ratings there, if each has
    the same share of both.
    """

    def count_missing(n_overlap: Array) -> Array:
        n_single = n_ratings - n_overlap
        due = n_single / n_single.sum(-1, keepdims=True) * n_overlap.sum(-1, keepdims=True)
        is_unknown = n_overlap < MIN_RATINGS_OF_KNOWN_RATER
        return np.asarray((np.maximum(due - n_overlap, 0) * is_unknown).sum(-1))

    order = np.argsort(n_single + n_overlap, kind="stable")  # so that no name of a rater counts
    n_overlap, n_ratings = n_overlap[order], (n_single + n_overlap)[order]
    n_draws = N_SIMULATED if len(order) <= MAX_RATERS_SIMULATED_OFTEN else N_SIMULATED // 10
    draws = np.random.default_rng(0).multivariate_hypergeometric(
        n_ratings, int(n_overlap.sum()), n_draws, method="marginals"
    )
    missing, by_chance = float(count_missing(n_overlap)), count_missing(draws)
    n_as_many = int((by_chance >= missing - 1e-9).sum())
    if not n_as_many and n_draws < N_SIMULATED and (spread := float(by_chance.std())):
        return _normal_upper_tail((missing - float(by_chance.mean())) / spread)
    return (1 + n_as_many) / (1 + n_draws)


def _cut_numbers_into_parts(numbers: Array) -> tuple[Array, tuple[str, ...]]:
    """The positions of numbers among their distinct values, or among four parts of like size."""
    values = np.unique(numbers)
    if len(values) <= MAX_CATEGORIES_OF_NUMBERS:
        return np.searchsorted(values, numbers), tuple(f"{value:g}" for value in values)
    edges = np.unique(np.quantile(numbers, np.arange(1, N_PARTS) / N_PARTS))
    names = [f"under {edges[0]:g}"]
    names += [f"{low:g} to {high:g}" for low, high in pairwise(edges)]
    return np.searchsorted(edges, numbers, side="right"), (*names, f"{edges[-1]:g} or more")


def _pool_rare(codes: Array, names: tuple[str, ...], share: float) -> tuple[Array, tuple[str, ...]]:
    """Positions among the names that are common enough to compare; the others come last as one.

    So many must be expected on each side, where the smaller has this share.
    """
    counts = np.bincount(codes, minlength=len(names))
    is_common = counts * share >= MIN_EXPECTED_RATINGS
    common = np.flatnonzero(is_common)
    place = np.full(len(names), len(common))
    place[common] = np.arange(len(common))
    labels = tuple(names[n] for n in common)
    n_rare = counts[~is_common].sum()
    if n_rare * share >= MIN_EXPECTED_RATINGS:
        labels = (*labels, "another one")
    return place[codes], labels


def _two_sided_p_value(difference: float, variance: float) -> float:
    if variance <= 0:
        return 1.0
    return min(1.0, 2 * _normal_upper_tail(abs(difference) / variance**0.5))


def _normal_upper_tail(z: float) -> float:
    from scipy.special import ndtr

    return float(ndtr(-z))
